//! The elements of a path, each usable on its own and without an event loop.
//!
//! A path has a row of hops in each direction. A hop is a *link* (a queue discipline above a transmitter) or a *wire*,
//! which has no queue: it delays, loses, duplicates and reorders packets. Or it is a *policer*, which drops what
//! exceeds a rate.
//!
//! - `wire`: a wire, in the words of tc-netem(8). It is made of `loss`, `jitter` and `chance`.
//! - `transmitter`: how long a packet takes to leave below a discipline, at a fixed rate (`transmitter::Fixed`), at
//!   delivery opportunities (`rate_trace`), at a rate that changes (`steps`) or in bursts (`bursts`). The last three
//!   implement `capacity`: how much they could have sent by a given time.
//! - `access`: the access networks below a discipline. Each is one file.

pub(crate) mod bursts;
pub(crate) mod capacity;
pub(crate) mod chance;
#[cfg_attr(feature = "complete", path = "complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "complete/disabled.rs")]
mod complete;
pub(crate) mod generate;
pub(crate) mod jitter;
pub mod kind;
pub(crate) mod loss;
pub(crate) mod netem;
pub(crate) mod rate_file;
pub(crate) mod rate_json;
pub(crate) mod rate_periods;
pub(crate) mod rate_trace;
pub(crate) mod steps;
pub(crate) mod transmitter;

pub(crate) use complete::access;
use complete::commands;
pub use kind::{HopKind, Linux};

use goodqueue_units::{Duration, Rate};

/// Generates a trace of rates that looks like a kind of link, as a file that `rate_file` reads.
///
/// `shape` is `lte` (delivery opportunities at the rate `mean`), `starlink` (steps of 15 s around `mean`) or `mmwave`
/// (a link that is blocked now and then, with rates of its own).
///
/// # Errors
/// A message that says what was found and what is accepted.
pub fn generate_rates(shape: &str, mean: Rate, length: Duration, seed: u64) -> Result<String, String> {
    let shape = match shape {
        "lte" => generate::Shape::Cellular(generate::Cellular::lte(mean)),
        "starlink" => generate::Shape::Starlink(generate::Starlink { mean, spread: 0.5 }),
        "mmwave" => generate::Shape::MmWave(generate::MmWave::TYPICAL),
        _ => return Err(goodqueue_hosts::keys::no_such_word(shape, &["lte", "starlink", "mmwave"])),
    };
    generate::generate(shape, length, seed).map(|trace| trace.to_string())
}

/// Returns the long-run rate of a file of rates. `bytes` is the content of the file.
///
/// # Errors
/// A message that says in which line what was found, and what is accepted.
pub fn mean_rate(bytes: &[u8]) -> Result<Rate, String> {
    rate_file::read(bytes).map(|trace| transmitter::Transmitter::trace(trace).mean_rate())
}

/// Returns the rates of a file of rates until `end`, each with the time at which it begins, in bit/s. A list that
/// repeats is repeated here too. Returns None for a file of delivery opportunities. `bytes` is the content of the
/// file.
///
/// # Errors
/// As [`mean_rate`].
pub fn rate_steps(bytes: &[u8], end: Duration) -> Result<Option<Vec<(Duration, u64)>>, String> {
    let rate_trace::RateTrace::Steps(steps) = rate_file::read(bytes)? else { return Ok(None) };
    let repeat = steps.repeat().filter(|repeat| *repeat > Duration::ZERO);
    let mut begins = Duration::ZERO;
    let mut found = Vec::new();
    loop {
        found.extend(
            steps.rates().map(|(time, bps)| (begins + time, bps)).take_while(|(time, _)| *time < end),
        );
        begins = match repeat {
            Some(repeat) if begins + repeat < end => begins + repeat,
            _ => return Ok(Some(found)),
        };
    }
}

/// Declares the kinds of hops. Each kind has its own file.
macro_rules! hops {
    ($($(#[$only:meta])? $file:ident),*) => {
        $($(#[$only])? pub(crate) mod $file;)*

        /// Every kind of hop.
        pub const HOPS: &[&HopKind] = &[$($(#[$only])? &$file::KIND),*];
    };
}

hops!(
    link,
    wire,
    #[cfg(feature = "complete")]
    police
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_file_that_starts_again_are_told_until_the_end() {
        const S: Duration = Duration::from_secs(1);
        let repeated = rate_steps(b"0s 5mbit\n1s 2mbit\n3s repeat", S * 5).unwrap();
        assert_eq!(
            repeated,
            Some(vec![(Duration::ZERO, 5_000_000), (S, 2_000_000), (S * 3, 5_000_000), (S * 4, 2_000_000)])
        );
        let once = rate_steps(b"0s 5mbit\n1s 2mbit", S * 5).unwrap();
        assert_eq!(once, Some(vec![(Duration::ZERO, 5_000_000), (S, 2_000_000)]), "the last holds");
        assert_eq!(rate_steps(b"1\n2\n", S), Ok(None), "opportunities are no rates");
        assert!(rate_steps(b"nonsense", S).is_err());
    }
}
