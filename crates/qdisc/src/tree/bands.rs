//! Bands: `prio`, `ets` and `mq` in a tree. The classes are numbered from 1, and exist from the beginning.
//!
//! Source: tc-prio(8), tc-ets(8), and net/sched/sch_prio.c, sch_ets.c and sch_mq.c (6.1). The first bands are strict:
//! the first one that has a packet is served. In `ets` the other bands take turns, each by its quantum. In `prio` all
//! bands are strict. `mq` has one band per transmit queue of the device, and a link here has one such queue.

use super::chain::{Chain, asked};
use super::change::Work;
use super::child::{Child, Decision, Node, Offered};
use super::classes::Children;
use super::fields::Words;
use super::id::Id;
use super::leaf::{Leaf, Pattern};
use super::rounds::Rounds;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::signal::Owner;
use alloc::sync::Arc;
use alloc::vec::Vec;
use goodqueue_units::Instant;

/// What the bands are made from.
pub(super) struct Setup {
    pub(super) handle: Id,
    pub(super) tuning: Tuning,
    pub(super) chain: Chain,
    /// Whether the head is shown without being taken (`prio_peek`).
    pub(super) shows_head: bool,
}

/// The parameters of bands, which a command may change.
pub(super) struct Tuning {
    /// How many bands are strict.
    pub(super) strict: u32,
    /// The quantum of each band, which those that are strict ignore.
    pub(super) quanta: Vec<u32>,
    pub(super) priomap: [u32; 16],
}

/// The bands of a tree.
pub(super) struct Bands<P> {
    setup: Setup,
    children: Children<P>,
    rounds: Rounds,
}

impl<P: Packet> Bands<P> {
    pub(super) fn new(setup: Setup, children: Children<P>) -> Self {
        let rounds = Rounds::new(setup.tuning.quanta.iter().copied());
        Self { setup, children, rounds }
    }

    /// Gives a band another quantum (`ets_class_change`).
    pub(super) fn set_quantum(&mut self, id: Id, quantum: u32) {
        self.rounds.set_quantum(u32::from(id.minor()).wrapping_sub(1), quantum);
    }

    /// Sets other parameters (`prio_tune`, `ets_qdisc_change`). The packets of bands that go are dropped. A band that
    /// begins to take turns goes behind the others with one quantum. New bands have the discipline of `pattern`.
    pub(super) fn retune<O: Owner<P>>(
        &mut self,
        now: Instant,
        asked: Tuning,
        pattern: &Arc<Pattern<P>>,
        owner: &mut O,
    ) {
        let (before, strict, quanta) = (self.setup.tuning.strict, asked.strict, &asked.quanta);
        self.children.truncate(quanta.len(), now, owner);
        while self.children.len() < quanta.len() {
            self.children.push(Child::new(Node::Leaf(Leaf::new(pattern.clone(), None))));
        }
        self.rounds.resize(quanta.len());
        for (at, quantum) in (0..).zip(quanta) {
            self.rounds.set_quantum(at, *quantum);
        }
        for at in strict..before.min(quanta.len() as u32) {
            if self.children.packets(at) > 0 {
                self.rounds.activate(at);
            }
        }
        (before..strict).for_each(|at| self.rounds.remove(at));
        self.setup.tuning = asked;
    }

    /// Changes what is below a band. See [`super::child::Child::change`].
    pub(super) fn change_below<O: Owner<P>>(
        &mut self,
        now: Instant,
        path: (Id, &[Id]),
        work: Work<P>,
        owner: &mut O,
    ) {
        let at = u32::from(path.0.minor()).wrapping_sub(1);
        if at < self.children.len() as u32
            && self.children.change(at, now, path.1, work, owner)
            && at >= self.setup.tuning.strict
        {
            self.rounds.remove(at);
        }
    }

    /// Chooses the band (`prio_classify`, `ets_classify`).
    fn classify(&self, words: &Words) -> u32 {
        let Setup { handle, tuning: Tuning { priomap, .. }, chain, .. } = &self.setup;
        let mut own = asked(words);
        if own.major() != handle.major() {
            match chain.classid(words) {
                Some(id) => own = id,
                None if own.major() != 0 => return priomap[0],
                None => return priomap[usize::from(own.minor() & 15)],
            }
        }
        match u32::from(own.minor()).checked_sub(1) {
            Some(band) if band < self.children.len() as u32 => band,
            _ => priomap[0],
        }
    }

    /// Returns the class of a packet of these words.
    pub(super) fn decide(&self, words: &Words) -> Decision {
        let at = self.classify(words);
        let id = Id::of(self.setup.handle.major(), at as u16 + 1);
        self.children.get(at).map_or(Decision::Dropped, |child| child.decide(words, id))
    }

    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        let at = self.classify(words);
        let offered = self.children.offer(at, now, packet, words, owner);
        if at >= self.setup.tuning.strict {
            if offered == Offered::Queued {
                self.rounds.activate(at);
            } else if self.children.packets(at) == 0 {
                self.rounds.remove(at);
            }
        }
        offered
    }

    pub(super) fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        for at in 0..self.setup.tuning.strict {
            let (packet, _) = self.children.take(at, now, owner);
            if packet.is_some() {
                return packet;
            }
        }
        self.rounds.take(&mut self.children, now, owner)
    }

    /// Returns whether the next packet is shown without being taken.
    pub(super) fn shows_head(&self) -> bool {
        self.setup.shows_head
    }

    /// Returns the length of the packet that would leave next (`prio_peek`).
    pub(super) fn peek<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<u32> {
        (0..self.setup.tuning.strict).find_map(|at| self.children.peek(at, now, owner).0)
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.children.backlog()
    }

    pub(super) fn is_work_conserving(&self) -> bool {
        let is_strict = self.setup.tuning.strict as usize == self.children.len();
        self.children.is_work_conserving() && (is_strict || self.children.show_heads())
    }

    /// Returns whether the head is shown whenever there is one: see [`super::child::Child::shows_head`].
    pub(super) fn shows_heads(&self) -> bool {
        self.setup.shows_head && self.children.show_heads()
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
