use super::super::tests::{FULL, Fixed, NEVER, assert_percent, ms, pie, step};
use super::super::{Aqm, Law, MAX_PROB, Pie, linux};
use super::{Control, Vars};
use crate::fifo::Fifo;
use crate::packet::Plain;
use goodqueue_units::{Duration, Ecn, Instant};
use std::vec::Vec;

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn rfc(words: &str) -> Pie {
    pie(&std::format!("variant rfc8033 {words}"))
}

fn p(prob: u64) -> Control {
    Control { prob, accu_prob: 0 }
}

/// Returns an active, congested state with p of `percent`.
fn congested(pie: &Pie, percent: u64) -> Vars {
    let control = p(MAX_PROB / 100 * percent);
    let rest = Vars::new(&pie.params);
    Vars { control, qdelay: ms(50), qdelay_old: ms(50), burst_time: 0, active: true, ..rest }
}

fn p_after_update(mut vars: Vars, pie: &Pie, backlog: u64) -> f64 {
    vars.update(&pie.params, backlog);
    vars.control.prob as f64 / MAX_PROB as f64 * 100.0
}

/// 4.1: the guard must use the delay of the last update, and need more than two packets of 1024 bytes.
#[test]
fn the_guard_looks_at_the_last_update_and_at_2048_bytes() {
    let pie = rfc("");
    let control = Control { accu_prob: MAX_PROB, ..p(MAX_PROB / 10) };
    let ready = Vars { control, ..congested(&pie, 10) };
    let drops = |mut vars: Vars, backlog| vars.drop_early(&pie.params, backlog, FULL, || 0);
    assert!(drops(ready, 2049));
    assert!(!drops(ready, 2048), "not more than two mean packets");
    assert!(!drops(Vars { burst_time: 1, ..ready }, 2049), "burst allowance (4.4)");
    assert!(!drops(Vars { qdelay_old: ms(7), ..ready }, 5000), "it was below half of 15 ms");
    assert!(drops(Vars { qdelay: 0, ..ready }, 5000), "what it is now does not count");
    assert!(
        drops(Vars { qdelay_old: 0, control: Control { prob: MAX_PROB / 4, ..control }, ..ready }, 5000),
        "p above 20 %"
    );
}

/// 4.2: p = 50 % loses 0.125 * 15 ms = 0.1875 points and then 2 % of the rest, whether packets wait or not. With
/// one delay above 0 there is no decay. p must stay within 0 and 1.
#[test]
fn p_decays_by_two_percent_when_both_delays_are_zero_and_stays_between_0_and_1() {
    let pie = rfc("");
    let idle = Vars { qdelay: 0, qdelay_old: 0, ..congested(&pie, 50) };
    assert_percent(p_after_update(idle, &pie, 0), 49.8125 * 0.98, "empty");
    assert_percent(p_after_update(idle, &pie, 5000), 49.8125 * 0.98, "not empty");
    // The trend takes 1.25 * 1 ms = 0.125 points more.
    let after = p_after_update(Vars { qdelay_old: ms(1), ..idle }, &pie, 0);
    assert_percent(after, 49.6875, "a delay before");
    let full = Vars { qdelay: ms(300), qdelay_old: ms(300), ..congested(&pie, 99) };
    assert_percent(p_after_update(full, &pie, 5000), 100.0, "99 % and 2 points");
    assert_percent(p_after_update(Vars { control: p(1), ..idle }, &pie, 0), 0.0, "below 0");
}

/// 4.2: each update must remember its delay for the next trend, with time stamps and with the estimator.
#[test]
fn an_update_remembers_its_delay() {
    for (words, delay) in [("", ms(50)), ("dq_rate_estimator", 0)] {
        let pie = rfc(words);
        let mut vars = Vars { qdelay_old: ms(99), ..congested(&pie, 10) };
        vars.update(&pie.params, 5000);
        assert_eq!(vars.qdelay_old, delay, "{words:?}");
    }
}

