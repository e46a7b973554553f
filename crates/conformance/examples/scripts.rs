//! Carries out scripts of `tc` commands on the model of a device: `tools/tc/compare.py` puts what comes of them beside
//! what comes of them on Linux of the release that the first argument names. Standard input is a JSON list of scripts, each a list of commands without `tc`.
#![allow(clippy::print_stdout)] // a program's answer

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::tree::tried;
use goodqueue_qdisc::{AnyQdisc, Link, Rate};
use goodqueue_units::Release;
use std::io::Read as _;

const LINK: Link = Link { rate: Rate::from_bps(1_000_000_000).unwrap(), mtu: 1514 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let release = std::env::args().nth(1).unwrap_or_default();
    let release = Release::named(&release).ok_or("accepted: 6.1, 6.12 or 7.3")?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let scripts: Vec<Vec<String>> = serde_json::from_str(&text)?;
    for script in scripts {
        let build = |args: &_| AnyQdisc::<Plain>::build(args, &LINK).map(drop);
        let tried = tried(script.iter().map(String::as_str), release, build);
        println!("{}", serde_json::json!({"said": tried.said, "state": tried.state, "limit": tried.limit}));
    }
    Ok(())
}
