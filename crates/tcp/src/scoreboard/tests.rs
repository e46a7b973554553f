//! Segments of 100 bytes, one per millisecond: segment `n` is bytes `100 n .. 100 (n + 1)`.

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
        board.send(at(n), 100, Flags::NONE);
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

/// Returns whether losses are found without any allowance for reordering.
fn lost(board: &mut Scoreboard) -> bool {
    let found = board.detect_losses(at(1000), Duration::ZERO);
    assert!(board.is_consistent() && found.wait_until.is_none());
    found.segments > 0
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
    assert!(lost(&mut b));
    assert_eq!((b.lost_out(), b.in_flight()), (4, 3)); // 0, 1, 2 and 4 are lost; 7, 8, 9 are in flight
    assert_eq!(resend_all(&mut b, 106), [0, 1, 2, 4]);
    assert_eq!((b.resent_out, b.in_flight()), (4, 7));
    assert!(!lost(&mut b), "what was just resent is not lost");
}

/// RFC 8985, 3.3: the retransmission of 0 was sent before the one of 1, which was delivered.
#[test]
fn a_lost_retransmission_is_found_by_a_later_one_that_arrived() {
    let mut b = board(5);
    ack(&mut b, 104, 0, &[block(2, 4)]);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [0, 1]);
    ack(&mut b, 210, 0, &[block(1, 4)]);
    assert!(lost(&mut b));
    assert_eq!((b.lost_out(), b.resent_out), (1, 0));
    assert_eq!(resend_all(&mut b, 211), [0]);
}

#[test]
fn a_lost_retransmission_is_found_by_new_data_sent_after_it() {
    let mut b = board(4);
    ack(&mut b, 103, 0, &[block(1, 3)]);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [0]);
    b.send(at(111), 100, Flags::NONE);
    ack(&mut b, 211, 0, &[block(1, 4)]);
    assert!(lost(&mut b) && b.has_lost());
}

/// New data left first, and a retransmission at the same instant. The arrival of one says nothing about the other.
#[test]
fn at_one_instant_originals_and_retransmissions_are_not_compared() {
    for (blocks, ack_to) in [(&[block(1, 4)][..], 0), (&[], 4)] {
        let mut b = board(4);
        ack(&mut b, 103, 0, &[block(1, 3)]);
        lost(&mut b);
        b.send(at(110), 100, Flags::NONE);
        assert_eq!(resend_all(&mut b, 110), [0]);
        ack(&mut b, 215, ack_to, blocks);
        assert!(!lost(&mut b));
    }
}

/// Karn, and RFC 8985, 6.2: the ACK comes sooner after the retransmission than any RTT, so the original was delivered.
#[test]
fn an_ambiguous_delivery_gives_no_sample_and_a_too_fast_one_no_order() {
    let mut b = board(5);
    ack(&mut b, 104, 0, &[block(2, 4)]);
    lost(&mut b);
    resend_all(&mut b, 110);
    let d = ack(&mut b, 115, 1, &[]);
    assert!(d.ambiguous && d.acked.0 == Instant::MAX);
    assert!(!lost(&mut b), "the retransmission of 1 must not be taken for lost");
}

#[test]
fn a_timeout_loses_all_but_the_sacked_and_cancels_retransmissions() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(3, 5)]);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [0, 1, 2]);
    b.send(at(111), 100, Flags::NONE);
    assert_eq!(b.lose_all(at(400), false), 4, "the retransmissions and 6");
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

/// Of a block reported before, only its growth is checked. It would be wrong to miss either end: the delivered segments
/// there would be marked as lost, and sent again.
#[test]
fn a_block_that_grew_at_both_ends_delivers_both() {
    let mut b = board(12);
    ack(&mut b, 110, 0, &[block(5, 6)]);
    assert_eq!(ack(&mut b, 111, 0, &[block(3, 9)]).segments, 5, "3, 4, 7, 8 and 9");
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 112), [0, 1, 2]);
}

