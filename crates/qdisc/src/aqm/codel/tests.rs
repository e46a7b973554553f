use super::*;
use crate::packet::Plain;
use goodqueue_units::{Ecn, Rate};

static SPEC: QdiscSpec = Codel::SPEC;

/// Returns the default parameters of the law `L`, for full frames of 1514 bytes.
pub(super) fn params<L: Law>() -> Params {
    let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 1514 };
    Params::new(&Args::parse(&SPEC, "").unwrap(), &link).of::<L>(&link)
}

/// Returns whether the interval above target begins when a packet that waited `waited_ms` leaves `backlog` bytes.
fn begins<L: Law>(waited_ms: u64, backlog: u64) -> bool {
    let arrival = Instant::ZERO + Duration::from_millis(1000 - waited_ms);
    let packet = Plain { arrival, ..Plain::new(1514) };
    let mut vars = Vars::default();
    vars.should_drop(Some(&packet), backlog, &params::<L>(), Ticks::of(Duration::from_secs(1)));
    vars.first_above_time != Ticks(0)
}

/// A gateway may not know how long its link's frames are. The fuzz target `line` found that one variant took a byte
/// from none.
#[test]
fn each_variant_is_set_up_for_a_link_without_frames() {
    let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 0 };
    for variant in ["linux", "rfc8289", "acm2012", "ns2"] {
        let args = Args::parse(&SPEC, &alloc::format!("variant {variant}")).unwrap();
        assert_eq!(Codel::build(&args, &link).unwrap().params.guard, 0, "{variant}");
    }
}

/// 1 s is 976 562 ticks, 100 ms are 97 656. The next drop was due at 10 s. Dropping that begins again 50 ms later
/// resumes from count - 2 = 5 in the article, and from the drops of the last episode (7 - 4) in the RFC. After
/// 150 ms the article's law has forgotten, the RFC's only after 1.6 s. ns-2's code resumes from count - 1. From
/// counts of 1 to 3 the article begins from 1. A start before the due time counts as recent.
#[test]
fn each_variant_resumes_by_its_own_rule() {
    fn resumed<L: Law>(count: u32, after_ms: i64) -> u32 {
        let due = Ticks(9_765_625);
        let mut vars = Vars { count, lastcount: 4, drop_next: due, ..Vars::default() };
        vars.resume::<L>(&params::<L>(), Ticks((i64::from(due.0) + after_ms * 1_000_000 / 1024) as u32));
        assert_eq!(vars.lastcount, vars.count);
        vars.count
    }
    assert_eq!(resumed::<Acm2012>(7, 50), 5);
    assert_eq!(resumed::<Acm2012>(7, -50), 5);
    assert_eq!(resumed::<Acm2012>(7, 150), 1);
    assert_eq!(resumed::<Acm2012>(7, 100), 1, "an interval to the tick is not less than one");
    assert_eq!([1, 2, 3, 4].map(|count| resumed::<Acm2012>(count, 50)), [1, 1, 1, 2]);
    assert_eq!([50, 150, 1500, 1700].map(|ms| resumed::<Linux>(7, ms)), [3, 3, 3, 1]);
    assert_eq!([50, 150, 1500, 1700].map(|ms| resumed::<Rfc8289>(7, ms)), [3, 3, 3, 1]);
    assert_eq!([50, 150, 1500, 1700].map(|ms| resumed::<Ns2>(7, ms)), [6, 6, 6, 1]);
    assert_eq!([0, 1, 2, 3].map(|count| resumed::<Ns2>(count, 50)), [1, 1, 1, 2]);
}

/// A limit counted seven drops, and CoDel none. Linux's `drop_next` is 0 then, and no drop is recent from 1.6 s after
/// boot on (Linux 6.1, `codel_dequeue`). Here the clock begins at 0, so the same holds from the beginning. After a
/// drop of CoDel's own the time counts, also before 1.6 s.
#[test]
fn before_the_first_drop_no_drop_is_recent() {
    let resumed = |drop_next: Ticks, ms: u64| {
        let mut vars = Vars { count: 7, drop_next, ..Vars::default() };
        vars.resume::<Linux>(&params::<Linux>(), Ticks::of(Duration::from_millis(ms)));
        vars.count
    };
    assert_eq!([1, 100, 1599, 1600, 10_000].map(|ms| resumed(Ticks(0), ms)), [1; 5]);
    assert_eq!([101, 1600, 1800].map(|ms| resumed(Ticks::of(Duration::from_millis(100)), ms)), [7, 7, 1]);
}

