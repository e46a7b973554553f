//! The flows that cross the path, as an observer at both ends of the path sees them. The programs are not asked.
//!
//! The measures are defined as in the simulator's record. The sender is at the path's entrance and the receiver at
//! its exit. So packets count as sent at an entrance, and as heard at an exit.

use crate::packet::{Ends, Seen, Segment};
use etherparse::ip_number;
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_netsim::Direction;
use goodqueue_netsim::record::{FlowRecord, LiveHosts};
use goodqueue_units::Instant;
use std::collections::{HashMap, HashSet};

/// Most flows with a count of their own. All further flows count as part of the last one, so that a port scan does
/// not fill the memory.
const MOST: usize = 100_000;

/// One direction of a flow.
struct Half {
    offered: u64,
    arrived: u64,
    /// Payload bytes that the sender sent, and those that arrived.
    sent_bytes: u64,
    arrived_bytes: u64,
    resent_bytes: u64,
    resent: u64,
    first: Option<Instant>,
    last_arrival: Instant,
    tcp: Tcp,
    rtt: FlowDelays,
}

/// TCP state of one direction, from its sequence numbers.
#[derive(Default)]
struct Tcp {
    /// The sequence number after the last byte sent.
    end: Option<u32>,
    /// The byte that is timed for the RTT: the sequence number after it, and when it was sent. A retransmitted byte
    /// is never timed (Karn's algorithm).
    timed: Option<(u32, Instant)>,
    /// The last acknowledgement that the sender heard.
    acked: Option<u32>,
    /// Bytes that the receiver has in order.
    in_order: u64,
}

/// A flow in both directions.
struct Flow {
    /// The ends, as in the flow's first packet.
    ends: Ends,
    direction: Direction,
    halves: [Half; 2],
}

/// All flows.
#[derive(Default)]
pub(crate) struct Flows {
    known: HashMap<Ends, (u32, bool)>,
    flows: Vec<Flow>,
}

impl Half {
    fn new() -> Self {
        Self {
            offered: 0,
            arrived: 0,
            sent_bytes: 0,
            arrived_bytes: 0,
            resent_bytes: 0,
            resent: 0,
            first: None,
            last_arrival: Instant::ZERO,
            tcp: Tcp::default(),
            rtt: FlowDelays::new(),
        }
    }

    /// Notes that the sender sends a segment.
    fn sends(&mut self, now: Instant, segment: Segment, payload: u32) {
        let end = segment.end(payload);
        if end == segment.seq {
            return; // a bare acknowledgement
        }
        match self.tcp.end {
            Some(known) if !is_after(end, known) => {
                self.resent += 1;
                self.resent_bytes += u64::from(payload);
                self.tcp.timed = None;
            }
            _ => {
                self.tcp.end = Some(end);
                self.tcp.timed.get_or_insert((end, now));
            }
        }
    }

    /// Notes that the sender hears an acknowledgement.
    fn hears(&mut self, now: Instant, ack: u32) {
        let Some(end) = self.tcp.end else { return };
        if is_after(ack, end) {
            return; // acknowledges bytes that were never sent
        }
        if let Some((timed, since)) = self.tcp.timed
            && !is_after(timed, ack)
        {
            self.rtt.record(now.since(since));
            self.tcp.timed = None;
        }
        match self.tcp.acked {
            None => self.tcp.acked = Some(ack), // of the SYN: counting starts here
            Some(before) if is_after(ack, before) => {
                self.tcp.in_order += u64::from(ack.wrapping_sub(before));
                self.tcp.acked = Some(ack);
            }
            Some(_) => {}
        }
    }
}

/// Returns whether sequence number `a` comes after `b` (RFC 9293, 3.4).
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Flows {
    /// Notes a packet that enters the path. Returns the number of its flow.
    pub(crate) fn offered(&mut self, now: Instant, direction: Direction, seen: &Seen) -> u32 {
        let number = match self.known.get(&seen.ends) {
            Some(&(number, _)) => number,
            None => self.add(direction, seen.ends),
        };
        let half = &mut self.flows[number as usize].halves[direction as usize];
        half.offered += 1;
        half.sent_bytes += u64::from(seen.payload);
        half.first.get_or_insert(now);
        if let Some(segment) = seen.segment {
            half.sends(now, segment, seen.payload);
        }
        number
    }

    /// Notes that a packet of flow `number` has left the path at the other end.
    pub(crate) fn arrived(&mut self, now: Instant, direction: Direction, number: u32, seen: &Seen) {
        let Some(Flow { halves, .. }) = self.flows.get_mut(number as usize) else { return };
        let half = &mut halves[direction as usize];
        half.arrived += 1;
        half.arrived_bytes += u64::from(seen.payload);
        half.last_arrival = now;
        if let Some(ack) = seen.segment.and_then(|segment| segment.ack) {
            halves[1 - direction as usize].hears(now, ack);
        }
    }

    fn add(&mut self, direction: Direction, ends: Ends) -> u32 {
        if self.flows.len() == MOST {
            return MOST as u32 - 1;
        }
        let number = self.flows.len() as u32;
        self.flows.push(Flow { ends, direction, halves: [Half::new(), Half::new()] });
        self.known.insert(ends, (number, true));
        self.known.insert(ends.back(), (number, false));
        number
    }

    /// Returns the number of flows.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns the number of addresses at each end. Addresses that differ are hosts of their own to a discipline.
    pub(crate) fn hosts(&self) -> LiveHosts {
        let count = |sender: Direction| {
            let end =
                |flow: &Flow| if flow.direction == sender { flow.ends.from.ip() } else { flow.ends.to.ip() };
            self.flows.iter().map(end).collect::<HashSet<_>>().len() as u64
        };
        LiveHosts { client: count(Direction::Up), server: count(Direction::Down) }
    }

    /// Returns the flows' parts of the record. `under_way(n, direction)` is the number of flow `n`'s packets on the
    /// path.
    pub(crate) fn records(&self, under_way: impl Fn(u32, Direction) -> u64) -> Vec<FlowRecord> {
        let numbered = self.flows.iter().enumerate();
        numbered.map(|(number, flow)| flow.record(|direction| under_way(number as u32, direction))).collect()
    }
}

