//! Time at a rate, to the nanosecond as Linux computes it.
//!
//! Source: `psched_ratecfg_precompute` (net/sched/sch_generic.c) and `psched_l2t_ns` (include/net/sch_generic.h):
//! a multiplication and a shift stand for the division by the rate. A burst is sent to the kernel as the time that it
//! takes ([`crate::psched`]).

use crate::param::Args;
use crate::psched::{TICK, ticks};
use crate::sched::bucket::{LINKLAYER, LinkLayer, MPU, OVERHEAD, Weight};
use goodqueue_units::{Rate, Release};

/// A rate in bytes per second, as a factor and a shift.
// For the processor: a class of `htb` has two, and thousands of classes do not fit a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    factor: u32,
    overhead: u32,
    mpu: u32,
    shift: u8,
    cells: bool,
}

impl Pace {
    /// Returns the pace of `rate`, with the words `overhead`, `mpu` and `linklayer` of `args`.
    pub(super) fn new(rate: Rate, args: &Args) -> Self {
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
        Self {
            factor,
            overhead: args.get(&OVERHEAD) as u32,
            mpu: args.get(&MPU) as u32,
            shift,
            cells: args.get(&LINKLAYER) != LinkLayer::Ethernet,
        }
    }

    /// Returns the nanoseconds that a packet of `len` bytes takes.
    #[inline]
    pub(super) fn time(&self, len: u32) -> i64 {
        let weight = Weight::of_parts(self.overhead.into(), self.mpu.into(), self.cells);
        (weight.of(len.into()).wrapping_mul(self.factor.into()) >> self.shift) as i64
    }
}

/// Returns the depth of a bucket of `bytes` at `rate`, in nanoseconds, as the `tc` of a release sends it.
pub(super) fn depth(rate: Rate, bytes: u64, release: Release) -> i64 {
    i64::from(ticks(rate, bytes, release)) << TICK
}
