//! Files of rates over time: mahimahi's, two columns, and netem-trace's JSON.
//!
//! - **mahimahi** (mm-link(1), Netravali et al. 2015): a whole number of milliseconds a line, at which a full packet
//!   can leave.
//! - **Two columns**, apart by a comma, semicolon, tab or blanks: a time, and the rate from then on. Numbers have their
//!   units (`50s 10mbit`), or the first line names those of all (`s,mbit`); nothing is guessed. The rate of the last
//!   line holds, unless it is `repeat`: then the list starts again there.
//! - **JSON** as the crate netem-trace writes it, see [`rate_json`](super::rate_json).
//!
//! Which it is shows in the first line. Empty lines, and those that begin with #, are passed over.

use super::capacity::Refusal;
use super::rate_json;
use super::rate_trace::{FRAME_BYTES, Opportunities, RateTrace};
use super::steps::Steps;
use goodqueue_units::{Duration, Rate, parse};
use std::fmt;

/// A file has no more bytes and lines, so that it cannot take all memory: at 100 Mbit/s, 20 minutes of mahimahi's.
const MOST_BYTES: usize = 64 << 20;
pub(crate) const MOST_LINES: usize = 10_000_000;

/// Reads a trace of whichever kind. Opportunities are of [`FRAME_BYTES`].
///
/// # Errors
/// One line that says in which line what was found and what is accepted; the caller adds the file's name.
pub(crate) fn read(bytes: &[u8]) -> Result<RateTrace, String> {
    if bytes.len() > MOST_BYTES {
        return Err(format!("found {} bytes; accepted: up to {MOST_BYTES} (64 MiB)", bytes.len()));
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        format!("line {line}: found what is no UTF-8; accepted: text")
    })?;
    let text = text.trim_start_matches('\u{feff}'); // a byte order mark, as spreadsheets write
    if text.trim_start().starts_with('{') {
        return rate_json::read(text).map(RateTrace::Steps);
    }
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MOST_LINES {
        return Err(format!("found more than {MOST_LINES} lines; accepted: up to as many"));
    }
    let lines = Lines { lines: text.lines().zip(1..) };
    let first =
        lines.clone().next().ok_or("found no line with a number; accepted: times, or times and rates")?;
    match cells(first.1).len() {
        1 => opportunities(lines).map(RateTrace::Opportunities),
        2 => steps(lines).map(RateTrace::Steps),
        columns => Err(format!(
            "line {}: found {columns} columns; accepted: 1 (milliseconds) or 2 (time, rate)",
            first.0
        )),
    }
}

/// Lines that say something, each with its number.
#[derive(Clone)]
struct Lines<'a> {
    lines: std::iter::Zip<std::str::Lines<'a>, std::ops::RangeFrom<usize>>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let says_something = |line: &(usize, &str)| !line.1.is_empty() && !line.1.starts_with('#');
        self.lines.by_ref().map(|(line, number)| (number, line.trim())).find(says_something)
    }
}

impl Lines<'_> {
    /// Tells the line of a refused entry, if each of these lines is one.
    fn blame(mut self, Refusal { entry, why }: Refusal) -> String {
        match self.nth(entry) {
            Some((number, _)) => format!("line {number}: {why}"),
            None => why,
        }
    }
}

/// The end of a message about `line`, which may be any length.
fn found(line: &str, accepted: &str) -> String {
    let start: String = line.chars().take(40).collect();
    format!("found {start:?}; accepted: {accepted}")
}

fn opportunities(lines: Lines) -> Result<Opportunities, String> {
    const ACCEPTED: &str = "a whole number of milliseconds, up to 4294967295";
    let millis = lines.clone().map(|(number, line)| {
        let digits = Some(line).filter(|line| line.bytes().all(|byte| byte.is_ascii_digit()));
        let millis = digits.and_then(|digits| digits.parse().ok());
        millis.ok_or_else(|| format!("line {number}: {}", found(line, ACCEPTED)))
    });
    let millis: Vec<u32> = millis.collect::<Result<_, _>>()?;
    Opportunities::new(millis, FRAME_BYTES).map_err(|refusal| lines.blame(refusal))
}

