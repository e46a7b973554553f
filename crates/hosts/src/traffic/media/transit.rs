//! Packets and frames under way, and how long they took.

use crate::probe::delay::FlowDelays;
use crate::traffic::isochronous::PATIENCE;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// The time after which a packet that has not arrived is taken as lost.
const LOST_AFTER: Duration = Duration::from_secs(60);

/// A queue of numbered items. The oldest items are forgotten.
#[derive(Debug)]
struct Numbered<T> {
    /// The number of the oldest item that is kept.
    first: u64,
    kept: VecDeque<T>,
}

impl<T> Numbered<T> {
    const fn new() -> Self {
        Self { first: 0, kept: VecDeque::new() }
    }

    /// Returns the number of the next item.
    fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.kept.get_mut(place)
    }

    /// Adds an item, and forgets the oldest items that are `over`.
    fn push(&mut self, one: T, over: impl Fn(&T) -> bool) {
        while self.kept.front().is_some_and(&over) {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back(one);
    }
}

/// A packet that was sent.
#[derive(Debug)]
struct Sent {
    at: Instant,
    frame: u64,
    bytes: u64,
    has_come: bool,
}

/// A frame that was captured.
#[derive(Debug)]
struct Captured {
    at: Instant,
    /// Bytes that have not arrived yet.
    missing: u64,
}

/// What the receiver learns from a packet that arrives.
pub(super) struct Came {
    pub(super) number: u64,
    pub(super) t_sent: Instant,
    pub(super) bytes: u64,
}

/// Packets and frames under way, and what was measured of them.
pub(super) struct Transit {
    packets: Numbered<Sent>,
    frames: Numbered<Captured>,
    /// The first packet and the first frame that are measured.
    from: (u64, u64),
    /// From sending a packet to its arrival.
    pub(super) delays: FlowDelays,
    /// From capturing a frame to the arrival of its last packet.
    pub(super) frame_delays: FlowDelays,
    /// How many of the measured packets arrived, and the number after the highest of them.
    received: u64,
    settled: u64,
    /// The longest that one of them took, and whether any packet arrived since the run began.
    longest: Duration,
    pub(super) has_come: bool,
}

impl Transit {
    pub(super) fn new() -> Self {
        Self {
            packets: Numbered::new(),
            frames: Numbered::new(),
            from: (0, 0),
            delays: FlowDelays::new(),
            frame_delays: FlowDelays::new(),
            received: 0,
            settled: 0,
            longest: Duration::ZERO,
            has_come: false,
        }
    }

    /// Adds a captured frame of `bytes`. Returns its number.
    pub(super) fn captured(&mut self, now: Instant, bytes: u64) -> u64 {
        let over = |frame: &Captured| frame.missing == 0 || now.since(frame.at) > LOST_AFTER;
        self.frames.push(Captured { at: now, missing: bytes }, over);
        self.frames.next() - 1
    }

    /// Adds a sent packet with `bytes` of `frame`. Returns the low 32 bits of its number, which the packet carries.
    pub(super) fn sent(&mut self, now: Instant, frame: u64, bytes: u64) -> u32 {
        let over = |packet: &Sent| packet.has_come || now.since(packet.at) > LOST_AFTER;
        self.packets.push(Sent { at: now, frame, bytes, has_come: false }, over);
        (self.packets.next() - 1) as u32
    }

    /// Takes the packet that carries `low`. Returns none if it arrived before.
    pub(super) fn arrived(&mut self, now: Instant, low: u32) -> Option<Came> {
        let last_sent = self.packets.next().checked_sub(1)?;
        let number = last_sent - u64::from((last_sent as u32).wrapping_sub(low));
        let packet = self.packets.get_mut(number).filter(|packet| !packet.has_come)?;
        packet.has_come = true;
        self.has_come = true;
        let &mut Sent { at, frame, bytes, .. } = packet;
        if number >= self.from.0 {
            self.delays.record(now.since(at));
            self.received += 1;
            self.longest = self.longest.max(now.since(at));
            self.settled = self.settled.max(number + 1);
        }
        if let Some(captured) = self.frames.get_mut(frame) {
            captured.missing -= bytes;
            if captured.missing == 0 && frame >= self.from.1 {
                self.frame_delays.record(now.since(captured.at));
            }
        }
        Some(Came { number, t_sent: at, bytes })
    }

    /// Begins measuring. What was sent and captured before does not count.
    pub(super) fn measure_from_now(&mut self) {
        self.from = (self.packets.next(), self.frames.next());
        (self.received, self.settled, self.longest) = (0, 0, Duration::ZERO);
        self.delays.reset();
        self.frame_delays.reset();
    }

