//! Prague (draft-briscoe-iccrg-prague-congestion-control-04): DCTCP made fit for the Internet, for the L4S service.
//!
//! Implemented from the draft:
//! - ECT(1) on every packet and accurate feedback. The fallback is classic ECN, with Reno's window.
//! - Alpha is a moving average that begins at 1 with the first mark (2.3.2).
//! - Marks reduce the window by half of alpha, once per round trip (2.4.2). A loss halves it, less what marks took in
//!   the same round trip (2.4.1).
//! - Only unmarked segments grow the window, also while it falls (2.4.3). Nothing does while losses are repaired.
//! - The window depends less on the RTT: from the 500th round trip on it behaves as if the RTT were at least 25 ms
//!   (2.4.4).
//! - The window has fractions of a segment. Its whole part follows by one segment with each ACK, down and up. So a
//!   reduction takes effect at once, and neither many small reductions nor slow growth are lost by rounding.
//! - The sender paces, as Linux's module does: one window per round trip, with its fraction, and twice that in slow
//!   start, in packets of 1/4096 s and of at least two segments.
//!
//! Not implemented: without `module`, a window below two segments.
//!
//! `module` has what Linux's module of 2023 does otherwise, `fallback` the fallback at a bottleneck with classic ECN.

#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "the page only names the type"))]
mod fallback;
mod module;

use super::line::{self, NO_VIRTUAL_RTT};
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, CongestionState, EcnMode, EcnUse, SeqNumber, Window};
#[cfg(not(target_family = "wasm"))]
use alloc::boxed::Box;
use fallback::Fallback;
use goodqueue_units::{Duration, Instant, Rate};
use module::Paced;

/// The value of alpha that means 1, and of `Prague::exact` that means a segment.
const ONE: u64 = 1 << ONE_SHIFT;
const ONE_SHIFT: u32 = 20;
/// g = 1/16 (2.3.2), as a shift. Alpha is stored times 1/g, so that rounding loses nothing.
const G_SHIFT: u32 = 4;
/// The least window.
const LEAST: u32 = 2;
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
    /// The window with its fraction, in 1/`ONE` of a segment.
    exact: u64,
    /// A mark was seen: something on the path marks.
    seen: bool,
    /// The round trip ends when all bytes before this one are acknowledged.
    round_end: Option<SeqNumber>,
    /// Round trips after slow start.
    rounds: u32,
    /// Segments delivered since alpha was last updated.
    delivered: u32,
    /// Segments of these that were marked.
    marked: u32,
    alpha_updated: Instant,
    /// When marks last reduced the window. 0 stands for never.
    fell: Instant,
    /// The window before the last reduction.
    before: u64,
    /// That reduction was by marks, in the present round trip.
    marks_now: bool,
    /// Losses are being repaired.
    repairs: bool,
    /// 8 times the smoothed RTT of the path, in nanoseconds.
    srtt_x8: u64,
    mss: u16,
    /// The virtual RTT of 2.4.4 is switched off.
    no_virtual_rtt: bool,
    /// There is no accurate feedback: the window is Reno's.
    classic: bool,
    /// The law is that of Linux's module 0.7.
    is_module: bool,
    paced: Paced,
    /// What the word `fallback` asks for. The page does not have it, so that it is smaller.
    #[cfg(not(target_family = "wasm"))]
    fallback: Option<Box<Fallback>>,
}

