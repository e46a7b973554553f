//! What is below a queue discipline: how long each packet takes to leave.

use super::bursts::Bursts;
use super::capacity::Served;
use super::rate_trace::{Opportunities, RateTrace};
use super::steps::Steps;
use goodqueue_units::{Duration, Instant, Rate};

/// A transmitter, which sends one packet after the other.
#[derive(Clone, Debug)]
pub(crate) enum Transmitter {
    /// At one rate.
    Fixed(Fixed),
    /// At delivery opportunities.
    Opportunities(Served<Opportunities>),
    /// At a rate that changes.
    Steps(Served<Steps>),
    /// In bursts.
    Bursts(Served<Bursts>),
    /// At once.
    Gate,
}

impl Transmitter {
    pub(crate) fn fixed(rate: Rate) -> Self {
        Self::Fixed(Fixed::new(rate))
    }

    pub(crate) fn trace(trace: RateTrace) -> Self {
        match trace {
            RateTrace::Opportunities(opportunities) => Self::Opportunities(Served::new(opportunities)),
            RateTrace::Steps(steps) => Self::Steps(Served::new(steps)),
        }
    }

    pub(crate) fn bursts(bursts: Bursts) -> Self {
        Self::Bursts(Served::new(bursts))
    }

    /// Takes a packet of `bytes` bytes at `now`, which is not before the last packet's end: how long until its last bit
    /// has left. That may be no time at all, where several packets leave in one opportunity or burst.
    #[inline]
    pub(crate) fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        match self {
            Self::Fixed(fixed) => fixed.occupy(bytes),
            other => other.occupy_varying(now, bytes),
        }
    }

    #[inline(never)] // it would only make a fixed rate's way longer
    fn occupy_varying(&mut self, now: Instant, bytes: u32) -> Duration {
        match self {
            Self::Fixed(fixed) => fixed.occupy(bytes),
            Self::Opportunities(served) => served.occupy(now, bytes),
            Self::Steps(served) => served.occupy(now, bytes),
            Self::Bursts(served) => served.occupy(now, bytes),
            Self::Gate => Duration::ZERO,
        }
    }

    /// When the transmitter, free at `now`, begins with its next packet: at once, or at the next opportunity, burst or
    /// end of an outage. A link that takes the packet off its queue only then lets the discipline see all of the wait,
    /// as mahimahi does; one that calls [`occupy`](Self::occupy) at once has room for a packet below the discipline.
    /// Packets leave at the same time either way.
    #[inline]
    pub(crate) fn start(&mut self, now: Instant) -> Instant {
        match self {
            Self::Fixed(_) | Self::Gate => now,
            Self::Opportunities(served) => served.start(now),
            Self::Steps(served) => served.start(now),
            Self::Bursts(served) => served.start(now),
        }
    }

    /// The queue gave nothing when the transmitter was free: what is left of an opportunity or a burst is lost. A
    /// packet that arrives later in the same moment, were it not for this call, would still have it.
    #[inline]
    pub(crate) fn idle(&mut self) {
        match self {
            Self::Fixed(_) | Self::Gate => {}
            Self::Opportunities(served) => served.idle(),
            Self::Steps(served) => served.idle(),
            Self::Bursts(served) => served.idle(),
        }
    }

    /// Bits that could have been sent after `from` up to `to`.
    pub(crate) fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Fixed(fixed) => fixed.rate.as_bps() as f64 * to.since(from).as_secs_f64(),
            Self::Opportunities(served) => served.bits(from, to),
            Self::Steps(served) => served.bits(from, to),
            Self::Bursts(served) => served.bits(from, to),
            Self::Gate => f64::INFINITY,
        }
    }

    /// Its rate in the long run, for disciplines that ask for one.
    pub(crate) fn mean_rate(&self) -> Rate {
        match self {
            Self::Fixed(fixed) => fixed.rate,
            Self::Opportunities(served) => served.mean_rate(),
            Self::Steps(served) => served.mean_rate(),
            Self::Bursts(served) => served.mean_rate(),
            Self::Gate => crate::scenario::MOST_RATE.1.0,
        }
    }
}

