//! BBR alone, fed with samples by hand: segments of 1448 bytes, RTT 50 ms unless a test says otherwise.

use super::*;
use crate::cc::bench::{Bench, RTT};
use std::vec::Vec;

impl Bench<Bbr> {
    /// Plays Startup to its end, over a path of 41 segments per round trip.
    fn fill(&mut self) {
        for segments in [10, 20, 41, 41, 41] {
            self.round(segments, 60);
            assert_eq!(self.cc.mode, Mode::Startup);
        }
        self.round(41, 100);
    }
}

/// 10 segments in 50 ms are 2.3168 Mbit/s of payload. 99 % of that times 739/256 (2.887) is 6.621.
#[test]
fn pacing_begins_with_the_window_over_the_rtt_times_the_high_gain() {
    let bench = Bench::<Bbr>::new();
    assert!((bench.mbps() - 6.621).abs() < 0.001, "{}", bench.mbps());
    assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88)); // 2.887 and 0.344
}

/// 4.3.2: the first three rounds grow by a quarter and more, the next three do not. Guards against two rounds, or four.
#[test]
fn startup_ends_when_three_rounds_bring_no_growth() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    assert_eq!(bench.cc.mode, Mode::Drain);
    // 41 segments in 50 ms are 9.4989 Mbit/s; 99 % of it times 88/256: 3.2326 Mbit/s.
    assert!((bench.mbps() - 3.2326).abs() < 0.001, "{}", bench.mbps());
    // The flight that Drain aims for: the BDP of 41 and three packets of two, made even.
    assert_eq!(bench.window.ssthresh, 48);
}

/// 4.3.4.2: after Drain the cycle starts at any phase except 3/4. Each phase lasts more than an RTT.
#[test]
fn the_cycle_has_a_phase_with_more_one_with_less_and_six_with_as_much() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    assert_eq!(bench.cc.mode, Mode::ProbeBw);
    assert_ne!(bench.cc.pacing_gain, UNIT * 3 / 4);
    let mut gains: Vec<u32> = std::vec![];
    for _ in 0..24 {
        let inflight = if bench.cc.pacing_gain > UNIT { 60 } else { 42 };
        bench.ack(RTT + Duration::from_millis(1), 41, inflight, |_, _| ());
        gains.push(bench.cc.pacing_gain);
    }
    let up = gains.iter().position(|&gain| gain == 320).unwrap();
    assert_eq!(gains[up..up + 9], [320, 192, 256, 256, 256, 256, 256, 256, 320]);
    // The window: twice the BDP of 41 segments, 41 more because an ACK of a whole round is a bunch, and three packets
    // of two, made even. The phase above the bandwidth adds two.
    assert_eq!(bench.window.cwnd, if bench.cc.pacing_gain > UNIT { 132 } else { 130 });
}

/// The same, without the 41 segments of a bunch: Linux has that allowance since 5.1.
#[test]
fn without_aggregation_a_bunch_adds_nothing_to_the_window() {
    let mut bench = Bench::<Bbr>::new();
    bench.cc.no_aggregation = true;
    bench.fill();
    bench.round(41, 48);
    (0..24).for_each(|_| bench.ack(RTT + Duration::from_millis(1), 41, 60, |_, _| ()));
    assert_eq!(bench.window.cwnd, if bench.cc.pacing_gain > UNIT { 90 } else { 88 });
}

/// 4.3.4.3: the phase above the bandwidth lasts until its target is in flight (51.25, and 6, made even: 58, and 2), or
/// until something is lost.
#[test]
fn the_phase_with_more_waits_for_its_effect_or_a_loss() {
    for losses in [0, 1] {
        let mut bench = Bench::<Bbr>::new();
        bench.fill();
        bench.cc.mode = Mode::ProbeBw;
        (bench.cc.cycle, bench.cc.pacing_gain) = (0, 320);
        for _ in 0..3 {
            bench.ack(RTT * 2, 10, 40, |_, _| ());
            assert_eq!(bench.cc.cycle, 0);
        }
        bench.ack(RTT, 10, if losses == 0 { 50 } else { 20 }, |_, sample| sample.losses = losses);
        assert_eq!(bench.cc.cycle, 1, "{losses}");
    }
}

