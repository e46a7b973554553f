//! Prague (draft-briscoe-iccrg-prague-congestion-control-04): DCTCP made fit for the Internet, for the L4S service.
//!
//! Implemented from the draft:
//! - ECT(1) on every packet and accurate feedback. The fallback is classic ECN, with Reno's response.
//! - Alpha is a moving average that begins at 1 with the first mark (2.3.2).
//! - Marks reduce the window by half of alpha, once per round trip (2.4.2). A loss halves it, less what marks took in
//!   the same round trip (2.4.1).
//! - Only unmarked segments grow the window, also while it falls (2.4.3).
//! - The window depends less on the RTT: from the 500th round trip on it behaves as if the RTT were at least 25 ms
//!   (2.4.4).
//! - The sender paces, as Linux's module does: one window per round trip, twice that in slow start, in packets of
//!   1/4096 s and of at least one segment.
//!
//! Not implemented: a window with fractions, a window below two segments, and the fallback at a bottleneck with classic
//! ECN. The window falls by the sender's rate reduction over a round trip, as DCTCP's does in Linux, and not at once.

use super::line::NO_VIRTUAL_RTT;
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, CongestionState, EcnMode, EcnUse, SeqNumber, Window};
use goodqueue_units::{Duration, Instant, Rate};

/// The value of alpha that means 1.
const ONE: u64 = 1 << 20;
/// g = 1/16 (2.3.2), as a shift. Alpha is stored times 1/g, so that rounding loses nothing.
const G_SHIFT: u32 = 4;
/// 2.4.4: the least virtual RTT.
const RTT_VIRT_MIN: Duration = Duration::from_millis(25);
/// The longest packet in time, as a shift: 1/2^12 s, Linux's `prague_burst_shift`.
const BURST_SHIFT: u32 = 12;
/// Bytes that Linux's pacing adds to a segment's payload: the headers of IPv4 and of TCP with timestamps.
const HEADER_BYTES: u64 = 52;
/// Round trips after which the virtual RTT replaces the RTT (2.4.4). Before that a flow still looks for its rate.
const TRANSITION_ROUNDS: u32 = 500;

#[derive(Clone, Debug)]
pub(crate) struct Prague {
    /// Alpha times 16.
    alpha_x16: u64,
    /// A mark was seen: something on the path marks.
    seen: bool,
    /// The round trip ends when a byte after this one is acknowledged.
    round_end: Option<SeqNumber>,
    /// Round trips after slow start.
    rounds: u32,
    /// Segments delivered since alpha was last updated.
    delivered: u32,
    /// Segments of these that were marked.
    marked: u32,
    alpha_updated: Instant,
    /// When the window last fell because of marks, and the window before that.
    fell: Option<(Instant, u32)>,
    /// 8 times the smoothed RTT of the path, in nanoseconds.
    srtt_x8: u64,
    mss: u16,
    /// The virtual RTT of 2.4.4 is switched off.
    no_virtual_rtt: bool,
    classic: bool,
}

impl CongestionControl for Prague {
    const NAME: &'static str = "prague";
    const SUMMARY: &'static str = "the sender of L4S: DCTCP's response to marks, adapted to the Internet";
    const SOURCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-04";
    const DIFFERS: &'static str = "reduces over one round trip, by whole segments, to no less than two; does not detect classic bottlenecks";
    const ECN: EcnUse = EcnUse::L4s;
    const PACES: bool = true;
    const WORDS: &'static [CcWord] = &[NO_VIRTUAL_RTT];

    fn new(config: &Config) -> Self {
        Self {
            alpha_x16: ONE << G_SHIFT,
            seen: false,
            round_end: None,
            rounds: 0,
            delivered: 0,
            marked: 0,
            alpha_updated: Instant::ZERO,
            fell: None,
            srtt_x8: 0,
            mss: config.mss,
            no_virtual_rtt: config.cc_options.no_virtual_rtt,
            classic: false,
        }
    }

