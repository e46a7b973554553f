//! The flows of a scenario, for engines other than the simulator.

use crate::ends;
use crate::flow::{Flow, Source};
use crate::scenario::{HostName, Scenario, Traffic};
use crate::sockets::Sockets;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::Json;
use goodqueue_hosts::traffic::application::Application;
use goodqueue_hosts::traffic::kind::Kind;
use goodqueue_hosts::traffic::{isochronous, tcp};
use goodqueue_tcp::EcnMode;
use goodqueue_units::Ecn;
use serde::Serialize;
use serde_json::Map;

/// A flow as the scenario describes it. Its start is drawn from the same stream as in the simulator.
#[derive(Clone, Debug, Serialize)]
pub struct FlowOutline {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static Kind,
    /// The direction of its data.
    pub direction: Direction,
    /// When it starts, in seconds of the run.
    pub start_s: f64,
    /// When it stops sending, in seconds of the run.
    pub stop_s: f64,
    /// Base round-trip time, in seconds.
    pub rtt_s: f64,
    /// The user's host, if the scenario names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostName>,
    /// The server, if the scenario names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<HostName>,
    /// The ports of the user's end and of the server's, unless it is ICMP. Further connections of an application have
    /// ports of their own at one end.
    pub ports: [u16; 2],
    /// The port of the server, if the scenario says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The mark of its packets, if they have one.
    #[serde(skip_serializing_if = "is_none")]
    pub mark: u32,
    /// Whether its packets are ECN-capable.
    pub ecn: bool,
    /// Codepoint of its packets (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Congestion control, if it is TCP.
    pub cc: Option<String>,
    /// The version of TCP, if it is TCP.
    pub stack: Option<String>,
    /// Whether it is TCP with pacing asked for.
    pub pacing: bool,
    /// The values of the keys of its kind in base units (`interval_s`, `size_bytes`), and the values that the kind
    /// adds.
    #[serde(flatten)]
    pub own: Map<String, Json>,
}

/// What a flow does, for a host that is not the simulator's.
pub struct Program {
    /// The flow's name.
    pub name: String,
    /// The flow's kind.
    pub kind: &'static Kind,
    /// The direction of its data.
    pub direction: Direction,
    /// Its application, which draws the same random numbers as in the simulator; none: it always has data to send.
    pub application: Option<Box<dyn Application>>,
}

impl Scenario {
    /// Returns what the flows do, in the scenario's order.
    #[must_use]
    pub fn programs(&self) -> Vec<Program> {
        let program = |flow: Flow| Program {
            name: flow.name,
            kind: flow.kind,
            direction: flow.direction,
            application: match flow.source {
                Source::App(app) => Some(app.into_program()),
                Source::Isochronous(source) => Some(source),
                Source::Bulk(_) | Source::Outside { .. } => None,
            },
        };
        Flow::all(self, &mut Sockets::elsewhere()).into_iter().map(program).collect()
    }

    /// Returns whether the scenario asks for time series.
    #[must_use]
    pub fn has_series(&self) -> bool {
        self.series.as_ref().is_some_and(|series| series.interval.is_some())
    }

    /// Returns the flows, in the scenario's order.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowOutline> {
        self.described()
            .zip(ends::ports(self))
            .map(|((flow, traffic), ports)| outline(flow, traffic, ports))
            .collect()
    }

    /// Returns each flow with the table that describes it.
    fn described(&self) -> impl Iterator<Item = (Flow, &Traffic)> {
        let described = self.traffic.iter().flat_map(|traffic| {
            let count = usize::try_from(traffic.count).unwrap_or(usize::MAX);
            std::iter::repeat_n(traffic, count)
        });
        Flow::all(self, &mut Sockets::elsewhere()).into_iter().zip(described)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
const fn is_none(mark: &u32) -> bool {
    *mark == 0
}

fn outline(flow: Flow, traffic: &Traffic, ports: [u16; 2]) -> FlowOutline {
    let values = &traffic.values;
    let codepoint = values.find(&isochronous::CODEPOINT).unwrap_or_default().0;
    let own = |name: &str| traffic.kind.keys.iter().any(|key| key.name() == name);
    let mut own: Map<String, Json> = values.plain(own).collect();
    own.extend((traffic.kind.outline)(values).into_iter().map(|(name, value)| (name.to_string(), value)));
    FlowOutline {
        name: flow.name,
        kind: flow.kind,
        direction: flow.direction,
        start_s: flow.start.as_secs_f64(),
        stop_s: flow.stop.as_secs_f64(),
        rtt_s: flow.rtt.as_secs_f64(),
        host: traffic.host.clone(),
        server: traffic.server.clone(),
        ports,
        port: traffic.port,
        mark: traffic.mark,
        ecn: values.find(&tcp::ECN).unwrap_or_default().0 != EcnMode::Off || codepoint != Ecn::NotEct,
        dscp: flow.dscp,
        cc: values.find(&tcp::CC).map(|cc| cc.to_string()),
        stack: values.find(&tcp::STACK).map(|stack| stack.name().to_string()),
        pacing: values.find(&tcp::PACING).unwrap_or(false),
        own,
    }
}
