//! What is counted of a queue in one direction: of a link's, or of all queues of a cell.

use crate::complete::COMPLETE;
use crate::flipped::is_noticed;
use crate::foreign::Discipline;
use crate::freed::Freed;
use crate::headers::FlowHeaders;
use crate::hosts::Hosts;
use crate::ids::FlowId;
use crate::lists::PerFlow;
use crate::observer::{SharedObserver, Watch};
use crate::packet::Packet;
use crate::probe::series::{Pick, QueueSeries};
use crate::probe::subscribers::OfSubscribers;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::probe::delay::QueueDelays;
use goodqueue_qdisc::registry::Limits;
use goodqueue_qdisc::{Drop, Flipped, IpHeader, Mark, Owner, Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant, Stream};

/// Stands for the class of a flow whose class is not noted.
const UNKNOWN: u32 = u32::MAX;

/// What the discipline reports of the fates of packets, and its dice.
pub(crate) struct Fates {
    random: Stream,
    /// Drops by reason, in the order of [`Drop::ALL`].
    pub(crate) drops: [u64; Drop::ALL.len()],
    /// Marks by reason, in the order of [`Mark::ALL`].
    pub(crate) marks: [u64; Mark::ALL.len()],
    /// Packets by flow that were dropped, or were lost after they had been sent.
    pub(crate) dropped: PerFlow<u64>,
    /// Copies that a discipline made of packets (`netem duplicate`). They count as offered.
    copies: u64,
    /// Packets in the discipline beside those that it knows: a merged packet is one for the discipline, and counts here
    /// as what comes out of it.
    pub(crate) merged: u64,
    /// Whether the receiver will refuse the next packet that the discipline returns (`netem corrupt`).
    is_corrupted: bool,
    /// The observer of the queue, if there is one.
    pub(crate) watch: Option<Box<Watch>>,
    /// The hosts of the flows, if the scenario names any.
    hosts: Option<Hosts>,
    /// The headers of the flows, and in which direction the packets go.
    headers: FlowHeaders,
    direction: Direction,
    /// The class of each flow in the tree of the queue, or [`UNKNOWN`]. Empty until one is noted. `None`: several trees
    /// may ask.
    classes: Option<PerFlow<u32>>,
    /// Packets that senders are told of, if this is the first queue of flows with small queues.
    pub(crate) freed: Option<Box<Freed>>,
}

impl Fates {
    /// Builds the counters of packets that go `direction`, for this number of `flows`.
    pub(crate) fn new(
        random: Stream,
        flows: usize,
        watch: Option<Box<Watch>>,
        hosts: Option<Hosts>,
        (headers, direction): (FlowHeaders, Direction),
    ) -> Self {
        Self {
            random,
            drops: [0; _],
            marks: [0; _],
            dropped: vec![0; flows].into(),
            copies: 0,
            merged: 0,
            is_corrupted: false,
            watch,
            hosts,
            headers,
            direction,
            classes: None,
            freed: None,
        }
    }

    /// Notes that `packet` has left the queue.
    pub(crate) fn free(&mut self, packet: &Packet) {
        if let Some(freed) = &mut self.freed {
            (0..packet.parts()).for_each(|_| freed.note(packet));
        }
    }

    /// Tells `observer` of the packets of `direction` from now on.
    pub(crate) fn observe(&mut self, direction: Direction, observer: &SharedObserver) {
        let watch = self.watch.get_or_insert_with(|| Box::new(Watch::new(direction, None)));
        watch.observer = Some(SharedObserver::clone(observer));
    }

    /// Tells the observer the time, which a discipline does not report with its drops.
    #[inline]
    pub(crate) fn at(&mut self, now: Instant) {
        if let Some(watch) = &mut self.watch {
            watch.at(now);
        }
    }

    /// Returns whether the receiver will refuse the packet that the discipline has just returned.
    pub(crate) fn take_corrupted(&mut self) -> bool {
        std::mem::take(&mut self.is_corrupted)
    }

    /// Prefetches what the queue asks of a packet of `flow`, after [`prefetch`](Self::prefetch).
    pub(crate) fn prefetch_room(&self, flow: FlowId) {
        if let Some(hosts) = &self.hosts {
            hosts.prefetch(flow);
        }
    }

