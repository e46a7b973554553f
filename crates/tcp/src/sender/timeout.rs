//! The sender's timeouts: when the timer is set, and what is done when it fires.

use super::timer::{Due, Wait};
use super::{CongestionState, Sender};
use crate::era::TailLossProbe;
use crate::pacing::Pacer;
use crate::tlp::TICKS;
use goodqueue_units::{Duration, Instant};

impl Sender {
    /// Returns when the timer fires or a packet may leave that pacing held back, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        match &self.brakes {
            Some(brakes) => self.timer.deadline().min(brakes.pacer().map_or(Instant::MAX, Pacer::deadline)),
            None => self.timer.deadline(),
        }
    }

    /// Returns PTO, if the state allows a probe.
    #[inline]
    fn probe_timeout(&self) -> Option<Duration> {
        let probes = self.era().timers.tail_loss_probe;
        let allowed = self.state() == CongestionState::Open
            || (self.state() == CongestionState::Cwr && probes == TailLossProbe::Rfc8985);
        if allowed { probes.timeout(&self.rtt, self.board.packets_out()) } else { None }
    }

    /// Sets the timer because new data was acknowledged (RFC 6298, 5.3, and RFC 8985, 7.2).
    #[inline]
    pub(super) fn arm_after_ack(&mut self, now: Instant) {
        if self.board.packets_out() == 0 {
            self.timer.stop();
        } else if let Some(timeout) = self.probe_timeout() {
            self.timer.set(Wait::Probe, now, timeout.min(self.rtt.timeout()) + self.pacing_delay(now));
        } else {
            self.arm_rto(now);
        }
    }

    /// Sets the timer because a new segment left.
    #[inline]
    pub(super) fn arm_after_send(&mut self, now: Instant) {
        if let Some(timeout) = self.probe_timeout() {
            let (first, delay) = (self.board.head_sent_at().unwrap_or(now), self.pacing_delay(now));
            self.timer.set_probe(now, timeout, &self.rtt, first, delay);
        } else if self.timer.wait() == Wait::Probe || self.waits_for_early_retransmit() {
            self.arm_rto(now);
        }
    }

    /// Returns whether the timer is set for early retransmit. New data ends that wait: it can bring the missing SACKs.
    fn waits_for_early_retransmit(&self) -> bool {
        self.timer.wait() == Wait::Late && self.era().detection.early_retransmit
    }

    /// Sets the retransmission timer, as [`Timer::set_rto`](super::timer::Timer::set_rto) says.
    pub(super) fn arm_rto(&mut self, now: Instant) {
        self.timer.set_rto(now, &self.rtt, self.pacing_delay(now), || self.board.head_sent_at());
    }

    /// Returns how much later a timer fires because pacing holds the next packet back: whole ticks (Linux
    /// `tcp_pacing_delay`).
    #[inline]
    pub(super) fn pacing_delay(&self, now: Instant) -> Duration {
        if self.brakes.is_some() { self.held_by_pacing(now) } else { Duration::ZERO }
    }

    #[cold]
    fn held_by_pacing(&self, now: Instant) -> Duration {
        let tick = self.era().timers.jiffy;
        if !self.era().sending.departure_times || tick == Duration::ZERO {
            return Duration::ZERO;
        }
        tick * (self.release().since(now).as_nanos() / tick.as_nanos())
    }

    /// Sets the timer because, until `until`, segments may only be late.
    #[cold]
    pub(super) fn wait_for_late(&mut self, now: Instant, until: Instant) {
        self.timer.set_late(now, until, self.rtt.rto());
    }

    /// Returns how long early retransmit waits (RFC 5827, with Linux's delay of a quarter of an SRTT).
    pub(super) fn early_delay(&self) -> Duration {
        let quarter = self.rtt.srtt().map_or(Duration::ZERO, |srtt| srtt / 4);
        quarter.max(TICKS).saturating_sub(TICKS) // `wait_for_late` adds the ticks
    }

    /// Sets the timer because the first segment was sent again: the retransmission gets its full time.
    pub(super) fn arm_after_resend(&mut self, now: Instant) {
        if self.timer.wait() != Wait::Late {
            self.timer.set(Wait::Rto, now, self.rtt.timeout() + self.pacing_delay(now));
        }
    }

    /// Sets the timer to a window probe: data waits, nothing is out, and the peer's window has no room.
    #[cold]
    pub(super) fn arm_window_probe(&mut self, now: Instant) {
        self.timer.set(Wait::Window, now, self.rtt.timeout());
    }

    /// Does what is due at `now`. Does nothing before the deadline.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if let Some(brakes) = &mut self.brakes {
            brakes.on_timeout(now);
            self.held_back = false;
        }
        if !self.timer.fires(now, self.era().timers.jiffy) {
            return;
        }
        if self.board.packets_out() == 0 && self.timer.wait() != Wait::Window {
            self.timer.stop();
            return;
        }
        match self.timer.wait() {
            Wait::Rto => {
                self.on_rto(now);
                self.timer.set(Wait::Rto, now, self.rtt.timeout());
            }
            Wait::Probe if self.recovery.tail.is_pending() => self.arm_rto(now), // one probe at a time
            Wait::Probe => {
                self.timer.due = Due::TailProbe;
                self.timer.set(Wait::Rto, now, self.rtt.timeout());
            }
            Wait::Late => {
                self.timer.stop();
                if self.era().detection.early_retransmit {
                    self.retransmit_early(now);
                } else {
                    self.lose_late(now);
                }
                if !self.timer.is_running() {
                    self.arm_rto(now);
                }
            }
            Wait::Window if self.is_blocked() => {
                self.timer.due = Due::WindowProbe;
                self.rtt.back_off();
                self.arm_window_probe(now);
            }
            Wait::Window => self.timer.stop(),
        }
    }
}

#[cfg(test)]
mod tests;
