//! The record of a run: one object, the same from every engine.

mod hosts;

use crate::baseline::Baseline;
use crate::cell::Cell;
pub use crate::cell::log::AirSeries;
pub use crate::cell::report::{AirRecord, StationRecord, WifiRecord};
pub use crate::cell::stations::{AirtimeSeries, StationSeries};
use crate::direction::Direction;
use crate::flow::{Flow, Source};
use crate::ids::{FlowId, LinkId};
use crate::link::{Counts, Fates, Link};
use crate::path::netem::WireCounts;
use crate::probe::delay::{QueueDelays, Summary};
use crate::probe::goodput::Quantiles;
use crate::probe::series::{FlowSeries, PacketSeries, QueueSeries};
use crate::probe::{percent, ratio, rounded};
use crate::ring::Ring;
use crate::scenario::{Hop, LinkSpec, Scenario};
use crate::sim::Simulation;
use crate::sim::row::{Body, HopState};
use crate::tally::Totals;
pub use crate::traffic::media::MediaResult;
pub use crate::traffic::packmime::PackmimeResult;
pub use crate::traffic::page::{PageResult, PageSeries};
pub use crate::traffic::ping::{PingResult, PingSeries};
pub use crate::traffic::rr::RrResult;
pub use crate::traffic::stream::StreamResult;
pub use crate::traffic::tmix::TmixResult;
pub use crate::traffic::transfer::TransferResult;
pub use crate::traffic::voip::{CallSeries, VoipResult};
pub use crate::traffic::web_users::tally::{WebUsersResult, WebUsersSeries};
use crate::traffic::{AppResult, KINDS, Kind, result};
use goodqueue_qdisc::{Drop, Mark};
use goodqueue_units::Instant;
pub use hosts::HostRecord;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::any::Any;
use std::collections::BTreeMap;

/// The result of a run. Statistics leave the warm-up out. A value that was not measured is null.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Version of this layout.
    pub schema: u32,
    /// The engine that ran it.
    pub engine: &'static str,
    /// The version of the engine.
    pub version: &'static str,
    /// The seed.
    pub seed: u64,
    /// The scenario as resolved.
    pub scenario: Scenario,
    /// The bottlenecks.
    pub queues: PerDirection<QueueRecord>,
    /// The Wi-Fi cell, if the bottleneck is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiRecord>,
    /// The hops beside the bottlenecks, in the order of the resolved scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopRecord>,
    /// The flows that carry data, in the scenario's order.
    pub flows: Vec<FlowRecord>,
    /// The hosts that the scenario names. The users' hosts come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRecord>,
    /// How evenly the flows shared.
    pub fairness: Fairness,
    /// The measurements of applications.
    pub apps: Vec<AppRecord>,
    /// Time series, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesRecord>,
}

/// One value per direction.
#[derive(Clone, Debug, Serialize)]
pub struct PerDirection<T> {
    /// To the user.
    pub down: T,
    /// From the user.
    pub up: T,
}

/// A bottleneck during the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct QueueRecord {
    /// Its qdisc line, with every parameter.
    pub qdisc: String,
    /// Used share of the capacity: the share of the time in which the wire was occupied, weighted by its rate at that
    /// time.
    pub utilisation_percent: f64,
    /// Throughput of what was sent, headers included.
    pub throughput_mbps: f64,
    /// Time from a packet's arrival at the queue to the start of its transmission.
    pub delay_ms: Option<Summary>,
    /// The 0th to the 100th percentile of the same distribution.
    pub delay_percentiles_ms: Option<Vec<f64>>,
    /// Packets.
    pub packets: Packets,
    /// Packets dropped, as a percentage of packets offered.
    pub drop_percent: f64,
    /// Packets newly set to CE, as a percentage of packets offered.
    pub mark_percent: f64,
    /// Drops by reason. Only reasons that occurred.
    pub drops_by_reason: BTreeMap<&'static str, u64>,
    /// Marks by reason. Only reasons that occurred.
    pub marks_by_reason: BTreeMap<&'static str, u64>,
    /// The driver's ring below the discipline, if there is one. For Wi-Fi: what the driver holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingRecord>,
}

/// A driver's ring during the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RingRecord {
    /// Time from the moment a packet leaves the discipline to the start of its transmission: a part of the queue's
    /// `delay_ms`.
    pub delay_ms: Option<Summary>,
    /// Packets in the ring when the run ended.
    pub packets_at_end: u64,
}

