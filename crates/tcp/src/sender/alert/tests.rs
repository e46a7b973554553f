//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::sender::tests::{
    MSS, at, config, echoed, plain, sacked, sender, time_out, transmit, without_echo,
};
use crate::{Config, Flags, Stack};

const NONE: Flags = Flags::NONE;

/// Returns a sender in recovery. Segments 0 to 9 are out, and 1 to 3 are SACKed at 100 ms. 0 is retransmitted, and PRR
/// (CEIL(3·5/10)) releases one more.
fn recovering(stack: Stack) -> Sender {
    let mut s = sender(&Config { stack, ..config(10) }, 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    assert_eq!((transmit(&mut s, 100).0, s.window.ssthresh), ([0, 10].to_vec(), 5));
    s
}

/// RFC 3522, 3.2: the ACK of 0 echoes the clock before the retransmission, so the original made it. RFC 4015, 3.2:
/// window and threshold are those of before. It would be wrong to stay in recovery, or to undo it where the echo is the
/// retransmission's.
#[test]
fn an_original_that_was_late_undoes_the_recovery() {
    let mut s = recovering(Stack::Linux6);
    echoed(&mut s, 110, 0, 4, &[], NONE);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 11), "10, and it grows by this ACK");
    assert!(s.window.ssthresh > 1000 && s.stats.undos == 1 && !s.recovery.is_undo_armed());

    let mut s = recovering(Stack::Linux6);
    echoed(&mut s, 200, 100, 4, &[], NONE);
    assert_eq!((s.state(), s.window.ssthresh, s.stats.undos), (CongestionState::Recovery, 5, 0));

    let mut s = recovering(Stack::Rfc);
    echoed(&mut s, 110, 0, 4, &[], NONE);
    assert_eq!((s.state(), s.stats.undos), (CongestionState::Recovery, 0), "RFC 3522 is Experimental");
}

/// 0 came 3 segments late, and is acknowledged with 4 to 9 still out: from now on as much is waited for. Three are
/// SACKed above 11, which no longer is a loss at once.
#[test]
fn after_an_undo_reordering_is_expected() {
    let mut s = recovering(Stack::Linux6);
    echoed(&mut s, 110, 0, 4, &[], NONE);
    let first = transmit(&mut s, 110).0[0];
    sacked(&mut s, 210, first, &[(first + 1, first + 4)]);
    assert_eq!((s.state(), s.board.lost_out()), (CongestionState::Disorder, 0));
    // Sent at 110 ms. The ACK delivers what was sent at 100 ms, too, so RACK.rtt is 110 ms; with a quarter of min_RTT
    // and 2 ms that is 37 ms on, which are 10 ticks after the 52nd, and one more.
    assert_eq!(s.deadline(), at((52 + 10 + 1) * 4));
    s.on_timeout(at(252));
    assert_eq!((s.state(), transmit(&mut s, 252).0), (CongestionState::Recovery, [first].to_vec()));
}

/// RFC 2883: the receiver reports that segment 0 came twice. Timestamps are off, so nothing else shows it.
#[test]
fn a_dsack_of_every_retransmission_undoes_within_and_after_recovery() {
    let mut s = recovering(Stack::Linux6);
    without_echo(&mut s, 110, 4, &[]);
    assert_eq!(s.state(), CongestionState::Recovery);
    without_echo(&mut s, 200, 4, &[(0, 1)]);
    assert_eq!((s.state(), s.stats.undos, s.stats.spurious_retransmissions), (CongestionState::Open, 1, 1));
    assert!(s.window.cwnd >= 10 && s.window.ssthresh > 1000);

    let mut s = recovering(Stack::Linux6);
    without_echo(&mut s, 110, 10, &[]);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 6), "ssthresh, and it grows by this ACK");
    without_echo(&mut s, 200, 10, &[(0, 1)]);
    assert_eq!((s.window.cwnd, s.stats.undos), (10, 1));
    without_echo(&mut s, 201, 10, &[(0, 1)]);
    assert_eq!(
        s.stats.spurious_retransmissions, 1,
        "one was sent again, so no more than one can be needless"
    );
}

