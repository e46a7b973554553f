//! The words of a discipline, as `tc` reads them before Linux sees the command.

use super::qdiscs::bands;
use super::refusal::{by_tc, refuse_if};
use super::{FRAME, Inside, Plan, Read, What};
use crate::aqm;
use crate::aqm::red::Asked;
use crate::param::{Args, Value};
use crate::registry::parse_inner;
use crate::tree::params::{Scheduler, txqueuelen};
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

impl Plan {
    /// Reads a discipline: one with classes, or one of the registry.
    pub(super) fn discipline(&mut self, kind: &str, words: &[String]) -> Read<What> {
        let mut line = Line::new(words);
        let Some(own) = Scheduler::read(kind, &mut line, FRAME, txqueuelen(&self.device))? else {
            let args = self.leaf_of(kind, words)?;
            return Ok(What::Leaf { args, inside: Inside::Own });
        };
        let classes = bands(own.bands() as u16).collect();
        Ok(What::Scheduler { own, classes })
    }

    /// Reads the line of a discipline without classes.
    pub(super) fn leaf_of(&mut self, kind: &str, words: &[String]) -> Read<Arc<Args>> {
        let line = [&[kind.to_string()], words].concat().join(" ");
        if let Some(known) = self.leaves.get(&line) {
            return Ok(known.clone());
        }
        check_words(kind, words)?;
        let mut args = parse_inner(&line).map_err(|error| error.0)?;
        check_demands(&args)?;
        fit(&mut args, txqueuelen(&self.device));
        let args = Arc::new(args);
        self.leaves.insert(line, args.clone());
        Ok(args)
    }
}

/// Refuses words that `tc` refuses for their order, or for a number with a unit (`fq_parse_opt`, `dualpi2_parse_opt`,
/// iproute2 7.3).
fn check_words(kind: &str, words: &[String]) -> Read<()> {
    let mut before = ["", ""];
    for word in words.iter().map(String::as_str).chain([""]) {
        let follows_bands = before[0] == "bands";
        refuse_if(kind == "fq" && word == "priomap" && !follows_bands, || {
            by_tc("fq priomap alone", "bands 3 in front of it", "What is \"priomap\"?")
        })?;
        refuse_if(kind == "fq" && word != "priomap" && follows_bands, || {
            let said = if word.is_empty() {
                "Command line is not complete. Try option \"help\""
            } else {
                "\"priomap\" expected"
            };
            by_tc("fq bands without priomap", "priomap and 16 bands behind it", said)
        })?;
        let is_plain = word.bytes().all(|one| one.is_ascii_digit());
        refuse_if(kind == "dualpi2" && before[1] == "memlimit" && !is_plain, || {
            by_tc(
                &format!("dualpi2 memlimit {word}"),
                "a number of bytes without a unit",
                "Illegal \"memlimit\"",
            )
        })?;
        before = [before[1], word];
    }
    Ok(())
}

/// Refuses a line to which `tc` wants more words (`tbf_parse_opt`, `choke_parse_opt`, `netem_parse_opt`). A line with a
/// `child`, which `tc` does not know, is one of this program.
fn check_demands(args: &Args) -> Read<()> {
    let is_given = |name: &str| args.is_given(name);
    refuse_if(args.spec.name == "choke" && !(is_given("limit") && is_given("bandwidth")), || {
        let said = "Required parameter (bandwidth, limit) is missing";
        by_tc("choke without limit or bandwidth", "both, as choke limit 1000 bandwidth 10mbit", said)
    })?;
    let red = match args.spec.name {
        "red" => Some(aqm::red::asked(args)),
        "choke" => Some(aqm::choke::asked(args)),
        _ => None,
    };
    if let Some(asked) = red.filter(|_| args.value("adaptive") != Some(Value::Flag(true))) {
        check_thresholds(args.spec.name, &asked)?;
    }
    let is_too_soon = args.spec.name == "netem" && is_given("reorder") && !is_given("delay");
    refuse_if(is_too_soon, || {
        let said = "reordering not possible without specifying some delay";
        by_tc("netem reorder without delay", "both, as netem delay 10ms reorder 25%", said)
    })?;
    if args.spec.name != "tbf" || args.is_given("child") {
        return Ok(());
    }
    let demand = |is_there: bool, found: &str, accepted: &str, said: &str| {
        refuse_if(!is_there, || by_tc(&format!("tbf without {found}"), accepted, said))
    };
    let has = |name: &str| args.is_given(name);
    demand(has("rate"), "rate", "rate and a rate, as rate 10mbit", "the \"rate\" parameter is mandatory.")?;
    demand(has("burst"), "burst", "burst and bytes, as burst 5kb", "the \"burst\" parameter is mandatory.")?;
    demand(
        has("minburst") || !has("peakrate"),
        "mtu beside peakrate",
        "mtu and bytes, as mtu 1540",
        "when \"peakrate\" is specified, \"mtu\" must also be specified.",
    )?;
    demand(
        has("limit") || has("latency"),
        "limit or latency",
        "latency 50ms, for example",
        "either \"limit\" or \"latency\" is required.",
    )
}

/// Refuses thresholds that `tc` refuses. A decision trace may have a `max` above the limit, as Linux takes it.
fn check_thresholds(name: &str, asked: &Asked) -> Read<()> {
    let (min, max, _) = asked.thresholds();
    if name == "choke" {
        let limit = asked.limit;
        refuse_if(max > limit, || {
            let said = "\"max\" is larger than \"limit\"";
            by_tc(&format!("choke max {max}"), &format!("limit {limit} at most"), said)
        })?;
        refuse_if(min >= max, || {
            let said = "\"min\" is not smaller than \"max\"";
            by_tc(&format!("choke min {min} beside max {max}"), "less than max", said)
        })?;
    }
    asked.set_up(None).map(drop).map_err(|error| error.0)
}

/// Gives `args`, and the discipline inside, the limits that Linux takes from the device's `txqueuelen` if a line names
/// none: those of sch_fifo.c, of sch_sfb.c and of the bands of `pfifo_fast`.
fn fit(args: &mut Args, txqueuelen: u32) {
    let packets = u64::from(txqueuelen);
    match args.spec.name {
        "pfifo" | "pfifo_head_drop" | "sfb" => args.set_default("limit", Value::Integer(packets)),
        "bfifo" => args.set_default("limit", Value::Integer(packets * u64::from(FRAME))),
        "pfifo_fast" => args.set_default("txqueuelen", Value::Integer(packets)),
        _ => {}
    }
    if let Some(child) = args.child_mut() {
        fit(child, txqueuelen);
    }
}
