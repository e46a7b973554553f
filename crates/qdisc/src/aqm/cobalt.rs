//! COBALT: CoDel and BLUE, alternating.
//!
//! Source: Høiland-Jørgensen, Täht, Morton, "Piece of CAKE", 2018; tc-cake(8); and the recorded behaviour of Linux,
//! where it rules each flow of [`cake`](crate::sched::cake). CoDel acts on the delay of flows that respond. BLUE acts
//! on the overflow that unresponsive flows cause. It differs from [`codel`](super::codel) in these points:
//!
//! - the delay counts at once: there is no `first_above_time`. A packet above target enters the dropping state, and
//!   the first drop is due one gap later. So an interval passes before it, as in CoDel. The first episode of a queue
//!   is an exception (in Linux, but in no paper): its root is still zero, and so is the gap, and the next packet
//!   above target is dropped;
//! - `count` is not reset when the delay falls below target. It decays by one step at a time, on the schedule on
//!   which it would have risen. So the next episode resumes where the count stands by then;
//! - below 16, 1/sqrt(count) comes from a table with four Newton steps per entry, in 32 bits. Above, each change of
//!   the count makes one step;
//! - the small-queue guards are times, not bytes: four full frames at the shaper's rate, and for a downlink (`cake
//!   ingress`) two full frames per busy flow if that is more. Besides, the container keeps a queue's last packet;
//! - CoDel's part marks ECN-capable packets, BLUE's part never marks.
//!
//! BLUE's probability rises by `p_inc` at an overflow and falls by `p_dec` when the queue is found empty, each at
//! most once per target. (Feng et al., "Blue", 1999, raise it on loss and lower it on idleness, too.) An overflow
//! also starts CoDel's part at once.
//!
//! `cobalt` over one FIFO is ours: Linux has the law only in CAKE. At overflow it drops from the head, as CAKE does.

use super::codel::{INTERVAL, TARGET};
use super::{Aqm, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, LIMIT, Link, Param, QdiscSpec, bps};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe};
use crate::signal::{Drop, Mark, Owner};
use goodqueue_units::{Duration, Instant, Rate};

/// The law's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Acceptable delay.
    pub target: Duration,
    /// The first gap between drops.
    pub interval: Duration,
    /// Time that a full frame occupies the link; zero if the rate is not known.
    pub mtu_time: Duration,
    /// BLUE's step up, as a multiple of 2^-32.
    pub p_inc: u32,
    /// BLUE's step down, as a multiple of 2^-32.
    pub p_dec: u32,
}

/// BLUE's step up in Linux: 1/256.
pub const P_INC: u32 = 1 << 24;
/// BLUE's step down in Linux: 1/4096.
pub const P_DEC: u32 = 1 << 20;

/// Counts below this number have their root in a table.
const TABLE_LEN: usize = 16;

/// 1/sqrt(count) as a multiple of 2^-32. Each entry is four Newton steps after the one before, as Linux fills it.
const TABLE: [u32; TABLE_LEN] = {
    let mut table = [u32::MAX; TABLE_LEN];
    let mut inverse = u32::MAX;
    let mut count = 1;
    while count < TABLE_LEN {
        let mut steps = 0;
        while steps < 4 {
            inverse = newton_step(inverse, count as u32);
            steps += 1;
        }
        table[count] = inverse;
        count += 1;
    }
    table
};

/// Makes one Newton step from `inverse` towards 1/sqrt(count): x(3 - count x^2)/2 in Q0.32.
const fn newton_step(inverse: u32, count: u32) -> u32 {
    let square = (inverse as u64 * inverse as u64) >> 32;
    let value = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul(square));
    ((value >> 2).wrapping_mul(inverse as u64) >> 31) as u32
}

/// The law's verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The reason for which the packet is to be dropped. The container still keeps the queue's last packet.
    pub(crate) drop: Option<Drop>,
    /// Whether CoDel's part marked the packet instead of dropping it.
    pub(crate) marked: bool,
}

