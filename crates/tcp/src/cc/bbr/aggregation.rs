//! How much ACKs come in bunches: BBR's extra_acked (draft-ietf-ccwg-bbr-06, 5.5.9).

use super::super::bandwidth::Bandwidth;
use goodqueue_units::{Duration, Instant};

/// A new epoch begins before the count needs more than the 20 bits that it has in Linux.
const EPOCH_MOST: u64 = 1 << 20;
/// Extra segments are at most what the path carries in this time.
const MOST: Duration = Duration::from_millis(100);

/// The most that was acknowledged beyond what the bandwidth explains, in each of the last two spans of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Aggregation {
    epoch: Instant,
    acked: u64,
    extra: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(in super::super) fn restart(&mut self, now: Instant) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// Takes an ACK of `acked` segments. A span has `rounds` rounds.
    pub(in super::super) fn on_ack(
        &mut self,
        now: Instant,
        acked: u32,
        bw: Bandwidth,
        cwnd: u32,
        round_start: bool,
        rounds: u32,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.current ^= 1;
                self.extra[self.current] = 0;
            }
        }
        let mut expected = bw.segments_in(now.since(self.epoch));
        if self.acked <= expected || self.acked + u64::from(acked) >= EPOCH_MOST {
            self.restart(now);
            expected = 0;
        }
        self.acked += u64::from(acked);
        let extra = ((self.acked - expected) as u32).min(cwnd);
        self.extra[self.current] = self.extra[self.current].max(extra);
    }

    /// Returns the segments to add to the window.
    pub(in super::super) fn budget(&self, bw: Bandwidth) -> u32 {
        let most = bw.segments_in(MOST).min(u64::from(u32::MAX)) as u32;
        self.extra[0].max(self.extra[1]).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment per millisecond. Ten at once begin an epoch. Three more 2 ms later make 13, eleven more than the two
    /// that were due. Afterwards the pace is back, but the eleven are remembered for two spans of five rounds.
    #[test]
    fn a_bunch_of_acks_is_extra_until_two_spans_have_passed() {
        let bw = Bandwidth::of(1001, Duration::from_secs(1)); // slightly more: estimates are rounded down
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(at(10), 10, bw, 100, false, 5);
        assert_eq!(aggregation.budget(bw), 10);
        aggregation.on_ack(at(12), 3, bw, 100, false, 5);
        assert_eq!(aggregation.budget(bw), 11);
        for round in 0..9 {
            aggregation.on_ack(at(100 + 100 * round), 1, bw, 100, true, 5);
            assert_eq!(aggregation.budget(bw), 11, "{round}");
        }
        aggregation.on_ack(at(1000), 1, bw, 100, true, 5);
        assert_eq!(aggregation.budget(bw), 1);
    }

    /// Nothing is expected, so all is extra and one epoch continues to 2^20 − 1 segments, the most that Linux can
    /// count. Guards against an epoch that ends earlier and forgets the bunch.
    #[test]
    fn an_epoch_ends_with_2_to_the_20_segments() {
        let (mut aggregation, now) = (Aggregation::default(), Instant::from_nanos(1));
        let most = EPOCH_MOST as u32;
        let counts = [most - 5, 4, 1].map(|acked| {
            aggregation.on_ack(now, acked, Bandwidth::ZERO, 100, false, 5);
            aggregation.acked
        });
        assert_eq!(counts, [EPOCH_MOST - 5, EPOCH_MOST - 1, 1]);
    }
}
