//! BBRv3 alone, fed with samples by hand: segments of 1448 bytes, RTT 50 ms, a path of 41 segments per round trip.

use super::bounds::INFINITE;
use super::*;
use crate::cc::Cause;
use crate::cc::bench::{Bench, RTT};
use std::vec::Vec;

/// One millisecond more than the RTT, so that time limits are passed and not just reached.
pub(super) const STEP: Duration = Duration::from_millis(51);

impl Bench<Bbr3> {
    /// Plays Startup to its end.
    pub(super) fn fill(&mut self) {
        for segments in [10, 20, 41, 41, 41] {
            self.round(segments, 60);
            assert_eq!(self.cc.state, State::Startup);
        }
        self.round(41, 100);
    }

    /// Plays Drain to Cruise, and one more round until the samples of the probe are over.
    pub(super) fn cruise(&mut self) {
        self.fill();
        self.round(41, 40);
        self.round(41, 40);
        assert_eq!(self.cc.state, State::Cruise);
    }

    /// Plays Cruise to Up, by the clock.
    pub(super) fn probe(&mut self) {
        while self.cc.state == State::Cruise {
            self.ack(STEP, 41, 41, |_, _| ());
        }
        assert_eq!(self.cc.state, State::Refill);
        self.ack(STEP, 41, 41, |_, _| ());
        assert_eq!(self.cc.state, State::Up);
    }

    /// Gives an ACK that finds `count` segments lost, which were sent with `tx_in_flight` in flight. 60 segments are
    /// then in flight.
    pub(super) fn lose(&mut self, tx_in_flight: u32, count: u32) {
        self.rate.on_sent(self.now, 0, false, tx_in_flight);
        (0..count).for_each(|_| self.rate.on_lost(0));
        self.ack(STEP, 41, 60, |_, sample| {
            (sample.losses, sample.lost, sample.tx_in_flight) = (count, count.into(), tx_in_flight);
        });
    }
}

/// 10 segments in 50 ms are 2.3168 Mbit/s of payload. 99 % of that times 710/256 (2.773) is 6.361.
#[test]
fn pacing_begins_with_the_window_over_the_rtt_times_the_startup_gain() {
    let bench = Bench::<Bbr3>::new();
    assert!((bench.mbps() - 6.361).abs() < 0.001, "{}", bench.mbps());
}

/// 5.3.3: the four phases in turn, each with its gains. The probe ends when three rounds bring no growth.
#[test]
fn the_cycle_is_down_cruise_refill_up() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    let begun = bench.now;
    bench.probe();
    let waited = bench.now.since(begun);
    // 2 to 3 s by the clock, or 41 rounds of 51 ms (2.09 s) and the round of Refill.
    assert!(waited > Duration::from_secs(2) && waited < Duration::from_millis(2300), "{waited}");
    assert!((bench.mbps() - 9.4989 * 0.99 * 1.25).abs() < 0.001, "{}", bench.mbps());
    // 2.25 times 41 is 92.25, rounded up 93. 41 are extra, because an ACK of a whole round is a bunch. This phase adds
    // 2.
    assert_eq!(bench.window.cwnd.min(93 + 41 + 2), bench.window.cwnd);
    let mut rounds = 0;
    while bench.cc.state == State::Up {
        bench.ack(STEP, 41, 50, |ack, _| ack.is_cwnd_limited = false);
        rounds += 1;
    }
    assert_eq!((bench.cc.state, rounds), (State::Down, 3));
}

/// 5.3.3.8.2: on a short path Reno's time scale comes first: as many rounds as the BDP has segments. With a BDP of 10
/// these are 10 rounds, half a second instead of two seconds.
#[test]
fn a_small_bdp_is_probed_as_often_as_reno_would() {
    let mut bench = Bench::<Bbr3>::new();
    for segments in [5, 10, 10, 10] {
        bench.round(segments, 30);
    }
    bench.round(10, 6);
    bench.round(10, 6);
    let begun = bench.now;
    let mut rounds = 0;
    while bench.cc.state != State::Refill {
        bench.round(10, 6);
        rounds += 1;
        assert!(rounds < 20, "{:?} {}", bench.cc.state, bench.now.since(begun));
    }
    assert!((8..=10).contains(&rounds), "{rounds}"); // less the earlier rounds, and 0 or 1 at random
}

