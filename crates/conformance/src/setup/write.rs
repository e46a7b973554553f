//! The header of a decision trace of ours: the tables of [`super`], used from line to header.

use super::read::{FQ_NO_MARKS, kernel_gain};
use super::table::{SFQ_RED, TABLE};
use super::{
    Bit, Flag, HZ, Header, JIFFY_NS, LINE, List, Note, Only, Refusal, Rule, Ticks, Value, Words, flag,
    integer, is, real, value,
};
use goodqueue_qdisc::aqm::codel::CE_THRESHOLD;
use goodqueue_qdisc::aqm::{choke, red};
use goodqueue_qdisc::param::{ParamSpec, Value as Worth};
use goodqueue_qdisc::sched::sfq;
use goodqueue_qdisc::{Args, Link, registry};

/// Parameters that other keys express: the value derived from the parameter is written instead.
const SAID_OTHERWISE: [(&str, &str); 6] = [
    ("codel", "ce_threshold"),
    ("dualpi2", "alpha"),
    ("dualpi2", "beta"),
    ("dualpi2", "split_gso"),
    ("fq_codel", "ce_threshold"),
    ("sfq", "redflowlimit"),
];

/// The `key=value` lines, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs(Vec<(&'static str, String)>);

impl Pairs {
    pub(super) fn add(&mut self, key: &'static str, value: impl ToString) {
        self.0.push((key, value.to_string()));
    }

    /// Sets `bit` of `key` if `on`. A new key begins as 0.
    fn bit(&mut self, key: &'static str, bit: u32, on: bool) {
        let index = self.0.iter().position(|(known, _)| *known == key).unwrap_or(self.0.len());
        if index == self.0.len() {
            self.add(key, 0);
        }
        let old: u64 = self.0[index].1.parse().unwrap_or(0);
        self.0[index].1 = (old | u64::from(on) << bit).to_string();
    }

    /// Returns the pairs one after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (*key, value.as_str()))
    }
}

/// Returns the header's pairs for the discipline of `args`, which [`super::build`] reads back as that discipline. The
/// pairs have the kernel's keys if there is a table for them, otherwise the line itself.
///
/// The error is one line: there is no key for one of the parameters.
pub(crate) fn header(args: &Args, link: &Link) -> Result<Pairs, String> {
    if args.is_given("duplicate") {
        return Err(
            "netem duplicate: found one; accepted in a trace: none, since a trace has no copies".to_string()
        );
    }
    let mut pairs = Pairs::default();
    pairs.add("HZ", HZ);
    let rules = TABLE.iter().find(|(name, _)| *name == args.spec.name);
    // The tables are the kernel's, so they hold only for its variant. They have no key for a size table. The recorder
    // is a device with one transmit queue.
    let rules = rules.filter(|_| args.stab().is_none() && args.spec.name != "cake_mq");
    match rules.filter(|_| args.value("variant").is_none() || is(args, "variant", "linux")) {
        Some((_, rules)) => {
            write(rules, args, link, &mut pairs);
            check(args, link, &pairs)?;
        }
        None => pairs.add(LINE, args),
    }
    Ok(pairs)
}

/// Reads the header back, and refuses a parameter that the header cannot express.
fn check(args: &Args, link: &Link, pairs: &Pairs) -> Result<(), String> {
    let name = args.spec.name;
    let mtu = link.mtu.to_string(); // the recorder writes this key
    let pairs = pairs.iter().chain([("psched_mtu_bytes", mtu.as_str())]);
    let header = Header(pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect());
    let back = super::line(name, &header).map_err(|refusal| match refusal {
        Refusal::Malformed(what) | Refusal::Unsupported(what) => format!("{name}: {what}"),
    })?;
    let back = registry::parse_line(&back).map_err(|error| error.0)?;
    let said = |param: &ParamSpec| !SAID_OTHERWISE.contains(&(name, param.name));
    for param in args.spec.params.iter().filter(|param| said(param)) {
        let (ours, theirs) = (value(args, param.name), value(&back, param.name));
        // An unset parameter was derived.
        if ours != Worth::Unset && ours != theirs {
            let (found, accepted) = (param.show(ours), param.show(theirs));
            return Err(format!("{name} {}: found {found:?}; accepted in a trace: {accepted}", param.name));
        }
    }
    Ok(())
}

