//! The header of a decision trace, as the `tc` line that our registry takes. For a trace of ours also the reverse
//! (`write`).
//!
//! There is one table per algorithm of the kernel. Other disciplines and variants have their line in the header. If
//! our discipline does not know a value, the registry refuses it, so the tables need not know what is implemented.

mod cake;
mod write;

use crate::arrival::Arrival;
use crate::trace::{self, Header};
use goodqueue_qdisc::packet::Socket;
use goodqueue_qdisc::{AnyQdisc, Args, Link, param, registry};
use goodqueue_units::Rate;

pub(crate) use write::{Pairs, header};

/// The way from one key of the header to words of the line, and back. A missing key gives no words.
enum Rule {
    /// `key=V` becomes `word Vunit`.
    Value(&'static str, &'static str, &'static str),
    /// `key=V V V` becomes `word V V V`.
    List(&'static str, &'static str),
    /// `key=1` becomes `word`, `key=0` becomes `noword`.
    Flag(&'static str, &'static str),
    /// Bit number `1` of `key` becomes `word` if it is set.
    Bit(&'static str, u32, &'static str),
    /// `key`, if present, must have this value. Any other value is an option that our line has no word for.
    Only(&'static str, &'static str),
    /// Words that need more than one key, with functions to read and to write them.
    Words(fn(&Header) -> Result<String, Refusal>, fn(&Args, &Link, &mut Pairs)),
    /// `key` always has this value. It is written for readers of our traces, and not read.
    Note(&'static str, &'static str),
    /// `key` is the time `word` in units of 2^n ns, where `n` is the third field. Written, not read.
    Ticks(&'static str, &'static str, u32),
}
use Rule::{Bit, Flag, List, Note, Only, Ticks, Value, Words};

/// The reason why there is no discipline for a header.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The header is broken.
    Malformed(String),
    /// We have no such discipline, or our discipline has no such option.
    Unsupported(String),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Self::Malformed(what)
    }
}

/// Returns the value of the parameter `word`, which the discipline of `args` must list.
fn value(args: &Args, word: &str) -> param::Value {
    args.value(word).unwrap_or_else(|| panic!("{} does not list {word}", args.spec.name))
}

fn integer(args: &Args, word: &str) -> Option<u64> {
    if let param::Value::Integer(integer) = value(args, word) { Some(integer) } else { None }
}

fn real(args: &Args, word: &str) -> Option<f64> {
    if let param::Value::Real(real) = value(args, word) { Some(real) } else { None }
}

fn flag(args: &Args, word: &str) -> bool {
    value(args, word) == param::Value::Flag(true)
}

/// Returns whether `chosen` is the word that the parameter `word` has as its value.
fn is(args: &Args, word: &str, chosen: &str) -> bool {
    let value = value(args, word);
    args.spec.param(word).is_some_and(|param| param.show(value) == chosen)
}

/// The key of a `tc` line, for disciplines and variants that the kernel does not have, and which have no table.
const LINE: &str = "line";

/// The kernel's timer frequency, in whose ticks headers give periods.
const HZ: u64 = 250;
const JIFFY_NS: u64 = 1_000_000_000 / HZ;

/// The memory that a packet takes, for limits on memory.
const TRUESIZE: Rule = Note("truesize_model", "256+pow2ceil(len+384)");

/// The sockets that send a trace's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Packets are forwarded.
    None,
    /// Each flow has a TCP socket.
    Tcp,
    /// Each flow has a socket that is not TCP's.
    Other,
}

impl Sockets {
    /// Reads the header's `pace`.
    fn read(header: &Header) -> Result<Self, Refusal> {
        match header.get("pace") {
            None | Some("none") => Ok(Self::None),
            Some("sk") => Ok(Self::Other),
            Some("edt" | "edt_any") => Ok(Self::Tcp),
            Some(other) => Err(format!("pace: found {other:?}; accepted: none, sk, edt, edt_any").into()),
        }
    }

    /// Returns the socket of a packet of the sender `flow`, with the column `pace_Bps` as its rate.
    pub(crate) fn of(self, flow: u64, pacing: Option<Rate>) -> Option<Socket> {
        (self != Self::None).then_some(Socket { id: flow, is_tcp: self == Self::Tcp, pacing })
    }
}

