//! The record of a run: one object, the same from every engine.

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
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::any::Any;
use std::collections::BTreeMap;

/// What a run gave. Statistics leave the warm-up out; what was not measured is null.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Version of this layout.
    pub schema: u32,
    /// Which engine ran it.
    pub engine: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The seed.
    pub seed: u64,
    /// The scenario as resolved.
    pub scenario: Scenario,
    /// The bottlenecks.
    pub queues: PerDirection<QueueRecord>,
    /// The air, where the bottleneck is a Wi-Fi cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<WifiRecord>,
    /// The hops beside them, in the order of the resolved scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopRecord>,
    /// The flows that carry data, in the scenario's order.
    pub flows: Vec<FlowRecord>,
    /// How evenly they shared.
    pub fairness: Fairness,
    /// What applications measured.
    pub apps: Vec<AppRecord>,
    /// Time series, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesRecord>,
}

/// A value for each direction.
#[derive(Clone, Debug, Serialize)]
pub struct PerDirection<T> {
    /// To the user.
    pub down: T,
    /// From the user.
    pub up: T,
}

/// A bottleneck within the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct QueueRecord {
    /// Its line, with every parameter.
    pub qdisc: String,
    /// Share of the capacity that was used: of the time that the wire was occupied, weighted by its rate then.
    pub utilisation_percent: f64,
    /// Bits sent, headers included.
    pub throughput_mbps: f64,
    /// Time from a packet's arrival at the queue to the start of its transmission.
    pub delay_ms: Option<Summary>,
    /// The same distribution as its 0th to 100th percentiles.
    pub delay_percentiles_ms: Option<Vec<f64>>,
    /// Packets.
    pub packets: Packets,
    /// Dropped of offered.
    pub drop_percent: f64,
    /// Newly set to CE, of offered.
    pub mark_percent: f64,
    /// Drops by reason; only those that occurred.
    pub drops_by_reason: BTreeMap<&'static str, u64>,
    /// Marks by reason; only those that occurred.
    pub marks_by_reason: BTreeMap<&'static str, u64>,
    /// The driver's ring below the discipline, if there is one; of Wi-Fi what the driver holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingRecord>,
}

/// A driver's ring within the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RingRecord {
    /// Time from a packet's leaving the discipline to the start of its transmission: a part of the queue's `delay_ms`.
    pub delay_ms: Option<Summary>,
    /// Packets in it when the run ended.
    pub packets_at_end: u64,
}

/// A hop beside the bottlenecks.
#[derive(Clone, Debug, Serialize)]
pub struct HopRecord {
    /// Its name in the scenario.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Whose packets go through it.
    pub direction: Direction,
    /// What it did.
    #[serde(flatten)]
    pub body: HopBody,
}

/// What a hop did within the measured time.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum HopBody {
    /// Of a link.
    Link(Box<QueueRecord>),
    /// Of a wire.
    Wire(WireRecord),
}

/// A wire within the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WireRecord {
    /// Packets.
    pub packets: WirePackets,
    /// Lost of offered.
    pub loss_percent: f64,
}

/// Packets: `held_at_start + offered + duplicated = delivered + lost + held_at_end`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WirePackets {
    /// Arrived at the wire.
    pub offered: u64,
    /// Came out of it.
    pub delivered: u64,
    /// Lost, those beyond its limit among them.
    pub lost: u64,
    /// Lost because too many were on their way.
    pub over_limit: u64,
    /// Went on twice.
    pub duplicated: u64,
    /// Were on their way when measuring began.
    pub held_at_start: u64,
    /// Were on their way when the run ended.
    pub held_at_end: u64,
}

/// Packets: `queued_at_start + offered = forwarded + dropped + queued_at_end`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Packets {
    /// Arrived at the queue.
    pub offered: u64,
    /// Began their transmission.
    pub forwarded: u64,
    /// Dropped.
    pub dropped: u64,
    /// Newly set to CE.
    pub marked: u64,
    /// Waited when measuring began.
    pub queued_at_start: u64,
    /// Waited when the run ended.
    pub queued_at_end: u64,
}

