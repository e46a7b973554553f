//! The discipline of a class, as the scheduler above it sees it.
//!
//! Source: `qdisc_peek_dequeued` and `qdisc_dequeue_peeked` (include/net/sch_generic.h). A scheduler that must know a
//! packet's length has the packet taken out of a discipline that cannot show it. The packet still counts for the class.
//! A leaf keeps it itself, because it counts for the leaf's limit and law, too ([`crate::kept`]).

mod change;

use super::bands::Bands;
use super::drr::Drr;
use super::fields::Words;
use super::hfsc::Hfsc;
use super::htb::Htb;
use super::id::Id;
use super::leaf::Leaf;
use crate::packet::Packet;
use crate::qdisc::{Backlog, Enqueued};
use crate::signal::{Drop, Owner};
use alloc::boxed::Box;
use core::fmt;
use goodqueue_units::Instant;

/// What became of a packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// `NET_XMIT_SUCCESS`: the packet waits.
    Queued,
    /// Anything else. The answer is what the link gets: of a packet without a class it is success
    /// (`__NET_XMIT_BYPASS`).
    Refused(Enqueued),
}

impl Offered {
    /// Drops `packet`, which belongs to no class.
    pub(super) fn no_class<P, O: Owner<P>>(packet: P, owner: &mut O) -> Self {
        owner.dropped(packet, Drop::Overlimit);
        Self::Refused(Enqueued::Success)
    }
}

/// The class to which a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This class.
    Class(Id),
    /// The queue of `htb` that no class shapes.
    Direct,
    /// None: the packet is dropped.
    Dropped,
}

impl fmt::Display for Decision {
    /// Writes the decision as decision traces have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(id) => id.fmt(f),
            Self::Direct => f.write_str("direct"),
            Self::Dropped => f.write_str("none"),
        }
    }
}

/// A discipline: one that sorts packets into classes, or any other.
pub(super) enum Node<P> {
    Leaf(Leaf<P>),
    Htb(Box<Htb<P>>),
    Hfsc(Box<Hfsc<P>>),
    Drr(Box<Drr<P>>),
    Bands(Box<Bands<P>>),
}

/// Calls the same function of whatever discipline it is.
macro_rules! each {
    ($node:expr, $own:ident => $call:expr) => {
        match $node {
            Node::Leaf($own) => $call,
            Node::Htb($own) => $call,
            Node::Hfsc($own) => $call,
            Node::Drr($own) => $call,
            Node::Bands($own) => $call,
        }
    };
}

/// Returns whether drops have emptied a discipline that had packets `before` and has `after`, and whose packet was
/// taken or not.
pub(super) fn is_emptied(before: Backlog, after: Backlog, taken: bool) -> bool {
    after.packets == 0 && before.packets > u32::from(taken)
}

/// A discipline below a scheduler.
pub(super) struct Child<P> {
    node: Node<P>,
    /// The packet that would leave next, if a scheduler here had to hand it over to show it. In a box: a leaf has none.
    kept: Option<Box<P>>,
}

impl<P: Packet> Child<P> {
    pub(super) fn new(node: Node<P>) -> Self {
        Self { node, kept: None }
    }

