//! Modes by streams, guard interval and width, and what is known of each.

use crate::path::wifi::mode::{Ht, Mode};

/// One, as a probability.
pub(super) const ONE: u32 = 1 << 12;
/// Weights of a probability's filter against noise, times [`ONE`]: of the new value, of the last one and of the one
/// before that. A Butterworth low-pass of the second order with a period of 16 intervals.
const FILTER: [i32; 3] = [ONE as i32 - 0x1499 + 0x92e, 0x1499, -0x92e];
/// The aggregate whose duration stands for all.
const AGGREGATE_FRAMES: u64 = 16;
const FRAME_BYTES: u64 = 1200;

/// A mode's group, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RateId {
    pub(super) group: usize,
    pub(super) place: usize,
}

/// What is known of a mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Frames that were tried and that arrived since the last reckoning.
    pub(super) tried: u32,
    pub(super) arrived: u32,
    /// Of [`ONE`], filtered; zero until something is known.
    pub(super) probability: u32,
    /// The probability before that.
    previous: u32,
    /// Whether it was ever tried.
    was_tried: bool,
}

/// Eight modes that share streams, guard interval and width.
#[derive(Clone, Debug)]
pub(super) struct Group {
    slowest: Ht,
    pub(super) streams: u8,
    /// How long a frame of usual size is on the air as part of an aggregate.
    pub(super) durations_ns: [u32; 8],
    pub(super) rates: [Rate; 8],
    /// The modes of the best throughput, and the surest.
    pub(super) best: [RateId; 4],
    pub(super) surest: RateId,
    /// Where the next one to try stands in the order of samples.
    pub(super) column: usize,
    pub(super) row: usize,
}

pub(super) const fn percent(percent: u32) -> u32 {
    ONE * percent / 100
}

impl Rate {
    fn reckon(&mut self) {
        if self.tried == 0 {
            return;
        }
        let new = (self.arrived * ONE / self.tried).max(1);
        let old = self.probability;
        self.probability = if old == 0 { new } else { self.filtered(new) };
        self.previous = if old == 0 { new } else { old };
        (self.tried, self.arrived, self.was_tried) = (0, 0, true);
    }

    fn filtered(&self, new: u32) -> u32 {
        let values = [new, self.probability, self.previous];
        let sum: i32 = FILTER.iter().zip(values).map(|(weight, value)| weight * value as i32).sum();
        let mean = sum >> 12;
        if mean < 0 { 1 } else { (mean as u32).min(ONE) }
    }
}

impl Group {
    /// Those of a receiver, in Linux's order: by width, guard interval and streams.
    pub(super) fn all(streams: u8, is_wide: bool, has_short_guard: bool) -> Vec<Self> {
        let widths = [false, true].into_iter().filter(|wide| is_wide || !wide);
        let kinds = widths.flat_map(|wide| [(wide, false), (wide, true)]);
        let kinds = kinds.filter(|(_, short)| has_short_guard || !short);
        let all = kinds.flat_map(|(wide, short)| (1..=streams).map(move |streams| (wide, short, streams)));
        let new = |(number, (is_wide, has_short_guard, streams))| {
            Self::new(number, streams, Ht { mcs: 8 * (streams - 1), is_wide, has_short_guard })
        };
        all.enumerate().map(new).collect()
    }

    fn new(number: usize, streams: u8, slowest: Ht) -> Self {
        let first = RateId { group: number, place: 0 };
        let durations = std::array::from_fn::<_, 8, _>(|place| duration_ns(at(slowest, place)));
        // Linux keeps sixteen bits of them, by the longest.
        let lost_bits = 16_u32.saturating_sub(durations[0].leading_zeros());
        Self {
            slowest,
            streams,
            durations_ns: durations.map(|duration| duration >> lost_bits << lost_bits),
            rates: [Rate::default(); 8],
            best: [first; 4],
            surest: first,
            column: 0,
            row: 0,
        }
    }

    pub(super) fn mode(&self, place: usize) -> Mode {
        Mode::Ht(at(self.slowest, place))
    }

    /// What is known of `mode`, if it is one of this group.
    pub(super) fn rate_of(&mut self, mode: Mode) -> Option<&mut Rate> {
        let Mode::Ht(ht) = mode else { return None };
        let slowest = Ht { mcs: ht.mcs / 8 * 8, ..ht };
        (slowest == self.slowest).then(|| &mut self.rates[usize::from(ht.mcs % 8)])
    }

    /// Reckons the probability of the mode at `place`. `faster`: the greatest of the faster ones that were tried; a
    /// mode that never was is as sure as that, at least. Returns the greatest, this one among them.
    pub(super) fn reckon(&mut self, place: usize, faster: u32) -> u32 {
        let rate = &mut self.rates[place];
        rate.reckon();
        if rate.was_tried {
            return faster.max(rate.probability);
        }
        rate.probability = rate.probability.max(faster);
        faster
    }
}

fn at(slowest: Ht, place: usize) -> Ht {
    Ht { mcs: slowest.mcs + place as u8, ..slowest }
}

/// How long a frame is on the air as part of an aggregate, without what is before the data.
fn duration_ns(ht: Ht) -> u32 {
    let symbols = (8 * FRAME_BYTES * AGGREGATE_FRAMES).div_ceil(ht.symbol_bits());
    // Linux rounds short symbols up to a whole one.
    let rounding = if ht.has_short_guard { 800 } else { 0 };
    ((ht.symbol().as_nanos() * symbols + rounding) / AGGREGATE_FRAMES) as u32
}
