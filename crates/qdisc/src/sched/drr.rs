//! The flow queues that FQ-CoDel and similar disciplines share: a hash table of buckets and the DRR++ scheduler of
//! RFC 8290.
//!
//! They are generic over `S`, the state of the law that rules each flow. The discipline applies the law: it asks
//! [`Drr::next_flow`] for the flow whose turn it is, lends the law that flow's queue ([`Drr::split`]), and reports
//! the result with [`Drr::charge`] or [`Drr::retire`].
//!
//! Source: RFC 8290, 4.1 and 4.2. Linux differs in one point: a new flow that turns out empty goes to the end of the
//! old list only if there are old flows. Otherwise it is forgotten at once.

use super::fattest::Fattest;
use super::slab::{Chain, NIL, Slab};
use crate::kept::Look;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use alloc::vec::Vec;
use goodqueue_units::processor::prefetch;

/// Mark of a flow that is in neither list. [`NIL`] marks the end of a list.
const UNLISTED: u32 = u32::MAX - 1;

/// One bucket. All flows that hash to it share it.
// For the processor: one cache line per flow, so that a flow costs one cache miss.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Flow<S> {
    /// The law's state. It outlives the flow's packets, as in Linux.
    pub(crate) law: S,
    /// Bytes that the flow may still send in this round.
    pub(crate) deficit: i32,
    queue: Chain,
    /// Waiting bytes.
    pub(crate) bytes: u64,
    /// The next flow in the list.
    next: u32,
}

/// A list of flows, served from the head.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    /// Meaningless while the list is empty.
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NIL, tail: NIL };

    #[inline]
    fn push<S>(&mut self, flows: &mut [Flow<S>], index: u32) {
        flows[index as usize].next = NIL;
        if self.head == NIL {
            self.head = index;
        } else {
            flows[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    /// Takes the head off a list that is not empty.
    #[inline]
    fn shift<S>(&mut self, flows: &mut [Flow<S>]) {
        let flow = &mut flows[self.head as usize];
        self.head = flow.next;
        flow.next = UNLISTED;
    }
}

/// The packets, bytes and memory that wait in all flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Packets and bytes.
    pub(crate) backlog: Backlog,
    /// Bytes of memory, see [`Packet::memory`].
    pub(crate) memory: u64,
    /// Whether packets of this host's own sockets count no memory: their sockets count them.
    spares_own: bool,
}

impl Totals {
    /// Returns the memory that `packet` of `len` bytes counts.
    #[inline]
    pub(crate) fn weight<P: Packet>(&self, packet: &P, len: u32) -> u64 {
        if self.spares_own && packet.is_charged() { 0 } else { packet.memory(len) }
    }

    /// Adds a packet of `len` bytes, which begins to wait. The caller has asked the packet for its length, which is a
    /// sum over its parts.
    #[inline]
    fn add<P: Packet>(&mut self, packet: &P, len: u32) {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
        self.memory += self.weight(packet, len);
    }

    /// Subtracts a packet of `len` bytes, which leaves.
    #[inline]
    fn remove<P: Packet>(&mut self, packet: &P, len: u32) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        self.memory -= self.weight(packet, len);
    }
}

/// Flow queues in buckets, served in rounds.
#[derive(Clone, Debug)]
pub(crate) struct Drr<P, S> {
    flows: Vec<Flow<S>>,
    packets: Slab<P>,
    /// Flows that began to wait since their last round. They go first (RFC 8290, 4.2).
    new: List,
    old: List,
    quantum: i32,
    totals: Totals,
    /// The packet that was taken out for a shaper.
    kept: Option<P>,
    fattest: Fattest,
    /// Length of the last packet that was pulled from a flow.
    pulled: u32,
    /// Number of times that a flow became new.
    new_flow_count: u64,
}

/// One flow's queue, which a law is lent.
pub(crate) struct FlowQueue<'a, P> {
    queue: &'a mut Chain,
    bytes: &'a mut u64,
    packets: &'a mut Slab<P>,
    totals: &'a mut Totals,
    pulled: &'a mut u32,
}

impl<P: Packet> FlowQueue<'_, P> {
    /// Returns the flow's oldest packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<&P> {
        self.packets.head(*self.queue)
    }

    /// Takes the flow's oldest packet.
    #[inline]
    pub(crate) fn pull(&mut self) -> Option<P> {
        let head = self.packets.head(*self.queue)?;
        let len = head.len();
        *self.pulled = len;
        *self.bytes -= u64::from(len);
        self.totals.remove(head, len);
        self.packets.pop(self.queue)
    }

    /// Returns the packets, bytes and memory that wait in all flows.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        *self.totals
    }

    /// Returns the bytes that wait in this flow.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        *self.bytes
    }
}

impl<P: Packet, S: Clone> Drr<P, S> {
    /// Builds `flows` buckets with rounds of `quantum` bytes. Both are at least one.
    pub(crate) fn new(flows: u32, quantum: u32) -> Self
    where
        S: Default,
    {
        Self::with(flows, quantum, S::default())
    }

