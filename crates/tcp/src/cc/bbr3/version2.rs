//! What version 2 does otherwise, on the bench of `super::tests`.

use super::bounds::INFINITE;
use super::tests::STEP;
use super::*;
use crate::cc::bbr2::{Bbr2, are_losses_too_many, inflight_at_loss};
use crate::cc::bench::Bench;

/// 10 segments in 50 ms are 2.3168 Mbit/s of payload. 99 % of that times 739/256 (2.887) is 6.621.
#[test]
fn pacing_begins_with_the_window_over_the_rtt_times_2_885() {
    let bench = Bench::<Bbr2>::new();
    assert!((bench.mbps() - 6.621).abs() < 0.001, "{}", bench.mbps());
}

/// A probe ends when 1.25 BDP are in flight, 52 segments of 41, and the two that Up adds. Guards against an end by the
/// plateau of the rate, as version 3 has it, and against one within the shortest RTT.
#[test]
fn a_probe_ends_at_a_quarter_above_the_bdp() {
    for (after, in_flight, ends) in
        [(STEP, 12, false), (STEP, 13, true), (Duration::from_millis(50), 13, false)]
    {
        let mut bench = Bench::<Bbr2>::new();
        for (segments, in_flight) in
            [(10, 60), (20, 60), (41, 60), (41, 60), (41, 60), (41, 100), (41, 40), (41, 0)]
        {
            bench.round(segments, in_flight);
        }
        while bench.cc.state != State::Up {
            bench.ack(STEP, 41, 0, |_, _| ());
        }
        bench.ack(after, 41, in_flight, |_, _| ());
        assert_eq!(bench.cc.state == State::Down, ends, "{after} {in_flight}");
    }
}

/// 5/256 of 51 segments are none, and of 52 one. Of 101 segments in flight the third loss is over the threshold: two of
/// 100 were lost before. The first one alone leaves room for two more.
#[test]
fn losses_are_counted_in_256ths() {
    assert_eq!(
        [(1, 51), (1, 52), (2, 52)].map(|(lost, flight)| are_losses_too_many(lost, flight)),
        [true, false, true]
    );
    assert_eq!([inflight_at_loss(101, 3), inflight_at_loss(101, 1)], [100, 102]);
}

/// All segments of a round on a path of 50 ms are marked: a third of alpha is cut from both. Without `anyrtt` nothing
/// is.
#[test]
fn marks_lower_both_short_term_bounds_on_a_path_that_is_asked_for() {
    for any_rtt in [false, true] {
        let mut bench = Bench::<Bbr2>::new();
        for (segments, in_flight) in
            [(10, 60), (20, 60), (41, 60), (41, 60), (41, 60), (41, 100), (41, 40), (41, 0)]
        {
            bench.round(segments, in_flight);
        }
        assert_eq!(bench.cc.state, State::Cruise);
        *bench.cc.ecn = Ecn::new(any_rtt);
        let (bw, cwnd) = (bench.cc.bw(), bench.window.cwnd);
        bench.ack(STEP, 41, 0, |ack, sample| (ack.marked, sample.delivered_ce) = (41, 41));
        let left = bench.cc.ecn.left();
        let expected = if any_rtt { (bw.times(left), cwnd * left / 256) } else { (bw, INFINITE) };
        assert_eq!((bench.cc.bw(), bench.cc.bounds.inflight_shortterm), expected);
    }
}
