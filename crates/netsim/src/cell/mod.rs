//! A cell: an access point, its stations, and the medium that they share.
//!
//! One exchange of frames is one step. The station whose backoff ends first sends, its answer comes or does not, and
//! the next contention begins. A packet leaves the cell when its exchange ends, that is with the answer to it.
//!
//! - [`node`]: an interface of the access point or of a station; [`lane`]: one access category of an interface;
//!   [`session`]: the frames for one receiver; [`aggregate`]: what is sent at a time;
//! - [`airtime`]: whose turn it is among stations; [`firmware`]: what mac80211 limits by time;
//! - [`counters`] and [`stations`]: the counts; [`report`]: what a record says of a cell;
//! - [`watch`]: the observers: [`log`] keeps each transmission of a window, [`frames`](crate::path::wifi::frames)
//!   each frame for a capture.

pub(crate) mod aggregate;
pub(crate) mod airtime;
pub(crate) mod counters;
mod firmware;
pub(crate) mod lane;
pub(crate) mod log;
pub(crate) mod node;
pub(crate) mod report;
pub(crate) mod session;
pub(crate) mod stations;
pub(crate) mod watch;

use crate::direction::Direction;
use crate::link::Counts;
use crate::lists::{ByDirection, PerFlow};
use crate::packet::Packet;
use crate::path::wifi::contention::{ContenderId, Contention};
use crate::path::wifi::mode::Mode;
use crate::path::wifi::standard::{Category, Timing};
use crate::probe::series::{Pick, QueueSeries};
use aggregate::{Aggregate, Tried};
use counters::Counters;
use goodqueue_qdisc::{Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant, Stream};
use lane::Lane;
use node::{Above, Node};
use session::Fate;
use stations::{Station, Transmission};
use watch::{AirWatch, Seen};

/// A packet that leaves a cell, with its direction.
pub(crate) type Delivery = (Direction, Packet);

/// A cell.
pub(crate) struct Cell {
    pub(crate) timing: Timing,
    /// The frames that protect each exchange.
    pub(crate) protection: Protection,
    /// The access point first, then the stations.
    pub(crate) nodes: Vec<Node>,
    pub(crate) counters: ByDirection<Counters>,
    pub(crate) stations: Vec<Station>,
    /// The observers of the air, if there are any.
    pub(crate) watch: Option<Box<AirWatch>>,
    /// The station of each flow. Stations are counted from 0.
    station_of: PerFlow<u32>,
    contention: Contention,
    /// The node and the category of each contender.
    contenders: Vec<(u32, Category)>,
    /// When the discipline of each node wants to be called.
    timers: Vec<Instant>,
    /// The contenders that send, and when they end, if anybody sends.
    sending: Vec<ContenderId>,
    busy_until: Option<Instant>,
    /// Until when the sender may go on without a new contention.
    txop_end: Instant,
    /// When the senders began, and from when slots count after the senders have ended.
    began: Instant,
    idle_from: Instant,
    random: Stream,
}

/// The frames that protect each exchange. They go before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Nothing,
    /// RTS and CTS.
    RtsCts,
    /// A CTS-to-self, at a rate of 802.11b.
    CtsToSelf,
}

impl Cell {
    /// Builds the cell of `nodes`, the access point first. `station_of` has the station of each flow.
    pub(crate) fn new(
        timing: Timing,
        protection: Protection,
        nodes: Vec<Node>,
        counters: ByDirection<Counters>,
        stations: Vec<Station>,
        station_of: PerFlow<u32>,
        [backoffs, errors]: [Stream; 2],
    ) -> Self {
        let timers = vec![Instant::MAX; nodes.len()];
        let mut cell = Self {
            timing,
            protection,
            nodes,
            counters,
            stations,
            watch: None,
            station_of,
            contention: Contention::new(timing.slot, backoffs),
            contenders: Vec::new(),
            timers,
            sending: Vec::new(),
            busy_until: None,
            txop_end: Instant::ZERO,
            began: Instant::ZERO,
            idle_from: Instant::ZERO,
            random: errors,
        };
        for node in 0..cell.nodes.len() {
            cell.open(node, Category::BestEffort);
            cell.plan_timer(node, Instant::ZERO);
        }
        cell
    }

    /// Returns the direction in which `node` sends.
    fn direction(node: usize) -> Direction {
        if node == 0 { Direction::Down } else { Direction::Up }
    }

    fn open(&mut self, node: usize, category: Category) {
        let access = self.timing.access(category);
        let contender = self.contention.join(access, self.idle_from);
        self.contenders.push((node as u32, category));
        self.nodes[node].open(category, contender);
    }

