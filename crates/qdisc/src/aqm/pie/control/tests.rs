use super::*;
use crate::aqm::pie::linux::Vars;
use crate::aqm::pie::tests::{FULL, NEVER, assert_percent, at, ms, pie, step};
use crate::aqm::pie::{LINUX, params};

/// 4.2: alpha (E[T] - target) + beta (E[T] - old). With alpha 2/16 and beta 20/16 per second, a delay 80 ms above
/// target without a change gives 0.125 * 0.08 = 1 %. Below p = 10 % it is half of that, below 1 % an eighth, and then
/// a quarter for each decade, down to 1/2048 under 1e-6. With a wrong rung a small p would oscillate or stand still.
#[test]
fn the_gains_are_tuned_to_p_by_the_ladder_of_4_2() {
    let ladder = [
        (20.0, 1.0),
        (5.0, 0.5),
        (0.5, 0.125),
        (0.05, 1.0 / 32.0),
        (0.005, 1.0 / 128.0),
        (0.0005, 1.0 / 512.0),
        (0.00005, 1.0 / 2048.0),
        (0.0, 1.0 / 2048.0),
    ];
    for (p, change) in ladder {
        assert_percent(step("", p, 95, 95), change, "linux, 15 ms target");
        assert_percent(step("variant rfc8033", p, 95, 95), change, "rfc8033, 15 ms target");
        // The papers' PIE has only three levels: an eighth below 1 %, however small p is.
        assert_percent(step("variant draft2013", p, 100, 100), change.max(0.125), "draft2013, 20 ms target");
    }
}

/// beta's part: 15 ms more than before, at target, gives 1.25 * 0.015 = 1.875 % at p = 20 %. With a lost sign the
/// controller would push a falling queue further down.
#[test]
fn the_trend_of_the_delay_counts_with_beta() {
    assert_percent(step("", 20.0, 15, 0), 1.875, "rising");
    assert_percent(step("", 20.0, 15, 30), -1.875, "falling");
    assert_percent(step("alpha 1 beta 10", 20.0, 15, 0), 0.9375, "half the gains");
}

/// 5.5: from 10 % on a step is at most 2 points; without the cap 100 ms at once would give 1.25 * 0.1 + 0.125 * 0.085
/// = 13.5625 %. Below 10 % Linux lets half of that through, while the papers' PIE caps there, too. Above 250 ms both
/// add 2 points.
#[test]
fn steps_up_are_capped_and_long_delays_add_two_points() {
    assert_percent(step("", 20.0, 100, 0), 2.0, "linux, capped");
    assert_percent(step("", 9.0, 100, 0), 13.5625 / 2.0, "linux, below 10 %");
    assert_percent(step("variant draft2013", 9.0, 100, 0), 2.0, "draft2013, capped");
    // (0.251 - 0.015) * 0.125 = 2.95 % is above the cap: 2 points, and 2 more.
    assert_percent(step("", 20.0, 251, 251), 4.0, "linux above 250 ms");
    assert_percent(step("variant draft2013", 20.0, 251, 251), 4.0, "draft2013 above 250 ms");
    assert_percent(step("variant rfc8033", 20.0, 251, 251), 2.0, "the RFC adds nothing");
    assert_percent(step("variant rfc8033", 9.0, 100, 0), 13.5625 / 2.0, "rfc8033, below 10 %");
    // Steps down have no cap: from 100 ms to 0 it is -(0.125 + 0.001875) = -12.6875 %.
    assert_percent(step("", 20.0, 0, 100), -12.6875, "down");
}

/// 5.4: at p = 10 % the sum of the probabilities must reach 0.85 before dice are thrown (the ninth packet). At 8.5
/// (the 85th) the packet is dropped whatever they show. The papers' PIE throws dice for each packet.
#[test]
fn drops_are_spaced_between_a_sum_of_0_85_and_8_5() {
    let first_drop = |words: &str, dice: u64| {
        let pie = pie(words);
        let mut vars = Vars { qdelay: ms(50), burst_time: 0, ..at(&pie, MAX_PROB / 10 + 1) };
        (1..).find(|_| vars.drop_early(&pie.params, 10_000, FULL, || dice))
    };
    assert_eq!(first_drop("", 0), Some(9));
    assert_eq!(first_drop("", NEVER), Some(85));
    assert_eq!(first_drop("variant draft2013", 0), Some(1));
}

