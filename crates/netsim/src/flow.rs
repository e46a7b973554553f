//! A flow: its source, where its packets go, and what it had done when measuring began.

use crate::link::FlowFates;
use crate::probe::goodput::Bins;
use crate::scenario::{Direction, RateText, Scenario, ScenarioError, Span, Traffic};
use crate::traffic::Kind;
use crate::traffic::isochronous::Isochronous;
use crate::traffic::tcp::Transfer;
use goodqueue_tcp::{Cc, Config, Stack};
use goodqueue_units::{Duration, Ecn, Instant, Streams};

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
    /// What a classifier computes for its packets, a direction each.
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
#[allow(clippy::large_enum_variant)] // nearly all flows are the large one, and a box would cost a cache miss a packet
pub(crate) enum Source {
    Tcp(Transfer),
    Isochronous(Isochronous),
}

/// What a flow has done since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Bytes that the far side has, in order.
    pub(crate) delivered_bytes: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    /// What its sender's packets met at the bottleneck.
    pub(crate) fates: FlowFates,
}

impl Flow {
    /// The flows of `scenario`, in its order.
    pub(crate) fn all(scenario: &Scenario) -> Result<Vec<Self>, ScenarioError> {
        let streams = Streams::new(scenario.seed);
        let mut flows: Vec<Self> = Vec::new();
        let mut names: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for traffic in &scenario.traffic {
            let name = traffic.name.clone().unwrap_or_else(|| traffic.kind.name().to_string());
            for nth in 0..traffic.count.unwrap_or(1) {
                let number = names.entry(name.clone()).or_default();
                let flow = Self::new(traffic, nth, format!("{name}/{number}"), scenario, streams)?;
                *number += 1;
                flows.push(flow);
            }
        }
        Ok(flows)
    }

    fn new(
        traffic: &Traffic,
        nth: u64,
        name: String,
        scenario: &Scenario,
        streams: Streams,
    ) -> Result<Self, ScenarioError> {
        let span = |span: Option<Span>| span.unwrap_or_default().0;
        let spread = span(traffic.start_spread).as_secs_f64()
            * streams.stream(&format!("start of {name}"), 0).next_f64();
        let start = Instant::ZERO
            + span(traffic.start)
            + span(traffic.stagger) * nth
            + Duration::from_secs_f64(spread);
        let stop = Instant::ZERO + traffic.stop.unwrap_or(scenario.duration).0;
        let random = streams.stream(&format!("cc of {name}"), 0).next_u32();
        let samples = scenario.series.as_ref().is_some_and(|series| series.interval.is_some());
        let mut hashes = streams.stream(&format!("hash of {name}"), 0);
        Ok(Self {
            name,
            kind: traffic.kind,
            direction: traffic.direction.unwrap_or_default(),
            start,
            stop,
            rtt: traffic.rtt.unwrap_or(scenario.path.rtt).0,
            hash: [hashes.next_u32(), hashes.next_u32()],
            dscp: traffic.dscp.unwrap_or_default().0,
            source: Source::new(traffic, start, random, samples)?,
            bins: Bins::default(),
            baseline: Totals::default(),
            delivered_at_stop: None,
        })
    }

    /// What it has done so far; `fates` is the bottleneck's account of it.
    pub(crate) fn totals(&self, fates: FlowFates) -> Totals {
        let totals = match &self.source {
            Source::Tcp(transfer) => transfer.totals(),
            Source::Isochronous(source) => {
                Totals { delivered_bytes: source.received_bytes, ..Totals::default() }
            }
        };
        Totals { fates, ..totals }
    }
}

impl Source {
    /// `random` is what congestion control draws from; `samples` whether series want the delivery rate.
    fn new(traffic: &Traffic, start: Instant, random: u32, samples: bool) -> Result<Self, ScenarioError> {
        let len = traffic.packet_size.unwrap_or(0) as u16;
        let datagram_ecn = if traffic.ecn == Some(true) { Ecn::Ect0 } else { Ecn::NotEct };
        let missing = |key: &str| ScenarioError::new(format!("traffic.{key}"), "not resolved");
        Ok(match traffic.kind {
            Kind::Bulk => {
                let cc = traffic.cc.as_deref().and_then(Cc::from_name).ok_or_else(|| missing("cc"))?;
                let stack =
                    traffic.stack.as_deref().and_then(Stack::from_name).ok_or_else(|| missing("stack"))?;
                let ecn = traffic.ecn.unwrap_or(false);
                let pacing = traffic.pacing.unwrap_or(false);
                let delivery_rate = samples;
                Self::Tcp(Transfer::new(Config {
                    cc,
                    stack,
                    ecn,
                    pacing,
                    delivery_rate,
                    random,
                    ..Config::default()
                }))
            }
            Kind::Cbr => {
                // `rate` packets take 8 * len seconds, whatever the rate.
                let RateText(rate) = traffic.rate.ok_or_else(|| missing("rate"))?;
                let interval = Duration::from_secs(8 * u64::from(len));
                Self::Isochronous(Isochronous::new(start, interval, rate.as_bps(), len, datagram_ecn, false))
            }
            Kind::Ping => {
                let interval = traffic.interval.ok_or_else(|| missing("interval"))?.0;
                Self::Isochronous(Isochronous::new(start, interval, 1, len, datagram_ecn, true))
            }
        })
    }
}
