//! Linux's module 0.7 (L4STeam/tcp-prague, 2023), where it differs from the draft:
//!
//! - A short RTT counts as 25 ms from the 4th round trip after slow start on.
//! - Alpha begins at 0. The first mark halves the window.
//! - The window grows while the application has data, whatever is in flight: a rate may leave one segment of a window
//!   of four in flight.
//! - Pacing is by what is in flight, and at least by the whole window, in packets of at least one segment.
//! - The RTT is the connection's smoothed one, which takes the first segment that an ACK covers.
//! - A rate takes the place of a window of at most four packets of 1500 bytes. The window follows from the rate and the
//!   RTT, averaged over 128 round trips. So a flow may send less than two segments per round trip. What it sends is 3 %
//!   faster than the rate in the first half of 25 ms, and 3 % slower in the second.
//!
//! Not implemented: packets that are smaller below 1 Mbit/s.

use super::{HEADER_BYTES, ONE_SHIFT, Prague, RTT_VIRT_MIN};
use crate::{Ack, Window};
use goodqueue_units::{Duration, Rate};

/// Round trips after slow start from which on a short RTT counts as 25 ms.
pub(super) const TRANSITION_ROUNDS: u32 = 4;
/// The packet by which the rate grows, and which four of make the longest window that a rate replaces.
const FULL_PACKET: u64 = 1500;
const LONGEST_WINDOW: u64 = 4 * FULL_PACKET;
/// 100 kbit/s.
const LEAST_RATE: u64 = 12_500;
/// The part of the rate by which pacing varies, as a shift: 1/32.
const VARIES_SHIFT: u32 = 5;
/// The longest packet in time, as in `super`.
const BURST_SHIFT: u32 = super::BURST_SHIFT;
/// The second by which a rate becomes a window: 2^20 µs, 5 % too long. So a flow stays with its rate up to 4.2 packets
/// in a round trip, and returns to it at 4.
const SECOND: u128 = (1 << 20) * 1000;

/// The rate in place of the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Paced {
    /// In bytes per second. Headers count.
    rate: u64,
    /// The rate before the last loss.
    before: u64,
    /// 128 times the RTT that is averaged over 128 round trips, in nanoseconds.
    long_rtt_x128: u64,
    /// The window follows from the rate.
    rules: bool,
}

impl Paced {
    fn grow(&mut self, unmarked: u32, virtual_rtt: Duration, mtu: u64) {
        let nanos = u128::from(virtual_rtt.as_nanos().max(1));
        let segments = (u128::from(self.rate) * nanos).div_ceil(SECOND * u128::from(mtu)).max(1);
        let more = u128::from(unmarked) * u128::from(FULL_PACKET) * SECOND / nanos;
        self.rate += ((more + segments / 2) / segments) as u64;
    }

    /// Reduces the rate as a window falls from `before` to `after`.
    fn reduce(&mut self, before: u64, after: u64) {
        self.before = self.rate;
        let left = u128::from(self.rate) * u128::from(after) / u128::from(before.max(1));
        self.rate = (left as u64).max(LEAST_RATE);
    }

    pub(super) fn undo(&mut self) {
        self.rate = self.rate.max(self.before);
    }

    /// Returns the window of the rate, in 1/2^`ONE_SHIFT` of a segment.
    fn window(&self, mtu: u64) -> u64 {
        let bytes_x128 = u128::from(self.rate) * u128::from(self.long_rtt_x128) / SECOND;
        ((bytes_x128 << ONE_SHIFT) / (128 * u128::from(mtu))) as u64
    }
}

impl Prague {
    /// Takes an ACK as the module does.
    pub(super) fn on_ack_of_module(&mut self, ack: &Ack, window: &mut Window) {
        self.grow_as_module(ack, window);
        self.step(window);
        let is_short = self.is_virtual(window) && ack.now.since(self.alpha_updated) < RTT_VIRT_MIN;
        if !is_short && ack.una >= *self.round_end.get_or_insert(ack.nxt) {
            self.round_end = Some(ack.nxt);
            self.count_round(window);
            self.update_alpha(ack.now);
            let (nanos, long) = (self.srtt().as_nanos(), self.paced.long_rtt_x128);
            self.paced.long_rtt_x128 = if long == 0 { 128 * nanos } else { long - long / 128 + nanos };
        }
        self.pace_as_module(ack, window);
        let is_small = u64::from(window.cwnd) * self.mtu() <= LONGEST_WINDOW;
        self.paced.rules = self.seen && is_small && self.is_virtual(window);
    }

