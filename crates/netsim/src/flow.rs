//! A flow: its source, the way of its packets, and its totals when measuring began.

use crate::app::App;
use crate::ids::{FlowId, Number};
use crate::lists::{ByDirection, PerFlow, PerSide};
use crate::probe::goodput::Bins;
use crate::scenario::{Linux, Scenario, Sysctls, Traffic};
use crate::sockets::Sockets;
use crate::tally::{FlowFates, Totals};
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::RateText;
use goodqueue_hosts::traffic::application::Application;
use goodqueue_hosts::traffic::isochronous::Isochronous;
use goodqueue_hosts::traffic::kind::{Kind, Make};
use goodqueue_hosts::traffic::{result, tcp};
use goodqueue_tcp::{Buffer, CcLine, Config, Connection, SmallQueues};
use goodqueue_units::{Duration, Instant, Stream, Streams};
use std::collections::BTreeMap;

/// A flow of the run.
pub(crate) struct Flow {
    pub(crate) name: String,
    pub(crate) kind: &'static Kind,
    /// The direction of its data.
    pub(crate) direction: Direction,
    /// When a connection is opened. It is the start, unless the flow is one of several that open before they send.
    pub(crate) opens: Instant,
    pub(crate) start: Instant,
    pub(crate) stop: Instant,
    /// Base round-trip time. If each connection has its own, the least of them.
    pub(crate) rtt: Duration,
    /// The greatest base round-trip time of its connections.
    pub(crate) most_rtt: Duration,
    /// The hash that a classifier computes for its packets, per direction. An application's packets have their
    /// connection's.
    pub(crate) hash: ByDirection<u32>,
    /// Differentiated services codepoint of its packets, in both directions.
    pub(crate) dscp: u8,
    pub(crate) source: Source,
    /// Goodput per five seconds.
    pub(crate) bins: Bins,
    /// Its totals when measuring began.
    pub(crate) baseline: Totals,
    /// Bytes that the receiver had when the source stopped. Bytes that arrive later were sent before and count for no
    /// rate.
    pub(crate) delivered_at_stop: Option<u64>,
}

/// Bytes that may wait unsent in the socket of a bulk transfer's sender, here and in the kernel engine. They leave
/// after the flow's stop, too. A train of ACKs may let TCP send a whole window at once. If less data waited, TCP would
/// run out of data then, send a short segment, and not count its window as used.
pub const UNSENT: u32 = 256 << 10;

/// The sender of a flow.
pub(crate) enum Source {
    /// A bulk transfer: the entry of [`Sockets::bulk`] with the flow's number, and its congestion control.
    Bulk(CcLine),
    Isochronous(Box<Isochronous>), // boxed, or each of 100,000 transfers would take its 250 bytes
    App(Box<App>),
    /// A program outside the run.
    Outside {
        delivered_bytes: u64,
    },
}

impl Flow {
    /// Returns the flows of `scenario`, in its order, and puts the connections of bulk transfers into `sockets`.
    pub(crate) fn all(scenario: &Scenario, sockets: &mut Sockets) -> PerFlow<Self> {
        let streams = Streams::new(scenario.seed);
        let (buffer, most) = (receive_buffer(scenario), scenario.path.segment_bytes());
        let delivery_rate = scenario.series.as_ref().is_some_and(|series| series.tcp);
        if crate::complete::COMPLETE {
            sockets.sysctls = sysctls(scenario);
        }
        let mut flows = PerFlow::default();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for traffic in &scenario.traffic {
            let name = traffic.name.as_deref().unwrap_or(traffic.kind.name);
            flows.reserve(traffic.count as usize);
            if matches!(traffic.kind.make, Make::Bulk) {
                sockets.reserve_bulk(flows.len(), traffic.count as usize);
            }
            let number = names.entry(name).or_default();
            let first = format!("{name}/{number}");
            for nth in 0..traffic.count {
                let name = format!("{name}/{number}");
                let random = streams.stream(&format!("cc of {name}"), 0).next_u32();
                let config = || {
                    let config = tcp::config(&traffic.values, most);
                    let config = Config { delivery_rate, random, closes_at_end: true, ..config };
                    with_buffers(config, &scenario.linux, buffer)
                };
                let id = FlowId::at(flows.len());
                flows.push(Self::new(id, traffic, nth, (name, &first), config, streams, sockets));
                *number += 1;
            }
        }
        if !scenario.hops.hosts.is_empty() {
            sockets.limit_queues(small_queues(scenario));
            sockets.read_late(reading_late(scenario));
        }
        flows
    }

