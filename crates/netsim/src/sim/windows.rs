//! A run in windows of time: first the hosts act up to the end of a window, then each link.
//!
//! What enters a wire comes out half a base RTT later. So all that can arrive at hosts in a window no longer than that
//! is known when the window begins, and nothing that the links do in it concerns the hosts before the next window.
//! Hosts and links then act in loops of their own, whose code and data stay in the processor's cache, and a link needs
//! no agenda. [Threads](super::threads) share out the same windows.
//!
//! Nothing but the order of the work differs from [`act_next`](Simulation::act_next): each host and each link does the
//! same at the same times.

use super::Simulation;
use super::shelf::Shelf;
use crate::flow::{Flow, Source};
use crate::ids::LinkId;
use crate::lists::ByDirection;
use crate::scenario::Line;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Duration, Instant};

/// In shorter windows, the change from hosts to links costs more than it gains.
const SHORTEST: Duration = Duration::from_micros(200);

/// The shortest time.
pub(super) const TICK: Duration = Duration::from_nanos(1);

impl Simulation {
    /// Runs to `until` in windows, if the run can. Begins no further window after `most` events. Returns how many
    /// events are left of them; none if the time `until` is not reached.
    pub(super) fn advance_in_windows(&mut self, until: Instant, most: u64) -> u64 {
        if !self.has_windows() || most == 0 {
            return most;
        }
        self.shelf = Some(Box::new(Shelf::Own(ByDirection::of(|_| Vec::new()))));
        self.look_anew(); // what came without windows has changed the pipes
        let now = self.now;
        self.links.iter_mut().for_each(|link| link.settle_before(now, &mut self.agenda));
        let end = until + TICK;
        let (mut from, mut events, mut delay) = (now, 0, self.least_delay());
        while from < end && events < most && delay >= SHORTEST {
            let beat = self.metronome.next_time();
            let to = (from + delay).min(end).min(beat);
            events += self.hosts_act_before(to);
            self.links_act_before(to);
            if to == beat && to < end {
                self.now = to;
                self.beat();
                delay = self.least_delay(); // the base RTT may have changed
            }
            from = to;
        }
        self.shelf = None;
        self.now = now.max(Instant::ZERO + from.since(Instant::ZERO + TICK));
        self.links.iter().for_each(|link| link.plan_wire(&mut self.agenda));
        most.saturating_sub(events)
    }

    /// Lets each pipe forget until when only segments of bulk transfers come out of it.
    pub(super) fn look_anew(&mut self) {
        let has_others = self.flow_paths.iter().any(|path| !path.is_bulk);
        self.links.iter_mut().for_each(|link| link.pipes.look_anew(has_others));
    }

    /// Lets the hosts act before `until`. Returns the number of events.
    pub(super) fn hosts_act_before(&mut self, until: Instant) -> u64 {
        let mut events = self.hear_before(until);
        while let Some((time, component)) = self.agenda.next_of_hosts(until) {
            self.now = time;
            #[cfg(feature = "threads")]
            self.take_turn(component);
            self.act(component);
            events += 1 + self.hear_before(until);
        }
        events
    }

    /// Lets the links act before `until`. The shelf has what hosts have sent before then.
    fn links_act_before(&mut self, until: Instant) {
        let is_crowded = self.is_crowded();
        let Some(Shelf::Own(sent)) = self.shelf.as_deref_mut() else { return };
        for (link, sent) in self.links.iter_mut().zip(sent.iter_mut()) {
            link.run(sent, until, is_crowded, &mut self.agenda);
            sent.clear();
        }
    }

    /// Returns whether the run may go through windows: nothing acts at once on what happens elsewhere.
    fn has_windows(&self) -> bool {
        self.row.is_none()
            && self.observer.is_none()
            && self.shelf.is_none()
            && self.why_at_once().is_none()
            && self.least_delay() >= SHORTEST
    }

    /// Returns the shortest time from a link to a host.
    pub(super) fn least_delay(&self) -> Duration {
        let [down, up] = Direction::ALL.map(|way| self.links[LinkId::bottleneck(way)].pipes.shortest());
        down.min(up)
    }

    /// Returns why hosts and links have to act in the order of time, if they do.
    pub(super) fn why_at_once(&self) -> Option<&'static str> {
        let is_own = |flow: &Flow| match &flow.source {
            Source::Bulk(cc) => cc.own.is_some(),
            Source::App(app) => app.cc().own.is_some(),
            Source::Isochronous(_) | Source::Outside { .. } => false,
        };
        let is_outside = |flow: &Flow| matches!(&flow.source, Source::Outside { .. });
        let bottlenecks = Direction::ALL.map(|direction| self.scenario.link(direction));
        let hops = self.scenario.hops.list.iter().filter_map(|hop| hop.link.as_ref());
        let has_foreign =
            bottlenecks.into_iter().chain(hops).any(|link| matches!(link.line, Line::Foreign(_)));
        let rules = [
            (has_foreign, "a discipline is written in Python"),
            (self.flows.iter().any(is_own), "a congestion control is written in Python"),
            (self.flows.iter().any(is_outside), "a flow's endpoints are another program's"),
            (self.autorate.is_some(), "a program sets the rates"),
        ];
        rules.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
    }
}
