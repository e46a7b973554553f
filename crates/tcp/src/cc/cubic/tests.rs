use super::*;
use crate::Config;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn ack(ms: u64, counted: u32) -> Ack {
    Ack { rtt: Some(Duration::from_millis(100)), ..Ack::of(at(ms), counted) }
}

fn window(stack: Stack, cwnd: u32, ssthresh: u32) -> Window {
    Window { cwnd, ssthresh, ..Window::new(&Config { stack, ..Config::default() }) }
}

fn congestion(cwnd: u32) -> Congestion {
    Congestion { now: at(0), cwnd, cause: Cause::Loss }
}

#[test]
fn cube_roots_are_exact() {
    for root in [0_u64, 1, 2, 3, 10, 999, 65_535, 2_097_151] {
        let cube = root.pow(3);
        assert_eq!(cube_root(cube), root);
        assert_eq!(cube_root(cube + 1), root.max(1));
        assert!(root == 0 || cube_root(cube - 1) == root - 1);
    }
    assert_eq!(cube_root(u64::MAX), 2_642_245);
}

/// Linux's `cubic_root`, by hand, of 2^40 / 410 = 2 681 735 677 times the segments. One segment has 32 bits: 32 · 84 /
/// 256 less 1 is 9, and 27 bits less are 19. The guess for 19 is 178, times 2^9 / 64 is 1424. One step of Newton's
/// method, with 2 681 735 677 / (1424 · 1423) = 1323: 2 · 1424 + 1323 = 4171, of which 341/1024 are 1388 (the root is
/// 1389.3). Ten segments: 35 bits, 24, guess 191 · 16 = 3056, 2 · 3056 + 2872 = 8984, and 2991 (2993.2). 100 segments:
/// 38 bits, 31, guess 209 · 32 = 6688, 2 · 6688 + 5996 = 19 372, and 6451 (6448.6). 300 segments: 40 bits, 11, guess
/// 148 · 64 = 9472, 2 · 9472 + 8968 = 27 912, and 9294 (9300.6).
#[test]
fn k_is_linuxs_cube_root() {
    for (below, k) in [(0, 0), (1, 1388), (10, 2991), (100, 6451), (300, 9294)] {
        let mut c = Cubic { w_max: 1000, ..Cubic::of(Stack::Linux6_1) };
        c.begin_epoch(at(0), 1000 - below, 1);
        assert_eq!(c.k, k, "{below}");
    }
}

/// Section 4.2 with floating point: W_max 1000, reduced to 700. K is 9294/1024 s, 0.1 % less than cbrt(300 / 0.4). The
/// integers have C = 410/1024 = 0.40039 and ticks of 1/1024 s: 0.1 % and two segments are allowed.
#[test]
fn k_and_the_window_are_those_of_the_formula() {
    let mut c = Cubic::of(Stack::Linux6_1);
    assert_eq!(c.ssthresh(&congestion(1000)), 700);
    c.delay_min = Duration::from_millis(100);
    c.update(at(1_000), 700, 1);
    let k = 9294.0 / 1024.0;
    assert!((k - (300.0_f64 / 0.4).cbrt()).abs() < 0.0011 * k);
    for ms in (1_500..30_000).step_by(500) {
        let t = (ms - 1_000) as f64 / 1e3 + 0.1;
        let expected = 0.4 * (t - k).powi(3) + 1000.0;
        // A window for which `cnt` gives the distance to the target.
        let cwnd = (expected as u32).saturating_sub(200);
        c.w_est = 0;
        c.acked = 0;
        c.update(at(ms), cwnd, 0);
        let (low, high) = (cwnd / (c.cnt + 1), cwnd / c.cnt);
        let growth = expected - f64::from(cwnd);
        let tolerance = 2.0 + 0.001 * expected;
        assert!(
            f64::from(low) <= growth + tolerance && f64::from(high) >= growth - tolerance,
            "{ms} {growth}"
        );
    }
}

