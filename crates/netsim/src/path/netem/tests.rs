use super::*;
use goodqueue_qdisc::distribution::Distribution;
use goodqueue_units::Streams;
use proptest::prelude::*;

fn wire(params: WireParams) -> Wire<u32> {
    Wire::new(params, Streams::new(9).stream("wire", 0))
}

/// Sends packets 0, 1, … into a wire, one per `spacing_us`. Returns each packet with the time in µs at which it came
/// out, and the counts.
fn through(params: WireParams, packets: u32, spacing_us: u64) -> (Vec<(u32, u64)>, WireCounts) {
    let mut wire = wire(params);
    let mut out = Vec::new();
    let mut drain = |wire: &mut Wire<u32>, until: Instant| {
        while let Some(time) = wire.next_time().filter(|time| *time <= until) {
            assert!(
                time == Instant::ZERO || wire.release(Instant::from_nanos(time.as_nanos() - 1)).is_none()
            );
            out.push((wire.release(time).unwrap(), time.as_nanos() / 1000));
        }
    };
    for packet in 0..packets {
        let now = Instant::from_nanos(u64::from(packet) * spacing_us * 1000);
        drain(&mut wire, now);
        wire.accept(now, packet);
    }
    drain(&mut wire, Instant::MAX);
    (out, wire.counts())
}

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_plain_wire_delays_each_packet_by_the_same() {
    let (out, counts) = through(WireParams { delay: MS * 20, ..WireParams::default() }, 50, 700);
    assert_eq!(out, (0..50).map(|packet| (packet, u64::from(packet) * 700 + 20_000)).collect::<Vec<_>>());
    assert_eq!(counts, WireCounts { offered: 50, delivered: 50, ..WireCounts::default() });
}

#[test]
fn jitter_lets_packets_overtake_only_where_it_may() {
    for (name, distribution) in Distribution::ALL {
        let distribution = Jitter::Netem(distribution);
        let mut params = WireParams { delay: MS * 10, jitter: MS * 3, distribution, ..WireParams::default() };
        let (out, _) = through(params, 2000, 1000);
        let overtaken = out.windows(2).filter(|two| two[0].0 > two[1].0).count();
        assert!(overtaken > 200, "{name}: {overtaken}");
        params.may_reorder = false;
        let (out, _) = through(params, 2000, 1000);
        assert!(out.iter().map(|(packet, _)| *packet).eq(0..2000), "{name}");
    }
}

/// Packets are too far apart to meet, so their delays are draws of the distribution, with the mean and the standard
/// deviation of its table.
#[test]
fn delays_have_the_mean_and_the_spread_of_their_distribution() {
    let table = [(0.0, 0.57735), (0.0, 1.0), (-0.03292, 0.82085), (-0.02469, 0.83494)];
    for ((name, distribution), (mean, deviation)) in Distribution::ALL.into_iter().zip(table) {
        let distribution = Jitter::Netem(distribution);
        let params = WireParams { delay: MS * 50, jitter: MS * 10, distribution, ..WireParams::default() };
        let n = 40_000;
        let (out, _) = through(params, n, 200_000);
        let delays: Vec<f64> =
            out.iter().map(|(packet, time)| (time - u64::from(*packet) * 200_000) as f64 / 1000.0).collect();
        let found = delays.iter().sum::<f64>() / f64::from(n);
        let spread = (delays.iter().map(|d| (d - found) * (d - found)).sum::<f64>() / f64::from(n)).sqrt();
        let (mean, deviation) = (50.0 + 10.0 * mean, 10.0 * deviation);
        assert!((found - mean).abs() < 3.0 * deviation / f64::from(n).sqrt(), "{name}: {found}");
        // For a distribution with a tail, three standard errors of the spread are about 1.5 %.
        assert!((spread / deviation - 1.0).abs() < 0.015, "{name}: {spread}");
    }
}

