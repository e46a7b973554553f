//! Tests Minstrel-HT's rules one by one, and its decisions against Linux. `rate_control/tests.rs` tests what it
//! achieves.

use super::*;
use crate::wifi::standard::{Band, Standard};
use goodqueue_units::Streams;

mod linux;

fn minstrel(streams: u8, is_wide: bool, has_short_guard: bool) -> MinstrelHt {
    let timing = Timing::new(Standard::N, Band::High, false);
    let random = &mut Streams::new(1).stream("samples", 0);
    MinstrelHt::new(streams, is_wide, has_short_guard, &timing, Instant::ZERO, random)
}

/// Only modes that the receiver supports are tried.
#[test]
fn a_group_for_all_streams_guards_and_widths_of_the_receiver() {
    for (streams, is_wide, has_short_guard, groups) in
        [(1, false, false, 1), (2, false, true, 4), (2, true, false, 4), (3, true, true, 12)]
    {
        let minstrel = minstrel(streams, is_wide, has_short_guard);
        assert_eq!(minstrel.groups.len(), groups);
        for mode in minstrel.groups.iter().flat_map(|group| (0..8).map(|place| group.mode(place))) {
            let Mode::Ht(ht) = mode else { panic!("{mode:?}") };
            assert!(
                ht.streams() <= streams && is_wide >= ht.is_wide && has_short_guard >= ht.has_short_guard
            );
        }
    }
}

/// The tries in a mode take less than 6 ms with half of each contention window, unless there are only two. A further
/// try would not fit, unless there are seven.
#[test]
fn tries_fill_a_segment() {
    for (frames, mut costs) in (1..=64).map(|frames| (frames, minstrel(1, false, false).costs)) {
        costs.aggregate = frames * ONE;
        let groups = Group::all(4, true, true);
        for duration_ns in groups.iter().flat_map(|group| group.durations_ns) {
            for (has_rts, overhead_us) in [(false, 108.0), (true, 228.0)] {
                let tries = costs.tries(duration_ns, has_rts);
                let time_us = |tries: u8| {
                    let each = f64::from(duration_ns * frames) / 1000.0 + overhead_us;
                    let windows = [15.0, 31.0, 63.0, 127.0, 255.0, 511.0, 1023.0, 1023.0];
                    f64::from(tries) * each + windows[..usize::from(tries)].iter().sum::<f64>() * 4.5
                };
                let what = format!("{tries} of {frames} frames of {duration_ns} ns, RTS {has_rts}");
                assert!(tries == 2 || time_us(tries) < 6010.0, "{what}: {} us", time_us(tries));
                assert!(tries == 7 || time_us(tries + 1) >= 6000.0, "{what}: {} us", time_us(tries + 1));
            }
        }
    }
}

/// When two streams suddenly carry nothing, the aggregate after the lost one begins with one stream, before the next
/// update of the statistics.
#[test]
fn a_group_that_suddenly_dies_is_left_at_once() {
    let mut minstrel = minstrel(2, false, true);
    let mut now = Instant::ZERO;
    let mut send = |minstrel: &mut MinstrelHt, arrives: bool| {
        now += Duration::from_millis(1);
        let chain = minstrel.plan(now);
        let frames = if chain.is_probe { 1 } else { 16 };
        let mut tried = [1, 0, 0, 0];
        if !arrives {
            tried = [0, 1, 2, 3].map(|number| chain.stages()[number].tries);
        }
        let acked = if arrives { frames } else { 0 };
        minstrel.report(now, &Outcome { chain, tried, frames, acked });
    };
    (0..2000).for_each(|_| send(&mut minstrel, true));
    while minstrel.aggregates > 0 {
        send(&mut minstrel, true);
    }
    let (before, reckoned) = (minstrel.best[0], minstrel.last_reckoning);
    assert_eq!(minstrel.groups[before.group].mode(before.place).mbps().round(), 144.0);
    send(&mut minstrel, false);
    let after = minstrel.best[0];
    assert_eq!(minstrel.last_reckoning, reckoned);
    assert_eq!(minstrel.groups[after.group].mode(after.place).mbps().round(), 72.0);
}
