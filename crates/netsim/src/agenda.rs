//! The event queue: one entry per *component*, not per packet.
//!
//! A component (a wire, a pipe, a connection's timer) has at most one next time at which it wants to act. At equal
//! times the component with the lower number acts first, so runs do not depend on the order of insertion. Connections
//! of applications get their numbers during the run, from slots that are used again. So their rank at equal times is
//! that of their flow, and their number decides only within a flow.
//!
//! A few components, those of the bottlenecks and the first pipes, act with every packet. Their times stand in a plain
//! array that is scanned; changing a time there is one store. So do the times of some more pipes, if there are several
//! base RTTs, and of the parts of a short row of hops. The other components, most of them timers, seldom act. Their
//! times stand in a [`Calendar`].

use crate::calendar::{Calendar, Entry};
use crate::component::Component;
use crate::ids::Number;
use goodqueue_units::Instant;

/// The first component in the scanned array, and the number of components in it.
const FIRST: Component = Component::FIRST_BUSY;
const SCANNED: usize = 6;

/// The pipes of so many base RTTs are scanned. One is enough for the page, whose module is smaller then.
pub(crate) const SCANNED_PIPES: usize = if cfg!(target_family = "wasm") { 1 } else { 8 };

/// A row of at most so many parts is scanned. Three links in a row have 15 with their gates.
const SCANNED_PARTS: usize = if cfg!(target_family = "wasm") { 0 } else { 16 };

/// The most components that are scanned besides the first ones.
const MORE: usize = 2 * (SCANNED_PIPES - 1) + SCANNED_PARTS;

/// Returns how many of the `pipes` pipes of a direction are scanned: all of them, or the first one if they are many.
#[inline]
pub(crate) fn scanned(pipes: usize) -> usize {
    if pipes <= SCANNED_PIPES { pipes } else { 1 }
}

/// The time at which each component acts next.
pub(crate) struct Agenda {
    /// The times of [`SCANNED`] components, from [`FIRST`] on.
    scanned: [Instant; SCANNED],
    /// The times of the pipes that follow, and then of the row's parts, which are scanned too.
    more: Vec<Instant>,
    /// The times of all other components.
    calendar: Calendar,
}

impl Agenda {
    /// Builds an agenda of `components` components without plans, among them `pipes` pipes of each direction, and then
    /// `parts` parts of a row.
    pub(crate) fn new(components: usize, pipes: usize, parts: usize) -> Self {
        let more = 2 * scanned(pipes).saturating_sub(1);
        let parts = if scanned(pipes) == pipes && parts <= SCANNED_PARTS { parts } else { 0 };
        Self {
            scanned: [Instant::MAX; SCANNED],
            more: vec![Instant::MAX; more + parts],
            calendar: Calendar::new(components),
        }
    }

    /// Returns the number of components.
    pub(crate) fn len(&self) -> usize {
        self.calendar.len()
    }

    /// Adds a component without a plan. Its number is the next one. `rank` is a number after those of the first
    /// components.
    pub(crate) fn add(&mut self, rank: u32) {
        self.calendar.add(rank);
    }

    /// Returns the rank of `component` at equal times.
    #[cfg(feature = "threads")]
    pub(crate) fn rank(&self, component: Component) -> u32 {
        self.calendar.rank(component)
    }