/// The law's state, under Linux's names. It has 32 bytes, so that a scheduler can afford one per flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vars {
    /// The time at which CoDel's part acts next. While `count` is 0, the time until which the flow is remembered.
    drop_next: u64,
    /// The time of the last change of BLUE's probability.
    blue_timer: u64,
    /// Number of drops or marks from which the present pace follows.
    count: u32,
    /// 1/sqrt(count), as a multiple of 2^-32.
    rec_inv_sqrt: u32,
    /// BLUE's probability, as a multiple of 2^-32.
    p_drop: u32,
    dropping: bool,
}

/// Returns the nanoseconds from `then` to `now`, signed. Times may wrap. No two times that are compared are centuries
/// apart.
const fn span(now: u64, then: u64) -> i64 {
    now.wrapping_sub(then) as i64
}

impl Vars {
    fn settle_root(&mut self) {
        self.rec_inv_sqrt = match TABLE.get(self.count as usize) {
            Some(inverse) => *inverse,
            None => newton_step(self.rec_inv_sqrt, self.count),
        };
    }

    /// Returns the time of the next drop by the control law: `t + interval/sqrt(count)`. The interval is cut to 32
    /// bits (4.29 s), as in Linux.
    fn control_law(&self, t: u64, params: &Params) -> u64 {
        let interval = u64::from(params.interval.as_nanos() as u32);
        t.wrapping_add((interval * u64::from(self.rec_inv_sqrt)) >> 32)
    }

    fn blue_may_move(&self, now: u64, params: &Params) -> bool {
        span(now, self.blue_timer) > params.target.as_nanos() as i64
    }

    /// Notes that the queue overflowed. Returns whether BLUE's probability rose from 0.
    pub(crate) fn queue_full(&mut self, now: Instant, params: &Params) -> bool {
        let now = now.as_nanos();
        let mut up = false;
        if self.blue_may_move(now, params) {
            up = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(params.p_inc);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
        up
    }

    /// Notes that the queue was found empty. Returns whether BLUE's probability fell to 0.
    pub(crate) fn queue_empty(&mut self, now: Instant, params: &Params) -> bool {
        let now = now.as_nanos();
        let mut down = false;
        if self.p_drop != 0 && self.blue_may_move(now, params) {
            self.p_drop = self.p_drop.saturating_sub(params.p_dec);
            self.blue_timer = now;
            down = self.p_drop == 0;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.decay(params);
        }
        down
    }

    fn is_due(&self, now: u64) -> bool {
        self.count != 0 && span(now, self.drop_next) >= 0
    }

    /// Takes back one step of the schedule.
    fn decay(&mut self, params: &Params) {
        self.count -= 1;
        self.settle_root();
        self.drop_next = self.control_law(self.drop_next, params);
    }

    /// Returns whether the state has decayed to that of a new flow, so that the flow may be forgotten.
    pub(crate) fn is_at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && span(now.as_nanos(), self.drop_next) >= 0
    }

    /// Judges `packet`, which is leaving the queue, and perhaps marks it. With `cake ingress`, where drops come too
    /// late to save capacity, `busy_flows` is the number of flows that share the link. Otherwise it is 0.
    #[inline]
    pub(crate) fn judge<P: Packet, O: Owner<P>>(
        &mut self,
        params: &Params,
        now: Instant,
        packet: &mut P,
        busy_flows: u32,
        owner: &mut O,
    ) -> Verdict {
        let sojourn = now.since(packet.arrival());
        let now = now.as_nanos();
        let mut schedule = span(now, self.drop_next);
        let due = self.is_due(now);
        let frames = u64::from(busy_flows.saturating_mul(2)).max(4);
        if sojourn > params.target && sojourn > params.mtu_time * frames {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control_law(now, params);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut verdict = Verdict { drop: None, marked: false };
        if due && self.dropping {
            verdict.marked = mark(packet, Mark::Target, owner);
            verdict.drop = (!verdict.marked).then_some(Drop::Target);
            self.count = self.count.saturating_add(1);
            self.settle_root();
            self.drop_next = self.control_law(self.drop_next, params);
            schedule = span(now, self.drop_next);
        } else if due {
            while self.is_due(now) {
                self.decay(params);
            }
            schedule = span(now, self.drop_next);
        }
        if self.p_drop != 0 && owner.random_u32() < self.p_drop {
            verdict.drop = verdict.drop.or(Some(Drop::Early));
        }
        if self.count == 0 {
            self.drop_next = now.wrapping_add(params.interval.as_nanos());
        } else if schedule > 0 && verdict.drop.is_none() {
            self.drop_next = now;
        }
        verdict
    }

    /// Shows the state under Linux's names.
    pub fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("count", self.count.into());
        let fraction = |value: u32| Measure::Number(Some(f64::from(value) / (1_u64 << 32) as f64));
        let moment =
            |nanos: u64, is_set: bool| Measure::Moment(is_set.then_some(Moment::wrapping(nanos, u64::BITS)));
        probe.measured("rec_inv_sqrt", self.rec_inv_sqrt.into(), fraction(self.rec_inv_sqrt));
        probe.measured("drop_next", (self.drop_next as i64).into(), moment(self.drop_next, self.dropping));
        probe.measured(
            "blue_timer",
            (self.blue_timer as i64).into(),
            moment(self.blue_timer, self.blue_timer > 0),
        );
        probe.measured("p_drop", self.p_drop.into(), fraction(self.p_drop));
        probe.integer("dropping", self.dropping.into());
    }
}

