use super::*;
use crate::aqm::Managed;
use crate::aqm::dice::Dice;
use crate::packet::Plain;
use crate::sched::Noted;
use crate::{Discipline, Qdisc};
use goodqueue_units::{Ecn, Rate};
use std::vec::Vec;

const MS: u64 = 1_000_000;

fn params() -> Params {
    Params {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu_time: Duration::ZERO,
        p_inc: P_INC,
        p_dec: P_DEC,
        rules: Rules::of(Release::Linux6_1),
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * MS)
}

/// Judges a packet that leaves at `ms` after waiting for `waited` ms.
fn judge(vars: &mut Vars, ms: u64, waited: u64, ecn: Ecn) -> Verdict {
    let mut packet = Plain { ecn, arrival: at(ms - waited), ..Plain::new(1514) };
    vars.judge(&params(), at(ms), &mut packet, 0, &mut Noted::default())
}

/// Returns the state of a queue that was bad and has recovered.
fn recovered() -> Vars {
    Vars { rec_inv_sqrt: TABLE[0], drop_next: 1099 * MS, ..Vars::default() }
}

#[test]
fn the_table_is_the_inverse_square_root() {
    for (count, inverse) in TABLE.iter().enumerate().skip(1) {
        let exact = 4_294_967_296.0 / (count as f64).sqrt();
        assert!((f64::from(*inverse) - exact).abs() <= 1.0, "{count}: {inverse}");
    }
    // As Linux 6.1's traces of `cake` show them (`count` and `rec_inv_sqrt`), to the last bit.
    let linux = [
        u32::MAX,
        u32::MAX,
        3_035_289_760,
        2_479_700_455,
        2_147_483_647,
        1_920_767_767,
        1_753_413_055,
        1_623_345_051,
        1_518_500_250,
        1_431_655_765,
        1_358_187_914,
        1_294_981_364,
        1_239_850_263,
        1_191_209_601,
        1_147_878_294,
        1_108_955_788,
    ];
    assert_eq!(EARLY_TABLE, linux);
    let changed = (0..16).filter(|&count| TABLE[count].abs_diff(EARLY_TABLE[count]) > 1).collect::<Vec<_>>();
    assert_eq!(changed, [2, 3]);
    assert_eq!(
        (TABLE[2], TABLE[3], TABLE[6], TABLE[10]),
        (3_037_000_500, 2_479_700_525, 1_753_413_056, 1_358_187_914)
    );
}

/// In a queue that was bad before, the first packet above target starts the schedule. The first drop comes 100 ms
/// later, the second 100/sqrt(2) = 70.7 ms after the first. No packet may be dropped in between.
#[test]
fn drops_follow_the_schedule() {
    let mut vars = recovered();
    let dropped: Vec<u64> =
        (1000..1300).filter(|ms| judge(&mut vars, *ms, 20, Ecn::NotEct).drop.is_some()).collect();
    // 1100, + 70.71 = 1170.71, + 57.74 = 1228.45, + 50 = 1278.45: each drop comes at the next whole millisecond.
    assert_eq!(dropped, [1100, 1171, 1229, 1279]);
    assert_eq!(vars.count, 5);
}

#[test]
fn the_first_episode_does_not_wait_for_an_interval() {
    let mut vars = Vars::default();
    assert_eq!(judge(&mut vars, 999, 1, Ecn::NotEct).drop, None);
    assert_eq!(judge(&mut vars, 1000, 20, Ecn::NotEct).drop, None);
    assert_eq!(judge(&mut vars, 1001, 20, Ecn::NotEct).drop, Some(Drop::Target));
}

#[test]
fn the_count_decays_on_the_schedule_while_the_delay_is_low() {
    let mut vars = recovered();
    for ms in 1000..1300 {
        judge(&mut vars, ms, 20, Ecn::NotEct);
    }
    // At count 5 the next step is due at 1278.45 + 44.72 = 1323.2. Packets below target take one step off then,
    // and one after each further gap.
    let mut counts = Vec::new();
    for ms in 1300..1700 {
        judge(&mut vars, ms, 1, Ecn::NotEct);
        counts.push(vars.count);
    }
    let falls: Vec<usize> = (1..counts.len()).filter(|i| counts[*i] < counts[i - 1]).collect();
    assert_eq!((counts[0], counts[399], falls.len()), (5, 0, 5));
    assert_eq!(falls[0], 24); // at 1324
}

