//! BBR version 1, as in Linux: it measures the path's bandwidth and its smallest RTT, and sends by them.
//!
//! The sources are Cardwell et al. 2017 ("BBR: Congestion-Based Congestion Control") and
//! draft-cardwell-iccrg-bbr-congestion-control-00, whose sections stand at the formulas. Linux adds two things: it
//! adopts the rate of a policer where a policer seems to drop (`policer`), and it leaves room for ACKs that come in
//! bunches (`aggregation`). Where Linux differs from the draft, this code follows Linux: gains are in 1/256, and the
//! cycle's phases end by what will be in flight when pacing lets the next packet leave.

mod aggregation;
mod controls;
mod policer;
mod probe_rtt;

use super::bandwidth::{Bandwidth, Dice, MaxFilter, UNIT};
use super::line::NO_AGGREGATION;
use super::{Ack, CcWord, Congestion, CongestionControl};
use crate::rate::{RateEstimator, RateSample};
use crate::{Config, CongestionState, INFINITE_SSTHRESH, Window};
pub(super) use aggregation::Aggregation;
use alloc::boxed::Box;
use goodqueue_units::{Duration, Instant};
use policer::Policer;

/// 2/ln 2: the least gain that doubles the rate each round trip (4.2.1, BBRHighGain), and its inverse.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// The window's gain (4.2.3).
const CWND_GAIN: u32 = 2 * UNIT;
/// The pacing gains of a cycle, one per round trip: one above the bandwidth, one below it, six at it (4.3.4.2).
const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// BtlBwFilterLen, in rounds (4.1.1.3).
const BW_ROUNDS: u32 = 10;
/// The window in PROBE_RTT, and the least window otherwise, in segments.
const LEAST_CWND: u32 = 4;
/// The pipe is full when the bandwidth has not grown by a quarter in three rounds (4.3.2.2).
const FULL_GROWTH: u32 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Rounds of each of the two spans over which bunches of ACKs are remembered.
const AGGREGATION_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    mode: Mode,
    mss: u16,
    pacing_gain: u32,
    cwnd_gain: u32,
    bw: MaxFilter,
    /// [`Duration::MAX`] before the first sample.
    min_rtt: Duration,
    min_rtt_at: Instant,
    has_seen_rtt: bool,
    /// The number of the round, counted by delivered data (4.1.1.3).
    round: u32,
    /// The delivered count at which the present round ends.
    round_end: u64,
    /// The present round began with this ACK.
    round_start: bool,
    full_bw: Bandwidth,
    full_bw_rounds: u32,
    full_bw_reached: bool,
    cycle: usize,
    cycle_at: Instant,
    /// When PROBE_RTT may end. `None` until the flight is small enough.
    probe_rtt_end: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// The window before recovery or PROBE_RTT.
    prior_cwnd: u32,
    prior_state: CongestionState,
    packet_conservation: bool,
    /// A timeout took place since the last ACK.
    timed_out: bool,
    ssthresh: u32,
    // Boxed, so that connections of other congestion controls stay small.
    policer: Box<Policer>,
    aggregation: Box<Aggregation>,
    /// ACKs that come in bunches add nothing to the window.
    no_aggregation: bool,
    dice: Dice,
}

impl CongestionControl for Bbr {
    const NAME: &'static str = "bbr";
    const SUMMARY: &'static str = "BBR version 1: paces at the bandwidth that it measured on the path";
    const SOURCE: &'static str = "Cardwell et al. 2017; draft-cardwell-iccrg-bbr-congestion-control-00";
    const DIFFERS: &'static str =
        "as Linux, beyond the draft: detects policers, and allows for aggregated ACKs";
    const MODEL_BASED: bool = true;
    // The page has no such word, for its size.
    const WORDS: &'static [CcWord] = if cfg!(target_family = "wasm") { &[] } else { &[NO_AGGREGATION] };

    fn new(config: &Config) -> Self {
        Self {
            mode: Mode::Startup,
            mss: config.mss.max(1),
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bw: MaxFilter::default(),
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            has_seen_rtt: false,
            round: 0,
            round_end: 0,
            round_start: false,
            full_bw: Bandwidth::ZERO,
            full_bw_rounds: 0,
            full_bw_reached: false,
            cycle: 0,
            cycle_at: Instant::ZERO,
            probe_rtt_end: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            prior_cwnd: 0,
            prior_state: CongestionState::Open,
            packet_conservation: false,
            timed_out: false,
            ssthresh: INFINITE_SSTHRESH,
            policer: Box::default(),
            aggregation: Box::default(),
            no_aggregation: config.cc_options.no_aggregation,
            dice: Dice::new(config.random),
        }
    }

    fn on_open(&mut self, now: Instant, rtt: Option<Duration>, window: &mut Window) {
        self.min_rtt = rtt.unwrap_or(Duration::MAX);
        self.min_rtt_at = now;
        self.aggregation.restart(now);
        self.start_pacing(rtt, window);
    }

    fn on_rate(&mut self, ack: &Ack, sample: &RateSample, rate: &mut RateEstimator, window: &mut Window) {
        self.update_bandwidth(ack, sample, rate);
        let allows = cfg!(target_family = "wasm") || !self.no_aggregation;
        if allows && ack.segments > 0 && sample.interval.is_some() {
            let (now, bw) = (rate.delivered_at(), self.bandwidth());
            let rounds = AGGREGATION_ROUNDS;
            self.aggregation.on_ack(now, ack.segments, bw, window.cwnd, self.round_start, rounds);
        }
        if self.mode == Mode::ProbeBw && self.is_next_phase(ack, sample, rate, window) {
            self.advance_phase(rate.delivered_at());
        }
        self.check_full_pipe(sample);
        self.check_drain(ack, sample, rate, window);
        self.update_min_rtt(ack, sample, rate, window);
        self.update_gains();
        self.set_pacing_rate(self.bandwidth(), self.pacing_gain, ack.rtt, window);
        self.set_cwnd(ack, sample, rate, window);
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Returns the threshold, which a loss does not change. Saves the window, to be restored after the recovery
    /// (4.2.3.4).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        self.save_cwnd(congestion.cwnd);
        self.ssthresh
    }

