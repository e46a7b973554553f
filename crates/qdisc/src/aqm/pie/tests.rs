use super::linux::Vars;
use super::*;
use crate::packet::Plain;
use goodqueue_units::{Ecn, Rate};
use std::string::ToString;
use std::vec::Vec;

static SPEC: QdiscSpec = Pie::SPEC;
pub(super) const NEVER: u64 = u64::MAX;
pub(super) const FULL: u32 = 1514;

/// Dice that always show the same number, and the drops and marks that were reported.
pub(super) struct Fixed(pub(super) u64, pub(super) Vec<Drop>, pub(super) u32);

impl Owner<Plain> for Fixed {
    fn dropped(&mut self, _packet: Plain, why: Drop) {
        self.1.push(why);
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {
        self.2 += 1;
    }
    fn random_u32(&mut self) -> u32 {
        self.0 as u32
    }
    fn random_u64(&mut self) -> u64 {
        self.0
    }
}

pub(super) fn pie(words: &str) -> Pie {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: FULL };
    Pie::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
}

/// Returns the state of Linux's law at rest, with p of `prob`.
pub(super) fn at(pie: &Pie, prob: u64) -> Vars {
    Vars { control: Control { prob, accu_prob: 0 }, ..Vars::new(&pie.params) }
}

pub(super) fn ms(ms: u64) -> u64 {
    ticks(Duration::from_millis(ms))
}

/// Compares percentages. Linux's scale has no round numbers for a probability of one, so a difference of a millionth of
/// a point is accepted.
pub(super) fn assert_percent(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() < 1e-6 * want.abs().max(1.0), "{what}: {got} %, not {want} %");
}

/// Returns by how many percent p changes in one update, from `p` percent and with these delays in ms.
pub(super) fn step(words: &str, p: f64, delay: u64, old: u64) -> f64 {
    let pie = pie(words);
    let control = Control { prob: (p / 100.0 * MAX_PROB as f64) as u64, accu_prob: 0 };
    control.step(&pie.params, ms(delay), ms(old)) as f64 / MAX_PROB as f64 * 100.0
}

/// Otherwise a result's line would hide that the papers' PIE ran with other numbers.
#[test]
fn each_variant_prints_its_own_defaults() {
    let line = |words| Args::parse(&SPEC, words).unwrap().to_string();
    assert_eq!(
        line(""),
        "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator variant linux"
    );
    assert_eq!(
        line("variant draft2013 target 5ms"),
        "pie limit 1000 target 5ms tupdate 30ms alpha 2 beta 20 noecn nobytemode dq_rate_estimator variant draft2013"
    );
    assert_eq!(
        line("variant rfc8033"),
        "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator auto_inactive variant rfc8033"
    );
}

/// 4.2: while the queue is empty p decays, by 1/64 in Linux and by 2 % in 2013, after the controller's own step of
/// -0.125 * target: (50 - 0.1875) * 63/64 and (50 - 0.25) * 0.98. Without the decay p would outlive an idle time.
#[test]
fn p_decays_while_both_delays_are_zero() {
    let after = |words: &str, backlog| {
        let pie = pie(words);
        let mut vars = at(&pie, MAX_PROB / 2);
        vars.update(&pie.params, backlog);
        vars.control.prob as f64 / MAX_PROB as f64 * 100.0
    };
    assert_percent(after("", 0), 49.8125 * 63.0 / 64.0, "linux");
    assert_percent(after("variant draft2013", 0), 49.75 * 0.98, "draft2013");
    // A backlog whose delay is zero only because the rate is not known yet is no idle queue.
    assert_percent(after("variant draft2013", 5000), 49.75, "rate not known");
}

/// p must not exceed 1 in the papers' PIE. Linux tests only for an overflow of 64 bits: `golden/pie` has p = 2.4.
#[test]
fn only_the_papers_pie_stops_at_one() {
    let grown = |words: &str| {
        let pie = pie(words);
        let mut vars = Vars { qdelay: ms(300), qdelay_old: ms(300), ..at(&pie, MAX_PROB) };
        vars.update(&pie.params, 1_000_000);
        vars.control.prob as f64 / MAX_PROB as f64 * 100.0
    };
    assert_percent(grown("variant draft2013 no_dq_rate_estimator"), 100.0, "draft2013");
    assert_percent(grown(""), 104.0, "linux");
}