    /// Returns the next component to act and its time, or `None` if no component has a plan.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Instant, Component)> {
        let (mut time, mut component) = (self.scanned[0], FIRST);
        for (place, &other) in self.scanned.iter().enumerate().skip(1) {
            if other < time {
                (time, component) = (other, Component::at(FIRST.index() + place));
            }
        }
        let (time, component) = self.earlier(time, component);
        while self.calendar.first() < Entry::new(time, component) {
            if self.calendar.turn() {
                let first = self.calendar.first();
                return Some((first.time(), first.component()));
            }
        }
        (time != Instant::MAX).then_some((time, component))
    }

    /// Returns the next component of the hosts to act before `limit`, and its time. The components of the bottlenecks
    /// are not asked. `limit` is no later than the metronome's time.
    #[inline]
    pub(crate) fn next_of_hosts(&mut self, limit: Instant) -> Option<(Instant, Component)> {
        let [.., down, up] = self.scanned;
        let (time, place) = if down <= up { (down, SCANNED - 2) } else { (up, SCANNED - 1) };
        let (time, component) = self.earlier(time, Component::at(FIRST.index() + place));
        let first = if time < limit { Entry::new(time, component) } else { Entry::at(limit, 0) };
        while self.calendar.first() < first {
            if self.calendar.turn() {
                let first = self.calendar.first();
                return Some((first.time(), first.component()));
            }
        }
        (time < limit).then_some((time, component))
    }

    /// Returns the scanned component that acts before `component`, which acts at `time`, and when; or these, if there
    /// is none.
    #[inline]
    fn earlier(&self, time: Instant, component: Component) -> (Instant, Component) {
        let mut first = (time, component);
        for (place, &other) in self.more.iter().enumerate().take(MORE) {
            if other < first.0 {
                first = (other, Component::at(FIRST.index() + SCANNED + place));
            }
        }
        first
    }

    /// Returns whether a packet comes out of a scanned pipe before `limit`, and before another component of the hosts
    /// acts. Where hosts act in a loop of their own, no part of a row has a plan.
    #[inline]
    pub(crate) fn is_pipes_turn(&self, limit: Instant) -> bool {
        let [.., down, up] = self.scanned;
        self.more.iter().fold(down.min(up), |first, time| first.min(*time)) < limit.min(self.calm_until())
    }

    /// Returns a time before which no component acts but those that are scanned.
    #[inline]
    pub(crate) fn calm_until(&self) -> Instant {
        self.calendar.first().time()
    }

    /// Returns when a component of a bottleneck acts.
    #[inline]
    pub(crate) fn time_of(&self, component: Component) -> Instant {
        self.scanned.get(Self::scan_index(component)).copied().unwrap_or(Instant::MAX)
    }

    /// Returns the component that acts `places` places after the calendar's first one, if that is known.
    #[inline]
    pub(crate) fn behind(&self, places: usize) -> Option<Component> {
        self.calendar.behind(places)
    }

    fn scan_index(component: Component) -> usize {
        component.index().wrapping_sub(FIRST.index())
    }

    /// Plans `component` for `time` and replaces its earlier plan. [`Instant::MAX`] removes the plan.
    #[inline(always)] // several times per packet, and nearly always one store
    pub(crate) fn set(&mut self, component: Component, time: Instant) {
        match self.scanned.get_mut(Self::scan_index(component)) {
            Some(plan) => *plan = time,
            None => self.set_seldom(component, time),
        }
    }

    #[inline(never)]
    fn set_seldom(&mut self, component: Component, time: Instant) {
        match self.more.get_mut(Self::scan_index(component).wrapping_sub(SCANNED)) {
            Some(plan) => *plan = time,
            None => self.calendar.set(component, time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Duration;
    use proptest::prelude::*;

    proptest! {
        /// Compares the agenda with a plain scan: a wrong calendar would run events out of order, or lose them. Plans
        /// are made from nanoseconds to days ahead, moved and removed. Sometimes the time advances to the next
        /// component, which then gets another plan or keeps its own. Components that were added have ranks that go
        /// against their numbers.
        #[test]
        fn the_earliest_component_is_always_next(
            moves in prop::collection::vec((0_usize..40, 0_u64..50, 0_u32..45, 0_u8..4), 1..300),
            pipes in prop_oneof![0_usize..8, 9_usize..12], // up to seven are among the first 20 components
            parts in 0_usize..18,
        ) {
            let parts = parts.min(15_usize.saturating_sub(2 * pipes)); // they are, too
            let mut agenda = Agenda::new(20, pipes, parts);
            let mut times = [Instant::MAX; 40];
            let mut now = Instant::ZERO;
            for (number, (component, ahead, shift, acts)) in moves.into_iter().enumerate() {
                if number < 20 {
                    agenda.add(60 - number as u32 / 2);
                }
                let rank = |c: Component| if c.index() < 20 { c.index() } else { 60 - (c.index() - 20) / 2 };
                let all = || (0..40).map(Component::at);
                let least = |times: &[Instant; 40]| all().map(|c| (times[c.index()], rank(c), c)).min().unwrap();
                let (first, _, next) = least(&times);
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
                let (time, _, component) = least(&times);
                prop_assert_eq!(agenda.next(), (time != Instant::MAX).then_some((time, component)));
            }
        }
    }
}