    /// Prefetches what the tree asks of a packet of `flow`.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        if self.class_of(flow).is_none() {
            self.headers.prefetch(flow);
        }
    }

    /// Begins to note the classes of flows, for one discipline that begins or has changed.
    pub(crate) fn begin_classes(&mut self) {
        if COMPLETE {
            self.classes = Some(PerFlow::default());
        }
    }

    /// Returns the class that is noted for a flow.
    #[inline]
    fn class_of(&self, flow: FlowId) -> Option<u32> {
        self.classes.as_ref()?.get(flow).copied().filter(|class| *class != UNKNOWN)
    }

    /// Returns what is counted of each subscriber, if the scenario has any.
    pub(crate) fn shares(&mut self) -> Option<&mut OfSubscribers> {
        self.watch.as_mut()?.shares.as_mut()
    }

    /// Counts `packet`, which was sent, and whose receiver does not take it.
    pub(crate) fn lost_behind(&mut self, packet: &Packet) {
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
        let parts = u64::from(packet.parts());
        self.drops[why as usize] += parts;
        self.dropped[packet.flow] += parts;
        self.merged -= parts - 1;
        self.free(&packet);
        if let Some(envelope) = packet.envelope() {
            envelope.over();
        }
        if let Some(watch) = &mut self.watch {
            watch.dropped(packet, why);
        }
    }
    fn marked(&mut self, packet: &Packet, why: Mark) {
        self.marks[why as usize] += u64::from(packet.parts());
    }
    fn duplicated(&mut self, packet: &Packet) -> Option<Packet> {
        self.copies += u64::from(packet.parts());
        self.merged += u64::from(packet.parts() - 1);
        if let Some(envelope) = packet.envelope() {
            envelope.doubled();
        }
        Some(*packet)
    }
    fn corrupted(&mut self, packet: &Packet, flipped: Flipped) {
        self.is_corrupted = is_noticed(packet, flipped);
    }
    fn host_hashes(&self, packet: &Packet) -> (u32, u32) {
        // A packet from outside may have its own hosts.
        let is_known = || packet.envelope().is_some_and(|own| own.headers().host_hashes.is_some());
        match &self.hosts {
            Some(hosts) if !is_known() => hosts.of_packets(packet.flow),
            _ => packet.host_hashes(),
        }
    }
    fn ip_header(&self, packet: &Packet) -> IpHeader {
        self.headers.ip_header(packet, self.direction)
    }
    fn fwmark(&self, packet: &Packet) -> u32 {
        self.headers.mark(packet.flow)
    }
    /// Returns the class of the flow, which has the addresses of its ends. A packet from outside has its own.
    #[inline]
    fn noted_class(&self, packet: &Packet) -> Option<u32> {
        self.class_of(packet.flow).filter(|_| packet.envelope().is_none())
    }
    fn note_class(&mut self, packet: &Packet, class: u32) {
        let Some(classes) = self.classes.as_mut().filter(|_| COMPLETE && packet.envelope().is_none()) else {
            return;
        };
        if classes.len() == 0 {
            *classes = vec![UNKNOWN; self.dropped.len()].into();
        }
        classes[packet.flow] = class;
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

/// A queue's totals when measuring began. The record leaves them out.
#[derive(Default)]
pub(crate) struct Baseline {
    pub(crate) counts: Counts,
    pub(crate) busy: Duration,
    pub(crate) drops: [u64; Drop::ALL.len()],
    pub(crate) marks: [u64; Mark::ALL.len()],
}

/// The counters of a queue.
pub(crate) struct Ledger {
    pub(crate) fates: Fates,
    pub(crate) offered: u64,
    pub(crate) forwarded: Forwarded,
    /// What no packet touches. The box keeps the counters of packets together.
    pub(crate) measured: Box<Measured>,
}

/// The packets whose transmission has begun.
pub(crate) struct Forwarded {
    /// The time from a packet's arrival at the queue to the start of its first transmission.
    pub(crate) delays: QueueDelays,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Sum of the delays of all forwarded packets, in nanoseconds. Unlike `delays`, it includes the warm-up.
    pub(crate) delay_sum: u128,
}

impl Forwarded {
    fn new() -> Self {
        Self { delays: QueueDelays::new(), packets: 0, bytes: 0, delay_sum: 0 }
    }

    /// Counts `packet` of `length` bytes, whose transmission begins. Returns how long it has waited.
    #[inline]
    pub(crate) fn count(&mut self, now: Instant, packet: &Packet, length: u32) -> Duration {
        let delay = now.since(packet.arrival);
        self.delays.record(delay);
        self.delay_sum += u128::from(delay.as_nanos());
        self.packets += 1;
        self.bytes += u64::from(length);
        delay
    }
}

/// What a record reads beside the counters.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) baseline: Baseline,
    pub(crate) series: QueueSeries,
}

