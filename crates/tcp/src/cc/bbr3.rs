//! BBR version 3: version 1, plus bounds on rate and flight from losses, and on short paths from marks. Version 2, an
//! older one with the same bounds, is the same type with another number; `bbr2` says what differs.
//!
//! Sections are those of draft-ietf-ccwg-bbr-06. The draft leaves ECN out; `ecn` follows the documents of Google's
//! BBRv3. The estimate of bunches of ACKs (5.5.9) keeps two spans of five rounds, as Linux does, instead of a filter of
//! ten. All counts are in segments, gains in 1/256.

pub(super) mod bounds;
mod controls;
mod ecn;
mod losses;
mod probe_rtt;
mod probing;
mod startup;

use super::bandwidth::{Bandwidth, Dice, UNIT};
use super::bbr::Aggregation;
use super::bbr2;
use super::line::{ANY_RTT, CcWord};
use super::{Ack, Congestion, CongestionControl};
use crate::rate::{RateEstimator, RateSample};
use crate::{Config, CongestionState, INFINITE_SSTHRESH, Window};
use alloc::boxed::Box;
use bounds::Bounds;
use ecn::Ecn;
use goodqueue_units::{Duration, Instant};
use probing::Probing;

/// 5.3.1.1 and 5.3.2: BBR.StartupPacingGain 2.77, BBR.DefaultCwndGain 2, BBR.DrainPacingGain 0.5.
const STARTUP_GAIN: u32 = UNIT * 277 / 100 + 1;
const CWND_GAIN: u32 = 2 * UNIT;
const DRAIN_GAIN: u32 = UNIT / 2;
/// 5.6.1: the gains of ProbeBW, and the gain of ProbeRTT's window.
const DOWN_GAIN: u32 = UNIT * 90 / 100;
const UP_GAIN: u32 = UNIT * 5 / 4;
const UP_CWND_GAIN: u32 = UNIT * 9 / 4;
const PROBE_RTT_CWND_GAIN: u32 = UNIT / 2;
const AGGREGATION_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
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

pub(crate) type Bbr3 = BoundedBbr<3>;

/// BBR with bounds: version 2 or 3.
#[derive(Clone, Debug)]
pub(crate) struct BoundedBbr<const VERSION: u8> {
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
    /// Version 2: the bound that marks during a probe set.
    bw_longterm: Bandwidth,
    /// Version 2: a sample of this probe was not too high.
    is_probe_fine: bool,
}

impl<const VERSION: u8> CongestionControl for BoundedBbr<VERSION> {
    const NAME: &'static str = if Self::IS_2 { bbr2::NAME } else { "bbr3" };
    const SUMMARY: &'static str = if Self::IS_2 {
        bbr2::SUMMARY
    } else {
        "BBR version 3: bounds from losses and marks, and longer cycles"
    };
    const SOURCE: &'static str =
        if Self::IS_2 { bbr2::SOURCE } else { "draft-ietf-ccwg-bbr-06; ECN as in Google's BBRv3" };
    const DIFFERS: &'static str = if Self::IS_2 {
        bbr2::DIFFERS
    } else {
        "extra_acked over two periods of five rounds, and ECN only on paths with an RTT up to 5 ms (both as Google's)"
    };
    const WORDS: &'static [CcWord] = if Self::IS_2 { &[ANY_RTT] } else { &[] };
    const MODEL_BASED: bool = true;

    fn new(config: &Config) -> Self {
        Self {
            state: State::Startup,
            mss: config.mss.max(1),
            bounds: Box::new(Bounds::new()),
            probing: Box::new(Probing::new()),
            ecn: Box::new(Ecn::new(Self::IS_2 && config.cc_options.any_rtt)),
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
            bw_longterm: Bandwidth::INFINITE,
            is_probe_fine: false,
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
        self.bounds.update_latest(sample, rate);
        self.update_congestion_signals(ack, sample, rate, window);
        if ack.segments > 0 {
            let rounds = if self.full_bw_reached { AGGREGATION_ROUNDS } else { 1 };
            let bw = self.bw();
            self.aggregation.on_ack(ack.now, ack.segments, bw, window.cwnd, self.round_start, rounds);
        }
        if Self::IS_2 {
            self.check_startup_losses(ack, sample, window);
            self.check_full_pipe(sample);
        } else {
            self.check_full_pipe(sample);
            self.check_startup_losses(ack, sample, window);
        }
        self.check_startup_done(window);
        self.check_drain_done(ack, rate, window);
        self.update_cycle(ack, sample, rate, window);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, sample, rate, window);
        if self.bounds.loss_round_start {
            self.bounds.restart_latest(sample); // 5.5.10.3, AdvanceLatestDeliverySignals
        }
        self.leave_recovery(ack, window);
        self.set_pacing_rate(Self::gains(self.state).0, ack.rtt, window);
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
        if Self::IS_2 {
            self.reset_full_bw(Bandwidth::ZERO);
            self.bounds.begin_shortterm(self.prior_cwnd, self.state);
        }
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
        show("bw_mbps", self.bw().bps(self.mss) as f64 / 1e6);
        if self.min_rtt != Duration::MAX {
            show("mrtt_ms", self.min_rtt.as_millis_f64());
        }
        let (pacing_gain, cwnd_gain) = Self::gains(self.state);
        show("pacing_gain", f64::from(pacing_gain) / f64::from(UNIT));
        show("cwnd_gain", f64::from(cwnd_gain) / f64::from(UNIT));
        self.bounds.probe(self.mss, show);
    }
}

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Whether the version is 2. For version 3 nothing of version 2 is compiled.
    const IS_2: bool = VERSION == 2;

    fn gains(state: State) -> (u32, u32) {
        if Self::IS_2 { bbr2::gains(state) } else { state.gains() }
    }

    /// Returns the bounded bandwidth.
    fn bw(&self) -> Bandwidth {
        if Self::IS_2 { self.bounds.bw().min(self.bw_longterm) } else { self.bounds.bw() }
    }

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
            self.queue_was_too_high(window);
        }
        if !self.state.is_accelerating() {
            let cut = self.ecn.cut();
            self.bounds.adapt(window.cwnd, cut, Self::IS_2);
        }
        self.bounds.is_loss_in_round = false;
    }

    fn start_round(&mut self, rate: &RateEstimator) {
        self.round_end = rate.delivered();
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod version2;
