//! Replays decision traces against goodqueue's queue disciplines.
//!
//! A decision trace holds the calls of a kernel's discipline and its decisions, packet by packet, with the random
//! numbers that it drew (format: `golden/README.md`). [`replay`] builds the same discipline from the trace's header,
//! with the law of the Linux release that the header names,
//! makes the same calls, hands it the same random numbers, and compares each decision. The first difference ends the
//! replay, because later differences follow from it.
//!
//! - [`mod@trace`]: the file, as lines that are parsed or refused;
//! - `setup`: the header, as the `tc` line that our registry takes;
//! - `player`: one event after the other;
//! - [`mod@trees`]: a tree that runs by its own timers, beside Linux;
//! - [`mod@record`]: a decision trace of our discipline, for others; `load`: its arrivals;
//! - [`mod@bench`]: the time per packet, in nanoseconds.
//!
//! The trace is streamed: the longest backlog bounds the memory, not the file.

/// CONTRIBUTING.md's recipe for a discipline is compiled and run, so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;

mod arrival;
pub mod bench;
mod load;
mod player;
pub mod record;
mod setup;
mod state;
pub mod trace;
pub mod trees;

use goodqueue_units::Release;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The result of one replay. It serialises as one element of `goodqueue replay --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The file of the decision trace.
    pub file: String,
    /// The discipline that the header names.
    pub algorithm: String,
    /// Replayed calls: arrivals, departures and timers.
    pub events: u64,
    /// Replayed arrivals.
    pub packets: u64,
    /// 0, or 1: the replay stops at the first mismatch.
    pub mismatches: u64,
    /// The first mismatch.
    pub first: Option<Mismatch>,
    /// Why the trace was not replayed: there is no such discipline here, or it does not have an option.
    pub unsupported: Option<String>,
}

impl Outcome {
    /// Returns whether the trace was replayed to its end without a difference.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.mismatches == 0 && self.unsupported.is_none()
    }
}

/// A decision that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Line of the trace, counted from 1, including the header.
    pub line: u64,
    /// The first thousand characters of that line.
    pub text: String,
    /// The decision in the trace.
    pub expected: String,
    /// The decision of our discipline.
    pub got: String,
    /// The inner states of both.
    pub state: States,
}

/// The inner states at a mismatch, as `key=value` pairs separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct States {
    /// Our state, after the call that differs.
    pub ours: String,
    /// The trace's state, as it was last written.
    pub theirs: Option<String>,
    /// The line in which it was last written.
    pub theirs_line: Option<u64>,
}

/// The reason why a decision trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("{file}: {source}")]
    Open {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is no decision trace, or a broken one.
    #[error("{file}:{line}: {what}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What was found and what is accepted.
        what: String,
    },
}

/// Replays the decision trace at `path` (gzip or plain).
///
/// # Errors
/// Fails if the file cannot be opened, is no decision trace, or is broken. A mismatch is no error, and neither is an
/// unknown discipline or option: the [`Outcome`] reports them.
pub fn replay(path: &Path) -> Result<Outcome, Error> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => replay_reader(&name, BufReader::new(file)),
        Err(source) => Err(Error::Open { file: name, source }),
    }
}

/// Replays a decision trace from `reader` (gzip or plain). `name` is its name in the outcome and in errors.
///
/// # Errors
/// Fails as [`replay`] does.
pub fn replay_reader(name: &str, reader: impl BufRead) -> Result<Outcome, Error> {
    replay_as(name, reader, None)
}

/// Replays a decision trace as [`replay_reader`] does, with the law of another release than that of its kernel.
///
/// # Errors
/// Fails as [`replay`] does.
pub fn replay_as(name: &str, reader: impl BufRead, release: Option<Release>) -> Result<Outcome, Error> {
    player::play(trace::Reader::open(name, reader)?, release)
}

/// Returns the `tc` line from which [`replay`] builds the discipline of a decision trace with this header.
///
/// # Errors
/// Fails with one line if the header is broken, or if our discipline has no word for one of its options.
pub fn line_of(header: &trace::Header) -> Result<String, String> {
    let algorithm = header.get("algorithm").ok_or("the header has no \"algorithm\"")?;
    setup::line(algorithm, header).map_err(|refusal| match refusal {
        setup::Refusal::Malformed(what) | setup::Refusal::Unsupported(what) => what,
    })
}
