//! Times disciplines: `cargo run --release -p goodqueue-conformance --example bench -- "fq_codel flows 1024" 1024
//! 2000` prints the nanoseconds per packet, in and out, with 1024 flows and a standing backlog of 2000 packets. A
//! fourth word is the number of pairs of one run, for a program that counts instructions (`make bench-instructions`).
//! Then it prints the number of offered packets.
#![allow(clippy::print_stdout)] // a program's answer

use goodqueue_conformance::bench::run;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [line, flows, backlog, pairs @ ..] = words.as_slice() else {
        return Err("usage: bench LINE FLOWS BACKLOG [PAIRS]".into());
    };
    let (flows, backlog) = (flows.parse()?, backlog.parse()?);
    if let [pairs] = pairs {
        println!("{}", run(line, flows, backlog, pairs.parse()?)?.packets);
        return Ok(());
    }
    let mut runs = (0..7)
        .map(|_| run(line, flows, backlog, 2_000_000).map(|run| run.packet_ns()))
        .collect::<Result<Vec<f64>, _>>()?;
    runs.sort_by(f64::total_cmp);
    println!(
        "{line}: {:.1} ns a packet (median of 7; least {:.1}), {flows} flows, backlog {backlog}",
        runs[3], runs[0]
    );
    Ok(())
}
