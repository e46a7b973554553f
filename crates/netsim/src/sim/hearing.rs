//! The loop of hosts in a window, for the segments of bulk transfers. They are nearly all that happens at most hosts.

use super::Simulation;
use super::flow_path::FlowPath;
use super::shelf::{Shelf, Take};
use crate::agenda::Agenda;
use crate::calendar::Entry;
use crate::component::{Component, Components};
use crate::ids::{FlowId, LinkId, Number, PipeId};
use crate::link::Link;
use crate::lists::{ByDirection, List, PerFlow};
use crate::packet::{Body, Packet};
use crate::sockets::Bulk;
use goodqueue_hosts::direction::Direction;
use goodqueue_tcp::{Segment, Wire};
use goodqueue_units::{Instant, processor::prefetch};

/// What is in a pipe, with the time at which it comes out.
type OnTheWay<'a> = &'a [(Instant, Packet)];

/// What hosts need to hear a segment.
struct Hosts<'a, T> {
    flow_paths: &'a mut PerFlow<FlowPath>,
    bulk: &'a mut PerFlow<Bulk>,
    agenda: &'a mut Agenda,
    components: Components,
    sent: &'a mut T,
    bulk_before: &'a mut ByDirection<Instant>,
}

/// Where a connection's segments wait for the link.
struct Outbox<'a, T> {
    now: Instant,
    direction: Direction,
    flow: FlowId,
    path: &'a mut FlowPath,
    sent: &'a mut T,
}

impl<T: Take> Wire for Outbox<'_, T> {
    #[inline(always)] // as for `ToLink`
    fn prepare(&mut self) {}
    #[inline(always)]
    fn put(&mut self, segment: Segment) {
        let body = Body::Tcp(Segment { dscp: self.path.dscp, ..segment });
        self.path.offered[self.direction] += 1;
        let hash = self.path.hash[self.direction];
        self.sent.take(self.direction, Packet { arrival: self.now, flow: self.flow, hash, body });
    }
}

impl Simulation {
    /// Lets hosts hear the segments that come out of the first pipes before `until`, up to the first packet that is none
    /// of a bulk transfer, and as long as nothing else happens at hosts. Returns their number.
    pub(super) fn hear_before(&mut self, until: Instant) -> u64 {
        if self.sockets.bulk.len() == 0 || !self.agenda.is_pipes_turn(until) {
            return 0; // as at ten thousand homes: the search for the next segment would be in vain
        }
        let is_crowded = self.is_crowded();
        let Self { links, flow_paths, sockets, agenda, components, shelf, bulk_before, .. } = self;
        let (bulk, components) = (&mut sockets.bulk, *components);
        match shelf.as_deref_mut() {
            None => 0,
            Some(Shelf::Own(sent)) => Hosts { flow_paths, bulk, agenda, components, sent, bulk_before }
                .hear_before(until, links, is_crowded),
            #[cfg(feature = "threads")]
            Some(Shelf::Parts(sent)) => Hosts { flow_paths, bulk, agenda, components, sent, bulk_before }
                .hear_before(until, links, is_crowded),
        }
    }
}

/// Returns the times before which no packet of another kind comes out of the first pipes, when none is known to come.
pub(super) fn bulk_before(flow_paths: &PerFlow<FlowPath>) -> ByDirection<Instant> {
    let has_others = flow_paths.iter().any(|path| !path.is_bulk);
    ByDirection::of(|_| if has_others { Instant::ZERO } else { Instant::MAX })
}

/// Returns when the first of these packets comes out.
#[inline]
fn time_of(pipe: OnTheWay<'_>) -> Instant {
    pipe.first().map_or(Instant::MAX, |(time, _)| *time)
}

