//! A flow: its source, where its packets go, and what it had done when measuring began.

use crate::probe::goodput::Bins;
use crate::probe::rounded;
use crate::probe::series::{CallSeries, EchoLog, PageSeries, PingSeries};
use crate::scenario::{Direction, RateText, Scenario, ScenarioError, Size, Span, Traffic, objects_of};
use crate::sockets::Sockets;
use crate::traffic::Kind;
use crate::traffic::app::{App, Program};
use crate::traffic::bulk::Bulk;
use crate::traffic::isochronous::{Far, Isochronous};
use crate::traffic::page::{Page, items};
use crate::traffic::rr::{Rr, Think};
use crate::traffic::stream::Stream;
use crate::traffic::transfer::Transfer;
use crate::traffic::voip::{Codec, Listener};
use goodqueue_tcp::{CcLine, Config, Connection, EcnMode, Stack};
use goodqueue_units::{Duration, Ecn, Instant, Stream as Random, Streams};
use std::ops::{Add, AddAssign};

/// A flow of the run.
pub(crate) struct Flow {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Which way its data go.
    pub(crate) direction: Direction,
    pub(crate) start: Instant,
    pub(crate) stop: Instant,
    /// Base round-trip time.
    pub(crate) rtt: Duration,
    /// What a classifier computes for its packets, a direction each; those of an application have their connections'.
    pub(crate) hash: [u32; 2],
    /// Differentiated services codepoint of its packets, both ways.
    pub(crate) dscp: u8,
    pub(crate) source: Source,
    /// Goodput per five seconds.
    pub(crate) bins: Bins,
    /// Its totals when measuring began.
    pub(crate) baseline: Totals,
    /// Bytes that the far side had when the source stopped; what arrives later was sent before, and belongs to no rate.
    pub(crate) delivered_at_stop: Option<u64>,
}

/// Who sends.
pub(crate) enum Source {
    /// The transfer of the flow's own number in [`Sockets::bulk`], and its congestion control.
    Bulk(CcLine),
    Isochronous(Box<Isochronous>), // in a box: else each of a hundred thousand transfers would have its 250 bytes
    App(Box<App>),
}

/// What a flow has done since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Bytes that the far side has, in order.
    pub(crate) delivered_bytes: u64,
    /// Payload bytes that TCP sent, each as often as it was sent, and those sent again.
    pub(crate) sent_bytes: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) tlp_probes: u64,
    pub(crate) spurious_retransmissions: u64,
    pub(crate) undos: u64,
    /// What its sender's packets met at the bottleneck.
    pub(crate) fates: FlowFates,
}

/// Its packets at the bottleneck that its data go through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowFates {
    pub(crate) offered: u64,
    pub(crate) dropped: u64,
}

impl Totals {
    /// What a connection's sending half counts.
    pub(crate) fn of_sender(sender: &Connection) -> Self {
        let stats = sender.stats();
        Self {
            sent_bytes: sender.sent_bytes(),
            retransmitted_bytes: stats.bytes_retransmitted,
            retransmitted: stats.retransmitted,
            timeouts: stats.timeouts,
            tlp_probes: stats.tlp_probes,
            spurious_retransmissions: stats.spurious_retransmissions,
            undos: stats.undos,
            ..Self::default()
        }
    }
}