impl CongestionControl for Prague {
    const NAME: &'static str = "prague";
    const SUMMARY: &'static str = "the sender of L4S: DCTCP's response to marks, adapted to the Internet";
    const SOURCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-04";
    const DIFFERS: &'static str =
        "reduces to no less than two segments; detects classic bottlenecks only with the word `fallback`";
    const ECN: EcnUse = EcnUse::L4s;
    const PACES: bool = true;
    const WORDS: &'static [CcWord] = if cfg!(target_family = "wasm") && cfg!(feature = "complete") {
        &[NO_VIRTUAL_RTT, line::MODULE]
    } else if cfg!(feature = "complete") {
        &[NO_VIRTUAL_RTT, line::MODULE, line::FALLBACK]
    } else {
        &[NO_VIRTUAL_RTT]
    };

    fn new(config: &Config) -> Self {
        let exact = u64::from(config.initial_window.max(1)) << ONE_SHIFT;
        Self {
            alpha_x16: ONE << G_SHIFT,
            exact,
            seen: false,
            round_end: None,
            rounds: 0,
            delivered: 0,
            marked: 0,
            alpha_updated: Instant::ZERO,
            fell: Instant::ZERO,
            before: exact,
            marks_now: false,
            repairs: false,
            srtt_x8: 0,
            mss: config.mss,
            no_virtual_rtt: config.cc_options.no_virtual_rtt,
            classic: false,
            is_module: config.cc_options.module,
            paced: Paced::default(),
            #[cfg(not(target_family = "wasm"))]
            fallback: config.cc_options.fallback.then(|| Box::new(Fallback::new(config.cc_options.module))),
        }
    }

    fn on_ecn_agreed(&mut self, mode: EcnMode) {
        self.classic = mode != EcnMode::Accurate;
    }

    fn on_open(&mut self, _now: Instant, rtt: Option<Duration>, _window: &mut Window) {
        if let (Some(fallback), Some(rtt)) = (self.fallback(), rtt) {
            fallback.open(rtt);
        }
    }

    #[inline]
    fn sets_window(&self) -> bool {
        !self.classic
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        if let (Some(fallback), Some(rtt)) = (self.fallback(), ack.rtt) {
            fallback.take(rtt, window.ssthresh);
        }
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_nanos();
            self.srtt_x8 = if self.srtt_x8 == 0 { 8 * rtt } else { self.srtt_x8 - self.srtt_x8 / 8 + rtt };
        }
        #[cfg(feature = "complete")]
        if self.is_module && ack.srtt != Duration::ZERO {
            self.srtt_x8 = 8 * ack.srtt.as_nanos();
        }
        self.delivered += ack.segments;
        self.marked += ack.marked;
        self.seen |= ack.marked > 0;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.classic {
            Self::grow_as_reno(ack, window);
            return;
        }
        if self.is_by_module() {
            self.on_ack_of_module(ack, window);
            return;
        }
        self.grow(ack, window);
        self.step(window);
        if ack.una >= *self.round_end.get_or_insert(ack.nxt) {
            self.round_end = Some(ack.nxt);
            self.end_round(ack.now, window);
        }
        self.pace(window);
    }

    /// Reduces the window by half of alpha at marks (2.4.2), and by half at a loss (2.4.1).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if self.classic {
            return (congestion.cwnd / 2).max(LEAST);
        }
        if let Some(fallback) = self.fallback() {
            fallback.rescale();
        }
        let by_marks = congestion.cause == Cause::Ecn;
        if by_marks && congestion.now.since(self.fell) < self.virtual_rtt() {
            return self.whole(); // 2.4.4: once per virtual round trip
        }
        (self.before, self.marks_now) = (self.exact, by_marks);
        if by_marks {
            let is_first = self.fell == Instant::ZERO;
            self.fell = congestion.now;
            let least = self.fallback().map_or(0, |fallback| fallback.least_alpha());
            let fall = (u128::from(self.exact) * u128::from(self.alpha().max(least))) >> (ONE_SHIFT + 1);
            self.reduce_to(self.exact - fall as u64);
            if is_first && self.is_by_module() {
                self.alpha_x16 = 0;
            }
        } else {
            self.reduce_to(self.exact / 2);
        }
        self.whole()
    }

    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        if state == CongestionState::Cwr {
            return;
        }
        self.repairs = matches!(state, CongestionState::Recovery | CongestionState::Loss);
        if state == CongestionState::Recovery && self.marks_now && self.is_by_module() {
            self.reduce_to(self.exact / 2);
        } else if state == CongestionState::Recovery && self.marks_now {
            // 2.4.1: what is missing to half, at a loss in the same round trip as a reduction by marks.
            self.reduce_to(self.exact.min(self.before / 2));
            window.ssthresh = self.whole();
        }
        self.marks_now = false;
    }

    fn on_undo(&mut self) {
        self.exact = self.exact.max(self.before);
        self.paced.undo();
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha() as f64 / ONE as f64);
        show("rtt_virt_ms", self.virtual_rtt().as_millis_f64());
        #[cfg(not(target_family = "wasm"))]
        if let Some(fallback) = &self.fallback {
            show("classic_ecn", fallback.classic());
        }
    }
}

impl Prague {
    /// Returns whether the law is that of Linux's module 0.7. Without the feature `complete` nothing of it is compiled.
    const fn is_by_module(&self) -> bool {
        cfg!(feature = "complete") && self.is_module
    }

