//! The search for a waiting ACK that a later segment of the same connection makes superfluous.
//!
//! Source: "Piece of CAKE", 2018, "ACK filtering", and Linux where the paper is brief. ACKs are cumulative, so on a
//! slow uplink most of the waiting ACKs say nothing that the last one does not say. When a segment with an ACK (with
//! or without data) comes to a queue, the queue is searched from the head for ACKs that it makes superfluous. Such an
//! ACK:
//!
//! - is *pure*: no data, no flag except ACK, ECE and CWR, no option unknown to the filter;
//! - acknowledges no more than the segment, has no later timestamps, and SACKs no byte that the segment does not
//!   SACK;
//! - is no duplicate: the segment acknowledges or SACKs more (fast retransmit counts duplicates, RFC 5681);
//! - reports no duplicate segment (RFC 2883);
//! - has the same bits ECE and CWR as the next ACK of the connection (RFC 3168).
//!
//! Of these ACKs the one closest to the head is dropped, one per segment, and only if there is a second one. So one
//! superfluous ACK always waits beside the newest. `ack-filter-aggressive` drops even the only one, if it is the last
//! packet before the segment and both have the same bits.

use crate::tcp::TcpHeader;

/// ECE and CWR. Their information counts even in an ACK that is otherwise superfluous.
const ECHO: u16 = TcpHeader::ECE | TcpHeader::CWR;

/// Returns the place of the packet that `newest` makes superfluous. `waiting` are the packets before it from the
/// head. Those of the same connection come with their headers.
pub(super) fn superfluous<Place: Copy + PartialEq>(
    aggressive: bool,
    newest: &TcpHeader,
    waiting: impl Iterator<Item = (Place, Option<TcpHeader>)>,
) -> Option<Place> {
    // A SYN is the first segment of its connection, so there is no ACK before it.
    if newest.flags & (TcpHeader::ACK | TcpHeader::SYN) != TcpHeader::ACK {
        return None;
    }
    let mut first: Option<(Place, u16)> = None;
    let mut last = None;
    for (place, header) in waiting {
        last = Some(place);
        let Some(header) = header else { continue };
        let echo = header.flags & ECHO;
        first = first.filter(|(_, before)| *before == echo);
        if is_covered(&header, newest) {
            match first {
                Some((place, _)) => return Some(place),
                None => first = Some((place, echo)),
            }
        }
    }
    let (place, echo) = first?;
    (aggressive && last == Some(place) && echo == newest.flags & ECHO).then_some(place)
}

/// Returns whether `newest` says all that `ack` says, and more.
fn is_covered(ack: &TcpHeader, newest: &TcpHeader) -> bool {
    let pure = ack.flags & !ECHO == TcpHeader::ACK && !ack.has_payload && !ack.has_other_options;
    // If the segment has no timestamps, Linux compares with zeros.
    let (value, echo) = newest.timestamps.unwrap_or((0, 0));
    let timely = ack.timestamps.is_none_or(|(val, ecr)| !is_after(val, value) && !is_after(ecr, echo));
    pure && timely
        && !is_after(ack.ack, newest.ack)
        && match sacks(ack, newest) {
            Sacks::More => true,
            Sacks::TheSame => ack.ack != newest.ack,
            Sacks::Otherwise => false,
        }
}

/// The bytes that a segment SACKs, compared with an earlier ACK.
enum Sacks {
    /// All bytes that the ACK SACKs, and more.
    More,
    /// The same bytes.
    TheSame,
    /// Not all bytes of the ACK. Or the ACK reports a duplicate, which no other segment repeats.
    Otherwise,
}

fn sacks(ack: &TcpHeader, newest: &TcpHeader) -> Sacks {
    let within =
        |&(start, end): &(u32, u32), &(from, to): &(u32, u32)| !is_after(from, start) && !is_after(end, to);
    let (before, now) = (ack.sack_blocks(), newest.sack_blocks());
    let lost =
        |block: &(u32, u32)| is_after(ack.ack, block.0) || !now.iter().any(|other| within(block, other));
    if before.iter().any(lost) {
        return Sacks::Otherwise;
    }
    let bytes = |blocks: &[(u32, u32)]| {
        blocks.iter().fold(0_u32, |sum, (start, end)| sum.wrapping_add(end.wrapping_sub(*start)))
    };
    if bytes(now) > bytes(before) { Sacks::More } else { Sacks::TheSame }
}

