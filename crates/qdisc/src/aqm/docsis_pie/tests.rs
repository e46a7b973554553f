use super::*;
use crate::packet::Plain;
use crate::signal::Mark;
use goodqueue_units::{Ecn, Rate};

static SPEC: QdiscSpec = DocsisPie::SPEC;
/// The size at which a packet's probability is p itself.
const MEAN: u32 = 1024;

/// Dice that always show the same number, and the drops that were reported.
struct Fixed(u32, std::vec::Vec<Drop>);

impl Owner<Plain> for Fixed {
    fn dropped(&mut self, _packet: Plain, why: Drop) {
        self.1.push(why);
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {
        panic!("DOCSIS-PIE does not mark (4.7)");
    }
    fn random_u32(&mut self) -> u32 {
        self.0
    }
    fn random_u64(&mut self) -> u64 {
        u64::from(self.0) << 32
    }
}

fn made(words: &str) -> Result<DocsisPie, Error> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    DocsisPie::build(&Args::parse(&SPEC, words).unwrap(), &link)
}

fn docsis(words: &str) -> DocsisPie {
    made(words).unwrap()
}

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn assert_close(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() < 1e-12, "{what}: {got}, not {want}");
}

/// Returns an active state without burst protection, at `drop_prob` and with an earlier delay of `ms`.
fn active(drop_prob: f64, ms: f64) -> Vars {
    Vars { drop_prob, qdelay_old: ms / 1e3, state: State::Active, ..Vars::INIT }
}

/// Returns p after an update at a delay of `now` ms, from `drop_prob` at `old` ms.
fn updated(drop_prob: f64, now: f64, old: f64) -> f64 {
    let mut vars = active(drop_prob, old);
    vars.update(&docsis("").params, now / 1e3);
    vars.drop_prob
}

/// A.2 and 4.2, at 10 Mbit/s sustained and 20 Mbit/s peak: with a credit of 10000 bytes, 20000 bytes take 8 + 4 ms,
/// and 5000 bytes take 2 ms. A frame costs 1514 bytes of credit, 1 ms brings 1250 back, and 10000 is the limit.
#[test]
fn the_delay_follows_from_both_rates_and_the_credit() {
    let mut law = docsis("msr 10mbit peak_rate 20mbit burst 10000");
    assert_close(law.predict(at(0), 20_000.0), 0.012, "beyond the credit");
    assert_close(law.predict(at(0), 5_000.0), 0.002, "within the credit");
    law.bucket.spend(&law.params, at(0), 1514);
    assert_close(law.bucket.tokens_at(&law.params, at(1)), 9736.0, "credit returns");
    assert_close(law.bucket.tokens_at(&law.params, at(2)), 10_000.0, "no more than the burst");
    assert_close(law.predict(at(1), 9736.0 + 1250.0), 0.0048944, "1 ms beyond the credit");
    law.bucket.spend(&law.params, at(2), 20_000);
    assert_close(law.predict(at(2), 1250.0), 0.001, "no debt");
}

/// Without parameters both rates are the link's, and the delay must be backlog over rate whatever the credit is.
#[test]
fn the_links_rate_is_the_default() {
    let mut law = docsis("");
    assert_close(law.predict(at(0), 12_500.0), 0.01, "with credit");
    law.bucket.spend(&law.params, at(0), 3000);
    assert_close(law.predict(at(0), 12_500.0), 0.01, "without");
    assert_eq!(law.params.limit, 312_500, "250 ms");
    assert_eq!(docsis("msr 100kbit").params.limit, 15_140, "ten full frames");
    assert_close(docsis("msr 5mbit").params.peak_rate, 1_250_000.0, "the link's");
    assert_close(docsis("msr 50mbit").params.peak_rate, 6_250_000.0, "as fast as msr");
    assert_close(docsis("peak_rate 5mbit").params.msr, 625_000.0, "as slow as the peak");
    assert!(made("msr 5mbit peak_rate 4mbit").is_err());
}

