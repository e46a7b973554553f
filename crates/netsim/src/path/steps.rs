//! A rate that changes at given times.

use super::capacity::{Capacity, Nanobits, Refusal, instant, rate};
use goodqueue_units::{Duration, Instant, Rate};
use std::sync::Arc;

/// A rate over time as a step function. Rates of 0 are outages: a transmission waits until they end.
///
/// The last rate holds for ever, because nothing says how long it should last. A list that repeats says so, with the
/// time at which it starts again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Steps {
    /// Not empty. The first step is at 0.
    steps: Arc<[Step]>,
    repeat: Option<Repeat>,
}

/// A rate that holds from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    nanos: u64,
    bps: u64,
    /// What could have been sent before this step.
    before: Nanobits,
}

/// The end of a list that repeats: the time, and what could have been sent by then, which is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeat {
    nanos: u64,
    amount: Nanobits,
}

/// The fastest rate of a link: 10 Tbit/s. With it, sums stay far below what a [`Nanobits`] holds.
pub(crate) const MOST_BPS: u64 = 10_000_000_000_000;

impl Steps {
    /// Builds the steps from times and rates in bit/s. Each rate holds from its time on, and the first time is 0. If
    /// `repeat` is given, the list starts again at that time.
    ///
    /// # Errors
    /// If there is no rate or one above [`MOST_BPS`], if the times do not rise from 0 on, or if nothing would be sent
    /// from some time on. In a [`Refusal`], `repeat` is the entry after the last rate.
    pub(crate) fn new(rates: &[(Duration, u64)], repeat: Option<Duration>) -> Result<Self, Refusal> {
        let mut steps: Vec<Step> = Vec::with_capacity(rates.len());
        for (entry, &(time, bps)) in rates.iter().enumerate() {
            if bps > MOST_BPS {
                return Err(Refusal { entry, why: format!("found {bps}bit; accepted: rates up to 10tbit") });
            }
            steps.push(Step { nanos: time.as_nanos(), bps, before: sent_by(&steps, time)? });
        }
        let refuse = |entry, why: &str| Err(Refusal { entry, why: why.to_owned() });
        let Some(last) = steps.last() else { return refuse(0, "found no rate; accepted: at least one") };
        let repeat = match repeat {
            Some(time) => Some(Repeat { nanos: time.as_nanos(), amount: sent_by(&steps, time)? }),
            None if last.bps == 0 => {
                return refuse(
                    steps.len() - 1,
                    "found a last rate of 0, which holds for ever; accepted: a last rate above 0, or \"repeat\" in place of one \
                     more",
                );
            }
            None => None,
        };
        if repeat.is_some_and(|repeat| repeat.amount == 0) {
            return refuse(steps.len(), "found rates of 0 only; accepted: at least one above 0");
        }
        Ok(Self { steps: steps.into(), repeat })
    }

    /// Returns the times and the rates in bit/s, as given to [`new`](Self::new).
    pub(crate) fn rates(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.steps.iter().map(|step| (Duration::from_nanos(step.nanos), step.bps))
    }

    /// Returns when the list starts again, if it repeats.
    pub(crate) fn repeat(&self) -> Option<Duration> {
        self.repeat.map(|repeat| Duration::from_nanos(repeat.nanos))
    }

    /// Returns the last step for which `is_before` holds. `is_before` must hold for a number of steps from the first
    /// on, and for no step after them.
    fn last(&self, is_before: impl Fn(&Step) -> bool) -> Step {
        self.steps[self.steps.partition_point(is_before).saturating_sub(1)]
    }

    /// Returns how many whole lists lie in `value`, and the rest of `value`. One list has `each`.
    fn cycle(&self, value: u128, each: impl Fn(Repeat) -> u128) -> (u128, u128) {
        let Some(repeat) = self.repeat else { return (0, value) };
        (value / each(repeat), value % each(repeat))
    }

    /// Returns the time `nanos` ns after `cycle` whole lists.
    fn time(&self, cycle: u128, nanos: u128) -> Instant {
        let before = self.repeat.map_or(0, |repeat| cycle.saturating_mul(u128::from(repeat.nanos)));
        instant(before.saturating_add(nanos))
    }
}

/// Returns what is sent by `time`, which must be after all of `steps`.
fn sent_by(steps: &[Step], time: Duration) -> Result<Nanobits, Refusal> {
    let refuse = |why| Err(Refusal { entry: steps.len(), why });
    match steps.last() {
        None if time == Duration::ZERO => Ok(0),
        None => refuse(format!("found a first time of {time}; accepted: 0s")),
        Some(last) if time.as_nanos() > last.nanos => {
            Ok(last.before + Nanobits::from(last.bps) * Nanobits::from(time.as_nanos() - last.nanos))
        }
        Some(last) => refuse(format!(
            "found {time} after {}; accepted: times that rise",
            Duration::from_nanos(last.nanos)
        )),
    }
}

impl Capacity for Steps {
    fn by(&self, time: Instant) -> Nanobits {
        let (cycle, rest) = self.cycle(u128::from(time.as_nanos()), |repeat| u128::from(repeat.nanos));
        let step = self.last(|step| u128::from(step.nanos) <= rest);
        let whole = self.repeat.map_or(0, |repeat| cycle * repeat.amount);
        whole + step.before + u128::from(step.bps) * (rest - u128::from(step.nanos))
    }