/// The whole loop, with one ACK per segment and one window per round trip of 100 ms: the window passes its old maximum
/// at K.
#[test]
fn the_window_is_back_at_its_maximum_after_k() {
    let mut c = Cubic::of(Stack::Linux6_1);
    let mut w = window(Stack::Linux6_1, 700, 700);
    c.ssthresh(&congestion(1000));
    c.delay_min = Duration::from_millis(100);
    let mut reached = None;
    let mut ns = 0_u64;
    while ns < 20_000_000_000 {
        c.on_ack(&Ack { now: Instant::from_nanos(ns), rtt: None, ..ack(0, 1) }, &mut w);
        ns += 100_000_000 / u64::from(w.cwnd);
        if w.cwnd >= 995 {
            reached.get_or_insert(ns as f64 / 1e9);
        }
    }
    // W_cubic is 995 at K − cbrt(5 / 0.4) = 9.086 − 2.32 s. The target is one round trip ahead, and the window follows
    // it one round trip late.
    let reached = reached.unwrap_or(f64::NAN);
    assert!((reached - 6.77).abs() < 0.4, "{reached}");
    let expected = 0.4 * (20.0 - 9.086_f64).powi(3) + 1000.0;
    assert!((f64::from(w.cwnd) - expected).abs() < 0.02 * expected, "{} {expected}", w.cwnd);
}

#[test]
fn fast_convergence_gives_room_where_the_maximum_falls() {
    let mut c = Cubic::of(Stack::Linux6_1);
    assert_eq!((c.ssthresh(&congestion(100)), c.w_max), (70, 100));
    assert_eq!((c.ssthresh(&congestion(90)), c.w_max), (63, 76)); // 90 · 1.7 / 2 = 76.5
    assert_eq!((c.ssthresh(&congestion(2)), c.w_max), (2, 1));
}

/// Section 4.3: at W_max 20 and RTT 10 ms the cubic is slow (K = 2.4 s), and Reno's estimate decides. α = 8/15, so
/// after n round trips the window should be 14 + 0.53 n.
#[test]
fn at_a_short_rtt_the_window_grows_as_reno_would() {
    let mut c = Cubic::of(Stack::Linux6_1);
    let mut w = window(Stack::Linux6_1, 14, 14);
    c.ssthresh(&congestion(20));
    c.delay_min = Duration::from_millis(10);
    let mut ns = 0_u64;
    while ns < 200_000_000 {
        c.on_ack(&Ack { now: Instant::from_nanos(ns), rtt: None, ..ack(0, 1) }, &mut w);
        ns += 10_000_000 / u64::from(w.cwnd);
    }
    // 14 + 0.533·20 = 24.7. While the window is the same, the estimate may be three round trips old, and it counts
    // whole segments.
    assert!((22..=25).contains(&w.cwnd) && (22..=25).contains(&c.w_est), "{} {}", w.cwnd, c.w_est);
}

/// Section 4.8: the plateau is the window at which congestion avoidance began, and growth is at least 5 % per round
/// trip.
#[test]
fn after_a_timeout_the_maximum_is_unknown() {
    let mut c = Cubic::of(Stack::Linux6_1);
    c.ssthresh(&congestion(100));
    c.on_rto();
    c.update(at(10_000), 50, 1);
    assert_eq!((c.w_max, c.origin, c.k, c.cnt), (0, 50, 0, 20));
}

#[test]
fn growth_is_at_most_half_a_window_a_round_trip() {
    let mut c = Cubic::of(Stack::Linux6_1);
    c.update(at(0), 100, 1);
    c.update(at(60_000), 100, 1); // the target is 86 000 segments away
    assert_eq!(c.cnt, 0);
    let mut w = window(Stack::Linux6_1, 100, 50);
    for _ in 0..50 {
        c.on_ack(&ack(60_000, 2), &mut w);
    }
    assert_eq!(w.cwnd, 150);
}

#[test]
fn an_idle_time_does_not_count() {
    let mut c = Cubic::of(Stack::Linux6_1);
    c.update(at(1_000), 10, 1);
    c.on_restart(at(6_000), Duration::from_secs(3));
    assert_eq!(c.epoch, Some(at(4_000)));
    c.on_restart(at(6_000), Duration::from_secs(30));
    assert_eq!(c.epoch, Some(at(6_000)));
    let mut c = Cubic::of(Stack::Linux3_14);
    c.update(at(1_000), 10, 1);
    c.on_restart(at(6_000), Duration::from_secs(3));
    assert_eq!(c.epoch, Some(at(1_000)), "mended in Linux 4.3");
}

