//! The children of a scheduler: what waits in all of them, and whose timer is next.
//!
//! Nothing here depends on the number of classes, except the logarithm of those that have a timer.

use super::change::Work;
use super::child::{Child, Offered, is_emptied};
use super::fields::Words;
use super::id::Id;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::signal::Owner;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use goodqueue_units::Instant;
use goodqueue_units::processor::prefetch;

/// The children of one scheduler, by number.
pub(super) struct Children<P> {
    all: Vec<Slot<P>>,
    backlog: Backlog,
    timers: BTreeSet<(Instant, u32)>,
}

/// One child.
// For the processor: one cache line.
#[repr(align(64))]
struct Slot<P> {
    child: Option<Child<P>>,
    /// What waits in it. It stands here for the processor: most questions are about this, and the child is elsewhere.
    backlog: Backlog,
    /// The time of this child's entry in the timers; [`Instant::MAX`]: it has none.
    due: Instant,
}

#[cfg(target_pointer_width = "64")]
const _: () = goodqueue_units::processor::fills_lines::<Slot<u8>>(1);

impl<P: Packet> Children<P> {
    /// Returns the children of classes, of which those without a discipline are no leaves.
    pub(super) fn new(all: Vec<Option<Child<P>>>) -> Self {
        let all = all
            .into_iter()
            .map(|child| Slot { child, backlog: Backlog::default(), due: Instant::MAX })
            .collect::<Vec<_>>();
        let mut children = Self { backlog: Backlog::default(), timers: BTreeSet::new(), all };
        for at in 0..children.all.len() {
            let due = children.all[at].child.as_ref().and_then(Child::next_timer);
            children.note_timer(at as u32, due);
        }
        children
    }

    /// Adds a child behind the others.
    pub(super) fn push(&mut self, child: Child<P>) {
        let due = child.next_timer();
        self.all.push(Slot { child: Some(child), backlog: Backlog::default(), due: Instant::MAX });
        self.note_timer(self.all.len() as u32 - 1, due);
    }

    /// Removes the children from number `count` on, with all that waits in them.
    pub(super) fn truncate<O: Owner<P>>(&mut self, count: usize, now: Instant, owner: &mut O) {
        for at in count..self.all.len() {
            self.with(at as u32, (), |child| child.purge(now, owner));
            _ = self.timers.remove(&(self.all[at].due, at as u32));
        }
        self.all.truncate(count);
    }

    /// Does what [`Child::change`] does. Returns whether the child has become empty by it.
    pub(super) fn change<O: Owner<P>>(
        &mut self,
        at: u32,
        now: Instant,
        path: &[Id],
        work: Work<P>,
        owner: &mut O,
    ) -> bool {
        let before = self.packets(at);
        self.with(at, (), |child| child.change(now, path, work, owner));
        before > 0 && self.packets(at) == 0
    }

    /// Prefetches what stands here of a child.
    pub(super) fn prefetch(&self, at: u32) {
        prefetch(&self.all[at as usize]);
    }

    /// Returns the child of the class number `at`, which must be a leaf.
    pub(super) fn get(&self, at: u32) -> Option<&Child<P>> {
        self.all[at as usize].child.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns what waits in all children.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns the packets that wait in one child.
    pub(super) fn packets(&self, at: u32) -> u32 {
        self.all[at as usize].backlog.packets
    }

    pub(super) fn is_work_conserving(&self) -> bool {
        self.all.iter().flat_map(|slot| &slot.child).all(Child::is_work_conserving)
    }

    /// Returns whether the children are leaves, none of which has filters of its own.
    pub(super) fn have_no_filters(&self) -> bool {
        self.all.iter().flat_map(|slot| &slot.child).all(Child::has_no_filters)
    }

    /// Returns whether all children show their heads: see [`Child::shows_head`].
    pub(super) fn show_heads(&self) -> bool {
        self.all.iter().flat_map(|slot| &slot.child).all(Child::shows_head)
    }

    /// Calls `work` with the child, and notes what has changed by it.
    fn with<T>(&mut self, at: u32, none: T, work: impl FnOnce(&mut Child<P>) -> T) -> T {
        let slot = &mut self.all[at as usize];
        let Some(child) = &mut slot.child else { return none };
        let before = slot.backlog;
        let result = work(child);
        let (after, due) = child.state();
        slot.backlog = after;
        self.backlog.packets = self.backlog.packets + after.packets - before.packets;
        self.backlog.bytes = self.backlog.bytes + after.bytes - before.bytes;
        self.note_timer(at, due);
        result
    }

    /// Notes that the child's next timer is `due`.
    fn note_timer(&mut self, at: u32, due: Option<Instant>) {
        let (slot, due) = (&mut self.all[at as usize], due.unwrap_or(Instant::MAX));
        if due != slot.due {
            _ = self.timers.remove(&(slot.due, at));
            if due < Instant::MAX {
                _ = self.timers.insert((due, at));
            }
            slot.due = due;
        }
    }

    /// Does what [`Child::offer`] does.
    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        at: u32,
        now: Instant,
        packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        if self.all[at as usize].child.is_none() {
            return Offered::no_class(packet, owner);
        }
        let mut packet = Some(packet);
        self.with(at, Offered::Queued, |child| match packet.take() {
            Some(packet) => child.offer(now, packet, words, owner),
            None => Offered::Queued,
        })
    }

    /// Takes the next packet of a child. The flag says that the child has dropped all that waited, and told the class
    /// above that it is empty.
    pub(super) fn take<O: Owner<P>>(&mut self, at: u32, now: Instant, owner: &mut O) -> (Option<P>, bool) {
        let before = self.all[at as usize].backlog;
        let (packet, is_told) = self.with(at, (None, false), |child| child.take(now, owner));
        let emptied = is_told && is_emptied(before, self.all[at as usize].backlog, packet.is_some());
        (packet, emptied)
    }

    /// Does what [`Child::peek`] does.
    pub(super) fn peek<O: Owner<P>>(&mut self, at: u32, now: Instant, owner: &mut O) -> (Option<u32>, bool) {
        self.with(at, (None, false), |child| child.peek(now, owner))
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Runs the timers that are due. Returns whether the link is to be asked ([`Child::on_timer`]), and the children
    /// that have become empty.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> (bool, Vec<u32>) {
        let due: Vec<u32> =
            self.timers.iter().take_while(|(due, _)| *due <= now).map(|(_, at)| *at).collect();
        let (mut asks, mut emptied) = (false, Vec::new());
        for at in due {
            let before = self.packets(at);
            asks |= self.with(at, false, |child| child.on_timer(now, owner));
            if before > 0 && self.packets(at) == 0 {
                emptied.push(at);
            }
        }
        (asks, emptied)
    }
}