/// netem takes a random number of 32 bits modulo twice the jitter (`tabledist`, sch_netem.c), or an entry of its table.
/// With the same random numbers, Linux as a process and a wire have the same delays.
#[test]
fn delays_are_those_that_netem_draws_from_the_same_numbers() {
    let delays = |distribution: Distribution| {
        let distribution = Jitter::Netem(distribution);
        let params = WireParams { delay: MS * 50, jitter: MS * 10, distribution, ..WireParams::default() };
        let mut wire = wire(params);
        (0..20_u32)
            .map(|packet| wire.release_time(Instant::from_nanos(packet.into())).as_nanos() as i64)
            .zip(0..)
            .map(|(time, packet)| time - packet - 50_000_000)
            .collect::<Vec<_>>()
    };
    let mut random = Streams::new(9).stream("wire", 0);
    let drawn: Vec<u32> = (0..20).map(|_| random.next_u32()).collect();
    let uniform: Vec<i64> = drawn.iter().map(|drawn| i64::from(drawn % 20_000_000) - 10_000_000).collect();
    assert_eq!(delays(Distribution::Uniform), uniform);
    let table = Distribution::Normal.table();
    for (delay, drawn) in delays(Distribution::Normal).into_iter().zip(drawn) {
        let exact = f64::from(table[drawn as usize % table.len()]) / 8192.0 * 1e7;
        assert!((delay as f64 - exact).abs() < 1.0, "{delay} {exact}");
    }
}

/// A delay cannot be negative: a packet with such a draw leaves at once.
#[test]
fn jitter_beyond_the_delay_sends_packets_at_once() {
    let params = WireParams { delay: MS, jitter: MS * 10, ..WireParams::default() };
    let (out, _) = through(params, 1000, 100_000);
    let at_once = out.iter().filter(|(packet, time)| *time == u64::from(*packet) * 100_000).count();
    assert!((400..500).contains(&at_once), "{at_once} of 1000, where 9 of 20 draws are below -1 ms");
}

/// tc-netem(8): with `reorder 100% gap 5`, every fifth packet is sent at once.
#[test]
fn reorder_sends_every_fifth_packet_at_once_with_gap_5() {
    let reorder = Chance::of(1.0);
    let params = WireParams { delay: MS * 10, reorder, gap: 5, may_reorder: false, ..WireParams::default() };
    let (out, counts) = through(params, 100, 1000);
    let at_once: Vec<u32> = out
        .iter()
        .filter(|(packet, time)| *time == u64::from(*packet) * 1000)
        .map(|(packet, _)| *packet)
        .collect();
    assert!(at_once.iter().copied().eq((4..100).step_by(5)), "{at_once:?}");
    assert_eq!((counts.delivered, counts.lost), (100, 0));
}

#[test]
fn reorder_without_gap_sends_its_share_at_once() {
    let params = WireParams { delay: MS * 10, reorder: Chance::of(0.25), ..WireParams::default() };
    let (out, _) = through(params, 40_000, 1000);
    let at_once =
        out.iter().filter(|(packet, time)| *time == u64::from(*packet) * 1000).count() as f64 / 40_000.0;
    assert!((at_once - 0.25).abs() < 3.0 * 0.002_165, "{at_once}"); // sqrt(0.25 * 0.75 / 40000)
}

#[test]
fn losses_and_second_copies_are_told_and_counted() {
    let params = WireParams {
        loss: Loss::Random { probability: 1.0, correlation: 0.0 },
        duplicate: 0.0,
        ..WireParams::default()
    };
    let mut lossy = wire(params);
    assert_eq!(lossy.accept(Instant::ZERO, 1), Accepted { lost: true, duplicated: false });
    assert_eq!((lossy.next_time(), lossy.release(Instant::MAX)), (None, None));
    let mut doubling = wire(WireParams { duplicate: 1.0, ..WireParams::default() });
    assert_eq!(doubling.accept(Instant::ZERO, 1), Accepted { lost: false, duplicated: true });
    assert_eq!(doubling.counts(), WireCounts { offered: 1, duplicated: 1, held: 2, ..WireCounts::default() });
    // As in netem, a packet that is both duplicated and lost is sent once.
    let mut both = wire(WireParams { duplicate: 1.0, ..params });
    assert_eq!(both.accept(Instant::ZERO, 7), Accepted::default());
    assert_eq!((both.release(Instant::ZERO), both.release(Instant::ZERO)), (Some(7), None));
}

