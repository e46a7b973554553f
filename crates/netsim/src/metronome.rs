//! The run's own clock: the end of the warm-up, five-second bins, the intervals of time series.

use crate::probe::goodput::BIN;
use goodqueue_units::{Duration, Instant};

/// What the metronome struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// The warm-up is over: measuring begins.
    WarmedUp,
    /// A bin of goodput ends.
    Bin,
    /// An interval of the time series ends.
    Interval,
}

/// Tells when the next beat is due, and which.
pub(crate) struct Metronome {
    warmed_up: Instant,
    bin: Instant,
    interval: Instant,
    every: Duration,
}

impl Metronome {
    /// A metronome that strikes intervals only if `every` says so.
    pub(crate) fn new(warmup: Duration, every: Option<Duration>) -> Self {
        let warmed_up = Instant::ZERO + warmup;
        let every = every.unwrap_or(Duration::MAX);
        Self { warmed_up, bin: warmed_up + BIN, interval: Instant::ZERO + every, every }
    }

    /// When the next beat is due.
    pub(crate) fn next_time(&self) -> Instant {
        self.warmed_up.min(self.bin).min(self.interval)
    }

    /// Strikes.
    pub(crate) fn strike(&mut self) -> Beat {
        // At one time, an interval ends before the warm-up's end resets the totals that it is computed from.
        if self.interval == self.next_time() {
            self.interval += self.every;
            Beat::Interval
        } else if self.warmed_up < self.bin {
            self.warmed_up = Instant::MAX;
            Beat::WarmedUp
        } else {
            self.bin += BIN;
            Beat::Bin
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_come_in_order_and_intervals_first() {
        let mut metronome = Metronome::new(Duration::from_secs(2), Some(Duration::from_secs(1)));
        let mut struck = Vec::new();
        while metronome.next_time() <= Instant::from_nanos(7_000_000_000) {
            struck.push((metronome.next_time().as_nanos() / 1_000_000_000, metronome.strike()));
        }
        use Beat::{Bin, Interval, WarmedUp};
        let want = [(1, Interval), (2, Interval), (2, WarmedUp), (3, Interval), (4, Interval), (5, Interval)];
        assert_eq!(struck[..6], want);
        assert_eq!(struck[6..], [(6, Interval), (7, Interval), (7, Bin)]);
    }
}
