//! What sets one TCP apart from another: the constants of each [`Stack`], and the table of them that the docs print.
//!
//! What no constant here tells is the same in all of them.

use crate::Stack;
use alloc::borrow::Cow;
use alloc::format;
use goodqueue_units::Duration;

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detection {
    /// By the time since a segment was sent (RFC 8985).
    Rack,
    /// By how far the highest SACKed segment is above one: DupThresh segments (FACK; Mathis & Mahdavi 1996). Once more
    /// reordering than that is seen, by how many above it are SACKed.
    ForwardAck,
    /// By what is SACKed above a segment (RFC 6675, section 4).
    Rfc6675,
}

/// When a tail loss probe leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probes {
    No,
    /// Linux 3.10: 2 SRTT and at least 10 ms; with one segment out at least 1.5 SRTT + 200 ms.
    Linux3_10,
    /// RFC 8985, section 7.2, as Linux 6 has it: 2 SRTT + 2 ms; with one segment out 2 SRTT + 200 ms.
    Rfc8985,
}

/// What the receive window is after a round trip, and what it is at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tuning {
    /// Ten segments; then twice a round trip's data.
    Doubles,
    /// 20 segments; then twice a round trip's data and 16 segments, and of that 1.5 times or twice as much where it grew by a
    /// quarter or a half.
    BySteps,
    /// 64 KiB; then twice a round trip's data and 16 segments, and more by twice the part by which it grew.
    ByGrowth,
}

/// The constants of one stack.
#[derive(Debug)]
pub(crate) struct Era {
    /// Slow start grows by the segments that an ACK delivers, else by one.
    pub(crate) slow_start_by_segment: bool,
    /// Linear growth counts segments delivered, else ACKs.
    pub(crate) linear_by_segment: bool,
    /// By how many segments slow start may end above ssthresh.
    pub(crate) overshoot: u32,
    /// The window falls from what is in flight (RFC 5681, equation 4; RFC 9438, 4.6), else from itself.
    pub(crate) reduces_from_flight: bool,
    pub(crate) hystart: bool,
    /// HyStart's delay step is the smallest RTT divided by this.
    pub(crate) hystart_divisor: u64,
    /// How much longer than half a round trip HyStart wants a train to be, doubled.
    pub(crate) hystart_bursts: Duration,
    pub(crate) detection: Detection,
    /// Early retransmit (RFC 5827), a quarter of a round trip late.
    pub(crate) early_retransmit: bool,
    pub(crate) probes: Probes,
    /// A tick of the clock by which RACK waits for what may only be late, and a receiver for a second segment (`wheel`); zero: to
    /// the nanosecond.
    pub(crate) tick: Duration,
    /// Timestamps (RFC 3522) and DSACKs (RFC 3708) prove a reduction needless; F-RTO (RFC 5682) always does.
    pub(crate) undoes_by_echo: bool,
    /// PRR below ssthresh: one segment extra on every ACK, else only on one that advances and shows no new loss.
    pub(crate) prr_always_adds: bool,
    /// PRR's RecoverFS is what is in flight (RFC 9937), else the window.
    pub(crate) prr_from_flight: bool,
    /// RTO = max(SRTT + 4 RTTVAR, this); where it is zero, RTO = SRTT + max(4 RTTVAR, 200 ms).
    pub(crate) rto_min: Duration,
    /// The timer restarts when something is SACKed that was sent before the first segment was sent again.
    pub(crate) sack_restarts_timer: bool,
    /// While something is SACKed, and no recovery under way, the window is at most DupThresh above what is in flight.
    pub(crate) moderates: bool,
    /// The window grows by an ACK before which it was full but for three segments, or for a third and less than this, for what
    /// segmentation offload keeps back. None: of a window that ever was full, in slow start more than half.
    pub(crate) spare: Option<u32>,
    /// CUBIC's time goes on while nothing is sent.
    pub(crate) idle_ages_cubic: bool,
    /// A timeout leaves out what was sent less than a round trip ago.
    pub(crate) timeout_spares_recent: bool,
    /// A lost retransmission after a timeout starts a fast recovery.
    pub(crate) recovers_from_loss: bool,
    /// After idling, the window halves for each RTO, else it falls to the initial one at once.
    pub(crate) idle_halves: bool,
    /// A window that was not used for an RTO falls half way to what was used.
    pub(crate) validates_window: bool,
    /// So many lost SYNs, or SYN-ACKs, leave the initial window as it is.
    pub(crate) forgiven_syns: u32,
    /// A FIN, alone or with the last segment, leaves whatever the congestion window.
    pub(crate) fin_beyond_window: bool,
    /// ACKs are quick at first.
    pub(crate) quick_acks: bool,
    /// The receive buffer at first, in bytes; half of it may be offered, the rest is for what a segment takes beside
    /// its payload.
    pub(crate) receive_buffer: u32,
    pub(crate) tuning: Tuning,
    /// The ACK that fills a hole leaves before the application takes what is in order then, packet by packet. Seen on Linux
    /// 6.1; what the older did was not measured.
    pub(crate) acks_before_reading: bool,
    /// The receive window grows with segments out of order, too.
    pub(crate) grows_over_holes: bool,
    /// A round trip that is shorter than the receiver's estimate is the new estimate, and not only a part of it.
    pub(crate) latches_low_rtt: bool,
    /// While segments arrive out of order, some ACKs are held back.
    pub(crate) compresses_acks: bool,
    /// A FIN is acknowledged late, in the hope that ours carries it.
    pub(crate) delays_ack_of_fin: bool,
    /// How often an answer must follow a question for the ACK to wait for it.
    pub(crate) ping_pong: u8,
    /// Segments that leave together end with PSH, as the last one of what was written does everywhere.
    pub(crate) pushes: bool,
    /// A segment that would leave alone waits for an ACK that is due soon.
    pub(crate) gathers: bool,
    /// A SYN that is sent again no longer asks for ECN (RFC 3168, 6.1.1.1).
    pub(crate) ecn_fallback: bool,
    /// With accurate ECN feedback (RFC 9768) all but SYN and SYN-ACK is ECT, ACKs and retransmissions too, else new data only.
    pub(crate) accurate_marks_all: bool,
}