/// 5.3.3.6: after a probe with too much loss the next one ends at the bound. If that was harmless, another probe
/// follows at once.
#[test]
fn the_probe_after_a_loss_is_careful_and_then_repeated() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.probe();
    bench.lose(60, 3);
    assert_eq!((bench.cc.state, bench.cc.bounds.inflight_longterm), (State::Down, 59));
    bench.ack(STEP, 41, 40, |_, _| ());
    assert_eq!(bench.cc.state, State::Cruise);
    while bench.cc.state != State::Up {
        bench.ack(STEP, 41, 40, |_, _| ());
    }
    bench.ack(STEP, 41, 59, |_, _| ());
    assert_eq!(bench.cc.state, State::Down, "at the bound");
    let mut states: Vec<State> = std::vec![];
    while bench.cc.state != State::Up {
        bench.ack(STEP, 41, 45, |_, _| ());
        states.push(bench.cc.state);
        assert!(states.len() < 5, "{states:?}");
    }
    assert_eq!(states.first(), Some(&State::Refill));
}

/// 5.3.3.5: the bound rises by 1, 2, 4, 8 … segments per window while the flight reaches it. Up began with a window of
/// 132, and 64 segments are acknowledged per round: no rise. Then, with a window of 64, the bound rises by one per 32
/// segments (128 have gathered), one per 16, one per 68/8.
#[test]
fn the_bound_rises_faster_each_round() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.probe();
    bench.cc.bounds.inflight_longterm = 64;
    bench.window.cwnd = 64;
    let bounds: Vec<u32> = (0..4)
        .map(|_| {
            bench.ack(STEP, 64, 60, |_, _| ());
            bench.cc.bounds.inflight_longterm
        })
        .collect();
    assert_eq!(bounds, [64, 68, 72, 80]);
}

/// 5.5.10.3: while cruising, a round with losses lowers the short-term bounds to what was delivered, or to 0.7 of the
/// earlier bounds.
#[test]
fn losses_while_cruising_lower_the_short_term_bounds_once_a_round() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    let bw = bench.cc.bounds.bw();
    bench.window.cwnd = 80;
    bench.lose(60, 1); // the loss begins a round; the bounds fall at its end
    assert_eq!(bench.cc.bounds.bw_shortterm, Bandwidth::INFINITE);
    bench.ack(STEP, 20, 40, |_, _| ());
    assert_eq!(bench.cc.bounds.bw_shortterm, bw, "41 in 50 ms were delivered in that round");
    bench.lose(60, 1);
    for _ in 0..3 {
        bench.rate.on_lost(0);
        bench.ack(STEP, 10, 40, |_, sample| sample.losses = 1);
    }
    let least = Bandwidth::of(10, RTT);
    assert!(bench.cc.bounds.bw_shortterm < bw.times(UNIT * 3 / 4) && bench.cc.bounds.bw_shortterm > least);
    // 5.3.3.3: the next probe removes the short-term bounds.
    while bench.cc.state != State::Refill {
        bench.ack(STEP, 41, 40, |_, _| ());
    }
    assert_eq!(
        (bench.cc.bounds.bw_shortterm, bench.cc.bounds.inflight_shortterm),
        (Bandwidth::INFINITE, INFINITE)
    );
}

/// 5.3.4: after five seconds without a smaller RTT the window is half the BDP (20.5: 21) for 200 ms and a round. Then
/// comes Cruise.
#[test]
fn after_five_seconds_the_window_falls_to_half_the_bdp() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    while bench.cc.state != State::ProbeRtt {
        assert!(bench.now <= Instant::ZERO + Duration::from_secs(6));
        bench.ack(STEP, 41, 41, |_, _| ());
    }
    assert!(bench.now > Instant::ZERO + Duration::from_secs(5));
    assert_eq!(bench.window.cwnd, 21);
    let begun = bench.now;
    while bench.cc.state == State::ProbeRtt {
        bench.ack(STEP, 20, 21, |_, sample| sample.is_app_limited = true);
    }
    let lasted = bench.now.since(begun);
    assert!(lasted > Duration::from_millis(200) && lasted < Duration::from_millis(310), "{lasted}");
    assert_eq!(bench.cc.state, State::Cruise);
}