/// A transmitter of one rate.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    rate: Rate,
    /// Length of the last transmission, and its duration as quotient and remainder by the rate: nearly all packets are
    /// full, and a division costs more.
    last_length: (u32, u64, u64),
    /// Remainders of a nanosecond, in 1/rate ns, that transmissions were too short by so far.
    owed: u64,
}

impl Fixed {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, last_length: (0, 0, 0), owed: 0 }
    }

    /// How long `bytes` bytes occupy the wire: whole nanoseconds that add up to the exact time over many packets.
    #[inline]
    pub(crate) fn occupy(&mut self, bytes: u32) -> Duration {
        let bps = self.rate.as_bps();
        if self.last_length.0 != bytes {
            let nanobits = u64::from(bytes) * 8_000_000_000;
            self.last_length = (bytes, nanobits / bps, nanobits % bps);
        }
        self.owed += self.last_length.2;
        let carry = self.owed >= bps;
        self.owed -= if carry { bps } else { 0 };
        Duration::from_nanos(self.last_length.1 + u64::from(carry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Duration = Duration::from_secs(1);

    proptest! {
        /// Whole nanoseconds are all that a transmission may be off, however many packets there were before it.
        #[test]
        fn a_fixed_rate_loses_no_nanosecond(bps in 1_000..10_000_000_000_u64, lengths in prop::collection::vec(1..9000_u32, 1..300)) {
            let mut fixed = Fixed::new(Rate::from_bps(bps).unwrap());
            let taken: u128 = lengths.iter().map(|length| u128::from(fixed.occupy(*length).as_nanos())).sum();
            let bytes: u128 = lengths.iter().copied().map(u128::from).sum();
            prop_assert_eq!(taken, bytes * 8_000_000_000 / u128::from(bps));
        }

        /// A rate that never changes is a fixed one, and so are bursts without a pause: two ways to the same times, but
        /// for the direction of rounding.
        #[test]
        fn one_step_and_endless_bursts_are_a_fixed_rate(bps in 1_000..10_000_000_000_u64, lengths in prop::collection::vec(1..9000_u32, 1..50)) {
            let rate = Rate::from_bps(bps).unwrap();
            let steps = RateTrace::Steps(Steps::new(&[(Duration::ZERO, bps)], None).unwrap());
            let bursts = Bursts::new(rate, Duration::from_millis(3), Some(rate)).unwrap();
            let fixed = Transmitter::fixed(rate);
            let mut transmitters = [fixed, Transmitter::trace(steps), Transmitter::bursts(bursts)];
            let mut free = [Instant::ZERO; 3];
            for length in lengths {
                for (transmitter, free) in transmitters.iter_mut().zip(&mut free) {
                    prop_assert_eq!(transmitter.start(*free), *free);
                    *free += transmitter.occupy(*free, length);
                }
                prop_assert!(free[1] == free[2] && free[1].since(free[0]) <= Duration::from_nanos(1), "{free:?}");
            }
        }
    }

    #[test]
    fn each_tells_its_rate_and_what_it_could_have_sent() {
        let rate = Rate::from_bps(12_112_000).unwrap();
        let opportunities = Opportunities::new([1, 2, 3], 1514).unwrap();
        let steps = Steps::new(&[(Duration::ZERO, 0), (S, 24_224_000)], Some(S * 2)).unwrap();
        let transmitters = [
            Transmitter::fixed(rate),
            Transmitter::trace(RateTrace::Opportunities(opportunities)),
            Transmitter::trace(RateTrace::Steps(steps)),
            Transmitter::bursts(Bursts::new(rate, Duration::from_millis(4), None).unwrap()),
        ];
        for transmitter in transmitters {
            assert_eq!(transmitter.mean_rate(), rate);
            let end = Instant::ZERO + S * 12;
            assert_eq!(transmitter.capacity_bits(Instant::ZERO, end), 12.0 * 12_112_000.0);
        }
    }
}
