use super::*;
use crate::packet::Plain;
use goodqueue_units::Rate;

static SPEC: QdiscSpec = Red::SPEC;
const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

fn red(words: &str) -> Result<Red, Error> {
    Red::build(&Args::parse(&SPEC, words)?, &LINK)
}

/// Section 4: avg += (q - avg) / 32. From 0, with 32000 bytes waiting: 1000, then 1000 + 31000/32 = 1968.75. The test
/// fails if the weight is applied twice or not at all.
#[test]
fn the_average_moves_by_its_weight() {
    let Red { params, mut vars, .. } = red("min 30000 max 90000").unwrap();
    vars.arrive(&params, Instant::ZERO, 32_000);
    assert_eq!(vars.qavg, 1000 << 5);
    vars.arrive(&params, Instant::ZERO, 32_000);
    assert_eq!(vars.qavg, 63_000); // 1968.75 * 32
}

/// Another weight must keep the average in bytes, although the average is scaled by it. An adapted max_p must stay
/// until the line sets it. An adaptation that is switched on must begin one interval later.
#[test]
fn a_change_keeps_the_average_and_what_was_adapted() {
    let args = Args::parse(&SPEC, "min 30000 max 90000").unwrap();
    let mut red = Red::build(&args, &LINK).unwrap();
    red.vars.qavg = 40_000 << 5;
    let change = |red: &mut Red, line| {
        let now = Instant::from_nanos(1_000_000_000);
        red.change(now, &args.changed(line).unwrap(), &LINK).unwrap();
        (red.vars.qavg >> red.params.wlog, red.vars.max_p, red.timer.map(|timer| timer.due().as_nanos()))
    };
    assert_eq!(change(&mut red, "red burst 500"), (40_000, 85_899_345, None));
    assert_ne!(red.params.wlog, 5);
    assert_eq!(change(&mut red, "red adaptive"), (40_000, 85_899_345, Some(1_500_000_000)));
    red.vars.max_p = 99_000_000;
    assert_eq!(change(&mut red, "red adaptive ecn"), (40_000, 99_000_000, Some(1_500_000_000)));
    assert_eq!(change(&mut red, "red adaptive probability 0.1"), (40_000, 429_496_729, Some(1_500_000_000)));
    red.vars.max_p = 99_000_000;
    assert_eq!(change(&mut red, "red probability 0.1"), (40_000, 429_496_729, None));
}

/// The cells of Linux are 2^15 us long (`tc -d qdisc show` says Scell_log 15), 16 times as long as the weight asks.
/// After a quarter of a cell the average loses a quarter, after half a cell one half, and then nothing until the table
/// says 2 at cell 25: from 16 ms to 819 ms after the last packet it stands at one half. After 255 cells, 8.4 s, it is
/// 0.
#[test]
fn the_average_decays_while_the_link_is_idle() {
    let Red { params, vars, .. } = red("min 30000 max 90000").unwrap();
    let after = |us: u64| {
        let mut vars = Vars { qavg: 1_000_001, ..vars };
        vars.idle(Instant::from_nanos(5_000));
        vars.idle(Instant::from_nanos(9_000_000)); // a second empty dequeue does not restart the idle time
        vars.arrive(&params, Instant::from_nanos(5_000 + us * 1_000), 50_000);
        vars.qavg
    };
    assert_eq!(after(8192), 1_000_001 - 250_000);
    assert_eq!(after(16_384), 500_000, "half an odd number is taken as the shift takes it");
    assert_eq!(after(13 * 32_768), 500_000);
    assert_eq!(after(25 * 32_768 - 1), 500_000, "Linux 6.1 dropped such a packet");
    assert_eq!(after(25 * 32_768), 250_000);
    assert_eq!(after(9_000_000), 0);
}

/// Section 7: a draw of 2^31 over max_p/(max - min) = 85899345/60000 = 1431 gives qR = 1500685. At an average of
/// 60000, 30000 above min, count * 30000 reaches qR at count 51: so 51 packets pass and the 52nd is dropped. This is
/// the mean of a spacing that is uniform in 1 to 100, as p_b = 0.01 gives.
#[test]
fn drops_are_spaced_by_one_draw() {
    let Red { params, mut vars, .. } = red("min 30000 max 90000 burst 50").unwrap();
    vars.qavg = 60_000 << 5;
    let mut draws = 0;
    let mut passed = || {
        let mut draw = || {
            draws += 1;
            1 << 31
        };
        (0..).find(|_| vars.decide(&params, &mut draw) == Verdict::Early)
    };
    assert_eq!((passed(), passed()), (Some(51), Some(50)), "after a drop its draw is at hand already");
    assert_eq!(draws, 3);
    assert!((vars.drop_probability(&params) - 0.01).abs() < 1e-9);
}

