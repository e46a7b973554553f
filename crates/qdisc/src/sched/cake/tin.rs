//! One tin: its flows, and the order of their turns.
//!
//! Source: "Piece of CAKE", 2018, "Flow isolation": DRR++ (RFC 8290, 4.2) with a quantum that shrinks with the number
//! of busy flows of the same host. A flow is *sparse* from when it begins to wait until it has used up its quantum,
//! and *bulk* after that. It is *decaying* while it is empty and its COBALT still remembers something. Linux and this
//! implementation differ from FQ-CoDel in these points:
//!
//! - each call first looks at one decaying flow, so that its state goes on decaying, and then at the new flows;
//! - a flow that is empty when its quantum is used up joins the rounds of the bulk flows, but counts as sparse
//!   (*waiting*);
//! - the quantum is divided by the number of flows of the busier one of a flow's two hosts. 16 random bits are added
//!   to the fraction, so that rounding loses nothing on average.

use super::autorate::average;
use super::diffserv::Share;
use super::hash::{Buckets, Isolation};
use super::sparse::{Entry, Sparse};
use crate::aqm::cobalt::Vars;
use crate::sched::slab::Chain;
use alloc::boxed::Box;
use core::ops::{Index, IndexMut};
use goodqueue_units::{Duration, Instant, processor};

/// Number of queues of a tin.
pub(super) const QUEUES: usize = 1024;

/// The set that a flow belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Set {
    /// No set: no packet waits and nothing is remembered.
    #[default]
    None = 0,
    Sparse = 1,
    SparseWait = 2,
    Bulk = 3,
    Decaying = 4,
}

/// One queue, for all flows that are assigned to it at the time.
// For the processor: one cache line per flow, with its tag, its bytes and its place in a list, so that a flow costs one
// cache miss.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Flow {
    pub(super) law: Vars,
    pub(super) queue: Chain,
    /// Bytes that the flow may still send in this round.
    pub(super) deficit: i32,
    pub(super) set: Set,
    /// The number of the queue, from 0 to 1023.
    pub(super) place: u16,
    /// The numbers of its hosts; 0, if the isolation does not count them.
    pub(super) src: u16,
    pub(super) dst: u16,
    /// The hash of the flow that took the queue last.
    pub(super) tag: u32,
    /// Waiting bytes. `memlimit` has 32 bits, and a packet counts more memory than it has bytes.
    pub(super) bytes: u32,
    link: Link,
}

const _: () = processor::fills_lines::<Flow>(1);

impl Entry for Flow {
    /// Returns the flow of the queue `place`, before its first packet.
    fn at(place: u16, position: u16) -> Self {
        Self { place, link: Link::alone(position), ..Self::default() }
    }
}

/// The positions of the neighbours in a list; its own, if it is in none.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    next: u16,
    previous: u16,
}

impl Link {
    const fn alone(position: u16) -> Self {
        Self { next: position, previous: position }
    }
}

/// The list of flows that began to wait. They go first.
const NEW: u16 = QUEUES as u16 + 1;
/// The list of flows in rounds.
const OLD: u16 = NEW + 1;
/// The list of empty flows whose COBALT remembers something.
const DECAYING: u16 = NEW + 2;

/// The ends of three lists of flows. Each list is a ring of neighbours, closed by its entry here. These entries have
/// the positions after those of the flows.
#[derive(Clone, Debug)]
pub(super) struct Lists([Link; 3]);

impl Lists {
    const fn new() -> Self {
        Self([Link::alone(NEW), Link::alone(OLD), Link::alone(DECAYING)])
    }

    /// Returns the first flow of a list.
    #[inline]
    fn head(&self, list: u16) -> Option<u16> {
        let head = self.0[usize::from(list - NEW)].next;
        (head != list).then_some(head)
    }

    /// Returns the neighbours of a flow or of a list's end.
    #[inline]
    fn link<'a>(&'a mut self, flows: &'a mut Sparse<Flow>, position: u16) -> &'a mut Link {
        match self.0.get_mut(usize::from(position.wrapping_sub(NEW))) {
            Some(end) => end,
            None => &mut flows[position].link,
        }
    }

    /// Takes a flow out of its list, if it is in one.
    #[inline]
    fn remove(&mut self, flows: &mut Sparse<Flow>, position: u16) {
        let link = &mut flows[position].link;
        let Link { next, previous } = core::mem::replace(link, Link::alone(position));
        self.link(flows, previous).next = next;
        self.link(flows, next).previous = previous;
    }