/// 4.3.5: after ten seconds without a smaller RTT the window is 4 for 200 ms and a round. Then the earlier window
/// returns.
#[test]
fn after_ten_seconds_the_window_falls_to_four_for_200_ms() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    let late = |ack: &mut Ack, _: &mut RateSample| ack.rtt = Some(RTT + Duration::from_millis(10));
    while bench.now < Instant::ZERO + Duration::from_secs(10) {
        bench.ack(RTT, 41, 42, late);
        assert_eq!(bench.cc.mode, Mode::ProbeBw);
    }
    let cwnd = bench.window.cwnd;
    bench.ack(RTT, 41, 42, late);
    assert_eq!((bench.cc.mode, bench.window.cwnd, bench.cc.pacing_gain), (Mode::ProbeRtt, 4, UNIT));
    assert_eq!(bench.cc.min_rtt, RTT + Duration::from_millis(10), "the old one has expired");
    bench.ack(RTT, 38, 4, |_, _| ()); // few enough in flight: the 200 ms begin
    assert_eq!(bench.cc.min_rtt, RTT);
    for _ in 0..4 {
        bench.ack(RTT, 4, 4, |_, sample| sample.is_app_limited = true);
        assert_eq!((bench.cc.mode, bench.window.cwnd), (Mode::ProbeRtt, 4));
    }
    bench.ack(RTT, 4, 4, |_, sample| sample.is_app_limited = true);
    assert_eq!(bench.cc.mode, Mode::ProbeBw);
    assert!(bench.window.cwnd.abs_diff(cwnd) <= 12, "{} {cwnd}", bench.window.cwnd);
}

/// 4.2.3.4: one round sends one segment per segment delivered. Then the window grows again, and after recovery the
/// earlier window returns.
#[test]
fn recovery_begins_with_packet_conservation_and_ends_with_the_old_window() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    bench.round(41, 42);
    let before = bench.window.cwnd;
    assert_eq!(
        bench.cc.ssthresh(&Congestion { now: bench.now, cwnd: before, cause: crate::Cause::Loss }),
        48,
        "it stays"
    );
    let recovering = |ack: &mut Ack, _: &mut RateSample| ack.state = CongestionState::Recovery;
    // `prior_delivered` is 0 so that no round begins with these two ACKs: a new round ends packet conservation.
    bench.ack(Duration::from_millis(1), 1, 30, |ack, sample| {
        recovering(ack, sample);
        sample.losses = 5;
        sample.prior_delivered = 0;
    });
    assert_eq!((bench.cc.packet_conservation, bench.window.cwnd), (true, 31));
    bench.ack(Duration::from_millis(1), 2, 29, |ack, sample| {
        recovering(ack, sample);
        sample.prior_delivered = 0;
    });
    assert_eq!(bench.window.cwnd, 31);
    bench.round(2, 40);
    assert!(bench.window.cwnd >= before, "{} {before}", bench.window.cwnd);
}

/// Linux: two intervals of at least four rounds, each with a fifth lost. Here each round of 50 ms delivers 20 segments
/// and loses 5. Then BBR uses that rate for 48 rounds, without probing.
#[test]
fn a_policer_is_found_by_two_like_intervals_with_losses() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    let mut rounds = 0;
    while bench.cc.policer.bandwidth().is_none() {
        (0..5).for_each(|_| bench.rate.on_lost(0));
        bench.ack(RTT, 20, 42, |_, sample| sample.losses = 5);
        rounds += 1;
        assert!(rounds <= 10, "never found");
    }
    assert_eq!(rounds, 8); // the first interval begins with the first loss; its fourth round is the first of the second
    let mbps = bench.cc.bandwidth().bps(1448) as f64 / 1e6;
    assert!((mbps - 4.6336).abs() < 0.01, "{mbps}"); // 20 · 1448 · 8 bits in 50 ms
    assert_eq!(bench.cc.pacing_gain, UNIT);
    for _ in 0..48 {
        assert!(bench.cc.policer.bandwidth().is_some());
        bench.round(20, 42);
    }
    assert!(bench.cc.policer.bandwidth().is_none());
}

/// Three losses per twenty segments are no policer: a policer needs a fifth.
#[test]
fn few_losses_are_no_policer() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    for _ in 0..20 {
        (0..3).for_each(|_| bench.rate.on_lost(0));
        bench.ack(RTT, 20, 42, |_, sample| sample.losses = 3);
        assert!(bench.cc.policer.bandwidth().is_none());
    }
}

/// 4.3.4.3: only the phase below the bandwidth ends early. Guards against several phases within an RTT while little is
/// in flight.
#[test]
fn a_phase_with_as_much_lasts_an_rtt_however_little_is_in_flight() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    (bench.cc.cycle, bench.cc.pacing_gain) = (2, UNIT);
    bench.ack(Duration::from_millis(1), 1, 2, |_, _| ());
    assert_eq!(bench.cc.cycle, 2);
}

/// 4.2.3.2: in Startup a window above its target does not grow, except for the first ten segments, when nothing is
/// known. The SYN is one of them.
#[test]
fn a_window_above_its_target_grows_with_the_first_segments_only() {
    for (segments, cwnd) in [(8, 1008), (9, 1000)] {
        let mut bench = Bench::<Bbr>::new();
        bench.window.cwnd = 1000;
        bench.round(segments, 60);
        assert_eq!(bench.window.cwnd, cwnd);
    }
}

