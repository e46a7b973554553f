//! Groups of modes by streams, guard interval and width, with the statistics of each mode.

use crate::wifi::mode::{Ht, Mode};

/// The probability 1.
pub(super) const ONE: u32 = 1 << 12;
/// The weights of the filter that smooths a probability, times [`ONE`]: of the new value, the last value and the
/// value before that. The filter is a second-order Butterworth low-pass with a period of 16 intervals.
const FILTER: [i32; 3] = [ONE as i32 - 0x1499 + 0x92e, 0x1499, -0x92e];
/// The aggregate whose duration is taken for all aggregates.
const AGGREGATE_FRAMES: u64 = 16;
const FRAME_BYTES: u64 = 1200;

/// A mode: its group, and its place in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RateId {
    pub(super) group: usize,
    pub(super) place: usize,
}

/// The statistics of a mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Frames that were tried, and frames that arrived, since the last update.
    pub(super) tried: u32,
    pub(super) arrived: u32,
    /// The filtered success probability, times [`ONE`]; zero until something is known.
    pub(super) probability: u32,
    /// The filtered probability one update earlier.
    previous: u32,
    /// Whether the mode was ever tried.
    was_tried: bool,
}

/// Eight modes that share streams, guard interval and width.
#[derive(Clone, Debug)]
pub(super) struct Group {
    slowest: Ht,
    pub(super) streams: u8,
    /// The time on the air of a frame of `FRAME_BYTES` as part of an aggregate, by mode.
    pub(super) durations_ns: [u32; 8],
    pub(super) rates: [Rate; 8],
    /// The modes with the best throughput, and the surest mode.
    pub(super) best: [RateId; 4],
    pub(super) surest: RateId,
    /// The position of the next mode to try in the sample order.
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
    /// Returns the groups of a receiver in Linux's order: by width, guard interval and streams.
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
        // Linux keeps 16 bits of each duration. The longest duration sets how many bits are lost.
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

    /// Returns the statistics of `mode`, if it belongs to this group.
    pub(super) fn rate_of(&mut self, mode: Mode) -> Option<&mut Rate> {
        let Mode::Ht(ht) = mode else { return None };
        let slowest = Ht { mcs: ht.mcs / 8 * 8, ..ht };
        (slowest == self.slowest).then(|| &mut self.rates[usize::from(ht.mcs % 8)])
    }

    /// Updates the probability of the mode at `place`. `faster` is the highest probability of the faster modes that
    /// were tried. A mode that was never tried gets at least this probability. Returns the highest probability of the
    /// modes that were tried, this mode included.
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

/// Returns the time on the air of a frame as part of an aggregate, without what comes before the data.
fn duration_ns(ht: Ht) -> u32 {
    let symbols = (8 * FRAME_BYTES * AGGREGATE_FRAMES).div_ceil(ht.symbol_bits());
    // Linux rounds short symbols up to a whole symbol.
    let rounding = if ht.has_short_guard { 800 } else { 0 };
    ((ht.symbol().as_nanos() * symbols + rounding) / AGGREGATE_FRAMES) as u32
}
