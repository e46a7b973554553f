//! The parts of a record. Each struct is the one declaration of its keys: see [`goodqueue_hosts::part!`].

use super::{CardRecord, HostRecord, IspRecord, NodeSeries, WifiRecord};
use crate::probe::goodput::Quantiles;
use crate::probe::law::LawSeries;
use crate::probe::series::{FlowSeries, PacketSeries, QueueSeries};
use crate::record::elsewhere::{Kernel, Live, SourceFile};
use crate::scenario::{HostName, Scenario};
use crate::wifi::log::AirSeries;
use crate::wifi::stations::StationSeries;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::part::{Kinds, Shape, Value};
use goodqueue_hosts::probe::delay::Summary;
use goodqueue_hosts::traffic::kind::Kind;
use goodqueue_hosts::traffic::result::{self, AppResult, Undone};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::any::Any;
use std::collections::BTreeMap;

goodqueue_hosts::part! {
    /// One run. Statistics leave the warm-up out.
    pub struct Record {
        /// Version of this layout: 1.
        pub schema: u32,
        /// `sim`, `kernel` or `live`; for what was imported, `flent`, `irtt` or `iperf3`.
        pub engine: &'static str,
        /// Version of goodqueue.
        pub version: &'static str,
        /// The scenario's seed.
        pub seed: u64,
        /// The scenario as it ran, with every default filled in.
        pub scenario: Scenario,
        /// The bottlenecks.
        pub queues: PerDirection<QueueRecord>,
        /// The Wi-Fi cell, if the bottleneck is one.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub wifi: Option<WifiRecord>,
        /// The hops beside the bottlenecks, in the order of the resolved scenario. Those of the way down come first.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Flent, Irtt, Iperf3)]
        pub hops: Vec<HopRecord>,
        /// The flows that carry data, in the order of the scenario.
        pub flows: Vec<FlowRecord>,
        /// The hosts that the scenario names. The users' hosts come first.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Flent, Irtt, Iperf3)]
        pub hosts: Vec<HostRecord>,
        /// The subscribers and their tree, if the scenario has any.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Live, Flent, Irtt, Iperf3)]
        pub isp: Option<IspRecord>,
        /// How evenly the flows shared.
        pub fairness: Fairness,
        /// The measurements of applications, in the order of the scenario.
        pub apps: Vec<AppRecord>,
        /// Time series, if the scenario asks for them.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub series: Option<SeriesRecord>,
        #[only_from(Kernel, Live)]
        /// Linux's part in the run.
        kernel: Kernel,
        #[only_from(Live)]
        /// How late the emulator was.
        live: Live,
        #[only_from(Flent)]
        /// The file of Flent's that was read.
        flent: SourceFile,
        #[only_from(Irtt)]
        /// The file of irtt's that was read.
        irtt: SourceFile,
        #[only_from(Iperf3)]
        /// The file of iperf3's that was read.
        iperf3: SourceFile,
    }
}

goodqueue_hosts::part! {
    /// A bottleneck, in one direction. Programs at the ends of a path do not see the queue. Their records have only
    /// `qdisc`, unless Flent asked `tc`.
    pub struct QueueRecord as "Queue" {
        /// The discipline's line, with every parameter.
        pub qdisc: String,
        /// Used share of the capacity: the share of the time in which the wire was occupied, weighted by its rate at
        /// that time.
        #[null_from(Flent, Irtt, Iperf3)]
        pub utilisation_percent: f64,
        /// Rate of the bits that left, headers included.
        #[null_from(Flent, Irtt, Iperf3)]
        pub throughput_mbps: f64,
        /// Time from a packet's arrival at the queue to the start of its transmission. Null if the queue forwarded
        /// nothing.
        pub delay_ms: Option<Summary>,
        /// The 0th to the 100th percentile of the same distribution: 101 numbers, ascending.
        #[wider(Option<Vec<Option<f64>>>)]
        pub delay_percentiles_ms: Option<Vec<f64>>,
        /// Counts of packets.
        #[null_from(Flent, Irtt, Iperf3)]
        pub packets: Packets,
        /// Packets dropped, as a percentage of packets offered.
        #[null_from(Flent, Irtt, Iperf3)]
        pub drop_percent: f64,
        /// Packets newly set to CE, as a percentage of packets offered.
        #[null_from(Flent, Irtt, Iperf3)]
        pub mark_percent: f64,
        /// Drops by reason. Only reasons that occurred. Linux does not report reasons.
        #[null_from(Kernel, Flent, Irtt, Iperf3)]
        pub drops_by_reason: BTreeMap<&'static str, u64>,
        /// Marks by reason. Only reasons that occurred.
        #[null_from(Kernel, Flent, Irtt, Iperf3)]
        pub marks_by_reason: BTreeMap<&'static str, u64>,
        /// The driver's ring below the discipline, if there is one. For Wi-Fi: what the driver holds.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub ring: Option<RingRecord>,
        /// The card in front of the discipline, if packets wait or merge there.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub card: Option<CardRecord>,
    }
}

