//! NADA (RFC 8698): the rate at which a sender of media may send. It follows the queueing delay, the losses and the
//! marks that the receiver sees.
//!
//! Names are the RFC's. Rates are in bit/s of media, times in seconds. The receiver's part is in [`receiver`].

pub(super) mod receiver;

use goodqueue_units::{Duration, Instant};

// The sender's parameters in Table 2.
/// Reference congestion level.
const XREF: f64 = 0.010;
/// Scaling of the gradual update.
const KAPPA: f64 = 0.5;
/// Scaling of the gradual update's response to a change.
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
/// The share of the rate-shaping buffer that the sending rate (`BETA_S`) and the encoder's target (`BETA_V`) make up
/// for in one frame interval.
const BETA_S: f64 = 0.1;
const BETA_V: f64 = 0.1;
/// The greatest change of a rate by the rate-shaping buffer, as a share of `r_ref` (Equations 11 and 12).
const MOST_OFFSET: f64 = 0.05;

/// How the sender changes its rate (`rmode`).
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
    /// Rate at which media arrives.
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
    /// Frames per second.
    pub(super) fps: f64,
}

/// The sender's part (4.3, 5.2).
#[derive(Clone, Debug)]
pub(super) struct Sender {
    wish: Wish,
    /// Reference rate.
    r_ref: f64,
    x_prev: f64,
    /// When the last report arrived; before the first report, when the sender began.
    t_last: Instant,
}

impl Sender {
    /// Makes a sender that begins `now`, or begins again.
    pub(super) fn new(wish: Wish, now: Instant) -> Self {
        Self { wish, r_ref: wish.start, x_prev: 0.0, t_last: now }
    }

    /// Takes a report. `rtt` is the round-trip time that the report shows.
    pub(super) fn on_report(&mut self, now: Instant, report: Report, rtt: Duration) {
        let delta = now.since(self.t_last).as_secs_f64();
        self.r_ref = match report.rmode {
            Mode::RampUp => self.ramped_up(report.r_recv, rtt.as_secs_f64()),
            Mode::Gradual => self.updated(report.x_curr, delta),
        };
        self.r_ref = self.r_ref.min(self.wish.rmax).max(self.wish.rmin); // (8), (9)
        (self.x_prev, self.t_last) = (report.x_curr, now);
    }

    /// Returns the reference rate after an accelerated ramp-up (Equations 3 and 4).
    fn ramped_up(&self, r_recv: f64, rtt: f64) -> f64 {
        let gamma = GAMMA_MAX.min(QBOUND / (rtt + DELTA.as_secs_f64() + DFILT));
        self.r_ref.max((1.0 + gamma) * r_recv)
    }

    /// Returns the reference rate after a gradual update (Equations 5 to 7).
    fn updated(&self, x_curr: f64, delta: f64) -> f64 {
        let r_ref = self.r_ref;
        let x_offset = x_curr - self.wish.prio * XREF * self.wish.rmax / r_ref;
        let x_diff = x_curr - self.x_prev;
        r_ref - KAPPA * (delta / TAU) * (x_offset / TAU) * r_ref - KAPPA * ETA * (x_diff / TAU) * r_ref
    }

    /// Returns by how much `buffer_len` bytes in the rate-shaping buffer change a rate (Equations 11 and 12).
    fn offset(&self, beta: f64, buffer_len: u64) -> f64 {
        (MOST_OFFSET * self.r_ref).min(beta * 8.0 * buffer_len as f64 * self.wish.fps)
    }

    /// Returns the encoder's target (Equation 13).
    pub(super) fn r_vin(&self, buffer_len: u64) -> f64 {
        self.wish.rmin.max(self.r_ref - self.offset(BETA_V, buffer_len))
    }

    /// Returns the rate at which the rate-shaping buffer is sent (Equation 14).
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

    /// At an RTT of 0.03 s gamma is 0.05 / (0.03 + 0.1 + 0.12) = 0.2. The rate becomes 1.2 times the rate of arrival,
    /// and never less than it was. At an RTT of zero gamma is 0.05 / 0.22, which is below `GAMMA_MAX`; only a smaller
    /// `DFILT` would reach that.
    #[test]
    fn a_ramp_up_is_bounded_by_the_queue_that_it_may_build() {
        assert_close(sender(150e3, 0.0).ramped_up(200e3, 0.030), 240e3);
        assert_close(sender(300e3, 0.0).ramped_up(200e3, 0.030), 300e3);
        assert_close(sender(150e3, 0.0).ramped_up(220e3, 0.0), 270e3);
    }

    /// `r_ref` is 1 Mbit/s; `x_curr` is 25 ms, and was 20 ms before; the reports are 100 ms apart. (5): 25 - 10 * 1.5
    /// = 10 ms; (6): 5 ms. (7): 1 - 0.5 * 0.2 * 0.02 - 0.5 * 2 * 0.01 = 0.988.
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

    /// The time and the signal of a report count for the next report. Rates stay within the wish.
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

    /// The RFC's own example (5.2.2): 2000 bytes change a rate by 48 kbit/s. Here the rate is 1 Mbit/s, so the limit
    /// of 5 % is 50 kbit/s.
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
