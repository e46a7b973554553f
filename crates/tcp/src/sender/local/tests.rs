use super::*;
use crate::sender::tests::{MSS, ack, at, config, sender, transmit};
use crate::{Cc, Config, SeqNumber, Stack};

/// Sends the next segment at `ms`, of which the host says `congestion`. Returns its number.
fn tell(s: &mut Sender, ms: u64, congestion: LocalCongestion) -> Option<u32> {
    let (chunk, flags, _) = s.poll_transmit(at(ms))?;
    let segment = Segment {
        seq: chunk.seq,
        payload_len: chunk.len,
        flags: flags | chunk.ends,
        ..crate::sender::tests::WIDE
    };
    s.on_local_congestion(at(ms), &segment, congestion);
    assert!(s.board.is_consistent());
    Some((chunk.seq.0 - 1) / MSS)
}

fn refuse(s: &mut Sender, ms: u64) -> Option<u32> {
    tell(s, ms, LocalCongestion::Refused)
}

/// Five of ten segments leave, and the host refuses the sixth: it is not out, and the window falls to a half within a
/// round trip, without a recovery. Guards against a refused segment that must be found lost.
#[test]
fn a_refused_segment_was_not_sent_and_the_window_falls() {
    let mut s = sender(&config(10), 30);
    (0..5).for_each(|_| assert!(s.poll_transmit(at(0)).is_some()));
    assert_eq!(refuse(&mut s, 0), Some(5));
    assert_eq!((s.board.packets_out(), s.state(), s.window.ssthresh), (5, CongestionState::Cwr, 5));
    assert_eq!((s.stats().segments_sent, s.unsent_bytes()), (5, 25 * u64::from(MSS)));
    ack(&mut s, 100, 2, &[], Flags::NONE);
    assert_eq!(transmit(&mut s, 100).0, [5, 6], "no retransmission, and two for two below ssthresh (PRR)");
    ack(&mut s, 110, 5, &[], Flags::NONE);
    transmit(&mut s, 110);
    ack(&mut s, 210, 7, &[], Flags::NONE);
    assert_eq!((s.state(), s.window.cwnd), (CongestionState::Open, 5));
    let stats = s.stats();
    assert_eq!((stats.lost, stats.fast_recoveries, stats.retransmitted, stats.undos), (0, 0, 0, 0));
}

/// A second refusal in the same window of data does not halve the window again.
#[test]
fn the_window_falls_once_per_window_of_data() {
    let mut s = sender(&config(20), 60);
    (0..8).for_each(|_| assert!(s.poll_transmit(at(0)).is_some()));
    assert_eq!(refuse(&mut s, 0), Some(8));
    ack(&mut s, 100, 4, &[], Flags::NONE);
    assert_eq!(refuse(&mut s, 100), Some(8));
    assert_eq!(s.window.ssthresh, 10);
}

/// RED tells of its drop, but TCP takes the segment for sent: it stays out, and is found lost.
#[test]
fn a_noticed_drop_counts_as_sent() {
    let mut s = sender(&config(10), 30);
    assert_eq!(tell(&mut s, 0, LocalCongestion::Noticed), Some(0));
    assert_eq!((s.board.packets_out(), s.state(), s.window.ssthresh), (1, CongestionState::Cwr, 5));
}

/// Nothing is out, so no ACK will come. Guards against a sender that waits for ever, or that tries again at once.
#[test]
fn a_sender_with_nothing_out_tries_again_after_an_rto() {
    let mut s = sender(&config(10), 3);
    for (ms, next) in [(0, 300), (300, 600)] {
        assert_eq!(refuse(&mut s, ms), Some(0));
        assert_eq!((s.board.packets_out(), s.deadline()), (0, at(next)));
        s.on_timeout(at(next));
    }
    assert_eq!(transmit(&mut s, 600).0, [0, 1, 2]);
}

/// The host refuses the fast retransmission, and takes it with the next ACK.
#[test]
fn a_refused_retransmission_stays_lost() {
    let mut s = sender(&config(10), 30);
    transmit(&mut s, 0);
    ack(&mut s, 100, 0, &[(1, 4)], Flags::NONE);
    assert_eq!(s.state(), CongestionState::Recovery);
    let ssthresh = s.window.ssthresh;
    assert_eq!(refuse(&mut s, 100), Some(0));
    assert_eq!((s.stats().retransmitted, s.board.lost_out(), s.board.in_flight()), (0, 1, 6));
    ack(&mut s, 101, 0, &[(1, 5)], Flags::NONE);
    assert_eq!(transmit(&mut s, 101).0[0], 0);
    assert_eq!((s.stats().retransmitted, s.window.ssthresh), (1, ssthresh));
}

/// After a timeout the next try comes half a second later, and RTO does not grow: the network was not asked.
#[test]
fn a_retransmission_refused_after_a_timeout_leaves_half_a_second_later() {
    let mut s = sender(&config(10), 30);
    transmit(&mut s, 0);
    let rto = s.rtt.rto();
    s.on_rto(at(1000));
    assert_eq!(refuse(&mut s, 1000), Some(0));
    assert_eq!((s.deadline(), s.rtt.rto()), (at(1500), rto));
}

/// FIN is on the refused segment, and leaves with it later. Guards against a connection that never ends.
#[test]
fn fin_is_taken_back_with_its_segment() {
    let mut s = sender(&config(10), 2);
    s.close();
    assert!(s.poll_transmit(at(0)).is_some());
    assert_eq!(refuse(&mut s, 0), Some(1));
    assert!(!s.has_sent_fin());
    ack(&mut s, 100, 1, &[], Flags::NONE);
    let (chunk, ..) = s.poll_transmit(at(100)).unwrap();
    assert_eq!((chunk.seq, chunk.ends.contains(Flags::FIN)), (SeqNumber(1 + MSS), true));
    assert!(s.has_sent_fin());
}

/// A receiver's ACK is dropped: the window of its own half falls, and nothing is taken back. RFCs know no such signal.
#[test]
fn a_dropped_ack_takes_nothing_back_and_the_rfc_stack_hears_nothing() {
    for (stack, state) in [(Stack::Linux6_1, CongestionState::Cwr), (Stack::Rfc, CongestionState::Open)] {
        let mut s = sender(&Config { stack, cc: Cc::Reno, ..config(10) }, 1);
        let bare = Segment { seq: s.board.nxt(), ..crate::sender::tests::WIDE };
        s.on_local_congestion(at(0), &bare, LocalCongestion::Refused);
        assert_eq!((s.state(), s.unsent_bytes()), (state, u64::from(MSS)));
    }
}
