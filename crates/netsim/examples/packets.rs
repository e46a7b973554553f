//! Runs a scenario, for a program that counts instructions (`make bench-instructions`):
//! `cargo run --release -p goodqueue-netsim --example packets -- "$(cat scenario.json)"` prints the packets that the
//! bottleneck forwarded down.
#![allow(clippy::print_stdout)] // a program's answer

use goodqueue_netsim::{Scenario, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(scenario) = std::env::args().nth(1) else {
        return Err("usage: packets SCENARIO, as JSON".into());
    };
    let mut simulation = Simulation::new(Scenario::from_json(&scenario)?)?;
    simulation.run();
    let record = serde_json::to_value(simulation.record())?;
    println!("{}", record["queues"]["down"]["packets"]["forwarded"]);
    Ok(())
}
