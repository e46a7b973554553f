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

#[cfg(test)]
mod tests {
    use super::*;

    /// The depths of the buckets must be those that the real `tc` sent, before and after iproute2 6.14. Without a
    /// `burst` it is a packet of the default `mtu`, 1600 bytes.
    #[test]
    fn buckets_are_as_deep_as_tc_makes_them() {
        let table = [
            ("htb rate 1mbit", 1600, 1600),
            ("htb rate 5mbit ceil 10mbit burst 15k", 15 * 1024, 1600),
            ("htb rate 3333kbit ceil 7777kbit burst 1601 cburst 1b", 1601, 1),
            ("htb rate 5mbit overhead 40 mpu 84 linklayer atm burst 3000 cburst 1600", 3000, 1600),
        ];
        let mut compared = 0;
        for one in crate::tc_numbers::of("htb") {
            let Some((_, burst, cburst)) = table.iter().find(|(line, ..)| *line == one.line) else {
                continue;
            };
            for (key, rate, bytes) in [("buffer", "rate_Bps", burst), ("cbuffer", "ceil_Bps", cburst)] {
                let rate = Rate::from_bps(8 * one.get(rate)).unwrap();
                let found = u64::from(ticks(rate, *bytes, one.release));
                assert_eq!(found, one.get(key), "{:?} {}: {key}", one.release, one.line);
                compared += 1;
            }
        }
        assert_eq!(compared, 4 * 2 * 2, "two releases");
    }
}