/// Every 10 ms a packet leaves that waited longer than the target. The first packet above target begins the
/// interval. The RFC drops 100 ms later. The article drops 200 ms later, or 100 ms later if a drop was due 50 ms
/// before.
#[test]
fn the_article_waits_for_a_second_interval_unless_drops_are_recent() {
    fn first_drop_ms<L: Law>(due_ms: u64) -> Option<u64> {
        let params = params::<L>();
        let drop_next = Ticks::of(Duration::from_millis(due_ms));
        let mut vars = Vars { drop_next, ..Vars::default() };
        (0..).map(|step| 10 * step).find(|ms| {
            let now = Ticks::of(Duration::from_millis(5000 + ms));
            vars.should_drop(Some(&Plain::new(1514)), 10_000, &params, now)
                && L::may_start(&vars, params.interval, now)
        })
    }
    assert_eq!(first_drop_ms::<Rfc8289>(1000), Some(100));
    assert_eq!(first_drop_ms::<Acm2012>(1000), Some(200));
    assert_eq!(first_drop_ms::<Acm2012>(5050), Some(100));
}

/// One waiting full frame is no queue for the RFC and Linux. It is a queue for the article, which says "fewer".
#[test]
fn the_guard_of_the_article_is_less_than_a_frame() {
    assert!(!begins::<Linux>(1000, 1514) && !begins::<Rfc8289>(1000, 1514));
    assert!(begins::<Acm2012>(1000, 1514) && !begins::<Acm2012>(1000, 1513));
}

/// RFC 8289, 5.6, drops from `now >= first_above_time` on. Linux drops from `now > first_above_time` on
/// (`codel_time_after`). The RFC's variant one tick later would be Linux's.
#[test]
fn exactly_one_interval_above_target_is_enough_for_the_rfc() {
    fn late<L: Law>() -> Option<i32> {
        let params = params::<L>();
        let (mut vars, start) = (Vars::default(), Ticks::of(Duration::from_secs(5)));
        let mut is_due = |ticks| {
            let now = start.plus(params.interval).plus(Ticks(ticks));
            vars.should_drop(Some(&Plain::new(1514)), 10_000, &params, now)
        };
        assert!(!is_due(0_u32.wrapping_sub(params.interval.0)), "the first above target");
        (-1..3).find(|ticks| is_due(*ticks as u32))
    }
    assert_eq!((late::<Rfc8289>(), late::<Acm2012>(), late::<Ns2>()), (Some(0), Some(0), Some(0)));
    assert_eq!(late::<Linux>(), Some(1));
}

/// A packet that waited less than the target and leaves a small queue has two reasons to pass. They must not cancel
/// each other: `codel_should_drop` of Linux, and RFC 8289, 5.6, join them by "or".
#[test]
fn a_short_delay_in_a_short_queue_is_no_standing_queue() {
    assert!(begins::<Linux>(6, 1515), "above target, with a queue");
    assert!(!begins::<Linux>(4, 1515) && !begins::<Linux>(6, 1514) && !begins::<Linux>(4, 1514));
}

/// The DS field is the DSCP followed by the two ECN bits: EF is 46 << 2 = 0xb8. L4S's ECT(1) is 0x01 under the
/// mask 0x03.
#[test]
fn ce_threshold_selects_by_the_ds_field() {
    let params = params::<Linux>();
    let selects = |value, mask, dscp, ecn| {
        let params = params.selecting(Some(Masked { value, mask }));
        params.selects(&Plain { dscp, ecn, ..Plain::new(100) })
    };
    assert!(selects(0xb8, 0xfc, 46, Ecn::Ect1) && !selects(0xb8, 0xfc, 45, Ecn::Ect1));
    assert!(selects(0x01, 0x03, 46, Ecn::Ect1) && !selects(0x01, 0x03, 46, Ecn::Ect0));
    assert!(selects(0xbb, 0xff, 46, Ecn::Ce) && !selects(0xbb, 0xff, 46, Ecn::Ect0));
    assert!(params.selects(&Plain::new(100)), "without a selector all packets are");
}

