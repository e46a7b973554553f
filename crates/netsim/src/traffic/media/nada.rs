//! NADA (RFC 8698): how fast a sender of media may send, by the queueing delay, the losses and the marks that its
//! receiver sees.
//!
//! Names are the RFC's; rates are in bit/s of media, times in seconds. The receiver's part stands in [`receiver`].

pub(super) mod receiver;

use goodqueue_units::{Duration, Instant};

// Table 2, what the sender needs of it.
/// Reference congestion level.
const XREF: f64 = 0.010;
/// Scaling of the gradual update.
const KAPPA: f64 = 0.5;
/// Scaling of the gradual update's answer to a change.
const ETA: f64 = 2.0;
/// Upper bound of the round-trip time in the gradual update.
const TAU: f64 = 0.500;
/// Target interval of the reports.
pub(super) const DELTA: Duration = Duration::from_millis(100);
/// Bound on the delay that filtering adds.
const DFILT: f64 = 0.120;
/// Upper bound on a ramp-up's step.
const GAMMA_MAX: f64 = 0.5;
/// Upper bound on the queueing delay that a ramp-up may cause.
const QBOUND: f64 = 0.050;
/// How much of a full rate-shaping buffer the sending rate and the encoder's target answer to, a frame.
const BETA_S: f64 = 0.1;
const BETA_V: f64 = 0.1;
/// The most of `r_ref` that the rate-shaping buffer changes (Equations 11 and 12).
const MOST_OFFSET: f64 = 0.05;

/// How the sender is to change its rate (`rmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Accelerated ramp-up, 0 in the RFC.
    RampUp,
    /// Gradual update, 1 in the RFC.
    Gradual,
}

/// What a receiver reports (5.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) rmode: Mode,
    /// Aggregate congestion signal.
    pub(super) x_curr: f64,
    /// Rate at which media arrive.
    pub(super) r_recv: f64,
}

/// What an application asks of its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// `RMIN` and `RMAX`.
    pub(super) rmin: f64,
    pub(super) rmax: f64,
    /// `r_ref` before the first report.
    pub(super) start: f64,
    /// Weight against other flows (`PRIO`).
    pub(super) prio: f64,
    /// Frames a second.
    pub(super) fps: f64,
}

/// The sender's part (4.3, 5.2).
#[derive(Clone, Debug)]
pub(super) struct Sender {
    wish: Wish,
    /// Reference rate.
    r_ref: f64,
    x_prev: f64,
    /// When the last report came; before the first, when the sender began.
    t_last: Instant,
}

impl Sender {
    /// A sender that begins `now`, or begins again.
    pub(super) fn new(wish: Wish, now: Instant) -> Self {
        Self { wish, r_ref: wish.start, x_prev: 0.0, t_last: now }
    }

    /// A report comes; `rtt` is the round trip that it shows.
    pub(super) fn on_report(&mut self, now: Instant, report: Report, rtt: Duration) {
        let delta = now.since(self.t_last).as_secs_f64();
        self.r_ref = match report.rmode {
            Mode::RampUp => self.ramped_up(report.r_recv, rtt.as_secs_f64()),
            Mode::Gradual => self.updated(report.x_curr, delta),
        };
        self.r_ref = self.r_ref.min(self.wish.rmax).max(self.wish.rmin); // (8), (9)
        (self.x_prev, self.t_last) = (report.x_curr, now);
    }

    /// (3) and (4).
    fn ramped_up(&self, r_recv: f64, rtt: f64) -> f64 {
        let gamma = GAMMA_MAX.min(QBOUND / (rtt + DELTA.as_secs_f64() + DFILT));
        self.r_ref.max((1.0 + gamma) * r_recv)
    }

    /// (5) to (7).
    fn updated(&self, x_curr: f64, delta: f64) -> f64 {
        let r_ref = self.r_ref;
        let x_offset = x_curr - self.wish.prio * XREF * self.wish.rmax / r_ref;
        let x_diff = x_curr - self.x_prev;
        r_ref - KAPPA * (delta / TAU) * (x_offset / TAU) * r_ref - KAPPA * ETA * (x_diff / TAU) * r_ref
    }

    /// (11) and (12): by how much `buffer_len` bytes in the rate-shaping buffer change a rate.
    fn offset(&self, beta: f64, buffer_len: u64) -> f64 {
        (MOST_OFFSET * self.r_ref).min(beta * 8.0 * buffer_len as f64 * self.wish.fps)
    }