#[test]
fn segments_of_unequal_size_are_found_and_a_partial_ack_trims() {
    let mut b = Scoreboard::new(SeqNumber(u32::MAX - 150), 100);
    for len in [100, 10, 1, 50, 100] {
        b.send(at(0), len, Flags::NONE);
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

/// After a partial acknowledgement of a segment, only the rest is sent again. Its FIN takes one sequence number and no
/// byte.
#[test]
fn of_a_trimmed_segment_the_rest_is_sent_again() {
    for (ends, numbers) in [(Flags::NONE, 100), (Flags::FIN, 101)] {
        let mut b = Scoreboard::new(SeqNumber(0), 100);
        b.send(at(0), 100, ends);
        let mut d = Delivery::new(at(100), RTT);
        b.acknowledge(SeqNumber(40), &mut d);
        assert_eq!((d.segments, b.una(), b.nxt()), (0, SeqNumber(40), SeqNumber(numbers)));
        assert_eq!(b.lose_all(at(300), false), 1);
        assert_eq!(b.resend(at(300)), Some((Chunk { seq: SeqNumber(40), len: 60, ends }, true)));
    }
}

/// RFC 2018 puts the newest block first. Whatever their order, the lowest block is handled first.
#[test]
fn three_blocks_are_sorted_from_any_order() {
    let [a, b, c] = [block(1, 1), block(3, 4), block(6, 9)];
    for [x, y, z] in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        assert_eq!(ascending(x, y, z), [a, b, c]);
    }
}

/// The first segment is marked as lost once, and only while it has no other mark.
#[test]
fn the_first_segment_is_lost_once() {
    let mut b = board(0);
    assert!(!b.lose_first(), "nothing is out");
    let mut b = board(3);
    assert!(b.lose_first() && !b.lose_first());
    assert_eq!((b.lost_out(), b.is_any_resent()), (1, false));
    assert_eq!(resend_all(&mut b, 50), [0]);
    assert!(b.is_any_resent(), "it is out a second time");
    ack(&mut b, 150, 1, &[]);
    assert!(!b.is_any_resent());
    let mut b = board(3);
    ack(&mut b, 110, 0, &[block(0, 0)]);
    assert!(!b.lose_first(), "it was SACKed");
    assert!(b.probe(at(120)).is_some());
    assert!(!b.is_any_resent(), "of a probe of the last segment the first knows nothing");
}

#[test]
fn the_ring_grows_and_keeps_its_order() {
    let mut b = board(10);
    ack(&mut b, 100, 7, &[]);
    for n in 10..1000 {
        b.send(at(n), 100, Flags::NONE);
    }
    assert!(b.is_consistent());
    assert_eq!(b.packets_out(), 993);
    assert_eq!(ack(&mut b, 1100, 1000, &[]).acked, (at(7), at(999)));
}

/// RFC 8985, 6.2, step 5. Segment n leaves at n ms, RTT 100 ms. With 25 ms for reordering, segment n may come until n +
/// 125 ms. One timer waits for the latest. Guards against a loss before its time, or a timer for a segment that is
/// here.
#[test]
fn segments_that_may_be_late_are_waited_for_until_the_last_of_them() {
    let mut b = board(10);
    let window = Duration::from_millis(25);
    ack(&mut b, 105, 0, &[block(3, 3), block(5, 5)]);
    let found = b.detect_losses(at(105), window);
    assert_eq!(found, Found { wait_until: Some(at(4 + 125)), ..Found::default() });
    let found = b.detect_losses(at(126), window);
    assert_eq!(found, Found { segments: 2, resent: false, wait_until: Some(at(129)) }, "0 and 1");
    let found = b.detect_losses(at(129), window);
    assert_eq!(found, Found { segments: 2, ..Found::default() }, "2 and 4; after 5 nothing is known");
    assert!(b.is_consistent());
}

/// The retransmission of 0 is here, and 5 to 9 left before it. With 150 ms for reordering and an RTT of 105, 9 may come
/// until 9 + 255 ms. It would be wrong to look for missing segments only below the retransmission.
#[test]
fn originals_above_a_retransmission_may_be_late() {
    let mut b = board(10);
    ack(&mut b, 104, 0, &[block(1, 4)]);
    assert!(b.lose_first());
    assert_eq!(resend_all(&mut b, 110), [0]);
    ack(&mut b, 215, 0, &[block(0, 4)]);
    let found = b.detect_losses(at(215), Duration::from_millis(150));
    assert_eq!(found, Found { wait_until: Some(at(9 + 255)), ..Found::default() });
}

#[test]
fn retransmissions_may_be_late_as_well() {
    let mut b = board(5);
    ack(&mut b, 104, 0, &[block(3, 4)]);
    lost(&mut b);
    resend_all(&mut b, 110); // 0, 1, 2
    ack(&mut b, 212, 0, &[block(2, 4)]); // the copy of 2, after 102 ms; 0 and 1 left at the same time
    b.probe(at(212));
    b.send(at(213), 100, Flags::NONE);
    ack(&mut b, 313, 0, &[block(2, 5)]); // sent last, after 100 ms
    let found = b.detect_losses(at(200), Duration::from_millis(25));
    assert_eq!(found.wait_until, Some(at(110 + 125)));
    let found = b.detect_losses(at(235), Duration::from_millis(25));
    assert_eq!(found, Found { segments: 2, resent: true, wait_until: None });
    assert_eq!(resend_all(&mut b, 236), [0, 1]);
}

/// A tail loss probe is found lost as any retransmission is, although its segment was never marked as lost before.
#[test]
fn a_lost_probe_is_found_by_what_was_sent_after_it() {
    let mut b = board(3);
    assert_eq!(b.probe(at(300)).map(|chunk| chunk.seq), Some(SeqNumber(200)));
    assert_eq!((b.in_flight(), b.lost_out()), (3, 0), "it is out once");
    b.send(at(301), 100, Flags::NONE);
    ack(&mut b, 401, 2, &[block(3, 3)]);
    assert!(lost(&mut b));
    assert_eq!((b.lost_out(), b.in_flight()), (1, 0));
    assert_eq!(resend_all(&mut b, 402), [2]);
}

/// RFC 6675, section 4, IsLost() with DupThresh 3, by hand: three runs above, or more than two full segments.
#[test]
fn by_rfc_6675_three_runs_or_three_segments_above_make_a_loss() {
    let mut b = board(12);
    ack(&mut b, 110, 0, &[block(1, 2)]);
    assert_eq!(b.detect_by_sacks(3).segments, 0, "200 bytes are not more than two segments");
    ack(&mut b, 111, 0, &[block(4, 4), block(1, 2)]);
    assert_eq!(b.detect_by_sacks(3).segments, 1, "0; above 3 is one segment");
    ack(&mut b, 112, 0, &[block(6, 6), block(4, 4), block(1, 2)]);
    assert_eq!(b.detect_by_sacks(3).segments, 0);
    ack(&mut b, 113, 0, &[block(8, 8), block(6, 6), block(4, 4)]);
    assert_eq!(b.detect_by_sacks(3).segments, 1, "3: of 5 and 7 only two and one");
    assert!(b.is_consistent());
    // Short segments: three runs are enough.
    let mut b = Scoreboard::new(SeqNumber(0), 100);
    for n in 0..7 {
        b.send(at(n), 10, Flags::NONE);
    }
    let runs = [5, 3, 1].map(|n| SackBlock { start: SeqNumber(n * 10), end: SeqNumber(n * 10 + 10) });
    let mut delivery = Delivery::new(at(110), RTT);
    b.sack(&runs, &mut delivery);
    assert_eq!((b.detect_by_sacks(3).segments, resend_all(&mut b, 111)), (1, [0].to_vec()));
}

/// Mathis & Mahdavi 1996, section 3, with DupThresh 3: 8 is SACKed, so 0 to 5 are lost, three or more below it. If
/// segments overtake each other, three above must be SACKed: this is so only once 8 to 10 are.
#[test]
fn by_forward_ack_all_is_lost_that_the_highest_sack_is_dupthresh_above() {
    let mut b = board(12);
    ack(&mut b, 110, 0, &[block(8, 8)]);
    assert_eq!(b.detect_by_forward_ack(3, false).segments, 0);
    assert_eq!(b.detect_by_forward_ack(3, true).segments, 6);
    assert_eq!((resend_all(&mut b, 111), b.in_flight()), ([0, 1, 2, 3, 4, 5].to_vec(), 11));
    let mut b = board(12);
    ack(&mut b, 112, 0, &[block(8, 10)]);
    assert_eq!(b.detect_by_forward_ack(3, false).segments, 8);
    assert!(b.is_consistent());
}

/// The same paper, 3.2: 0 left again when 6 was the next new segment. 7 is the first segment that proves the loss.
#[test]
fn by_forward_ack_new_data_behind_a_retransmission_tells_of_its_loss() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(1, 3)]);
    assert_eq!(b.detect_by_forward_ack(3, true).segments, 1);
    assert_eq!(resend_all(&mut b, 110), [0]);
    b.send(at(110), 100, Flags::NONE);
    b.send(at(111), 100, Flags::NONE);
    ack(&mut b, 210, 0, &[block(1, 6)]);
    assert_eq!(b.detect_lost_retransmissions().segments, 0);
    ack(&mut b, 211, 0, &[block(1, 7)]);
    assert_eq!((b.detect_lost_retransmissions().segments, resend_all(&mut b, 211)), (1, [0].to_vec()));
}