/// A hop beside the bottlenecks.
#[derive(Clone, Debug, Serialize)]
pub struct HopRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// The direction of the packets that cross it.
    pub direction: Direction,
    /// What the hop did.
    #[serde(flatten)]
    pub body: HopBody,
}

/// What a hop did during the measured time.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum HopBody {
    /// A link.
    Link(Box<QueueRecord>),
    /// A wire.
    Wire(WireRecord),
}

/// A wire during the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WireRecord {
    /// Packets.
    pub packets: WirePackets,
    /// Packets lost, as a percentage of packets offered.
    pub loss_percent: f64,
}

/// Packets: `held_at_start + offered + duplicated = delivered + lost + held_at_end`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WirePackets {
    /// Packets that arrived at the wire.
    pub offered: u64,
    /// Packets that came out of the wire.
    pub delivered: u64,
    /// Packets lost, including those beyond the wire's limit.
    pub lost: u64,
    /// Packets lost because too many were on their way.
    pub over_limit: u64,
    /// Packets that were duplicated.
    pub duplicated: u64,
    /// Packets above a policer's rate, whether they were lost or not. Absent if there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub exceeded: u64,
    /// Packets on their way when measuring began.
    pub held_at_start: u64,
    /// Packets on their way when the run ended.
    pub held_at_end: u64,
}

/// Packets: `queued_at_start + offered = forwarded + dropped + queued_at_end`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Packets {
    /// Packets that arrived at the queue.
    pub offered: u64,
    /// Packets whose transmission began.
    pub forwarded: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets newly set to CE.
    pub marked: u64,
    /// Packets that waited when measuring began.
    pub queued_at_start: u64,
    /// Packets that waited when the run ended.
    pub queued_at_end: u64,
}

/// A flow during the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRecord {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// The direction of its data.
    pub direction: Direction,
    /// Congestion control, if it has one.
    pub cc: Option<String>,
    /// When it started, in seconds of the run.
    pub start_s: f64,
    /// Bytes that arrived in order (for TCP without headers), per time from the flow's start or from the end of the
    /// warm-up.
    pub goodput_mbps: f64,
    /// Round-trip times as the sender measured them.
    pub rtt_ms: Option<Summary>,
    /// Payload bytes that its sender sent, each counted as often as it was sent. Null if the flow is not TCP.
    pub bytes_sent: Option<u64>,
    /// Payload bytes that its sender retransmitted.
    pub bytes_retrans: Option<u64>,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985, section 7). This field and the next two are null if the flow is not TCP.
    pub tlp_probes: Option<u64>,
    /// Retransmissions of segments that the receiver reported as duplicates (DSACK, RFC 2883).
    pub spurious_retransmissions: Option<u64>,
    /// Window reductions that were undone because nothing had been lost.
    pub undos: Option<u64>,
    /// Packets dropped at the bottleneck or lost at another hop, as a percentage of the packets that its sender
    /// offered.
    pub loss_percent: f64,
    /// Time from the SYN to the last byte in order, if the flow made one transfer during the measured time. For
    /// several transfers, see [`TransferResult`].
    pub completion_ms: Option<f64>,
    /// Goodput over whole bins of five seconds.
    pub goodput_5s_mbps: Option<Quantiles>,
}

/// Jain's index: 1 for equal shares, 1/n if one of n flows has everything. Null without a flow, or with nothing to
/// share.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fairness {
    /// The index of the goodputs of bulk transfers in the direction of the first one.
    pub jain_goodput: Option<f64>,
    /// Jain's index of the loss ratios of the same flows.
    pub jain_drops: Option<f64>,
    /// The index of the goodputs in that direction of the users' hosts that the scenario names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_hosts: Option<f64>,
}

/// The measurements of an application.
#[derive(Clone, Debug, Serialize)]
pub struct AppRecord {
    /// The flow's name.
    pub name: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// The measurements of its kind.
    #[serde(flatten)]
    pub result: result::Result,
}

impl AppRecord {
    /// Returns the measurements as the kind's own type, if they are of that type.
    #[must_use]
    pub fn result<T: AppResult>(&self) -> Option<&T> {
        let result: &dyn Any = &*self.result;
        result.downcast_ref()
    }
}

