//! A TCP flow's data in one direction, as its sender and its receiver must have seen them.
//!
//! On the sender's side data segments are seen when they arrive at the bottleneck, and ACKs when they leave the
//! bottleneck of the opposite direction. On the receiver's side ACKs are seen when they arrive there.

use crate::packet::Segment;
use std::collections::VecDeque;

/// The fate of a TCP flow's data in one direction. Times are nanoseconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// Times at which an ACK of the receiver reported that more bytes had arrived in order.
    pub delivered_at_ns: Vec<i64>,
    /// Bytes delivered by each of these times, counted from the flow's first byte, without SYN and FIN.
    pub delivered_bytes: Vec<i64>,
    /// Times at which an ACK that samples the round-trip time left the bottleneck of the opposite direction.
    pub rtt_at_ns: Vec<i64>,
    /// Time from the arrival at the bottleneck of the last segment that the ACK newly covers. Only segments that were
    /// sent once count (RFC 6298, section 3).
    pub rtt_ns: Vec<i64>,
    /// Times at which data arrived at the bottleneck a second time.
    pub resent_at_ns: Vec<i64>,
    scoreboard: Scoreboard,
}

/// The state of the sequence space. Sequence numbers here count from the SYN's number and do not wrap.
#[derive(Clone, Debug, Default)]
struct Scoreboard {
    /// Bytes that earlier connections between the same ports delivered.
    before: i64,
    /// The SYN's sequence number. Without a SYN, the number before the first data.
    first: Option<u32>,
    /// The end of the data sent.
    nxt: i64,
    /// The end of the data, if a FIN was sent.
    fin: Option<i64>,
    /// The receiver's highest ACK.
    acked: i64,
    /// Segments that the sender has not heard of, in order.
    out: VecDeque<Sent>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    start: i64,
    end: i64,
    at_ns: i64,
    /// Whether the data were sent twice, so that it is unknown which of the two an ACK is for (Karn).
    again: bool,
    sacked: bool,
}

impl Scoreboard {
    /// Returns the bytes of data in order before `end`, without SYN and FIN.
    fn data(&self, end: i64) -> i64 {
        self.before + self.fin.map_or(end, |fin| end.min(fin)).max(1) - 1
    }

    /// Returns the unwrapped `number` that is nearest to `near`.
    fn place(&self, number: u32, near: i64) -> Option<i64> {
        let offset = number.wrapping_sub(self.first?);
        Some(near + i64::from(offset.wrapping_sub(near as u32) as i32))
    }
}

impl Transfer {
    /// Notes that the sender's segment arrives at the bottleneck.
    pub(crate) fn offered(&mut self, now_ns: i64, segment: &Segment) {
        let board = &mut self.scoreboard;
        if segment.syn {
            if board.first.is_some_and(|first| first != segment.seq) {
                // Another connection, whose opener chose the same port again.
                *board = Scoreboard { before: board.data(board.acked), ..Scoreboard::default() };
            }
            board.first = Some(segment.seq);
            board.nxt = board.nxt.max(1);
        }
        let carried = i64::from(segment.payload) + i64::from(segment.fin);
        if carried == 0 {
            return;
        }
        if board.first.is_none() {
            board.first = Some(segment.seq.wrapping_sub(1));
            board.nxt = 1;
        }
        let Some(start) = board.place(segment.seq, board.nxt) else { return };
        let (start, end) = (start + i64::from(segment.syn), start + i64::from(segment.syn) + carried);
        if segment.fin {
            board.fin = Some(end - 1);
        }
        if start < board.nxt {
            self.resent_at_ns.push(now_ns);
            let from = board.out.partition_point(|sent| sent.end <= start);
            board
                .out
                .iter_mut()
                .skip(from)
                .take_while(|sent| sent.start < end)
                .for_each(|sent| sent.again = true);
        }
        if end > board.nxt {
            let start = start.max(board.nxt);
            board.out.push_back(Sent {
                start,
                end,
                at_ns: now_ns,
                again: start != end - carried,
                sacked: false,
            });
            board.nxt = end;
        }
    }

    /// Notes that the receiver's segment arrives at the bottleneck of the opposite direction.
    pub(crate) fn acknowledged(&mut self, now_ns: i64, segment: &Segment) {
        let board = &mut self.scoreboard;
        let Some(ack) = segment.ack.and_then(|ack| board.place(ack, board.acked)) else { return };
        if ack > board.acked && ack <= board.nxt {
            let (before, after) = (board.data(board.acked), board.data(ack));
            board.acked = ack;
            if after > before {
                self.delivered_at_ns.push(now_ns);
                self.delivered_bytes.push(after);
            }
        }
    }

    /// Notes that the receiver's segment leaves that bottleneck towards the sender.
    pub(crate) fn heard(&mut self, now_ns: i64, segment: &Segment) {
        let board = &mut self.scoreboard;
        let Some(ack) = segment.ack.and_then(|ack| board.place(ack, board.acked)) else { return };
        let (mut covered, mut ambiguous) = (None, false);
        while let Some(sent) = board.out.front().filter(|sent| sent.end <= ack) {
            if !sent.sacked {
                if sent.again {
                    ambiguous = true;
                } else {
                    covered = Some(sent.at_ns);
                }
            }
            board.out.pop_front();
        }
        let mut sacked = None;
        for (start, end) in segment.sack.into_iter().flatten() {
            let (Some(start), Some(end)) = (board.place(start, board.acked), board.place(end, board.acked))
            else {
                continue;
            };
            let from = board.out.partition_point(|sent| sent.start < start);
            for sent in board.out.iter_mut().skip(from).take_while(|sent| sent.end <= end) {
                if !sent.sacked && !sent.again {
                    sacked = sacked.max(Some(sent.at_ns));
                }
                sent.sacked = true;
            }
        }
        // As in Linux: the segments that the ACK covers, or if these are ambiguous, the segments that it newly SACKs.
        if let Some(at_ns) = covered.filter(|_| !ambiguous).or(sacked) {
            self.rtt_at_ns.push(now_ns);
            self.rtt_ns.push(now_ns - at_ns);
        }
    }
}