    /// Moves a flow to the end of a list.
    #[inline]
    fn move_to(&mut self, flows: &mut Sparse<Flow>, list: u16, position: u16) {
        self.remove(flows, position);
        let last = core::mem::replace(&mut self.link(flows, list).previous, position);
        self.link(flows, last).next = position;
        flows[position].link = Link { next: list, previous: last };
    }
}

/// The number of flows in each set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sparse: u16,
    pub(super) bulk: u16,
    pub(super) decaying: u16,
    /// Flows that BLUE drops from.
    pub(super) unresponsive: u16,
}

/// A tin's counters, for decision traces and people.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) dropped: u64,
    pub(super) marked: u64,
    /// Number of times that a flow had to share a queue.
    pub(super) collisions: u64,
}

/// A tin. What it is set up with is its [`Share`].
// For the processor: what each packet needs comes first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tin {
    /// Not open before the tin's first packet: most tins of ten thousand subscribers have none.
    pub(super) flows: Sparse<Flow>,
    /// Waiting bytes.
    pub(super) bytes: u64,
    pub(super) counts: Counts,
    /// The time at which the tin is due, if there is a shaper.
    pub(super) next: Instant,
    pub(super) lists: Lists,
    pub(super) buckets: Buckets,
    /// Average delay of the packets sent, in ns. Each packet weighs 1/256.
    pub(super) average_delay: u64,
    pub(super) tally: Tally,
}

/// The tins. The first one, of best effort, stands in its CAKE: most packets of ten thousand subscribers need no other,
/// and find it without another look-up. The others may be made later.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tins {
    first: Tin,
    others: Box<[Tin]>,
}

impl Tins {
    /// Returns tins of which only the first one is made.
    pub(super) fn new() -> Self {
        Self { first: Tin::new(), others: Box::default() }
    }

    /// Makes the tins that are not made yet, of `count`.
    pub(super) fn make_others(&mut self, count: usize) {
        if self.others.is_empty() {
            self.others = (1..count).map(|_| Tin::new()).collect();
        }
    }

    /// Returns a tin that is made.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Tin> {
        if number == 0 { Some(&self.first) } else { self.others.get(number - 1) }
    }

    /// Returns the tins that are made.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Tin> {
        core::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl Index<usize> for Tins {
    type Output = Tin;
    #[inline]
    fn index(&self, number: usize) -> &Tin {
        if number == 0 { &self.first } else { &self.others[number - 1] }
    }
}

impl IndexMut<usize> for Tins {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Tin {
        if number == 0 { &mut self.first } else { &mut self.others[number - 1] }
    }
}

impl Tin {
    pub(super) fn new() -> Self {
        Self {
            flows: Sparse::new(),
            lists: Lists::new(),
            buckets: Buckets::new(),
            counts: Counts::default(),
            average_delay: 0,
            tally: Tally::default(),
            bytes: 0,
            next: Instant::ZERO,
        }
    }

