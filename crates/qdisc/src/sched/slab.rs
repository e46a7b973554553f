//! The packets of many queues in one slab.
//!
//! A scheduler of a thousand flows would touch a thousand rings, each with a head, a tail and spare room. Here the
//! packets of all flows share one slab and are linked to chains. A flow costs eight bytes. A place that was just left
//! is the next one filled, so the slab stays in the cache. It grows to its high-water mark and no further.

use alloc::vec::Vec;
use goodqueue_units::processor::{prefetch, select};

/// No packet or no flow: the end of a chain.
pub(crate) const NIL: u32 = u32::MAX;

/// An empty slab keeps at most this number of places: 3 kB of the simulator's packets.
const KEPT: usize = 32;

/// A first-in-first-out chain of packets in a [`Slab`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    /// Meaningless while the chain is empty.
    tail: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { head: NIL, tail: NIL }
    }
}

impl Chain {
    /// Returns the chain whose only packet is at `place`.
    pub(crate) fn of(place: u32) -> Self {
        Self { head: place, tail: place }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }
}

#[derive(Clone, Debug)]
struct Node<P> {
    packet: Option<P>,
    /// The next packet of the chain, or the next free place.
    next: u32,
    /// The packet before it. Stale in the head, so that taking the head need not touch the packet behind it.
    previous: u32,
}

/// The packets of all chains.
#[derive(Clone, Debug)]
pub(crate) struct Slab<P> {
    nodes: Vec<Node<P>>,
    /// The free place that was left last. Its `next` is the one that was left before it.
    free: u32,
}

impl<P> Default for Slab<P> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: NIL }
    }
}

impl<P> Slab<P> {
    /// Appends `packet` to `chain`, and returns it where it now lies.
    #[inline]
    pub(crate) fn push(&mut self, chain: &mut Chain, packet: P) -> &P {
        self.push_with(chain, || packet)
    }

    /// Appends the packet of `make` to `chain`, and returns it where it now lies. Nothing is done between its making
    /// and its storing, so it need not be stored before.
    #[inline]
    pub(crate) fn push_with(&mut self, chain: &mut Chain, make: impl FnOnce() -> P) -> &P {
        if self.free == NIL {
            self.grow();
        }
        let place = self.free;
        self.free = self.nodes[place as usize].next;
        // Branchless on purpose: branch prediction cannot know whether a queue is empty. The first packet of a chain
        // is linked to itself until the next lines set its `next`.
        let is_first = chain.head == NIL;
        chain.head = select(is_first, place, chain.head);
        let before = select(is_first, place, chain.tail);
        self.nodes[before as usize].next = place;
        let node = &mut self.nodes[place as usize];
        node.next = NIL;
        node.previous = chain.tail;
        chain.tail = place;
        node.packet.insert(make())
    }

