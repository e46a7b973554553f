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
use super::hash::{Buckets, Hashes, Isolation};
use super::sparse::{Entry, Sparse};
use crate::aqm::cobalt::Vars;
use crate::sched::slab::Chain;
use alloc::vec::Vec;
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
    /// The entries of its hosts, if the isolation counts hosts.
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
    fn at(place: u16) -> Self {
        Self { link: Link::alone(place), ..Self::default() }
    }
}

/// The neighbours in a list; itself, if it is in none.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    next: u16,
    previous: u16,
}

impl Link {
    const fn alone(place: u16) -> Self {
        Self { next: place, previous: place }
    }
}

/// The list of flows that began to wait. They go first.
const NEW: u16 = QUEUES as u16;
/// The list of flows in rounds.
const OLD: u16 = NEW + 1;
/// The list of empty flows whose COBALT remembers something.
const DECAYING: u16 = NEW + 2;

/// The ends of three lists of flows. Each list is a ring of neighbours, closed by its entry here. These entries have
/// the numbers after those of the flows.
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
    fn link<'a>(&'a mut self, flows: &'a mut Sparse<Flow>, place: u16) -> &'a mut Link {
        match self.0.get_mut(usize::from(place.wrapping_sub(NEW))) {
            Some(end) => end,
            None => &mut flows[usize::from(place)].link,
        }
    }

    /// Takes a flow out of its list, if it is in one.
    #[inline]
    fn remove(&mut self, flows: &mut Sparse<Flow>, place: u16) {
        let link = &mut flows[usize::from(place)].link;
        let Link { next, previous } = core::mem::replace(link, Link::alone(place));
        self.link(flows, previous).next = next;
        self.link(flows, next).previous = previous;
    }

    /// Moves a flow to the end of a list.
    #[inline]
    fn move_to(&mut self, flows: &mut Sparse<Flow>, list: u16, place: u16) {
        self.remove(flows, place);
        let last = core::mem::replace(&mut self.link(flows, list).previous, place);
        self.link(flows, last).next = place;
        flows[usize::from(place)].link = Link { next: list, previous: last };
    }
}

/// The number of flows in each set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) decaying: u32,
    /// Flows that BLUE drops from.
    pub(super) unresponsive: u32,
}

/// A tin's counters, for decision traces and people.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) dropped: u64,
    pub(super) marked: u64,
    /// Average delay of the packets sent, in ns. Each packet weighs 1/256.
    pub(super) average_delay: u64,
}

impl Tally {
    pub(super) fn delay(&mut self, delay: Duration) {
        self.average_delay = average(self.average_delay, delay.as_nanos(), 8);
    }
}

/// A tin.
// For the processor: what each packet needs comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Tin {
    /// Not open before the tin's first packet: most tins of ten thousand subscribers have none.
    pub(super) flows: Sparse<Flow>,
    /// Waiting bytes.
    pub(super) bytes: u64,
    pub(super) counts: Counts,
    pub(super) lists: Lists,
    pub(super) buckets: Buckets,
    pub(super) share: Share,
    pub(super) tally: Tally,
    /// The time at which the tin is due, if there is a shaper.
    pub(super) next: Instant,
}

/// The tins. The first one, of best effort, stands in its CAKE: most packets of ten thousand subscribers need no other,
/// and find it without another look-up. The others may be made later.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tins {
    first: Tin,
    count: usize,
    others: Vec<Tin>,
}

impl Tins {
    /// Returns `count` tins, of which only the `first` one is made.
    pub(super) const fn new(first: Tin, count: usize) -> Self {
        Self { first, count, others: Vec::new() }
    }

