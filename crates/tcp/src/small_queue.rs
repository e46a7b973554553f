//! TCP small queues: what one connection may have in the queues of its own host, in the discipline of its interface and
//! in the driver's ring.
//!
//! Linux counts the memory of the packets that a connection has handed down and that the driver has not freed yet
//! (`sk_wmem_alloc`). A connection at its limit waits until one of them is freed (`tcp_small_queue_check` in
//! net/ipv4/tcp_output.c; `tcp_wfree`). Four rules followed each other: 128 kB (3.6), at least 128 kB (3.13), what the
//! pacing rate carries in a millisecond (3.19; a driver can ask for more time, as Wi-Fi's do since 4.16), and at most 4
//! MiB of that, paced or not (6.16). The last two let two packets out in any case, and a packet behind which nothing
//! else is out.

use alloc::collections::VecDeque;
use goodqueue_units::Rate;

/// `tcp_limit_output_bytes` of 3.6 and of 3.13.
const LIMIT_OUTPUT_BYTES: u64 = 131_072;
/// `tcp_limit_output_bytes` since 4.20: only for connections that are not paced.
const MOST_UNPACED_BYTES: u64 = 1 << 20;
/// `tcp_limit_output_bytes` since 6.16, for paced connections, too.
const MOST_BYTES: u64 = 4 << 20;
/// The memory of a packet beside its payload before 3.19 without segmentation offload: 1448 + 640 bytes do not fit
/// 2048, so the allocator gives 4096: 4096 + 256 - 1448.
const UNSPLIT_BYTES: u32 = 2904;

/// How the limit of a release follows from what it knows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmallQueueRule {
    Off,
    Linux3_6,
    Linux3_13,
    Linux3_19,
    Linux6_16,
}

impl SmallQueueRule {
    /// Returns the limit in bytes of memory, for packets of `packet_bytes` of memory. `rate` is the pacing rate, of
    /// which a share counts: one second's bytes, halved `shift` times.
    fn limit(self, packet_bytes: u64, rate: Option<Rate>, shift: u8, is_paced: bool) -> u64 {
        let share = |shift: u8| rate.map_or(0, |rate| rate.as_bps() / 8) >> shift.min(63);
        match self {
            Self::Off => u64::MAX,
            Self::Linux3_6 => LIMIT_OUTPUT_BYTES,
            Self::Linux3_13 => LIMIT_OUTPUT_BYTES.max(share(SmallQueues::PACING_SHIFT)),
            Self::Linux3_19 | Self::Linux6_16 => {
                let limit = share(shift).max(2 * packet_bytes);
                match self {
                    Self::Linux6_16 => limit.min(MOST_BYTES),
                    _ if is_paced => limit,
                    _ => limit.min(MOST_UNPACED_BYTES),
                }
            }
        }
    }

    /// Returns whether retransmissions wait too (since 4.10), and whether a packet with nothing before it never waits.
    fn is_modern(self) -> bool {
        matches!(self, Self::Linux3_19 | Self::Linux6_16)
    }
}

/// What a host's driver says to the small queues of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallQueues {
    /// The share of a second's bytes at the pacing rate that counts, as a power of a half (Linux `sk_pacing_shift`).
    pub pacing_shift: u8,
    /// Whether a packet of several segments is freed as a whole, after its last segment (segmentation offload).
    pub offload: bool,
}

impl SmallQueues {
    /// The usual share: 1/1024 s.
    pub const PACING_SHIFT: u8 = 10;
}

/// The packets of a connection in its host's queues.
#[derive(Clone, Debug)]
pub(crate) struct SmallQueue {
    rule: SmallQueueRule,
    /// The memory of a packet beside its payload.
    overhead_bytes: u32,
    of_host: SmallQueues,
    /// Bytes of memory that are freed with each segment in the queues, in the order in which they were sent.
    below: VecDeque<u32>,
    /// The sum of `below`.
    bytes: u64,
    /// Segments of the packet that was sent last.
    of_last: u32,
    /// The connection waits for memory to be freed.
    is_throttled: bool,
}

