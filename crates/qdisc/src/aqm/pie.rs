//! PIE: proportional integral controller enhanced.
//!
//! Source: RFC 8033 (section numbers below), in three variants. `linux` is PIE as Linux 6.1 runs it. `draft2013` is
//! the PIE of draft-pan-aqm-pie-00, of Pan et al. (HPSR 2013) and of the vendor's Linux code of that year, which the
//! papers of 2013 to 2015 ran. `rfc8033` is the RFC as it is written.
//!
//! There are two laws: `pie/linux.rs` runs the variants `linux` and `draft2013`, and `pie/rfc8033.rs` runs the third.
//! Both use the controller of `pie/control.rs`. If variants differ only in a number, the number is in `pie/params.rs`.

mod control;
mod linux;
mod params;
mod rfc8033;

use super::{Aqm, Periodic, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, LIMIT, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Raw};
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use alloc::string::ToString;
use control::Control;
use goodqueue_units::{Duration, Instant};
pub(crate) use linux::Vars;
pub(crate) use params::{ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, TARGET, TUPDATE};
use params::{AUTO_INACTIVE, ECN_PROB, KEEP_RATE, LINUX, PARAMS, REARM, Rules, VARIANT, Variant};

/// Probability one. It has 56 bits, so that 64 bits hold the sum of 8.5 that de-randomisation (5.4) needs.
pub const MAX_PROB: u64 = u64::MAX >> 8;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
/// Time after the start for which Linux sets the first update.
pub(crate) const FIRST_UPDATE: Duration = Duration::from_millis(500);

const fn ticks(span: Duration) -> u64 {
    span.as_nanos() >> 6
}

const fn tick_at(now: Instant) -> u64 {
    now.as_nanos() >> 6
}

/// The law's parameters. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    rules: &'static Rules,
    target: u64,
    tupdate: u64,
    /// Gains as `tc` takes them, in sixteenths of 1/s.
    alpha: u64,
    beta: u64,
    bytemode: bool,
    dq_rate_estimator: bool,
    auto_inactive: bool,
    /// Whether the burst allowance returns at any p.
    rearms: bool,
    /// Whether the departure rate is kept when all is quiet.
    keeps_rate: bool,
    mtu: u32,
}

impl Params {
    /// Reads Linux's parameters of a line that lists `target tupdate alpha beta bytemode dq_rate_estimator`.
    #[must_use]
    pub fn new(args: &Args, link: &Link) -> Self {
        Self {
            rules: &LINUX,
            target: ticks(args.get(&TARGET)),
            tupdate: ticks(args.get(&TUPDATE)),
            alpha: args.get(&ALPHA).into(),
            beta: args.get(&BETA).into(),
            bytemode: args.get(&BYTEMODE),
            dq_rate_estimator: args.get(&DQ_RATE_ESTIMATOR),
            auto_inactive: false,
            rearms: false,
            keeps_rate: false,
            mtu: link.mtu,
        }
    }
}

/// Returns how long the packet that leaves at `tick` was in the queue, in ticks: the delay of 4.3 by time stamps. It is
/// 0 if the packet leaves the queue empty.
fn waited<P: Packet>(tick: u64, packet: &P, backlog: u64) -> u64 {
    if backlog == 0 { 0 } else { tick.saturating_sub(tick_at(packet.arrival())) }
}

/// The state that a law shows, under Linux's names. Times are in ticks.
struct Shown {
    control: Control,
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    dq_tstamp: Option<u64>,
    dq_count: Option<u64>,
    avg_dq_rate: u64,
    /// Bytes that leave per tick, if known.
    rate: Option<f64>,
    backlog_old: u64,
    active: bool,
}

impl Shown {
    fn probe(&self, probe: &mut dyn Probe) {
        let Control { prob, accu_prob } = self.control;
        let share = |prob: u64| Measure::Number(Some(prob as f64 / MAX_PROB as f64));
        let time = |ticks: u64| Measure::Time(Some(ticks as f64 / TICKS_PER_SECOND as f64));
        let bytes = |bytes: Option<u64>| Measure::Bytes(bytes.map(|bytes| bytes as f64));
        probe.measured("prob", prob.into(), share(prob));
        probe.measured("accu_prob", accu_prob.into(), share(accu_prob));
        probe.measured("qdelay", self.qdelay.into(), time(self.qdelay));
        probe.measured("qdelay_old", self.qdelay_old.into(), time(self.qdelay_old));
        probe.measured("burst_time", self.burst_time.into(), time(self.burst_time));
        let stamp = self.dq_tstamp.map(|tick| Moment::wrapping(tick << 6, u64::BITS));
        probe.measured("dq_tstamp", self.dq_tstamp.unwrap_or(u64::MAX).into(), Measure::Moment(stamp));
        probe.measured("dq_count", self.dq_count.unwrap_or(u64::MAX).into(), bytes(self.dq_count));
        let rate = self.rate.map(|bytes| 8.0 * bytes * TICKS_PER_SECOND as f64);
        probe.measured("avg_dq_rate", self.avg_dq_rate.into(), Measure::Rate(rate));
        probe.measured("backlog_old", self.backlog_old.into(), bytes(Some(self.backlog_old)));
        probe.integer("active", self.active.into());
        probe.real("drop_probability", (prob as f64 / MAX_PROB as f64).min(1.0));
    }
}

/// The state of the law that a variant runs.
#[derive(Clone, Copy, Debug)]
enum Law {
    Linux(linux::Vars),
    Rfc8033(rfc8033::Vars),
}

