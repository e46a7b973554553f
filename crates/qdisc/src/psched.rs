//! The clock of `tc`'s messages to the kernel: ticks of 64 ns (`/proc/net/psched`).
//!
//! Source: `tc_calc_xmittime` (iproute2, tc_core.c). The classes of `htb` and `hfsc`, `tbf` and RED's idle table get
//! times that `tc` computes from a size and a rate.

use goodqueue_units::{Rate, Release};

/// `PSCHED_SHIFT`: the binary logarithm of a tick in nanoseconds.
pub(crate) const TICK: u32 = 6;
const TICKS_PER_US: f64 = 1000.0 / (1 << TICK) as f64;

/// Returns the ticks that `bytes` take at `rate`, as the `tc` of a release computes them. That of Linux 6.1 (Debian 12)
/// cuts the time to whole microseconds, and then to whole ticks. Since iproute2 6.14 the exact time is rounded up to a
/// tick.
#[must_use]
pub(crate) fn ticks(rate: Rate, bytes: u64, release: Release) -> u32 {
    let rate = (rate.as_bps() / 8).max(1) as f64;
    let us = 1e6 * (bytes as f64 / rate);
    let ticks = match release {
        Release::Linux6_1 => libm::floor(us.min(f64::from(u32::MAX))) * TICKS_PER_US,
        _ => libm::ceil(us * TICKS_PER_US),
    };
    ticks.min(f64::from(u32::MAX)) as u32
}