    /// Adds a free place, when there is none.
    #[cold]
    fn grow(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { packet: None, next: NIL, previous: NIL });
    }

    /// Takes the oldest packet of `chain`.
    #[inline]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Option<P> {
        self.leave(chain)?.take()
    }

    /// Drops the oldest packet of `chain` in place.
    #[inline]
    pub(crate) fn drop_head(&mut self, chain: &mut Chain) {
        if let Some(packet) = self.leave(chain) {
            *packet = None;
        }
    }

    /// Frees the place of the oldest packet of `chain`, and returns what is there.
    #[inline]
    fn leave(&mut self, chain: &mut Chain) -> Option<&mut Option<P>> {
        let place = chain.head;
        let node = self.nodes.get_mut(place as usize)?; // NIL is never a place
        chain.head = core::mem::replace(&mut node.next, self.free);
        self.free = place;
        Some(&mut node.packet)
    }

    /// Gives the memory of many places back. No packet is in the slab. Ten thousand subscribers have bursts in turn,
    /// and need not have the memory for all of them at once.
    #[inline]
    pub(crate) fn empty(&mut self) {
        if self.nodes.len() > KEPT {
            *self = Self::default();
        }
    }

    /// Prefetches the oldest packet of `chain` into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, chain: Chain) {
        if let Some(node) = self.nodes.get(chain.head as usize) {
            prefetch(node);
        }
    }

    /// Prefetches the place of the next packet that comes.
    #[cfg(feature = "complete")]
    pub(crate) fn prefetch_free(&self) {
        if let Some(node) = self.nodes.get(self.free as usize) {
            prefetch(node);
        }
    }

    /// Returns the oldest packet of `chain`.
    #[inline]
    pub(crate) fn head(&self, chain: Chain) -> Option<&P> {
        self.nodes.get(chain.head as usize)?.packet.as_ref() // NIL is never a place
    }

    /// Returns the oldest packet of `chain`, mutably.
    pub(crate) fn head_mut(&mut self, chain: Chain) -> Option<&mut P> {
        self.nodes.get_mut(chain.head as usize)?.packet.as_mut() // NIL is never a place
    }

    /// Returns the newest packet of `chain`, with its place.
    pub(crate) fn newest(&self, chain: Chain) -> Option<(u32, &P)> {
        let last = if chain.is_empty() { NIL } else { chain.tail };
        Some((last, self.nodes.get(last as usize)?.packet.as_ref()?))
    }

    /// Takes the newest packet of `chain`.
    pub(crate) fn pop_tail(&mut self, chain: &mut Chain) -> Option<P> {
        if chain.head == chain.tail {
            return self.pop(chain);
        }
        if chain.head == NIL {
            return None;
        }
        let place = chain.tail;
        let node = &mut self.nodes[place as usize];
        chain.tail = node.previous;
        node.next = core::mem::replace(&mut self.free, place);
        let packet = node.packet.take();
        self.nodes[chain.tail as usize].next = NIL;
        packet
    }

    /// Returns the packets of `chain` from its head, each with its place, which [`Slab::take`] takes.
    pub(crate) fn iter(&self, chain: Chain) -> impl Iterator<Item = (u32, &P)> {
        let mut place = chain.head;
        core::iter::from_fn(move || {
            let (here, node) = (place, self.nodes.get(place as usize)?); // NIL is never a place
            place = node.next;
            Some((here, node.packet.as_ref()?))
        })
    }

    /// Takes the packet at `place`, which must belong to `chain`.
    pub(crate) fn take(&mut self, chain: &mut Chain, place: u32) -> Option<P> {
        if place == chain.head {
            return self.pop(chain);
        }
        if place == chain.tail {
            return self.pop_tail(chain);
        }
        let node = self.nodes.get_mut(place as usize)?;
        let (next, previous) = (node.next, node.previous);
        node.next = core::mem::replace(&mut self.free, place);
        let packet = node.packet.take();
        self.nodes[previous as usize].next = next;
        self.nodes[next as usize].previous = previous;
        packet
    }

    /// Appends the packets of `more` to `chain`.
    pub(crate) fn append(&mut self, chain: &mut Chain, more: Chain) {
        if more.is_empty() {
            return;
        }
        if chain.is_empty() {
            *chain = more;
            return;
        }
        self.nodes[chain.tail as usize].next = more.head;
        self.nodes[more.head as usize].previous = chain.tail;
        chain.tail = more.tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Several chains in one slab must behave as independent queues, with both ends in use.
        #[test]
        fn chains_are_queues(ops in proptest::collection::vec((0..5_u8, 0..3_usize, 0..3_usize), 0..400)) {
            let mut slab = Slab::default();
            let mut chains = [Chain::default(); 3];
            let mut model: [VecDeque<usize>; 3] = Default::default();
            for (number, (op, at, other)) in ops.into_iter().enumerate() {
                match op {
                    0 => {
                        slab.push(&mut chains[at], number);
                        model[at].push_back(number);
                    }
                    1 => prop_assert_eq!(slab.pop(&mut chains[at]), model[at].pop_front()),
                    2 => prop_assert_eq!(slab.pop_tail(&mut chains[at]), model[at].pop_back()),
                    3 => {
                        // The packet in the middle, or near it.
                        let places: Vec<u32> = slab.iter(chains[at]).map(|(place, _)| place).collect();
                        let middle = (places.len() + other) / 2;
                        let taken = places.get(middle).and_then(|place| slab.take(&mut chains[at], *place));
                        prop_assert_eq!(taken, model[at].remove(middle));
                    }
                    _ if at != other => {
                        let more = core::mem::take(&mut chains[other]);
                        slab.append(&mut chains[at], more);
                        let more = core::mem::take(&mut model[other]);
                        model[at].extend(more);
                    }
                    _ => {}
                }
                prop_assert_eq!(chains[at].is_empty(), model[at].is_empty());
                prop_assert_eq!(slab.newest(chains[at]).map(|(_, packet)| packet), model[at].back());
                prop_assert!(slab.iter(chains[at]).map(|(_, packet)| packet).eq(&model[at]));
            }
            // Every place is either in a chain or free.
            let waiting: usize = model.iter().map(VecDeque::len).sum();
            let next = |place: &u32| slab.nodes.get(*place as usize).map(|node| node.next);
            let free = core::iter::successors(Some(slab.free), next);
            let free = free.take_while(|place| *place != NIL).count();
            prop_assert_eq!(free + waiting, slab.nodes.len());
        }
    }
}