    fn on_ecn_agreed(&mut self, mode: EcnMode) {
        self.classic = mode != EcnMode::Accurate;
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_nanos();
            self.srtt_x8 = if self.srtt_x8 == 0 { 8 * rtt } else { self.srtt_x8 - self.srtt_x8 / 8 + rtt };
            self.pace(window);
        }
        self.delivered += ack.segments;
        self.marked += ack.marked;
        self.seen |= ack.marked > 0;
        let end = *self.round_end.get_or_insert(ack.nxt);
        if ack.una > end {
            self.round_end = Some(ack.nxt);
            self.end_round(ack.now, window);
        }
        if ack.state == CongestionState::Cwr {
            // 2.4.3: growth continues. The rate reduction leads to the threshold, so it is the threshold that grows.
            let falling = window.cwnd;
            window.cwnd = window.ssthresh;
            self.grow(ack, window);
            window.ssthresh = window.cwnd;
            window.cwnd = falling;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() && ack.is_cwnd_limited {
            let unmarked = ack.counted.saturating_sub(ack.marked);
            window.slow_start(unmarked);
        } else {
            self.grow(ack, window);
        }
    }

    /// Returns cwnd (1 − alpha / 2) at marks (2.4.2), and half of the window at a loss (2.4.1).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        let cwnd = congestion.cwnd;
        if congestion.cause != Cause::Ecn || self.classic {
            return (cwnd / 2).max(2);
        }
        let virtual_round = self.virtual_rtt();
        if self.fell.is_some_and(|(fell, _)| congestion.now.since(fell) < virtual_round) {
            return cwnd.max(2); // 2.4.4: once per virtual round trip
        }
        self.fell = Some((congestion.now, cwnd));
        // Rounded to the nearest segment, so that the mean of many is right.
        let fall = (u64::from(cwnd) * self.alpha() + ONE) / (2 * ONE);
        (cwnd - fall as u32).max(2)
    }

    /// Takes what is missing to half, at a loss in the same round trip as a reduction by marks (2.4.1).
    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        if state != CongestionState::Recovery {
            return;
        }
        if let Some((_, before)) = self.fell.take()
            && window.ssthresh > before / 2
            && window.cwnd < before
        {
            window.ssthresh = (before / 2).max(2);
        }
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha() as f64 / ONE as f64);
        show("rtt_virt_ms", self.virtual_rtt().as_millis_f64());
    }
}

impl Prague {
    /// Sets the pacing rate and the packet size: one window per round trip, in packets short in time (Linux's
    /// tcp_prague.c).
    #[inline]
    fn pace(&self, window: &mut Window) {
        if self.classic {
            return;
        }
        let srtt_us = (self.srtt_x8 / 8000).max(1);
        let twice = u64::from(window.cwnd < window.ssthresh / 2);
        let packets_per_s = ((u64::from(window.cwnd) * 1_000_000) << twice) / srtt_us;
        window.packet = (packets_per_s >> BURST_SHIFT).clamp(1, u16::MAX.into()) as u16;
        window.pacing_rate = Rate::from_bps(8 * (u64::from(self.mss) + HEADER_BYTES) * packets_per_s);
    }

    fn alpha(&self) -> u64 {
        self.alpha_x16 >> G_SHIFT
    }

    fn srtt(&self) -> Duration {
        Duration::from_nanos(self.srtt_x8 / 8)
    }

    /// Returns the RTT by which the algorithm behaves (2.4.4). Before the transition it is the RTT itself.
    fn virtual_rtt(&self) -> Duration {
        if self.no_virtual_rtt || self.rounds < TRANSITION_ROUNDS {
            self.srtt()
        } else {
            self.srtt().max(RTT_VIRT_MIN)
        }
    }

    fn end_round(&mut self, now: Instant, window: &Window) {
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        // 2.4.4: flows with different RTTs reach the same alpha only if they average over the same time.
        let early = self.rounds >= TRANSITION_ROUNDS && now.since(self.alpha_updated) < self.virtual_rtt();
        if early {
            return;
        }
        self.alpha_updated = now;
        if self.seen {
            // 2.3.2: alpha += g (F − alpha).
            let part = u64::from(self.marked.min(self.delivered)) * ONE / u64::from(self.delivered.max(1));
            self.alpha_x16 = self.alpha_x16 - (self.alpha_x16 >> G_SHIFT) + part;
        }
        (self.delivered, self.marked) = (0, 0);
    }