/// RFC 8985, 6.3: the timer fires at 300 ms. The segment sent at 250 ms is younger than a round trip.
#[test]
fn a_timeout_may_spare_what_was_sent_within_the_last_round_trip() {
    let mut b = board(4);
    ack(&mut b, 100, 1, &[]); // RACK.rtt is 100 ms
    b.send(at(250), 100, Flags::NONE);
    assert_eq!(b.lose_all(at(300), true), 3);
    assert_eq!((b.lost_out(), b.in_flight()), (3, 1));
    assert_eq!(resend_all(&mut b, 300), [1, 2, 3]);
    ack(&mut b, 400, 4, &[]);
    assert!(lost(&mut b), "it was sent before what is delivered now");
    assert_eq!(resend_all(&mut b, 400), [4]);
}

/// RFC 2018, section 8. It would be wrong to wait forever for a segment that the receiver has discarded.
#[test]
fn a_receiver_that_keeps_not_what_it_sacked_gets_it_again() {
    let mut b = board(4);
    ack(&mut b, 104, 0, &[block(1, 2)]);
    ack(&mut b, 105, 1, &[]);
    assert_eq!(b.lose_all(at(400), true), 3);
    assert_eq!((b.sacked_out(), resend_all(&mut b, 400)), (0, [1, 2, 3].to_vec()));
    assert!(b.is_consistent());
}