impl Law {
    fn shown(&self, params: &Params) -> Shown {
        match self {
            Self::Linux(vars) => vars.shown(params),
            Self::Rfc8033(vars) => vars.shown(params),
        }
    }
}

/// The counters that `tc -s` shows.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    packets_in: u64,
    dropped: u64,
    overlimit: u64,
    ecn_mark: u64,
    maxq: usize,
}

/// PIE over one FIFO: `tc`'s `pie`.
#[derive(Clone, Debug)]
pub struct Pie {
    limit: usize,
    ecn: bool,
    /// ECN-capable packets are marked below this probability (5.1).
    mark_below: u64,
    params: Params,
    law: Law,
    stats: Stats,
    timer: Periodic,
}

impl Aqm for Pie {
    const SPEC: QdiscSpec = QdiscSpec::new("pie", PARAMS)
        .summary("Drops arrivals at random, with a probability that steers the delay to target")
        .source("RFC 8033; tc-pie(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let variant = args.get(&VARIANT);
        let rules = Rules::of(variant);
        if args.is_given(AUTO_INACTIVE.name()) && !matches!(variant, Variant::Rfc8033) {
            return Err(Error("pie auto_inactive: only variant rfc8033 has it".to_string()));
        }
        for name in [ECN_PROB.name(), REARM.name(), KEEP_RATE.name()] {
            if args.is_given(name) && !matches!(variant, Variant::Draft2013) {
                return Err(Error(format!("pie {name}: only variant draft2013 has it")));
            }
        }
        // The 100 makes `ecn_prob 100` more than any probability, which is at most MAX_PROB in draft2013.
        let mark_below =
            args.get(&ECN_PROB).map_or(rules.mark_below, |percent| MAX_PROB / 100 * u64::from(percent) + 100);
        let auto_inactive = args.get(&AUTO_INACTIVE) == Some(true);
        let rearms = args.get(&REARM) == Some(true);
        let keeps_rate = args.get(&KEEP_RATE) == Some(true);
        let params = Params { rules, auto_inactive, rearms, keeps_rate, ..Params::new(args, link) };
        let (first, period) = rules.beat(args.get(&TUPDATE));
        let law = match variant {
            Variant::Linux | Variant::Draft2013 => Law::Linux(linux::Vars::new(&params)),
            Variant::Rfc8033 => Law::Rfc8033(rfc8033::Vars::new(&params)),
        };
        Ok(Self {
            limit: args.get(&LIMIT) as usize,
            ecn: args.get(&ECN),
            mark_below,
            params,
            law,
            stats: Stats::default(),
            timer: Periodic::new(first, period),
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let Self { mut law, stats, timer, .. } = *self;
        let fresh = Self::build(args, link)?;
        if let Law::Rfc8033(vars) = &mut law {
            vars.changed(&fresh.params);
        }
        *self = Self { law, stats, timer: fresh.timer.going_on_from(timer), ..fresh };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let fits = queue.len() < self.limit;
        if let Law::Rfc8033(vars) = &mut self.law {
            vars.arrived(&self.params, now, queue.len(), self.limit);
        }
        if fits && self.drop_early(queue.bytes(), packet.len(), || owner.random_u64()) {
            let may_mark = self.ecn && self.control().prob < self.mark_below;
            if !(may_mark && mark(&mut packet, Mark::Early, owner)) {
                return self.refuse(packet, Drop::Early, owner);
            }
            self.stats.ecn_mark += 1;
        }
        if !fits {
            self.stats.overlimit += 1;
            return self.refuse(packet, Drop::Overlimit, owner);
        }
        self.stats.packets_in += 1;
        self.stats.maxq = self.stats.maxq.max(queue.len());
        queue.push(packet);
        Enqueued::Success
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        let head = queue.head()?;
        let backlog = queue.bytes() - u64::from(head.len());
        match &mut self.law {
            Law::Linux(vars) => vars.dequeued(&self.params, now, head, backlog),
            Law::Rfc8033(vars) => vars.dequeued(&self.params, now, head, backlog),
        }
        queue.pop()
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        self.timer.fired(now);
        match &mut self.law {
            Law::Linux(vars) => vars.update(&self.params, queue.bytes()),
            Law::Rfc8033(vars) => vars.update(&self.params, queue.bytes()),
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.law.shown(&self.params).probe(probe);
        probe.integer("packets_in", self.stats.packets_in.into());
        probe.integer("dropped", self.stats.dropped.into());
        probe.integer("overlimit", self.stats.overlimit.into());
        probe.integer("ecn_mark", self.stats.ecn_mark.into());
        let most = self.stats.maxq;
        probe.measured("maxq", Raw::Integer(most as i128), Measure::Packets(Some(most as f64)));
    }
}

impl Pie {
    fn control(&mut self) -> &mut Control {
        match &mut self.law {
            Law::Linux(vars) => &mut vars.control,
            Law::Rfc8033(vars) => &mut vars.control,
        }
    }

    /// Returns whether a packet of `len` bytes that meets `backlog` bytes is dropped or marked (4.1, 5.4).
    fn drop_early(&mut self, backlog: u64, len: u32, draw: impl FnOnce() -> u64) -> bool {
        match &mut self.law {
            Law::Linux(vars) => vars.drop_early(&self.params, backlog, len, draw),
            Law::Rfc8033(vars) => vars.drop_early(&self.params, backlog, len, draw),
        }
    }

    fn refuse<P: Packet, O: Owner<P>>(&mut self, packet: P, why: Drop, owner: &mut O) -> Enqueued {
        self.stats.dropped += 1;
        self.control().restart();
        owner.dropped(packet, why);
        Enqueued::Dropped
    }
}

#[cfg(test)]
mod tests;
