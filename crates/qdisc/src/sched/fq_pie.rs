//! FQ-PIE: flow queues in rounds, each under PIE.
//!
//! Source: tc-fq_pie(8), RFC 8033 for the law and RFC 8290, 4, for the rounds, in the only variant: Linux's. These
//! points are Linux's and in no paper:
//!
//! - each flow has its own PIE, variant `linux`, which is never reset when its bucket changes hands. PIE's queue is
//!   the flow's, so a flow of less than two full frames never loses a packet;
//! - `limit` refuses the arriving packet, whichever flow holds the queue (`fq_codel` drops from the fattest flow);
//! - above `memory_limit` packets are only counted, not dropped;
//! - a dropped arrival is reported as congestion, not as a drop, for whatever reason;
//! - an update looks at 2048 flows at a time. The rest follows a jiffy later. The next update comes `tupdate` after
//!   the last part, counted in jiffies as in PIE: 15 ms are 20. Flows that the update would not change, which are
//!   most, are skipped.

use super::drr::{Drr, Flow};
use super::fq_codel::{FLOWS, LIMIT, MEMORY_LIMIT, QUANTUM};
use crate::aqm::jiffies::{self, JIFFY};
use crate::aqm::mark;
use crate::aqm::pie::{
    ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, FIRST_UPDATE, MAX_PROB, Params, TARGET, TUPDATE, Vars,
};
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Digits, ECN, Error, Link, Param, ParamSpec, QdiscSpec, ms};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Qdisc, Raw};
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use goodqueue_units::{Duration, Instant};

/// Number of flows that one call of the timer looks at: a multiple of a word of [`Restless`].
const BATCH: usize = 2048;

/// A flow's PIE, and the number of the flow's packets.
#[derive(Clone, Copy, Debug)]
struct Law {
    vars: Vars,
    packets: u32,
}

/// The flows that an update may change, one bit per flow: the flows that the last update changed, and those that a
/// packet entered or left since. An update would leave every other flow as it is.
#[derive(Clone, Debug)]
struct Restless(Vec<u64>);

impl Restless {
    /// Marks all of `flows`, until an update shows that they are at rest.
    fn new(flows: u32) -> Self {
        let mut this = Self(alloc::vec![0; flows.div_ceil(64) as usize]);
        (0..flows).for_each(|flow| this.stir(flow));
        this
    }

    #[inline]
    fn stir(&mut self, flow: u32) {
        self.0[flow as usize / 64] |= 1 << (flow % 64);
    }
}

/// The counters that `tc -s` shows.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    packets_in: u64,
    dropped: u64,
    overlimit: u64,
    overmemory: u64,
    ecn_mark: u64,
}

/// `tc`'s `fq_pie`.
#[derive(Clone, Debug)]
pub struct FqPie<P> {
    flows: Drr<P, Law>,
    restless: Restless,
    settings: Settings,
    due: Instant,
    /// The first flow for the next call of the timer.
    cursor: usize,
    stats: Stats,
}

/// The settings that may change.
#[derive(Clone, Copy, Debug)]
struct Settings {
    params: Params,
    quantum: u32,
    limit: u32,
    memory_limit: u64,
    ecn: bool,
    /// ECN-capable packets are marked up to this probability.
    mark_up_to: u64,
    /// Time from the end of one update to the next update.
    period: Duration,
}

impl Settings {
    fn new(args: &Args, link: &Link) -> Self {
        Self {
            params: Params::new(args, link),
            quantum: args.get(&QUANTUM) as u32,
            limit: args.get(&LIMIT),
            memory_limit: args.get(&MEMORY_LIMIT),
            ecn: args.get(&ECN),
            mark_up_to: MAX_PROB / 100 * u64::from(args.get(&ECN_PROB)),
            period: jiffies::timer(args.get(&TUPDATE)),
        }
    }
}

const MAN: &str = "tc-fq_pie(8)";

const ECN_PROB: Param<u32> =
    Param::count("ecn_prob", "percent of drop probability up to which ECN-capable packets are marked")
        .default(10)
        .range(1, 99)
        .zero_is_unset()
        .source("tc-fq_pie(8); RFC 8033, 5.1");

const PARAMS: &[ParamSpec] = params! {
    LIMIT.source(MAN), FLOWS,
    TARGET.default(ms(15)).source("RFC 8033, 4.2"), TUPDATE.default(ms(15)).source("RFC 8033, 4.2"), ALPHA, BETA,
    QUANTUM.digits(Digits::OfUnit).help("bytes that a flow may send per round"),
    MEMORY_LIMIT.zero_is_unset().source(MAN)
        .help("memory, with Linux's overhead per packet; arrivals beyond it are counted, but not dropped"),
    ECN_PROB,
    ECN.source("tc-pie(8)").help("mark ECN-capable packets instead of dropping them, up to ecn_prob"),
    BYTEMODE, DQ_RATE_ESTIMATOR.default(false).source(MAN),
};