/// 4.3: the delay must be that of the packet that left last, and 0 when no packet is left.
#[test]
fn the_delay_is_the_last_packets() {
    let pie = rfc("");
    let mut vars = Vars::new(&pie.params);
    let mut leave = |backlog| {
        let packet = Plain { arrival: at(10), ..Plain::new(FULL) };
        vars.dequeued(&pie.params, at(30), &packet, backlog);
        vars.qdelay
    };
    assert_eq!(leave(1514), ms(20));
    assert_eq!(leave(0), 0, "an empty queue has no delay");
}

/// 4.4: 150 ms are ten updates of 15 ms. Departures must not use the allowance up. It must return with the packet
/// that finds p at 0 and both delays below half the target, and not with an update.
#[test]
fn the_burst_allowance_lasts_ten_updates_and_returns_with_a_packet() {
    let pie = rfc("noauto_inactive");
    let mut vars = Vars { burst_time: ms(150), ..congested(&pie, 10) };
    vars.dequeued(&pie.params, at(1000), &Plain::new(FULL), 5000);
    let left: Vec<u64> = (0..10)
        .map(|_| {
            vars.update(&pie.params, 5000);
            vars.burst_time / ms(1)
        })
        .collect();
    assert_eq!(left, [135, 120, 105, 90, 75, 60, 45, 30, 15, 0]);
    let quiet = Vars { qdelay: ms(7), qdelay_old: ms(7), ..congested(&pie, 0) };
    let after = |mut vars: Vars| {
        vars.arrived(&pie.params, at(0), 500, 1000);
        vars.burst_time == ms(150)
    };
    assert!(after(quiet));
    assert!(!after(Vars { control: p(1), ..quiet }), "p is not 0");
    assert!(!after(Vars { qdelay: ms(8), ..quiet }), "the delay of now");
    assert!(!after(Vars { qdelay_old: ms(8), ..quiet }), "the delay before");
    let mut updated = quiet;
    updated.update(&pie.params, 0);
    assert_eq!(updated.burst_time, 0);
}

/// 5.1: the variant must mark below 10 % and drop from 10 % on, where Linux still marks.
#[test]
fn marks_end_before_ten_percent() {
    let fate = |words: &str, prob| {
        let (mut pie, mut queue, mut owner) = (pie(words), Fifo::default(), Fixed(0, Vec::new(), 0));
        let control = Control { prob, accu_prob: MAX_PROB };
        pie.law = match pie.law {
            Law::Rfc8033(_) => Law::Rfc8033(Vars { control, ..congested(&pie, 0) }),
            Law::Linux(rest) => Law::Linux(linux::Vars { control, qdelay: ms(50), burst_time: 0, ..rest }),
        };
        (0..3).for_each(|_| queue.push(Plain::new(FULL)));
        let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(FULL) };
        pie.enqueue(at(0), packet, &mut queue, &mut owner);
        (owner.2, owner.1.len())
    };
    assert_eq!(fate("variant rfc8033 ecn", MAX_PROB / 10 - 1), (1, 0));
    assert_eq!(fate("variant rfc8033 ecn", MAX_PROB / 10), (0, 1));
    assert_eq!(fate("ecn", MAX_PROB / 10), (1, 0), "linux");
}

/// 5.2: 16384 bytes are eleven full frames (16654 bytes), at 10 Mbit/s 13.3232 ms. 100000 bytes then take 100000
/// / 16384 times that, 81.318 ms. Eleven frames at half the rate have the weight 1/4: 16.654 ms, and so 101.648
/// ms.
#[test]
fn the_delay_comes_from_the_time_that_16384_bytes_take() {
    let pie = rfc("dq_rate_estimator noauto_inactive");
    let mut vars = Vars::new(&pie.params);
    let mut now = at(1000);
    let mut delay_after = |frames: u32, frame: u64| {
        for _ in 0..frames {
            vars.dequeued(&pie.params, now, &Plain::new(FULL), 100_000);
            now += Duration::from_nanos(frame);
        }
        vars.update(&pie.params, 100_000);
        vars.qdelay as f64 * 64e-6
    };
    assert_eq!(delay_after(11, 1_211_200), 0.0, "the first departure only begins, ten are too few");
    let delay = delay_after(1, 2_422_400);
    assert!((delay - 81.318).abs() < 0.001, "{delay} ms");
    let delay = delay_after(11, 2_422_400);
    assert!((delay - 101.648).abs() < 0.001, "{delay} ms");
    // Below 16384 bytes no measurement may begin; a running one is finished.
    vars.dq_count = None;
    vars.dequeued(&pie.params, now, &Plain::new(FULL), 16_383);
    assert_eq!(vars.dq_count, None);
}