/// A.2: a standing delay of 14 ms gives 0.25 * 4 ms = 0.1 points, times the gain of the rung for this p.
#[test]
fn the_gains_are_tuned_to_p_from_1e_6_to_10() {
    let ladder = [
        (0.0, 1.0 / 2048.0),
        (2e-6, 1.0 / 512.0),
        (2e-5, 1.0 / 128.0),
        (2e-4, 1.0 / 32.0),
        (2e-3, 1.0 / 8.0),
        (0.02, 0.5),
        (0.1, 2.0),
        (0.99, 2.0),
        (1.0, 8.0),
        (9.9, 8.0),
    ];
    for (p, gain) in ladder {
        assert_close(updated(p, 14.0, 14.0), p + 0.001 * gain, "a rung");
    }
    // 10.5 ms: 0.25 * 0.5 ms * 32 = 0.004, below the cap.
    assert_close(updated(10.0, 10.5, 10.5), 10.004, "the last rung");
    // 4 ms more than before, at target: 2.5 * 4 ms / 2.
    assert_close(updated(0.05, 10.0, 6.0), 0.055, "the trend");
    assert_close(updated(0.05, 10.0, 14.0), 0.045, "the trend down");
}

/// A.2: from 0.1 on a step up is at most 2 points, and a step down has no cap. Above 200 ms p rises by 2 points more.
/// Below 5 ms twice, p falls by 2 %. The maximum is 13.6 = 0.85 * 1024 / 64.
#[test]
fn steps_are_capped_and_the_special_cases_apply() {
    assert_close(updated(0.1, 100.0, 100.0), 0.12, "capped: 0.25 * 90 ms * 2 = 4.5 points");
    assert_close(updated(0.09, 50.0, 10.0), 0.09 + (0.01 + 0.1) / 2.0, "no cap below 0.1");
    assert_close(updated(0.5, 10.0, 50.0), 0.3, "down: 2.5 * 40 ms * 2");
    assert_close(updated(0.1, 201.0, 201.0), 0.14, "above 200 ms");
    assert_close(updated(0.1, 200.0, 200.0), 0.12, "at 200 ms");
    // 0.25 * 6 ms * 2 = 0.3 points down, then 2 %.
    assert_close(updated(0.5, 4.0, 4.0), 0.497 * 0.98, "decay");
    assert_close(updated(0.5, 5.0, 5.0), 0.4975, "5 ms is not below");
    assert_close(updated(13.59, 300.0, 300.0), 13.6, "the end");
    assert_close(updated(0.001, 0.0, 10.0), 0.0, "not below 0");
}

/// 4.6: p is scaled by size, at most to 0.85. 4.4's example: at p = 8 half of the 64-byte packets are dropped.
#[test]
fn the_probability_follows_the_size() {
    let law = docsis("");
    let p1 = |drop_prob, len| {
        let mut vars = active(drop_prob, 50.0);
        vars.drop_early(&law.params, 100_000, len, || 1.0);
        vars.accu_prob
    };
    assert_close(p1(8.0, 64), 0.5, "the RFC's example");
    assert_close(p1(0.1, 512), 0.05, "half the mean size");
    assert_close(p1(0.1, 2048), 0.2, "twice");
    assert_close(p1(8.0, 2048), 0.85, "the most");
}

/// A.3: the sum must reach 0.85 before the dice count, and at 8.5 the packet is dropped in any case. A drop and a p
/// of 0 must reset the sum.
#[test]
fn drops_are_spaced_between_a_sum_of_0_85_and_8_5() {
    let law = docsis("");
    let first_drop = |dice: f64| {
        let mut vars = active(0.125, 50.0);
        let first = (1..100).find(|_| vars.drop_early(&law.params, 100_000, MEAN, || dice));
        assert_close(vars.accu_prob, 0.0, "used up");
        first
    };
    assert_eq!(first_drop(0.0), Some(7), "0.85 / 0.125 = 6.8");
    assert_eq!(first_drop(0.125), Some(7), "a tie drops");
    assert_eq!(first_drop(0.126), Some(68), "8.5 / 0.125");
    let mut vars = Vars { accu_prob: 5.0, ..active(0.0, 50.0) };
    assert!(!vars.drop_early(&law.params, 100_000, MEAN, || 0.0));
    assert_close(vars.accu_prob, 0.0, "p is 0");
}

