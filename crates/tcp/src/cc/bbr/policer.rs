//! BBR v1's answer to a policer, which drops everything above a rate (Flach et al. 2016): it adopts the rate that gets
//! through.
//!
//! An interval begins and ends with losses, and lasts 4 to 16 round trips. If a fifth of it was lost, and the next
//! interval of this kind has about the same rate, BBR uses that rate for 48 round trips.

use super::super::bandwidth::{Bandwidth, UNIT};
use crate::rate::{RateEstimator, RateSample};
use goodqueue_units::{Duration, Instant};

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Lost segments per 256 delivered.
const LOSS_THRESHOLD: u64 = 50;
/// Two rates are alike if they differ by at most an eighth.
const LIKE: u64 = UNIT as u64 / 8;
/// Two rates are also alike if they differ by at most 4 kbit/s.
const LIKE_BPS: u64 = 4000;
const USED_ROUNDS: u32 = 48;

/// What is known of a policer on the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    /// BBR uses the policer's rate.
    is_used: bool,
    rounds: u32,
    bw: Bandwidth,
    /// When the interval began.
    begun: Instant,
    /// Segments delivered until then.
    delivered: u64,
    /// Segments lost until then.
    lost: u64,
}

impl Policer {
    /// Returns the rate that gets through, if BBR uses one.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.is_used.then_some(self.bw)
    }

    /// Forgets the policer. The next loss begins an interval.
    pub(super) fn forget(&mut self) {
        (self.bw, self.is_used, self.is_sampling) = (Bandwidth::ZERO, false, false);
    }

    fn begin(&mut self, rate: &RateEstimator) {
        (self.begun, self.delivered, self.lost) =
            (whole_ms(rate.delivered_at()), rate.delivered(), rate.lost());
        self.rounds = 0;
    }

    /// Takes an ACK that reports `losses` lost segments. Returns whether the policer's rate has been used for long
    /// enough.
    pub(super) fn on_ack(
        &mut self,
        sample: &RateSample,
        rate: &RateEstimator,
        losses: u32,
        round_start: bool,
        is_probing_bw: bool,
        mss: u16,
    ) -> bool {
        if self.is_used {
            if is_probing_bw && round_start {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.forget();
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            if losses == 0 {
                return false;
            }
            self.begin(rate);
            self.is_sampling = true;
        }
        if sample.is_app_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > MOST_ROUNDS {
            self.forget();
            return false;
        }
        let (lost, delivered) = (rate.lost() - self.lost, rate.delivered() - self.delivered);
        let span = whole_ms(rate.delivered_at()).since(self.begun);
        if losses > 0
            && delivered > 0
            && lost * u64::from(UNIT) >= LOSS_THRESHOLD * delivered
            && span > Duration::ZERO
        {
            self.end(Bandwidth::of(delivered, span), rate, mss);
        }
        false
    }

    fn end(&mut self, bw: Bandwidth, rate: &RateEstimator, mss: u16) {
        let difference = Bandwidth(bw.0.abs_diff(self.bw.0));
        let is_like = difference.0 * u64::from(UNIT) <= LIKE * self.bw.0 || difference.bps(mss) <= LIKE_BPS;
        if self.bw > Bandwidth::ZERO && is_like {
            self.bw = Bandwidth((bw.0 + self.bw.0) / 2);
            self.is_used = true;
            self.rounds = 0;
            return;
        }
        self.bw = bw;
        self.begin(rate);
    }
}

fn whole_ms(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos() / 1_000_000 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rate that is used after intervals at these rates, in units of 2^-24 segments per microsecond.
    fn used(rates: [u64; 2]) -> Option<u64> {
        let mut policer = Policer::default();
        for rate in rates {
            assert_eq!(policer.bandwidth(), None);
            policer.end(Bandwidth(rate), &RateEstimator::default(), 1448);
        }
        policer.bandwidth().map(|bw| bw.0)
    }

    /// 8000 and 9000 differ by an eighth of 8000, and the mean of both is used. One unit more is too much. A unit is
    /// 1448 bytes per 2^24 µs, or 690 bit/s: up to five units are within 4 kbit/s. One interval is never enough,
    /// however slow.
    #[test]
    fn two_rates_are_alike_within_an_eighth_or_4_kbit_s() {
        assert_eq!([[8000, 9000], [8000, 7000]].map(used), [Some(8500), Some(7500)]);
        assert_eq!([[8000, 9001], [8000, 6999]].map(used), [None; 2]);
        assert_eq!([[5, 10], [5, 11], [0, 4], [0, 0]].map(used), [Some(7), None, None, None]);
    }

    /// It would be wrong to discard an interval of the greatest length. It begins with a loss, and a fifth is lost in
    /// its last round.
    #[test]
    fn an_interval_may_have_as_many_rounds_as_it_says() {
        for (rounds, is_known) in [(16_u32, true), (17, false)] {
            let (mut policer, mut rate) = (Policer::default(), RateEstimator::default());
            rate.grow(0..0, 1);
            for round in 0..=rounds {
                let losses = if round == 0 || round == rounds { 20 } else { 0 };
                (0..losses).for_each(|_| rate.on_lost(0));
                let now = Instant::ZERO + Duration::from_millis(50) * u64::from(round + 1);
                let sample = rate.sample(now, 5, 0, Duration::ZERO);
                policer.on_ack(&sample, &rate, losses, round > 0, false, 1448);
            }
            assert_eq!(policer.bw > Bandwidth::ZERO, is_known, "{rounds} rounds");
        }
    }

    /// The 48 rounds are counted, and neither ACKs within a round nor rounds outside ProbeBW. Guards against a
    /// connection that runs into the policer again at once.
    #[test]
    fn a_rate_is_used_for_rounds_that_probe() {
        let mut policer = Policer { is_used: true, ..Policer::default() };
        let mut rate = RateEstimator::default();
        let sample = rate.sample(Instant::ZERO, 1, 0, Duration::ZERO);
        let mut on_ack =
            |round_start, is_probing| policer.on_ack(&sample, &rate, 0, round_start, is_probing, 1448);
        for _ in 0..2 * USED_ROUNDS {
            assert!(!on_ack(true, false) && !on_ack(false, true));
        }
        let ended: std::vec::Vec<bool> = (0..USED_ROUNDS).map(|_| on_ack(true, true)).collect();
        assert_eq!(ended.iter().position(|&ended| ended), Some(USED_ROUNDS as usize - 1));
    }
}
