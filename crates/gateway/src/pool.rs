//! Stores the bytes of packets under way, each with its envelope.

use crate::offload::Offload;
use crate::packet::Seen;
use goodqueue_netsim::{Direction, Envelope};

/// A packet under way.
pub(crate) struct Slot {
    pub(crate) envelope: &'static Envelope,
    pub(crate) bytes: Vec<u8>,
    pub(crate) offload: Offload,
    pub(crate) seen: Seen,
    pub(crate) direction: Direction,
    /// The number of the packet's flow.
    pub(crate) flow: u32,
}

/// The slots. A slot is free again when no packet with its envelope is under way, whatever the packet's fate was.
#[derive(Default)]
pub(crate) struct Pool {
    /// By the numbers of their envelopes.
    slots: Vec<Slot>,
}

impl Pool {
    /// Puts a packet into the slot of its envelope.
    pub(crate) fn put(
        &mut self,
        envelope: &'static Envelope,
        bytes: &[u8],
        offload: Offload,
        seen: Seen,
        direction: Direction,
        flow: u32,
    ) {
        let Some(slot) = self.slots.get_mut(envelope.number() as usize) else {
            self.slots.push(Slot { envelope, bytes: bytes.to_vec(), offload, seen, direction, flow });
            return;
        };
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        (slot.offload, slot.seen, slot.direction, slot.flow) = (offload, seen, direction, flow);
    }

    /// Returns the slot of an envelope.
    pub(crate) fn of(&self, envelope: &Envelope) -> &Slot {
        &self.slots[envelope.number() as usize]
    }

    /// Returns the slot of an envelope, as [`of`](Self::of) does.
    pub(crate) fn of_mut(&mut self, envelope: &Envelope) -> &mut Slot {
        &mut self.slots[envelope.number() as usize]
    }

    /// Returns the number of slots.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the packets that are under way now.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.envelope.is_free())
    }
}
