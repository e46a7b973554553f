//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::sender::tests::{
    MSS, ack, at, config, echoed, fire, fires_at, plain, sacked, sender, transmit, without_echo,
};
use crate::{Config, EcnMode, Flags, Stack};

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
    let mut s = recovering(Stack::Linux6_1);
    echoed(&mut s, 110, 0, 4, &[], NONE);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 11), "10, and it grows by this ACK");
    assert!(s.window.ssthresh > 1000 && s.stats.undos == 1 && !s.recovery.is_undo_armed());

    let mut s = recovering(Stack::Linux6_1);
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
    let mut s = recovering(Stack::Linux6_1);
    echoed(&mut s, 110, 0, 4, &[], NONE);
    let first = transmit(&mut s, 110).0[0];
    sacked(&mut s, 210, first, &[(first + 1, first + 4)]);
    assert_eq!((s.state(), s.board.lost_out()), (CongestionState::Disorder, 0));
    // Sent at 110 ms. The ACK delivers what was sent at 100 ms, too, so RACK.rtt is 110 ms; with a quarter of min_RTT
    // and 2 ms that is 37 ms on, which are 10 ticks after the 52nd, and one more.
    assert_eq!(fires_at(&s), at((52 + 10 + 1) * 4));
    s.on_timeout(at(252));
    assert_eq!((s.state(), transmit(&mut s, 252).0), (CongestionState::Recovery, [first].to_vec()));
}

/// RFC 2883: the receiver reports that segment 0 came twice. Timestamps are off, so nothing else shows it.
#[test]
fn a_dsack_of_every_retransmission_undoes_within_and_after_recovery() {
    let mut s = recovering(Stack::Linux6_1);
    without_echo(&mut s, 110, 4, &[]);
    assert_eq!(s.state(), CongestionState::Recovery);
    without_echo(&mut s, 200, 4, &[(0, 1)]);
    assert_eq!((s.state(), s.stats.undos, s.stats.spurious_retransmissions), (CongestionState::Open, 1, 1));
    assert!(s.window.cwnd >= 10 && s.window.ssthresh > 1000);

    let mut s = recovering(Stack::Linux6_1);
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
    let mut s = sender(&Config { ecn: EcnMode::Classic, ..config(10) }, 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 4)]);
    transmit(&mut s, 100);
    echoed(&mut s, 110, 0, 4, &[], Flags::ECE);
    assert_eq!((s.window.ssthresh, s.stats.undos), (5, 0));
}

/// RFC 9937, 6.1: RecoverFS leaves out what was SACKed before the recovery. 10 out, 2 SACKed before, the third with
/// this ACK: RecoverFS is 8 and ssthresh 5, so by the next ACK CEIL(2·5/8) = 2 may have been sent; by Linux's 10,
/// CEIL(2·5/10) = 1.
#[test]
fn the_rfc_reduces_in_proportion_to_what_was_in_flight() {
    for (stack, expected) in [(Stack::Linux6_1, 0), (Stack::Rfc, 1)] {
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
    for (stack, ssthresh) in [(Stack::Linux6_1, 10), (Stack::Rfc, 4)] {
        let mut s = sender(&Config { stack, ..config(20) }, 8);
        transmit(&mut s, 0);
        sacked(&mut s, 100, 0, &[(1, 4)]);
        assert_eq!(s.window.ssthresh, ssthresh, "{stack:?}");
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
    assert!(fire(&mut s) < 600);
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