/// 5.5.6: the maximum covers this cycle and the last one.
#[test]
fn the_maximum_is_forgotten_with_the_second_cycle() {
    let mut bounds = Bounds::new();
    bounds.take(Bandwidth(100));
    bounds.advance();
    bounds.advance(); // a cycle without samples does not count
    bounds.take(Bandwidth(60));
    assert_eq!(bounds.max_bw(), Bandwidth(100));
    bounds.advance();
    bounds.take(Bandwidth(50));
    assert_eq!(bounds.max_bw(), Bandwidth(60));
}

/// The window from before a loss or a timeout is restored afterwards. Guards against slow start after each.
#[test]
fn the_window_returns_after_a_timeout_and_with_an_undo() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    let before = bench.window.cwnd;
    bench.cc.ssthresh(&Congestion { now: bench.now, cwnd: before, cause: Cause::Timeout });
    bench.cc.on_rto();
    bench.window.cwnd = 1;
    assert_eq!(bench.cc.undo_cwnd(&bench.window, 1), before);
    bench.round(41, 41);
    assert_eq!(bench.window.cwnd, before);
}

/// 5.4.1. Guards against a burst at 5/4 of the rate after a silence. If the sender was not limited by the application,
/// there was no silence.
#[test]
fn after_a_silence_it_goes_on_at_the_rate_it_knew() {
    for (silence, gain) in [(false, 1.25), (true, 1.0)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.cruise();
        bench.probe();
        if silence {
            bench.rate.mark_app_limited(0);
        }
        bench.cc.on_transmit_start(bench.now, &bench.rate, &mut bench.window);
        assert!((bench.mbps() - 9.4989 * 0.99 * gain).abs() < 0.001, "{}", bench.mbps());
        assert_eq!(bench.cc.idle_restart, silence);
    }
}

/// More than half of a probe's segments are marked. On paths longer than 5 ms marks do not count.
#[test]
fn marks_of_more_than_half_are_too_many_on_short_paths() {
    for (rtt_ms, delivered_ce, too_high) in [(5, 5, false), (5, 6, true), (6, 10, false)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.ecn.on_ack(&Ack::of(bench.now, 10), Duration::from_millis(rtt_ms));
        let sample = RateSample {
            delivered: 10,
            interval: Some(RTT),
            prior_delivered: 0,
            delivered_ce,
            losses: 0,
            tx_in_flight: 10,
            lost: 0,
            is_app_limited: false,
            is_ack_delayed: false,
            departure: bench.now,
        };
        assert_eq!(bench.cc.is_inflight_too_high(&sample), too_high, "{rtt_ms} ms, {delivered_ce} of 10");
    }
}

/// 5.6.4.6: in Startup a window above its target does not grow, except for the first ten segments, when nothing is
/// known.
#[test]
fn a_window_above_its_target_grows_with_the_first_segments_only() {
    for (segments, cwnd) in [(9, 1009), (10, 1000)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.window.cwnd = 1000;
        bench.round(segments, 60);
        assert_eq!(bench.window.cwnd, cwnd);
    }
}

/// 5.5.5: a sample limited by the application shows that the path carries that much. It never shows that the path
/// carries no more.
#[test]
fn a_sample_of_the_applications_rate_counts_if_it_is_the_largest() {
    let mut bench = Bench::<Bbr3>::new();
    bench.round(10, 60);
    for (segments, most) in [(20, 20), (15, 20)] {
        bench.ack(RTT, segments, 60, |_, sample| sample.is_app_limited = true);
        assert_eq!(bench.cc.bounds.max_bw(), Bandwidth::of(most, RTT));
    }
}

/// Google's BBRv3: the share of marks is smoothed by a sixteenth, from 1 on. A third of it is cut from the flight, on
/// paths up to 5 ms only.
#[test]
fn marks_count_on_short_paths_only() {
    for (rtt_ms, cut) in [(5, Some(256 - 248 * 85 / 256)), (6, None)] {
        let mut ecn = Ecn::new(false);
        let mut rate = RateEstimator::default();
        rate.sample(Instant::ZERO, 16, 8, RTT);
        let ack = Ack { marked: 8, ..Ack::of(Instant::ZERO, 16) };
        ecn.on_ack(&ack, Duration::from_millis(rtt_ms));
        assert!(!ecn.end_round(&rate, false));
        // alpha = 15/16 + 1/16 · 8/16 = 0.969, 248 of 256.
        assert_eq!(ecn.cut(), cut);
    }
}

