//! Classes that take turns, each by its quantum (deficit round robin): shared by `drr` and `ets`.
//!
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin" (1995); `drr_dequeue`
//! (net/sched/sch_drr.c) and `ets_qdisc_dequeue` (net/sched/sch_ets.c). Unlike the paper, Linux gives a quantum when
//! the turn of a class comes and its deficit is too small, and a class that becomes active begins with one quantum.

use super::classes::Children;
use crate::packet::Packet;
use crate::signal::Owner;
use alloc::vec::Vec;
use goodqueue_units::Instant;

const NONE: u32 = u32::MAX;

/// `psched_mtu` bounds what a quantum may be: 256 bytes to a MiB.
pub(super) const QUANTA: (u32, u32) = (256, 1 << 20);

/// The turns of a scheduler's classes: a ring of those that have packets.
pub(super) struct Rounds {
    members: Vec<Member>,
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Member {
    quantum: u32,
    deficit: u32,
    before: u32,
    after: u32,
    is_active: bool,
}

impl Rounds {
    pub(super) fn new(quanta: impl Iterator<Item = u32>) -> Self {
        let member = |quantum| Member { quantum, deficit: 0, before: NONE, after: NONE, is_active: false };
        Self { members: quanta.map(member).collect(), first: NONE, last: NONE }
    }

    /// Sets the quantum of a class. The present deficit stays.
    pub(super) fn set_quantum(&mut self, at: u32, quantum: u32) {
        if let Some(member) = self.members.get_mut(at as usize) {
            member.quantum = quantum;
        }
    }

    /// Sets how many classes there are. Those that go leave the ring, and new ones have no quantum yet.
    pub(super) fn resize(&mut self, count: usize) {
        (count..self.members.len()).for_each(|at| self.remove(at as u32));
        let new = Member { quantum: 0, deficit: 0, before: NONE, after: NONE, is_active: false };
        self.members.resize(count, new);
    }

    /// Makes a class active, with a deficit of one quantum, unless it is active.
    pub(super) fn activate(&mut self, at: u32) {
        let member = &mut self.members[at as usize];
        if !member.is_active {
            member.deficit = member.quantum;
            self.append(at);
        }
    }

    fn append(&mut self, at: u32) {
        let last = core::mem::replace(&mut self.last, at);
        let member = &mut self.members[at as usize];
        (member.before, member.after, member.is_active) = (last, NONE, true);
        match self.members.get_mut(last as usize) {
            Some(member) => member.after = at,
            None => self.first = at,
        }
    }

    /// Takes a class out of the ring.
    pub(super) fn remove(&mut self, at: u32) {
        let Member { before, after, is_active, .. } = self.members[at as usize];
        if !is_active {
            return;
        }
        self.members[at as usize].is_active = false;
        match self.members.get_mut(before as usize) {
            Some(member) => member.after = after,
            None => self.first = after,
        }
        match self.members.get_mut(after as usize) {
            Some(member) => member.before = before,
            None => self.last = before,
        }
    }

    /// Takes the packet of the class whose turn it is. A class that has packets and gives none holds up all others, as
    /// in Linux.
    pub(super) fn take<P: Packet, O: Owner<P>>(
        &mut self,
        children: &mut Children<P>,
        now: Instant,
        owner: &mut O,
    ) -> Option<P> {
        while self.first != NONE {
            let at = self.first;
            let (len, emptied) = children.peek(at, now, owner);
            if emptied {
                self.remove(at);
            }
            let len = len?;
            let member = &mut self.members[at as usize];
            if len <= member.deficit {
                member.deficit -= len;
                let (packet, emptied) = children.take(at, now, owner);
                if emptied || packet.is_some() && children.packets(at) == 0 {
                    self.remove(at);
                }
                return packet;
            }
            member.deficit += member.quantum;
            self.remove(at);
            self.append(at);
        }
        None
    }
}
