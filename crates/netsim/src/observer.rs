//! Observers: an observer is told of each packet at the places where a capture could be taken.

use crate::packet::Packet;
use crate::probe::series::PacketLog;
use crate::probe::subscribers::OfSubscribers;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::Drop;
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};
use std::sync::{Arc, Mutex, PoisonError};

/// The events of a packet, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its host sends it. It is offered to the queue at the same time, because hosts have no queues.
    Offered,
    /// The queue discipline drops it, at its arrival or later.
    Dropped(Drop),
    /// Its transmission begins.
    Started,
    /// It arrives at the other host.
    Arrived,
}

/// An observer is told of every packet of a run, in the order of time. It changes nothing.
pub trait Observer: Send {
    /// Takes an `event` of `packet`, which goes `direction`, at the time `now`. The packet's ECN codepoint is the one
    /// at this time.
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet);
}

/// An observer that belongs to the run and to the program that made it.
pub type SharedObserver = Arc<Mutex<dyn Observer>>;

/// Tells `observer` of an event.
#[cold]
#[inline(never)]
pub(crate) fn tell(
    observer: &SharedObserver,
    now: Instant,
    direction: Direction,
    event: Event,
    packet: &Packet,
) {
    observer.lock().unwrap_or_else(PoisonError::into_inner).saw(now, direction, event, packet);
}

/// The observer of a link. It gets copies of packets: a reference would force packets into memory even where nobody
/// observes, and cost such runs 3 % more instructions.
pub(crate) struct Watch {
    /// The delay of each packet within a window, if asked for.
    pub(crate) log: Option<PacketLog>,
    pub(crate) observer: Option<SharedObserver>,
    /// What each subscriber gets, if the scenario has any.
    pub(crate) shares: Option<OfSubscribers>,
    direction: Direction,
    /// The present time: a discipline that drops a packet does not report when.
    now: Instant,
}

impl Watch {
    pub(crate) fn new(direction: Direction, log: Option<PacketLog>) -> Self {
        Self { log, observer: None, shares: None, direction, now: Instant::ZERO }
    }

    /// Sets the time of all events up to the next call.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(&mut self, now: Instant) {
        self.now = now;
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn offered(&mut self, now: Instant, packet: Packet) {
        self.now = now;
        if let Some(shares) = &mut self.shares {
            shares.offered(packet.flow);
        }
        if self.observer.is_some() {
            packet.split().for_each(|one| self.tell(Event::Offered, &one));
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn dropped(&mut self, packet: Packet, why: Drop) {
        if let Some(shares) = &mut self.shares {
            shares.dropped(packet.flow);
        }
        if self.observer.is_some() {
            packet.split().for_each(|one| self.tell(Event::Dropped(why), &one));
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn started(&mut self, now: Instant, packet: Packet, delay: Duration) {
        if let Some(log) = &mut self.log {
            log.record(now, delay, packet.flow.number());
        }
        if let Some(shares) = &mut self.shares {
            shares.started(now, delay, packet.flow, packet.len());
        }
        self.tell(Event::Started, &packet);
    }

    fn tell(&self, event: Event, packet: &Packet) {
        if let Some(observer) = &self.observer {
            tell(observer, self.now, self.direction, event, packet);
        }
    }
}
