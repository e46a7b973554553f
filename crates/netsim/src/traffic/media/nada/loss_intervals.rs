//! How many packets apart losses are (RFC 8698, 4.2, after RFC 5348, 5.4).

use std::collections::VecDeque;

/// By how much intervals count, the last first (RFC 5348, 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Multiplier of the mean interval, after which a loss is forgotten.
const MULTILOSS: f64 = 7.0;

/// The intervals between losses. A gap in the sequence numbers is one loss: the receiver does not know the round-trip time, within
/// which RFC 5348 counts all losses as one.
#[derive(Clone, Debug, Default)]
pub(super) struct LossIntervals {
    /// Packets since the last loss; none before the first.
    current: Option<u64>,
    /// The last intervals from one loss to the next, the newest first.
    ended: VecDeque<u64>,
}

impl LossIntervals {
    /// A packet comes, before which `missing` are missing.
    pub(super) fn on_packet(&mut self, missing: u64) {
        if missing > 0
            && let Some(ended) = self.current.replace(missing)
        {
            self.ended.push_front(ended);
            self.ended.truncate(WEIGHTS.len());
        }
        self.current = self.current.map(|packets| packets + 1);
    }

    /// `loss_int`: the weighted mean of those that have ended; none before the second loss. RFC 5348 lets the current one in where
    /// that makes the mean greater. Here no loss would then ever be forgotten: the weights' sum is 6, less than `MULTILOSS`.
    fn mean(&self) -> Option<f64> {
        let weights: f64 = WEIGHTS.iter().take(self.ended.len()).sum();
        let sum: f64 = self.ended.iter().zip(WEIGHTS).map(|(&packets, weight)| packets as f64 * weight).sum();
        (weights > 0.0).then(|| sum / weights)
    }

    /// How much of the warped delay is used: all until `loss_exp` packets after the last loss, then less and less for `loss_int`
    /// packets; none before losses have an interval.
    pub(super) fn warping(&self) -> f64 {
        let (Some(loss_int), Some(current)) = (self.mean(), self.current) else { return 0.0 };
        let beyond = current as f64 - MULTILOSS * loss_int;
        if beyond <= 0.0 { 1.0 } else { (1.0 - beyond / loss_int).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gaps`: so many packets come, then one is missing.
    fn after(gaps: &[u64]) -> LossIntervals {
        let mut intervals = LossIntervals::default();
        let mut missing = 0;
        for &packets in gaps {
            intervals.on_packet(missing);
            (1..packets).for_each(|_| intervals.on_packet(0));
            missing = 1;
        }
        intervals
    }

    /// Nine intervals, of which the last eight count, newest first; each has the lost packet that began it.
    /// (21 + 31 + 41 + 51) + 0.8 * 61 + 0.6 * 71 + 0.4 * 81 + 0.2 * 91 = 286, by 6.
    #[test]
    fn the_mean_weighs_the_last_eight() {
        let intervals = after(&[1000, 500, 90, 80, 70, 60, 50, 40, 30, 20, 7]);
        assert!((intervals.mean().unwrap() - 286.0 / 6.0).abs() < 1e-9, "{intervals:?}");
        assert_eq!(intervals.current, Some(8));
    }

    /// One interval of 10 packets: warped for 70 packets, half of it after 75, nothing from 80 on.
    #[test]
    fn a_loss_is_forgotten_by_and_by() {
        for (packets, warping) in [(5, 1.0), (69, 1.0), (74, 0.5), (79, 0.0), (500, 0.0)] {
            let found = after(&[100, 9, packets]).warping(); // and the lost ones
            assert!((found - warping).abs() < 1e-9, "{packets}: {found}");
        }
        assert_eq!([after(&[500]).warping(), after(&[500, 20]).warping()], [0.0, 0.0], "no interval yet");
    }
}
