//! The controller of the drop probability (RFC 8033, 4.2 and 5.5), and the dice (5.4). Both laws of PIE use them.

use super::{MAX_PROB, Params, TICKS_PER_SECOND, ticks};
use goodqueue_units::Duration;

/// The drop probability and the memory of de-randomisation, under Linux's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// The drop probability, as a part of [`MAX_PROB`].
    pub(crate) prob: u64,
    /// The sum of the probabilities that packets have survived since the last drop (5.4).
    pub(super) accu_prob: u64,
}

impl Control {
    /// Returns whether the dice drop a packet of `len` bytes. A sum of 8.5 drops it whatever the dice show (5.4). The
    /// sum stays, and the law decides when it restarts.
    pub(super) fn drops(&mut self, params: &Params, len: u32, draw: impl FnOnce() -> u64) -> bool {
        let prob = if params.bytemode && len <= params.mtu {
            u64::from(len) * (self.prob / u64::from(params.mtu))
        } else {
            self.prob
        };
        if params.rules.derandomised {
            self.accu_prob = if prob == 0 { 0 } else { self.accu_prob.saturating_add(prob) };
            if self.accu_prob < MAX_PROB / 100 * 85 {
                return false;
            }
            if self.accu_prob >= MAX_PROB / 2 * 17 {
                return true;
            }
        }
        let hit = draw() >> 8 < prob;
        if hit {
            self.restart();
        }
        hit
    }

    /// Restarts de-randomisation, as every drop must, for whatever reason (5.4).
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.accu_prob = 0;
    }

    /// Moves p by a step: the present delay is `delay` and the one before it `old`, both in ticks. If both are 0 and
    /// `may_decay` holds, p decays (4.2).
    pub(super) fn adjust(&mut self, params: &Params, delay: u64, old: u64, may_decay: bool) {
        let rules = params.rules;
        let delta = self.step(params, delay, old);
        let stepped = self.prob.checked_add_signed(delta);
        let overflowed = stepped.is_none_or(|prob| prob > rules.ceiling) && delta > 0;
        self.prob = if overflowed { MAX_PROB } else { stepped.unwrap_or(0) };
        if delay == 0 && old == 0 && may_decay && !overflowed {
            self.prob -= self.prob / rules.decay;
        }
    }

    /// Returns the change of p: the controller with its gains tuned to p (4.2), the cap (5.5), and the addition above
    /// 250 ms.
    pub(super) fn step(&self, params: &Params, delay: u64, old: u64) -> i64 {
        let rung = params.rules.ladder.iter().rev().find(|(below, _)| self.prob < MAX_PROB / below);
        let shift = 4 + rung.map_or(0, |(_, halvings)| *halvings);
        let gain = |sixteenths: u64| (sixteenths * (MAX_PROB / TICKS_PER_SECOND)) >> shift;
        // Linux has numbers of 64 bits here, which wrap if a packet has waited for some 100 s.
        let change = |gain: u64, from: u64| gain.wrapping_mul(delay.wrapping_sub(from));
        let mut delta =
            change(gain(params.alpha), params.target).wrapping_add(change(gain(params.beta), old)) as i64;
        if delta > (MAX_PROB / 50) as i64 && self.prob >= params.rules.capped_from {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if delay > ticks(Duration::from_millis(250)) {
            delta = delta.wrapping_add(params.rules.boost as i64);
        }
        delta
    }
}

#[cfg(test)]
mod tests;