/// Time series.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRecord {
    /// Length of an interval.
    pub interval_s: Option<f64>,
    /// When each interval ended, in seconds of the run.
    pub time_s: Vec<f64>,
    /// The queues.
    pub queues: PerDirection<QueueSeries>,
    /// The hops that are links, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hops: BTreeMap<String, QueueSeries>,
    /// The flows.
    pub flows: Vec<FlowSeries>,
    /// The time series of kinds, if intervals are asked for: `pings`, `calls`, `pages`, with one entry per flow.
    #[serde(flatten)]
    pub kinds: KindSeries,
    /// Single packets, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PerDirection<PacketSeries>>,
    /// The stations of a Wi-Fi cell, if intervals are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<StationSeries>,
    /// Single transmissions of a Wi-Fi cell, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub air: Option<AirSeries>,
}

/// Lists of time series, each with the name that its kind gives it.
#[derive(Clone, Debug)]
pub struct KindSeries(Vec<(&'static str, Vec<result::Series>)>);

impl KindSeries {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the list `name`, each entry as the kind's own type.
    pub fn of<T: 'static>(&self, name: &str) -> impl Iterator<Item = &T> {
        let lists = self.0.iter().filter(move |(known, _)| *known == name);
        lists.flat_map(|(_, list)| list).filter_map(|one| {
            let one: &dyn Any = &**one;
            one.downcast_ref()
        })
    }
}

impl Serialize for KindSeries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut lists = serializer.serialize_map(None)?;
        self.0.iter().try_for_each(|(name, list)| lists.serialize_entry(name, list))?;
        lists.end()
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
            scenario: self.scenario.clone(),
            queues: PerDirection {
                down: self.bottleneck(Direction::Down),
                up: self.bottleneck(Direction::Up),
            },
            wifi: self.cell().map(|cell| cell.record(self.measured_s(Instant::ZERO, Instant::MAX))),
            hops: self.hop_records(),
            flows: self.indices(|flow| !flow.kind.is_probe).map(|id| self.flow(id)).collect(),
            fairness: self.fairness(&hosts),
            hosts,
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

    fn bottleneck(&self, direction: Direction) -> QueueRecord {
        let (spec, baseline) = (self.scenario.link(direction), &self.baseline[direction]);
        match self.cell() {
            Some(cell) => self.queue(spec, &Measured::of_cell(cell, direction, baseline, self), baseline),
            None => {
                let link = &self.links[LinkId::bottleneck(direction)];
                self.queue(spec, &Measured::of_link(link, baseline, self), baseline)
            }
        }
    }

    /// Returns when measuring began.
    fn measured_from(&self) -> Instant {
        Instant::ZERO + self.scenario.warmup.0
    }

    fn hop_records(&self) -> Vec<HopRecord> {
        let states = self.row.iter().flat_map(|row| row.hops.iter());
        let record = |(hop, state): (&Hop, &HopState)| HopRecord {
            name: hop.name.clone(),
            kind: hop.kind.name,
            direction: hop.direction,
            body: match (&state.body, &hop.link) {
                (Body::Link(link), Some(spec)) => {
                    let baseline = &state.baseline.link;
                    let measured = Measured::of_link(link, baseline, self);
                    HopBody::Link(Box::new(self.queue(spec, &measured, baseline)))
                }
                (Body::Link(_), None) => unreachable!("a link was built of what the scenario says"),
                (Body::Element(element), _) => HopBody::Wire(wire(element.counts(), state.baseline.element)),
            },
        };
        self.scenario.hops.list.iter().zip(states).map(record).collect()
    }

    fn queue(&self, spec: &LinkSpec, measured: &Measured<'_>, baseline: &Baseline) -> QueueRecord {
        let &Measured { after, utilisation_percent, delays, fates, ring } = measured;
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
            qdisc: spec.line.to_string(),
            utilisation_percent: rounded(utilisation_percent),
            throughput_mbps: rounded(ratio(bytes as f64 * 8e-6, seconds)),
            delay_ms: delays.summary(),
            delay_percentiles_ms: delays.percentiles_ms(),
            packets,
            drop_percent: percent(packets.dropped, packets.offered),
            mark_percent: percent(packets.marked, packets.offered),
            drops_by_reason: by_reason(Drop::ALL.map(Drop::name), &fates.drops, &baseline.drops),
            marks_by_reason: by_reason(Mark::ALL.map(Mark::name), &fates.marks, &baseline.marks),
            ring,
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
            kind: flow.kind,
            direction: flow.direction,
            cc,
            start_s: rounded(flow.start.as_secs_f64()),
            goodput_mbps: self.goodput_mbps(id),
            rtt_ms,
            bytes_sent: tcp.then_some(measured.sent_bytes),
            bytes_retrans: tcp.then_some(measured.retransmitted_bytes),
            retransmitted: measured.retransmitted,
            timeouts: measured.timeouts,
            tlp_probes: tcp.then_some(measured.tlp_probes),
            spurious_retransmissions: tcp.then_some(measured.spurious_retransmissions),
            undos: tcp.then_some(measured.undos),
            loss_percent: percent(measured.fates.dropped, measured.fates.offered),
            completion_ms: flow.result(self.now).and_then(|result| result.completion_ms()),
            goodput_5s_mbps: flow.bins.quantiles(),
        }
    }

    /// Returns the measurements of flow `id` as an application, if it has any.
    fn app_record(&self, id: FlowId) -> Option<AppRecord> {
        let flow = &self.flows[id];
        Some(AppRecord { name: flow.name.clone(), kind: flow.kind, result: flow.result(self.now)? })
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
        let links = self.scenario.hops.list.iter().zip(states).filter(|(hop, _)| hop.link.is_some());
        let mut named = BTreeMap::new();
        named.extend(links.map(|(hop, state)| (hop.name.clone(), state.series.clone())));
        named
    }

    fn kind_series(&self) -> KindSeries {
        let named = KINDS.iter().map(|kind| {
            let flows = self.flows.iter().filter(|flow| flow.kind == *kind);
            (kind.series, flows.filter_map(Flow::series).collect::<Vec<_>>())
        });
        KindSeries(named.filter(|(_, list)| !list.is_empty()).collect())
    }

    fn series(&self) -> Option<SeriesRecord> {
        let asked = self.scenario.series.as_ref()?;
        let [down, up] = self.queue_series.each_ref();
        let fates = |way: Direction| match self.cell() {
            Some(cell) => &cell.books[way].fates,
            None => &self.links[LinkId::bottleneck(way)].fates,
        };
        let log = |way: Direction| fates(way).watch.as_ref()?.log.as_ref();
        let [down_log, up_log] = Direction::ALL.map(log);
        Some(SeriesRecord {
            interval_s: asked.interval.map(|interval| interval.0.as_secs_f64()),
            time_s: self.interval_ends.iter().map(|end| end.as_secs_f64()).collect(),
            queues: PerDirection { down: down.clone(), up: up.clone() },
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
            air: self.cell().and_then(Cell::air_series),
        })
    }
}