/// 5.3: PIE is inactive until a third of the limit waits, without drops and updates. It must start with the whole
/// burst allowance and p at 0, and become inactive when all is quiet, but not while a third of the limit waits.
#[test]
fn pie_wakes_at_a_third_and_sleeps_when_all_is_quiet() {
    let pie = rfc("limit 30");
    let asleep = Vars { control: p(MAX_PROB / 2), ..Vars::new(&pie.params) };
    assert!(!asleep.active, "it begins asleep");
    let arrived = |mut vars: Vars, waiting| {
        vars.arrived(&pie.params, at(0), waiting, 30);
        (vars.active, vars.control.prob, vars.burst_time / ms(1))
    };
    assert_eq!(arrived(asleep, 9), (false, MAX_PROB / 2, 150));
    assert_eq!(arrived(asleep, 10), (true, 0, 150), "a third");
    let awake = congested(&pie, 10);
    assert_eq!(arrived(awake, 0), (true, MAX_PROB / 100 * 10, 0), "p is not 0");
    let quiet = Vars { control: p(0), qdelay: 0, qdelay_old: ms(7), ..awake };
    assert_eq!(arrived(quiet, 9), (false, 0, 150));
    assert_eq!(arrived(quiet, 10), (true, 0, 0), "the third waits");
    let mut updated = Vars { qdelay: ms(99), ..asleep };
    updated.update(&pie.params, 99_999);
    assert_eq!((updated.control, updated.burst_time), (asleep.control, ms(150)));
}

/// A change to `noauto_inactive` must activate PIE. Any other change must leave it asleep or awake.
#[test]
fn a_change_wakes_pie_only_without_auto_inactive() {
    for (words, awake, after) in [
        ("", false, false),
        ("", true, true),
        ("noauto_inactive", false, true),
        ("noauto_inactive", true, true),
    ] {
        let pie = rfc(words);
        let mut vars = Vars { active: awake, ..Vars::new(&pie.params) };
        vars.changed(&pie.params);
        assert_eq!(vars.active, after, "{words:?}, {awake}");
    }
}

/// 5.3 as a whole: with dice that would drop every packet, a burst of 40 packets must pass, and the first drop
/// must come when the allowance is used up. Without the inactive state the same must hold from the first packet
/// on.
#[test]
fn a_burst_passes_and_a_standing_queue_does_not() {
    for words in ["limit 90", "limit 90 noauto_inactive"] {
        let (mut pie, mut queue, mut owner) = (rfc(words), Fifo::default(), Fixed(0, Vec::new(), 0));
        let mut offer = |pie: &mut Pie, queue: &mut Fifo<Plain>, now| {
            let packet = Plain { arrival: now, ..Plain::new(FULL) };
            pie.enqueue(now, packet, queue, &mut owner);
            owner.1.len()
        };
        for _ in 0..40 {
            assert_eq!(offer(&mut pie, &mut queue, at(0)), 0);
        }
        assert!(pie.law.shown(&pie.params).active, "{words}");
        // One packet enters and one leaves every 4 ms: each waits 160 ms.
        let dropped = (1..200).find(|i| {
            let now = at(4 * i);
            pie.dequeue(now, &mut queue, &mut Fixed(0, Vec::new(), 0));
            while pie.next_timer().is_some_and(|due| due <= now) {
                pie.on_timer(now, &queue);
            }
            offer(&mut pie, &mut queue, now) > 0
        });
        assert!(dropped.is_some_and(|i| (38..100).contains(&i)), "{words}: {dropped:?}");
    }
}

