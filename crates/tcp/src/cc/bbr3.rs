//! BBR version 3: version 1, plus bounds on rate and flight from losses, and on short paths from marks.
//!
//! Sections are those of draft-ietf-ccwg-bbr-06. The draft leaves ECN out; `ecn` follows the documents of Google's
//! BBRv3. The estimate of bunches of ACKs (5.5.9) keeps two spans of five rounds, as Linux does, instead of a filter of
//! ten. All counts are in segments, gains in 1/256.

mod bounds;
mod ecn;
mod probing;

use super::bandwidth::{Bandwidth, Dice, UNIT};
use super::bbr::Aggregation;
use super::{Ack, Congestion, CongestionControl};
use crate::offload::packet_of_rate;
use crate::rate::{RateEstimator, RateSample};
use crate::{Config, CongestionState, INFINITE_SSTHRESH, Window};
use alloc::boxed::Box;
use bounds::Bounds;
use ecn::Ecn;
use goodqueue_units::{Duration, Instant};
use probing::{AckPhase, Probing};

/// 5.3.1.1 and 5.3.2: BBR.StartupPacingGain 2.77, BBR.DefaultCwndGain 2, BBR.DrainPacingGain 0.5.
const STARTUP_GAIN: u32 = UNIT * 277 / 100 + 1;
const CWND_GAIN: u32 = 2 * UNIT;
const DRAIN_GAIN: u32 = UNIT / 2;
/// 5.6.1: the gains of ProbeBW, and the gain of ProbeRTT's window.
const DOWN_GAIN: u32 = UNIT * 90 / 100;
const UP_GAIN: u32 = UNIT * 5 / 4;
const UP_CWND_GAIN: u32 = UNIT * 9 / 4;
const PROBE_RTT_CWND_GAIN: u32 = UNIT / 2;
/// 5.3.2: the largest number of rounds of Drain.
const DRAIN_ROUNDS: u32 = 3;
/// 5.3.1.2.
const FULL_GROWTH: u32 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// 5.3.1.3: BBRStartupFullLossCnt, counted in ACKs that show losses.
const FULL_LOSSES: u32 = 6;
/// 5.3.4: BBR.ProbeRTTInterval and BBR.ProbeRTTDuration. 5.5.7.2: BBR.MinRTTFilterLen.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// 5.6.4.3: BBR.MinPipeCwnd.
const LEAST_CWND: u32 = 4;
/// 5.6.2: the RTT that is assumed before the first sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(1);
const INITIAL_CWND: u32 = 10;
const AGGREGATION_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Returns whether the state accelerates, so that losses are expected (5.3.3.9, IsProbingBW).
    fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Returns the pacing gain and the window gain (5.6.1).
    fn gains(self) -> (u32, u32) {
        match self {
            Self::Startup => (STARTUP_GAIN, CWND_GAIN),
            Self::Drain => (DRAIN_GAIN, CWND_GAIN),
            Self::Down => (DOWN_GAIN, CWND_GAIN),
            Self::Cruise | Self::Refill => (UNIT, CWND_GAIN),
            Self::Up => (UP_GAIN, UP_CWND_GAIN),
            Self::ProbeRtt => (UNIT, PROBE_RTT_CWND_GAIN),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Bbr3 {
    state: State,
    mss: u16,
    // Boxed, so that connections of other congestion controls stay small.
    bounds: Box<Bounds>,
    probing: Box<Probing>,
    ecn: Box<Ecn>,
    aggregation: Box<Aggregation>,
    /// The smallest RTT of [`MIN_RTT_WINDOW`]. [`Duration::MAX`] before the first sample.
    min_rtt: Duration,
    min_rtt_at: Instant,
    /// The smallest RTT by which ProbeRTT is scheduled.
    probe_rtt_min: Duration,
    probe_rtt_min_at: Instant,
    probe_rtt_expired: bool,
    probe_rtt_end: Option<Instant>,
    probe_rtt_round_done: bool,
    has_seen_rtt: bool,
    /// The number of the round, counted by delivered data (5.5.1).
    round: u32,
    /// The delivered count at which the present round ends.
    round_end: u64,
    round_start: bool,
    drain_start_round: u32,
    full_bw: Bandwidth,
    full_bw_rounds: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    /// ACKs of this loss round that showed losses.
    loss_events: u32,
    idle_restart: bool,
    prior_cwnd: u32,
    prior_state: CongestionState,
    /// The state to return to if the losses turn out to be spurious (5.5.11).
    undo_state: Option<State>,
    is_undone: bool,
    ssthresh: u32,
    dice: Dice,
}

impl CongestionControl for Bbr3 {
    const NAME: &'static str = "bbr3";
    const SUMMARY: &'static str = "BBR version 3: bounds from losses and marks, and longer cycles";
    const SOURCE: &'static str = "draft-ietf-ccwg-bbr-06; ECN as in Google's BBRv3";
    const DIFFERS: &'static str = "extra_acked over two periods of five rounds, and ECN only on paths with an RTT up to 5 ms (both as Google's)";
    const MODEL_BASED: bool = true;

    fn new(config: &Config) -> Self {
        Self {
            state: State::Startup,
            mss: config.mss.max(1),
            bounds: Box::new(Bounds::new()),
            probing: Box::new(Probing::new()),
            ecn: Box::new(Ecn::new()),
            aggregation: Box::default(),
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            probe_rtt_min: Duration::MAX,
            probe_rtt_min_at: Instant::ZERO,
            probe_rtt_expired: false,
            probe_rtt_end: None,
            probe_rtt_round_done: false,
            has_seen_rtt: false,
            round: 0,
            round_end: 0,
            round_start: false,
            drain_start_round: 0,
            full_bw: Bandwidth::ZERO,
            full_bw_rounds: 0,
            full_bw_now: false,
            full_bw_reached: false,
            loss_events: 0,
            idle_restart: false,
            prior_cwnd: 0,
            prior_state: CongestionState::Open,
            undo_state: None,
            is_undone: false,
            ssthresh: INFINITE_SSTHRESH,
            dice: Dice::new(config.random),
        }
    }

    /// Initializes the model (5.2.1).
    fn on_open(&mut self, now: Instant, rtt: Option<Duration>, window: &mut Window) {
        self.min_rtt = rtt.unwrap_or(Duration::MAX);
        self.probe_rtt_min = self.min_rtt;
        (self.min_rtt_at, self.probe_rtt_min_at) = (now, now);
        self.aggregation.restart(now);
        self.start_pacing(rtt, window);
    }

    /// Updates the model, the pacing rate and the window with an ACK (5.2.3). The losses of 5.2.4 come first.
    fn on_rate(&mut self, ack: &Ack, sample: &RateSample, rate: &mut RateEstimator, window: &mut Window) {
        self.on_losses(ack, rate, window);
        self.update_latest(sample, rate);
        self.update_congestion_signals(ack, sample, rate, window);
        if ack.segments > 0 {
            let rounds = if self.full_bw_reached { AGGREGATION_ROUNDS } else { 1 };
            let bw = self.bounds.bw();
            self.aggregation.on_ack(ack.now, ack.segments, bw, window.cwnd, self.round_start, rounds);
        }
        self.check_full_pipe(sample);
        self.check_startup_done(ack, sample, window);
        self.check_drain_done(ack, rate, window);
        self.update_cycle(ack, sample, rate, window);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, sample, rate, window);
        if self.bounds.loss_round_start {
            self.bounds.restart_latest(sample); // 5.5.10.3, AdvanceLatestDeliverySignals
        }
        self.leave_recovery(ack, window);
        self.set_pacing_rate(self.state.gains().0, ack.rtt, window);
        self.set_cwnd(ack, rate, window);
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Returns the threshold unchanged. Saves the window, to be restored after the recovery (5.6.4.4).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        self.save_cwnd(congestion.cwnd);
        self.bounds.save();
        self.ssthresh
    }

    fn on_rto(&mut self) {
        self.prior_state = CongestionState::Loss;
    }

    /// Restarts after a silence at the known rate (5.4.1).
    fn on_transmit_start(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        if !rate.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(UNIT, None, window);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, rate, window);
        }
    }

    fn undo_cwnd(&self, window: &Window, _prior_cwnd: u32) -> u32 {
        window.cwnd.max(self.prior_cwnd)
    }

    /// Restores the bounds (5.5.11.2). The state changes with the next ACK.
    fn on_undo(&mut self) {
        self.bounds.undo();
        self.reset_full_bw(Bandwidth::ZERO);
        self.is_undone = true;
    }

    /// Shows the values of `ss`, `bbr:(bw,mrtt,pacing_gain,cwnd_gain)`, and the bounds that are set.
    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bw_mbps", self.bounds.bw().bps(self.mss) as f64 / 1e6);
        if self.min_rtt != Duration::MAX {
            show("mrtt_ms", self.min_rtt.as_millis_f64());
        }
        let (pacing_gain, cwnd_gain) = self.state.gains();
        show("pacing_gain", f64::from(pacing_gain) / f64::from(UNIT));
        show("cwnd_gain", f64::from(cwnd_gain) / f64::from(UNIT));
        self.bounds.probe(self.mss, show);
    }
}

