use super::*;
use crate::cc::bbr3::Bbr3;
use crate::cc::bbr3::bounds::INFINITE;
use crate::cc::bench::{Bench, RTT};
use goodqueue_units::Duration;
use std::vec::Vec;

/// 5.3.1.2 and 5.3.2. 41 segments in 50 ms are 9.4989 Mbit/s. The pacing rate is half of 99 % of that.
#[test]
fn startup_ends_on_a_plateau_and_drain_paces_at_half() {
    let mut bench = Bench::<Bbr3>::new();
    bench.fill();
    assert_eq!(bench.cc.state, State::Drain);
    assert!((bench.mbps() - 9.4989 * 0.99 / 2.0).abs() < 0.001, "{}", bench.mbps());
    bench.round(41, 42); // still one segment above the BDP of 41
    assert_eq!(bench.cc.state, State::Drain);
    bench.round(41, 41); // low enough to leave Down as well
    assert_eq!(bench.cc.state, State::Cruise);
    assert!((bench.mbps() - 9.4989 * 0.99).abs() < 0.001, "{}", bench.mbps());
}

/// 5.3.2: Drain ends after more than three rounds, however much is in flight.
#[test]
fn drain_gives_up_after_three_rounds() {
    let mut bench = Bench::<Bbr3>::new();
    bench.fill();
    let states: Vec<State> = (0..4)
        .map(|_| {
            bench.round(41, 60);
            bench.cc.state
        })
        .collect();
    assert_eq!(states, [State::Drain, State::Drain, State::Drain, State::Down]);
    assert!((bench.mbps() - 9.4989 * 0.99 * 230.0 / 256.0).abs() < 0.001, "{}", bench.mbps()); // 0.90
}

/// 5.3.1.3: six ACKs with losses in a round, more than 2 % of the flight, in fast recovery. Then the bound is the
/// larger of the BDP (the largest rate, 60 segments in 50 ms, times 50 ms) and what a round delivered.
#[test]
fn startup_ends_by_losses_in_recovery() {
    for (events, state) in [(5, State::Startup), (6, State::Drain)] {
        let mut bench = Bench::<Bbr3>::new();
        [10, 20, 40, 60].iter().for_each(|&segments| bench.round(segments, 80));
        let losing = |ack: &mut Ack, sample: &mut RateSample| {
            ack.state = CongestionState::Recovery;
            (sample.losses, sample.lost, sample.tx_in_flight, sample.prior_delivered) = (1, 3, 100, 0);
        };
        for _ in 0..events - 1 {
            bench.ack(Duration::from_millis(1), 1, 80, losing);
        }
        bench.ack(RTT, 60, 80, |ack, sample| {
            let prior = sample.prior_delivered;
            losing(ack, sample);
            sample.prior_delivered = prior;
        });
        assert_eq!(bench.cc.state, state, "{events}");
        assert_eq!(bench.cc.bounds.inflight_longterm, if events == 6 { 60 } else { INFINITE });
    }
}

/// 5.3.1.3 is for a Startup that has not filled the path. Guards against a bound on the flight from losses in ProbeRTT,
/// or a bound that comes with the plateau of the rate and stays for the whole connection.
#[test]
fn losses_end_startup_and_nothing_else() {
    let cases =
        [(State::Startup, false, true), (State::Startup, true, false), (State::ProbeRtt, false, false)];
    for (state, is_full, bounded) in cases {
        let mut bench = Bench::<Bbr3>::new();
        (bench.cc.state, bench.cc.full_bw_reached) = (state, is_full);
        (bench.cc.loss_events, bench.cc.bounds.loss_round_start) = (FULL_LOSSES, true);
        let mut sample = bench.rate.sample(bench.now, 1, 0, RTT);
        (sample.lost, sample.tx_in_flight) = (3, 100);
        let ack = Ack { state: CongestionState::Recovery, ..Ack::of(bench.now, 1) };
        bench.cc.check_startup_losses(&ack, &sample, &bench.window);
        assert_eq!(bench.cc.bounds.inflight_longterm != INFINITE, bounded, "{state:?} {is_full}");
    }
}
