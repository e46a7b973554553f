//! One run on several threads, with the same bytes as on one.
//!
//! What enters a wire comes out half a base RTT later. There a run is cut into parts: the link down, the link up, and
//! shards of the flows, each with both hosts of its flows. If packets cross a row of hops or a cell, one part has
//! everything between the hosts. All parts run at once, through windows of half the shortest such delay. The links are
//! one window behind the hosts: so each part has all packets that can arrive in its window before the window begins,
//! and no part ever takes anything back (a conservative parallel simulation, R. M. Fujimoto, Communications of the ACM
//! 33(10), 1990).
//!
//! Each part is a simulation of the whole scenario in which only its own components act. At equal times the component
//! with the lower number acts first, as in a run on one thread. One pipe may deliver several packets at the same time,
//! also to different shards: then their order in the pipe decides. So a link takes what the shards sent in exactly the
//! order in which it would have come from one, and the record does not depend on the number of threads or shards.

use super::Simulation;
use super::complete::Cards;
use super::crew::Crew;
use super::cut::Cut;
use super::part::{Part, Role};
use super::shards::Shards;
use super::shelf::Shelf;
use crate::flow::Source;
use crate::ids::LinkId;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Duration, Instant};
use std::mem::swap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A full frame of Ethernet.
const FULL_FRAME_BITS: f64 = 8.0 * 1514.0;

/// A run is long if the links that TCP uses can forward more full frames than this. A step of a [trial](super::trial)
/// then has some hundred of them.
const LONG: f64 = 4e5;

/// The threads have work in a window if these links can forward more full frames than this in it. A frame and its share
/// of ACKs take a sixth of a microsecond and more, and to meet at the end of a window takes some.
const BUSY: f64 = 100.0;

/// Each thread has at least this number of TCP flows. The hosts of a flow cannot be shared out, and are most of the
/// work.
const FLOWS: usize = 2;

/// The shortest way from a link to its host at which a run is cut. With shorter windows the threads wait for each
/// other longer than they work.
const SHORTEST: Duration = Duration::from_micros(200);

/// The shortest time.
const TICK: Duration = Duration::from_nanos(1);

/// A run that is cut into parts.
pub struct Threaded {
    /// The parts with links, then the shards.
    parts: Vec<Mutex<Part>>,
    /// The number of parts with links.
    links: usize,
    shards: Shards,
    threads: usize,
    /// No packet takes less time from a link to its host.
    delay: Duration,
    /// How far the links and the hosts have come: what happens at this time has not happened yet.
    reached: Reached,
}

#[derive(Clone, Copy)]
pub(super) struct Reached {
    pub(super) links: Instant,
    pub(super) hosts: Instant,
}

/// The windows of a run that is cut, while its threads work.
pub(super) struct Windows<'a> {
    parts: &'a [Mutex<Part>],
    links: usize,
    delay: Duration,
    reached: &'a mut Reached,
    /// Lets all parts do a window, and returns the number of their events.
    round: &'a dyn Fn(Reached) -> u64,
}

impl Windows<'_> {
    /// Goes through windows until the links have reached `links`, or after about `most` events. Meanwhile hosts may act
    /// up to `elapsed`: so the next call goes on as if there had been only one.
    pub(super) fn advance(&mut self, links: Duration, elapsed: Duration, most: u64) {
        // What happens at the end itself belongs to the run.
        let [stop, end] = [links, elapsed].map(|time| lock(&self.parts[0]).run.at_most(time) + TICK);
        let (delay, mut events) = (self.delay, 0);
        while self.reached.links < stop && events < most {
            let Reached { links, hosts } = *self.reached;
            let next = (links + delay).min(hosts + delay / 2).min(end);
            *self.reached = Reached { links: hosts, hosts: next };
            events += (self.round)(*self.reached);
            exchange(self.parts, self.links);
        }
    }
}

/// Why a run stays on one thread, in words that follow "one thread: ".
pub type Uncut = &'static str;

