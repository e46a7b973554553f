//! The rate of a link over time, as recorded, written or generated: delivery opportunities or steps.

use super::capacity::{BYTE, Capacity, Nanobits, Refusal, instant, rate};
use super::steps::Steps;
use goodqueue_units::{Instant, Rate};
use std::sync::Arc;

/// A link's rate over time. A copy is cheap, because all copies share one list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RateTrace {
    /// As in mahimahi.
    Opportunities(Opportunities),
    /// As in a file of two columns: a time and the rate from then on.
    Steps(Steps),
}

/// Bytes of one opportunity in mahimahi: an IP packet of 1500 bytes and the 4 bytes that TUN puts before it
/// (`PACKET_SIZE`, src/frontend/link_queue.hh).
#[cfg(test)]
pub(crate) const MAHIMAHI_BYTES: u32 = 1504;

/// Delivery opportunities, as in mahimahi's link shell (Netravali et al. 2015): a list of milliseconds. A full
/// packet can leave at each of these times.
///
/// - Equal milliseconds are several opportunities. The list repeats after its last millisecond, which is the 0 of the
///   next round.
/// - An opportunity carries bytes, not packets. It can carry several small packets, or the rest of a packet that the
///   opportunity before began.
/// - An opportunity for which no packet waits is lost. A packet that arrives at the very moment of an opportunity is
///   too late for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opportunities {
    /// Not empty and never falling. The last millisecond is above 0.
    millis: Arc<[u32]>,
    bytes: u32,
}

const MILLI: u128 = 1_000_000;

impl Opportunities {
    /// Builds opportunities of `bytes` bytes at `millis`.
    ///
    /// # Errors
    /// If there are no opportunities, if they have no bytes, if their times fall, or if the last is at 0. In the last
    /// case, the list would repeat endlessly in no time.
    pub(crate) fn new(millis: impl Into<Arc<[u32]>>, bytes: u32) -> Result<Self, Refusal> {
        let millis = millis.into();
        let refuse = |entry, why: String| Err(Refusal { entry, why });
        if let Some(index) = millis.windows(2).position(|two| two[1] < two[0]) {
            let (last, next) = (millis[index], millis[index + 1]);
            return refuse(
                index + 1,
                format!("found {next} after {last}; accepted: milliseconds that never fall"),
            );
        }
        match (millis.last(), bytes) {
            (None, _) => refuse(0, "found no opportunity; accepted: at least one".to_owned()),
            (Some(0), _) => refuse(
                millis.len() - 1,
                "found 0 at the end; accepted: a last millisecond above 0".to_owned(),
            ),
            (_, 0) => refuse(0, "found opportunities of 0 bytes; accepted: 1 byte or more".to_owned()),
            _ => Ok(Self { millis, bytes }),
        }
    }

    pub(crate) fn millis(&self) -> &[u32] {
        &self.millis
    }

    /// Returns after how many milliseconds the list repeats.
    pub(crate) fn period(&self) -> u32 {
        self.millis.last().copied().unwrap_or(1)
    }

    /// Returns the nanobits of one opportunity.
    fn each(&self) -> Nanobits {
        Nanobits::from(self.bytes) * BYTE
    }

    /// Returns the time of opportunity `index`, counted from 0 through all repetitions.
    fn time(&self, index: u128) -> Instant {
        let (cycle, index) = (index / self.millis.len() as u128, index % self.millis.len() as u128);
        let millis =
            cycle.saturating_mul(u128::from(self.period())) + u128::from(self.millis[index as usize]);
        instant(millis.saturating_mul(MILLI))
    }
}

impl Capacity for Opportunities {
    fn by(&self, time: Instant) -> Nanobits {
        let millis = time.as_nanos() / 1_000_000;
        let (cycle, rest) = (millis / u64::from(self.period()), millis % u64::from(self.period()));
        let in_cycle = self.millis.partition_point(|opportunity| u64::from(*opportunity) <= rest);
        (u128::from(cycle) * self.millis.len() as u128 + in_cycle as u128) * self.each()
    }

    fn begins(&self, amount: Nanobits) -> Instant {
        self.time(amount / self.each())
    }

    fn ends(&self, amount: Nanobits) -> Instant {
        self.time((amount - 1) / self.each())
    }

    fn mean_rate(&self) -> Rate {
        rate(self.millis.len() as u128 * self.each(), u128::from(self.period()) * MILLI)
    }
}

