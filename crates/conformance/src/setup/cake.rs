//! The header of a cake trace as words. The header has Linux's numbers for them.

use super::{Pairs, Refusal, flag, integer, is, real};
use crate::trace::Header;
use goodqueue_qdisc::sched::cake::{memory_limit, times};
use goodqueue_qdisc::{Args, Link, registry};
use std::fmt::Write as _;

const TIN_MODES: [&str; 5] = ["diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"];
const FLOW_MODES: [&str; 8] =
    ["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"];
const CELLS: [&str; 3] = ["noatm", "atm", "ptm"];

const ACK_FILTERS: [&str; 3] = ["no-ack-filter", "ack-filter", "ack-filter-aggressive"];

/// Bits of `rate_flags`.
const OVERHEAD: u32 = 1;
const AUTORATE: u32 = 2;
const INGRESS: u32 = 4;
const WASH: u32 = 8;
const SPLIT_GSO: u32 = 16;

/// The bit of `flow_mode_bits` that is no isolation mode.
const NAT: usize = 64;

/// Returns the word for `number`, the value of `key`.
fn word(key: &str, number: usize, words: &[&'static str]) -> Result<&'static str, Refusal> {
    let last = words.len() - 1;
    words.get(number).copied().ok_or_else(|| format!("{key}: found {number}; accepted: 0 to {last}").into())
}

/// Returns the number of `key`, if the header has it. Keys that only some traces need are left out of the others.
fn optional(header: &Header, key: &str) -> Result<Option<usize>, Refusal> {
    header.get(key).map(|_| header.number(key)).transpose().map_err(Refusal::from)
}

/// Returns all parameters of the header.
pub(super) fn words(header: &Header) -> Result<String, Refusal> {
    let flow_mode: usize = header.number("flow_mode_bits")?;
    let flags = header.number::<u32>("rate_flags")?;
    let choose = |bit, set, unset| if flags & bit != 0 { set } else { unset };
    // `raw` comes before the cells and the overhead, which it would reset.
    let mut line = [
        word("tin_mode", header.number("tin_mode")?, &TIN_MODES)?,
        word("flow_mode_bits", flow_mode & !NAT, &FLOW_MODES)?,
        if flow_mode & NAT != 0 { "nat" } else { "nonat" },
        word("ack_filter", optional(header, "ack_filter")?.unwrap_or(0), &ACK_FILTERS)?,
        choose(INGRESS, "ingress", "egress"),
        choose(WASH, "wash", "nowash"),
        choose(SPLIT_GSO, "split-gso", "no-split-gso"),
        choose(OVERHEAD, "", "raw"),
        word("atm_mode", header.number("atm_mode")?, &CELLS)?,
    ]
    .join(" ");
    let _ = write!(line, " overhead {}", header.number::<i64>("rate_overhead")?);
    for (key, name, unit) in
        [("interval_us", "rtt", "us"), ("target_us", "target", "us"), ("rate_mpu", "mpu", "")]
    {
        let _ = write!(line, " {name} {}{unit}", header.number::<u64>(key)?);
    }
    if let Some(mask) = optional(header, "fwmark_mask")? {
        let _ = write!(line, " fwmark {mask}");
    }
    match header.number::<u64>("shape_bytes_per_s")? {
        0 => {}
        rate => {
            let _ = write!(line, " bandwidth {}bit", rate.saturating_mul(8));
        }
    }
    line += choose(AUTORATE, " autorate-ingress", ""); // a bandwidth behind it would end it
    // With autorate a derived limit follows the rate, and a limit that was set does not.
    let limit: u64 = header.number("buffer_limit_bytes")?;
    let line_so_far = registry::parse_line(&format!("cake {line}"));
    let line_so_far = line_so_far.map_err(|error| Refusal::Unsupported(error.0))?;
    let derived = memory_limit(&line_so_far, header.number("psched_mtu_bytes")?);
    if flags & AUTORATE == 0 || limit != derived {
        let _ = write!(line, " memlimit {limit}");
    }
    Ok(line)
}

/// Writes all keys of the line.
pub(super) fn write(args: &Args, link: &Link, pairs: &mut Pairs) {
    let index = |name, words: &[&str]| words.iter().position(|word| is(args, name, word)).unwrap_or(0);
    let (rtt, target) = times(args);
    let overhead = real(args, "overhead");
    let flags = [
        (overhead.is_some() && !is(args, "base", "raw"), OVERHEAD),
        (is(args, "autorate", "autorate-ingress"), AUTORATE),
        (is(args, "direction", "ingress"), INGRESS),
        (flag(args, "wash"), WASH),
        (is(args, "gso", "split-gso"), SPLIT_GSO),
    ];
    pairs.add("shape_bytes_per_s", integer(args, "bandwidth").unwrap_or(0) / 8);
    pairs.add("interval_us", rtt.as_nanos() / 1000);
    pairs.add("target_us", target.as_nanos() / 1000);
    pairs.add("tin_mode", index("diffserv", &TIN_MODES));
    pairs.add("flow_mode_bits", index("isolation", &FLOW_MODES) + if flag(args, "nat") { NAT } else { 0 });
    pairs.add("atm_mode", index("cells", &CELLS));
    pairs.add("rate_flags", flags.iter().map(|(on, flag)| if *on { *flag } else { 0 }).sum::<u32>());
    pairs.add("rate_overhead", overhead.unwrap_or(0.0) as i64);
    pairs.add("rate_mpu", integer(args, "mpu").unwrap_or(0));
    pairs.add("buffer_limit_bytes", memory_limit(args, link.mtu));
    let filter = index("ack_filter", &ACK_FILTERS);
    for (key, value) in [("ack_filter", filter as u64), ("fwmark_mask", integer(args, "fwmark").unwrap_or(0))]
    {
        if value != 0 {
            pairs.add(key, value);
        }
    }
}
