//! The bottleneck of one direction: a queue discipline, the transmitter below it, and the pipes behind it.

mod special;
mod stream;

pub(crate) use special::Below;

use crate::agenda::Agenda;
use crate::component::Component;
use crate::foreign::Discipline;
use crate::ids::{Number, PipeId};
use crate::ledger::{Ledger, Queue};
use crate::packet::Packet;
use crate::path::transmitter::{Fixed, Transmitter};
use crate::pipe::Pipes;
use crate::ring::Ring;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::probe::delay::QueueDelays;
use goodqueue_qdisc::{Enqueued, Error, Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant, Rate};
use special::{Special, dequeue};
use std::collections::VecDeque;

/// The shortest time.
const TICK: Duration = Duration::from_nanos(1);

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
    pub(crate) ledger: Ledger,
    pub(crate) pipes: Pipes,
    parts: Parts,
    direction: Direction,
    wire: Wire,
    /// What a link has beside a fixed rate and hosts behind it. Most links have nothing, and pay nothing for it.
    special: Option<Box<Special>>,
    /// The earlier periods, at other rates.
    past: Vec<Stretch>,
    /// How much later than its end the link may handle the end of a transmission.
    patience: Duration,
}

/// What a link transmits on.
#[derive(Clone, Copy)]
struct Wire {
    rate: Rate,
    fixed: Fixed,
    /// When the transmission ends, or [`Instant::MAX`] if there is none. Its packet is already in its pipe.
    ends: Instant,
    /// Whether the last transmission began when the one before it ended.
    is_streaming: bool,
    /// When the wire becomes free, or became free last.
    free: Instant,
    /// The time that the wire is occupied from the beginning of the run to `free`.
    busy: Duration,
}

impl Wire {
    fn new(rate: Rate, fixed: Fixed) -> Self {
        let (ends, free, busy) = (Instant::MAX, Instant::ZERO, Duration::ZERO);
        Self { rate, fixed, ends, is_streaming: false, free, busy }
    }

    /// Begins to carry a packet at `now`, for `duration`.
    #[inline]
    fn carry(&mut self, now: Instant, duration: Duration) {
        self.busy = self.busy + duration;
        self.is_streaming = now == self.free;
        self.free = now + duration;
        self.ends = self.free;
    }
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

    /// Returns whether no other component acts between the wire and the way to the next hop at equal times.
    fn acts_as_one(&self) -> bool {
        self.wire.index() + 1 == self.onward.index()
    }
}

impl Link {
    pub(crate) fn new(
        qdisc: Discipline,
        below: Below,
        direction: Direction,
        parts: Parts,
        pipes: Pipes,
        mut ledger: Ledger,
    ) -> Self {
        ledger.fates.begin_classes();
        let Below { transmitter, ring, cuts } = below;
        let rate = transmitter.mean_rate();
        let (fixed, transmitter) = match transmitter {
            Transmitter::Fixed(fixed) => (fixed, None),
            other => (Fixed::new(rate), Some(other)),
        };
        let is_special =
            transmitter.is_some() || ring.is_some() || cuts || pipes.lead_on() || qdisc.may_corrupt();
        let special = is_special
            .then(|| Box::new(Special { transmitter, ring, cut: VecDeque::new(), onward: VecDeque::new() }));
        let mut link = Self {
            qdisc,
            ledger,
            pipes,
            parts,
            direction,
            wire: Wire::new(rate, fixed),
            special,
            past: Vec::new(),
            patience: Duration::ZERO,
        };
        link.plan_patience();
        link
    }

    /// Sets `patience`. It is zero if there is an observer, which must be told everything at the right time. It is
    /// also zero if the discipline holds packets back: then its answer depends on the time at which it is asked.
    /// Otherwise the link has time until the next packet on the wire could come out of a pipe.
    fn plan_patience(&mut self) {
        let at_once = self.ledger.fates.watch.is_some() || !self.qdisc.is_work_conserving();
        self.patience = if at_once { Duration::ZERO } else { self.pipes.least_delay() };
    }

