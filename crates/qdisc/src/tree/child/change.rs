//! Changes of the discipline of a class during a run.

use super::super::change::Work;
use super::super::id::Id;
use super::{Child, Node};
use crate::packet::Packet;
use crate::signal::{Drop, Owner};
use goodqueue_units::Instant;

impl<P: Packet> Child<P> {
    /// Does `work` at the discipline to which `path` leads: the classes from here down. The plan has checked that it is
    /// there, and of the kind that the work is for.
    pub(in super::super) fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        path: &[Id],
        work: Work<P>,
        owner: &mut O,
    ) {
        match (&mut self.node, path, work) {
            (Node::Htb(own), [], Work::Shape(id, shape)) => own.reshape(id, shape),
            (Node::Hfsc(own), [], Work::Curves(id, curves)) => own.set_curves(now, id, curves, owner),
            (Node::Hfsc(own), [], Work::Default(minor)) => own.set_default(minor),
            (Node::Drr(own), [], Work::Quantum(id, quantum)) => own.set_quantum(id, quantum),
            (Node::Bands(own), [], Work::Quantum(id, quantum)) => own.set_quantum(id, quantum),
            (Node::Bands(own), [], Work::Bands(asked, pattern)) => own.retune(now, asked, &pattern, owner),
            (Node::Leaf(leaf), [], Work::Leaf(pattern)) => leaf.change(now, pattern, owner),
            (Node::Htb(own), [class, below @ ..], work) => {
                own.change_below(now, (*class, below), work, owner)
            }
            (Node::Hfsc(own), [class, below @ ..], work) => {
                own.change_below(now, (*class, below), work, owner)
            }
            (Node::Drr(own), [class, below @ ..], work) => {
                own.change_below(now, (*class, below), work, owner)
            }
            (Node::Bands(own), [class, below @ ..], work) => {
                own.change_below(now, (*class, below), work, owner)
            }
            _ => {}
        }
    }

    /// Drops all that waits. The discipline is one that gives its packets whenever it is asked.
    pub(in super::super) fn purge<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        while let (Some(packet), _) = self.take(now, owner) {
            owner.dropped(packet, Drop::Overlimit);
        }
    }
}
