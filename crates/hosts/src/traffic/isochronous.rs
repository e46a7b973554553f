//! Datagrams at fixed times, and what becomes of them. `cbr`, `ping` and `voip` are built on this machine.

use super::application::{Application, Host, Message, SocketId};
use super::result::{self, Undone};
use super::tcp::DSCP;
use crate::direction::Side;
use crate::keys::{AnyKey, Codepoint, FRAME_BYTES, Key, Values};
use crate::probe::{percent, rounded};
use goodqueue_units::{Duration, Ecn, Instant};
use std::collections::BTreeSet;

/// Bytes of the smallest Ethernet frame, without its checksum, and of a full frame.
pub(crate) const FRAME: (u64, u64) = (60, FRAME_BYTES as u64);

/// The ECN codepoint of datagrams. The name is that of TCP's key.
pub const CODEPOINT: Key<Codepoint> = Key::with_default("ecn", "false")
    .example("\"ect1\"")
    .help("ECN codepoint of the datagrams: false, true or \"ect0\" (RFC 3168), or \"ect1\" (RFC 9331)")
    .source("RFC 3168, 5; RFC 9331, 4.1");

/// The keys that these kinds share.
pub(crate) const DATAGRAM_KEYS: &[&dyn AnyKey] = &[&CODEPOINT, &DSCP];

/// Returns the ECN field of the datagrams' IP headers.
pub(crate) fn ecn_of(values: &Values) -> Ecn {
    values.get(&CODEPOINT).0
}

/// How a kind sends, and who receives.
pub struct Pace {
    /// The time in which `packets` packets are sent. Two numbers, because a rate seldom gives a whole number of
    /// nanoseconds per packet.
    pub interval: Duration,
    pub(crate) packets: u64,
    /// Bytes of each packet as `tc` counts them.
    pub len: u16,
    pub(crate) ecn: Ecn,
    pub(crate) far: Far,
}

/// What the other side does with a packet.
pub(crate) enum Far {
    /// The other side only receives the packet.
    Takes,
    /// The other side sends the packet back, and the sender measures.
    Echoes(Box<dyn Listener>),
    /// The other side receives the packet, and measures.
    Listens(Box<dyn Listener>),
}

/// The end that measures how long packets took, for a round trip or one way.
pub(crate) trait Listener: Send + Sync {
    /// Begins measuring.
    fn reset(&mut self);
    /// Takes note that a packet that was sent within the measured time took `time`.
    fn took(&mut self, time: Duration);
    /// Returns what was measured, given what became of the packets.
    fn result(&self, packets: Packets) -> result::Result;
    /// Returns what was kept of the flow `name`: its part of the record's time series.
    fn series(&self, name: &str, log: &Log) -> result::Series;
}

/// What became of the packets that were sent within the measured time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packets {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Percentage lost of the packets whose fate is known; none: no packet was sent. If no packet arrived, all are
    /// lost.
    pub(crate) loss_percent: Option<f64>,
}

/// Each packet that came back or was heard: its number, the time at which it was sent, and how long it took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Vec<(u64, Instant, Duration)>);

impl Log {
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.0.iter().map(|(number, _, _)| *number).collect()
    }

    pub(crate) fn sent_s(&self) -> Vec<f64> {
        self.0.iter().map(|(_, sent_at, _)| sent_at.as_secs_f64()).collect()
    }

    pub(crate) fn times_ms(&self) -> Vec<f64> {
        self.0.iter().map(|(_, _, time)| rounded(time.as_millis_f64())).collect()
    }
}

/// A packet that comes after the last one that arrived is lost once it is under way for this many times the longest
/// time that a packet took: as long as irtt waits for the last answers (irtt-client(1), `--wait`).
pub(super) const PATIENCE: u64 = 3;

/// Which packets have arrived. A wire may duplicate and reorder packets.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// The number after the highest that arrived.
    next: u64,
    /// The numbers below `next` that did not arrive.
    missing: BTreeSet<u64>,
}

