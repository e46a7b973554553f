//! CoDel: controlled delay.
//!
//! Source: RFC 8289 (section numbers below), in four variants. `rfc8289` is the RFC's pseudocode, and `linux` is CoDel
//! as Linux runs it. `acm2012` is the pseudocode of the article in ACM Queue, and `ns2` is its authors' code.
//!
//! `codel/vars.rs` has the state machine, which all variants share. `codel/law.rs` has what a variant may change, and
//! the RFC's rule for each. Each variant is a type in a file of its own, which says how it differs. A packet of a good
//! queue asks no variant: what counts for it are numbers in [`Params`].
//!
//! All variants differ from the RFC in these points, as Linux does:
//!
//! - the clock is 32 bits of 1024 ns, wrapping (`codel/ticks.rs`);
//! - the small-backlog guard compares with the link's full frame (5.3), after the packet was removed;
//! - an ECN-capable packet is marked instead of dropped, at most one per dequeue.

mod acm2012;
mod law;
mod linux;
mod ns2;
mod rfc8289;
mod ticks;
mod vars;

use super::Aqm;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, LIMIT, Link, Masked, Param, QdiscSpec, ms, us};
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::{Drop, Owner};
use crate::{params, words};
use acm2012::Acm2012;
use goodqueue_units::{Duration, Instant, Release};
use law::Law;
pub(crate) use linux::Linux;
use ns2::Ns2;
use rfc8289::Rfc8289;
use ticks::Ticks;
pub(crate) use vars::Verdict;
pub use vars::{Source, Vars};

/// The longest time that CoDel's clock compares: 2^31 ticks.
const MOST_TIME: Duration = us(2_199_023_254);

/// Acceptable standing delay. CoDel's parameters are shared: `fq_codel` lists them, too.
// 100 s switch CoDel off (fq_nocodel). The clock compares times up to 2199 s apart.
pub const TARGET: Param<Duration> = Param::time("target", "acceptable standing queue delay")
    .default(ms(5))
    .range(us(1), MOST_TIME)
    .zero_is_unset()
    .source("RFC 8289, 4.4");
/// The interval. See [`TARGET`].
pub const INTERVAL: Param<Duration> = Param::time(
    "interval",
    "window in which the delay must fall below target once; a worst-case round-trip time",
)
.default(ms(100))
.range(us(1), MOST_TIME)
.zero_is_unset()
.source("RFC 8289, 4.3");
/// The threshold above which packets are marked with CE. See [`TARGET`].
pub const CE_THRESHOLD: Param<Option<Duration>> =
    Param::time("ce_threshold", "mark every ECN-capable packet that waited longer; unset: off")
        .range(us(0), MOST_TIME)
        .source("tc-codel(8)");
const VARIANT: Param<Variant> =
    Param::choice("variant", "which CoDel; its page describes each variant", "linux")
        .fixed()
        .source("RFC 8289, 5.6; Nichols, Jacobson 2012; ns-2.35 queue/codel.cc");

words! {
    enum Variant { Linux = "linux", Rfc8289 = "rfc8289", Acm2012 = "acm2012", Ns2 = "ns2" }
}

/// The law's parameters. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    target: Ticks,
    interval: Ticks,
    ce_threshold: Option<Ticks>,
    /// Mask of the DS field, and the value under it for which `ce_threshold` applies.
    ce_threshold_selector: Option<Masked>,
    ecn: bool,
    /// As [`Law::guard`].
    guard: u32,
    /// As [`Law::EARLY`].
    early: Ticks,
    rules: Rules,
}

/// What differs between releases of Linux.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Most packets that one call drops while it is behind its schedule.
    most_drops: u32,
    /// The shortest gap between two drops. With no gap at all (an interval of a few microseconds), the schedule would
    /// stand still.
    least_gap: Ticks,
}

impl Rules {
    /// No limits: Linux before 7.3, and all other variants.
    const NONE: Self = Self { most_drops: u32::MAX, least_gap: Ticks(0) };

    fn of(release: Release) -> Self {
        if release < Release::Linux7_3 { Self::NONE } else { Self { most_drops: 256, least_gap: Ticks(1) } }
    }
}

impl Params {
    /// Reads the parameters of a line that lists [`TARGET`], [`INTERVAL`], [`ECN`] and [`CE_THRESHOLD`].
    #[must_use]
    pub fn new(args: &Args, link: &Link) -> Self {
        let ce_threshold = args.get(&CE_THRESHOLD).map(Ticks::of);
        let linux = Self::with(args.get(&TARGET), args.get(&INTERVAL), args.get(&ECN), link, args.release());
        Self { ce_threshold, ..linux }
    }

