//! What an application has written and the peer has not acknowledged, as Linux keeps it.
//!
//! Data waits in packets for segmentation offload, each of which has as many full segments as 64 KiB or half of the
//! peer's window hold. A packet that leaves in parts becomes several packets. Linux counts the memory of all of them:
//! their payload, and a fixed amount for each packet. The application hands over at most 256 KiB at a time, as the
//! hosts of the kernel engine do. Linux takes them packet by packet until the memory reaches the size of the buffer,
//! which the last packet may exceed. Then the application waits until a third of the buffer is free
//! (`sk_stream_is_writeable`). While it waits, the buffer grows to hold two congestion windows of segments that each
//! take memory of their own, or three for a model-based congestion control (`tcp_sndbuf_expand`). The last number of
//! `tcp_wmem` is its limit.
//!
//! A packet is marked with PSH if it ends what was handed over, or if half of the peer's window was written since the
//! last mark (`forced_push`). The last segment of a marked packet carries PSH.

use crate::config::Buffer;
use crate::receive_window::OPTIONS;
use crate::{Config, SeqNumber};
use alloc::collections::VecDeque;

/// Bytes for the headers of a packet and for the structure behind them, in the memory that Linux expects of a segment.
const HEAD: u32 = 320 + 320;
/// Bytes of the structure that describes a packet.
const DESCRIPTION: u32 = 256;
/// The buffer holds at least this number of segments (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u32 = 10;
/// The most bytes that the application hands over at a time.
const MOST_HANDED: u64 = 256 << 10;
/// The largest packet in bytes, less the room for headers that Linux leaves.
pub(crate) const MOST_BYTES: u32 = 65_536 - 1 - 320;
/// The buffer of a sender that has no limit: it grows with the congestion window.
const UNLIMITED: Buffer = Buffer { first: Buffer::WMEM.first, most: 1 << 31 };

/// Data that waits to be sent in one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsent {
    pub(crate) bytes: u32,
    /// Its last segment carries PSH.
    pub(crate) push: bool,
}

/// What the sender tells of itself when the application writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The first byte that the peer has not acknowledged.
    pub(crate) una: SeqNumber,
    /// The first byte that was not sent.
    pub(crate) nxt: SeqNumber,
    /// Packets for segmentation offload that were sent and not acknowledged.
    pub(crate) packets: u32,
    /// Bytes written and not sent.
    pub(crate) unsent: u32,
    /// Payload bytes of a full segment.
    pub(crate) mss: u32,
}

/// What the application waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// It has written all.
    Idle,
    /// It waits for room in the buffer.
    Waits,
    /// It writes, as soon as all that may leave has left.
    Writes,
}

/// What Linux sends after it took a part of what the application hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// Nothing more is taken now.
    Nothing,
    /// One packet, even if it could be longer later (`tcp_push_one`).
    One,
    /// All that may leave.
    All,
}

/// What became of one packet that the application wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Bytes that were taken.
    pub(crate) bytes: u32,
    pub(crate) app: App,
    pub(crate) push: Push,
}

/// The bytes that the application hands over in one call.
#[derive(Clone, Copy, Debug)]
struct Call {
    left: u64,
    /// Some of them were taken.
    taken: bool,
    /// The most bytes of a packet.
    goal: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct WriteQueue {
    /// The packets behind the first, which the sender keeps itself.
    behind: VecDeque<Unsent>,
    /// The size of the buffer in bytes of memory.
    size: u64,
    /// The limit of its size.
    most: u64,
    /// The application writes while fewer bytes wait unsent.
    unsent_limit: u32,
    /// Bytes of memory of a packet beside its payload.
    overhead: u32,
    /// The most bytes of a packet that has more than one segment.
    most_packet: u32,
    /// Bytes of memory of a congestion window per segment.
    per_segment: u32,
    /// Bytes that the application has still to write.
    beyond: u64,
    /// The application closes when it has written them.
    closes: bool,
    /// Its data has no end.
    is_endless: bool,
    call: Option<Call>,
    /// The buffer was full, and the application tries once more before it waits.
    tries_again: bool,
    /// The end of the last packet that was marked with PSH.
    pushed: SeqNumber,
}

impl WriteQueue {
    /// Makes an empty queue whose first byte will be `first`.
    pub(crate) fn new(config: &Config, first: SeqNumber) -> Self {
        let Buffer { first: least, most } = config.send_buffer.unwrap_or(UNLIMITED);
        let windows = if config.is_model_based() { 3 } else { 2 };
        let segment = (u32::from(config.mss) + OPTIONS + HEAD).next_power_of_two() + DESCRIPTION;
        let window = windows * segment * config.initial_window.max(LEAST_SEGMENTS);
        Self {
            behind: VecDeque::new(),
            size: u64::from(least.max(window).min(most)),
            most: most.into(),
            unsent_limit: config.unsent_limit,
            overhead: config.stack.era().sending.packet_memory,
            most_packet: MOST_BYTES,
            per_segment: windows * segment,
            beyond: 0,
            closes: false,
            is_endless: false,
            call: None,
            tries_again: false,
            pushed: first,
        }
    }

