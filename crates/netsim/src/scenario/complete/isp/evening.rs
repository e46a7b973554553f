//! `[evening]`: the hours of a day that a run stands for, and the share of subscribers that are active in each.
//!
//! Each subscriber has a rank. A subscriber is active while the share is above its rank, so exactly that share is
//! active at any time, and most subscribers have one time of activity.

use goodqueue_hosts::keys::{AnyKey, Json, Key, Quantity, Result, Table, describe, refuse};
use goodqueue_units::{Duration, Streams};
use serde_json::json;

/// Midnight to midnight. The shape is that of traffic in networks of homes, which grows from five in the morning to a
/// peak at nine in the evening and falls to a tenth of it. (The FCC's Measuring Broadband America counts 19 to 23
/// o'clock as the peak.) The numbers are ours: who knows their own network's writes them as `share`.
const DAY: &str = "[[0, 0.35], [1, 0.22], [2, 0.14], [3, 0.10], [4, 0.08], [5, 0.09], [6, 0.13], [7, 0.20], \
                   [8, 0.24], [9, 0.26], [10, 0.27], [11, 0.28], [12, 0.30], [13, 0.30], [14, 0.31], [15, 0.33], \
                   [16, 0.38], [17, 0.45], [18, 0.54], [19, 0.63], [20, 0.71], [21, 0.75], [22, 0.66], [23, 0.50], \
                   [24, 0.35]]";

const FROM: Key<f64> =
    Key::with_default("from", "18.0").range(0.0, 24.0).help("the hour at which the run begins");
const TO: Key<f64> = Key::with_default("to", "24.0").range(0.0, 24.0).help("the hour at which the run ends");
const SHARE: Key<Curve> = Key::with_default("share", DAY)
    .help("hours, and the share of the subscribers that are active then; linear between them")
    .source("shape of FCC, Measuring Broadband America; numbers ours");
pub(crate) const KEYS: &[&dyn AnyKey] = &[&FROM, &TO, &SHARE];

/// When subscribers are active.
pub(super) struct Evening {
    /// The first and the last hour, and the shares.
    hours: Option<(f64, f64, Curve)>,
    ranks: Vec<f64>,
    whole: Duration,
}

/// Reads `[evening]`, or `evening = true`, for this number of `subscribers`.
pub(super) fn read(
    scenario: &Table<'_>,
    whole: Duration,
    streams: Streams,
    subscribers: usize,
) -> Result<Evening> {
    let given = scenario.content().get("evening");
    let all = json!({});
    let table = match given {
        None | Some(Json::Null | Json::Bool(false)) => {
            return Ok(Evening { hours: None, ranks: Vec::new(), whole });
        }
        Some(Json::Bool(true)) => Table::new("evening", &all)?,
        Some(other) => Table::new("evening", other)?,
    };
    table.refuse_others(KEYS, &[])?;
    let (from, to) = (table.take(&FROM)?, table.take(&TO)?);
    if from >= to {
        return refuse(&table.key("to"), to, &format!("more than from, {from}"));
    }
    let curve = table.take(&SHARE)?;
    // The ranks are a random order of the subscribers.
    let mut order: Vec<usize> = (0..subscribers).collect();
    let mut random = streams.stream("evening", 0);
    for last in (1..order.len()).rev() {
        order.swap(last, (random.next_f64() * (last + 1) as f64) as usize);
    }
    let ranks = order.into_iter().map(|place| (place as f64 + 0.5) / subscribers as f64).collect();
    Ok(Evening { hours: Some((from, to, curve)), ranks, whole })
}

impl Evening {
    /// Returns its table, with every default.
    pub(super) fn write(&self) -> Option<Json> {
        let (from, to, curve) = self.hours.as_ref()?;
        Some(json!({"from": from, "to": to, "share": curve.write()}))
    }