fn steps(mut lines: Lines) -> Result<Steps, String> {
    let first = lines.clone().next().filter(|(_, line)| line.starts_with(|c: char| c.is_alphabetic()));
    let units = first.map_or(Ok(["", ""]), units)?;
    if first.is_some() {
        lines.next();
    }
    let (mut rates, mut repeat) = (Vec::new(), None);
    let mut rest = lines.clone();
    while let Some((number, line)) = rest.next() {
        let at = |why: String| format!("line {number}: {why}");
        let [time, rate] = cells(line).try_into().map_err(|_| at(found(line, "a time and a rate")))?;
        let time = time_of(time, units[0]).map_err(at)?;
        if rate == "repeat" && rest.clone().next().is_none() {
            repeat = Some(time);
        } else {
            rates.push((time, rate_of(rate, units[1]).map_err(at)?));
        }
    }
    Steps::new(&rates, repeat).map_err(|refusal| lines.blame(refusal))
}

fn cells(line: &str) -> Vec<&str> {
    match line.chars().find(|c| ",;\t".contains(*c)) {
        Some(separator) => line.split(separator).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// The units that a first line names, as the parsers of quantities know them: `s,mbit`, `ms Mbit/s`, `time_s;rate
/// (kbit/s)`.
fn units((number, line): (usize, &str)) -> Result<[&'static str; 2], String> {
    let cells = cells(line);
    let unit = |index: usize, known: &[&'static str]| {
        let word = cells.get(index)?.rsplit([' ', '_', '(', '[']).next()?;
        let word = word.trim_end_matches([')', ']']).to_ascii_lowercase();
        known.iter().copied().find(|known| word == *known || word.strip_suffix("/s") == Some(known))
    };
    let (time, rate) = (unit(0, &["s", "ms", "us"]), unit(1, &["bit", "kbit", "mbit", "gbit"]));
    // "Mbps" is none of them: for `tc` and for goodqueue those are bytes, for whoever writes a table mostly bits.
    time.zip(rate).map(Into::into).ok_or_else(|| {
        let accepted = "a time and a rate with their units (0s 10mbit), or the units of all (s, ms or us; bit, kbit, mbit or gbit)";
        format!("line {number}: {}", found(line, accepted))
    })
}

/// Splits a quantity into its number and its unit, which is `unit` where it has none.
fn parts<'a>(text: &'a str, unit: &'a str) -> (&'a str, &'a str) {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    if digits == text.len() { (text, unit) } else { text.split_at(digits) }
}

fn time_of(text: &str, unit: &str) -> Result<Duration, String> {
    const ACCEPTED: &str =
        "a time with its unit, such as 1.5s or 200ms, or a first line that names the units, such as s,mbit";
    let (number, unit) = parts(text, unit);
    parse::duration_with_unit(&format!("{number}{unit}")).map_err(|_| found(text, ACCEPTED))
}

fn rate_of(text: &str, unit: &str) -> Result<u64, String> {
    const ACCEPTED: &str =
        "a rate with its unit, such as 10mbit or 0bit, or a first line that names the units, such as s,mbit";
    let (number, unit) = parts(text, unit);
    let zero = number.parse() == Ok(0.0);
    let known = parse::rate(&format!("{}{unit}", if zero { "1" } else { number })).ok();
    let known = known.filter(|_| !unit.is_empty()).ok_or_else(|| found(text, ACCEPTED))?;
    Ok(if zero { 0 } else { known.as_bps() })
}

impl fmt::Display for RateTrace {
    /// As [`read`] takes it, in one way only: opportunities as mahimahi does, steps in two columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opportunities(opportunities) => {
                opportunities.millis().iter().try_for_each(|millis| writeln!(f, "{millis}"))
            }
            Self::Steps(steps) => {
                for (time, bps) in steps.rates() {
                    match Rate::from_bps(bps) {
                        Some(rate) => writeln!(f, "{time} {rate}")?,
                        None => writeln!(f, "{time} 0bit")?,
                    }
                }
                steps.repeat().map_or(Ok(()), |time| writeln!(f, "{time} repeat"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
