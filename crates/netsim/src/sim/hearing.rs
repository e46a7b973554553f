//! The loop of hosts in a window, for the segments of bulk transfers. They are nearly all that happens at most hosts.

use super::Simulation;
use super::ahead::look_ahead_of_timers;
use super::flow_path::FlowPath;
use super::shelf::{Shelf, Take};
use super::windows::TICK;
use crate::agenda::{Agenda, SCANNED_PIPES};
use crate::calendar::Entry;
use crate::component::{Actor, Component, Components};
use crate::ids::{FlowId, LinkId, Number, PipeId, Timer};
use crate::link::Link;
use crate::lists::{List, PerFlow};
use crate::packet::{Body, Packet};
use crate::pipe::{OnTheWay, Pipes, time_of};
use crate::sockets::Bulk;
use goodqueue_hosts::direction::Direction;
use goodqueue_tcp::{Segment, Wire};
use goodqueue_units::{Instant, processor::prefetch};

/// Whether timers fire in the loop. They need not on the page, whose module is smaller without it.
const TIMERS_FIRE: bool = cfg!(not(target_family = "wasm"));

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
    /// Lets hosts hear the segments of bulk transfers that come out of the pipes before `until`, up to the first packet
    /// of another kind, and as long as nothing else happens at hosts. Returns their number.
    pub(super) fn hear_before(&mut self, until: Instant) -> u64 {
        if self.sockets.bulk.len() == 0 || !self.agenda.is_pipes_turn(until) {
            return 0; // as at ten thousand homes, and between two timers: the search for a segment would be in vain
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

impl<T: Take> Hosts<'_, T> {
    /// Does what [`Simulation::hear_before`] does, with the pipes behind `links`.
    ///
    /// The users hear first, then the servers. The two ends of a bulk transfer do not meet in a window, so the order of
    /// the sides changes nothing. In the order of time the loop would change sides with nearly each packet. A timer
    /// that a server sets concerns that server alone, so the timer may fire at a time that the users have passed.
    #[inline(never)]
    fn hear_before(&mut self, until: Instant, links: &mut List<LinkId, Link>, is_crowded: bool) -> u64 {
        let bulk_until = |until, direction| {
            let is_bulk =
                |packet: &Packet| packet.segment().is_some() && self.flow_paths[packet.flow].is_bulk;
            links[LinkId::bottleneck(direction)].pipes.bulk_until(until, is_bulk)
        };
        let until = Direction::ALL.into_iter().fold(until, bulk_until);
        let mut events = 0;
        loop {
            for direction in Direction::ALL {
                let pipes = &mut links[LinkId::bottleneck(direction)].pipes;
                events += if SCANNED_PIPES == 1 || pipes.scanned() == 1 {
                    let (id, next) = ((direction, PipeId::FIRST), pipes.next(PipeId::FIRST));
                    if TIMERS_FIRE && time_of(next) >= until.min(self.agenda.calm_until()) {
                        continue; // another timer fires before
                    }
                    let number = self.hear_pipe(id, next, until, is_crowded);
                    self.take(id, pipes, number)
                } else {
                    self.hear_in_turn(direction, pipes, until, is_crowded)
                };
            }
            if !TIMERS_FIRE || !self.fires_before(until, is_crowded) {
                return events as u64;
            }
            events += 1;
        }
    }

    /// Lets the next timer fire, if it is one of a bulk transfer that neither begins nor ends, and if nothing else
    /// happens at hosts before. Returns whether it fired.
    #[inline(never)]
    fn fires_before(&mut self, until: Instant, is_crowded: bool) -> bool {
        let Some((now, component)) = self.agenda.next_of_hosts(until) else { return false };
        let Actor::Flow(flow, timer) = self.components.actor(component) else { return false };
        if is_crowded {
            look_ahead_of_timers(self.agenda, self.components, self.flow_paths, self.bulk);
        }
        let path = &mut self.flow_paths[flow];
        let latest = if timer == Timer::Sender && !path.is_closed { path.stop } else { Instant::MAX };
        if !path.is_bulk || path.waits || now >= latest {
            return false;
        }
        let end = path.end_of(timer);
        let (back, connection) = (end.sends(), &mut self.bulk[flow].ends[end]);
        // If nothing is due there is nothing to send, except for the first segment of all.
        if connection.handle_due(now) || !connection.is_established() {
            self.sent.turn(back, Entry::ranked(now, component.index() as u32, 0));
            let mut outbox = Outbox { now, direction: back, flow, path: &mut *path, sent: &mut *self.sent };
            connection.transmit(now, &mut outbox);
        }
        path.timers[end] = connection.poll_timeout().map_or(latest, |deadline| deadline.min(latest));
        self.agenda.set(component, path.timers[end]);
        true
    }

    /// Lets the hosts of one side hear the packets that come out of several pipes, each as soon as it is its turn.
    /// Returns their number.
    #[inline(never)] // out of the way of a single pipe
    fn hear_in_turn(
        &mut self,
        direction: Direction,
        pipes: &mut Pipes,
        until: Instant,
        is_crowded: bool,
    ) -> usize {
        let count = pipes.scanned();
        let mut left: [OnTheWay<'_>; SCANNED_PIPES] = [&[]; SCANNED_PIPES];
        (0..count).for_each(|pipe| left[pipe] = pipes.next(PipeId::at(pipe)));
        let mut heard = [0; SCANNED_PIPES];
        loop {
            // One pipe until it is another's turn. At equal times the pipe with the lower number is first.
            let (mut first, mut turn) = (0, Instant::MAX);
            for pipe in 1..count {
                let (known, time) = (time_of(left[first]), time_of(left[pipe]));
                if time < known {
                    (first, turn) = (pipe, turn.min(known));
                } else {
                    turn = turn.min(time + TICK);
                }
            }
            let number =
                self.hear_pipe((direction, PipeId::at(first)), left[first], until.min(turn), is_crowded);
            if number == 0 {
                break;
            }
            left[first] = &left[first][number..];
            heard[first] += number;
        }
        (0..count).map(|pipe| self.take((direction, PipeId::at(pipe)), pipes, heard[pipe])).sum()
    }

    /// Takes `number` packets that hosts have heard out of a pipe. Returns their number.
    #[inline]
    fn take(&mut self, (direction, id): (Direction, PipeId), pipes: &mut Pipes, number: usize) -> usize {
        if number > 0 {
            let next = pipes.take(id, number);
            self.agenda.set(Component::pipe(direction, id), next);
        }
        number
    }

    /// Lets hosts hear the packets that come out of `pipe` before `until`, as long as nothing else happens at hosts.
    /// Returns their number.
    #[inline(never)] // one loop for both directions, into which the compiler puts the connection
    fn hear_pipe(
        &mut self,
        (direction, id): (Direction, PipeId),
        pipe: OnTheWay<'_>,
        until: Instant,
        is_crowded: bool,
    ) -> usize {
        let component = Component::pipe(direction, id);
        let mut left = pipe;
        while let [(now, packet), behind @ ..] = left
            && *now < until.min(self.agenda.calm_until())
        {
            if is_crowded {
                self.look_ahead(direction, behind);
            }
            self.hears(*now, (direction, component), packet);
            left = behind;
        }
        pipe.len() - left.len()
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

    /// Lets a host hear `packet`, a segment of a bulk transfer, and takes what it answers.
    #[inline(always)] // for the processor: one loop of its own, without a call per packet
    fn hears(&mut self, now: Instant, (direction, component): (Direction, Component), packet: &Packet) {
        let (end, flow) = (direction.receiver(), packet.flow);
        let path = &mut self.flow_paths[flow];
        let Body::Tcp(segment) = &packet.body else { return };
        let (back, bulk) = (end.sends(), &mut self.bulk[flow]);
        let connection = &mut bulk.ends[end];
        self.sent.turn(back, Entry::ranked(now, component.index() as u32, packet.place()));
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
