//! The sender alone, fed with ACKs by hand: segments of 1000 bytes from sequence number 1, RTT 100 ms.

use super::*;
use crate::segment::timestamp;
use crate::{Cc, SackBlock, Stack};
use goodqueue_units::Ecn;
use std::vec::Vec;

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
pub(super) fn ack(s: &mut Sender, ms: u64, n: u32, blocks: &[(u32, u32)], flags: Flags) -> Option<Duration> {
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

/// Returns when the timer fires.
pub(super) fn fires_at(s: &Sender) -> Instant {
    let mut timer = s.timer.clone();
    timer.fires(timer.deadline(), s.era().timers.jiffy);
    timer.deadline()
}

/// Lets time pass until the timer has fired; when that was.
pub(super) fn fire(s: &mut Sender) -> u64 {
    let at = fires_at(s);
    s.on_timeout(at);
    at.as_nanos() / 1_000_000
}

/// Lets time pass, with tail loss probes, until the retransmission timer has fired; when that was.
pub(super) fn time_out(s: &mut Sender) -> u64 {
    let before = s.stats.timeouts;
    loop {
        let ms = fire(s);
        if s.stats.timeouts > before {
            return ms;
        }
        transmit(s, ms);
    }
}

/// RFC 6298, 5.4 to 5.7; RFC 5681, equation 4 and its "loss window". There is no new data, so none for F-RTO.
///
/// All times are ticks of 4 ms. The probe, of 2·SRTT and 2 ms, takes 51 ticks and one more: 208 ms. Longer timers fire
/// with every eighth tick, after their time. RTO is SRTT 100 + max(4·50, 200), 75 ticks: 52 + 75 = 127, so at 128, 512
/// ms. Twice that: 128 + 150 = 278, so at 280, 1120 ms. Four times: 280 + 300 = 580, so at 584, 2336 ms. After a sample
/// at 1220 ms: 305 + 75 = 380, so at 384, 1536 ms.
#[test]
fn a_timeout_starts_over_with_one_segment_and_a_second_one_keeps_ssthresh() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    assert_eq!(fires_at(&s), at(208), "the probe");
    assert_eq!(time_out(&mut s), 512);
    assert_eq!((s.state(), s.window.cwnd, s.window.ssthresh), (CongestionState::Loss, 1, 5));
    assert_eq!((transmit(&mut s, 512).0, fire(&mut s)), ([0].to_vec(), 1120), "backoff");
    assert_eq!((s.window.ssthresh, s.stats.timeouts), (5, 2));
    assert_eq!((transmit(&mut s, 1120).0, fires_at(&s)), ([0].to_vec(), at(2336)));
    plain(&mut s, 1220, 1);
    // The echo says that the last copy arrived: a sample of 100 ms, which ends the backoff.
    assert_eq!((s.window.cwnd, fires_at(&s)), (2, at(1536)));
    assert_eq!(transmit(&mut s, 1220).0, [1, 2]);
    plain(&mut s, 1320, 3);
    assert_eq!(transmit(&mut s, 1320).0, [3, 4, 5, 6]);
    plain(&mut s, 1420, 7);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Loss, 5), "slow start stops at ssthresh");
    transmit(&mut s, 1420);
    plain(&mut s, 1520, 10);
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
    fire(&mut s);
    assert_eq!(s.window.ssthresh, 2);
}

#[test]
fn a_timeout_within_recovery_keeps_its_ssthresh() {
    let mut s = sender(&config(20), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    transmit(&mut s, 100);
    fire(&mut s);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Loss, 10));
}

#[test]
fn the_timer_restarts_with_progress_and_stops_when_nothing_is_out() {
    for (stack, wait) in [(Stack::Linux6_1, 202), (Stack::Linux3_10, 200), (Stack::Rfc, 1000)] {
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

#[test]
fn two_lost_syns_cost_the_initial_window() {
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), None, 1, &WIDE, EcnMode::Off);
    assert_eq!(s.window.cwnd, 10);
    s.open(at(0), None, 2, &WIDE, EcnMode::Off);
    assert_eq!(s.window.cwnd, 1);
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