goodqueue_hosts::part! {
    /// A driver's ring below a discipline.
    #[derive(Copy)]
    pub struct RingRecord as "Ring" {
        /// Time from the moment a packet leaves the discipline to the start of its transmission: a part of the queue's
        /// `delay_ms`.
        pub delay_ms: Option<Summary>,
        /// Packets in the ring at the end.
        pub packets_at_end: u64,
    }
}

goodqueue_hosts::part! {
    /// A hop beside the bottlenecks. Its kind decides which further keys it has.
    pub struct HopRecord as "Hop" {
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

goodqueue_hosts::part! {
    /// A hop without a queue.
    #[derive(Copy)]
    pub struct WireRecord as "Wire" {
        /// Counts of packets.
        pub packets: WirePackets,
        /// Packets lost, as a percentage of packets offered.
        pub loss_percent: f64,
    }
}

goodqueue_hosts::part! {
    /// Packets: `held_at_start + offered + duplicated = delivered + lost + held_at_end`.
    #[derive(Copy)]
    pub struct WirePackets {
        /// Packets that arrived at the wire.
        pub offered: u64,
        /// Packets that came out of the wire.
        #[optional(by_schema)]
        pub delivered: u64,
        /// Packets lost, including those beyond the wire's limit.
        pub lost: u64,
        /// Packets lost because too many were on their way.
        #[optional(by_schema)]
        pub over_limit: u64,
        /// Packets that were duplicated.
        pub duplicated: u64,
        /// Packets above a policer's rate, whether they were lost or not. Absent if there were none.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel)]
        pub exceeded: u64,
        /// Packets on their way when measuring began.
        #[optional(by_schema)]
        pub held_at_start: u64,
        /// Packets on their way at the end.
        #[optional(by_schema)]
        pub held_at_end: u64,
    }
}

goodqueue_hosts::part! {
    /// Packets: `queued_at_start + offered = forwarded + dropped + queued_at_end`.
    #[derive(Copy)]
    pub struct Packets {
        /// Packets that arrived at the queue.
        pub offered: u64,
        /// Packets whose transmission began.
        pub forwarded: u64,
        /// Packets dropped, for any reason.
        pub dropped: u64,
        /// Packets newly set to CE.
        pub marked: u64,
        /// Packets that waited when measuring began.
        pub queued_at_start: u64,
        /// Packets that waited at the end.
        pub queued_at_end: u64,
    }
}

goodqueue_hosts::part! {
    /// A flow that carries data: every kind of traffic except ping.
    pub struct FlowRecord as "Flow" {
        /// The scenario's name of the traffic, `/`, and a number from 0.
        pub name: String,
        /// Its kind of traffic. For a real program's flow, its protocol.
        pub kind: &'static str,
        /// The direction of its data.
        pub direction: Direction,
        /// Congestion control with its parameters. Null if the flow is not TCP.
        #[optional(by_schema)]
        pub cc: Option<String>,
        /// When it started, in seconds of the run.
        pub start_s: f64,
        /// Bytes that arrived in order (for TCP without headers), per time from the flow's start or from the end of
        /// the warm-up.
        pub goodput_mbps: f64,
        /// Round-trip times as the sender measured them.
        #[optional(by_schema)]
        pub rtt_ms: Option<Summary>,
        /// Payload bytes that its sender sent, each counted as often as it was sent. Null if the flow is not TCP.
        #[not_from(Flent, Irtt, Iperf3)]
        pub bytes_sent: Option<u64>,
        /// Payload bytes that its sender retransmitted. Null if the flow is not TCP.
        #[not_from(Flent, Irtt, Iperf3)]
        pub bytes_retrans: Option<u64>,
        /// Segments retransmitted; of a QUIC connection, packets that its stack took for lost. Null of other datagrams.
        #[optional(by_schema)]
        pub retransmitted: Option<u64>,
        /// Retransmission timeouts. Null if the flow is not TCP. Linux counts them per host: null if several of its
        /// senders share a host.
        #[optional(by_schema)]
        pub timeouts: Option<u64>,
        /// Tail loss probes (RFC 8985, section 7). Null if the flow is not TCP, and as `timeouts`.
        #[not_from(Flent, Irtt, Iperf3)]
        pub tlp_probes: Option<u64>,
        /// Retransmissions of segments that the receiver reported as duplicates (DSACK, RFC 2883). Null if the flow is
        /// not TCP.
        #[not_from(Flent, Irtt, Iperf3)]
        pub spurious_retransmissions: Option<u64>,
        /// Window reductions that were undone because nothing had been lost. Null if the flow is not TCP, and as
        /// `timeouts`.
        #[not_from(Flent, Irtt, Iperf3)]
        pub undos: Option<u64>,
        /// Packets dropped at the bottleneck or lost at another hop, as a percentage of the packets that its sender
        /// offered. Null if it offered none.
        pub loss_percent: Option<f64>,
        /// Time from the SYN to the last byte in order, if the flow made one transfer during the measured time. For
        /// several transfers see its application.
        #[not_from(Flent, Irtt, Iperf3)]
        pub completion_ms: Option<f64>,
        /// Goodput over whole bins of five seconds.
        #[optional(by_schema)]
        pub goodput_5s_mbps: Option<Quantiles>,
        #[only_from(Iperf3)]
        /// Jitter of a datagram flow at its receiver, as RFC 3550 smooths it.
        jitter_rfc3550_ms: Option<f64>,
    }
}

goodqueue_hosts::part! {
    /// Jain's index: 1 for equal shares, 1/n if one of n flows has everything. Null with fewer than two flows, or with
    /// nothing to share.
    #[derive(Copy)]
    pub struct Fairness {
        /// The index of the goodputs of the bulk flows in the direction of the first one.
        pub jain_goodput: Option<f64>,
        /// Jain's index of the loss ratios of the same flows.
        pub jain_drops: Option<f64>,
        /// The index of the goodputs in that direction of the users' hosts that the scenario names.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Flent, Irtt, Iperf3)]
        #[wider(Option<f64>)]
        pub jain_hosts: Option<f64>,
    }
}

goodqueue_hosts::part! {
    /// The measurements of an application. Its kind of traffic declares its further keys.
    pub struct AppRecord as "App" {
        /// The flow's name.
        pub name: String,
        /// Its kind of traffic.
        pub kind: &'static Kind,
        /// What was asked for, and of which nothing came until the end of the run: transfers, pages or exchanges, among
        /// them those of `repeat` whose turn did not come; pages of web users; the video, the stream, the call, the
        /// test, or the connection itself. What began when others had come before is unfinished instead.
        #[optional(by_schema)]
        #[not_from(Flent, Irtt, Iperf3)]
        pub never_started: u64,
        /// What began and had not ended at the end of the run: transfers, pages, requests, connections of a replay, a
        /// video with a `length`, a test, a QUIC transfer. Those that began within the warm-up count, too. What has
        /// no end of its own has 0: a stream, a call, a ping, media, a video without a `length`.
        #[optional(by_schema)]
        #[not_from(Flent, Irtt, Iperf3)]
        pub unfinished: u64,
        /// The measurements of its kind.
        #[serde(flatten)]
        pub result: result::Result,
    }
}

impl AppRecord {
    /// Makes the record of the flow `name`.
    #[must_use]
    pub const fn new(name: String, kind: &'static Kind, undone: Undone, result: result::Result) -> Self {
        Self { name, kind, never_started: undone.never_started, unfinished: undone.unfinished, result }
    }

    /// Returns the measurements as the kind's own type, if they are of that type.
    #[must_use]
    pub fn result<T: AppResult>(&self) -> Option<&T> {
        let result: &dyn Any = &*self.result;
        result.downcast_ref()
    }
}

goodqueue_hosts::part! {
    /// Time series.
    pub struct SeriesRecord as "Series" {
        /// Length of an interval. Null if the scenario asks only for single packets.
        pub interval_s: Option<f64>,
        /// When each interval ended, in seconds of the run.
        pub time_s: Vec<f64>,
        /// The queues of the bottlenecks.
        pub queues: PerDirection<QueueSeries>,
        /// The hops that are links, by name.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Flent, Irtt, Iperf3)]
        pub hops: BTreeMap<String, QueueSeries>,
        /// The flows, in the order of the scenario.
        pub flows: Vec<FlowSeries>,
        /// The time series of kinds, if intervals are asked for: `pings`, `calls`, `pages`, with one entry per flow.
        #[serde(flatten)]
        pub kinds: KindSeries,
        /// Single packets, if the scenario asks for a window.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Flent, Irtt, Iperf3)]
        pub packets: Option<PerDirection<PacketSeries>>,
        /// The stations of a Wi-Fi cell, if the scenario asks for intervals.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub stations: Vec<StationSeries>,
        /// The nodes of a provider's tree, if the scenario asks for intervals.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Live, Flent, Irtt, Iperf3)]
        pub nodes: Vec<NodeSeries>,
        /// Single transmissions of a Wi-Fi cell, if the scenario asks for a window of its air.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub air: Option<AirSeries>,
    }
}

/// One value per direction.
#[derive(Clone, Debug, Serialize)]
pub struct PerDirection<T> {
    /// To the user.
    pub down: T,
    /// From the user.
    pub up: T,
}

impl<T: Value> Value for PerDirection<T> {
    const SHAPE: Shape = Shape::Directions(&T::SHAPE);
}

/// Lists of time series, each with the name that its kind gives it.
#[derive(Clone, Debug)]
pub struct KindSeries(pub(super) Vec<(&'static str, Vec<result::Series>)>);

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

goodqueue_hosts::shapes! {
    Scenario => Shape::Scenario,
    HostName => Shape::Text,
    LawSeries => <BTreeMap<String, Vec<Option<f64>>>>::SHAPE,
    HopBody => Shape::Flat(Kinds::Hops),
    KindSeries => Shape::Flat(Kinds::Series),
}
