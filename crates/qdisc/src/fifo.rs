//! The ring that packets wait in.

use crate::packet::Packet;
use crate::qdisc::{Backlog, Head};
use crate::signal::{Drop, Owner};
use alloc::collections::VecDeque;

/// First in, first out, with its bytes counted. Grows to its high-water mark and then allocates no more.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    packets: VecDeque<P>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> Fifo<P> {
    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets and bytes that wait.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// The packet that would leave next.
    #[must_use]
    pub fn head(&self) -> Option<&P> {
        self.packets.front()
    }

    /// As [`Fifo::head`], for a discipline that takes from the head alone.
    pub(crate) fn look(&self) -> Head {
        self.head().map_or(Head::Nothing, |packet| Head::Length(packet.len()))
    }

    /// Appends at the tail.
    // Here and below a packet's length is asked for where it lies: looked at on its way, a packet is moved in pieces, and
    // a processor that reads the whole of what was just written in pieces waits for it.
    #[inline]
    pub fn push(&mut self, packet: P) {
        self.packets.push_back(packet);
        self.bytes += self.packets.back().map_or(0, |packet| packet.len().into());
    }

    /// Takes from the head.
    #[inline]
    pub fn pop(&mut self) -> Option<P> {
        self.bytes -= u64::from(self.packets.front()?.len());
        self.packets.pop_front()
    }

    /// Drops from the head what exceeds `limit`, which has become smaller.
    pub(crate) fn trim<O: Owner<P>>(&mut self, limit: Backlog, owner: &mut O) {
        while self.backlog().exceeds(limit)
            && let Some(oldest) = self.pop()
        {
            owner.dropped(oldest, Drop::Overlimit);
        }
    }

    /// Takes from the tail (SFQ drops the newest packet of the fullest flow).
    pub fn pop_tail(&mut self) -> Option<P> {
        self.bytes -= u64::from(self.packets.back()?.len());
        self.packets.pop_back()
    }
}