/// Half a frame must have half the probability: dice at 0.3 are between a quarter and a half.
#[test]
fn bytemode_scales_p_by_the_size() {
    let dice = (MAX_PROB / 10 * 3) << 8;
    let drops = |words: &str, len| {
        let pie = pie(words);
        let mut vars = Vars { qdelay: ms(50), burst_time: 0, ..at(&pie, MAX_PROB / 2 + 1) };
        vars.drop_early(&pie.params, 10_000, len, || dice)
    };
    assert!(drops("variant draft2013 bytemode", FULL));
    assert!(!drops("variant draft2013 bytemode", FULL / 2), "0.25 is below 0.3");
    assert!(drops("variant draft2013", FULL / 2), "without bytemode the size tells nothing");
}

/// sch_pie.c: `accu_prob < (MAX_PROB / 100) * 85` passes and `accu_prob >= (MAX_PROB / 2) * 17` drops, and the draw
/// must be below p.
#[test]
fn sums_of_0_85_and_8_5_to_the_last_bit() {
    let pie = pie("");
    let p = MAX_PROB / 10;
    let drops = |accu_prob, dice: u64| {
        let mut control = Control { prob: p, accu_prob: accu_prob - p };
        control.drops(&pie.params, FULL, || dice << 8)
    };
    let (low, high) = (MAX_PROB / 100 * 85, MAX_PROB / 2 * 17);
    assert_eq!([low - 1, low, high].map(|sum| drops(sum, 0)), [false, true, true]);
    assert_eq!([low - 1, low, high - 1, high].map(|sum| drops(sum, p)), [false, false, false, true]);
    assert_eq!([p - 1, p].map(|dice| drops(low, dice)), [true, false]);
}

/// 5.5 and sch_pie.c: 2 points are added above 250 ms, not at 250 ms. There alpha's part, 0.125 * 235 ms, is capped to
/// 2 points.
#[test]
fn at_250_ms_nothing_is_added() {
    let pie = pie("");
    let step = |delay| Control { prob: MAX_PROB / 5, accu_prob: 0 }.step(&pie.params, delay, delay);
    assert_eq!(ms(250), 3_906_250);
    let two_points = (MAX_PROB / 100 * 2) as i64;
    assert_eq!(step(3_906_250), two_points);
    assert_eq!(step(3_906_251), two_points + (MAX_PROB / 50) as i64);
}

/// sch_pie.c: a rung of the gains holds below its probability, and the cap of 2 points holds from 10 % on. 80 ms above
/// target give 1 point, and 500 ms from 0 more than the cap.
#[test]
fn on_a_rung_the_larger_gain_holds() {
    for (words, rungs) in
        [("", &LINUX), ("variant draft2013", &params::DRAFT2013), ("variant rfc8033", &params::RFC8033)]
    {
        let pie = pie(words);
        let step = |prob| Control { prob, accu_prob: 0 }.step(&pie.params, ms(95), ms(95));
        for (below, _) in rungs.ladder {
            assert!(step(MAX_PROB / below - 1) < step(MAX_PROB / below), "{words} 1/{below}");
        }
    }
    let pie = pie("");
    let capped =
        |prob| Control { prob, accu_prob: 0 }.step(&pie.params, ms(200), 0) == (MAX_PROB / 100 * 2) as i64;
    assert_eq!([MAX_PROB / 10 - 1, MAX_PROB / 10].map(capped), [false, true]);
}

/// A delay of 100 s after none: Linux's gains at p = 20 % are 576460752 and 5764607522 per tick of 64 ns, so the change
/// is 9.91e18. A signed number of 64 bits ends at 9.22e18: in Linux 6.1.192 the change is negative, and p falls
/// (`pie_calculate_probability`; a tree with packets of 64 kB at 48 kbit/s showed it).
#[test]
fn a_change_that_exceeds_64_bits_wraps_as_in_linux() {
    assert!(step("", 20.0, 100_000, 0) < 0.0, "{}", step("", 20.0, 100_000, 0));
    assert!(step("", 20.0, 60_000, 0) > 0.0);
}
