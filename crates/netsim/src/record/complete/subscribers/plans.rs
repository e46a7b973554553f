//! The numbers of all subscribers with one plan.

use super::{PlanRecord, PlanSide, Spread, SubscriberRecord, SubscriberSide};
use goodqueue_hosts::probe::{jain, rounded};

/// Returns the plans of `subscribers`, in the order of their first subscribers.
pub(super) fn plans(subscribers: &[SubscriberRecord]) -> Vec<PlanRecord> {
    let mut names: Vec<&str> = Vec::new();
    let mut of: std::collections::BTreeMap<&str, Vec<&SubscriberRecord>> = std::collections::BTreeMap::new();
    for one in subscribers {
        let list = of.entry(&one.plan).or_default();
        if list.is_empty() {
            names.push(&one.plan);
        }
        list.push(one);
    }
    names
        .iter()
        .map(|name| PlanRecord {
            name: (*name).to_string(),
            subscribers: of[name].len() as u64,
            down: PlanSide::of(of[name].iter().map(|one| &one.down)),
            up: PlanSide::of(of[name].iter().map(|one| &one.up)),
        })
        .collect()
}

impl PlanSide {
    fn of<'a>(all: impl Iterator<Item = &'a SubscriberSide>) -> Self {
        let active: Vec<_> = all.filter_map(|side| Some((side, side.delay_ms?))).collect();
        let values =
            |of: fn(&SubscriberSide) -> f64| active.iter().map(|(side, _)| of(side)).collect::<Vec<_>>();
        let mean = |of: fn(&SubscriberSide) -> f64| {
            let values = values(of);
            (!values.is_empty()).then(|| rounded(values.iter().sum::<f64>() / values.len() as f64))
        };
        let throughputs = values(|side| side.throughput_mbps);
        Self {
            active: active.len() as u64,
            throughput_mbps: rounded(throughputs.iter().sum()),
            delay_p95_ms: Spread::of(active.iter().map(|(_, delay)| delay.p95).collect(), true),
            peak_percent: Spread::of(values(|side| rounded(100.0 * side.peak_mbps / side.sold_mbps)), false),
            limiting_percent: mean(|side| side.limiting_percent),
            drop_percent: mean(|side| side.drop_percent),
            jain_throughput: jain(&throughputs),
        }
    }
}

impl Spread {
    /// Returns the spread of `values`, or `None` of none. The numbers are values of subscribers: nearest ranks.
    fn of(mut values: Vec<f64>, is_high_worse: bool) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        if !is_high_worse {
            values.reverse();
        }
        let last = values.len().checked_sub(1)?;
        let at = |percent: usize| values[(values.len() * percent).div_ceil(100).saturating_sub(1)];
        Some(Self { median: at(50), worst_tenth: at(90), worst: values[last] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten delays the ninth is what the worst tenth have or exceed; of ten rates it is the second lowest.
    #[test]
    fn the_worst_are_on_the_other_side_of_a_rate() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let delays = Spread::of(values.clone(), true).unwrap();
        assert_eq!((delays.median, delays.worst_tenth, delays.worst), (5.0, 9.0, 10.0));
        let rates = Spread::of(values, false).unwrap();
        assert_eq!((rates.median, rates.worst_tenth, rates.worst), (6.0, 2.0, 1.0));
        assert!(Spread::of(Vec::new(), true).is_none());
    }
}
