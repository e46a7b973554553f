use super::*;
use crate::discipline::Discipline;
use crate::packet::Plain;
use crate::sched::dualpi2::tests::{Noted, assert_close, build, packet};
use crate::sched::dualpi2::{DualPi2, Law, params};
use alloc::vec::Vec;
use goodqueue_units::Ecn;

/// Returns the RFC's law with this p'.
fn rfc(p: f64) -> Rfc9332 {
    match build("variant rfc9332").law {
        Law::Rfc9332(mut law) => {
            law.p = p;
            law
        }
        Law::Linux(_) => unreachable!(),
    }
}

/// A.1, lines 8 to 14: Tupdate = min(15 ms, 100/3 ms), alpha = 0.1 * 0.015 / 0.1^2 = 0.15, beta = 0.3 / 0.1 = 3. Then
/// 20 ms after 10 ms add 0.15 * 0.005 + 3 * 0.01 = 0.03075 to p'.
#[test]
fn the_rfc_s_controller_is_seconds() {
    let args = Args::parse(const { &DualPi2::<Plain>::SPEC }, "variant rfc9332").unwrap();
    let control = params::control(&args).unwrap();
    assert_eq!(control.tupdate, Duration::from_millis(15));
    assert_close(control.alpha, 0.15, "alpha");
    assert_close(control.beta, 3.0, "beta");
    let mut law = rfc(0.0);
    law.update(Duration::from_millis(10)); // 0.15 * -0.005 + 3 * 0.01
    assert_close(law.p, 0.029_25, "p'");
    law.update(Duration::from_millis(20));
    assert_close(law.p, 0.06, "p'");
    law.update(Duration::ZERO);
    assert_close(law.p, 0.0, "p' below 0");
}

fn passes(law: &mut Rfc9332, side: Side, ecn: Ecn, us: u64, low_packets: usize) -> (bool, bool) {
    let left = Left { side, sojourn: Duration::from_micros(us), bytes: 9000, low_packets, steps: false };
    let (mut packet, mut owner) = (packet(0, ecn), Noted::default());
    let passed = law.passes(&mut packet, &left, &mut owner);
    assert_eq!(owner.draws, 0, "no dice");
    (passed, !owner.marked.is_empty())
}

/// A.1, recur: likelihoods add up, and a sum above 1 is a hit and costs 1. Three quarters: 0.75, 1.5 hit, 1.25 hit,
/// 1.0, 1.75 hit. Here p' = 0.375 and k = 2 in the L4S queue.
#[test]
fn recur_spaces_marks_evenly() {
    let mut law = rfc(0.375);
    let marks: Vec<_> = (0..5).map(|_| passes(&mut law, Side::Low, Ecn::Ect1, 0, 9).1).collect();
    assert_eq!(marks, [false, true, true, false, true]);
}

/// A.1, laqm: 0 up to 800 us, a half at 1 ms, 1 from 1.2 ms. A likelihood of 1 hits from the second packet on,
/// because the sum must exceed 1. With one packet left behind, the ramp does not apply (A.2). p_L is the larger of
/// the ramp and k p'.
#[test]
fn the_ramp_is_combined_with_the_coupled_probability() {
    let marks = |p, us, left| {
        let mut law = rfc(p);
        (0..8).filter(|_| passes(&mut law, Side::Low, Ecn::Ect1, us, left).1).count()
    };
    assert_eq!([800, 1000, 1200].map(|us| marks(0.0, us, 2)), [0, 3, 7]);
    assert_eq!([800, 1000, 1200].map(|us| marks(0.0, us, 1)), [0, 0, 0]);
    assert_eq!(marks(0.125, 1000, 2), 3, "the ramp's half, not the quarter added");
    assert_eq!(marks(0.375, 1000, 2), 5, "k p' of three quarters");
}

/// p' = 0.25, p_C = 1/16: the 17th packet is the first hit. Not-ECT must be dropped, ECT(0) marked. From p_C = p_Cmax
/// = 1/4 on (p' = 0.5) both must be dropped (A.2).
#[test]
fn classic_drops_with_the_square() {
    let first = |p, ecn| {
        let mut law = rfc(p);
        (1..).find_map(|n| match passes(&mut law, Side::Classic, ecn, 0, 9) {
            (true, false) => None,
            fate => Some((n, fate)),
        })
    };
    assert_eq!(first(0.25, Ecn::NotEct), Some((17, (false, false))));
    assert_eq!(first(0.25, Ecn::Ect0), Some((17, (true, true))));
    assert_eq!(first(0.5, Ecn::Ect0), Some((5, (false, false))));
}

/// A.2: p_Cmax is 1 / k^2. With k = 1 that is 1, so p_C = 0.5625 must still mark ECT(0). Drops from 1 / (k + k) on
/// would be wrong.
#[test]
fn classic_is_marked_up_to_the_inverse_of_k_squared() {
    let Law::Rfc9332(mut law) = build("variant rfc9332 coupling_factor 1").law else { unreachable!() };
    law.p = 0.75;
    let fates: Vec<_> = (0..2).map(|_| passes(&mut law, Side::Classic, Ecn::Ect0, 0, 9)).collect();
    assert_eq!(fates, [(true, false), (true, true)]);
}

/// A.2, overload: from k p' = 1 on the L4S queue drops with p'^2 and marks the rest. At p' = 0.5 one call adds 1/4
/// and, unless that dropped, 1. So 1.25 marks (0.25 stays), then 0.5 + 1, 0.75 + 1, 1.0 + 1 mark, and 1.25 drops.
#[test]
fn saturation_drops_l4s_too() {
    let mut law = rfc(0.5);
    let fates: Vec<_> = (0..5).map(|_| passes(&mut law, Side::Low, Ecn::Ect1, 0, 9)).collect();
    assert_eq!(fates, [(true, true), (true, true), (true, true), (true, true), (false, false)]);
}
