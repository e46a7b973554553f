//! The least time of a packet: that of its memory, in a loop that does nothing else.
//!
//! A simulator of packets cannot be faster than this loop, unless it has smaller packets or smaller connections. The
//! loop moves packets as large as [`Packet`] through a queue and through a pipe, and reads and writes the cache lines
//! of a connection that a segment touches. There are two segments per ACK (RFC 9293, 3.8.6.3). The order of the
//! connections is that of a queue, so a processor cannot foresee it.

use crate::packet::Packet;
use goodqueue_tcp::Connection;
use goodqueue_units::processor::LINE;

/// Words of 8 bytes per packet, connection and cache line.
const PACKET: usize = size_of::<Packet>() / 8;
const CONNECTION: usize = size_of::<Connection>() / 8;
const LINE_WORDS: usize = LINE / 8;

/// The distance from one flow to the next: Knuth's multiplier of hashes, a prime.
const STEP: u64 = 2_654_435_761;

/// One end of a connection, or a packet: only its memory counts.
#[derive(Clone)]
#[repr(align(64))]
struct Of<const WORDS: usize>([u64; WORDS]);

/// The memory of a run: both ends of every connection, the queue, and the pipes to the receivers and back.
pub struct Roofline {
    senders: Vec<Of<CONNECTION>>,
    receivers: Vec<Of<CONNECTION>>,
    queue: Ring,
    down: Ring,
    up: Ring,
}

/// A ring of packets that is always full: one goes in, and the oldest comes out.
struct Ring {
    packets: Vec<Of<PACKET>>,
    next: usize,
}

impl Ring {
    fn new(flows: Vec<u64>) -> Self {
        Self { packets: flows.into_iter().map(|flow| Of([flow; PACKET])).collect(), next: 0 }
    }

    #[inline]
    fn exchange(&mut self, packet: Of<PACKET>) -> Of<PACKET> {
        let oldest = std::mem::replace(&mut self.packets[self.next], packet);
        self.next += 1;
        if self.next == self.packets.len() {
            self.next = 0;
        }
        oldest
    }
}

/// Reads and writes each cache line that a segment touches in one end of a connection. Returns a word of it.
#[inline]
fn touch(end: &mut Of<CONNECTION>, sends: bool) -> u64 {
    let mut sum = 0;
    for bytes in Connection::hot_bytes(sends) {
        for line in bytes.start / LINE..bytes.end.div_ceil(LINE) {
            let word = &mut end.0[line * LINE_WORDS];
            *word += 1;
            sum += *word;
        }
    }
    sum
}

impl Roofline {
    /// Builds the memory of `flows` connections with `on_the_way` packets in the pipes and `waiting` in the queue, each
    /// at least 1.
    #[must_use]
    pub fn new(flows: u32, waiting: u32, on_the_way: u32) -> Self {
        let (flows, waiting, on_the_way) = (flows.max(1), waiting.max(1), on_the_way.max(1));
        // A step by a large prime: neighbours in the order are no neighbours in memory, and all flows have their turn.
        let mut turns = (0_u64..).map(|turn| turn * STEP % u64::from(flows));
        let mut pairs =
            |packets: u32| turns.by_ref().flat_map(|flow| [flow; 2]).take(packets as usize).collect();
        let (queue, down) = (Ring::new(pairs(waiting)), Ring::new(pairs(on_the_way)));
        let up = Ring::new(turns.take(on_the_way.div_ceil(2) as usize).collect());
        let ends = || vec![Of([0; CONNECTION]); flows as usize];
        Self { senders: ends(), receivers: ends(), queue, down, up }
    }

    /// Moves at least `packets` packets with data, and their ACKs. Returns a sum of all that was read, without which
    /// a compiler would leave the loop out.
    pub fn carry(&mut self, packets: u64) -> u64 {
        let mut sum = 0;
        for _ in 0..packets.div_ceil(2) {
            let data = self.up.packets[self.up.next].clone();
            sum += touch(&mut self.senders[data.0[0] as usize], true);
            self.arrive(data.clone(), &mut sum);
            let ack = self.arrive(data, &mut sum);
            self.up.exchange(ack);
        }
        sum
    }

    /// Sends `data`, and returns the packet that arrives instead, through the queue and the pipe.
    #[inline]
    fn arrive(&mut self, data: Of<PACKET>, sum: &mut u64) -> Of<PACKET> {
        let arrived = self.down.exchange(self.queue.exchange(data));
        *sum += touch(&mut self.receivers[arrived.0[0] as usize], false);
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ACKs touch ten lines of the sender, and their four packets four lines of the receiver: each word counts its
    /// visits. A loop that left lines out would be faster than memory is.
    #[test]
    fn every_line_is_touched() {
        let visits = 10 * (1 + 2) + 4 * (1 + 2 + 3 + 4);
        assert_eq!(Roofline::new(1, 3, 5).carry(4), visits);
    }

    /// Ten flows with ten packets in each ring: all of them take part.
    #[test]
    fn all_connections_take_part() {
        let mut memory = Roofline::new(10, 10, 10);
        memory.carry(1000);
        assert!(memory.senders.iter().chain(&memory.receivers).all(|end| end.0[0] > 0));
    }
}
