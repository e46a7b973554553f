//! The handshake: SYN, SYN-ACK and the ACK of it, their retransmissions, and the ECN feedback that they agree.

use super::{Connection, Phase};
use crate::ecn::{Echo, EcnMode, EcnUse, OptionUse, handshake_flags};
use crate::segment::{AccEcnOption, echo_rtt, timestamp};
use crate::{Flags, Segment, wheel};
use goodqueue_units::{Duration, Ecn, Instant};

/// RFC 6298, 2.1: the SYN's first timeout. Each further timeout is twice the last, but for Linux's linear ones.
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
/// RFC 6298, 2.5, with Linux's value.
const MAX_SYN_TIMEOUT: Duration = Duration::from_secs(120);

impl Connection {
    #[cold]
    pub(super) fn handle_handshake(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        let syn = flags.contains(Flags::SYN);
        let acks_ours = flags.contains(Flags::ACK) && segment.ack == self.initial + 1;
        match self.phase {
            Phase::Listen if syn => {
                self.sender.take_syn(segment);
                self.ecn = self.ecn.answer(flags);
                self.syn_ecn = segment.ecn;
                self.receiver.accept();
                self.receiver.open(now, segment.seq + 1, segment.tsval, self.echo(false));
                self.phase = Phase::SynReceived;
                self.syn_due = true;
            }
            Phase::SynReceived if syn => {
                self.syns_lost = self.syns_lost.saturating_add(1); // our answer was lost or late: no RTT sample
                self.syn_due = true;
                self.syn_ecn = segment.ecn; // RFC 9768, 3.1.5: report the latest
                self.heard_plain_syn |= !flags.intersects(Flags::ACE);
            }
            Phase::SynSent if syn && acks_ours => {
                self.sender.take_syn(segment);
                self.ecn = self.ecn.agreed(flags);
                self.syn_ecn = segment.ecn;
                self.receiver.open(now, segment.seq + 1, segment.tsval, self.echo(true));
                self.establish(now, segment, Phase::AckDue);
            }
            Phase::SynReceived if flags.contains(Flags::ACK) && segment.ack > self.initial => {
                self.establish(now, segment, Phase::Established);
            }
            // Our ACK of the SYN-ACK was lost, or late. It leaves again, and tells once more how the SYN-ACK came, and
            // not the counter (Linux 7, `accecn_reflector` of `tcp_validate_incoming`).
            Phase::Established if syn => self.phase = Phase::AckDue,
            _ => {}
        }
    }

    /// Returns whether AccECN was agreed, and this end has its option.
    fn has_option(&self) -> bool {
        self.ecn == EcnMode::Accurate && self.accecn_option != OptionUse::Never
    }

    fn echo(&self, is_client: bool) -> Echo {
        Echo::new(self.ecn, self.ecn_use, self.syn_ecn, is_client)
    }

    fn establish(&mut self, now: Instant, segment: &Segment, phase: Phase) {
        // If the SYN was sent again, the echoed timestamp shows which SYN was answered. No SYN was lost if it was the
        // first.
        let (rtt, lost) = if self.syns_lost == 0 {
            (Some(now.since(self.first_syn_sent)), 0)
        } else {
            let is_first = segment.tsecr == timestamp(self.first_syn_sent);
            (echo_rtt(now, segment.tsecr), if is_first { 0 } else { self.syns_lost.into() })
        };
        self.sender.open(now, rtt, lost, segment, self.ecn);
        self.receiver.established(now);
        // The option was on the first SYN-ACK, and on the ACK of it if the client saw it (RFC 9768, 3.2.3.2).
        let tells_bytes = self.has_option() && segment.accecn().is_some_and(|option| !option.is_cleared());
        if tells_bytes && self.sender.ecn() == EcnMode::Accurate {
            self.sender.use_bytes(self.accecn_option);
            self.receiver.tell_bytes();
        }
        // A server that sent a SYN-ACK without ECN, or received a SYN without ECN, cannot know what the client has
        // agreed to (RFC 9768, 3.1.5). Classic ECN has no such rule: there the server goes by the first SYN.
        let is_client = phase == Phase::AckDue;
        let is_unsure = self.gave_up_ecn() || (self.heard_plain_syn && self.ecn == EcnMode::Accurate);
        self.set_codepoints(if is_client || !is_unsure { self.sender.ecn() } else { EcnMode::Off });
        self.syn_due = false;
        self.syn_deadline = Instant::MAX;
        self.phase = phase;
    }

