//! NADA's receiver: what it takes from each packet, and what it reports (RFC 8698, 4.2 and 5.1).

use super::{Mode, Report};
use goodqueue_units::{Duration, Instant};
use libm::exp;
use std::collections::VecDeque;

/// The time for which packets are kept.
const LOGWIN: Duration = Duration::from_millis(500);
/// A queueing delay below this counts as no queue.
const QEPS: Duration = Duration::from_millis(10);
/// The queueing delay is the least of this many packets (5.1.1).
const MIN_FILTER: usize = 15;
/// Queueing delays from this value on are warped.
const QTH: f64 = 0.050;
/// Scaling of the warp's exponent.
const LAMBDA: f64 = 0.5;
/// Reference ratios of losses and of marks, and what losses and marks at these ratios add to the signal, in seconds.
const PLRREF: f64 = 0.01;
const PMRREF: f64 = 0.01;
const DLOSS: f64 = 0.010;
const DMARK: f64 = 0.002;
/// Smoothing factor of both ratios.
const ALPHA: f64 = 0.1;
/// The greatest signal, as in the simulator of the RFC's authors. A report has room for 3.2767 s (5.3). With that
/// bound, a link whose rate falls to a quarter makes the sender's rate swing between the minimum and too much: (7)
/// answers a falling signal with a rise.
const XMAX: f64 = 0.500;

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Arrival {
    pub(in super::super) at: Instant,
    /// The packet's number in the flow.
    pub(in super::super) number: u64,
    pub(in super::super) t_sent: Instant,
    /// Bytes of media.
    pub(in super::super) bytes: u64,
    pub(in super::super) is_marked: bool,
}

/// What is kept of a packet.
#[derive(Clone, Copy, Debug)]
struct Kept {
    arrival: Arrival,
    d_fwd: Duration,
    /// How many packets just before it did not arrive.
    missing: u64,
}

/// The receiver's part.
#[derive(Clone, Debug)]
pub(in super::super) struct Receiver {
    /// The least one-way delay so far. In the RFC it expires after tens of minutes, because clocks drift. Here no
    /// clock drifts.
    d_base: Duration,
    /// The packets of the last `LOGWIN`.
    window: VecDeque<Kept>,
    /// The number after the highest that arrived.
    next: u64,
    p_loss: f64,
    p_mark: f64,
    /// Whether a packet was ever lost. If so, long delays are warped. By 4.2 the last loss expires after 7 `loss_int`
    /// packets, but it never does. By RFC 5348, 5.4, the packets since the last loss count as an interval too. That
    /// interval has a weight of 1, and all weights together are at most 6, so `loss_int` is at least a sixth of these
    /// packets.
    has_lost: bool,
}

impl Receiver {
    pub(in super::super) fn new() -> Self {
        Self {
            d_base: Duration::from_nanos(u64::MAX),
            window: VecDeque::new(),
            next: 0,
            p_loss: 0.0,
            p_mark: 0.0,
            has_lost: false,
        }
    }

    /// Takes a packet. A packet that arrives out of order counts as lost (5.1.2).
    pub(in super::super) fn on_packet(&mut self, arrival: Arrival) {
        if arrival.number < self.next {
            return;
        }
        let d_fwd = arrival.at.since(arrival.t_sent);
        self.d_base = self.d_base.min(d_fwd);
        let missing = arrival.number - self.next;
        self.next = arrival.number + 1;
        self.has_lost |= missing > 0;
        self.window.push_back(Kept { arrival, d_fwd, missing });
        self.forget(arrival.at);
    }

    fn forget(&mut self, now: Instant) {
        while self.window.front().is_some_and(|kept| now.since(kept.arrival.at) >= LOGWIN) {
            self.window.pop_front();
        }
    }

    /// Returns the report that is sent `now`. The smoothed ratios move once per report, as in the simulator of the
    /// RFC's authors. In the RFC's outline (4.2) they move with each packet.
    pub(in super::super) fn report(&mut self, now: Instant) -> Report {
        self.forget(now);
        let missing: u64 = self.window.iter().map(|kept| kept.missing).sum();
        let marked = self.window.iter().filter(|kept| kept.arrival.is_marked).count();
        let bytes: u64 = self.window.iter().map(|kept| kept.arrival.bytes).sum();
        let sent = (self.window.len() as u64 + missing).max(1) as f64;
        self.p_loss = smoothed(self.p_loss, missing as f64 / sent);
        self.p_mark = smoothed(self.p_mark, marked as f64 / sent);
        let has_queue = self.window.iter().any(|kept| kept.d_fwd - self.d_base >= QEPS);
        // 4.2 names only losses and delays. With marks in the window there is no ramp-up either: the signal is not
        // zero (4).
        let is_free = missing == 0 && marked == 0 && !has_queue;
        let d_queue = self.d_queue();
        let d_tilde = if self.has_lost { warped(d_queue) } else { d_queue };
        Report {
            rmode: if is_free { Mode::RampUp } else { Mode::Gradual },
            x_curr: signal(d_tilde, self.p_mark, self.p_loss),
            r_recv: 8.0 * bytes as f64 / LOGWIN.as_secs_f64(),
        }
    }

    /// Returns the queueing delay in seconds, by the minimum filter of 5.1.1.
    fn d_queue(&self) -> f64 {
        let last = self.window.iter().rev().take(MIN_FILTER);
        last.map(|kept| kept.d_fwd - self.d_base).min().unwrap_or_default().as_secs_f64()
    }
}

/// Returns the smoothed ratio (Equation 10).
fn smoothed(before: f64, p_inst: f64) -> f64 {
    ALPHA * p_inst + (1.0 - ALPHA) * before
}