    /// Grows the window by the unmarked segments: one segment per round trip (2.4.3), times (srtt / rtt_virt)² (2.4.4).
    /// A shorter RTT has more round trips in a second, so each of them must add less.
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let unmarked = ack.counted.saturating_sub(ack.marked);
        if unmarked == 0 || !ack.is_cwnd_limited {
            return;
        }
        let srtt_us = (self.srtt_x8 / 8000).max(1);
        let virtual_us = (self.virtual_rtt().as_nanos() / 1000).max(srtt_us);
        let per = u64::from(window.cwnd) * virtual_us / srtt_us * virtual_us / srtt_us;
        window.increase(per.min(1 << 30) as u32, unmarked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Linux's prague_update_pacing_rate by hand: 20 segments in 20 ms are 1000 per second, of 1500 bytes with their
    /// headers. A 4096th of a second holds less than one segment, so a packet is one segment. Slow start far from its
    /// end doubles the rate. 100,000 segments per second make packets of 24 segments.
    #[test]
    fn it_paces_a_window_a_round_trip_in_short_packets() {
        let (mut prague, mut window) = prague();
        for (cwnd, ssthresh, bps, packet) in
            [(20, 20, 12_000_000, 1), (20, 100, 24_000_000, 1), (2000, 2000, 1_200_000_000, 24)]
        {
            (window.cwnd, window.ssthresh) = (cwnd, ssthresh);
            prague.srtt_x8 = 8 * 20_000_000;
            prague.pace(&mut window);
            assert_eq!(window.pacing_rate.map(Rate::as_bps), Some(bps));
            assert_eq!(window.packet, packet);
        }
    }

    fn prague() -> (Prague, Window) {
        let mut prague = Prague::new(&Config::default());
        prague.on_ecn_agreed(EcnMode::Accurate);
        (prague, Window { ssthresh: 2, ..Window::new(&Config::default()) })
    }

    fn marks(cwnd: u32, ms: u64) -> Congestion {
        Congestion { now: at(ms), cwnd, cause: Cause::Ecn }
    }

    fn ack(ms: u64, round: u32, segments: u32, marked: u32, rtt_ms: u64) -> Ack {
        let (una, nxt) = (SeqNumber(1 + 1000 * round), SeqNumber(1000 + 1000 * round));
        let rtt = Some(Duration::from_millis(rtt_ms));
        Ack { una, nxt, rtt, marked, ..Ack::of(at(ms), segments) }
    }

    /// 2.3.2 by hand: rounds without marks before the first mark leave alpha at 1. Then alpha is 1, 15/16, (15/16)²,
    /// and after a round with half of the segments marked 15/16 of that + 1/32.
    #[test]
    fn alpha_begins_with_the_first_mark_and_follows_by_sixteenths() {
        let (mut p, mut w) = prague();
        p.on_delivered(&ack(0, 0, 0, 0, 50), &mut w);
        let rounds = [(0, 1.0), (0, 1.0), (10, 1.0), (0, 0.9375), (0, 0.878_906), (5, 0.855_225)];
        for (round, (marked, after)) in (1..).zip(rounds) {
            p.on_delivered(&ack(0, round, 10, marked, 50), &mut w);
            let alpha = p.alpha() as f64 / ONE as f64;
            assert!((alpha - after).abs() < 1e-4, "round {round}: {alpha} for {after}");
        }
    }

    /// 2.4.2: alpha 1 halves the window. Alpha 1/10 takes 4.75 of 95 segments, rounded to 5.
    #[test]
    fn marks_take_half_of_alpha_rounded_to_the_nearest_segment() {
        let (mut p, _) = prague();
        assert_eq!(p.ssthresh(&marks(100, 0)), 50);
        p.alpha_x16 = (ONE << G_SHIFT) / 10;
        assert_eq!(p.ssthresh(&marks(95, 100)), 90);
        p.on_ecn_agreed(EcnMode::Classic);
        assert_eq!(p.ssthresh(&marks(95, 200)), 47, "with classic feedback as Reno");
    }

    /// 2.4.4: at 10 ms, after the transition, a window needs (25 / 10)² = 6.25 times its segments to grow by one.
    /// Before it, and at 50 ms, it needs one times its segments.
    #[test]
    fn growth_is_that_of_25_ms_at_shorter_rtts_once_it_runs_long() {
        for (rounds, rtt, counts) in [(0, 10, 100), (499, 10, 100), (500, 10, 625), (500, 50, 100)] {
            let (mut p, mut w) = prague();
            w.cwnd = 100;
            p.rounds = rounds;
            p.srtt_x8 = 8_000_000 * rtt;
            let segment = Ack { rtt: None, ..ack(0, 0, 1, 0, rtt) };
            let grown = (1..1000).find(|_| {
                p.on_ack(&segment, &mut w);
                w.cwnd == 101
            });
            assert_eq!(grown, Some(counts));
        }
    }

    /// 2.4.4: two marks within a virtual round trip of 25 ms count once.
    #[test]
    fn marks_count_once_a_virtual_round_trip() {
        let (mut p, _) = prague();
        (p.rounds, p.srtt_x8) = (500, 8_000_000 * 10);
        assert_eq!(p.ssthresh(&marks(100, 1000)), 50);
        assert_eq!(p.ssthresh(&marks(100, 1024)), 100);
        assert_eq!(p.ssthresh(&marks(100, 1025)), 50);
    }

    /// 2.4.3: marked segments do not count. While the window falls, the threshold grows.
    #[test]
    fn only_unmarked_segments_grow_the_window_and_they_do_while_it_falls() {
        let (mut p, mut w) = prague();
        w.cwnd = 10;
        p.on_ack(&ack(0, 0, 10, 10, 50), &mut w);
        assert_eq!(w.cwnd, 10);
        p.on_ack(&ack(0, 0, 12, 2, 50), &mut w);
        assert_eq!(w.cwnd, 11);
        (w.cwnd, w.ssthresh) = (20, 10);
        p.on_delivered(&Ack { state: CongestionState::Cwr, ..ack(0, 0, 10, 0, 50) }, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (20, 11));
    }

    /// 2.4.1: marks reduce 100 segments to 95. A loss during that reduction leads to 50, not to 47.
    #[test]
    fn a_loss_after_marks_takes_what_is_missing_to_half() {
        let (mut p, mut w) = prague();
        p.alpha_x16 = (ONE << G_SHIFT) / 10;
        w.ssthresh = p.ssthresh(&marks(100, 0));
        assert_eq!(w.ssthresh, 95);
        w.cwnd = 97;
        p.on_state(CongestionState::Recovery, &mut w);
        assert_eq!(w.ssthresh, 50);
    }

    /// 2.4.4: at 10 ms, after the transition, rounds last 25 ms: the two earlier ends of a round leave alpha unchanged.
    /// Before the transition each round changes it.
    #[test]
    fn alpha_moves_once_in_25_ms_once_it_runs_long() {
        for (rounds, moved) in [(TRANSITION_ROUNDS, [false, false, true]), (0, [true; 3])] {
            let (mut p, w) = prague();
            (p.rounds, p.seen, p.srtt_x8) = (rounds, true, 80_000_000);
            let found = [10, 24, 25].map(|ms| {
                let before = p.alpha_x16;
                (p.delivered, p.marked) = (10, 0);
                p.end_round(at(ms), &w);
                p.alpha_x16 != before
            });
            assert_eq!(found, moved, "{rounds} rounds");
        }
    }

    /// 2.4.1: marks reduced a window of 20 below half, to 8: a loss does not raise it. From 15 it falls to 10.
    #[test]
    fn a_loss_after_marks_takes_no_window_back() {
        let thresholds = [15, 10, 8].map(|ssthresh| {
            let (mut p, mut w) = prague();
            (p.fell, w.cwnd, w.ssthresh) = (Some((at(0), 20)), ssthresh, ssthresh);
            p.on_state(CongestionState::Recovery, &mut w);
            w.ssthresh
        });
        assert_eq!(thresholds, [10, 10, 8]);
    }
}
