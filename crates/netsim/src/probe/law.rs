//! The variables of a law: the inner variables that a discipline shows, as they are at the end of each interval.

use goodqueue_hosts::probe::rounded;
use goodqueue_qdisc::{Measure, Moment, Probe, Raw};
use goodqueue_units::Instant;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

/// The variable that has its own place in the record ([`super::series::QueueSeries::drop_probability`]).
const ELSEWHERE: &str = "drop_probability";

/// A discipline's variables, in the order in which the discipline shows them, with one value per interval. The value
/// is `None` if the variable had none.
///
/// The names are those of Linux or of the RFC, with the unit as a suffix: `_ms`, `_bytes`, `_packets`, `_mbps`. A
/// point of time is given as the time from the end of the interval to this point. It is negative if the point has
/// passed.
#[derive(Clone, Debug, Default)]
pub struct LawSeries {
    variables: Vec<(Name, Vec<Option<f64>>)>,
    /// The number of intervals that have ended.
    intervals: usize,
    /// The end of the last interval.
    now: Instant,
}

/// A variable's name, and the unit after it.
type Name = (Cow<'static, str>, &'static str);

impl LawSeries {
    /// Ends an interval. `show` shows the present variables.
    pub fn end_interval(&mut self, now: Instant, show: impl FnOnce(&mut Self)) {
        self.now = now;
        show(self);
        self.intervals += 1;
        self.variables.iter_mut().for_each(|(_, values)| values.resize(self.intervals, None));
    }

    /// Adds a variable of a foreign discipline, under the name that the discipline gave it.
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
        values.resize(self.intervals, None); // the variable may have appeared later than the first interval
        values.push(value.filter(|value| value.is_finite()).map(rounded));
    }

    /// Returns the values of the variable that the record calls `name`.
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

    /// One variable is shown from the second interval on, another is no longer shown in the third.
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

    /// CoDel's clock wraps after 2^42 ns. A value of 0.5 ms is in the future before the wrap, and in the past after
    /// it.
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
