//! A discipline without classes, made when its first packet comes: most of ten thousand subscribers are idle.

use super::chain::{Chain, asked};
use super::child::Offered;
use super::fields::Words;
use super::id::Id;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link};
use crate::qdisc::{Backlog, Enqueued, Qdisc};
use crate::registry::AnyQdisc;
use crate::signal::Owner;
use alloc::sync::Arc;
use goodqueue_units::Instant;

/// What the leaves of one line share.
pub(super) struct Pattern<P> {
    args: Args,
    link: Link,
    /// The discipline of which each leaf has one.
    sample: AnyQdisc<P>,
    is_work_conserving: bool,
    /// Whether the discipline shows the length of its head. It then has none while it is empty.
    shows_head: bool,
    /// Whether the discipline reports what a dequeue has dropped when the packet that leaves no longer counts
    /// (`codel_qdisc_dequeue`, `fq_codel_dequeue`). Others report each drop while that packet still waits.
    reports_last: bool,
    /// Whether the discipline has a timer from the beginning, so that it cannot be made later.
    is_at_once: bool,
}

impl<P: Packet> Pattern<P> {
    /// Returns the pattern of the line `args`.
    ///
    /// # Errors
    /// Fails as [`AnyQdisc::build`] does.
    pub(super) fn new(args: Args, link: Link) -> Result<Self, Error> {
        let mut sample = AnyQdisc::build(&args, &link)?;
        Ok(Self {
            is_work_conserving: sample.is_work_conserving(),
            shows_head: matches!(sample.look(), Look::Shown(_)),
            reports_last: ["codel", "fq_codel"].contains(&args.spec.name),
            is_at_once: sample.next_timer().is_some(),
            sample,
            args,
            link,
        })
    }
}

/// The filters of a discipline without classes.
pub(super) struct Filters {
    /// The discipline's handle, if it heeds the class that a packet itself asks for. Otherwise [`Id::NONE`].
    pub(super) handle: Id,
    pub(super) chain: Chain,
}

impl Filters {
    /// Returns the classid of a packet: that for which it asks itself, or that of the first filter that matches.
    fn classid(&self, words: &Words) -> Option<Id> {
        match asked(words) {
            id if self.handle != Id::NONE && id.major() == self.handle.major() && id.minor() > 0 => Some(id),
            _ => self.chain.classid(words),
        }
    }
}

/// A leaf.
pub(super) struct Leaf<P> {
    pattern: Arc<Pattern<P>>,
    made: Option<AnyQdisc<P>>,
    filters: Option<Arc<Filters>>,
}

impl<P: Packet> Leaf<P> {
    pub(super) fn new(pattern: Arc<Pattern<P>>, filters: Option<Arc<Filters>>) -> Self {
        let made = if pattern.is_at_once { Self::build(&pattern) } else { None };
        Self { pattern, made, filters }
    }

    /// Takes the parameters of `pattern`, as `tc qdisc change` does.
    pub(super) fn change<O: Owner<P>>(&mut self, now: Instant, pattern: Arc<Pattern<P>>, owner: &mut O) {
        let mut args = pattern.args.clone();
        let resolved = args.resolve(pattern.link.rate).is_ok();
        debug_assert!(resolved, "the pattern was built");
        match &mut self.made {
            // red begins anew with an empty queue (`__red_change`).
            Some(made) if pattern.args.spec.name == "red" => {
                while let Some(packet) = made.take(now, owner) {
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

    /// Builds the discipline. The sample was built before, so this does not fail.
    fn build(pattern: &Pattern<P>) -> Option<AnyQdisc<P>> {
        pattern.sample.another().ok()
    }

    /// Offers `packet`, of which filters see `words`. A packet that `fq_codel`, `sfq` or `sfb` drops because no
    /// filter of its own matches, the class above has not had (`fq_codel_classify`, `__NET_XMIT_BYPASS`).
    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        if self.made.is_none() {
            self.made = Self::build(&self.pattern);
        }
        let answer = match (&mut self.made, &self.filters) {
            (Some(qdisc), None) => qdisc.enqueue(now, packet, owner),
            (Some(qdisc), Some(filters)) => {
                match qdisc.enqueue_into(now, packet, filters.classid(words), owner) {
                    Some(answer) => answer,
                    None => return Offered::Refused(Enqueued::Success),
                }
            }
            (None, _) => {
                owner.dropped(packet, crate::Drop::Overlimit);
                Enqueued::Dropped
            }
        };
        // `netem` reports a lost packet as taken, but the class above has not had it (`__NET_XMIT_BYPASS`).
        let waits = answer == Enqueued::Success && self.backlog().packets > 0;
        if waits { Offered::Queued } else { Offered::Refused(answer) }
    }

    pub(super) fn has_no_filters(&self) -> bool {
        self.filters.is_none()
    }

    /// Does what [`AnyQdisc::approach`] does.
    pub(super) fn approach(&self, packet: &P, step: usize) {
        if let Some(qdisc) = &self.made {
            qdisc.approach_leaf(packet, step);
        }
    }

    /// Does what [`Child::approach_next`](super::child::Child::approach_next) does.
    pub(super) fn approach_next(&self, step: usize) {
        if let Some(qdisc) = &self.made {
            qdisc.approach_next(step);
        }
    }

    /// Takes the next packet. The flag says whether the discipline tells the class above at once if it becomes empty by
    /// drops ([`Child::take`](super::child::Child::take)).
    pub(super) fn take<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> (Option<P>, bool) {
        let packet = self.made.as_mut().and_then(|qdisc| qdisc.take(now, owner));
        let is_told = packet.is_none() || self.pattern.reports_last;
        (packet, is_told)
    }

    /// Returns the length of the packet that would leave next, and whether the discipline has become empty by drops. A
    /// packet that it keeps counts before it reports what it has dropped (`codel_peek`, `fq_codel_peek`).
    pub(super) fn peek<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> (Option<u32>, bool) {
        let Some(qdisc) = &mut self.made else { return (None, false) };
        let before = qdisc.backlog().packets;
        let len = qdisc.peek(now, owner);
        (len, before > 0 && qdisc.backlog().packets == 0)
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.made.as_ref().map(Qdisc::backlog).unwrap_or_default()
    }

    /// Does what [`Child::state`](super::child::Child::state) does.
    pub(super) fn state(&self) -> (Backlog, Option<Instant>) {
        self.made.as_ref().map(Qdisc::state).unwrap_or_default()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.made.as_ref()?.next_timer()
    }

    /// Runs the timer. Returns whether the link is to be asked, which is so if the discipline holds packets back.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> bool {
        if let Some(qdisc) = &mut self.made {
            qdisc.on_timer(now, owner);
        }
        !self.pattern.is_work_conserving
    }

    pub(super) fn is_work_conserving(&self) -> bool {
        self.pattern.is_work_conserving
    }

    /// Returns whether the head is shown without being taken.
    pub(super) fn shows_head(&self) -> bool {
        self.pattern.shows_head
    }
}
