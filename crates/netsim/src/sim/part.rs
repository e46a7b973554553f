//! A part of a run that is cut: a simulation of the whole scenario of which only some components act.

use super::Simulation;
use super::shards::Shards;
use super::shelf::{Parts, Sent, Shelf, Take as _};
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
    /// The same in one list, if there is one link.
    merged: Vec<Packet>,
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
        Self {
            run,
            role: Role::Links(Links { directions, sent, merged: Vec::new(), arrivals, shards, ties }),
        }
    }

    /// Makes `run` the shard number `shard` of `shards`. Its links are in `parts` other parts.
    pub(super) fn hosts(mut run: Simulation, shard: usize, shards: &Shards, parts: usize) -> Self {
        run.keep_flows(|flow| shards.of(flow) == shard);
        Direction::ALL.into_iter().for_each(|direction| run.silence(direction));
        run.components.of_row().for_each(|part| run.agenda.set(part, Instant::MAX));
        run.look_anew();
        let sent = vec![Vec::new(); parts];
        run.shelf = Some(Box::new(Shelf::Parts(Parts { turns: ByDirection::of(|_| Entry::FIRST), sent })));
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
        let events = self.hosts_act_before(until);
        // The hosts of one side may have acted before those of the other.
        if let Some(Shelf::Parts(shelf)) = self.shelf.as_deref_mut()
            && let [both] = &mut shelf.sent[..]
        {
            both.sort_by_key(Sent::entry);
        }
        events
    }

    /// Notes on a shelf of parts that it is the turn of `component`.
    pub(super) fn take_turn(&mut self, component: Component) {
        if matches!(self.shelf.as_deref(), Some(Shelf::Own(_))) {
            return;
        }
        let place = self.place_of(component);
        if let Some(Shelf::Parts(shelf)) = self.shelf.as_deref_mut() {
            let turn = Entry::ranked(self.now, self.agenda.rank(component), place);
            Direction::ALL.into_iter().for_each(|direction| shelf.turn(direction, turn));
        }
    }

    /// Returns the place of the packet that `component` is about to deliver, among those that its pipe delivers now.
    #[inline]
    fn place_of(&self, component: Component) -> u32 {
        let Actor::Pipe(direction, pipe) = self.components.actor(component) else { return 0 };
        let packet = self.links[LinkId::bottleneck(direction)].pipes.head(pipe);
        packet.map_or(0, Packet::place)
    }

    /// Lets the `links` act before `until`. They have what each shard of hosts sent until then, and get what reaches
    /// each of them. Returns the number of events.
    fn advance_links(&mut self, links: &mut Links, until: Instant) -> u64 {
        let events = match (links.directions, &self.row) {
            (&[direction], None) => self.advance_link(direction, links, until),
            _ => self.advance_row(links, until),
        };
        links.sent.iter_mut().for_each(Vec::clear);
        let Links { directions, arrivals, shards, ties, .. } = links;
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

    /// Lets the link of `direction` act before `until`, as on one thread. Returns the number of packets that it took.
    fn advance_link(&mut self, direction: Direction, links: &mut Links, until: Instant) -> u64 {
        let Links { sent, merged, .. } = links;
        merged.clear();
        merge(sent, |sent| merged.push(sent.packet));
        let (mut left, is_crowded) = (&merged[..], self.is_crowded());
        loop {
            let beat = self.metronome.next_time();
            let to = until.min(beat);
            let (before, rest) = left.split_at(left.partition_point(|packet| packet.arrival < to));
            self.links[LinkId::bottleneck(direction)].run(before, to, is_crowded, &mut self.agenda);
            if to == until {
                return merged.len() as u64;
            }
            left = rest;
            self.now = beat;
            self.beat();
        }
    }

    /// Lets everything between the hosts act before `until`. Returns the number of events.
    fn advance_row(&mut self, links: &Links, until: Instant) -> u64 {
        let mut events = 0;
        merge(&links.sent, |sent| {
            events += 1 + self.act_before(sent.entry());
            self.now = sent.packet.arrival;
            self.take_in(sent);
        });
        events += self.act_before(Entry::at(until, 0));
        let of_hops = self.row.iter_mut().flat_map(|row| row.links_mut());
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle_before(until, &mut self.agenda));
        events
    }

    /// Lets all components act before the turn `entry`. Returns their number.
    fn act_before(&mut self, entry: Entry) -> u64 {
        let mut events = 0;
        while let Some((time, component)) = self.agenda.next()
            && Entry::new(time, component) < entry
        {
            self.now = time;
            self.act(component);
            events += 1;
        }
        events
    }

    /// Takes a packet that a host has sent now into a row, as on one thread.
    ///
    /// On one thread the link catches up once before all segments that a card cuts out of one packet, and here before
    /// each. Between them no transmission ends: at the highest rate a full segment takes more than a nanosecond.
    #[inline]
    fn take_in(&mut self, &Sent { direction, packet, .. }: &Sent) {
        if packet.segment().is_none() {
            return self.offer(direction, packet);
        }
        let first = self.flow_paths[packet.flow].first_link[direction];
        let (link, agenda) = (&mut self.links[first], &mut self.agenda);
        link.settle(self.now, agenda);
        link.offer(self.now, packet, agenda);
    }
}

/// Gives `take` what the shards have sent, in the order in which they would have sent it on one thread.
fn merge(sent: &[Vec<Sent>], mut take: impl FnMut(&Sent)) {
    let mut left: Vec<_> = sent.iter().map(|list| &list[..]).collect();
    loop {
        let (mut shard, mut first, mut others) = (0, Entry::NEVER, Entry::NEVER);
        for (place, list) in left.iter().enumerate() {
            let entry = list.first().map_or(Entry::NEVER, Sent::entry);
            if entry < first {
                (shard, first, others) = (place, entry, first);
            } else {
                others = others.min(entry);
            }
        }
        let Some(list) = left.get_mut(shard).filter(|list| !list.is_empty()) else { return };
        // Hosts send bursts, so the next packets are often of the same shard.
        while let Some((sent, rest)) = list.split_first() {
            take(sent);
            *list = rest;
            if rest.first().is_none_or(|next| next.entry() >= others) {
                break;
            }
        }
    }
}