#[test]
fn ecn_is_marked_by_codel_and_dropped_by_blue() {
    let mut vars = Vars { dropping: true, count: 1, drop_next: 900 * MS, ..Vars::default() };
    let marked = Verdict { drop: None, marked: true };
    assert_eq!(judge(&mut vars, 1000, 20, Ecn::Ect0), marked);
    vars.p_drop = 1; // the test's dice show 0, which is below
    assert_eq!(judge(&mut vars, 1001, 1, Ecn::Ect0), Verdict { drop: Some(Drop::Early), marked: false });
}

/// Linux's steps: up by 1/256 and down by 1/4096, each at most once per target.
#[test]
fn blue_steps_up_on_overflow_and_down_on_idleness() {
    let (mut vars, params) = (Vars::default(), params());
    assert!(vars.queue_full(at(1000), &params)); // from rest
    // On Linux the first change is far from 0 on the clock, from 5 ms after boot on. Here a run may begin with it.
    for ms in [0, 1, 5] {
        let mut first = Vars::default();
        assert!(first.queue_full(at(ms), &params), "{ms} ms");
        assert_eq!((first.queue_full(at(ms + 1), &params), first.p_drop), (false, P_INC), "{ms} ms");
    }
    assert!(!vars.queue_full(at(1005), &params)); // exactly a target later is too early
    assert_eq!((vars.p_drop, vars.count), (1 << 24, 1));
    vars.queue_full(at(1006), &params);
    assert_eq!(vars.p_drop, 2 << 24);
    let mut ms = 1006;
    for step in 1..=32 {
        ms += 6;
        // Two steps of 1/256 are 32 steps of 1/4096: only the last one reaches 0.
        assert_eq!(vars.queue_empty(at(ms), &params), step == 32);
    }
    assert_eq!(vars.p_drop, 0);
}

#[test]
fn four_frames_at_the_link_are_no_standing_queue() {
    let slow = Params { mtu_time: Duration::from_millis(12), ..params() };
    let mut packet = Plain { arrival: at(1000 - 48), ..Plain::new(1514) };
    let mut vars = Vars::default();
    vars.judge(&slow, at(1000), &mut packet, 0, &mut Noted::default());
    assert!(!vars.dropping);
    packet.arrival = at(1000 - 49);
    vars.judge(&slow, at(1000), &mut packet, 0, &mut Noted::default());
    assert!(vars.dropping);
    // With three busy flows on a downlink the guard is six frames.
    vars.judge(&slow, at(1000), &mut packet, 3, &mut Noted::default());
    assert!(!vars.dropping);
}

/// Linux compares by `>` and `<`: a delay of exactly `target` is not above it, and dice that show p itself do not
/// drop.
#[test]
fn at_the_target_and_at_p_nothing_happens() {
    let mut vars = Vars::default();
    judge(&mut vars, 1000, 5, Ecn::NotEct);
    assert!(!vars.dropping);
    judge(&mut vars, 1000, 6, Ecn::NotEct);
    assert!(vars.dropping);
    for (p_drop, drop) in [(1 << 31, None), ((1 << 31) + 1, Some(Drop::Early))] {
        let mut vars = Vars { p_drop, ..Vars::default() };
        let mut packet = Plain { arrival: at(999), ..Plain::new(1514) };
        let verdict = vars.judge(&params(), at(1000), &mut packet, 0, &mut Dice::showing(0.5));
        assert_eq!(verdict.drop, drop, "{p_drop}");
    }
}

/// 1514 bytes at 1 Mbit/s are 12.112 ms. BLUE's steps are kept as multiples of 2^-32. Linux's `cake` has 16777216
/// and 1048576, as the headers of its traces show.
#[test]
fn the_line_s_rate_and_steps_are_kept_in_linux_s_units() {
    static SPEC: QdiscSpec = Cobalt::SPEC;
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let args = Args::parse(&SPEC, "bandwidth 1mbit p_inc 0.25 p_dec 0.125").unwrap();
    let Params { mtu_time, p_inc, p_dec, .. } = Cobalt::build(&args, &link).unwrap().params;
    assert_eq!((mtu_time, p_inc, p_dec), (Duration::from_micros(12_112), 1 << 30, 1 << 29));
    let Params { p_inc, p_dec, .. } = Cobalt::build(&Args::defaults(&SPEC), &link).unwrap().params;
    assert_eq!((p_inc, p_dec), (16_777_216, 1_048_576));
    assert_eq!((P_INC, P_DEC), (16_777_216, 1_048_576));
}

