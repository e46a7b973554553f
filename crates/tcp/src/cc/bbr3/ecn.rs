//! ECN marks in Google's BBRv3: they count as in DCTCP, and only on short paths, where marks come from shallow
//! thresholds. The draft leaves ECN to other documents.

use super::super::bandwidth::UNIT;
use super::super::{Ack, CongestionState};
use crate::rate::RateEstimator;
use goodqueue_units::Duration;

/// Marks count on paths no longer than this.
const SHORT: Duration = Duration::from_millis(5);
/// A share of marks above this in a round is too high.
pub(super) const THRESHOLD: u64 = UNIT as u64 / 2;
/// The fraction of alpha by which the flight is cut.
const FACTOR: u32 = UNIT / 3;
/// Rounds with too many marks that end Startup.
const FULL_ROUNDS: u32 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ecn {
    /// The smoothed share of marked segments, with a gain of 1/16. 1 at first.
    alpha: u32,
    delivered: u64,
    delivered_ce: u64,
    /// Segments marked since the connection began, as reported by ACKs.
    marked: u64,
    startup_rounds: u32,
    is_in_round: bool,
    is_eligible: bool,
    /// Marks count on long paths, too.
    any_rtt: bool,
}

impl Ecn {
    pub(super) fn new(any_rtt: bool) -> Self {
        Self {
            alpha: UNIT,
            delivered: 0,
            delivered_ce: 0,
            marked: 0,
            startup_rounds: 0,
            is_in_round: false,
            is_eligible: false,
            any_rtt,
        }
    }

    pub(super) fn is_eligible(&self) -> bool {
        self.is_eligible
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, min_rtt: Duration) {
        debug_assert!(ack.state <= CongestionState::Loss);
        self.is_eligible = self.any_rtt || min_rtt <= SHORT;
        self.marked += u64::from(ack.marked);
        self.is_in_round |= ack.marked > 0;
    }

    /// Ends a round of losses and marks. Returns whether the round shows that Startup has filled the path.
    pub(super) fn end_round(&mut self, rate: &RateEstimator, is_full: bool) -> bool {
        let delivered = rate.delivered() - self.delivered;
        let marked = self.marked - self.delivered_ce;
        (self.delivered, self.delivered_ce) = (rate.delivered(), self.marked);
        if !self.is_eligible || delivered == 0 {
            return false;
        }
        let share = (marked * u64::from(UNIT) / delivered).min(u64::from(UNIT)) as u32;
        self.alpha = (15 * self.alpha + share) / 16;
        self.startup_rounds = if u64::from(share) >= THRESHOLD { self.startup_rounds + 1 } else { 0 };
        !is_full && self.startup_rounds >= FULL_ROUNDS
    }

    /// Returns the part of the flight that this round's marks leave, as a gain, or `None` if there were no marks.
    pub(super) fn cut(&mut self) -> Option<u32> {
        let was_in_round = core::mem::take(&mut self.is_in_round);
        (was_in_round && self.is_eligible).then(|| self.left())
    }

    /// Returns the part that marks leave.
    pub(super) fn left(&self) -> u32 {
        UNIT - self.alpha * FACTOR / UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Instant;

    /// All ten segments of a round are marked. The share is that of the round. Guards against a share that falls with
    /// everything delivered before. The second round of this kind ends Startup, if the path is not full yet.
    #[test]
    fn the_share_is_of_a_round_and_two_rounds_of_marks_end_startup() {
        for is_full in [false, true] {
            let (mut ecn, mut rate) = (Ecn::new(false), RateEstimator::default());
            rate.grow(0..0, 1);
            let ended = [1, 2, 3].map(|round| {
                let now = Instant::ZERO + SHORT * round;
                rate.sample(now, 10, 10, SHORT);
                ecn.on_ack(&Ack { marked: 10, ..Ack::of(now, 10) }, SHORT);
                ecn.end_round(&rate, is_full)
            });
            assert_eq!(ended, if is_full { [false; 3] } else { [false, true, true] });
            assert_eq!(ecn.alpha, UNIT);
        }
    }

    /// Half of the ten segments of a round are marked. Alpha goes from 256 towards 128 by sixteenths: (15 · 256 + 128)
    /// / 16 = 248, then 240 and 233. Guards against the share of all marks since the beginning.
    #[test]
    fn the_share_of_a_round_that_is_marked_in_part() {
        let (mut ecn, mut rate) = (Ecn::new(false), RateEstimator::default());
        rate.grow(0..0, 1);
        let alphas = [1, 2, 3].map(|round| {
            let now = Instant::ZERO + SHORT * round;
            rate.sample(now, 10, 5, SHORT);
            ecn.on_ack(&Ack { marked: 5, ..Ack::of(now, 10) }, SHORT);
            ecn.end_round(&rate, true);
            ecn.alpha
        });
        assert_eq!(alphas, [248, 240, 233]);
    }
}
