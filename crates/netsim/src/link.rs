//! The bottleneck of one direction: a queue discipline, the transmitter below it, and the pipes behind it.

use crate::agenda::Agenda;
use crate::component::Component;
use crate::direction::Direction;
use crate::foreign::Discipline;
use crate::freed::Freed;
use crate::hosts::Hosts;
use crate::ids::PipeId;
use crate::lists::PerFlow;
use crate::observer::Watch;
use crate::packet::Packet;
use crate::path::transmitter::{Fixed, Transmitter};
use crate::pipe::Pipes;
use crate::probe::delay::QueueDelays;
use crate::ring::Ring;
use goodqueue_qdisc::{Drop, Error, Mark, Owner, Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant, Rate, Stream};
use std::collections::VecDeque;

/// What the discipline reports of the fates of packets, and its dice.
pub(crate) struct Fates {
    random: Stream,
    /// Drops by reason, in the order of [`Drop::ALL`].
    pub(crate) drops: [u64; Drop::ALL.len()],
    /// Marks by reason, in the order of [`Mark::ALL`].
    pub(crate) marks: [u64; Mark::ALL.len()],
    pub(crate) dropped: PerFlow<u64>,
    /// Copies that a discipline made of packets (`netem duplicate`). They count as offered.
    pub(crate) copies: u64,
    /// Whether the next packet that the discipline returns has a flipped bit (`netem corrupt`).
    is_corrupted: bool,
    /// The observer of the link, if there is one.
    pub(crate) watch: Option<Box<Watch>>,
    /// The hosts of the flows, if the scenario names any.
    hosts: Option<Hosts>,
    /// Packets that senders are told of, if this is the first queue of flows with small queues.
    pub(crate) freed: Option<Box<Freed>>,
}

impl Fates {
    /// Builds the counters for this number of `flows`.
    pub(crate) fn new(random: Stream, flows: usize, watch: Option<Box<Watch>>, hosts: Option<Hosts>) -> Self {
        Self {
            random,
            drops: [0; _],
            marks: [0; _],
            dropped: vec![0; flows].into(),
            copies: 0,
            is_corrupted: false,
            watch,
            hosts,
            freed: None,
        }
    }

    /// Notes that `packet` has left the queue.
    pub(crate) fn free(&mut self, packet: &Packet) {
        if let Some(freed) = &mut self.freed {
            freed.note(packet);
        }
    }

    /// Returns whether the packet that the discipline has just returned has a flipped bit.
    pub(crate) fn take_corrupted(&mut self) -> bool {
        std::mem::take(&mut self.is_corrupted)
    }

    /// Counts `packet`, which was sent, and whose receiver does not take it.
    fn lost_behind(&mut self, packet: &Packet) {
        self.dropped[packet.flow] += 1;
        self.free(packet);
        if let Some(envelope) = packet.envelope() {
            envelope.over();
        }
    }
}

impl Owner<Packet> for Fates {
    #[inline(never)] // rare, and each discipline calls it at several places
    fn dropped(&mut self, packet: Packet, why: Drop) {
        self.drops[why as usize] += 1;
        self.dropped[packet.flow] += 1;
        self.free(&packet);
        if let Some(envelope) = packet.envelope() {
            envelope.over();
        }
        if let Some(watch) = &self.watch {
            watch.dropped(packet, why);
        }
    }
    fn marked(&mut self, _packet: &Packet, why: Mark) {
        self.marks[why as usize] += 1;
    }
    fn duplicated(&mut self, packet: &Packet) -> Option<Packet> {
        self.copies += 1;
        if let Some(envelope) = packet.envelope() {
            envelope.doubled();
        }
        Some(*packet)
    }
    fn corrupted(&mut self, _packet: &Packet) {
        self.is_corrupted = true;
    }
    fn host_hashes(&self, packet: &Packet) -> (u32, u32) {
        // A packet from outside has its own hosts.
        match &self.hosts {
            Some(hosts) if packet.envelope().is_none() => hosts.of_packets(packet.flow),
            _ => packet.host_hashes(),
        }
    }
    fn random_u32(&mut self) -> u32 {
        self.random.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// Packets counted since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) forwarded: u64,
    pub(crate) forwarded_bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) queued: u64,
}