/// 4.1 and 4.4: there must be no drop while the burst allowance lasts, none at less than half the target with p under
/// 20 %, and none before two full frames (3028 bytes) wait. Otherwise dice of 0 drop every packet.
#[test]
fn the_guards_of_4_1_hold_back_even_the_worst_dice() {
    let pie = pie("variant draft2013");
    let ready = Vars { qdelay: ms(50), burst_time: 0, ..at(&pie, MAX_PROB / 10) };
    let drops = |mut vars: Vars, backlog| vars.drop_early(&pie.params, backlog, FULL, || 0);
    assert!(drops(ready, 3028));
    assert!(!drops(ready, 3027), "less than two full frames");
    assert!(!drops(Vars { burst_time: 1, ..ready }, 3028), "burst allowance");
    assert!(!drops(Vars { qdelay: ms(10) - 1, ..ready }, 3028), "below half of 20 ms");
    assert!(drops(Vars { qdelay: ms(10), ..ready }, 3028), "half the target is not below it");
    assert!(drops(Vars { qdelay: 0, burst_time: 0, ..at(&pie, MAX_PROB / 4) }, 3028), "p above 20 %");
}

/// 4.4: the allowance of 150 ms starts with the first departure, and the time between departures uses it up. The
/// state starts anew once p is 0 and both delays are under half the target. An allowance that never returned would
/// punish every new burst.
#[test]
fn the_burst_allowance_is_used_up_by_departures_and_returns_when_all_is_quiet() {
    let pie = pie("");
    let mut vars = at(&pie, 0);
    let mut leave = |at: u64| {
        let packet = Plain { arrival: Instant::ZERO, ..Plain::new(FULL) };
        vars.dequeued(&pie.params, Instant::ZERO + Duration::from_millis(at), &packet, 10_000);
        vars.burst_time
    };
    assert_eq!(leave(10), ms(150), "the first departure only starts the clock");
    assert_eq!(leave(110), ms(50));
    assert_eq!(leave(200), 0);
    let restarted = |vars: Vars| {
        let mut vars = Vars { burst_time: 0, ..vars };
        vars.update(&pie.params, 0);
        vars.burst_time == ms(150)
    };
    let quiet = Vars { qdelay: ms(7), qdelay_old: ms(7), ..vars };
    assert!(restarted(quiet));
    assert!(!restarted(Vars { qdelay: ms(8), qdelay_old: ms(8), ..quiet }), "half of 15 ms is 7.5 ms");
    assert!(!restarted(Vars { qdelay_old: ms(8), ..quiet }), "two updates in a row must be quiet");
    assert!(
        !restarted(Vars { qdelay: ms(7), qdelay_old: ms(7), ..at(&pie, MAX_PROB / 100) }),
        "p must have come down to 0"
    );
}

/// As Schwardmann et al. word it: after two low delays all packets pass for 100 ms, at any p, and p stays as it is.
#[test]
fn with_rearm_the_burst_allowance_returns_whatever_p() {
    let after = |line: &str, before| {
        let pie = pie(line);
        let rest = at(&pie, MAX_PROB / 4);
        let mut vars = Vars { burst_time: 0, qdelay: ms(before), avg_dq_rate: 1 << 24, ..rest };
        vars.update(&pie.params, ms(9)); // as many bytes, at one byte per tick
        (vars.burst_time, vars.control.prob > MAX_PROB / 5)
    };
    assert_eq!(after("variant draft2013 rearm", 9), (ms(100), true), "both are under half of 20 ms");
    assert_eq!(after("variant draft2013 rearm", 11), (0, true), "one is not enough");
    assert_eq!(after("variant draft2013", 9), (0, true));
}