/// 5.4: a sum of 8.5 acts whatever the dice show, and must be used up even if the packet is only marked.
/// Otherwise all following packets would be marked.
#[test]
fn a_sum_of_8_5_is_used_up() {
    let pie = rfc("ecn");
    let mut vars = congested(&pie, 9);
    let hits: Vec<u32> = (1..200).filter(|_| vars.drop_early(&pie.params, 5000, FULL, || NEVER)).collect();
    assert_eq!(hits, [95, 190], "8.5 / 0.09 = 94.4");
}

/// 5.5 and 4.2: the cap of 2 points holds from 10 % on, and nothing is added above 250 ms.
#[test]
fn steps_are_capped_and_no_more() {
    assert_percent(step("variant rfc8033", 10.0, 300, 0), 2.0, "capped");
    assert_percent(step("variant rfc8033", 9.9, 300, 300), 0.125 * 28.5 / 2.0, "below 10 %");
}

#[test]
fn the_first_update_comes_after_one_tupdate_and_only_the_rfc_sleeps() {
    assert_eq!(rfc("").next_timer(), Some(at(15)));
    let refused = |words: &str| {
        let link = crate::Link { rate: goodqueue_units::Rate::from_bps(1000).unwrap(), mtu: FULL };
        crate::AnyQdisc::<Plain>::parse(words, &link).err().map(|error| error.0)
    };
    let why = "pie auto_inactive: only variant rfc8033 has it";
    assert_eq!(refused("pie auto_inactive").as_deref(), Some(why));
    assert_eq!(refused("pie auto_inactive variant rfc8033"), None);
}

/// RFC 8033, appendix B: activation sets p and the delay of the last update to 0, and leaves the present delay. The
/// packet that left last waited 50 ms: so the first update sees a rise from 0, 0.125 * 35 ms + 1.25 * 50 ms, times
/// 1/2048. Without it p would stay 0 for one more update.
#[test]
fn activation_keeps_the_present_delay() {
    let pie = rfc("limit 30");
    let mut vars = Vars { qdelay: ms(50), qdelay_old: ms(40), ..Vars::new(&pie.params) };
    vars.arrived(&pie.params, at(0), 10, 30);
    assert_eq!((vars.active, vars.qdelay, vars.qdelay_old), (true, ms(50), 0));
    assert_percent(p_after_update(vars, &pie, 15_140), (0.4375 + 6.25) / 2048.0, "the first update");
}

/// 4.1 and 4.4 compare by "less than": half of 15 ms is 117187 ticks. At that delay a packet may be dropped, and the
/// burst allowance does not return.
#[test]
fn half_the_target_to_the_tick_is_not_below_half() {
    let pie = rfc("noauto_inactive");
    let half = ms(15) / 2;
    let control = Control { accu_prob: MAX_PROB, ..p(MAX_PROB / 10) };
    let drops = |mut vars: Vars| vars.drop_early(&pie.params, 5000, FULL, || 0);
    let ready = Vars { control, ..congested(&pie, 10) };
    assert!(!drops(Vars { qdelay_old: half - 1, ..ready }) && drops(Vars { qdelay_old: half, ..ready }));
    let fifth = |prob| Vars { qdelay_old: 0, control: Control { prob, ..control }, ..ready };
    assert!(!drops(fifth(MAX_PROB / 5 - 1)) && drops(fifth(MAX_PROB / 5)));
    let returns = |qdelay, qdelay_old| {
        let mut vars = Vars { qdelay, qdelay_old, ..congested(&pie, 0) };
        vars.arrived(&pie.params, at(0), 1, 1000);
        vars.burst_time == ms(150)
    };
    assert!(returns(half - 1, half - 1) && !returns(half, half - 1) && !returns(half - 1, half));
}
