//! DRR: classes in turns, each by its quantum. A packet without a class is dropped.
//!
//! Source: tc-drr(8) and net/sched/sch_drr.c (6.1; the source of 7.3 decides the same, which no trace has checked).
//! [`super::rounds`] has the turns.

use super::chain::{Chain, asked};
use super::change::Work;
use super::child::{Decision, Offered};
use super::classes::Children;
use super::fields::Words;
use super::id::Id;
use super::rounds::Rounds;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::signal::Owner;
use alloc::vec::Vec;
use goodqueue_units::Instant;

/// The `drr` of a tree.
pub(super) struct Drr<P> {
    handle: Id,
    /// The classids, in their order.
    ids: Vec<Id>,
    children: Children<P>,
    chain: Chain,
    rounds: Rounds,
}

impl<P: Packet> Drr<P> {
    /// Returns the discipline of these classes, each with its quantum, in the order of their classids.
    pub(super) fn new(handle: Id, classes: Vec<(Id, u32)>, children: Children<P>, chain: Chain) -> Self {
        let rounds = Rounds::new(classes.iter().map(|(_, quantum)| *quantum));
        Self { handle, ids: classes.into_iter().map(|(id, _)| id).collect(), children, chain, rounds }
    }

    /// Gives a class another quantum (`drr_change_class`).
    pub(super) fn set_quantum(&mut self, id: Id, quantum: u32) {
        if let Ok(at) = self.ids.binary_search(&id) {
            self.rounds.set_quantum(at as u32, quantum);
        }
    }

    /// Changes what is below a class. See [`super::child::Child::change`].
    pub(super) fn change_below<O: Owner<P>>(
        &mut self,
        now: Instant,
        path: (Id, &[Id]),
        work: Work<P>,
        owner: &mut O,
    ) {
        let Ok(at) = self.ids.binary_search(&path.0) else { return };
        if self.children.change(at as u32, now, path.1, work, owner) {
            self.rounds.remove(at as u32);
        }
    }

    /// Chooses the class (`drr_classify`).
    fn classify(&self, words: &Words) -> Option<u32> {
        let find = |id: Id| self.ids.binary_search(&id).ok().map(|at| at as u32);
        let own = find(asked(words)).filter(|_| asked(words).major() == self.handle.major());
        own.or_else(|| self.chain.classid(words).and_then(find))
    }

    /// Returns the class of a packet of these words.
    pub(super) fn decide(&self, words: &Words) -> Decision {
        let Some(at) = self.classify(words) else { return Decision::Dropped };
        let id = self.ids[at as usize];
        self.children.get(at).map_or(Decision::Dropped, |child| child.decide(words, id))
    }

    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        let Some(at) = self.classify(words) else {
            packet.set_arrival(now);
            return Offered::no_class(packet, owner);
        };
        let offered = self.children.offer(at, now, packet, words, owner);
        if offered == Offered::Queued {
            self.rounds.activate(at);
        } else if self.children.packets(at) == 0 {
            self.rounds.remove(at);
        }
        offered
    }

    pub(super) fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.rounds.take(&mut self.children, now, owner)
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.children.backlog()
    }

    pub(super) fn is_work_conserving(&self) -> bool {
        self.children.is_work_conserving() && self.children.show_heads()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.children.next_timer()
    }

    /// Does what [`super::child::Child::on_timer`] says.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> bool {
        let (asks, emptied) = self.children.on_timer(now, owner);
        emptied.into_iter().for_each(|at| self.rounds.remove(at));
        asks
    }
}