    fn plan_timer(&mut self, node: usize, now: Instant) {
        if let Above::Qdisc(qdisc, _) = &self.nodes[node].above {
            self.timers[node] = qdisc.next_timer().map_or(Instant::MAX, |due| due.max(now));
        }
    }

    /// Returns when the cell acts next.
    pub(crate) fn next_time(&self) -> Instant {
        let of_air = self.busy_until.or_else(|| self.contention.next_start()).unwrap_or(Instant::MAX);
        self.timers.iter().copied().fold(of_air, Instant::min)
    }

    /// Takes `packet`, which goes in direction `direction`.
    pub(crate) fn offer(&mut self, now: Instant, direction: Direction, packet: Packet) {
        let station = self.station_of[packet.flow];
        let (node, peer) = match direction {
            Direction::Down => (0, station),
            Direction::Up => (station as usize + 1, 0),
        };
        let category = self.timing.category(packet.dscp());
        if self.nodes[node].lane(category).is_none() {
            self.open(node, category);
        }
        let counters = &mut self.counters[direction];
        counters.offered += 1;
        if let Some(watch) = &mut counters.fates.watch {
            watch.offered(now, packet);
        }
        self.nodes[node].enqueue(now, peer, category, packet, &mut counters.fates);
        self.fill(node, now);
    }

    /// Returns the interfaces that send in direction `direction`.
    fn nodes(&self, direction: Direction) -> &[Node] {
        match direction {
            Direction::Down => &self.nodes[..1],
            Direction::Up => &self.nodes[1..],
        }
    }

    /// Returns the packet counts of direction `direction`.
    pub(crate) fn counts(&self, direction: Direction) -> Counts {
        self.counters[direction].counts(self.nodes(direction).iter().map(Node::unsent).sum())
    }

    /// Returns the number of packets in direction `direction` that the drivers hold.
    pub(crate) fn held_by_drivers(&self, direction: Direction) -> u64 {
        self.nodes(direction).iter().flat_map(Node::lanes).map(Lane::pending).sum()
    }

    /// Ends an interval of the series.
    pub(crate) fn end_interval(
        &mut self,
        now: Instant,
        interval: Duration,
        series: &mut ByDirection<QueueSeries>,
    ) {
        self.stations.iter_mut().for_each(|station| station.end_interval(interval));
        for direction in Direction::ALL {
            let counters = &self.counters[direction];
            let nodes = self.nodes(direction);
            // If there are several stations, the series shows the control law of the first and the packets of all.
            let mut pick = Pick { name: "drop_probability", value: None };
            if let Some(Node { above: Above::Qdisc(qdisc, _), .. }) = nodes.first() {
                qdisc.probe(&mut pick);
                if let Some(law) = &mut series[direction].law {
                    law.end_interval(now, |law| qdisc.show(law));
                }
            }
            let waiting: u64 = nodes.iter().map(Node::unsent).sum();
            let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
            series[direction].end_interval((counters.forwarded, counters.delay_sum), waiting, pick.value);
        }
    }

    /// Lets `node` prepare what it can, and contend with it.
    fn fill(&mut self, node: usize, now: Instant) {
        let fates = &mut self.counters[Self::direction(node)].fates;
        if let Some(watch) = &mut fates.watch {
            watch.at(now);
        }
        let station_of = &self.station_of;
        let peer_of = |packet: &Packet| if node == 0 { station_of[packet.flow] } else { 0 };
        let of_node = &mut self.nodes[node];
        of_node.fill(now, &self.timing, fates, peer_of);
        for lane in of_node.lanes() {
            if lane.hardware.is_empty() {
                self.contention.rest(lane.contender);
            } else {
                self.contention.ready(lane.contender, now);
            }
        }
        self.plan_timer(node, now);
    }

    /// Does what is due at `now`. Packets that leave the cell go to `out`.
    pub(crate) fn act(&mut self, now: Instant, out: &mut Vec<Delivery>) {
        for node in 0..self.nodes.len() {
            if self.timers[node] <= now {
                self.on_timer(node, now);
            }
        }
        match self.busy_until {
            Some(ends) if ends <= now => self.finish(now, out),
            None if self.contention.next_start() == Some(now) => self.begin(now),
            _ => {}
        }
    }

    fn on_timer(&mut self, node: usize, now: Instant) {
        let fates = &mut self.counters[Self::direction(node)].fates;
        if let Above::Qdisc(qdisc, _) = &mut self.nodes[node].above {
            if let Some(watch) = &mut fates.watch {
                watch.at(now);
            }
            qdisc.on_timer(now, fates);
        }
        self.fill(node, now);
    }

