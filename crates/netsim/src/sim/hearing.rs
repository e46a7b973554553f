//! The loop of hosts in a window, for the segments of bulk transfers. They are nearly all that happens at most hosts.

use super::Simulation;
use super::flow_path::FlowPath;
use super::shelf::{Shelf, Take};
use super::windows::TICK;
use crate::agenda::Agenda;
use crate::calendar::Entry;
use crate::component::{Component, Components};
use crate::ids::{FlowId, LinkId, Number, PipeId};
use crate::link::Link;
use crate::lists::{List, PerFlow};
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
    /// Lets hosts hear the segments that come out of the first pipes before `until`, up to the first one that is not of
    /// a bulk transfer, and as long as nothing else happens at hosts. Returns their number.
    pub(super) fn hear_before(&mut self, until: Instant) -> u64 {
        if self.sockets.bulk.len() == 0 {
            return 0; // as at ten thousand homes: the search for the next segment would be in vain
        }
        let is_crowded = self.is_crowded();
        let Self { links, flow_paths, sockets, agenda, components, shelf, .. } = self;
        let (bulk, components) = (&mut sockets.bulk, *components);
        match shelf.as_deref_mut() {
            None => 0,
            Some(Shelf::Own(sent)) => {
                Hosts { flow_paths, bulk, agenda, components, sent }.hear_before(until, links, is_crowded)
            }
            #[cfg(feature = "threads")]
            Some(Shelf::Parts(sent)) => {
                Hosts { flow_paths, bulk, agenda, components, sent }.hear_before(until, links, is_crowded)
            }
        }
    }
}

/// Returns when the first of these packets comes out.
#[inline]
fn time_of(pipe: OnTheWay<'_>) -> Instant {
    pipe.first().map_or(Instant::MAX, |(time, _)| *time)
}

impl<T: Take> Hosts<'_, T> {
    /// Does what [`Simulation::hear_before`] does, with the pipes behind `links`.
    #[inline(never)]
    fn hear_before(&mut self, until: Instant, links: &mut List<LinkId, Link>, is_crowded: bool) -> u64 {
        let [[down, down_later], [up, up_later]] =
            Direction::ALL.map(|direction| links[LinkId::bottleneck(direction)].pipes.first());
        let until = until.min(time_of(down_later)).min(time_of(up_later)); // the next call takes these
        let mut pipes = [down, up];
        loop {
            let [at_user, at_server] = pipes.map(time_of);
            let is_up = at_server < at_user; // at equal times the pipe down is first
            // One pipe until it is the other's turn: then little is decided per packet.
            let turn = if is_up { at_user } else { at_server + TICK };
            let (direction, pipe) =
                if is_up { (Direction::Up, &mut pipes[1]) } else { (Direction::Down, &mut pipes[0]) };
            let mut rest = *pipe;
            while let [(now, packet), behind @ ..] = rest
                && *now < until.min(turn).min(self.agenda.calm_until())
            {
                if is_crowded {
                    self.look_ahead(direction, behind);
                }
                if !self.hears(*now, direction, packet) {
                    break;
                }
                rest = behind;
            }
            if rest.len() == std::mem::replace(pipe, rest).len() {
                break; // it heard nothing
            }
        }
        let heard = [down.len() - pipes[0].len(), up.len() - pipes[1].len()];
        for (direction, heard) in Direction::ALL.into_iter().zip(heard) {
            if heard > 0 {
                let next = links[LinkId::bottleneck(direction)].pipes.take_first(heard);
                self.agenda.set(Component::pipe(direction, PipeId::FIRST), next);
            }
        }
        heard.into_iter().sum::<usize>() as u64
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

    /// Takes `packet`, and what it answers, if it is a segment of a bulk transfer. Returns whether it is.
    #[inline(always)] // for the processor: one loop of its own, without a call per packet
    fn hears(&mut self, now: Instant, direction: Direction, packet: &Packet) -> bool {
        let (end, flow) = (direction.receiver(), packet.flow);
        let path = &mut self.flow_paths[flow];
        let Body::Tcp(segment) = &packet.body else { return false };
        if !path.is_bulk {
            return false;
        }
        let (back, bulk) = (end.sends(), &mut self.bulk[flow]);
        let connection = &mut bulk.ends[end];
        let component = Component::pipe(direction, PipeId::FIRST).index() as u32;
        self.sent.turn(Entry::ranked(now, component, packet.place()));
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
        true
    }
}