    /// Lets each packet have a single segment.
    pub(crate) const fn split(&mut self) {
        self.most_packet = 0;
    }

    /// Takes note that the application has `bytes` more to write.
    pub(crate) fn on_write(&mut self, bytes: u64) {
        if !self.closes {
            self.beyond = self.beyond.saturating_add(bytes);
        }
    }

    /// Takes note that the application always has more to write, until it closes.
    pub(crate) fn on_endless_write(&mut self) {
        self.is_endless = !self.closes;
        self.on_write(u64::MAX);
    }

    /// Returns the bytes that the application has still to write.
    pub(crate) const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Returns whether the application's data has no end.
    pub(crate) const fn is_endless(&self) -> bool {
        self.is_endless
    }

    /// Takes note that the application closes. It writes what it has to write first, unless that has no end. What the
    /// buffer holds is sent all the same. Returns whether the application has written all.
    pub(crate) fn on_close(&mut self) -> bool {
        self.closes = true;
        if self.is_endless {
            (self.beyond, self.call) = (0, None);
        }
        self.is_over()
    }

    /// Returns whether the application has written its last byte, and closes.
    pub(crate) fn is_over(&self) -> bool {
        self.closes && self.beyond == 0
    }

    /// Returns the next packet to send, and removes it from the queue.
    pub(crate) fn next(&mut self) -> Unsent {
        self.behind.pop_front().unwrap_or_default()
    }

    /// Returns whether a packet stands behind the first.
    #[inline]
    pub(crate) fn has_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Fills `head` up with `bytes` of the packet behind it, as far as that goes.
    #[cold]
    pub(crate) fn fill_up(&mut self, head: &mut Unsent, bytes: u32) {
        let Some(next) = self.behind.front_mut() else { return };
        let moved = bytes.min(next.bytes);
        head.bytes += moved;
        next.bytes -= moved;
        if next.bytes == 0 {
            head.push |= next.push;
            self.behind.pop_front();
        }
    }

    /// Returns the memory in use.
    fn memory(&self, held: &Held) -> u64 {
        let packets = held.packets as usize + self.behind.len() + usize::from(held.unsent > 0);
        u64::from(held.nxt.since(held.una))
            + u64::from(held.unsent)
            + packets as u64 * u64::from(self.overhead)
    }

    /// Makes the buffer hold such congestion windows as one of `window` segments (`tcp_sndbuf_expand`). Returns whether
    /// it grew.
    pub(crate) fn expand(&mut self, window: u32) -> bool {
        let wanted = u64::from(self.per_segment) * u64::from(window.max(LEAST_SEGMENTS));
        let size = self.size.max(wanted.min(self.most));
        let grows = size > self.size;
        self.size = size;
        grows
    }

    /// Returns whether a third of the buffer is free, so that an application that waits may write. If not, it returns
    /// too an ACK before which the answer stays the same, because packets have a full segment at least.
    pub(crate) fn is_writeable(&self, held: &Held) -> (bool, SeqNumber) {
        let memory = self.memory(held);
        let is_writeable = self.size.saturating_sub(memory) >= memory / 2 && memory < self.size;
        let excess = memory.saturating_sub(2 * self.size / 3 + 1).min(1 << 30) as u32;
        let segments = (excess / (held.mss + self.overhead)).saturating_sub(2);
        (is_writeable, held.una + segments * held.mss)
    }

    /// Returns below how many unsent bytes an application that waits is woken.
    pub(crate) fn wake_unsent(&self) -> u32 {
        self.unsent_limit.div_ceil(2)
    }

    /// Returns whether the application begins a call next.
    pub(crate) fn is_between_calls(&self) -> bool {
        self.call.is_none()
    }

