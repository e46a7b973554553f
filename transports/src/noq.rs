//! noq (noq-proto).

use crate::peer::{SEND_WINDOW_BYTES, WINDOW_BYTES};
use crate::qlog::Qlog;
use noq_proto::congestion::{Bbr3, Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{ConnectionId, FourTuple, PathId, QlogConfig, QlogFactory, Side, TransportConfig};
use std::net::SocketAddr;
use std::num::NonZeroUsize;

crate::family::peer!(Noq, noq_proto);

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true)
}

/// Gives the endpoint a datagram that arrived at a time from an address.
fn handle(
    endpoint: &mut Endpoint,
    (now, from): (Instant, SocketAddr),
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(from, None), ecn, data, buffer)
}

/// Returns the most datagrams of one transmission: one, as a socket without segmentation offload takes.
fn limit() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn transport(setup: &Setup, base: Instant) -> Result<TransportConfig, String> {
    let cc: Arc<dyn ControllerFactory + Send + Sync> = match &*setup.cc {
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr3" => Arc::new(Bbr3Config::default()),
        _ => Arc::new(CubicConfig::default()),
    };
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(cc);
    config.stream_receive_window(VarInt::from_u32(WINDOW_BYTES));
    config.receive_window(VarInt::from_u32(WINDOW_BYTES));
    config.send_window(SEND_WINDOW_BYTES);
    if let Some(file) = &setup.qlog {
        config.qlog_factory(Arc::new(OneFile { file: file.clone(), base }));
    }
    Ok(config)
}

/// Writes the qlog of the one connection.
struct OneFile {
    file: Qlog,
    base: Instant,
}

impl QlogFactory for OneFile {
    fn for_connection(&self, _: Side, _: SocketAddr, _: ConnectionId, _: Instant) -> Option<QlogConfig> {
        let mut qlog = QlogConfig::new(self.file.writer());
        qlog.start_time(self.base).title(Some("goodqueue, noq".into()));
        Some(qlog)
    }
}

fn sample(connection: &Connection) -> Sample {
    Sample {
        rtt: connection.rtt(PathId::ZERO).unwrap_or_default(),
        cwnd_bytes: connection.congestion_state(PathId::ZERO).map_or(0, |state| state.window()),
    }
}

fn show(connection: &mut Connection) -> Shown {
    let mtu_bytes = connection.path_stats(PathId::ZERO).map_or(0, |path| u64::from(path.current_mtu));
    let cc = connection.congestion_state(PathId::ZERO).map(|state| state.clone_box().into_any());
    let Some(Ok(bbr)) = cc.map(|cc| cc.downcast::<Bbr3>()) else {
        return Shown { mtu_bytes, ..Shown::default() };
    };
    let text = format!("{bbr:?}");
    let state = match field(&text, "state") {
        Some("Startup") => Some(BbrState::Startup),
        Some("Drain") => Some(BbrState::Drain),
        Some("ProbeBw(Down)") => Some(BbrState::Down),
        Some("ProbeBw(Cruise)") => Some(BbrState::Cruise),
        Some("ProbeBw(Refill)") => Some(BbrState::Refill),
        Some("ProbeBw(Up)") => Some(BbrState::Up),
        Some("ProbeRtt") => Some(BbrState::ProbeRtt),
        _ => None,
    };
    // Without a bound the long-term one is the greatest number there is.
    Shown {
        state,
        bandwidth: number(&text, "max_bw").map(|rate| 8.0 * rate),
        short_term: number(&text, "bw_shortterm").map(|rate| 8.0 * rate),
        inflight_long_term: number(&text, "inflight_longterm").filter(|bytes| *bytes < 1e18),
        mtu_bytes,
    }
}

fn totals(connection: &mut Connection) -> Totals {
    let path = connection.path_stats(PathId::ZERO).unwrap_or_default();
    Totals {
        packets_sent: path.sent_packets,
        packets_lost: path.lost_packets,
        congestion_events: Some(path.congestion_events),
    }
}
