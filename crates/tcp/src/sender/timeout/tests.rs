//! Probes and waits, with segments of 1000 bytes and an RTT of 100 ms.

use super::*;
use crate::sender::tests::{MSS, WIDE, at, config, fire, fires_at, plain, sender, time_out, transmit};
use crate::{Config, EcnMode, Flags, Segment, SeqNumber, Stack};

/// Takes an ACK of the first `n` segments that leaves room for `window` bytes, on the peer's byte `seq`.
fn offered(s: &mut Sender, ms: u64, n: u32, window: u16, seq: u32) {
    s.peer_shift = 0;
    let (ack, seq) = (SeqNumber(1 + n * MSS), SeqNumber(seq));
    s.on_ack::<true>(at(ms), &Segment { ack, seq, window, tsecr: 0, ..WIDE }, false);
}

/// RFC 9293, 3.8.6.1: probes from RTO on, with backoff, that take no sequence number and so need no room. Each answer
/// starts the wait anew.
///
/// RTO is 100 + 200 ms: 75 ticks of 4 ms, which with the 25 before end with the next eighth tick, the 104th. 150 more
/// are 254, so the 256th. 300 more are 556, so the 560th. From 504 ticks on it is every 64th: 600 more are 1160, so the
/// 1216th.
#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut s = sender(&config(10), 20);
    transmit(&mut s, 0);
    offered(&mut s, 100, 10, 0, 1);
    assert_eq!(transmit(&mut s, 100).0, []);
    for (ms, next) in [(416, 1024), (1024, 2240), (2240, 4864)] {
        assert_eq!(fire(&mut s), ms);
        let (probe, flags, ect) = s.poll_transmit(at(ms)).expect("a probe");
        assert_eq!(
            (probe.seq, probe.len, probe.ends, ect),
            (s.board.una() - 1, 0, crate::Flags::NONE, false)
        );
        assert!(flags == crate::Flags::NONE && s.poll_transmit(at(ms)).is_none());
        assert_eq!(fires_at(&s), at(next), "backoff");
    }
    offered(&mut s, 2300, 10, 0, 1);
    assert_eq!(s.deadline(), at(4700), "2300 ms + 8·300, or later");
    offered(&mut s, 2500, 10, 3500, 1);
    assert_eq!(transmit(&mut s, 2500).0, [10, 11, 12, 13], "half a segment fills the window");
    assert_eq!((s.stats.timeouts, s.board.packets_out()), (0, 4));
    assert!(s.deadline() <= at(2800), "without backoff");
}

/// The ACK that opens the window comes at the instant of the probe, 416 ms, with an echo of marks. Guards against a
/// probe of a window that is open, and a timeout with backoff.
#[test]
fn a_window_that_has_opened_is_not_probed() {
    let mut s = sender(&Config { ecn: EcnMode::Classic, ..config(10) }, 20);
    transmit(&mut s, 0);
    offered(&mut s, 100, 10, 0, 1);
    assert_eq!((transmit(&mut s, 100).0, fires_at(&s)), ([].to_vec(), at(416)));
    let flags = Flags::ACK | Flags::ECE;
    let ack = Segment { ack: s.board.una(), seq: SeqNumber(2), tsecr: 0, flags, ..WIDE };
    s.on_ack::<true>(at(416), &ack, false);
    s.on_timeout(at(416));
    assert_eq!(
        (s.timer.due, s.timer.is_running(), s.rtt.rto()),
        (Due::Nothing, false, Duration::from_millis(300))
    );
    assert_eq!(transmit(&mut s, 416).0[0], 10);
}

/// RFC 9293, 3.8.6.2.1: no small segment while there may be room for a full one; after the timer, what fits.
#[test]
fn a_window_of_less_than_a_segment_is_used_only_by_the_probe() {
    let mut s = sender(&config(10), 20);
    transmit(&mut s, 0);
    offered(&mut s, 100, 10, 400, 1);
    assert_eq!(transmit(&mut s, 100).0, []);
    let ms = fire(&mut s);
    let (probe, ..) = s.poll_transmit(at(ms)).expect("a probe");
    assert_eq!((probe.seq, probe.len), (SeqNumber(10_001), 400));
    assert_eq!(s.board.packets_out(), 1);
}

