//! Tests Minstrel's rules one by one, and its decisions against Linux. `rate_control/tests.rs` tests what it
//! achieves.

use super::*;
use crate::wifi::standard::{Band, Standard};
use goodqueue_units::Streams;

mod linux;

fn minstrel(standard: Standard, band: Band) -> Minstrel {
    let modes: Vec<Mode> = Mode::legacy(standard).collect();
    let random = &mut Streams::new(1).stream("samples", 0);
    Minstrel::new(&modes, &Timing::new(standard, band, false), Instant::ZERO, random)
}

/// Sends frames of one millisecond each, which arrive in modes of up to `mbps`.
fn send(minstrel: &mut Minstrel, now: &mut Instant, frames: usize, mbps: f64) -> Vec<Chain> {
    let mut chains = Vec::new();
    for _ in 0..frames {
        *now += Duration::from_millis(1);
        let chain = minstrel.plan();
        let mut outcome = Outcome { chain, tried: [0; 4], frames: 1, acked: 0 };
        for (number, stage) in chain.stages().iter().enumerate() {
            if outcome.acked == 0 {
                outcome.acked = u32::from(stage.mode.mbps() <= mbps);
                outcome.tried[number] = if outcome.acked > 0 { 1 } else { stage.tries };
            }
        }
        minstrel.report(*now, &outcome);
        chains.push(chain);
    }
    chains
}

/// The tries in a mode take less than 6 ms, with half of a contention window before each try except the first. Only a
/// single try may take longer. A further try would not fit, unless there are seven.
#[test]
fn tries_fill_a_segment() {
    for (standard, band) in [(Standard::A, Band::High), (Standard::B, Band::Low), (Standard::G, Band::Low)] {
        let timing = Timing::new(standard, band, false);
        let minstrel = minstrel(standard, band);
        for rate in &minstrel.rates {
            let us = |mode, bytes| f64::from(reckoned_us(&timing, mode, bytes));
            let time_us = |tries: u8| {
                let again = us(rate.mode, 1200) + us(rate.mode, 10);
                let windows = [15.0, 31.0, 63.0, 127.0, 255.0, 511.0, 1023.0];
                let waits: f64 = windows[..usize::from(tries - 1)].iter().sum();
                let first = us(rate.mode, 1200) + us(minstrel.rates[0].mode, 10);
                first + again * f64::from(tries - 1) + waits * 4.5
            };
            let tries = rate.most_tries;
            assert!(tries == 1 || time_us(tries) < 6005.0, "{}: {tries} in {}", rate.mode, time_us(tries));
            assert!(tries == 7 || time_us(tries + 1) >= 6000.0, "{}: not {tries}", rate.mode);
        }
    }
}

/// A slower mode is tried second, after the best mode, so it costs nothing while the best mode succeeds. A faster
/// mode is tried first. A slow mode without a try for two seconds is tried first, too.
#[test]
fn slower_modes_are_tried_second() {
    let mut minstrel = minstrel(Standard::A, Band::High);
    let mut now = Instant::ZERO;
    send(&mut minstrel, &mut now, 5000, 24.0);
    let chains = send(&mut minstrel, &mut now, 5000, 24.0);
    let mbps = |chain: &Chain, place: usize| chain.stages()[place].mode.mbps();
    let (second, rest): (Vec<Chain>, Vec<Chain>) = chains.into_iter().partition(|chain| chain.is_deferred);
    assert!(second.iter().all(|chain| chain.is_probe && mbps(chain, 0) == 24.0 && mbps(chain, 1) < 24.0));
    let first: Vec<f64> = rest.iter().filter(|chain| chain.is_probe).map(|chain| mbps(chain, 0)).collect();
    let slow = first.iter().filter(|mbps| **mbps < 24.0).count();
    let fast = first.iter().filter(|mbps| **mbps > 24.0).count();
    // There are four slow modes. Each has its turn at most every two seconds, up to four times before the next
    // update.
    assert!((1..=4 * 3 * 4).contains(&slow), "{slow} of {}", first.len());
    assert!(fast > 50 && !second.is_empty(), "{fast} and {}", second.len());
}

/// The average takes a quarter of each interval's share. From zero it rises to 1/4, 7/16, 37/64 ...
#[test]
fn probability_is_an_average_of_three_quarters() {
    let mut minstrel = minstrel(Standard::A, Band::High);
    for share in [0.25, 0.4375, 0.578_125, 0.683_593_75] {
        let rate = &mut minstrel.rates[3];
        (rate.tried, rate.arrived) = (10, 10);
        rate.reckon();
        assert!((f64::from(rate.probability) / f64::from(ONE) - share).abs() < 1e-4, "{rate:?}");
    }
}

/// Samples under way that come second in their chains count half. Of 100 frames whose outcome is not known yet, ten
/// count as samples: the frames that try a mode first, and half of the frames that try a mode second.
#[test]
fn deferred_samples_under_way_count_half() {
    let mut minstrel = minstrel(Standard::A, Band::High);
    let mut now = Instant::ZERO;
    send(&mut minstrel, &mut now, 5000, 54.0);
    let probes: Vec<Chain> = (0..100).map(|_| minstrel.plan()).filter(|chain| chain.is_probe).collect();
    let deferred = probes.iter().filter(|chain| chain.is_deferred).count();
    let counted = probes.len() - deferred + deferred / 2;
    assert!(deferred > 5 && (9..=11).contains(&counted), "{deferred} of {}", probes.len());
}