impl Heard {
    /// Notes `number`. Returns whether it arrives for the first time.
    fn is_new(&mut self, number: u64) -> bool {
        if number < self.next {
            return self.missing.remove(&number);
        }
        self.missing.extend(self.next..number);
        self.next = number + 1;
        true
    }
}

/// A source that sends packet `n` at `start + n * interval / packets`. So a packet's number gives the time at which
/// it was sent.
pub struct Isochronous {
    start: Instant,
    interval: Duration,
    per: u64,
    /// Bytes of each packet as `tc` counts them.
    pub len: u16,
    /// The ECN field of each packet.
    pub ecn: Ecn,
    far: Far,
    /// The number of the next packet.
    next: u64,
    /// Bytes that arrived at the far side.
    pub received_bytes: u64,
    /// The number of the first packet that is measured; how many of the measured packets came back (or arrived, in a
    /// call); and the number of the last of these.
    first_measured: u64,
    returned: u64,
    last_returned: Option<u64>,
    /// The longest that one of them took, and whether any packet arrived since the run began.
    longest: Duration,
    has_come: bool,
    heard: Heard,
    /// Each packet that came back or was heard, if the scenario asks for time series.
    log: Option<Log>,
    /// The exchange of its packets, on a host that has exchanges.
    exchange: u32,
    /// Number of echoes, and the sum of their times in ns, since the run began.
    pub echoes: (u64, u128),
}

impl Isochronous {
    /// Makes a source that begins at `start`.
    #[must_use]
    pub fn new(start: Instant, pace: Pace) -> Self {
        let Pace { interval, packets, len, ecn, far } = pace;
        Self {
            start,
            interval,
            per: packets,
            len,
            ecn,
            far,
            next: 0,
            received_bytes: 0,
            first_measured: 0,
            returned: 0,
            last_returned: None,
            longest: Duration::ZERO,
            has_come: false,
            heard: Heard::default(),
            log: None,
            exchange: 0,
            echoes: (0, 0),
        }
    }