fn write(rules: &[Rule], args: &Args, link: &Link, pairs: &mut Pairs) {
    for rule in rules {
        match *rule {
            Value(key, word, unit) => {
                let value = match (integer(args, word), unit) {
                    (Some(ns), "us") => Some((ns / 1000).to_string()),
                    (Some(bits), "bps") => Some((bits / 8).to_string()),
                    (Some(integer), _) => Some(integer.to_string()),
                    (None, _) => {
                        real(args, word).map(|real| real.to_string()).or_else(|| derived(args, link, word))
                    }
                };
                if let Some(value) = value {
                    pairs.add(key, value);
                }
            }
            List(key, word) => {
                if let Some(param) = args.spec.param(word) {
                    pairs.add(key, param.show(value(args, word)));
                }
            }
            Flag(key, word) => pairs.add(key, u8::from(flag(args, word))),
            Bit(key, bit, word) => pairs.bit(key, bit, flag(args, word)),
            Only(key, value) | Note(key, value) => pairs.add(key, value),
            Words(_, write) => write(args, link, pairs),
            Ticks(key, word, shift) => pairs.add(key, integer(args, word).unwrap_or(0) >> shift),
        }
    }
}

/// Returns the value that the discipline derives for a word that the line leaves unset, so that a reader need not
/// derive it.
fn derived(args: &Args, link: &Link, word: &str) -> Option<String> {
    let (min, max, burst) = match args.spec.name {
        "red" => red::asked(args).thresholds(),
        "choke" => choke::asked(args).thresholds(),
        "sfq" => sfq::asked(args)?.thresholds(),
        _ => (0, 0, 0),
    };
    let value = match (args.spec.name, word) {
        ("red" | "choke" | "sfq", "min") => min,
        ("red" | "choke" | "sfq", "max") => max,
        ("red" | "choke" | "sfq", "burst") => burst,
        ("fq", "quantum") => 2 * u64::from(link.mtu),
        ("fq", "initial_quantum") => 10 * u64::from(link.mtu),
        ("dualpi2", "memlimit") => 2 * u64::from(link.mtu) * integer(args, "limit")?,
        (_, "quantum") => link.mtu.into(),
        _ => return None,
    };
    Some(value.to_string())
}

pub(super) fn ce_threshold(args: &Args, _link: &Link, pairs: &mut Pairs) {
    pairs.add(
        "ce_threshold_ticks",
        args.get(&CE_THRESHOLD).map_or(i32::MAX as u64, |time| time.as_nanos() >> 10),
    );
}

pub(super) fn ce_threshold_selector(args: &Args, _link: &Link, pairs: &mut Pairs) {
    let pair = integer(args, "ce_threshold_selector").unwrap_or(0);
    pairs.add("ce_threshold_selector", pair >> 8);
    pairs.add("ce_threshold_mask", pair & 0xff);
}

pub(super) fn perturb(args: &Args, _link: &Link, pairs: &mut Pairs) {
    pairs.add("perturb_period_jiffies", integer(args, "perturb").unwrap_or(0) * HZ);
}

pub(super) fn sfq_red(args: &Args, link: &Link, pairs: &mut Pairs) {
    let red = sfq::asked(args).is_some();
    pairs.add("red", u8::from(red));
    if red {
        write(SFQ_RED, args, link, pairs);
    }
}

pub(super) fn probability(args: &Args, _link: &Link, pairs: &mut Pairs) {
    pairs.add("cfg_prob", real(args, "probability").unwrap_or(0.0));
}

pub(super) fn fq_times(args: &Args, _link: &Link, pairs: &mut Pairs) {
    pairs.add("flow_refill_delay_jiffies", integer(args, "refill_delay").unwrap_or(0).div_ceil(JIFFY_NS));
    pairs.add("horizon_ns", integer(args, "horizon").unwrap_or(0));
    pairs.add("flow_max_rate_Bps", integer(args, "maxrate").unwrap_or(0) / 8);
    pairs.add("ce_threshold_ns", integer(args, "ce_threshold").unwrap_or(FQ_NO_MARKS));
}

pub(super) fn dualpi2_gain(args: &Args, word: &str, pairs: &mut Pairs) {
    let gain = (real(args, word).unwrap_or(0.0) as f32 * 256.0) as u64;
    pairs.add(if word == "alpha" { "alpha_internal" } else { "beta_internal" }, kernel_gain(gain));
}

pub(super) fn dualpi2_words(args: &Args, _link: &Link, pairs: &mut Pairs) {
    let (step, in_packets) = match value(args, "step_thresh") {
        Worth::Packets(packets) => (packets, true),
        Worth::Integer(ns) => (ns, false),
        _ => (0, false),
    };
    pairs.add("step_thresh", step);
    pairs.add("step_in_packets", u8::from(in_packets));
    let is = |name, word| u8::from(is(args, name, word));
    pairs.add("drop_overload", is("on_overload", "drop_on_overload"));
    pairs.add("drop_early", is("drop_at", "drop_enqueue"));
    pairs.add("ecn_mask", 1 + 2 * is("l4s", "any_ect") + is("l4s", "ect0"));
}
