//! TMIX's connection vectors of a capture (Weigle et al. 2006; Hernández-Campos 2006). For each TCP connection they
//! hold the data that its ends sent, and the waits between them, without the effects of TCP and the path.
//!
//! Data of an end are one unit until the other end sends, or until the end is quiet for half a second with nothing
//! unacknowledged. If both ends send new data before they have heard of the other's data, the connection is
//! concurrent: then each end's units are counted separately. A capture may be taken anywhere on the path: the
//! handshake gives the distance of the ends, which is subtracted from each wait.

use crate::file::Error;
use crate::frames::{Frames, Seen};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;

/// Time of quiet after which an end that sends again begins a new unit (Hernández-Campos 2006).
const QUIET_NS: i64 = 500_000_000;

/// Index of the end that opened a connection. [`ACCEPTOR`] is the end that accepted it.
const INITIATOR: usize = 0;
const ACCEPTOR: usize = 1;

/// A connection as TMIX describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Microseconds from the capture's first segment to the connection's SYN.
    pub start_us: u64,
    /// Whether the ends sent without waiting for each other.
    pub is_concurrent: bool,
    /// The units of data, in the order of time.
    pub sends: Vec<Send>,
    /// Round-trip time of the handshake, in microseconds. `None`: the handshake was not seen.
    pub rtt_us: Option<u64>,
    /// The largest windows of the initiator and the acceptor, in bytes.
    pub windows: [u64; 2],
}

/// A unit of data that an end sent, and the wait after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// Whether the initiator sent the unit.
    pub is_initiators: bool,
    /// Bytes of the unit.
    pub bytes: u64,
    /// Microseconds until the next unit of [`Vector::sends`], or until the end of the connection. In a concurrent
    /// connection, until the next unit of the same end.
    pub wait_us: u64,
}

/// The connections of a capture.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// Connections whose beginning was captured and that carried data, in the order of their beginnings.
    pub list: Vec<Vector>,
    /// Number of connections that had begun before the capture.
    pub partial: u64,
    /// Number of connections that carried no data.
    pub silent: u64,
}

/// Data of an end without a pause.
#[derive(Clone, Copy, Debug)]
struct Unit {
    end: usize,
    first_ns: i64,
    last_ns: i64,
    bytes: u64,
    /// Whether this end was quiet before the unit.
    is_new: bool,
}

/// A connection as seen so far. Arrays have one entry for the initiator and one for the acceptor.
struct Connection {
    syn_ns: i64,
    first: [Option<u32>; 2],
    /// Bytes of data seen from each end. `acked` has the bytes that the other end has acknowledged.
    seen: [i64; 2],
    acked: [i64; 2],
    last_ns: [i64; 2],
    /// Time from the capture to each end and back.
    legs_ns: [Option<i64>; 2],
    accepted_ns: Option<i64>,
    scales: [Option<u8>; 2],
    windows: [u64; 2],
    units: Vec<Unit>,
    is_concurrent: bool,
    closed: Option<(usize, i64)>,
}

/// Reads the connections of a capture.
///
/// # Errors
/// Fails at a file that is missing, foreign or cut off, and names the offset.
pub fn vectors(path: &Path) -> Result<Vectors, Error> {
    let mut frames = Frames::open(path)?;
    let mut found = Vectors::default();
    let mut all: Vec<Connection> = Vec::new();
    // Connections by initiator and acceptor. `None`: the connection had begun before the capture.
    let mut open: HashMap<(SocketAddr, SocketAddr), Option<usize>> = HashMap::new();
    let mut origin_ns = None;
    while let Some(seen) = frames.next()? {
        let origin = *origin_ns.get_or_insert(seen.time_ns);
        let (there, back) = ((seen.from, seen.to), (seen.to, seen.from));
        if seen.syn && seen.ack.is_none() {
            let again = open.get(&there).copied().flatten();
            if again.is_none_or(|place| all[place].first[INITIATOR] != Some(seen.seq)) {
                open.remove(&back);
                open.insert(there, Some(all.len()));
                all.push(Connection::new(seen.time_ns - origin));
            }
        }
        let (pair, end) = if open.contains_key(&there) { (there, INITIATOR) } else { (back, ACCEPTOR) };
        match open.get(&pair) {
            Some(&Some(place)) => all[place].saw(end, &seen, seen.time_ns - origin),
            Some(None) => {}
            None => {
                open.insert(there, None);
                found.partial += 1;
            }
        }
    }
    for connection in all {
        match connection.vector() {
            Some(vector) => found.list.push(vector),
            None => found.silent += 1,
        }
    }
    Ok(found)
}