/// Nothing was lost: all waiting segments are in flight again, and are checked again.
#[test]
fn what_was_taken_for_lost_can_be_found() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(3, 3), block(5, 5)]);
    lost(&mut b);
    b.unmark_lost();
    assert!(b.is_consistent());
    assert_eq!((b.lost_out(), b.in_flight(), b.has_lost()), (0, 4, false));
    assert!(lost(&mut b) && b.lost_out() == 4);
}

/// RFC 8985, 6.2, step 3: a segment sent once is delivered after a later one. A retransmission proves nothing.
#[test]
fn a_segment_that_comes_late_tells_by_how_much() {
    let mut b = board(6);
    assert_eq!(ack(&mut b, 104, 0, &[block(3, 4)]).late, 0);
    assert_eq!(ack(&mut b, 105, 0, &[block(1, 1), block(3, 4)]).late, 300);
    assert_eq!(ack(&mut b, 106, 1, &[block(3, 4)]).late, 400);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [2]);
    assert_eq!(ack(&mut b, 210, 5, &[]).late, 0);
    let mut b = board(4);
    assert_eq!(ack(&mut b, 104, 0, &[block(2, 3), block(0, 0)]).late, 0, "of one ACK no order is known");
    // A delayed ACK that a hole has released: 0 came, 1 is missing, 2 came. Then come 3 and 4, and at last 1.
    let mut b = board(6);
    assert_eq!(ack(&mut b, 104, 1, &[block(2, 2)]).late, 0, "0 came in order");
    assert_eq!(ack(&mut b, 106, 1, &[block(2, 4)]).late, 0);
    assert_eq!(ack(&mut b, 107, 5, &[]).late, 300, "1 came after 4");
}

/// RFC 8985, 6.2, step 2, with timestamps: 0 was sent again at 110 ms. The echo of 1 ms says that the original came,
/// 300 ms late. It would be wrong to mark as lost, by that, everything sent before 110 ms. An echo of 151 is of a later
/// segment, so the retransmission came too, and its own ACK was lost.
#[test]
fn by_its_echo_a_late_original_says_nothing_of_its_retransmission() {
    for (tsecr, expected) in [(1, false), (111, true), (151, true), (0, true)] {
        let mut b = board(5);
        ack(&mut b, 104, 0, &[block(2, 4)]);
        lost(&mut b);
        resend_all(&mut b, 110);
        b.unmark_lost();
        let mut delivery = Delivery { tsecr, ..Delivery::new(at(300), RTT) };
        b.acknowledge(SeqNumber(100), &mut delivery);
        assert_eq!(b.newest_delivered.sent_at == at(110), expected, "echo {tsecr}");
    }
}

/// Guards against an undo while a retransmission is in flight, only because it is not the first segment.
#[test]
fn a_retransmission_behind_the_first_segment_is_one() {
    let mut b = board(4);
    ack(&mut b, 110, 0, &[block(0, 0), block(3, 3)]);
    assert!(b.lose_first_hole());
    assert_eq!(resend_all(&mut b, 120), [1]);
    assert!(b.is_any_resent());
}

/// Linux's `tcp_is_rack`: a timeout marks only segments at least one RTT old, and the first segment. It would be wrong
/// to repeat at once a retransmission that has just left, or to wait for segments that are old enough.
#[test]
fn a_timeout_spares_what_was_sent_within_an_rtt() {
    let mut b = board(8);
    ack(&mut b, 104, 0, &[block(4, 4)]); // RACK.rtt is 100 ms
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 105), [0, 1, 2, 3]);
    assert_eq!(b.lose_all(at(106), true), 3, "0, which was out again, 5 and 6; 7 is a millisecond younger");
    assert!(b.is_consistent());
    assert_eq!((b.lost_out(), b.resent_out(), b.resent.len()), (6, 3, 3));
    assert_eq!(resend_all(&mut b, 108), [0, 5, 6]);
    let mut b = board(8);
    assert_eq!(b.lose_all(at(107), false), 8);
}