    /// Lets the application write one packet more, behind `head` or into it. `widest` is the widest window that the
    /// peer has offered.
    pub(crate) fn step(&mut self, held: &Held, head: &mut Unsent, widest: u32) -> Step {
        if self.beyond == 0 {
            return Step { bytes: 0, app: App::Idle, push: Push::Nothing };
        }
        let end = held.nxt + held.unsent;
        let mut call = self.call.take().unwrap_or(Call {
            left: self.beyond.min(MOST_HANDED),
            taken: false,
            goal: packet_goal(widest, held.mss, self.most_packet),
        });
        let tail = if held.unsent > 0 { self.tail(head).bytes } else { u32::MAX };
        let room = call.goal.saturating_sub(tail);
        if room == 0 || tail == u32::MAX {
            if self.memory(held) >= self.size || held.unsent >= self.unsent_limit {
                if !call.taken {
                    return Step { bytes: 0, app: App::Waits, push: Push::Nothing };
                }
                self.mark(head, end);
                self.tries_again = true;
                return Step { bytes: 0, app: App::Waits, push: Push::All };
            }
            if held.unsent > 0 {
                self.behind.push_back(Unsent::default());
            } else {
                *head = Unsent::default();
            }
        }
        let room = if tail == u32::MAX || room == 0 { call.goal } else { room };
        let bytes = call.left.min(room.into()) as u32;
        let is_head = self.behind.is_empty();
        let packet = self.tail(head);
        packet.push &= call.taken;
        packet.bytes += bytes;
        let is_full = packet.bytes >= call.goal;
        call.left -= u64::from(bytes);
        call.taken = true;
        if !self.is_endless {
            self.beyond -= u64::from(bytes);
        }
        let end = end + bytes;
        let forced = end.since(self.pushed) > widest / 2;
        let push = if call.left == 0 {
            self.mark(head, end);
            return Step { bytes, app: App::Writes, push: Push::All };
        } else if is_full && forced {
            self.mark(head, end);
            Push::All
        } else if is_full && is_head {
            Push::One
        } else {
            Push::Nothing
        };
        self.call = Some(call);
        Step { bytes, app: App::Writes, push }
    }

    /// Returns whether the application tries to write although it should wait: once, after a call that took a part.
    pub(crate) fn tries_again(&mut self) -> bool {
        core::mem::take(&mut self.tries_again)
    }

    fn tail<'a>(&'a mut self, head: &'a mut Unsent) -> &'a mut Unsent {
        self.behind.back_mut().unwrap_or(head)
    }

    /// Marks the last packet, which ends at `end`, with PSH.
    fn mark(&mut self, head: &mut Unsent, end: SeqNumber) {
        let packet = self.tail(head);
        packet.push = packet.bytes > 0;
        self.pushed = end;
    }
}

/// Returns the most bytes of a packet that waits: `most` or half of the peer's window, in full segments.
fn packet_goal(widest: u32, mss: u32, most: u32) -> u32 {
    let half = if widest > 536 { widest / 2 } else { widest };
    (half.min(most) / mss).max(1) * mss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cc, Stack};
    use std::vec::Vec;

    /// Lets an application write until it waits. Returns the queue, what it has in the socket, and after how many bytes
    /// something was to be sent.
    fn full(config: &Config, widest: u32) -> (WriteQueue, Held, Unsent, Vec<u32>) {
        let mut queue = WriteQueue::new(config, SeqNumber(0));
        queue.on_write(1 << 40);
        let (held, head) = (
            Held { una: SeqNumber(0), nxt: SeqNumber(0), packets: 0, unsent: 0, mss: 1448 },
            Unsent::default(),
        );
        let (held, head, pushes) = fill(&mut queue, held, head, widest);
        (queue, held, head, pushes)
    }

    fn fill(
        queue: &mut WriteQueue,
        mut held: Held,
        mut head: Unsent,
        widest: u32,
    ) -> (Held, Unsent, Vec<u32>) {
        let mut pushes = Vec::new();
        loop {
            let step = queue.step(&held, &mut head, widest);
            held.unsent += step.bytes;
            if step.push == Push::All {
                pushes.push(held.unsent / 1448);
            }
            if step.app == App::Waits && !queue.tries_again() {
                return (held, head, pushes);
            }
        }
    }

    fn config(cc: Cc, most: u32) -> Config {
        Config { cc, send_buffer: Some(Buffer { first: 16_384, most }), ..Config::default() }
    }

    /// 1460 + 640 bytes take 4096, and 256 beside them: 4352 per segment. Two windows of ten are 87 040 bytes. A peer's
    /// window of 65 160 bytes makes packets of 22 segments, 31 856 bytes and 1280 of memory: three of them fill the
    /// buffer. The second ends more than half of the window after the beginning, so it says PSH, as the last one does.
    /// BBR has three windows, 130 560 bytes: four packets.
    #[test]
    fn the_first_buffer_holds_two_congestion_windows() {
        let (_, held, _, pushes) = full(&config(Cc::Reno, 4 << 20), 65_160);
        assert_eq!((held.unsent, &*pushes), (3 * 31_856, &[44, 66][..]));
        assert_eq!(full(&config(Cc::Bbr, 4 << 20), 65_160).1.unsent, 4 * 31_856);
        assert_eq!(full(&config(Cc::Reno, 60_000), 65_160).1.unsent, 2 * 31_856, "the limit");
    }

