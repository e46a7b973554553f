//! A discipline without classes, made when its first packet comes: most of ten thousand subscribers are idle.

use crate::packet::Packet;
use crate::param::{Args, Error, Link, Value};
use crate::qdisc::{Backlog, Enqueued, Head, Qdisc};
use crate::registry::AnyQdisc;
use crate::signal::Owner;
use alloc::sync::Arc;
use goodqueue_units::Instant;

/// What the leaves of one line share.
pub(super) struct Pattern {
    args: Args,
    link: Link,
    is_work_conserving: bool,
    /// Whether the discipline shows the length of its head. It then has none while it is empty.
    shows_head: bool,
    /// Whether the discipline has a timer from the beginning, so that it cannot be made later.
    is_at_once: bool,
}

impl Pattern {
    /// Returns the pattern of the line `args`.
    ///
    /// # Errors
    /// Fails as [`AnyQdisc::build`] does.
    pub(super) fn new<P: Packet>(args: Args, link: Link) -> Result<Self, Error> {
        let made = AnyQdisc::<P>::build(&args, &link)?;
        Ok(Self {
            args,
            link,
            is_work_conserving: made.is_work_conserving(),
            shows_head: made.head() == Head::Nothing,
            is_at_once: made.next_timer().is_some(),
        })
    }

    /// Returns the number of packets above which a change drops the excess. `None`: it drops none.
    pub(super) fn evicts_above(&self) -> Option<u32> {
        let name = self.args.spec.name;
        let evicts = matches!(name, "codel" | "fq_codel" | "fq" | "pie" | "fq_pie" | "dualpi2");
        match self.args.value("limit").filter(|_| evicts) {
            Some(Value::Integer(limit)) => Some(u32::try_from(limit).unwrap_or(u32::MAX)),
            _ => None,
        }
    }
}

/// A leaf.
pub(super) struct Leaf<P> {
    pattern: Arc<Pattern>,
    made: Option<AnyQdisc<P>>,
}

impl<P: Packet> Leaf<P> {
    pub(super) fn new(pattern: Arc<Pattern>) -> Self {
        let made = if pattern.is_at_once { Self::build(&pattern) } else { None };
        Self { pattern, made }
    }

    /// Takes the parameters of `pattern`, as `tc qdisc change` does.
    pub(super) fn change<O: Owner<P>>(&mut self, now: Instant, pattern: Arc<Pattern>, owner: &mut O) {
        let mut args = pattern.args.clone();
        let resolved = args.resolve(pattern.link.rate).is_ok();
        debug_assert!(resolved, "the pattern was built");
        match &mut self.made {
            // red begins anew with an empty queue (`__red_change`).
            Some(made) if pattern.args.spec.name == "red" => {
                while let Some(packet) = made.dequeue(now, owner) {
                    owner.dropped(packet, crate::Drop::Overlimit);
                }
                self.made = Self::build(&pattern);
            }
            Some(made) => {
                let changed = made.renew(now, args, owner).is_ok();
                debug_assert!(changed, "the pattern was built");
            }
            None if pattern.is_at_once => self.made = Self::build(&pattern),
            None => {}
        }
        self.pattern = pattern;
    }

    /// Builds the discipline. The pattern was built before, so this does not fail.
    fn build(pattern: &Pattern) -> Option<AnyQdisc<P>> {
        AnyQdisc::build(&pattern.args, &pattern.link).ok()
    }

    pub(super) fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        if self.made.is_none() {
            self.made = Self::build(&self.pattern);
        }
        match &mut self.made {
            Some(qdisc) => qdisc.enqueue(now, packet, owner),
            None => {
                owner.dropped(packet, crate::Drop::Overlimit);
                Enqueued::Dropped
            }
        }
    }

    pub(super) fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.made.as_mut()?.dequeue(now, owner)
    }

    /// Returns the length of the head, or that there is none. The outer `None`: the discipline does not show it.
    pub(super) fn shown(&self) -> Option<Option<u32>> {
        match self.made.as_ref().map(Qdisc::head) {
            Some(Head::Length(len)) => Some(Some(len)),
            Some(Head::Unknown) => None,
            Some(Head::Nothing) => Some(None),
            None => self.pattern.shows_head.then_some(None),
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.made.as_ref().map(Qdisc::backlog).unwrap_or_default()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.made.as_ref()?.next_timer()
    }

    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        if let Some(qdisc) = &mut self.made {
            qdisc.on_timer(now, owner);
        }
    }

    pub(super) fn is_work_conserving(&self) -> bool {
        self.pattern.is_work_conserving
    }

    /// Returns whether the head is shown without being taken.
    pub(super) fn shows_head(&self) -> bool {
        self.pattern.shows_head
    }
}