/// A period of time at one rate.
struct Stretch {
    until: Instant,
    rate: Rate,
    /// How long the wire was occupied up to `until`.
    busy: Duration,
}

/// A bottleneck: packets wait in the discipline, then occupy the wire one after the other.
///
/// As in the model of the decision traces, the link asks the discipline for the next packet when a transmission ends,
/// and once after each arrival at an idle link. An answer without a packet counts, too.
///
/// The end of a transmission has no effect outside the link before a packet comes out of a pipe, or before another
/// event occurs at the link. So the link catches up only then, and uses the time at which the transmission ended.
/// This saves one entry in the agenda per packet.
pub(crate) struct Link {
    pub(crate) qdisc: Discipline,
    pub(crate) fates: Fates,
    pub(crate) delays: QueueDelays,
    pub(crate) pipes: Pipes,
    parts: Parts,
    direction: Direction,
    rate: Rate,
    fixed: Fixed,
    /// What a link has beside a fixed rate and hosts behind it. Most links have nothing, and pay nothing for it.
    special: Option<Box<Special>>,
    /// The earlier periods, at other rates.
    past: Vec<Stretch>,
    /// When the transmission ends, or [`Instant::MAX`] if there is none. Its packet is already in its pipe.
    ends: Instant,
    /// Whether the last transmission began when the one before it ended.
    is_streaming: bool,
    /// How much later than `ends` the link may handle the end of the transmission.
    patience: Duration,
    /// When the wire becomes free, or became free last.
    wire_free: Instant,
    /// The time that the wire is occupied from the beginning of the run to `wire_free`.
    busy: Duration,
    offered: u64,
    forwarded: u64,
    forwarded_bytes: u64,
    /// Sum of the delays of all forwarded packets, in nanoseconds. Unlike `delays`, it includes the warm-up.
    delay_sum: u128,
}

/// What only few links have.
struct Special {
    /// The transmitter, if the rate is not fixed.
    transmitter: Option<Transmitter>,
    /// The driver's ring below the discipline, if there is one.
    ring: Option<Ring>,
    /// Packets that go on to another hop, with the time at which they arrive there.
    onward: VecDeque<(Instant, Packet)>,
}

/// What a link has below its discipline.
pub(crate) struct Below {
    pub(crate) transmitter: Transmitter,
    pub(crate) ring: Option<Ring>,
}

/// The components of a link in the agenda.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// The discipline's timer.
    pub(crate) timer: Component,
    /// The wire.
    pub(crate) wire: Component,
    /// The way to the next hop.
    pub(crate) onward: Component,
}

impl Parts {
    /// Returns the components of the bottleneck of `direction`. Its packets may go on to the component `onward`.
    pub(crate) fn of_bottleneck(direction: Direction, onward: Component) -> Self {
        Self { timer: Component::qdisc_timer(direction), wire: Component::wire(direction), onward }
    }
}

/// Takes the next packet from a discipline. Returns it, and whether one of its bits was flipped there.
fn dequeue(qdisc: &mut Discipline, now: Instant, fates: &mut Fates) -> Option<(Packet, bool)> {
    let packet = qdisc.dequeue(now, fates)?;
    Some((packet, fates.take_corrupted()))
}

impl Link {
    pub(crate) fn new(
        qdisc: Discipline,
        below: Below,
        direction: Direction,
        parts: Parts,
        pipes: Pipes,
        fates: Fates,
    ) -> Self {
        let Below { transmitter, ring } = below;
        let rate = transmitter.mean_rate();
        let (fixed, transmitter) = match transmitter {
            Transmitter::Fixed(fixed) => (fixed, None),
            other => (Fixed::new(rate), Some(other)),
        };
        let is_special = transmitter.is_some() || ring.is_some() || pipes.lead_on() || qdisc.may_corrupt();
        let special = is_special.then(|| Box::new(Special { transmitter, ring, onward: VecDeque::new() }));
        let mut link = Self {
            qdisc,
            fates,
            delays: QueueDelays::new(),
            pipes,
            parts,
            direction,
            rate,
            fixed,
            special,
            past: Vec::new(),
            ends: Instant::MAX,
            is_streaming: false,
            patience: Duration::ZERO,
            wire_free: Instant::ZERO,
            busy: Duration::ZERO,
            offered: 0,
            forwarded: 0,
            forwarded_bytes: 0,
            delay_sum: 0,
        };
        link.plan_patience();
        link
    }