#[test]
fn the_last_packet_is_kept_and_overflow_drops_the_first() {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let args =
        Args::parse(const { &<Managed<Plain, Cobalt> as Discipline<Plain>>::SPEC }, "limit 2").unwrap();
    let mut cobalt = Managed::<Plain, Cobalt>::build(&args, &link).unwrap();
    let mut owner = Noted::default();
    let told: Vec<_> = (0..3)
        .map(|id| cobalt.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1514) }, &mut owner))
        .collect();
    assert_eq!((told[2], owner.dropped.as_slice()), (Enqueued::Congestion, [0].as_slice()));
    // The overflow made the next drop due at once: packet 1 is dropped, and packet 2 is the last one.
    assert_eq!(cobalt.dequeue(at(1000), &mut owner).map(|packet| packet.id), Some(2));
    assert_eq!(owner.dropped, [0, 1]);
}

/// CAKE forgets a flow whose law is at rest. A law must not be at rest while it drops packets, because it would
/// begin anew each time. And each law must come to rest at some time.
#[test]
fn a_law_is_at_rest_when_nothing_is_left_of_it() {
    let rests = |p_drop, count, due_ms| {
        let vars = Vars { p_drop, count, drop_next: due_ms * MS, ..Vars::default() };
        vars.is_at_rest(at(100))
    };
    assert!(rests(0, 0, 99) && rests(0, 0, 100));
    assert!(!rests(0, 0, 101), "CoDel's interval goes on");
    assert!(!rests(0, 1, 99), "CoDel has steps to take back");
    assert!(!rests(1, 0, 99), "BLUE drops");
}

/// sch_cake.c, `cobalt_should_drop`: if the next drop is overdue and no packet is dropped, it becomes due now. One
/// that is due exactly now is not overdue. The state here was at rest until 1000 ms. A packet above target that
/// leaves at 1000 ms begins a schedule whose first drop is one interval later. After 1001 ms the rest counts as
/// that interval, and the next packet is dropped.
#[test]
fn a_rest_that_ends_on_the_tick_is_not_overdue() {
    let first_drop = |ms| {
        let mut vars = Vars { drop_next: 1000 * MS, ..recovered() };
        assert_eq!(judge(&mut vars, ms, 20, Ecn::NotEct).drop, None);
        (ms + 1..ms + 200).find(|ms| judge(&mut vars, *ms, 20, Ecn::NotEct).drop.is_some())
    };
    assert_eq!((first_drop(1000), first_drop(1001)), (Some(1100), Some(1002)));
}

/// Until 6.12 BLUE draws for each packet while its probability is above 0, and the draw for a packet that CoDel drops
/// has no effect. 7.3 draws only for packets that CoDel lets pass or marks. The second gap is longer since 6.12, by
/// 40 us in an interval of 100 ms.
#[test]
fn the_rules_are_those_of_the_release() {
    struct Counting(u32);
    impl Owner<Plain> for Counting {
        fn dropped(&mut self, _packet: Plain, _why: Drop) {}
        fn marked(&mut self, _packet: &Plain, _why: Mark) {}
        fn random_u32(&mut self) -> u32 {
            self.0 += 1;
            u32::MAX
        }
        fn random_u64(&mut self) -> u64 {
            0
        }
    }
    for (release, draws, gap) in [
        (Release::Linux6_1, [1, 1, 1], 70_670_846),
        (Release::Linux6_12, [1, 1, 1], 70_710_678),
        (Release::Linux7_3, [0, 1, 1], 70_710_678),
    ] {
        let params = Params { rules: Rules::of(release), ..params() };
        let judged = [(20, Ecn::NotEct), (20, Ecn::Ect0), (1, Ecn::NotEct)].map(|(waited, ecn)| {
            let mut vars =
                Vars { dropping: true, count: 1, drop_next: 1000 * MS, p_drop: 1, ..Vars::default() };
            let mut packet = Plain { ecn, arrival: at(1000 - waited), ..Plain::new(1514) };
            let mut owner = Counting(0);
            vars.judge(&params, at(1000), &mut packet, 0, &mut owner);
            (owner.0, vars.drop_next - 1000 * MS)
        });
        assert_eq!((judged.map(|(draws, _)| draws), judged[0].1), (draws, gap), "{release:?}");
    }
}
