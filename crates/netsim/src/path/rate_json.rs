//! Rates over time in the JSON of the crate netem-trace, which rattan's links use.
//!
//! Three models of netem-trace are lists of rates: `StaticBwConfig`, `RepeatedBwPatternConfig` and `TraceBwConfig`.
//! The other models compute or draw rates as they go, with that crate's own random generator. They are refused.

use super::rate_file::FORMATS;
use super::steps::Steps;
use goodqueue_units::{Duration, parse};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum Model {
    #[serde(rename = "StaticBwConfig")]
    Static {
        /// Both keys are required here, although netem-trace has defaults: 12 Mbit/s for 1 s.
        bw: Bandwidth,
        duration: Span,
    },
    #[serde(rename = "RepeatedBwPatternConfig")]
    Repeated {
        pattern: Vec<Model>,
        /// 0 means for ever.
        #[serde(default)]
        count: u64,
    },
    #[serde(rename = "TraceBwConfig")]
    Trace(Pairs),
}

/// Pairs of a time and a list of rates. Each rate of the list lasts for that time.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pairs {
    Units {
        pattern: Vec<(Span, Vec<Bandwidth>)>,
    },
    /// In milliseconds and Mbit/s, as other versions of the crate write them.
    Numbers(Vec<(f64, Vec<f64>)>),
}

/// The most rates of a list. A few words of JSON can make a list repeat any number of times.
pub(crate) const MOST_RATES: usize = 1_000_000;

/// A rate in numbers, or in text if the feature "human" of netem-trace is on.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bandwidth {
    Numbers {
        gbps: u64,
        bps: u64,
    },
    /// `12Mbps`. The unit is bits.
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Span {
    Numbers {
        secs: u64,
        nanos: u64,
    },
    /// `1s`, `1m 30s`.
    Text(String),
}

impl Bandwidth {
    fn bps(&self) -> Result<u64, String> {
        match self {
            Self::Numbers { gbps, bps } => Ok(gbps.saturating_mul(1_000_000_000).saturating_add(*bps)),
            Self::Text(text) => {
                let refuse = || format!("found {text:?}; accepted: a rate such as 12Mbps");
                let bits = text.strip_suffix("bps").ok_or_else(refuse)?;
                if bits.parse() == Ok(0.0) {
                    return Ok(0);
                }
                Ok(parse::rate(&format!("{bits}bit")).map_err(|_| refuse())?.as_bps())
            }
        }
    }
}

impl Span {
    fn duration(&self) -> Result<Duration, String> {
        match self {
            Self::Numbers { secs, nanos } => {
                Ok(Duration::from_nanos(secs.saturating_mul(1_000_000_000).saturating_add(*nanos)))
            }
            Self::Text(text) => text.split_whitespace().try_fold(Duration::ZERO, |sum, word| {
                let word = word.strip_suffix('m').map_or(word.to_owned(), |minutes| format!("{minutes}min"));
                Ok(sum + parse::duration_with_unit(&word)?)
            }),
        }
    }
}

pub(crate) fn not_negative(number: f64) -> Result<f64, String> {
    if number >= 0.0 { Ok(number) } else { Err(format!("found {number}; accepted: 0 or more")) }
}

/// A list of rates, one after the other.
#[derive(Default)]
struct List {
    rates: Vec<(Duration, u64)>,
    end: Duration,
}

impl List {
    fn push(&mut self, bps: u64, duration: Duration) -> Result<(), String> {
        if duration > Duration::ZERO {
            self.rates.push((self.end, bps));
            self.end = self.end + duration;
        }
        if self.rates.len() > MOST_RATES {
            return Err(format!("found more than {MOST_RATES} rates; accepted: up to as many"));
        }
        Ok(())
    }

    fn extend(&mut self, model: &Model) -> Result<(), String> {
        match model {
            Model::Static { bw, duration } => self.push(bw.bps()?, duration.duration()?),
            Model::Trace(Pairs::Units { pattern }) => pattern.iter().try_for_each(|(span, rates)| {
                let duration = span.duration()?;
                rates.iter().try_for_each(|rate| self.push(rate.bps()?, duration))
            }),
            Model::Trace(Pairs::Numbers(pattern)) => pattern.iter().try_for_each(|(millis, rates)| {
                let duration = Duration::from_secs_f64(not_negative(*millis)? / 1e3);
                rates
                    .iter()
                    .try_for_each(|mbps| self.push((not_negative(*mbps)? * 1e6).round() as u64, duration))
            }),
            Model::Repeated { count: 0, .. } => {
                Err("found a count of 0 (for ever) within a pattern; accepted: in the outermost only"
                    .to_owned())
            }
            Model::Repeated { pattern, count } => {
                for _ in 0..*count {
                    let before = self.rates.len();
                    pattern.iter().try_for_each(|model| self.extend(model))?;
                    if self.rates.len() == before {
                        break; // a pattern of length 0 adds nothing, however often it repeats
                    }
                }
                Ok(())
            }
        }
    }
}