/// After a quiet time the rate must be measured anew before there is a delay again, except with `keep_rate`. In both
/// cases the burst allowance must return.
#[test]
fn with_keep_rate_the_departure_rate_outlives_a_quiet_time() {
    for (line, rate) in [("variant draft2013", 0), ("variant draft2013 keep_rate", 1 << 24)] {
        let pie = pie(line);
        let mut vars = Vars { burst_time: 0, qdelay: ms(1), avg_dq_rate: 1 << 24, ..at(&pie, 0) };
        vars.update(&pie.params, ms(1)); // as many bytes, at one byte per tick
        assert_eq!((vars.avg_dq_rate, vars.burst_time), (rate, ms(100)), "{line}");
        vars.update(&pie.params, ms(30));
        assert_eq!(vars.qdelay, if rate > 0 { ms(30) } else { 0 }, "{line}");
    }
}

/// When all is quiet the state must start anew, except the delays and the backlog, which the next update needs. With
/// `keep_rate` the running measurement of the rate goes on, too.
#[test]
fn what_a_fresh_start_keeps() {
    for (line, kept) in
        [("variant draft2013", (None, None)), ("variant draft2013 keep_rate", (Some(7), Some(9)))]
    {
        let pie = pie(line);
        let (dq_count, dq_tstamp) = (Some(7), Some(9));
        let mut vars = Vars { qdelay: ms(2), avg_dq_rate: 1 << 24, dq_count, dq_tstamp, ..at(&pie, 0) };
        vars.update(&pie.params, ms(1)); // as many bytes, at one byte per tick
        assert_eq!((vars.qdelay, vars.qdelay_old, vars.backlog_old), (ms(1), ms(2), ms(1)), "{line}");
        assert_eq!((vars.dq_count, vars.dq_tstamp), kept, "{line}");
    }
}

/// 5.2: 10000 bytes are enough backlog to begin a measurement, enough departed bytes to end it, and enough backlog to
/// begin the next one.
#[test]
fn a_measurement_needs_no_more_than_its_threshold() {
    let pie = pie("variant draft2013");
    let mut vars = at(&pie, 0);
    let mut leave = |tick: u64, len, backlog| {
        vars.dequeued(&pie.params, Instant::from_nanos(tick << 6), &Plain::new(len), backlog);
        (vars.dq_count, vars.avg_dq_rate >> pie.params.rules.rate_bits)
    };
    assert_eq!(leave(1000, 1000, 9_999), (None, 0), "one byte too few");
    assert_eq!(leave(2000, 1000, 10_000), (Some(1000), 0), "it begins");
    assert_eq!(leave(3000, 9000, 10_000), (Some(0), 10), "10000 bytes in 1000 ticks; the next one begins");
    assert_eq!(leave(4000, 10_000, 9_999), (None, 10), "it ends, and no other begins");
}

/// A word must not be accepted where it would have no effect.
#[test]
fn words_of_the_papers_pie_are_refused_elsewhere() {
    for line in ["rearm", "norearm", "keep_rate", "ecn_prob 100", "variant rfc8033 rearm"] {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: FULL };
        let found = Pie::build(&Args::parse(&SPEC, line).unwrap(), &link).err().unwrap().to_string();
        assert!(found.ends_with("only variant draft2013 has it"), "{found}");
    }
}

/// 5.2 at 10 Mbit/s, where a full frame takes 1.2112 ms. A measurement begins with the departure that leaves 10000
/// bytes behind, and counts that packet. It ends with the seventh packet (10598 bytes) six frames later, which gives
/// 7/6 of the rate. The second measurement takes seven frames for seven packets: 10 Mbit/s, and an eighth of the
/// error is gone. With that rate 100000 bytes are 80 ms of delay over 1 + 7/8 * 1/6 = 1.14583. 13 frames of the
/// allowance of 100 ms are used up.
#[test]
fn the_papers_pie_derives_the_delay_from_the_departure_rate() {
    let pie = pie("variant draft2013");
    let mut vars = at(&pie, 0);
    let frame = Duration::from_nanos(1_211_200);
    let mut now = Instant::from_nanos(1_000_000_000);
    vars.update(&pie.params, 100_000);
    assert_eq!(vars.qdelay, 0, "no rate, no delay");
    for _ in 0..14 {
        vars.dequeued(&pie.params, now, &Plain::new(FULL), 100_000);
        now += frame;
    }
    vars.update(&pie.params, 100_000);
    let delay = vars.qdelay as f64 * 64e-6;
    assert!((delay - 80.0 / (1.0 + 7.0 / 48.0)).abs() < 0.001, "{delay} ms");
    let left = vars.burst_time as f64 * 64e-6;
    assert!((left - (100.0 - 13.0 * 1.2112)).abs() < 0.001, "{left} ms");
}