impl Add for Totals {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            retransmitted_bytes: self.retransmitted_bytes + other.retransmitted_bytes,
            retransmitted: self.retransmitted + other.retransmitted,
            timeouts: self.timeouts + other.timeouts,
            tlp_probes: self.tlp_probes + other.tlp_probes,
            spurious_retransmissions: self.spurious_retransmissions + other.spurious_retransmissions,
            undos: self.undos + other.undos,
            fates: FlowFates {
                offered: self.fates.offered + other.fates.offered,
                dropped: self.fates.dropped + other.fates.dropped,
            },
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Flow {
    /// The flows of `scenario`, in its order; bulk transfers' connections are put into `sockets`.
    pub(crate) fn all(scenario: &Scenario, sockets: &mut Sockets) -> Result<Vec<Self>, ScenarioError> {
        let streams = Streams::new(scenario.seed);
        let receive_window = receive_window(scenario);
        let mut flows: Vec<Self> = Vec::new();
        let mut names: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for traffic in &scenario.traffic {
            let name = traffic.name.clone().unwrap_or_else(|| traffic.kind.name().to_string());
            for nth in 0..traffic.count.unwrap_or(1) {
                let number = names.entry(name.clone()).or_default();
                let place = (flows.len() as u32, format!("{name}/{number}"));
                sockets.bulk.push(Bulk::idle());
                let flow = Self::new(traffic, nth, place, scenario, receive_window, streams, sockets)?;
                *number += 1;
                flows.push(flow);
            }
        }
        Ok(flows)
    }

    fn new(
        traffic: &Traffic,
        nth: u64,
        (place, name): (u32, String),
        scenario: &Scenario,
        receive_window: u32,
        streams: Streams,
        sockets: &mut Sockets,
    ) -> Result<Self, ScenarioError> {
        let span = |span: Option<Span>| span.unwrap_or_default().0;
        let spread = span(traffic.start_spread).as_secs_f64()
            * streams.stream(&format!("start of {name}"), 0).next_f64();
        let start = Instant::ZERO
            + span(traffic.start)
            + span(traffic.stagger) * nth
            + Duration::from_secs_f64(spread);
        let stop = Instant::ZERO + traffic.stop.unwrap_or(scenario.duration).0;
        let delivery_rate = scenario.series.as_ref().is_some_and(|series| series.tcp);
        let random = streams.stream(&format!("cc of {name}"), 0).next_u32();
        let config = || Ok(Config { receive_window, delivery_rate, random, ..config(traffic)? });
        let mut hashes = streams.stream(&format!("hash of {name}"), 0);
        let direction = traffic.direction.unwrap_or_default();
        let own_hashes = hashes.clone();
        let app = |program| {
            let app = App::new(program, config()?, place, direction, own_hashes);
            Ok(Source::App(Box::new(app)))
        };
        let thinking = streams.stream(&format!("think of {name}"), 0);
        let bulk = || {
            let config = config()?;
            let cc = config.cc_line();
            sockets.bulk[place as usize] = Bulk::new(config, direction);
            Ok(Source::Bulk(cc))
        };
        let source = Source::new(traffic, start, thinking, bulk, app)?;
        Ok(Self {
            name,
            kind: traffic.kind,
            direction,
            start,
            stop,
            rtt: traffic.rtt.unwrap_or(scenario.path.rtt).0,
            hash: [hashes.next_u32(), hashes.next_u32()],
            dscp: traffic.dscp.unwrap_or_default().0,
            source,
            bins: Bins::default(),
            baseline: Totals::default(),
            delivered_at_stop: None,
        })
    }

    /// What it, number `index`, has done so far; `fates` is the bottleneck's account of it.
    pub(crate) fn totals(&self, index: usize, fates: FlowFates, sockets: &Sockets) -> Totals {
        let totals = match &self.source {
            Source::Bulk(_) => sockets.bulk[index].totals(self.direction),
            Source::Isochronous(source) => {
                Totals { delivered_bytes: source.received_bytes, ..Totals::default() }
            }
            Source::App(app) => app.totals(sockets),
        };
        Totals { fates, ..totals }
    }

    /// The sender of the data of this flow, number `index`, if it is TCP: of an application's connections the one that was
    /// opened last.
    pub(crate) fn sender<'a>(&'a self, index: usize, sockets: &'a Sockets) -> Option<&'a Connection> {
        match &self.source {
            Source::Bulk(_) => Some(sockets.bulk[index].sender(self.direction)),
            Source::Isochronous(_) => None,
            Source::App(app) => app.sender(sockets),
        }
    }

    /// Keeps each echo of a ping, packet of a call, or fetch of a page from now on.
    pub(crate) fn log(&mut self) {
        match (self.kind, &mut self.source) {
            (Kind::Ping | Kind::Voip, Source::Isochronous(source)) => source.log = Some(EchoLog::default()),
            (_, Source::App(app)) => app.log_fetches(),
            _ => {}
        }
    }

    /// The echoes that were kept, if it is a ping.
    pub(crate) fn echoes(&self) -> Option<PingSeries> {
        Some(self.packet_log(Kind::Ping)?.ping(self.name.clone()))
    }

    /// The packets that were kept, if it is a call.
    pub(crate) fn heard(&self) -> Option<CallSeries> {
        Some(self.packet_log(Kind::Voip)?.call(self.name.clone()))
    }

    fn packet_log(&self, kind: Kind) -> Option<&EchoLog> {
        let Source::Isochronous(source) = &self.source else { return None };
        source.log.as_ref().filter(|_| self.kind == kind)
    }

    /// The fetches that were kept, if it is a page.
    pub(crate) fn fetches(&self) -> Option<PageSeries> {
        let Source::App(app) = &self.source else { return None };
        let fetches = app.fetches()?;
        Some(PageSeries {
            name: self.name.clone(),
            begun_s: fetches.iter().map(|(begun, _)| begun.as_secs_f64()).collect(),
            load_ms: fetches.iter().map(|(_, time)| rounded(time.as_millis_f64())).collect(),
        })
    }

    /// Whether it is TCP.
    pub(crate) fn is_tcp(&self) -> bool {
        !matches!(self.source, Source::Isochronous(_))
    }
}

fn missing(key: &str) -> ScenarioError {
    ScenarioError::new(format!("traffic.{key}"), "not resolved")
}

/// The most that a receive window grows to: half of a buffer of 16 MiB, or of eight times what the greatest link has under way
/// over the longest path, so that it never limits. The kernel engine sets its buffers so, too.
fn receive_window(scenario: &Scenario) -> u32 {
    const LEAST: u64 = 16 << 20;
    const MOST: u64 = 1 << 31;
    let changed = scenario.change.iter().filter_map(|change| change.rate);
    let rates =
        [Some(scenario.bottleneck.rate), scenario.bottleneck.up.rate].into_iter().flatten().chain(changed);
    let bps = rates.map(|rate| rate.0.as_bps()).max().unwrap_or(0);
    let rtts = scenario.traffic.iter().filter_map(|traffic| traffic.rtt).chain([scenario.path.rtt]);
    let rtt_s = rtts.map(|rtt| rtt.0.as_secs_f64()).fold(0.0, f64::max);
    let buffer = (bps as f64 * rtt_s) as u64; // 8 times, in bytes
    (buffer.clamp(LEAST, MOST) / 2) as u32
}

/// Both ends of a TCP connection.
fn config(traffic: &Traffic) -> Result<Config, ScenarioError> {
    let cc = traffic.cc.as_deref().and_then(|line| CcLine::parse(line).ok());
    let CcLine { cc, options } = cc.ok_or_else(|| missing("cc"))?;
    let stack = traffic.stack.as_deref().and_then(Stack::from_name).ok_or_else(|| missing("stack"))?;
    let (ecn, pacing) = (traffic.ecn.unwrap_or_default().0, traffic.pacing.unwrap_or(false));
    Ok(Config { cc, cc_options: options, stack, ecn, pacing, ..Config::default() })
}

/// The codec of a call.
pub(crate) fn codec(traffic: &Traffic) -> Result<Codec, ScenarioError> {
    traffic.codec.as_deref().and_then(Codec::from_name).ok_or_else(|| missing("codec"))
}

impl Source {
    /// The source that `traffic` describes; `thinking` is what an application draws from, `bulk` makes a bulk transfer, and `app` a
    /// source of an application.
    fn new(
        traffic: &Traffic,
        start: Instant,
        thinking: Random,
        bulk: impl FnOnce() -> Result<Self, ScenarioError>,
        app: impl FnOnce(Program) -> Result<Self, ScenarioError>,
    ) -> Result<Self, ScenarioError> {
        let len = traffic.packet_size.unwrap_or(0) as u16;
        let ecn = traffic.ecn.unwrap_or_default().0;
        let datagram_ecn = if ecn == EcnMode::Off { Ecn::NotEct } else { Ecn::Ect0 };
        let size = |key, size: Option<Size>| size.map(|size| size.0).ok_or_else(|| missing(key));
        let rate = || traffic.rate.map(|RateText(rate)| rate).ok_or_else(|| missing("rate"));
        let interval = || traffic.interval.map(|interval| interval.0).ok_or_else(|| missing("interval"));
        match traffic.kind {
            Kind::Bulk => bulk(),
            Kind::Transfer => {
                let transfer = Transfer::new(size("size", traffic.size)?, traffic.repeat, interval()?);
                app(Program::Transfer(transfer))
            }
            Kind::Rr => {
                let think = match traffic.think_mean {
                    Some(mean) => Think::Exponential(mean.0, thinking),
                    None => Think::Fixed(traffic.think.unwrap_or_default().0),
                };
                let (request, response) =
                    (size("request", traffic.request)?, size("response", traffic.response)?);
                app(Program::Rr(Rr::new(request, response, think, traffic.repeat)))
            }
            Kind::Stream => app(Program::Stream(Stream::new(rate()?, interval()?))),
            Kind::Cbr => {
                // `rate` packets take 8 * len seconds, whatever the rate.
                let interval = Duration::from_secs(8 * u64::from(len));
                let source =
                    Isochronous::new(start, interval, rate()?.as_bps(), len, datagram_ecn, Far::Takes);
                Ok(Self::Isochronous(Box::new(source)))
            }
            Kind::Ping => {
                let source = Isochronous::new(start, interval()?, 1, len, datagram_ecn, Far::Echoes);
                Ok(Self::Isochronous(Box::new(source)))
            }
            Kind::Voip => {
                let codec = codec(traffic)?;
                let listener = Far::Listens(Box::new(Listener::new()));
                let (interval, len) = (codec.interval(), codec.packet_bytes());
                let source = Isochronous::new(start, interval, 1, len, datagram_ecn, listener);
                Ok(Self::Isochronous(Box::new(source)))
            }
            Kind::Page => {
                let connections = traffic.connections.ok_or_else(|| missing("connections"))?;
                let items = items(&objects_of(traffic)?, traffic.request);
                let page = Page::new(items, connections, interval()?, traffic.repeat);
                app(Program::Page(page))
            }
            Kind::Rrul | Kind::RrulBe | Kind::TcpNup | Kind::TcpNdown => Err(missing("kind")),
        }
    }
}
