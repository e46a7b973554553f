//! HTB's shaper: one class with a rate, a ceiling and a child, which is the usual way to emulate a slower link with
//! `tc`.
//!
//! Source: tc-htb(8), and net/sched/sch_htb.c and tc's q_htb.c where the page leaves something open. Tokens come at
//! `rate` into a bucket of `burst` bytes, and at `ceil` into one of `cburst`. A packet may leave while neither bucket
//! is in debt, *whatever its length*. It may run both into debt, and the next packet waits until the debt is paid. So
//! `burst 1600`, `tc`'s default, lets two full frames leave back to back after a pause, and `burst 1b cburst 1b` is a
//! serial link. The debt is always less than a minute's tokens.
//!
//! Only the class at the root is here (`docs/decisions/008`): no hierarchy, so nothing to borrow, no priorities and
//! no quantum. A class without a parent sends at its rate whatever `ceil` is. `ceil` and `cburst` matter only when
//! they are stricter than `rate` and `burst`.
//!
//! **An empty child is never asked**, as in Linux, so `red` does not learn that the link is idle: its average freezes
//! above `max` and, once all senders are silent, it drops every arrival. `idle told` asks the child as a link without
//! a shaper does. Unlike in `tbf`, any packet stays in the child until it may leave.

use super::bucket::{ANY_RATE, Bucket, CHILD, IDLE, Idle, LINKLAYER, MPU, OVERHEAD, RATE};
use super::pace::{Pace, depth};
use crate::discipline::Discipline;
use crate::kept::{Kept, Look};
use crate::packet::Packet;
use crate::param::{Args, Digits, Error, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::registry::{AnyQdisc, parse_inner};
use crate::signal::Owner;
use goodqueue_units::{Duration, Instant, Rate};

/// One class of `tc`'s `htb`.
pub struct Htb<P> {
    child: AnyQdisc<P>,
    /// A packet of this class that was taken out for a shaper above it.
    kept: Kept<P>,
    buckets: [Bucket; 2],
    /// Whether an empty child is asked, too.
    tells_idle: bool,
    /// The time when the debt is paid, if packets wait for it.
    wake: Option<Instant>,
}

/// The largest debt: a minute less one nanosecond.
const GREATEST_DEBT: i64 = 1 - 60_000_000_000;

const MAN: &str = "tc-htb(8)";
const SOURCE: &str = "tc: q_htb.c";

/// Refuses a word that belongs to a hierarchy.
const fn of_several(name: &'static str) -> Param<()> {
    Param::refused(name, "a line is one class, the root: trees are written as tc commands").abbreviates()
}

pub(crate) const CEIL: Param<Option<Rate>> =
    ANY_RATE.named("ceil").source(MAN).help("rate of the second bucket; unset: rate");
pub(crate) const BURST: Param<Option<u64>> =
    Param::bytes("burst", "bytes of the first bucket; unset: mtu, and what the rate sends in one nanosecond")
        .range(1, u32::MAX as u64)
        .takes_cell()
        .zero_is_unset()
        .abbreviates();
pub(crate) const CBURST: Param<Option<u64>> =
    Param::bytes("cburst", "bytes of the second bucket; unset: as burst, of ceil")
        .range(1, u32::MAX as u64)
        .takes_cell()
        .zero_is_unset()
        .abbreviates();
pub(crate) const MTU: Param<u64> = Param::bytes("mtu", "packet size for the bursts that are unset")
    .default(1600)
    .range(0, 4_294_967_295)
    .digits(Digits::Decimal)
    .abbreviates()
    .source(SOURCE);

const PARAMS: &[ParamSpec] = params! { from MAN =>
    of_several("prio"), RATE, CEIL,
    BURST, Param::alias("buffer", &BURST).source(SOURCE), Param::alias("maxburst", &BURST).source(SOURCE),
    CBURST, Param::alias("cbuffer", &CBURST).source(SOURCE), Param::alias("cmaxburst", &CBURST).source(SOURCE),
    MTU, MPU.digits(Digits::Decimal).abbreviates(), OVERHEAD, LINKLAYER,
    of_several("quantum"), of_several("r2q"), of_several("default"), of_several("direct_qlen"),
    Param::refused("offload", "has no effect: there is no hardware to offload to").source(SOURCE),
    IDLE, CHILD.default_line("pfifo"),
};

impl<P: Packet> Discipline<P> for Htb<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("htb", PARAMS)
        .summary("One class of the hierarchical token bucket: shapes its child to a rate with a burst")
        .source(MAN)
        .holds(parse_inner);

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let rate = args.get(&RATE).unwrap_or(link.rate);
        let ceil = args.get(&CEIL).unwrap_or(rate);
        let bucket = |bytes: Option<u64>, rate: Rate| {
            let bytes = bytes.unwrap_or_else(|| args.get(&MTU) + rate.as_bps() / 8_000_000_000);
            Bucket::new(rate, Pace::new(rate, args), depth(rate, bytes, args.release()))
        };
        let Some(child) = args.child() else { return Err(Error("htb: no child".into())) };
        Ok(Self {
            child: AnyQdisc::build(child, &Link { rate, ..*link })?,
            kept: Kept::default(),
            buckets: [bucket(args.get(&BURST), rate), bucket(args.get(&CBURST), ceil)],
            tells_idle: args.get(&IDLE) == Idle::Told,
            wake: None,
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let Self { child, buckets: [rate, ceil], tells_idle, .. } = Self::build(args, link)?;
        self.child.reconfigure(now, child.args().clone(), child.link(), owner)?;
        let [old_rate, old_ceil] = self.buckets;
        self.buckets = [old_rate.poured_into(rate, now), old_ceil.poured_into(ceil, now)];
        self.tells_idle = tells_idle;
        self.wake = self.wake.map(|_| now); // the new parameters change how long the packet must wait
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.kept.look()
    }
}

impl<P: Packet> Qdisc<P> for Htb<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        self.child.enqueue(now, packet, owner)
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.wake = None;
        if self.child.backlog().packets == 0 {
            return if self.tells_idle { self.child.dequeue(now, owner) } else { None };
        }
        let wait = self.buckets.iter().map(|bucket| bucket.wait(now, 0)).max();
        if let Some(wait) = wait.filter(|wait| *wait > Duration::ZERO) {
            self.wake = Some(now + wait);
            return None;
        }
        let packet = self.child.dequeue(now, owner)?;
        for bucket in &mut self.buckets {
            bucket.charge(now, bucket.cost(packet.len()), GREATEST_DEBT);
        }
        Some(packet)
    }

    fn queues(&self) -> &'static [&'static str] {
        self.child.queues()
    }

    fn queue_of(&self, packet: &P) -> usize {
        self.child.queue_of(packet)
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn paces_sockets(&self) -> bool {
        self.child.paces_sockets()
    }

    fn next_timer(&self) -> Option<Instant> {
        self.wake.into_iter().chain(self.child.next_timer()).min()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        self.wake = self.wake.filter(|due| *due > now);
        if self.child.next_timer().is_some_and(|due| due <= now) {
            self.child.on_timer(now, owner);
        }
    }

    fn backlog(&self) -> Backlog {
        [self.child.backlog(), self.kept.backlog].into_iter().sum()
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.child.probe(probe);
    }
}

#[cfg(test)]
mod tests;
