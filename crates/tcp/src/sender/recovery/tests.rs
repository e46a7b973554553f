//! Loss recovery without a connection: segments of 1000 bytes from sequence number 0.

use super::*;

const PRIOR: Prior = Prior { cwnd: 20, ssthresh: 15 };

fn seq(n: u32) -> SeqNumber {
    SeqNumber(n * 1000)
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns the recovery of a sender in `state` that sent 10 segments, all of them when the state began.
fn recovery(state: CongestionState) -> Recovery {
    let mut recovery = Recovery::new(seq(0));
    assert!(!recovery.enter(CongestionState::Open), "it begins there");
    recovery.enter(state);
    recovery.set_end(seq(10));
    recovery
}

/// Returns the recovery of a sender whose timer fired at 500 ms with 10 segments out.
fn timed_out() -> Recovery {
    let mut recovery = recovery(CongestionState::Open);
    recovery.begin_undo(seq(0), Some(PRIOR), 0);
    recovery.on_timeout(at(500), seq(10), false);
    recovery.enter(CongestionState::Loss);
    recovery
}

/// The ACK of one segment that was sent twice, as its retransmission causes it.
const ACK: LossAck = LossAck {
    una: SeqNumber(1000),
    nxt: SeqNumber(10_000),
    advances: true,
    sacks: false,
    dsacked: false,
    original_sent_at: Instant::MAX,
    tsecr: 0,
    has_new: true,
};

/// RFC 3168, 6.1.2, and RFC 6675, section 5. Guards against a second reduction by the echo of old marks, or a recovery
/// that goes on when everything has arrived.
#[test]
fn cwr_ends_beyond_its_end_and_recovery_at_it() {
    let ends = |state| [9, 10, 11].map(|una| recovery(state).is_finished(seq(una)));
    assert_eq!(ends(CongestionState::Cwr), [false, false, true]);
    assert_eq!(ends(CongestionState::Recovery), [false, true, true]);
    assert_eq!(ends(CongestionState::Loss), [false; 3], "F-RTO comes first");
    assert_eq!(ends(CongestionState::Disorder), [false; 3]);
}

/// RFC 5681, equation 4: once per window of data. Guards against ssthresh of a window that has fallen already, or the
/// old ssthresh after progress.
#[test]
fn ssthresh_falls_with_the_first_timeout_of_a_window() {
    let is_first = |state, una| recovery(state).is_first_timeout(seq(una));
    assert!(is_first(CongestionState::Open, 0) && is_first(CongestionState::Disorder, 0));
    assert!(!is_first(CongestionState::Recovery, 9) && is_first(CongestionState::Recovery, 10));
    assert!(!is_first(CongestionState::Cwr, 9) && is_first(CongestionState::Cwr, 10));
    let mut recovery = timed_out();
    assert!(!recovery.is_first_timeout(seq(5)));
    recovery.timed_out = false;
    assert!(recovery.is_first_timeout(seq(5)), "there was progress since");
}

/// RFC 5682, 3.1, step 1. Guards against F-RTO for a timeout that a lost retransmission caused.
#[test]
fn f_rto_does_not_examine_a_timeout_within_a_recovery() {
    for (state, examines) in [
        (CongestionState::Open, true),
        (CongestionState::Cwr, true),
        (CongestionState::Recovery, false),
        (CongestionState::Loss, false),
    ] {
        let mut recovery = recovery(state);
        recovery.on_timeout(at(500), seq(10), false);
        assert_eq!(recovery.is_in_frto(), examines, "{state:?}");
    }
    let mut recovery = timed_out();
    recovery.on_timeout(at(1000), seq(10), false);
    assert!(recovery.is_in_frto(), "the second of two timeouts without progress");
}

/// RFC 5682, 3.1, step 3b: a segment arrives that left at 499 ms and never again. It would be wrong to take a segment
/// that left with or after the timeout for such a segment.
#[test]
fn an_original_from_before_the_timeout_shows_that_it_was_needless() {
    let judge = |original_sent_at| timed_out().judge_timeout(&LossAck { original_sent_at, ..ACK }, false);
    assert_eq!(judge(at(499)), Timeout::Needless);
    assert_eq!([at(500), Instant::MAX].map(judge), [Timeout::Open; 2]);
}

/// RFC 5682, 3.1, step 2b. It would be wrong to wait for new data that the application has not written, to ask for new
/// data before the retransmission has arrived, or in the next recovery.
#[test]
fn f_rto_asks_for_new_data_and_ends_without() {
    for has_new in [true, false] {
        let mut recovery = timed_out();
        assert_eq!(recovery.judge_timeout(&LossAck { has_new, ..ACK }, false), Timeout::Open);
        assert_eq!((recovery.new_first, recovery.is_in_frto()), (has_new, has_new));
    }
    for (una, advances) in [(0, false), (10, true)] {
        let mut recovery = timed_out();
        recovery.judge_timeout(&LossAck { una: seq(una), advances, ..ACK }, false);
        assert!(!recovery.new_first && recovery.is_in_frto(), "{una}");
    }
    let mut recovery = timed_out();
    recovery.before_resend(seq(10));
    assert!(recovery.is_in_frto(), "the first retransmission, before any ACK: step 1");
    recovery.judge_timeout(&ACK, false);
    recovery.timed_out = false; // that ACK was progress
    recovery.before_resend(seq(11));
    assert!(recovery.is_in_frto(), "segment 10, new data, has left");
    recovery.before_resend(seq(10));
    assert!(!recovery.is_in_frto(), "no new data has left");
}

/// RFC 5682, 3.1, step 3a: segment 10, new data, has left. Guards against a DSACK that is taken for a duplicate ACK.
#[test]
fn f_rto_ends_when_new_data_overtakes_the_missing_segments() {
    let still = |advances, sacks, dsacked| {
        let mut recovery = timed_out();
        let ack = LossAck { nxt: seq(11), advances, sacks, dsacked, ..ACK };
        assert_eq!(recovery.judge_timeout(&ack, false), Timeout::Open);
        recovery.is_in_frto()
    };
    assert!(still(true, false, false), "the retransmission arrived, and shows nothing");
    assert!(!still(true, true, false) && !still(false, true, false), "SACK");
    assert!(!still(false, false, false), "duplicate ACK");
    assert!(still(false, false, true), "DSACK");
}

/// The timer fired at 500 ms by the clock, and the first retransmission is stamped 500. Guards against an undo on a
/// stack that knows neither RFC 3522 nor DSACK, or by an ACK that acknowledges nothing new.
#[test]
fn an_old_echo_undoes_a_timeout_if_the_stack_believes_it() {
    let judge = |tsecr, advances, may_undo| {
        let mut recovery = timed_out();
        recovery.on_resent(500);
        recovery.judge_timeout(&LossAck { tsecr, advances, ..ACK }, may_undo)
    };
    assert_eq!(judge(499, true, true), Timeout::Needless);
    assert_eq!(
        [judge(500, true, true), judge(499, true, false), judge(499, false, true)],
        [Timeout::Open; 3]
    );
}

/// Guards against a recovery that goes on when everything sent before the timeout has arrived.
#[test]
fn the_recovery_from_a_timeout_is_over_at_its_end() {
    let judge = |una| timed_out().judge_timeout(&LossAck { una: seq(una), ..ACK }, false);
    assert_eq!([judge(9), judge(10)], [Timeout::Open, Timeout::Over]);
    let mut recovery = timed_out();
    recovery.undo_timeout();
    assert_eq!((recovery.timed_out, recovery.is_in_frto()), (false, false));
}

/// Both retransmissions came twice. Guards against an undo on a stack that does not believe DSACKs, or before the last
/// DSACK.
#[test]
fn a_recovery_is_undone_when_all_its_retransmissions_came_twice() {
    let mut recovery = recovery(CongestionState::Recovery);
    recovery.begin_undo(seq(0), Some(PRIOR), 0);
    recovery.on_resent(100);
    recovery.on_resent(101);
    let block = |n| SackBlock { start: seq(n), end: seq(n + 1) };
    recovery.on_dsack(block(0), 1, true);
    assert!(!recovery.is_disproved(true));
    recovery.on_dsack(block(1), 1, true);
    assert!(recovery.is_disproved(true) && !recovery.is_disproved(false));
    assert!(!recovery.clone().end_recovery(0, false) && recovery.end_recovery(0, true));
    assert_eq!((recovery.take_prior(), recovery.is_undo_armed()), (Some(PRIOR), false));
}

/// The probe up to segment 10 came twice. Guards against another segment's DSACK, or a longer one, that is taken for
/// the probe's: the reordering window does not widen for a probe.
#[test]
fn the_dsack_of_the_probe_is_not_of_a_retransmission() {
    let of_probe = |end, is_short| {
        let mut recovery = recovery(CongestionState::Open);
        recovery.tail.begin(seq(10), true);
        recovery.on_dsack(SackBlock { start: seq(end - 1), end: seq(end) }, 1, is_short)
    };
    assert_eq!([of_probe(10, true), of_probe(9, true), of_probe(10, false)], [true, false, false]);
}

/// A probe that is a retransmission is out when the recovery begins. Guards against a recovery that the DSACK of one of
/// the two undoes.
#[test]
fn a_probe_that_is_out_is_a_retransmission_of_the_recovery() {
    let mut recovery = recovery(CongestionState::Open);
    recovery.tail.begin(seq(10), true);
    recovery.begin_undo(seq(0), Some(PRIOR), 0);
    recovery.on_resent(100);
    let block = |n| SackBlock { start: seq(n), end: seq(n + 1) };
    recovery.on_dsack(block(0), 1, true);
    assert!(!recovery.is_disproved(true));
    recovery.on_dsack(block(9), 1, true);
    assert!(recovery.is_disproved(true));
}

/// RFC 8985, 7.4.2. Guards against a second reduction in a window that falls already.
#[test]
fn a_repair_by_the_probe_reduces_the_window_outside_of_recovery() {
    for (state, falls) in [
        (CongestionState::Open, true),
        (CongestionState::Cwr, true),
        (CongestionState::Recovery, false),
        (CongestionState::Loss, false),
    ] {
        let mut recovery = recovery(state);
        recovery.tail.begin(seq(10), true);
        assert!(!recovery.probe_repaired(seq(10), false, false), "by the original or by the probe");
        assert_eq!(recovery.probe_repaired(seq(11), false, false), falls, "{state:?}");
        assert!(!recovery.tail.is_pending());
    }
}

/// RecoverFS 10, ssthresh 5: the second segment delivered releases none, CEIL(2·5/10) − 1, and the third one more.
/// Guards against a segment from before the reduction that counts in it, or a probe that goes on.
#[test]
fn a_reduction_counts_what_is_sent_in_it() {
    let mut recovery = recovery(CongestionState::Open);
    recovery.tail.begin(seq(10), false);
    recovery.on_sent();
    recovery.begin_reduction(seq(11), 10, true);
    recovery.enter(CongestionState::Recovery);
    assert!(recovery.is_reducing() && recovery.cwr_due && !recovery.tail.is_pending());
    assert_eq!(recovery.released(1, 9, 5, false), 1);
    recovery.on_sent();
    assert_eq!([recovery.released(1, 9, 5, false), recovery.released(1, 8, 5, false)], [0, 1]);
}

/// An episode ends with one of its retransmissions out, stamped 500. Guards against the next episode's ACK that is
/// taken for the ACK of an original: its echo of 500 is the retransmission's.
#[test]
fn a_retransmission_that_is_out_belongs_to_the_next_episode_too() {
    for (is_any_resent, is_late) in [(true, false), (false, true)] {
        let mut recovery = recovery(CongestionState::Recovery);
        recovery.begin_undo(seq(0), Some(PRIOR), 0);
        recovery.on_resent(500);
        recovery.end_episode(is_any_resent);
        recovery.begin_undo(seq(5), Some(PRIOR), 0);
        recovery.on_resent(600);
        assert_eq!(recovery.is_late(500, true), is_late);
    }
}
