//! The smallest RTT, and PROBE_RTT, which measures it again with almost nothing in flight (4.1.2, 4.3.5).

use super::{Bbr, LEAST_CWND, Mode};
use crate::Window;
use crate::cc::Ack;
use crate::rate::{RateEstimator, RateSample};
use goodqueue_units::{Duration, Instant};

/// RTpropFilterLen (4.1.2.2).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// The length of PROBE_RTT (4.3.5).
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

impl Bbr {
    /// Updates the smallest RTT of ten seconds (4.1.2.3). If that RTT has expired, PROBE_RTT measures it again with
    /// almost nothing in flight (4.3.5).
    pub(super) fn update_min_rtt(
        &mut self,
        ack: &Ack,
        sample: &RateSample,
        rate: &mut RateEstimator,
        window: &mut Window,
    ) {
        let has_expired = ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || (has_expired && !sample.is_ack_delayed))
        {
            self.min_rtt = rtt;
            self.min_rtt_at = ack.now;
        }
        if has_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window.cwnd);
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            rate.mark_app_limited(ack.in_flight); // the low rates of PROBE_RTT say nothing about the path
            if self.probe_rtt_end.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now, rate.delivered_at(), window);
                }
            } else if ack.in_flight <= LEAST_CWND {
                self.probe_rtt_end = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.round_end = rate.delivered();
            }
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant, delivered_at: Instant, window: &mut Window) {
        if self.probe_rtt_end.is_some_and(|end| now > end) {
            self.min_rtt_at = now;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            if self.full_bw_reached {
                self.enter_probe_bw(delivered_at);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }
}