/// 5.5.5: the maximum covers two cycles. Guards against a rate that is never forgotten: smaller rates count too.
#[test]
fn a_smaller_rate_counts_when_the_larger_one_is_two_cycles_old() {
    let mut bench = Bench::<Bbr3>::new();
    for (segments, most) in [(20, 20), (15, 20), (15, 15)] {
        bench.round(segments, 60);
        assert_eq!(bench.cc.bounds.max_bw(), Bandwidth::of(most, RTT));
        bench.cc.bounds.advance();
    }
}

/// 5.3.4.3: MinRTTFilterLen is 10 s. Guards against a path that became longer and keeps its old RTT forever.
#[test]
fn the_smallest_rtt_is_forgotten_after_ten_seconds() {
    let mut bench = Bench::<Bbr3>::new();
    let rtt = Duration::from_millis(80);
    let known = [500, 5500, 9500, 10_500].map(|ms| {
        let now = Instant::from_nanos(ms * 1_000_000);
        bench.cc.update_min_rtt(&Ack { rtt: Some(rtt), ..Ack::of(now, 1) });
        bench.cc.min_rtt
    });
    assert_eq!(known, [RTT, RTT, RTT, rtt]);
}

/// As in BBR. Guards against a connection that never probes for its RTT again.
#[test]
fn the_first_data_that_are_delivered_end_a_restart() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.cc.idle_restart = true;
    bench.ack(RTT, 0, 41, |_, sample| (sample.interval, sample.delivered) = (None, 0));
    assert!(bench.cc.idle_restart, "nothing was");
    bench.round(41, 41);
    assert!(!bench.cc.idle_restart);
}

/// The saved window is never the one of a recovery or of ProbeRTT. Guards against a connection that continues with four
/// segments.
#[test]
fn a_small_window_of_a_recovery_or_of_probe_rtt_is_not_remembered() {
    let cases = [
        (CongestionState::Open, State::Startup, 4),
        (CongestionState::Recovery, State::Startup, 50),
        (CongestionState::Open, State::ProbeRtt, 50),
    ];
    for (prior_state, state, prior_cwnd) in cases {
        let mut bench = Bench::<Bbr3>::new();
        (bench.cc.prior_state, bench.cc.state, bench.cc.prior_cwnd) = (prior_state, state, 50);
        bench.cc.save_cwnd(4);
        assert_eq!(bench.cc.prior_cwnd, prior_cwnd, "{prior_state:?}");
    }
}

/// 5.4.1 with 5.3.4.3: an application was silent until ProbeRTT's 200 ms were over. Its first segment restores the
/// window. Guards against half a BDP for one more round trip, or, in another state, the end of a ProbeRTT that is not
/// under way.
#[test]
fn a_silence_may_end_probe_rtt() {
    for (state, after, cwnd) in [(State::ProbeRtt, State::Cruise, 80), (State::Drain, State::Drain, 20)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.fill();
        (bench.cc.state, bench.cc.probe_rtt_end, bench.cc.prior_cwnd) = (state, Some(bench.now), 80);
        bench.window.cwnd = 20;
        bench.rate.mark_app_limited(0);
        bench.cc.on_transmit_start(bench.now + STEP, &bench.rate, &mut bench.window);
        assert_eq!((bench.cc.state, bench.window.cwnd), (after, cwnd));
    }
}

/// 5.6.4.2: the window has room for three packets. At 100 Mbit/s a packet takes about a millisecond and has 8 segments:
/// 24. Guards against a window that leaves the path idle while a packet is assembled, or a window of four segments.
#[test]
fn the_window_has_room_for_three_packets() {
    let mut bench = Bench::<Bbr3>::new();
    bench.window.pacing_rate = goodqueue_units::Rate::from_bps(100_000_000);
    assert_eq!([0, 24, 25].map(|cap| bench.cc.quantized(cap, &bench.window)), [24, 24, 25]);
}
