//! Datagrams at fixed times: `cbr` one way, `ping` there and back.

use crate::probe::delay::FlowDelays;
use goodqueue_units::{Duration, Instant};

/// A source that sends packet `n` at `start + n * interval`, so that a packet's number tells when it was sent.
pub(crate) struct Isochronous {
    start: Instant,
    stop: Instant,
    /// Time for `per` packets: a rate seldom is a whole number of nanoseconds a packet.
    interval: Duration,
    per: u64,
    pub(crate) len: u16,
    /// Whether the other side sends each packet back.
    pub(crate) echoes: bool,
    /// The number of the next packet.
    next: u32,
    /// Bytes that arrived at the far side.
    pub(crate) received_bytes: u64,
    /// Packets that arrived where they are counted: at the far side, or back home.
    pub(crate) received: u64,
    /// Round-trip times of echoes.
    pub(crate) rtt: FlowDelays,
}

impl Isochronous {
    /// A source of `per` packets of `len` bytes each `interval`.
    pub(crate) fn new(
        start: Instant,
        stop: Instant,
        interval: Duration,
        per: u64,
        len: u16,
        echoes: bool,
    ) -> Self {
        let rtt = FlowDelays::for_flow();
        Self { start, stop, interval, per, len, echoes, next: 0, received_bytes: 0, received: 0, rtt }
    }

    /// When packet `number` is sent.
    fn sent_at(&self, number: u32) -> Instant {
        let nanos = u128::from(self.interval.as_nanos()) * u128::from(number) / u128::from(self.per);
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// When the next packet is sent; [`Instant::MAX`]: no more are.
    pub(crate) fn next_time(&self) -> Instant {
        let time = self.sent_at(self.next);
        if time < self.stop { time } else { Instant::MAX }
    }

    /// Sends the next packet: its number.
    pub(crate) fn send(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Packets sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.next.into()
    }

    /// Packet `number` arrived at the far side; whether it is to be sent back.
    pub(crate) fn arrived(&mut self) -> bool {
        self.received_bytes += u64::from(self.len);
        self.received += u64::from(!self.echoes);
        self.echoes
    }

    /// The echo of packet `number` came home at `now`.
    pub(crate) fn returned(&mut self, now: Instant, number: u32) {
        self.received += 1;
        self.rtt.record(now.since(self.sent_at(number)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_is_no_whole_number_of_nanoseconds_a_packet_does_not_drift() {
        // 1514 bytes at 7 Mbit/s: 1 730 285.714... ns a packet; 7000 packets take 12 112 000 000 ns exactly.
        let interval = Duration::from_nanos(1514 * 8 * 1_000_000_000);
        let mut source = Isochronous::new(Instant::ZERO, Instant::MAX, interval, 7_000_000, 1514, false);
        assert_eq!(source.next_time(), Instant::ZERO);
        assert_eq!((0..7000).map(|_| source.send()).last(), Some(6999));
        assert_eq!(source.next_time(), Instant::from_nanos(12_112_000_000));
    }
}