/// The source of a packet's flow hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowHash {
    /// The `hash` column.
    Column,
    /// The number from which the column was computed with a key. Our discipline draws this key itself (SFQ).
    Unperturbed {
        /// The trace's seed.
        seed: u64,
        /// Number of hashes.
        groups: u64,
    },
}

impl FlowHash {
    /// Returns the hash of a packet of the sender `flow` with the column `column`.
    pub(crate) fn of(self, flow: u64, column: u32) -> u32 {
        match self {
            Self::Column => column,
            Self::Unperturbed { seed, groups } => flow_hash(seed, flow % groups),
        }
    }
}

/// Returns the hash of a flow of the group `group` in the trace of `seed`.
pub(crate) const fn flow_hash(seed: u64, group: u64) -> u32 {
    mix(seed.wrapping_mul(1_000_003).wrapping_add(group).wrapping_add(0x9e37_79b9_7f4a_7c15)) as u32
}

/// Returns SFQ's hash with the present keys, which is the trace's column.
pub(crate) const fn perturbed(hash: u32, [k0, k1]: [u64; 2]) -> u32 {
    mix((hash as u64 ^ k0).wrapping_add(k1)) as u32
}

/// Computes the finaliser of splitmix64 (Steele, Lea, Flood 2014).
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const CODEL: &[Rule] = &[
    Note("codel_tick_ns", "1024"),
    Ticks("target_ticks", "target", 10),
    Ticks("interval_ticks", "interval", 10),
    Value("limit_packets", "limit", ""),
    Value("target_us", "target", "us"),
    Value("interval_us", "interval", "us"),
    Flag("ecn", "ecn"),
    Words(ce_threshold, write::ce_threshold),
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
    Words(ce_threshold, write::ce_threshold),
    Words(ce_threshold_selector, write::ce_threshold_selector),
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
    Words(perturb, write::perturb),
    Words(sfq_red, write::sfq_red),
];

/// SFQ's further words if `red` is 1.
const SFQ_RED: &[Rule] = &[
    // Linux does not keep redflowlimit. tc derives max from it, so any value would do.
    Words(|header| Ok(format!("redflowlimit {}", header.number::<u64>("cfg_max")?)), |_, _, _| ()),
    Value("cfg_min", "min", ""),
    Value("cfg_max", "max", ""),
    Value("cfg_avpkt_bytes", "avpkt", ""),
    Value("cfg_burst", "burst", ""),
    Words(probability, write::probability),
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
    Words(probability, write::probability),
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
    Words(probability, write::probability),
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
    Words(|header| dualpi2_gain(header, "alpha"), |args, _, pairs| write::dualpi2_gain(args, "alpha", pairs)),
    Words(|header| dualpi2_gain(header, "beta"), |args, _, pairs| write::dualpi2_gain(args, "beta", pairs)),
    Words(dualpi2_words, write::dualpi2_words),
];

const CAKE: &[Rule] = &[TRUESIZE, Words(cake::words, cake::write)];

const FQ: &[Rule] = &[
    Value("limit_packets", "limit", ""),
    Value("flow_limit_packets", "flow_limit", ""),
    Value("quantum_bytes", "quantum", ""),
    Value("initial_quantum_bytes", "initial_quantum", ""),
    Words(fq_times, write::fq_times),
    Value("low_rate_threshold_Bps", "low_rate_threshold", "bps"),
    Value("buckets", "buckets", ""),
    Value("orphan_mask", "orphan_mask", ""),
    Value("timer_slack_ns", "timer_slack", "ns"),
    Words(fq_horizon_drop, |args, _, pairs| {
        pairs.add("horizon_drop", is(args, "beyond", "horizon_drop") as u8)
    }),
    Flag("rate_enable", "pacing"),
    Note("pace", "none"),
    Only("bands", "3"),
    List("weights_bytes", "weights"),
    List("prio2band", "priomap"),
];

const TABLE: &[(&str, &[Rule])] = &[
    ("pfifo", FIFO),
    ("bfifo", FIFO),
    ("pfifo_head_drop", FIFO),
    ("pfifo_fast", PFIFO_FAST),
    ("choke", CHOKE),
    ("codel", CODEL),
    ("cake", CAKE),
    ("fq", FQ),
    ("fq_codel", FQ_CODEL),
    ("fq_pie", FQ_PIE),
    ("sfq", SFQ),
    ("pie", PIE),
    ("red", RED),
    ("dualpi2", DUALPI2),
];

