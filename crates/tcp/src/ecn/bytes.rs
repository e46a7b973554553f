//! The byte counters of AccECN's option: those of a receiver, and a sender's reading of them (RFC 9768, 3.2.1, 3.2.3;
//! Linux `tcp_options_fit_accecn`, `tcp_accecn_process_option` and `__tcp_accecn_process`).
//!
//! `policy` says which segments have the option. It must have room for the fields that changed.

use super::policy::{OptionUse, Policy};
use crate::segment::AccEcnOption;
use crate::{SackBlock, Segment};
use goodqueue_units::{Duration, Ecn, Instant};

/// The counters have 24 bits.
const MASK: u32 = 0xff_ffff;

/// What an end counts and reads while AccECN's option is in use. Few connections have it, and it is never in the way of
/// those that have not.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    pub(crate) seen: BytesSeen,
    pub(crate) read: BytesRead,
}

impl Bytes {
    pub(crate) fn new(option: OptionUse) -> Self {
        Self { seen: BytesSeen::new(option), read: BytesRead::default() }
    }
}

/// Payload bytes that arrived with each codepoint.
#[derive(Clone, Debug)]
pub(crate) struct BytesSeen {
    ect1: u32,
    ce: u32,
    ect0: u32,
    /// The place of the last field that changed since the option was last sent: 1 to 3, or 0.
    needed: u8,
    policy: Policy,
}

impl BytesSeen {
    fn new(option: OptionUse) -> Self {
        Self { ect1: 0, ce: 0, ect0: 0, needed: 0, policy: Policy::new(option) }
    }

    /// Counts the payload of `segment`, which arrived.
    pub(crate) fn count(&mut self, segment: &Segment) {
        let bytes = segment.payload_len;
        let (counter, place) = match segment.ecn {
            Ecn::NotEct => (&mut 0, 0),
            Ecn::Ect1 => (&mut self.ect1, 1),
            Ecn::Ce => (&mut self.ce, 2),
            Ecn::Ect0 => (&mut self.ect0, 3),
        };
        let before = *counter;
        *counter = counter.wrapping_add(bytes.into());
        if cfg!(feature = "complete") {
            self.policy.on_arrival(segment, before, *counter);
        }
        if bytes > 0 {
            self.needed = self.needed.max(place);
        }
    }

    /// Returns `segment`, which leaves at `now`, with the option if it is to have it. `srtt` is the round-trip time.
    pub(crate) fn tell(&mut self, segment: Segment, now: Instant, srtt: Duration) -> Segment {
        if !cfg!(feature = "complete") {
            return self.fit(segment);
        }
        let segment = if self.policy.asks(now, srtt) { self.fit(segment) } else { segment };
        self.policy.on_departure(&segment, now);
        segment
    }

    /// Returns `segment` with the option, if there is room for the fields that changed. Three fields have room beside
    /// one SACK block, and two beside two. A third block gives way to two fields.
    fn fit(&mut self, mut segment: Segment) -> Segment {
        let last = match (segment.blocks(), self.needed) {
            (0 | 1, _) => Some((1 + self.ect0) & MASK),
            (2, ..=2) => None,
            (3, 1 | 2) => {
                (segment.sack_len, segment.sack[2]) = (2, SackBlock::default());
                None
            }
            _ => return segment,
        };
        self.needed = 0;
        let (first, ce) = ((1 + self.ect1) & MASK, self.ce & MASK);
        segment.with_accecn(&AccEcnOption { is_ect0_first: false, first, ce, last })
    }
}

/// A sender's reading of the option.
#[derive(Clone, Debug, Default)]
pub(crate) struct BytesRead {
    ect1: u32,
    ce: u32,
    ect0: u32,
    /// The only counter that rises at present: on an ACK without the option it is taken to rise by what was delivered.
    rises: Option<Ecn>,
}

impl BytesRead {
    /// Reads the option of an ACK that delivered `delivered` bytes. Returns how many of the peer's bytes were newly
    /// marked, or `None` if the counters leave that open.
    pub(crate) fn read(&mut self, option: Option<AccEcnOption>, delivered: u32) -> Option<u32> {
        let before = self.ce;
        let Some(AccEcnOption { is_ect0_first, first, ce, last }) = option else {
            let counter = self.counter(self.rises?);
            *counter = counter.wrapping_add(delivered);
            return Some(self.ce.wrapping_sub(before));
        };
        let (opens, closes) = if is_ect0_first { (Ecn::Ect0, Ecn::Ect1) } else { (Ecn::Ect1, Ecn::Ect0) };
        let fields = [
            (opens, Some(first.wrapping_sub(1))),
            (Ecn::Ce, Some(ce)),
            (closes, last.map(|last| last.wrapping_sub(1))),
        ];
        let expected = self.rises;
        let (mut is_sure, mut changed, mut is_clear) = (expected.is_some(), false, true);
        for (ecn, value) in fields {
            let Some(value) = value else { continue };
            let counter = self.counter(ecn);
            // The difference of 24 bits with its sign: an earlier estimate can have been too high.
            let delta = (value.wrapping_sub(*counter) << 8) as i32 >> 8;
            *counter = counter.wrapping_add_signed(delta);
            if delta == 0 {
                continue;
            }
            let surprises = expected != Some(ecn);
            if delta < 0 || (surprises && changed) {
                (is_sure, is_clear) = (false, false);
            } else if surprises {
                (self.rises, changed) = (Some(ecn), true);
            }
        }
        if !is_clear {
            self.rises = None;
        }
        is_sure.then(|| self.ce.wrapping_sub(before))
    }

