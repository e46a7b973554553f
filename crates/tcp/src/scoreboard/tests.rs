//! Segments of 100 bytes, one per millisecond: segment `n` is bytes `100 n .. 100 (n + 1)`.

use super::*;
use goodqueue_units::Duration;
use std::vec::Vec;

pub(super) const RTT: Duration = Duration::from_millis(100);

pub(super) fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(super) fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new(SeqNumber(0), 100);
    for n in 0..segments {
        board.send(at(n), 100, Flags::NONE, true);
    }
    board
}

pub(super) fn block(first: u32, last: u32) -> SackBlock {
    SackBlock { start: SeqNumber(first * 100), end: SeqNumber((last + 1) * 100) }
}

pub(super) fn ack(board: &mut Scoreboard, ms: u64, ack: u32, blocks: &[SackBlock]) -> Delivery {
    let mut delivery = Delivery::new(at(ms), RTT);
    board.sack(SeqNumber(ack * 100), blocks, &mut delivery);
    if SeqNumber(ack * 100) > board.una() {
        board.acknowledge(SeqNumber(ack * 100), &mut delivery);
    }
    assert!(board.is_consistent());
    delivery
}

/// Returns whether losses are found without any allowance for reordering.
pub(super) fn lost(board: &mut Scoreboard) -> bool {
    let found = board.detect_losses(at(1000), Duration::ZERO);
    assert!(board.is_consistent() && found.wait_until.is_none());
    found.segments > 0
}

pub(super) fn resend_all(board: &mut Scoreboard, ms: u64) -> Vec<u32> {
    core::iter::from_fn(|| board.resend(at(ms), false, u32::MAX))
        .map(|resend| resend.chunk.seq.0 / 100)
        .collect()
}

#[test]
fn a_cumulative_ack_delivers_and_samples_the_first_and_the_last() {
    let mut b = board(5);
    let d = ack(&mut b, 101, 2, &[]);
    assert_eq!((d.segments, d.acked, d.ambiguous), (2, (at(0), at(1)), false));
    assert_eq!((b.packets_out(), b.in_flight(), b.una()), (3, 3, SeqNumber(200)));
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
fn segments_of_unequal_size_are_found_and_a_partial_ack_trims() {
    let mut b = Scoreboard::new(SeqNumber(u32::MAX - 150), 100);
    for len in [100, 10, 1, 50, 100] {
        b.send(at(0), len, Flags::NONE, true);
    }
    let start = SeqNumber(u32::MAX - 150);
    let mut d = Delivery::new(at(100), RTT);
    b.sack(start, &[SackBlock { start: start + 110, end: start + 161 }], &mut d);
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
        b.send(at(0), 100, ends, true);
        let mut d = Delivery::new(at(100), RTT);
        b.acknowledge(SeqNumber(40), &mut d);
        assert_eq!((d.segments, b.una(), b.nxt()), (0, SeqNumber(40), SeqNumber(numbers)));
        assert_eq!(b.lose_all(at(300), false), 1);
        assert_eq!(
            b.resend(at(300), false, u32::MAX),
            Some(Resend {
                chunk: Chunk { seq: SeqNumber(40), len: 60, ends },
                is_first: true,
                is_again: false,
                ends_packet: false,
            })
        );
    }
}

#[test]
fn the_ring_grows_and_keeps_its_order() {
    let mut b = board(10);
    ack(&mut b, 100, 7, &[]);
    for n in 10..1000 {
        b.send(at(n), 100, Flags::NONE, true);
    }
    assert!(b.is_consistent());
    assert_eq!(b.packets_out(), 993);
    assert_eq!(ack(&mut b, 1100, 1000, &[]).acked, (at(7), at(999)));
}

/// Returns the reordering that an ACK shows, in bytes.
fn late(delivery: &Delivery) -> u32 {
    delivery.acked_late.max(delivery.sacked_late)
}

/// RFC 8985, 6.2, step 3: a segment sent once is delivered after a later one. A retransmission proves nothing. The
/// distance is to the end of the highest SACKed segment, also of one that the same ACK SACKs (Linux
/// `tcp_check_sack_reordering`), or to the ACK number if nothing is SACKed any more.
#[test]
fn a_segment_that_comes_late_tells_by_how_much() {
    let mut b = board(6);
    assert_eq!(late(&ack(&mut b, 104, 0, &[block(3, 4)])), 0);
    assert_eq!(late(&ack(&mut b, 105, 0, &[block(1, 1), block(3, 5)])), 500);
    assert_eq!(late(&ack(&mut b, 106, 1, &[block(3, 5)])), 600);
    lost(&mut b);
    assert_eq!(resend_all(&mut b, 110), [2]);
    assert_eq!(late(&ack(&mut b, 210, 6, &[])), 0);
    let mut b = board(5);
    assert_eq!(late(&ack(&mut b, 104, 0, &[block(3, 4), block(1, 1)])), 0, "of one ACK no order is known");
    // A delayed ACK that a hole has released: 0 came, 1 is missing, 2 came. Then come 3 and 4, and at last 1.
    let mut b = board(6);
    assert_eq!(late(&ack(&mut b, 104, 1, &[block(2, 2)])), 0, "0 came in order");
    assert_eq!(late(&ack(&mut b, 106, 1, &[block(2, 4)])), 0);
    assert_eq!(late(&ack(&mut b, 107, 6, &[])), 500, "1 came after 4, and 5 with it");
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
    ack(&mut b, 110, 0, &[block(3, 3)]);
    b.sack_one(0, SeqNumber(0), &mut Delivery::new(at(110), RTT));
    assert!(b.lose_first_hole());
    assert_eq!(resend_all(&mut b, 120), [1]);
    assert!(b.is_any_resent());
}