    /// Returns the times at which the subscriber `at` is active: the whole run without an evening.
    pub(super) fn times(&self, at: usize) -> Vec<(Duration, Duration)> {
        let Some((from, to, Curve(curve))) = &self.hours else { return vec![(Duration::ZERO, self.whole)] };
        let (rank, mut times) = (self.ranks[at], Vec::new());
        let share = |hour: f64| share(curve, hour);
        let mut hours: Vec<f64> =
            curve.iter().map(|(hour, _)| *hour).filter(|hour| hour > from && hour < to).collect();
        hours.insert(0, *from);
        hours.push(*to);
        let mut since = (share(*from) > rank).then_some(*from);
        for pair in hours.windows(2) {
            let (low, high) = (share(pair[0]), share(pair[1]));
            if (low > rank) == (high > rank) {
                continue;
            }
            let crossing = pair[0] + (pair[1] - pair[0]) * (rank - low) / (high - low);
            match since.take() {
                Some(begun) => times.push((begun, crossing)),
                None => since = Some(crossing),
            }
        }
        times.extend(since.map(|begun| (begun, *to)));
        let at = |hour: f64| Duration::from_secs_f64((hour - from) / (to - from) * self.whole.as_secs_f64());
        let times = times.into_iter().map(|(begun, ended)| (at(begun), at(ended).min(self.whole)));
        times.filter(|(begun, ended)| ended.saturating_sub(*begun) > Duration::from_millis(10)).collect()
    }
}

/// Returns the share at `hour`, linear between the points of `curve`.
fn share(curve: &[(f64, f64)], hour: f64) -> f64 {
    let after = curve.partition_point(|(at, _)| *at < hour);
    match (after.checked_sub(1).map(|before| curve[before]), curve.get(after)) {
        (Some((from, low)), Some((to, high))) => low + (high - low) * (hour - from) / (to - from),
        (Some((_, last)), None) => last,
        (None, Some((_, first))) => *first,
        (None, None) => 1.0,
    }
}

/// Hours with shares, in the order of the hours.
#[derive(Clone, Debug)]
struct Curve(Vec<(f64, f64)>);

impl Quantity for Curve {
    const TYPE: &'static str = "hours and shares";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted =
            "hours that ascend from 0 to 24, each with a share from 0 to 1, such as [[18, 0.5], [21, 0.8]]";
        let refused = || format!("found {}; accepted: {accepted}", describe(found));
        let list = found.as_array().filter(|list| !list.is_empty()).ok_or_else(refused)?;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for one in list {
            let pair = one.as_array().filter(|pair| pair.len() == 2);
            let pair = pair.and_then(|pair| Some((pair[0].as_f64()?, pair[1].as_f64()?)));
            let (hour, share) = pair.ok_or_else(|| format!("found {one}; accepted: {accepted}"))?;
            let ascends = points.last().is_none_or(|(before, _)| *before < hour);
            if !ascends || !(0.0..=24.0).contains(&hour) || !(0.0..=1.0).contains(&share) {
                return Err(format!("found {one}; accepted: {accepted}"));
            }
            points.push((hour, share));
        }
        Ok(Self(points))
    }
    fn write(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        let pair = json!({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}});
        json!({"type": "array", "minItems": 1, "items": pair})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evening(share: &str, subscribers: usize) -> Evening {
        let table =
            json!({"evening": {"from": 18, "to": 24, "share": serde_json::from_str::<Json>(share).unwrap()}});
        let table = Table::new("", &table).unwrap();
        read(&table, Duration::from_secs(60), Streams::new(1), subscribers).unwrap()
    }

    /// At each time exactly the share of the curve is active: half of ten subscribers at 18 h, all at 21 h, none at
    /// 24 h. Hours become seconds: 6 h are the 60 s of the run.
    #[test]
    fn the_share_of_the_curve_is_active() {
        let evening = evening("[[18, 0.5], [21, 1.0], [24, 0.0]]", 10);
        let times: Vec<_> = (0..10).flat_map(|at| evening.times(at)).collect();
        let active = |second: u64| {
            let at = Duration::from_secs(second);
            times.iter().filter(|(begun, ended)| *begun <= at && at < *ended).count()
        };
        assert_eq!((active(0), active(15), active(30), active(45), active(59)), (5, 8, 10, 5, 0));
    }

    /// A curve with two peaks gives two times of activity.
    #[test]
    fn a_valley_ends_a_time_of_activity() {
        let evening = evening("[[18, 1.0], [21, 0.0], [24, 1.0]]", 1);
        let times = evening.times(0);
        let seconds: Vec<_> =
            times.iter().map(|(a, b)| (a.as_secs_f64().round(), b.as_secs_f64().round())).collect();
        assert_eq!(seconds, [(0.0, 15.0), (45.0, 60.0)]);
    }
}
