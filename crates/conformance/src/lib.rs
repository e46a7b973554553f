//! Replays decision traces against goodqueue's queue disciplines.
//!
//! A trace is what a kernel's discipline was asked and what it decided, packet by packet, with the random numbers
//! that it drew (format: `golden/README.md`). [`replay`] builds the same discipline from the trace's header, asks
//! it the same, hands it the same random numbers, and compares each decision. The first difference ends the
//! replay: what follows a wrong decision follows from it.
//!
//! - [`mod@trace`]: the file, as lines that are understood or refused;
//! - `setup`: the header, as the `tc` line that our registry takes;
//! - `player`: one event after the other;
//! - [`mod@record`]: a trace of ours, for others; `load`: what arrives in it;
//! - [`mod@bench`]: what a packet costs, in nanoseconds.
//!
//! The trace is streamed: memory is bounded by the longest backlog, not by the file.

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

use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What came of one trace; serialises as one element of `goodqueue replay --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The trace.
    pub file: String,
    /// The discipline that its header names.
    pub algorithm: String,
    /// Calls replayed: arrivals, departures and timers.
    pub events: u64,
    /// Arrivals replayed.
    pub packets: u64,
    /// 0, or 1: the replay stops at the first mismatch.
    pub mismatches: u64,
    /// The first mismatch.
    pub first: Option<Mismatch>,
    /// Why the trace was not replayed: no such discipline here, or an option that ours does not know.
    pub unsupported: Option<String>,
}

impl Outcome {
    /// Whether the trace was replayed to its end without a difference.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.mismatches == 0 && self.unsupported.is_none()
    }
}

/// A decision that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Line of the trace, counted from 1, header included.
    pub line: u64,
    /// That line, its first thousand characters.
    pub text: String,
    /// What the trace says.
    pub expected: String,
    /// What our discipline did.
    pub got: String,
    /// The inner states.
    pub state: States,
}

/// The inner states at a mismatch, as `key=value` pairs with commas between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct States {
    /// Ours, after the call that differs.
    pub ours: String,
    /// The trace's, as it last told it.
    pub theirs: Option<String>,
    /// The line that it last told it in.
    pub theirs_line: Option<u64>,
}

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("{file}: {source}")]
    Open {
        /// The file.
        file: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The file is no trace, or a broken one.
    #[error("{file}:{line}: {what}")]
    Malformed {
        /// The file.
        file: String,
        /// Its line, counted from 1.
        line: u64,
        /// What was found and what is accepted.
        what: String,
    },
}

/// Replays the trace at `path` (gzip or plain).
///
/// # Errors
/// Where the file cannot be opened, or is no trace, or a broken one. A mismatch and a discipline or an option that
/// we do not have are no errors: the [`Outcome`] tells them.
pub fn replay(path: &Path) -> Result<Outcome, Error> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => replay_reader(&name, BufReader::new(file)),
        Err(source) => Err(Error::Open { file: name, source }),
    }
}

/// Replays a trace from `reader` (gzip or plain); `name` stands for it in the outcome and in errors.
///
/// # Errors
/// As [`replay`].
pub fn replay_reader(name: &str, reader: impl BufRead) -> Result<Outcome, Error> {
    player::play(trace::Reader::open(name, reader)?)
}