    /// Reduces the window to `exact`, or the rate in its place as much.
    pub(super) fn reduce_as_module(&mut self, exact: u64) {
        self.paced.reduce(self.exact, exact);
        self.exact = if self.paced.rules { self.paced.window(self.mtu()) } else { exact };
    }

    /// Returns the length of a full packet: its payload and its headers.
    fn mtu(&self) -> u64 {
        u64::from(self.mss) + HEADER_BYTES
    }

    fn is_virtual(&self, window: &Window) -> bool {
        !self.no_virtual_rtt && self.rounds >= TRANSITION_ROUNDS && !window.in_slow_start()
    }

    fn grow_as_module(&mut self, ack: &Ack, window: &mut Window) {
        let mut unmarked = ack.counted.saturating_sub(ack.marked);
        if unmarked == 0 || self.repairs || ack.unsent < self.mss.into() {
            return;
        }
        if window.in_slow_start() {
            unmarked = window.slow_start(unmarked);
            self.exact = u64::from(window.cwnd) << ONE_SHIFT;
        }
        if self.paced.rules {
            let mtu = self.mtu();
            self.paced.grow(unmarked, self.virtual_rtt(), mtu);
            self.exact = self.exact.max(self.paced.window(mtu));
        } else {
            self.exact += self.growth(unmarked, window.cwnd);
        }
    }

