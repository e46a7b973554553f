//! AccECN's option in a segment (RFC 9768, 3.2.3): how many payload bytes arrived with each codepoint.

use super::{SackBlock, Segment};
use crate::SeqNumber;

/// The bits of `sack_len` that are the number of blocks.
const BLOCKS: u8 = 3;
/// The bit of `sack_len` that says that there is the option.
const OPTION: u8 = 0x80;
/// The bit of `sack_len` that says that the option begins with ECT(0).
const ECT0_FIRST: u8 = 0x40;

/// AccECN's option. Its fields have 24 bits. Beside two SACK blocks the third field has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// The order: ECT(0), CE, ECT(1), kind 172; otherwise ECT(1), CE, ECT(0), kind 174.
    pub is_ect0_first: bool,
    /// EE0B or EE1B.
    pub first: u32,
    /// ECEB.
    pub ce: u32,
    /// EE1B or EE0B.
    pub last: Option<u32>,
}

impl AccEcnOption {
    /// The option before any byte arrived (RFC 9768, 3.2.1).
    pub(crate) const INITIAL: Self = Self { is_ect0_first: false, first: 1, ce: 0, last: Some(1) };

    /// Returns whether something on the way has cleared the counters that never begin with 0 (RFC 9768, 3.2.3.2.1).
    pub(crate) fn is_cleared(&self) -> bool {
        self.first == 0 || self.last == Some(0)
    }
}

impl Segment {
    /// The bytes of an option with three fields in the header: kind, length, three bytes per field, one NOP.
    pub(crate) const ACCECN_LEN: u16 = 12;

    /// Returns the number of SACK blocks.
    #[inline]
    pub(crate) const fn blocks(&self) -> usize {
        (self.sack_len & BLOCKS) as usize
    }

    /// Returns the segment with `option`. It has at most two SACK blocks, and at most one if the option has three
    /// fields.
    #[must_use]
    pub fn with_accecn(mut self, option: &AccEcnOption) -> Self {
        let AccEcnOption { is_ect0_first, first, ce, last } = *option;
        self.sack_len |= OPTION | if is_ect0_first { ECT0_FIRST } else { 0 };
        self.sack[2] = SackBlock { start: SeqNumber(first), end: SeqNumber(ce) };
        if let Some(last) = last {
            self.sack[1].start = SeqNumber(last);
        }
        self
    }

    /// Returns AccECN's option, if the segment has it.
    #[must_use]
    pub fn accecn(&self) -> Option<AccEcnOption> {
        let [_, second, third] = self.sack;
        (self.sack_len & OPTION != 0).then_some(AccEcnOption {
            is_ect0_first: self.sack_len & ECT0_FIRST != 0,
            first: third.start.0,
            ce: third.end.0,
            last: (self.blocks() < 2).then_some(second.start.0),
        })
    }

    /// Returns the bytes of the option in the header, in whole words.
    #[inline]
    pub(super) const fn accecn_len(&self) -> u32 {
        match (self.sack_len & OPTION, self.blocks()) {
            (0, _) => 0,
            (_, 0 | 1) => Self::ACCECN_LEN as u32,
            _ => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    /// RFC 9768, 3.2.3: 11 bytes with three fields, 8 with two. Linux: the MSS falls from 1448 to 1436 bytes.
    #[test]
    fn the_option_makes_segments_longer_and_leaves_sack_blocks() {
        let option = AccEcnOption { is_ect0_first: true, first: 1 << 23, ce: 7, last: Some(9) };
        let block = SackBlock { start: SeqNumber(5), end: SeqNumber(6) };
        let bare = Segment { flags: Flags::ACK, ..Segment::default() };
        let one = Segment { sack_len: 1, sack: [block; 3], ..bare };
        let two = Segment { sack_len: 2, ..one };
        let short = AccEcnOption { last: None, ..option };
        let lens = [bare, Segment { payload_len: 1436, ..bare }, Segment { flags: Flags::SYN, ..bare }, one];
        assert_eq!(lens.map(|segment| segment.with_accecn(&option).wire_len()), [78, 1514, 86, 90]);
        assert_eq!(two.with_accecn(&short).wire_len(), 94);
        assert_eq!(
            (one.with_accecn(&option).accecn(), one.with_accecn(&option).sack_blocks().len()),
            (Some(option), 1)
        );
        assert_eq!(
            (two.with_accecn(&short).accecn(), two.with_accecn(&short).sack_blocks()),
            (Some(short), &[block; 2][..])
        );
        assert_eq!((bare.accecn(), two.accecn()), (None, None));
    }

    #[test]
    fn a_card_merges_only_segments_with_the_same_option() {
        let first = Segment { payload_len: 100, flags: Flags::ACK, ..Segment::default() }
            .with_accecn(&AccEcnOption::INITIAL);
        let next = Segment { seq: SeqNumber(100), ..first };
        let merged = first.join(&next);
        assert_eq!(
            merged.map(|merged| (merged.part(0), merged.part(1), merged.wire_len())),
            Some((first, next, 2 * 178))
        );
        let other = next.with_accecn(&AccEcnOption { ce: 1, ..AccEcnOption::INITIAL });
        assert_eq!(first.join(&other), None);
    }
}
