//! The event queue: one entry a *component*, never one a packet.
//!
//! A component (a wire, a pipe, a connection's timer) has one next time at which it wants to act, or none. At equal
//! times the lower component number acts first: runs do not depend on the order of insertion.
//!
//! A few components, the wires and the first pipes, act with every packet: theirs is a plain array that is scanned,
//! where a move costs one store. The others, timers most of them, seldom act: theirs is a [`Calendar`].

use crate::calendar::{Calendar, Entry};
use crate::component::Component;
use crate::ids::Number;
use goodqueue_units::Instant;

/// The first component that is scanned, and how many are.
const FIRST: Component = Component::FIRST_BUSY;
const SCANNED: usize = 4;

/// When each component acts next.
pub(crate) struct Agenda {
    /// The times of components from [`FIRST`] on.
    scanned: [Instant; SCANNED],
    /// Those of all others.
    calendar: Calendar,
}

impl Agenda {
    /// An agenda of `components` components, none of which has plans.
    pub(crate) fn new(components: usize) -> Self {
        let mut agenda = Self { scanned: [Instant::MAX; SCANNED], calendar: Calendar::default() };
        agenda.grow(components);
        agenda
    }

    /// Makes room for `components` components; new ones have no plans.
    pub(crate) fn grow(&mut self, components: usize) {
        self.calendar.grow(components);
    }

    /// The next component to act, and when; `None` when nobody has plans.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Instant, Component)> {
        let (mut time, mut component) = (self.scanned[0], FIRST);
        for (place, &other) in self.scanned.iter().enumerate().skip(1) {
            if other < time {
                (time, component) = (other, Component::at(FIRST.index() + place));
            }
        }
        while self.calendar.first() < Entry::new(time, component) {
            if self.calendar.turn() {
                let first = self.calendar.first();
                return Some((first.time(), first.component()));
            }
        }
        (time != Instant::MAX).then_some((time, component))
    }

    /// The component of the calendar whose turn comes so many places after its first, as far as that is known.
    #[inline]
    pub(crate) fn behind(&self, places: usize) -> Option<Component> {
        self.calendar.behind(places)
    }

    fn scan_index(component: Component) -> usize {
        component.index().wrapping_sub(FIRST.index())
    }

    /// Plans `component` for `time`, in place of what it had planned; [`Instant::MAX`] takes its plan away.
    #[inline(always)] // several times a packet, and nearly always one store
    pub(crate) fn set(&mut self, component: Component, time: Instant) {
        match self.scanned.get_mut(Self::scan_index(component)) {
            Some(plan) => *plan = time,
            None => self.set_in_calendar(component, time),
        }
    }

    #[inline(never)]
    fn set_in_calendar(&mut self, component: Component, time: Instant) {
        self.calendar.set(component, time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Duration;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain scan: a wrong calendar would run events out of order, or lose them. Plans are from
        /// nanoseconds to days ahead, moved and taken back; sometimes time goes on to the next one, which then has
        /// others or stays.
        #[test]
        fn the_earliest_component_is_always_next(
            moves in prop::collection::vec((0_usize..40, 0_u64..50, 0_u32..45, 0_u8..4), 1..300),
        ) {
            let mut agenda = Agenda::new(20);
            let mut times = [Instant::MAX; 40];
            let mut now = Instant::ZERO;
            for (number, (component, ahead, shift, acts)) in moves.into_iter().enumerate() {
                agenda.grow(20 + number);
                let all = || (0..40).map(Component::at);
                let (first, next) = all().map(|c| (times[c.index()], c)).min().unwrap();
                let component = if acts < 2 && first != Instant::MAX {
                    now = first;
                    next
                } else {
                    Component::at(component % (20 + number.min(20)))
                };
                let plan = now + Duration::from_nanos(ahead << shift);
                let time = if ahead == 0 && acts != 1 { Instant::MAX } else { plan };
                agenda.set(component, time);
                times[component.index()] = time;
                let least = all().map(|c| (times[c.index()], c)).min().unwrap();
                prop_assert_eq!(agenda.next(), (least.0 != Instant::MAX).then_some(least));
            }
        }
    }
}
