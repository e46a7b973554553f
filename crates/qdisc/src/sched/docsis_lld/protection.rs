//! Queue protection: packets of flows that cause queue in the low-latency queue go to the classic queue.
//!
//! Source: RFC 9957, with the names of its pseudocode. A flow's score is the congestion that it causes: bytes times the
//! probability at which the queue would mark them. Scores age at a constant rate, so a score is kept as the time at
//! which it expires.

use goodqueue_units::{Duration, Instant};

/// Buckets of flows. One more, the dregs, is for all flows that find none.
const NBUCKETS: usize = 32;
/// Bits of a hash per try.
const BI_SIZE: u32 = 5;
/// Buckets that a flow tries.
const ATTEMPTS: u32 = 2;
/// A flow may cause 2^19 bytes of congestion per second (4.2 Mbit/s) for ever: this much ages out.
const LG_AGING: u32 = 19;
/// The longest score.
const QLSCORE_MAX: Duration = Duration::from_secs(5);
/// The queue delay up to which nothing is sanctioned: MAXTH.
pub(super) const CRITICAL_QL: Duration = Duration::from_micros(1000);
/// Times the delay above, the product of delay and score from which a packet is sanctioned.
const CRITICAL_QLSCORE: Duration = Duration::from_micros(4000);

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    flow: Option<u64>,
    /// When the score is 0 (t_exp).
    expires: Instant,
}

/// The scores of flows.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    buckets: [Bucket; NBUCKETS + 1],
}

impl Protection {
    pub(super) fn new() -> Self {
        Self { buckets: [Bucket::default(); NBUCKETS + 1] }
    }

    /// Returns the bucket of a flow: its own, or the first one among its tries whose score has expired, or the dregs
    /// (pick_bucket).
    fn pick(&mut self, now: Instant, flow: u64, hash: u32) -> &mut Bucket {
        let tries = (0..ATTEMPTS).map(|one| (hash >> (one * BI_SIZE)) as usize % NBUCKETS);
        let own = tries.clone().find(|place| self.buckets[*place].flow == Some(flow));
        let place = own.or_else(|| tries.clone().find(|place| self.buckets[*place].expires <= now));
        let bucket = &mut self.buckets[place.unwrap_or(NBUCKETS)];
        if own.is_none() && place.is_some() {
            bucket.flow = Some(flow);
        }
        if bucket.expires <= now {
            bucket.expires = now;
        }
        bucket
    }

    /// Adds a packet to its flow's score, and returns whether the packet is sanctioned. `delay` is the delay of the
    /// low-latency queue, and `probability` the probability at which it would mark (fill_bucket and qprotect).
    pub(super) fn sanctions(
        &mut self,
        now: Instant,
        (flow, hash): (u64, u32),
        bytes: u32,
        delay: Duration,
        probability: f64,
    ) -> bool {
        let bucket = self.pick(now, flow, hash);
        let added = f64::from(bytes) * probability / f64::from(1_u32 << LG_AGING);
        let score = (bucket.expires.since(now) + Duration::from_secs_f64(added)).min(QLSCORE_MAX);
        bucket.expires = now + score;
        let product = u128::from(delay.as_nanos()) * u128::from(score.as_nanos());
        let limit = u128::from(CRITICAL_QL.as_nanos()) * u128::from(CRITICAL_QLSCORE.as_nanos());
        (delay > CRITICAL_QL && product > limit) || score >= QLSCORE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    fn at(count: u64) -> Instant {
        Instant::ZERO + us(count)
    }

    const ONE: (u64, u32) = (1, 1);

    impl Protection {
        /// Returns the longest score at `now`.
        fn worst(&self, now: Instant) -> Duration {
            self.buckets.iter().map(|bucket| bucket.expires.since(now)).max().unwrap()
        }
    }

    /// 1500 B at p = 1 are 1500 / 2^19 s = 2.861 ms. At 1.5 ms of queue the limit is 4 / 1.5 = 2.667 ms.
    #[test]
    fn at_a_millisecond_and_a_half_the_first_full_packet_is_sanctioned() {
        assert!(Protection::new().sanctions(at(0), ONE, 1500, us(1500), 1.0));
    }

    /// At 1.1 ms the limit is 3.636 ms: one packet is below it, two (5.722 ms) are above.
    #[test]
    fn at_1_1_ms_the_second_is_sanctioned() {
        let mut protection = Protection::new();
        assert!(!protection.sanctions(at(0), ONE, 1500, us(1100), 1.0));
        assert!(protection.sanctions(at(0), ONE, 1500, us(1100), 1.0));
        assert!((protection.worst(at(0)).as_millis_f64() - 5.722).abs() < 0.001);
    }

    #[test]
    fn up_to_the_critical_delay_only_the_longest_score_is_sanctioned() {
        let mut protection = Protection::new();
        // 5 s are 1747.6 packets of 2.861 ms.
        let sanctioned = (0..1800).position(|_| protection.sanctions(at(0), ONE, 1500, us(1000), 1.0));
        assert_eq!(sanctioned, Some(1747));
    }

    /// 40 Mbit/s at p = 0.1 score 0.1 × 5 MB/s / 2^19 = 0.954 per second: a little less than ages out.
    #[test]
    fn what_ages_out_is_never_sanctioned() {
        let mut protection = Protection::new();
        let every = 300; // 1500 B at 40 Mbit/s, in us
        for packet in 0..100_000 {
            assert!(!protection.sanctions(at(packet * every), ONE, 1500, us(1100), 0.1), "packet {packet}");
        }
        assert!(protection.worst(at(99_999 * every)) < us(300));
        // At p = 0.11 it is 1.049 per second, and the score grows.
        let sanctioned = (100_000..200_000)
            .any(|packet| protection.sanctions(at(packet * every), ONE, 1500, us(1100), 0.11));
        assert!(sanctioned);
    }

    #[test]
    fn a_flow_tries_two_buckets_and_then_the_dregs() {
        let mut protection = Protection::new();
        // All three flows try the buckets 3 and 4. No delay, so nothing is sanctioned.
        let hash = 3 | 4 << 5;
        for flow in 1..=3 {
            protection.sanctions(at(0), (flow, hash), 1500, us(0), 1.0);
        }
        let owner = |place: usize| protection.buckets[place].flow;
        assert_eq!((owner(3), owner(4), owner(NBUCKETS)), (Some(1), Some(2), None));
        assert!(protection.buckets[NBUCKETS].expires > at(0), "the third flow is among the dregs");
        // After 2.861 ms the buckets have expired, and the third flow takes the first one.
        protection.sanctions(at(2_862), (3, hash), 1500, us(0), 1.0);
        assert_eq!(protection.buckets[3].flow, Some(3));
    }
}
