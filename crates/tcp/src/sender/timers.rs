//! The sender's one timer, and what it is set for: Linux has one, so that whatever comes first of a probe, a wait for what
//! is late, and the retransmission timeout puts off the others.

use super::{CongestionState, Sender};
use crate::era::TailLossProbe;
use crate::tlp::TICKS;
use crate::wheel;
use goodqueue_units::{Duration, Instant};

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The retransmission timeout (RFC 6298).
    Rto,
    /// A tail loss probe (RFC 8985, section 7).
    Probe,
    /// Segments that may only be late (RFC 8985, 6.3; RFC 5827 with a delay).
    Late,
    /// A probe of the peer's closed window (RFC 9293, 3.8.6.1).
    Window,
}

/// What is to be sent although no window allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    TailProbe,
    WindowProbe,
}

impl Sender {
    /// When the timer fires or a packet may leave that was held back, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        match &self.pacer {
            Some(pacer) => self.deadline.min(pacer.deadline()),
            None => self.deadline,
        }
    }

    pub(super) fn set_timer(&mut self, timer: Timer, deadline: Instant) {
        (self.timer, self.deadline, self.is_armed) = (timer, deadline, false);
    }

    /// PTO, where the state allows a probe.
    #[inline]
    fn probe_timeout(&self) -> Option<Duration> {
        let probes = self.window.stack.era().timers.tail_loss_probe;
        let allowed = self.state == CongestionState::Open
            || (self.state == CongestionState::Cwr && probes == TailLossProbe::Rfc8985);
        if allowed { probes.timeout(&self.rtt, self.board.packets_out()) } else { None }
    }

    /// New data was acknowledged: RFC 6298, 5.3, and RFC 8985, 7.2.
    #[inline]
    pub(super) fn arm_after_ack(&mut self, now: Instant) {
        if self.board.packets_out() == 0 {
            self.deadline = Instant::MAX;
        } else if let Some(timeout) = self.probe_timeout() {
            self.set_timer(Timer::Probe, now + timeout.min(self.rtt.rto()));
        } else {
            self.arm_rto(now);
        }
    }

    /// A new segment left.
    #[inline]
    pub(super) fn arm_after_send(&mut self, now: Instant) {
        if let Some(timeout) = self.probe_timeout() {
            let rto = self.board.head_sent_at().unwrap_or(now) + self.rtt.rto();
            let probe = now + timeout;
            self.set_timer(Timer::Probe, if rto > now { probe.min(rto) } else { probe });
            self.is_armed = true;
        } else if self.board.packets_out() == 1 || self.timer == Timer::Probe {
            self.arm_rto(now);
        }
    }

    /// The retransmission timer, from now; in place of a probe or a wait, from when the first segment was last sent.
    pub(super) fn arm_rto(&mut self, now: Instant) {
        let from = match self.timer {
            Timer::Probe | Timer::Late => self.board.head_sent_at().unwrap_or(now),
            Timer::Rto | Timer::Window => now,
        };
        self.set_timer(Timer::Rto, (from + self.rtt.rto()).max(now));
    }

    /// RFC 8985, 6.3: until `until`, segments may be only late; RTO if that comes first. In Linux's ticks: to the
    /// nanosecond the timer would now and then be there before the third SACK, and flows over fq_codel less often in step.
    #[cold]
    pub(super) fn wait_for_late(&mut self, now: Instant, until: Instant) {
        let timeout = (until + TICKS).since(now).min(self.rtt.rto());
        self.set_timer(Timer::Late, wheel::fires_at(self.window.stack.era().timers.jiffy, now, timeout));
    }

    /// RFC 5827 with Linux's delay of a quarter of an SRTT.
    pub(super) fn early_delay(&self) -> Duration {
        let quarter = self.rtt.srtt().map_or(Duration::ZERO, |srtt| srtt / 4);
        quarter.max(TICKS).saturating_sub(TICKS) // `wait_for_late` adds them
    }

    /// The first segment was sent again: it gets its full time.
    pub(super) fn arm_after_resend(&mut self, now: Instant) {
        if self.timer != Timer::Late {
            self.set_timer(Timer::Rto, now + self.rtt.rto());
        }
    }

    /// Data waits, nothing is out, and the peer's window has no room: it will be probed.
    #[cold]
    pub(super) fn arm_window_probe(&mut self, now: Instant) {
        self.set_timer(Timer::Window, now + self.rtt.rto());
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_timeout(now);
            self.held_back = false;
        }
        if now < self.deadline {
            return;
        }
        if self.board.packets_out() == 0 && self.timer != Timer::Window {
            self.deadline = Instant::MAX;
            return;
        }
        match self.timer {
            Timer::Rto => {
                self.on_rto(now);
                self.set_timer(Timer::Rto, now + self.rtt.rto());
            }
            Timer::Probe if self.tail.is_pending() => self.arm_rto(now), // one probe at a time
            Timer::Probe => {
                self.due = Due::TailProbe;
                self.set_timer(Timer::Rto, now + self.rtt.rto());
            }
            Timer::Late => {
                self.deadline = Instant::MAX;
                if self.window.stack.era().detection.early_retransmit {
                    self.retransmit_early(now);
                } else {
                    self.lose_late(now);
                }
                if self.deadline == Instant::MAX {
                    self.arm_rto(now);
                }
            }
            Timer::Window if self.is_blocked() => {
                self.due = Due::WindowProbe;
                self.rtt.back_off();
                self.arm_window_probe(now);
            }
            Timer::Window => self.deadline = Instant::MAX,
        }
    }
}

#[cfg(test)]
mod tests;
