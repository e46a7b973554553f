//! One flow's queue: its packets by their time to send, and in order of arrival among equals.

use super::Fq;
use crate::packet::Packet;
use crate::sched::slab::Chain;

impl<P: Packet> Fq<P> {
    /// Puts a packet into its flow's queue: by time to send, and in order of arrival among equals.
    pub(super) fn add(&mut self, index: u32, waiting: Waiting<P>) {
        let time = waiting.time_to_send;
        let flow = &mut self.flows[index];
        let newest = self.packets.newest(flow.queue).map_or(0, |(_, newest)| newest.time_to_send);
        if time >= newest {
            self.packets.push(&mut flow.queue, waiting);
        } else {
            flow.early += 1;
            self.order += 1;
            let mut alone = Chain::default();
            self.packets.push(&mut alone, waiting);
            if let Some((place, _)) = self.packets.newest(alone) {
                self.early.insert((index, time, self.order), place);
            }
        }
        let flow = &self.flows[index];
        let due = time.max(flow.paced_until);
        if self.settings.moves_timer && flow.is_throttled() && due < flow.time_next_packet {
            self.delayed.remove(&(0, flow.time_next_packet, flow.order));
            self.delay(index, due);
        }
    }

    /// Returns the time to send of the flow's next packet.
    pub(super) fn time_of_head(&self, index: u32) -> Option<u64> {
        let flow = &self.flows[index];
        let head = self.packets.head(flow.queue).map(|waiting| waiting.time_to_send);
        head.into_iter().chain(self.earliest(index).map(|(_, time, _)| time)).min()
    }

    /// Returns the key in `early` of the flow's first packet there.
    fn earliest(&self, index: u32) -> Option<(u32, u64, u64)> {
        if self.flows[index].early == 0 {
            return None;
        }
        self.early.range((index, 0, 0)..).next().map(|(key, _)| *key)
    }

    /// Takes the flow's next packet. Of equal times, the one in order comes before the early one, as in Linux.
    pub(super) fn take(&mut self, index: u32) -> Option<Waiting<P>> {
        let earliest = self.earliest(index);
        let flow = &mut self.flows[index];
        let head = self.packets.head(flow.queue).map(|waiting| waiting.time_to_send);
        flow.packets -= 1;
        match earliest {
            Some(key) if head.is_none_or(|head| key.1 < head) => {
                flow.early -= 1;
                let place = self.early.remove(&key)?;
                self.packets.pop(&mut Chain::of(place))
            }
            _ => self.packets.pop(&mut flow.queue),
        }
    }
}

/// A packet in a flow's queue.
#[derive(Clone, Debug)]
pub(super) struct Waiting<P> {
    pub(super) packet: P,
    /// Time before which the packet does not leave, in ns.
    pub(super) time_to_send: u64,
    pub(super) band: u8,
}
