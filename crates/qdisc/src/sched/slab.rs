//! Packets of many queues in one place.
//!
//! A scheduler of a thousand flows would touch a thousand rings, each with a head, a tail and room to spare. Here
//! the packets of all flows share one slab, linked to chains: a flow costs eight bytes, a place that was just left
//! is the next one filled, so the slab stays in the cache, and it grows to its high-water mark and no further.

use alloc::vec::Vec;

/// No packet, no flow: the end of a chain of either.
pub(crate) const NIL: u32 = u32::MAX;

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
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }
}

#[derive(Clone, Debug)]
struct Node<P> {
    packet: Option<P>,
    /// The packet behind it, or the next free place.
    next: u32,
    /// The packet before it; stale in the head, so that taking the head need not touch the packet behind it.
    previous: u32,
}

/// The packets of all chains.
#[derive(Clone, Debug)]
pub(crate) struct Slab<P> {
    nodes: Vec<Node<P>>,
    free: u32,
}

impl<P> Default for Slab<P> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: NIL }
    }
}

impl<P> Slab<P> {
    /// Appends `packet` to `chain`, and shows it where it lies now.
    #[inline]
    pub(crate) fn push(&mut self, chain: &mut Chain, packet: P) -> &P {
        if self.free == NIL {
            self.free = self.nodes.len() as u32;
            self.nodes.push(Node { packet: None, next: NIL, previous: NIL });
        }
        let place = self.free;
        if chain.head == NIL {
            chain.head = place;
        } else {
            self.nodes[chain.tail as usize].next = place;
        }
        let node = &mut self.nodes[place as usize];
        self.free = node.next;
        node.next = NIL;
        node.previous = chain.tail;
        chain.tail = place;
        node.packet.insert(packet)
    }

    /// Takes the oldest packet of `chain`.
    #[inline]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Option<P> {
        let place = chain.head;
        let node = self.nodes.get_mut(place as usize)?; // NIL is never a place
        chain.head = node.next;
        node.next = self.free;
        self.free = place;
        node.packet.take()
    }

    /// The oldest packet of `chain`.
    #[inline]
    pub(crate) fn head(&self, chain: Chain) -> Option<&P> {
        self.nodes.get(chain.head as usize)?.packet.as_ref() // NIL is never a place
    }

    /// As [`Slab::head`].
    pub(crate) fn head_mut(&mut self, chain: Chain) -> Option<&mut P> {
        self.nodes.get_mut(chain.head as usize)?.packet.as_mut() // NIL is never a place
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
        node.next = self.free;
        self.free = place;
        let packet = node.packet.take();
        self.nodes[chain.tail as usize].next = NIL;
        packet
    }

    /// Puts the packets of `more` behind those of `chain`.
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
        /// Several chains in one slab, with both ends in use, are so many queues.
        #[test]
        fn chains_are_queues(ops in proptest::collection::vec((0..4_u8, 0..3_usize, 0..3_usize), 0..400)) {
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
                    _ if at != other => {
                        let more = core::mem::take(&mut chains[other]);
                        slab.append(&mut chains[at], more);
                        let more = core::mem::take(&mut model[other]);
                        model[at].extend(more);
                    }
                    _ => {}
                }
                prop_assert_eq!(chains[at].is_empty(), model[at].is_empty());
            }
            // Every place is either in a chain or free.
            let waiting: usize = model.iter().map(VecDeque::len).sum();
            let mut free = (0, slab.free);
            while free.1 != NIL {
                free = (free.0 + 1, slab.nodes[free.1 as usize].next);
            }
            prop_assert_eq!(free.0 + waiting, slab.nodes.len());
        }
    }
}
