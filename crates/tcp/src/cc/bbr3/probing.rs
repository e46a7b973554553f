//! The cycle of ProbeBW: when to probe for more, how, and how losses count (5.3.3, 5.5.10.2).

use super::bounds::INFINITE;
use super::ecn::THRESHOLD;
use super::{Bbr3, State};
use crate::Window;
use crate::cc::Ack;
use crate::cc::bandwidth::{Bandwidth, UNIT};
use crate::rate::{LostSegment, RateEstimator, RateSample};
use goodqueue_units::{Duration, Instant};

/// BBR.LossThresh: 2 %, as a divisor.
const LOSS_DIVISOR: u64 = 50;
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
    is_sample: bool,
    was_too_high: bool,
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

impl Bbr3 {
    /// Updates the latest delivery signals (5.5.10.3).
    pub(super) fn update_latest(&mut self, sample: &RateSample, rate: &RateEstimator) {
        self.bounds.update_latest(sample, rate);
    }

    /// Handles the lost segments of an ACK (5.5.10.2, HandleLostPacket), and before that an undo (5.5.11.2).
    pub(super) fn on_losses(&mut self, ack: &Ack, rate: &RateEstimator, window: &Window) {
        if core::mem::take(&mut self.is_undone) {
            self.return_from_needless_recovery(rate);
        }
        for &LostSegment { tx_in_flight, lost, is_app_limited } in rate.lost_segments() {
            if self.bounds.note_loss(rate) {
                self.save_cwnd(window.cwnd);
                self.bounds.save();
                self.undo_state = None;
            }
            if self.probing.is_sample && lost * LOSS_DIVISOR > u64::from(tx_in_flight) {
                let too_high = inflight_at_loss(tx_in_flight, lost);
                self.on_inflight_too_high(ack, too_high, is_app_limited, rate, window);
            }
        }
    }

