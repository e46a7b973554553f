//! Segments of 100 bytes, one per millisecond: segment `n` is bytes `100 n .. 100 (n + 1)`.

use super::*;
use crate::scoreboard::tests::{RTT, ack, at, block, board, lost, resend_all};

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

/// RFC 2018 puts the newest block first. Whatever their order, the lowest block is handled first.
#[test]
fn three_blocks_are_sorted_from_any_order() {
    let [a, b, c] = [block(1, 1), block(3, 4), block(6, 9)];
    for [x, y, z] in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        assert_eq!(ascending(x, y, z), [a, b, c]);
    }
}

/// 3 was sent again and SACKed, and then it is reported as a duplicate: original and retransmission are here, and the
/// original came after 6. Guards against a DSACK that disproves a retransmission which there never was: 5 was sent
/// once.
#[test]
fn a_duplicate_of_a_sacked_segment_came_late() {
    let mut b = board(8);
    ack(&mut b, 104, 0, &[block(5, 6)]);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [0, 1, 2, 3, 4]);
    ack(&mut b, 120, 0, &[block(3, 3), block(5, 6)]);
    let mut delivery = Delivery::new(at(121), RTT);
    assert_eq!(b.note_twice(block(3, 3), SeqNumber(0), None, &mut delivery), 1);
    b.sack(SeqNumber(0), &[block(3, 3), block(3, 3), block(5, 6)], &mut delivery);
    assert_eq!((delivery.segments, delivery.sacked_late), (0, 400));
    assert_eq!(b.note_twice(block(5, 5), SeqNumber(0), None, &mut delivery), 0);
}

/// Linux `tcp_shift_skb_data`: a segment that is SACKed becomes one packet with a SACKed one before it, and only then
/// with one after it. The fewer packets, the less memory the send buffer has in use.
#[test]
fn a_sacked_segment_joins_the_one_before_it() {
    let mut b = board(8);
    let mut packets = |ms, sacked| {
        ack(&mut b, ms, 0, &[sacked]);
        b.packets()
    };
    assert_eq!(packets(110, block(5, 6)), 7);
    assert_eq!(packets(111, block(4, 6)), 7, "4 stays apart from 5");
    assert_eq!(packets(112, block(2, 6)), 5, "3 joins 2, and so does 4");
}