    /// Returns the fallback that was asked for.
    #[cfg(not(target_family = "wasm"))]
    #[inline]
    fn fallback(&mut self) -> Option<&mut Fallback> {
        self.fallback.as_deref_mut()
    }

    #[cfg(target_family = "wasm")]
    fn fallback(&mut self) -> Option<&mut Fallback> {
        None
    }

    /// Sets the pacing rate and the packet size: one window per round trip, in packets short in time (Linux's
    /// tcp_prague.c).
    #[inline]
    fn pace(&self, window: &mut Window) {
        let srtt_us = (self.srtt_x8 / 8000).max(1);
        let twice = u64::from(window.cwnd < window.ssthresh / 2);
        let exact_per_s = u128::from(self.exact) * (1_000_000 << twice) / u128::from(srtt_us);
        let packets_per_s = (exact_per_s >> ONE_SHIFT) as u64;
        window.packet =
            (packets_per_s >> BURST_SHIFT).clamp(window.min_packet.into(), u16::MAX.into()) as u16;
        let bits = u128::from(8 * (u64::from(self.mss) + HEADER_BYTES));
        window.pacing_rate = Rate::from_bps(((bits * exact_per_s) >> ONE_SHIFT) as u64);
    }

    fn alpha(&self) -> u64 {
        self.alpha_x16 >> G_SHIFT
    }

    fn srtt(&self) -> Duration {
        Duration::from_nanos(self.srtt_x8 / 8)
    }

    /// Returns the RTT by which the algorithm behaves (2.4.4). Before the transition it is the RTT itself.
    fn virtual_rtt(&self) -> Duration {
        let transition = if self.is_by_module() { module::TRANSITION_ROUNDS } else { TRANSITION_ROUNDS };
        if self.no_virtual_rtt || self.rounds < transition {
            self.srtt()
        } else {
            self.srtt().max(RTT_VIRT_MIN)
        }
    }

    /// Returns the window in whole segments. A fraction has room for a whole one: pacing makes it late.
    fn whole(&self) -> u32 {
        let least = if self.is_by_module() { LEAST } else { 0 };
        self.exact.div_ceil(ONE).clamp(least.into(), u32::MAX.into()) as u32
    }

    fn reduce_to(&mut self, exact: u64) {
        if self.is_by_module() {
            self.reduce_as_module(exact);
        } else {
            self.exact = exact.max(u64::from(LEAST) << ONE_SHIFT);
        }
    }

    fn grow_as_reno(ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let counted = if window.in_slow_start() { window.slow_start(ack.counted) } else { ack.counted };
        if counted > 0 {
            window.increase(window.cwnd, counted);
        }
    }

    /// Moves the window by one segment towards its exact value.
    fn step(&self, window: &mut Window) {
        let whole = self.whole();
        if window.cwnd > whole {
            window.cwnd -= 1;
            window.ssthresh = window.cwnd;
        } else if window.cwnd < whole {
            window.cwnd += 1;
        }
    }

