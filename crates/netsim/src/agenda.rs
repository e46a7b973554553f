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
const FIRST: Component = WIRE;
const SCANNED: usize = 4;

/// A time and a component, as one number: of two, the one that acts first is known without a branch, which nothing could
/// predict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(time: Instant, component: Component) -> Self {
        Self(u128::from(time.as_nanos()) << 64 | u128::from(component))
    }
    #[inline]
    fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
    #[inline]
    fn component(self) -> Component {
        self.0 as Component
    }
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
            self.heap.push(Entry::new(Instant::MAX, component));
        }
    }

    /// The next component to act, and when; `None` when nobody has plans.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Instant, Component)> {
        let (mut time, mut component) = (self.scanned[0], FIRST);
        for (number, &other) in (FIRST..).zip(&self.scanned).skip(1) {
            if other < time {
                (time, component) = (other, number);
            }
        }
        if self.heap[0] < Entry::new(time, component) {
            (time, component) = (self.heap[0].time(), self.heap[0].component());
        }
        (time != Instant::MAX).then_some((time, component))
    }

    fn scan_index(component: Component) -> usize {
        component.wrapping_sub(FIRST) as usize
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
        let entry = Entry::new(time, component);
        if entry < self.heap[index] { self.sift_up(index, entry) } else { self.sift_down(index, entry) }
    }

    fn place(&mut self, index: usize, entry: Entry) {
        self.heap[index] = entry;
        self.position[entry.component() as usize] = index as u32;
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
            let children = self.heap.get(first..).unwrap_or_default();
            let (least, child) = if let Some(&[a, b, c, d]) = children.first_chunk() {
                earlier(earlier((0, a), (1, b)), earlier((2, c), (3, d)))
            } else if let Some(least) = children.iter().copied().enumerate().reduce(earlier) {
                least
            } else {
                break;
            };
            if entry <= child {
                break;
            }
            self.place(index, child);
            index = first + least;
        }
        self.place(index, entry);
    }
}

/// Which of two children, each with its number, acts first.
#[inline]
fn earlier(a: (usize, Entry), b: (usize, Entry)) -> (usize, Entry) {
    if b.1 < a.1 { b } else { a }
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
            }
        }
    }
}