    /// Returns the parameters of the law of `release` with this target and interval, with or without ECN.
    pub(crate) fn with(
        target: Duration,
        interval: Duration,
        ecn: bool,
        link: &Link,
        release: Release,
    ) -> Self {
        Self {
            target: Ticks::of(target),
            interval: Ticks::of(interval),
            ce_threshold: None,
            ce_threshold_selector: None,
            ecn,
            guard: Linux::guard(link.mtu),
            early: Linux::EARLY,
            rules: Rules::of(release),
        }
    }

    /// Returns these parameters for the law `L`.
    fn of<L: Law>(self, link: &Link) -> Self {
        Self { guard: L::guard(link.mtu), early: L::EARLY, rules: Rules::NONE, ..self }
    }

    /// Returns these parameters with the DS field values to which `ce_threshold` applies. `None`: to all.
    #[must_use]
    pub fn selecting(self, ce_threshold_selector: Option<Masked>) -> Self {
        Self { ce_threshold_selector, ..self }
    }

    /// Returns whether `ce_threshold` applies to `packet`.
    fn selects<P: Packet>(&self, packet: &P) -> bool {
        let ds_field = packet.dscp() << 2 | packet.ecn().bits();
        self.ce_threshold_selector.is_none_or(|Masked { value, mask }| ds_field & mask == value)
    }
}

/// CoDel over one FIFO: `tc`'s `codel`.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: usize,
    variant: Variant,
    params: Params,
    vars: Vars,
}

impl Codel {
    /// Takes the next packet as the variant's law demands. Apart from the common case, in which the packet then goes
    /// straight to its place with the caller.
    #[cold]
    #[inline(never)]
    fn act<P: Packet, O: Owner<P>>(
        &mut self,
        drop: bool,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Option<P> {
        let Self { variant, params, vars, .. } = self;
        match variant {
            Variant::Linux => vars.act::<Linux, _, _>(drop, params, now, queue, owner),
            Variant::Rfc8289 => vars.act::<Rfc8289, _, _>(drop, params, now, queue, owner),
            Variant::Acm2012 => vars.act::<Acm2012, _, _>(drop, params, now, queue, owner),
            Variant::Ns2 => vars.act::<Ns2, _, _>(drop, params, now, queue, owner),
        }
    }
}

impl Aqm for Codel {
    const SPEC: QdiscSpec = QdiscSpec::new(
        "codel",
        params! { LIMIT.source("tc-codel(8)"), TARGET, INTERVAL, ECN.source("tc-codel(8)"), CE_THRESHOLD, VARIANT },
    )
    .changes(&[
        (Release::Linux7_3, "one call drops at most 256 packets while it is behind its schedule"),
        (Release::Linux7_3, "the gap between two drops has at least a tick of 1024 ns"),
    ])
    .summary("Controlled delay: drops from the head while the delay stays above target")
    .source("RFC 8289; tc-codel(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let (variant, params) = (args.get(&VARIANT), Params::new(args, link));
        let params = match variant {
            Variant::Linux => params,
            Variant::Rfc8289 => params.of::<Rfc8289>(link),
            Variant::Acm2012 => params.of::<Acm2012>(link),
            Variant::Ns2 => params.of::<Ns2>(link),
        };
        Ok(Self { limit: args.get(&LIMIT) as usize, variant, params, vars: Vars::default() })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        *self = Self { vars: self.vars, ..Self::build(args, link)? };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))] // the packet is then copied once: into the ring
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if queue.len() < self.limit {
            queue.push(packet);
            return Enqueued::Success;
        }
        owner.dropped(packet, Drop::Overlimit);
        Enqueued::Dropped
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Option<P> {
        match self.vars.judge(&self.params, now, queue.head(), queue.bytes()) {
            Verdict::Empty => None,
            Verdict::Passes { .. } => queue.pop(),
            Verdict::Acts { drop } => self.act(drop, now, queue, owner),
        }
    }

    #[inline]
    fn dequeue_to<P: Packet, O: Owner<P>, R>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        let head = queue.head();
        // One call for both, so that the compiler puts it into the caller's loop.
        let (head, len) = match self.vars.judge(&self.params, now, head, queue.bytes()) {
            Verdict::Empty => return None,
            Verdict::Passes { len } => (head?, len),
            Verdict::Acts { drop } => {
                let packet = self.act(drop, now, queue, owner)?;
                let len = packet.len();
                queue.put_back(packet);
                (queue.head()?, len)
            }
        };
        let sent = send(head, len);
        queue.drop_head(len);
        Some(sent)
    }

    #[inline]
    fn pass(&mut self) -> bool {
        let passes = self.limit > 0;
        if passes {
            self.vars.pass();
        }
        passes
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.vars.probe(probe);
    }
}

#[cfg(test)]
mod tests;
