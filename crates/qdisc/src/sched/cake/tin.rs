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
use super::sparse::Sparse;
use crate::aqm::cobalt::Vars;
use crate::sched::slab::Chain;
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
    /// Its neighbours in its list; itself, if it is in none.
    next: u16,
    previous: u16,
}

const _: () = processor::fills_lines::<Flow>(1);

impl Flow {
    /// Returns the flow of the queue `place`, before its first packet.
    pub(super) fn at(place: u16) -> Self {
        Self { next: place, previous: place, ..Self::default() }
    }
}

/// The list of flows that began to wait. They go first.
const NEW: u16 = QUEUES as u16;
/// The list of flows in rounds.
const OLD: u16 = NEW + 1;
/// The list of empty flows whose COBALT remembers something.
const DECAYING: u16 = NEW + 2;

/// Flows in three lists. Each list is a ring of neighbours, closed by an entry of its own after the entries of the
/// flows.
impl Sparse<Flow> {
    /// Makes the places of all flows and lists. The lists' own entries are used from now on.
    fn open_lists(&mut self) {
        self.open(usize::from(DECAYING) + 1);
        [NEW, OLD, DECAYING].into_iter().for_each(|list| _ = self.get_mut(usize::from(list)));
    }

    /// Returns the first flow of a list.
    #[inline]
    fn head(&self, list: u16) -> Option<u16> {
        let head = self.get(usize::from(list))?.next;
        (head != list).then_some(head)
    }

    /// Takes a flow out of its list, if it is in one.
    #[inline]
    fn remove(&mut self, place: u16) {
        let flow = &mut self[usize::from(place)];
        let (next, previous) = (flow.next, flow.previous);
        (flow.next, flow.previous) = (place, place);
        self[usize::from(previous)].next = next;
        self[usize::from(next)].previous = previous;
    }

    /// Moves a flow to the end of a list.
    #[inline]
    fn move_to(&mut self, list: u16, place: u16) {
        self.remove(place);
        let end = &mut self[usize::from(list)];
        let last = end.previous;
        end.previous = place;
        self[usize::from(last)].next = place;
        let flow = &mut self[usize::from(place)];
        (flow.next, flow.previous) = (list, last);
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
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) share: Share,
    /// Not open before the tin's first packet: most tins of ten thousand subscribers have none.
    pub(super) flows: Sparse<Flow>,
    pub(super) buckets: Buckets,
    pub(super) counts: Counts,
    pub(super) tally: Tally,
    /// Waiting bytes.
    pub(super) bytes: u64,
    /// Bytes that the tin may still send in this round of the tins.
    pub(super) deficit: i32,
    /// The time at which the tin is due, if there is a shaper.
    pub(super) next: Instant,
}

impl Tin {
    pub(super) fn new(share: Share, isolation: Isolation) -> Self {
        Self {
            share,
            flows: Sparse::new(Flow::at),
            buckets: Buckets::new(isolation),
            counts: Counts::default(),
            tally: Tally::default(),
            bytes: 0,
            deficit: 0,
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
        self.flows.open_lists();
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
                self.flows.move_to(NEW, index);
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
        lists.into_iter().find_map(|list| self.flows.head(list))
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
        self.flows.move_to(OLD, index);
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
            self.flows.remove(index);
        } else {
            flow.set = Set::Decaying;
            self.counts.decaying += 1;
            self.flows.move_to(DECAYING, index);
        }
    }

    /// Charges a packet of `bytes` on the wire that was sent, or dropped while drops are charged.
    #[inline]
    pub(super) fn charge(&mut self, index: u16, bytes: u32) {
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit = flow.deficit.saturating_sub_unsigned(bytes);
        // With a shaper the tin's deficit is not read, so it falls without end. Linux's wraps.
        self.deficit = self.deficit.wrapping_sub_unsigned(bytes);
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

    /// The lists' own entries must come after those of all flows. Otherwise the last flow would be a list.
    #[test]
    fn the_last_flow_is_in_one_list_at_a_time() {
        let (mut lists, last) = (Sparse::new(Flow::at), QUEUES as u16 - 1);
        lists.open_lists();
        for list in [NEW, OLD, DECAYING] {
            lists.move_to(list, 0);
            lists.move_to(list, last);
            let heads = [NEW, OLD, DECAYING].map(|other| lists.head(other));
            assert_eq!(heads, [NEW, OLD, DECAYING].map(|other| (other == list).then_some(0)), "{list}");
            lists.remove(0);
            assert_eq!(lists.head(list), Some(last));
            lists.remove(last);
            assert_eq!(lists.head(list), None);
        }
    }
}