    /// Sets the codepoints for the ECN feedback `mode`. Classic feedback keeps ECT for new data (RFC 3168, 6.1.4 to
    /// 6.1.6). Accurate feedback counts the marks of all packets, including ACKs and retransmissions (RFC 9768, 3.2),
    /// so Linux sends all packets as ECT from the ACK of the SYN-ACK on.
    fn set_codepoints(&mut self, mode: EcnMode) {
        self.ect = mode.codepoint(self.ecn_use);
        let all = self.ecn_use != EcnUse::Classic
            || (mode == EcnMode::Accurate && self.stack.era().ecn.accecn_ect_on_all);
        self.ect_else = if all { self.ect } else { Ecn::NotEct };
    }

    /// Returns whether a SYN, or SYN-ACK, leaves without ECN because the ones with ECN were lost. This is the first
    /// retransmission in RFC 3168, 6.1.1.1, and the second one in AccECN (RFC 9768, 3.1.4.1 and 3.2.3.2.2).
    fn gave_up_ecn(&self) -> bool {
        match (self.ecn, self.phase) {
            (EcnMode::Accurate, Phase::SynSent | Phase::SynReceived) => self.syns_lost > 1,
            (EcnMode::Classic, Phase::SynSent) => self.syns_lost > 0 && self.stack.era().ecn.fallback,
            _ => false,
        }
    }

    #[cold]
    pub(super) fn poll_handshake(&mut self, now: Instant) -> Option<Segment> {
        if self.phase == Phase::AckDue {
            self.phase = Phase::Established;
            let ack = self.bare_ack(now);
            let told = handshake_flags(self.syn_ecn); // instead of the counter (RFC 9768, 3.2.2.1)
            let flags = if self.ecn == EcnMode::Accurate { Flags::ACK | told } else { ack.flags };
            return Some(Segment { flags, ..ack });
        }
        if !self.syn_due {
            return None;
        }
        self.syn_due = false;
        if self.syns_lost == 0 {
            self.first_syn_sent = now;
        }
        let timers = &self.stack.era().timers;
        let linear = if self.phase == Phase::SynSent { timers.linear_syn_timeouts } else { 0 };
        let doubled = self.syn_timeouts.saturating_sub(linear).min(7);
        let timeout = (SYN_TIMEOUT * (1 << doubled)).min(MAX_SYN_TIMEOUT);
        self.syn_deadline = wheel::fires_at(timers.jiffy, now, timeout);
        let asked = if self.gave_up_ecn() { EcnMode::Off } else { self.ecn };
        let flags = if self.phase == Phase::SynReceived {
            Flags::ACK | asked.syn_ack_flags(self.syn_ecn)
        } else {
            asked.syn_flags()
        };
        self.set_codepoints(asked);
        let mut syn = self.receiver.syn(now, self.initial, flags | Flags::SYN);
        // A SYN-ACK that is sent again has none: the first may have been lost because of the option (3.2.3.2.2).
        if self.phase == Phase::SynReceived && self.syns_lost == 0 && self.has_option() {
            syn = syn.with_accecn(&AccEcnOption::INITIAL);
        }
        // RFC 3168, 6.1.1: a SYN is not ECT. Only those of DCTCP and L4S are ECT, as on Linux.
        Some(Segment { ecn: if self.ecn_use == EcnUse::Classic { Ecn::NotEct } else { self.ect }, ..syn })
    }

    /// Takes the SYN, or SYN-ACK, for lost: the next poll sends it again.
    #[cold]
    pub(super) fn on_syn_timeout(&mut self) {
        self.syns_lost = self.syns_lost.saturating_add(1);
        self.syn_timeouts = self.syn_timeouts.saturating_add(1);
        self.syn_due = true;
        self.syn_deadline = Instant::MAX;
        self.sender.stats.timeouts += 1;
    }

    #[cold]
    pub(super) fn opening_deadline(&self, deadline: Instant) -> Instant {
        deadline.min(self.syn_deadline)
    }
}
