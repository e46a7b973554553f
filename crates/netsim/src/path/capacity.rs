//! What a transmitter could send, as a function of time.
//!
//! A transmitter whose rate varies is what it could have sent by each moment, and the moment by which it could have
//! sent as much as is wanted: the variable capacity node of network calculus (Le Boudec and Thiran 2001, section
//! 1.3.2). The rest is the same for all of them.

use goodqueue_units::{Duration, Instant, Rate};

/// Billionths of a bit: bits per second times nanoseconds. In these all sums are exact.
pub(crate) type Nanobits = u128;

/// Nanobits of a byte.
pub(crate) const BYTE: Nanobits = 8_000_000_000;

/// Why a list is no trace, and which of its entries is to blame: a file's reader knows the line of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) entry: usize,
    pub(crate) why: String,
}

/// What a transmitter could send.
pub(crate) trait Capacity {
    /// What it could have sent by `time`, all that it can send in that very moment included.
    fn by(&self, time: Instant) -> Nanobits;

    /// When the next bit after `amount` begins to leave, rounded down to a nanosecond; [`Instant::MAX`] is never.
    fn begins(&self, amount: Nanobits) -> Instant;

    /// The first time by which it could have sent `amount`, which is not 0, rounded up; [`Instant::MAX`] is never.
    fn ends(&self, amount: Nanobits) -> Instant;

    /// What it sends in the long run.
    fn mean_rate(&self) -> Rate;
}

/// A transmitter that sends as its capacity lets it. What nobody used when it was there is lost.
#[derive(Clone, Debug)]
pub(crate) struct Served<C> {
    capacity: C,
    /// Of all that it could have sent, how much is gone, as of `until`.
    used: Nanobits,
    /// When the last transmission ended, or the next one may start. [`Instant::MAX`] where nothing is under way: then
    /// all that could be sent by now is gone.
    until: Instant,
}

impl<C: Capacity> Served<C> {
    pub(crate) fn new(capacity: C) -> Self {
        Self { capacity, used: 0, until: Instant::MAX }
    }

    fn used_by(&self, now: Instant) -> Nanobits {
        if now == self.until { self.used } else { self.capacity.by(now) }
    }

    /// See [`Transmitter::start`](super::transmitter::Transmitter::start).
    pub(crate) fn start(&mut self, now: Instant) -> Instant {
        self.used = self.used_by(now);
        self.until = self.capacity.begins(self.used).max(now);
        self.until
    }

    /// See [`Transmitter::occupy`](super::transmitter::Transmitter::occupy).
    pub(crate) fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        self.used = self.used_by(now) + Nanobits::from(bytes) * BYTE;
        self.until = self.capacity.ends(self.used);
        if self.until == Instant::MAX { Duration::MAX } else { self.until.since(now) }
    }

    /// See [`Transmitter::idle`](super::transmitter::Transmitter::idle).
    pub(crate) fn idle(&mut self) {
        self.until = Instant::MAX;
    }

    /// Bits that could have been sent after `from` up to `to`.
    pub(crate) fn bits(&self, from: Instant, to: Instant) -> f64 {
        self.capacity.by(to).saturating_sub(self.capacity.by(from)) as f64 / 1e9
    }

    pub(crate) fn mean_rate(&self) -> Rate {
        self.capacity.mean_rate()
    }
}

/// A time as a number that may lie beyond all time.
pub(crate) fn instant(nanos: u128) -> Instant {
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The rate of `amount` in `nanos`, at least 1 bit/s.
pub(crate) fn rate(amount: Nanobits, nanos: u128) -> Rate {
    let bps = u64::try_from(amount / nanos.max(1)).unwrap_or(u64::MAX).max(1);
    Rate::from_bps(bps).unwrap_or(const { Rate::from_bps(1).unwrap() })
}

#[cfg(test)]
pub(crate) mod tests;
