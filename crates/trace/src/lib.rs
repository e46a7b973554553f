//! Captures of simulated runs: the frames that tcpdump would have written at chosen points, as pcapng.
//!
//! A [`Trace`] observes a run. It writes each packet that passes one of its [`Point`]s with Ethernet, IPv4 and TCP,
//! UDP or ICMP headers, options and checksums. On the air of a Wi-Fi cell it also writes the frames that carry no
//! packet. There each frame follows a radiotap header. Time zero of the run is [`EPOCH_S`], so that a capture depends
//! only on scenario and seed.
//!
//! IP's identification counts each host's packets: a packet has the same number wherever it is seen.

mod flow;
mod frame;
mod point;
mod wifi;

pub use goodqueue_capture::Error;
pub use point::Point;

use crate::flow::Flows;
use goodqueue_capture::Writer;
use goodqueue_netsim::wifi::frames::{AirBody, AirFrame, AirObserver};
use goodqueue_netsim::{Direction, Event, FlowOutline, Observer, Packet};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::Instant;
use std::path::Path;

/// A snap length that no frame exceeds.
pub const WHOLE_BYTES: u32 = 1 << 16;

/// The beginning of a run, in seconds since 1970: the beginning of the year 2000, so that the clock shows the run's
/// time.
pub const EPOCH_S: u64 = 946_684_800;

/// Writes the captures that the kernel engine's laboratory took on both sides of the bottleneck as a [`Trace`] would
/// write them, at those of `points` that are at the queues. `start_ns` is the beginning of the run in nanoseconds
/// since 1970.
///
/// # Errors
/// Fails if a capture cannot be read or written.
pub fn merge(path: &Path, points: &[Point], wan: &Path, cli: &Path, start_ns: i64) -> Result<(), Error> {
    let seen: Vec<_> = points.iter().map(|point| point.interface()).collect();
    let number = |wanted: Point| points.iter().position(|point| *point == wanted).map(|place| place as u32);
    let interfaces = [[Point::DownIn, Point::DownOut], [Point::UpIn, Point::UpOut]];
    let mut writer = Writer::create(path, &seen, WHOLE_BYTES)?;
    let shift_ns = (EPOCH_S * 1_000_000_000) as i64 - start_ns;
    goodqueue_capture::merge(
        wan,
        cli,
        &mut writer,
        interfaces.map(|direction| direction.map(number)),
        shift_ns,
    )?;
    writer.finish()
}

/// The time to live of packets that Linux sends (RFC 1700 recommends it).
const TTL: u8 = 64;

/// A capture in progress.
pub struct Trace {
    /// `None` after a failure.
    writer: Option<Writer>,
    failure: Option<Error>,
    /// The interface's number of each point.
    interfaces: [Option<u32>; Point::ALL.len()],
    flows: Flows,
    snap_bytes: usize,
    frame: Vec<u8>,
    /// The frame on the air that is being built.
    on_air: Vec<u8>,
}

impl Trace {
    /// Begins a capture at `path` of the run of `flows`, seen at `points`. Each point is one interface. At most
    /// `snap_bytes` of each frame are kept.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or if there are more flows than addresses.
    pub fn create(
        path: &Path,
        flows: &[FlowOutline],
        points: &[Point],
        snap_bytes: u32,
    ) -> Result<Self, Error> {
        let known = Flows::all(flows).ok_or_else(|| Error {
            file: path.to_path_buf(),
            message: format!(
                "found {} flows; accepted of a run that is captured: at most 65534",
                flows.len()
            ),
        })?;
        let seen: Vec<_> = points.iter().map(|point| point.interface()).collect();
        let mut interfaces = [None; Point::ALL.len()];
        for (number, point) in points.iter().enumerate() {
            interfaces[*point as usize] = Some(number as u32);
        }
        let writer = Some(Writer::create(path, &seen, snap_bytes)?);
        Ok(Self {
            writer,
            failure: None,
            interfaces,
            flows: known,
            snap_bytes: snap_bytes as usize,
            frame: Vec::new(),
            on_air: Vec::new(),
        })
    }

    /// Returns the failure since the last call, if there was one. After a failure nothing more is written.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Removes the capture, unless it is finished.
    pub fn discard(&mut self) {
        self.writer = None;
    }

    /// Ends the capture. Only now there is a file with its name.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)?;
        self.writer.take().map_or(Ok(()), Writer::finish)
    }
}

impl Observer for Trace {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let Self { writer: Some(writer), flows, interfaces, frame, .. } = self else { return };
        let id = flows.ip_id(event, direction, packet);
        let flow = flows.get(packet.flow());
        let interfaces = Point::of(event, direction, flow.data).map(|point| interfaces[point? as usize]);
        if interfaces == [None; 2] {
            return;
        }
        let through = matches!(event, Event::Started | Event::Arrived);
        let ttl = TTL - u8::from(through); // the bottleneck's router takes one
        frame::build(frame, packet, &flow.route(direction, packet, id, ttl));
        let time_ns = since_1970(now);
        let kept = &frame[..frame.len().min(self.snap_bytes)];
        let comment = if let Event::Dropped(why) = event { Some(format!("dropped: {why}")) } else { None };
        for interface in interfaces.into_iter().flatten() {
            if let Err(error) = writer.frame(interface, time_ns, packet.len(), kept, comment.as_deref()) {
                self.failure = Some(error);
                self.writer = None;
                return;
            }
        }
    }
}

impl AirObserver for Trace {
    fn aired(&mut self, on_air: &AirFrame) {
        let Self { writer: Some(writer), flows, interfaces, frame, .. } = self else { return };
        let Some(interface) = interfaces[Point::Air as usize] else { return };
        frame.clear();
        if let AirBody::Data { packet, direction, .. } = &on_air.body {
            let flow = flows.get(packet.flow());
            let id = flow.ip_id_on_air(*direction, packet);
            frame::build(frame, packet, &flow.route(*direction, packet, id, TTL - 1));
        }
        wifi::build(&mut self.on_air, on_air, frame);
        let kept = &self.on_air[..self.on_air.len().min(self.snap_bytes)];
        let (time_ns, length) = (since_1970(on_air.time), self.on_air.len() as u32);
        if let Err(error) = writer.frame(interface, time_ns, length, kept, wifi::comment(on_air.fate)) {
            self.failure = Some(error);
            self.writer = None;
        }
    }
}

/// Returns `now` on the capture's clock, in nanoseconds since 1970.
fn since_1970(now: Instant) -> u64 {
    EPOCH_S * 1_000_000_000 + now.as_nanos()
}
