//! The packets that have left the queues of their senders' hosts, which TCP small queues wait for.
//!
//! A driver frees a packet when it has sent it, and a discipline when it drops it. The link or cell that is the first
//! queue of a flow notes both here, and the event loop tells the senders.

use crate::ids::FlowId;
use crate::lists::PerFlow;
use crate::packet::{Body, Packet};
use std::collections::VecDeque;

/// The freed packets of one link, or of one direction of a cell, that their senders were not told yet.
pub(crate) struct Freed {
    /// Whether each flow has its first queue here, and a sender that waits.
    begins: PerFlow<bool>,
    /// The flow and the hash of each packet.
    packets: VecDeque<(FlowId, u32)>,
}

impl Freed {
    pub(crate) fn new(begins: PerFlow<bool>) -> Box<Self> {
        Box::new(Self { begins, packets: VecDeque::new() })
    }

    /// Notes `packet`, if it is a segment with data whose sender waits.
    pub(crate) fn note(&mut self, packet: &Packet) {
        if matches!(&packet.body, Body::Tcp(segment) if segment.payload_len > 0) && self.begins[packet.flow] {
            self.packets.push_back((packet.flow, packet.hash));
        }
    }

    /// Returns the flow and the hash of the next packet that its sender was not told.
    pub(crate) fn take(&mut self) -> Option<(FlowId, u32)> {
        self.packets.pop_front()
    }
}