    /// Sets `patience`. It is zero if there is an observer, which must be told everything at the right time. It is
    /// also zero if the discipline holds packets back: then its answer depends on the time at which it is asked.
    /// Otherwise the link has time until the next packet on the wire could come out of a pipe.
    fn plan_patience(&mut self) {
        let at_once = self.fates.watch.is_some() || !self.qdisc.is_work_conserving();
        self.patience = if at_once { Duration::ZERO } else { self.pipes.least_delay() };
    }

    /// Adds the observer `watch` from now on.
    pub(crate) fn watch(&mut self, watch: Box<Watch>, agenda: &mut Agenda) {
        self.fates.watch = Some(watch);
        self.plan_patience();
        agenda.set(self.parts.wire, self.ends);
    }

    /// Offers `packet` to the queue. The caller must [settle](Self::settle) the link before. The caller does so
    /// before it makes the packet, which then need not be copied around that call.
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) {
        debug_assert!(self.ends > now || self.special.is_some(), "not settled"); // a gate, or a burst, takes no time
        self.offered += 1;
        if let Some(watch) = &mut self.fates.watch {
            watch.offered(now, packet);
        }
        self.qdisc.enqueue(now, packet, &mut self.fates);
        if self.ends == Instant::MAX {
            self.transmit(now, agenda);
        } else if let Some(ring) = self.special.as_mut().and_then(|special| special.ring.as_mut()) {
            ring.fill(now, || dequeue(&mut self.qdisc, now, &mut self.fates));
        }
    }

    /// Catches up with the transmissions that ended by `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.ends <= now {
            self.transmit(self.ends, agenda);
        }
    }

    /// Catches up when a packet has come out of one of the link's pipes. While the wire is never free, one packet
    /// enters the pipes per packet that leaves them. Settling now then does exactly one transmission, which the
    /// branch predictor foresees. Settling later would do an unpredictable number.
    #[inline]
    pub(crate) fn settle_stream(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.is_streaming {
            self.settle(now, agenda);
        }
    }

    /// Settles as [`settle`](Self::settle) does, for components that act before the wires at equal times.
    pub(crate) fn settle_before(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.ends < now {
            self.transmit(self.ends, agenda);
        }
    }

    /// Returns the bytes that have been sent since the run began.
    #[cfg(feature = "emulation")]
    pub(crate) fn forwarded_bytes(&self) -> u64 {
        self.forwarded_bytes
    }

    /// Handles the discipline's timer.
    pub(crate) fn on_timer(&mut self, now: Instant, agenda: &mut Agenda) {
        self.settle_before(now, agenda);
        self.watch_at(now);
        self.qdisc.on_timer(now, &mut self.fates);
        self.resume(now, agenda);
    }

    /// Asks again a discipline that may hold packets back while the wire is free, after a change that may release
    /// them.
    fn resume(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.ends == Instant::MAX && self.qdisc.backlog().packets > 0 {
            self.transmit(now, agenda);
        }
        self.plan_timer(now, agenda);
    }

    /// Plans the discipline's timer. A shaper's time may be past already: it says when the shaper might send, and
    /// nobody asked the shaper then because the wire was not free.
    pub(crate) fn plan_timer(&self, now: Instant, agenda: &mut Agenda) {
        let time = self.qdisc.next_timer().map_or(Instant::MAX, |due| due.max(now));
        agenda.set(self.parts.timer, time);
    }

    /// Changes the rate or the parameters of the discipline from now on. The packet on the wire is not affected.
    ///
    /// # Errors
    /// If the discipline refuses the change.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        rate: Option<Rate>,
        line: Option<&str>,
        agenda: &mut Agenda,
    ) -> Result<(), Error> {
        self.watch_at(now);
        self.qdisc.change(now, rate, line, &mut self.fates)?;
        if let Some(rate) = rate {
            self.past.push(Stretch { until: now, rate: self.rate, busy: self.busy_until(now) });
            (self.rate, self.fixed) = (rate, Fixed::new(rate));
        }
        self.resume(now, agenda);
        Ok(())
    }

    /// Tells the observer the time, which the discipline does not report with its drops.
    #[inline]
    fn watch_at(&mut self, now: Instant) {
        if let Some(watch) = &mut self.fates.watch {
            watch.at(now);
        }
    }

    /// Takes the next packet from the queue, puts it on the wire and so into its pipe.
    fn transmit(&mut self, now: Instant, agenda: &mut Agenda) {
        self.watch_at(now);
        if self.special.is_some() {
            return self.transmit_special(now, agenda);
        }
        // The packet is copied once, into its pipe.
        let sent = self.qdisc.dequeue(now, &mut self.fates);
        let Some(packet) = &sent else { return self.rest(now, agenda) };
        let length = packet.len();
        let duration = self.fixed.occupy(length);
        self.begin(now, packet, length, duration, agenda);
        let pipe = self.pipes.of(packet);
        if let Some(time) = self.pipes.push(pipe, self.wire_free, packet) {
            agenda.set(Component::pipe(self.direction, pipe), time);
        }
    }

    /// Begins the transmission of `packet`. The caller has asked for its `length` already: the compiler would ask
    /// twice.
    #[inline(always)] // called at two places: with each packet of ordinary links, and of special ones
    fn begin(&mut self, now: Instant, packet: &Packet, length: u32, duration: Duration, agenda: &mut Agenda) {
        let delay = now.since(packet.arrival);
        self.delays.record(delay);
        self.delay_sum += u128::from(delay.as_nanos());
        if let Some(watch) = &mut self.fates.watch {
            watch.started(now, *packet, delay);
        }
        self.forwarded += 1;
        self.forwarded_bytes += u64::from(length);
        self.busy = self.busy + duration;
        self.is_streaming = now == self.wire_free;
        self.wire_free = now + duration;
        self.ends = self.wire_free;
        agenda.set(self.parts.wire, self.ends + self.patience);
    }

    /// Transmits as [`transmit`](Self::transmit) does, for a link with more than a fixed rate and hosts behind it.
    #[cold]
    fn transmit_special(&mut self, now: Instant, agenda: &mut Agenda) {
        let Some(mut special) = self.special.take() else { return };
        let start = special.transmitter.as_mut().map_or(now, |transmitter| transmitter.start(now));
        let waits =
            self.qdisc.backlog().packets > 0 || special.ring.as_ref().is_some_and(|ring| ring.len() > 0);
        if start > now && waits {
            // Until `start` the link behaves as if the wire were occupied.
            self.ends = start;
            agenda.set(self.parts.wire, start);
        } else if let Some((packet, is_corrupted)) = self.pull(now, &mut special) {
            let length = packet.len();
            let duration = match &mut special.transmitter {
                Some(transmitter) => transmitter.occupy(now, length),
                None => self.fixed.occupy(length),
            };
            self.begin(now, &packet, length, duration, agenda);
            match self.pipes.of(&packet) {
                _ if is_corrupted => self.fates.lost_behind(&packet),
                PipeId::ONWARD => {
                    if special.onward.is_empty() {
                        agenda.set(self.parts.onward, self.wire_free);
                    }
                    special.onward.push_back((self.wire_free, packet));
                }
                pipe => {
                    if let Some(time) = self.pipes.push(pipe, self.wire_free, &packet) {
                        agenda.set(Component::pipe(self.direction, pipe), time);
                    }
                }
            }
        } else {
            if let Some(transmitter) = &mut special.transmitter {
                transmitter.idle();
            }
            self.rest(now, agenda);
        }
        self.special = Some(special);
    }

    /// Returns the next packet, from the ring if there is one, and whether one of its bits was flipped.
    fn pull(&mut self, now: Instant, special: &mut Special) -> Option<(Packet, bool)> {
        match &mut special.ring {
            None => dequeue(&mut self.qdisc, now, &mut self.fates),
            Some(ring) => ring.take(now, || dequeue(&mut self.qdisc, now, &mut self.fates)),
        }
    }

    /// Takes the packet that goes on to another hop now.
    pub(crate) fn take_onward(&mut self, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        self.settle(now, agenda);
        let onward = &mut self.special.as_mut()?.onward;
        let (time, packet) = onward.pop_front()?;
        debug_assert_eq!(time, now);
        agenda.set(self.parts.onward, onward.front().map_or(Instant::MAX, |(next, _)| *next));
        Some(packet)
    }

    /// Returns the driver's ring below the discipline, if there is one.
    pub(crate) fn ring(&self) -> Option<&Ring> {
        self.special.as_ref()?.ring.as_ref()
    }

    /// Returns what [`ring`](Self::ring) returns, to change it.
    pub(crate) fn ring_mut(&mut self) -> Option<&mut Ring> {
        self.special.as_mut()?.ring.as_mut()
    }

    /// Ends the transmission when the queue has returned no packet.
    #[inline(always)] // as `begin`: where ACKs go, most of them leave an empty queue
    fn rest(&mut self, now: Instant, agenda: &mut Agenda) {
        self.ends = Instant::MAX;
        agenda.set(self.parts.wire, Instant::MAX);
        if self.qdisc.backlog().packets > 0 {
            debug_assert!(!self.qdisc.is_work_conserving(), "it says that it holds nothing back");
            self.plan_timer(now, agenda); // the discipline holds packets back and wants to be asked again
        }
    }

    /// Returns the number and the sum of all delays since the run began, for means over intervals.
    pub(crate) fn delay_totals(&self) -> (u64, u128) {
        (self.forwarded, self.delay_sum)
    }

    /// Returns how long the wire was occupied up to `now`.
    pub(crate) fn busy_until(&self, now: Instant) -> Duration {
        self.busy.saturating_sub(self.wire_free.since(now))
    }

    /// Returns the used percentage of the capacity from `since` to `now`: the occupied share of each period, weighted
    /// by its rate. `busy` is the time that the wire had been occupied up to `since`. For a varying rate, it is the
    /// share of the capacity that the `bytes` forwarded since then took.
    pub(crate) fn utilisation_percent(
        &self,
        since: Instant,
        busy: Duration,
        bytes: u64,
        now: Instant,
    ) -> f64 {
        let varying = self.special.as_ref().and_then(|special| special.transmitter.as_ref());
        if let Some(transmitter) = varying {
            let capacity = transmitter.capacity_bits(since, now);
            // A packet counts when its transmission begins, so the last one may exceed the capacity up to `now`.
            return if capacity > 0.0 { (800.0 * bytes as f64 / capacity).min(100.0) } else { 0.0 };
        }
        let last = Stretch { until: now, rate: self.rate, busy: self.busy_until(now) };
        let (mut since, mut before) = (since, busy);
        let (mut used, mut capacity) = (0.0, 0.0);
        for Stretch { until, rate, busy } in self.past.iter().chain([&last]) {
            if *until > since {
                let weight = rate.as_bps() as f64 / self.rate.as_bps() as f64; // 1 if there was no other rate
                used += weight * busy.saturating_sub(before).as_secs_f64();
                capacity += weight * until.since(since).as_secs_f64();
                (since, before) = (*until, *busy);
            }
        }
        if capacity > 0.0 { 100.0 * used / capacity } else { 0.0 }
    }

    /// Returns the packets counted so far.
    ///
    /// # Panics
    /// If a packet was lost or made out of nothing: offered = forwarded + dropped + queued must hold at any time.
    pub(crate) fn counts(&self) -> Counts {
        let dropped = self.fates.drops.iter().sum();
        let below = self.ring().map_or(0, Ring::len);
        let queued = u64::from(self.qdisc.backlog().packets) + below;
        let offered = self.offered + self.fates.copies;
        assert_eq!(
            offered,
            self.forwarded + dropped + queued,
            "conservation: {offered} offered, {} forwarded, {dropped} dropped, {queued} queued",
            self.forwarded,
        );
        Counts {
            offered,
            forwarded: self.forwarded,
            forwarded_bytes: self.forwarded_bytes,
            dropped,
            marked: self.fates.marks.iter().sum(),
            queued,
        }
    }
}
