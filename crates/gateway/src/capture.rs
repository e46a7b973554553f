//! A capture of the real packets at the queues, as pcapng.

use crate::packet::ETHERNET_BYTES;
use crate::pool::Pool;
use goodqueue_capture::{Error, Medium, Writer};
use goodqueue_netsim::{Direction, Envelope, Event, Observer, Packet, SharedObserver, Simulation};
use goodqueue_qdisc::{Drop, Packet as _};
use goodqueue_trace::Point;
use goodqueue_units::Instant;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A packet that passed a point. Its bytes are still in the pool.
struct Sighting {
    time: Instant,
    point: Point,
    envelope: &'static Envelope,
    traffic_class: (goodqueue_units::Ecn, u8),
    why: Option<Drop>,
}

/// Collects the packets that pass, until they can be written from the pool.
#[derive(Default)]
struct Seer(Vec<Sighting>);

impl Observer for Seer {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let Some(envelope) = packet.envelope() else { return };
        let (point, why) = match (event, direction) {
            (Event::Offered, Direction::Down) => (Point::DownIn, None),
            (Event::Offered, Direction::Up) => (Point::UpIn, None),
            (Event::Started, Direction::Down) => (Point::DownOut, None),
            (Event::Started, Direction::Up) => (Point::UpOut, None),
            (Event::Dropped(why), Direction::Down) => (Point::DownDrop, Some(why)),
            (Event::Dropped(why), Direction::Up) => (Point::UpDrop, Some(why)),
            (Event::Arrived, _) => return,
        };
        let traffic_class = (packet.ecn(), packet.dscp());
        self.0.push(Sighting { time: now, point, envelope, traffic_class, why });
    }
}

/// A capture under construction.
pub(crate) struct Capture {
    writer: Writer,
    seer: Arc<Mutex<Seer>>,
    /// The capture's interface number per point.
    interfaces: [Option<u32>; Point::ALL.len()],
    snap_bytes: usize,
    /// When the run began, in nanoseconds since the beginning of 1970.
    epoch_ns: u64,
    frame: Vec<u8>,
}

impl Capture {
    /// Begins a capture at `path` of the packets that pass `points`, truncated to `snap_bytes`.
    pub(crate) fn begin(
        run: &mut Simulation,
        path: &Path,
        points: &[Point],
        snap_bytes: u32,
        epoch_ns: u64,
    ) -> Result<Self, Error> {
        let names: Vec<(&str, Medium)> =
            points.iter().map(|point| (point.name(), Medium::Ethernet)).collect();
        let writer = Writer::create(path, &names, snap_bytes)?;
        let mut interfaces = [None; Point::ALL.len()];
        for (number, point) in points.iter().enumerate() {
            interfaces[*point as usize] = Some(number as u32);
        }
        let seer = Arc::new(Mutex::new(Seer::default()));
        run.observe(Arc::clone(&seer) as SharedObserver);
        Ok(Self { writer, seer, interfaces, snap_bytes: snap_bytes as usize, epoch_ns, frame: Vec::new() })
    }

    /// Writes the packets that have passed since the last call.
    pub(crate) fn write(&mut self, pool: &Pool) -> Result<(), Error> {
        let seen = std::mem::take(&mut self.seer.lock().unwrap_or_else(PoisonError::into_inner).0);
        for Sighting { time, point, envelope, traffic_class: (ecn, dscp), why } in seen {
            let Some(interface) = self.interfaces[point as usize] else { continue };
            let slot = pool.of(envelope);
            let kind: u16 = if slot.bytes[0] >> 4 == 6 { 0x86dd } else { 0x0800 };
            self.frame.clear();
            self.frame.resize(ETHERNET_BYTES - 2, 0);
            self.frame.extend_from_slice(&kind.to_be_bytes());
            self.frame.extend_from_slice(&slot.bytes);
            let packet = &mut self.frame[ETHERNET_BYTES..];
            crate::packet::set_traffic_class(packet, ecn, dscp);
            crate::offload::complete(packet, slot.offload);
            let (len, kept) = (self.frame.len() as u32, self.frame.len().min(self.snap_bytes));
            let comment = why.map(|why| format!("dropped: {}", why.name()));
            let time = self.epoch_ns + time.as_nanos();
            self.writer.frame(interface, time, len, &self.frame[..kept], comment.as_deref())?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.writer.finish()
    }
}