/// Reads `ce_threshold`. The header counts ticks of 1024 ns, and the largest signed number means "off".
fn ce_threshold(header: &Header) -> Result<String, Refusal> {
    match header.number::<u64>("ce_threshold_ticks")? {
        ticks if ticks == i32::MAX as u64 => Ok(String::new()),
        ticks => Ok(format!("ce_threshold {}ns", ticks.saturating_mul(1024))),
    }
}

fn ce_threshold_selector(header: &Header) -> Result<String, Refusal> {
    let (value, mask): (u8, u8) =
        (header.number("ce_threshold_selector")?, header.number("ce_threshold_mask")?);
    Ok(if mask == 0 { String::new() } else { format!("ce_threshold_selector {value:#x}/{mask:#x}") })
}

/// Reads `maxrate`, `refill_delay`, `horizon` and `ce_threshold`, which the header has in the kernel's units, and `tc`
/// in whole microseconds. 0, or the largest number of microseconds, means "off".
fn fq_times(header: &Header) -> Result<String, Refusal> {
    let jiffies: u64 = header.number("flow_refill_delay_jiffies")?;
    let (bytes, mark): (u64, u64) = (header.number("flow_max_rate_Bps")?, header.number("ce_threshold_ns")?);
    let maxrate = if bytes == 0 { String::new() } else { format!(" maxrate {bytes}bps") };
    let mark = if mark >= FQ_NO_MARKS { String::new() } else { format!(" ce_threshold {}us", mark / 1000) };
    let (delay, horizon) =
        (jiffies.saturating_mul(JIFFY_NS) / 1000, header.number::<u64>("horizon_ns")? / 1000);
    Ok(format!("refill_delay {delay}us horizon {horizon}us{maxrate}{mark}"))
}

/// `ce_threshold` of a kernel's `fq` that marks nothing: 2^32 - 1 us.
const FQ_NO_MARKS: u64 = u32::MAX as u64 * 1000;

fn fq_horizon_drop(header: &Header) -> Result<String, Refusal> {
    Ok(if header.number::<u64>("horizon_drop")? == 0 { "horizon_cap" } else { "horizon_drop" }.to_string())
}

/// Reads max_P. If it was not passed to the kernel, it follows from Plog. Written as a probability, it gives the same
/// integer.
fn probability(header: &Header) -> Result<String, Refusal> {
    if !header.get("options").is_some_and(|options| options.contains("no_max_p=1")) {
        return Ok(format!("probability {}", header.number::<f64>("cfg_prob")?));
    }
    let (plog, delta): (u32, f64) = (header.number("Plog")?, header.number("qth_delta")?);
    let max_p = f64::from(u32::MAX.checked_shr(plog).unwrap_or(u32::MAX)) * delta;
    Ok(format!("probability {}", max_p / (1_u64 << 32) as f64))
}

fn sfq_red(header: &Header) -> Result<String, Refusal> {
    if header.get("red").is_none_or(|red| red == "0") { Ok(String::new()) } else { words(SFQ_RED, header) }
}

/// Reads `perturb`. `tc` has whole seconds, the header has jiffies.
fn perturb(header: &Header) -> Result<String, Refusal> {
    let (jiffies, hz): (u64, u64) = (header.number("perturb_period_jiffies")?, header.number("HZ")?);
    match jiffies.checked_rem(hz) {
        Some(0) => Ok(format!("perturb {}", jiffies / hz)),
        _ => Err(Refusal::Unsupported(format!("perturb: {jiffies} jiffies are no whole second at HZ {hz}"))),
    }
}

/// Returns the kernel's value of a gain in 256ths of 1/s.
const fn kernel_gain(gain: u64) -> u64 {
    gain.saturating_mul(u32::MAX as u64) / 4_000_000_000
}

/// Reads a gain. `tc` takes gains in 256ths of 1/s. The header has the kernel's value: 64ths of 2^32 - 1 per ns, cut.
fn dualpi2_gain(header: &Header, word: &str) -> Result<String, Refusal> {
    let internal: u64 = header.number(&format!("{word}_internal"))?;
    let gain = internal.saturating_mul(4_000_000_000).div_ceil(u32::MAX.into());
    if kernel_gain(gain) != internal {
        return Err(Refusal::Unsupported(format!("{word}_internal={internal} is no gain that tc can set")));
    }
    Ok(format!("{word} {}", gain as f64 / 256.0))
}