    fn pace_as_module(&mut self, ack: &Ack, window: &mut Window) {
        let rate = if self.paced.rules {
            let varies = self.paced.rate >> VARIES_SHIFT;
            let elapsed = ack.now.since(self.alpha_updated).as_nanos();
            let is_second_half = 2 * elapsed >= self.srtt().max(RTT_VIRT_MIN).as_nanos();
            if is_second_half { self.paced.rate - varies } else { self.paced.rate + varies }
        } else {
            let twice = u64::from(window.cwnd < window.ssthresh / 2);
            let segments = u64::from(window.cwnd.max(ack.in_flight));
            let srtt_us = (self.srtt_x8 / 8000).max(1);
            self.paced.rate = ((self.mtu() * segments * (1_000_000 << twice)) / srtt_us).max(LEAST_RATE);
            self.paced.rate
        };
        window.packet = ((rate / self.mtu()) >> BURST_SHIFT).clamp(1, u16::MAX.into()) as u16;
        window.pacing_rate = Rate::from_bps(8 * rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, at, exact, marks};
    use super::*;
    use crate::cc::CongestionControl;
    use crate::{CcOptions, Config, EcnMode};

    /// Returns one that has run long, with a window of `cwnd` segments and an RTT of 10 ms.
    fn with(cwnd: u32) -> (Prague, Window) {
        let cc_options = CcOptions { module: true, ..CcOptions::default() };
        let config = Config { cc_options, ..Config::default() };
        let mut prague = Prague::new(&config);
        prague.on_ecn_agreed(EcnMode::Accurate);
        (prague.rounds, prague.seen, prague.srtt_x8) = (TRANSITION_ROUNDS, true, 8_000_000 * 10);
        prague.exact = u64::from(cwnd) << ONE_SHIFT;
        (prague, Window { cwnd, ssthresh: 2, ..Window::new(&config) })
    }

    fn busy(ms: u64, round: u32, segments: u32, marked: u32) -> Ack {
        Ack { rtt: None, in_flight: 1, ..ack(ms, round, segments, marked, 10) }
    }

    /// A window of 40 segments of 1500 bytes per 10 ms is 48 Mbit/s. It grows by 1/40 · (10 / 25)² with an ACK.
    #[test]
    fn a_long_window_paces_whole_and_grows_as_at_25_ms() {
        let (mut p, mut w) = with(40);
        p.on_ack(&busy(100, 0, 1, 0), &mut w);
        assert!((exact(&p) - 40.004).abs() < 1e-5, "{}", exact(&p));
        assert_eq!((w.cwnd, w.packet, w.pacing_rate.map(Rate::as_bps)), (41, 1, Some(49_200_000)));
        assert!(!p.paced.rules);
    }

    /// One segment of a window of four is in flight: a rate sends no more. The window grows all the same, unless the
    /// application has written nothing more.
    #[test]
    fn a_window_grows_while_there_are_data_whatever_is_in_flight() {
        for (unsent, grows) in [(u64::MAX, true), (1448, true), (1447, false)] {
            let (mut p, mut w) = with(4);
            p.on_ack(&Ack { unsent, prior_in_flight: 1, ..busy(100, 0, 1, 0) }, &mut w);
            assert_eq!(exact(&p) > 4.0, grows, "{unsent}");
        }
    }

    /// Two segments per 10 ms are 300 kB/s, which grow by 1500 bytes per 25 ms of a second of 2^20 µs, divided by the 5
    /// segments of 25 ms: 12,583 B/s. Pacing is 3.125 % above that, and from 12.5 ms on below.
    #[test]
    fn a_rate_replaces_a_window_of_four_packets() {
        let (mut p, mut w) = with(2);
        p.alpha_updated = at(100);
        p.on_ack(&Ack { in_flight: 2, ..busy(100, 0, 1, 1) }, &mut w);
        assert!(p.paced.rules);
        p.on_ack(&busy(101, 0, 1, 0), &mut w);
        assert_eq!(w.pacing_rate.map(Rate::as_bps), Some(8 * (312_583 + 9768)));
        p.on_ack(&busy(113, 0, 1, 1), &mut w);
        assert_eq!(w.pacing_rate.map(Rate::as_bps), Some(8 * (312_583 - 9768)));
    }

    /// With alpha of 1/2 a mark takes a quarter of the rate. The window then has 225 kB/s · 10 ms / 1500, divided by
    /// 1.048576, less than two segments. But two may be in flight.
    #[test]
    fn a_mark_takes_the_rate_below_two_segments_a_round_trip() {
        let (mut p, mut w) = with(2);
        p.on_ack(&Ack { in_flight: 2, ..busy(100, 0, 1, 1) }, &mut w);
        p.on_ack(&busy(101, 1, 1, 1), &mut w);
        (p.fell, p.alpha_x16) = (at(50), 8 << ONE_SHIFT);
        p.ssthresh(&marks(2, 200));
        assert_eq!(p.paced.rate, 225_000);
        assert!((exact(&p) - 1.430_511).abs() < 1e-5, "{}", exact(&p));
        p.on_ack(&busy(201, 1, 1, 1), &mut w);
        assert_eq!(w.cwnd, 2);
    }

    /// A rate that replaced a window of four packets keeps it until it has 4.19 in a round trip.
    #[test]
    fn a_rate_stays_above_the_window_that_it_replaced() {
        for (rate, cwnd) in [(600_000, 4), (629_000, 4), (630_000, 5)] {
            let (mut p, mut w) = with(4);
            p.on_ack(&Ack { in_flight: 4, ..busy(100, 0, 1, 1) }, &mut w);
            assert!(p.paced.rules);
            (p.paced.rate, p.exact) = (rate, 3 << ONE_SHIFT);
            p.on_ack(&busy(101, 1, 1, 1), &mut w);
            p.exact = p.paced.window(1500);
            assert_eq!(p.whole(), cwnd, "{rate}");
        }
    }

    /// The RTT is the smoothed one of the connection, which has the delay of a delayed ACK, and not that of the path.
    #[test]
    fn the_rtt_is_that_of_the_first_segment_of_an_ack() {
        let (mut p, mut w) = with(40);
        let srtt = Duration::from_millis(12);
        p.on_delivered(&Ack { rtt: Some(Duration::from_millis(10)), srtt, ..busy(100, 0, 1, 0) }, &mut w);
        assert_eq!(p.srtt(), srtt);
    }

    /// The first mark halves the window. Then alpha is 0 plus a sixteenth of the part that was marked.
    #[test]
    fn alpha_begins_at_nought_after_the_first_mark() {
        let (mut p, mut w) = with(40);
        (p.seen, p.round_end) = (false, Some(crate::SeqNumber(1)));
        p.ssthresh(&marks(40, 100));
        let first = busy(100, 1, 10, 5);
        p.on_delivered(&first, &mut w);
        p.on_ack(&first, &mut w);
        assert_eq!(exact(&p) as u32, 20);
        assert_eq!(p.alpha_x16, 1 << (ONE_SHIFT - 1));
    }
}
