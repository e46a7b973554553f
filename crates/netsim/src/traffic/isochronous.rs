//! Datagrams at fixed times: `cbr` one way, `ping` there and back, `voip` one way with somebody who listens.

use super::voip::Listener;
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::percent;
use crate::probe::series::EchoLog;
use crate::record::AppResult;
use goodqueue_units::{Duration, Ecn, Instant};
use serde::Serialize;

/// A source that sends packet `n` at `start + n * interval`, so that a packet's number tells when it was sent.
pub(crate) struct Isochronous {
    start: Instant,
    /// Time for `per` packets: a rate seldom is a whole number of nanoseconds a packet.
    interval: Duration,
    per: u64,
    pub(crate) len: u16,
    pub(crate) ecn: Ecn,
    /// What the other side does with a packet.
    far: Far,
    /// The number of the next packet.
    next: u64,
    /// Bytes that arrived at the far side.
    pub(crate) received_bytes: u64,
    /// The number of the first packet that is measured, how many of those came back (or, of a call, arrived), and the last
    /// that did.
    first_measured: u64,
    returned: u64,
    last_returned: Option<u64>,
    /// Round-trip times of echoes.
    pub(crate) rtt: FlowDelays,
    /// Each echo, or each packet that was heard, if the scenario asks for time series.
    pub(crate) log: Option<EchoLog>,
    /// Their number and sum in ns since the run began.
    pub(crate) echoes: (u64, u128),
}

/// What the other side does with a packet.
pub(crate) enum Far {
    /// It takes it.
    Takes,
    /// It sends it back.
    Echoes,
    /// It hears it, and measures.
    Listens(Box<Listener>),
}

/// The packets of a ping that were sent within the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PingResult {
    /// Round-trip times.
    pub rtt_ms: Option<Summary>,
    /// Packets sent.
    pub sent: u64,
    /// Packets that came back.
    pub received: u64,
    /// Those that did not come back, of the packets up to the last that did; all, if none did.
    pub loss_percent: f64,
}

impl Isochronous {
    /// A source of `per` packets of `len` bytes each `interval`.
    pub(crate) fn new(start: Instant, interval: Duration, per: u64, len: u16, ecn: Ecn, far: Far) -> Self {
        Self {
            start,
            interval,
            per,
            len,
            ecn,
            far,
            next: 0,
            received_bytes: 0,
            first_measured: 0,
            returned: 0,
            last_returned: None,
            rtt: FlowDelays::new(),
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
        self.rtt.reset();
        if let Far::Listens(listener) = &mut self.far {
            listener.reset();
        }
    }

    /// The packet that carries `low` arrived at the far side at `now`; whether it is to be sent back.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Instant, low: u32) -> bool {
        self.received_bytes += u64::from(self.len);
        match self.far {
            Far::Takes => false,
            Far::Echoes => true,
            Far::Listens(_) => {
                self.heard(now, low);
                false
            }
        }
    }

    fn heard(&mut self, now: Instant, low: u32) {
        let number = self.number(low);
        let sent_at = self.sent_at(number);
        let delay = now.since(sent_at);
        if let Some(log) = &mut self.log {
            log.record(number, sent_at, delay);
        }
        if let Far::Listens(listener) = &mut self.far
            && number >= self.first_measured
        {
            self.returned += 1;
            self.last_returned = self.last_returned.max(Some(number));
            listener.heard(delay);
        }
    }

    /// The number of the packet sent last that carries `low`.
    fn number(&self, low: u32) -> u64 {
        let last_sent = self.next - 1;
        last_sent - u64::from((last_sent as u32).wrapping_sub(low))
    }

    /// The echo of the packet that carries `low` came home at `now`.
    pub(crate) fn returned(&mut self, now: Instant, low: u32) {
        let number = self.number(low);
        let sent_at = self.sent_at(number);
        let rtt = now.since(sent_at);
        self.echoes = (self.echoes.0 + 1, self.echoes.1 + u128::from(rtt.as_nanos()));
        if let Some(log) = &mut self.log {
            log.record(number, sent_at, rtt);
        }
        if number >= self.first_measured {
            self.returned += 1;
            self.last_returned = self.last_returned.max(Some(number));
            self.rtt.record(rtt);
        }
    }

    /// What it measured, if its kind measures.
    pub(crate) fn result(&self) -> Option<AppResult> {
        match &self.far {
            Far::Takes => None,
            Far::Echoes => Some(AppResult::Ping(self.ping())),
            Far::Listens(listener) => Some(AppResult::Voip(listener.result(self.ping()))),
        }
    }

    /// What became of the packets sent since measuring began.
    fn ping(&self) -> PingResult {
        let sent = self.next - self.first_measured;
        let settled = self.last_returned.map_or(sent, |last| last + 1 - self.first_measured);
        PingResult {
            rtt_ms: self.rtt.summary(),
            sent,
            received: self.returned,
            loss_percent: percent(settled - self.returned, settled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_is_no_whole_number_of_nanoseconds_a_packet_does_not_drift() {
        // 1514 bytes at 7 Mbit/s: 1 730 285.714... ns a packet; 7000 packets take 12 112 000 000 ns exactly.
        let interval = Duration::from_nanos(1514 * 8 * 1_000_000_000);
        let mut source = Isochronous::new(Instant::ZERO, interval, 7_000_000, 1514, Ecn::NotEct, Far::Takes);
        assert_eq!(source.next_time(), Instant::ZERO);
        assert_eq!((0..7000).map(|_| source.send()).last(), Some(6999));
        assert_eq!(source.next_time(), Instant::from_nanos(12_112_000_000));
    }

    /// Packets carry 32 bits of their number: a long run must not take an old one for a new one.
    #[test]
    fn numbers_go_on_beyond_32_bits() {
        let interval = Duration::from_micros(1);
        let mut source = Isochronous::new(Instant::ZERO, interval, 1, 60, Ecn::NotEct, Far::Echoes);
        source.next = (1 << 32) - 1;
        source.measure_from_now();
        let low = [source.send(), source.send(), source.send()];
        assert_eq!(low, [u32::MAX, 0, 1]);
        let home = source.sent_at(1 << 32) + Duration::from_millis(5);
        source.returned(home, 0);
        assert_eq!(source.rtt.summary().map(|rtt| rtt.p50), Some(5.0));
        let result = source.ping(); // the third is not settled
        assert_eq!((result.sent, result.received, result.loss_percent), (3, 1, 50.0));
    }
}
