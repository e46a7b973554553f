//! One table per algorithm of the kernel: the keys of its header, and the words of our line.

use super::Rule::{self, Bit, Flag, List, Note, Only, Ticks, Value, Words};
use super::{cake, is, read, write};

/// The memory that a packet takes, for limits on memory.
const TRUESIZE: Rule = Note("truesize_model", "256+pow2ceil(len+384)");

const CODEL: &[Rule] = &[
    Note("codel_tick_ns", "1024"),
    Ticks("target_ticks", "target", 10),
    Ticks("interval_ticks", "interval", 10),
    Value("limit_packets", "limit", ""),
    Value("target_us", "target", "us"),
    Value("interval_us", "interval", "us"),
    Flag("ecn", "ecn"),
    Words(read::ce_threshold, write::ce_threshold),
];

const FQ_CODEL: &[Rule] = &[
    Note("codel_tick_ns", "1024"),
    Ticks("target_ticks", "target", 10),
    Ticks("interval_ticks", "interval", 10),
    TRUESIZE,
    Value("limit_packets", "limit", ""),
    Value("target_us", "target", "us"),
    Value("interval_us", "interval", "us"),
    Flag("ecn", "ecn"),
    Words(read::ce_threshold, write::ce_threshold),
    Words(read::ce_threshold_selector, write::ce_threshold_selector),
    Value("buckets", "flows", ""),
    Value("quantum_bytes", "quantum", ""),
    Value("drop_batch_packets", "drop_batch", ""),
    Value("memory_limit_bytes", "memory_limit", ""),
];

const FIFO: &[Rule] = &[Value("limit", "limit", "")];

/// pfifo_fast: the map of priorities and the batch are constants in Linux and here.
const PFIFO_FAST: &[Rule] = &[
    Value("ring_size_packets_per_band", "txqueuelen", ""),
    Only("bands", "3"),
    Only("prio2band", "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"),
];

const SFQ: &[Rule] = &[
    Value("limit_packets", "limit", ""),
    Value("divisor", "divisor", ""),
    Value("maxdepth_packets", "depth", ""),
    Value("maxflows", "flows", ""),
    Value("quantum_bytes", "quantum", ""),
    Bit("headdrop", 0, "headdrop"),
    Words(read::perturb, write::perturb),
    Words(read::sfq_red, write::sfq_red),
];

/// SFQ's further words if `red` is 1.
pub(super) const SFQ_RED: &[Rule] = &[
    // Linux does not keep redflowlimit. tc derives max from it, so any value would do.
    Words(|header| Ok(format!("redflowlimit {}", header.number::<u64>("cfg_max")?)), |_, _, _| ()),
    Value("cfg_min", "min", ""),
    Value("cfg_max", "max", ""),
    Value("cfg_avpkt_bytes", "avpkt", ""),
    Value("cfg_burst", "burst", ""),
    Words(read::probability, write::probability),
    Bit("cfg_flags", 0, "ecn"),
    Bit("cfg_flags", 1, "harddrop"),
];

const PIE: &[Rule] = &[
    Note("pie_tick_ns", "64"),
    Note("max_prob", "72057594037927935"),
    Ticks("target_ticks", "target", 6),
    Value("limit_packets", "limit", ""),
    Value("target_us", "target", "us"),
    Value("tupdate_us", "tupdate", "us"),
    Value("alpha", "alpha", ""),
    Value("beta", "beta", ""),
    Flag("ecn", "ecn"),
    Flag("bytemode", "bytemode"),
    Flag("dq_rate_estimator", "dq_rate_estimator"),
];

const FQ_PIE: &[Rule] = &[
    Note("pie_tick_ns", "64"),
    Note("max_prob", "72057594037927935"),
    Ticks("target_ticks", "target", 6),
    TRUESIZE,
    Value("limit_packets", "limit", ""),
    Value("target_us", "target", "us"),
    Value("tupdate_us", "tupdate", "us"),
    Value("alpha", "alpha", ""),
    Value("beta", "beta", ""),
    Flag("ecn", "ecn"),
    Flag("bytemode", "bytemode"),
    Flag("dq_rate_estimator", "dq_rate_estimator"),
    Value("buckets", "flows", ""),
    Value("quantum_bytes", "quantum", ""),
    Value("memory_limit_bytes", "memory_limit", ""),
    Value("ecn_prob_percent", "ecn_prob", ""),
];