/// RFC 9293, 3.10.7.4 (SND.WL1). It would be wrong to miss a pure window update, or to believe an old one.
#[test]
fn a_window_is_taken_from_updates_and_not_from_late_segments() {
    let mut s = sender(&config(10), 20);
    transmit(&mut s, 0);
    offered(&mut s, 100, 10, 1000, 500);
    offered(&mut s, 101, 10, 3000, 500);
    assert_eq!(s.peer_window, 3000, "more, and nothing else is new");
    offered(&mut s, 102, 10, 2000, 500);
    assert_eq!(s.peer_window, 3000, "less from the same number is older");
    offered(&mut s, 103, 10, 2000, 600);
    assert_eq!(s.peer_window, 2000, "less from a later number is newer");
    offered(&mut s, 104, 10, 9000, 400);
    assert_eq!(s.peer_window, 2000);
    offered(&mut s, 105, 9, 9000, 700);
    assert_eq!(s.peer_window, 2000, "an old ACK tells nothing of now");
}

/// RFC 8985, 7.3: new data goes as the probe, one segment beyond the window; then nothing but RTO is left. 2·SRTT and 2
/// ms are 51 ticks of 4 ms, and one more is waited. RTO is 75: 52 + 75 = 127 ticks, and the next eighth is the 128th.
#[test]
fn a_probe_is_new_data_where_there_is_some_and_comes_once() {
    let mut s = sender(&config(10), 100);
    transmit(&mut s, 0);
    assert_eq!(fire(&mut s), 208);
    assert_eq!(transmit(&mut s, 208).0, [10]);
    assert_eq!((s.stats.tlp_probes, s.stats.retransmitted), (1, 0));
    assert_eq!(time_out(&mut s), 512);
}

/// RFC 8985, 7.2: at most RTO after the first segment was sent, not after the last.
#[test]
fn a_trickle_does_not_put_off_the_timeout() {
    let mut s = sender(&config(10), 0);
    for ms in [0, 150, 290] {
        s.write(u64::from(MSS));
        transmit(&mut s, ms);
    }
    assert_eq!(s.deadline(), at(300));
}

/// Linux's `tcp_slow_start_after_idle`. RTO is 300 ms: after 1000 ms of silence the window has halved three times.
#[test]
fn a_window_is_not_kept_over_a_pause() {
    for (stack, cwnd) in [(Stack::Linux6_1, 12), (Stack::Rfc, 10)] {
        let mut s = sender(&Config { stack, ..config(10) }, 10);
        transmit(&mut s, 0);
        plain(&mut s, 100, 10);
        s.window.cwnd = 100;
        s.write(200 * u64::from(MSS));
        let rto = s.rtt.rto().as_nanos() / 1_000_000;
        transmit(&mut s, 3 * rto + 100);
        assert_eq!(s.window.cwnd, cwnd, "{stack:?}");
    }
}

/// 20, 25 and 30 segments of a window of 100 are used; RTO is 300 ms.
#[test]
fn a_window_that_the_application_does_not_fill_falls_half_way_to_what_was_used() {
    let mut s = sender(&config(10), 20);
    (s.window.cwnd, s.window.ssthresh) = (100, 50);
    transmit(&mut s, 0);
    s.write(5 * u64::from(MSS));
    transmit(&mut s, 299);
    assert_eq!(s.window.cwnd, 100);
    s.write(5 * u64::from(MSS));
    transmit(&mut s, 301);
    assert_eq!((s.window.cwnd, s.window.ssthresh), (u32::midpoint(100, 30), 75));
}

/// RFC 3168, 6.1.5: what is sent again is not ECN-capable; new data are, as a probe, too.
#[test]
fn a_probe_is_ecn_capable_where_it_is_new_data() {
    for (segments, number, is_new) in [(20, 10, true), (10, 9, false)] {
        let mut s = sender(&config(10), segments);
        transmit(&mut s, 0);
        let ms = fire(&mut s);
        let (chunk, _, may_be_marked) = s.poll_transmit(at(ms)).expect("a probe");
        assert_eq!((chunk.seq, may_be_marked), (SeqNumber(1 + number * MSS), is_new));
    }
}
