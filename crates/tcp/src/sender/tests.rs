//! The sender alone, fed with ACKs by hand: segments of 1000 bytes from sequence number 1, RTT 100 ms.

use super::*;
use crate::{Cc, SackBlock};
use goodqueue_units::Ecn;
use std::vec::Vec;

const MSS: u32 = 1000;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn config(initial_window: u32) -> Config {
    Config { cc: Cc::Reno, mss: MSS as u16, initial_window, ..Config::default() }
}

/// A segment with the widest window.
const WIDE: Segment = Segment {
    seq: SeqNumber(0),
    ack: SeqNumber(0),
    tsval: 1,
    tsecr: 1,
    window: u16::MAX,
    payload_len: 0,
    flags: Flags::ACK,
    sack_len: 0,
    ecn: Ecn::NotEct,
    dscp: 0,
    sack: [SackBlock { start: SeqNumber(0), end: SeqNumber(0) }; 3],
};

fn sender(config: &Config, segments: u64) -> Sender {
    let mut s = Sender::new(config, SeqNumber(1));
    s.peer_shift = 14;
    s.open(at(0), Some(Duration::from_millis(100)), 0, &WIDE, config.ecn);
    s.write(segments * u64::from(MSS));
    s
}

/// Sends all that may be sent; the numbers of the segments, and whether one said CWR.
fn transmit(s: &mut Sender, ms: u64) -> (Vec<u32>, bool) {
    let mut cwr = false;
    let sent = core::iter::from_fn(|| s.poll_transmit(at(ms)))
        .map(|(chunk, flags, _)| {
            cwr |= flags.contains(Flags::CWR);
            (chunk.seq.0 - 1) / MSS
        })
        .collect();
    (sent, cwr)
}

/// An ACK of the first `n` segments with SACK blocks of segments `first..end`.
fn ack(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)], flags: Flags) -> Option<Duration> {
    let seq = |n| SeqNumber(1 + n * MSS);
    let mut segment = Segment { ack: seq(n), flags: Flags::ACK | flags, ..WIDE };
    for &(first, end) in blocks {
        segment.sack[usize::from(segment.sack_len)] = SackBlock { start: seq(first), end: seq(end) };
        segment.sack_len += 1;
    }
    s.on_ack(at(ms), &segment)
}

fn plain(s: &mut Sender, ms: u64, n: u32) {
    ack(s, ms, n, &[], Flags::NONE);
}

fn sacked(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)]) {
    ack(s, ms, n, blocks, Flags::NONE);
}

#[test]
fn the_window_counts_segments_on_linux_6_and_acks_on_3_10() {
    for (stack, cwnd) in [(Stack::Linux6, 20), (Stack::Linux3_10, 15)] {
        let mut s = sender(&Config { stack, ..config(10) }, 1000);
        transmit(&mut s, 0);
        for n in (2..=10).step_by(2) {
            plain(&mut s, 100, n);
        }
        assert_eq!(s.window.cwnd, cwnd);
    }
}

/// The numbers of the segments that say PSH, of those that may be sent now.
fn pushed(s: &mut Sender, ms: u64) -> Vec<u32> {
    core::iter::from_fn(|| s.poll_transmit(at(ms)))
        .filter(|(_, flags, _)| flags.contains(Flags::PSH))
        .map(|(chunk, _, _)| (chunk.seq.0 - 1) / MSS)
        .collect()
}

/// Wrong would be a packet that goes on with the next ACK: what leaves then is another one.
#[test]
fn segments_leave_in_pairs_and_the_second_says_push() {
    let mut s = sender(&config(10), 1000);
    assert_eq!(pushed(&mut s, 0), [1, 3, 5, 7, 9]);
    s.window.ssthresh = 10;
    plain(&mut s, 100, 1);
    assert_eq!(pushed(&mut s, 100), [], "one alone");
    plain(&mut s, 101, 4);
    assert_eq!(pushed(&mut s, 101), [12], "two, and one alone");
}

