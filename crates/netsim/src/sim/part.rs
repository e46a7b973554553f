//! A part of a run that is cut: a simulation of the whole scenario of which only some components act.

use super::Simulation;
use super::shards::Shards;
use super::shelf::{Sent, Shelf};
use super::threads::Reached;
use crate::calendar::Entry;
use crate::component::{Actor, Component};
use crate::ids::{FlowId, LinkId, PipeId, Timer};
use crate::lists::{ByDirection, List};
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::Instant;

/// A simulation of which some components act.
pub(super) struct Part {
    pub(super) run: Simulation,
    pub(super) role: Role,
}

pub(super) enum Role {
    /// The links of one direction, or everything between the hosts.
    Links(Links),
    /// A shard of hosts.
    Hosts { arrivals: ByDirection<Vec<Arrival>> },
}

/// What a part with links exchanges with the shards.
pub(super) struct Links {
    /// The directions of its links.
    pub(super) directions: &'static [Direction],
    /// What each shard has sent.
    pub(super) sent: Vec<Vec<Sent>>,
    /// What arrives at each shard.
    pub(super) arrivals: ByDirection<Vec<Vec<Arrival>>>,
    shards: Shards,
    ties: ByDirection<Ties>,
}

/// When the last packet came out of each pipe, and how many came out before it at that time. Hosts of several shards
/// may get such packets, and answer at once: the order of their answers is that of the packets.
struct Ties(List<PipeId, (Instant, u32)>);

/// A packet that comes out of a pipe. Its `arrival` has its place among those that come out of this pipe at the same
/// time. This is a trick that keeps a packet in one cache line: nothing behind a queue asks for the arrival there.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    time: Instant,
    pipe: PipeId,
    packet: Packet,
}

impl Ties {
    /// Returns the place of a packet that comes out of `pipe` at `time`, among those that come out then.
    fn place(&mut self, pipe: PipeId, time: Instant) -> u32 {
        let last = &mut self.0[pipe];
        let place = if last.0 == time { last.1 + 1 } else { 0 };
        *last = (time, place);
        place
    }
}

impl Part {
    /// Makes `run` the part that has the links of `directions`.
    pub(super) fn links(mut run: Simulation, directions: &'static [Direction], shards: Shards) -> Self {
        run.keep_flows(|_| false);
        Direction::ALL
            .into_iter()
            .filter(|one| !directions.contains(one))
            .for_each(|other| run.silence(other));
        let arrivals = ByDirection::of(|_| vec![Vec::new(); shards.count()]);
        let ties = ByDirection::of(|direction| {
            let pipes = run.links[LinkId::bottleneck(direction)].pipes.count();
            Ties(vec![(Instant::MAX, 0); pipes].into())
        });
        let sent = vec![Vec::new(); shards.count()];
        Self { run, role: Role::Links(Links { directions, sent, arrivals, shards, ties }) }
    }

    /// Makes `run` the shard number `shard` of `shards`. Its links are in `parts` other parts.
    pub(super) fn hosts(mut run: Simulation, shard: usize, shards: &Shards, parts: usize) -> Self {
        run.keep_flows(|flow| shards.of(flow) == shard);
        Direction::ALL.into_iter().for_each(|direction| run.silence(direction));
        run.components.of_row().for_each(|part| run.agenda.set(part, Instant::MAX));
        run.shelf = Some(Shelf::new(parts));
        Self { run, role: Role::Hosts { arrivals: ByDirection::of(|_| Vec::new()) } }
    }

    /// Advances to the end of a window. Returns the number of events.
    pub(super) fn advance(&mut self, next: Reached) -> u64 {
        match &mut self.role {
            Role::Links(links) => self.run.advance_links(links, next.links),
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

    /// Lets the discipline of the bottleneck of `direction` not act.
    fn silence(&mut self, direction: Direction) {
        self.agenda.set(Component::qdisc_timer(direction), Instant::MAX);
    }

    /// Lets the hosts act before `until`. `arrivals` is what comes out of the pipes until then. Returns the number of
    /// events.
    fn advance_hosts(&mut self, arrivals: &mut ByDirection<Vec<Arrival>>, until: Instant) -> u64 {
        for direction in Direction::ALL {
            let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
            for &Arrival { time, pipe, ref packet } in &arrivals[direction] {
                if let Some(time) = pipes.arrive(pipe, time, packet) {
                    self.agenda.set(Component::pipe(direction, pipe), time);
                }
            }
            arrivals[direction].clear();
        }
        let mut events = 0;
        while let Some((time, component)) = self.agenda.next()
            && time < until
        {
            self.now = time;
            let place = self.place_of(component);
            if let Some(shelf) = &mut self.shelf {
                shelf.turn = shelf.turn.max(Entry::ranked(time, self.agenda.rank(component), place));
            }
            self.act(component);
            events += 1;
        }
        events
    }

    /// Returns the place of the packet that `component` is about to deliver, among those that its pipe delivers now.
    #[inline]
    fn place_of(&self, component: Component) -> u32 {
        let Actor::Pipe(direction, pipe) = self.components.actor(component) else { return 0 };
        let packet = self.links[LinkId::bottleneck(direction)].pipes.head(pipe);
        packet.map_or(0, |packet| packet.arrival.as_nanos() as u32)
    }

    /// Lets the `links` act before `until`. They have what each shard of hosts sent until then, and get what reaches
    /// each of them. Returns the number of events.
    fn advance_links(&mut self, links: &mut Links, until: Instant) -> u64 {
        let Links { directions, sent, arrivals, shards, ties } = links;
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
                    let Some(sent) = heads[shard].sent else { break };
                    self.now = sent.packet.arrival;
                    self.take_in(sent);
                    heads[shard] = Head::of(queues[shard].next());
                }
            }
            events += 1;
        }
        sent.iter_mut().for_each(Vec::clear);
        let of_hops = self.row.iter_mut().flat_map(|row| row.links_mut());
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle_before(until, &mut self.agenda));
        for &direction in *directions {
            let (arrivals, ties) = (&mut arrivals[direction], &mut ties[direction]);
            self.links[LinkId::bottleneck(direction)].pipes.drain(|pipe, time, packet| {
                let place = Instant::from_nanos(ties.place(pipe, time).into());
                let packet = Packet { arrival: place, ..*packet };
                arrivals[shards.of(packet.flow)].push(Arrival { time, pipe, packet });
                self.agenda.set(Component::pipe(direction, pipe), Instant::MAX);
            });
        }
        events
    }

    /// Takes a packet that a host has sent now, as on one thread.
    ///
    /// On one thread the link catches up once before all segments that a card cuts out of one packet, and here before
    /// each. Between them no transmission ends: at the highest rate a full segment takes more than a nanosecond.
    #[inline]
    fn take_in(&mut self, &Sent { direction, packet, .. }: &Sent) {
        let id = match &self.row {
            None => LinkId::bottleneck(direction),
            Some(_) if packet.segment().is_none() => return self.offer(direction, packet),
            Some(_) => self.flow_paths[packet.flow].first_link[direction],
        };
        let (link, agenda) = (&mut self.links[id], &mut self.agenda);
        link.settle(self.now, agenda);
        link.offer(self.now, packet, agenda);
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
        let entry = sent.map_or(Entry::NEVER, |sent| Entry::at(sent.packet.arrival, sent.turn));
        Self { entry, sent }
    }
}
