//! The smallest RTT, and ProbeRTT, which measures it again with little in flight (5.3.4, 5.5.7).

use super::probing::AckPhase;
use super::{BoundedBbr, State};
use crate::Window;
use crate::cc::Ack;
use crate::rate::{RateEstimator, RateSample};
use goodqueue_units::{Duration, Instant};

/// 5.3.4: BBR.ProbeRTTInterval and BBR.ProbeRTTDuration. 5.5.7.2: BBR.MinRTTFilterLen.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Updates both smallest RTTs (5.3.4.3, UpdateMinRTT).
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
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
    pub(super) fn check_probe_rtt(
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
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        self.probe_rtt_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.bounds.reset_shortterm();
        if self.full_bw_reached {
            self.start_down(now, rate);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }
}