#[test]
fn three_sacked_segments_start_recovery_and_limited_transmit_comes_before() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 2)]);
    assert_eq!((s.state, transmit(&mut s, 100).0), (CongestionState::Disorder, [10].to_vec()));
    sacked(&mut s, 101, 0, &[(1, 3)]);
    assert_eq!(transmit(&mut s, 101).0, [11]);
    sacked(&mut s, 102, 0, &[(1, 4)]);
    assert_eq!((s.state, s.window.ssthresh), (CongestionState::Recovery, 5));
    assert_eq!(transmit(&mut s, 102).0, [0], "the fast retransmit");
    // PRR: 12 out, in flight 9 with the retransmission; it ends with the window at ssthresh.
    for n in 5..=12 {
        sacked(&mut s, 100 + u64::from(n), 0, &[(1, n)]);
        transmit(&mut s, 100 + u64::from(n));
    }
    let nxt = (s.board.nxt().0 - 1) / MSS;
    plain(&mut s, 202, 12);
    assert_eq!((s.state, s.window.cwnd), (CongestionState::Open, 5), "una reached high_seq");
    assert!(nxt > 12 && s.board.in_flight() <= 5);
    assert_eq!((s.stats.fast_recoveries, s.stats.retransmitted), (1, 1));
}

#[test]
fn losses_found_within_a_recovery_reduce_only_once() {
    let mut s = sender(&config(20), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    transmit(&mut s, 100);
    assert_eq!(s.window.ssthresh, 10);
    sacked(&mut s, 101, 0, &[(10, 12), (1, 4)]);
    assert_eq!((s.window.ssthresh, s.stats.fast_recoveries), (10, 1));
    assert_eq!(s.board.lost_out(), 1 + 6); // 4 to 9 too
}

/// RFC 5827, 3.2: three out, two SACKed, nothing new to send: the threshold is two.
#[test]
fn early_retransmit_where_three_duplicates_cannot_come() {
    let mut s = sender(&config(10), 3);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 2)]);
    assert_eq!(transmit(&mut s, 100).0, []);
    sacked(&mut s, 101, 0, &[(1, 3)]);
    assert_eq!((transmit(&mut s, 101).0, s.state), ([0].to_vec(), CongestionState::Recovery));

    let mut s = sender(&config(3), 100);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 3)]);
    assert_eq!(s.state, CongestionState::Disorder, "with new data to send, limited transmit is the way");
    assert_eq!(transmit(&mut s, 100).0, [3, 4]);
}

/// A segment overtaken by two is late, not lost.
#[test]
fn two_sacked_segments_are_reordering() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 3)]);
    assert_eq!((s.state, s.board.in_flight()), (CongestionState::Disorder, 8));
    plain(&mut s, 101, 3);
    assert_eq!((s.state, s.window.cwnd, s.stats.retransmitted), (CongestionState::Open, 11, 0));
}

#[test]
fn a_lost_retransmission_is_sent_a_third_time_without_a_timeout() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    assert_eq!(transmit(&mut s, 100).0[0], 0);
    for n in 5..=10 {
        sacked(&mut s, 96 + u64::from(n), 0, &[(1, n)]);
        transmit(&mut s, 96 + u64::from(n));
    }
    let nxt = (s.board.nxt().0 - 1) / MSS;
    assert!(nxt > 11, "new data went out after the retransmission");
    sacked(&mut s, 210, 0, &[(1, nxt)]); // and all of it arrived
    assert_eq!(transmit(&mut s, 210).0[0], 0);
    assert_eq!((s.stats.timeouts, s.stats.fast_recoveries), (0, 1));
}

