//! The constants of each [`Stack`]: how one TCP differs from another.
//!
//! Everything that has no row in this table is the same in all stacks. docs/concepts/tcp.md prints the table.

use crate::Stack;
use crate::small_queue::SmallQueueRule;
use alloc::borrow::Cow;
use alloc::format;
use goodqueue_units::Duration;

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossDetection {
    /// Mathis & Mahdavi 1996.
    Fack,
    /// RFC 8985.
    Rack,
    /// RFC 6675, section 4.
    Rfc6675,
}

/// When a tail loss probe leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailLossProbe {
    Off,
    Linux3_10,
    /// RFC 8985, section 7.2, with the constants of Linux 6.
    Rfc8985,
}

/// How the receive window grows with the data of a round trip (Linux `tcp_rcv_space_adjust`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum RcvSpaceAdjust {
    Doubles,
    BySteps,
    ByGrowth,
    /// Since 6.6: the same in a measured share of the buffer.
    MeasuredShare,
    /// Since 6.19: with the data out of order.
    WithHoles,
}

/// The constants of HyStart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HystartRules {
    /// The delay step is delay_min divided by this number (RFC 9406: MIN_RTT_DIVISOR).
    pub(crate) min_rtt_divisor: u64,
    /// The time that bursts of segmentation offload take (Linux `hystart_ack_delay`). Half the sum of this span and
    /// delay_min is the longest train of ACKs. Linux takes four of the longest packets at the pacing rate, and at most
    /// 1 ms; below 2 Gbit/s that is 1 ms.
    pub(crate) ack_delay: Duration,
}

/// How ACKs of data out of order are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckCompression {
    /// The share of an RTT for which they are held.
    pub(crate) rtt_percent: u8,
    /// How late their timer may be.
    pub(crate) slack: Duration,
    /// What that timer sends has an old timestamp: `tcp_compressed_ack_kick` does not read the clock before 6.13.
    pub(crate) stale: bool,
}

