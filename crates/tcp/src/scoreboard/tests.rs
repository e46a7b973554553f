//! Segments of 100 bytes, one a millisecond, so that segment `n` is bytes `100 n .. 100 (n + 1)`.

use super::*;
use goodqueue_units::Duration;
use std::vec::Vec;

const RTT: Duration = Duration::from_millis(100);

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new(SeqNumber(0), 100);
    for n in 0..segments {
        board.send(at(n), 100, false);
    }
    board
}

fn block(first: u32, last: u32) -> SackBlock {
    SackBlock { start: SeqNumber(first * 100), end: SeqNumber((last + 1) * 100) }
}

fn ack(board: &mut Scoreboard, ms: u64, ack: u32, blocks: &[SackBlock]) -> Delivery {
    let mut delivery = Delivery::new(at(ms), RTT);
    board.sack(blocks, &mut delivery);
    if SeqNumber(ack * 100) > board.una() {
        board.acknowledge(SeqNumber(ack * 100), &mut delivery);
    }
    assert!(board.is_consistent());
    delivery
}

fn resend_all(board: &mut Scoreboard, ms: u64) -> Vec<u32> {
    core::iter::from_fn(|| board.resend(at(ms))).map(|(chunk, _)| chunk.seq.0 / 100).collect()
}

#[test]
fn a_cumulative_ack_delivers_and_samples_the_first_and_the_last() {
    let mut b = board(5);
    let d = ack(&mut b, 101, 2, &[]);
    assert_eq!((d.segments, d.acked, d.ambiguous), (2, (at(0), at(1)), false));
    assert_eq!((b.packets_out(), b.in_flight(), b.una()), (3, 3, SeqNumber(200)));
}

#[test]
fn everything_sent_before_the_newest_delivered_is_lost_and_is_resent_lowest_first() {
    let mut b = board(10);
    let d = ack(&mut b, 105, 0, &[block(3, 3), block(5, 6)]);
    assert_eq!((d.segments, d.sacked), (3, (at(3), at(6))));
    assert_eq!(b.in_flight(), 7, "SACKed segments have left the network, nothing is lost yet");
    assert!(b.detect_losses());
    assert_eq!((b.lost_out(), b.in_flight()), (4, 3)); // 0, 1, 2 and 4 are lost; 7, 8, 9 are in flight
    assert_eq!(resend_all(&mut b, 106), [0, 1, 2, 4]);
    assert_eq!((b.resent_out, b.in_flight()), (4, 7));
    assert!(!b.detect_losses(), "what was just resent is not lost");
}

/// RFC 8985, 3.3: the retransmission of 0 was sent before that of 1, which was delivered.
#[test]
fn a_lost_retransmission_is_found_by_a_later_one_that_arrived() {
    let mut b = board(5);
    ack(&mut b, 104, 0, &[block(2, 4)]);
    b.detect_losses();
    assert_eq!(resend_all(&mut b, 110), [0, 1]);
    ack(&mut b, 210, 0, &[block(1, 4)]);
    assert!(b.detect_losses());
    assert_eq!((b.lost_out(), b.resent_out), (1, 0));
    assert_eq!(resend_all(&mut b, 211), [0]);
}

#[test]
fn a_lost_retransmission_is_found_by_new_data_sent_after_it() {
    let mut b = board(4);
    ack(&mut b, 103, 0, &[block(1, 3)]);
    b.detect_losses();
    assert_eq!(resend_all(&mut b, 110), [0]);
    b.send(at(111), 100, false);
    ack(&mut b, 211, 0, &[block(1, 4)]);
    assert!(b.detect_losses() && b.has_lost());
}

/// New data left first, the retransmission at the same instant: that the former arrived says nothing of the latter, nor
/// the other way round.
#[test]
fn at_one_instant_originals_and_retransmissions_are_not_compared() {
    for (blocks, ack_to) in [(&[block(1, 4)][..], 0), (&[], 4)] {
        let mut b = board(4);
        ack(&mut b, 103, 0, &[block(1, 3)]);
        b.detect_losses();
        b.send(at(110), 100, false);
        assert_eq!(resend_all(&mut b, 110), [0]);
        ack(&mut b, 215, ack_to, blocks);
        assert!(!b.detect_losses());
    }
}

/// Karn, and RFC 8985, 6.2: the ACK comes sooner after the retransmission than any RTT, so the original made it.
#[test]
fn an_ambiguous_delivery_gives_no_sample_and_a_too_fast_one_no_order() {
    let mut b = board(5);
    ack(&mut b, 104, 0, &[block(2, 4)]);
    b.detect_losses();
    resend_all(&mut b, 110);
    let d = ack(&mut b, 115, 1, &[]);
    assert!(d.ambiguous && d.acked.0 == Instant::MAX);
    assert!(!b.detect_losses(), "the retransmission of 1 must not be taken for lost");
}

#[test]
fn a_timeout_loses_all_but_the_sacked_and_cancels_retransmissions() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(3, 5)]);
    b.detect_losses();
    assert_eq!(resend_all(&mut b, 110), [0, 1, 2]);
    b.send(at(111), 100, false);
    b.lose_all();
    assert!(b.is_consistent());
    assert_eq!((b.in_flight(), b.lost_out(), b.sacked_out()), (0, 4, 3));
    assert_eq!(resend_all(&mut b, 400), [0, 1, 2, 6]);
}

#[test]
fn repeated_moved_and_stale_blocks_are_counted_once() {
    let mut b = board(12);
    assert_eq!(ack(&mut b, 110, 0, &[block(5, 5)]).segments, 1);
    assert_eq!(ack(&mut b, 111, 0, &[block(5, 6)]).segments, 1);
    assert_eq!(ack(&mut b, 112, 0, &[block(8, 8), block(5, 6)]).segments, 1);
    assert_eq!(ack(&mut b, 113, 0, &[block(4, 8)]).segments, 2); // 4 and 7
    assert_eq!(ack(&mut b, 114, 0, &[block(2, 2), block(4, 8)]).segments, 1);
    assert_eq!(ack(&mut b, 115, 9, &[block(2, 2)]).segments, 3); // 0, 1, 3 cumulatively
    assert_eq!(ack(&mut b, 116, 9, &[block(4, 8), block(20, 30)]).segments, 0, "old and never sent");
    assert_eq!((b.packets_out(), b.sacked_out()), (3, 0));
}

#[test]
fn segments_of_unequal_size_are_found_and_a_partial_ack_trims() {
    let mut b = Scoreboard::new(SeqNumber(u32::MAX - 150), 100);
    for len in [100, 10, 1, 50, 100] {
        b.send(at(0), len, false);
    }
    let start = SeqNumber(u32::MAX - 150);
    let mut d = Delivery::new(at(100), RTT);
    b.sack(&[SackBlock { start: start + 110, end: start + 161 }], &mut d);
    assert_eq!((d.segments, b.is_consistent()), (2, true));
    b.acknowledge(start + 40, &mut d);
    assert_eq!((d.segments, b.packets_out(), b.una()), (2, 5, start + 40));
    b.acknowledge(start + 261, &mut d);
    assert_eq!((d.segments, b.packets_out(), b.una() == b.nxt()), (5, 0, true));
}

#[test]
fn the_ring_grows_and_keeps_its_order() {
    let mut b = board(10);
    ack(&mut b, 100, 7, &[]);
    for n in 10..1000 {
        b.send(at(n), 100, false);
    }
    assert!(b.is_consistent());
    assert_eq!(b.packets_out(), 993);
    assert_eq!(ack(&mut b, 1100, 1000, &[]).acked, (at(7), at(999)));
}