    /// Returns the random stream of the application of the flow `name`.
    pub(crate) fn random(streams: Streams, name: &str) -> Stream {
        streams.stream(&format!("think of {name}"), 0)
    }

    /// Builds the `nth` flow of `traffic`, with the number `id`, its name, and that of the `first` one.
    fn new(
        id: FlowId,
        traffic: &Traffic,
        nth: u64,
        (name, first): (String, &str),
        config: impl Fn() -> Config,
        streams: Streams,
        sockets: &mut Sockets,
    ) -> Self {
        let opening = traffic.opening();
        let drawn = if opening.is_some() { first } else { &name };
        let spread =
            traffic.start_spread.0.as_secs_f64() * streams.stream(&format!("start of {drawn}"), 0).next_f64();
        let start =
            Instant::ZERO + traffic.start.0 + traffic.stagger.0 * nth + Duration::from_secs_f64(spread);
        let before =
            opening.map_or(Duration::ZERO, |opening| opening * (traffic.count - nth) / traffic.count);
        let opens = Instant::ZERO + start.since(Instant::ZERO + before);
        let mut hashes = streams.stream(&format!("hash of {name}"), 0);
        let direction = traffic.direction;
        let source = match traffic.kind.make {
            Make::Bulk => {
                let config = Config { unsent_limit: UNSENT, ..config() };
                let cc = config.cc_line();
                sockets.add_bulk(id, direction, &config, opens < start);
                Source::Bulk(cc)
            }
            Make::App(program) => {
                let program = program(&traffic.values, Self::random(streams, &name));
                Source::App(Box::new(App::new(program, config(), id, direction, hashes.clone())))
            }
            Make::Conversation(program) => {
                let program = program(&traffic.values, Self::random(streams, &name));
                Source::App(Box::new(App::new(program, Config::default(), id, direction, hashes.clone())))
            }
            Make::Datagrams(pace) => {
                Source::Isochronous(Box::new(Isochronous::new(start, pace(&traffic.values))))
            }
            Make::Outside | Make::Endpoints => Source::Outside { delivered_bytes: 0 },
            Make::Flows(_) => unreachable!("a scenario that was read has the flows in its place"),
        };
        Self {
            name,
            kind: traffic.kind,
            direction,
            opens,
            start,
            stop: Instant::ZERO + traffic.stop.0,
            rtt: traffic.rtt_of(nth),
            most_rtt: traffic.most_rtt_of(nth),
            hash: ByDirection::of(|_| hashes.next_u32()),
            dscp: traffic.dscp(),
            source,
            bins: Bins::default(),
            baseline: Totals::default(),
            delivered_at_stop: None,
        }
    }

    /// Returns the totals of this flow, number `id`, so far. `fates` is what became of its packets on the path.
    pub(crate) fn totals(&self, id: FlowId, fates: FlowFates, sockets: &Sockets) -> Totals {
        let totals = match &self.source {
            Source::Bulk(_) => {
                sockets.bulk.get(id).map(|bulk| bulk.totals(self.direction)).unwrap_or_default()
            }
            Source::Isochronous(source) => {
                Totals { delivered_bytes: source.received_bytes, ..Totals::default() }
            }
            Source::App(app) => app.totals(sockets),
            &Source::Outside { delivered_bytes } => Totals { delivered_bytes, ..Totals::default() },
        };
        Totals { fates, ..totals }
    }

    /// Returns the sender of the data of this flow, number `id`, if it is TCP. Of an application's connections this
    /// is the one that was opened last.
    pub(crate) fn sender<'a>(&'a self, id: FlowId, sockets: &'a Sockets) -> Option<&'a Connection> {
        match &self.source {
            Source::Bulk(_) => sockets.bulk.get(id).map(|bulk| bulk.sender(self.direction)),
            Source::Isochronous(_) | Source::Outside { .. } => None,
            Source::App(app) => app.sender(sockets),
        }
    }

    /// Returns what its kind measured up to `now`, if it measures.
    pub(crate) fn result(&self, now: Instant) -> Option<result::Result> {
        match &self.source {
            Source::App(app) => app.result(now),
            Source::Isochronous(source) => source.result(now),
            Source::Bulk(_) | Source::Outside { .. } => None,
        }
    }

    /// Returns what its kind was asked for and has not done, if it measures.
    pub(crate) fn undone(&self) -> Option<result::Undone> {
        match &self.source {
            Source::App(app) => Some(app.undone()),
            Source::Isochronous(source) => Some(source.undone()),
            Source::Bulk(_) | Source::Outside { .. } => None,
        }
    }

    /// Begins to keep the time series of its kind.
    pub(crate) fn log(&mut self) {
        match &mut self.source {
            Source::Isochronous(source) => source.log(),
            Source::App(app) => app.log(),
            Source::Bulk(_) | Source::Outside { .. } => {}
        }
    }

