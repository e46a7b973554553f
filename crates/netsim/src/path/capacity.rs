//! What a transmitter could send, as a function of time.
//!
//! A transmitter whose rate varies is described by two functions: how much it could have sent by a given time, and by
//! when it could have sent a given amount. This is the variable capacity node of network calculus (Le Boudec and
//! Thiran 2001, section 1.3.2). The code in this file is the same for all such transmitters.

use goodqueue_units::{Duration, Instant, Rate};

/// Billionths of a bit: bits per second times nanoseconds. All sums in this unit are exact.
pub(crate) type Nanobits = u128;

/// Nanobits per byte.
pub(crate) const BYTE: Nanobits = 8_000_000_000;

/// Why a list is not a trace of rates, and the index of the entry to blame. The reader of a file knows the line of
/// each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) entry: usize,
    pub(crate) why: String,
}

/// What a transmitter could send.
pub(crate) trait Capacity {
    /// Returns how much could have been sent by `time`, including everything that can be sent at `time` itself.
    fn by(&self, time: Instant) -> Nanobits;

    /// Returns when the next bit after `amount` begins to leave, rounded down to a nanosecond. [`Instant::MAX`] means
    /// never.
    fn begins(&self, amount: Nanobits) -> Instant;

    /// Returns the first time by which `amount`, which is not 0, could have been sent, rounded up to a nanosecond.
    /// [`Instant::MAX`] means never.
    fn ends(&self, amount: Nanobits) -> Instant;

    /// Returns the long-run rate.
    fn mean_rate(&self) -> Rate;
}

/// A transmitter that sends as its capacity allows. Capacity that no packet uses in time is lost.
#[derive(Clone, Debug)]
pub(crate) struct Served<C> {
    capacity: C,
    /// How much of the capacity since the start was used or lost, as of `until`.
    used: Nanobits,
    /// When the last transmission ended, or when the next one may start. [`Instant::MAX`] if no transmission is under
    /// way. Then the whole capacity up to now is used or lost.
    until: Instant,
}

impl<C: Capacity> Served<C> {
    pub(crate) fn new(capacity: C) -> Self {
        Self { capacity, used: 0, until: Instant::MAX }
    }

    fn used_by(&self, now: Instant) -> Nanobits {
        if now == self.until { self.used } else { self.capacity.by(now) }
    }

    /// Does what [`Transmitter::start`](super::transmitter::Transmitter::start) does.
    pub(crate) fn start(&mut self, now: Instant) -> Instant {
        self.used = self.used_by(now);
        self.until = self.capacity.begins(self.used).max(now);
        self.until
    }

    /// Does what [`Transmitter::occupy`](super::transmitter::Transmitter::occupy) does.
    pub(crate) fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        self.used = self.used_by(now) + Nanobits::from(bytes) * BYTE;
        self.until = self.capacity.ends(self.used);
        if self.until == Instant::MAX { Duration::MAX } else { self.until.since(now) }
    }

    /// Does what [`Transmitter::idle`](super::transmitter::Transmitter::idle) does.
    pub(crate) fn idle(&mut self) {
        self.until = Instant::MAX;
    }

    /// Returns the bits that could have been sent after `from` up to `to`.
    pub(crate) fn bits(&self, from: Instant, to: Instant) -> f64 {
        self.capacity.by(to).saturating_sub(self.capacity.by(from)) as f64 / 1e9
    }

    pub(crate) fn mean_rate(&self) -> Rate {
        self.capacity.mean_rate()
    }
}

/// Returns the time at `nanos` ns, or [`Instant::MAX`] if the number is too large for a time.
pub(crate) fn instant(nanos: u128) -> Instant {
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Returns the rate of `amount` in `nanos` ns, at least 1 bit/s.
pub(crate) fn rate(amount: Nanobits, nanos: u128) -> Rate {
    let bps = u64::try_from(amount / nanos.max(1)).unwrap_or(u64::MAX).max(1);
    Rate::from_bps(bps).unwrap_or(const { Rate::from_bps(1).unwrap() })
}

#[cfg(test)]
pub(crate) mod tests;