const LINUX3_10: Era = Era {
    slow_start_by_segment: false,
    linear_by_segment: false,
    overshoot: 1,
    reduces_from_flight: false,
    hystart: true,
    hystart_divisor: 16,
    hystart_bursts: Duration::ZERO,
    detection: Detection::ForwardAck,
    early_retransmit: true,
    probes: Probes::Linux3_10,
    tick: Duration::ZERO,
    undoes_by_echo: true,
    prr_always_adds: true,
    prr_from_flight: false,
    rto_min: Duration::ZERO,
    sack_restarts_timer: false,
    moderates: true,
    spare: Some(45), // 64 KiB
    idle_ages_cubic: true,
    timeout_spares_recent: false,
    recovers_from_loss: false,
    idle_halves: true,
    validates_window: true,
    forgiven_syns: 1,
    fin_beyond_window: true,
    quick_acks: true,
    receive_buffer: 87_380,
    tuning: Tuning::Doubles,
    acks_before_reading: false,
    grows_over_holes: false,
    latches_low_rtt: false,
    compresses_acks: false,
    delays_ack_of_fin: true,
    ping_pong: 1,
    pushes: false,
    gathers: false,
    ecn_fallback: false,
    accurate_marks_all: true, // of the Linux that has AccECN: 6.1 has none
};

/// What changed from 3.11 to 3.14.
const LINUX3_14: Era = Era {
    slow_start_by_segment: true,
    sack_restarts_timer: true,
    moderates: false,
    spare: Some(0),          // packets are no longer as long as they can be
    receive_buffer: 374_400, // 2 × 20 × 4 × the 2340 bytes that a segment of 1460 takes
    tuning: Tuning::BySteps,
    grows_over_holes: true,
    ..LINUX3_10
};

