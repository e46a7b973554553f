//! One tin: its flows, and whose turn it is.
//!
//! Source: "Piece of CAKE", 2018, "Flow isolation": DRR++ (RFC 8290, 4.2) with a quantum that shrinks with the
//! number of busy flows of the same host. A flow is *sparse* from when it begins to wait until it has used up its
//! quantum, *bulk* after that, and *decaying* while it is empty and its COBALT still remembers something. Linux, and
//! so this, differs from FQ-CoDel:
//!
//! - each call first looks at one decaying flow, so that its state goes on decaying, and at the new flows then;
//! - a flow that is empty when its quantum is used up joins the bulk flows' rounds, but counts as sparse
//!   (*waiting*);
//! - the quantum is divided by the flows of the busier one of a flow's hosts, and 16 random bits are added to the
//!   fraction, so that nothing is lost by rounding.

use super::autorate::average;
use super::diffserv::Share;
use super::hash::{Buckets, Isolation};
use crate::aqm::cobalt::Vars;
use crate::sched::slab::Chain;
use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant};

/// Queues of a tin.
pub(super) const QUEUES: usize = 1024;

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Set {
    /// Nowhere: nothing waits and nothing is remembered.
    #[default]
    None = 0,
    Sparse = 1,
    SparseWait = 2,
    Bulk = 3,
    Decaying = 4,
}

/// One queue: all flows that it is assigned to at the time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) law: Vars,
    pub(super) queue: Chain,
    /// Bytes that it may still send in this round.
    pub(super) deficit: i32,
    pub(super) set: Set,
    /// Its hosts' entries, where hosts matter.
    pub(super) src: u16,
    pub(super) dst: u16,
}

/// The flows that began to wait; they go first.
const NEW: u16 = QUEUES as u16;
/// The flows in rounds.
const OLD: u16 = NEW + 1;
/// The flows that are empty and remember something.
const DECAYING: u16 = NEW + 2;

/// Three lists over the flows: rings of neighbours, each closed by an entry of its own after the flows'.
#[derive(Clone, Debug)]
struct Lists {
    next: Vec<u16>,
    previous: Vec<u16>,
}

impl Lists {
    fn new() -> Self {
        let alone: Vec<u16> = (0..=DECAYING).collect();
        Self { next: alone.clone(), previous: alone }
    }

    /// The first of a list.
    #[inline]
    fn head(&self, list: u16) -> Option<u16> {
        let head = self.next[usize::from(list)];
        (head != list).then_some(head)
    }

    /// Takes a flow out of the list that it is in, if it is in one.
    #[inline]
    fn remove(&mut self, flow: u16) {
        let (next, previous) = (self.next[usize::from(flow)], self.previous[usize::from(flow)]);
        self.next[usize::from(previous)] = next;
        self.previous[usize::from(next)] = previous;
        (self.next[usize::from(flow)], self.previous[usize::from(flow)]) = (flow, flow);
    }

    /// Moves a flow to the end of a list.
    #[inline]
    fn move_to(&mut self, list: u16, flow: u16) {
        self.remove(flow);
        let last = self.previous[usize::from(list)];
        (self.next[usize::from(flow)], self.previous[usize::from(flow)]) = (list, last);
        self.next[usize::from(last)] = flow;
        self.previous[usize::from(list)] = flow;
    }
}

/// How many flows stand where.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) decaying: u32,
    /// Flows that BLUE works on.
    pub(super) unresponsive: u32,
}

/// What a tin has done, for a trace or a person.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) dropped: u64,
    pub(super) marked: u64,
    /// Average delay of what was sent, in ns; each packet weighs 1/256.
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
    pub(super) flows: Vec<Flow>,
    pub(super) buckets: Buckets,
    lists: Lists,
    pub(super) counts: Counts,
    pub(super) tally: Tally,
    /// Bytes that wait.
    pub(super) bytes: u64,
    /// Bytes that it may still send in this round of the tins.
    pub(super) deficit: i32,
    /// When it is due, where a shaper runs.
    pub(super) next: Instant,
}

impl Tin {
    pub(super) fn new(share: Share, isolation: Isolation) -> Self {
        Self {
            share,
            flows: alloc::vec![Flow::default(); QUEUES],
            buckets: Buckets::new(isolation),
            lists: Lists::new(),
            counts: Counts::default(),
            tally: Tally::default(),
            bytes: 0,
            deficit: 0,
            next: Instant::ZERO,
        }
    }

    /// Whether a flow may have something to send.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.counts.sparse + self.counts.bulk > 0
    }

    /// The queue of a packet, by the hashes of its flow and of its source and destination.
    #[inline]
    pub(super) fn classify(&mut self, flow: u32, hosts: (u32, u32)) -> u16 {
        self.buckets.find(&mut self.flows, flow, hosts)
    }

    /// A packet has come to wait in `index`. `dice` throws 16 random bits.
    #[inline]
    pub(super) fn wake(&mut self, index: u16, dice: impl FnOnce() -> u16) {
        let set = self.flows[usize::from(index)].set;
        match set {
            Set::None | Set::Decaying => {
                self.counts.decaying -= u32::from(set == Set::Decaying);
                self.counts.sparse += 1;
                self.lists.move_to(NEW, index);
                let quantum = self.quantum(index, dice());
                let flow = &mut self.flows[usize::from(index)];
                flow.set = Set::Sparse;
                flow.deficit = quantum;
            }
            Set::SparseWait => self.promote(index),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// A sparse flow becomes a bulk one.
    fn promote(&mut self, index: u16) {
        self.counts.sparse -= 1;
        self.counts.bulk += 1;
        let flow = &mut self.flows[usize::from(index)];
        flow.set = Set::Bulk;
        self.buckets.count_up(flow);
    }

    /// Bytes that a flow's deficit rises by, its hosts' busy flows considered.
    fn quantum(&self, index: u16, dice: u16) -> i32 {
        let load = self.buckets.load(&self.flows[usize::from(index)]);
        ((self.share.flow_quantum * (65_535 / load) + u32::from(dice)) >> 16) as i32
    }

    /// The flow whose turn it is. `first`: none was looked at in this call yet, so a decaying one has precedence.
    #[inline]
    pub(super) fn turn(&self, first: bool) -> Option<u16> {
        let lists = if first { [DECAYING, NEW, OLD] } else { [NEW, OLD, DECAYING] };
        lists.into_iter().find_map(|list| self.lists.head(list))
    }

    /// A flow whose turn it was has no deficit left: it goes to the end of the rounds with a new one.
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
        self.lists.move_to(OLD, index);
    }

    /// A flow whose turn it was has nothing to send.
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
            self.lists.remove(index);
        } else {
            flow.set = Set::Decaying;
            self.counts.decaying += 1;
            self.lists.move_to(DECAYING, index);
        }
    }

    /// A packet of `bytes` on the wire was sent, or dropped where drops are charged.
    #[inline]
    pub(super) fn charge(&mut self, index: u16, bytes: u32) {
        let flow = &mut self.flows[usize::from(index)];
        flow.deficit = flow.deficit.saturating_sub_unsigned(bytes);
        // Below a shaper nobody reads it, so it falls for ever; Linux's wraps.
        self.deficit = self.deficit.wrapping_sub_unsigned(bytes);
    }

    /// Puts off the tin's next packet by one of `bytes` on the wire.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, bytes: u32) {
        let time = Duration::from_nanos(self.share.pace.time(bytes));
        // A tin that is late may catch up; one that is early is at most one packet ahead.
        if self.next < now {
            self.next += time;
        } else if self.next < now + time {
            self.next = now + time;
        }
    }
}