    /// Returns when packet `number` is sent.
    fn sent_at(&self, number: u64) -> Instant {
        let nanos = u128::from(self.interval.as_nanos()) * u128::from(number) / u128::from(self.per);
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Returns when the next packet is sent.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Instant {
        self.sent_at(self.next)
    }

    /// Sends the next packet. Returns the low 32 bits of its number, which the packet carries.
    #[inline]
    pub fn send(&mut self) -> u32 {
        self.next += 1;
        (self.next - 1) as u32
    }

    /// Returns whether the packets are echoed.
    #[inline]
    #[must_use]
    pub fn is_echoed(&self) -> bool {
        matches!(self.far, Far::Echoes(_))
    }

    /// Takes the packet that carries `low` at the far side at `now`. Returns whether the far side sends it
    /// back.
    #[inline]
    pub fn arrived(&mut self, now: Instant, low: u32) -> bool {
        self.received_bytes += u64::from(self.len);
        match self.far {
            Far::Takes => false,
            Far::Echoes(_) => true,
            Far::Listens(_) => {
                self.settle(now, low);
                false
            }
        }
    }

    /// Takes the echo of the packet that carries `low` at `now`. Returns its round-trip time, or none if it
    /// arrived before.
    #[inline]
    pub fn returned(&mut self, now: Instant, low: u32) -> Option<Duration> {
        let rtt = self.settle(now, low)?;
        self.echoes = (self.echoes.0 + 1, self.echoes.1 + u128::from(rtt.as_nanos()));
        Some(rtt)
    }

    /// Takes the packet that carries `low` at the end that measures. Returns how long it took, or none if it
    /// arrived before.
    fn settle(&mut self, now: Instant, low: u32) -> Option<Duration> {
        let number = self.number(low);
        if !self.heard.is_new(number) {
            return None;
        }
        let sent_at = self.sent_at(number);
        let time = now.since(sent_at);
        self.has_come = true;
        if let Some(Log(log)) = &mut self.log {
            log.push((number, sent_at, time));
        }
        if let Far::Echoes(listener) | Far::Listens(listener) = &mut self.far
            && number >= self.first_measured
        {
            self.returned += 1;
            self.last_returned = self.last_returned.max(Some(number));
            self.longest = self.longest.max(time);
            listener.took(time);
        }
        Some(time)
    }

    /// Returns the number of the most recently sent packet that carries `low`.
    fn number(&self, low: u32) -> u64 {
        let last_sent = self.next - 1;
        last_sent - u64::from((last_sent as u32).wrapping_sub(low))
    }

    /// Returns what became until `now` of the packets that were sent since measuring began.
    fn packets(&self, now: Instant) -> Packets {
        let sent = self.next - self.first_measured;
        let settled = self.last_returned.map_or(sent, |last| {
            let is_over = |number: &u64| self.sent_at(*number) + self.longest * PATIENCE < now;
            let over = (last + 1..self.next).take_while(is_over).count() as u64;
            last + 1 - self.first_measured + over
        });
        let loss_percent = (sent > 0).then(|| percent(settled - self.returned, settled));
        Packets { sent, received: self.returned, loss_percent }
    }
}

/// For hosts with sockets. The simulator calls the source itself for each packet, since a call through a table costs it
/// time.
impl Application for Isochronous {
    fn start(&mut self, host: &mut dyn Host) {
        (self.start, self.exchange) = (host.now(), host.exchange());
        self.wake(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        let message = Message { number: self.send(), len: self.len, ecn: self.ecn };
        host.send_datagram(host.sender(), self.exchange, message);
        host.wake_at(self.next_time());
    }

    fn notice(&mut self, _socket: SocketId, _end: Side, _host: &mut dyn Host) {}

    fn datagram(&mut self, message: Message, end: Side, host: &mut dyn Host) {
        if end == host.sender() {
            self.returned(host.now(), message.number);
        } else if self.arrived(host.now(), message.number) {
            host.send_datagram(end, self.exchange, Message { len: self.len, ecn: self.ecn, ..message });
        }
    }

    fn stop(&mut self, _host: &mut dyn Host) {}

    fn measure_from(&mut self, _now: Instant) {
        (self.first_measured, self.returned, self.last_returned) = (self.next, 0, None);
        self.longest = Duration::ZERO;
        if let Far::Echoes(listener) | Far::Listens(listener) = &mut self.far {
            listener.reset();
        }
    }

    fn result(&self, now: Instant) -> Option<result::Result> {
        match &self.far {
            Far::Takes => None,
            Far::Echoes(listener) | Far::Listens(listener) => Some(listener.result(self.packets(now))),
        }
    }

    /// Returns whether it never started. Packets at fixed times have no end, and what was lost has its own number.
    fn undone(&self) -> Undone {
        Undone::of_one(self.next > 0, self.has_come, false)
    }

    fn log(&mut self) {
        self.log = (!matches!(self.far, Far::Takes)).then(Log::default);
    }

    fn series(&self, name: &str) -> Option<result::Series> {
        match (&self.far, &self.log) {
            (Far::Echoes(listener) | Far::Listens(listener), Some(log)) => Some(listener.series(name, log)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of the packet that arrived last.
    struct Last(Option<Duration>);

    impl Listener for Last {
        fn reset(&mut self) {
            self.0 = None;
        }
        fn took(&mut self, time: Duration) {
            self.0 = Some(time);
        }
        fn result(&self, _packets: Packets) -> result::Result {
            unreachable!("nobody asks")
        }
        fn series(&self, _name: &str, _log: &Log) -> result::Series {
            unreachable!("nobody asks")
        }
    }

    #[test]
    fn a_rate_that_is_no_whole_number_of_nanoseconds_a_packet_does_not_drift() {
        // 1514 bytes at 7 Mbit/s take 1 730 285.714... ns per packet; 7000 packets take exactly 12 112 000 000 ns.
        let interval = Duration::from_nanos(1514 * 8 * 1_000_000_000);
        let pace = Pace { interval, packets: 7_000_000, len: 1514, ecn: Ecn::NotEct, far: Far::Takes };
        let mut source = Isochronous::new(Instant::ZERO, pace);
        assert_eq!(source.next_time(), Instant::ZERO);
        assert_eq!((0..7000).map(|_| source.send()).last(), Some(6999));
        assert_eq!(source.next_time(), Instant::from_nanos(12_112_000_000));
    }

    /// If duplicates counted, more packets would be received than were sent.
    #[test]
    fn a_packet_that_comes_twice_counts_once() {
        let far = Far::Echoes(Box::new(Last(None)));
        let interval = Duration::from_millis(1);
        let mut source =
            Isochronous::new(Instant::ZERO, Pace { interval, packets: 1, len: 60, ecn: Ecn::NotEct, far });
        (0..4).for_each(|_| _ = source.send());
        let now = Instant::from_nanos(9_000_000);
        for low in [2, 2, 0, 2, 0] {
            source.returned(now, low);
        }
        let result = source.packets(now); // 1 did not come, and 3 is not settled
        assert_eq!((result.sent, result.received), (4, 2));
        assert_eq!(result.loss_percent, Some(33.333333), "one of three");
        assert_eq!(source.echoes, (2, 7_000_000 + 9_000_000));
    }

    /// Packets carry only 32 bits of their number. In a long run an old packet must not be taken for a new one.
    #[test]
    fn numbers_go_on_beyond_32_bits() {
        let interval = Duration::from_micros(1);
        let far = Far::Echoes(Box::new(Last(None)));
        let pace = Pace { interval, packets: 1, len: 60, ecn: Ecn::NotEct, far };
        let mut source = Isochronous::new(Instant::ZERO, pace);
        (source.next, source.heard.next) = ((1 << 32) - 1, (1 << 32) - 1); // all before came
        source.measure_from(Instant::ZERO);
        let low = [source.send(), source.send(), source.send()];
        assert_eq!(low, [u32::MAX, 0, 1]);
        let home = source.sent_at(1 << 32) + Duration::from_millis(5);
        source.returned(home, 0);
        assert_eq!(source.echoes, (1, 5_000_000));
        let result = source.packets(home); // the third is not settled
        assert_eq!((result.sent, result.received, result.loss_percent), (3, 1, Some(50.0)));
    }

    /// A packet per ms. The first two take 2 ms each, and then nothing comes any more. At 12 ms the packets that were
    /// sent before 12 - 3 * 2 = 6 ms are lost: numbers 2 to 5. The last one that arrived must not be the last one that
    /// counts.
    #[test]
    fn a_silence_is_loss() {
        let far = Far::Echoes(Box::new(Last(None)));
        let interval = Duration::from_millis(1);
        let mut source =
            Isochronous::new(Instant::ZERO, Pace { interval, packets: 1, len: 60, ecn: Ecn::NotEct, far });
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        assert_eq!((source.packets(at(0)).loss_percent, source.undone()), (None, Undone::default()));
        (0..12).for_each(|_| _ = source.send());
        let never_started = Undone { never_started: 1, unfinished: 0 };
        assert_eq!((source.packets(at(12)).loss_percent, source.undone()), (Some(100.0), never_started));
        source.returned(at(2), 0);
        source.returned(at(3), 1);
        let result = source.packets(at(12));
        assert_eq!(
            (result.sent, result.received, result.loss_percent),
            (12, 2, Some(66.666_667)),
            "four of six"
        );
        assert_eq!(source.undone(), Undone::default());
    }
}
