use super::*;
use crate::cc::bbr3::Bbr3;
use crate::cc::bench::{Bench, RTT};

/// 5.3.3.7: while the bound limits the flight, a rate that does not grow says nothing about the path. Guards
/// against a probe that ends before it has asked for more than the bound, or a probe without a full window that
/// never ends.
#[test]
fn a_probe_goes_on_while_the_bound_limits_it() {
    for (is_cwnd_limited, cwnd, ends) in [(true, 60, false), (true, 59, true), (false, 60, true)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.bounds.inflight_longterm = 60;
        bench.window.cwnd = cwnd;
        bench.cc.full_bw_now = true;
        let sample = bench.rate.sample(bench.now, 1, 0, RTT);
        let ack = Ack { is_cwnd_limited, in_flight: 40, ..Ack::of(bench.now, 1) };
        assert_eq!(bench.cc.is_time_to_go_down(&ack, &sample, &bench.window), ends);
    }
}

/// 5.3.3.7: a probe does not exceed a flight that was too high before. Guards against a probe that stops short of
/// that flight, or at once.
#[test]
fn a_probe_ends_where_it_was_too_much_before() {
    for (was_too_high, in_flight, ends) in [(true, 59, false), (true, 60, true), (false, 60, false)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.bounds.inflight_longterm = 60;
        bench.cc.probing.was_too_high = was_too_high;
        let sample = bench.rate.sample(bench.now, 1, 0, RTT);
        let ack = Ack { in_flight, ..Ack::of(bench.now, 1) };
        assert_eq!(bench.cc.is_time_to_go_down(&ack, &sample, &bench.window), ends);
    }
}

/// 5.3.3.9: the bound rises while it limits the flight, and never up to "no bound". Guards against a bound that
/// rises without need, or never.
#[test]
fn the_bound_is_raised_by_those_who_reach_it() {
    let raised = |is_cwnd_limited, cwnd, bound| {
        let mut bench = Bench::<Bbr3>::new();
        (bench.window.cwnd, bench.cc.bounds.inflight_longterm) = (cwnd, bound);
        bench.cc.probing.acked_per_increment = 1;
        let ack = Ack { is_cwnd_limited, ..Ack::of(bench.now, 3) };
        bench.cc.probe_upward(&ack, &bench.window);
        bench.cc.bounds.inflight_longterm
    };
    assert_eq!([raised(true, 60, 60), raised(true, 61, 60)], [63; 2]);
    assert_eq!([raised(true, 59, 60), raised(false, 60, 60)], [60; 2]);
    assert_eq!(raised(true, INFINITE, INFINITE - 2), INFINITE - 1);
}

/// Gives an ACK of 10 segments at the start of a round, on a path of `rtt`: `delivered_ce` of them are marked, and
/// `lost` lost.
fn adapt(bench: &mut Bench<Bbr3>, rtt: Duration, delivered_ce: u64, lost: u64, is_app_limited: bool) {
    let ack = Ack { in_flight: 10, ..Ack::of(bench.now, 10) };
    bench.cc.ecn.on_ack(&ack, rtt);
    let mut sample = bench.rate.sample(bench.now, 10, 0, RTT);
    (sample.delivered, sample.delivered_ce, sample.lost) = (10, delivered_ce, lost);
    (sample.tx_in_flight, sample.is_app_limited) = (10, is_app_limited);
    bench.cc.round_start = true;
    bench.cc.adapt_longterm(&ack, &sample, &bench.rate, &bench.window);
}

/// Eight of a probe's ten segments are marked on a short path: too many. Losses are judged once, when they are
/// found. It would be wrong to judge the losses here again, or marks on a long path, or marks of data that was not
/// sent as a probe.
#[test]
fn marks_of_a_probe_are_too_many_on_short_paths() {
    let short = Duration::from_millis(5);
    let cases = [
        (short, 8, 0, true, true),
        (short, 0, 5, true, false),
        (short, 8, 0, false, false),
        (RTT, 8, 5, true, false),
    ];
    for (rtt, marked, lost, is_sample, too_high) in cases {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.probing.is_sample = is_sample;
        adapt(&mut bench, rtt, marked, lost, false);
        assert_eq!(bench.cc.probing.was_too_high, too_high, "{marked} {lost} {is_sample}");
    }
}

/// 5.3.3.9: the last ACK of a probe turns the cycle's maximum into the maximum of the last cycle, unless the
/// application limited the rate. Guards against a maximum that is forgotten because there was nothing to send.
#[test]
fn a_cycle_counts_where_the_path_was_the_limit() {
    for (is_app_limited, left) in [(false, 50), (true, 100)] {
        let mut bench = Bench::<Bbr3>::new();
        bench.cc.state = State::Cruise;
        bench.cc.probing.ack_phase = AckPhase::ProbeStopping;
        bench.cc.bounds.take(Bandwidth(100));
        adapt(&mut bench, RTT, 0, 0, is_app_limited);
        bench.cc.bounds.take(Bandwidth(50));
        bench.cc.bounds.advance();
        assert_eq!(bench.cc.bounds.max_bw(), Bandwidth(left));
    }
}

/// 5.3.3.8.3: the next probe comes after the wait, by the clock. Guards against a probe only at one exact
/// nanosecond, or none before Reno's rounds are over.
#[test]
fn it_is_time_to_probe_after_the_wait() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cc.bounds.take(Bandwidth::of(1000, RTT));
    (bench.cc.probing.begun, bench.cc.probing.wait) = (bench.now, LEAST_WAIT);
    let end = bench.now + LEAST_WAIT;
    let times = [end, end + Duration::from_nanos(1), end + RTT];
    assert_eq!(times.map(|now| bench.cc.is_time_to_probe(now, &bench.window)), [false, true, true]);
}