    /// Builds as [`Drr::new`] does. Each flow's law begins as `law`.
    pub(crate) fn with(flows: u32, quantum: u32, law: S) -> Self {
        let flow = Flow { law, deficit: 0, queue: Chain::default(), bytes: 0, next: UNLISTED };
        Self {
            flows: alloc::vec![flow; flows as usize],
            packets: Slab::default(),
            new: List::EMPTY,
            old: List::EMPTY,
            quantum: quantum as i32,
            totals: Totals::default(),
            kept: None,
            fattest: Fattest::new(flows as usize),
            pulled: 0,
            new_flow_count: 0,
        }
    }

    /// Makes packets of this host's own sockets count no memory. Call it before the first packet.
    pub(crate) fn sparing_own(mut self, spares_own: bool) -> Self {
        self.totals.spares_own = spares_own;
        self
    }

    /// Shows a shaper the packet that leaves next, as [`Discipline::look`](crate::Discipline::look) does. Linux counts
    /// a packet that is kept in no flow and in no memory.
    pub(crate) fn look(&mut self) -> Look<'_, P> {
        Look::Beside(&mut self.kept, &mut self.totals.backlog)
    }

    /// Sets the bytes per round. A flow's rest of its present round stays.
    pub(crate) fn set_quantum(&mut self, quantum: u32) {
        self.quantum = quantum as i32;
    }

    /// Returns the number of buckets.
    #[cfg(feature = "complete")]
    pub(crate) fn count(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Returns the bucket of a flow hash: the hash scaled to the number of buckets, as Linux does it without a
    /// division.
    #[inline]
    pub(crate) fn bucket(&self, hash: u32) -> u32 {
        ((u64::from(hash) * self.flows.len() as u64) >> 32) as u32
    }

    /// Prefetches the bucket of a flow hash into the processor's cache, and the state that comes after the present
    /// turn: the next flow's packet, and the flow behind that one.
    pub(crate) fn prefetch(&self, hash: u32) {
        prefetch(&self.flows[self.bucket(hash) as usize]);
        let list = if self.new.head == NIL { &self.old } else { &self.new };
        let behind = |number: u32| self.flows.get(self.flows.get(number as usize)?.next as usize);
        if let Some(next) = behind(list.head) {
            self.packets.prefetch(next.queue);
            if let Some(flow) = self.flows.get(next.next as usize) {
                prefetch(flow);
            }
        }
    }

    /// Appends the packet of `make` to the queue of `bucket`. A flow that is in no list becomes new.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `FqCodel::put`
    pub(crate) fn push(&mut self, bucket: u32, make: impl FnOnce() -> P) {
        let flow = &mut self.flows[bucket as usize];
        let packet = self.packets.push_with(&mut flow.queue, make);
        let len = packet.len();
        flow.bytes += u64::from(len);
        self.totals.add(packet, len);
        self.fattest.update(bucket, flow.bytes);
        if flow.next == UNLISTED {
            flow.deficit = self.quantum;
            self.new_flow_count += 1;
            self.new.push(&mut self.flows, bucket);
        }
    }

    /// Lets a packet of `len` bytes pass that nothing precedes. Its flow becomes new, and has no packet. Returns the
    /// state of the flow's law. Returns `None` and does nothing if a flow is listed: its turn might be first.
    #[inline]
    pub(crate) fn pass(&mut self, bucket: u32, len: u32) -> Option<&mut S> {
        if self.new.head != NIL || self.old.head != NIL {
            return None;
        }
        self.new_flow_count += 1;
        self.new.push(&mut self.flows, bucket);
        let flow = &mut self.flows[bucket as usize];
        flow.deficit = self.quantum.saturating_sub_unsigned(len);
        Some(&mut flow.law)
    }

    /// Returns the flow whose turn it is. The flow may be empty.
    #[inline]
    pub(crate) fn next_flow(&mut self) -> Option<u32> {
        let mut first_in_debt = NIL;
        loop {
            let list = if self.new.head == NIL { &mut self.old } else { &mut self.new };
            let bucket = list.head;
            let flow = self.flows.get_mut(bucket as usize)?; // NIL is never a bucket
            if flow.deficit > 0 {
                return Some(bucket);
            }
            flow.deficit += self.quantum;
            let in_debt = flow.deficit <= 0;
            list.shift(&mut self.flows);
            self.old.push(&mut self.flows, bucket);
            if in_debt && first_in_debt == NIL {
                first_in_debt = bucket;
            } else if in_debt && first_in_debt == bucket {
                self.skip_rounds(); // there are only old flows at this point
            }
        }
    }

    /// Gives all old flows the whole rounds in which none of them may send, so that a small quantum does not cost one
    /// turn for each of its bytes. Does nothing if a flow may send already: its turn is in this round.
    #[cold]
    fn skip_rounds(&mut self) {
        let rounds = self.old_flows().map(|(_, flow)| -flow.deficit.min(0) / self.quantum).min().unwrap_or(0);
        let mut at = self.old.head;
        while let Some(flow) = self.flows.get_mut(at as usize) {
            flow.deficit += rounds * self.quantum;
            at = flow.next;
        }
    }

    /// Returns the state of a flow's law, and the flow's queue. If packets are pulled from the queue,
    /// [`Drr::charge`], [`Drr::retire`] or [`Drr::settle`] must follow.
    #[inline]
    pub(crate) fn split(&mut self, bucket: u32) -> (&mut S, FlowQueue<'_, P>) {
        let flow = &mut self.flows[bucket as usize];
        let queue = FlowQueue {
            queue: &mut flow.queue,
            bytes: &mut flow.bytes,
            packets: &mut self.packets,
            totals: &mut self.totals,
            pulled: &mut self.pulled,
        };
        (&mut flow.law, queue)
    }

    /// Returns the state of a flow's law, and the flow's oldest packet.
    #[inline]
    pub(crate) fn law_and_head(&mut self, bucket: u32) -> (&mut S, Option<&P>) {
        let flow = &mut self.flows[bucket as usize];
        (&mut flow.law, self.packets.head(flow.queue))
    }

    /// Returns the oldest packet of `bucket`.
    #[inline]
    pub(crate) fn head(&self, bucket: u32) -> Option<&P> {
        self.packets.head(self.flows[bucket as usize].queue)
    }

    /// Sends the oldest packet, which has `len` bytes, of the flow whose turn it is. Does nothing if `bucket` is
    /// [`NIL`].
    #[inline]
    pub(crate) fn send(&mut self, bucket: u32, len: u32) -> Option<P> {
        let (packets, queue) = self.leave(bucket, len)?;
        packets.pop(queue)
    }

    /// Does the same with a packet that somebody has copied, which is dropped in place.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `retire`
    pub(crate) fn sent(&mut self, bucket: u32, len: u32) {
        if let Some((packets, queue)) = self.leave(bucket, len) {
            packets.drop_head(queue);
        }
    }

    /// Counts that the oldest packet of `bucket`, which has `len` bytes, leaves. Returns where it is.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `retire`
    fn leave(&mut self, bucket: u32, len: u32) -> Option<(&mut Slab<P>, &mut Chain)> {
        let flow = self.flows.get_mut(bucket as usize)?;
        flow.deficit = flow.deficit.saturating_sub_unsigned(len);
        flow.bytes -= u64::from(len);
        self.totals.remove(self.packets.head(flow.queue)?, len);
        self.fattest.update(bucket, flow.bytes);
        Some((&mut self.packets, &mut flow.queue))
    }

    /// Notes that the flow whose turn it was sends the last packet that was pulled from it.
    #[inline]
    pub(crate) fn charge(&mut self, bucket: u32) {
        let flow = &mut self.flows[bucket as usize];
        flow.deficit = flow.deficit.saturating_sub_unsigned(self.pulled);
        self.settle(bucket);
    }

    /// Notes that the flow whose turn it was had no packet to send.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // sparse flows retire behind each packet
    pub(crate) fn retire(&mut self, bucket: u32) {
        self.settle(bucket);
        if self.new.head == bucket {
            self.new.shift(&mut self.flows);
            // The flow first waits one round of the old flows, so that a trickle of new packets cannot starve them.
            if self.old.head != NIL {
                self.old.push(&mut self.flows, bucket);
            }
        } else {
            self.old.shift(&mut self.flows);
        }
    }

    /// Notes that packets were pulled from a flow.
    #[inline]
    pub(crate) fn settle(&mut self, bucket: u32) {
        self.fattest.update(bucket, self.flows[bucket as usize].bytes);
    }

    /// Returns the flow with the most bytes (of several, the lowest bucket), and its bytes.
    pub(crate) fn fattest(&mut self) -> (u32, u64) {
        let bucket = self.fattest.find(self.flows.iter().map(|flow| flow.bytes));
        (bucket, self.flows[bucket as usize].bytes)
    }

    /// Returns the packets, bytes and memory that wait in all flows.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns all flows, in the order of their buckets.
    pub(crate) fn flows(&self) -> &[Flow<S>] {
        &self.flows
    }

    /// Returns how often a flow became new.
    pub(crate) fn new_flow_count(&self) -> u64 {
        self.new_flow_count
    }

    /// Returns the new flows, in the order in which they will be served.
    pub(crate) fn new_flows(&self) -> impl Iterator<Item = (u32, &Flow<S>)> {
        self.list(self.new)
    }

    /// Returns the old flows, in the order in which they will be served.
    pub(crate) fn old_flows(&self) -> impl Iterator<Item = (u32, &Flow<S>)> {
        self.list(self.old)
    }

    fn list(&self, list: List) -> impl Iterator<Item = (u32, &Flow<S>)> {
        let mut at = list.head;
        core::iter::from_fn(move || {
            let index = at;
            let flow = self.flows.get(index as usize)?;
            at = flow.next;
            Some((index, flow))
        })
    }
}

#[cfg(test)]
mod tests;