impl Ledger {
    /// Builds the ledger of a queue. With `law` its series has the variables of its control law.
    pub(crate) fn new(fates: Fates, law: bool) -> Self {
        Self {
            fates,
            offered: 0,
            forwarded: Forwarded::new(),
            measured: Box::new(Measured { baseline: Baseline::default(), series: QueueSeries::new(law) }),
        }
    }
}

/// A queue whose packets are counted: a link's, or all those of one direction of a cell.
///
/// What is done to every queue is done through this trait: the beginning of measuring, the end of an interval, and
/// the record. No packet passes through it.
pub(crate) trait Queue {
    fn ledger(&self) -> &Ledger;
    fn ledger_mut(&mut self) -> &mut Ledger;
    /// Returns the discipline whose control law the series shows, if there is one.
    fn discipline(&self) -> Option<&Discipline>;
    /// Returns the packets that wait, as the series shows them.
    fn waiting(&self) -> u32;
    /// Returns the packets whose transmission has not begun, wherever they are.
    fn queued(&self) -> u64;
    /// Returns how long packets waited below the discipline, and the number of packets there, if there is room for any.
    fn below(&self) -> Option<(&QueueDelays, u64)>;
    /// Returns the delays of [`below`](Self::below), to reset them.
    fn below_mut(&mut self) -> Option<&mut QueueDelays>;
    /// Returns how long its packets occupied the medium up to `now`.
    fn busy_until(&self, now: Instant) -> Duration;
    /// Returns the used percentage of the capacity from `since`, when measuring began, to `now`.
    fn utilisation_percent(&self, since: Instant, now: Instant) -> f64;

    /// Returns the packets counted so far.
    ///
    /// # Panics
    /// If a packet was lost or made out of nothing: offered = forwarded + dropped + queued must hold at any time.
    fn counts(&self) -> Counts {
        let ledger = self.ledger();
        let queued = self.queued() + ledger.fates.merged;
        let &Ledger { offered, ref forwarded, ref fates, .. } = ledger;
        let (forwarded, forwarded_bytes) = (forwarded.packets, forwarded.bytes);
        let (offered, dropped) = (offered + fates.copies, fates.drops.iter().sum());
        assert_eq!(
            offered,
            forwarded + dropped + queued,
            "conservation: {offered} offered, {forwarded} forwarded, {dropped} dropped, {queued} queued"
        );
        Counts { offered, forwarded, forwarded_bytes, dropped, marked: fates.marks.iter().sum(), queued }
    }

    /// Begins the measured time: sets the baseline, and forgets the delays before it.
    fn begin_measuring(&mut self, now: Instant) {
        let (counts, busy) = (self.counts(), self.busy_until(now));
        let limits = self.limits(now);
        if let Some(delays) = self.below_mut() {
            delays.reset();
        }
        let Ledger { fates, forwarded, measured, .. } = self.ledger_mut();
        forwarded.delays.reset();
        if let Some(shares) = fates.shares() {
            shares.begin_measuring(now, limits);
        }
        measured.baseline = Baseline { counts, busy, drops: fates.drops, marks: fates.marks };
    }

    /// Returns what the classes of a tree have done up to `now`, if somebody counts it by subscriber.
    fn limits(&mut self, now: Instant) -> Option<Limits> {
        self.ledger_mut().fates.shares()?;
        self.discipline()?.limits(now)
    }

    /// Ends an interval of the series at `now`.
    fn end_interval(&mut self, now: Instant) {
        let mut series = std::mem::take(&mut self.ledger_mut().measured.series);
        let mut pick = Pick { name: "drop_probability", value: None };
        if let Some(qdisc) = self.discipline() {
            qdisc.probe(&mut pick);
            if let Some(law) = &mut series.law {
                law.end_interval(now, |law| qdisc.show(law));
            }
        }
        let waiting = self.waiting();
        let limits = self.limits(now);
        let ledger = self.ledger_mut();
        if let (Some(shares), Some(limits)) = (ledger.fates.shares(), limits) {
            shares.end_interval(limits);
        }
        series.end_interval((ledger.forwarded.packets, ledger.forwarded.delay_sum), waiting, pick.value);
        ledger.measured.series = series;
    }
}