    /// Returns whether a flow may have something to send.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.counts.sparse + self.counts.bulk > 0
    }

    /// Returns the position of a packet's queue. `tag` is the hash that distinguishes flows, and `hosts` returns the
    /// hashes of its hosts, for which only the first packets of a flow ask.
    #[inline]
    pub(super) fn classify(
        &mut self,
        isolation: Isolation,
        tag: u32,
        hosts: impl FnOnce() -> (u32, u32),
    ) -> u16 {
        if !self.flows.is_open() {
            self.open(isolation);
        }
        if isolation.is_none() {
            return self.flows.position(0);
        }
        match self.flows.find((tag as usize % QUEUES) as u16) {
            known if self.flows[known].tag == tag && self.flows[known].set != Set::None => known,
            _ => self.search(isolation, tag, hosts()),
        }
    }

    /// Searches the queues of a set, and assigns one if none has the tag.
    fn search(&mut self, isolation: Isolation, tag: u32, hosts: (u32, u32)) -> u16 {
        let (position, is_shared) = self.buckets.search(isolation, &mut self.flows, tag, hosts);
        self.tally.collisions += u64::from(is_shared);
        position
    }

    /// Makes the tables of flows and hosts, for the first packet.
    #[cold]
    fn open(&mut self, isolation: Isolation) {
        self.flows.open();
        self.buckets.open(isolation);
    }

    /// Notes that a packet began to wait in the flow at `index`. `dice` returns 16 random bits.
    #[inline]
    pub(super) fn wake(&mut self, index: u16, share: &Share, dice: impl FnOnce() -> u16) {
        let set = self.flows[index].set;
        match set {
            Set::None | Set::Decaying => {
                self.counts.decaying -= u16::from(set == Set::Decaying);
                self.counts.sparse += 1;
                self.lists.move_to(&mut self.flows, NEW, index);
                let quantum = self.quantum(index, share, dice());
                let flow = &mut self.flows[index];
                flow.set = Set::Sparse;
                flow.deficit = quantum;
            }
            Set::SparseWait => self.promote(index),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Turns a sparse flow into a bulk flow.
    fn promote(&mut self, index: u16) {
        self.counts.sparse -= 1;
        self.counts.bulk += 1;
        let flow = &mut self.flows[index];
        flow.set = Set::Bulk;
        self.buckets.count_up(flow);
    }

    /// Returns the bytes by which a flow's deficit rises, given the busy flows of its hosts.
    fn quantum(&self, index: u16, share: &Share, dice: u16) -> i32 {
        let load = self.buckets.load(&self.flows[index]);
        ((share.flow_quantum * (65_535 / load) + u32::from(dice)) >> 16) as i32
    }

    /// Returns the flow whose turn it is. `first`: this call has not looked at a flow yet, so a decaying flow goes
    /// first.
    #[inline]
    pub(super) fn turn(&self, first: bool) -> Option<u16> {
        let lists = if first { [DECAYING, NEW, OLD] } else { [NEW, OLD, DECAYING] };
        lists.into_iter().find_map(|list| self.lists.head(list))
    }

    /// Moves a flow without a deficit left to the end of the rounds, with a new quantum.
    pub(super) fn put_off(&mut self, index: u16, share: &Share, dice: impl FnOnce() -> u16) {
        let flow = &mut self.flows[index];
        if flow.set == Set::Sparse {
            if flow.queue.is_empty() {
                flow.set = Set::SparseWait;
            } else {
                self.promote(index);
            }
        }
        let quantum = self.quantum(index, share, dice());
        let flow = &mut self.flows[index];
        flow.deficit = flow.deficit.saturating_add(quantum);
        self.lists.move_to(&mut self.flows, OLD, index);
    }

    /// Notes that a flow whose turn it was has nothing to send.
    pub(super) fn retire(&mut self, index: u16, share: &Share, now: Instant) {
        let flow = &mut self.flows[index];
        let rested = flow.law.queue_empty(now, &share.law);
        self.counts.unresponsive -= u16::from(rested);
        match flow.set {
            Set::Bulk => {
                self.counts.bulk -= 1;
                self.buckets.count_down(flow);
            }
            Set::Sparse | Set::SparseWait => self.counts.sparse -= 1,
            Set::Decaying => self.counts.decaying -= 1,
            Set::None => {}
        }
        if flow.law.is_at_rest(now) {
            flow.set = Set::None;
            self.lists.remove(&mut self.flows, index);
        } else {
            flow.set = Set::Decaying;
            self.counts.decaying += 1;
            self.lists.move_to(&mut self.flows, DECAYING, index);
        }
    }

    /// Charges a packet of `bytes` on the wire that was sent, or dropped while drops are charged.
    #[inline]
    pub(super) fn charge(&mut self, index: u16, bytes: u32) {
        let flow = &mut self.flows[index];
        flow.deficit = flow.deficit.saturating_sub_unsigned(bytes);
    }

    /// Counts a packet that was sent after this `delay`.
    #[inline]
    pub(super) fn delay(&mut self, delay: Duration) {
        self.average_delay = average(self.average_delay, delay.as_nanos(), 8);
    }

    /// Delays the tin's next packet by a packet of `bytes` on the wire.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, share: &Share, bytes: u32) {
        let time = Duration::from_nanos(share.pace.time(bytes));
        // A tin that is late may catch up. A tin that is early is at most one packet ahead.
        if self.next < now {
            self.next += time;
        } else if self.next < now + time {
            self.next = now + time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists' ends must have positions after those of all flows. Otherwise the last flow would be a list.
    #[test]
    fn the_last_flow_is_in_one_list_at_a_time() {
        let (mut flows, mut lists) = (Sparse::new(), Lists::new());
        flows.open();
        let positions: alloc::vec::Vec<u16> = (0..QUEUES as u16).map(|place| flows.position(place)).collect();
        let (first, last) = (positions[0], positions[QUEUES - 1]);
        for list in [NEW, OLD, DECAYING] {
            lists.move_to(&mut flows, list, first);
            lists.move_to(&mut flows, list, last);
            let heads = [NEW, OLD, DECAYING].map(|other| lists.head(other));
            assert_eq!(heads, [NEW, OLD, DECAYING].map(|other| (other == list).then_some(first)), "{list}");
            lists.remove(&mut flows, first);
            assert_eq!(lists.head(list), Some(last));
            lists.remove(&mut flows, last);
            assert_eq!(lists.head(list), None);
        }
    }
}
