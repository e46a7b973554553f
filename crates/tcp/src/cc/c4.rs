//! C4, Christian's Congestion Control Code (draft-huitema-ccwg-c4-spec), for media over QUIC, here above TCP.
//!
//! It keeps two numbers: the nominal rate, which only congestion lowers, and the nominal largest RTT without queues of
//! its own, jitter included. Time passes in eras of one round trip. From its states follow a gain for the pacing rate
//! and the window. Section names are those of the draft.
//!
//! The draft leaves open how much of a rise counts. An initial era rises if the rate grows by a quarter of what it
//! should, 1.25 times; a probe of 1/16 or 1/32 succeeds if the rate grows by half of it. Where the draft's table and
//! text differ (draining: 3/4 or 7/8), the text holds. A flow re-enters the initial state for jitter once, as the
//! condition would otherwise hold after each recovery.

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, EcnUse, INFINITE_SSTHRESH, RateEstimator, RateSample, Window};
use goodqueue_units::{Duration, Instant, Rate};

/// The states, with their gain ("Setting pacing rate, congestion window and quantum").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Recovery,
    Cruising,
    Probing,
    Pushing,
}

/// The least pacing rate of the initial state, in bytes per second: 1,048,576 bit/s.
const INITIAL_RATE: f64 = 131_072.0;
/// `MAX_JITTER`, in seconds.
const MAX_JITTER: f64 = 0.25;
/// The eras without a rise after which the initial state ends.
const FLAT_ERAS: u32 = 3;
/// The segments before which losses do not end the initial state.
const FIRST_SEGMENTS: u64 = 20;
/// The rise of the rate with which an initial era counts as one with an increase.
const RISE: f64 = 1.25;
/// The rise with which pushing goes on.
const PUSHED: f64 = 19.0 / 16.0;
/// The eras of pushing after which the initial state begins again.
const LONG_PUSH: u32 = 3;

#[derive(Clone, Debug)]
pub(crate) struct C4 {
    state: State,
    mss: f64,
    /// Bytes per second. 0 before the first sample.
    nominal_rate: f64,
    /// Seconds. 0 before the first sample.
    nominal_max_rtt: f64,
    running_min_rtt: f64,
    alpha: f64,
    alpha_previous: f64,
    /// The delivered count at which the era ends.
    era_end: u64,
    /// The number of eras that ended in this state.
    eras: u32,
    /// The nominal rate when the era began, and when the last probing or pushing began.
    era_rate: f64,
    base_rate: f64,
    era_max_rtt: f64,
    era_min_rtt: f64,
    flat_eras: u32,
    /// Bytes.
    initial_cwnd: f64,
    /// A congestion began the recovery, or was noticed in it.
    is_congested: bool,
    /// The state before the recovery.
    before: State,
    was_app_limited: bool,
    needs_draining: bool,
    has_restarted: bool,
    congestions: u32,
    /// The largest rate measured since the last recovery.
    recent_rate: f64,
    smoothed_loss: f64,
    ecn_alpha: f64,
    has_seen_ce: bool,
}

impl CongestionControl for C4 {
    const NAME: &'static str = "c4";
    const SUMMARY: &'static str =
        "keeps a rate and the largest RTT without queues; for media, with much jitter";
    const SOURCE: &'static str = "draft-huitema-ccwg-c4-spec of 2026";
    const DIFFERS: &'static str =
        "no careful resume; delivery rates by draft-ietf-ccwg-bbr; says itself how much of a rise counts";
    const MODEL_BASED: bool = true;
    const ECN: EcnUse = EcnUse::L4s;

    fn new(config: &Config) -> Self {
        let mss = f64::from(config.mss.max(1));
        Self {
            state: State::Initial,
            mss,
            nominal_rate: 0.0,
            nominal_max_rtt: 0.0,
            running_min_rtt: 0.0,
            alpha: 2.0,
            alpha_previous: 2.0,
            era_end: 0,
            eras: 0,
            era_rate: 0.0,
            base_rate: 0.0,
            era_max_rtt: 0.0,
            era_min_rtt: f64::INFINITY,
            flat_eras: 0,
            initial_cwnd: mss * f64::from(config.initial_window.max(1)),
            is_congested: false,
            before: State::Initial,
            was_app_limited: false,
            needs_draining: false,
            has_restarted: false,
            congestions: 0,
            recent_rate: 0.0,
            smoothed_loss: 0.0,
            ecn_alpha: 0.0,
            has_seen_ce: false,
        }
    }

    fn on_open(&mut self, _now: Instant, rtt: Option<Duration>, _window: &mut Window) {
        if let Some(rtt) = rtt {
            (self.nominal_max_rtt, self.running_min_rtt) = (rtt.as_secs_f64(), rtt.as_secs_f64());
        }
    }

