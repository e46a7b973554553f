//! Datagrams at fixed times, and what becomes of them: the machine below `cbr`, `ping` and `voip`.

use super::result;
use crate::probe::{percent, rounded};
use crate::scenario::key::{AnyKey, Result, Table, Values};
use crate::scenario::{EcnAsked, FRAME_BYTES, refuse};
use crate::traffic::tcp::{DSCP, ECN};
use goodqueue_tcp::EcnMode;
use goodqueue_units::{Duration, Ecn, Instant};
use std::collections::BTreeSet;

/// The smallest Ethernet frame, without its checksum, and a full one.
pub(crate) const FRAME: (u64, u64) = (60, FRAME_BYTES as u64);

/// The keys that these kinds share.
pub(crate) const DATAGRAM_KEYS: &[&dyn AnyKey] = &[&ECN, &DSCP];

/// Datagrams have no feedback.
pub(crate) fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    let ecn = values.find(&ECN).unwrap_or_default();
    if ecn == EcnAsked(EcnMode::Accurate) {
        return refuse(&table.key("ecn"), ecn, "false or true: datagrams have no feedback");
    }
    values.put(&ECN, ecn);
    Ok(())
}

/// What the datagrams' IP headers say.
pub(crate) fn ecn_of(values: &Values) -> Ecn {
    if values.get(&ECN).0 == EcnMode::Off { Ecn::NotEct } else { Ecn::Ect0 }
}

/// How a kind sends, and who hears it.
pub(crate) struct Pace {
    /// Time for so many `packets`: a rate seldom is a whole number of nanoseconds a packet.
    pub(crate) interval: Duration,
    pub(crate) packets: u64,
    /// Bytes of each as `tc` counts them.
    pub(crate) len: u16,
    pub(crate) ecn: Ecn,
    pub(crate) far: Far,
}

/// What the other side does with a packet.
pub(crate) enum Far {
    /// It takes it.
    Takes,
    /// It sends it back, and the sender measures.
    Echoes(Box<dyn Listener>),
    /// It hears it, and measures.
    Listens(Box<dyn Listener>),
}

/// Who measures how long packets took: a round trip, or one way.
pub(crate) trait Listener: Send + Sync {
    /// Measuring begins.
    fn reset(&mut self);
    /// A packet that was sent within the measured time took `time`.
    fn took(&mut self, time: Duration);
    /// Returns what was measured, given what became of the packets.
    fn result(&self, packets: Packets) -> result::Result;
    /// Returns what was kept of the flow `name`, for the record's time series.
    fn series(&self, name: &str, log: &Log) -> result::Series;
}

/// What became of the packets that were sent within the measured time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packets {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Those that did not come, of the packets up to the last that did; all, if none did.
    pub(crate) loss_percent: f64,
}

/// Each packet that came back, or was heard: its number, when it was sent, and how long it took.
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

/// Which packets have come. A wire may bring one twice, and out of order.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// The number after the highest that came.
    next: u64,
    /// Those below it that did not come.
    missing: BTreeSet<u64>,
}

impl Heard {
    /// Notes `number`; whether it is the first time.
    fn is_new(&mut self, number: u64) -> bool {
        if number < self.next {
            return self.missing.remove(&number);
        }
        self.missing.extend(self.next..number);
        self.next = number + 1;
        true
    }
}

/// A source that sends packet `n` at `start + n * interval / packets`, so that a packet's number tells when it was
/// sent.
pub(crate) struct Isochronous {
    start: Instant,
    interval: Duration,
    per: u64,
    pub(crate) len: u16,
    pub(crate) ecn: Ecn,
    far: Far,
    /// The number of the next packet.
    next: u64,
    /// Bytes that arrived at the far side.
    pub(crate) received_bytes: u64,
    /// The number of the first packet that is measured, how many of those came back (or, of a call, arrived), and the
    /// last that did.
    first_measured: u64,
    returned: u64,
    last_returned: Option<u64>,
    heard: Heard,
    /// Each packet that came back or was heard, if the scenario asks for time series.
    log: Option<Log>,
    /// Number of echoes, and the sum of their times in ns, since the run began.
    pub(crate) echoes: (u64, u128),
}