/// Linux 3.10's `bictcp_acked`: ACKs in other states than Open cover one segment, and say nothing of how the receiver
/// delays its other ACKs. 2 in sixteenths is 32. An ACK of 4 segments makes it 32 − 2 + 4.
#[test]
fn linux_3_10_learns_the_segments_of_an_ack_only_where_nothing_is_wrong() {
    let mut c = Cubic::of(Stack::Linux3_10);
    let mut w = window(Stack::Linux3_10, 1000, 10);
    for (state, ratio) in [
        (CongestionState::Disorder, 32),
        (CongestionState::Cwr, 32),
        (CongestionState::Recovery, 32),
        (CongestionState::Loss, 32),
        (CongestionState::Open, 34),
    ] {
        c.on_ack(&Ack { segments: 4, state, ..ack(0, 1) }, &mut w);
        assert_eq!(c.ratio, ratio, "{state:?}");
    }
}

/// Linux 3.10 calls the algorithm once per ACK. With two segments per ACK it halves `cnt` instead.
#[test]
fn linux_3_10_divides_by_the_segments_of_an_ack() {
    let mut c = Cubic::of(Stack::Linux3_10);
    let mut w = window(Stack::Linux3_10, 1000, 10);
    for _ in 0..100 {
        c.on_ack(&Ack { segments: 4, ..ack(0, 1) }, &mut w);
    }
    assert!((60..=64).contains(&c.ratio), "{}", c.ratio); // converges from below to 4.0, in sixteenths
    let mut w = window(Stack::Linux3_10, 1000, 10);
    let mut c =
        Cubic { cnt: 20, epoch: Some(at(0)), last_cwnd: 1000, ratio: 64, ..Cubic::of(Stack::Linux3_10) };
    for _ in 0..12 {
        c.on_ack(&Ack { segments: 4, ..ack(0, 1) }, &mut w); // 20 / 4 = 5 ACKs per segment, plus one
    }
    assert_eq!(w.cwnd, 1002);
}

#[test]
fn hystart_ends_slow_start_at_the_window_it_has() {
    let mut c = Cubic::of(Stack::Linux6_1);
    let mut w = window(Stack::Linux6_1, 15, 1000);
    c.on_delivered(&Ack { rtt: Some(Duration::from_millis(50)), ..ack(0, 1) }, &mut w);
    for n in 0..20 {
        c.on_delivered(&ack(5 * n, 1), &mut w);
    }
    assert!(w.in_slow_start(), "below 16 segments it is silent");
    w.cwnd = 16;
    for n in 0..20 {
        c.on_delivered(&ack(200 + 5 * n, 1), &mut w);
    }
    assert_eq!((w.ssthresh, c.delay_min), (16, Duration::from_millis(50)));
}

/// RFC 8511, section 3.1: 0.85 at marks, 0.7 at losses as before.
#[test]
fn with_abe_marks_take_less_than_losses() {
    for (abe, cause, kept) in [
        (false, Cause::Ecn, 700),
        (true, Cause::Ecn, 850),
        (true, Cause::Loss, 700),
        (true, Cause::Timeout, 700),
    ] {
        let mut c = Cubic { abe, ..Cubic::of(Stack::Linux6_1) };
        assert_eq!(c.ssthresh(&Congestion { cause, ..congestion(1000) }), kept);
        c.on_rto();
        assert_eq!(c.abe, abe, "a timeout forgets the path, not what was asked for");
    }
}

/// HyStart would end slow start by the train of ACKs. HyStart++ instead of it does not.
#[test]
fn hystart_plus_plus_stands_in_the_place_of_hystart() {
    for (plus_plus, leaves) in [(None, true), (Some(HyStartPlusPlus::new()), false)] {
        let mut c = Cubic { plus_plus: plus_plus.map(Box::new), ..Cubic::of(Stack::Linux6_1) };
        let mut w = window(Stack::Linux6_1, 20, crate::INFINITE_SSTHRESH);
        for ms in 0..100 {
            c.on_delivered(&ack(ms, 1), &mut w);
        }
        assert_eq!(w.ssthresh == 20, leaves);
    }
}

/// After a timeout the threshold says where slow start ends, and HyStart++ has stopped. Guards against HyStart from
/// then on: it ends slow start by a train of ACKs, though HyStart++ was asked for.
#[test]
fn after_a_timeout_hystart_does_not_come_back() {
    let mut c = Cubic { plus_plus: Some(Box::new(HyStartPlusPlus::new())), ..Cubic::of(Stack::Linux6_1) };
    let mut w = window(Stack::Linux6_1, 20, 1000);
    c.ssthresh(&congestion(20));
    c.on_rto();
    for ms in 0..100 {
        c.on_delivered(&ack(ms, 1), &mut w);
    }
    assert_eq!(w.ssthresh, 1000);
}