/// Makes the structs of constants, their values for each stack, and [`Difference::ALL`] from one table.
///
/// A row is a field with its type, its value in each stack, and one or more subjects. A subject is the first column of
/// the table in docs/concepts/tcp.md, and behind it stands the text for each value. The field's documentation is its
/// subjects, and a comment where the subjects do not say enough.
macro_rules! eras {
    (
        [$($stack:ident),+]
        $(
            $(#[$about:meta])+
            $group:ident: $Group:ident {
                $(
                    $(#[$note:meta])*
                    $field:ident: $type:ty = [$($value:expr),+ $(,)?],
                    $($subject:literal { $($pattern:pat => $text:expr,)+ })+
                )+
            }
        )+
    ) => {
        /// The constants of one stack.
        #[derive(Debug)]
        pub(crate) struct Era {
            $($(#[$about])+ pub(crate) $group: $Group,)+
        }

        $(
            $(#[$about])+
            #[derive(Debug)]
            pub(crate) struct $Group {
                $($(#[doc = $subject])+ #[doc = ""] $(#[$note])* pub(crate) $field: $type,)+
            }
        )+

        impl Era {
            const fn of(stack: Stack) -> Self {
                let column = stack as usize;
                Self { $($group: $Group { $($field: [$($value),+][column],)+ },)+ }
            }
        }

        impl Stack {
            /// Returns the constants of this stack.
            #[inline]
            pub(crate) const fn era(self) -> &'static Era {
                // Not a `match`: the compiler would make one of it for each value that is asked for.
                const ERAS: &[&Era; Stack::ALL.len()] = &[$(&Era::of(Stack::$stack)),+];
                ERAS[self as usize]
            }
        }

        impl Difference {
            /// Every difference.
            pub const ALL: &'static [Self] = &[
                $($($(Self {
                    aspect: $subject,
                    of: |era| match era.$group.$field { $($pattern => Cow::from($text),)+ },
                },)+)+)+
            ];
        }

        /// The stacks in the order of the table's columns.
        #[cfg(test)]
        const COLUMNS: &[Stack] = &[$(Stack::$stack),+];
    };
}

eras! {
    [Linux3_10, Linux3_14, Linux6_1, Linux6_12, Linux7_3, Rfc]

    /// How the congestion window grows.
    growth: Growth {
        /// Linux since 3.13: `acked` of `tcp_slow_start`. RFC 5681, equation 2: min(N, SMSS) per ACK.
        slow_start_by_acked: bool = [false, true, true, true, true, false],
            "slow start grows by" {
                true => "the segments that an ACK delivers",
                false => "one segment per ACK",
            }
        /// How many segments above ssthresh slow start may end.
        ssthresh_overshoot: u32 = [1, 1, 0, 0, 0, 0],
            "slow start while" {
                0 => "cwnd < ssthresh, where it stops",
                _ => "cwnd ≤ ssthresh",
            }
        /// `acked` of Linux's `tcp_cong_avoid_ai`.
        cong_avoid_by_acked: bool = [false, false, true, true, true, true],
            "linear growth counts" {
                true => "segments delivered, fractions kept",
                false => "ACKs, one more than needed",
            }
            "CUBIC's `cnt`" {
                true => "at least 2 (1.5 times the window per round trip)",
                false => "divided by the measured segments per ACK, at least 1",
            }
        /// Linux `tcp_may_raise_cwnd`, since 3.13.
        by_sacks: bool = [false, true, true, true, true, false],
            "after reordering of more than three segments" {
                true => "SACKs let cwnd grow, too",
                false => "only ACKs of new data let cwnd grow",
            }
        /// See `cc/hystart.rs`.
        hystart: Option<HystartRules> = [
            Some(HystartRules { min_rtt_divisor: 16, ack_delay: Duration::ZERO }),
            Some(HystartRules { min_rtt_divisor: 16, ack_delay: Duration::ZERO }),
            Some(HystartRules { min_rtt_divisor: 8, ack_delay: Duration::from_millis(1) }),
            Some(HystartRules { min_rtt_divisor: 8, ack_delay: Duration::from_millis(1) }),
            Some(HystartRules { min_rtt_divisor: 8, ack_delay: Duration::from_millis(1) }),
            None
        ],
            "HyStart" {
                Some(HystartRules { min_rtt_divisor, ack_delay: Duration::ZERO }) =>
                    format!("delay step delay_min / {min_rtt_divisor}, train of ACKs delay_min / 2"),
                Some(HystartRules { min_rtt_divisor, ack_delay }) => format!(
                    "delay step delay_min / {min_rtt_divisor}, train of ACKs (delay_min + {} ms) / 2",
                    ack_delay.as_nanos() / 1_000_000
                ),
                None => "none: the slow start of RFC 5681",
            }
        /// Linux `tcp_is_cwnd_limited`; see `Usage::limits_growth`. `None` is the rule since 3.16. `Some(n)` is the
        /// rule before: at most 3 segments of cwnd were unused, or fewer than n segments and less than a third of cwnd.
        /// In 3.10 n is 64 KiB, the longest packet of segmentation offload. In 3.14 packets are shorter.
        cwnd_limited_slack: Option<u32> = [Some(45), Some(0), None, None, None, None],
            "an ACK grows cwnd if" {
                None => "cwnd was full within the last window, in slow start more than half of it",
                Some(0) => "at most three segments of cwnd were unused before it",
                Some(_) => "at most three segments, or nearly a third, of cwnd were unused before it",
            }
        /// Linux since 4.3: `cubictcp_cwnd_event`.
        cubic_shifts_epoch: bool = [false, false, true, true, true, true],
            "CUBIC's time while nothing is sent" {
                true => "stands still",
                false => "goes on",
            }
    }

    /// When the congestion window is believed, and when it is not any more.
    validation: Validation {
        /// Linux `tcp_cwnd_restart`, after RFC 2861.
        cwnd_restart_halves: bool = [true, true, true, true, true, false],
            "after idling for longer than RTO, cwnd" {
                true => "halves for each RTO, down to the initial window",
                false => "is the initial window (RFC 5681, 4.1)",
            }
        /// Linux `tcp_cwnd_validate`, after RFC 2861.
        cwnd_validation: bool = [true, true, true, true, true, false],
            "cwnd that the application did not use for an RTO" {
                true => "falls half way to what was used",
                false => "stays",
            }
        /// How many lost SYNs or SYN-ACKs leave the initial window as it is (Linux `tcp_init_cwnd`).
        forgiven_syns: u32 = [1, 1, 1, 1, 1, 0],
            "the initial window is one segment after" {
                0 => "a lost SYN (RFC 5681, 3.1)",
                _ => "a second lost SYN",
            }
    }

    /// How losses are found.
    detection: Detection {
        losses_by: LossDetection =
            [
                LossDetection::Fack,
                LossDetection::Fack,
                LossDetection::Rack,
                LossDetection::Rack,
                LossDetection::Rack,
                LossDetection::Rfc6675,
            ],
            "losses are found by" {
                LossDetection::Rack => "RACK (RFC 8985)",
                LossDetection::Fack => "the highest SACKed segment, DupThresh above (FACK); after reordering, DupThresh \
                                        SACKed segments above",
                LossDetection::Rfc6675 => "IsLost() of RFC 6675",
            }
        /// Linux `tcp_early_retrans`.
        early_retransmit: bool = [true, true, false, false, false, false],
            "early retransmit (RFC 5827)" {
                true => "with fewer than four segments out and any SACKed, a quarter of an SRTT late",
                false => "none",
            }
        /// Linux `tcp_timeout_mark_lost`.
        timeout_spares_recent: bool = [false, false, true, true, true, false],
            "a timeout marks as lost" {
                true => "all segments except those sent within the last round trip",
                false => "all segments that are not SACKed",
            }
        /// Linux `FLAG_LOST_RETRANS`.
        lost_retrans_starts_recovery: bool = [false, false, true, true, true, false],
            "a lost retransmission after a timeout" {
                true => "starts a fast recovery",
                false => "waits for the next timeout",
            }
    }

    /// How far the congestion window falls, and when a reduction is taken back.
    reduction: Reduction {
        /// FlightSize of RFC 5681, equation 4; RFC 9438, section 4.6.
        ssthresh_from_flight: bool = [false, false, false, false, false, true],
            "the window falls from" {
                true => "the segments in flight (RFC 5681, RFC 9438)",
                false => "cwnd",
            }
        prr_ssrb_always: bool = [true, true, false, false, false, false],
            "PRR below ssthresh" {
                true => "one segment extra on every ACK (RFC 6937, SSRB)",
                false => "one segment extra only if the ACK advances and shows no new loss (RFC 9937), otherwise CRB",
            }
        recover_fs_from_flight: bool = [false, false, false, false, false, true],
            "PRR's RecoverFS" {
                true => "the segments out and not SACKed (RFC 9937)",
                false => "cwnd",
            }
        /// Linux `tcp_moderate_cwnd`, called from `tcp_try_to_open`.
        moderate_cwnd: bool = [true, false, false, false, false, false],
            "with SACKs, but no recovery, cwnd is" {
                true => "at most DupThresh above the segments in flight",
                false => "left alone",
            }
        /// Linux `tcp_may_undo`.
        undo_by_eifel_and_dsack: bool = [true, true, true, true, true, false],
            "undo of a needless reduction" {
                true => "by F-RTO (RFC 5682), timestamps (RFC 3522) and DSACK (RFC 3708)",
                false => "by F-RTO (RFC 5682)",
            }
    }

    /// When timers fire.
    timers: Timers {
        /// Linux's clock of timers (`wheel`), with `CONFIG_HZ` of 250. Zero: to the nanosecond.
        jiffy: Duration = [
            Duration::ZERO,
            Duration::ZERO,
            Duration::from_millis(4),
            Duration::from_millis(4),
            Duration::from_millis(4),
            Duration::ZERO
        ],
            "the timers of SYN, SYN-ACK, RACK and delayed ACKs fire" {
                Duration::ZERO => "on time",
                jiffy => format!("late, with ticks of {} ms", jiffy.as_nanos() / 1_000_000),
            }
        /// How many timeouts of a SYN leave the next wait as long (Linux `tcp_syn_linear_timeouts`, since 6.5).
        linear_syn_timeouts: u8 = [0, 0, 0, 4, 4, 0],
            "a SYN is sent again after" {
                0 => "1 s, and each further wait is twice the last (RFC 6298, 5.5)",
                linear => format!("1 s, {linear} further waits of 1 s, and then twice the last"),
            }
        /// The least RTO (RFC 6298, 2.4). Zero: Linux's least variance term of 200 ms.
        rto_min: Duration = [
            Duration::ZERO,
            Duration::ZERO,
            Duration::ZERO,
            Duration::ZERO,
            Duration::ZERO,
            Duration::from_secs(1)
        ],
            "RTO" {
                Duration::ZERO => "SRTT + max(4 RTTVAR, 200 ms)",
                rto_min => format!("max(SRTT + 4 RTTVAR, {} s) (RFC 6298)", rto_min.as_nanos() / 1_000_000_000),
            }
        /// Linux since 3.12: `tcp_rearm_rto` from `tcp_clean_rtx_queue`. RFC 6298, 5.3: an ACK of new data.
        rearm_rto_on_sack: bool = [false, true, true, true, true, false],
            "the retransmission timer restarts with" {
                true => "new data acknowledged, or SACKed if sent before the first segment was last sent",
                false => "new data acknowledged",
            }
        tail_loss_probe: TailLossProbe = [
            TailLossProbe::Linux3_10,
            TailLossProbe::Linux3_10,
            TailLossProbe::Rfc8985,
            TailLossProbe::Rfc8985,
            TailLossProbe::Rfc8985,
            TailLossProbe::Off
        ],
            "tail loss probe" {
                TailLossProbe::Off => "none",
                TailLossProbe::Linux3_10 =>
                    "in Open, after 2 SRTT and at least 10 ms; of a single segment after at least 1.5 SRTT + 200 ms",
                TailLossProbe::Rfc8985 =>
                    "in Open and CWR, after 2 SRTT + 2 ms; of a single segment after 2 SRTT + 200 ms",
            }
    }

    /// Which segments leave together, and which wait.
    sending: Sending {
        psh_on_tso_end: bool = [false, false, true, true, true, false],
            "PSH" {
                true => "at the end of what was written, and of segments that leave as one packet for segmentation \
                         offload",
                false => "at the end of what was written (RFC 9293, 3.9.1.2)",
            }
        /// Linux since 5.18: `tcp_tso_rtt_log`.
        tso_rtt: bool = [false, false, true, true, true, false],
            "a packet for segmentation offload is longer" {
                true => "at high rates, and on paths with a short RTT",
                false => "at high rates",
            }
        /// Linux `tcp_tso_should_defer`.
        tso_defer: bool = [false, false, true, true, true, false],
            "a segment that would leave alone" {
                true => "waits for an ACK that is due within 1 ms, if the last segment left within 1 ms",
                false => "leaves",
            }
        /// Linux since 4.20 (`tcp_wstamp_ns`). Before, `fq` applied the socket's rate itself, which is not modelled.
        departure_times: bool = [false, false, true, true, true, false],
            "at a host with `fq` (`[[host]]`) TCP" {
                true => "is paced by the queue: each packet has a departure time, by the pacing rate",
                false => "is not paced by the queue",
            }
        small_queue: SmallQueueRule = [
            SmallQueueRule::Linux3_6,
            SmallQueueRule::Linux3_13,
            SmallQueueRule::Linux3_19,
            SmallQueueRule::Linux3_19,
            SmallQueueRule::Linux6_16,
            SmallQueueRule::Off
        ],
            "small queues (`[[host]]`): a connection has in its host" {
                SmallQueueRule::Linux3_6 => "128 kB of memory",
                SmallQueueRule::Linux3_13 => "128 kB of memory, or what its pacing rate carries in 1/1024 s if that is more",
                SmallQueueRule::Linux3_19 =>
                    "two packets, or what its pacing rate carries in 1/1024 s if that is more (a driver's choice), and \
                     unpaced at most 1 MiB",
                SmallQueueRule::Linux6_16 =>
                    "two packets, or what its pacing rate carries in 1/1024 s if that is more (a driver's choice), and \
                     at most 4 MiB",
                SmallQueueRule::Off => "any number of bytes",
            }
        /// Since 3.19 the payload counts as pages. In 6.1 the head has room for `MAX_TCP_HEADER` (320 bytes in whole
        /// cache lines) and for `skb_shared_info` (320), for which the allocator gives 1024. `sk_buff` (232) takes 256
        /// beside the head. Both structures have these sizes in the BTF of Debian's 6.1. Since 6.3 heads have memory of
        /// their own of 640 bytes (`skb_small_head_cache`). Before 3.19 the payload is in the head too (`select_size`
        /// in net/ipv4/tcp.c of 3.10). The head has 2048 bytes, of which 1408 are payload, and the other 40 of a
        /// segment are a page's: 2048 + 256 + 40 - 1448 = 896. The structures are taken to be as large as in 6.1.
        packet_memory: u32 = [896, 896, 1280, 960, 960, 1280],
            "a packet for segmentation offload takes in the sender, beside its payload," {
                bytes => format!("{bytes} bytes of memory"),
            }
        /// Linux `tcp_grow_skb`, since 6.10.
        fills_packet: bool = [false, false, false, true, true, false],
            "a packet for segmentation offload ends with" {
                true => "what was written",
                false => "the 64 KiB of the socket's memory in which it begins",
            }
        hears_own_host: bool = [true, true, true, true, true, false],
            "a segment that the discipline of its own host (`[[host]]`) drops" {
                true => "was not sent, and the window falls; a drop by RED and its kin counts as sent, and the window falls",
                false => "is found as any other loss",
            }
        /// A FIN alone, or on the last segment (Linux `tcp_cwnd_test`). The exception is gone since 6.10.
        fin_ignores_cwnd: bool = [true, true, true, false, false, false],
            "a FIN" {
                true => "leaves whatever the congestion window",
                false => "waits for the congestion window",
            }
    }

    /// When a receiver sends ACKs, and how large a window it offers.
    receiver: Receiver {
        /// Linux `icsk_ack.quick`.
        quickack: bool = [true, true, true, true, true, false],
            "quick ACKs" {
                true => "at first, after a pause or trouble, and while the receive window grows",
                false => "none: every second segment, otherwise late (RFC 9293, 3.8.6.3)",
            }
        /// Linux `compressed_ack`, `tcp_comp_sack_rtt_percent` (since 6.19) and `tcp_comp_sack_slack_ns`.
        compressed_ack: Option<AckCompression> = [
            None,
            None,
            Some(AckCompression { rtt_percent: 5, slack: Duration::from_micros(100), stale: true }),
            Some(AckCompression { rtt_percent: 5, slack: Duration::from_micros(100), stale: true }),
            Some(AckCompression { rtt_percent: 33, slack: Duration::from_micros(10), stale: false }),
            None
        ],
            "ACKs of data out of order" {
                Some(AckCompression { rtt_percent, slack, stale }) => format!(
                    "three at once, one of which may be for a hole filled in part; then one per {rtt_percent} % of an \
                     RTT, and at least one per millisecond, up to {} us late{}",
                    slack.as_nanos() / 1000,
                    if stale { ", with the timestamp of the last segment's arrival" } else { "" }
                ),
                None => "each at once",
            }
        /// Linux `tcp_sack_new_ofo_skb`.
        sack_blocks_forget: bool = [true, true, true, true, true, false],
            "a SACK block covers" {
                true => "what touches one of the last four blocks, or else the segment alone",
                false => "all that is there without a hole (RFC 2018, section 4)",
            }
        /// Linux `tcp_delack_max`: 200 ms, and a tick less than the least RTO (since 6.8).
        delayed_ack_max: Duration = [
            Duration::from_millis(500),
            Duration::from_millis(500),
            Duration::from_millis(500),
            Duration::from_millis(196),
            Duration::from_millis(196),
            Duration::from_millis(500)
        ],
            "an ACK is delayed by at most" {
                most => format!("{} ms", most.as_nanos() / 1_000_000),
            }
        /// Linux `tcp_fin`.
        fin_enters_pingpong: bool = [true, true, true, true, true, false],
            "the ACK of a FIN, while this end sends" {
                true => "waits for our FIN, as a delayed ACK does; not if no data came before",
                false => "leaves at once (RFC 9293, 3.10.7.4)",
            }
        /// Measured on Linux 6.1 only.
        ack_before_read: bool = [false, false, true, true, true, true],
            "the window in the ACK that fills a hole is from" {
                true => "before the application takes the data that is in order now",
                false => "after the application took the data",
            }
        /// A router's kernel gives each packet a head of its own, because the sender still holds the first one
        /// (`skb_cow` in `ip_forward`). Since 6.3 the new head has 704 bytes, not 640. Linux 7.3 and 6.12 show it by
        /// their first windows: 1448 of 2408 bytes are 153/256.
        packet_memory: u32 = [0, 0, 1280, 960, 960, 1280],
            "a packet takes in the receiver, beside its payload," {
                0 => "no memory",
                bytes => format!("{bytes} bytes of memory, and none if it joins the packet before it"),
            }
        /// In bytes (Linux `tcp_rmem`). Half of it may be offered at first. Segments take memory beside their payload.
        /// In 3.14 it is 2 × 20 × 4 times the 2340 bytes that a segment of 1460 bytes takes.
        rcvbuf: u32 = [87_380, 374_400, 131_072, 131_072, 131_072, 131_072],
            "first receive buffer" {
                bytes => format!("{bytes} bytes"),
            }
        rcv_space_adjust: RcvSpaceAdjust = [
            RcvSpaceAdjust::Doubles,
            RcvSpaceAdjust::BySteps,
            RcvSpaceAdjust::ByGrowth,
            RcvSpaceAdjust::MeasuredShare,
            RcvSpaceAdjust::WithHoles,
            RcvSpaceAdjust::ByGrowth
        ],
            "receive window" {
                RcvSpaceAdjust::Doubles => "10 segments at first, then twice a round trip's data",
                RcvSpaceAdjust::BySteps => "20 segments at first, then twice a round trip's data and 16 segments; 1.5 \
                                            times or twice that sum if the data grew by a quarter or a half",
                RcvSpaceAdjust::ByGrowth => "64 KiB at first, then twice a round trip's data and 16 segments; that sum \
                                             grows by twice the share by which the data grew",
                RcvSpaceAdjust::MeasuredShare => "the same, in the share of the buffer that full segments fill: 160 of \
                                                  256",
                RcvSpaceAdjust::WithHoles => "64 KiB at first, then twice a round trip's data and four times its growth, \
                                              and never less than twice a round trip's data and what waits out of \
                                              order, in the share of the buffer that full segments fill: 160 of 256",
            }
        /// In bytes (Linux `tcp_rmem`): where a scenario says `tcp_rmem = \"stock\"`.
        rmem_max: u32 = [6 << 20, 6 << 20, 6 << 20, 6 << 20, 32 << 20, 6 << 20],
            "the receive buffer of `tcp_rmem = \"stock\"` ends at" {
                bytes => format!("{} MiB", bytes >> 20),
            }
        /// Linux `tcp_grow_window`, called from `tcp_data_queue_ofo`.
        grow_window_ofo: bool = [false, true, true, true, true, true],
            "the receive window grows with" {
                true => "every segment",
                false => "segments in order",
            }
        /// Linux `tcp_rcv_rtt_update`: 6.16, and older series since June 2025.
        rcv_rtt_latches_low: bool = [false, false, true, true, true, true],
            "a receiver's estimate of the RTT" {
                true => "falls at once, and rises smoothed",
                false => "is smoothed",
            }
    }

    /// How ECN is asked for and used.
    ecn: EcnRules {
        /// Linux `sysctl_tcp_ecn_fallback`.
        fallback: bool = [false, false, true, true, true, true],
            "a SYN sent again" {
                true => "no longer asks for ECN (RFC 3168, 6.1.1.1)",
                false => "still asks for ECN",
            }
        /// Linux with AccECN, which 6.1 has not. ECN++, which allows ECT on all packets, is Experimental.
        accecn_ect_on_all: bool = [true, true, true, true, true, false],
            "with AccECN (RFC 9768), ECT is" {
                true => "all from the ACK of the SYN-ACK on, ACKs and retransmissions too",
                false => "new data (RFC 3168, 6.1.4 and 6.1.5)",
            }
        /// Linux `tcp_ecn_option` 2, the default of the first release that has AccECN.
        accecn_option: bool = [false, false, false, false, true, false],
            "with AccECN (RFC 9768), the option (3.2.3) is" {
                true => "on each segment that has room for the fields that changed",
                false => "not sent",
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
    /// Returns what `stack` does.
    #[must_use]
    pub fn of(&self, stack: Stack) -> Cow<'static, str> {
        (self.of)(stack.era())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// Guards against a row without a difference, or two stacks that are one.
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

    /// Guards against a value in the column of another stack.
    #[test]
    fn columns_stand_in_the_order_of_the_stacks() {
        assert_eq!(COLUMNS, Stack::ALL);
        assert!(COLUMNS.iter().enumerate().all(|(column, &stack)| stack as usize == column));
        let rcvbuf = Stack::ALL.iter().map(|stack| stack.era().receiver.rcvbuf);
        assert!(rcvbuf.eq([87_380, 374_400, 131_072, 131_072, 131_072, 131_072]));
    }

    /// Guards against a text that stands beside the wrong value.
    #[test]
    fn texts_belong_to_values() {
        let says = |aspect: &str, stack| {
            let row = Difference::ALL.iter().find(|row| row.aspect == aspect).unwrap();
            row.of(stack).to_string()
        };
        assert_eq!(says("losses are found by", Stack::Rfc), "IsLost() of RFC 6675");
        let train = "delay step delay_min / 8, train of ACKs (delay_min + 1 ms) / 2";
        assert_eq!(says("HyStart", Stack::Linux6_1), train);
        assert_eq!(says("RTO", Stack::Rfc), "max(SRTT + 4 RTTVAR, 1 s) (RFC 6298)");
    }
}