#[test]
fn a_full_wire_loses_what_comes_and_says_so() {
    let mut wire = wire(WireParams { delay: MS, limit: 2, ..WireParams::default() });
    let lost: Vec<bool> = (0..4).map(|packet| wire.accept(Instant::ZERO, packet).lost).collect();
    assert_eq!(lost, [false, false, true, true]);
    assert_eq!((wire.counts().lost, wire.counts().over_limit, wire.counts().held), (2, 2, 2));
}

fn any_params() -> impl Strategy<Value = WireParams> {
    let loss = prop_oneof![
        Just(Loss::None),
        (0.0..0.5, 0.0..0.9).prop_map(|(probability, correlation)| Loss::Random { probability, correlation }),
        (0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0).prop_map(|(p, r, one_minus_h, one_minus_k)| {
            Loss::Gemodel { p, r, one_minus_h, one_minus_k }
        }),
    ];
    let distribution = (0..4_usize).prop_map(|index| Distribution::ALL[index].1);
    let times = (0..20_u64, 0..20_u64, distribution);
    let chances = (0.0..0.5, prop_oneof![Just(0.0), 0.0..0.5], 0.0..0.9, 0..5_u32);
    (times, loss, chances, any::<bool>(), 1..60_usize).prop_map(
        |(times, loss, chances, may_reorder, limit)| {
            let (duplicate, probability, correlation, gap) = chances;
            WireParams {
                delay: MS * times.0,
                jitter: MS * times.1,
                distribution: Jitter::Netem(times.2),
                loss,
                duplicate,
                reorder: Chance { probability, correlation },
                gap,
                may_reorder,
                limit,
            }
        },
    )
}

proptest! {
    /// Checks what holds for every wire: no packet vanishes or comes from nowhere, no packet is early or late,
    /// packets of the same time keep the order of arrival, and memory is bounded.
    #[test]
    fn every_packet_is_accounted_for(
        params in any_params(),
        gaps in prop::collection::vec(0..3000_u64, 1..200),
    ) {
        let mut wire = wire(params);
        let (mut now, mut out) = (Instant::ZERO, Vec::new());
        for (packet, gap) in gaps.iter().enumerate() {
            now += Duration::from_micros(*gap);
            while let Some(packet) = wire.release(now) {
                out.push(packet);
            }
            prop_assert!(wire.next_time().is_none_or(|time| time > now));
            let before = wire.counts();
            let accepted = wire.accept(now, packet as u32);
            let after = wire.counts(); // asserts conservation
            prop_assert!(after.held <= params.limit as u64);
            prop_assert_eq!(accepted.lost, after.lost > before.lost);
            prop_assert_eq!(accepted.duplicated, after.duplicated > before.duplicated);
        }
        let mut last = now;
        while let Some(time) = wire.next_time() {
            prop_assert!(time > now || time == now && wire.counts().held > 0);
            prop_assert!(time >= last, "{time:?} after {last:?}");
            last = time;
            out.push(wire.release(time).unwrap());
        }
        let counts = wire.counts();
        prop_assert_eq!((counts.held, counts.delivered), (0, out.len() as u64));
        prop_assert_eq!(counts.offered, gaps.len() as u64);
        if params.reorder.probability == 0.0 && (!params.may_reorder || params.jitter == Duration::ZERO) {
            prop_assert!(out.is_sorted(), "{out:?}");
        }
    }
}
