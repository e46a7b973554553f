//! Words of a line that need more than one key of a header. `write` is the reverse.

use super::table::SFQ_RED;
use super::{JIFFY_NS, Refusal, words};
use crate::trace::Header;

/// Reads `ce_threshold`. The header counts ticks of 1024 ns, and the largest signed number means "off".
pub(super) fn ce_threshold(header: &Header) -> Result<String, Refusal> {
    match header.number::<u64>("ce_threshold_ticks")? {
        ticks if ticks == i32::MAX as u64 => Ok(String::new()),
        ticks => Ok(format!("ce_threshold {}ns", ticks.saturating_mul(1024))),
    }
}

pub(super) fn ce_threshold_selector(header: &Header) -> Result<String, Refusal> {
    let (value, mask): (u8, u8) =
        (header.number("ce_threshold_selector")?, header.number("ce_threshold_mask")?);
    Ok(if mask == 0 { String::new() } else { format!("ce_threshold_selector {value:#x}/{mask:#x}") })
}

/// `ce_threshold` of a kernel's `fq` that marks nothing: 2^32 - 1 us.
pub(super) const FQ_NO_MARKS: u64 = u32::MAX as u64 * 1000;

/// Reads `maxrate`, `refill_delay`, `horizon` and `ce_threshold`, which the header has in the kernel's units, and `tc`
/// in whole microseconds. 0, or the largest number of microseconds, means "off".
pub(super) fn fq_times(header: &Header) -> Result<String, Refusal> {
    let jiffies: u64 = header.number("flow_refill_delay_jiffies")?;
    let (bytes, mark): (u64, u64) = (header.number("flow_max_rate_Bps")?, header.number("ce_threshold_ns")?);
    let maxrate = if bytes == 0 { String::new() } else { format!(" maxrate {bytes}bps") };
    let mark = if mark >= FQ_NO_MARKS { String::new() } else { format!(" ce_threshold {}us", mark / 1000) };
    let (delay, horizon) =
        (jiffies.saturating_mul(JIFFY_NS) / 1000, header.number::<u64>("horizon_ns")? / 1000);
    Ok(format!("refill_delay {delay}us horizon {horizon}us{maxrate}{mark}"))
}

pub(super) fn fq_horizon_drop(header: &Header) -> Result<String, Refusal> {
    Ok(if header.number::<u64>("horizon_drop")? == 0 { "horizon_cap" } else { "horizon_drop" }.to_string())
}

/// Reads max_P. If it was not passed to the kernel, it follows from Plog. Written as a probability, it gives the same
/// integer.
pub(super) fn probability(header: &Header) -> Result<String, Refusal> {
    if !header.get("options").is_some_and(|options| options.contains("no_max_p=1")) {
        return Ok(format!("probability {}", header.number::<f64>("cfg_prob")?));
    }
    let (plog, delta): (u32, f64) = (header.number("Plog")?, header.number("qth_delta")?);
    let max_p = f64::from(u32::MAX.checked_shr(plog).unwrap_or(u32::MAX)) * delta;
    Ok(format!("probability {}", max_p / (1_u64 << 32) as f64))
}

pub(super) fn sfq_red(header: &Header) -> Result<String, Refusal> {
    if header.get("red").is_none_or(|red| red == "0") { Ok(String::new()) } else { words(SFQ_RED, header) }
}

/// Reads `perturb`. `tc` has whole seconds, the header has jiffies.
pub(super) fn perturb(header: &Header) -> Result<String, Refusal> {
    let (jiffies, hz): (u64, u64) = (header.number("perturb_period_jiffies")?, header.number("HZ")?);
    match jiffies.checked_rem(hz) {
        Some(0) => Ok(format!("perturb {}", jiffies / hz)),
        _ => Err(Refusal::Unsupported(format!("perturb: {jiffies} jiffies are no whole second at HZ {hz}"))),
    }
}

/// Returns the kernel's value of a gain in 256ths of 1/s.
pub(super) const fn kernel_gain(gain: u64) -> u64 {
    gain.saturating_mul(u32::MAX as u64) / 4_000_000_000
}

/// Reads a gain. `tc` takes gains in 256ths of 1/s. The header has the kernel's value: 64ths of 2^32 - 1 per ns, cut.
pub(super) fn dualpi2_gain(header: &Header, word: &str) -> Result<String, Refusal> {
    let internal: u64 = header.number(&format!("{word}_internal"))?;
    let gain = internal.saturating_mul(4_000_000_000).div_ceil(u32::MAX.into());
    if kernel_gain(gain) != internal {
        return Err(Refusal::Unsupported(format!("{word}_internal={internal} is no gain that tc can set")));
    }
    Ok(format!("{word} {}", gain as f64 / 256.0))
}

pub(super) fn dualpi2_words(header: &Header) -> Result<String, Refusal> {
    let on = |key| Ok::<_, Refusal>(header.number::<u64>(key)? != 0);
    let step: u64 = header.number("step_thresh")?;
    let step = match on("step_in_packets")? {
        true => format!("step_thresh {step}p"),
        false => format!("step_thresh {step}ns"),
    };
    let overload = if on("drop_overload")? { "drop_on_overload" } else { "overflow" };
    let drop = if on("drop_early")? { "drop_enqueue" } else { "drop_dequeue" };
    let classifier = match header.number::<u64>("ecn_mask")? {
        1 => "l4s_ect",
        2 => "ect0",
        3 => "any_ect",
        other => return Err(Refusal::Unsupported(format!("ecn_mask={other} has no word here"))),
    };
    Ok(format!("{step} {overload} {drop} {classifier}"))
}