    fn on_rate(&mut self, ack: &Ack, sample: &RateSample, rate: &mut RateEstimator, window: &mut Window) {
        self.take_rtt(ack.rtt);
        self.take_rate(sample);
        let bytes = f64::from(ack.segments) * self.mss;
        self.initial_cwnd += bytes / f64::from(1_u32 << (3 * self.flat_eras.min(5)));
        let beta = self.congestion(ack, sample, rate);
        if let Some(beta) = beta {
            self.on_congestion(beta);
        }
        self.was_app_limited |= sample.is_app_limited;
        if ack.segments > 0 && sample.prior_delivered >= self.era_end {
            self.end_era();
            self.era_end = rate.delivered();
        }
        self.set_window(window);
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Returns no threshold: the rate decides.
    fn ssthresh(&mut self, _congestion: &Congestion) -> u32 {
        INFINITE_SSTHRESH
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("nominal_rate_mbps", self.nominal_rate * 8e-6);
        show("nominal_max_rtt_ms", self.nominal_max_rtt * 1e3);
        show("pacing_gain", self.alpha);
    }
}

impl C4 {
    /// Takes an RTT into the era ("Nominal max RTT"). The first one is the nominal one.
    fn take_rtt(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt.map(Duration::as_secs_f64) else { return };
        if self.nominal_max_rtt == 0.0 {
            (self.nominal_max_rtt, self.running_min_rtt) = (rtt, rtt);
        }
        self.era_max_rtt = self.era_max_rtt.max(rtt);
        self.era_min_rtt = self.era_min_rtt.min(rtt);
    }

    /// Takes a rate, which raises the nominal one except after a congestion ("Nominal rate").
    fn take_rate(&mut self, sample: &RateSample) {
        let Some(interval) = sample.interval.filter(|interval| *interval > Duration::ZERO) else { return };
        let rate = sample.delivered as f64 * self.mss / interval.as_secs_f64();
        self.recent_rate = self.recent_rate.max(rate);
        if !(self.state == State::Recovery && self.is_congested) {
            self.nominal_rate = self.nominal_rate.max(rate);
        }
    }

    /// Returns how sensitive the flow is to congestion, 0 to 1 ("Variable Sensitivity").
    fn sensitivity(&self) -> f64 {
        match self.nominal_rate {
            rate if rate < 50e3 => 0.0,
            rate if rate < 1e6 => 0.92 * (rate - 50e3) / 950e3,
            rate if rate < 10e6 => 0.92 + 0.08 * (rate - 1e6) / 9e6,
            _ => 1.0,
        }
    }

    /// Returns the `beta` of a congestion that this ACK shows ("Handling of congestion signals").
    fn congestion(&mut self, ack: &Ack, sample: &RateSample, rate: &RateEstimator) -> Option<f64> {
        let sensitivity = self.sensitivity();
        for _ in 0..sample.losses {
            self.smoothed_loss = (1.0 + 15.0 * self.smoothed_loss) / 16.0;
        }
        let is_lossy = sample.losses > 0 && self.smoothed_loss > 0.02 + 0.5 * (1.0 - sensitivity);
        for _ in 0..ack.segments {
            self.smoothed_loss *= 15.0 / 16.0;
        }
        let in_initial = self.state == State::Initial;
        if is_lossy && !(in_initial && rate.delivered() <= FIRST_SEGMENTS) {
            return Some(0.25);
        }
        self.take_marks(ack);
        if in_initial && self.flat_eras < 2 {
            return None;
        }
        let ecn_threshold = (2.0 - sensitivity) * 3.0 / 32.0;
        if ack.marked > 0 && self.ecn_alpha > ecn_threshold {
            return Some(((self.ecn_alpha - ecn_threshold) / ecn_threshold).min(0.25));
        }
        let fraction = 1.0 / 16.0 + (1.0 - sensitivity) * 3.0 / 16.0;
        let threshold = (fraction * self.nominal_max_rtt).min(0.025);
        let above = ack.rtt?.as_secs_f64() - (self.nominal_max_rtt + threshold);
        (above > 0.0).then(|| (above / threshold).min(0.25))
    }

    /// Updates the share of CE marks ("Detecting Excessive CE Marks").
    fn take_marks(&mut self, ack: &Ack) {
        if ack.segments == 0 {
            return;
        }
        self.has_seen_ce |= ack.marked > 0;
        let share = f64::from(ack.marked) / f64::from(ack.segments.max(ack.marked));
        if share >= 0.5 {
            self.ecn_alpha = share;
        } else {
            self.ecn_alpha += (share - self.ecn_alpha) / 16.0;
        }
    }

    /// Applies a congestion. Only cruising lowers the rate: the other states send faster than the nominal rate
    /// ("Applying congestion signals").
    fn on_congestion(&mut self, beta: f64) {
        match self.state {
            State::Recovery => self.is_congested = true,
            State::Cruising => {
                self.nominal_rate *= 1.0 - beta;
                self.enter_recovery(true);
            }
            _ => self.enter_recovery(true),
        }
    }

    fn enter(&mut self, state: State, alpha: f64) {
        (self.state, self.alpha, self.eras) = (state, alpha, 0);
        if matches!(state, State::Probing | State::Pushing) {
            self.base_rate = self.nominal_rate;
        }
    }

