//! Tail loss probes (RFC 8985, section 7): when ACKs stop, one segment is sent before the retransmission timer fires.
//!
//! The probe's ACK brings SACKs, from which RACK finds the other missing segments of the tail. If the probe itself
//! repaired the loss, only its ACK shows that: no segment came twice, so one had been lost, and the window is reduced.

use crate::SeqNumber;
use crate::era::TailLossProbe;
use crate::rtt::RttEstimator;
use goodqueue_units::Duration;

/// The longest wait of a delayed ACK (max_ack_delay of RFC 8985, section 7.2; Linux takes its least RTO).
const ACK_DELAY: Duration = Duration::from_millis(200);
/// The PTO without an RTT sample (RFC 8985, 7.2).
const FIRST: Duration = Duration::from_secs(1);
/// Linux adds this to each timer of about a round trip, because its clock has ticks.
pub(crate) const TICKS: Duration = Duration::from_millis(2);
/// The shortest PTO of Linux 3.10.
const LEAST: Duration = Duration::from_millis(10);

impl TailLossProbe {
    /// Returns the PTO: the time from the last segment or ACK to the probe, if the RTO does not end first. `None`
    /// without probes.
    #[inline]
    pub(crate) fn timeout(self, rtt: &RttEstimator, packets_out: u32) -> Option<Duration> {
        let srtt = rtt.srtt();
        match self {
            Self::Off => None,
            Self::Rfc8985 => {
                let extra = if packets_out == 1 { ACK_DELAY } else { TICKS };
                Some(rtt.two_srtt().map_or(FIRST, |two| two + extra))
            }
            Self::Linux3_10 => srtt.map(|srtt| {
                let least = if packets_out == 1 { srtt + srtt / 2 + ACK_DELAY } else { LEAST };
                (srtt * 2).max(least)
            }),
        }
    }
}

/// What an ACK says about the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing yet.
    Pending,
    /// Nothing was lost, or the loss is detected otherwise.
    Needless,
    /// The probe repaired a loss.
    Repaired,
}

/// The probe in flight, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    probe: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq: SND.NXT when the probe left.
    end: SeqNumber,
    /// TLP.is_retrans: the probe was a retransmission.
    is_resent: bool,
}

impl Tail {
    /// Returns whether a probe is in flight.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.probe.is_some()
    }

    /// Returns whether a probe is in flight that was a retransmission.
    pub(crate) fn is_resent(&self) -> bool {
        self.probe.is_some_and(|probe| probe.is_resent)
    }

    /// Takes note that a probe left, when SND.NXT was `nxt`.
    pub(crate) fn begin(&mut self, nxt: SeqNumber, is_resent: bool) {
        self.probe = Some(Probe { end: nxt, is_resent });
    }

    /// Ends the episode, because of a reduction or a timeout.
    pub(crate) fn end(&mut self) {
        self.probe = None;
    }

    /// Returns whether a DSACK up to `end` reports the probe.
    pub(crate) fn is_end(&self, end: SeqNumber) -> bool {
        self.probe.is_some_and(|probe| probe.end == end)
    }

    /// Judges the probe by an ACK up to `ack` (TLP_process_ack, section 7.4.2). `plain` says that the ACK has no news
    /// at all, `duplicate` that it reports the probe as a duplicate.
    #[cold]
    pub(crate) fn on_ack(&mut self, ack: SeqNumber, plain: bool, duplicate: bool) -> Verdict {
        let Some(Probe { end, is_resent }) = self.probe.filter(|probe| ack >= probe.end) else {
            return Verdict::Pending;
        };
        let verdict = if !is_resent || duplicate || (ack == end && plain) {
            Verdict::Needless
        } else if ack > end {
            Verdict::Repaired
        } else {
            return Verdict::Pending; // caused by the original or by the probe: the next ACK shows which
        };
        self.probe = None;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_probe_waits_two_round_trips_and_for_a_delayed_ack_of_a_single_segment() {
        let mut rtt = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        assert_eq!(TailLossProbe::Rfc8985.timeout(&rtt, 5), Some(ms(1000)));
        assert_eq!(TailLossProbe::Linux3_10.timeout(&rtt, 5), None);
        rtt.sample(ms(100), ms(100), SeqNumber(1), SeqNumber(2));
        assert_eq!(TailLossProbe::Rfc8985.timeout(&rtt, 2), Some(ms(202)));
        assert_eq!(TailLossProbe::Rfc8985.timeout(&rtt, 1), Some(ms(400)));
        assert_eq!(TailLossProbe::Linux3_10.timeout(&rtt, 2), Some(ms(200)));
        assert_eq!(TailLossProbe::Linux3_10.timeout(&rtt, 1), Some(ms(350)));
        assert_eq!(TailLossProbe::Off.timeout(&rtt, 1), None);
        let mut rtt = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        rtt.sample(ms(1), ms(1), SeqNumber(1), SeqNumber(2));
        assert_eq!(TailLossProbe::Linux3_10.timeout(&rtt, 2), Some(ms(10)));
    }

    /// RFC 8985, 7.4.2, case by case. Guards against a reduction without a loss, or a loss without one.
    #[test]
    fn the_ack_of_a_probe_tells_whether_something_was_lost() {
        let probe = |resent| {
            let mut tail = Tail::default();
            tail.begin(SeqNumber(100), resent);
            tail
        };
        assert_eq!(probe(true).on_ack(SeqNumber(99), true, true), Verdict::Pending);
        assert_eq!(probe(false).on_ack(SeqNumber(100), false, false), Verdict::Needless, "new data");
        assert_eq!(probe(true).on_ack(SeqNumber(100), false, true), Verdict::Needless, "DSACK");
        assert_eq!(probe(true).on_ack(SeqNumber(101), false, false), Verdict::Repaired);
        let mut tail = probe(true);
        assert_eq!(tail.on_ack(SeqNumber(100), false, false), Verdict::Pending);
        assert_eq!(tail.on_ack(SeqNumber(100), true, false), Verdict::Needless, "acknowledged twice");
        assert!(!tail.is_pending());
    }

    /// Guards against a probe that counts in a later episode: its DSACK would undo a reduction that was right.
    #[test]
    fn a_probe_is_of_its_episode_alone() {
        let mut tail = Tail::default();
        assert!(!tail.is_resent());
        tail.begin(SeqNumber(100), false);
        assert!(tail.is_pending() && !tail.is_resent());
        tail.begin(SeqNumber(100), true);
        assert!(tail.is_pending() && tail.is_resent());
        tail.end();
        assert!(!tail.is_pending() && !tail.is_resent());
    }
}