const RED: &[Rule] = &[
    Value("cfg_limit", "limit", ""),
    Value("cfg_min", "min", ""),
    Value("cfg_max", "max", ""),
    Value("cfg_avpkt_bytes", "avpkt", ""),
    Value("cfg_burst", "burst", ""),
    Value("cfg_bandwidth_bps", "bandwidth", "bit"),
    Words(read::probability, write::probability),
    Bit("cfg_flags", 0, "ecn"),
    Bit("cfg_flags", 1, "harddrop"),
    Bit("cfg_flags", 2, "adaptive"),
    Bit("cfg_flags", 3, "nodrop"),
];

const CHOKE: &[Rule] = &[
    Value("cfg_limit", "limit", ""),
    Value("cfg_min", "min", ""),
    Value("cfg_max", "max", ""),
    Value("cfg_avpkt_bytes", "avpkt", ""),
    Value("cfg_burst", "burst", ""),
    Value("cfg_bandwidth_bps", "bandwidth", "bit"),
    Words(read::probability, write::probability),
    Bit("cfg_flags", 0, "ecn"),
    Bit("cfg_flags", 1, "harddrop"),
];

const DUALPI2: &[Rule] = &[
    Note("max_prob", "4294967295"),
    TRUESIZE,
    Value("limit_packets", "limit", ""),
    Value("memory_limit_bytes", "memlimit", ""),
    Value("target_ns", "target", "ns"),
    Value("tupdate_ns", "tupdate", "ns"),
    Value("coupling_factor", "coupling_factor", ""),
    Value("min_qlen_step", "min_qlen_step", ""),
    Value("c_protection_wc", "classic_protection", ""),
    Words(
        |header| read::dualpi2_gain(header, "alpha"),
        |args, _, pairs| write::dualpi2_gain(args, "alpha", pairs),
    ),
    Words(
        |header| read::dualpi2_gain(header, "beta"),
        |args, _, pairs| write::dualpi2_gain(args, "beta", pairs),
    ),
    Words(read::dualpi2_words, write::dualpi2_words),
];

const CAKE: &[Rule] = &[TRUESIZE, Words(cake::words, cake::write)];

const CAKE_MQ: &[Rule] = &[Value("tx_queues", "txqueues", ""), Words(cake::words, cake::write)];

const FQ: &[Rule] = &[
    Value("limit_packets", "limit", ""),
    Value("flow_limit_packets", "flow_limit", ""),
    Value("quantum_bytes", "quantum", ""),
    Value("initial_quantum_bytes", "initial_quantum", ""),
    Words(read::fq_times, write::fq_times),
    Value("low_rate_threshold_Bps", "low_rate_threshold", "bps"),
    Value("buckets", "buckets", ""),
    Value("orphan_mask", "orphan_mask", ""),
    Value("timer_slack_ns", "timer_slack", "ns"),
    Words(read::fq_horizon_drop, |args, _, pairs| {
        pairs.add("horizon_drop", is(args, "beyond", "horizon_drop") as u8)
    }),
    Flag("rate_enable", "pacing"),
    Note("pace", "none"),
    Only("bands", "3"),
    List("weights_bytes", "weights"),
    List("prio2band", "priomap"),
];

pub(super) const TABLE: &[(&str, &[Rule])] = &[
    ("pfifo", FIFO),
    ("bfifo", FIFO),
    ("pfifo_head_drop", FIFO),
    ("pfifo_fast", PFIFO_FAST),
    ("choke", CHOKE),
    ("codel", CODEL),
    ("cake", CAKE),
    ("cake_mq", CAKE_MQ),
    ("fq", FQ),
    ("fq_codel", FQ_CODEL),
    ("fq_pie", FQ_PIE),
    ("sfq", SFQ),
    ("pie", PIE),
    ("red", RED),
    ("dualpi2", DUALPI2),
];
