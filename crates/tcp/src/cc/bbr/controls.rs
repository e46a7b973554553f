//! What the model sets: the pacing rate (4.2.1) and the window (4.2.3).

use super::{Bbr, HIGH_GAIN, LEAST_CWND, Mode};
use crate::cc::Ack;
use crate::cc::bandwidth::Bandwidth;
use crate::offload::packet_of_rate;
use crate::rate::{RateEstimator, RateSample};
use crate::{CongestionState, Window};
use goodqueue_units::Duration;

/// Below this rate a packet has one segment (4.2.2).
const SINGLE_SEGMENT_BPS: u64 = 1_200_000;
/// The RTT that is assumed before the first sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(1);
/// The window in segments before anything is measured.
const INITIAL_CWND: u32 = 10;

/// Linux's count of delivered segments begins with the SYN (`tp->delivered`).
const SYN: u64 = 1;

impl Bbr {
    /// Sets the pacing rate before the first bandwidth sample: one window per round trip (4.2.1).
    pub(super) fn start_pacing(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.has_seen_rtt = rtt.is_some();
        let bw = Bandwidth::of(window.cwnd.into(), rtt.unwrap_or(UNKNOWN_RTT));
        window.pacing_rate = bw.pacing_rate(self.mss, HIGH_GAIN);
    }

    /// Sets the pacing rate (4.2.1). The rate only rises until the pipe is full.
    pub(super) fn set_pacing_rate(
        &mut self,
        bw: Bandwidth,
        gain: u32,
        rtt: Option<Duration>,
        window: &mut Window,
    ) {
        if !self.has_seen_rtt && rtt.is_some() {
            self.start_pacing(rtt, window);
        }
        let rate = bw.pacing_rate(self.mss, gain);
        if rate.is_some() && (self.full_bw_reached || rate > window.pacing_rate) {
            window.pacing_rate = rate;
        }
        let is_slow = window.pacing_rate.is_some_and(|rate| rate.as_bps() < SINGLE_SEGMENT_BPS);
        window.min_packet = if is_slow { 1 } else { 2 };
    }

    /// Sets the window (4.2.3): towards the target by at most what was delivered, and down to the target at once.
    pub(super) fn set_cwnd(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &RateEstimator,
        window: &mut Window,
    ) {
        if ack.segments > 0 {
            window.cwnd = self.next_cwnd(ack, sample, rate, window);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_CWND);
        }
    }

    fn next_cwnd(&mut self, ack: &Ack, sample: &RateSample, rate: &RateEstimator, window: &Window) -> u32 {
        let acked = ack.segments;
        let mut cwnd = self.cwnd_around_recovery(ack, sample, rate, window.cwnd);
        if self.packet_conservation {
            return cwnd.max(ack.in_flight + acked);
        }
        let bw = self.bandwidth();
        let mut target = self.bdp(bw, self.cwnd_gain);
        if self.full_bw_reached {
            target += self.aggregation.budget(bw);
        }
        target = self.quantized(target, window);
        if self.full_bw_reached {
            cwnd = (cwnd + acked).min(target);
        } else if cwnd < target || rate.delivered() + SYN < u64::from(INITIAL_CWND) {
            cwnd += acked;
        }
        cwnd.max(LEAST_CWND)
    }

    /// Returns the window with respect to recovery (4.2.3.4): packet conservation in the first round, and the saved
    /// window after the recovery.
    fn cwnd_around_recovery(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &RateEstimator,
        cwnd: u32,
    ) -> u32 {
        let mut cwnd = cwnd.saturating_sub(sample.losses).max(1);
        let (before, now) = (self.prior_state, ack.state);
        if now == CongestionState::Recovery && before != CongestionState::Recovery {
            self.packet_conservation = true;
            self.round_end = rate.delivered();
            cwnd = ack.in_flight + ack.segments;
        } else if before >= CongestionState::Recovery && now < CongestionState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prior_state = now;
        cwnd
    }

    pub(super) fn save_cwnd(&mut self, cwnd: u32) {
        let is_modulated = self.prior_state >= CongestionState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn bdp(&self, bw: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt == Duration::MAX { INITIAL_CWND } else { bw.bdp(self.min_rtt, gain) }
    }

    /// Returns the window plus room for packets that wait in the sender and for delayed ACKs (4.2.3.2, with Linux's
    /// details).
    fn quantized(&self, cwnd: u32, window: &Window) -> u32 {
        let cwnd = (cwnd + 3 * self.packet(window)).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.cycle == 0 { cwnd + 2 } else { cwnd }
    }

    pub(super) fn inflight(&self, bw: Bandwidth, gain: u32, window: &Window) -> u32 {
        self.quantized(self.bdp(bw, gain), window)
    }

    pub(super) fn packet(&self, window: &Window) -> u32 {
        packet_of_rate(window.pacing_rate, self.mss, window.min_packet.into())
    }
}