    fn on_rto(&mut self) {
        self.prior_state = CongestionState::Loss;
        self.full_bw = Bandwidth::ZERO;
        self.timed_out = true;
    }

    /// Restarts after a silence with the path's known values (4.3.4.4).
    fn on_transmit_start(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        if !rate.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(self.bandwidth(), UNIT, None, window),
            Mode::ProbeRtt => self.check_probe_rtt_done(now, rate.delivered_at(), window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// Returns the window unchanged. BBR sets the window with the next ACK.
    fn undo_cwnd(&self, window: &Window, _prior_cwnd: u32) -> u32 {
        window.cwnd
    }

    fn on_undo(&mut self) {
        (self.full_bw, self.full_bw_rounds) = (Bandwidth::ZERO, 0);
        self.policer.forget();
    }

    /// Shows the values of `ss`: `bbr:(bw,mrtt,pacing_gain,cwnd_gain)`.
    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("bw_mbps", self.bandwidth().bps(self.mss) as f64 / 1e6);
        if self.min_rtt != Duration::MAX {
            show("mrtt_ms", self.min_rtt.as_millis_f64());
        }
        show("pacing_gain", f64::from(self.pacing_gain) / f64::from(UNIT));
        show("cwnd_gain", f64::from(self.cwnd_gain) / f64::from(UNIT));
    }
}

impl Bbr {
    /// Returns the bandwidth to send by: the policer's rate, or else the largest of the last rounds.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.bandwidth().unwrap_or(self.bw.get())
    }

    /// Updates the round, and the windowed maximum of the delivery rate (4.1.1).
    fn update_bandwidth(&mut self, ack: &Ack, sample: &RateSample, rate: &RateEstimator) {
        self.round_start = false;
        if self.timed_out {
            // Linux looks for a policer at the timeout itself, as at an ACK that begins a round and has one loss.
            self.timed_out = false;
            self.look_for_policer(sample, rate, 1, true);
        }
        let Some(interval) = sample.interval else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = rate.delivered();
            self.round = self.round.wrapping_add(1);
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.look_for_policer(sample, rate, sample.losses, self.round_start);
        let bw = Bandwidth::of(sample.delivered, interval);
        if !sample.is_app_limited || bw >= self.bw.get() {
            self.bw.update(BW_ROUNDS, self.round, bw);
        }
        debug_assert!(ack.segments > 0, "a sample of nothing");
    }

    fn look_for_policer(
        &mut self,
        sample: &RateSample,
        rate: &RateEstimator,
        losses: u32,
        round_start: bool,
    ) {
        let is_probing = self.mode == Mode::ProbeBw;
        if self.policer.on_ack(sample, rate, losses, round_start, is_probing, self.mss) {
            self.enter_probe_bw(rate.delivered_at());
        }
    }

    /// Returns whether the phase is over (4.3.4.3). A phase lasts one RTT. A phase above the bandwidth lasts until that
    /// much is in flight or lost. A phase below it ends early once the queue is gone.
    fn is_next_phase(&self, ack: &Ack, sample: &RateSample, rate: &RateEstimator, window: &Window) -> bool {
        let is_full_length = rate.delivered_at().since(self.cycle_at) > self.min_rtt;
        let inflight = self.in_flight_at_departure(ack, sample, ack.prior_in_flight, window);
        let bw = self.bw.get();
        match self.pacing_gain {
            UNIT => is_full_length,
            gain if gain > UNIT => {
                is_full_length && (sample.losses > 0 || inflight >= self.inflight(bw, gain, window))
            }
            _ => is_full_length || inflight <= self.inflight(bw, UNIT, window),
        }
    }

    fn advance_phase(&mut self, now: Instant) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = now;
    }

    /// Enters PROBE_BW at a random phase (4.3.4.2): any phase except the one that drains the queue.
    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.dice.below(CYCLE.len() as u32 - 1) as usize;
        self.advance_phase(now);
    }

    /// Checks whether the pipe is full (4.3.2.2).
    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.full_bw_reached || !self.round_start || sample.is_app_limited {
            return;
        }
        if self.bw.get() >= self.full_bw.times(FULL_GROWTH) {
            self.full_bw = self.bw.get();
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_reached = self.full_bw_rounds >= FULL_ROUNDS;
    }

    /// Enters Drain when the pipe is full, and leaves it when the queue is gone (4.3.3).
    fn check_drain(&mut self, ack: &Ack, sample: &RateSample, rate: &RateEstimator, window: &mut Window) {
        let target = || self.inflight(self.bw.get(), UNIT, window);
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.ssthresh = target();
            window.ssthresh = self.ssthresh;
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_departure(ack, sample, ack.in_flight, window)
                <= self.inflight(self.bw.get(), UNIT, window)
        {
            self.enter_probe_bw(rate.delivered_at());
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bandwidth().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// Returns how much of `in_flight` will still be in the network when pacing lets the next packet leave.
    fn in_flight_at_departure(&self, ack: &Ack, sample: &RateSample, in_flight: u32, window: &Window) -> u32 {
        let delivered = self.bandwidth().segments_in(sample.departure.since(ack.now));
        let more = if self.pacing_gain > UNIT { self.packet(window) } else { 0 };
        u64::from(in_flight + more).saturating_sub(delivered) as u32
    }
}

#[cfg(test)]
mod tests;