/// RFC 6298, 5.4 to 5.7; RFC 5681, equation 4 and its "loss window".
#[test]
fn a_timeout_starts_over_with_one_segment_and_a_second_one_keeps_ssthresh() {
    let mut s = sender(&config(10), 100);
    transmit(&mut s, 0);
    assert_eq!(s.deadline(), at(300)); // SRTT 100 + max(4·50, 200)
    s.on_timeout(at(299));
    assert_eq!(s.state, CongestionState::Open);
    s.on_timeout(at(300));
    assert_eq!((s.state, s.window.cwnd, s.window.ssthresh), (CongestionState::Loss, 1, 5));
    assert_eq!((transmit(&mut s, 300).0, s.deadline()), ([0].to_vec(), at(900)), "backoff");
    s.on_timeout(at(900));
    assert_eq!((s.window.ssthresh, s.stats.timeouts), (5, 2));
    assert_eq!((transmit(&mut s, 900).0, s.deadline()), ([0].to_vec(), at(2100)));
    plain(&mut s, 1000, 1);
    // 1000 + 4·300: an ACK of a segment that was sent twice is no sample, so it does not end the backoff (Karn).
    assert_eq!((s.window.cwnd, s.deadline()), (2, at(2200)), "slow start, at the backed-off timeout");
    assert_eq!(transmit(&mut s, 1000).0, [1, 2]);
    plain(&mut s, 1100, 3);
    assert_eq!(transmit(&mut s, 1100).0, [3, 4, 5, 6]);
    plain(&mut s, 1200, 7);
    assert_eq!((s.state, s.window.cwnd), (CongestionState::Loss, 5), "slow start stops at ssthresh");
    transmit(&mut s, 1200);
    plain(&mut s, 1300, 10);
    assert_eq!(s.state, CongestionState::Open);
}

/// Two timeouts with progress between them are two congestions, also before the first one's end.
#[test]
fn a_timeout_after_progress_reduces_again() {
    let mut s = sender(&config(40), 100);
    transmit(&mut s, 0);
    s.on_timeout(at(300));
    transmit(&mut s, 300);
    plain(&mut s, 400, 1);
    transmit(&mut s, 400);
    assert_eq!((s.window.ssthresh, s.window.cwnd), (20, 2));
    s.on_timeout(s.deadline());
    assert_eq!(s.window.ssthresh, 2);
}

