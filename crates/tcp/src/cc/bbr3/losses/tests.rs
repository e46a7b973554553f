use super::*;
use crate::cc::CongestionControl;
use crate::cc::bbr3::Bbr3;
use crate::cc::bbr3::bounds::INFINITE;
use crate::cc::bbr3::tests::STEP;
use crate::cc::bench::{Bench, RTT};

/// 5.5.10.2 by hand: the last of 101 segments in flight is lost. Before it 100 were in flight, and 2 % of them,
/// two, might be lost. With no loss before, another 2/0.98 would have passed the threshold; with one loss 1/0.98,
/// with two or more nothing.
#[test]
fn losses_pass_the_threshold_within_a_segment() {
    assert_eq!([1, 2, 3, 9].map(|lost| inflight_at_loss(101, lost)), [102, 101, 100, 100]);
    assert_eq!((inflight_at_loss(1, 1), inflight_at_loss(4901, 1)), (0, 5000));
}

/// 5.5.11.2: a probe that spurious losses ended is resumed. Guards against a running probe that starts again, or a
/// ProbeRTT that ends early.
#[test]
fn an_undo_takes_up_the_probe_that_was_ended() {
    let after = [State::Down, State::Cruise, State::Up, State::ProbeRtt].map(|state| {
        let mut bench = Bench::<Bbr3>::new();
        (bench.cc.state, bench.cc.undo_state) = (state, Some(State::Up));
        bench.cc.return_from_needless_recovery(&bench.rate);
        bench.cc.state
    });
    assert_eq!(after, [State::Refill, State::Refill, State::Up, State::ProbeRtt]);
}

/// 5.5.10.2: a probe that loses more than 2 % lowers the bound to the flight at which losses passed 2 %, and ends. The
/// bound is at least 0.7 of the flight aimed for. With 100 in flight, 3 losses are too many: the third passed the
/// threshold, at 99.
#[test]
fn losses_of_a_probe_set_the_bound_and_end_it() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.probe();
    bench.lose(100, 2);
    assert_eq!(
        (bench.cc.state, bench.cc.bounds.inflight_longterm),
        (State::Up, INFINITE),
        "2 % are not too many"
    );
    bench.lose(100, 3);
    assert_eq!((bench.cc.state, bench.cc.bounds.inflight_longterm), (State::Down, 99));
    // 5.3.3.1: the headroom is 15 %, 14 whole segments.
    assert_eq!(bench.cc.bounds.with_headroom(), 85);
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.probe();
    bench.lose(20, 1);
    assert_eq!(bench.cc.bounds.inflight_longterm, 28, "0.7 of 41, not 19 and a bit");
}

/// 5.5.11.2: after spurious losses the bounds are restored, and Startup continues.
#[test]
fn what_needless_losses_did_is_undone() {
    let mut bench = Bench::<Bbr3>::new();
    bench.cruise();
    bench.probe();
    bench.lose(100, 3);
    assert_eq!(bench.cc.state, State::Down);
    bench.cc.on_undo();
    bench.ack(STEP, 41, 41, |_, _| ());
    assert_eq!((bench.cc.state, bench.cc.bounds.inflight_longterm), (State::Refill, INFINITE));
}

/// 5.5.11.2: the losses that ended Startup were spurious, so Startup continues. It would be wrong to fill the path at
/// the speed of probes.
#[test]
fn startup_goes_on_after_needless_losses() {
    let mut bench = Bench::<Bbr3>::new();
    bench.fill();
    bench.cc.undo_state = Some(State::Startup);
    bench.cc.on_undo();
    bench.round(41, 60);
    assert_eq!((bench.cc.state, bench.cc.full_bw_reached), (State::Startup, false));
}

/// 5.5.10.2: BBR.LossThresh is 2 %. Guards against a bound for a loss of exactly 2 %.
#[test]
fn a_loss_of_more_than_a_fiftieth_is_too_much() {
    let too_high = [49, 50].map(|tx_in_flight| {
        let mut bench = Bench::<Bbr3>::new();
        let sample = RateSample { lost: 1, tx_in_flight, ..bench.rate.sample(bench.now, 1, 0, RTT) };
        bench.cc.is_inflight_too_high(&sample)
    });
    assert_eq!(too_high, [true, false]);
}