/// A.3: no drop at two mean packets or less, nor below half the target with p below 0.2. Unlike in RFC 8033, the sum
/// grows in these cases.
#[test]
fn the_guards_hold_back_even_the_worst_dice() {
    let law = docsis("");
    let drops = |mut vars: Vars, backlog| {
        vars.accu_prob = 8.5;
        let dropped = vars.drop_early(&law.params, backlog, MEAN, || 0.0);
        assert!(dropped || vars.accu_prob > 8.5 || vars.burst_allowance > Duration::ZERO);
        dropped
    };
    assert!(drops(active(0.1, 50.0), 2049));
    assert!(!drops(active(0.1, 50.0), 2048), "two mean packets");
    assert!(!drops(active(0.1, 4.9), 5000), "less than half of 10 ms");
    assert!(drops(active(0.1, 5.0), 5000), "half of it");
    assert!(drops(active(0.2, 0.0), 5000), "p of 0.2");
    assert!(!drops(Vars { burst_allowance: INTERVAL, ..active(0.1, 50.0) }, 5000), "burst protection");
}

/// 4.3: the states must follow one another in a full circle, in a buffer of 30000 bytes.
#[test]
fn the_states_follow_the_queue() {
    let law = docsis("limit 30000");
    let mut vars = Vars { drop_prob: 1.0, qdelay_old: 0.05, ..Vars::INIT };
    let arrive = |vars: &mut Vars, backlog| vars.drop_early(&law.params, backlog, MEAN, || 0.0);
    assert!(!arrive(&mut vars, 9999));
    assert_eq!((vars.state, vars.accu_prob), (State::Inactive, 0.0), "less than a third");
    assert!(arrive(&mut vars, 10_000), "p of 0.85 is enough at once");
    let protection = Duration::from_millis(142); // A.1.2: MAX_BURST
    assert_eq!((vars.state, vars.burst_allowance), (State::Active, protection), "the one early drop");
    // 142 ms are nine updates, in which p is 0 at any delay. After eight updates 142 - 8 * 16 = 14 ms are left.
    for left_ms in [126, 110, 94, 78, 62, 46, 30, 14, 0] {
        assert!(!arrive(&mut vars, 29_000));
        vars.update(&law.params, 0.1);
        assert_close(vars.drop_prob, 0.0, "protected");
        assert_eq!(vars.burst_allowance, Duration::from_millis(left_ms));
    }
    assert_eq!(vars.burst_allowance, Duration::ZERO);
    vars.update(&law.params, 0.1);
    assert!(vars.drop_prob > 0.0);
    // Quiet: p at 0, two delays below half the target.
    vars.drop_prob = 0.0;
    vars.update(&law.params, 0.0049);
    assert_eq!(vars.state, State::Active, "the delay before was 100 ms");
    vars.update(&law.params, 0.0049);
    assert_eq!(vars.state, State::Quiescent);
    // More than a second: 63 updates of 16 ms. An update that is not quiet starts the second anew.
    (0..62).for_each(|_| vars.update(&law.params, 0.0));
    vars.update(&law.params, 0.006);
    assert_eq!((vars.state, vars.burst_reset), (State::Quiescent, Duration::ZERO));
    vars.update(&law.params, 0.0);
    (0..62).for_each(|_| vars.update(&law.params, 0.0));
    assert_eq!((vars.state, vars.burst_reset), (State::Quiescent, Duration::from_millis(992)));
    vars.update(&law.params, 0.0);
    assert_eq!(vars.state, State::Inactive);
}

