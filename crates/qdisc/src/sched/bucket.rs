//! A token bucket, shared by `tbf`, `htb` and the simulator's policer, and the words that say what fills it.
//!
//! Tokens are kept as time, as in Linux: a packet costs the nanoseconds that it takes at the rate ([`Pace`]). A bucket
//! is full at first.

use super::pace::Pace;
use crate::param::{Digits, Param, bps};
use crate::words;
use goodqueue_units::{Duration, Instant, Rate};

/// Half of the range of an `i64` of nanoseconds, so that a sum of two does not overflow.
const LONGEST: i64 = i64::MAX / 2;

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    pace: Pace,
    /// The largest number of tokens, in nanoseconds.
    depth: i64,
    /// Tokens at the time `at`. A negative number is a debt.
    tokens: i64,
    at: Instant,
}

impl Bucket {
    /// Returns a full bucket of `depth` nanoseconds at `rate`, whose pace is `pace`.
    #[must_use]
    pub fn new(rate: Rate, pace: Pace, depth: i64) -> Self {
        let depth = depth.min(LONGEST);
        Self { rate, pace, depth, tokens: depth, at: Instant::ZERO }
    }

    /// Returns `fresh` with the bytes that this bucket holds or owes, as far as they fit.
    pub(super) fn poured_into(self, fresh: Self, now: Instant) -> Self {
        let [before, after] = [self, fresh].map(|bucket| i128::from(bucket.rate.as_bps()));
        let tokens = i128::from(self.tokens(now)) * before / after;
        let tokens = tokens.clamp(-i128::from(LONGEST), fresh.depth.into()) as i64;
        Self { tokens, at: now, ..fresh }
    }

    /// Returns the cost of a packet of `len` bytes in tokens, which are nanoseconds.
    #[inline]
    #[must_use]
    pub fn cost(&self, len: u32) -> i64 {
        self.pace.time(len)
    }

    /// Returns the tokens at `now`, in nanoseconds. A negative number is a debt.
    #[inline]
    #[must_use]
    pub fn tokens(&self, now: Instant) -> i64 {
        let filled = i64::try_from(now.since(self.at).as_nanos()).unwrap_or(LONGEST).min(LONGEST);
        (self.tokens + filled).min(self.depth)
    }

    /// Returns the time until there are `tokens`. Zero: there are enough now.
    #[inline]
    pub(super) fn wait(&self, now: Instant, tokens: i64) -> Duration {
        Duration::from_nanos((tokens - self.tokens(now)).max(0) as u64)
    }

    /// Takes `cost` tokens. The rest is at least `least`.
    #[inline]
    pub fn charge(&mut self, now: Instant, cost: i64, least: i64) {
        self.tokens = (self.tokens(now) - cost).max(least);
        self.at = now;
    }
}

/// Returns the bytes of the ATM cells that `bytes` occupy: 53 for each 48.
#[inline]
pub(crate) const fn in_cells(bytes: u64) -> u64 {
    bytes.div_ceil(48).saturating_mul(53)
}

pub(crate) const OVERHEAD: Param<u64> = Param::bytes("overhead", "bytes that the wire adds to each packet")
    .default(0)
    .range(0, 65_535)
    .digits(Digits::Decimal)
    .abbreviates()
    .source("tc(8)");
pub(crate) const MPU: Param<u64> = Param::bytes("mpu", "least bytes that a packet counts for")
    .default(0)
    .range(0, 65_535)
    .source("tc-tbf(8)");
pub(crate) const LINKLAYER: Param<LinkLayer> = Param::choice(
    "linklayer",
    "atm and adsl: a packet occupies whole cells, 53 bytes for each 48",
    "ethernet",
)
.abbreviates()
.source("tc-stab(8)");
pub(super) const RATE: Param<Option<Rate>> = ANY_RATE.shapes();
pub(crate) const ANY_RATE: Param<Option<Rate>> =
    Param::rate("rate", "rate to shape to; unset: the link's rate (tc requires it)")
        .range(bps(8), bps(1_000_000_000_000))
        .once()
        .zero_is_unset()
        .source("tc-tbf(8), tc-htb(8)");
/// Whether the child learns that the link is idle.
pub(super) const IDLE: Param<Idle> = Param::choice(
    "idle",
    "linux: an empty child is not asked for a packet; told: it is always asked, as a link asks",
    "linux",
)
.source("goodqueue");
pub(super) const CHILD: Param<()> = Param::child("the discipline inside; the rest of the line belongs to it")
    .source("goodqueue (tc: a qdisc whose parent is the class)");

words! {
    pub(crate) enum LinkLayer { Ethernet = "ethernet", Atm = "atm", Adsl = "adsl" }
    pub(super) enum Idle { Linux = "linux", Told = "told" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(bps: u64, bytes: u32) -> Bucket {
        let rate = Rate::from_bps(bps).unwrap();
        let pace = Pace::of_parts(rate, 0, 0, false);
        Bucket::new(rate, pace, pace.time(bytes))
    }

    /// 10 Mbit/s are 800 ns per byte. 3000 bytes are 2.4 ms of tokens. Two packets of 1514 bytes (1.2112 ms each)
    /// leave -22.4 us.
    #[test]
    fn tokens_are_time() {
        let at = Instant::from_nanos;
        let mut bucket = bucket(10_000_000, 3000);
        assert_eq!((bucket.cost(1514), bucket.tokens(at(5))), (1_211_200, 2_400_000));
        bucket.charge(at(0), 1_211_200, i64::MIN);
        bucket.charge(at(0), 1_211_200, i64::MIN);
        assert_eq!((bucket.tokens(at(0)), bucket.tokens(at(22_400))), (-22_400, 0));
        assert_eq!(bucket.wait(at(0), 0).as_nanos(), 22_400);
        assert_eq!(bucket.wait(at(22_400), 0).as_nanos(), 0);
        assert_eq!(bucket.tokens(at(1_000_000_000)), 2_400_000, "no more than the burst");
        bucket.charge(at(1_000_000_000), 5_000_000, -1_000_000);
        assert_eq!(bucket.tokens(at(1_000_000_000)), -1_000_000, "no more debt than allowed");
    }

    /// A change of the rate must keep the bytes, not the time: 1000 bytes are 10 ms at 800 kbit/s and 100 ms at 80
    /// kbit/s.
    #[test]
    fn another_rate_keeps_the_bytes() {
        let bucket = |kbit: u64, bytes| bucket(kbit * 1000, bytes);
        let now = Instant::from_nanos(5);
        assert_eq!(bucket(800, 1000).poured_into(bucket(80, 3000), now).tokens(now), 100_000_000);
        assert_eq!(bucket(800, 1000).poured_into(bucket(80, 300), now).tokens(now), 30_000_000, "what fits");
        let mut owing = bucket(800, 1000);
        owing.charge(now, 30_000_000, i64::MIN);
        assert_eq!(owing.poured_into(bucket(80, 3000), now).tokens(now), -200_000_000);
    }

    /// Neither the deepest bucket at the slowest rate nor the longest time of filling may overflow.
    #[test]
    fn nothing_overflows() {
        let bucket = bucket(8, u32::MAX);
        assert_eq!(bucket.cost(u32::MAX), 4_294_967_295_000_000_000);
        assert_eq!(bucket.tokens(Instant::MAX), 4_294_967_295_000_000_000);
    }
}