/// 5.1: PIE marks up to p = 10 % and drops above, so that unresponsive senders cannot hide behind ECN.
#[test]
fn ecn_packets_are_marked_up_to_ten_percent() {
    let fate_by = |line: &str, prob, ecn| {
        let (mut pie, mut queue, mut owner) = (pie(line), Fifo::default(), Fixed(0, Vec::new(), 0));
        pie.law = Law::Linux(Vars { qdelay: ms(50), burst_time: 0, ..at(&pie, prob) });
        (0..3).for_each(|_| queue.push(Plain::new(FULL)));
        let packet = Plain { ecn, ..Plain::new(FULL) };
        pie.enqueue(Instant::ZERO, packet, &mut queue, &mut owner);
        (queue.len() - 3, owner.2, owner.1.len())
    };
    let fate = |prob, ecn| fate_by("variant draft2013 ecn", prob, ecn);
    assert_eq!(fate_by("variant draft2013 ecn ecn_prob 100", MAX_PROB, Ecn::Ect0), (1, 1, 0), "whatever p");
    assert_eq!(
        fate_by("variant draft2013 ecn ecn_prob 0", MAX_PROB / 10, Ecn::Ect0),
        (0, 0, 1),
        "hardly any"
    );
    assert_eq!(
        fate_by("variant draft2013 ecn ecn_prob 10", MAX_PROB / 2, Ecn::Ect0),
        (0, 0, 1),
        "above 10 %"
    );
    assert_eq!(fate(MAX_PROB / 10, Ecn::Ect0), (1, 1, 0), "queued and marked");
    assert_eq!(fate(MAX_PROB / 10 + 1, Ecn::Ect0), (0, 0, 1), "p above 10 %");
    assert_eq!(fate(MAX_PROB / 10, Ecn::NotEct), (0, 0, 1), "not capable");
    assert_eq!(fate(MAX_PROB / 10, Ecn::Ce), (1, 0, 0), "marked upstream: not told again, not dropped");
}

/// Linux's 15 ms are 4 jiffies and one step of the timer wheel: 20 ms, as the updates in `golden/pie` show. Updates
/// every 15 ms would move p a third faster than Linux does. The first update is set for 125 jiffies and comes after
/// 128.
#[test]
fn linux_counts_tupdate_in_jiffies() {
    let beat = |words| {
        let mut pie = pie(words);
        let first = pie.next_timer().unwrap();
        pie.on_timer::<Plain>(first, &Fifo::default());
        (first.as_nanos() / 1_000_000, pie.next_timer().unwrap().since(first).as_nanos() / 1_000_000)
    };
    assert_eq!(beat(""), (512, 20));
    assert_eq!(beat("tupdate 32ms"), (512, 36));
    assert_eq!(beat("variant draft2013"), (500, 30));
    assert_eq!(beat("variant rfc8033"), (15, 15));
}

/// The first update comes 500 ms after the start, then one every tupdate. A late call must not shift the schedule.
#[test]
fn updates_keep_their_beat() {
    let mut pie = pie("variant draft2013 tupdate 15ms");
    let at = |ms: u64| Some(Instant::from_nanos(ms * 1_000_000));
    assert_eq!(pie.next_timer(), at(500));
    pie.on_timer::<Plain>(at(501).unwrap(), &Fifo::default());
    assert_eq!(pie.next_timer(), at(515));
    pie.on_timer::<Plain>(at(600).unwrap(), &Fifo::default());
    assert_eq!(pie.next_timer(), at(615), "beats that were missed are not made up for");
}

