//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::sender::tests::{MSS, WIDE, at, config, echoed, plain, sender, time_out, transmit};
use crate::{Cc, Config, Flags, Stack};

#[test]
fn slow_start_counts_segments_since_linux_3_13_and_acks_before_and_in_rfc_5681() {
    for (stack, cwnd) in
        [(Stack::Linux6_1, 20), (Stack::Linux3_14, 20), (Stack::Linux3_10, 15), (Stack::Rfc, 15)]
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
    let srtt = Duration::from_micros(104_531);
    assert_eq!(s.rtt.srtt(), Some(srtt), "103.75 ms and an eighth of 6.25, in whole microseconds");
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
fn an_ack_of_what_was_never_sent_is_ignored() {
    let mut s = sender(&config(10), 100);
    transmit(&mut s, 0);
    plain(&mut s, 100, 11);
    assert_eq!((s.board.packets_out(), s.acked_bytes()), (10, 0));
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
