//! Replays decision traces and prints one outcome per trace as JSON: `cargo run --release -p goodqueue-conformance
//! --example replay -- golden/codel/*.csv.gz`. It fails if one mismatches, or if none could be replayed.
#![allow(clippy::print_stdout)] // a program's answer

use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (mut clean, mut replayed) = (true, false);
    for file in std::env::args().skip(1) {
        let outcome = goodqueue_conformance::replay(file.as_ref())?;
        clean &= outcome.mismatches == 0;
        replayed |= outcome.unsupported.is_none();
        println!("{}", serde_json::to_string(&outcome)?);
    }
    Ok(if clean && replayed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