/// A line's `variant` chooses the law. Otherwise a study of the article's CoDel would run Linux's. The queue stands for
/// one second and twice for half a second, and is good for one packet in between. The drops of the exact laws are those
/// of a model in seconds, with gaps of 100 ms/sqrt(count). ns-2's law resumes faster the third time. Linux's second gap
/// is shorter.
#[test]
fn a_line_builds_the_law_that_it_names() {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let drops = |line: &str| {
        let mut codel = Codel::build(&Args::parse(&SPEC, line).unwrap(), &link).unwrap();
        let spans = [
            (10_000..11_000, 0),
            (11_000..11_001, 1),
            (11_001..11_500, 0),
            (11_500..11_501, 1),
            (11_501..12_000, 0),
        ];
        spans.map(|(span, is_good)| {
            let (mut queue, mut owner) = (Fifo::default(), crate::sched::Noted::default());
            let arrival = Instant::from_nanos(span.start * is_good * 1_000_000);
            (0..2000).for_each(|_| queue.push(Plain { arrival, ..Plain::new(1514) }));
            for ms in span {
                codel.dequeue(Instant::from_nanos(ms * 1_000_000), &mut queue, &mut owner);
            }
            owner.dropped.len()
        })
    };
    assert_eq!(drops("variant rfc8289"), [27, 0, 25, 0, 24]);
    assert_eq!(drops("variant ns2"), [27, 0, 25, 0, 32]);
    assert_eq!(drops("variant acm2012"), [22, 0, 22, 0, 29]);
    assert_eq!(drops("variant linux"), [29, 0, 25, 0, 24]);
}

/// `codel_impl.h` of Linux 7.3: a call that is far behind its schedule drops 256 packets and hands out the next one.
/// The next drop is then due a gap after now: 976 ticks / sqrt(257) are 60.9. Before, a call dropped until it had
/// caught up, here until one packet is left. The other variants are drafts and papers, and no release changes them.
#[test]
fn since_7_3_a_call_drops_at_most_256_packets() {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let stalled = |words: &str, release| {
        let args = Args::parse(&SPEC, &alloc::format!("target 100us interval 1ms {words}"))
            .unwrap()
            .in_release(release);
        let mut codel = Codel::build(&args, &link).unwrap();
        let (mut queue, mut owner) = (Fifo::default(), crate::sched::Noted::default());
        (0..2000).for_each(|_| queue.push(Plain::new(1514)));
        for us in [10_000, 12_000, 1_000_000] {
            owner.dropped.clear();
            codel.dequeue(Instant::from_nanos(us * 1000), &mut queue, &mut owner);
        }
        let now = Ticks::at(Instant::from_nanos(1_000_000_000));
        (owner.dropped.len(), codel.vars.count, codel.vars.drop_next.minus(now).0)
    };
    assert_eq!(stalled("", Release::Linux7_3), (256, 257, 60));
    for release in [Release::Linux6_1, Release::Linux6_12] {
        assert_eq!(stalled("", release).0, 1995, "{release:?}");
    }
    assert_eq!(stalled("variant rfc8289", Release::Linux7_3).0, 1995);
}

/// An interval of 1 us is 0 ticks. Since 7.3 the schedule nevertheless moves on, by a tick.
#[test]
fn since_7_3_a_gap_has_at_least_a_tick() {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let next = |release, interval| {
        let params = Params::with(us(1), us(interval), false, &link, release);
        let vars = Vars { count: 1, rec_inv_sqrt: u16::MAX, ..Vars::default() };
        vars.control_law::<Linux>(Ticks(5), &params).0
    };
    assert_eq!([1, 2, 3].map(|interval| next(Release::Linux6_12, interval)), [5, 5, 6]);
    assert_eq!([1, 2, 3].map(|interval| next(Release::Linux7_3, interval)), [6, 6, 6]);
}
