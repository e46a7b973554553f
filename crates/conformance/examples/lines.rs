//! Prints the release and the `tc` line of each decision trace, one per line: `cargo run -p goodqueue-conformance
//! --example lines -- golden/red/*.csv.gz`.
#![allow(clippy::print_stdout)] // a program's answer

use goodqueue_conformance::{line_of, trace::Reader};
use std::fs::File;
use std::io::BufReader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let trace = Reader::open(&file, BufReader::new(File::open(&file)?))?;
        println!("{}\t{}", trace.header().get("kernel").unwrap_or_default(), line_of(trace.header())?);
    }
    Ok(())
}