    /// Begins the transmission of each contender whose backoff is over.
    fn begin(&mut self, now: Instant) {
        let mut sending = std::mem::take(&mut self.sending);
        self.contention.take(now, &mut sending);
        self.settle_within_nodes(&mut sending);
        self.sending = sending;
        self.txop_end = now;
        if let [one] = self.sending[..] {
            self.txop_end = now + self.timing.access(self.contenders[one.0 as usize].1).txop;
        }
        self.send(now);
    }

    /// Settles which of several queues of one node sends. The most urgent queue sends, and the other queues treat
    /// that as a collision (802.11-2012, 9.19.2.3).
    fn settle_within_nodes(&mut self, sending: &mut Vec<ContenderId>) {
        if sending.len() < 2 {
            return;
        }
        let contenders = &self.contenders;
        let all = sending.clone();
        sending.retain(|id| {
            let (node, category) = contenders[id.0 as usize];
            let rivals = all.iter().map(|other| contenders[other.0 as usize]);
            let is_first = rivals.into_iter().all(|(of, other)| of != node || other <= category);
            if !is_first {
                self.contention.failed(*id);
            }
            is_first
        });
    }

    fn aggregate(&self, id: ContenderId) -> Option<&Aggregate> {
        let (node, category) = self.contenders[id.0 as usize];
        self.nodes[node as usize].aggregate(category)
    }

    /// Begins the transmissions of `sending` at `now`.
    fn send(&mut self, now: Instant) {
        for place in 0..self.sending.len() {
            let (node, category) = self.contenders[self.sending[place].0 as usize];
            let counters = &mut self.counters[Self::direction(node as usize)];
            self.nodes[node as usize].start(category, |queued| counters.started(now, queued));
        }
        let took = match self.sending[..] {
            [one] => self.exchange(one),
            _ => self.sending.iter().map(|id| self.alone(*id)).max().unwrap_or(Duration::ZERO),
        };
        (self.began, self.busy_until) = (now, Some(now + took));
    }

    /// Returns the duration of the whole exchange of `id`, up to the end of the answer.
    fn exchange(&self, id: ContenderId) -> Duration {
        let Some(aggregate) = self.aggregate(id) else { return Duration::ZERO };
        let mode = aggregate.mode();
        let answer = self.timing.answer(mode, aggregate.is_aggregate());
        self.before(aggregate) + self.timing.frame(mode, aggregate.bytes) + self.timing.sifs + answer
    }

    /// Returns the duration of the frames that protect `aggregate`.
    fn before(&self, aggregate: &Aggregate) -> Duration {
        match self.protects(aggregate) {
            Protection::Nothing => Duration::ZERO,
            Protection::CtsToSelf => self.timing.cts_to_self(),
            Protection::RtsCts => self.timing.rts_cts(aggregate.mode()),
        }
    }

    /// Returns how `aggregate` is protected.
    fn protects(&self, aggregate: &Aggregate) -> Protection {
        match self.protection {
            Protection::Nothing if aggregate.has_rts() => Protection::RtsCts,
            Protection::CtsToSelf if matches!(aggregate.mode(), Mode::Dsss(_)) => Protection::Nothing,
            of_cell => of_cell,
        }
    }

    /// Returns how long `id` sends in vain, because others send at the same time.
    fn alone(&self, id: ContenderId) -> Duration {
        let Some(aggregate) = self.aggregate(id) else { return Duration::ZERO };
        let mode = aggregate.mode();
        match self.protects(aggregate) {
            Protection::RtsCts => self.timing.rts(mode),
            _ => self.before(aggregate) + self.timing.frame(mode, aggregate.bytes),
        }
    }

    /// Ends the exchange: the medium is free again.
    fn finish(&mut self, now: Instant, out: &mut Vec<Delivery>) {
        self.busy_until = None;
        self.idle_from = now + self.timing.sifs;
        let sending = std::mem::take(&mut self.sending);
        let is_collision = sending.len() > 1;
        let mut resume = Vec::new();
        let mut is_answered = false;
        for id in &sending {
            if is_collision {
                resume.push((*id, self.gives_up_waiting(*id)));
            }
            let tried = self.result(*id, now, is_collision, out);
            match tried {
                Tried::Answered | Tried::GivenUp => self.contention.succeeded(*id),
                Tried::Again => self.contention.failed(*id),
            }
            is_answered = tried == Tried::Answered;
        }
        self.sending = sending;
        if let Some(watch) = &mut self.watch {
            watch.tell();
        }
        for place in 0..self.sending.len() {
            let (node, _) = self.contenders[self.sending[place].0 as usize];
            self.fill(node as usize, now);
        }
        if is_answered && self.goes_on(now) {
            return;
        }
        self.contention.release(self.idle_from);
        for (id, time) in resume {
            self.contention.resume_at(id, time + self.timing.sifs);
        }
    }