/// A.2 compares by `<`: delays of exactly half the target are not quiet, and delays of exactly 5 ms are not low.
#[test]
fn on_a_threshold_is_not_below_it() {
    let law = docsis("");
    for (now, old, quiet) in [(4.999, 4.999, true), (5.0, 4.999, false), (4.999, 5.0, false)] {
        let mut vars = active(0.0, old);
        vars.burst_allowance = Duration::from_millis(16); // p stays 0, whatever the delays
        vars.update(&law.params, now / 1e3);
        assert_eq!(vars.state == State::Quiescent, quiet, "{now} ms after {old} ms");
    }
    // p of 0.5 with delays from 5 to 4 ms: 0.25 * -6 ms * 2 + 2.5 * -1 ms * 2, without the decay of 2 %.
    assert_close(updated(0.5, 4.0, 5.0), 0.5 - 0.003 - 0.005, "from 5 ms");
    assert_close(updated(0.5, 5.0, 4.0), 0.5 - 0.0025 + 0.005, "to 5 ms");
}

/// The law as a whole: a full buffer must refuse and reset the sum, updates must come every 16 ms, and ECN must not
/// help.
#[test]
fn packets_are_dropped_by_law_and_by_limit() {
    let (mut law, mut queue) = (docsis("limit 10000"), Fifo::default());
    let mut owner = Fixed(0, std::vec::Vec::new());
    for _ in 0..7 {
        law.vars.accu_prob = 5.0;
        let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(1514) };
        law.enqueue(at(0), packet, &mut queue, &mut owner);
    }
    assert_eq!((queue.bytes(), owner.1.as_slice()), (9084, [Drop::Overlimit].as_slice()));
    assert_close(law.vars.accu_prob, 0.0, "the sum after a full buffer");
    assert_eq!(law.next_timer(), Some(at(16)));
    law.on_timer(at(16), &queue);
    assert_eq!(law.next_timer(), Some(at(32)));
    // 9084 bytes at 10 Mbit/s are 7.2672 ms. This is below target, but rises from 0: 2.5 * 7.2672 - 0.25 * 2.7328 ms.
    assert_close(law.vars.qdelay_old, 0.0072672, "the delay");
    assert_close(law.vars.drop_prob, (2.5 * 0.0072672 - 0.25 * 0.0027328) / 2048.0, "p");
    (law.vars.drop_prob, law.vars.state) = (1.0, State::Active);
    law.dequeue(at(16), &mut queue, &mut owner);
    let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(1024) };
    assert_eq!(law.enqueue(at(16), packet, &mut queue, &mut owner), Enqueued::Dropped);
    assert_eq!(owner.1.last(), Some(&Drop::Early));
}

/// A packet that fills the buffer to its last byte must be accepted.
#[test]
fn a_limit_in_bytes_is_the_most_that_may_wait() {
    let (mut law, mut queue) = (docsis("limit 15140"), Fifo::default());
    let mut owner = Fixed(u32::MAX, std::vec::Vec::new());
    for _ in 0..11 {
        law.enqueue(at(0), Plain::new(1514), &mut queue, &mut owner);
    }
    assert_eq!((queue.bytes(), owner.1.as_slice()), (15_140, [Drop::Overlimit].as_slice()));
}

/// A.3 draws a number below 1. At p = 0.5 half of all draws drop a packet of 1024 bytes: the lower half of what 32
/// random bits show. With another scale of the draw the law would drop always or never.
#[test]
fn half_of_all_draws_drop_at_half() {
    let dropped = |dice| {
        let (mut law, mut queue, mut owner) =
            (docsis(""), Fifo::default(), Fixed(dice, std::vec::Vec::new()));
        (0..3).for_each(|_| queue.push(Plain::new(1514)));
        law.vars = Vars { accu_prob: 0.85, ..active(0.5, 50.0) };
        law.enqueue(at(0), Plain::new(MEAN), &mut queue, &mut owner);
        owner.1.len()
    };
    let half = 1 << 31;
    assert_eq!([0, half / 2, half, half + 1, u32::MAX].map(dropped), [1, 1, 1, 0, 0]);
}
