//! DCTCP (RFC 8257): the window falls by half of the fraction of the data that was marked.
//!
//! This is Linux's version. It differs from RFC 8257: fractions are in 1/1024. Once the shift no longer changes alpha,
//! alpha falls to zero (3.3). Growth is Reno's, and counts the marked ACKs too. A loss halves the window; if ECN had
//! already begun to reduce it, the loss halves what is left (3.4). Every packet is ECT(0), including SYN and ACKs (3.5
//! and 6). Without ECN it is Reno.
//!
//! The receiver's part, the echo of each mark in the ACK that covers it (3.2), is in `ecn.rs`.

use super::reno::Reno;
use super::{Ack, Cause, Congestion, CongestionControl};
use crate::{Config, CongestionState, EcnUse, SeqNumber, Window};

/// The value of alpha that means 1.
const ONE: u32 = 1024;
/// g = 1/16 (4.2).
const G_SHIFT: u32 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    reno: Reno,
    /// The estimated fraction of the data that is marked, in 1/`ONE`.
    alpha: u32,
    /// The observation window ends when this byte is acknowledged.
    window_end: Option<SeqNumber>,
    /// Segments delivered in the observation window.
    delivered: u32,
    /// Segments of these that were marked.
    marked: u32,
}

impl CongestionControl for Dctcp {
    const NAME: &'static str = "dctcp";
    const SUMMARY: &'static str = "reduces the window by half the marked share of the data; for data centres";
    const SOURCE: &'static str = "RFC 8257; Linux's tcp_dctcp";
    const DIFFERS: &'static str =
        "ACKs of marked data count for growth; alpha has units of 1/1024 (both as Linux)";
    const ECN: EcnUse = EcnUse::Dctcp;

    fn new(config: &Config) -> Self {
        // 4.2: alpha begins at 1, so that the first mark halves.
        Self { reno: Reno::new(config), alpha: ONE, window_end: None, delivered: 0, marked: 0 }
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        self.delivered += ack.segments;
        self.marked += ack.marked;
        // The first window ends with the first ACK. An ACK counts in the window that it ends: `tcp_in_ack_event` comes
        // after `tcp_clean_rtx_queue`, in 6.1.192, 6.12 and 7.3, too.
        if self.window_end.is_none_or(|end| ack.una >= end) {
            self.end_window();
            self.window_end = Some(ack.nxt);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.reno.on_ack(ack, window);
    }

    /// Returns cwnd (1 − alpha / 2) at marks (3.3), and half of the window at a loss (3.4).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        let cwnd = congestion.cwnd;
        let kept = match congestion.cause {
            Cause::Ecn => cwnd - (u64::from(cwnd) * u64::from(self.alpha) / u64::from(2 * ONE)) as u32,
            Cause::Loss | Cause::Timeout => cwnd / 2,
        };
        kept.max(2)
    }

    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        if state == CongestionState::Recovery {
            window.ssthresh = (window.cwnd / 2).max(2);
        }
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", f64::from(self.alpha) / f64::from(ONE));
    }
}

impl Dctcp {
    /// Ends an observation window: M = marked / delivered, alpha = alpha (1 − g) + g M (3.3).
    fn end_window(&mut self) {
        let fall = self.alpha >> G_SHIFT;
        self.alpha -= if fall == 0 { self.alpha } else { fall };
        let part = (self.marked << (ONE.trailing_zeros() - G_SHIFT)) / self.delivered.max(1);
        self.alpha = (self.alpha + part).min(ONE);
        (self.delivered, self.marked) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Instant;

    fn dctcp() -> (Dctcp, Window) {
        (Dctcp::new(&Config::default()), Window::new(&Config::default()))
    }

    fn congestion(cwnd: u32, cause: Cause) -> Congestion {
        Congestion { now: Instant::ZERO, cwnd, cause }
    }

    /// Plays windows of ten segments, of which `marked` are marked. Returns alpha after each window.
    fn alphas(marked: &[u32]) -> std::vec::Vec<u32> {
        let (mut d, mut w) = dctcp();
        let deliver = |d: &mut Dctcp, w: &mut Window, una: u32, marked| {
            let (una, nxt) = (SeqNumber(una), SeqNumber(una + 1000));
            d.on_delivered(&Ack { una, nxt, marked, ..Ack::of(Instant::ZERO, 10) }, w);
        };
        marked
            .iter()
            .enumerate()
            .map(|(n, marked)| {
                deliver(&mut d, &mut w, 1 + 1000 * n as u32, *marked);
                d.alpha
            })
            .collect()
    }

    /// 3.3 by hand, out of 1024. Nothing marked: 1024 − 64 = 960, 900, 844 (900 / 16 = 56). All marked from 844:
    /// 844 − 52 + 64 = 856. A fifth: 856 − 53 + 2·64/10 = 815.
    #[test]
    fn alpha_follows_the_marked_part_with_a_gain_of_a_sixteenth() {
        assert_eq!(alphas(&[0, 0, 0, 10, 2]), [960, 900, 844, 856, 815]);
        let mut d = dctcp().0;
        d.alpha = 15; // a sixteenth of 15 is 0: alpha would never reach 0
        d.end_window();
        assert_eq!(d.alpha, 0);
    }

    /// 3.3: alpha 1 halves the window, alpha 1/4 takes an eighth, alpha 0 nothing. 3.4: a loss halves it, whatever
    /// alpha is.
    #[test]
    fn marks_take_half_of_alpha_and_a_loss_takes_half() {
        let mut d = dctcp().0;
        for (alpha, kept) in [(1024, 50), (256, 88), (0, 100)] {
            d.alpha = alpha;
            assert_eq!(d.ssthresh(&congestion(100, Cause::Ecn)), kept);
            assert_eq!(d.ssthresh(&congestion(100, Cause::Loss)), 50);
            assert_eq!(d.ssthresh(&congestion(3, Cause::Timeout)), 2);
        }
    }

    #[test]
    fn a_loss_after_marks_halves_what_is_left() {
        let (mut d, mut w) = dctcp();
        (w.cwnd, w.ssthresh) = (90, 88);
        d.on_state(CongestionState::Recovery, &mut w);
        assert_eq!(w.ssthresh, 45);
    }
}