    /// Makes the tins that are not made yet, each by its number.
    pub(super) fn make_others(&mut self, make: impl Fn(usize) -> Tin) {
        if self.others.is_empty() {
            self.others.extend((1..self.count).map(make));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
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

/// What decides whose turn it is among the tins. It stands apart, so that a packet of one tin touches no other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Bytes that the tin may still send in this round of the tins.
    pub(super) deficit: i32,
    /// As [`Share::tin_quantum`].
    pub(super) quantum: i32,
    /// As [`Tin::is_busy`].
    pub(super) is_busy: bool,
}

impl Tin {
    pub(super) fn new(share: Share, isolation: Isolation) -> Self {
        Self {
            share,
            flows: Sparse::new(),
            lists: Lists::new(),
            buckets: Buckets::new(isolation),
            counts: Counts::default(),
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

    /// Returns the queue of a packet.
    #[inline]
    pub(super) fn classify(&mut self, hashes: Hashes) -> u16 {
        if !self.flows.is_open() {
            self.open();
        }
        self.buckets.find(&mut self.flows, hashes)
    }

    /// Makes the tables of flows, for the first packet.
    #[cold]
    fn open(&mut self) {
        self.flows.open(QUEUES);
        self.buckets.open();
    }

    /// Notes that a packet began to wait in `index`. `dice` returns 16 random bits.
    #[inline]
    pub(super) fn wake(&mut self, index: u16, dice: impl FnOnce() -> u16) {
        let set = self.flows[usize::from(index)].set;
        match set {
            Set::None | Set::Decaying => {
                self.counts.decaying -= u32::from(set == Set::Decaying);
                self.counts.sparse += 1;
                self.lists.move_to(&mut self.flows, NEW, index);
                let quantum = self.quantum(index, dice());
                let flow = &mut self.flows[usize::from(index)];
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
        let flow = &mut self.flows[usize::from(index)];
        flow.set = Set::Bulk;
        self.buckets.count_up(flow);
    }

    /// Returns the bytes by which a flow's deficit rises, given the busy flows of its hosts.
    fn quantum(&self, index: u16, dice: u16) -> i32 {
        let load = self.buckets.load(&self.flows[usize::from(index)]);
        ((self.share.flow_quantum * (65_535 / load) + u32::from(dice)) >> 16) as i32
    }

    /// Returns the flow whose turn it is. `first`: this call has not looked at a flow yet, so a decaying flow goes
    /// first.
    #[inline]
    pub(super) fn turn(&self, first: bool) -> Option<u16> {
        let lists = if first { [DECAYING, NEW, OLD] } else { [NEW, OLD, DECAYING] };
        lists.into_iter().find_map(|list| self.lists.head(list))
    }

    /// Moves a flow without a deficit left to the end of the rounds, with a new quantum.
    pub(super) fn put_off(&mut self, index: u16, dice: impl FnOnce() -> u16) {
        let flow = &mut self.flows[usize::from(index)];
        if flow.set == Set::Sparse {
            if flow.queue.is_empty() {
                flow.set = Set::SparseWait;
            } else {
                self.promote(index);
            }
        }
        let quantum = self.quantum(index, dice());
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit = flow.deficit.saturating_add(quantum);
        self.lists.move_to(&mut self.flows, OLD, index);
    }

    /// Notes that a flow whose turn it was has nothing to send.
    pub(super) fn retire(&mut self, index: u16, now: Instant) {
        let flow = &mut self.flows[usize::from(index)];
        let rested = flow.law.queue_empty(now, &self.share.law);
        self.counts.unresponsive -= u32::from(rested);
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
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit = flow.deficit.saturating_sub_unsigned(bytes);
    }

    /// Delays the tin's next packet by a packet of `bytes` on the wire.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, bytes: u32) {
        let time = Duration::from_nanos(self.share.pace.time(bytes));
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

    /// The lists' ends must have numbers after those of all flows. Otherwise the last flow would be a list.
    #[test]
    fn the_last_flow_is_in_one_list_at_a_time() {
        let (mut flows, mut lists, last) = (Sparse::new(), Lists::new(), QUEUES as u16 - 1);
        flows.open(QUEUES);
        for list in [NEW, OLD, DECAYING] {
            lists.move_to(&mut flows, list, 0);
            lists.move_to(&mut flows, list, last);
            let heads = [NEW, OLD, DECAYING].map(|other| lists.head(other));
            assert_eq!(heads, [NEW, OLD, DECAYING].map(|other| (other == list).then_some(0)), "{list}");
            lists.remove(&mut flows, 0);
            assert_eq!(lists.head(list), Some(last));
            lists.remove(&mut flows, last);
            assert_eq!(lists.head(list), None);
        }
    }
}