/// Returns whether `a` comes after `b` in a space of numbers that wraps (RFC 9293, 3.4; RFC 7323, 5.2).
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FIN: u16 = 0x001;

    fn ack(ack: u32) -> TcpHeader {
        TcpHeader { ack, flags: TcpHeader::ACK, ..TcpHeader::default() }
    }

    fn with_sack(number: u32, blocks: &[(u32, u32)]) -> TcpHeader {
        let mut header = TcpHeader { sack_len: blocks.len() as u8, ..ack(number) };
        header.sack[..blocks.len()].copy_from_slice(blocks);
        header
    }

    /// Returns the place of the dropped ACK among `waiting`.
    fn filter(aggressive: bool, waiting: &[TcpHeader], newest: TcpHeader) -> Option<usize> {
        superfluous(aggressive, &newest, waiting.iter().copied().map(Some).enumerate())
    }

    /// One superfluous ACK must always stay.
    #[test]
    fn the_oldest_of_two_goes_and_a_single_one_stays() {
        assert_eq!(filter(false, &[ack(1)], ack(3)), None);
        assert_eq!(filter(false, &[ack(1), ack(2)], ack(3)), Some(0));
        assert_eq!(filter(false, &[ack(1), ack(2), ack(3)], ack(4)), Some(0), "one a segment");
    }

    #[test]
    fn the_aggressive_filter_takes_a_single_one_that_stands_right_before() {
        assert_eq!(filter(true, &[ack(1)], ack(3)), Some(0));
        assert_eq!(filter(true, &[ack(1), ack(2)], ack(3)), Some(0));
        // A packet of another connection is between the two.
        let waiting = [(0, Some(ack(1))), (1, None)];
        assert_eq!(superfluous(true, &ack(3), waiting.into_iter()), None);
    }

    /// Two plain ACKs lose the first. Each rule must spare it: with the first one changed, no ACK may be dropped.
    #[test]
    fn an_ack_that_says_more_stays() {
        let spared: Vec<(&str, TcpHeader)> = alloc::vec![
            ("later", ack(9)),
            ("duplicate", ack(3)),
            ("data", TcpHeader { has_payload: true, ..ack(1) }),
            ("FIN", TcpHeader { flags: TcpHeader::ACK | FIN, ..ack(1) }),
            ("reserved bit", TcpHeader { flags: TcpHeader::ACK | 0x100, ..ack(1) }),
            ("no ACK", TcpHeader { flags: 0, ..ack(1) }),
            ("unknown option", TcpHeader { has_other_options: true, ..ack(1) }),
            ("later TSval", TcpHeader { timestamps: Some((1001, 5)), ..ack(1) }),
            ("later TSecr", TcpHeader { timestamps: Some((900, 51)), ..ack(1) }),
            ("SACK", with_sack(1, &[(5, 6)])),
        ];
        let newest = TcpHeader { timestamps: Some((1000, 50)), ..ack(3) };
        assert_eq!(filter(false, &[ack(1), ack(2)], newest), Some(0));
        for (why, first) in spared {
            assert_eq!(filter(false, &[first, ack(2)], newest), None, "{why}");
        }
        assert_eq!(
            filter(false, &[TcpHeader { timestamps: Some((1000, 50)), ..ack(1) }, ack(2)], newest),
            Some(0)
        );
        let with_nothing = TcpHeader { timestamps: Some((1000, 50)), ..ack(1) };
        assert_eq!(filter(false, &[with_nothing, with_nothing], ack(3)), None, "compared with zeros");
    }

    /// RFC 2018's blocks: 2000 to 3000 is missing, and the receiver holds 3000 to 4000, then also 5000 to 6000.
    #[test]
    fn an_ack_whose_blocks_are_all_sacked_again_goes() {
        let (old, new) = (with_sack(2000, &[(3000, 4000)]), with_sack(2000, &[(5000, 6000), (3000, 4000)]));
        assert_eq!(filter(true, &[old], new), Some(0), "the same number, more bytes");
        assert_eq!(filter(true, &[ack(2000)], old), Some(0), "the first block");
        assert_eq!(filter(true, &[old], with_sack(2000, &[(2900, 4000)])), Some(0), "the block grew");
        assert_eq!(filter(true, &[old], old), None, "a duplicate");
        assert_eq!(filter(true, &[new], old), None, "a block is gone");
        assert_eq!(
            filter(true, &[old], with_sack(2000, &[(3000, 3500), (3500, 4000)])),
            None,
            "not within one block"
        );
        assert_eq!(
            filter(true, &[old], ack(4000)),
            None,
            "Linux keeps it, although the number covers the block"
        );
        // RFC 2883: 1000 to 2000 came twice.
        let duplicate = with_sack(2000, &[(1000, 2000)]);
        assert_eq!(filter(true, &[duplicate], with_sack(2001, &[(1000, 2000)])), None);
    }

    /// RFC 3168: the sender must see when ECE begins, and must see every CWR.
    #[test]
    fn the_last_ack_before_the_echo_changes_stays() {
        let echoing = |number| TcpHeader { flags: TcpHeader::ACK | TcpHeader::ECE, ..ack(number) };
        assert_eq!(filter(false, &[ack(1), echoing(2)], echoing(3)), None);
        assert_eq!(filter(false, &[ack(1), echoing(2), echoing(3)], echoing(4)), Some(1));
        assert_eq!(filter(true, &[ack(1)], echoing(2)), None);
        assert_eq!(filter(true, &[echoing(1)], echoing(2)), Some(0));
        // An ACK that would not be dropped itself separates the others just the same.
        let data = TcpHeader { has_payload: true, ..echoing(2) };
        assert_eq!(filter(false, &[ack(1), data, ack(3)], ack(4)), None);
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(filter(true, &[ack(u32::MAX)], ack(5)), Some(0));
        assert_eq!(filter(true, &[ack(5)], ack(u32::MAX)), None);
        let over_the_edge = with_sack(u32::MAX - 10, &[(u32::MAX - 5, 20)]);
        assert_eq!(filter(true, &[over_the_edge], with_sack(u32::MAX - 10, &[(u32::MAX - 5, 30)])), Some(0));
    }

    /// A data segment with an ACK must work as well. A segment that opens a connection, or has no ACK, must not.
    #[test]
    fn any_segment_with_an_ack_triggers() {
        let data = TcpHeader { has_payload: true, ..ack(3) };
        assert_eq!(filter(false, &[ack(1), ack(2)], data), Some(0));
        for flags in [TcpHeader::ACK | TcpHeader::SYN, TcpHeader::SYN, 0] {
            assert_eq!(filter(false, &[ack(1), ack(2)], TcpHeader { flags, ..ack(3) }), None);
        }
    }

    /// 500 bytes of the ACK's block are in no other block, although the newest SACKs more in all. If that ACK were
    /// dropped, the sender would send these bytes again.
    #[test]
    fn blocks_that_overlap_replace_nothing() {
        for newest in [(3500, 5000), (2000, 3500)] {
            assert_eq!(filter(true, &[with_sack(1000, &[(3000, 4000)])], with_sack(1000, &[newest])), None);
        }
    }
}