fn dualpi2_words(header: &Header) -> Result<String, Refusal> {
    let on = |key| Ok::<_, Refusal>(header.number::<u64>(key)? != 0);
    let step: u64 = header.number("step_thresh")?;
    let step = match on("step_in_packets")? {
        true => format!("step_thresh {step}p"),
        false => format!("step_thresh {step}ns"),
    };
    let overload = if on("drop_overload")? { "drop_on_overload" } else { "overflow" };
    let drop = if on("drop_early")? { "drop_enqueue" } else { "drop_dequeue" };
    let classifier = match header.number::<u64>("ecn_mask")? {
        1 => "l4s_ect",
        3 => "any_ect",
        other => return Err(Refusal::Unsupported(format!("ecn_mask={other} has no word here"))),
    };
    Ok(format!("{step} {overload} {drop} {classifier}"))
}

impl Rule {
    fn words(&self, header: &Header) -> Result<String, Refusal> {
        Ok(match *self {
            Value(key, word, unit) => match header.get(key) {
                None => String::new(),
                Some(value) => {
                    header.number::<f64>(key)?;
                    format!("{word} {value}{unit}")
                }
            },
            List(key, word) => match header.get(key) {
                None => String::new(),
                Some(list) => {
                    list.split(' ').try_for_each(|text| trace::number::<u64>(text, key).map(|_| ()))?;
                    format!("{word} {list}")
                }
            },
            Flag(key, word) => match header.get(key) {
                None => String::new(),
                Some(_) if header.number::<u64>(key)? == 0 => format!("no{word}"),
                Some(_) => word.to_string(),
            },
            Bit(key, bit, word) if header.number::<u64>(key)? >> bit & 1 != 0 => word.to_string(),
            Bit(..) => String::new(),
            Only(key, value) => match header.get(key) {
                Some(other) if other != value => {
                    return Err(Refusal::Unsupported(format!("{key}={other} has no word here")));
                }
                _ => String::new(),
            },
            Words(words, _) => words(header)?,
            Note(..) | Ticks(..) => String::new(),
        })
    }
}

/// The discipline of a header, ready for the replay.
pub(crate) struct Setup {
    pub(crate) qdisc: AnyQdisc<Arrival>,
    pub(crate) hash: FlowHash,
    pub(crate) sockets: Sockets,
}

/// Returns the `tc` line of the trace's discipline.
fn line(algorithm: &str, header: &Header) -> Result<String, Refusal> {
    if let Some(line) = header.get(LINE) {
        // A size table stands before the discipline's name.
        let name = registry::parse_line(line).ok().map(|args| args.spec.name);
        return match name.or_else(|| line.split_whitespace().next()) {
            Some(name) if name == algorithm => Ok(line.to_string()),
            _ => Err(format!("{LINE}: found {line:?}; accepted: a line of {algorithm}").into()),
        };
    }
    let rules = TABLE.iter().find(|(name, _)| *name == algorithm);
    let (_, rules) =
        rules.ok_or_else(|| Refusal::Unsupported(format!("{algorithm:?} is not implemented")))?;
    Ok(format!("{algorithm} {}", words(rules, header)?))
}

/// Returns the words of all `rules`.
fn words(rules: &[Rule], header: &Header) -> Result<String, Refusal> {
    let words = rules.iter().map(|rule| rule.words(header)).collect::<Result<Vec<_>, _>>()?;
    Ok(words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Builds the discipline that `header` describes, or says why there is none.
pub(crate) fn build(algorithm: &str, header: &Header) -> Result<Setup, Refusal> {
    // If the rate changes, the header lists all rates. Disciplines are set up with the first.
    let bps = header.get("link_bps").and_then(|list| list.split(',').next());
    let rate = bps.and_then(|bps| Rate::from_bps(bps.parse().ok()?));
    let rate = rate.ok_or_else(|| "the header has no link_bps above zero".to_string())?;
    let link = Link { rate, mtu: header.number("psched_mtu_bytes")? };
    let hash = if algorithm == "sfq" {
        let groups = header.number::<u64>("hash_groups")?.max(1);
        FlowHash::Unperturbed { seed: header.number("seed")?, groups }
    } else {
        FlowHash::Column
    };
    let line = line(algorithm, header)?;
    let qdisc = AnyQdisc::parse(&line, &link).map_err(|error| Refusal::Unsupported(error.to_string()))?;
    Ok(Setup { qdisc, hash, sockets: Sockets::read(header)? })
}