/// 4.3.4.4. Guards against a burst at 5/4 or at the high gain after a silence.
#[test]
fn after_a_silence_it_goes_on_at_the_rate_it_knew() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    (bench.cc.cycle, bench.cc.pacing_gain) = (0, 320);
    bench.rate.mark_app_limited(0);
    bench.cc.on_transmit_start(bench.now, &bench.rate, &mut bench.window);
    assert!((bench.mbps() - 9.4989 * 0.99).abs() < 0.001, "{}", bench.mbps());
    assert!(bench.cc.idle_restart);
}

/// Two rounds without growth, then a needless loss or a timeout, then a third round: the path may carry more after all.
#[test]
fn a_timeout_and_an_undo_let_startup_look_again() {
    let told: [fn(&mut Bbr); 3] = [|_| (), Bbr::on_rto, Bbr::on_undo];
    let modes = told.map(|tell| {
        let mut bench = Bench::<Bbr>::new();
        [10, 20, 41, 41, 41].iter().for_each(|&segments| bench.round(segments, 60));
        tell(&mut bench.cc);
        bench.round(41, 100);
        bench.cc.mode
    });
    assert_eq!(modes, [Mode::Drain, Mode::Startup, Mode::Startup]);
}

/// 4.2.3.4. Guards against slow start after each timeout. The next ACK does the rest of an undo.
#[test]
fn the_window_returns_after_a_timeout() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.round(41, 48);
    bench.round(41, 42);
    let before = bench.window.cwnd;
    bench.cc.ssthresh(&Congestion { now: bench.now, cwnd: before, cause: crate::Cause::Timeout });
    bench.cc.on_rto();
    bench.window.cwnd = 1;
    assert_eq!(bench.cc.undo_cwnd(&bench.window, before), 1);
    bench.round(41, 42);
    assert!(bench.window.cwnd >= before, "{} {before}", bench.window.cwnd);
}

#[test]
fn the_probe_shows_what_ss_shows() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    let mut shown: Vec<(&str, f64)> = std::vec![];
    bench.cc.probe(&mut |name, value| shown.push((name, (value * 1000.0).round() / 1000.0)));
    assert_eq!(shown, [("bw_mbps", 9.499), ("mrtt_ms", 50.0), ("pacing_gain", 0.344), ("cwnd_gain", 2.887)]);
}

/// 4.3.4.2: any of the eight phases except the second, which drains the queue of the first. Guards against a connection
/// that begins below the bandwidth, to drain a queue that it has not made.
#[test]
fn no_connection_begins_with_the_phase_that_drains() {
    let begun: std::collections::BTreeSet<_> = (0..200)
        .map(|seed| {
            let mut bench = Bench::<Bbr>::new();
            bench.cc.dice = Dice::new(seed);
            bench.cc.enter_probe_bw(bench.now);
            bench.cc.cycle
        })
        .collect();
    assert_eq!(Vec::from_iter(begun), [0, 2, 3, 4, 5, 6, 7]);
}

/// PROBE_RTT waits while a connection restarts after a silence. Guards against a connection that never probes for its
/// RTT again.
#[test]
fn the_first_data_that_are_delivered_end_a_restart() {
    let mut bench = Bench::<Bbr>::new();
    bench.fill();
    bench.cc.idle_restart = true;
    bench.ack(RTT, 0, 41, |_, sample| sample.interval = None);
    assert!(bench.cc.idle_restart, "nothing was");
    bench.round(41, 41);
    assert!(!bench.cc.idle_restart);
}

/// The saved window is never the one of a recovery or of PROBE_RTT. Guards against a connection that continues with
/// four segments.
#[test]
fn a_small_window_of_a_recovery_or_of_probe_rtt_is_not_remembered() {
    let cases = [
        (CongestionState::Open, Mode::Startup, 4),
        (CongestionState::Recovery, Mode::Startup, 50),
        (CongestionState::Open, Mode::ProbeRtt, 50),
    ];
    for (prior_state, mode, prior_cwnd) in cases {
        let mut bench = Bench::<Bbr>::new();
        (bench.cc.prior_state, bench.cc.mode, bench.cc.prior_cwnd) = (prior_state, mode, 50);
        bench.cc.save_cwnd(4);
        assert_eq!(bench.cc.prior_cwnd, prior_cwnd, "{prior_state:?}");
    }
}

/// 4.2.2. Guards against bursts of two segments below the rate at which one segment takes 10 ms, or single segments,
/// with their costs, above it.
#[test]
fn a_packet_has_one_segment_below_1_2_mbit_s() {
    let least = [1_199_999, 1_200_000, 1_200_001].map(|bps| {
        let mut bench = Bench::<Bbr>::new();
        bench.window.pacing_rate = goodqueue_units::Rate::from_bps(bps);
        bench.cc.set_pacing_rate(Bandwidth::ZERO, UNIT, Some(RTT), &mut bench.window);
        bench.window.min_packet
    });
    assert_eq!(least, [1, 2, 2]);
}
