//! No congestion control: a constant window. It is for teaching, and for a load that nothing slows down.
//!
//! The sender's own rules remain: the repair of a loss is still paced by rate reduction, and a timeout sends one
//! segment, until the next ACK restores the window.

use super::line::CWND;
use super::{Ack, CcWord, Congestion, CongestionControl};
use crate::{Config, Window};
use goodqueue_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    cwnd: u32,
}

impl CongestionControl for Fixed {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "a constant window: for teaching, never for a real network";
    const SOURCE: &'static str = "this project";
    const DIFFERS: &'static str =
        "no source; losses are still repaired with PRR, and a timeout sends one segment";
    const WORDS: &'static [CcWord] = &[CWND];

    fn new(config: &Config) -> Self {
        Self { cwnd: config.cc_options.cwnd.unwrap_or(config.initial_window).max(1) }
    }

    fn on_open(&mut self, _now: Instant, _rtt: Option<Duration>, window: &mut Window) {
        window.cwnd = self.cwnd;
    }

    #[inline]
    fn on_ack(&mut self, _ack: &Ack, window: &mut Window) {
        window.cwnd = self.cwnd;
    }

    fn ssthresh(&mut self, _congestion: &Congestion) -> u32 {
        self.cwnd.max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CcOptions;
    use crate::cc::Cause;

    #[test]
    fn neither_acks_nor_losses_move_the_window() {
        let options = CcOptions { cwnd: Some(20), ..CcOptions::default() };
        let config = Config { cc_options: options, ..Config::default() };
        let (mut none, mut window) = (Fixed::new(&config), Window::new(&config));
        none.on_open(Instant::ZERO, None, &mut window);
        assert_eq!(window.cwnd, 20, "the first flight, too");
        none.on_ack(&Ack::of(Instant::ZERO, 5), &mut window);
        assert_eq!(window.cwnd, 20);
        window.cwnd = 1; // after a timeout
        none.on_ack(&Ack::of(Instant::ZERO, 1), &mut window);
        assert_eq!(window.cwnd, 20);
        let loss = Congestion { now: Instant::ZERO, cwnd: 20, cause: Cause::Loss };
        assert_eq!(none.ssthresh(&loss), 20);
        assert_eq!(Fixed::new(&Config::default()).cwnd, 10);
    }
}