/// Returns `part`, for which no other thread waits.
fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threaded {
    /// Cuts `run`, which has not begun, for `threads` threads.
    ///
    /// # Errors
    /// If the run cannot be cut: the run itself, and why it cannot.
    pub fn cut(run: Simulation, threads: usize) -> Result<Self, Box<(Simulation, Uncut)>> {
        let cut = Cut::of(&run, threads).and_then(|cut| Ok((cut.copies(&run.scenario, 1)?, cut)));
        match cut {
            Ok((mut copies, cut)) => {
                copies.shards.insert(0, run);
                Ok(cut.join(copies))
            }
            Err(why) => Err(Box::new((run, why))),
        }
    }

    /// Builds a run anew as `run`, which has not begun and stays as it is, cut for `threads` threads.
    ///
    /// # Errors
    /// Why the run cannot be cut.
    pub(super) fn beside(run: &Simulation, threads: usize) -> Result<Self, Uncut> {
        let cut = Cut::of(run, threads)?;
        let copies = cut.copies(&run.scenario, 0)?;
        Ok(cut.join(copies))
    }

    /// Puts `parts` together, the first `links` of which have links.
    pub(super) fn new(
        parts: Vec<Part>,
        links: usize,
        shards: Shards,
        threads: usize,
        delay: Duration,
    ) -> Self {
        let reached = Reached { links: Instant::ZERO, hosts: Instant::ZERO };
        let parts = parts.into_iter().map(Mutex::new).collect();
        Self { parts, links, shards, threads, delay, reached }
    }

    /// Returns the length of the run.
    #[must_use]
    pub fn duration(&self) -> Duration {
        lock(&self.parts[0]).run.duration()
    }

    /// Returns how much of the run has passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        let passed = self.reached.links.since(Instant::ZERO);
        passed.saturating_sub(TICK).min(self.duration())
    }

    /// Runs until `elapsed` of the run has passed, but not beyond its end. Begins no further window after `most`
    /// events. The time that is reached is [`elapsed`](Self::elapsed).
    pub fn advance_by(&mut self, elapsed: Duration, most: u64) {
        self.lead(|windows| windows.advance(elapsed, elapsed, most));
    }

    /// Calls `lead` with the windows of the run, while all threads are there.
    pub(super) fn lead(&mut self, lead: impl FnOnce(&mut Windows<'_>)) {
        let Self { ref parts, links, threads, delay, ref mut reached, .. } = *self;
        let advance = |place: usize, next: Reached| lock(&parts[place]).advance(next);
        Crew::work(threads, parts.len(), advance, |crew| {
            lead(&mut Windows { parts, links, delay, reached, round: &|next| crew.round(next) });
        });
    }

    /// Returns the run as one simulation. It has all that was measured, but not the packets on their way: it cannot go
    /// on.
    pub(crate) fn into_whole(self) -> Simulation {
        let now = Instant::ZERO + self.elapsed();
        let parts =
            self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut parts: Vec<_> = parts.collect();
        let mut shards: Vec<_> = parts.drain(self.links..).map(|part| part.run).collect();
        for Part { mut run, role } in parts {
            if let Role::Links(links) = role {
                give_links(links.directions, &mut run, &mut shards, &self.shards);
            }
        }
        let others = shards.split_off(1);
        let Some(mut whole) = shards.pop() else { unreachable!("there is a shard") };
        give_flows(others, &mut whole, &self.shards);
        whole.now = now;
        whole
    }
}

/// Hands over what the parts have for each other. The first `links` parts have links.
fn exchange(parts: &[Mutex<Part>], links: usize) {
    let (links, shards) = parts.split_at(links);
    let mut shards: Vec<_> = shards.iter().map(lock).collect();
    for (place, part) in links.iter().enumerate() {
        let mut part = lock(part);
        let Role::Links(links) = &mut part.role else { continue };
        for (number, shard) in shards.iter_mut().enumerate() {
            let Part { run, role, .. } = &mut **shard;
            if let (Some(Shelf::Parts(shelf)), Role::Hosts { arrivals }) = (run.shelf.as_deref_mut(), role) {
                swap(&mut links.sent[number], &mut shelf.sent[place]);
                for &direction in links.directions {
                    swap(&mut links.arrivals[direction][number], &mut arrivals[direction]);
                }
            }
        }
    }
}