impl Bbr3 {
    /// Updates the round (5.5.1, UpdateRound), the largest bandwidth (5.5.5, UpdateMaxBw) and the congestion signals
    /// (5.5.10.3, UpdateCongestionSignals).
    fn update_congestion_signals(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &RateEstimator,
        window: &Window,
    ) {
        self.round_start = false;
        if let Some(interval) = sample.interval {
            if sample.prior_delivered >= self.round_end {
                self.start_round(rate);
                self.round = self.round.wrapping_add(1);
                self.probing.rounds += 1;
                self.round_start = true;
            }
            let bw = Bandwidth::of(sample.delivered, interval);
            if !sample.is_app_limited || bw >= self.bounds.max_bw() {
                self.bounds.take(bw);
            }
        }
        if sample.losses > 0 {
            self.loss_events += 1;
        }
        self.ecn.on_ack(ack, self.min_rtt);
        if !self.bounds.loss_round_start {
            return;
        }
        if self.ecn.end_round(rate, self.full_bw_reached) {
            self.queue_was_too_high();
        }
        if !self.state.is_accelerating() {
            let cut = self.ecn.cut();
            self.bounds.adapt(window.cwnd, cut);
        }
        self.bounds.is_loss_in_round = false;
    }

    fn start_round(&mut self, rate: &RateEstimator) {
        self.round_end = rate.delivered();
    }

