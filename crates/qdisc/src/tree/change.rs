//! Changes of a tree while it runs: what a command does to the discipline that it names.
//!
//! Source: `htb_change_class`, `hfsc_change_class`, `drr_change_class`, `ets_class_change`, `hfsc_change_qdisc`,
//! `prio_tune`, `ets_qdisc_change`, and `qdisc_change` of a leaf (net/sched, 6.1). No change asks for a packet, and a
//! watchdog stays: an idle link sends at the time that was due before the change, or at the next arrival.

use super::bands::Tuning;
use super::build::{self, WITHOUT_A_COMMAND};
use super::curve::Spec;
use super::htb::Shape;
use super::id::Id;
use super::leaf::Pattern;
use super::params::Scheduler;
use super::plan::{Set, Step};
use super::{Change, Tree};
use crate::packet::Packet;
use crate::param::{Args, Error, Link};
use crate::registry::parse_inner;
use crate::signal::Owner;
use alloc::sync::Arc;
use alloc::vec::Vec;
use goodqueue_units::Instant;

/// What is done to one discipline.
pub(super) enum Work<P> {
    /// Sets the parameters of a class of `htb`.
    Shape(Id, Shape),
    /// Sets curves of a class of `hfsc`.
    Curves(Id, [Option<Spec>; 3]),
    /// Sets the quantum of a class of `drr` or `ets`.
    Quantum(Id, u32),
    /// Sets the default class of `hfsc`.
    Default(u16),
    /// Sets the parameters of `prio` or `ets`. New bands have the discipline of the pattern.
    Bands(Tuning, Arc<Pattern<P>>),
    /// Sets the parameters of a discipline without classes.
    Leaf(Arc<Pattern<P>>),
}

impl<P: Packet> Work<P> {
    /// Returns the work of `set`, below `link` in the tree of `args`.
    ///
    /// # Errors
    /// Fails as building the discipline or the class does.
    fn new(set: Set, args: &Args, link: Link) -> Result<Self, Error> {
        let pattern = |own: Args| Pattern::new(own.beside(args), link).map(Arc::new);
        Ok(match set {
            Set::Htb { id, args: own, r2q } => Self::Shape(id, build::shape(own.beside(args), r2q, link)?),
            Set::Hfsc { id, curves } => Self::Curves(id, curves),
            Set::Quantum { id, quantum } => Self::Quantum(id, quantum),
            Set::Default(minor) => Self::Default(minor),
            Set::Bands { asked, .. } => {
                Self::Bands(Tuning::of(&asked), pattern(parse_inner(WITHOUT_A_COMMAND)?)?)
            }
            Set::Leaf { args: own, .. } => Self::Leaf(pattern(Args::clone(&own))?),
        })
    }
}

impl Tuning {
    /// Returns the parameters of `prio` or `ets`. In `prio` all bands are strict.
    pub(super) fn of(asked: &Scheduler) -> Self {
        match asked {
            Scheduler::Ets { strict, quanta, priomap } => {
                Self { strict: *strict, quanta: quanta.clone(), priomap: *priomap }
            }
            Scheduler::Prio { bands, priomap } => {
                Self { strict: *bands, quanta: alloc::vec![0; *bands as usize], priomap: *priomap }
            }
            _ => Self { strict: 1, quanta: alloc::vec![0], priomap: [0; 16] },
        }
    }
}

impl<P: Packet> Tree<P> {
    /// Carries out `change`.
    ///
    /// # Errors
    /// Fails as building the changed disciplines does, and then nothing has changed.
    pub(crate) fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        change: Change,
        owner: &mut O,
    ) -> Result<(), Error> {
        let works = change.steps.into_iter().map(|Step { path, set }| {
            let work = Work::new(set, &change.args, self.link)?;
            Ok((path, work))
        });
        for (path, work) in works.collect::<Result<Vec<_>, Error>>()? {
            self.root.change(now, &path, work, owner);
        }
        self.args = change.args;
        self.is_work_conserving = self.root.is_work_conserving();
        Ok(())
    }
}
