//! What the laboratory asks for: how long the run is, and the addresses and options of each flow's sockets.

use goodqueue_hosts::direction::Side;
use goodqueue_units::{Duration, Instant};
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddrV4};

/// A run.
#[derive(Debug, Deserialize)]
pub(crate) struct Order {
    pub(crate) duration_s: f64,
    pub(crate) warmup_s: f64,
    /// The interval at which the senders' TCP_INFO is read; none: it is not.
    pub(crate) sample_s: Option<f64>,
    /// In the scenario's order.
    pub(crate) flows: Vec<Asked>,
}

/// A flow's sockets.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) start_s: f64,
    pub(crate) stop_s: f64,
    pub(crate) client: Ipv4Addr,
    pub(crate) server: Ipv4Addr,
    /// The listening ports, one per way of the flow.
    pub(crate) ports: Vec<u16>,
    /// The port of a sender that always has data, and of the first exchange of datagrams.
    pub(crate) first_port: u16,
    /// Congestion control, if the flow is TCP.
    pub(crate) cc: Option<String>,
    /// Whether TCP asks for ECN.
    pub(crate) ecn: bool,
    pub(crate) dscp: u8,
    pub(crate) pacing: bool,
}

/// Returns the time `seconds` after the run's beginning.
pub(crate) fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

impl Asked {
    pub(crate) fn address(&self, side: Side) -> Ipv4Addr {
        match side {
            Side::User => self.client,
            Side::Remote => self.server,
        }
    }

    /// Returns where the flow listens at `side` for what takes the way `route`.
    pub(crate) fn listening(&self, side: Side, route: usize) -> SocketAddrV4 {
        SocketAddrV4::new(self.address(side), self.ports[route])
    }
}