/// The values of a queue's record that its baseline does not have.
struct Measured<'a> {
    after: Counts,
    utilisation_percent: f64,
    delays: &'a QueueDelays,
    fates: &'a Fates,
    ring: Option<RingRecord>,
}

impl<'a> Measured<'a> {
    fn of_link(link: &'a Link, baseline: &Baseline, run: &Simulation) -> Self {
        let after = link.counts();
        let bytes = after.forwarded_bytes - baseline.counts.forwarded_bytes;
        let ring = |ring: &Ring| RingRecord { delay_ms: ring.delays.summary(), packets_at_end: ring.len() };
        Self {
            after,
            utilisation_percent: link.utilisation_percent(run.measured_from(), baseline.busy, bytes, run.now),
            delays: &link.delays,
            fates: &link.fates,
            ring: link.ring().map(ring),
        }
    }

    fn of_cell(cell: &'a Cell, way: Direction, baseline: &Baseline, run: &Simulation) -> Self {
        let books = &cell.books[way];
        let since = run.measured_from();
        Self {
            after: cell.counts(way),
            utilisation_percent: cell.utilisation_percent(way, since, baseline.busy, run.now),
            delays: &books.delays,
            fates: &books.fates,
            ring: Some(RingRecord {
                delay_ms: books.below.summary(),
                packets_at_end: cell.held_by_drivers(way),
            }),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_zero(number: &u64) -> bool {
    *number == 0
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

/// Returns Jain's fairness index (Jain, Chiu, Hawe 1984): `(Σx)² / (n Σx²)`.
fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| rounded(sum * sum / (shares.len() as f64 * squares)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[6.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8)); // 16 / (2 * 10)
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