const LINUX6: Era = Era {
    slow_start_by_segment: true,
    linear_by_segment: true,
    overshoot: 0,
    hystart_divisor: 8,                       // RFC 9406: MIN_RTT_DIVISOR
    hystart_bursts: Duration::from_millis(1), // for segmentation offload; see `cc/hystart.rs`
    detection: Detection::Rack,
    early_retransmit: false,
    probes: Probes::Rfc8985,
    tick: Duration::from_millis(4), // CONFIG_HZ of 250
    prr_always_adds: false,
    sack_restarts_timer: true,
    moderates: false,
    spare: None,
    idle_ages_cubic: false,
    timeout_spares_recent: true,
    recovers_from_loss: true,
    receive_buffer: 131_072,
    tuning: Tuning::ByGrowth,
    acks_before_reading: true,
    grows_over_holes: true,
    latches_low_rtt: true, // Linux 6.16, and older series since June 2025
    compresses_acks: true,
    ping_pong: 3,
    pushes: true,
    gathers: true,
    ecn_fallback: true,
    ..LINUX3_10
};

/// The Standards Track to the letter, and of what it leaves open the plainest; nothing Experimental.
const RFC: Era = Era {
    slow_start_by_segment: false, // RFC 5681, equation 2: min(N, SMSS) an ACK
    reduces_from_flight: true,
    hystart: false,
    detection: Detection::Rfc6675,
    probes: Probes::No,
    tick: Duration::ZERO,
    undoes_by_echo: false,
    prr_from_flight: true,
    rto_min: Duration::from_secs(1), // RFC 6298, 2.4
    sack_restarts_timer: false,      // RFC 6298, 5.3: by what acknowledges new data
    timeout_spares_recent: false,
    recovers_from_loss: false,
    idle_halves: false,
    validates_window: false,
    forgiven_syns: 0, // RFC 5681, 3.1
    fin_beyond_window: false,
    quick_acks: false,
    compresses_acks: false,
    delays_ack_of_fin: false, // RFC 9293, 3.10.7.4: eighth
    pushes: false,
    gathers: false,
    accurate_marks_all: false, // RFC 3168, 6.1.4 and 6.1.5; ECN++, which allows it, is Experimental
    ..LINUX6
};

impl Stack {
    /// Its constants.
    #[inline]
    pub(crate) const fn era(self) -> &'static Era {
        match self {
            Self::Linux3_10 => &LINUX3_10,
            Self::Linux3_14 => &LINUX3_14,
            Self::Linux6 => &LINUX6,
            Self::Rfc => &RFC,
        }
    }
}

/// One way in which stacks differ.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// What differs.
    pub aspect: &'static str,
    of: fn(&Era) -> Cow<'static, str>,
}

