use super::*;
use crate::path::capacity::Capacity;
use goodqueue_units::Streams;

const MBIT: u64 = 1_000_000;

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn link(words: &str, link: u64) -> Box<dyn Channel> {
    let args = Args::parse(&SPEC, words).unwrap();
    let draws = Draws { streams: Streams::new(1), link };
    (KIND.make)(&args, Rate::from_bps(100 * MBIT).unwrap(), draws).unwrap()
}

/// Returns how long a packet takes that was sent at `seconds`, in ms.
fn takes(link: &mut dyn Channel, seconds: f64) -> f64 {
    link.crosses(at(seconds)).unwrap().since(at(seconds)).as_millis_f64()
}

/// With neither turns nor losses, only the assignments are left: at 12, 27, 42 and 57 s of each minute.
#[test]
fn the_delay_moves_at_each_assignment_and_is_longer_for_215_ms() {
    let mut link = link("turn 0 loss 0", 0);
    let mut settled = Vec::new();
    for (from, to) in [(0.0, 12.0), (12.0, 27.0), (27.0, 42.0), (42.0, 57.0), (57.0, 72.0), (72.0, 87.0)] {
        if from > 0.0 {
            let (stalled, last) = (takes(&mut *link, from), takes(&mut *link, from + 0.214));
            let calm = takes(&mut *link, from + 0.3);
            assert_eq!((stalled - calm).round(), 37.0, "half of 74 ms at {from} s");
            assert_eq!(stalled, last);
        }
        let (early, late) = (takes(&mut *link, from + 0.3), takes(&mut *link, to - 0.001));
        assert_eq!(early, late, "nothing moves between {from} and {to} s");
        settled.push(early);
    }
    assert!(settled.iter().all(|offset| (0.0..=5.0).contains(offset)), "{settled:?}");
    assert!(settled.windows(2).all(|pair| pair[0] != pair[1]), "{settled:?}");
}

/// A packet that is sent just after the stall would overtake those within it.
#[test]
fn no_packet_overtakes_another() {
    let mut link = link("loss 0", 0);
    let mut last = Instant::ZERO;
    for step in 0..200_000 {
        let now = link.crosses(at(f64::from(step) * 0.0005)).unwrap();
        assert!(now >= last, "step {step}");
        last = now;
    }
}

/// RTTs of packets at random times differ by 7/15 of a turn: two uniform waits, twice.
#[test]
fn successive_round_trips_differ_by_7_ms() {
    let (mut down, mut up) = (link("loss 0 stall 0 jump 0", 0), link("loss 0 stall 0 jump 0", 1));
    let mut random = Streams::new(3).stream("pings", 0);
    let rtts: Vec<f64> = (0..20_000)
        .map(|number| {
            let sent = f64::from(number) * 0.1 + 0.07 * random.next_f64();
            let there = takes(&mut *up, sent);
            let answered = sent + there / 1e3 + 0.02 * random.next_f64();
            there + takes(&mut *down, answered)
        })
        .collect();
    let apart: f64 = rtts.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum::<f64>() / rtts.len() as f64;
    assert!((6.8..7.2).contains(&apart), "{apart}");
    let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
    assert!((14.7..15.3).contains(&mean), "a turn: {mean}");
}

#[test]
fn the_rate_is_half_for_500_ms_and_its_mean_is_the_rate() {
    let rates = rates(Rate::from_bps(100 * MBIT).unwrap(), 0.5, Streams::new(1).stream("starlink rates", 0));
    let steps = Steps::new(&rates, Some(EVERY * ASSIGNMENTS)).unwrap();
    let mean = steps.mean_rate().as_bps();
    assert!((99_990_000..=100_000_000).contains(&mean), "{mean}");
    for (number, begins) in [12.0, 27.0, 42.0, 57.0, 3597.0].into_iter().enumerate() {
        let sent = |from: f64, to: f64| (steps.by(at(to)) - steps.by(at(from))) as f64;
        let (half, whole) = (sent(begins, begins + 0.5), sent(begins + 0.5, begins + 1.0));
        assert!((half / whole - 0.5).abs() < 1e-3, "assignment {number}: {half} of {whole}");
    }
    // The hour begins again with the rest of its last assignment.
    let of = |seconds: f64| (steps.by(at(seconds + 0.1)) - steps.by(at(seconds))) as f64;
    assert!((of(3599.0) / of(3600.5) - 1.0).abs() < 1e-3);
}

/// 0.13 %, and eight times as many in 0.5 of each 15 s.
#[test]
fn losses_are_eight_times_as_frequent_at_an_assignment() {
    let mut link = link("", 0);
    let (mut calm, mut unsettled) = ((0, 0), (0, 0));
    for step in 0..3_000_000_u32 {
        let seconds = f64::from(step) * 0.001;
        let count = if (seconds + 3.0) % 15.0 < 0.5 { &mut unsettled } else { &mut calm };
        count.0 += u32::from(link.crosses(at(seconds)).is_none());
        count.1 += 1;
    }
    let percent = |(lost, all): (u32, u32)| 100.0 * f64::from(lost) / f64::from(all);
    assert!((0.12..0.14).contains(&percent(calm)), "{}", percent(calm));
    assert!((0.94..1.14).contains(&percent(unsettled)), "{}", percent(unsettled));
}