impl SmallQueue {
    /// Builds empty queues. `packet_bytes` is the memory of a packet beside its payload with segmentation offload.
    pub(crate) fn new(rule: SmallQueueRule, packet_bytes: u32, of_host: SmallQueues) -> Self {
        let overhead_bytes = if rule.is_modern() || of_host.offload { packet_bytes } else { UNSPLIT_BYTES };
        let below = VecDeque::new();
        Self { rule, overhead_bytes, of_host, below, bytes: 0, of_last: 0, is_throttled: false }
    }

    /// Returns whether each segment is a packet of its own, because the host has no segmentation offload.
    pub(crate) fn splits(&self) -> bool {
        !self.of_host.offload
    }

    /// Returns whether TCP makes packets of single segments then. The older releases are left as they were measured.
    pub(crate) fn makes_single(&self) -> bool {
        self.splits() && self.rule.is_modern()
    }

    /// Returns whether a packet of `segments` segments of `mss` bytes may leave. If not, the connection is throttled.
    /// `out` segments are out. `resends` is whether the packet was sent before.
    pub(crate) fn may_send(
        &mut self,
        (segments, mss): (u32, u16),
        rate: Option<Rate>,
        is_paced: bool,
        out: u32,
        resends: bool,
    ) -> bool {
        let Self { rule, overhead_bytes, of_host, .. } = *self;
        let segments = if of_host.offload { segments } else { 1 };
        let packet_bytes = u64::from(overhead_bytes) + u64::from(mss) * u64::from(segments);
        let limit = rule.limit(packet_bytes, rate, of_host.pacing_shift, is_paced);
        let fits = match resends {
            false => self.bytes < limit || rule.is_modern() && out <= self.of_last,
            true => !rule.is_modern() || self.bytes < limit.saturating_mul(2),
        };
        self.is_throttled = !fits;
        fits
    }

    /// Counts a segment of `len` bytes that goes into the host's queues. `is_first`: it begins a packet.
    pub(crate) fn on_sent(&mut self, len: u16, is_first: bool) {
        self.of_last = if is_first { 1 } else { self.of_last + 1 };
        let (mut own, mut more) = (u32::from(len), u32::from(len));
        match self.below.back_mut().filter(|_| !is_first && self.of_host.offload) {
            Some(before) => own += core::mem::take(before), // freed with the packet's last segment
            None => {
                own += self.overhead_bytes;
                more = own;
            }
        }
        self.below.push_back(own);
        self.bytes += u64::from(more);
    }

