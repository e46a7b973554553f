//! A part of a run that is cut: a simulation of the whole scenario of which only some components act.

use super::Simulation;
use super::shelf::{Sent, Shelf};
use super::threads::Reached;
use crate::calendar::Entry;
use crate::component::Component;
use crate::ids::{FlowId, LinkId, Number, PipeId, Timer};
use crate::lists::ByDirection;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::Instant;

/// A simulation of which some components act.
pub(super) struct Part {
    pub(super) run: Simulation,
    pub(super) role: Role,
}

pub(super) enum Role {
    Link {
        direction: Direction,
        /// What each shard has sent.
        sent: Vec<Vec<Sent>>,
        /// What arrives at each shard.
        arrivals: Vec<Vec<Arrival>>,
    },
    Hosts {
        arrivals: ByDirection<Vec<Arrival>>,
    },
}

/// A packet that comes out of a pipe.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    time: Instant,
    pipe: PipeId,
    packet: Packet,
}

impl Part {
    /// Makes `run` the part that has the link of `direction`.
    pub(super) fn link(mut run: Simulation, direction: Direction, shards: usize) -> Self {
        run.keep_flows(|_| false);
        run.silence(direction.reverse());
        let (sent, arrivals) = (vec![Vec::new(); shards], vec![Vec::new(); shards]);
        Self { run, role: Role::Link { direction, sent, arrivals } }
    }

    /// Makes `run` the shard number `shard` of `shards`.
    pub(super) fn hosts(mut run: Simulation, shard: usize, shards: usize) -> Self {
        run.keep_flows(|flow| flow.index() % shards == shard);
        Direction::ALL.into_iter().for_each(|direction| run.silence(direction));
        let sent = ByDirection::of(|_| Vec::new());
        run.shelf = Some(Box::new(Shelf { acting: (0, Component::METRONOME), sent }));
        Self { run, role: Role::Hosts { arrivals: ByDirection::of(|_| Vec::new()) } }
    }

    /// Advances to the end of a window. Returns the number of events.
    pub(super) fn advance(&mut self, next: Reached) -> u64 {
        match &mut self.role {
            Role::Link { direction, sent, arrivals } => {
                self.run.advance_link(*direction, sent, arrivals, next.links)
            }
            Role::Hosts { arrivals } => self.run.advance_hosts(arrivals, next.hosts),
        }
    }
}

impl Simulation {
    /// Lets only the flows act that are `kept`.
    fn keep_flows(&mut self, kept: impl Fn(FlowId) -> bool) {
        for flow in self.flows.numbers().filter(|flow| !kept(*flow)) {
            self.agenda.set(self.components.flow(flow, Timer::Sender), Instant::MAX);
        }
    }

    /// Lets the link of `direction` not act.
    fn silence(&mut self, direction: Direction) {
        self.agenda.set(Component::qdisc_timer(direction), Instant::MAX);
    }

    /// Lets the hosts act before `until`. `arrivals` is what comes out of the pipes until then. Returns the number of
    /// events.
    fn advance_hosts(&mut self, arrivals: &mut ByDirection<Vec<Arrival>>, until: Instant) -> u64 {
        for direction in Direction::ALL {
            let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
            for Arrival { time, pipe, packet } in arrivals[direction].drain(..) {
                if let Some(time) = pipes.arrive(pipe, time, &packet) {
                    self.agenda.set(Component::pipe(direction, pipe), time);
                }
            }
        }
        let mut events = 0;
        while let Some((time, component)) = self.agenda.next()
            && time < until
        {
            self.now = time;
            if let Some(shelf) = &mut self.shelf {
                shelf.acting = (self.agenda.rank(component), component);
            }
            self.act(component);
            events += 1;
        }
        events
    }

    /// Lets the link of `direction` act before `until`. `sent` is what each shard of hosts sent until then, `arrivals`
    /// gets what reaches each of them. Returns the number of events.
    fn advance_link(
        &mut self,
        direction: Direction,
        sent: &mut [Vec<Sent>],
        arrivals: &mut [Vec<Arrival>],
        until: Instant,
    ) -> u64 {
        let id = LinkId::bottleneck(direction);
        let mut queues: Vec<_> = sent.iter().map(|list| list.iter()).collect();
        let mut heads: Vec<_> = queues.iter_mut().map(|queue| Head::of(queue.next())).collect();
        let mut events = 0;
        let (mut shard, mut others) = first_of(&heads);
        loop {
            // Hosts send bursts, so the next packet is often of the same shard.
            if heads[shard].entry >= others {
                (shard, others) = first_of(&heads);
            }
            let head = heads[shard].entry;
            match self.agenda.next() {
                Some((time, component)) if Entry::new(time, component) < head => {
                    if time >= until {
                        break;
                    }
                    self.now = time;
                    self.act(component);
                }
                _ => {
                    let Some(Sent { packet, .. }) = heads[shard].sent else { break };
                    self.now = packet.arrival;
                    let (link, agenda) = (&mut self.links[id], &mut self.agenda);
                    link.settle(self.now, agenda);
                    link.offer(self.now, *packet, agenda);
                    heads[shard] = Head::of(queues[shard].next());
                }
            }
            events += 1;
        }
        sent.iter_mut().for_each(Vec::clear);
        let link = &mut self.links[id];
        link.settle_before(until, &mut self.agenda);
        let shards = arrivals.len();
        link.pipes.drain(|pipe, time, packet| {
            arrivals[packet.flow.index() % shards].push(Arrival { time, pipe, packet });
            self.agenda.set(Component::pipe(direction, pipe), Instant::MAX);
        });
        events
    }
}

/// The next packet that a shard sent.
struct Head<'a> {
    entry: Entry,
    sent: Option<&'a Sent>,
}

/// Returns the shard with the first packet, and the first packet of the other shards.
fn first_of(heads: &[Head<'_>]) -> (usize, Entry) {
    let (mut shard, mut first, mut others) = (0, Entry::NEVER, Entry::NEVER);
    for (place, &Head { entry, .. }) in heads.iter().enumerate() {
        if entry < first {
            (shard, first, others) = (place, entry, first);
        } else {
            others = others.min(entry);
        }
    }
    (shard, others)
}

impl<'a> Head<'a> {
    fn of(sent: Option<&'a Sent>) -> Self {
        let entry = sent.map_or(Entry::NEVER, |sent| Entry::ranked(sent.packet.arrival, sent.rank, sent.by));
        Self { entry, sent }
    }
}