/// It would be wrong to give back a window that a queue has asked to be reduced.
#[test]
fn what_ecn_reduced_is_not_undone() {
    let mut s = sender(&Config { ecn: crate::EcnMode::Classic, ..config(10) }, 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    transmit(&mut s, 100);
    echoed(&mut s, 110, 0, 4, &[], Flags::ECE);
    assert_eq!((s.window.ssthresh, s.stats.undos), (5, 0));
}

/// RFC 5682, 3.1, with SACK: the timer fired for a delay. Retransmit 0; its ACK: two new segments, no old one; then 1
/// is acknowledged, which was sent once, before the timeout: all of them are coming.
#[test]
fn f_rto_finds_a_needless_timeout_without_timestamps() {
    for stack in [Stack::Linux6, Stack::Linux3_10, Stack::Rfc] {
        let mut s = sender(&Config { stack, ..config(10) }, 1000);
        transmit(&mut s, 0);
        let ms = time_out(&mut s);
        let out = s.board.packets_out(); // the probe, if there was one, is new data
        assert_eq!(transmit(&mut s, ms).0, [0]);
        without_echo(&mut s, ms + 10, 1, &[]);
        assert_eq!(transmit(&mut s, ms + 10).0, [out, out + 1], "{stack:?}");
        without_echo(&mut s, ms + 20, 2, &[]);
        assert_eq!((s.state(), s.stats.undos, s.board.lost_out()), (CongestionState::Open, 1, 0));
        assert!(s.window.cwnd >= 10 && s.window.ssthresh > 1000);
    }
}

/// The other way: the new data overtakes what is missing.
#[test]
fn f_rto_goes_on_retransmitting_where_new_data_is_sacked() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    without_echo(&mut s, ms + 100, 1, &[]);
    assert_eq!(transmit(&mut s, ms + 100).0, [11, 12]);
    without_echo(&mut s, ms + 200, 1, &[(11, 12)]);
    assert_eq!((s.state(), s.recovery.is_in_frto()), (CongestionState::Loss, false));
    assert_eq!(transmit(&mut s, ms + 200).0[0], 1);
}

#[test]
fn an_echo_from_before_the_timeout_undoes_it() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    echoed(&mut s, ms + 10, 0, 1, &[], NONE);
    assert_eq!(
        (s.state(), s.window.cwnd, s.stats.undos),
        (CongestionState::Open, 11, 1),
        "and grows by its ACK"
    );
    assert_eq!((s.board.lost_out(), s.board.in_flight()), (0, 9));
}

/// RFC 8985, 7.4.2: segment 9 is lost, its probe repairs that without a trace but that nothing came twice.
#[test]
fn a_loss_that_the_probe_repaired_reduces_once() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 9);
    assert_eq!(s.deadline(), at(400), "RTO, as 2·SRTT + 200 ms is later");
    s.on_timeout(at(400));
    assert_eq!((transmit(&mut s, 400).0, s.stats.tlp_probes), ([9].to_vec(), 1));
    plain(&mut s, 500, 10);
    assert!(s.window.ssthresh > 1000 && s.recovery.tail.is_pending(), "the original or the probe?");
    let before = s.window.cwnd;
    s.write(MSS.into());
    transmit(&mut s, 510);
    plain(&mut s, 610, 11);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Open, before / 2));
    assert!(s.window.cwnd <= before / 2 + 1);
}

#[test]
fn a_probe_that_came_twice_costs_nothing() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 9);
    s.on_timeout(at(400));
    transmit(&mut s, 400);
    let before = s.window.cwnd;
    plain(&mut s, 450, 10);
    sacked(&mut s, 500, 10, &[(9, 10)]);
    s.write(MSS.into());
    transmit(&mut s, 510);
    plain(&mut s, 610, 11);
    assert!(s.window.cwnd >= before && s.window.ssthresh > 1000, "{:?}", s.window);
    assert_eq!(s.stats.spurious_retransmissions, 1);
}

/// The last three of ten are lost. The probe's SACK shows the two before it.
#[test]
fn a_lost_tail_is_repaired_by_the_probe_and_a_fast_recovery() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 7);
    s.on_timeout(at(302));
    assert_eq!(transmit(&mut s, 302).0, [9]);
    sacked(&mut s, 402, 7, &[(9, 10)]);
    assert_eq!(s.state(), CongestionState::Recovery);
    assert_eq!(transmit(&mut s, 402).0, [7], "PRR: one was delivered");
    plain(&mut s, 502, 8);
    assert_eq!(transmit(&mut s, 502).0, [8]);
    assert_eq!((s.stats.timeouts, s.stats.lost), (0, 2));
}

