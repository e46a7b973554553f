use super::*;

fn c4() -> (C4, Window) {
    (C4::new(&Config::default()), Window::new(&Config::default()))
}

/// "Variable Sensitivity": 0, 0.92 and 1 at the corners of the curve, and half way between two of them.
#[test]
fn sensitivity_follows_the_curve() {
    let at = |rate: f64| C4 { nominal_rate: rate, ..c4().0 }.sensitivity();
    for (rate, wanted) in [(10e3, 0.0), (50e3, 0.0), (525e3, 0.46), (1e6, 0.92), (5.5e6, 0.96), (2e7, 1.0)] {
        assert!((at(rate) - wanted).abs() < 1e-9, "{rate}: {}", at(rate));
    }
}

/// A congestion lowers the rate by beta in cruising, and not at all in other states.
#[test]
fn only_cruising_lowers_the_rate() {
    for (state, kept) in [(State::Cruising, 0.75), (State::Probing, 1.0), (State::Pushing, 1.0)] {
        let (mut cc, mut window) = c4();
        (cc.nominal_rate, cc.nominal_max_rtt, cc.running_min_rtt) = (1e6, 0.05, 0.05);
        cc.state = state;
        cc.on_congestion(0.25);
        assert_eq!((cc.state, cc.nominal_rate), (State::Recovery, kept * 1e6), "{state:?}");
        cc.set_window(&mut window);
        let gain = if state == State::Pushing { 0.875 } else { 0.9375 };
        assert_eq!(window.pacing_rate.map(Rate::as_bps), Some((8e6 * kept * gain) as u64));
    }
}

/// The RTT of a jitter is taken at once, and forgotten by an eighth per era; no era of a faster sender counts.
#[test]
fn the_nominal_rtt_remembers_jitter() {
    let (mut cc, _) = c4();
    (cc.state, cc.nominal_max_rtt, cc.running_min_rtt) = (State::Cruising, 0.05, 0.04);
    let mut era = |alpha: f64, rtt_ms: u64| {
        cc.alpha_previous = alpha;
        (cc.era_max_rtt, cc.era_min_rtt) = (0.0, f64::INFINITY);
        cc.take_rtt(Some(Duration::from_millis(rtt_ms)));
        cc.update_rtts();
        cc.nominal_max_rtt
    };
    assert!((era(1.0, 130) - 0.13).abs() < 1e-9);
    assert!((era(1.0, 50) - 0.12).abs() < 1e-9);
    assert!((era(1.25, 900) - 0.12).abs() < 1e-9);
    // The least is 50 ms, and then 7/8 of 50 and 1/8 of 900 ms. The nominal RTT is at most 250 ms above it.
    assert!((era(1.0, 900) - 0.40625).abs() < 1e-9);
}