    fn count_round(&mut self, window: &Window) {
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn end_round(&mut self, now: Instant, window: &Window) {
        self.count_round(window);
        // 2.4.4: flows with different RTTs reach the same alpha only if they average over the same time.
        let early = self.rounds >= TRANSITION_ROUNDS && now.since(self.alpha_updated) < self.virtual_rtt();
        if !early {
            self.update_alpha(now);
        }
    }

    fn update_alpha(&mut self, now: Instant) {
        self.alpha_updated = now;
        if self.seen {
            if let Some(fallback) = self.fallback() {
                fallback.end_round();
            }
            // 2.3.2: alpha += g (F − alpha).
            let part = u64::from(self.marked.min(self.delivered)) * ONE / u64::from(self.delivered.max(1));
            self.alpha_x16 = self.alpha_x16 - (self.alpha_x16 >> G_SHIFT) + part;
        }
        (self.delivered, self.marked) = (0, 0);
    }

    /// Grows the window by the unmarked segments: one segment each in slow start, then one per round trip (2.4.3),
    /// times (srtt / rtt_virt)² (2.4.4). A shorter RTT has more round trips in a second, so each of them must add
    /// less.
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut unmarked = ack.counted.saturating_sub(ack.marked);
        if unmarked == 0 || self.repairs || !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            let before = window.cwnd;
            unmarked = window.slow_start(unmarked);
            self.exact += u64::from(window.cwnd - before) << ONE_SHIFT;
        }
        self.exact += self.growth(unmarked, self.whole());
    }

    /// Returns by how much `unmarked` segments grow a window of `cwnd`.
    fn growth(&self, unmarked: u32, cwnd: u32) -> u64 {
        let srtt_us = (self.srtt_x8 / 8000).max(1);
        let virtual_us = (self.virtual_rtt().as_nanos() / 1000).max(srtt_us);
        let growth = (u64::from(unmarked) << ONE_SHIFT) / u64::from(cwnd);
        growth * srtt_us / virtual_us * srtt_us / virtual_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Linux's prague_update_pacing_rate by hand: 20 segments in 20 ms are 1000 per second, of 1500 bytes with
    /// their headers. A 4096th of a second holds less than one segment, so a packet has the fewest, two. Slow start
    /// far from its end doubles the rate. 100,000 segments per second make packets of 24 segments.
    #[test]
    fn it_paces_a_window_a_round_trip_in_short_packets() {
        let (mut prague, mut window) = prague();
        for (cwnd, ssthresh, bps, packet) in
            [(20, 20, 12_000_000, 2), (20, 100, 24_000_000, 2), (2000, 2000, 1_200_000_000, 24)]
        {
            (window.cwnd, window.ssthresh) = (cwnd, ssthresh);
            prague.exact = u64::from(cwnd) << ONE_SHIFT;
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

    /// Returns one with a window of `cwnd` segments.
    fn with(cwnd: u32) -> (Prague, Window) {
        let (mut prague, mut window) = prague();
        prague.exact = u64::from(cwnd) << ONE_SHIFT;
        window.cwnd = cwnd;
        (prague, window)
    }

    pub(super) fn exact(prague: &Prague) -> f64 {
        prague.exact as f64 / ONE as f64
    }

    pub(super) fn marks(cwnd: u32, ms: u64) -> Congestion {
        Congestion { now: at(ms), cwnd, cause: Cause::Ecn }
    }

    pub(super) fn ack(ms: u64, round: u32, segments: u32, marked: u32, rtt_ms: u64) -> Ack {
        let (una, nxt) = (SeqNumber(1 + 1000 * round), SeqNumber(1000 + 1000 * round));
        let rtt = Some(Duration::from_millis(rtt_ms));
        Ack { una, nxt, rtt, marked, ..Ack::of(at(ms), segments) }
    }

    /// 2.3.2 by hand: rounds without marks before the first mark leave alpha at 1. Then alpha is 1, 15/16, (15/16)²,
    /// and after a round with half of the segments marked 15/16 of that + 1/32.
    #[test]
    fn alpha_begins_with_the_first_mark_and_follows_by_sixteenths() {
        let (mut p, mut w) = prague();
        p.on_ack(&ack(0, 0, 0, 0, 50), &mut w);
        let rounds = [(0, 1.0), (0, 1.0), (10, 1.0), (0, 0.9375), (0, 0.878_906), (5, 0.855_225)];
        for (round, (marked, after)) in (1..).zip(rounds) {
            let ack = ack(0, round, 10, marked, 50);
            p.on_delivered(&ack, &mut w);
            p.on_ack(&ack, &mut w);
            let alpha = p.alpha() as f64 / ONE as f64;
            assert!((alpha - after).abs() < 1e-4, "round {round}: {alpha} for {after}");
        }
    }

    /// 2.4.2: alpha 1 halves the window. Alpha 1/10 takes 4.75 of 95 segments, and alpha 1/100 takes 0.225 of 45: a
    /// reduction by less than half of a segment is none after rounding, however often it comes.
    #[test]
    fn marks_take_half_of_alpha_with_its_fraction() {
        for (alpha_x16, cwnd, left) in [(16.0, 100, 50.0), (1.6, 95, 90.25), (0.16, 45, 44.775)] {
            let (mut p, _) = with(cwnd);
            p.alpha_x16 = (alpha_x16 * ONE as f64) as u64;
            p.ssthresh(&marks(cwnd, 0));
            assert!((exact(&p) - left).abs() < 1e-4, "{}", exact(&p));
        }
        let (mut p, _) = with(95);
        p.on_ecn_agreed(EcnMode::Classic);
        assert_eq!(p.ssthresh(&marks(95, 200)), 47, "with classic feedback as Reno");
    }

    /// The whole window follows the exact one by a segment with each ACK, and stays at two.
    #[test]
    fn the_window_falls_at_once_by_a_segment_an_ack() {
        let (mut p, mut w) = with(6);
        p.ssthresh(&marks(6, 0)); // alpha is 1: to 3
        let marked = Ack { rtt: None, ..ack(0, 0, 1, 1, 50) };
        let windows = [(); 4].map(|()| {
            p.on_ack(&marked, &mut w);
            w.cwnd
        });
        assert_eq!(windows, [5, 4, 3, 3]);
        p.ssthresh(&marks(3, 100));
        p.on_ack(&marked, &mut w);
        assert_eq!((w.cwnd, w.ssthresh, p.whole()), (2, 2, 2));
    }

    /// 2.4.4: at 10 ms, after the transition, a window needs (25 / 10)² = 6.25 times its segments to grow by one.
    /// Before it, and at 50 ms, it needs one times its segments.
    #[test]
    fn growth_is_that_of_25_ms_at_shorter_rtts_once_it_runs_long() {
        for (rounds, rtt, per_ack) in [(0, 10, 0.01), (499, 10, 0.01), (500, 10, 0.0016), (500, 50, 0.01)] {
            let (mut p, mut w) = with(100);
            (p.rounds, p.srtt_x8) = (rounds, 8_000_000 * rtt);
            p.on_ack(&Ack { rtt: None, ..ack(0, 0, 1, 0, rtt) }, &mut w);
            assert!((exact(&p) - 100.0 - per_ack).abs() < 2e-6, "{} at {rtt} ms", exact(&p));
        }
    }

    /// 2.4.4: two marks within a virtual round trip of 25 ms count once.
    #[test]
    fn marks_count_once_a_virtual_round_trip() {
        let (mut p, _) = with(100);
        (p.rounds, p.srtt_x8) = (500, 8_000_000 * 10);
        assert_eq!([1000, 1024, 1025].map(|ms| p.ssthresh(&marks(100, ms))), [50, 50, 25]);
    }

    /// 2.4.3: marked segments do not count. The others do, also while the window falls.
    #[test]
    fn only_unmarked_segments_grow_the_window_and_they_do_while_it_falls() {
        let (mut p, mut w) = with(10);
        p.on_ack(&ack(0, 0, 10, 10, 50), &mut w);
        assert_eq!(w.cwnd, 10);
        p.on_ack(&Ack { state: CongestionState::Cwr, ..ack(0, 0, 12, 2, 50) }, &mut w);
        assert_eq!(w.cwnd, 11);
        p.on_state(CongestionState::Recovery, &mut w);
        p.on_ack(&Ack { state: CongestionState::Recovery, ..ack(0, 0, 12, 0, 50) }, &mut w);
        assert_eq!(w.cwnd, 11, "not while losses are repaired");
    }

    /// 2.4.1: marks reduce 100 segments to 95. A loss in the same round trip leads to 50, not to 47. A loss in a later
    /// one halves 95. Marks that took more than half leave no room for a loss.
    #[test]
    fn a_loss_after_marks_takes_what_is_missing_to_half() {
        for (alpha_x16, later, left) in [(1.6, false, 50.0), (1.6, true, 47.5), (20.0, false, 37.5)] {
            let (mut p, mut w) = with(100);
            p.alpha_x16 = (alpha_x16 * ONE as f64) as u64;
            p.ssthresh(&marks(100, 0));
            p.on_state(CongestionState::Cwr, &mut w);
            if later {
                p.on_state(CongestionState::Open, &mut w);
                p.ssthresh(&Congestion { cause: Cause::Loss, ..marks(95, 100) });
            }
            p.on_state(CongestionState::Recovery, &mut w);
            assert!((exact(&p) - left).abs() < 1e-3, "{}", exact(&p));
        }
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

    /// What was taken for lost came: the window is back, in whole segments and with its fraction.
    #[test]
    fn an_undo_gives_the_exact_window_back() {
        let (mut p, w) = with(20);
        p.exact += ONE / 2;
        p.ssthresh(&Congestion { cause: Cause::Loss, ..marks(21, 0) });
        assert_eq!(p.whole(), 11);
        p.on_undo();
        assert_eq!((p.whole(), p.undo_cwnd(&w, 21)), (21, 21));
    }
}