    /// Offers `packet`, of which filters see `words`.
    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        match &mut self.node {
            Node::Leaf(leaf) => leaf.offer(now, packet, words, owner),
            Node::Htb(own) => own.offer(now, packet, words, owner),
            Node::Hfsc(own) => own.offer(now, packet, words, owner),
            Node::Drr(own) => own.offer(now, packet, words, owner),
            Node::Bands(own) => own.offer(now, packet, words, owner),
        }
    }

    /// Returns how long an `htb` has held packets back.
    pub(super) fn limits(&self, now: Instant) -> Option<super::htb::Limits> {
        self.htb().map(|htb| htb.limits(now))
    }

    /// Returns the class below, where a discipline with classes is. `here`: there is none.
    pub(super) fn decide(&self, words: &Words, here: Id) -> Decision {
        match &self.node {
            Node::Leaf(_) => Decision::Class(here),
            Node::Htb(own) => own.decide(words),
            Node::Hfsc(own) => own.decide(words),
            Node::Drr(own) => own.decide(words),
            Node::Bands(own) => own.decide(words),
        }
    }

    /// Returns the `htb`, if this is one.
    pub(super) fn htb(&self) -> Option<&Htb<P>> {
        if let Node::Htb(htb) = &self.node { Some(htb) } else { None }
    }

    /// Returns the `htb`, if this is one.
    pub(super) fn htb_mut(&mut self) -> Option<&mut Htb<P>> {
        if let Node::Htb(htb) = &mut self.node { Some(htb) } else { None }
    }

    /// Returns whether this is a leaf without filters.
    pub(super) fn has_no_filters(&self) -> bool {
        if let Node::Leaf(leaf) = &self.node { leaf.has_no_filters() } else { false }
    }

    /// Does what [`AnyQdisc::approach`](crate::AnyQdisc::approach) does, for a class or for a leaf.
    pub(super) fn approach(&self, class: u32, packet: &P, step: usize) {
        match &self.node {
            Node::Htb(htb) => htb.approach(class, packet, step),
            Node::Leaf(leaf) => leaf.approach(packet, step),
            Node::Hfsc(_) | Node::Drr(_) | Node::Bands(_) => {}
        }
    }

    /// Prefetches what the next packet out is going to touch, if this is a leaf. Each `step` finds what the one before
    /// it has prefetched.
    pub(super) fn approach_next(&self, step: usize) {
        if let Node::Leaf(leaf) = &self.node {
            leaf.approach_next(step);
        }
    }

    /// Takes the next packet. The flag says that the discipline tells the class above if it has become empty by drops,
    /// before the class has the packet (`qdisc_tree_reduce_backlog`). The count of a discipline with classes includes
    /// the packet until it has returned it.
    pub(super) fn take<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> (Option<P>, bool) {
        if let Some(kept) = self.kept.take() {
            return (Some(*kept), false);
        }
        let packet = match &mut self.node {
            Node::Leaf(leaf) => return leaf.take(now, owner),
            Node::Htb(own) => own.dequeue(now, owner),
            Node::Hfsc(own) => own.dequeue(now, owner),
            Node::Drr(own) => own.dequeue(now, owner),
            Node::Bands(own) => own.dequeue(now, owner),
        };
        let is_told = packet.is_none();
        (packet, is_told)
    }

    /// Returns the length of the packet that would leave next, and whether the class above is told that this has become
    /// empty by drops.
    pub(super) fn peek<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> (Option<u32>, bool) {
        if self.kept.is_none() {
            match &mut self.node {
                Node::Leaf(leaf) => return leaf.peek(now, owner),
                Node::Bands(bands) if bands.shows_head() => return (bands.peek(now, owner), false),
                _ => {}
            }
            let before = self.backlog();
            let (packet, is_told) = self.take(now, owner);
            let emptied = is_told && is_emptied(before, self.backlog(), packet.is_some());
            self.kept = packet.map(Box::new);
            return (self.kept.as_deref().map(P::len), emptied);
        }
        (self.kept.as_deref().map(P::len), false)
    }

    /// Returns the packets and bytes that wait.
    pub(super) fn backlog(&self) -> Backlog {
        let mut backlog = each!(&self.node, own => own.backlog());
        if let Some(packet) = &self.kept {
            backlog.packets += 1;
            backlog.bytes += u64::from(packet.len());
        }
        backlog
    }

    /// Returns the packets and bytes that wait, and the time of the next timer. A leaf tells both at once, because the
    /// processor cannot foresee which discipline it has.
    pub(super) fn state(&self) -> (Backlog, Option<Instant>) {
        match &self.node {
            Node::Leaf(leaf) => leaf.state(), // which keeps no packet here
            _ => (self.backlog(), self.next_timer()),
        }
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        each!(&self.node, own => own.next_timer())
    }

    /// Runs the timers that are due. Returns whether the link is to be asked for a packet (`__netif_schedule`): the
    /// watchdog of a discipline that holds packets back does so, and the clock of a law does not.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> bool {
        each!(&mut self.node, own => own.on_timer(now, owner))
    }

    /// Returns whether the discipline gives a packet whenever one waits.
    pub(super) fn is_work_conserving(&self) -> bool {
        match &self.node {
            Node::Leaf(leaf) => leaf.is_work_conserving(),
            Node::Htb(_) | Node::Hfsc(_) => false,
            Node::Drr(own) => own.is_work_conserving(),
            Node::Bands(own) => own.is_work_conserving(),
        }
    }

    /// Returns whether there is a packet to peek at whenever one waits. Otherwise a law may drop all that wait, and the
    /// schedulers of rounds then give nothing in this call.
    pub(super) fn shows_head(&self) -> bool {
        match &self.node {
            Node::Leaf(leaf) => leaf.shows_head(),
            Node::Bands(own) => own.shows_heads(),
            Node::Htb(_) | Node::Hfsc(_) | Node::Drr(_) => false,
        }
    }
}