    /// Returns when `id`, which sends in vain, knows that no answer comes.
    fn gives_up_waiting(&self, id: ContenderId) -> Instant {
        let timeout = self.aggregate(id).map(|aggregate| self.timing.answer_timeout(aggregate.mode()));
        self.began + self.alone(id) + timeout.unwrap_or(Duration::ZERO)
    }

    /// Lets the sender go on after a SIFS, if its time lasts for another exchange. Returns whether it goes on.
    fn goes_on(&mut self, now: Instant) -> bool {
        let [one] = self.sending[..] else { return false };
        let begins = now + self.timing.sifs;
        if self.aggregate(one).is_none() || begins + self.exchange(one) > self.txop_end {
            return false;
        }
        self.send(begins);
        true
    }

    /// Returns what observers must know of the transmission of `id`.
    fn seen(&self, id: ContenderId) -> Option<Seen> {
        let (node, category) = self.contenders[id.0 as usize];
        let aggregate = self.aggregate(id)?;
        Some(Seen {
            mpdus: self.nodes[node as usize].mpdus(category),
            bytes: aggregate.bytes,
            before: self.protects(aggregate),
            whole: self.exchange(id),
            was_tried: aggregate.tried.iter().any(|tried| *tried > 0),
            came: Vec::new(),
        })
    }

    /// Decides which frames of `id` arrive, counts the transmission, and delivers packets to `out`.
    fn result(
        &mut self,
        id: ContenderId,
        now: Instant,
        is_collision: bool,
        out: &mut Vec<Delivery>,
    ) -> Tried {
        let (number, category) = self.contenders[id.0 as usize];
        let (node, direction) = (number as usize, Self::direction(number as usize));
        let airtime = if is_collision { self.alone(id) } else { self.exchange(id) };
        let Some(aggregate) = self.aggregate(id) else { return Tried::GivenUp };
        let (mode, frames, peer) = (aggregate.mode(), aggregate.frames.len(), aggregate.peer);
        let station = if node == 0 { peer } else { number - 1 };
        let mut seen = self.watch.is_some().then(|| self.seen(id)).flatten();
        let (own, random) = (&mut self.stations[station as usize], &mut self.random);
        let mut came = 0;
        let arrives = |bytes: u32| {
            let lost = own.error_rate(mode, bytes);
            let comes = !is_collision && (lost == 0.0 || random.next_f64() >= lost);
            came += usize::from(comes);
            if let Some(seen) = &mut seen {
                seen.came.push(comes);
            }
            comes
        };
        let tried = self.nodes[node].tried(now, category, &self.timing, airtime, arrives);
        let counters = &mut self.counters[direction];
        if !is_collision {
            counters.airtime = counters.airtime + airtime;
        }
        let (began, is_answered, came) = (self.began, tried == Tried::Answered, came.min(frames));
        let sent = Transmission {
            began,
            airtime,
            station,
            direction,
            category,
            mode,
            frames,
            came,
            is_answered,
            is_collision,
        };
        self.stations[station as usize].sent(&sent);
        let counts = &mut self.stations[station as usize].counts[direction];
        let Some(lane) = self.nodes[node].lane(category) else { return tried };
        if let (Some(watch), Some(seen)) = (&mut self.watch, &seen) {
            watch.saw(&self.timing, &sent, seen, &lane.sessions[peer as usize]);
        }
        while let Some((packet, fate)) = lane.sessions[peer as usize].leave() {
            match fate {
                Fate::Delivered => {
                    counts.delivered(&packet, now.since(packet.arrival));
                    out.push((direction, packet));
                }
                Fate::Lost => {
                    counts.lost += 1;
                    counters.lost[packet.flow] += 1;
                    counters.fates.free(&packet);
                    if let Some(envelope) = packet.envelope() {
                        envelope.over();
                    }
                }
            }
        }
        // The access point counts a station's own transmissions as the station's airtime, too.
        if node > 0
            && let Some(lane) = self.nodes[0].lane(category)
        {
            lane.turns.charge(station, airtime);
        }
        tried
    }
}