/// COBALT over one FIFO.
#[derive(Clone, Debug)]
pub struct Cobalt {
    limit: usize,
    params: Params,
    vars: Vars,
}

const BANDWIDTH: Param<Option<Rate>> =
    Param::rate("bandwidth", "ignore delays below four full frames at this rate; unset: off")
        .range(bps(512), bps(1_000_000_000_000))
        .source("Linux's cake");
const UP: Param<f64> =
    Param::real("p_inc", "BLUE's increase at an overflow").default(1.0 / 256.0).source("Linux's cake");
const DOWN: Param<f64> =
    Param::real("p_dec", "BLUE's decrease at an empty queue").default(1.0 / 4096.0).source("Linux's cake");

impl Aqm for Cobalt {
    const SPEC: QdiscSpec = QdiscSpec::new(
        "cobalt",
        params! { LIMIT.source("tc-codel(8): as codel"), TARGET, INTERVAL, BANDWIDTH, UP, DOWN },
    )
    .summary("CAKE's law over one queue: CoDel for responsive flows, BLUE against unresponsive flows")
    .source("Høiland-Jørgensen, Täht, Morton, Piece of CAKE, 2018; tc-cake(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let frame_ns = |rate: Rate| u64::from(link.mtu).saturating_mul(8_000_000_000) / rate.as_bps();
        let step = |share: f64| (share * 4_294_967_296.0) as u32;
        let params = Params {
            target: args.get(&TARGET),
            interval: args.get(&INTERVAL),
            mtu_time: Duration::from_nanos(args.get(&BANDWIDTH).map_or(0, frame_ns)),
            p_inc: step(args.get(&UP)),
            p_dec: step(args.get(&DOWN)),
        };
        Ok(Self { limit: args.get(&LIMIT) as usize, params, vars: Vars::default() })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        *self = Self { vars: self.vars, ..Self::build(args, link)? };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        queue.push(packet);
        if queue.len() <= self.limit {
            return Enqueued::Success;
        }
        self.vars.queue_full(now, &self.params);
        if let Some(oldest) = queue.pop() {
            owner.dropped(oldest, Drop::Overlimit);
        }
        Enqueued::Congestion
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Option<P> {
        loop {
            let Some(mut packet) = queue.pop() else {
                self.vars.queue_empty(now, &self.params);
                return None;
            };
            match self.vars.judge(&self.params, now, &mut packet, 0, owner).drop {
                Some(why) if !queue.is_empty() => owner.dropped(packet, why),
                _ => return Some(packet),
            }
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.vars.probe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Managed;
    use super::super::dice::Dice;
    use super::*;
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
            assert!((f64::from(*inverse) / exact - 1.0).abs() < 1e-3, "{count}: {inverse}");
        }
        // As Linux's traces of `cake` show them (`count` and `rec_inv_sqrt`), to the last bit.
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
        assert_eq!(TABLE, linux);
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
}