impl Connection {
    fn new(syn_ns: i64) -> Self {
        Self {
            syn_ns,
            first: [None; 2],
            seen: [0; 2],
            acked: [0; 2],
            last_ns: [i64::MIN; 2],
            legs_ns: [None; 2],
            accepted_ns: None,
            scales: [None; 2],
            windows: [0; 2],
            units: Vec::new(),
            is_concurrent: false,
            closed: None,
        }
    }

    /// Notes that `end` sent a segment, which passed the capture `now_ns` after the capture's first segment.
    fn saw(&mut self, end: usize, segment: &Seen, now_ns: i64) {
        let other = 1 - end;
        if segment.syn {
            self.first[end] = Some(segment.seq);
            self.scales[end] = segment.window_scale;
            match end {
                ACCEPTOR if self.accepted_ns.is_none() => {
                    self.legs_ns[ACCEPTOR] = Some(now_ns - self.syn_ns);
                    self.accepted_ns = Some(now_ns);
                }
                _ => {}
            }
            return;
        }
        if end == INITIATOR
            && let Some(accepted_ns) = self.accepted_ns
        {
            self.legs_ns[INITIATOR].get_or_insert(now_ns - accepted_ns);
        }
        // Window scaling counts if both ends asked for it (RFC 7323, 1.3).
        let scale = if self.scales[other].is_some() { self.scales[end].unwrap_or(0) } else { 0 };
        self.windows[end] = self.windows[end].max(u64::from(segment.window) << scale.min(14));
        let heard = segment.ack.and_then(|ack| self.place(other, ack)).unwrap_or(0);
        self.acked[other] = self.acked[other].max(heard.min(self.seen[other]));
        let Some(start) = self.place(end, segment.seq) else { return };
        let new = start + i64::from(segment.payload) - self.seen[end];
        if segment.payload > 0 && new > 0 {
            // a segment without data may come after the FIN
            self.data(end, new, heard, now_ns);
        }
        if segment.fin && self.closed.is_none() {
            self.closed = Some((end, now_ns));
        }
    }

    /// Returns the index, from 0, of the byte with sequence `number` in the data of `end`.
    fn place(&self, end: usize, number: u32) -> Option<i64> {
        let near = self.seen[end];
        let offset = number.wrapping_sub(self.first[end]?).wrapping_sub(1);
        Some(near + i64::from(offset.wrapping_sub(near as u32) as i32))
    }

    /// Notes that `end`, which has heard of `heard` bytes of the other end, sent `new` bytes.
    fn data(&mut self, end: usize, new: i64, heard: i64, now_ns: i64) {
        self.is_concurrent |= heard < self.seen[1 - end];
        let is_acked = self.acked[end] >= self.seen[end];
        let is_new = is_acked && now_ns.saturating_sub(self.last_ns[end]) >= QUIET_NS;
        self.seen[end] += new;
        self.last_ns[end] = now_ns;
        match self.units.last_mut() {
            Some(unit) if unit.end == end && !is_new => {
                unit.bytes += new as u64;
                unit.last_ns = now_ns;
            }
            _ => self.units.push(Unit { end, first_ns: now_ns, last_ns: now_ns, bytes: new as u64, is_new }),
        }
    }

    /// Returns the connection's vector. `None`: the connection carried no data.
    fn vector(mut self) -> Option<Vector> {
        if self.is_concurrent {
            self.units = joined(&self.units);
        }
        let units = &self.units;
        let waits = units.iter().enumerate().map(|(place, unit)| {
            let following =
                units[place + 1..].iter().find(|other| !self.is_concurrent || other.end == unit.end);
            let next = following.map(|other| (other.end, other.first_ns));
            let (end, at_ns) = next.or(self.closed.filter(|_| !self.is_concurrent))?;
            let away = if end == unit.end { 0 } else { self.legs_ns[end].unwrap_or(0) };
            Some((at_ns - unit.last_ns - away).max(0))
        });
        let sends: Vec<Send> = units
            .iter()
            .zip(waits)
            .map(|(unit, wait)| Send {
                is_initiators: unit.end == INITIATOR,
                bytes: unit.bytes,
                wait_us: micros(wait.unwrap_or(0)),
            })
            .collect();
        let [initiator, acceptor] = self.legs_ns;
        let rtt_us = initiator.zip(acceptor).map(|(one, other)| micros(one + other));
        let (is_concurrent, windows) = (self.is_concurrent, self.windows);
        (!sends.is_empty()).then(|| Vector {
            start_us: micros(self.syn_ns),
            is_concurrent,
            sends,
            rtt_us,
            windows,
        })
    }
}

