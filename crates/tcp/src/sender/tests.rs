//! The sender alone, fed with ACKs by hand: segments of 1000 bytes from sequence number 1, RTT 100 ms.

use super::timer::Due;
use super::*;
use crate::{Cc, SackBlock, Stack};
use goodqueue_units::Ecn;
use std::{vec, vec::Vec};

pub(super) const MSS: u32 = 1000;

pub(super) fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(super) fn config(initial_window: u32) -> Config {
    Config { cc: Cc::Reno, mss: MSS as u16, initial_window, ..Config::default() }
}

/// A segment with the widest window.
pub(super) const WIDE: Segment = Segment {
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

pub(super) fn sender(config: &Config, segments: u64) -> Sender {
    let mut s = Sender::new(config, SeqNumber(1));
    s.peer_shift = 14;
    s.open(at(0), Some(Duration::from_millis(100)), 0, &WIDE, config.ecn);
    s.write(segments * u64::from(MSS));
    s
}

/// Sends all that may be sent; the numbers of the segments, and whether one said CWR.
pub(super) fn transmit(s: &mut Sender, ms: u64) -> (Vec<u32>, bool) {
    let mut cwr = false;
    let sent = core::iter::from_fn(|| s.poll_transmit(at(ms)))
        .map(|(chunk, flags, _)| {
            cwr |= flags.contains(Flags::CWR);
            (chunk.seq.0 - 1) / MSS
        })
        .collect();
    (sent, cwr)
}

/// Takes an ACK of the first `n` segments with SACK blocks of segments `first..end`. It echoes the clock of 100 ms ago.
fn ack(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)], flags: Flags) -> Option<Duration> {
    echoed(s, ms, ms - 100, n, blocks, flags)
}

/// Takes the same ACK, caused by a segment sent at `sent_ms`.
pub(super) fn echoed(
    s: &mut Sender,
    ms: u64,
    sent_ms: u64,
    n: u32,
    blocks: &[(u32, u32)],
    flags: Flags,
) -> Option<Duration> {
    answer(s, ms, timestamp(at(sent_ms)), n, blocks, flags)
}

fn answer(
    s: &mut Sender,
    ms: u64,
    tsecr: u32,
    n: u32,
    blocks: &[(u32, u32)],
    flags: Flags,
) -> Option<Duration> {
    let seq = |n| SeqNumber(1 + n * MSS);
    let mut segment = Segment { ack: seq(n), tsecr, flags: Flags::ACK | flags, ..WIDE };
    for &(first, end) in blocks {
        segment.sack[usize::from(segment.sack_len)] = SackBlock { start: seq(first), end: seq(end) };
        segment.sack_len += 1;
    }
    s.on_ack::<true>(at(ms), &segment, false)
}

/// Takes an ACK without a timestamp.
pub(super) fn without_echo(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)]) {
    answer(s, ms, 0, n, blocks, Flags::NONE);
}

pub(super) fn plain(s: &mut Sender, ms: u64, n: u32) {
    ack(s, ms, n, &[], Flags::NONE);
}

pub(super) fn sacked(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)]) {
    ack(s, ms, n, blocks, Flags::NONE);
}

#[test]
fn slow_start_counts_segments_since_linux_3_13_and_acks_before_and_in_rfc_5681() {
    for (stack, cwnd) in
        [(Stack::Linux6, 20), (Stack::Linux3_14, 20), (Stack::Linux3_10, 15), (Stack::Rfc, 15)]
    {
        let mut s = sender(&Config { stack, ..config(10) }, 1000);
        transmit(&mut s, 0);
        for n in (2..=10).step_by(2) {
            plain(&mut s, 100, n);
            transmit(&mut s, 100);
        }
        assert_eq!(s.window.cwnd, cwnd);
    }
}

/// Returns the numbers of the segments that carry PSH, of those that may be sent now.
fn pushed(s: &mut Sender, ms: u64) -> Vec<u32> {
    core::iter::from_fn(|| s.poll_transmit(at(ms)))
        .filter(|(_, flags, _)| flags.contains(Flags::PSH))
        .map(|(chunk, _, _)| (chunk.seq.0 - 1) / MSS)
        .collect()
}

/// Guards against a packet that goes on with the next ACK: what leaves then is another one.
#[test]
fn segments_leave_in_pairs_and_the_second_says_push() {
    let mut s = sender(&config(10), 1000);
    assert_eq!(pushed(&mut s, 0), [1, 3, 5, 7, 9]);
    s.window.ssthresh = 10;
    plain(&mut s, 100, 1);
    assert_eq!(pushed(&mut s, 100), [], "one alone");
    plain(&mut s, 101, 4);
    assert_eq!(pushed(&mut s, 101), [12], "two, and the third waits");
}

