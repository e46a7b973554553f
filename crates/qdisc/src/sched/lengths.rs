//! SFQ's slots, sorted by their length in packets at constant cost.
//!
//! A length changes by one packet at a time. So each length has a list of its slots, and a packet moves its slot to
//! the neighbouring list. The longest slot is then known at once, whatever the number of slots.

use super::slab::{Chain, NIL};
use alloc::vec::Vec;

/// A place for one busy bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) queue: Chain,
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    /// Bytes that the slot may still send in this round.
    pub(crate) allot: i32,
    pub(crate) bucket: u32,
    /// The slot served next. The slots of a round are a ring.
    pub(crate) next: u32,
    /// Neighbours among the slots of the same length.
    newer: u32,
    older: u32,
}

/// The slots by their length in packets. Slots of the same length are ordered by when they reached it.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    /// The newest slot of each length. Length 0 has the free slots.
    newest: Vec<u32>,
    /// The largest length.
    longest: usize,
}

impl Lengths {
    /// Makes `count` free slots, and the lists for lengths up to `depth`. The last slot is the first to be taken.
    pub(crate) fn of(count: usize, depth: usize) -> (Vec<Slot>, Self) {
        let slot = Slot {
            queue: Chain::default(),
            packets: 0,
            bytes: 0,
            allot: 0,
            bucket: 0,
            next: NIL,
            newer: NIL,
            older: NIL,
        };
        let mut slots = alloc::vec![slot; count];
        let mut lengths = Self { newest: alloc::vec![NIL; depth + 1], longest: 0 };
        for free in 0..count as u32 {
            lengths.add(&mut slots, free);
        }
        (slots, lengths)
    }

    /// Returns the largest length of a slot.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the slot that reached `length` last, or [`NIL`].
    pub(crate) fn newest(&self, length: usize) -> u32 {
        self.newest[length]
    }

    /// Moves `slot` to the list of its present length. The length before was `from`, one more or less.
    pub(crate) fn moved(&mut self, slots: &mut [Slot], slot: u32, from: u32) {
        let Slot { newer, older, packets, .. } = slots[slot as usize];
        if newer == NIL {
            self.newest[from as usize] = older;
        } else {
            slots[newer as usize].older = older;
        }
        if older != NIL {
            slots[older as usize].newer = newer;
        }
        let length = packets as usize;
        if self.longest < length || (self.longest == from as usize && self.newest[self.longest] == NIL) {
            self.longest = length;
        }
        self.add(slots, slot);
    }

    /// Adds `slot`, which is in no list, as the newest of its length.
    fn add(&mut self, slots: &mut [Slot], slot: u32) {
        let newest = &mut self.newest[slots[slot as usize].packets as usize];
        if *newest != NIL {
            slots[*newest as usize].newer = slot;
        }
        (slots[slot as usize].newer, slots[slot as usize].older) = (NIL, *newest);
        *newest = slot;
    }
}
