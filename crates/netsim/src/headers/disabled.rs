//! Stands for the headers of flows in builds without the feature `complete`: only filters of trees ask for more than
//! the marks.

use crate::ids::FlowId;
use crate::lists::PerFlow;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::IpHeader;
use std::sync::Arc;

/// The marks of all flows.
#[derive(Clone, Default)]
pub(crate) struct FlowHeaders(pub(crate) Arc<PerFlow<u32>>);

impl FlowHeaders {
    /// Returns the mark of the packets of `flow`.
    pub(crate) fn mark(&self, flow: FlowId) -> u32 {
        self.0.get(flow).copied().unwrap_or(0)
    }

    /// Does nothing: only filters ask for headers.
    pub(crate) fn prefetch(&self, _flow: FlowId) {}

    /// Returns the header that nothing asks for.
    pub(crate) fn ip_header(&self, _packet: &Packet, _direction: Direction) -> IpHeader {
        IpHeader::default()
    }
}
