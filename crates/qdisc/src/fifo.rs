//! The ring in which packets wait.

use crate::kept::Look;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use alloc::collections::VecDeque;

/// A first-in-first-out queue with a count of its bytes. The ring grows to its high-water mark and then allocates no
/// more.
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
    /// Returns the number of waiting packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether no packet waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the number of waiting bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of waiting packets and bytes.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// Returns the packet that would leave next.
    #[must_use]
    pub fn head(&self) -> Option<&P> {
        self.packets.front()
    }

    /// Shows [`Fifo::head`] to a shaper, for a discipline that takes only from the head.
    pub(crate) fn look(&self) -> Look<'_, P> {
        Look::Shown(self.head().map(P::len))
    }

    /// Appends `packet` at the tail.
    // For the processor's store forwarding: here and below, the length is read where the packet lies in the ring. A
    // packet that is read before it is moved is copied in pieces. A load of the whole packet then has to wait for
    // these stores.
    #[inline]
    pub fn push(&mut self, packet: P) {
        self.packets.push_back(packet);
        self.bytes += self.packets.back().map_or(0, |packet| packet.len().into());
    }

    /// Puts `packet`, which was taken from the head, back there.
    pub(crate) fn put_back(&mut self, packet: P) {
        self.bytes += u64::from(packet.len());
        self.packets.push_front(packet);
    }

    /// Removes the packet at the head. `send` sees it where it lies, with its length.
    #[inline]
    pub fn pop_to<R>(&mut self, send: impl FnOnce(&P, u32) -> R) -> Option<R> {
        let head = self.packets.front()?;
        let len = head.len();
        let sent = send(head, len);
        self.drop_head(len);
        Some(sent)
    }

    /// Removes the packet at the head, which has `len` bytes.
    #[inline]
    pub(crate) fn drop_head(&mut self, len: u32) {
        self.bytes -= u64::from(len);
        self.packets.pop_front();
    }

    /// Takes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Option<P> {
        self.bytes -= u64::from(self.packets.front()?.len());
        self.packets.pop_front()
    }

    /// Takes the packet at the tail (SFQ drops the newest packet of the fullest flow).
    pub fn pop_tail(&mut self) -> Option<P> {
        self.bytes -= u64::from(self.packets.back()?.len());
        self.packets.pop_back()
    }
}