/// Linux 6: a retransmission after a timeout is lost, which a later one shows. Before RACK only a timeout did.
#[test]
fn a_retransmission_lost_after_a_timeout_is_found() {
    for (stack, state, next) in
        [(Stack::Linux6, CongestionState::Recovery, 1), (Stack::Linux3_10, CongestionState::Loss, 3)]
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

/// RFC 9937, 6.1: RecoverFS leaves out what was SACKed before the recovery. 10 out, 2 SACKed before, the third with
/// this ACK: RecoverFS is 8 and ssthresh 5, so by the next ACK CEIL(2·5/8) = 2 may have been sent; by Linux's 10,
/// CEIL(2·5/10) = 1.
#[test]
fn the_rfc_reduces_in_proportion_to_what_was_in_flight() {
    for (stack, expected) in [(Stack::Linux6, 0), (Stack::Rfc, 1)] {
        let mut s = sender(&Config { stack, ..config(10) }, 10);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(1, 3)]);
        sacked(&mut s, 101, 0, &[(1, 4)]);
        s.write(100 * u64::from(MSS));
        assert_eq!((s.window.ssthresh, transmit(&mut s, 101).0), (5, [0].to_vec()));
        sacked(&mut s, 102, 0, &[(1, 5)]);
        assert_eq!(transmit(&mut s, 102).0.len(), expected, "{stack:?}");
    }
}

/// RFC 5681, equation 4, and Linux.
#[test]
fn the_rfc_halves_what_is_in_flight_and_linux_the_window() {
    for (stack, ssthresh) in [(Stack::Linux6, 10), (Stack::Rfc, 4)] {
        let mut s = sender(&Config { stack, ..config(20) }, 8);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(1, 4)]);
        assert_eq!(s.window.ssthresh, ssthresh, "{stack:?}");
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

/// RFC 5682, step 3a: after new data was sent, an ACK that SACKs what was known before is a duplicate: the new data
/// overtook what is missing. It would be wrong to go on asking, and to take the next ACK, which a retransmission may
/// have caused, for a sign that the timeout was needless.
#[test]
fn f_rto_ends_with_a_duplicate_ack_that_sacks_nothing_new() {
    let mut s = sender(&Config { stack: Stack::Rfc, ..config(10) }, 1000);
    transmit(&mut s, 0);
    without_echo(&mut s, 100, 0, &[(5, 6)]);
    let ms = time_out(&mut s);
    transmit(&mut s, ms);
    without_echo(&mut s, ms + 100, 1, &[(5, 6)]);
    assert!(s.recovery.is_in_frto() && !transmit(&mut s, ms + 100).0.is_empty());
    without_echo(&mut s, ms + 200, 1, &[(5, 6)]);
    assert_eq!((s.state(), s.recovery.is_in_frto()), (CongestionState::Loss, false));
    without_echo(&mut s, ms + 300, 2, &[]);
    assert_eq!((s.state(), s.stats.undos, transmit(&mut s, ms + 300).0[0]), (CongestionState::Loss, 0, 2));
}

/// RFC 8985, 7.4.2, without DSACK: the original of 9 and its probe both came, and what answers the second is a bare ACK
/// with the same window. Guards against a reduction for a loss that was none; or none, as data of the peer, or a window
/// that opens, say nothing.
#[test]
fn a_bare_duplicate_ack_tells_that_the_probe_came_twice() {
    for (payload_len, window, is_over) in [(0, u16::MAX, true), (500, u16::MAX, false), (0, 60_000, false)] {
        let mut s = sender(&config(10), 10);
        transmit(&mut s, 0);
        plain(&mut s, 100, 9);
        s.on_timeout(at(400));
        transmit(&mut s, 400);
        plain(&mut s, 450, 10);
        assert!(s.recovery.tail.is_pending());
        let ack = SeqNumber(1 + 10 * MSS);
        let seq = SeqNumber(1); // a window that is new needs a newer segment
        let segment = Segment { ack, seq, tsecr: 0, payload_len, window, ..crate::sender::tests::WIDE };
        s.on_ack::<true>(at(500), &segment, false);
        assert_eq!(s.recovery.tail.is_pending(), !is_over, "{payload_len} {window}");
    }
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

/// Linux 3.10, `tcp_update_reordering(fackets_out − reord)`: 5 is the highest SACKed segment of six, and 1, which was
/// never sent again, comes after it. These are five, the late one included. Guards against a DupThresh of four.
#[test]
fn a_late_segment_counts_in_the_length_of_reordering() {
    let mut s = sender(&Config { stack: Stack::Linux3_10, ..config(10) }, 10);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(5, 6)]);
    sacked(&mut s, 101, 0, &[(1, 2), (5, 6)]);
    assert_eq!((s.recovery.rack.degree(), s.recovery.rack.is_in_order()), (5, false));
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