    /// Restarts the search for the plateau from the baseline `bw` (5.3.1.2, ResetFullBW).
    fn reset_full_bw(&mut self, bw: Bandwidth) {
        (self.full_bw, self.full_bw_rounds, self.full_bw_now) = (bw, 0, false);
    }

    /// Checks whether the bandwidth has reached a plateau (5.3.1.2).
    fn check_full_pipe(&mut self, sample: &RateSample) {
        let Some(interval) = sample.interval else { return };
        if self.full_bw_now || !self.round_start || sample.is_app_limited {
            return;
        }
        let bw = Bandwidth::of(sample.delivered, interval);
        if bw >= self.full_bw.times(FULL_GROWTH) {
            self.reset_full_bw(bw);
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_now = self.full_bw_rounds >= FULL_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// Leaves Startup when the pipe is full, or after too many losses (5.3.1.1 and 5.3.1.3).
    fn check_startup_done(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
        if self.state == State::Startup
            && !self.full_bw_reached
            && self.bounds.loss_round_start
            && ack.state == CongestionState::Recovery
            && self.loss_events >= FULL_LOSSES
            && self.is_inflight_too_high(sample)
        {
            self.undo_state = Some(State::Startup);
            self.queue_was_too_high();
        }
        if self.bounds.loss_round_start {
            self.loss_events = 0;
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round;
            // The threshold says that slow start is over. From then on the sender is limited by the window only if the
            // window is full.
            self.ssthresh = self.inflight(UNIT, window).max(2);
            window.ssthresh = self.ssthresh;
        }
    }

    /// Takes note that Startup has filled the path and more.
    fn queue_was_too_high(&mut self) {
        self.full_bw_reached = true;
        let bdp = self.bdp(self.bounds.max_bw(), UNIT);
        self.bounds.inflight_longterm = bdp.max(self.bounds.inflight_latest);
    }

    /// Leaves Drain when the queue is gone, or after too many rounds (5.3.2).
    fn check_drain_done(&mut self, ack: &Ack, rate: &RateEstimator, window: &Window) {
        if self.state == State::Drain
            && (ack.in_flight <= self.inflight(UNIT, window)
                || self.round > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(ack.now, rate);
        }
    }

    /// Updates both smallest RTTs (5.3.4.3, UpdateMinRTT).
    fn update_min_rtt(&mut self, ack: &Ack) {
        self.probe_rtt_expired = ack.now > self.probe_rtt_min_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.rtt
            && (rtt < self.probe_rtt_min || self.probe_rtt_expired)
        {
            (self.probe_rtt_min, self.probe_rtt_min_at) = (rtt, ack.now);
        }
        if self.probe_rtt_min < self.min_rtt || ack.now > self.min_rtt_at + MIN_RTT_WINDOW {
            (self.min_rtt, self.min_rtt_at) = (self.probe_rtt_min, self.probe_rtt_min_at);
        }
    }

    /// Enters ProbeRTT when its RTT has expired, and runs it (5.3.4.3, CheckProbeRTT and HandleProbeRTT).
    fn check_probe_rtt(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &mut RateEstimator,
        window: &mut Window,
    ) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(window.cwnd);
            self.state = State::ProbeRtt;
            self.probe_rtt_end = None;
            self.probing.ack_phase = AckPhase::ProbeStopping;
            self.start_round(rate);
        }
        if self.state == State::ProbeRtt {
            rate.mark_app_limited(ack.in_flight);
            if self.probe_rtt_end.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now, rate, window);
                }
            } else if ack.in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt_end = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.start_round(rate);
            }
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Leaves ProbeRTT when its time is over (5.3.4.3 and 5.3.4.4).
    fn check_probe_rtt_done(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        self.probe_rtt_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.reset_shortterm();
        if self.full_bw_reached {
            self.start_down(now, rate);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// Restores the saved window after a recovery (5.6.4.4).
    fn leave_recovery(&mut self, ack: &Ack, window: &mut Window) {
        if self.prior_state >= CongestionState::Recovery && ack.state < CongestionState::Recovery {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.prior_state = ack.state;
    }

    /// Saves the window (5.6.4.4, SaveCwnd).
    fn save_cwnd(&mut self, cwnd: u32) {
        let is_modulated = self.prior_state >= CongestionState::Recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// Sets the first pacing rate (5.6.2, InitPacingRate).
    fn start_pacing(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.has_seen_rtt = rtt.is_some();
        let bw = Bandwidth::of(window.cwnd.into(), rtt.unwrap_or(UNKNOWN_RTT));
        window.pacing_rate = bw.pacing_rate(self.mss, STARTUP_GAIN);
    }

    /// Sets the pacing rate (5.6.2, SetPacingRateWithGain).
    fn set_pacing_rate(&mut self, gain: u32, rtt: Option<Duration>, window: &mut Window) {
        if !self.has_seen_rtt && rtt.is_some() {
            self.start_pacing(rtt, window);
        }
        let rate = self.bounds.bw().pacing_rate(self.mss, gain);
        if rate.is_some() && (self.full_bw_reached || rate > window.pacing_rate) {
            window.pacing_rate = rate;
        }
    }

    /// Sets the window (5.6.4.6, SetCwnd).
    fn set_cwnd(&mut self, ack: &Ack, rate: &RateEstimator, window: &mut Window) {
        let most = self.max_inflight(window);
        if self.full_bw_reached {
            window.cwnd = (window.cwnd + ack.segments).min(most);
        } else if window.cwnd < most || rate.delivered() < u64::from(INITIAL_CWND) {
            window.cwnd += ack.segments;
        }
        window.cwnd = window.cwnd.max(LEAST_CWND);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd());
        }
        // 5.6.4.7, BoundCwndForModel.
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(),
            State::Startup | State::Drain => u32::MAX,
        };
        window.cwnd = window.cwnd.min(cap.min(self.bounds.inflight_shortterm).max(LEAST_CWND));
    }

    /// Returns ProbeRTT's window in segments (5.6.4.5).
    fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bounds.bw(), PROBE_RTT_CWND_GAIN).max(LEAST_CWND)
    }

    /// Returns the most segments in flight (5.6.4.2, UpdateMaxInflight).
    fn max_inflight(&self, window: &Window) -> u32 {
        let bw = self.bounds.bw();
        let cap = self.bdp(bw, self.state.gains().1) + self.aggregation.budget(bw);
        self.quantized(cap, window)
    }

    /// Returns the segments in flight for `gain` (5.6.4.2, Inflight).
    fn inflight(&self, gain: u32, window: &Window) -> u32 {
        self.quantized(self.bdp(self.bounds.bw(), gain), window)
    }

    fn bdp(&self, bw: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt == Duration::MAX { INITIAL_CWND } else { bw.bdp(self.min_rtt, gain) }
    }

    /// Returns `cap` with room for the three packets of 5.5.8.1 (5.6.4.2, QuantizationBudget).
    fn quantized(&self, cap: u32, window: &Window) -> u32 {
        let budget = 3 * packet_of_rate(window.pacing_rate, self.mss, window.min_packet.into());
        let cap = cap.max(budget).max(LEAST_CWND);
        if self.state == State::Up { cap + 2 } else { cap }
    }
}

#[cfg(test)]
mod tests;
