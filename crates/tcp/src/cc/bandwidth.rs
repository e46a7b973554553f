//! BBR's bandwidth, the maximum of the last rounds, and BBR's random numbers.

use goodqueue_units::{Duration, Rate};

/// The gain 1.
pub(super) const UNIT: u32 = 1 << 8;
const UNIT_BITS: u32 = 8;
const FRACTION_BITS: u32 = 24;
/// By how much less than the estimate BBR paces, in percent, so that queues drain (draft-ietf-ccwg-bbr-06, 5.6.2).
const MARGIN_PERCENT: u128 = 1;

/// Segments per microsecond, with 24 bits of fraction, as in Linux, so that the rounding is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    pub(super) const ZERO: Self = Self(0);
    /// No bound.
    pub(super) const INFINITE: Self = Self(u64::MAX);

    /// Builds the bandwidth of `segments` in `interval`.
    pub(super) fn of(segments: u64, interval: Duration) -> Self {
        Self((segments << FRACTION_BITS) / micros(interval).max(1))
    }

    /// Returns the whole segments sent in `span`.
    pub(super) fn segments_in(self, span: Duration) -> u64 {
        ((u128::from(self.0) * u128::from(micros(span))) >> FRACTION_BITS) as u64
    }

    /// Returns `gain` times the segments sent in `rtt`, rounded up.
    pub(super) fn bdp(self, rtt: Duration, gain: u32) -> u32 {
        let product = (u128::from(self.0) * u128::from(micros(rtt)) * u128::from(gain)) >> UNIT_BITS;
        (product.div_ceil(1 << FRACTION_BITS)).min(u128::from(u32::MAX >> 2)) as u32
    }

    /// Returns `gain` times this bandwidth.
    pub(super) fn times(self, gain: u32) -> Self {
        Self(((u128::from(self.0) * u128::from(gain)) >> UNIT_BITS) as u64)
    }

    /// Returns the rate of the payload in bits per second, for segments of `mss` bytes.
    pub(super) fn bps(self, mss: u16) -> u64 {
        ((u128::from(self.0) * u128::from(mss) * 8_000_000) >> FRACTION_BITS) as u64
    }

    /// Returns the pacing rate for `gain`.
    pub(super) fn pacing_rate(self, mss: u16, gain: u32) -> Option<Rate> {
        let scaled = (u128::from(self.0) * u128::from(mss) * u128::from(gain)) >> UNIT_BITS;
        let bytes_per_s = (scaled * (1_000_000 / 100) * (100 - MARGIN_PERCENT)) >> FRACTION_BITS;
        Rate::from_bps((8 * bytes_per_s).min(u128::from(u64::MAX)) as u64)
    }
}

fn micros(span: Duration) -> u64 {
    span.as_nanos() / 1000
}

/// The largest bandwidth in a window of time. Time counts in rounds or in cycles.
///
/// This is Kathleen Nichols' estimate in constant space, as in Linux. Besides the largest value it keeps two later ones
/// as successors, from the last three quarters and from the last half of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    /// Time and value of the largest and of its two successors.
    best: [(u32, Bandwidth); 3],
}

impl MaxFilter {
    pub(super) fn get(&self) -> Bandwidth {
        self.best[0].1
    }

    /// Takes `value` at `time`. Values older than `window` no longer count.
    pub(super) fn update(&mut self, window: u32, time: u32, value: Bandwidth) {
        let new = (time, value);
        let age = |sample: (u32, Bandwidth)| time.wrapping_sub(sample.0);
        if value >= self.best[0].1 || age(self.best[2]) > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        if age(self.best[0]) > window {
            for _ in 0..2 {
                if age(self.best[0]) > window {
                    self.best = [self.best[1], self.best[2], new];
                }
            }
        } else if self.best[1].0 == self.best[0].0 && age(self.best[0]) > window / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].0 == self.best[1].0 && age(self.best[0]) > window / 2 {
            self.best[2] = new;
        }
    }
}

/// A source of random numbers that differ between connections and repeat between runs: a multiplicative congruential
/// generator (Park & Miller 1988, with Lehmer's modulus 2³¹ − 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Dice(u32);

impl Dice {
    pub(super) fn new(seed: u32) -> Self {
        // The states 0 and the modulus would never change.
        let mut dice = Self(seed % 0x7fff_fffe + 1);
        dice.below(1); // similar seeds give similar first draws
        dice
    }

    /// Returns a number from 0 to `end` − 1.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.0 = (u64::from(self.0) * 48_271 % 0x7fff_ffff) as u32;
        (u64::from(self.0 - 1) * u64::from(end) / 0x7fff_fffe) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Mbit/s in frames of 1514 bytes are 825.6 segments per second. 50 ms hold 41.28, rounded up 42; twice that is
    /// 82.56, rounded up 83. 1448 of 1514 bytes are payload: 9.564 Mbit/s. The pacing rate is 99 % of that.
    #[test]
    fn a_bandwidth_gives_a_bdp_and_a_pacing_rate() {
        let bw = Bandwidth::of(8256, Duration::from_secs(10));
        let rtt = Duration::from_millis(50);
        assert_eq!((bw.bdp(rtt, UNIT), bw.bdp(rtt, 2 * UNIT), bw.segments_in(rtt)), (42, 83, 41));
        let mbps = |bps: u64| (bps as f64 / 1e4).round() / 100.0;
        assert_eq!(mbps(bw.bps(1448)), 9.56);
        assert_eq!(mbps(bw.pacing_rate(1448, UNIT).unwrap().as_bps()), 9.47);
        assert_eq!(mbps(bw.pacing_rate(1448, 2 * UNIT).unwrap().as_bps()), 18.94);
        assert_eq!(Bandwidth::ZERO.pacing_rate(1448, UNIT), None);
    }

