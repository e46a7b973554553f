//! The bottleneck of one direction: a queue discipline, the transmitter below it, and the pipes that it leads to.

use crate::agenda::Agenda;
use crate::component::Component;
use crate::direction::Direction;
use crate::foreign::Discipline;
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

/// What the discipline tells of packets' fates, and the dice that it draws.
pub(crate) struct Fates {
    random: Stream,
    /// Drops by reason, in the order of [`Drop::ALL`].
    pub(crate) drops: [u64; Drop::ALL.len()],
    /// Marks by reason, in the order of [`Mark::ALL`].
    pub(crate) marks: [u64; Mark::ALL.len()],
    pub(crate) dropped: PerFlow<u64>,
    /// Who looks on, if anybody.
    pub(crate) watch: Option<Box<Watch>>,
}

impl Fates {
    /// The fates of packets of so many `flows`.
    pub(crate) fn new(random: Stream, flows: usize, watch: Option<Box<Watch>>) -> Self {
        Self { random, drops: [0; _], marks: [0; _], dropped: vec![0; flows].into(), watch }
    }
}

impl Owner<Packet> for Fates {
    #[inline(never)] // rare, and each discipline has several places for it
    fn dropped(&mut self, packet: Packet, why: Drop) {
        self.drops[why as usize] += 1;
        self.dropped[packet.flow] += 1;
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

/// A stretch of time at one rate.
struct Stretch {
    until: Instant,
    rate: Rate,
    /// How long the wire was occupied up to `until`.
    busy: Duration,
}

/// A bottleneck: packets wait in the discipline, then occupy the wire one after the other.
///
/// As in the golden traces' model, the discipline is asked for the next packet the moment a transmission ends, and
/// once after each arrival at an idle link; an answer of "none" counts.
///
/// Nobody learns of the end of a transmission before a packet comes out of a pipe, or before something else happens
/// here. So it is made up for then, with the time at which it was; that saves the agenda an event a packet.
pub(crate) struct Link {
    pub(crate) qdisc: Discipline,
    pub(crate) fates: Fates,
    pub(crate) delays: QueueDelays,
    pub(crate) pipes: Pipes,
    parts: Parts,
    direction: Direction,
    rate: Rate,
    fixed: Fixed,
    /// What it has beside a fixed rate and hosts behind it; most links have nothing, and do not pay for it.
    special: Option<Box<Special>>,
    /// The times before, at other rates.
    past: Vec<Stretch>,
    /// When the transmission ends, or [`Instant::MAX`] where none is under way. Its packet is in its pipe already.
    ends: Instant,
    /// Whether the last transmission began when the one before it ended.
    is_streaming: bool,
    /// How much later that may be noticed.
    patience: Duration,
    /// When the wire is or was last free.
    wire_free: Instant,
    /// Time that the wire has been or is going to be occupied, up to `wire_free`.
    busy: Duration,
    offered: u64,
    forwarded: u64,
    forwarded_bytes: u64,
    /// Sum of the delays of all packets forwarded, in nanoseconds; unlike `delays`, the warm-up's too.
    delay_sum: u128,
}

/// What few links have.
struct Special {
    /// In place of a fixed rate.
    transmitter: Option<Transmitter>,
    /// Packets below the discipline, if a driver holds some.
    ring: Option<Ring>,
    /// Packets that go on to another hop, and when they come there.
    onward: VecDeque<(Instant, Packet)>,
}

/// What a link sends with.
pub(crate) struct Below {
    pub(crate) transmitter: Transmitter,
    pub(crate) ring: Option<Ring>,
}

/// A link's places in the agenda.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// The discipline's timer.
    pub(crate) timer: Component,
    /// The wire.
    pub(crate) wire: Component,
    /// The way to another hop.
    pub(crate) onward: Component,
}

impl Parts {
    /// Those of the bottleneck of `direction`, whose packets may go `onward`.
    pub(crate) fn of_bottleneck(direction: Direction, onward: Component) -> Self {
        Self { timer: Component::qdisc_timer(direction), wire: Component::wire(direction), onward }
    }
}

impl Link {
    pub(crate) fn new(
        qdisc: Discipline,
        below: Below,
        direction: Direction,
        parts: Parts,
        pipes: Pipes,
        random: Stream,
        watch: Option<Box<Watch>>,
    ) -> Self {
        let Below { transmitter, ring } = below;
        let rate = transmitter.mean_rate();
        let (fixed, transmitter) = match transmitter {
            Transmitter::Fixed(fixed) => (fixed, None),
            other => (Fixed::new(rate), Some(other)),
        };
        let is_special = transmitter.is_some() || ring.is_some() || pipes.lead_on();
        let special = is_special.then(|| Box::new(Special { transmitter, ring, onward: VecDeque::new() }));
        let fates = Fates::new(random, pipes.flows(), watch);
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

    /// Who looks on is told everything at its time, and a discipline that holds packets back plans by when it was
    /// asked; else there is time until what the wire takes next could come out of a pipe.
    fn plan_patience(&mut self) {
        let at_once = self.fates.watch.is_some() || !self.qdisc.is_work_conserving();
        self.patience = if at_once { Duration::ZERO } else { self.pipes.least_delay() };
    }

    /// From now on `watch` looks on.
    pub(crate) fn watch(&mut self, watch: Box<Watch>, agenda: &mut Agenda) {
        self.fates.watch = Some(watch);
        self.plan_patience();
        agenda.set(self.parts.wire, self.ends);
    }

    /// Offers `packet` to the queue. The link must be [settled](Self::settle): it is left to the caller, who has not
    /// made the packet yet, and need not copy it around what that does.
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
            ring.fill(now, &mut self.qdisc, &mut self.fates);
        }
    }

