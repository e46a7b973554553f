//! The record of a run: one object, the same from every engine.

#[cfg_attr(feature = "complete", path = "record/complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "record/complete/disabled.rs")]
mod complete;
mod elsewhere;
mod hosts;
#[cfg(feature = "reference")]
pub mod layout;
mod parts;

use crate::flow::{Flow, Source};
use crate::ids::{FlowId, HopId};
use crate::ledger::{Forwarded, Ledger, Queue};
use crate::path::netem::WireCounts;
use crate::probe::series::QueueSeries;
use crate::receive::Card;
use crate::scenario::{Hop, LinkSpec};
use crate::sim::Simulation;
use crate::sim::row::{Body, HopState};
use crate::tally::Totals;
use crate::wifi::cell::Cell;
pub use crate::wifi::log::AirSeries;
pub use crate::wifi::report::{AirRecord, StationRecord, WifiRecord};
pub use crate::wifi::stations::{AirtimeSeries, StationSeries};
#[cfg(feature = "complete")]
pub use complete::Got;
pub use complete::{CardRecord, IspRecord, NodeSeries};
pub use elsewhere::{Kernel, KernelHop, Late, Live, LiveHosts, LivePackets, SourceFile};
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::probe::{jain, percent, ratio, rounded};
use goodqueue_hosts::traffic::KINDS;
use goodqueue_qdisc::{Drop, Mark};
use goodqueue_units::Instant;
pub use hosts::HostRecord;
pub use parts::{
    AppRecord, Fairness, FlowRecord, HopBody, HopRecord, KindSeries, Packets, PerDirection, QueueRecord,
    Record, RingRecord, SeriesRecord, WirePackets, WireRecord,
};
use std::collections::BTreeMap;

#[cfg(feature = "threads")]
impl crate::sim::threads::Threaded {
    /// Ends the run and returns its record, as [`Simulation::record`].
    ///
    /// # Panics
    /// As [`Simulation::record`].
    #[must_use]
    pub fn into_record(self) -> Record {
        self.into_whole().record()
    }
}

#[cfg(feature = "threads")]
impl crate::sim::trial::Trial {
    /// Ends the run and returns its record, as [`Simulation::record`].
    ///
    /// # Panics
    /// As [`Simulation::record`].
    #[must_use]
    pub fn into_record(self) -> Record {
        self.into_whole().record()
    }
}

impl Simulation {
    /// Returns the record of the run up to now.
    ///
    /// # Panics
    /// If a queue made or lost a packet: every run asserts the conservation of packets.
    #[must_use]
    pub fn record(&self) -> Record {
        let hosts = self.hosts();
        Record {
            schema: 1,
            engine: "sim",
            version: env!("CARGO_PKG_VERSION"),
            seed: self.scenario.seed,
            scenario: self.scenario.without_outside(),
            queues: PerDirection {
                down: self.queue_at_bottleneck(Direction::Down),
                up: self.queue_at_bottleneck(Direction::Up),
            },
            wifi: self.cell().map(|cell| cell.record(self.measured_s(Instant::ZERO, Instant::MAX))),
            hops: self.hop_records(),
            flows: self.indices(|flow| !flow.kind.is_probe).map(|id| self.flow(id)).collect(),
            fairness: self.fairness(&hosts),
            hosts,
            isp: self.isp(),
            apps: self.flows.numbers().filter_map(|id| self.app_record(id)).collect(),
            series: self.series(),
        }
    }

    fn indices(&self, wanted: impl Fn(&Flow) -> bool) -> impl Iterator<Item = FlowId> {
        self.flows.numbers().filter(move |&id| wanted(&self.flows[id]))
    }

    /// Returns the measured seconds of a flow, or of the run, that began at `start` and ended at `stop`.
    fn measured_s(&self, start: Instant, stop: Instant) -> f64 {
        stop.min(self.now).since(start.max(Instant::ZERO + self.scenario.warmup.0)).as_secs_f64()
    }

    fn queue_at_bottleneck(&self, direction: Direction) -> QueueRecord {
        let card = self.row.as_ref().and_then(|row| row.cards.of_bottleneck(direction));
        self.queue(self.scenario.link(direction), self.bottleneck(direction), card)
    }

    /// Returns when measuring began.
    fn measured_from(&self) -> Instant {
        Instant::ZERO + self.scenario.warmup.0
    }