/// Returns the warped queueing delay (Equation 1).
fn warped(d_queue: f64) -> f64 {
    if d_queue < QTH { d_queue } else { QTH * exp(-LAMBDA * (d_queue - QTH) / QTH) }
}

/// Returns the aggregate congestion signal (Equation 2).
fn signal(d_tilde: f64, p_mark: f64, p_loss: f64) -> f64 {
    let (marks, losses) = (p_mark / PMRREF, p_loss / PLRREF);
    (d_tilde + DMARK * marks * marks + DLOSS * losses * losses).min(XMAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns packet `number` of 1000 bytes, sent at 10 ms times its number. It takes `delay` ms.
    fn packet(number: u64, delay: u64, is_marked: bool) -> Arrival {
        Arrival { at: at(10 * number + delay), number, t_sent: at(10 * number), bytes: 1000, is_marked }
    }

    fn heard(packets: impl IntoIterator<Item = Arrival>) -> Receiver {
        let mut receiver = Receiver::new();
        packets.into_iter().for_each(|packet| receiver.on_packet(packet));
        receiver
    }

    #[track_caller]
    fn assert_close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
    }

    /// Delays below 50 ms do not change; 150 ms become 50 e^-1 ms.
    #[test]
    fn long_delays_are_warped() {
        assert_close(warped(0.049), 0.049);
        assert_close(warped(0.150), 0.050 * (-1.0_f64).exp());
    }

    /// 20 ms, 2 % marks and 3 % losses make 20 + 2 * 4 + 10 * 9 = 118 ms.
    #[test]
    fn delay_marks_and_losses_make_one_signal() {
        assert_close(signal(0.020, 0.02, 0.03), 0.118);
        assert_close(signal(0.0, 1.0, 0.0), 0.5);
    }

    /// 100 packets of 1000 bytes take 30 ms each. The window has the 50 packets of the last 500 ms: 800 kbit/s.
    #[test]
    fn an_empty_queue_asks_for_a_ramp_up() {
        let mut receiver = heard((0..100).map(|number| packet(number, 30, false)));
        let report = receiver.report(at(990 + 30));
        assert_eq!((report.rmode, report.x_curr, report.r_recv), (Mode::RampUp, 0.0, 800e3));
    }

    /// One packet that is 10 ms late ends the ramp-up. The signal is the least of the last fifteen delays, so it
    /// shows only a standing queue.
    #[test]
    fn one_late_packet_ends_the_ramp_up_and_a_standing_queue_is_the_signal() {
        let delay = |number| if number == 40 { 40 } else { 30 };
        let mut spike = heard((0..60).map(|number| packet(number, delay(number), false)));
        let report = spike.report(at(620));
        assert_eq!((report.rmode, report.x_curr), (Mode::Gradual, 0.0));
        // Fifteen packets are late, the least late of them by 25 ms.
        let delay = |number| if number == 50 { 55 } else { 30 + if number >= 45 { 30 } else { 0 } };
        let mut standing = heard((0..60).map(|number| packet(number, delay(number), false)));
        assert_close(standing.report(at(650)).x_curr, 0.025);
        // A packet 9 ms late is no queue yet.
        let mut little = heard((0..60).map(|number| packet(number, if number == 50 { 39 } else { 30 }, false)));
        assert_eq!(little.report(at(620)).rmode, Mode::RampUp);
    }

    /// Packet 0 has left the window when packet 50 arrives. Of the 50 packets after packet 0, packets 10 and 11 are
    /// missing: 4 %. (10): 0.4 %, then 0.76 %. (2): 10 * 0.16 = 1.6 ms.
    #[test]
    fn missing_packets_are_smoothed_and_make_the_update_gradual() {
        let numbers = (0..=50).filter(|number| ![10, 11].contains(number));
        let mut receiver = heard(numbers.map(|number| packet(number, 30, false)));
        let report = receiver.report(at(530));
        assert_eq!(report.rmode, Mode::Gradual);
        assert_close(receiver.p_loss, 0.004);
        assert_close(report.x_curr, 0.0016);
        receiver.report(at(530));
        assert_close(receiver.p_loss, 0.0076);
    }

    /// 5 marks in 50 packets are 10 %. (10): 1 %. (2): 2 * 1 = 2 ms. Packets that arrive again or late do not count.
    #[test]
    fn marked_packets_make_the_update_gradual() {
        let mut receiver = heard((0..50).map(|number| packet(number, 30, number % 10 == 0)));
        [3, 49, 20].into_iter().for_each(|number| receiver.on_packet(packet(number, 400, true)));
        let report = receiver.report(at(520));
        assert_eq!(report.rmode, Mode::Gradual);
        assert_close(report.x_curr, 0.002);
        assert_close(receiver.p_mark, 0.01);
    }

    /// After a loss a delay of 150 ms counts as 50 e^-1 ms. While the loss is in the window, its ratio adds to the
    /// signal. Without a loss the delay counts as it is.
    #[test]
    fn a_loss_warps_the_delay_from_then_on() {
        let report = |lost: u64| {
            let numbers = (0..200).filter(|number| *number != lost);
            heard(numbers.map(|number| packet(number, if number < 50 { 30 } else { 180 }, false)))
                .report(at(1990 + 180))
        };
        let warped = 0.050 * (-1.0_f64).exp();
        assert_close(report(180).x_curr, warped + 0.010 * (0.1 / 50.0 / 0.01) * (0.1 / 50.0 / 0.01));
        assert_close(report(20).x_curr, warped);
        assert_close(report(1000).x_curr, 0.150);
    }
}
