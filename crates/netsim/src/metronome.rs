//! The run's own clock: the end of the warm-up, the bins of five seconds, the intervals of time series, and the
//! scenario's changes.

use crate::probe::goodput::BIN;
use goodqueue_units::{Duration, Instant};

/// What happens at a beat of the metronome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// The warm-up is over: measuring begins.
    WarmedUp,
    /// A bin of goodput ends.
    Bin,
    /// An interval of the time series ends.
    Interval,
    /// The scenario's next change takes place.
    Change,
}

/// The times at which the simulator acts for its own measurements and changes, one beat at a time.
pub(crate) struct Metronome {
    warmed_up: Instant,
    bin: Instant,
    interval: Instant,
    every: Duration,
    /// Times of the future changes; the next one is last.
    changes: Vec<Instant>,
}

impl Metronome {
    /// Builds a metronome. It has a beat per interval `every`, if given, and one at each time of `changes`, which are
    /// in order.
    pub(crate) fn new(
        warmup: Duration,
        every: Option<Duration>,
        changes: impl DoubleEndedIterator<Item = Duration>,
    ) -> Self {
        let warmed_up = Instant::ZERO + warmup;
        let every = every.unwrap_or(Duration::MAX);
        Self {
            warmed_up,
            bin: warmed_up + BIN,
            interval: Instant::ZERO + every,
            every,
            changes: changes.rev().map(|at| Instant::ZERO + at).collect(),
        }
    }

    /// Returns when the next beat is due.
    pub(crate) fn next_time(&self) -> Instant {
        let change = self.changes.last().copied().unwrap_or(Instant::MAX);
        self.warmed_up.min(self.bin).min(self.interval).min(change)
    }

    /// Takes the next beat.
    pub(crate) fn strike(&mut self) -> Beat {
        let now = self.next_time();
        // Order at equal times: an interval ends before the end of the warm-up resets the totals that the interval is
        // computed from. Intervals and bins end before a change takes place.
        if self.interval == now {
            self.interval += self.every;
            Beat::Interval
        } else if self.warmed_up == now {
            self.warmed_up = Instant::MAX;
            Beat::WarmedUp
        } else if self.bin == now {
            self.bin += BIN;
            Beat::Bin
        } else {
            self.changes.pop();
            Beat::Change
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_come_in_order_and_intervals_first() {
        let mut metronome = Metronome::new(
            Duration::from_secs(2),
            Some(Duration::from_secs(1)),
            [3, 3, 6].into_iter().map(Duration::from_secs),
        );
        let mut struck = Vec::new();
        while metronome.next_time() <= Instant::from_nanos(7_000_000_000) {
            struck.push((metronome.next_time().as_nanos() / 1_000_000_000, metronome.strike()));
        }
        use Beat::{Bin, Change, Interval, WarmedUp};
        let first = [(1, Interval), (2, Interval), (2, WarmedUp), (3, Interval), (3, Change), (3, Change)];
        assert_eq!(struck[..6], first);
        let then = [(4, Interval), (5, Interval), (6, Interval), (6, Change), (7, Interval), (7, Bin)];
        assert_eq!(struck[6..], then);
    }
}