    fn hop_records(&self) -> Vec<HopRecord> {
        let states = self.row.iter().flat_map(|row| row.hops.numbered());
        let card = |hop| self.row.as_ref().and_then(|row| row.cards.of_hop(hop));
        let record = |(hop, (id, state)): (&Hop, (HopId, &HopState))| HopRecord {
            name: hop.name.clone(),
            kind: hop.kind.name,
            direction: hop.direction,
            body: match (&state.body, &hop.link) {
                (Body::Link(link), Some(spec)) => HopBody::Link(Box::new(self.queue(spec, link, card(id)))),
                (Body::Link(_), None) => unreachable!("a link was built of what the scenario says"),
                (Body::Element(element), _) => HopBody::Wire(wire(element.counts(), state.baseline)),
            },
        };
        self.scenario.hops.list.iter().zip(states).map(record).collect()
    }

    fn queue(&self, spec: &LinkSpec, queue: &dyn Queue, card: Option<&Card>) -> QueueRecord {
        let Ledger { fates, forwarded: Forwarded { delays, .. }, measured, .. } = queue.ledger();
        let (after, baseline) = (queue.counts(), &measured.baseline);
        let before = baseline.counts;
        let seconds = self.measured_s(Instant::ZERO, Instant::MAX);
        let packets = Packets {
            offered: after.offered - before.offered,
            forwarded: after.forwarded - before.forwarded,
            dropped: after.dropped - before.dropped,
            marked: after.marked - before.marked,
            queued_at_start: before.queued,
            queued_at_end: after.queued,
        };
        let bytes = after.forwarded_bytes - before.forwarded_bytes;
        QueueRecord {
            qdisc: spec.written(),
            utilisation_percent: rounded(queue.utilisation_percent(self.measured_from(), self.now)),
            throughput_mbps: rounded(ratio(bytes as f64 * 8e-6, seconds)),
            delay_ms: delays.summary(),
            delay_percentiles_ms: delays.percentiles_ms(),
            packets,
            drop_percent: percent(packets.dropped, packets.offered),
            mark_percent: percent(packets.marked, packets.offered),
            drops_by_reason: by_reason(Drop::ALL.map(Drop::name), &fates.drops, &baseline.drops),
            marks_by_reason: by_reason(Mark::ALL.map(Mark::name), &fates.marks, &baseline.marks),
            ring: queue
                .below()
                .map(|(delays, packets_at_end)| RingRecord { delay_ms: delays.summary(), packets_at_end }),
            card: card.map(CardRecord::of),
        }
    }

    /// Returns the totals of flow `id` during the measured time.
    fn measured(&self, id: FlowId) -> Totals {
        let (flow, after) = (&self.flows[id], self.totals(id));
        let delivered_bytes = flow.delivered_at_stop.unwrap_or(after.delivered_bytes);
        Totals { delivered_bytes, ..after } - flow.baseline
    }

    fn goodput_mbps(&self, id: FlowId) -> f64 {
        let flow = &self.flows[id];
        rounded(ratio(
            self.measured(id).delivered_bytes as f64 * 8e-6,
            self.measured_s(flow.start, flow.stop),
        ))
    }

    fn flow(&self, id: FlowId) -> FlowRecord {
        let flow: &Flow = &self.flows[id];
        let measured = self.measured(id);
        let tcp = flow.kind.is_tcp();
        let (cc, rtt_ms) = match &flow.source {
            Source::Bulk(cc) => (Some(cc.to_string()), self.sockets.bulk[id].rtt.summary()),
            Source::Isochronous(_) | Source::Outside { .. } => (None, None),
            Source::App(app) => (tcp.then(|| app.cc().to_string()), app.rtt.summary()),
        };
        FlowRecord {
            name: flow.name.clone(),
            kind: flow.kind.name,
            direction: flow.direction,
            cc,
            start_s: rounded(flow.start.as_secs_f64()),
            goodput_mbps: self.goodput_mbps(id),
            rtt_ms,
            bytes_sent: tcp.then_some(measured.sent_bytes),
            bytes_retrans: tcp.then_some(measured.retransmitted_bytes),
            retransmitted: tcp.then_some(measured.retransmitted),
            timeouts: tcp.then_some(measured.timeouts),
            tlp_probes: tcp.then_some(measured.tlp_probes),
            spurious_retransmissions: tcp.then_some(measured.spurious_retransmissions),
            undos: tcp.then_some(measured.undos),
            loss_percent: (measured.fates.offered > 0)
                .then(|| percent(measured.fates.dropped, measured.fates.offered)),
            completion_ms: flow.result(self.now).and_then(|result| result.completion_ms()),
            goodput_5s_mbps: flow.bins.quantiles(),
        }
    }

    /// Returns the measurements of flow `id` as an application, if it has any.
    fn app_record(&self, id: FlowId) -> Option<AppRecord> {
        let flow = &self.flows[id];
        Some(AppRecord::new(flow.name.clone(), flow.kind, flow.undone()?, flow.result(self.now)?))
    }

