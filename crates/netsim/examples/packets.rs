//! Runs scenarios, for programs that count instructions (`make bench-instructions`) or compare two versions of the
//! simulator (`benches/digests.py`).
//!
//! `packets SCENARIO` runs a scenario, as JSON, and prints the packets that the bottleneck forwarded down. `packets
//! digests [threads=N] [slices=N] [most=N] FILE…` prints a digest of the record of each scenario in files with one
//! scenario per line.
#![allow(clippy::print_stdout)] // a program's answer

use goodqueue_netsim::{Duration, Scenario, Simulation, Threaded};
use std::error::Error;
use std::hash::{DefaultHasher, Hasher};

/// How a run is advanced.
struct Way {
    threads: usize,
    slices: u64,
    /// The most events of a call.
    most: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        None => Err("usage: packets SCENARIO, as JSON; or packets digests FILE…".into()),
        Some("digests") => digests(words),
        Some(scenario) => {
            let mut simulation = Simulation::new(Scenario::from_json(scenario)?)?;
            simulation.run();
            println!("{}", simulation.record().queues.down.packets.forwarded);
            Ok(())
        }
    }
}

fn digests(words: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut way = Way { threads: 1, slices: 1, most: u64::MAX };
    for word in words {
        match word.split_once('=') {
            Some(("threads", number)) => way.threads = number.parse()?,
            Some(("slices", number)) => way.slices = number.parse()?,
            Some(("most", number)) => way.most = number.parse()?,
            Some((key, _)) => return Err(format!("found {key:?}; accepted: threads, slices, most").into()),
            None => {
                for (at, line) in std::fs::read_to_string(&word)?.lines().enumerate() {
                    println!("{word}:{} {}", at + 1, digest(line, &way));
                }
            }
        }
    }
    Ok(())
}

/// Returns the digest of the record of `scenario`, or why there is none.
fn digest(scenario: &str, way: &Way) -> String {
    let simulation = match Scenario::from_json(scenario).and_then(Simulation::new) {
        Ok(simulation) => simulation,
        Err(error) => return format!("refused: {error}"),
    };
    let record = if way.threads > 1 {
        let mut run = match Threaded::cut(simulation, way.threads) {
            Ok(run) => run,
            Err(uncut) => return format!("not cut: {}", uncut.1),
        };
        advance(way, run.duration(), |until| {
            run.advance_by(until, way.most);
            run.elapsed()
        });
        serde_json::to_string(&run.into_record())
    } else {
        let mut run = simulation;
        advance(way, run.duration(), |until| {
            run.advance_by(until, way.most);
            run.elapsed()
        });
        serde_json::to_string(&run.record())
    };
    let record = record.unwrap_or_else(|error| error.to_string());
    let mut hasher = DefaultHasher::new();
    hasher.write(record.as_bytes());
    format!("{:016x} {}", hasher.finish(), record.len())
}

/// Advances a run of `whole` in slices. `to` advances it and returns the time that it has reached.
fn advance(way: &Way, whole: Duration, mut to: impl FnMut(Duration) -> Duration) {
    for slice in 1..=way.slices {
        let end = whole * slice / way.slices;
        while to(end) < end {}
    }
}