    /// Plans again, because the link has an observer from now on.
    pub(crate) fn plan_for_observer(&mut self, agenda: &mut Agenda) {
        self.plan_patience();
        agenda.set(self.parts.wire, self.wire.ends);
    }

    /// Offers `packet` to the queue. The caller must [settle](Self::settle) the link before. The caller does so
    /// before it makes the packet, which then need not be copied around that call. Returns the discipline's answer.
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) -> Enqueued {
        debug_assert!(self.wire.ends > now || self.special.is_some(), "not settled"); // a gate, or a burst, takes no time
        self.ledger.offered += 1;
        if let Some(watch) = &mut self.ledger.fates.watch {
            watch.offered(now, packet);
        }
        let answer = self.qdisc.enqueue(now, packet, &mut self.ledger.fates);
        if self.wire.ends == Instant::MAX {
            self.transmit(now, agenda);
        } else if let Some(Special { ring: Some(ring), cut, .. }) = self.special.as_deref_mut() {
            ring.fill(now, || dequeue(&mut self.qdisc, cut, now, &mut self.ledger.fates));
        }
        answer
    }

    /// Catches up with the transmissions that ended by `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.wire.ends <= now {
            self.transmit(self.wire.ends, agenda);
        }
    }

    /// Catches up when a packet has come out of one of the link's pipes. While the wire is never free, one packet
    /// enters the pipes per packet that leaves them. Settling now then does exactly one transmission, which the
    /// branch predictor foresees. Settling later would do an unpredictable number.
    #[inline]
    pub(crate) fn settle_stream(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.wire.is_streaming {
            self.settle(now, agenda);
        }
    }

    /// Plans the end of the transmission, of which [`run`](Self::run) has told nobody.
    pub(crate) fn plan_wire(&self, agenda: &mut Agenda) {
        agenda.set(self.parts.wire, self.wire.ends + self.patience);
    }

    /// Settles as [`settle`](Self::settle) does, for components that act before the wires at equal times.
    pub(crate) fn settle_before(&mut self, now: Instant, agenda: &mut Agenda) {
        while self.wire.ends < now {
            self.transmit(self.wire.ends, agenda);
        }
    }

    /// Handles the discipline's timer.
    pub(crate) fn on_timer(&mut self, now: Instant, agenda: &mut Agenda) {
        self.settle_before(now, agenda);
        self.ledger.fates.at(now);
        self.qdisc.on_timer(now, &mut self.ledger.fates);
        self.resume(now, agenda);
    }

    /// Asks again a discipline that may hold packets back while the wire is free, after a change that may release
    /// them.
    fn resume(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.wire.ends == Instant::MAX && self.qdisc.backlog().packets > 0 {
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
        self.ledger.fates.at(now);
        self.qdisc.change(now, rate, line, &mut self.ledger.fates)?;
        self.ledger.fates.begin_classes();
        if let Some(rate) = rate {
            self.past.push(Stretch { until: now, rate: self.wire.rate, busy: self.busy_until(now) });
            (self.wire.rate, self.wire.fixed) = (rate, Fixed::new(rate));
        }
        if self.qdisc.is_tree() {
            // In Linux no change asks for a packet, and the watchdog stays.
            self.plan_timer(now, agenda);
        } else {
            self.resume(now, agenda);
        }
        Ok(())
    }

    /// Changes the delays behind the link, as [`Pipes::change`] says.
    pub(crate) fn change_delays(
        &mut self,
        from: Duration,
        to: Duration,
        keeps: impl Fn(PipeId) -> bool,
        agenda: &mut Agenda,
    ) {
        self.pipes.change(from, to, keeps);
        self.plan_patience();
        agenda.set(self.parts.wire, self.wire.ends); // the old time may be too late for a shorter delay
    }

    /// Takes the next packet from the queue, puts it on the wire and so into its pipe.
    fn transmit(&mut self, now: Instant, agenda: &mut Agenda) {
        self.ledger.fates.at(now);
        if self.special.is_some() {
            return self.transmit_special(now, agenda);
        }
        // The packet is copied once, into its pipe.
        let sent = self.qdisc.dequeue(now, &mut self.ledger.fates);
        let Some(packet) = &sent else { return self.rest(now, agenda) };
        let length = packet.len();
        let duration = self.wire.fixed.occupy(length);
        self.begin(now, packet, length, duration);
        agenda.set(self.parts.wire, self.wire.ends + self.patience);
        let pipe = self.pipes.of(packet);
        if let Some(time) = self.pipes.push(pipe, self.wire.free, packet) {
            agenda.set(Component::pipe(self.direction, pipe), time);
        }
    }

    /// Begins the transmission of `packet`. The caller has asked for its `length` already: the compiler would ask
    /// twice. The caller also plans the end.
    #[inline(always)] // called at two places: with each packet of ordinary links, and of special ones
    fn begin(&mut self, now: Instant, packet: &Packet, length: u32, duration: Duration) {
        let delay = self.ledger.forwarded.count(now, packet, length);
        if let Some(watch) = &mut self.ledger.fates.watch {
            watch.started(now, *packet, delay);
        }
        self.wire.carry(now, duration);
    }

    /// Ends the transmission when the queue has returned no packet.
    #[inline(always)] // as `begin`: where ACKs go, most of them leave an empty queue
    fn rest(&mut self, now: Instant, agenda: &mut Agenda) {
        self.wire.ends = Instant::MAX;
        agenda.set(self.parts.wire, Instant::MAX);
        if self.qdisc.backlog().packets > 0 {
            debug_assert!(!self.qdisc.is_work_conserving(), "it says that it holds nothing back");
            self.plan_timer(now, agenda); // the discipline holds packets back and wants to be asked again
        }
    }
}