    fn enter_recovery(&mut self, is_congested: bool) {
        self.before = self.state;
        if self.state == State::Initial && self.nominal_rate > 0.0 {
            // "On exiting the Initial state": the window in use was twice what the path holds.
            let held = self.initial_cwnd.max(2.0 * self.nominal_rate * self.nominal_max_rtt) / 2.0;
            let most = self.running_min_rtt + MAX_JITTER;
            self.nominal_max_rtt = (held / self.nominal_rate).clamp(self.running_min_rtt, most);
        }
        self.needs_draining |= matches!(self.state, State::Initial | State::Pushing);
        let alpha = if self.needs_draining { 7.0 / 8.0 } else { 15.0 / 16.0 };
        (self.needs_draining, self.is_congested) = (false, is_congested);
        self.enter(State::Recovery, alpha);
    }

    /// Ends an era, one round trip.
    fn end_era(&mut self) {
        self.update_rtts();
        self.eras += 1;
        match self.state {
            State::Initial => self.end_initial_era(),
            State::Recovery => self.end_recovery(),
            State::Cruising if self.eras >= 2 => {
                self.enter(State::Probing, if self.has_seen_ce { 33.0 / 32.0 } else { 17.0 / 16.0 });
            }
            State::Cruising => {}
            State::Probing => self.enter_recovery(false),
            State::Pushing if self.eras < 2 => {}
            State::Pushing if self.nominal_rate < PUSHED * self.era_rate => self.enter_recovery(false),
            State::Pushing if self.eras > LONG_PUSH => self.restart(),
            State::Pushing => {}
        }
        (self.era_rate, self.alpha_previous) = (self.nominal_rate, self.alpha);
        (self.era_max_rtt, self.era_min_rtt, self.was_app_limited) = (0.0, f64::INFINITY, false);
    }

    /// Updates the RTTs by those of packets that were sent at the nominal rate at most ("Nominal max RTT").
    fn update_rtts(&mut self) {
        if self.alpha_previous > 1.0 || self.era_max_rtt == 0.0 || self.state == State::Initial {
            return;
        }
        self.running_min_rtt = if self.era_min_rtt < self.running_min_rtt {
            self.era_min_rtt
        } else {
            (7.0 * self.running_min_rtt + self.era_min_rtt) / 8.0
        };
        let most = self.era_max_rtt.min(self.running_min_rtt + MAX_JITTER);
        self.nominal_max_rtt =
            if most > self.nominal_max_rtt { most } else { (7.0 * self.nominal_max_rtt + most) / 8.0 };
    }

    fn end_initial_era(&mut self) {
        if self.nominal_rate >= RISE * self.era_rate {
            self.flat_eras = 0;
        } else if !self.was_app_limited {
            self.flat_eras += 1;
        }
        if self.flat_eras >= FLAT_ERAS {
            self.enter_recovery(false);
        }
    }

    /// Ends a recovery ("Recovery state").
    fn end_recovery(&mut self) {
        self.congestions = if self.is_congested { self.congestions + 1 } else { 0 };
        if self.congestions > 1 && self.recent_rate > 0.0 {
            self.nominal_rate = self.recent_rate; // "Reaction to persistent congestion"
        }
        let probe = if self.has_seen_ce { 1.0 / 32.0 } else { 1.0 / 16.0 };
        let has_grown = self.nominal_rate >= (1.0 + probe / 2.0) * self.base_rate;
        if !self.is_congested && !self.was_app_limited && !has_grown && self.recent_rate > 0.0 {
            self.nominal_rate = f64::midpoint(self.nominal_rate, self.recent_rate); // "Trimming"
        }
        (self.recent_rate, self.ecn_alpha) = (0.0, 0.0);
        if self.before == State::Probing && !self.is_congested && has_grown {
            self.enter(State::Pushing, 1.25);
        } else if !self.has_restarted && self.running_min_rtt < 0.4 * self.nominal_max_rtt {
            self.has_restarted = true;
            self.restart();
        } else {
            self.enter(State::Cruising, 1.0);
        }
        self.is_congested = false;
    }

    /// Enters the initial state again.
    fn restart(&mut self) {
        self.flat_eras = 0;
        self.initial_cwnd = self.nominal_rate * self.nominal_max_rtt;
        self.enter(State::Initial, 2.0);
    }

    /// Sets the pacing rate and the window ("Setting pacing rate, congestion window and quantum").
    fn set_window(&self, window: &mut Window) {
        if self.nominal_rate == 0.0 || self.nominal_max_rtt == 0.0 {
            return;
        }
        let rate = self.alpha * self.nominal_rate;
        let (rate, bytes) = if self.state == State::Initial {
            (rate.max(INITIAL_RATE), self.initial_cwnd.max(rate * self.nominal_max_rtt))
        } else {
            let margin = (self.nominal_max_rtt / 4.0).min(0.015);
            (rate, rate * (self.nominal_max_rtt + margin))
        };
        window.pacing_rate = Rate::from_bps((8.0 * rate) as u64);
        window.cwnd = ((bytes / self.mss) as u32).max(2);
        // 4 ms, at most 64 kB, at least two packets.
        window.packet = ((rate * 0.004).min(65536.0) / self.mss).max(2.0) as u16;
    }
}

#[cfg(test)]
mod tests;