    /// Returns the time series of its kind, if one was kept.
    pub(crate) fn series(&self) -> Option<result::Series> {
        match &self.source {
            Source::Isochronous(source) => source.series(&self.name),
            Source::App(app) => app.series(&self.name),
            Source::Bulk(_) | Source::Outside { .. } => None,
        }
    }

    /// Returns whether the receiver sends its packets back.
    pub(crate) fn is_echoed(&self) -> bool {
        matches!(&self.source, Source::Isochronous(source) if source.is_echoed())
    }
}

/// Returns the small queues of the hosts at the ends of each flow of `scenario`.
fn small_queues(scenario: &Scenario) -> PerFlow<PerSide<Option<SmallQueues>>> {
    let of_traffic = |traffic: &Traffic| {
        let of_side = |side| scenario.hops.host_of(traffic, side).and_then(|host| host.small_queues);
        std::iter::repeat_n(PerSide::of(of_side), traffic.count as usize)
    };
    scenario.traffic.iter().flat_map(of_traffic).collect()
}

/// Returns which ends of each flow of `scenario` are at hosts whose applications read only after a poll.
fn reading_late(scenario: &Scenario) -> PerFlow<PerSide<bool>> {
    let of_traffic = |traffic: &Traffic| {
        let receive = |side| scenario.hops.host_of(traffic, side).and_then(|host| host.receive);
        let is_late = |side| receive(side).is_some_and(|receive| receive.reads_after_poll());
        std::iter::repeat_n(PerSide::of(is_late), traffic.count as usize)
    };
    scenario.traffic.iter().flat_map(of_traffic).collect()
}

/// Returns the sysctls of the hosts at the ends of each flow of `scenario`, if the scenario says any.
fn sysctls(scenario: &Scenario) -> PerFlow<PerSide<Sysctls>> {
    let (all, hops) = (scenario.linux.sysctls, &scenario.hops);
    if all.is_default() && hops.hosts.iter().all(|host| host.sysctls.is_default()) {
        return PerFlow::default();
    }
    let of_traffic =
        |traffic: &Traffic| std::iter::repeat_n(Sysctls::at_ends(all, hops, traffic), traffic.count as usize);
    scenario.traffic.iter().flat_map(of_traffic).collect()
}

/// Returns `config` with the buffers that `linux` says. A buffer without limit has `large` bytes, and a sender's grows
/// to that with its congestion window.
fn with_buffers(config: Config, linux: &Linux, large: u32) -> Config {
    let rmem = linux.tcp_rmem.map(|memory| memory.or(Buffer::rmem(config.stack)));
    Config {
        receive_window: rmem.map_or(large, |rmem| rmem.most) / 2,
        first_receive_buffer: rmem.map(|rmem| rmem.first),
        send_buffer: Some(
            linux.tcp_wmem.map_or(Buffer { most: large, ..Buffer::WMEM }, |memory| memory.or(Buffer::WMEM)),
        ),
        ..config
    }
}

/// Returns a receive buffer in bytes that is large enough never to limit a flow: eight times the bandwidth-delay
/// product of the fastest link and the longest path, but at least 16 MiB and at most 2 GiB. The kernel engine sets its
/// buffers in the same way.
fn receive_buffer(scenario: &Scenario) -> u32 {
    const LEAST: u64 = 16 << 20;
    const MOST: u64 = 1 << 31;
    let changed = scenario.change.iter().filter_map(|change| change.rate);
    let hops = &scenario.hops.list;
    let of_hops = hops.iter().filter_map(|hop| hop.link.as_ref()).map(|link| link.rate);
    let rates = Direction::ALL
        .map(|direction| scenario.link(direction).rate)
        .into_iter()
        .chain(of_hops)
        .chain(changed);
    let bps = rates.map(|RateText(rate)| rate.as_bps()).max().unwrap_or(0);
    let rtts = scenario.traffic.iter().map(Traffic::most_rtt).chain([scenario.path.rtt.0]);
    let wires_s: f64 = hops.iter().map(|hop| (hop.kind.delay)(&hop.values).as_secs_f64()).sum();
    let later = scenario.change.iter().map(|change| change.lengthens(&scenario.hops));
    let later_s: f64 = later.map(Duration::as_secs_f64).sum();
    let rtt_s = rtts.map(Duration::as_secs_f64).fold(0.0, f64::max) + wires_s + later_s;
    let buffer = (bps as f64 * rtt_s) as u64; // 8 times the product in bytes
    buffer.clamp(LEAST, MOST) as u32
}
