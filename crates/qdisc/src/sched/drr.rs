//! The flow queues that FQ-CoDel and its kin share: a hash table of buckets and the DRR++ scheduler of RFC 8290.
//!
//! Generic over `S`, the state of the law that rules each flow. The law itself is applied by the discipline: it
//! asks [`Drr::next_flow`] whose turn it is, lends the law that flow's queue ([`Drr::split`]), and reports what came of
//! it, [`Drr::charge`] or [`Drr::retire`].
//!
//! Source: RFC 8290, 4.1 and 4.2. Linux differs in one point: a new flow that turns out empty goes to the end of the
//! old list only if there are old flows, else it is forgotten at once.

use super::fattest::Fattest;
use super::slab::{Chain, NIL, Slab};
use crate::packet::Packet;
use crate::qdisc::Backlog;
use alloc::vec::Vec;
use goodqueue_units::processor::prefetch;

/// A flow that is in neither list; unlike [`NIL`], which ends one.
const UNLISTED: u32 = u32::MAX - 1;

/// One bucket: all flows that hash to it, as one.
// A cache line each, so that what is needed of a flow comes with one miss.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Flow<S> {
    /// The law's state; it outlives the flow's packets, as in Linux.
    pub(crate) law: S,
    /// Bytes that it may still send in this round.
    pub(crate) deficit: i32,
    queue: Chain,
    /// Bytes that wait.
    pub(crate) bytes: u64,
    /// The flow behind it in its list.
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

    /// Takes the head off a list that has one.
    #[inline]
    fn shift<S>(&mut self, flows: &mut [Flow<S>]) {
        let flow = &mut flows[self.head as usize];
        self.head = flow.next;
        flow.next = UNLISTED;
    }
}

/// What waits in all flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Packets and bytes.
    pub(crate) backlog: Backlog,
    /// Bytes of memory, see [`memory_of`].
    pub(crate) memory: u64,
}

impl Totals {
    /// A packet of `len` bytes leaves.
    #[inline]
    fn remove(&mut self, len: u32) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        self.memory -= memory_of(len);
    }
}

/// Memory that Linux books for a packet in the golden traces: 256 for the descriptor, and a buffer of a power of two
/// that holds the packet and its 384 bytes of margins.
#[inline]
pub(crate) fn memory_of(len: u32) -> u64 {
    256 + (u64::from(len) + 384).next_power_of_two()
}

/// Flow queues in buckets, in rounds.
#[derive(Clone, Debug)]
pub(crate) struct Drr<P, S> {
    flows: Vec<Flow<S>>,
    packets: Slab<P>,
    /// Flows that began to wait since their last round; they go first (RFC 8290, 4.2).
    new: List,
    old: List,
    quantum: i32,
    totals: Totals,
    fattest: Fattest,
    /// Length of the last packet that was pulled from a flow.
    pulled: u32,
    /// How often a flow became new.
    new_flow_count: u64,
}

/// One flow's queue, lent to a law.
pub(crate) struct FlowQueue<'a, P> {
    queue: &'a mut Chain,
    bytes: &'a mut u64,
    packets: &'a mut Slab<P>,
    totals: &'a mut Totals,
    pulled: &'a mut u32,
}

impl<P: Packet> FlowQueue<'_, P> {
    /// The flow's oldest packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<&P> {
        self.packets.head(*self.queue)
    }

    /// Takes the flow's oldest packet.
    #[inline]
    pub(crate) fn pull(&mut self) -> Option<P> {
        let len = self.head()?.len();
        *self.pulled = len;
        *self.bytes -= u64::from(len);
        self.totals.remove(len);
        self.packets.pop(self.queue)
    }

    /// What waits in all flows.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        *self.totals
    }

    /// Bytes that wait in this flow.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        *self.bytes
    }
}

impl<P: Packet, S: Clone> Drr<P, S> {
    /// `flows` buckets (at least one), a round of `quantum` bytes (at least one).
    pub(crate) fn new(flows: u32, quantum: u32) -> Self
    where
        S: Default,
    {
        Self::with(flows, quantum, S::default())
    }

    /// As [`Drr::new`]; each flow's law begins as `law`.
    pub(crate) fn with(flows: u32, quantum: u32, law: S) -> Self {
        let flow = Flow { law, deficit: 0, queue: Chain::default(), bytes: 0, next: UNLISTED };
        Self {
            flows: alloc::vec![flow; flows as usize],
            packets: Slab::default(),
            new: List::EMPTY,
            old: List::EMPTY,
            quantum: quantum as i32,
            totals: Totals::default(),
            fattest: Fattest::new(flows as usize),
            pulled: 0,
            new_flow_count: 0,
        }
    }

    /// Rounds are of so many bytes from now on; what a flow may send of its present one stays.
    pub(crate) fn set_quantum(&mut self, quantum: u32) {
        self.quantum = quantum as i32;
    }

    /// The bucket of a flow hash: the hash scaled to their number, as Linux does it without a division.
    #[inline]
    pub(crate) fn bucket(&self, hash: u32) -> u32 {
        ((u64::from(hash) * self.flows.len() as u64) >> 32) as u32
    }

    /// Asks the processor for the bucket of a flow hash, and for what comes after the flow whose turn it is: the next one's
    /// packet, and the flow behind.
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

    /// Appends `packet` to the queue of `bucket`; a flow that waits in no list becomes new.
    #[inline]
    pub(crate) fn push(&mut self, bucket: u32, packet: P) {
        let flow = &mut self.flows[bucket as usize];
        let len = self.packets.push(&mut flow.queue, packet).len();
        flow.bytes += u64::from(len);
        self.totals.backlog.packets += 1;
        self.totals.backlog.bytes += u64::from(len);
        self.totals.memory += memory_of(len);
        self.fattest.update(bucket, flow.bytes);
        if flow.next == UNLISTED {
            flow.deficit = self.quantum;
            self.new_flow_count += 1;
            self.new.push(&mut self.flows, bucket);
        }
    }