#[cfg(test)]
mod tests {
    use super::super::capacity::Served;
    use super::super::capacity::tests::check;
    use super::*;
    use goodqueue_hosts::keys::FRAME_BYTES;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// Returns the millisecond in which each packet leaves by mahimahi's rule. The code is written from the rule's
    /// description, and walks from one opportunity to the next. Packets are (arrival in ms, bytes), in order.
    fn by_mahimahis_rule(millis: &[u32], packets: &[(u64, u32)]) -> Vec<u64> {
        let (mut left, mut cycle, mut index) = (Vec::new(), 0, 0);
        let mut coming = packets.iter().copied().collect::<VecDeque<_>>();
        while let Some(&(arrival, _)) = coming.front() {
            let time = cycle + u64::from(millis[index]);
            (index, cycle) = if index + 1 == millis.len() {
                (0, cycle + u64::from(millis[index]))
            } else {
                (index + 1, cycle)
            };
            let mut budget = MAHIMAHI_BYTES;
            let mut arrived = arrival < time;
            while arrived && budget > 0 {
                let Some(front) = coming.front_mut() else { break };
                let sent = front.1.min(budget);
                (front.1, budget) = (front.1 - sent, budget - sent);
                if front.1 == 0 {
                    left.push(time);
                    coming.pop_front();
                }
                arrived = coming.front().is_some_and(|packet| packet.0 < time);
            }
        }
        left
    }

    /// Returns the millisecond in which each packet leaves a link with a FIFO above `served`. The link dequeues a
    /// packet as soon as the packet before it has left or, if `waits`, when the transmitter says that it starts.
    fn by_transmitter(served: &mut Served<Opportunities>, packets: &[(u64, u32)], waits: bool) -> Vec<u64> {
        let (mut free, mut left) = (Instant::ZERO, Vec::new());
        for &(arrival, bytes) in packets {
            let mut now = Instant::from_nanos(arrival * 1_000_000);
            if now < free {
                now = free; // the packet waited behind the packet before
            } else {
                served.idle(); // the queue was empty in between
            }
            if waits {
                now = served.start(now);
            }
            free = now + served.occupy(now, bytes);
            assert_eq!(free.as_nanos() % 1_000_000, 0);
            left.push(free.as_nanos() / 1_000_000);
        }
        left
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let trace = Opportunities::new([2, 2, 5, 10], MAHIMAHI_BYTES).unwrap();
        let mut served = Served::new(trace);
        // 752 bytes are half an opportunity. Four packets leave at 2 ms. The fifth shares the opportunity at 5 ms
        // with a part of the last packet. The last packet continues at 10 ms and, after the list repeats, at 12 ms.
        let packets = [(0, 752), (0, 752), (0, 752), (0, 752), (1, 752), (3, 752 + 1504 + 1)];
        for waits in [false, true] {
            assert_eq!(by_transmitter(&mut served, &packets, waits), [2, 2, 2, 2, 5, 12]);
            served = Served::new(Opportunities::new([2, 2, 5, 10], MAHIMAHI_BYTES).unwrap());
        }
        assert_eq!(by_mahimahis_rule(&[2, 2, 5, 10], &packets), [2, 2, 2, 2, 5, 12]);
    }

    #[test]
    fn twelve_megabits_are_one_full_packet_a_millisecond() {
        let trace = Opportunities::new([1], FRAME_BYTES).unwrap();
        assert_eq!(trace.mean_rate().as_bps(), 1514 * 8 * 1000);
        let second = Instant::from_nanos(1_000_000_000);
        assert_eq!(Served::new(trace).bits(Instant::ZERO, second), 1514.0 * 8.0 * 1000.0);
    }

    #[test]
    fn lists_without_a_rate_are_refused() {
        for (millis, found) in
            [(vec![], "no opportunity"), (vec![0, 0], "0 at the end"), (vec![3, 2], "2 after 3")]
        {
            assert!(Opportunities::new(millis, 1504).unwrap_err().why.contains(found));
        }
    }

    proptest! {
        /// Results of mahimahi's link shell can be compared only if every packet leaves in the same millisecond.
        #[test]
        fn packets_leave_in_the_same_millisecond_as_by_mahimahis_rule(
            gaps in prop::collection::vec(0..20_u32, 1..30),
            arrivals in prop::collection::vec((0..30_u64, 1..1505_u32), 1..100),
        ) {
            let millis: Vec<u32> = gaps.iter().scan(0, |sum, gap| { *sum += gap; Some(*sum) }).collect();
            prop_assume!(millis.last() != Some(&0));
            let packets: Vec<(u64, u32)> =
                arrivals.iter().scan(0, |sum, (gap, bytes)| { *sum += gap / 3; Some((*sum, *bytes)) }).collect();
            let expected = by_mahimahis_rule(&millis, &packets);
            for waits in [false, true] {
                let mut served = Served::new(Opportunities::new(millis.clone(), MAHIMAHI_BYTES).unwrap());
                prop_assert_eq!(&by_transmitter(&mut served, &packets, waits), &expected);
            }
        }

        #[test]
        fn capacity_and_times_agree(gaps in prop::collection::vec(0..20_u32, 1..30), at in 0..200_000_000_u64) {
            let millis: Vec<u32> = gaps.iter().scan(1, |sum, gap| { *sum += gap; Some(*sum) }).collect();
            check(&Opportunities::new(millis, 1504).unwrap(), at)?;
        }
    }
}
