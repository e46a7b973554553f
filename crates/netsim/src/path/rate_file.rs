//! Files of rates over time: mahimahi's format, two columns, netem-trace's JSON, and lists of periods in JSON.
//!
//! - **mahimahi** (mm-link(1), Netravali et al. 2015): one whole number of milliseconds per line. A full packet can
//!   leave in each of these milliseconds.
//! - **Two columns**, separated by a comma, semicolon, tab or blanks: a time, and the rate from then on. Numbers have
//!   their units (`50s 10mbit`), or the first line names the units of all numbers (`s,mbit`). Nothing is guessed. The
//!   rate of the last line holds for ever. If the last line has `repeat` instead of a rate, the list starts again at
//!   its time.
//! - **JSON** as the crate netem-trace writes it, see [`rate_json`](super::rate_json), or a list of periods, as
//!   simulators of adaptive video read it, see [`rate_periods`](super::rate_periods).
//!
//! The first line shows the format. Empty lines and lines that begin with # are skipped. The text is UTF-8, or UTF-16
//! with a byte order mark.

use super::capacity::Refusal;
use super::rate_trace::{Opportunities, RateTrace};
use super::steps::Steps;
use super::{rate_json, rate_periods};
use goodqueue_hosts::keys::FRAME_BYTES;
use goodqueue_units::{Duration, Rate, parse};
use std::borrow::Cow;
use std::fmt;

/// The most bytes and lines of a file, so that a file cannot fill the memory. [`MOST_LINES`] lines of mahimahi's
/// format are 20 minutes at 100 Mbit/s.
const MOST_BYTES: u64 = 64 << 20;
pub(crate) const MOST_LINES: usize = 10_000_000;

/// All formats, for a file that has none of them.
pub(crate) const FORMATS: &str = "whole milliseconds, one a line (mahimahi); a time and a rate with their units in two columns (0s 10mbit); \
                       netem-trace's JSON; or a JSON list of periods (duration_ms, bandwidth_kbps)";

/// Refuses a file that has too many bytes.
pub(crate) fn check_size(bytes: u64) -> Result<(), String> {
    if bytes > MOST_BYTES {
        return Err(format!("found {bytes} bytes; accepted: up to {MOST_BYTES} (64 MiB)"));
    }
    Ok(())
}

/// Reads a trace of rates in any of the formats. One opportunity has [`FRAME_BYTES`]: it is one full packet, as
/// in mahimahi, and the simulator counts packets as Ethernet frames.
///
/// # Errors
/// One line of text that says in which line of the file what was found, and what is accepted. The caller adds the
/// name of the file.
pub(crate) fn read(bytes: &[u8]) -> Result<RateTrace, String> {
    check_size(bytes.len() as u64)?;
    let text = decoded(bytes)?;
    let text = text.trim_start_matches('\u{feff}'); // a byte order mark, as spreadsheets write
    match text.trim_start().chars().next() {
        Some('{') => return rate_json::read(text).map(RateTrace::Steps),
        Some('[') => return rate_periods::read(text).map(RateTrace::Steps),
        _ => {}
    }
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MOST_LINES {
        return Err(format!("found more than {MOST_LINES} lines; accepted: up to as many"));
    }
    let lines = Lines { lines: text.lines().zip(1..) };
    let (number, first) =
        lines.clone().next().ok_or_else(|| format!("found no line with a number; accepted: {FORMATS}"))?;
    match cells(first).len() {
        1 if first.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            opportunities(lines).map(RateTrace::Opportunities)
        }
        2 => steps(lines).map(RateTrace::Steps),
        _ => Err(format!("line {number}: {}", found(first, FORMATS))),
    }
}

/// Returns the text in `bytes`: UTF-8, or UTF-16 with a byte order mark, as Windows PowerShell writes.
fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            return str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                format!("line {line}: found what is no UTF-8; accepted: text")
            });
        }
    };
    let (pairs, rest) = bytes.as_chunks();
    let text = String::from_utf16(&pairs.iter().map(|pair| unit(*pair)).collect::<Vec<_>>()).ok();
    let refusal = || "found what is no UTF-16, after its byte order mark; accepted: text".to_owned();
    text.filter(|_| rest.is_empty()).map(Cow::Owned).ok_or_else(refusal)
}

/// The lines that are neither empty nor comments, each with its number.
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
    /// Adds the number of the line to a refused entry. Each of these lines must be one entry.
    fn blame(mut self, Refusal { entry, why }: Refusal) -> String {
        match self.nth(entry) {
            Some((number, _)) => format!("line {number}: {why}"),
            None => why,
        }
    }
}

/// Returns the end of an error message about `line`. It quotes only the start, because a line can have any length.
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

/// Returns the units that the first line names, as the parsers of quantities spell them. The line can be `s,mbit`,
/// `ms Mbit/s` or `time_s;rate (kbit/s)`.
fn units((number, line): (usize, &str)) -> Result<[&'static str; 2], String> {
    let cells = cells(line);
    let unit = |index: usize, known: &[&'static str]| {
        let word = cells.get(index)?.rsplit([' ', '_', '(', '[']).next()?;
        let word = word.trim_end_matches([')', ']']).to_ascii_lowercase();
        known.iter().copied().find(|known| word == *known || word.strip_suffix("/s") == Some(known))
    };
    let (time, rate) = (unit(0, &["s", "ms", "us"]), unit(1, &["bit", "kbit", "mbit", "gbit"]));
    // "Mbps" is not accepted. It means bytes to `tc` and goodqueue, but mostly bits to authors of tables.
    time.zip(rate).map(Into::into).ok_or_else(|| {
        let accepted = "a time and a rate with their units (0s 10mbit), or the units of all (s, ms or us; bit, kbit, mbit or gbit)";
        format!("line {number}: {}", found(line, accepted))
    })
}

/// Splits a quantity into its number and its unit. A quantity without a unit gets `unit`.
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
    /// Writes the canonical form of what [`read`] accepts: opportunities in mahimahi's format, steps in two columns.
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