impl<T: Take> Hosts<'_, T> {
    /// Does what [`Simulation::hear_before`] does, with the pipes behind `links`.
    ///
    /// The users hear first, then the servers. The two ends of a bulk transfer do not meet in a window, so the order of
    /// the sides changes nothing; in the order of time the loop would change sides with nearly each packet. What the
    /// servers plan may come before what the users have done, but it is theirs alone.
    #[inline(never)]
    fn hear_before(&mut self, until: Instant, links: &mut List<LinkId, Link>, is_crowded: bool) -> u64 {
        let [[down, down_later], [up, up_later]] =
            Direction::ALL.map(|direction| links[LinkId::bottleneck(direction)].pipes.first());
        let until = until.min(time_of(down_later)).min(time_of(up_later)); // the next call takes these
        let until = self.bulk_until(until, [down, up]);
        let [down_left, up_left] = [
            self.hear_pipe(Direction::Down, down, until, is_crowded),
            self.hear_pipe(Direction::Up, up, until, is_crowded),
        ];
        let heard = [down.len() - down_left.len(), up.len() - up_left.len()];
        for (direction, heard) in Direction::ALL.into_iter().zip(heard) {
            if heard > 0 {
                let next = links[LinkId::bottleneck(direction)].pipes.take_first(heard);
                self.agenda.set(Component::pipe(direction, PipeId::FIRST), next);
            }
        }
        heard.into_iter().sum::<usize>() as u64
    }

    /// Lets hosts hear the packets that come out of `pipe` before `until`, as long as nothing else happens at hosts.
    /// Returns those that are left.
    #[inline(never)] // one loop for both directions, into which the compiler puts the connection
    fn hear_pipe<'p>(
        &mut self,
        direction: Direction,
        pipe: OnTheWay<'p>,
        until: Instant,
        is_crowded: bool,
    ) -> OnTheWay<'p> {
        let mut left = pipe;
        while let [(now, packet), behind @ ..] = left
            && *now < until.min(self.agenda.calm_until())
        {
            if is_crowded {
                self.look_ahead(direction, behind);
            }
            self.hears(*now, direction, packet);
            left = behind;
        }
        left
    }

    /// Prefetches what the packets `behind` the next one are going to touch, as
    /// [`Simulation::look_ahead`] does.
    #[inline]
    fn look_ahead(&self, direction: Direction, behind: OnTheWay<'_>) {
        let end = direction.receiver();
        if let Some((_, packet)) = behind.get(1) {
            let sends = packet.segment().is_some_and(|segment| segment.payload_len == 0);
            prefetch(&self.flow_paths[packet.flow]);
            if let Some(bulk) = self.bulk.get(packet.flow) {
                bulk.prefetch(end, sends);
            }
        }
        if let Some((_, packet)) = behind.first()
            && let Some(bulk) = self.bulk.get(packet.flow)
        {
            bulk.ends[end].prefetch_oldest();
        }
    }

    /// Returns the time before which only segments of bulk transfers come out of `pipes`, at most `until`. Each packet
    /// is asked once.
    fn bulk_until(&mut self, until: Instant, pipes: [OnTheWay<'_>; 2]) -> Instant {
        let mut first = until;
        for (direction, pipe) in Direction::ALL.into_iter().zip(pipes) {
            if let Some((next, _)) = pipe.first()
                && *next >= self.bulk_before[direction]
            {
                let is_bulk =
                    |packet: &Packet| packet.segment().is_some() && self.flow_paths[packet.flow].is_bulk;
                let other = pipe.iter().find(|(time, packet)| *time >= until || !is_bulk(packet));
                self.bulk_before[direction] = other.map_or(until, |(time, _)| until.min(*time));
            }
            first = first.min(self.bulk_before[direction]);
        }
        first
    }

    /// Lets a host hear `packet`, a segment of a bulk transfer, and takes what it answers.
    #[inline(always)] // for the processor: one loop of its own, without a call per packet
    fn hears(&mut self, now: Instant, direction: Direction, packet: &Packet) {
        let (end, flow) = (direction.receiver(), packet.flow);
        let path = &mut self.flow_paths[flow];
        let Body::Tcp(segment) = &packet.body else { return };
        let (back, bulk) = (end.sends(), &mut self.bulk[flow]);
        let connection = &mut bulk.ends[end];
        let component = Component::pipe(direction, PipeId::FIRST).index() as u32;
        self.sent.turn(back, Entry::ranked(now, component, packet.place()));
        let mut outbox = Outbox { now, direction: back, flow, path: &mut *path, sent: &mut *self.sent };
        let rtt = connection.respond(now, segment, &mut outbox);
        if let Some(rtt) = rtt
            && direction != path.direction
        {
            bulk.rtt.record(rtt);
        }
        // As in `pump`: a timer is only moved to an earlier time.
        let deadline = connection.poll_timeout().unwrap_or(Instant::MAX);
        if deadline < path.timers[end] {
            path.timers[end] = deadline;
            self.agenda.set(self.components.flow(flow, path.timer_of(end)), deadline);
        }
    }
}
