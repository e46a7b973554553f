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
//! - below 16, 1/sqrt(count) comes from a table, in 32 bits. Above, each change of the count makes one step;
//! - the small-queue guards are times, not bytes: four full frames at the shaper's rate, and for a downlink (`cake
//!   ingress`) two full frames per busy flow if that is more. Besides, the container keeps a queue's last packet;
//! - CoDel's part marks ECN-capable packets, BLUE's part never marks.
//!
//! BLUE's probability rises by `p_inc` at an overflow and falls by `p_dec` when the queue is found empty, each at
//! most once per target. (Feng et al., "Blue", 1999, raise it on loss and lower it on idleness, too.) An overflow
//! also starts CoDel's part at once.
//!
//! By release of Linux ([`Rules`]), the table was computed with too few steps or is exact, and BLUE draws a random
//! number for a packet that CoDel drops anyway or does not.
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
use goodqueue_units::{Duration, Instant, Rate, Release};

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
    /// What depends on the release.
    pub rules: Rules,
}

/// What differs between releases of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// 1/sqrt(count) for small counts, as a multiple of 2^-32.
    roots: &'static [u32; TABLE_LEN],
    /// Whether BLUE draws a random number for a packet that CoDel drops anyway. The number then has no effect, but
    /// the next draw is another one.
    draws_in_vain: bool,
}

impl Rules {
    /// Returns the rules of `release`.
    #[must_use]
    pub fn of(release: Release) -> Self {
        Self {
            roots: if release < Release::Linux6_12 { &EARLY_TABLE } else { &TABLE },
            draws_in_vain: release < Release::Linux7_3,
        }
    }
}

/// BLUE's step up in Linux: 1/256.
pub const P_INC: u32 = 1 << 24;
/// BLUE's step down in Linux: 1/4096.
pub const P_DEC: u32 = 1 << 20;

/// Counts below this number have their root in a table.
const TABLE_LEN: usize = 16;

/// 1/sqrt(count) as a multiple of 2^-32: the constants of Linux since 6.12, each within 1 of the exact value.
static TABLE: [u32; TABLE_LEN] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
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

/// The table of Linux before 6.12: each entry is four Newton steps after the one before. That is too few for the
/// counts 2, 3 and 6.
static EARLY_TABLE: [u32; TABLE_LEN] = {
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
    /// The time of the last change of BLUE's probability. 0: it never changed.
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
    fn settle_root(&mut self, params: &Params) {
        self.rec_inv_sqrt = match params.rules.roots.get(self.count as usize) {
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

    /// Returns whether BLUE's probability may change. Linux compares the first change with 0 on its clock, which is
    /// further back than `target` from 5 ms after boot on. Here the clock begins with the run.
    fn blue_may_move(&self, now: u64, params: &Params) -> bool {
        self.blue_timer == 0 || span(now, self.blue_timer) > params.target.as_nanos() as i64
    }

    /// Notes that the queue overflowed. Returns whether BLUE's probability rose from 0.
    pub(crate) fn queue_full(&mut self, now: Instant, params: &Params) -> bool {
        let now = now.as_nanos();
        let mut up = false;
        if self.blue_may_move(now, params) {
            up = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(params.p_inc);
            self.blue_timer = now.max(1);
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
            self.blue_timer = now.max(1);
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
        self.settle_root(params);
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
            self.settle_root(params);
            self.drop_next = self.control_law(self.drop_next, params);
            schedule = span(now, self.drop_next);
        } else if due {
            while self.is_due(now) {
                self.decay(params);
            }
            schedule = span(now, self.drop_next);
        }
        if self.p_drop != 0
            && (params.rules.draws_in_vain || verdict.drop.is_none())
            && owner.random_u32() < self.p_drop
        {
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
    .not_in_linux()
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
            rules: Rules::of(args.release()),
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
mod tests;
