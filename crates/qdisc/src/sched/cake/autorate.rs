//! The estimate of the rate of the link before this one, from the arrival of packets (`autorate-ingress`).
//!
//! Source: tc-cake(8), and Linux's arithmetic. Packets that queued at a bottleneck leave it back to back, at its
//! rate. A gap that is longer than the average ends such a train. The bytes since the last end, over the time since,
//! are a sample of the rate. The estimate rises fast and falls slowly (by 1/4 and 1/256 of the difference). The
//! shaper's rate is 15/16 of it.
//!
//! Linux 7.3 changes the rate at most every 250 ms. Earlier releases compare with a time that they never set: they
//! change the rate at the end of each train once the clock has passed 250 ms.

use goodqueue_units::{Duration, Instant, Release};

const SECOND: u64 = 1_000_000_000;
const SETTLED: Duration = Duration::from_millis(250);

/// Returns a running mean in which each sample weighs `1 / 2^shift`.
pub(super) const fn average(mean: u64, sample: u64, shift: u32) -> u64 {
    mean - (mean >> shift) + (sample >> shift)
}

/// Returns a running mean like [`average`], with weights of 1/4 upwards and 1/256 downwards.
const fn peak(mean: u64, sample: u64) -> u64 {
    average(mean, sample, if sample > mean { 2 } else { 8 })
}

/// The estimate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimate {
    last_arrival: Instant,
    /// Average gap between arrivals, in ns.
    gap: u64,
    train_began: Instant,
    train_bytes: u64,
    /// Estimated rate, in bytes per second.
    rate: u64,
    /// When the shaper's rate last changed, as the release notes it.
    changed: Instant,
    notes_changes: bool,
}

impl Estimate {
    /// Starts from a first guess in bytes per second, by the rule of `release`.
    pub(super) fn new(rate: u64, release: Release) -> Self {
        Self { rate, notes_changes: release >= Release::Linux7_3, ..Self::default() }
    }

    /// Returns the shaper's rate, in bytes per second.
    const fn rate(self) -> u64 {
        (self.rate * 15) >> 4
    }

    /// Notes that a packet arrived, and that the queues have grown by `bytes`: the packet's bytes less those of an
    /// ACK that it replaced. Returns the shaper's new rate, in bytes per second, if it changes.
    pub(super) fn arrived(&mut self, now: Instant, bytes: i64) -> Option<u64> {
        self.train_bytes = self.train_bytes.saturating_add_signed(bytes);
        let gap = now.since(self.last_arrival).as_nanos().min(SECOND);
        self.gap = peak(self.gap, gap);
        self.last_arrival = now;
        if gap <= self.gap {
            return None;
        }
        let time = now.since(self.train_began).as_nanos(); // at least the gap, which is above zero
        self.rate = peak(self.rate, self.train_bytes.saturating_mul(SECOND) / time);
        (self.train_began, self.train_bytes) = (now, 0);
        if now <= self.changed + SETTLED {
            return None;
        }
        if self.notes_changes {
            self.changed = now;
        }
        Some(self.rate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains of ten packets of 1500 bytes, 1 ms apart, and then 11 ms without packets: 15,000 bytes in 20 ms are
    /// 750,000 bytes/s.
    #[test]
    fn trains_are_measured_from_end_to_end() {
        let mut estimate = Estimate::new(750_000, Release::Linux6_1);
        let (mut now, mut rates) = (Instant::from_nanos(10 * SECOND), std::vec::Vec::new());
        for _ in 0..200 {
            for packet in 0..10 {
                rates.extend(estimate.arrived(now, 1500).map(|rate| (packet, rate)));
                now += Duration::from_millis(if packet == 9 { 11 } else { 1 });
            }
        }
        // The first arrival ends ten seconds without packets. So the estimate falls by 1/256 and returns within a few
        // trains.
        assert_eq!(rates[0], (0, (750_000 - (750_000 >> 8)) * 15 / 16));
        let settled = &rates[rates.len() - 50..];
        assert!(settled.iter().all(|(packet, _)| *packet == 0), "only a train's end: {settled:?}");
        assert!(
            settled.iter().all(|(_, rate)| rate.abs_diff(703_125) < 300),
            "15/16 of 750,000: {settled:?}"
        );
    }

    /// Trains end every 20 ms. Before 7.3 each end changes the rate, since then the first one after 250 ms.
    #[test]
    fn since_7_3_the_rate_changes_at_most_every_quarter_of_a_second() {
        let between = |release| {
            let (mut estimate, mut now) = (Estimate::new(750_000, release), Instant::from_nanos(10 * SECOND));
            let mut times = std::vec::Vec::new();
            for packet in 0..3000 {
                times.extend(estimate.arrived(now, 1500).map(|_| now));
                now += Duration::from_millis(if packet % 10 == 9 { 11 } else { 1 });
            }
            let [.., before, last] = times[..] else { panic!("{times:?}") };
            last.since(before)
        };
        for release in [Release::Linux6_1, Release::Linux6_12] {
            assert_eq!(between(release), Duration::from_millis(20), "{release:?}");
        }
        assert_eq!(between(Release::Linux7_3), Duration::from_millis(260));
    }

    /// The steps are (4000 - 1000) / 4 upwards and (4000 - 1000) / 256 downwards, each rounded down.
    #[test]
    fn it_rises_fast_and_falls_slowly() {
        assert_eq!(peak(1000, 4000), 1750);
        assert_eq!(peak(4000, 1000), 4000 - 15 + 3);
    }

    #[test]
    fn the_rate_stands_for_the_first_quarter_of_a_second() {
        let mut estimate = Estimate::new(1_000_000, Release::Linux6_1);
        assert_eq!(estimate.arrived(Instant::ZERO, 1500), None, "no time has passed: nothing to divide by");
        assert_eq!(estimate.arrived(Instant::from_nanos(250_000_000), 1500), None);
        assert!(estimate.arrived(Instant::from_nanos(800_000_000), 1500).is_some());
    }
}