/// Reads netem-trace's JSON. If the list does not repeat for ever, its last rate holds.
///
/// # Errors
/// One line of text that says what was found and what is accepted.
pub(crate) fn read(text: &str) -> Result<Steps, String> {
    let model: Model = serde_json::from_str(text).map_err(|error| {
        format!("line {}: found no list of rates of netem-trace ({error}); accepted: {FORMATS}", error.line())
    })?;
    let mut list = List::default();
    let for_ever = match &model {
        Model::Repeated { pattern, count: 0 } => {
            pattern.iter().try_for_each(|model| list.extend(model))?;
            true
        }
        model => {
            list.extend(model)?;
            false
        }
    };
    Steps::new(&list.rates, for_ever.then_some(list.end)).map_err(|refusal| refusal.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in milliseconds and rates in bit/s, and when the list starts again.
    type Rates = (Vec<(u64, u64)>, Option<Duration>);

    fn rates(text: &str) -> Result<Rates, String> {
        let steps = read(text)?;
        Ok((steps.rates().map(|(time, bps)| (time.as_nanos() / 1_000_000, bps)).collect(), steps.repeat()))
    }

    /// The example from netem-trace's documentation, with numbers in both notations.
    #[test]
    fn the_crates_own_example_is_read() {
        let numbers = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":{"gbps":0,"bps":12000000},
            "duration":{"secs":1,"nanos":0}}},{"StaticBwConfig":{"bw":{"gbps":0,"bps":24000000},
            "duration":{"secs":1,"nanos":0}}}],"count":2}}"#;
        let human = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":"12Mbps","duration":"1s"}},
            {"StaticBwConfig":{"bw":"24Mbps","duration":"1s"}}],"count":2}}"#;
        let expected = vec![(0, 12_000_000), (1000, 24_000_000), (2000, 12_000_000), (3000, 24_000_000)];
        assert_eq!(rates(numbers), Ok((expected.clone(), None)));
        assert_eq!(rates(human), Ok((expected.clone(), None)));
        let for_ever = human.replace("\"count\":2", "\"count\":0");
        assert_eq!(rates(&for_ever), Ok((expected[..2].to_vec(), Some(Duration::from_secs(2)))));
    }

    #[test]
    fn a_trace_has_milliseconds_and_megabits() {
        let text = r#"{"TraceBwConfig":[[100.0,[29.5,0.0]],[0.5,[1.25]]]}"#;
        assert_eq!(rates(text), Ok((vec![(0, 29_500_000), (100, 0), (200, 1_250_000)], None)));
        let text = r#"{"TraceBwConfig":{"pattern":[["1m 1ms",["2Mbps","0bps"]],[{"secs":0,"nanos":2000000},["1Mbps"]]]}}"#;
        assert_eq!(rates(text), Ok((vec![(0, 2_000_000), (60_001, 0), (120_002, 1_000_000)], None)));
    }

    #[test]
    fn models_that_are_no_list_and_lists_without_end_are_refused_in_one_line() {
        let within = r#"{"RepeatedBwPatternConfig":{"pattern":[{"RepeatedBwPatternConfig":{"pattern":[]}}],"count":3}}"#;
        let huge = r#"{"RepeatedBwPatternConfig":{"pattern":[{"TraceBwConfig":[[1,[1]]]}],"count":18446744073709551615}}"#;
        let table = [
            (r#"{"SawtoothBwConfig":{}}"#, "unknown variant `SawtoothBwConfig`"),
            (
                r#"{"StaticBwConfig":{"bw":"12Mbit","duration":"1s"}}"#,
                "found \"12Mbit\"; accepted: a rate such as 12Mbps",
            ),
            (r#"{"StaticBwConfig":{"bw":"12Mbps","duration":"1"}}"#, "has no unit"),
            (r#"{"StaticBwConfig":{"bw":"12Mbps","duration":"0s"}}"#, "found no rate"),
            ("{\n\n", "line 3: found no list of rates of netem-trace"),
            (r#"{"TraceBwConfig":[[1,[-2.5]]]}"#, "found -2.5; accepted: 0 or more"),
            (within, "in the outermost only"),
            (huge, "more than 1000000 rates"),
        ];
        for (text, found) in table {
            let error = read(text).unwrap_err();
            assert!(error.contains(found) && !error.contains('\n'), "{error}");
        }
    }
}
