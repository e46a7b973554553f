//! The bottleneck of one direction: a queue discipline, the transmitter below it, and the pipes that it leads to.

use crate::agenda::{Agenda, Component, PIPE, QDISC_TIMER, WIRE};
use crate::foreign::Discipline;
use crate::observer::Watch;
use crate::packet::Packet;
use crate::path::transmitter::Transmitter;
use crate::pipe::{ONWARD, Pipes};
use crate::probe::delay::QueueDelays;
use crate::scenario::Direction;
use crate::sim::ring::Ring;
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
    /// Drops by flow.
    pub(crate) dropped: Vec<u64>,
    /// Who looks on, if anybody.
    pub(crate) watch: Option<Box<Watch>>,
}

impl Owner<Packet> for Fates {
    #[inline(never)] // rare, and each discipline has several places for it
    fn dropped(&mut self, packet: Packet, why: Drop) {
        self.drops[why as usize] += 1;
        self.dropped[packet.flow as usize] += 1;
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
/// Nobody learns of the end of a transmission before a packet comes out of a pipe, or before something else happens here.
/// So it is made up for then, with the time at which it was; that saves the agenda an event a packet.
pub(crate) struct Link {
    pub(crate) qdisc: Discipline,
    pub(crate) fates: Fates,
    pub(crate) delays: QueueDelays,
    pub(crate) pipes: Pipes,
    parts: Parts,
    direction: Direction,
    rate: Rate,
    transmitter: Transmitter,
    /// Packets below the discipline, if a driver holds some.
    pub(crate) ring: Option<Box<Ring>>,
    /// Packets that go on to another hop, and when they come there.
    onward: VecDeque<(Instant, Packet)>,
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
        Self { timer: QDISC_TIMER + direction as u32, wire: WIRE + direction as u32, onward }
    }
}

impl Link {
    pub(crate) fn new(
        qdisc: Discipline,
        transmitter: Transmitter,
        direction: Direction,
        parts: Parts,
        pipes: Pipes,
        random: Stream,
        watch: Option<Box<Watch>>,
    ) -> Self {
        let dropped = vec![0; pipes.flows()];
        let fates = Fates { random, drops: [0; _], marks: [0; _], dropped, watch };
        let mut link = Self {
            qdisc,
            fates,
            delays: QueueDelays::new(),
            pipes,
            parts,
            direction,
            rate: transmitter.mean_rate(),
            transmitter,
            ring: None,
            onward: VecDeque::new(),
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

    /// Who looks on is told everything at its time, and a discipline that holds packets back plans by when it was asked; else
    /// there is time until what the wire takes next could come out of a pipe.
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

    /// Offers `packet` to the queue. The link must be [settled](Self::settle): it is left to the caller, who has not made the
    /// packet yet, and need not copy it around what that does.
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) {
        debug_assert!(self.ends > now, "not settled");
        self.offered += 1;
        if let Some(watch) = &mut self.fates.watch {
            watch.offered(now, packet);
        }
        self.qdisc.enqueue(now, packet, &mut self.fates);
        if self.ends == Instant::MAX {
            self.transmit(now, agenda);
        } else if let Some(ring) = &mut self.ring {
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

    /// A packet has come out of one of its pipes. While the wire is never free, as many go in as come out, so settling the link
    /// with each does one transmission a time, which is foreseen; later, nobody could tell how many.
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
        self.plan_timer(agenda);
    }

    /// Plans the discipline's timer.
    pub(crate) fn plan_timer(&self, agenda: &mut Agenda) {
        let time = self.qdisc.next_timer().unwrap_or(Instant::MAX);
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
            (self.rate, self.transmitter) = (rate, Transmitter::fixed(rate));
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
        let start = self.transmitter.start(now);
        if start > now && self.holds_packets() {
            // Until then it is as good as occupied.
            self.ends = start;
            return agenda.set(self.parts.wire, start);
        }
        // It is copied once, into its pipe.
        let sent = match &mut self.ring {
            None => self.qdisc.dequeue(now, &mut self.fates),
            Some(ring) => ring.take(now, &mut self.qdisc, &mut self.fates),
        };
        let Some(packet) = &sent else { return self.rest(agenda) };
        let delay = now.since(packet.arrival);
        self.delays.record(delay);
        self.delay_sum += u128::from(delay.as_nanos());
        if let Some(watch) = &mut self.fates.watch {
            watch.started(now, *packet, delay);
        }
        let length = packet.len();
        let duration = self.transmitter.occupy(now, length);
        self.forwarded += 1;
        self.forwarded_bytes += u64::from(length);
        self.busy = self.busy + duration;
        self.is_streaming = now == self.wire_free;
        self.wire_free = now + duration;
        self.ends = self.wire_free;
        agenda.set(self.parts.wire, self.ends + self.patience);
        let pipe = self.pipes.number(packet.flow);
        if pipe == ONWARD {
            return self.send_on(*packet, agenda);
        }
        if let Some((pipe, time)) = self.pipes.push(pipe, self.wire_free, packet) {
            agenda.set(PIPE + 2 * pipe + self.direction as u32, time);
        }
    }

    /// `packet` goes on to another hop when its transmission ends.
    #[cold]
    fn send_on(&mut self, packet: Packet, agenda: &mut Agenda) {
        if self.onward.is_empty() {
            agenda.set(self.parts.onward, self.wire_free);
        }
        self.onward.push_back((self.wire_free, packet));
    }

    /// The packet that now goes on to another hop.
    pub(crate) fn take_onward(&mut self, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        self.settle(now, agenda);
        let (time, packet) = self.onward.pop_front()?;
        debug_assert_eq!(time, now);
        agenda.set(self.parts.onward, self.onward.front().map_or(Instant::MAX, |(next, _)| *next));
        Some(packet)
    }

    /// Whether something waits, in the discipline or below it.
    fn holds_packets(&self) -> bool {
        self.qdisc.backlog().packets > 0 || self.ring.as_ref().is_some_and(|ring| !ring.is_empty())
    }

    /// The queue gives no packet.
    fn rest(&mut self, agenda: &mut Agenda) {
        self.ends = Instant::MAX;
        agenda.set(self.parts.wire, Instant::MAX);
        self.transmitter.idle();
        if self.qdisc.backlog().packets > 0 {
            debug_assert!(!self.qdisc.is_work_conserving(), "it says that it holds nothing back");
            self.plan_timer(agenda); // it holds some back, and wants to be asked again
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
    /// the occupied share of each stretch, weighted by its rate. Of a varying rate, what of its capacity the `bytes` forwarded since
    /// then took.
    pub(crate) fn utilisation_percent(
        &self,
        since: Instant,
        busy: Duration,
        bytes: u64,
        now: Instant,
    ) -> f64 {
        if !matches!(self.transmitter, Transmitter::Fixed(_)) {
            let capacity = self.transmitter.capacity_bits(since, now);
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
        let below = self.ring.as_ref().map_or(0, |ring| ring.len());
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