/// Guards against a third segment alone behind a pair though the next ACK is due: its own ACK would be of one segment
/// too. The window counts as used while the segment waits, or it would not grow.
#[test]
fn the_third_segment_waits_for_the_next_ack() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    s.window.ssthresh = 10;
    s.window.cwnd = 11;
    plain(&mut s, 100, 2);
    assert_eq!(transmit(&mut s, 100).0, [10, 11]);
    assert_eq!(s.board.in_flight() + 1, s.window.cwnd);
    assert!(s.usage.is_cwnd_limited(&s.window));
    plain(&mut s, 103, 3);
    assert_eq!(transmit(&mut s, 103).0, [12, 13]);
    s.window.cwnd += 1;
    assert_eq!(transmit(&mut s, 105).0, [14], "behind a pause it does not wait");
}

#[test]
fn three_sacked_segments_start_recovery_and_limited_transmit_comes_before() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 2)]);
    assert_eq!((s.state(), transmit(&mut s, 100).0), (CongestionState::Disorder, [10].to_vec()));
    sacked(&mut s, 102, 0, &[(1, 3)]);
    assert_eq!(transmit(&mut s, 102).0, [11]);
    sacked(&mut s, 104, 0, &[(1, 4)]);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Recovery, 5));
    assert_eq!(transmit(&mut s, 104).0, [0], "the fast retransmit");
    // PRR: 12 out, in flight 9 with the retransmission; it ends with the window at ssthresh.
    for n in 5..=12 {
        sacked(&mut s, 100 + u64::from(n), 0, &[(1, n)]);
        transmit(&mut s, 100 + u64::from(n));
    }
    let nxt = (s.board.nxt().0 - 1) / MSS;
    plain(&mut s, 205, 12);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 5), "una reached high_seq");
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

/// Three out, two SACKed, nothing new to send: DupThresh cannot be reached. Linux 6: RACK waits for an RTT of 101 ms,
/// 25 ms (min_RTT/4) and 2 ms, which at 101 ms are 7 ticks of 4 ms after the 25th, and one more: the 33rd. Linux 3.10:
/// RFC 5827, 3.2, an SRTT/4 late. RFC 6675: only the timer is left.
#[test]
fn where_three_duplicates_cannot_come_a_quarter_of_a_round_trip_is_waited() {
    for (stack, deadline) in
        [(Stack::Linux6, at(132)), (Stack::Linux3_10, at(101) + Duration::from_micros(25_031))]
    {
        let mut s = sender(&Config { stack, ..config(10) }, 3);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(1, 2)]);
        assert_eq!(transmit(&mut s, 100).0, []);
        sacked(&mut s, 101, 0, &[(1, 3)]);
        assert_eq!(
            (transmit(&mut s, 101).0, s.state()),
            ([].to_vec(), CongestionState::Disorder),
            "{stack:?}"
        );
        assert!(
            s.deadline() >= deadline && s.deadline() < deadline + Duration::from_micros(1),
            "{:?}",
            s.timer
        );
        s.on_timeout(s.deadline());
        assert_eq!((transmit(&mut s, 132).0, s.state()), ([0].to_vec(), CongestionState::Recovery));
        assert_eq!((s.stats.lost, s.stats.fast_recoveries), (1, 1));
    }
    let mut s = sender(&Config { stack: Stack::Rfc, ..config(10) }, 3);
    transmit(&mut s, 0);
    sacked(&mut s, 101, 0, &[(1, 3)]);
    s.on_timeout(at(999));
    assert_eq!(s.state(), CongestionState::Disorder);
    s.on_timeout(at(1000));
    assert_eq!(s.state(), CongestionState::Loss);

    let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(3) }, 100);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 3)]);
    assert_eq!(s.state(), CongestionState::Disorder, "with new data to send, limited transmit is the way");
    assert_eq!(transmit(&mut s, 100).0, [3, 4]);
}

/// Three out, the last SACKed: what RFC 5827 would not retransmit early, Linux 3.10 does; and with nothing new to send,
/// the second too, by NextSeg()'s rule 3 (RFC 6675, section 4).
#[test]
fn early_retransmit_fills_two_holes() {
    let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(10) }, 3);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(2, 3)]);
    s.on_timeout(s.deadline());
    assert_eq!((transmit(&mut s, 126).0, s.state()), ([0, 1].to_vec(), CongestionState::Recovery));
}