/// A flow within the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRecord {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// Which way its data go.
    pub direction: Direction,
    /// Congestion control, if it has one.
    pub cc: Option<String>,
    /// When it started, in seconds of the run.
    pub start_s: f64,
    /// Bytes that arrived in order, without headers for TCP; over the time from its start, or the warm-up's end.
    pub goodput_mbps: f64,
    /// Round-trip times as the sender measured them.
    pub rtt_ms: Option<Summary>,
    /// Payload bytes that its sender sent, each as often as it was sent; null where it is not TCP.
    pub bytes_sent: Option<u64>,
    /// Those among them that were sent again.
    pub bytes_retrans: Option<u64>,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985, section 7); null where it is not TCP, as the next two.
    pub tlp_probes: Option<u64>,
    /// Retransmissions of which the receiver said that the segment came twice (DSACK, RFC 2883).
    pub spurious_retransmissions: Option<u64>,
    /// Window reductions that were taken back because nothing had been lost.
    pub undos: Option<u64>,
    /// Of the packets that its sender offered to the bottleneck, those dropped there.
    pub loss_percent: f64,
    /// From the SYN to the last byte in order, where it made one transfer within the measured time (of several, see
    /// [`TransferResult`]).
    pub completion_ms: Option<f64>,
    /// Goodput over whole bins of five seconds.
    pub goodput_5s_mbps: Option<Quantiles>,
}

/// Jain's index, 1 for equal shares, 1/n if one has all; null for fewer than one flow or nothing to share.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fairness {
    /// Of the goodputs of TCP flows in the same direction as the first.
    pub jain_goodput: Option<f64>,
    /// Of the shares that those flows lost of what they sent.
    pub jain_drops: Option<f64>,
}

/// What an application measured.
#[derive(Clone, Debug, Serialize)]
pub struct AppRecord {
    /// The flow's name.
    pub name: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// What its kind measures.
    #[serde(flatten)]
    pub result: result::Result,
}

impl AppRecord {
    /// Returns what was measured as the kind's own type, if it is of that type.
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
    /// What kinds have to show, where intervals are asked for: `pings`, `calls`, `pages`, with one entry per flow.
    #[serde(flatten)]
    pub kinds: KindSeries,
    /// Single packets, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PerDirection<PacketSeries>>,
    /// The stations of a Wi-Fi cell, where intervals are asked for.
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
    /// Sums the run up as far as it has come.
    ///
    /// # Panics
    /// If a queue made or lost a packet: conservation is asserted in every run.
    #[must_use]
    pub fn record(&self) -> Record {
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
            fairness: self.fairness(),
            apps: self.flows.numbers().filter_map(|id| self.app_record(id)).collect(),
            series: self.series(),
        }
    }

    fn indices(&self, wanted: impl Fn(&Flow) -> bool) -> impl Iterator<Item = FlowId> {
        self.flows.numbers().filter(move |&id| wanted(&self.flows[id]))
    }

    /// Seconds measured of a flow, or of the run, that began at `start` and ended at `stop`.
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

    /// When measuring began.
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

    /// What flow `id` did within the measured time.
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

    /// What flow `id` measured as an application, if it is one.
    fn app_record(&self, id: FlowId) -> Option<AppRecord> {
        let flow = &self.flows[id];
        Some(AppRecord { name: flow.name.clone(), kind: flow.kind, result: flow.result(self.now)? })
    }

    fn fairness(&self) -> Fairness {
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
        Fairness { jain_goodput: jain(&goodputs), jain_drops: jain(&losses) }
    }

    /// Whether flow `id` sent during the measured time at all.
    fn takes_part(&self, id: FlowId) -> bool {
        self.measured_s(self.flows[id].start, self.flows[id].stop) > 0.0
    }

    fn hop_series(&self) -> BTreeMap<String, QueueSeries> {
        let states = self.row.iter().flat_map(|row| row.hops.iter());
        let links = self.scenario.hops.list.iter().zip(states).filter(|(hop, _)| hop.link.is_some());
        links.map(|(hop, state)| (hop.name.clone(), state.series.clone())).collect()
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

/// What a record says of a queue, beside what its baseline knows.
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

/// What a wire did since its counts were `before`.
fn wire(after: WireCounts, before: WireCounts) -> WireRecord {
    let packets = WirePackets {
        offered: after.offered - before.offered,
        delivered: after.delivered - before.delivered,
        lost: after.lost - before.lost,
        over_limit: after.over_limit - before.over_limit,
        duplicated: after.duplicated - before.duplicated,
        held_at_start: before.held,
        held_at_end: after.held,
    };
    WireRecord { packets, loss_percent: percent(packets.lost, packets.offered) }
}

/// Jain's fairness index (Jain, Chiu, Hawe 1984): `(Σx)² / (n Σx²)`.
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
    names.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
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
