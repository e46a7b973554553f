//! Pings: small datagrams that the other side sends back at once.

use super::isochronous::{DATAGRAM_KEYS, FRAME, Far, Listener, Log, Pace, Packets, ecn_of};
use super::kind::{Kind, Make, Measure};
use super::result::{self, AppResult};
use crate::keys::{Key, Span};
use crate::probe::delay::{FlowDelays, Summary};
use goodqueue_units::Duration;
use std::sync::Arc;

const INTERVAL: Key<Span> = Key::with_default("interval", "\"200ms\"")
    .range(Span(Duration::from_micros(1)), Span(Duration::from_secs(1000)))
    .help("time from one packet to the next")
    .source("Flent 2.1, --step-size");
const PACKET_SIZE: Key<u64> = Key::with_default("packet_size", "98")
    .unit("bytes")
    .range(FRAME.0, FRAME.1)
    .help("bytes of each packet as `tc` counts them")
    .source("ping(8): 56 bytes of data, ICMP, IPv4 and Ethernet");

pub(crate) const KIND: Kind = Kind {
    keys: &[&PACKET_SIZE, &INTERVAL],
    transport: DATAGRAM_KEYS,
    is_probe: true,
    is_icmp: true,
    plural: "pings",
    ended: "",
    result: Some(PingResult::PART),
    measures: &[Measure::time("ping_rtt_p95_ms", "rtt_ms.p95", "ping p95", "ping", "p95")
        .main()
        .said("95 % of the pings return within {}", "within {}", "")],
    times: "rtt_ms",
    times_are: "round trip, base RTT included",
    series: Some(("pings", PingSeries::PART)),
    ..Kind::new(
        "ping",
        "small datagrams that come back at once: the delay that others feel",
        Make::Datagrams(|values| Pace {
            interval: values.get(&INTERVAL).0,
            packets: 1,
            len: values.get(&PACKET_SIZE) as u16,
            ecn: ecn_of(values),
            far: Far::Echoes(Box::new(Echoes(FlowDelays::new()))),
        }),
    )
};

/// Round-trip times of echoes.
struct Echoes(FlowDelays);

crate::part! {
    /// The packets of a ping that were sent within the measured time.
    #[derive(Copy)]
    pub struct PingResult {
        /// Round-trip times.
        pub rtt_ms: Option<Summary> => result::times("RTT", "p10 p50 p90 p95 p99"),
        /// Packets sent.
        pub sent: u64 => result::column("sent", "", 0),
        /// Packets that came back.
        pub received: u64 => result::column("came", "", 0),
        /// Share of the packets that did not come back, up to the last one that did. Of the packets after it, those
        /// count that were under way for more than three times the longest round trip. 100 if none came back, null if
        /// none was sent.
        pub loss_percent: Option<f64> => result::column("lost", "%", 2),
    }
}

crate::part! {
    /// The round trips of a ping, including those of the warm-up, in the order in which they ended. Lost packets are
    /// missing.
    pub struct PingSeries {
        /// The flow's name.
        pub name: String,
        /// The packet's number, from 0.
        pub seq: Vec<u64>,
        /// When the packet was sent, in seconds of the run.
        pub sent_s: Vec<f64>,
        /// The packet's round-trip time.
        pub rtt_ms: Vec<f64>,
    }
}

impl AppResult for PingResult {}

impl Listener for Echoes {
    fn reset(&mut self) {
        self.0.reset();
    }

    fn took(&mut self, time: Duration) {
        self.0.record(time);
    }

    fn result(&self, packets: Packets) -> result::Result {
        let Packets { sent, received, loss_percent } = packets;
        Arc::new(PingResult { rtt_ms: self.0.summary(), sent, received, loss_percent })
    }

    fn series(&self, name: &str, log: &Log) -> result::Series {
        let name = name.to_string();
        Arc::new(PingSeries { name, seq: log.numbers(), sent_s: log.sent_s(), rtt_ms: log.times_ms() })
    }
}
