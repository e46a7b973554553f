//! Pacing: when the next packet may leave. TCP waits for that time itself, or the queue of its host does (`fq`): then
//! each packet goes down at once, with its earliest departure time (Linux since 4.20; `tcp_update_skb_after_send` in
//! net/ipv4/tcp_output.c). `fq` paces every TCP socket of its host so, whatever its congestion control
//! (`SK_PACING_FQ`, which `fq_classify` in net/sched/sch_fq.c sets).
//!
//! A packet of several segments (`offload`) leaves at once. The next one leaves when its payload has been made up for
//! at the pacing rate. The first ten segments of a connection are not paced.

use crate::Window;
use goodqueue_units::{Duration, Instant, Rate};

/// Segments with data that a connection sends before pacing starts.
const UNPACED: u64 = 10;

/// Release times of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// When the next packet may leave: Linux's earliest departure time.
    release: Instant,
    /// When the present packet could leave, and how late that was. Up to half of its transmission time is made good.
    begun: Instant,
    late: Duration,
    /// The payload bytes of the present packet so far.
    bytes: u32,
    /// When a packet that waits for the release may leave, or [`Instant::MAX`] if none waits.
    deadline: Instant,
    /// The departure time of the present packet, if the queue of the host waits for it.
    departure: Option<Instant>,
}

impl Default for Pacer {
    fn default() -> Self {
        Self {
            release: Instant::ZERO,
            begun: Instant::ZERO,
            late: Duration::ZERO,
            bytes: 0,
            deadline: Instant::MAX,
            departure: None,
        }
    }
}

impl Pacer {
    /// Builds the pacer of a connection whose host's queue does the waiting.
    pub(crate) fn of_queue() -> Self {
        Self { departure: Some(Instant::ZERO), ..Self::default() }
    }

    /// Returns when the queue of the host may send the present packet, if it waits for that time.
    pub(crate) fn departure(&self) -> Option<Instant> {
        self.departure
    }

    /// Begins a packet at `now`.
    pub(crate) fn begin_packet(&mut self, now: Instant) {
        self.late = now.since(self.release);
        self.release = self.release.max(now);
        (self.begun, self.bytes) = (self.release, 0);
        if let Some(departure) = &mut self.departure {
            *departure = self.release;
        }
    }

    /// Returns when the next packet may leave.
    pub(crate) fn release(&self) -> Instant {
        self.release
    }

    /// Returns when a packet that was held back may leave, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether a packet may leave now. If not, sets the deadline to the time at which it may.
    pub(crate) fn may_send(&mut self, now: Instant) -> bool {
        if self.departure.is_some() {
            return true;
        }
        self.deadline = if now < self.release { self.release } else { Instant::MAX };
        now >= self.release
    }

    /// Takes note that a segment of `len` payload bytes leaves in the present packet, the connection's `count`th. Linux
    /// makes up for a packet as a whole, in whole nanoseconds (`tcp_update_skb_after_send`).
    pub(crate) fn on_sent(&mut self, len: u16, count: u64, rate: Option<Rate>) {
        self.bytes += u32::from(len);
        if let Some(rate) = rate.filter(|_| count >= UNPACED) {
            let time = rate.transmission_time(self.bytes);
            self.release = self.begun + (time - (time / 2).min(self.late));
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if now >= self.deadline {
            self.deadline = Instant::MAX;
        }
    }
}

/// A pacing rate kept as a fraction, because most callers only compare it. They do so several times per segment, and a
/// division would take as long as everything else there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The rate in bits per second, times `eighths`.
    product: u64,
    /// Eighths of a microsecond.
    eighths: u64,
}

impl Pace {
    /// Returns the congestion control's rate, or else the usual one: 1.2 windows per round trip, and 2 windows while
    /// slow start is far from its end, so that it can double (Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`).
    /// `srtt_x8` is in eighths of a microsecond.
    #[inline]
    pub(crate) fn of(window: &Window, packets_out: u32, srtt_x8: Option<u64>, mss: u16) -> Option<Self> {
        if let Some(rate) = window.pacing_rate {
            return Some(Self { product: rate.as_bps(), eighths: 1 });
        }
        let tenths = if window.cwnd < window.ssthresh / 2 { 20 } else { 12 };
        let bits = 8 * u64::from(mss) * u64::from(window.cwnd.max(packets_out)) * tenths;
        Some(Self { product: bits.saturating_mul(800_000), eighths: srtt_x8?.max(1) })
    }