impl Flow {
    fn record(&self, under_way: impl Fn(Direction) -> u64) -> FlowRecord {
        let [down, up] = &self.halves;
        // The flow's direction is that of most of its payload bytes. In a tie it is that of the first packet.
        let direction = match down.sent_bytes.cmp(&up.sent_bytes) {
            std::cmp::Ordering::Greater => Direction::Down,
            std::cmp::Ordering::Less => Direction::Up,
            std::cmp::Ordering::Equal => self.direction,
        };
        let half = &self.halves[direction as usize];
        let kind = match self.ends.protocol {
            protocol if protocol == ip_number::TCP.0 => "tcp",
            protocol if protocol == ip_number::UDP.0 => "udp",
            protocol if protocol == ip_number::ICMP.0 || protocol == ip_number::IPV6_ICMP.0 => "icmp",
            _ => "ip",
        };
        let is_tcp = kind == "tcp";
        let first = half.first.unwrap_or_default();
        let lasted_s = half.last_arrival.since(first).as_secs_f64();
        let bytes = if is_tcp { half.tcp.in_order } else { half.arrived_bytes };
        let lost = half.offered.saturating_sub(half.arrived + under_way(direction));
        FlowRecord {
            name: format!("{} {} > {}", kind, self.ends.from, self.ends.to),
            kind,
            direction,
            cc: None,
            start_s: rounded(first.as_secs_f64()),
            goodput_mbps: rounded(if lasted_s > 0.0 { bytes as f64 * 8e-6 / lasted_s } else { 0.0 }),
            rtt_ms: half.rtt.summary(),
            bytes_sent: is_tcp.then_some(half.sent_bytes),
            bytes_retrans: is_tcp.then_some(half.resent_bytes),
            retransmitted: is_tcp.then_some(half.resent),
            timeouts: None,
            tlp_probes: None,
            spurious_retransmissions: None,
            undos: None,
            loss_percent: (half.offered > 0).then(|| rounded(100.0 * lost as f64 / half.offered as f64)),
            completion_ms: None,
            goodput_5s_mbps: None,
        }
    }
}

/// Rounds to a millionth, as the simulator's record does.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_netsim::Headers;
    use goodqueue_units::Duration;

    fn segment(seq: u32, payload: u32, ack: u32, back: bool) -> Seen {
        let from = ([10, 0, 0, 1], 5000).into();
        let ends = Ends { protocol: 6, from, to: ([10, 0, 0, 2], 80).into() };
        let segment = Segment { seq, ack: Some(ack), is_syn: false, is_fin: false };
        Seen {
            headers: Headers::default(),
            ends: if back { ends.back() } else { ends },
            segment: Some(segment),
            payload,
        }
    }

    /// A packet of either direction may be the flow's first. Guards against a client that counts as a server.
    #[test]
    fn an_address_is_a_host() {
        let mut flows = Flows::default();
        for (client, server, direction) in
            [(2, 1, Direction::Up), (3, 1, Direction::Down), (2, 1, Direction::Down)]
        {
            let [client, server] = [client, server].map(|last| ([10, 0, 0, last], 80).into());
            let [from, to] = if direction == Direction::Up { [client, server] } else { [server, client] };
            let seen =
                Seen { ends: Ends { protocol: 17, from, to }, segment: None, ..segment(0, 0, 0, false) };
            flows.offered(at(0), direction, &seen);
        }
        assert_eq!(flows.hosts(), LiveHosts { client: 2, server: 1 });
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// 1000 bytes leave at 0 and their ACK is heard at 50 ms, across the wrap of sequence numbers. The next 1000
    /// bytes arrive only as a retransmission, which must not be timed. Guards against an RTT of 200 ms and a goodput
    /// of 3000 bytes.
    #[test]
    fn goodput_is_what_was_acknowledged_and_rtt_is_of_what_was_sent_once() {
        let mut flows = Flows::default();
        let seq = u32::MAX - 400;
        let (down, up) = (Direction::Down, Direction::Up);
        for (ms, seq) in [(0, seq), (100, seq.wrapping_add(1000)), (200, seq.wrapping_add(1000))] {
            let number = flows.offered(at(ms), down, &segment(seq, 1000, 1, false));
            if ms != 100 {
                flows.arrived(at(ms + 25), down, number, &segment(seq, 1000, 1, false));
                let ack = segment(1, 0, seq.wrapping_add(1000), true);
                assert_eq!(flows.offered(at(ms + 25), up, &ack), number);
                flows.arrived(at(ms + 50), up, number, &ack);
            }
        }
        let all = flows.records(|_, _| 0);
        let one = &all[0];
        assert_eq!((all.len(), one.direction, one.retransmitted), (1, down, Some(1)));
        assert_eq!(one.name, "tcp 10.0.0.1:5000 > 10.0.0.2:80");
        let rtt = one.rtt_ms.unwrap();
        assert_eq!((rtt.min, rtt.max), (50.0, 50.0));
        assert_eq!(one.loss_percent, Some(33.333333));
        // Counting starts at the first ACK, so that a connection older than the path counts right. The rest is 1000
        // bytes in 225 ms.
        assert_eq!(one.goodput_mbps, rounded(1000.0 * 8e-6 / 0.225));
    }
}