    /// Makes up for the transmissions that ended by `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.ends <= now {
            self.transmit(self.ends, agenda);
        }
    }

    /// A packet has come out of one of its pipes. While the wire is never free, as many go in as come out, so settling
    /// the link with each does one transmission a time, which is foreseen; later, nobody could tell how many.
    #[inline]
    pub(crate) fn settle_stream(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.is_streaming {
            self.settle(now, agenda);
        }
    }

    /// As [`settle`](Self::settle), for what acts before the wires at equal times.
    pub(crate) fn settle_before(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.ends < now {
            self.transmit(self.ends, agenda);
        }
    }

    /// The discipline's timer.
    pub(crate) fn on_timer(&mut self, now: Instant, agenda: &mut Agenda) {
        self.settle_before(now, agenda);
        self.watch_at(now);
        self.qdisc.on_timer(now, &mut self.fates);
        self.resume(now, agenda);
    }

    /// Something changed below packets that may wait although the wire is free, in a discipline that holds them back.
    fn resume(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.ends == Instant::MAX && self.qdisc.backlog().packets > 0 {
            self.transmit(now, agenda);
        }
        self.plan_timer(now, agenda);
    }

    /// Plans the discipline's timer. A shaper's may be due already: it says when it might send, and was not asked as
    /// the wire was not free.
    pub(crate) fn plan_timer(&self, now: Instant, agenda: &mut Agenda) {
        let time = self.qdisc.next_timer().map_or(Instant::MAX, |due| due.max(now));
        agenda.set(self.parts.timer, time);
    }

    /// From now on the rate or the discipline's parameters are others; what is on the wire leaves as it was going to.
    ///
    /// # Errors
    /// Where the discipline refuses.
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

    /// Whoever looks on has to know the time of what the discipline drops.
    #[inline]
    fn watch_at(&mut self, now: Instant) {
        if let Some(watch) = &mut self.fates.watch {
            watch.at(now);
        }
    }

    /// Takes the next packet from the queue to the wire, and so into its pipe.
    fn transmit(&mut self, now: Instant, agenda: &mut Agenda) {
        self.watch_at(now);
        if self.special.is_some() {
            return self.transmit_special(now, agenda);
        }
        // It is copied once, into its pipe.
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

    /// The transmission of `packet` begins. Whoever asked for its `length` tells it: the compiler would ask twice.
    #[inline(always)] // in two places: of ordinary links, with each packet, and of special ones
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

    /// As [`transmit`](Self::transmit), where there is more than a fixed rate and a host behind it.
    #[cold]
    fn transmit_special(&mut self, now: Instant, agenda: &mut Agenda) {
        let Some(mut special) = self.special.take() else { return };
        let start = special.transmitter.as_mut().map_or(now, |transmitter| transmitter.start(now));
        let waits =
            self.qdisc.backlog().packets > 0 || special.ring.as_ref().is_some_and(|ring| ring.len() > 0);
        if start > now && waits {
            // Until then it is as good as occupied.
            self.ends = start;
            agenda.set(self.parts.wire, start);
        } else if let Some(packet) = self.pull(now, &mut special) {
            let length = packet.len();
            let duration = match &mut special.transmitter {
                Some(transmitter) => transmitter.occupy(now, length),
                None => self.fixed.occupy(length),
            };
            self.begin(now, &packet, length, duration, agenda);
            match self.pipes.of(&packet) {
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

    /// The next packet, from the ring if there is one.
    fn pull(&mut self, now: Instant, special: &mut Special) -> Option<Packet> {
        match &mut special.ring {
            None => self.qdisc.dequeue(now, &mut self.fates),
            Some(ring) => ring.take(now, &mut self.qdisc, &mut self.fates),
        }
    }

    /// The packet that now goes on to another hop.
    pub(crate) fn take_onward(&mut self, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        self.settle(now, agenda);
        let onward = &mut self.special.as_mut()?.onward;
        let (time, packet) = onward.pop_front()?;
        debug_assert_eq!(time, now);
        agenda.set(self.parts.onward, onward.front().map_or(Instant::MAX, |(next, _)| *next));
        Some(packet)
    }

    /// The driver's ring below the discipline, if there is one.
    pub(crate) fn ring(&self) -> Option<&Ring> {
        self.special.as_ref()?.ring.as_ref()
    }

    /// As [`ring`](Self::ring).
    pub(crate) fn ring_mut(&mut self) -> Option<&mut Ring> {
        self.special.as_mut()?.ring.as_mut()
    }

    /// The queue gives no packet.
    #[inline(always)] // as `begin`: where ACKs go, most of them leave an empty queue
    fn rest(&mut self, now: Instant, agenda: &mut Agenda) {
        self.ends = Instant::MAX;
        agenda.set(self.parts.wire, Instant::MAX);
        if self.qdisc.backlog().packets > 0 {
            debug_assert!(!self.qdisc.is_work_conserving(), "it says that it holds nothing back");
            self.plan_timer(now, agenda); // it holds some back, and wants to be asked again
        }
    }

    /// Number and sum of all delays since the run began, for means over intervals.
    pub(crate) fn delay_totals(&self) -> (u64, u128) {
        (self.forwarded, self.delay_sum)
    }

    /// How long the wire was occupied up to `now`.
    pub(crate) fn busy_until(&self, now: Instant) -> Duration {
        self.busy.saturating_sub(self.wire_free.since(now))
    }

    /// Percent of the capacity that was used from `since`, up to which the wire had been occupied for `busy`, to `now`:
    /// the occupied share of each stretch, weighted by its rate. Of a varying rate, what of its capacity the `bytes`
    /// forwarded since then took.
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
            // A packet counts when its transmission begins: one at the end may be more than the capacity up to then.
            return if capacity > 0.0 { (800.0 * bytes as f64 / capacity).min(100.0) } else { 0.0 };
        }
        let last = Stretch { until: now, rate: self.rate, busy: self.busy_until(now) };
        let (mut since, mut before) = (since, busy);
        let (mut used, mut capacity) = (0.0, 0.0);
        for Stretch { until, rate, busy } in self.past.iter().chain([&last]) {
            if *until > since {
                let weight = rate.as_bps() as f64 / self.rate.as_bps() as f64; // 1 where there was no other rate
                used += weight * busy.saturating_sub(before).as_secs_f64();
                capacity += weight * until.since(since).as_secs_f64();
                (since, before) = (*until, *busy);
            }
        }
        if capacity > 0.0 { 100.0 * used / capacity } else { 0.0 }
    }

    /// Packets so far.
    ///
    /// # Panics
    /// If a packet was lost or made out of nothing: offered = forwarded + dropped + queued must hold at any time.
    pub(crate) fn counts(&self) -> Counts {
        let dropped = self.fates.drops.iter().sum();
        let below = self.ring().map_or(0, Ring::len);
        let queued = u64::from(self.qdisc.backlog().packets) + below;
        assert_eq!(
            self.offered,
            self.forwarded + dropped + queued,
            "conservation: {} offered, {} forwarded, {dropped} dropped, {queued} queued",
            self.offered,
            self.forwarded,
        );
        Counts {
            offered: self.offered,
            forwarded: self.forwarded,
            forwarded_bytes: self.forwarded_bytes,
            dropped,
            marked: self.fates.marks.iter().sum(),
            queued,
        }
    }
}
