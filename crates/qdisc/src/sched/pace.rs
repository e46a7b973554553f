//! Time at a rate, to the nanosecond as Linux computes it.
//!
//! Source: `psched_ratecfg_precompute` (net/sched/sch_generic.c) and `psched_l2t_ns` (include/net/sch_generic.h): a
//! multiplication and a shift stand for the division by the rate. The burst of an `htb` class is sent to the kernel as
//! the time that it takes ([`crate::psched`]).

use super::bucket::{LINKLAYER, LinkLayer, MPU, OVERHEAD};
use crate::param::Args;
use crate::psched::{TICK, ticks};
use goodqueue_units::{Rate, Release};

/// A rate in bytes per second, as a factor and a shift, and the bytes that a packet counts for.
// For the processor: a class of `htb` has two, and thousands of classes do not fit a cache.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    factor: u32,
    overhead: u32,
    mpu: u32,
    shift: u8,
    /// Whether packets go in cells of 53 bytes, which hold 48 bytes each.
    cells: bool,
}

impl Pace {
    /// Returns the pace of `rate`. Packets have `overhead` bytes more and at least `mpu` bytes, in whole ATM cells if
    /// `cells` is true.
    #[must_use]
    pub fn of_parts(rate: Rate, overhead: u32, mpu: u32, cells: bool) -> Self {
        let bytes = (rate.as_bps() / 8).max(1);
        let (mut scaled, mut shift) = (1_000_000_000_u64, 0);
        let factor = loop {
            // The kernel keeps 32 bits of the quotient.
            let factor = (scaled / bytes) as u32;
            if factor >> 31 != 0 || scaled >> 63 != 0 {
                break factor;
            }
            (scaled, shift) = (scaled << 1, shift + 1);
        };
        Self { factor, overhead, mpu, shift, cells }
    }

    /// Returns the pace of `rate`, with the words `overhead`, `mpu` and `linklayer` of `args`.
    pub(crate) fn new(rate: Rate, args: &Args) -> Self {
        let cells = args.get(&LINKLAYER) != LinkLayer::Ethernet;
        Self::of_parts(rate, args.get(&OVERHEAD) as u32, args.get(&MPU) as u32, cells)
    }

    /// Returns the nanoseconds that a packet of `len` bytes takes.
    #[inline]
    #[must_use]
    pub fn time(&self, len: u32) -> i64 {
        let bytes = (u64::from(len) + u64::from(self.overhead)).max(self.mpu.into());
        let bytes = if self.cells { super::bucket::in_cells(bytes) } else { bytes };
        (bytes.wrapping_mul(self.factor.into()) >> self.shift) as i64
    }
}

/// Returns the depth of a bucket of `bytes` at `rate`, in nanoseconds, as the `tc` of a release sends it.
pub(crate) fn depth(rate: Rate, bytes: u64, release: Release) -> i64 {
    i64::from(ticks(rate, bytes, release)) << TICK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(bps: u64) -> Pace {
        Pace::of_parts(Rate::from_bps(bps).unwrap(), 0, 0, false)
    }

    /// At 3 Mbit/s a byte takes 2666.67 ns. The kernel's factor is this number times 2^20, cut to 2796202666. So 3000
    /// bytes take a nanosecond less than 8 ms.
    #[test]
    fn a_time_is_a_product_and_a_shift() {
        assert_eq!([0, 1, 1514, 3000].map(|len| pace(3_000_000).time(len)), [0, 2666, 4_037_333, 7_999_999]);
        // 100 Gbit/s: 0.08 ns per byte, of which the factor has 31 bits.
        assert_eq!([1, 64, 65_549].map(|len| pace(100_000_000_000).time(len)), [0, 5, 5243]);
    }

    #[test]
    fn a_packet_weighs_its_overhead_and_mpu_at_least() {
        // One microsecond per byte.
        let time = |len: u32, cells| {
            Pace::of_parts(Rate::from_bps(8_000_000).unwrap(), 24, 84, cells).time(len) / 1000
        };
        assert_eq!([40, 60, 1514].map(|len| time(len, false)), [84, 84, 1538]);
        // 84 bytes are two cells, and so are 96. 97 bytes are three cells, 1538 bytes 33.
        assert_eq!([40, 72, 73, 1514].map(|len| time(len, true)), [106, 106, 159, 33 * 53]);
    }
}
