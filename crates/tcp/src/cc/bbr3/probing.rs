//! The cycle of ProbeBW: when to probe for more, and how (5.3.3).

use super::bounds::INFINITE;
use super::{BoundedBbr, State};
use crate::Window;
use crate::cc::Ack;
use crate::cc::bandwidth::{Bandwidth, UNIT};
use crate::cc::bbr2;
use crate::rate::{RateEstimator, RateSample};
use goodqueue_units::{Duration, Instant};
/// 5.3.3.8.2: T_bbr is 2 to 3 s, T_reno at most 63 rounds.
const LEAST_WAIT: Duration = Duration::from_secs(2);
const MOST_MORE_US: u32 = 1_000_000;
const MOST_ROUNDS: u32 = 63;
const MOST_UP_ROUNDS: u32 = 30;

/// The phase of the probe that the present ACKs belong to (5.3.3.9, BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Probing {
    pub(super) ack_phase: AckPhase,
    /// Rounds since the last probe.
    pub(super) rounds: u32,
    begun: Instant,
    wait: Duration,
    /// Segments to acknowledge for one more segment in flight.
    acked_per_increment: u32,
    /// Segments acknowledged towards the next one in flight.
    acked: u32,
    up_rounds: u32,
    /// The present ACKs are for data that was sent as a probe.
    pub(super) is_sample: bool,
    pub(super) was_too_high: bool,
    was_precautionary: bool,
}

impl Probing {
    pub(super) fn new() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            rounds: 0,
            begun: Instant::ZERO,
            wait: Duration::ZERO,
            acked_per_increment: INFINITE,
            acked: 0,
            up_rounds: 0,
            is_sample: false,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Returns the flight aimed for (5.3.3.8.3).
    pub(super) fn target_inflight(&self, window: &Window) -> u32 {
        let bdp = self.bdp(self.bw(), UNIT);
        if Self::IS_2 { self.quantized(bdp, window).min(window.cwnd) } else { bdp.min(window.cwnd) }
    }