    /// Returns whether the rate is less than `bps` bits per second.
    #[inline]
    pub(crate) fn is_below(self, bps: u64) -> bool {
        self.product < bps.saturating_mul(self.eighths)
    }

    /// Returns the rate in whole bytes per second, as Linux has it, or `None` if it is less than one.
    pub(crate) fn rate(self) -> Option<Rate> {
        Rate::from_bps((self.product / self.eighths) & !7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// 1250 bytes at 10 Mbit/s take 1 ms. Guards against no wait behind a packet of two segments, or a wait only for
    /// the second.
    #[test]
    fn the_next_packet_leaves_when_the_rate_has_made_up_for_the_last() {
        let rate = Rate::from_bps(10_000_000);
        let mut pacer = Pacer::default();
        assert!(pacer.may_send(at(0)));
        pacer.begin_packet(at(0));
        pacer.on_sent(1250, 10, rate);
        pacer.on_sent(1250, 11, rate);
        assert!(!pacer.may_send(at(1999)));
        assert_eq!((pacer.release(), pacer.deadline()), (at(2000), at(2000)));
        assert!(pacer.may_send(at(2000)) && pacer.deadline() == Instant::MAX);
    }

    /// Linux: a packet that left late makes its lateness good, but the next one waits at least half its time.
    #[test]
    fn lateness_is_made_good_up_to_half_a_packet() {
        let rate = Rate::from_bps(10_000_000);
        for (late_us, next_us) in [(300, 1000), (500, 1000), (9000, 9500)] {
            let mut pacer = Pacer::default();
            pacer.begin_packet(at(late_us));
            pacer.on_sent(1250, 10, rate);
            assert_eq!(pacer.release(), at(next_us));
        }
    }

    /// Linux with `fq`: a packet goes down at once, with the time at which the packet before it is made up for. All its
    /// segments have that time. Guards against a wait in TCP, and a time that is past.
    #[test]
    fn with_a_queue_that_waits_packets_leave_at_once_with_departure_times() {
        let rate = Rate::from_bps(10_000_000);
        let mut pacer = Pacer::of_queue();
        let mut send = |now: u64, segments: u64| {
            assert!(pacer.may_send(at(now)) && pacer.deadline() == Instant::MAX);
            pacer.begin_packet(at(now));
            (0..segments).for_each(|_| pacer.on_sent(1250, 20, rate));
            pacer.departure().unwrap_or(Instant::MAX)
        };
        // The first leaves 0.1 ms after it could, which is made good.
        assert_eq!([send(100, 2), send(100, 1), send(2200, 1)], [100, 2000, 3000].map(at));
        assert_eq!(send(9000, 1), at(9000), "5 ms late, of which half a packet is made good");
        assert_eq!(send(9000, 1), at(9500));
    }

    #[test]
    fn the_first_nine_segments_cost_no_time() {
        let rate = Rate::from_bps(10_000_000);
        let mut pacer = Pacer::default();
        for count in 1..=9 {
            assert!(pacer.may_send(at(0)));
            pacer.begin_packet(at(0));
            pacer.on_sent(1250, count, rate);
        }
        assert_eq!(pacer.release(), at(0));
    }

    /// 10 segments of 1000 bytes in 100 ms are 800 kbit/s: doubled in slow start, times 1.2 after it.
    #[test]
    fn the_usual_rate_is_twice_or_one_and_a_fifth_of_the_window_a_round_trip() {
        let rtt = Some(8 * 100_000);
        let window = |ssthresh| Window { ssthresh, ..Window::new(&Config::default()) };
        let rate = |ssthresh, out| Pace::of(&window(ssthresh), out, rtt, 1000).and_then(Pace::rate);
        assert_eq!(rate(22, 10), Rate::from_bps(1_600_000));
        assert_eq!(rate(20, 10), Rate::from_bps(960_000));
        assert_eq!(rate(20, 15), Rate::from_bps(1_440_000));
        assert!(Pace::of(&window(20), 10, None, 1000).is_none());
    }

    /// 64 000 bits in 3 µs are 21 333 333 333.3 bit/s, or 2 666 666 666 whole bytes per second.
    #[test]
    fn a_rate_is_below_the_next_whole_number_and_not_below_itself() {
        let pace = Pace { product: 64_000_000_000, eighths: 3 };
        let bps = pace.rate().map_or(0, Rate::as_bps);
        assert_eq!(bps, 21_333_333_328);
        assert!(pace.is_below(bps + 8) && !pace.is_below(bps));
    }
}