/// A segment overtaken by two is late, not lost.
#[test]
fn two_sacked_segments_are_reordering() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 3)]);
    assert_eq!((s.state(), s.board.in_flight()), (CongestionState::Disorder, 8));
    plain(&mut s, 101, 3);
    assert_eq!((s.state(), s.window.cwnd, s.stats.retransmitted), (CongestionState::Open, 11, 0));
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

/// Lets time pass, with tail loss probes, until the retransmission timer has fired; when that was.
pub(super) fn time_out(s: &mut Sender) -> u64 {
    let before = s.stats.timeouts;
    while s.stats.timeouts == before {
        let deadline = s.deadline();
        s.on_timeout(deadline);
        if s.stats.timeouts == before {
            transmit(s, deadline.as_nanos() / 1_000_000);
        } else {
            return deadline.as_nanos() / 1_000_000;
        }
    }
    0
}

/// RFC 6298, 5.4 to 5.7; RFC 5681, equation 4 and its "loss window". There is no new data, so none for F-RTO.
#[test]
fn a_timeout_starts_over_with_one_segment_and_a_second_one_keeps_ssthresh() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    assert_eq!(s.deadline(), at(202), "the probe: 2·SRTT and 2 ms");
    assert_eq!(time_out(&mut s), 502); // SRTT 100 + max(4·50, 200) after it
    assert_eq!((s.state(), s.window.cwnd, s.window.ssthresh), (CongestionState::Loss, 1, 5));
    assert_eq!((transmit(&mut s, 502).0, s.deadline()), ([0].to_vec(), at(1102)), "backoff");
    s.on_timeout(at(1102));
    assert_eq!((s.window.ssthresh, s.stats.timeouts), (5, 2));
    assert_eq!((transmit(&mut s, 1102).0, s.deadline()), ([0].to_vec(), at(2302)));
    plain(&mut s, 1202, 1);
    // The echo says that the last copy arrived: a sample of 100 ms, which ends the backoff.
    assert_eq!((s.window.cwnd, s.deadline()), (2, at(1502)));
    assert_eq!(transmit(&mut s, 1202).0, [1, 2]);
    plain(&mut s, 1302, 3);
    assert_eq!(transmit(&mut s, 1302).0, [3, 4, 5, 6]);
    plain(&mut s, 1402, 7);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Loss, 5), "slow start stops at ssthresh");
    transmit(&mut s, 1402);
    plain(&mut s, 1502, 10);
    assert_eq!((s.state(), s.stats.undos, s.stats.lost), (CongestionState::Open, 0, 11), "0 was lost twice");
}

/// Two timeouts with progress between them are two congestions, also before the first one's end.
#[test]
fn a_timeout_after_progress_reduces_again() {
    let mut s = sender(&config(40), 40);
    transmit(&mut s, 0);
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    plain(&mut s, ms + 100, 1);
    transmit(&mut s, ms + 100);
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
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Loss, 10));
}

/// Karn, and RFC 7323, 4.1: only the echo times a segment that was sent twice. A sample that starts when the first or
/// the last copy was sent would be wrong.
#[test]
fn segments_sent_twice_are_timed_by_the_echo_or_not_at_all() {
    let mut s = sender(&config(4), 4);
    transmit(&mut s, 0);
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    assert_eq!(echoed(&mut s, ms + 130, ms, 1, &[], Flags::NONE), None, "too coarse to be told");
    assert_eq!(s.rtt.srtt(), Some(Duration::from_micros(103_750)), "100 ms and an eighth of 30");
    transmit(&mut s, ms + 130); // 1 and 2 for the second time
    let silent = Segment { ack: SeqNumber(1 + 3 * MSS), tsecr: 0, ..WIDE };
    assert_eq!(s.on_ack::<true>(at(ms + 250), &silent, false), None);
    transmit(&mut s, ms + 250);
    s.write(2000);
    transmit(&mut s, ms + 260); // 4 for the first time; there is room for one
    assert_eq!(echoed(&mut s, ms + 370, ms + 260, 5, &[], Flags::NONE), None);
    assert_eq!(s.rtt.srtt(), Some(Duration::from_nanos(104_531_250)), "103.75 ms and an eighth of 6.25");
}

#[test]
fn the_timer_restarts_with_progress_and_stops_when_nothing_is_out() {
    for (stack, wait) in [(Stack::Linux6, 202), (Stack::Linux3_10, 200), (Stack::Rfc, 1000)] {
        let mut s = sender(&Config { stack, ..config(10) }, 3);
        transmit(&mut s, 0);
        plain(&mut s, 100, 1);
        assert_eq!(s.deadline(), at(100 + wait), "{stack:?}");
        plain(&mut s, 150, 1);
        assert_eq!(s.deadline(), at(100 + wait), "a duplicate is no progress");
        plain(&mut s, 160, 3);
        assert_eq!(s.deadline(), Instant::MAX);
    }
}