    fn begins(&self, amount: Nanobits) -> Instant {
        let (cycle, rest) = self.cycle(amount, |repeat| repeat.amount);
        // Several steps can have the same amount before them. All of these except the last have a rate of 0, so that
        // nothing begins to leave in them.
        let step = self.last(|step| step.before <= rest);
        let Some(nanos) = (rest - step.before).checked_div(u128::from(step.bps)) else { return Instant::MAX };
        self.time(cycle, u128::from(step.nanos) + nanos)
    }

    fn ends(&self, amount: Nanobits) -> Instant {
        let (cycle, rest) = self.cycle(amount - 1, |repeat| repeat.amount);
        let step = self.last(|step| step.before <= rest);
        let Some(nanos) = (rest - step.before).checked_div(u128::from(step.bps)) else { return Instant::MAX };
        // + 1: the end of the nanosecond in which the last nanobit leaves.
        self.time(cycle, u128::from(step.nanos) + nanos + 1)
    }

    /// Returns the mean rate of the list if it repeats. Otherwise the last rate has no known length, so the mean
    /// before the last rate is returned. If nothing is sent before the last rate, the last rate itself is returned.
    fn mean_rate(&self) -> Rate {
        let last = self.last(|_| true);
        match self.repeat {
            Some(repeat) => rate(repeat.amount, u128::from(repeat.nanos)),
            None if last.before == 0 => rate(Nanobits::from(last.bps), 1),
            None => rate(last.before, u128::from(last.nanos)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::capacity::Served;
    use super::super::capacity::tests::check;
    use super::*;
    use proptest::prelude::*;

    const ZERO: Duration = Duration::ZERO;
    const S: Duration = Duration::from_secs(1);
    const MEGA: u64 = 1_000_000;

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    /// The series of rates of Nichols (100, 10, 1, 50, 1, 100 Mbit/s), 50 s each.
    #[test]
    fn a_series_of_rates_holds_its_last() {
        let series: Vec<_> = [100, 10, 1, 50, 1, 100]
            .iter()
            .zip(0..)
            .map(|(rate, index)| (S * 50 * index, rate * MEGA))
            .collect();
        let steps = Steps::new(&series, None).unwrap();
        assert_eq!(steps.mean_rate().as_bps(), 32_400_000);
        let mut served = Served::new(steps);
        let takes = |served: &mut Served<Steps>, seconds| served.occupy(at(seconds), 1250).as_nanos();
        assert_eq!(takes(&mut served, 0.0), 100_000);
        assert_eq!(takes(&mut served, 60.0), 1_000_000);
        assert_eq!(takes(&mut served, 120.0), 10_000_000);
        assert_eq!(takes(&mut served, 1e6), 100_000);
        assert_eq!(served.bits(at(40.0), at(60.0)), 10.0 * 100e6 + 10.0 * 10e6);
    }

    #[test]
    fn a_transmission_goes_on_across_steps_and_waits_out_a_rate_of_0() {
        let rates = [(ZERO, 8000), (S, 0), (S * 2, 16_000), (S * 3, 0)];
        let mut served = Served::new(Steps::new(&rates, Some(S * 4)).unwrap());
        // Of 3000 bytes, 1000 are sent before the outage and 2000 after it. One byte more waits for the end of the
        // second outage.
        assert_eq!(served.occupy(at(0.0), 3000), S * 3);
        assert_eq!(served.occupy(at(3.0), 1), S + Duration::from_millis(1));
        assert_eq!(served.start(at(5.5)), at(6.0));
        assert_eq!(served.occupy(at(6.0), 2), Duration::from_millis(1));
        assert_eq!(served.bits(at(0.0), at(40.0)), 240_000.0);
        assert_eq!(served.mean_rate().as_bps(), 6000);
    }

    #[test]
    fn lists_that_say_nothing_or_never_send_again_are_refused() {
        type Case<'a> = (&'a [(Duration, u64)], Option<Duration>, &'a str);
        let table: [Case; 7] = [
            (&[], None, "found no rate"),
            (&[(S, 1)], None, "found a first time of 1s; accepted: 0s"),
            (&[(ZERO, 1), (ZERO, 2)], None, "found 0s after 0s; accepted: times that rise"),
            (&[(ZERO, 1), (S, 0)], None, "holds for ever"),
            (&[(ZERO, 0), (S, 0)], Some(S * 2), "found rates of 0 only"),
            (&[(ZERO, 1), (S, 2)], Some(S), "found 1s after 1s"),
            (&[(ZERO, 10_000_000_000_001)], None, "up to 10tbit"),
        ];
        for (rates, repeat, found) in table {
            let error = Steps::new(rates, repeat).unwrap_err().why;
            assert!(error.contains(found), "{error}");
        }
    }

    proptest! {
        #[test]
        fn capacity_and_times_agree(
            rates in prop::collection::vec((1..50_000_u64, prop_oneof![Just(0), 1..100_000_000_u64]), 1..8),
            repeats in any::<bool>(),
            time in 0..1_000_000_000_u64,
        ) {
            let mut from = 0;
            let mut list = Vec::new();
            for (span, bps) in rates {
                list.push((Duration::from_micros(from), bps));
                from += span;
            }
            list.push((Duration::from_micros(from), 77_777));
            let steps = Steps::new(&list, repeats.then_some(Duration::from_micros(from + 300)));
            check(&steps.unwrap(), time)?;
        }
    }
}