impl Queue for Link {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
    fn discipline(&self) -> Option<&Discipline> {
        Some(&self.qdisc)
    }
    fn waiting(&self) -> u32 {
        self.qdisc.backlog().packets
    }
    fn queued(&self) -> u64 {
        let below = self.special.as_ref().map_or(0, |special| special.cut.len() as u64);
        u64::from(self.waiting()) + self.ring().map_or(0, Ring::len) + below
    }
    fn below(&self) -> Option<(&QueueDelays, u64)> {
        self.ring().map(|ring| (&ring.delays, ring.len()))
    }
    fn below_mut(&mut self) -> Option<&mut QueueDelays> {
        self.special.as_mut()?.ring.as_mut().map(|ring| &mut ring.delays)
    }
    fn busy_until(&self, now: Instant) -> Duration {
        self.wire.busy.saturating_sub(self.wire.free.since(now))
    }
    /// Returns the occupied share of each period at one rate, weighted by the rate. For a varying rate, it is the
    /// share of the capacity that the bytes forwarded since then took.
    fn utilisation_percent(&self, since: Instant, now: Instant) -> f64 {
        let baseline = &self.ledger.measured.baseline;
        let varying = self.special.as_ref().and_then(|special| special.transmitter.as_ref());
        if let Some(transmitter) = varying {
            let bytes = self.ledger.forwarded.bytes - baseline.counts.forwarded_bytes;
            let capacity = transmitter.capacity_bits(since, now);
            // A packet counts when its transmission begins, so the last one may exceed the capacity up to `now`.
            return if capacity > 0.0 { (800.0 * bytes as f64 / capacity).min(100.0) } else { 0.0 };
        }
        let last = Stretch { until: now, rate: self.wire.rate, busy: self.busy_until(now) };
        let (mut since, mut before) = (since, baseline.busy);
        let (mut used, mut capacity) = (0.0, 0.0);
        for Stretch { until, rate, busy } in self.past.iter().chain([&last]) {
            if *until > since {
                let weight = rate.as_bps() as f64 / self.wire.rate.as_bps() as f64; // 1 if there was no other rate
                used += weight * busy.saturating_sub(before).as_secs_f64();
                capacity += weight * until.since(since).as_secs_f64();
                (since, before) = (*until, *busy);
            }
        }
        if capacity > 0.0 { 100.0 * used / capacity } else { 0.0 }
    }
}