    /// Packets of 64 KiB have 45 segments, 65 160 bytes. 262 144 bytes are four of them and 1504 bytes: then the
    /// application hands over the next 256 KiB, and the packet that said PSH grows on and says it no longer.
    #[test]
    fn a_call_that_ends_amid_a_packet_leaves_no_push_if_the_next_one_goes_on() {
        let mut queue = WriteQueue::new(&config(Cc::Reno, 16 << 20), SeqNumber(0));
        queue.expand(1000);
        queue.on_write(300_000);
        let mut held = Held { una: SeqNumber(0), nxt: SeqNumber(0), packets: 0, unsent: 0, mss: 1448 };
        let mut head = Unsent::default();
        let pushes: Vec<_> = core::iter::from_fn(|| {
            let step = queue.step(&held, &mut head, 1 << 20);
            held.unsent += step.bytes;
            (step.app == App::Writes).then_some((held.unsent, step.push))
        })
        .filter(|(_, push)| *push == Push::All)
        .map(|(bytes, _)| bytes)
        .collect();
        assert_eq!(pushes, [262_144, 300_000]);
        let marked: Vec<_> = core::iter::once(head).chain(queue.behind).map(|packet| packet.push).collect();
        assert_eq!(marked, [false, false, false, false, true]);
    }

    /// Of 87 040 bytes 58 026 may be in use when the application writes on. 40 segments in 9 packets and one unsent are
    /// 70 720 bytes, 34 in 6 and one are 58 192, and 32 in 5 and one are 54 016. A buffer for a window of 100 segments,
    /// 870 400 bytes, has room for all.
    #[test]
    fn the_application_waits_until_a_third_is_free() {
        let (mut queue, held, ..) = full(&config(Cc::Reno, 4 << 20), 65_160);
        assert!(!queue.is_writeable(&held).0);
        let later = |una: u32, packets| Held {
            una: SeqNumber(una * 1448),
            nxt: SeqNumber(44 * 1448),
            unsent: 22 * 1448,
            packets,
            ..held
        };
        assert!(!queue.is_writeable(&later(26, 9)).0);
        assert_eq!([queue.is_writeable(&later(32, 6)).0, queue.is_writeable(&later(34, 5)).0], [false, true]);
        assert!(queue.expand(100) && !queue.expand(100));
        assert!(queue.is_writeable(&later(0, 22)).0);
    }

    /// Linux 6.12's `tcp_grow_skb`: guards against bytes that are lost or sent twice, or a mark that is.
    #[test]
    fn a_packet_is_filled_up_from_the_one_behind_it() {
        let mut queue =
            WriteQueue::new(&Config { stack: Stack::Linux7_3, ..Config::default() }, SeqNumber(0));
        queue.behind.extend([Unsent { bytes: 3000, push: true }, Unsent { bytes: 10, push: false }]);
        let mut head = Unsent { bytes: 1448, push: false };
        queue.fill_up(&mut head, 1448);
        assert_eq!((head.bytes, head.push, queue.behind[0].bytes), (2896, false, 1552));
        queue.fill_up(&mut head, 5000);
        assert_eq!((head.bytes, head.push, queue.behind.len()), (4448, true, 1));
    }

    /// Guards against data lost at a close, or written after it.
    #[test]
    fn a_close_waits_for_what_is_to_be_written() {
        let (mut queue, ..) = full(&config(Cc::Reno, 4 << 20), 65_160);
        assert!(!queue.on_close() && !queue.is_over() && queue.beyond() > 0);
        let left = queue.beyond();
        queue.on_write(5);
        assert_eq!(queue.beyond(), left);
        let mut endless = WriteQueue::new(&Config::default(), SeqNumber(0));
        endless.on_endless_write();
        assert!(endless.on_close() && endless.is_over());
    }

    /// 65 535 bytes less 320 for headers are 45.03 segments of 1448. Half of a window of 65 160 bytes is 22.5 segments.
    #[test]
    fn a_packet_has_64_kib_or_half_the_peers_window() {
        let segments = |widest, mss| packet_goal(widest, mss, MOST_BYTES) / mss;
        assert_eq!([segments(1 << 20, 1019), segments(1 << 20, 1448)], [63, 45]);
        assert_eq!([segments(65_160, 1448), segments(1000, 1448)], [22, 1]);
    }
}