/// There is no gentle mode: at max every packet must be dropped, just below min none.
#[test]
fn the_thresholds_are_hard() {
    let Red { params, vars, .. } = red("min 30000 max 90000").unwrap();
    let verdict = |qavg| Vars { qavg, qcount: 7, ..vars }.decide(&params, || 0);
    assert_eq!(verdict((90_000 << 5) - 1), Verdict::Early);
    assert_eq!(verdict(90_000 << 5), Verdict::Forced);
    assert_eq!(verdict((30_000 << 5) - 1), Verdict::Pass);
}

/// 2 % grows by a quarter, but at most by 1 %: 85899345 + 21474836. It falls by a tenth: 85899345/10*9. The limits
/// are 1 % and 50 %. max_p may pass them by one step, as in the report.
#[test]
fn max_p_is_adapted_by_the_report_s_steps() {
    let Red { params, vars, .. } = red("min 30000 max 90000 adaptive").unwrap();
    let adapted = |average: u64, max_p: u32| {
        let mut vars = Vars { qavg: average << 5, max_p, ..vars };
        vars.adapt(&params, Instant::ZERO);
        (vars.max_p, vars.max_p_delta)
    };
    assert_eq!(adapted(66_001, 85_899_345), (107_374_181, 1790)); // 1789.57, rounded
    assert_eq!(adapted(53_999, 85_899_345), (77_309_406, 1288)); // 1288.49
    assert_eq!(adapted(60_000, 85_899_345).0, 85_899_345);
    // 4/10 and 6/10 of the way from min to max must be within the target, to the byte.
    assert_eq!([54_000, 66_000].map(|average| adapted(average, 85_899_345).0), [85_899_345; 2]);
    // red.h: RED_ONE_PERCENT is 2^32 / 100, rounded: 42949672.96. The largest max_p that grows is 50 of it.
    assert_eq!(adapted(66_001, 300_000_000).0, 342_949_673);
    assert_eq!([2_147_483_650, 2_147_483_651].map(|p| adapted(66_001, p).0), [2_190_433_323, 2_147_483_651]);
    assert_eq!([42_949_673, 42_949_672].map(|p| adapted(53_999, p).0), [38_654_703, 42_949_672]);
    assert_eq!(adapted(66_001, 50 * ONE_PERCENT).0, 51 * ONE_PERCENT);
    assert_eq!(adapted(66_001, 51 * ONE_PERCENT).0, 51 * ONE_PERCENT);
    assert_eq!(adapted(53_999, ONE_PERCENT - 1).0, ONE_PERCENT - 1);
}

/// `adaptive` must ask for its timer every 500 ms, plain RED for none.
#[test]
fn only_adaptive_red_has_a_timer() {
    assert_eq!(red("").unwrap().next_timer(), None);
    assert!(red("adaptative").unwrap().next_timer().is_some(), "tc's first spelling");
    let mut red = red("adaptive").unwrap();
    let half = Instant::from_nanos(500_000_000);
    assert_eq!(red.next_timer(), Some(half));
    red.on_timer::<Plain>(half, &Fifo::default());
    assert_eq!(red.next_timer(), Some(Instant::from_nanos(1_000_000_000)));
}

/// red.h, `red_cmp_thresh`: below min is `qavg < qth_min`, so an average of exactly min is between the thresholds. The
/// first packet there is counted and draws a number.
#[test]
fn an_average_of_min_is_between_the_thresholds() {
    let Red { params, vars, .. } = red("min 30000 max 90000").unwrap();
    let counted = |qavg| {
        let (mut vars, mut draws) = (Vars { qavg, ..vars }, 0);
        let draw = || {
            draws += 1;
            1 << 31
        };
        assert_eq!(vars.decide(&params, draw), Verdict::Pass);
        (vars.qcount, draws)
    };
    assert_eq!((counted((30_000 << 5) - 1), counted(30_000 << 5)), ((-1, 0), (0, 1)));
}