impl Isochronous {
    /// A source that begins at `start`.
    pub(crate) fn new(start: Instant, pace: Pace) -> Self {
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
            heard: Heard::default(),
            log: None,
            echoes: (0, 0),
        }
    }

    /// When packet `number` is sent.
    fn sent_at(&self, number: u64) -> Instant {
        let nanos = u128::from(self.interval.as_nanos()) * u128::from(number) / u128::from(self.per);
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// When the next packet is sent.
    pub(crate) fn next_time(&self) -> Instant {
        self.sent_at(self.next)
    }

    /// Sends the next packet: the low bits of its number, which are what it carries.
    pub(crate) fn send(&mut self) -> u32 {
        self.next += 1;
        (self.next - 1) as u32
    }

    /// Measuring begins.
    pub(crate) fn measure_from_now(&mut self) {
        (self.first_measured, self.returned, self.last_returned) = (self.next, 0, None);
        if let Far::Echoes(listener) | Far::Listens(listener) = &mut self.far {
            listener.reset();
        }
    }

    /// Whether its packets come back.
    pub(crate) fn is_echoed(&self) -> bool {
        matches!(self.far, Far::Echoes(_))
    }

    /// The packet that carries `low` arrived at the far side at `now`; whether it is to be sent back.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Instant, low: u32) -> bool {
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

    /// The echo of the packet that carries `low` came home at `now`.
    pub(crate) fn returned(&mut self, now: Instant, low: u32) {
        if let Some(rtt) = self.settle(now, low) {
            self.echoes = (self.echoes.0 + 1, self.echoes.1 + u128::from(rtt.as_nanos()));
        }
    }

    /// The packet that carries `low` has come to whoever measures; how long it took, unless it came before.
    fn settle(&mut self, now: Instant, low: u32) -> Option<Duration> {
        let number = self.number(low);
        if !self.heard.is_new(number) {
            return None;
        }
        let sent_at = self.sent_at(number);
        let time = now.since(sent_at);
        if let Some(Log(log)) = &mut self.log {
            log.push((number, sent_at, time));
        }
        if let Far::Echoes(listener) | Far::Listens(listener) = &mut self.far
            && number >= self.first_measured
        {
            self.returned += 1;
            self.last_returned = self.last_returned.max(Some(number));
            listener.took(time);
        }
        Some(time)
    }

    /// The number of the packet sent last that carries `low`.
    fn number(&self, low: u32) -> u64 {
        let last_sent = self.next - 1;
        last_sent - u64::from((last_sent as u32).wrapping_sub(low))
    }

    /// What it measured, if its kind measures.
    pub(crate) fn result(&self) -> Option<result::Result> {
        match &self.far {
            Far::Takes => None,
            Far::Echoes(listener) | Far::Listens(listener) => Some(listener.result(self.packets())),
        }
    }

    /// Keeps each packet from now on, if its kind measures.
    pub(crate) fn log(&mut self) {
        self.log = (!matches!(self.far, Far::Takes)).then(Log::default);
    }

    /// What was kept of the flow `name`, if anything.
    pub(crate) fn series(&self, name: &str) -> Option<result::Series> {
        match (&self.far, &self.log) {
            (Far::Echoes(listener) | Far::Listens(listener), Some(log)) => Some(listener.series(name, log)),
            _ => None,
        }
    }

    /// What became of the packets sent since measuring began.
    fn packets(&self) -> Packets {
        let sent = self.next - self.first_measured;
        let settled = self.last_returned.map_or(sent, |last| last + 1 - self.first_measured);
        let loss_percent = percent(settled - self.returned, settled);
        Packets { sent, received: self.returned, loss_percent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What took how long last.
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
        // 1514 bytes at 7 Mbit/s: 1 730 285.714... ns a packet; 7000 packets take 12 112 000 000 ns exactly.
        let interval = Duration::from_nanos(1514 * 8 * 1_000_000_000);
        let pace = Pace { interval, packets: 7_000_000, len: 1514, ecn: Ecn::NotEct, far: Far::Takes };
        let mut source = Isochronous::new(Instant::ZERO, pace);
        assert_eq!(source.next_time(), Instant::ZERO);
        assert_eq!((0..7000).map(|_| source.send()).last(), Some(6999));
        assert_eq!(source.next_time(), Instant::from_nanos(12_112_000_000));
    }

    /// What a wire duplicates would else be received more often than sent.
    #[test]
    fn a_packet_that_comes_twice_counts_once() {
        let far = Far::Echoes(Box::new(Last(None)));
        let interval = Duration::from_millis(1);
        let mut source =
            Isochronous::new(Instant::ZERO, Pace { interval, packets: 1, len: 60, ecn: Ecn::NotEct, far });
        (0..4).for_each(|_| _ = source.send());
        let now = Instant::from_nanos(9_000_000);
        [2, 2, 0, 2, 0].into_iter().for_each(|low| source.returned(now, low));
        let result = source.packets(); // 1 did not come, and 3 is not settled
        assert_eq!((result.sent, result.received), (4, 2));
        assert_eq!(result.loss_percent, 33.333333, "one of three");
        assert_eq!(source.echoes, (2, 7_000_000 + 9_000_000));
    }

    /// Packets carry 32 bits of their number: a long run must not take an old one for a new one.
    #[test]
    fn numbers_go_on_beyond_32_bits() {
        let interval = Duration::from_micros(1);
        let far = Far::Echoes(Box::new(Last(None)));
        let pace = Pace { interval, packets: 1, len: 60, ecn: Ecn::NotEct, far };
        let mut source = Isochronous::new(Instant::ZERO, pace);
        (source.next, source.heard.next) = ((1 << 32) - 1, (1 << 32) - 1); // all before came
        source.measure_from_now();
        let low = [source.send(), source.send(), source.send()];
        assert_eq!(low, [u32::MAX, 0, 1]);
        let home = source.sent_at(1 << 32) + Duration::from_millis(5);
        source.returned(home, 0);
        assert_eq!(source.echoes, (1, 5_000_000));
        let result = source.packets(); // the third is not settled
        assert_eq!((result.sent, result.received, result.loss_percent), (3, 1, 50.0));
    }
}
