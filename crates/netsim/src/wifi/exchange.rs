//! The medium: who sends, how long an exchange of frames takes, and what becomes of it.

use super::aggregate::{Aggregate, Tried};
use super::cell::{Cell, Protection};
use super::contention::ContenderId;
use super::mode::Mode;
use super::session::Fate;
use super::stations::Transmission;
use super::watch::Seen;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Duration, Instant};

impl Cell {
    /// Begins the transmission of each contender whose backoff is over.
    pub(super) fn begin(&mut self, now: Instant) {
        let mut sending = std::mem::take(&mut self.sending);
        self.contention.take(now, &mut sending);
        self.settle_within_nodes(&mut sending);
        self.sending = sending;
        self.txop_end = now;
        if let [one] = self.sending[..] {
            self.txop_end = now + self.timing.access(self.contender(one).1).txop;
        }
        self.send(now);
    }

    /// Settles which of several queues of one node sends. The most urgent queue sends, and the other queues treat
    /// that as a collision (802.11-2012, 9.19.2.3).
    fn settle_within_nodes(&mut self, sending: &mut Vec<ContenderId>) {
        if sending.len() < 2 {
            return;
        }
        let all = sending.clone();
        sending.retain(|id| {
            let (node, category) = self.contender(*id);
            let mut rivals = all.iter().map(|other| self.contender(*other));
            let is_first = rivals.all(|(of, other)| of != node || other <= category);
            if !is_first {
                self.contention.failed(*id);
            }
            is_first
        });
    }

    /// Begins the transmissions of `sending` at `now`.
    fn send(&mut self, now: Instant) {
        for place in 0..self.sending.len() {
            let (node, category) = self.contender(self.sending[place]);
            self.senders[node.direction].start(now, node.index, category);
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
    pub(super) fn finish(&mut self, now: Instant) {
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
            let tried = self.result(*id, now, is_collision);
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
            let (node, _) = self.contender(self.sending[place]);
            self.fill(node, now);
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
        let (node, category) = self.contender(id);
        let aggregate = self.aggregate(id)?;
        Some(Seen {
            mpdus: self.node(node).mpdus(category),
            bytes: aggregate.bytes,
            before: self.protects(aggregate),
            whole: self.exchange(id),
            was_tried: aggregate.tried.iter().any(|tried| *tried > 0),
            came: Vec::new(),
        })
    }

    /// Decides which frames of `id` arrive, counts the transmission, and delivers packets.
    fn result(&mut self, id: ContenderId, now: Instant, is_collision: bool) -> Tried {
        let (node, category) = self.contender(id);
        let direction = node.direction;
        let airtime = if is_collision { self.alone(id) } else { self.exchange(id) };
        let Some(aggregate) = self.aggregate(id) else { return Tried::GivenUp };
        let (mode, frames, peer) = (aggregate.mode(), aggregate.frames.len(), aggregate.peer);
        let station = match direction {
            Direction::Down => peer,
            Direction::Up => node.index as u32,
        };
        let mut seen = self.watch.is_some().then(|| self.seen(id)).flatten();
        let (own, random) = (&mut self.stations[station as usize], &mut self.random);
        let (mut came, mut last) = (0, (0, 0.0));
        let arrives = |bytes: u32| {
            if bytes != last.0 {
                last = (bytes, own.error_rate(mode, bytes)); // nearly all frames have one length
            }
            let (_, lost) = last;
            let comes = !is_collision && (lost == 0.0 || random.next_f64() >= lost);
            came += usize::from(comes);
            if let Some(seen) = &mut seen {
                seen.came.push(comes);
            }
            comes
        };
        let senders = &mut self.senders[direction];
        let tried = senders.nodes[node.index].tried(now, category, &self.timing, airtime, arrives);
        if !is_collision {
            senders.airtime = senders.airtime + airtime;
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
        let Some(lane) = senders.nodes[node.index].lane(category) else { return tried };
        if let (Some(watch), Some(seen)) = (&mut self.watch, &seen) {
            watch.saw(&self.timing, &sent, seen, &lane.sessions[peer as usize]);
        }
        while let Some((packet, fate)) = lane.sessions[peer as usize].leave() {
            match fate {
                Fate::Delivered => {
                    counts.delivered(&packet, now.since(packet.arrival));
                    self.leaving.push_back((direction, packet));
                }
                Fate::Lost | Fate::TooOld => {
                    counts.lost += 1;
                    counts.expired += u64::from(fate == Fate::TooOld);
                    senders.ledger.fates.lost_behind(&packet);
                }
            }
        }
        // The access point counts a station's own transmissions as the station's airtime, too.
        if direction == Direction::Up
            && let Some(lane) = self.senders[Direction::Down].nodes[0].lane(category)
        {
            lane.turns.charge(station, airtime);
        }
        tried
    }
}
