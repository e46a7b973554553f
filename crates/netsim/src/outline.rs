//! The flows of a scenario, for engines that run them elsewhere.

use crate::ScenarioError;
use crate::flow::{Flow, codec};
use crate::scenario::{Direction, Scenario, Span, Traffic, objects_of};
use crate::sockets::Sockets;
use crate::traffic::Kind;
use crate::traffic::page::{Item, items};
use goodqueue_tcp::EcnMode;
use serde::Serialize;

/// A flow as the scenario describes it, its start drawn from the same stream as in the simulator.
#[derive(Clone, Debug, Serialize)]
pub struct FlowOutline {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: Kind,
    /// Which way its data go.
    pub direction: Direction,
    /// When it starts, in seconds of the run.
    pub start_s: f64,
    /// When it stops sending.
    pub stop_s: f64,
    /// Base round-trip time.
    pub rtt_s: f64,
    /// Whether its packets are ECN-capable.
    pub ecn: bool,
    /// Codepoint of its packets (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Congestion control, if it is TCP.
    pub cc: Option<String>,
    /// Which TCP, if it is one.
    pub stack: Option<String>,
    /// Whether it is TCP that is asked to pace.
    pub pacing: bool,
    /// Bytes of each datagram as `tc` counts them.
    pub packet_size: Option<u64>,
    /// Time between datagrams, between a stream's chunks, or from a transfer or a fetch to the next.
    pub interval_s: Option<f64>,
    /// Objects of a page, the document first.
    pub objects: Option<Vec<Item>>,
    /// To each host of a page, at the most.
    pub connections: Option<u64>,
    /// Bytes of a transfer.
    pub size_bytes: Option<u64>,
    /// How many transfers, exchanges or fetches; none: until the stop.
    pub repeat: Option<u64>,
    /// Bytes of a request.
    pub request_bytes: Option<u64>,
    /// Bytes of a response.
    pub response_bytes: Option<u64>,
    /// Time from a response to the next request, where it is fixed.
    pub think_s: Option<f64>,
    /// Its mean, where it is drawn from an exponential distribution.
    pub think_mean_s: Option<f64>,
    /// What a stream's application writes.
    pub rate_bps: Option<u64>,
}

impl Scenario {
    /// The flows, in the scenario's order.
    ///
    /// # Errors
    /// If the scenario was not made by [`Scenario::from_json`] and holds what that would refuse.
    pub fn flows(&self) -> Result<Vec<FlowOutline>, ScenarioError> {
        let described = self.traffic.iter().flat_map(|traffic| {
            let count = usize::try_from(traffic.count.unwrap_or(1)).unwrap_or(usize::MAX);
            std::iter::repeat_n(traffic, count)
        });
        let flows = Flow::all(self, &mut Sockets::default())?;
        Ok(flows.iter().zip(described).map(|(flow, traffic)| outline(flow, traffic)).collect())
    }
}

fn outline(flow: &Flow, traffic: &Traffic) -> FlowOutline {
    let codec = codec(traffic).ok();
    let size = traffic.packet_size.or(codec.map(|codec| codec.packet_bytes().into()));
    let call = codec.map(|codec| codec.interval().as_secs_f64());
    let paced = traffic.rate.zip(size).map(|(rate, size)| 8.0 * size as f64 / rate.0.as_bps() as f64);
    let seconds = |span: Option<Span>| span.map(|span| span.0.as_secs_f64());
    FlowOutline {
        name: flow.name.clone(),
        kind: flow.kind,
        direction: flow.direction,
        start_s: flow.start.as_secs_f64(),
        stop_s: flow.stop.as_secs_f64(),
        rtt_s: flow.rtt.as_secs_f64(),
        ecn: traffic.ecn.unwrap_or_default().0 != EcnMode::Off,
        dscp: flow.dscp,
        cc: traffic.cc.clone(),
        stack: traffic.stack.clone(),
        pacing: traffic.pacing.unwrap_or(false),
        packet_size: size,
        interval_s: seconds(traffic.interval).or(call).or(paced),
        objects: objects_of(traffic)
            .ok()
            .filter(|_| traffic.kind == Kind::Page)
            .map(|objects| items(&objects, traffic.request)),
        connections: traffic.connections,
        size_bytes: traffic.size.map(|size| size.0),
        repeat: traffic.repeat,
        request_bytes: traffic.request.map(|size| size.0),
        response_bytes: traffic.response.map(|size| size.0),
        think_s: seconds(traffic.think),
        think_mean_s: seconds(traffic.think_mean),
        rate_bps: traffic.rate.filter(|_| traffic.kind == Kind::Stream).map(|rate| rate.0.as_bps()),
    }
}