    fn return_from_needless_recovery(&mut self, rate: &RateEstimator) {
        match self.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(rate),
            _ => {}
        }
    }

    /// Returns whether the flight was too high by its losses (5.5.10.2, IsInflightTooHigh), or by its marks on a short
    /// path.
    pub(super) fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        sample.lost * LOSS_DIVISOR > u64::from(sample.tx_in_flight)
            || (self.ecn.is_eligible()
                && sample.delivered_ce > 0
                && sample.delivered_ce * u64::from(UNIT) > sample.delivered * THRESHOLD)
    }

    /// Handles a flight that was too high (5.5.10.2, HandleInflightTooHigh).
    fn on_inflight_too_high(
        &mut self,
        ack: &Ack,
        too_high: u32,
        is_app_limited: bool,
        rate: &RateEstimator,
        window: &Window,
    ) {
        self.probing.was_too_high = true;
        self.probing.is_sample = false; // once per probe
        if !is_app_limited {
            self.bounds.lower_longterm(too_high, self.target_inflight(window));
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.start_down(ack.now, rate);
        }
    }

    /// Returns the flight aimed for (5.3.3.8.3).
    fn target_inflight(&self, window: &Window) -> u32 {
        self.bdp(self.bounds.bw(), UNIT).min(window.cwnd)
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
            State::Down if self.is_time_to_cruise(ack, window) => self.state = State::Cruise,
            State::Refill if self.round_start => {
                self.probing.is_sample = true;
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

    fn start_refill(&mut self, rate: &RateEstimator) {
        self.bounds.reset_shortterm();
        (self.probing.up_rounds, self.probing.acked) = (0, 0);
        self.probing.was_precautionary = false;
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
        ack.in_flight <= self.bounds.with_headroom() && ack.in_flight <= bdp
    }

    /// Returns whether the probe is over (5.3.3.7).
    fn is_time_to_go_down(&mut self, ack: &Ack, sample: &RateSample, window: &Window) -> bool {
        let most = self.bounds.inflight_longterm;
        if self.probing.was_too_high && ack.in_flight >= most {
            self.probing.was_precautionary = true;
            return true;
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
            if self.ecn.is_eligible() && sample.delivered_ce > 0 && self.probing.is_sample {
                self.on_inflight_too_high(ack, sample.tx_in_flight, sample.is_app_limited, rate, window);
            }
            return false;
        }
        if self.bounds.inflight_longterm == INFINITE {
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

/// Returns the flight at which losses passed the threshold (5.5.10.2, InflightAtLoss, for one segment).
fn inflight_at_loss(tx_in_flight: u32, lost: u64) -> u32 {
    let before = u64::from(tx_in_flight.saturating_sub(1));
    let lost_before = lost.saturating_sub(1);
    // (before / 50 − lost_before) / (1 − 1 / 50), at least 0, and in whole segments.
    let prefix = before.saturating_sub(LOSS_DIVISOR * lost_before) / (LOSS_DIVISOR - 1);
    (before + prefix) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::bench::{Bench, RTT};

    /// 5.5.10.2 by hand: the last of 101 segments in flight is lost. Before it 100 were in flight, and 2 % of them,
    /// two, might be lost. With no loss before, another 2/0.98 would have passed the threshold; with one loss 1/0.98,
    /// with two or more nothing.
    #[test]
    fn losses_pass_the_threshold_within_a_segment() {
        assert_eq!([1, 2, 3, 9].map(|lost| inflight_at_loss(101, lost)), [102, 101, 100, 100]);
        assert_eq!((inflight_at_loss(1, 1), inflight_at_loss(4901, 1)), (0, 5000));
    }

    /// 5.3.3.7: while the bound limits the flight, a rate that does not grow says nothing about the path. Guards
    /// against a probe that ends before it has asked for more than the bound, or a probe without a full window that
    /// never ends.
    #[test]
    fn a_probe_goes_on_while_the_bound_limits_it() {
        for (is_cwnd_limited, cwnd, ends) in [(true, 60, false), (true, 59, true), (false, 60, true)] {
            let mut bench = Bench::<Bbr3>::new();
            bench.cc.bounds.inflight_longterm = 60;
            bench.window.cwnd = cwnd;
            bench.cc.full_bw_now = true;
            let sample = bench.rate.sample(bench.now, 1, 0, RTT);
            let ack = Ack { is_cwnd_limited, in_flight: 40, ..Ack::of(bench.now, 1) };
            assert_eq!(bench.cc.is_time_to_go_down(&ack, &sample, &bench.window), ends);
        }
    }

    /// 5.3.3.7: a probe does not exceed a flight that was too high before. Guards against a probe that stops short of
    /// that flight, or at once.
    #[test]
    fn a_probe_ends_where_it_was_too_much_before() {
        for (was_too_high, in_flight, ends) in [(true, 59, false), (true, 60, true), (false, 60, false)] {
            let mut bench = Bench::<Bbr3>::new();
            bench.cc.bounds.inflight_longterm = 60;
            bench.cc.probing.was_too_high = was_too_high;
            let sample = bench.rate.sample(bench.now, 1, 0, RTT);
            let ack = Ack { in_flight, ..Ack::of(bench.now, 1) };
            assert_eq!(bench.cc.is_time_to_go_down(&ack, &sample, &bench.window), ends);
        }
    }

    /// 5.3.3.9: the bound rises while it limits the flight, and never up to "no bound". Guards against a bound that
    /// rises without need, or never.
    #[test]
    fn the_bound_is_raised_by_those_who_reach_it() {
        let raised = |is_cwnd_limited, cwnd, bound| {
            let mut bench = Bench::<Bbr3>::new();
            (bench.window.cwnd, bench.cc.bounds.inflight_longterm) = (cwnd, bound);
            bench.cc.probing.acked_per_increment = 1;
            let ack = Ack { is_cwnd_limited, ..Ack::of(bench.now, 3) };
            bench.cc.probe_upward(&ack, &bench.window);
            bench.cc.bounds.inflight_longterm
        };
        assert_eq!([raised(true, 60, 60), raised(true, 61, 60)], [63; 2]);
        assert_eq!([raised(true, 59, 60), raised(false, 60, 60)], [60; 2]);
        assert_eq!(raised(true, INFINITE, INFINITE - 2), INFINITE - 1);
    }

    /// 5.5.11.2: a probe that spurious losses ended is resumed. Guards against a running probe that starts again, or a
    /// ProbeRTT that ends early.
    #[test]
    fn an_undo_takes_up_the_probe_that_was_ended() {
        let after = [State::Down, State::Cruise, State::Up, State::ProbeRtt].map(|state| {
            let mut bench = Bench::<Bbr3>::new();
            (bench.cc.state, bench.cc.undo_state) = (state, Some(State::Up));
            bench.cc.return_from_needless_recovery(&bench.rate);
            bench.cc.state
        });
        assert_eq!(after, [State::Refill, State::Refill, State::Up, State::ProbeRtt]);
    }

    /// Gives an ACK of 10 segments at the start of a round, on a path of `rtt`: `delivered_ce` of them are marked, and
    /// `lost` lost.
    fn adapt(bench: &mut Bench<Bbr3>, rtt: Duration, delivered_ce: u64, lost: u64, is_app_limited: bool) {
        let ack = Ack { in_flight: 10, ..Ack::of(bench.now, 10) };
        bench.cc.ecn.on_ack(&ack, rtt);
        let mut sample = bench.rate.sample(bench.now, 10, 0, RTT);
        (sample.delivered, sample.delivered_ce, sample.lost) = (10, delivered_ce, lost);
        (sample.tx_in_flight, sample.is_app_limited) = (10, is_app_limited);
        bench.cc.round_start = true;
        bench.cc.adapt_longterm(&ack, &sample, &bench.rate, &bench.window);
    }

    /// Eight of a probe's ten segments are marked on a short path: too many. Losses are judged once, when they are
    /// found. It would be wrong to judge the losses here again, or marks on a long path, or marks of data that was not
    /// sent as a probe.
    #[test]
    fn marks_of_a_probe_are_too_many_on_short_paths() {
        let short = Duration::from_millis(5);
        let cases = [
            (short, 8, 0, true, true),
            (short, 0, 5, true, false),
            (short, 8, 0, false, false),
            (RTT, 8, 5, true, false),
        ];
        for (rtt, marked, lost, is_sample, too_high) in cases {
            let mut bench = Bench::<Bbr3>::new();
            bench.cc.probing.is_sample = is_sample;
            adapt(&mut bench, rtt, marked, lost, false);
            assert_eq!(bench.cc.probing.was_too_high, too_high, "{marked} {lost} {is_sample}");
        }
    }

    /// 5.3.3.9: the last ACK of a probe turns the cycle's maximum into the maximum of the last cycle, unless the
    /// application limited the rate. Guards against a maximum that is forgotten because there was nothing to send.
    #[test]
    fn a_cycle_counts_where_the_path_was_the_limit() {
        for (is_app_limited, left) in [(false, 50), (true, 100)] {
            let mut bench = Bench::<Bbr3>::new();
            bench.cc.state = State::Cruise;
            bench.cc.probing.ack_phase = AckPhase::ProbeStopping;
            bench.cc.bounds.take(Bandwidth(100));
            adapt(&mut bench, RTT, 0, 0, is_app_limited);
            bench.cc.bounds.take(Bandwidth(50));
            bench.cc.bounds.advance();
            assert_eq!(bench.cc.bounds.max_bw(), Bandwidth(left));
        }
    }

    /// 5.3.3.8.3: the next probe comes after the wait, by the clock. Guards against a probe only at one exact
    /// nanosecond, or none before Reno's rounds are over.
    #[test]
    fn it_is_time_to_probe_after_the_wait() {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.bounds.take(Bandwidth::of(1000, RTT));
        (bench.cc.probing.begun, bench.cc.probing.wait) = (bench.now, LEAST_WAIT);
        let end = bench.now + LEAST_WAIT;
        let times = [end, end + Duration::from_nanos(1), end + RTT];
        assert_eq!(times.map(|now| bench.cc.is_time_to_probe(now, &bench.window)), [false, true, true]);
    }
}