#[test]
fn a_timeout_within_recovery_keeps_its_ssthresh() {
    let mut s = sender(&config(20), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    transmit(&mut s, 100);
    s.on_timeout(s.deadline());
    assert_eq!((s.state, s.window.ssthresh), (CongestionState::Loss, 10));
}

/// Karn: segment 0 was sent twice, so neither its ACK nor one that covers it is a sample.
#[test]
fn segments_sent_twice_give_no_sample() {
    let mut s = sender(&config(4), 100);
    transmit(&mut s, 0);
    s.on_timeout(at(300));
    transmit(&mut s, 300);
    assert_eq!(ack(&mut s, 400, 1, &[], Flags::NONE), None);
    transmit(&mut s, 400); // 1 and 2 for the second time
    assert_eq!(ack(&mut s, 500, 3, &[], Flags::NONE), None);
    transmit(&mut s, 500); // 3 for the second time, 4 and 5 for the first
    assert_eq!(ack(&mut s, 600, 5, &[], Flags::NONE), None, "it covers 3");
    assert_eq!(ack(&mut s, 610, 6, &[], Flags::NONE), Some(Duration::from_millis(110)));
    assert_eq!(s.rtt.srtt(), Some(Duration::from_micros(101_250)));
}

#[test]
fn the_timer_restarts_with_progress_and_stops_when_nothing_is_out() {
    let mut s = sender(&config(10), 3);
    transmit(&mut s, 0);
    plain(&mut s, 100, 1);
    assert_eq!(s.deadline(), at(400));
    plain(&mut s, 150, 1);
    assert_eq!(s.deadline(), at(400), "a duplicate is no progress");
    plain(&mut s, 160, 3);
    assert_eq!(s.deadline(), Instant::MAX);
}

/// RFC 3168, 6.1.2: one reduction a window of data, CWR on the first new segment, retransmissions not ECT.
#[test]
fn an_ecn_echo_reduces_once_a_window() {
    let mut s = sender(&Config { ecn: true, ..config(10) }, 1000);
    transmit(&mut s, 0);
    ack(&mut s, 100, 1, &[], Flags::ECE);
    assert_eq!((s.state, s.window.ssthresh, s.stats.ecn_reductions), (CongestionState::Cwr, 5, 1));
    let mut said_cwr = 0;
    for n in 2..=10 {
        ack(&mut s, 100, n, &[], Flags::ECE);
        said_cwr += u32::from(transmit(&mut s, 100).1);
    }
    assert_eq!((s.stats.ecn_reductions, said_cwr, s.window.ssthresh), (1, 1, 5));
    assert_eq!((s.state, s.window.cwnd), (CongestionState::Cwr, 5), "paced down to ssthresh");
    plain(&mut s, 200, 11);
    assert_eq!((s.state, s.window.cwnd), (CongestionState::Open, 5));
    transmit(&mut s, 200);
    ack(&mut s, 300, 12, &[], Flags::ECE);
    assert_eq!((s.stats.ecn_reductions, s.window.ssthresh), (2, 2));
}

#[test]
fn a_loss_while_ecn_reduces_is_repaired_without_a_second_reduction() {
    let mut s = sender(&Config { ecn: true, ..config(10) }, 1000);
    transmit(&mut s, 0);
    ack(&mut s, 100, 1, &[], Flags::ECE);
    ack(&mut s, 101, 1, &[(2, 5)], Flags::ECE);
    assert_eq!((s.state, s.window.ssthresh), (CongestionState::Recovery, 5));
    let (chunk, _, ect) = s.poll_transmit(at(101)).expect("a retransmission");
    assert_eq!(((chunk.seq.0 - 1) / MSS, ect), (1, false));
}

#[test]
fn an_application_that_does_not_fill_the_window_does_not_grow_it() {
    let mut s = sender(&config(10), 0);
    for n in 1..50 {
        s.write(2 * u64::from(MSS));
        transmit(&mut s, u64::from(n) * 100);
        plain(&mut s, u64::from(n) * 100 + 100, 2 * n);
    }
    assert_eq!(s.window.cwnd, 10);
}

#[test]
fn the_receive_window_is_honoured() {
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), None, 0, &Segment { window: 3500, ..WIDE }, false);
    s.write(1 << 20);
    assert_eq!(transmit(&mut s, 0).0, [0, 1, 2]);
}

#[test]
fn an_ack_of_what_was_never_sent_is_ignored() {
    let mut s = sender(&config(10), 100);
    transmit(&mut s, 0);
    plain(&mut s, 100, 11);
    assert_eq!((s.board.packets_out(), s.acked_bytes()), (10, 0));
}

#[test]
fn two_lost_syns_cost_the_initial_window() {
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), None, 1, &WIDE, false);
    assert_eq!(s.window.cwnd, 10);
    s.open(at(0), None, 2, &WIDE, false);
    assert_eq!(s.window.cwnd, 1);
}

#[test]
fn fin_goes_with_the_last_byte_or_alone() {
    let mut s = sender(&config(10), 1);
    s.close();
    s.write(5000); // after the end: ignored
    let (chunk, ..) = s.poll_transmit(at(0)).expect("data");
    assert!(chunk.fin && chunk.len == 1000 && s.poll_transmit(at(0)).is_none());
    let all = Segment { ack: SeqNumber(1002), ..WIDE };
    s.on_ack(at(100), &all);
    assert!(s.is_finished() && s.acked_bytes() == 1000);

    let mut s = sender(&config(10), 1);
    transmit(&mut s, 0);
    s.close();
    let (chunk, _, ect) = s.poll_transmit(at(1)).expect("FIN");
    assert_eq!((chunk.fin, chunk.len, ect), (true, 0, false));
}
