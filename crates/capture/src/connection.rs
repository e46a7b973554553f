//! One TCP connection as a capture sees it, and its vector: what its ends sent, and their waits.
//!
//! Data of an end are one unit until the other end sends, or until the end is quiet for half a second with nothing
//! unacknowledged. If both ends send new data before they have heard of the other's data, the connection is
//! concurrent: then each end's units are counted separately. The handshake gives the distance of the ends from the
//! capture, which is subtracted from each wait.

use crate::network::Seen;

/// Time of quiet after which an end that sends again begins a new unit (Hernández-Campos 2006).
const QUIET_NS: i64 = 500_000_000;

/// Index of the end that opened a connection. [`ACCEPTOR`] is the end that accepted it.
pub(crate) const INITIATOR: usize = 0;
pub(crate) const ACCEPTOR: usize = 1;

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
pub(crate) struct Connection {
    start_ns: i64,
    /// The SYNs' sequence numbers.
    first: [Option<u32>; 2],
    /// Whether the number in `first` follows from another segment, because the SYN was not seen.
    is_guess: [bool; 2],
    /// Whether any segment of the end was seen.
    is_heard: [bool; 2],
    /// Bytes of data seen from each end. `acked` has the bytes that the other end has acknowledged, which may be more.
    seen: [i64; 2],
    acked: [i64; 2],
    last_ns: [i64; 2],
    /// Time from the capture to each end and back.
    legs_ns: [Option<i64>; 2],
    /// When the last SYN was seen that the acceptor had not answered.
    syn_ns: Option<i64>,
    /// When the last SYN-ACK was seen.
    accepted_ns: Option<i64>,
    scales: [Option<u8>; 2],
    windows: [u64; 2],
    units: Vec<Unit>,
    is_concurrent: bool,
    closed: Option<(usize, i64)>,
}

impl Connection {
    pub(crate) fn new(start_ns: i64) -> Self {
        Self {
            start_ns,
            first: [None; 2],
            is_guess: [false; 2],
            is_heard: [false; 2],
            seen: [0; 2],
            acked: [0; 2],
            last_ns: [i64::MIN; 2],
            legs_ns: [None; 2],
            syn_ns: None,
            accepted_ns: None,
            scales: [None; 2],
            windows: [0; 2],
            units: Vec::new(),
            is_concurrent: false,
            closed: None,
        }
    }

    /// Returns the number of units of data so far. It counts units of a concurrent connection that are joined later.
    pub(crate) fn units(&self) -> usize {
        self.units.len()
    }

    /// Returns whether segments of only one end were captured.
    pub(crate) fn is_one_sided(&self) -> bool {
        self.is_heard != [true; 2]
    }

    /// Returns whether `syn`, a SYN of `end`, begins this connection. Otherwise it begins another one between the same
    /// ports. The acceptor sends a SYN without an ACK if both ends open the connection at once (RFC 9293, 3.5).
    pub(crate) fn begins_with(&self, end: usize, syn: &Seen) -> bool {
        let other = 1 - end;
        let Some(ack) = syn.ack else {
            return match self.first[end] {
                // A guess from a SYN-ACK is too high if that covers data of the SYN.
                Some(first) if self.is_guess[end] => first.wrapping_sub(syn.seq) <= syn.payload,
                Some(first) => first == syn.seq,
                None => self.units.is_empty() && self.closed.is_none(),
            };
        };
        let is_answer = self.place(other, ack).is_some_and(|heard| (0..=self.seen[other]).contains(&heard));
        self.first[end] == Some(syn.seq) || is_answer && self.seen[end] == 0
    }

    /// Notes that `end` sent a segment, which passed the capture `now_ns` after the capture's first segment.
    pub(crate) fn saw(&mut self, end: usize, segment: &Seen, now_ns: i64) {
        let other = 1 - end;
        self.is_heard[end] = true;
        if segment.syn {
            self.saw_syn(end, segment, now_ns);
        } else if end == INITIATOR
            && let Some(accepted_ns) = self.accepted_ns
        {
            self.legs_ns[INITIATOR].get_or_insert((now_ns - accepted_ns).max(0));
        }
        if segment.rst {
            // Text in a RST is no data of the connection (RFC 9293, 3.5.3).
            self.closed.get_or_insert((end, now_ns));
            return;
        }
        // A SYN that was not captured is known by what follows it.
        self.guess(end, segment.seq.wrapping_sub(1));
        if let Some(ack) = segment.ack {
            self.guess(other, ack.wrapping_sub(1));
        }
        if !segment.syn {
            // Window scaling counts if both ends asked for it (RFC 7323, 1.3). The acceptor asks only as an answer.
            let is_agreed = self.scales[other].is_some() || self.is_guess[other];
            let scale = self.scales[end].filter(|_| is_agreed).unwrap_or(0);
            self.windows[end] = self.windows[end].max(u64::from(segment.window) << scale.min(14));
        }
        let heard = segment.ack.and_then(|ack| self.place(other, ack)).unwrap_or(0);
        self.acked[other] = self.acked[other].max(heard);
        let Some(start) = self.place(end, segment.seq.wrapping_add(segment.syn.into())) else { return };
        let new = start + i64::from(segment.payload) - self.seen[end];
        if segment.payload > 0 && new > 0 {
            // a segment without data may come after the FIN
            self.data(end, new, heard, now_ns);
        }
        if segment.fin {
            self.closed.get_or_insert((end, now_ns));
        }
    }

    fn saw_syn(&mut self, end: usize, segment: &Seen, now_ns: i64) {
        if self.is_guess[end] || self.seen[end] == 0 {
            (self.first[end], self.is_guess[end]) = (Some(segment.seq), false);
        }
        self.scales[end] = segment.window_scale;
        match end {
            ACCEPTOR => {
                if let Some(syn_ns) = self.syn_ns {
                    self.legs_ns[ACCEPTOR].get_or_insert((now_ns - syn_ns).max(0));
                }
                self.accepted_ns = Some(now_ns);
            }
            // A repeated SYN: an answer now is that to the last one.
            _ if self.accepted_ns.is_none() => self.syn_ns = Some(now_ns),
            // The SYN is captured after its answer: by another queue of the network card, or in another file.
            _ => {
                let accepted_ns = self.accepted_ns.get_or_insert(now_ns);
                let apart = if self.legs_ns[INITIATOR].is_none() { now_ns - *accepted_ns } else { 0 };
                self.legs_ns[ACCEPTOR].get_or_insert(apart);
                *accepted_ns = now_ns;
            }
        }
    }

    /// Takes `number` as that of the SYN of `end`, if the SYN was not captured.
    fn guess(&mut self, end: usize, number: u32) {
        if self.first[end].is_none() {
            (self.first[end], self.is_guess[end]) = (Some(number), true);
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
        // Data that the other end acknowledged before they were captured are older than they seem.
        let is_late = self.acked[end] >= self.seen[end] + new;
        self.is_concurrent |= heard < self.seen[1 - end] && !is_late;
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
    pub(crate) fn vector(mut self) -> Option<Vector> {
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
            start_us: micros(self.start_ns),
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
mod tests;
