//! The event queue: one entry a *component*, never one a packet.
//!
//! A component (a wire, a pipe, a connection's timer) has one next time at which it wants to act, or none. At equal
//! times the lower component number acts first: runs do not depend on the order of insertion.
//!
//! A few components, the wires and the first pipes, act with every packet: theirs is a plain array that is scanned, where
//! a move costs one store. The others, timers most of them, seldom act: theirs is a 4-ary heap that is indexed by
//! component, so that a time can be moved in place.

use goodqueue_units::Instant;

/// A component's number: its index, and its priority at equal times (lower first).
pub(crate) type Component = u32;

// Components in the order in which they act at equal times: as in the golden traces, timers come before ends of
// transmission, and those before arrivals. Of two, the first is the one of the way down.
pub(crate) const METRONOME: Component = 0;
pub(crate) const QDISC_TIMER: Component = 1;
pub(crate) const WIRE: Component = 3;
/// As many as there are distinct RTTs, twice; after them the timers of flows.
pub(crate) const PIPE: Component = 5;

/// The first component that is scanned, and how many are.
const FIRST: Component = QDISC_TIMER;
const SCANNED: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Instant,
    component: Component,
}

/// When each component acts next.
pub(crate) struct Agenda {
    /// The times of components from [`FIRST`] on.
    scanned: [Instant; SCANNED],
    /// Those of all others. Heap order: no entry is later than its children, which stand at `4 i + 1 ..= 4 i + 4`. Those that
    /// are scanned have an entry, too, which never has plans.
    heap: Vec<Entry>,
    /// Where in `heap` a component's entry stands.
    position: Vec<u32>,
}

impl Agenda {
    /// An agenda of `components` components, none of which has plans.
    pub(crate) fn new(components: usize) -> Self {
        let mut agenda = Self { scanned: [Instant::MAX; SCANNED], heap: Vec::new(), position: Vec::new() };
        agenda.grow(components.max(1));
        agenda
    }

    /// Makes room for `components` components; new ones have no plans.
    #[cold]
    pub(crate) fn grow(&mut self, components: usize) {
        for component in self.position.len() as u32..components as u32 {
            self.position.push(self.heap.len() as u32);
            self.heap.push(Entry { time: Instant::MAX, component });
        }
    }

    /// The next component to act, and when; `None` when nobody has plans.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Instant, Component)> {
        let mut first = Entry { time: self.scanned[0], component: FIRST };
        for (component, &time) in (FIRST..).zip(&self.scanned).skip(1) {
            if time < first.time {
                first = Entry { time, component };
            }
        }
        if self.heap[0] < first {
            first = self.heap[0];
        }
        (first.time != Instant::MAX).then_some((first.time, first.component))
    }

    fn scan_index(component: Component) -> usize {
        component.wrapping_sub(FIRST) as usize
    }

    /// When `component` acts next; [`Instant::MAX`]: never.
    #[inline]
    pub(crate) fn time(&self, component: Component) -> Instant {
        match self.scanned.get(Self::scan_index(component)) {
            Some(&time) => time,
            None => self.heap[self.position[component as usize] as usize].time,
        }
    }

    /// Plans `component` for `time`, in place of what it had planned; [`Instant::MAX`] takes its plan away.
    #[inline(always)] // several times a packet, and nearly always one store
    pub(crate) fn set(&mut self, component: Component, time: Instant) {
        match self.scanned.get_mut(Self::scan_index(component)) {
            Some(plan) => *plan = time,
            None => self.set_in_heap(component, time),
        }
    }

    #[inline(never)]
    fn set_in_heap(&mut self, component: Component, time: Instant) {
        let index = self.position[component as usize] as usize;
        let earlier = time < self.heap[index].time;
        let entry = Entry { time, component };
        if earlier { self.sift_up(index, entry) } else { self.sift_down(index, entry) }
    }

    fn place(&mut self, index: usize, entry: Entry) {
        self.heap[index] = entry;
        self.position[entry.component as usize] = index as u32;
    }

    fn sift_up(&mut self, mut index: usize, entry: Entry) {
        while index > 0 {
            let parent = (index - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.place(index, self.heap[parent]);
            index = parent;
        }
        self.place(index, entry);
    }

    fn sift_down(&mut self, mut index: usize, entry: Entry) {
        loop {
            let first = 4 * index + 1;
            let children = first..(first + 4).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if entry <= self.heap[least] {
                break;
            }
            self.place(index, self.heap[least]);
            index = least;
        }
        self.place(index, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain scan: a wrong heap would run events out of order.
        #[test]
        fn the_earliest_component_is_always_next(moves in prop::collection::vec((0_u32..40, 0_u64..50), 1..300)) {
            let mut agenda = Agenda::new(20);
            let mut times = [Instant::MAX; 40];
            for (number, (component, time)) in moves.into_iter().enumerate() {
                agenda.grow(20 + number);
                let component = component % (20 + number.min(20)) as u32;
                let time = if time == 0 { Instant::MAX } else { Instant::from_nanos(time) };
                agenda.set(component, time);
                times[component as usize] = time;
                let least = (0..40).map(|c| (times[c as usize], c)).min().unwrap();
                prop_assert_eq!(agenda.next(), (least.0 != Instant::MAX).then_some(least));
                prop_assert_eq!(agenda.time(component), time);
            }
        }
    }
}