    /// Returns how many packets were sent, how many arrived, and of how many the fate is known at `now`: up to the last
    /// that arrived, and those after it that are under way for too long. If none arrived, the last number is that of
    /// all packets sent.
    pub(super) fn counts(&self, now: Instant) -> (u64, u64, u64) {
        let sent = self.packets.next() - self.from.0;
        if self.received == 0 {
            return (sent, 0, sent);
        }
        let first_over = self.packets.first.max(self.settled); // what is forgotten was lost
        let after = self.packets.kept.iter().skip((first_over - self.packets.first) as usize);
        let over = after.take_while(|packet| packet.at + self.longest * PATIENCE < now).count() as u64;
        (sent, self.received, first_over + over - self.from.0)
    }

    /// Returns how many frames were captured.
    pub(super) fn frames(&self) -> u64 {
        self.frames.next() - self.from.1
    }

    /// Returns whether a packet was ever sent.
    pub(super) fn has_sent(&self) -> bool {
        self.packets.next() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Two frames have two packets each. One packet is lost, and one arrives twice. So one frame is complete, 45 ms
    /// after it was captured. Packets after the highest number that arrived are not settled.
    #[test]
    fn a_frame_is_there_with_its_last_packet_and_a_packet_comes_once() {
        let mut transit = Transit::new();
        assert_eq!((transit.captured(at(0), 1500), transit.captured(at(33), 1500)), (0, 1));
        let packets = [(0, 0, 1000), (5, 0, 500), (33, 1, 1000), (40, 1, 500)];
        let numbers = packets.map(|(ms, frame, bytes)| transit.sent(at(ms), frame, bytes));
        assert_eq!(numbers, [0, 1, 2, 3]);
        let came = transit.arrived(at(45), 1).unwrap();
        assert_eq!((came.number, came.t_sent, came.bytes), (1, at(5), 500));
        assert!(transit.frame_delays.summary().is_none());
        transit.arrived(at(45), 0);
        assert!(transit.arrived(at(50), 1).is_none(), "twice");
        assert_eq!(transit.frame_delays.summary().unwrap().max, 45.0);
        let delays = transit.delays.summary().unwrap();
        assert_eq!((delays.min, delays.max), (40.0, 45.0));
        assert_eq!(transit.counts(at(50)), (4, 2, 2));
        assert_eq!(transit.counts(at(170)), (4, 2, 3), "33 + 3 * 45 = 168 ms: number 2 is lost, and 3 may still come");
        transit.arrived(at(90), 3);
        assert_eq!((transit.counts(at(90)), transit.frame_delays.count()), ((4, 3, 4), 1));
    }

    /// A packet that was sent before measuring began is not measured, and does not count as lost.
    #[test]
    fn the_warm_up_is_not_measured() {
        let mut transit = Transit::new();
        for ms in [0, 10] {
            let frame = transit.captured(at(ms), 100);
            transit.sent(at(ms), frame, 100);
        }
        transit.arrived(at(20), 0);
        transit.measure_from_now();
        assert_eq!(transit.counts(at(20)), (0, 0, 0));
        transit.arrived(at(20), 1);
        assert!(transit.delays.summary().is_none() && transit.frame_delays.summary().is_none());
        let frame = transit.captured(at(30), 100);
        transit.sent(at(30), frame, 100);
        assert_eq!(transit.counts(at(30)), (1, 0, 1), "none came, so all are lost");
        transit.arrived(at(60), 2);
        assert_eq!((transit.counts(at(60)), transit.delays.count()), ((1, 1, 1), 1));
    }

    /// Packets carry only 32 bits of their number. A packet that never arrives is forgotten after one minute.
    #[test]
    fn numbers_go_on_beyond_32_bits_and_memory_is_bounded() {
        let mut transit = Transit::new();
        (transit.packets.first, transit.from.0) = ((1 << 32) - 1, (1 << 32) - 1);
        let frame = transit.captured(at(0), 300);
        assert_eq!([0, 1].map(|ms| transit.sent(at(ms), frame, 100)), [u32::MAX, 0]);
        assert_eq!(transit.arrived(at(10), 0).unwrap().number, 1 << 32);
        transit.sent(at(60_001), frame, 100);
        assert_eq!(transit.packets.kept.len(), 1, "one is lost, one has come");
        assert!(transit.arrived(at(60_002), u32::MAX).is_none());
        assert_eq!(transit.counts(at(60_002)), (3, 1, 2));
    }
}
