//! quinn (quinn-proto).

use crate::peer::{SEND_WINDOW_BYTES, WINDOW_BYTES};
use quinn_proto::congestion::{Bbr, BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{QlogConfig, TransportConfig};
use std::net::SocketAddr;

crate::family::peer!(Quinn, quinn_proto);

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true, None)
}

/// Gives the endpoint a datagram that arrived at a time from an address.
fn handle(
    endpoint: &mut Endpoint,
    (now, from): (Instant, SocketAddr),
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, data, buffer)
}

/// Returns the most datagrams of one transmission: one, as a socket without segmentation offload takes.
fn limit() -> usize {
    1
}

fn transport(setup: &Setup, base: Instant) -> Result<TransportConfig, String> {
    let cc: Arc<dyn ControllerFactory + Send + Sync> = match &*setup.cc {
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => Arc::new(CubicConfig::default()),
    };
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(cc);
    config.stream_receive_window(VarInt::from_u32(WINDOW_BYTES));
    config.receive_window(VarInt::from_u32(WINDOW_BYTES));
    config.send_window(SEND_WINDOW_BYTES);
    if let Some(file) = &setup.qlog {
        let mut qlog = QlogConfig::default();
        qlog.writer(file.writer()).start_time(base).title(Some("goodqueue, quinn".into()));
        config.qlog_stream(qlog.into_stream());
    }
    Ok(config)
}

fn sample(connection: &Connection) -> Sample {
    Sample { rtt: connection.rtt(), cwnd_bytes: connection.congestion_state().window() }
}

/// The states of BBR's first version are four. Its gains say the phase of PROBE_BW.
fn show(connection: &mut Connection) -> Shown {
    let mtu_bytes = u64::from(connection.stats().path.current_mtu);
    let Ok(bbr) = connection.congestion_state().clone_box().into_any().downcast::<Bbr>() else {
        return Shown { mtu_bytes, ..Shown::default() };
    };
    let text = format!("{bbr:?}");
    let gain = number(&text, "pacing_gain").unwrap_or(1.0);
    let state = match field(&text, "mode") {
        Some("Startup") => Some(BbrState::Startup),
        Some("Drain") => Some(BbrState::Drain),
        Some("ProbeRtt") => Some(BbrState::ProbeRtt),
        Some("ProbeBw") if gain > 1.0 => Some(BbrState::Up),
        Some("ProbeBw") if gain < 1.0 => Some(BbrState::Down),
        Some("ProbeBw") => Some(BbrState::Cruise),
        _ => None,
    };
    // The first sample of its filter is the largest, in bytes per second.
    let bandwidth = number(&text, "value").map(|rate| 8.0 * rate);
    Shown { state, bandwidth, mtu_bytes, ..Shown::default() }
}

fn totals(connection: &mut Connection) -> Totals {
    let path = connection.stats().path;
    Totals {
        packets_sent: path.sent_packets,
        packets_lost: path.lost_packets,
        congestion_events: Some(path.congestion_events),
    }
}