    fn counter(&mut self, ecn: Ecn) -> &mut u32 {
        match ecn {
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ce => &mut self.ce,
            Ecn::NotEct | Ecn::Ect0 => &mut self.ect0,
        }
    }
}

/// The marks that the counter of three bits can mean on an ACK of more than seven segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapped {
    /// The counter's difference, modulo 8.
    pub(crate) least: u32,
    /// The greatest number that fits (RFC 9768, A.2).
    pub(crate) most: u32,
    /// Segments and bytes that the ACK delivered.
    pub(crate) segments: u32,
    pub(crate) bytes: u32,
    pub(crate) mss: u16,
}

impl Wrapped {
    /// Returns how many segments were marked if `ce` bytes were (RFC 9768, A.2.1; Linux `__tcp_accecn_process`).
    pub(crate) fn resolve(&self, ce: u32) -> u32 {
        let Self { least, most, segments, bytes, mss } = *self;
        let mss = u32::from(mss);
        if ce == 0 {
            least
        } else if segments >= 16 {
            // The counter may have gone round several times: the bytes say how often.
            if bytes <= ce {
                return most;
            }
            let by_bytes = (u64::from(ce) * u64::from(segments)).div_ceil(u64::from(bytes)) as u32;
            most.min(least + (by_bytes & !7))
        } else if ce > least * mss {
            most
        } else if ce < most * mss / 2 {
            least
        } else {
            most
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn option(first: u32, ce: u32, last: u32) -> Option<AccEcnOption> {
        Some(AccEcnOption { is_ect0_first: false, first, ce, last: Some(last) })
    }

    /// RFC 9768, 3.2.3.3, and Linux: the fields that changed must fit.
    #[test]
    fn a_receiver_tells_the_fields_that_changed_beside_sack_blocks() {
        let with = |blocks: u8| Segment { sack_len: blocks, ..Segment::default() };
        let came = |ecn, payload_len| Segment { ecn, payload_len, ..Segment::default() };
        let mut seen = BytesSeen::new(OptionUse::Always);
        seen.count(&came(Ecn::Ect1, 100));
        seen.count(&came(Ecn::Ce, 50));
        let told = seen.fit(with(3));
        assert_eq!(
            (told.blocks(), told.accecn()),
            (2, Some(AccEcnOption { is_ect0_first: false, first: 101, ce: 50, last: None }))
        );
        assert_eq!(seen.fit(with(3)).accecn(), None, "nothing changed");
        seen.count(&came(Ecn::Ect0, 7));
        assert_eq!(
            [seen.fit(with(2)), seen.fit(with(3))].map(|told| (told.accecn(), told.blocks())),
            [(None, 2), (None, 3)]
        );
        assert_eq!(seen.fit(with(1)).accecn(), option(101, 50, 8));
    }

    /// Guards against counters that wrap at 24 bits, a field of the other order, and an estimate that stays wrong.
    #[test]
    fn a_sender_reads_marked_bytes_in_both_orders_and_across_wraps() {
        let mut read = BytesRead::default();
        assert_eq!(read.read(option(1, 0, 1001), 1000), None, "no counter was known to rise");
        assert_eq!(read.read(option(1, 0, 2001), 1000), Some(0));
        assert_eq!(read.read(None, 500), Some(0));
        let other = AccEcnOption { is_ect0_first: true, first: 2501, ce: 300, last: Some(1) };
        assert_eq!(read.read(Some(other), 300), Some(300));
        let mut wraps = BytesRead { ce: 0xff_fff0, rises: Some(Ecn::Ce), ..BytesRead::default() };
        assert_eq!(wraps.read(option(1, 0x10, 1), 32), Some(0x20));
        assert_eq!(wraps.read(option(1, 0, 1), 0), None, "it fell");
        assert_eq!(wraps.rises, None);
    }

    /// RFC 9768, A.2.1. 24 segments, of which 0, 8, 16 or 24 were marked; and nine, of which one or nine were.
    #[test]
    fn bytes_say_how_often_the_counter_went_round() {
        let wrapped = |least, segments: u32| Wrapped {
            least,
            most: segments - ((segments - least) & 7),
            segments,
            bytes: segments * 1000,
            mss: 1000,
        };
        let of_24: Vec<u32> = [0, 8, 16, 24].map(|marked| wrapped(0, 24).resolve(marked * 1000)).into();
        assert_eq!(of_24, [0, 8, 16, 24]);
        assert_eq!([1000, 9000].map(|ce| wrapped(1, 9).resolve(ce)), [1, 9]);
    }
}
