//! What a cumulative ACK does to the scoreboard: it removes segments, and notes when the delivered ones were sent.

use super::Scoreboard;
use super::record::{AMBIGUOUS, Delivery, FIN, FIRST, LOST, RESENT, Record, SACKED, TOUCHED};
use crate::SeqNumber;
use crate::segment::timestamp;
use goodqueue_units::Instant;

impl Scoreboard {
    /// Removes everything before `ack` if that is whole segments without any mark. Returns how many, and when the first
    /// and the last were sent. Returns `None`, without a change, otherwise.
    #[inline]
    pub(crate) fn acknowledge_plain(
        &mut self,
        now: Instant,
        ack: SeqNumber,
    ) -> Option<(u32, Instant, Instant)> {
        let mut number = self.head;
        let first = self.at(number).sent_at;
        let mut packets = 0;
        let last = loop {
            let record = self.at(number);
            number += 1;
            if record.has(TOUCHED) {
                return None;
            }
            packets += u32::from(record.flags / FIRST);
            if record.end == ack {
                break record.sent_at;
            }
            if number == self.tail {
                return None;
            }
        };
        let segments = (number - self.head) as u32;
        (self.head, self.una) = (number, ack);
        self.packets -= packets;
        self.begin_packet(number);
        self.scan = self.scan.max(number);
        self.deliver(&Record { sent_at: last, end: ack, len: 0, flags: 0 }, now);
        Some((segments, first, last))
    }

    /// Removes everything before `ack`. `ack` is not beyond [`nxt`](Self::nxt).
    pub(crate) fn acknowledge(&mut self, ack: SeqNumber, delivery: &mut Delivery) {
        let before = delivery.highest_before.unwrap_or(self.highest_sacked);
        let late = if self.sacked_out > 0 { self.lowest_late(ack, before) } else { None };
        if self.rate.is_some() {
            self.rate_acknowledged(ack);
        }
        let mut plain = None; // the last unmarked segment, until it is noted
        while self.head != self.tail {
            // Field by field (store forwarding): a copy of the whole record would be stored and loaded again.
            let record = self.at(self.head);
            let (sent_at, end, flags) = (record.sent_at, record.end, record.flags);
            if end > ack {
                self.trim(ack);
                break;
            }
            if flags & TOUCHED == 0 {
                if delivery.acked.0 == Instant::MAX {
                    delivery.acked.0 = sent_at;
                }
                delivery.segments += 1;
                plain = Some((sent_at, end));
            } else {
                self.note_plain(plain.take(), delivery);
                self.acknowledge_touched(delivery);
            }
            self.packets -= u32::from(flags & FIRST != 0);
            self.head += 1;
        }
        self.begin_packet(self.head);
        self.una = ack;
        self.scan = self.scan.max(self.head);
        self.note_plain(plain, delivery);
        if let Some(late) = late {
            let highest = self.sacked_until();
            delivery.acked_late = if late < highest { highest.since(late) } else { 0 };
        }
    }

    /// Notes the delivery of a run of unmarked segments by its last segment, which was sent last.
    #[inline]
    fn note_plain(&mut self, last: Option<(Instant, SeqNumber)>, delivery: &mut Delivery) {
        if let Some((sent_at, end)) = last {
            delivery.acked.1 = sent_at;
            delivery.note_sent(sent_at);
            self.deliver(&Record { sent_at, end, len: 0, flags: 0 }, delivery.now);
        }
    }

    #[cold]
    fn rate_acknowledged(&mut self, ack: SeqNumber) {
        for number in self.head..self.tail {
            let record = *self.at(number);
            if record.end > ack {
                break;
            }
            if let Some(rate) = self.rate.as_mut().filter(|_| !record.has(SACKED)) {
                rate.on_delivered(number, record.sent_at, record.end);
            }
        }
    }

    /// Shortens the first segment: the receiver took a part of it. Our receiver never does, but any ACK may arrive.
    #[inline]
    fn trim(&mut self, ack: SeqNumber) {
        let record = self.at(self.head);
        if record.start() < ack {
            let len = record.end.since(ack) - u32::from(record.has(FIN));
            self.at_mut(self.head).len = len as u16;
        }
    }

    #[cold]
    fn acknowledge_touched(&mut self, delivery: &mut Delivery) {
        let record = *self.at(self.head);
        delivery.ambiguous |= record.has(AMBIGUOUS);
        if record.has(SACKED) {
            self.sacked_out -= 1;
            return; // delivered before
        }
        delivery.segments += 1;
        delivery.note_sent(record.sent_at);
        self.forget_loss(record.flags);
        if record.has(AMBIGUOUS) {
            // RFC 8985, section 6.2, step 2: the original was delivered if the echo is older than the retransmission.
            // The echo of a SACK does not belong to the segment that it SACKs.
            let age = timestamp(record.sent_at).wrapping_sub(delivery.tsecr);
            if delivery.tsecr == 0 || age == 0 || age > 1 << 31 {
                self.delivered_again(&record, delivery);
            }
        } else {
            delivery.acked.0 = delivery.acked.0.min(record.sent_at);
            delivery.acked.1 = record.sent_at;
            self.deliver(&record, delivery.now);
        }
    }

    /// Handles the delivery of a segment that was sent twice. The retransmission was not the one delivered if it would
    /// have been faster than the path ever was (RFC 8985, section 6.2, step 2).
    pub(super) fn delivered_again(&mut self, record: &Record, delivery: &Delivery) {
        if delivery.now.since(record.sent_at) >= delivery.min_rtt {
            self.deliver(record, delivery.now);
        }
    }

    /// Updates RACK's state with a delivered segment (RFC 8985, section 6.2, step 2). Segments come in the order of
    /// their numbers. RACK.rtt is the RTT of the last segment, RACK.xmit_ts the send time of the most recently sent one
    /// (Linux: `tcp_rack_advance`).
    #[inline]
    pub(super) fn deliver(&mut self, record: &Record, now: Instant) {
        self.rack_rtt = now.since(record.sent_at);
        self.newest_delivered.advance(record);
        self.advanced = true;
    }

    pub(super) fn forget_loss(&mut self, flags: u8) {
        if flags & LOST != 0 {
            self.lost_out -= 1;
        }
        if flags & RESENT != 0 {
            self.resent_out -= 1;
        }
    }
}