/// sch_pie.c compares with `target / 2` by `<`: 15 ms are 234375 ticks, and half of them 117187. A delay of 117187 is
/// not less, neither before a drop nor for a fresh start.
#[test]
fn half_the_target_to_the_tick_is_not_below_half() {
    let pie = pie("");
    let half = 117_187;
    assert_eq!(ms(15) / 2, half);
    let ready = Vars { burst_time: 0, ..at(&pie, MAX_PROB / 10) };
    let ready = Vars { control: Control { accu_prob: MAX_PROB, ..ready.control }, ..ready };
    let drops = |mut vars: Vars| vars.drop_early(&pie.params, 10_000, FULL, || 0);
    assert!(!drops(Vars { qdelay: half - 1, ..ready }));
    assert!(drops(Vars { qdelay: half, ..ready }));
    let fifth = |prob| Vars { control: Control { prob, accu_prob: MAX_PROB }, qdelay: 0, ..ready };
    assert!(!drops(fifth(MAX_PROB / 5 - 1)));
    assert!(drops(fifth(MAX_PROB / 5)), "p of a fifth is not below a fifth");
    let restarts = |qdelay, qdelay_old| {
        let mut vars = Vars { qdelay, qdelay_old, burst_time: 0, ..at(&pie, 0) };
        vars.update(&pie.params, 0);
        vars.burst_time == ms(150)
    };
    assert!(restarts(half - 1, half - 1));
    assert!(!restarts(half, half - 1), "the delay of now");
    assert!(!restarts(half - 1, half), "the delay before");
}

/// sch_pie.c, "at least one estimate for the avg_dq_rate": before the departure rate is known the delay is 0, which
/// is no quiet time. A fresh start at each update would end every measurement before its 16384 bytes, and give the
/// burst allowance back.
#[test]
fn a_queue_whose_rate_is_not_known_is_not_quiet() {
    let pie = pie("dq_rate_estimator");
    for (avg_dq_rate, kept) in [(0, (0, Some(9000))), (256, (ms(150), None))] {
        let mut vars = Vars { avg_dq_rate, burst_time: 0, dq_count: Some(9000), ..at(&pie, 0) };
        vars.update(&pie.params, 0);
        assert_eq!((vars.burst_time, vars.dq_count), kept, "{avg_dq_rate}");
    }
}

/// sch_pie.c counts each packet that it takes (`packets_in`), marks (`ecn_mark`), refuses because `limit` packets wait
/// (`overlimit`) and drops for whatever reason (`dropped`). The packet that empties the queue has no delay.
#[test]
fn a_full_queue_refuses_and_all_fates_are_counted() {
    let (mut pie, mut queue, mut owner) = (pie("limit 5 ecn"), Fifo::default(), Fixed(0, Vec::new(), 0));
    let mut offer = |pie: &mut Pie, queue: &mut Fifo<Plain>, ecn| {
        let packet = Plain { ecn, ..Plain::new(FULL) };
        pie.enqueue(Instant::ZERO, packet, queue, &mut owner) == Enqueued::Success
    };
    assert!((0..3).all(|_| offer(&mut pie, &mut queue, Ecn::NotEct)));
    let ready = Control { prob: MAX_PROB / 10, accu_prob: MAX_PROB };
    for (ecn, queued) in [(Ecn::Ect0, true), (Ecn::NotEct, false), (Ecn::Ect0, true)] {
        pie.law = Law::Linux(Vars { control: ready, qdelay: ms(50), burst_time: 0, ..at(&pie, 0) });
        assert_eq!(offer(&mut pie, &mut queue, ecn), queued, "{ecn:?}");
    }
    pie.law = Law::Linux(at(&pie, 0));
    assert!((0..3).all(|_| !offer(&mut pie, &mut queue, Ecn::NotEct)), "five wait");
    let Stats { packets_in, dropped, overlimit, ecn_mark, .. } = pie.stats;
    assert_eq!((packets_in, dropped, overlimit, ecn_mark), (5, 4, 3, 2));
    assert_eq!(owner.1, [[Drop::Early].as_slice(), &[Drop::Overlimit; 3]].concat());
    let now = Instant::ZERO + Duration::from_millis(20);
    let mut delays = Vec::new();
    while pie.dequeue(now, &mut queue, &mut owner).is_some() {
        delays.push(pie.law.shown(&pie.params).qdelay);
    }
    assert_eq!(delays, [ms(20), ms(20), ms(20), ms(20), 0]);
}