/// Gives the first of `shards` what the packets of `directions` crossed, which `links` has, and each flow what is only
/// known there.
fn give_links(directions: &[Direction], links: &mut Simulation, shards: &mut [Simulation], flows: &Shards) {
    for id in directions.iter().copied().map(LinkId::bottleneck) {
        swap(&mut shards[0].links[id], &mut links.links[id]);
    }
    swap(&mut shards[0].row, &mut links.row);
    for flow in links.flows.numbers().filter(|flow| directions.contains(&links.flows[*flow].direction)) {
        let own = &mut shards[flows.of(flow)];
        own.flows[flow].baseline.fates.dropped = links.flows[flow].baseline.fates.dropped;
        if own.flow_series.get(flow).is_some() {
            let dropped = &mut links.flow_series[flow].dropped_packets;
            swap(&mut own.flow_series[flow].dropped_packets, dropped);
        }
    }
}

/// Gives `whole`, the first shard, the flows of the `others`.
fn give_flows(mut others: Vec<Simulation>, whole: &mut Simulation, flows: &Shards) {
    for flow in whole.flows.numbers().filter(|flow| flows.of(*flow) > 0) {
        let own = &mut others[flows.of(flow) - 1];
        if let Source::App(app) = &mut own.flows[flow].source {
            app.close_books(&own.sockets);
        }
        swap(&mut whole.flows[flow], &mut own.flows[flow]);
        swap(&mut whole.flow_paths[flow], &mut own.flow_paths[flow]);
        if whole.sockets.bulk.get(flow).is_some() {
            swap(&mut whole.sockets.bulk[flow], &mut own.sockets.bulk[flow]);
        }
        if whole.flow_series.get(flow).is_some() {
            swap(&mut whole.flow_series[flow], &mut own.flow_series[flow]);
        }
    }
}

impl Simulation {
    /// Returns on how many of `cores` threads the run may be faster than on one. Several can be if the run is long,
    /// each thread has flows, and in each window the threads have work. Rows and cells gain too little: one part has
    /// everything between the hosts. Whether they are faster, a [`Trial`](super::trial::Trial) says.
    #[must_use]
    pub fn threads_worth(&self, cores: usize) -> usize {
        let is_worth = self.row.is_none()
            && self.frames_in(self.duration()) > LONG
            && self.frames_in(self.least_delay() / 2) > BUSY;
        let flows = self.flows.iter().filter(|flow| flow.kind.is_tcp()).count();
        if is_worth { cores.min(flows / FLOWS).max(1) } else { 1 }
    }

    /// Returns the number of full frames that the links with data of TCP can forward in `time`.
    fn frames_in(&self, time: Duration) -> f64 {
        let is_used =
            |way: &Direction| self.flows.iter().any(|flow| flow.kind.is_tcp() && flow.direction == *way);
        let used = Direction::ALL.into_iter().filter(is_used);
        let bps: u64 = used.map(|direction| self.scenario.link(direction).rate.0.as_bps()).sum();
        bps as f64 * time.as_secs_f64() / FULL_FRAME_BITS
    }

    /// Returns why the run stays on one thread, or `None` if it can be cut.
    pub(super) fn uncut(&self, threads: usize) -> Option<Uncut> {
        let has_own_queue = self.row.as_ref().is_some_and(|row| row.have_own_queues());
        let rules = [
            (threads < 2, "no more were asked for"),
            (has_own_queue, "a host has a queue of its own"),
            (Cards::are_in(&self.scenario), "a card receives"),
            (self.scenario.change.iter().any(|change| change.rtt.is_some()), "the base RTT changes"),
            (self.least_delay() < SHORTEST, "the base RTT is near 0"),
        ];
        rules.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why).or_else(|| self.why_at_once())
    }
}
