//! What the model sets: the pacing rate (5.6.2) and the window (5.6.4).

use super::{BoundedBbr, PROBE_RTT_CWND_GAIN, State};
use crate::cc::Ack;
use crate::cc::bandwidth::Bandwidth;
use crate::offload::packet_of_rate;
use crate::rate::RateEstimator;
use crate::{CongestionState, Window};
use goodqueue_units::Duration;

/// 5.6.4.3: BBR.MinPipeCwnd.
pub(super) const LEAST_CWND: u32 = 4;
/// 5.6.2: the RTT that is assumed before the first sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(1);
const INITIAL_CWND: u32 = 10;

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Sets the first pacing rate (5.6.2, InitPacingRate).
    pub(super) fn start_pacing(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.has_seen_rtt = rtt.is_some();
        let bw = Bandwidth::of(window.cwnd.into(), rtt.unwrap_or(UNKNOWN_RTT));
        window.pacing_rate = bw.pacing_rate(self.mss, Self::gains(State::Startup).0);
    }

    /// Sets the pacing rate (5.6.2, SetPacingRateWithGain).
    pub(super) fn set_pacing_rate(&mut self, gain: u32, rtt: Option<Duration>, window: &mut Window) {
        if !self.has_seen_rtt && rtt.is_some() {
            self.start_pacing(rtt, window);
        }
        let rate = self.bw().pacing_rate(self.mss, gain);
        if rate.is_some() && (self.full_bw_reached || rate > window.pacing_rate) {
            window.pacing_rate = rate;
        }
    }

    /// Sets the window (5.6.4.6, SetCwnd).
    pub(super) fn set_cwnd(&mut self, ack: &Ack, rate: &RateEstimator, window: &mut Window) {
        let most = self.max_inflight(window);
        if self.full_bw_reached {
            window.cwnd = (window.cwnd + ack.segments).min(most);
        } else if window.cwnd < most
            || (Self::IS_2 && window.cwnd < 2 * INITIAL_CWND)
            || (!Self::IS_2 && rate.delivered() < u64::from(INITIAL_CWND))
        {
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
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), PROBE_RTT_CWND_GAIN).max(LEAST_CWND)
    }

    /// Returns the most segments in flight (5.6.4.2, UpdateMaxInflight).
    pub(super) fn max_inflight(&self, window: &Window) -> u32 {
        let bw = self.bw();
        let cap = self.bdp(bw, Self::gains(self.state).1) + self.aggregation.budget(bw);
        self.quantized(cap, window)
    }

    /// Returns the segments in flight for `gain` (5.6.4.2, Inflight).
    pub(super) fn inflight(&self, gain: u32, window: &Window) -> u32 {
        self.quantized(self.bdp(self.bw(), gain), window)
    }

    pub(super) fn bdp(&self, bw: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt == Duration::MAX { INITIAL_CWND } else { bw.bdp(self.min_rtt, gain) }
    }

    /// Returns `cap` with room for the three packets of 5.5.8.1 (5.6.4.2, QuantizationBudget).
    pub(super) fn quantized(&self, cap: u32, window: &Window) -> u32 {
        let budget = 3 * packet_of_rate(window.pacing_rate, self.mss, window.min_packet.into());
        let cap = cap.max(budget).max(LEAST_CWND);
        if self.state == State::Up { cap + 2 } else { cap }
    }

    /// Saves the window (5.6.4.4, SaveCwnd).
    pub(super) fn save_cwnd(&mut self, cwnd: u32) {
        let is_modulated = self.prior_state >= CongestionState::Recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    /// Restores the saved window after a recovery (5.6.4.4).
    pub(super) fn leave_recovery(&mut self, ack: &Ack, window: &mut Window) {
        if self.prior_state >= CongestionState::Recovery && ack.state < CongestionState::Recovery {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.prior_state = ack.state;
    }
}
