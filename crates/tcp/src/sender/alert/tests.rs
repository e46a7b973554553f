//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::sender::tests::{
    MSS, at, config, echoed, fire, plain, sacked, sender, time_out, transmit, without_echo,
};
use crate::{Config, Flags, Stack};

const NONE: Flags = Flags::NONE;

/// RFC 5682, 3.1, with SACK: the timer fired for a delay. Retransmit 0; its ACK: two new segments, no old one; then 1
/// is acknowledged, which was sent once, before the timeout: all of them are coming.
#[test]
fn f_rto_finds_a_needless_timeout_without_timestamps() {
    for stack in [Stack::Linux6_1, Stack::Linux3_10, Stack::Rfc] {
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

/// RFC 8985, 7.4.2: segment 9 is lost, its probe repairs that without a trace but that nothing came twice. The probe
/// leaves after RTO, as 2·SRTT + 200 ms is later: 25 + 75 = 100 ticks of 4 ms, and the next eighth tick is the 104th.
#[test]
fn a_loss_that_the_probe_repaired_reduces_once() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 9);
    assert_eq!(fire(&mut s), 416);
    assert_eq!((transmit(&mut s, 416).0, s.stats.tlp_probes), ([9].to_vec(), 1));
    plain(&mut s, 516, 10);
    assert!(s.window.ssthresh > 1000 && s.recovery.tail.is_pending(), "the original or the probe?");
    let before = s.window.cwnd;
    s.write(MSS.into());
    transmit(&mut s, 526);
    plain(&mut s, 626, 11);
    assert_eq!((s.state(), s.window.ssthresh), (CongestionState::Open, before / 2));
    assert!(s.window.cwnd <= before / 2 + 1);
}

#[test]
fn a_probe_that_came_twice_costs_nothing() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 9);
    let ms = fire(&mut s);
    transmit(&mut s, ms);
    let before = s.window.cwnd;
    plain(&mut s, ms + 50, 10);
    sacked(&mut s, ms + 100, 10, &[(9, 10)]);
    s.write(MSS.into());
    transmit(&mut s, ms + 110);
    plain(&mut s, ms + 210, 11);
    assert!(s.window.cwnd >= before && s.window.ssthresh > 1000, "{:?}", s.window);
    assert_eq!(s.stats.spurious_retransmissions, 1);
}

/// The last three of ten are lost. The probe's SACK shows the two before it. It leaves after 2·SRTT + 2 ms, 51 ticks of
/// 4 ms and one more: 25 + 52 = 77 ticks.
#[test]
fn a_lost_tail_is_repaired_by_the_probe_and_a_fast_recovery() {
    let mut s = sender(&config(10), 10);
    transmit(&mut s, 0);
    plain(&mut s, 100, 7);
    assert_eq!(fire(&mut s), 308);
    assert_eq!(transmit(&mut s, 308).0, [9]);
    sacked(&mut s, 408, 7, &[(9, 10)]);
    assert_eq!(s.state(), CongestionState::Recovery);
    assert_eq!(transmit(&mut s, 408).0, [7], "PRR: one was delivered");
    plain(&mut s, 508, 8);
    assert_eq!(transmit(&mut s, 508).0, [8]);
    assert_eq!((s.stats.timeouts, s.stats.lost), (0, 2));
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
        let ms = fire(&mut s);
        transmit(&mut s, ms);
        plain(&mut s, ms + 50, 10);
        assert!(s.recovery.tail.is_pending());
        let ack = SeqNumber(1 + 10 * MSS);
        let seq = SeqNumber(1); // a window that is new needs a newer segment
        let segment = Segment { ack, seq, tsecr: 0, payload_len, window, ..crate::sender::tests::WIDE };
        s.on_ack::<true>(at(ms + 100), &segment, false);
        assert_eq!(s.recovery.tail.is_pending(), !is_over, "{payload_len} {window}");
    }
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