    /// (13): the encoder's target.
    pub(super) fn r_vin(&self, buffer_len: u64) -> f64 {
        self.wish.rmin.max(self.r_ref - self.offset(BETA_V, buffer_len))
    }

    /// (14): the rate at which the rate-shaping buffer is sent.
    pub(super) fn r_send(&self, buffer_len: u64) -> f64 {
        self.wish.rmax.min(self.r_ref + self.offset(BETA_S, buffer_len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish = Wish { rmin: 150e3, rmax: 1.5e6, start: 150e3, prio: 1.0, fps: 30.0 };

    fn sender(r_ref: f64, x_prev: f64) -> Sender {
        Sender { r_ref, x_prev, ..Sender::new(WISH, Instant::ZERO) }
    }

    #[track_caller]
    fn assert_close(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-9, "{found}, not {wanted}");
    }

    /// RTT 0.03 s: 0.05 / (0.03 + 0.1 + 0.12) = 0.2, so 1.2 times what arrives, and never less than before. With 0.05 /
    /// 0.22 at no RTT it stays below `GAMMA_MAX`, which only a smaller `DFILT` would reach.
    #[test]
    fn a_ramp_up_is_bounded_by_the_queue_that_it_may_build() {
        assert_close(sender(150e3, 0.0).ramped_up(200e3, 0.030), 240e3);
        assert_close(sender(300e3, 0.0).ramped_up(200e3, 0.030), 300e3);
        assert_close(sender(150e3, 0.0).ramped_up(220e3, 0.0), 270e3);
    }

    /// `r_ref` 1 Mbit/s, `x_curr` 25 ms and before 20 ms, 100 ms apart. (5): 25 - 10 * 1.5 = 10 ms; (6): 5 ms.
    /// (7): 1 - 0.5 * 0.2 * 0.02 - 0.5 * 2 * 0.01 = 0.988.
    #[test]
    fn a_gradual_update_answers_the_signal_and_its_change() {
        assert_close(sender(1e6, 0.020).updated(0.025, 0.1), 988e3);
        // The offset alone, for 300 ms: 1 - 0.5 * 0.6 * 0.02.
        assert_close(sender(1e6, 0.025).updated(0.025, 0.3), 994e3);
        // PRIO 2: 25 - 20 * 1.5 = -5 ms; 1 + 0.5 * 0.2 * 0.01.
        let prio = Wish { prio: 2.0, ..WISH };
        assert_close(Sender { wish: prio, ..sender(1e6, 0.025) }.updated(0.025, 0.1), 1.001e6);
        // Equilibrium: x_curr = XREF RMAX / r_ref.
        assert_close(sender(0.5e6, 0.030).updated(0.030, 0.1), 0.5e6);
    }

    /// Each report's time, signal and mode count for the next; rates stay within the wish.
    #[test]
    fn a_report_changes_the_rate_within_its_bounds() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let report = |rmode, x_curr, r_recv| Report { rmode, x_curr, r_recv };
        let mut sender = Sender { r_ref: 1e6, x_prev: 0.020, t_last: at(400), wish: WISH };
        sender.on_report(at(500), report(Mode::Gradual, 0.025, 9e6), Duration::ZERO);
        assert_close(sender.r_ref, 988e3);
        assert_eq!((sender.x_prev, sender.t_last), (0.025, at(500)));
        sender.on_report(at(600), report(Mode::RampUp, 0.0, 9e6), Duration::from_millis(30));
        assert_close(sender.r_ref, 1.5e6);
        sender.on_report(at(700), report(Mode::Gradual, 3.0, 0.0), Duration::ZERO);
        assert_close(sender.r_ref, 150e3);
    }

    /// The RFC's own example (5.2.2): 2000 bytes change a rate by 48 kbit/s, here of 1 Mbit/s, of which 5 % are 50
    /// kbit/s.
    #[test]
    fn the_rate_shaping_buffer_nudges_both_rates() {
        let one = sender(1e6, 0.0);
        assert_close(one.r_vin(2000), 952e3);
        assert_close(one.r_send(2000), 1.048e6);
        assert_close(one.r_vin(4000), 950e3);
        assert_close(one.r_send(4000), 1.05e6);
        assert_eq!((one.r_vin(0), one.r_send(0)), (1e6, 1e6));
        assert_eq!((sender(150e3, 0.0).r_vin(4000), sender(1.5e6, 0.0).r_send(4000)), (150e3, 1.5e6));
    }
}