/// The reciprocal is that of lib/math/reciprocal_div.c (Granlund, Montgomery 1994, figure 4.1): with t = a * m / 2^32,
/// (t + ((a - t) >> sh1)) >> sh2 must be a / d for every a. Otherwise a replay would compare with another divisor than
/// Linux's.
#[test]
fn the_reciprocal_that_is_shown_divides_as_linux_s() {
    #[derive(Default)]
    struct Reciprocal([u64; 3]);
    impl Probe for Reciprocal {
        fn integer(&mut self, name: &'static str, value: i128) {
            if let Some(at) = ["recip_m", "recip_sh1", "recip_sh2"].iter().position(|known| *known == name) {
                self.0[at] = value as u64;
            }
        }
        fn real(&mut self, _name: &'static str, _value: f64) {}
    }
    let Red { params, vars, .. } = red("min 30000 max 90000").unwrap();
    let most = u64::from(u32::MAX);
    for divisor in [1, 2, 3, 4, 5, 7, 255, 256, 257, 1431, 65_535, 65_536, 1 << 31, u32::MAX] {
        let mut shown = Reciprocal::default();
        Vars { max_p_delta: divisor, ..vars }.probe(&params, Measure::Bytes, &mut shown);
        let [m, sh1, sh2] = shown.0;
        let divisor = u64::from(divisor);
        let near =
            [0, 1, divisor - 1, divisor, divisor + 1, 2 * divisor - 1, 2 * divisor, most / 2, most - 1, most];
        for a in near.into_iter().filter(|a| *a <= most) {
            let t = (a * m) >> 32;
            assert_eq!((t + ((a - t) >> sh1)) >> sh2, a / divisor, "{a} / {divisor} by {m}, {sh1}, {sh2}");
        }
    }
}

/// The average is kept in 32nds of a byte, and a probe shows it in bytes.
#[test]
fn the_average_is_shown_in_bytes() {
    struct Average(Option<f64>);
    impl Probe for Average {
        fn measured(&mut self, name: &'static str, _raw: crate::qdisc::Raw, measure: Measure) {
            if let ("qavg", Measure::Bytes(bytes)) = (name, measure) {
                self.0 = bytes;
            }
        }
        fn integer(&mut self, _name: &'static str, _value: i128) {}
        fn real(&mut self, _name: &'static str, _value: f64) {}
    }
    let mut red = red("min 30000 max 90000").unwrap();
    (red.vars.qavg, red.params.wlog) = (40_000 << 5 | 16, 5);
    let mut average = Average(None);
    red.probe(&mut average);
    assert_eq!(average.0, Some(40_000.5));
}

/// Weight, thresholds and idle table must be those that the real `tc` sent. An average of 2^40 shows the table: behind
/// the first cells it is shifted by the cell's number.
#[test]
fn the_parameters_are_those_that_tc_sends() {
    let mut cells = 0;
    for one in ["red", "choke"].into_iter().flat_map(crate::tc_numbers::of) {
        let args = crate::registry::parse_line(&one.line).unwrap().in_release(one.release);
        let is_red = args.spec.name == "red";
        let asked = if is_red { asked(&args) } else { crate::aqm::choke::asked(&args) };
        let params = asked.set_up(Some(args.get(&BANDWIDTH))).unwrap();
        let (min, max) = (one.get("cfg_min"), one.get("cfg_max"));
        assert_eq!(u64::from(params.wlog), one.get("cfg_wlog"), "{}", one.line);
        let thresholds = (params.qth_min >> params.wlog, params.qth_max >> params.wlog);
        assert_eq!(thresholds, (min, max), "{}", one.line);
        let idle = params.idle.as_ref().unwrap();
        for (cell, shift) in one.text("cfg_stab").split(' ').enumerate() {
            let since = Duration::from_micros((cell as u64) << one.get("cfg_scell_log"));
            let found = idle.decay(1 << 40, since);
            let shift: u32 = shift.parse().unwrap();
            let expected = if shift > 0 || cell > 0 { 1 << (40 - shift.max(1)) } else { 1 << 40 };
            assert_eq!(found, expected, "{:?} {}: cell {cell}", one.release, one.line);
            cells += 1;
        }
    }
    assert!(cells > 20 * 256, "only {cells} cells were compared");
}

/// The probability in the kernel must be Linux's, also where `tc` sends none (`probability 1`).
#[test]
fn max_p_is_that_of_tc_and_linux() {
    let mut compared = 0;
    for one in crate::tc_numbers::of("red") {
        let args = crate::registry::parse_line(&one.line).unwrap().in_release(one.release);
        let expected = if one.get("cfg_max_P") > 0 { "cfg_max_P" } else { "kernel_cfg_max_P" };
        let found = Red::build(&args, &LINK).unwrap().vars.max_p;
        assert_eq!(u64::from(found), one.get(expected), "{}", one.line);
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} lines were compared");
}