/// RFC 3168, 6.1.2: one reduction a window of data, CWR on the first new segment, retransmissions not ECT.
#[test]
fn an_ecn_echo_reduces_once_a_window() {
    let mut s = sender(&Config { ecn: EcnMode::Classic, ..config(10) }, 1000);
    transmit(&mut s, 0);
    ack(&mut s, 100, 1, &[], Flags::ECE);
    assert_eq!((s.state(), s.window.ssthresh, s.stats.ecn_reductions), (CongestionState::Cwr, 5, 1));
    let mut said_cwr = 0;
    for n in 2..=10 {
        ack(&mut s, 100, n, &[], Flags::ECE);
        said_cwr += u32::from(transmit(&mut s, 100).1);
    }
    assert_eq!((s.stats.ecn_reductions, said_cwr, s.window.ssthresh), (1, 1, 5));
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Cwr, 5), "paced down to ssthresh");
    plain(&mut s, 200, 11);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 5));
    transmit(&mut s, 200);
    ack(&mut s, 300, 12, &[], Flags::ECE);
    assert_eq!((s.stats.ecn_reductions, s.window.ssthresh), (2, 2));
}

#[test]
fn a_loss_while_ecn_reduces_is_repaired_without_a_second_reduction() {
    let mut s = sender(&Config { ecn: EcnMode::Classic, ..config(10) }, 1000);
    transmit(&mut s, 0);
    ack(&mut s, 100, 1, &[], Flags::ECE);
    ack(&mut s, 101, 1, &[(2, 5)], Flags::ECE);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Recovery, 5));
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
    s.open(at(0), None, 0, &Segment { window: 3500, ..WIDE }, EcnMode::Off);
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
    s.open(at(0), None, 1, &WIDE, EcnMode::Off);
    assert_eq!(s.window.cwnd, 10);
    s.open(at(0), None, 2, &WIDE, EcnMode::Off);
    assert_eq!(s.window.cwnd, 1);
}

#[test]
fn fin_goes_with_the_last_byte_or_alone() {
    let mut s = sender(&config(10), 1);
    s.close();
    s.write(5000); // after the end: ignored
    let (chunk, ..) = s.poll_transmit(at(0)).expect("data");
    assert!(chunk.ends.contains(Flags::FIN) && chunk.len == 1000 && s.poll_transmit(at(0)).is_none());
    let all = Segment { ack: SeqNumber(1002), ..WIDE };
    s.on_ack::<true>(at(100), &all, false);
    assert!(s.is_finished() && s.acked_bytes() == 1000);

    let mut s = sender(&config(10), 1);
    transmit(&mut s, 0);
    s.close();
    let (chunk, _, ect) = s.poll_transmit(at(1)).expect("FIN");
    assert_eq!((chunk.ends, chunk.len, ect), (Flags::FIN, 0, false));
}

/// Two SACKs, the second of which lets nothing out, then an ACK of 3: a window of 11 with 8 out has room for a pair and
/// one. It would be wrong that the one leaves because somebody asked again, as timers do that had moved on.
#[test]
fn a_segment_that_waits_for_company_waits_for_an_ack_and_not_for_the_next_question() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 2)]);
    assert_eq!(transmit(&mut s, 100).0, [10]);
    sacked(&mut s, 101, 0, &[(1, 3)]);
    assert_eq!(transmit(&mut s, 101).0, []);
    plain(&mut s, 101, 3);
    assert_eq!((transmit(&mut s, 101).0, s.window.cwnd), (vec![11, 12], 11));
    assert_eq!(transmit(&mut s, 105).0, []);
    plain(&mut s, 106, 4);
    assert_eq!(transmit(&mut s, 106).0, [13, 14]);
}

/// A lone segment that is not full may have waited for the receiver's delayed ACK: BBR's RTT of 100 ms, ten seconds
/// old, does not make way for its 150 ms. A full one's does. Guards against an RTT, and so a window, that holds the
/// receiver's timer.
#[test]
fn the_ack_of_a_lone_small_segment_may_be_a_delayed_one() {
    for (bytes, min_rtt_ms) in [(u64::from(MSS) - 1, 100.0), (u64::from(MSS), 150.0)] {
        let mut s = sender(&Config { cc: Cc::Bbr, ..config(10) }, 0);
        s.write(bytes);
        assert_eq!(transmit(&mut s, 11_000).0, [0]);
        let segment = Segment { ack: SeqNumber(1 + bytes as u32), tsecr: 0, ..WIDE };
        s.on_ack::<true>(at(11_150), &segment, false);
        let mut shown = None;
        s.probe(&mut |name, value| shown = shown.or((name == "mrtt_ms").then_some(value)));
        assert_eq!(shown, Some(min_rtt_ms), "{bytes} bytes");
    }
}

