//! Rates over time as simulators of adaptive video have them: a list of periods in JSON, which begins anew at its end.
//!
//! A period of Sabre's (Spiteri et al., MMSys 2018) is `{"duration_ms": 3000, "bandwidth_kbps": 5000,
//! "latency_ms": 75}`. The names of the keys have the units. A latency is the path's, which a file of rates does not
//! say, so it is not read.

use super::rate_file::FORMATS;
use super::rate_json::{MOST_RATES, not_negative};
use super::steps::Steps;
use goodqueue_units::Duration;
use serde_json::{Map, Value};

/// What a file of periods must have.
const ACCEPTED: &str = "a list of tables with a duration (duration_ms, duration_s) and a rate (bandwidth_kbps, \
                        bandwidth_mbps)";

const LENGTHS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const RATES: [(&str, f64); 4] = [("bps", 1.0), ("kbps", 1e3), ("mbps", 1e6), ("gbps", 1e9)];

/// The words before the unit of a rate.
const RATE_WORDS: [&str; 4] = ["bandwidth", "rate", "speed", "throughput"];

/// Reads a list of periods.
///
/// # Errors
/// One line of text that says what was found and what is accepted.
pub(crate) fn read(text: &str) -> Result<Steps, String> {
    let periods: Vec<Map<String, Value>> = serde_json::from_str(text).map_err(|error| {
        format!("line {}: found no list of periods ({error}); accepted: {FORMATS}", error.line())
    })?;
    if periods.len() > MOST_RATES {
        return Err(format!("found more than {MOST_RATES} rates; accepted: up to as many"));
    }
    let mut rates = Vec::with_capacity(periods.len());
    let mut end = Duration::ZERO;
    for (index, period) in periods.iter().enumerate() {
        let number = |words: &[&str], units: &[(&str, f64)]| {
            quantity(period, words, units).map_err(|why| format!("period {}: {why}", index + 1))
        };
        let length = Duration::from_nanos(number(&["duration"], &LENGTHS)?);
        let bps = number(&RATE_WORDS, &RATES)?;
        if length > Duration::ZERO {
            rates.push((end, bps));
            end = end + length;
        }
    }
    Steps::new(&rates, Some(end)).map_err(|refusal| refusal.why)
}

/// Returns the number of the one key that is one of `words` with one of `units`, in the first unit.
fn quantity(period: &Map<String, Value>, words: &[&str], units: &[(&str, f64)]) -> Result<u64, String> {
    let mut known = period.iter().filter_map(|(key, value)| {
        let (word, unit) = key.rsplit_once('_')?;
        let unit = unit.to_ascii_lowercase();
        let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor)?;
        words.contains(&word.to_ascii_lowercase().as_str()).then_some((key, value, factor))
    });
    let (Some((key, value, factor)), None) = (known.next(), known.next()) else {
        let keys: Vec<_> = period.keys().take(8).map(String::as_str).collect();
        let keys: String = format!("{keys:?}").chars().take(120).collect();
        return Err(format!("found the keys {keys}; accepted: {ACCEPTED}"));
    };
    let value = value.as_f64().ok_or_else(|| format!("{key}: found no number; accepted: 0 or more"))?;
    Ok((not_negative(value).map_err(|why| format!("{key}: {why}"))? * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in milliseconds and rates in bit/s, and when the list begins anew.
    fn rates(text: &str) -> Result<(Vec<(u64, u64)>, u64), String> {
        let steps = read(text)?;
        let again = steps.repeat().expect("it repeats").as_nanos() / 1_000_000;
        Ok((steps.rates().map(|(time, bps)| (time.as_nanos() / 1_000_000, bps)).collect(), again))
    }

    #[test]
    fn periods_are_rates_that_begin_anew_at_their_end() {
        let ours = r#"[{"duration_ms": 3000, "bandwidth_kbps": 5000, "latency_ms": 75},
            {"duration_ms": 1500.5, "bandwidth_kbps": 0, "latency_ms": 75}, {"duration_ms": 0, "bandwidth_kbps": 9}]"#;
        assert_eq!(rates(ours), Ok((vec![(0, 5_000_000), (3000, 0)], 4500)));
        let others = r#"[{"speed_Mbps": 0.25, "duration_s": 2}, {"throughput_bps": 7, "duration_us": 1e6}]"#;
        assert_eq!(rates(others), Ok((vec![(0, 250_000), (2000, 7)], 3000)));
    }

    #[test]
    fn what_is_no_list_of_periods_is_refused_in_one_line() {
        let table = [
            ("[1, 2]", "accepted: whole milliseconds, one a line (mahimahi); a time and a rate"),
            ("[", "line 1: found no list of periods"),
            ("[]", "found no rate"),
            (
                r#"[{"duration": 3, "bandwidth": 5}]"#,
                r#"period 1: found the keys ["bandwidth", "duration"]; accepted"#,
            ),
            (r#"[{"duration_ms": 1, "rate_kbps": 1, "bandwidth_kbps": 2}]"#, "period 1: found the keys"),
            (r#"[{"duration_ms": -1, "bandwidth_kbps": 5}]"#, "duration_ms: found -1; accepted: 0 or more"),
            (r#"[{"duration_ms": 1, "bandwidth_kbps": "5"}]"#, "bandwidth_kbps: found no number"),
            (r#"[{"duration_ms": 1, "bandwidth_kbps": 0}]"#, "found rates of 0 only"),
            (r#"[{"duration_s": 1e300, "bandwidth_gbps": 1e300}]"#, "accepted: rates up to 10tbit"),
        ];
        for (text, found) in table {
            let error = read(text).unwrap_err();
            assert!(error.contains(found) && !error.contains('\n'), "{error}");
        }
    }
}