    /// Takes note that a segment left the host's queues: it was sent, or dropped there. Returns whether the connection
    /// waited for that, and may try again.
    pub(crate) fn on_freed(&mut self) -> bool {
        let freed = self.below.pop_front().unwrap_or(0);
        self.bytes -= u64::from(freed);
        freed > 0 && core::mem::take(&mut self.is_throttled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: SmallQueues = SmallQueues { pacing_shift: SmallQueues::PACING_SHIFT, offload: true };
    /// 1024 kB/s: 1000 bytes in 1/1024 s.
    const RATE: Option<Rate> = Rate::from_bps(8_192_000);

    /// Returns the memory of a packet beside its payload in the oldest release with `rule`.
    fn memory(rule: SmallQueueRule) -> u32 {
        let first = crate::Stack::ALL.iter().find(|stack| stack.era().sending.small_queue == rule);
        first.map_or(0, |stack| stack.era().sending.packet_memory)
    }

    /// Returns how many full segments, each a packet, a connection with the rule has in its host.
    fn held(rule: SmallQueueRule, of_host: SmallQueues, rate: Option<Rate>, is_paced: bool) -> usize {
        let mut queue = SmallQueue::new(rule, memory(rule), of_host);
        let packets = (1..).take_while(|out| {
            let may = queue.may_send((1, 1448), rate, is_paced, out + 10, false);
            if may {
                queue.on_sent(1448, true);
            }
            may
        });
        packets.take(100_000).count()
    }

    /// 131 072 / 2344 = 55.9 packets, of which the last may exceed the limit, and without offload 131 072 / 4352 =
    /// 30.1. Since 3.19 two packets fit at a low rate, and 8 MB / 1024 / 2728 = 2.9. Guards against a rule in another
    /// release's place, and a limit that is never met.
    #[test]
    fn each_release_lets_another_number_of_packets_out() {
        let fast = Rate::from_bps(64_000_000);
        for rule in [SmallQueueRule::Linux3_6, SmallQueueRule::Linux3_13] {
            assert_eq!(held(rule, USUAL, fast, false), 56);
            assert_eq!(held(rule, SmallQueues { offload: false, ..USUAL }, fast, false), 31);
        }
        let very_fast = Rate::from_bps(8 * 1024 * 234_400);
        assert_eq!(held(SmallQueueRule::Linux3_13, USUAL, very_fast, false), 100);
        assert_eq!(held(SmallQueueRule::Linux3_19, USUAL, RATE, false), 2);
        assert_eq!(held(SmallQueueRule::Linux3_19, USUAL, fast, false), 3);
        assert_eq!(held(SmallQueueRule::Off, USUAL, fast, false), 100_000);
    }

    /// 64 Mbit/s are 62.5 kB in 1/128 s: 22.9 packets. Only a connection that is not paced has at most a mebibyte.
    #[test]
    fn a_driver_may_ask_for_more_time_and_unpaced_connections_have_an_upper_limit() {
        let wifi = SmallQueues { pacing_shift: 7, ..USUAL };
        assert_eq!(held(SmallQueueRule::Linux3_19, wifi, Rate::from_bps(64_000_000), false), 23);
        let (first, rate) = (SmallQueues { pacing_shift: 0, ..USUAL }, Rate::from_bps(8 * 2_728_000));
        assert_eq!(held(SmallQueueRule::Linux3_19, first, rate, false), 385);
        assert_eq!(held(SmallQueueRule::Linux3_19, first, rate, true), 1000);
        let rate = Rate::from_bps(8 << 23);
        let of_7_3 = |is_paced| held(SmallQueueRule::Linux6_16, first, rate, is_paced);
        assert_eq!([of_7_3(false), of_7_3(true)], [1742; 2], "4 MiB of 2408 bytes are 1741.8 packets");
    }

    /// A packet of three segments is one piece of memory until the last has left. Without offload each is one.
    #[test]
    fn memory_is_freed_as_packets_are() {
        for (offload, sum, freed) in [(true, 1280 + 300, [1580, 1580, 0]), (false, 4140, [2760, 1380, 0])] {
            let mut queue =
                SmallQueue::new(SmallQueueRule::Linux3_19, 1280, SmallQueues { offload, ..USUAL });
            (0..3).for_each(|number| queue.on_sent(100, number == 0));
            assert_eq!(queue.bytes, sum);
            let left = freed.map(|_| {
                queue.on_freed();
                queue.bytes
            });
            assert_eq!(left, freed);
            assert!(!queue.on_freed(), "a copy of a packet was never counted");
        }
    }

    /// Guards against a connection that nobody wakes, or that is woken without need.
    #[test]
    fn only_a_throttled_connection_is_woken_and_only_once() {
        let mut queue = SmallQueue::new(SmallQueueRule::Linux3_19, 1280, USUAL);
        (0..3).for_each(|_| queue.on_sent(1448, true));
        assert!(!queue.on_freed(), "it did not wait");
        assert!(!queue.may_send((1, 1448), RATE, false, 3, false));
        assert!(queue.on_freed());
        assert!(!queue.on_freed());
    }

    /// Guards against a retransmission or a lone packet that waits behind what the host has queued, and against
    /// retransmissions without a limit.
    #[test]
    fn retransmissions_have_twice_the_room_and_nothing_waits_behind_a_lone_packet() {
        let mut queue = SmallQueue::new(SmallQueueRule::Linux3_19, 1280, USUAL);
        (0..2).for_each(|_| queue.on_sent(1448, true));
        assert!(!queue.may_send((1, 1448), RATE, false, 2, false));
        assert!(
            queue.may_send((1, 1448), RATE, false, 2, true)
                && queue.may_send((1, 1448), RATE, false, 1, false)
        );
        (0..2).for_each(|_| queue.on_sent(1448, true));
        assert!(!queue.may_send((1, 1448), RATE, false, 4, true));
        let mut old = SmallQueue::new(SmallQueueRule::Linux3_6, 896, USUAL);
        (0..60).for_each(|_| old.on_sent(1448, true));
        assert!(
            old.may_send((1, 1448), RATE, false, 60, true) && !old.may_send((1, 1448), RATE, false, 1, false)
        );
    }
}
