//! Segments of 100 bytes, one per millisecond: segment `n` is bytes `100 n .. 100 (n + 1)`.

use super::*;
use crate::scoreboard::record::Delivery;
use crate::scoreboard::tests::{RTT, ack, at, block, board, lost, resend_all};
use crate::{Flags, SackBlock};

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
    b.send(at(111), 100, Flags::NONE, true);
    ack(&mut b, 211, 0, &[block(1, 4)]);
    assert!(lost(&mut b) && b.has_lost());
}

/// New data left, and a retransmission at the same instant. Of these the sequence number tells which is later (Linux
/// `tcp_rack_sent_after`): the new data. If it arrives, the retransmission is lost. The arrival of the retransmission
/// says nothing about the new data.
#[test]
fn at_one_instant_the_sequence_number_tells_the_order() {
    for (blocks, ack_to, is_lost) in [(&[block(1, 4)][..], 0, true), (&[], 4, false)] {
        let mut b = board(4);
        ack(&mut b, 103, 0, &[block(1, 3)]);
        lost(&mut b);
        b.send(at(110), 100, Flags::NONE, true);
        assert_eq!(resend_all(&mut b, 110), [0]);
        ack(&mut b, 215, ack_to, blocks);
        assert_eq!(lost(&mut b), is_lost);
    }
}

/// Linux `tcp_xmit_retransmit_queue`: a packet of five segments that is lost leaves in packets of two. Guards against a
/// packet that is longer than pacing allows, and against one for each segment.
#[test]
fn what_is_lost_leaves_in_packets_of_the_present_length() {
    let mut b = Scoreboard::new(SeqNumber(0), 100);
    for n in 0..5 {
        b.send(at(0), 100, Flags::NONE, n == 0);
    }
    assert_eq!((b.lose_all(at(300), false), b.packets()), (5, 1));
    let ends: std::vec::Vec<bool> =
        core::iter::from_fn(|| b.resend(at(300), true, 2)).map(|resend| resend.ends_packet).collect();
    assert_eq!((ends, b.packets()), (std::vec![false, true, false, true, false], 3));
}

#[test]
fn a_timeout_loses_all_but_the_sacked_and_cancels_retransmissions() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(3, 5)]);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [0, 1, 2]);
    b.send(at(111), 100, Flags::NONE, true);
    assert_eq!(b.lose_all(at(400), false), 4, "the retransmissions and 6");
    assert!(b.is_consistent());
    assert_eq!((b.in_flight(), b.lost_out(), b.sacked_out()), (0, 4, 3));
    assert_eq!(resend_all(&mut b, 400), [0, 1, 2, 6]);
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
    b.sack_one(0, SeqNumber(0), &mut Delivery::new(at(110), RTT));
    assert!(!b.lose_first(), "it was SACKed");
    assert!(b.probe(at(120)).is_some());
    assert!(!b.is_any_resent(), "of a probe of the last segment the first knows nothing");
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
    b.sack_one(0, SeqNumber(400), &mut Delivery::new(at(215), RTT));
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
    b.send(at(213), 100, Flags::NONE, true);
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
    b.send(at(301), 100, Flags::NONE, true);
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
        b.send(at(n), 10, Flags::NONE, true);
    }
    let runs = [5, 3, 1].map(|n| SackBlock { start: SeqNumber(n * 10), end: SeqNumber(n * 10 + 10) });
    let mut delivery = Delivery::new(at(110), RTT);
    b.sack(SeqNumber(0), &runs, &mut delivery);
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
    b.send(at(110), 100, Flags::NONE, true);
    b.send(at(111), 100, Flags::NONE, true);
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
    b.send(at(250), 100, Flags::NONE, true);
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

/// Nothing was lost: all waiting segments are in flight again. RACK does not look at them until they are sent again
/// (Linux takes them out of `tsorted_sent_queue`).
#[test]
fn what_was_taken_for_lost_can_be_found() {
    let mut b = board(6);
    ack(&mut b, 105, 0, &[block(3, 3), block(5, 5)]);
    lost(&mut b);
    b.unmark_lost();
    assert!(b.is_consistent());
    assert_eq!((b.lost_out(), b.in_flight(), b.has_lost()), (0, 4, false));
    assert!(!lost(&mut b));
    assert_eq!(b.lose_all(at(400), false), 4, "a timeout does");
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