    fn fairness(&self, hosts: &[HostRecord]) -> Fairness {
        let all: Vec<FlowId> = self.indices(|flow| matches!(flow.source, Source::Bulk(_))).collect();
        let direction = all.first().map(|&first| self.flows[first].direction);
        let flows: Vec<FlowId> = all
            .into_iter()
            .filter(|&id| self.takes_part(id) && Some(self.flows[id].direction) == direction)
            .collect();
        let goodputs: Vec<f64> = flows.iter().map(|&id| self.goodput_mbps(id)).collect();
        let losses: Vec<f64> = flows
            .iter()
            .map(|&id| self.measured(id))
            .map(|measured| ratio(measured.fates.dropped as f64, measured.fates.offered as f64))
            .collect();
        let of_users = hosts.iter().filter(|host| host.role == "host").map(|host| &host.goodput_mbps);
        let of_hosts: Vec<f64> = match direction {
            Some(Direction::Down) => of_users.filter_map(|goodput| goodput.down).collect(),
            Some(Direction::Up) => of_users.filter_map(|goodput| goodput.up).collect(),
            None => Vec::new(),
        };
        Fairness { jain_goodput: jain(&goodputs), jain_drops: jain(&losses), jain_hosts: jain(&of_hosts) }
    }

    /// Returns whether flow `id` was active at all during the measured time.
    fn takes_part(&self, id: FlowId) -> bool {
        self.measured_s(self.flows[id].start, self.flows[id].stop) > 0.0
    }

    fn hop_series(&self) -> BTreeMap<String, QueueSeries> {
        let states = self.row.iter().flat_map(|row| row.hops.iter());
        let links = self.scenario.hops.list.iter().zip(states);
        let mut named = BTreeMap::new();
        named.extend(links.filter_map(|(hop, state)| {
            Some((hop.name.clone(), state.link()?.ledger.measured.series.clone()))
        }));
        named
    }

    fn kind_series(&self) -> KindSeries {
        let named = KINDS.iter().map(|kind| {
            let flows = self.flows.iter().filter(|flow| flow.kind == *kind);
            (kind.series.map_or("", |(name, _)| name), flows.filter_map(Flow::series).collect::<Vec<_>>())
        });
        KindSeries(named.filter(|(_, list)| !list.is_empty()).collect())
    }

    fn series(&self) -> Option<SeriesRecord> {
        let asked = self.scenario.series.as_ref()?;
        let ledgers = Direction::ALL.map(|direction| self.bottleneck(direction).ledger());
        let [down, up] = ledgers.map(|ledger| ledger.measured.series.clone());
        let [down_log, up_log] = ledgers.map(|ledger| ledger.fates.watch.as_ref()?.log.as_ref());
        Some(SeriesRecord {
            interval_s: asked.interval.map(|interval| interval.0.as_secs_f64()),
            time_s: self.interval_ends.iter().map(|end| end.as_secs_f64()).collect(),
            queues: PerDirection { down, up },
            hops: self.hop_series(),
            flows: self.flow_series.iter().cloned().collect(),
            kinds: self.kind_series(),
            packets: down_log
                .zip(up_log)
                .map(|(down, up)| PerDirection { down: down.series(), up: up.series() }),
            stations: self
                .cell()
                .filter(|_| asked.interval.is_some())
                .map_or_else(Vec::new, Cell::station_series),
            nodes: if asked.interval.is_some() { self.node_series() } else { Vec::new() },
            air: self.cell().and_then(Cell::air_series),
        })
    }
}

/// Returns what a wire did since its counts were `before`.
fn wire(after: WireCounts, before: WireCounts) -> WireRecord {
    let packets = WirePackets {
        offered: after.offered - before.offered,
        delivered: after.delivered - before.delivered,
        lost: after.lost - before.lost,
        over_limit: after.over_limit - before.over_limit,
        duplicated: after.duplicated - before.duplicated,
        exceeded: after.exceeded - before.exceeded,
        held_at_start: before.held,
        held_at_end: after.held,
    };
    WireRecord { packets, loss_percent: percent(packets.lost, packets.offered) }
}

fn by_reason<const N: usize>(
    names: [&'static str; N],
    after: &[u64; N],
    before: &[u64],
) -> BTreeMap<&'static str, u64> {
    let counts = after.iter().enumerate().map(|(index, count)| count - before.get(index).unwrap_or(&0));
    let mut counted = BTreeMap::new();
    counted.extend(names.into_iter().zip(counts).filter(|(_, count)| *count > 0));
    counted
}
