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
    slots: Vec<Slot>,
    /// Where the search for a free slot continues.
    next: usize,
}

/// Slots that are examined before a new one is made. The pool has at most about this many more slots than packets
/// under way.
const LOOKS: usize = 32;

impl Pool {
    /// Puts a packet into a free slot.
    pub(crate) fn put(
        &mut self,
        bytes: &[u8],
        offload: Offload,
        seen: Seen,
        direction: Direction,
        flow: u32,
    ) -> &'static Envelope {
        for _ in 0..LOOKS.min(self.slots.len()) {
            self.next = if self.next + 1 < self.slots.len() { self.next + 1 } else { 0 };
            let slot = &mut self.slots[self.next];
            if slot.envelope.is_free() {
                slot.bytes.clear();
                slot.bytes.extend_from_slice(bytes);
                (slot.offload, slot.seen, slot.direction, slot.flow) = (offload, seen, direction, flow);
                return slot.envelope;
            }
        }
        // Envelopes are never freed: see `Envelope`. The pool has as many as were ever under way at once.
        let envelope: &'static Envelope = Box::leak(Box::new(Envelope::new(self.slots.len() as u32)));
        self.slots.push(Slot { envelope, bytes: bytes.to_vec(), offload, seen, direction, flow });
        envelope
    }

    /// Returns the slot of an envelope.
    pub(crate) fn of(&self, envelope: &Envelope) -> &Slot {
        &self.slots[envelope.number as usize]
    }

    /// Returns the slot of an envelope, as [`of`](Self::of) does.
    pub(crate) fn of_mut(&mut self, envelope: &Envelope) -> &mut Slot {
        &mut self.slots[envelope.number as usize]
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