impl<P: Packet> Discipline<P> for FqPie<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("fq_pie", PARAMS)
        .summary("Flow queues in rounds, each under PIE; sparse flows go first")
        .source("tc-fq_pie(8); RFC 8033; RFC 8290");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let settings = Settings::new(args, link);
        let law = Law { vars: Vars::new(&settings.params), packets: 0 };
        let flows = args.get(&FLOWS);
        Ok(Self {
            flows: Drr::with(flows, settings.quantum, law),
            restless: Restless::new(flows),
            settings,
            due: Instant::ZERO + jiffies::timer(FIRST_UPDATE),
            cursor: 0,
            stats: Stats::default(),
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        self.settings = Settings::new(args, link);
        self.restless = Restless::new(self.flows.flows().len() as u32); // a flow at rest may not be at rest under these
        self.flows.set_quantum(self.settings.quantum);
        while self.flows.totals().backlog.packets > self.settings.limit
            && let Some(packet) = self.look().take().or_else(|| self.dequeue(now, owner))
        {
            owner.dropped(packet, Drop::Overlimit);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.flows.look()
    }
}

impl<P: Packet> Qdisc<P> for FqPie<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let bucket = self.flows.bucket(packet.flow_hash());
        self.restless.stir(bucket);
        let totals = self.flows.totals();
        let (Law { vars, packets }, queue) = self.flows.split(bucket);
        if totals.backlog.packets >= self.settings.limit {
            vars.control.restart();
            self.stats.overlimit += 1;
            return self.refuse(packet, Drop::Overlimit, owner);
        }
        let over = totals.memory > self.settings.memory_limit + packet.memory(packet.len());
        self.stats.overmemory += u64::from(over);
        if vars.drop_early(&self.settings.params, queue.bytes(), packet.len(), || owner.random_u64()) {
            let may_mark = self.settings.ecn && vars.control.prob <= self.settings.mark_up_to;
            if !(may_mark && mark(&mut packet, Mark::Early, owner)) {
                vars.control.restart();
                return self.refuse(packet, Drop::Early, owner);
            }
            self.stats.ecn_mark += 1;
        }
        *packets += 1;
        self.stats.packets_in += 1;
        self.flows.push(bucket, || packet);
        Enqueued::Success
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) -> Option<P> {
        loop {
            let bucket = self.flows.next_flow()?;
            let (Law { vars, packets }, mut queue) = self.flows.split(bucket);
            if let Some(head) = queue.head() {
                self.restless.stir(bucket);
                *packets -= 1;
                vars.dequeued(&self.settings.params, now, head, queue.bytes() - u64::from(head.len()));
                let packet = queue.pull();
                self.flows.charge(bucket);
                return packet;
            }
            self.flows.retire(bucket);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.due)
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        let count = self.flows.flows().len();
        let end = (self.cursor + BATCH).min(count);
        for word in self.cursor / 64..end.div_ceil(64) {
            self.update(word);
        }
        self.cursor = if end == count { 0 } else { end };
        let wait = if self.cursor == 0 { self.settings.period } else { JIFFY };
        self.due += wait;
        if self.due <= now {
            self.due = now + wait;
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.totals().backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("new_len", self.flows.new_flows().count() as i128);
        probe.integer("old_len", self.flows.old_flows().count() as i128);
        probe.integer("new_flow_count", self.flows.new_flow_count().into());
        let memory = self.flows.totals().memory;
        probe.measured("memory_usage", memory.into(), Measure::Bytes(Some(memory as f64)));
        probe.integer("packets_in", self.stats.packets_in.into());
        probe.integer("dropped", self.stats.dropped.into());
        probe.integer("overlimit", self.stats.overlimit.into());
        probe.integer("overmemory", self.stats.overmemory.into());
        probe.integer("ecn_mark", self.stats.ecn_mark.into());
        probe.measured("cursor", Raw::Integer(self.cursor as i128), Measure::Internal);
        for (name, flow) in ["new0", "new1", "new2"].into_iter().zip(self.flows.new_flows()) {
            probe.text(name, describe(flow));
        }
        for (name, flow) in ["old0", "old1", "old2"].into_iter().zip(self.flows.old_flows()) {
            probe.text(name, describe(flow));
        }
        probe.text("probs", self.probabilities());
    }
}

/// Writes a flow as decision traces do: `bucket:deficit:backlog:qlen:` and PIE's state.
fn describe((bucket, flow): (u32, &Flow<Law>)) -> String {
    let Law { vars, packets } = &flow.law;
    format!("{bucket}:{}:{}:{packets}:{vars}", flow.deficit, flow.bytes)
}

impl<P: Packet> FqPie<P> {
    /// Updates the flows in one word of [`Restless`].
    fn update(&mut self, word: usize) {
        let mut left = self.restless.0[word];
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let (Law { vars, .. }, queue) = self.flows.split(64 * word as u32 + bit);
            let before = *vars;
            vars.update(&self.settings.params, queue.bytes());
            if *vars == before {
                self.restless.0[word] &= !(1 << bit);
            }
        }
    }

    fn refuse<O: Owner<P>>(&mut self, packet: P, why: Drop, owner: &mut O) -> Enqueued {
        self.stats.dropped += 1;
        owner.dropped(packet, why);
        Enqueued::Congestion
    }

    /// Returns `bucket:prob|...` of the flows whose probability is not 0.
    fn probabilities(&self) -> String {
        let mut text = String::new();
        for (bucket, flow) in
            self.flows.flows().iter().enumerate().filter(|(_, flow)| flow.law.vars.control.prob != 0)
        {
            let bar = if text.is_empty() { "" } else { "|" };
            let _ = write!(text, "{bar}{bucket}:{}", flow.law.vars.control.prob);
        }
        text
    }
}

#[cfg(test)]
mod tests;