/// Returns the units of a concurrent connection: data of an end are one unit until it is quiet, whatever the other
/// end does.
fn joined(units: &[Unit]) -> Vec<Unit> {
    let mut joined: Vec<Unit> = Vec::new();
    for unit in units {
        match joined.iter_mut().rev().find(|other| other.end == unit.end) {
            Some(before) if !unit.is_new => {
                before.bytes += unit.bytes;
                before.last_ns = unit.last_ns;
            }
            _ => joined.push(*unit),
        }
    }
    joined
}

fn micros(ns: i64) -> u64 {
    (ns.max(0) as u64 + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Returns a connection after its handshake. The capture is 10 ms from the acceptor and 30 ms from the initiator.
    fn opened() -> Connection {
        let mut connection = Connection::new(0);
        send(&mut connection, INITIATOR, 0, (100, None, 0));
        send(&mut connection, ACCEPTOR, 10, (500, Some(101), 0));
        send(&mut connection, INITIATOR, 40, (101, Some(501), 0));
        connection
    }

    /// Lets a segment pass at `ms`: sequence number, acknowledgement and bytes. The first segment of each end is its
    /// SYN.
    fn send(connection: &mut Connection, end: usize, ms: i64, (seq, ack, payload): (u32, Option<u32>, u32)) {
        let nobody: SocketAddr = ([10, 0, 0, 1], 1).into();
        let syn = connection.first[end].is_none();
        let segment = Seen {
            time_ns: ms * MS,
            from: nobody,
            to: nobody,
            seq,
            ack,
            payload,
            syn,
            fin: false,
            window: 1000,
            window_scale: syn.then_some(7),
        };
        connection.saw(end, &segment, ms * MS);
    }

    fn sends(connection: Connection) -> Vec<(bool, u64, u64)> {
        let vector = connection.vector().unwrap();
        vector.sends.iter().map(|send| (send.is_initiators, send.bytes, send.wait_us)).collect()
    }

    /// The server thinks for 25 ms, the user for 200 ms. Each wait is seen longer by the way there and back.
    /// Retransmitted and reordered data must not count again.
    #[test]
    fn waits_are_without_the_path_and_bytes_count_once() {
        let mut connection = opened();
        send(&mut connection, INITIATOR, 41, (101, Some(501), 300));
        send(&mut connection, ACCEPTOR, 76, (501, Some(401), 1000));
        send(&mut connection, ACCEPTOR, 77, (1501, Some(401), 500));
        send(&mut connection, ACCEPTOR, 90, (501, Some(401), 1000));
        send(&mut connection, INITIATOR, 320, (401, Some(2001), 50));
        let vector = connection.vector().unwrap();
        assert_eq!(
            (vector.is_concurrent, vector.rtt_us, vector.windows),
            (false, Some(40_000), [128_000; 2])
        );
        let found: Vec<_> =
            vector.sends.iter().map(|one| (one.is_initiators, one.bytes, one.wait_us)).collect();
        assert_eq!(found, [(true, 300, 25_000), (false, 1500, 213_000), (true, 50, 0)]);
    }

    /// Half a second of quiet is a pause of the program. But while an acknowledgement is awaited, it is a pause of
    /// TCP.
    #[test]
    fn an_end_that_was_quiet_begins_anew() {
        let mut connection = opened();
        send(&mut connection, ACCEPTOR, 50, (501, Some(101), 1000));
        send(&mut connection, ACCEPTOR, 700, (1501, Some(101), 1000));
        send(&mut connection, INITIATOR, 740, (101, Some(2501), 0));
        send(&mut connection, ACCEPTOR, 1500, (2501, Some(101), 1000));
        assert_eq!(sends(connection), [(false, 2000, 800_000), (false, 1000, 0)]);
    }

    /// Both ends have sent data before hearing of the other's. Then the other end's data must not divide a unit, but
    /// a pause of a second must.
    #[test]
    fn ends_that_send_at_once_are_concurrent() {
        let mut connection = opened();
        send(&mut connection, INITIATOR, 50, (101, Some(501), 100));
        send(&mut connection, ACCEPTOR, 52, (501, Some(101), 1000));
        send(&mut connection, INITIATOR, 90, (201, Some(1501), 100));
        send(&mut connection, ACCEPTOR, 95, (1501, Some(301), 1000));
        send(&mut connection, INITIATOR, 130, (301, Some(2501), 0));
        send(&mut connection, INITIATOR, 1090, (301, Some(2501), 70));
        assert!(connection.is_concurrent);
        assert_eq!(sends(connection), [(true, 200, 1_000_000), (false, 2000, 0), (true, 70, 0)]);
    }
}
