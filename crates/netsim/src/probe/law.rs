//! What a law thinks: the inner variables that a discipline shows, as they stand at each interval's end.

use super::rounded;
use goodqueue_qdisc::{Measure, Moment, Probe, Raw};
use goodqueue_units::Instant;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

/// What stands beside the law already ([`super::series::QueueSeries::drop_probability`]).
const ELSEWHERE: &str = "drop_probability";

/// A discipline's variables, in the order in which it shows them, each with a value an interval; `None` where it had
/// none.
///
/// The names are Linux's or the RFC's, with the unit behind: `_ms`, `_bytes`, `_packets`, `_mbps`. A point of time is
/// how long it is from the interval's end till then, negative where it has passed.
#[derive(Clone, Debug, Default)]
pub struct LawSeries {
    variables: Vec<(Name, Vec<Option<f64>>)>,
    /// Intervals that have ended.
    intervals: usize,
    /// The last one's end.
    now: Instant,
}

/// A variable's name, and the unit behind it.
type Name = (Cow<'static, str>, &'static str);

impl LawSeries {
    /// Ends an interval: `show` shows the variables as they stand.
    pub(crate) fn end_interval(&mut self, now: Instant, show: impl FnOnce(&mut Self)) {
        self.now = now;
        show(self);
        self.intervals += 1;
        self.variables.iter_mut().for_each(|(_, values)| values.resize(self.intervals, None));
    }

    /// A variable of a discipline that is not of the registry, under the name that it has given.
    pub(crate) fn foreign(&mut self, name: &str, value: f64) {
        if name != ELSEWHERE {
            self.put((Cow::Owned(name.to_string()), ""), Some(value));
        }
    }

    fn put(&mut self, name: Name, value: Option<f64>) {
        let known = self.variables.iter().position(|(known, _)| *known == name);
        let place = known.unwrap_or_else(|| {
            self.variables.push((name, Vec::new()));
            self.variables.len() - 1
        });
        let values = &mut self.variables[place].1;
        values.resize(self.intervals, None); // it may not have been there from the start
        values.push(value.filter(|value| value.is_finite()).map(rounded));
    }

    /// The values of the variable that the record calls `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[Option<f64>]> {
        let is_it = |(stem, unit): &Name| name.strip_suffix(unit) == Some(stem);
        self.variables.iter().find(|(known, _)| is_it(known)).map(|(_, values)| values.as_slice())
    }
}

impl Probe for LawSeries {
    fn measured(&mut self, name: &'static str, _raw: Raw, measure: Measure) {
        let milliseconds = |moment: Moment| moment.nanos_from(self.now) as f64 / 1e6;
        let (value, unit) = match measure {
            Measure::Number(number) => (number, ""),
            Measure::Time(seconds) => (seconds.map(|seconds| seconds * 1e3), "_ms"),
            Measure::Moment(moment) => (moment.map(milliseconds), "_ms"),
            Measure::Bytes(bytes) => (bytes, "_bytes"),
            Measure::Packets(packets) => (packets, "_packets"),
            Measure::Rate(bps) => (bps.map(|bps| bps / 1e6), "_mbps"),
            Measure::Internal => return,
        };
        self.put((Cow::Borrowed(name), unit), value);
    }
    fn integer(&mut self, name: &'static str, value: i128) {
        self.put((Cow::Borrowed(name), ""), Some(value as f64));
    }
    fn real(&mut self, name: &'static str, value: f64) {
        if name != ELSEWHERE {
            self.put((Cow::Borrowed(name), ""), Some(value));
        }
    }
}

impl Serialize for LawSeries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.variables.len()))?;
        for ((name, unit), values) in &self.variables {
            map.serialize_entry(&format!("{name}{unit}"), values)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable that begins to be shown in the second interval, and one that is shown no longer in the third.
    #[test]
    fn each_variable_has_a_value_an_interval() {
        let mut law = LawSeries::default();
        law.end_interval(Instant::ZERO, |law| law.integer("early", 1));
        law.end_interval(Instant::ZERO, |law| {
            law.integer("early", 2);
            law.real("late", 0.25);
        });
        law.end_interval(Instant::ZERO, |law| {
            law.foreign("late", f64::NAN);
            law.foreign("own", 0.75);
            law.foreign(ELSEWHERE, 0.5);
            law.measured("key", 7_u32.into(), Measure::Internal);
        });
        let text = serde_json::to_string(&law).unwrap();
        assert_eq!(text, r#"{"early":[1.0,2.0,null],"late":[null,0.25,null],"own":[null,null,0.75]}"#);
    }

    /// CoDel's clock turns after 2^42 ns: what it shows as 0.5 ms is ahead of the turn's end, and behind the next one's
    /// begin.
    #[test]
    fn points_of_time_are_told_from_the_intervals_end() {
        let at = |nanos| Instant::ZERO + goodqueue_units::Duration::from_nanos(nanos);
        let turn = 1_u64 << 42;
        let shown = |now, moment| {
            let mut law = LawSeries::default();
            law.end_interval(now, |law| law.measured("t", 0_u32.into(), Measure::Moment(moment)));
            law.get("t_ms").unwrap()[0]
        };
        let now = at(3_000_000_000);
        assert_eq!(shown(now, Some(at(3_001_500_000).into())), Some(1.5));
        assert_eq!(shown(now, Some(at(2_998_000_000).into())), Some(-2.0));
        assert_eq!(shown(now, None), None);
        let wrapped = Moment::wrapping(500_000, 42); // half a millisecond into the second turn
        assert_eq!(shown(at(turn - 1_000_000), Some(wrapped)), Some(1.5));
        assert_eq!(shown(at(turn + 1_000_000), Some(wrapped)), Some(-0.5));
    }

    #[test]
    fn a_quantity_has_its_unit_behind_its_name() {
        let mut law = LawSeries::default();
        law.end_interval(Instant::ZERO, |law| {
            law.measured("delay", 64_u32.into(), Measure::Time(Some(0.0125)));
            law.measured("rate", 1_u32.into(), Measure::Rate(Some(12_500_000.0)));
            law.measured("avg", 8_u32.into(), Measure::Bytes(None));
            law.measured("longest", 3_u32.into(), Measure::Packets(Some(3.0)));
            law.measured("p", 128_u32.into(), Measure::Number(Some(0.5)));
        });
        let text = serde_json::to_string(&law).unwrap();
        assert_eq!(
            text,
            r#"{"delay_ms":[12.5],"rate_mbps":[12.5],"avg_bytes":[null],"longest_packets":[3.0],"p":[0.5]}"#
        );
    }
}
