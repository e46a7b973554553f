//! Looking on: an observer is told of each packet at the places where a capture could be taken.

use crate::direction::Direction;
use crate::packet::Packet;
use crate::path::wifi::frames::AirFrame;
use crate::probe::series::PacketLog;
use goodqueue_qdisc::Drop;
use goodqueue_units::{Duration, Instant};
use std::sync::{Arc, Mutex, PoisonError};

/// What becomes of a packet, in the order in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its host sends it, and it is offered to the queue at the same time, as hosts have no queues.
    Offered,
    /// The queue discipline drops it, at its arrival or later.
    Dropped(Drop),
    /// Its transmission begins.
    Started,
    /// It arrives at the other host.
    Arrived,
}

/// Is told of every packet of a run, in the order of time; it changes nothing.
pub trait Observer: Send {
    /// `event` befalls `packet`, which goes `way`, at `now`. The packet's ECN codepoint is that of this time.
    fn saw(&mut self, now: Instant, way: Direction, event: Event, packet: &Packet);

    /// `frame` was on the air of a Wi-Fi cell; told when the exchange of which it is has ended.
    fn aired(&mut self, _frame: &AirFrame) {}
}

/// An observer that the run and whoever made it hold together.
pub type SharedObserver = Arc<Mutex<dyn Observer>>;

/// Tells `observer`.
#[cold]
#[inline(never)]
pub(crate) fn tell(observer: &SharedObserver, now: Instant, way: Direction, event: Event, packet: &Packet) {
    observer.lock().unwrap_or_else(PoisonError::into_inner).saw(now, way, event, packet);
}

/// What looks on at a link. It is given copies of packets: a reference would keep those, too, in memory that nobody
/// looks at, and costs them 3 % of their instructions.
pub(crate) struct Watch {
    /// Each packet's delay within a window, if asked for.
    pub(crate) log: Option<PacketLog>,
    pub(crate) observer: Option<SharedObserver>,
    way: Direction,
    /// A discipline that drops a packet does not say when.
    now: Instant,
}

impl Watch {
    pub(crate) fn new(way: Direction, log: Option<PacketLog>) -> Self {
        Self { log, observer: None, way, now: Instant::ZERO }
    }

    /// From now on until the next call, all happens at `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(&mut self, now: Instant) {
        self.now = now;
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn offered(&mut self, now: Instant, packet: Packet) {
        self.now = now;
        self.tell(Event::Offered, &packet);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn dropped(&self, packet: Packet, why: Drop) {
        self.tell(Event::Dropped(why), &packet);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn started(&mut self, now: Instant, packet: Packet, delay: Duration) {
        if let Some(log) = &mut self.log {
            log.record(now, delay, packet.flow.number());
        }
        self.tell(Event::Started, &packet);
    }

    fn tell(&self, event: Event, packet: &Packet) {
        if let Some(observer) = &self.observer {
            tell(observer, self.now, self.way, event, packet);
        }
    }
}
