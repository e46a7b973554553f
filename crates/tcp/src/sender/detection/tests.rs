//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::sender::tests::{MSS, at, config, fire, fires_at, plain, sacked, sender, time_out, transmit};
use crate::{Config, Stack};
use goodqueue_units::Duration;

/// Linux 6: a retransmission after a timeout is lost, which a later one shows. Before RACK only a timeout did.
#[test]
fn a_retransmission_lost_after_a_timeout_is_found() {
    for (stack, state, next) in
        [(Stack::Linux6_1, CongestionState::Recovery, 1), (Stack::Linux3_10, CongestionState::Loss, 3)]
    {
        let mut s = sender(&Config { stack, ..config(10) }, 10);
        transmit(&mut s, 0);
        let ms = time_out(&mut s);
        transmit(&mut s, ms);
        plain(&mut s, ms + 100, 1);
        assert_eq!(transmit(&mut s, ms + 100).0, [1, 2]);
        sacked(&mut s, ms + 201, 1, &[(2, 3)]);
        assert_eq!((s.state(), transmit(&mut s, ms + 201).0[0]), (state, next), "{stack:?}");
    }
}

/// A timer that finds nothing lost changes nothing, and in a recovery the window has fallen already. Guards against a
/// window that falls for no loss, or twice for one.
#[test]
fn what_a_timer_finds_reduces_the_window_once() {
    let mut seen = [CongestionState::Open, CongestionState::Recovery, CongestionState::Open]
        .into_iter()
        .zip([0, 1, 1])
        .map(|(state, segments)| {
            let mut s = sender(&config(20), 100);
            transmit(&mut s, 0);
            s.recovery.state = state;
            s.on_late_losses(at(150), Found { segments, ..Found::default() });
            (s.state() == CongestionState::Recovery, s.window.ssthresh < 20, s.stats.fast_recoveries)
        });
    assert_eq!(seen.next(), Some((false, false, 0)), "nothing was found");
    assert_eq!(seen.next(), Some((true, false, 0)), "it is on already");
    assert_eq!(seen.next(), Some((true, true, 1)));
}

/// RFC 5827, 3.2, as Linux 3.10 has it: one of two or three is SACKed, and nothing new may go. Guards against a
/// needless retransmission where DupThresh can be reached, or where segments overtook each other before.
#[test]
fn early_retransmit_is_for_the_last_two_or_three() {
    let may = |out: u32, blocks: &[(u32, u32)], more: u32, was_reordered| {
        let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(out) }, u64::from(out + more));
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, blocks);
        if was_reordered {
            s.recovery.rack.on_reordering(5);
        }
        s.may_retransmit_early()
    };
    assert!(may(3, &[(2, 3)], 0, false) && may(2, &[(1, 2)], 0, false));
    assert!(!may(4, &[(3, 4)], 0, false), "two more might be SACKed");
    assert!(!may(3, &[], 0, false), "nothing says that anything arrives");
    assert!(!may(3, &[(2, 3)], 5, false), "new data may go, and be SACKed");
    assert!(!may(3, &[(2, 3)], 0, true));
}

/// RFC 5827: new data would bring the missing duplicate ACKs, but a full window lets none leave. It would be wrong to
/// wait for the timeout.
#[test]
fn early_retransmit_is_for_a_full_window_too() {
    let may = [3, 2].map(|cwnd| {
        let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(3) }, 8);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(2, 3)]);
        s.window.cwnd = cwnd;
        assert_eq!(s.board.in_flight(), 2);
        s.may_retransmit_early()
    });
    assert_eq!(may, [false, true]);
}

/// Linux 3.10 calls `tcp_time_to_recover` outside of Recovery and Loss only. Guards against a wait in Recovery: its end
/// would begin the recovery again.
#[test]
fn early_retransmit_waits_outside_of_recovery() {
    let waits = [CongestionState::Disorder, CongestionState::Cwr, CongestionState::Recovery].map(|state| {
        let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(3) }, 3);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(2, 3)]);
        s.recovery.state = state;
        s.detect_losses(at(100)).wait_until.is_some()
    });
    assert_eq!(waits, [true, true, false]);
}

/// Linux 3.10, `tcp_mark_lost_retrans`, is of FACK alone, which ends with the first reordering beyond DupThresh. 0 is
/// sent again at 100 ms, and new data that left after it is SACKed. Guards against a third copy where segments overtake
/// each other: the second may only be late.
#[test]
fn a_retransmission_is_lost_by_forward_ack_only_where_segments_come_in_order() {
    for (reordering, copies) in [(3, 2), (5, 1)] {
        let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(20) }, 1000);
        s.recovery.rack.on_reordering(reordering);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(1, 7)]);
        assert_eq!(transmit(&mut s, 100).0[0], 0);
        for n in 8..=20 {
            sacked(&mut s, 100 + u64::from(n), 0, &[(1, n)]);
            transmit(&mut s, 100 + u64::from(n));
        }
        let nxt = (s.board.nxt().0 - 1) / MSS;
        assert!(nxt > 22 && s.stats.retransmitted == 1, "new data left after the retransmission");
        sacked(&mut s, 230, 0, &[(1, nxt)]);
        transmit(&mut s, 230);
        assert_eq!(s.stats.retransmitted, copies, "reordering of {reordering}");
    }
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

/// Three out, two SACKed, nothing new to send: DupThresh cannot be reached. Linux 6: RACK waits for an RTT of 101 ms,
/// 25 ms (min_RTT/4) and 2 ms, which at 101 ms are 7 ticks of 4 ms after the 25th, and one more: the 33rd. Linux 3.10:
/// RFC 5827, 3.2, an SRTT/4 late. RFC 6675: only the timer is left.
#[test]
fn where_three_duplicates_cannot_come_a_quarter_of_a_round_trip_is_waited() {
    for (stack, deadline) in
        [(Stack::Linux6_1, at(132)), (Stack::Linux3_10, at(101) + Duration::from_micros(25_031))]
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
            fires_at(&s) >= deadline && fires_at(&s) < deadline + Duration::from_micros(1),
            "{:?}",
            s.timer
        );
        fire(&mut s);
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

/// Three of ten segments are lost: one window, and more than one segment of it. A retransmission that is lost too is no
/// further loss of the window. Later a single segment of another window is lost. Guards against a count by recovery.
#[test]
fn windows_with_a_loss_and_with_several_are_counted() {
    let mut s = sender(&config(10), 100);
    let counts = |s: &Sender| (s.stats().lossy_windows, s.stats().multi_loss_windows);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 1, &[(3, 4), (5, 6), (7, 10)]);
    transmit(&mut s, 100);
    assert_eq!(counts(&s), (1, 1));
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    let nxt = s.board.nxt();
    let all = (nxt.0 - 1) / MSS;
    plain(&mut s, ms + 100, all);
    assert_eq!(counts(&s), (1, 1), "sent again once more");
    transmit(&mut s, ms + 100);
    let out = (s.board.nxt().0 - 1) / MSS;
    sacked(&mut s, ms + 200, all, &[(all + 1, out)]);
    time_out(&mut s);
    transmit(&mut s, ms + 5000);
    assert_eq!(counts(&s), (2, 1));
}