impl Difference {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::new("slow start grows by", |era| {
            pick(era.slow_start_by_segment, "the segments that an ACK delivers", "one segment an ACK")
        }),
        Self::new("slow start while", |era| {
            pick(era.overshoot == 0, "cwnd < ssthresh, where it stops", "cwnd ≤ ssthresh")
        }),
        Self::new("linear growth counts", |era| {
            pick(era.linear_by_segment, "segments delivered, fractions kept", "ACKs, one more than needed")
        }),
        Self::new("CUBIC's `cnt`", |era| {
            pick(
                era.linear_by_segment,
                "at least 2 (1.5× a round trip)",
                "divided by the measured segments per ACK, at least 1",
            )
        }),
        Self::new("the window falls from", |era| {
            pick(era.reduces_from_flight, "the segments in flight (RFC 5681, RFC 9438)", "cwnd")
        }),
        Self::new("HyStart", |era| {
            if !era.hystart {
                return "none: the slow start of RFC 5681".into();
            }
            let train = pick(era.hystart_bursts == Duration::ZERO, "delay_min / 2", "(delay_min + 1 ms) / 2");
            format!("delay step delay_min / {}, train of ACKs {train}", era.hystart_divisor).into()
        }),
        Self::new("losses are found by", |era| {
            match era.detection {
            Detection::Rack => "RACK (RFC 8985)".into(),
            Detection::ForwardAck => {
                "the highest SACKed segment, DupThresh above (FACK); after reordering, DupThresh SACKed segments above".into()
            }
            Detection::Rfc6675 => "IsLost() of RFC 6675".into(),
        }
        }),
        Self::new("early retransmit (RFC 5827)", |era| {
            pick(
                era.early_retransmit,
                "with fewer than four out and any SACKed, a quarter of an SRTT late",
                "none",
            )
        }),
        Self::new("tail loss probe", |era| match era.probes {
            Probes::No => "none".into(),
            Probes::Linux3_10 => {
                "in Open, after 2 SRTT; of a single segment after 1.5 SRTT + 200 ms at least".into()
            }
            Probes::Rfc8985 => "in Open and CWR, after 2 SRTT; of a single segment 200 ms later".into(),
        }),
        Self::new("the timers of RACK and of delayed ACKs fire", |era| {
            if era.tick == Duration::ZERO {
                return "on time".into();
            }
            format!("late, with ticks of {} ms", era.tick.as_nanos() / 1_000_000).into()
        }),
        Self::new("undo of a needless reduction", |era| {
            pick(
                era.undoes_by_echo,
                "by F-RTO (RFC 5682), timestamps (RFC 3522) and DSACK (RFC 3708)",
                "by F-RTO (RFC 5682)",
            )
        }),
        Self::new("PRR below ssthresh", |era| {
            pick(
                era.prr_always_adds,
                "one segment extra on every ACK (RFC 6937, SSRB)",
                "only if the ACK advances and shows no new loss (RFC 9937), else CRB",
            )
        }),
        Self::new("PRR's RecoverFS", |era| {
            pick(era.prr_from_flight, "what was out and not SACKed (RFC 9937)", "cwnd")
        }),
        Self::new("RTO", |era| {
            pick(
                era.rto_min == Duration::ZERO,
                "SRTT + max(4 RTTVAR, 200 ms)",
                "max(SRTT + 4 RTTVAR, 1 s) (RFC 6298)",
            )
        }),
        Self::new("the retransmission timer restarts by", |era| {
            pick(
                era.sack_restarts_timer,
                "new data acknowledged, or SACKed if sent before the first segment was last sent",
                "new data acknowledged",
            )
        }),
        Self::new("with SACKs, but no recovery, cwnd is", |era| {
            pick(era.moderates, "at most DupThresh above what is in flight", "left alone")
        }),
        Self::new("cwnd grows by an ACK", |era| {
            match era.spare {
                None => "of a window that was full, in slow start more than half",
                Some(0) => "before which it was full but for three segments",
                Some(_) => "before which it was full but for three segments or nearly a third",
            }
            .into()
        }),
        Self::new("CUBIC's time while nothing is sent", |era| {
            pick(era.idle_ages_cubic, "goes on", "stands still")
        }),
        Self::new("a timeout takes for lost", |era| {
            pick(
                era.timeout_spares_recent,
                "all but what was sent within the last round trip",
                "all that is not SACKed",
            )
        }),
        Self::new("a lost retransmission after a timeout", |era| {
            pick(era.recovers_from_loss, "starts a fast recovery", "waits for the next timeout")
        }),
        Self::new("after idling for longer than RTO, cwnd", |era| {
            pick(
                era.idle_halves,
                "halves for each RTO, down to the initial window",
                "is the initial window (RFC 5681, 4.1)",
            )
        }),
        Self::new("cwnd that the application did not use for an RTO", |era| {
            pick(era.validates_window, "falls half way to what was used", "stays")
        }),
        Self::new("the initial window is one segment after", |era| {
            pick(era.forgiven_syns == 0, "a lost SYN (RFC 5681, 3.1)", "a second lost SYN")
        }),
        Self::new("a FIN", |era| {
            pick(
                era.fin_beyond_window,
                "leaves whatever the congestion window",
                "waits for the congestion window",
            )
        }),
        Self::new("quick ACKs", |era| {
            pick(
                era.quick_acks,
                "at first, after a pause or trouble, and while the receive window grows",
                "none: every second segment, else late (RFC 9293, 3.8.6.3)",
            )
        }),
        Self::new("ACKs of data out of order", |era| {
            pick(
                era.compresses_acks,
                "three at once, of which one may be that of a part filled, then one a twentieth of an RTT, a millisecond at most",
                "each at once",
            )
        }),
        Self::new("the ACK of a FIN, while this end sends", |era| {
            pick(
                era.delays_ack_of_fin,
                "waits for ours, as a delayed ACK does; not if no data came before",
                "leaves at once (RFC 9293, 3.10.7.4)",
            )
        }),
        Self::new("no quick ACKs once we have answered", |era| {
            pick(era.ping_pong == 1, "one question", "three")
        }),
        Self::new("receive window", |era| {
            let grows = match era.tuning {
                Tuning::Doubles => "ten segments at first, then twice a round trip's data",
                Tuning::BySteps => "20 segments at first, then two, three or four times a round trip's data",
                Tuning::ByGrowth => "64 KiB at first, then several times a round trip's data",
            };
            format!("{grows}; of a first buffer of {} bytes", era.receive_buffer).into()
        }),
        Self::new("the ACK that fills a hole tells the window", |era| {
            pick(era.acks_before_reading, "before the application takes what is in order now", "after that")
        }),
        Self::new("the receive window grows with", |era| {
            pick(era.grows_over_holes, "every segment", "segments in order")
        }),
        Self::new("a receiver's estimate of the RTT", |era| {
            pick(era.latches_low_rtt, "falls at once, and rises smoothed", "is smoothed")
        }),
        Self::new("PSH", |era| {
            pick(
                era.pushes,
                "at the end of what was written, and of segments that leave as one packet for segmentation offload",
                "at the end of what was written (RFC 9293, 3.9.1.2)",
            )
        }),
        Self::new("a segment that would leave alone", |era| {
            pick(
                era.gathers,
                "waits for an ACK that is due within 1 ms, if the last segment left within 1 ms",
                "leaves",
            )
        }),
        Self::new("a SYN sent again", |era| {
            pick(era.ecn_fallback, "no longer asks for ECN (RFC 3168, 6.1.1.1)", "still asks for ECN")
        }),
        Self::new("with AccECN (RFC 9768), ECT is", |era| {
            pick(
                era.accurate_marks_all,
                "all from the ACK of the SYN-ACK on, ACKs and retransmissions too",
                "new data (RFC 3168, 6.1.4 and 6.1.5)",
            )
        }),
    ];

    const fn new(aspect: &'static str, of: fn(&Era) -> Cow<'static, str>) -> Self {
        Self { aspect, of }
    }

    /// How `stack` has it.
    #[must_use]
    pub fn of(&self, stack: Stack) -> Cow<'static, str> {
        (self.of)(stack.era())
    }
}

fn pick(condition: bool, yes: &'static str, no: &'static str) -> Cow<'static, str> {
    if condition { yes } else { no }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wrong would be a row that tells of no difference, or two stacks that are one.
    #[test]
    fn every_row_differs_and_so_does_every_stack() {
        for row in Difference::ALL {
            let first = row.of(Stack::ALL[0]);
            assert!(Stack::ALL.iter().any(|&stack| row.of(stack) != first), "{}", row.aspect);
        }
        for (n, &a) in Stack::ALL.iter().enumerate() {
            for &b in &Stack::ALL[n + 1..] {
                assert!(Difference::ALL.iter().any(|row| row.of(a) != row.of(b)), "{a:?} {b:?}");
            }
        }
    }
}