    /// Guards against a maximum that is forgotten within its window, or kept beyond it.
    #[test]
    fn the_filter_forgets_after_its_window_and_falls_back_on_later_ones() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, Bandwidth(100));
        for time in 1..=10 {
            filter.update(10, time, Bandwidth(50 + u64::from(time == 5) * 20));
            assert_eq!(filter.get(), Bandwidth(100), "{time}");
        }
        filter.update(10, 11, Bandwidth(50));
        assert_eq!(filter.get(), Bandwidth(70));
        filter.update(10, 12, Bandwidth(80));
        assert_eq!(filter.get(), Bandwidth(80));
        filter.update(10, 40, Bandwidth(1)); // after a long silence only the newest value is left
        assert_eq!(filter.get(), Bandwidth(1));
    }

    #[test]
    fn dice_show_every_side_about_as_often() {
        let mut dice = Dice::new(0);
        let mut sides = [0; 7];
        for _ in 0..7000 {
            sides[dice.below(7) as usize] += 1;
        }
        assert!(sides.iter().all(|&n| (900..1100).contains(&n)), "{sides:?}");
        assert_ne!(Dice::new(1).below(1000), Dice::new(2).below(1000));
    }

    /// 48271 · 1 899 818 559 = 1 and 48271 · 247 665 088 = −1 mod 2³¹ − 1: the least and the greatest draw. Guards
    /// against a draw of `end` itself, a phase that no cycle has.
    #[test]
    fn the_greatest_draw_is_below_the_end() {
        assert_eq!([1_899_818_559, 247_665_088].map(|state| Dice(state).below(7)), [0, 6]);
        assert_eq!(Dice(247_665_088).below(0x7fff_fffe), 0x7fff_fffd);
    }

    /// A sample exactly as old as the window when the maximum goes counts once more.
    #[test]
    fn a_sample_as_old_as_the_window_still_counts() {
        let mut filter = MaxFilter::default();
        for (time, bw) in [(0, 100), (3, 90), (7, 70), (13, 10)] {
            filter.update(10, time, Bandwidth(bw));
        }
        assert_eq!(filter.get(), Bandwidth(90));
    }

    /// Gains are still applied to the BDP. Guards against a window that wraps.
    #[test]
    fn no_bdp_is_more_than_a_quarter_of_the_numbers() {
        assert_eq!(Bandwidth(u64::MAX).bdp(Duration::from_secs(10), UNIT), 0x3fff_ffff);
    }

    /// Guards against a maximum that is forgotten as soon as it is as old as the window, and not after it.
    #[test]
    fn a_maximum_as_old_as_the_window_is_kept() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, Bandwidth(100));
        filter.update(10, 10, Bandwidth(50));
        assert_eq!(filter.get(), Bandwidth(100));
        filter.update(10, 11, Bandwidth(30));
        assert_eq!(filter.get(), Bandwidth(50));
    }

    /// Two later values are kept: 90 at 3, and from the second half 70 at 6, then the larger 80 at 7. Guards against
    /// 70, or no value of the second half, once 100 and 90 are too old.
    #[test]
    fn the_largest_of_the_last_half_is_what_is_left() {
        let mut filter = MaxFilter::default();
        let gets = [(0, 100), (3, 90), (6, 70), (7, 80), (11, 10), (14, 5)].map(|(time, bw)| {
            filter.update(10, time, Bandwidth(bw));
            filter.get().0
        });
        assert_eq!(gets, [100, 100, 100, 100, 90, 80]);
        let mut filter = MaxFilter::default();
        [(0, 100), (3, 90), (6, 70), (11, 10)]
            .iter()
            .for_each(|&(time, bw)| filter.update(10, time, Bandwidth(bw)));
        filter.update(10, 14, Bandwidth(5));
        assert_eq!(filter.get(), Bandwidth(70));
    }

    /// The first quarter of a window of 10 ends with 2, and a value at that time is not kept. Guards against 50 instead
    /// of the 40 that came after it.
    #[test]
    fn the_first_quarter_has_no_successor() {
        let mut filter = MaxFilter::default();
        [(0, 100), (2, 50), (3, 40), (11, 10)]
            .iter()
            .for_each(|&(time, bw)| filter.update(10, time, Bandwidth(bw)));
        assert_eq!(filter.get(), Bandwidth(40));
    }

    /// A quarter of a window of 12 is 3, and a half is 6. Linux's `minmax_subwin_update` takes the first value behind
    /// each: 30 at 4, and 10 at 7. Guards against a value from before that, or a later one that is smaller.
    #[test]
    fn the_first_values_behind_a_quarter_and_a_half_are_kept() {
        let values = [(0, 100), (1, 50), (3, 40), (4, 30), (6, 20), (7, 10), (8, 5), (13, 1), (17, 1)];
        let mut filter = MaxFilter::default();
        let gets = values.map(|(time, bw)| {
            filter.update(12, time, Bandwidth(bw));
            filter.get().0
        });
        assert_eq!(gets, [100, 100, 100, 100, 100, 100, 100, 30, 10]);
    }
}
