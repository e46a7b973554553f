//! What the queues of the bottleneck did, as qlog events of a namespace of our own, `goodqueue:`, beside the stacks'
//! qlogs: JSON-SEQ (RFC 7464), with times in milliseconds of the run.

use goodqueue_bottleneck::observing::{Event, Observer, Packet};
use goodqueue_bottleneck::{Direction, Ecn};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::Instant;
use serde_json::json;
use std::io::Write;

/// Writes the events of the queues.
pub(crate) struct QueueLog {
    file: Box<dyn Write + Send + Sync>,
    /// The names of the flows, by their numbers.
    flows: Vec<String>,
}

impl QueueLog {
    /// Begins the file.
    pub(crate) fn new(file: Box<dyn Write + Send + Sync>, flows: Vec<String>) -> Self {
        let mut log = Self { file, flows };
        log.write(&json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": "goodqueue, the queues of the bottleneck",
            "trace": {
                "event_schemas": ["goodqueue"],
                "vantage_point": {"name": "bottleneck", "type": "network"},
                "common_fields": {"time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic", "epoch": "unknown"}},
            },
        }));
        log
    }

    fn write(&mut self, record: &serde_json::Value) {
        let _never_fails = writeln!(self.file, "\u{1e}{record}");
    }
}

impl Observer for QueueLog {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let name = match event {
            Event::Offered => "packet_enqueued",
            Event::Dropped(_) => "packet_dropped",
            Event::Started => "packet_dequeued",
            Event::Arrived => return,
        };
        let flow = self.flows.get(packet.flow() as usize).map_or("", String::as_str);
        let ecn = packet.ecn();
        let mut data =
            json!({"direction": direction, "flow": flow, "length": packet.len(), "ecn": ecn_name(ecn)});
        if let Event::Dropped(why) = event {
            data["trigger"] = json!(why.name());
        }
        let time = now.since(Instant::ZERO).as_secs_f64() * 1e3;
        // No host sends CE, so a packet that leaves with it was marked here.
        if event == Event::Started && ecn == Ecn::Ce {
            self.write(&json!({"time": time, "name": "goodqueue:packet_marked", "data": data.clone()}));
        }
        self.write(&json!({"time": time, "name": format!("goodqueue:{name}"), "data": data}));
    }
}

fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}