    /// Updates the phase of the cycle (5.3.3.9, UpdateProbeBWCyclePhase).
    pub(super) fn update_cycle(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &RateEstimator,
        window: &Window,
    ) {
        if !self.full_bw_reached || self.adapt_longterm(ack, sample, rate, window) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now, window) => self.start_refill(rate),
            State::Down if self.is_time_to_cruise(ack, window) => self.start_cruise(),
            State::Refill if self.round_start => {
                self.probing.is_sample = true;
                if Self::IS_2 {
                    self.probing.begun = ack.now;
                }
                self.start_up(sample, rate, window);
            }
            State::Up if self.is_time_to_go_down(ack, sample, window) => {
                self.probing.was_too_high = false;
                self.start_down(ack.now, rate);
            }
            _ => {}
        }
    }

    pub(super) fn start_down(&mut self, now: Instant, rate: &RateEstimator) {
        self.bounds.reset_signals();
        self.probing.acked_per_increment = INFINITE;
        // PickProbeWait.
        self.probing.rounds = self.dice.below(2);
        self.probing.wait = LEAST_WAIT + Duration::from_micros(self.dice.below(MOST_MORE_US).into());
        self.probing.begun = now;
        self.probing.ack_phase = AckPhase::ProbeStopping;
        self.start_round(rate);
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if Self::IS_2 {
            self.bounds.cruise();
        }
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self, rate: &RateEstimator) {
        self.bounds.reset_shortterm();
        (self.probing.up_rounds, self.probing.acked) = (0, 0);
        self.probing.was_precautionary = false;
        self.is_probe_fine = false;
        self.probing.ack_phase = AckPhase::Refilling;
        self.start_round(rate);
        self.state = State::Refill;
    }

    fn start_up(&mut self, sample: &RateSample, rate: &RateEstimator, window: &Window) {
        self.probing.ack_phase = AckPhase::ProbeStarting;
        self.start_round(rate);
        self.reset_full_bw(rate_of(sample));
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// Returns whether it is time to probe, by BBR's own time scale or by Reno's (5.3.3.8.3, IsTimeToProbeBW).
    fn is_time_to_probe(&self, now: Instant, window: &Window) -> bool {
        now > self.probing.begun + self.probing.wait
            || self.probing.rounds >= self.target_inflight(window).min(MOST_ROUNDS)
    }

    fn is_time_to_cruise(&self, ack: &Ack, window: &Window) -> bool {
        let bdp = self.quantized(self.bdp(self.bounds.max_bw(), UNIT), window);
        let in_flight = if Self::IS_2 { ack.prior_in_flight } else { ack.in_flight };
        in_flight <= self.bounds.with_headroom() && in_flight <= bdp
    }

    /// Returns whether the probe is over (5.3.3.7).
    fn is_time_to_go_down(&mut self, ack: &Ack, sample: &RateSample, window: &Window) -> bool {
        let most = self.bounds.inflight_longterm;
        let in_flight = if Self::IS_2 { ack.prior_in_flight } else { ack.in_flight };
        if self.probing.was_too_high && in_flight >= most {
            self.probing.was_precautionary = true;
            return true;
        }
        if Self::IS_2 {
            let queues = self.quantized(self.bdp(self.bounds.max_bw(), bbr2::QUEUE_GAIN), window);
            return ack.now.since(self.probing.begun) > self.min_rtt && in_flight >= queues;
        }
        if ack.is_cwnd_limited && window.cwnd >= most {
            self.reset_full_bw(rate_of(sample)); // the bound limits the rate, not the path
            return false;
        }
        self.full_bw_now
    }

    /// Adapts the long-term model (5.3.3.9, AdaptLongTermModel). Returns whether the state has changed.
    fn adapt_longterm(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &RateEstimator,
        window: &Window,
    ) -> bool {
        if self.probing.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.probing.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probing.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.probing.is_sample = false;
            self.probing.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !sample.is_app_limited {
                    self.bounds.advance();
                }
                if self.probing.was_precautionary && !self.probing.was_too_high {
                    self.start_refill(rate);
                    return true;
                }
            }
        }
        if self.is_inflight_too_high(sample) {
            let counts = Self::IS_2 || (self.ecn.is_eligible() && sample.delivered_ce > 0);
            if counts && self.probing.is_sample {
                self.on_inflight_too_high(ack, sample.tx_in_flight, sample.is_app_limited, rate, window);
            }
            return false;
        }
        if Self::IS_2 {
            self.is_probe_fine |= self.probing.is_sample;
            if self.bw_longterm != Bandwidth::INFINITE {
                self.bw_longterm = self.bw_longterm.max(rate_of(sample));
            }
        }
        if self.bounds.inflight_longterm == INFINITE
            && !(Self::IS_2 && self.bw_longterm != Bandwidth::INFINITE)
        {
            return false;
        }
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
        if self.state == State::Up {
            self.probe_upward(ack, window);
        }
        false
    }

    /// Raises the long-term bound (5.3.3.9, ProbeInflightLongtermUpward).
    fn probe_upward(&mut self, ack: &Ack, window: &Window) {
        if !ack.is_cwnd_limited || window.cwnd < self.bounds.inflight_longterm {
            if Self::IS_2 {
                self.probing.acked = 0;
            }
            return;
        }
        self.probing.acked += ack.segments;
        let more = self.probing.acked / self.probing.acked_per_increment;
        self.probing.acked -= more * self.probing.acked_per_increment;
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.saturating_add(more).min(INFINITE - 1);
        if self.round_start {
            self.raise_slope(window);
        }
    }

    /// Lowers the long-term bound of the bandwidth, if all samples of a probe had too many marks (version 2).
    pub(super) fn lower_bw_longterm(&mut self) {
        if self.ecn.is_eligible() && !self.is_probe_fine {
            let before =
                if self.bw_longterm == Bandwidth::INFINITE { self.bounds.max_bw() } else { self.bw_longterm };
            self.bw_longterm = before.times(self.ecn.left());
        }
    }

    /// Raises the growth of the long-term bound to 1, 2, 4, 8 … segments per round (5.3.3.9,
    /// RaiseInflightLongtermSlope).
    fn raise_slope(&mut self, window: &Window) {
        let growth = 1 << self.probing.up_rounds;
        self.probing.up_rounds = (self.probing.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.probing.acked_per_increment = (window.cwnd / growth).max(1);
    }
}

fn rate_of(sample: &RateSample) -> Bandwidth {
    sample.interval.map_or(Bandwidth::ZERO, |interval| Bandwidth::of(sample.delivered, interval))
}

#[cfg(test)]
mod tests;
