//! What is below a queue discipline: how long each packet takes to leave.

use super::access::AnyChannel;
use super::bursts::Bursts;
use super::capacity::Served;
use super::rate_trace::{Opportunities, RateTrace};
use super::steps::Steps;
use goodqueue_units::{Duration, Instant, Rate};

/// A transmitter. It sends one packet after the other.
#[derive(Debug)]
pub(crate) enum Transmitter {
    /// At one rate.
    Fixed(Fixed),
    /// At delivery opportunities.
    Opportunities(Served<Opportunities>),
    /// At a rate that changes.
    Steps(Served<Steps>),
    /// In bursts.
    Bursts(Served<Bursts>),
    /// As an access network allows.
    #[allow(dead_code, reason = "without the feature `complete` there are none")]
    Access(AnyChannel),
    /// Every packet leaves at once.
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

    /// Sends a packet of `bytes` bytes at `now`, which is not before the end of the last packet. Returns how long it
    /// takes until the last bit has left. The time can be 0 if several packets leave in one opportunity or burst.
    #[inline]
    pub(crate) fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        match self {
            Self::Fixed(fixed) => fixed.occupy(bytes),
            other => other.occupy_varying(now, bytes),
        }
    }

    #[inline(never)] // inlined, it would only lengthen the code path of a fixed rate
    fn occupy_varying(&mut self, now: Instant, bytes: u32) -> Duration {
        match self {
            Self::Fixed(fixed) => fixed.occupy(bytes),
            Self::Opportunities(served) => served.occupy(now, bytes),
            Self::Steps(served) => served.occupy(now, bytes),
            Self::Bursts(served) => served.occupy(now, bytes),
            Self::Access(channel) => channel.occupy(now, bytes),
            Self::Gate => Duration::ZERO,
        }
    }

    /// Returns when the transmitter, which is free at `now`, begins to send its next packet: at once, or at the next
    /// opportunity, the next burst or the end of an outage. If a link dequeues the packet only at that time, the
    /// discipline sees all of the wait, as in mahimahi. If a link calls [`occupy`](Self::occupy) at once instead,
    /// there is room for one packet below the discipline. Packets leave at the same time in both cases.
    #[inline]
    pub(crate) fn start(&mut self, now: Instant) -> Instant {
        match self {
            Self::Fixed(_) | Self::Gate => now,
            Self::Opportunities(served) => served.start(now),
            Self::Steps(served) => served.start(now),
            Self::Bursts(served) => served.start(now),
            Self::Access(channel) => channel.start(now),
        }
    }

    /// Notes that the queue was empty when the transmitter was free. The rest of an opportunity or a burst is then
    /// lost. Without this call, a packet that arrives later in the same moment would still get the rest.
    #[inline]
    pub(crate) fn idle(&mut self) {
        match self {
            Self::Fixed(_) | Self::Gate => {}
            Self::Opportunities(served) => served.idle(),
            Self::Steps(served) => served.idle(),
            Self::Bursts(served) => served.idle(),
            Self::Access(channel) => channel.idle(),
        }
    }

    /// Returns when a packet whose last bit was sent at `sent` has crossed the link. None: it is lost there.
    pub(crate) fn crosses(&mut self, sent: Instant) -> Option<Instant> {
        match self {
            Self::Access(channel) => channel.crosses(sent),
            _ => Some(sent),
        }
    }

    /// Returns the bits that could have been sent after `from` up to `to`.
    pub(crate) fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Fixed(fixed) => fixed.rate.as_bps() as f64 * to.since(from).as_secs_f64(),
            Self::Opportunities(served) => served.bits(from, to),
            Self::Steps(served) => served.bits(from, to),
            Self::Bursts(served) => served.bits(from, to),
            Self::Access(channel) => channel.capacity_bits(from, to),
            Self::Gate => f64::INFINITY,
        }
    }

    /// Returns the long-run rate, for disciplines that need a rate.
    pub(crate) fn mean_rate(&self) -> Rate {
        match self {
            Self::Fixed(fixed) => fixed.rate,
            Self::Opportunities(served) => served.mean_rate(),
            Self::Steps(served) => served.mean_rate(),
            Self::Bursts(served) => served.mean_rate(),
            Self::Access(channel) => channel.mean_rate(),
            Self::Gate => goodqueue_hosts::keys::MOST_RATE.1.0,
        }
    }
}

/// A transmitter with one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    rate: Rate,
    /// Length of the last packet in bytes, and its transmission time as quotient (ns) and remainder of a division by
    /// the rate. Nearly all packets are full. The stored result saves a division per packet.
    last_length: (u32, u64, u64),
    /// The part of a nanosecond, in 1/rate ns, by which the transmissions so far were too short.
    owed: u64,
}

impl Fixed {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, last_length: (0, 0, 0), owed: 0 }
    }

    /// Returns how long `bytes` bytes occupy the wire, in whole nanoseconds that add up to the exact time over many
    /// packets.
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
        /// The total time is off by less than a nanosecond, however many packets were sent.
        #[test]
        fn a_fixed_rate_loses_no_nanosecond(bps in 1_000..10_000_000_000_u64, lengths in prop::collection::vec(1..9000_u32, 1..300)) {
            let mut fixed = Fixed::new(Rate::from_bps(bps).unwrap());
            let taken: u128 = lengths.iter().map(|length| u128::from(fixed.occupy(*length).as_nanos())).sum();
            let bytes: u128 = lengths.iter().copied().map(u128::from).sum();
            prop_assert_eq!(taken, bytes * 8_000_000_000 / u128::from(bps));
        }

        /// A rate that never changes is a fixed rate, and so are bursts without a pause. Both give the same times,
        /// except for the direction of rounding.
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
