//! The header of a cake trace, as words. Linux's numbers stand for words here.

use super::{Pairs, Refusal};
use crate::trace::Header;
use goodqueue_qdisc::sched::cake::{memory_limit, times};
use goodqueue_qdisc::{Args, Link};
use std::fmt::Write as _;

const TIN_MODES: [&str; 5] = ["diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"];
const FLOW_MODES: [&str; 8] =
    ["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"];
const CELLS: [&str; 3] = ["noatm", "atm", "ptm"];

/// Bits of `rate_flags`.
const OVERHEAD: u32 = 1;
const AUTORATE: u32 = 2;
const INGRESS: u32 = 4;
const WASH: u32 = 8;

/// The word of the number that `key` has.
fn word(header: &Header, key: &str, words: &[&'static str]) -> Result<&'static str, Refusal> {
    let number = header.number::<usize>(key)?;
    let last = words.len() - 1;
    words.get(number).copied().ok_or_else(|| format!("{key}: found {number}; accepted: 0 to {last}").into())
}

/// All parameters of the header.
pub(super) fn words(header: &Header) -> Result<String, Refusal> {
    let mut line = format!(
        "{} {} {}",
        word(header, "tin_mode", &TIN_MODES)?,
        word(header, "flow_mode_bits", &FLOW_MODES)?,
        word(header, "atm_mode", &CELLS)?
    );
    for (key, name, unit) in [
        ("interval_us", "rtt", "us"),
        ("target_us", "target", "us"),
        ("rate_mpu", "mpu", ""),
        ("buffer_limit_bytes", "memlimit", ""),
    ] {
        let _ = write!(line, " {name} {}{unit}", header.number::<u64>(key)?);
    }
    match header.number::<u64>("shape_bytes_per_s")? {
        0 => {}
        rate => {
            let _ = write!(line, " bandwidth {}bit", rate.saturating_mul(8));
        }
    }
    let flags = header.number::<u32>("rate_flags")?;
    if flags & AUTORATE != 0 {
        return Err(Refusal::Unsupported("rate_flags: autorate-ingress has no word here".to_string()));
    }
    if flags & OVERHEAD != 0 {
        let _ = write!(line, " overhead {}", header.number::<i64>("rate_overhead")?);
    }
    line.push_str(if flags & INGRESS != 0 { " ingress" } else { " egress" });
    line.push_str(if flags & WASH != 0 { " wash" } else { " nowash" });
    Ok(line)
}

/// All keys of the line.
pub(super) fn write(args: &Args, link: &Link, pairs: &mut Pairs) {
    let index = |word: &str, words: &[&str]| words.iter().position(|known| *known == word).unwrap_or(0);
    let (rtt, target) = times(args);
    let overhead = args.real("overhead");
    let flags = [
        (overhead.is_some(), OVERHEAD),
        (args.choice("direction") == "ingress", INGRESS),
        (args.flag("wash"), WASH),
    ];
    pairs.add("shape_bytes_per_s", args.integer("bandwidth").unwrap_or(0) / 8);
    pairs.add("interval_us", rtt.as_nanos() / 1000);
    pairs.add("target_us", target.as_nanos() / 1000);
    pairs.add("tin_mode", index(args.choice("diffserv"), &TIN_MODES));
    pairs.add("flow_mode_bits", index(args.choice("isolation"), &FLOW_MODES));
    pairs.add("atm_mode", index(args.choice("cells"), &CELLS));
    pairs.add("rate_flags", flags.iter().map(|(on, flag)| if *on { *flag } else { 0 }).sum::<u32>());
    pairs.add("rate_overhead", overhead.unwrap_or(0.0) as i64);
    pairs.add("rate_mpu", args.integer("mpu").unwrap_or(0));
    pairs.add("buffer_limit_bytes", memory_limit(args, link.mtu));
}