/// RFC 3168, 6.1.2 and 6.1.5: CWR goes on the first new data segment, and what has no data is not ECN-capable. Guards
/// against a FIN that takes CWR away, or may be marked: within the window, or beyond it.
#[test]
fn a_fin_alone_says_no_cwr_and_is_not_ecn_capable() {
    for (segments, beyond) in [(0, false), (2, true)] {
        let mut s = sender(&config(2), segments);
        assert_eq!(transmit(&mut s, 0).0.len() as u64, segments);
        s.recovery.cwr_due = true;
        s.close();
        assert_eq!(s.board.in_flight() >= s.window.cwnd, beyond);
        let (chunk, flags, is_ect) = s.poll_transmit(at(0)).unwrap();
        assert_eq!(
            (chunk.len, chunk.ends, flags.contains(Flags::CWR), is_ect),
            (0, Flags::FIN, false, false)
        );
        assert!(s.recovery.cwr_due);
    }
}

/// Two segments of room: as much, and FIN may stand on it, leaves at once; a byte more waits on. Guards against an end
/// of a transfer that waits for company that cannot come.
#[test]
fn what_fits_the_window_to_the_byte_does_not_wait() {
    let waits = [0, 1, u64::from(MSS)].map(|more| {
        let mut s = sender(&config(10), 0);
        (s.held_back, s.unsent) = (true, 2 * u64::from(MSS) + more);
        s.window.cwnd = 2;
        s.poll_transmit(at(0)).is_none()
    });
    assert_eq!(waits, [false, true, true]);
}

/// A SYN-ACK may come with a closed window. Guards against segments without a byte from then on.
#[test]
fn a_closed_window_at_first_does_not_shorten_segments() {
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), Some(Duration::from_millis(100)), 0, &Segment { window: 0, ..WIDE }, EcnMode::Off);
    assert_eq!(u32::from(s.mss), MSS);
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), Some(Duration::from_millis(100)), 0, &Segment { window: 700, ..WIDE }, EcnMode::Off);
    assert_eq!(s.mss, 700);
}

/// A sender with nothing to send and nothing out is not asked again; one that has closed has FIN to send, and one that
/// owes a probe the probe. Guards against a connection that never ends.
#[test]
fn dormant_is_who_has_nothing_to_send() {
    let dormant = [(End::Open, Due::Nothing), (End::FinSent, Due::Nothing), (End::Open, Due::WindowProbe)]
        .map(|(end, due)| {
            let mut s = sender(&config(10), 0);
            (s.end, s.timer.due) = (end, due);
            assert_eq!(s.send_new(at(0)), None);
            s.is_dormant
        });
    assert_eq!(dormant, [true, true, false]);
}

/// Guards against a tail loss probe that is FIN alone, and may be marked (RFC 3168, 6.1.5).
#[test]
fn a_probe_without_data_is_not_ecn_capable() {
    let mut s = sender(&config(2), 2);
    transmit(&mut s, 0);
    s.close();
    s.timer.due = Due::TailProbe;
    let (chunk, _, is_ect) = s.poll_transmit(at(300)).unwrap();
    assert_eq!((chunk.len, chunk.ends, is_ect, s.stats.tlp_probes), (0, Flags::FIN, false, 1));
}

/// Packets have 19 segments: the pace is 20 Mbyte/s, for 1/1024 s. Without a limit they are split, so most segments are
/// not asked for one by one. Guards against a packet that goes on beyond the room of the peer.
#[test]
fn a_packet_ends_where_the_room_of_the_peer_does() {
    let send = |room| {
        let mut s = sender(&config(1000), 100);
        s.peer_window = room;
        let (mut asked, mut sent) = (0, 0);
        while s.poll_transmit(at(0)).is_some() {
            (asked, sent) = (asked + 1, sent + 1);
            while s.split(at(0)).is_some() {
                sent += 1;
            }
        }
        (asked < sent / 2, sent)
    };
    assert_eq!(send(200_000), (true, 100));
    for segments in 3..40 {
        assert_eq!(send(segments * MSS + 500).1, segments);
    }
}