    /// The flow whose turn it is; it may turn out to be empty.
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
                self.skip_rounds(); // by now there are only old flows
            }
        }
    }

    /// Gives all old flows the whole rounds in which none of them may send, so that a small quantum does not cost a turn
    /// for each of its bytes. No rounds where one may send already: its turn is in this round.
    #[cold]
    fn skip_rounds(&mut self) {
        let rounds = self.old_flows().map(|(_, flow)| -flow.deficit.min(0) / self.quantum).min().unwrap_or(0);
        let mut at = self.old.head;
        while let Some(flow) = self.flows.get_mut(at as usize) {
            flow.deficit += rounds * self.quantum;
            at = flow.next;
        }
    }

    /// The law's state of a flow, and its queue. Where packets are pulled from it, [`Drr::charge`],
    /// [`Drr::retire`] or [`Drr::settle`] must follow.
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

    /// The flow whose turn it is sends its oldest packet, which has `len` bytes.
    #[inline]
    pub(crate) fn send(&mut self, bucket: u32, len: u32) -> Option<P> {
        let flow = &mut self.flows[bucket as usize];
        flow.deficit = flow.deficit.saturating_sub_unsigned(len);
        flow.bytes -= u64::from(len);
        self.totals.remove(len);
        self.fattest.update(bucket, flow.bytes);
        self.packets.pop(&mut flow.queue)
    }

    /// The flow whose turn it was sends the last packet that was pulled from it.
    #[inline]
    pub(crate) fn charge(&mut self, bucket: u32) {
        let flow = &mut self.flows[bucket as usize];
        flow.deficit = flow.deficit.saturating_sub_unsigned(self.pulled);
        self.settle(bucket);
    }

    /// The flow whose turn it was had nothing to send.
    #[inline]
    pub(crate) fn retire(&mut self, bucket: u32) {
        self.settle(bucket);
        if self.new.head == bucket {
            self.new.shift(&mut self.flows);
            // A round through the old flows first, so that a trickle of new packets cannot starve them.
            if self.old.head != NIL {
                self.old.push(&mut self.flows, bucket);
            }
        } else {
            self.old.shift(&mut self.flows);
        }
    }

    /// Packets were pulled from a flow.
    #[inline]
    pub(crate) fn settle(&mut self, bucket: u32) {
        self.fattest.update(bucket, self.flows[bucket as usize].bytes);
    }

    /// The flow that holds most bytes (the lowest bucket of several), and how many.
    pub(crate) fn fattest(&mut self) -> (u32, u64) {
        let bucket = self.fattest.find(self.flows.iter().map(|flow| flow.bytes));
        (bucket, self.flows[bucket as usize].bytes)
    }

    /// What waits in all flows.
    #[inline]
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// All flows, in the order of their buckets.
    pub(crate) fn flows(&self) -> &[Flow<S>] {
        &self.flows
    }

    /// How often a flow became new.
    pub(crate) fn new_flow_count(&self) -> u64 {
        self.new_flow_count
    }

    /// The new flows, in the order in which they will be served.
    pub(crate) fn new_flows(&self) -> impl Iterator<Item = (u32, &Flow<S>)> {
        self.list(self.new)
    }

    /// The old flows, likewise.
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
mod tests {
    use super::*;
    use crate::packet::Plain;
    use proptest::prelude::*;

    /// A turn at a time, as RFC 8290, 4.2, says it.
    fn naive_next_flow(drr: &mut Drr<Plain, ()>) -> Option<u32> {
        loop {
            let list = if drr.new.head == NIL { &mut drr.old } else { &mut drr.new };
            let bucket = list.head;
            let flow = drr.flows.get_mut(bucket as usize)?;
            if flow.deficit > 0 {
                return Some(bucket);
            }
            flow.deficit += drr.quantum;
            list.shift(&mut drr.flows);
            drr.old.push(&mut drr.flows, bucket);
        }
    }

    /// Sends a packet of the flow whose turn it is, or lets it go.
    fn serve(
        drr: &mut Drr<Plain, ()>,
        next_flow: impl Fn(&mut Drr<Plain, ()>) -> Option<u32>,
    ) -> Option<u32> {
        let bucket = next_flow(drr)?;
        if drr.split(bucket).1.pull().is_some() {
            drr.charge(bucket)
        } else {
            drr.retire(bucket)
        }
        Some(bucket)
    }

    proptest! {
        /// Rounds that are skipped must not change whose turn it is, nor what anybody may still send.
        #[test]
        fn skipped_rounds_are_as_if_they_had_passed(
            quantum in prop_oneof![1..4_u32, 1..2000_u32],
            ops in proptest::collection::vec((0..3_u8, 0..5_u32, 1..3000_u32), 0..300),
        ) {
            let (mut ours, mut naive) = (Drr::new(5, quantum), Drr::new(5, quantum));
            for (op, bucket, len) in ops {
                if op == 0 {
                    ours.push(bucket, Plain::new(len));
                    naive.push(bucket, Plain::new(len));
                } else {
                    prop_assert_eq!(serve(&mut ours, Drr::next_flow), serve(&mut naive, naive_next_flow));
                }
                let state = |drr: &Drr<Plain, ()>| {
                    let list = |list| drr.list(list).map(|(bucket, _)| bucket).collect::<Vec<_>>();
                    let deficits = drr.flows.iter().map(|flow| flow.deficit).collect::<Vec<_>>();
                    (list(drr.new), list(drr.old), deficits)
                };
                prop_assert_eq!(state(&ours), state(&naive));
            }
        }
    }
}