/// All three retransmissions came twice, so the recovery was needless; but 3 to 9 are marked as lost, and 13 to 19 left
/// before the retransmissions that are here now. Linux begins another recovery (`tcp_fastretrans_alert`). It would be
/// wrong to send on as if nothing was missing.
#[test]
fn losses_that_outlast_an_undo_begin_another_recovery() {
    let mut s = sender(&config(20), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(10, 13)]);
    assert_eq!(transmit(&mut s, 100).0, [0, 1, 2], "PRR: as many as were delivered");
    without_echo(&mut s, 200, 3, &[(0, 3), (10, 13)]);
    assert_eq!((s.stats.undos, s.stats.fast_recoveries, s.stats.spurious_retransmissions), (1, 2, 3));
    assert_eq!((s.state(), s.window.ssthresh, s.board.lost_out()), (CongestionState::Recovery, 10, 14));
}

/// Linux `tcp_enter_loss`: three segments are SACKed above a hole, and yet the timer fires, so DupThresh had grown too
/// far. Within a recovery, or from a receiver that has discarded what it SACKed (0 among it), the timeout says nothing
/// of DupThresh.
#[test]
fn a_timeout_in_disorder_takes_dupthresh_back() {
    for (state, blocks, degree) in [
        (CongestionState::Disorder, (1, 4), 3),
        (CongestionState::Disorder, (1, 3), 12),
        (CongestionState::Recovery, (1, 4), 12),
        (CongestionState::Disorder, (0, 4), 12),
    ] {
        let mut s = sender(&config(20), 1000);
        s.recovery.rack.on_reordering(12);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[blocks]);
        s.recovery.state = state;
        s.on_rto(at(400));
        assert_eq!(s.recovery.rack.degree(), degree, "{state:?} {blocks:?}");
    }
}

/// A recovery is over, and then the tail is lost, which the probe repairs. The receiver tells only then that the
/// recovery was needless (RFC 3708). It would be wrong to take back the reduction for the tail, which was no mistake.
#[test]
fn a_reduction_for_the_tail_is_not_undone_with_the_recovery_before_it() {
    let mut s = sender(&config(10), 11);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    assert_eq!(transmit(&mut s, 100).0, [0, 10]);
    without_echo(&mut s, 110, 10, &[]);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Open, 5));
    s.on_timeout(s.deadline());
    assert_eq!((transmit(&mut s, 600).0, s.stats.tlp_probes), ([10].to_vec(), 1));
    without_echo(&mut s, 700, 11, &[]);
    s.write(MSS.into());
    transmit(&mut s, 710);
    without_echo(&mut s, 810, 12, &[]);
    let ssthresh = s.window.ssthresh;
    assert!(ssthresh < 5, "{ssthresh}");
    without_echo(&mut s, 811, 12, &[(0, 1)]);
    assert_eq!((s.stats.spurious_retransmissions, s.stats.undos, s.window.ssthresh), (1, 0, ssthresh));
}

/// Linux `tcp_sacktag_write_queue`: after a timeout that may be undone, a late segment tells of reordering, too. 5 was
/// SACKed before the timeout, and now 3 comes, which was never sent again. Guards against a path that still counts as
/// one in order.
#[test]
fn a_segment_that_comes_after_a_timeout_may_be_late() {
    let mut s = sender(&Config { stack: Stack::Rfc, ..config(10) }, 1000);
    transmit(&mut s, 0);
    without_echo(&mut s, 100, 0, &[(5, 6)]);
    let ms = time_out(&mut s);
    assert_eq!((s.state(), transmit(&mut s, ms).0), (CongestionState::Loss, [0].to_vec()));
    assert!(!s.recovery.rack.has_seen_reordering());
    without_echo(&mut s, ms + 10, 0, &[(3, 4), (5, 6)]);
    assert!(s.recovery.rack.has_seen_reordering());
}
