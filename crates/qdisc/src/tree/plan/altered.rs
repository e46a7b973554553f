//! New parameters for qdiscs and classes that are there: `change`, and `replace` of the same kind.
//!
//! Source: `qdisc_change` (net/sched/sch_api.c), the `change` functions of the schedulers, and iproute2's parsers
//! (6.1). A command of a class sets what its kind sets: all of it in `htb`, whose `tc` fills in what is left out, and
//! only what the command names in `hfsc`, `drr` and `ets`.

use super::change::Set;
use super::foreign::{Asked, has_hidden_limit};
use super::qdiscs::bands;
use super::refusal::{INVALID, by_linux, refuse_if};
use super::{Effect, FRAME, Id, Inside, Node, Plan, Read, What};
use crate::param::Args;
use crate::sched::bucket::ANY_RATE;
use crate::sched::tbf::own_limit;
use crate::tree::params::{Class, Scheduler, txqueuelen};
use crate::tree::words::Line;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Disciplines that Linux does not change once they are made: `Qdisc_ops.change` is missing.
const UNCHANGING: [&str; 4] = ["htb", "sfq", "pfifo_fast", "cake_mq"];
/// Disciplines whose parameters `tc` asks for in each command: those left out have `tc`'s defaults.
pub(super) const ASKED_ANEW: [&str; 4] = ["red", "tbf", "sfb", "choke"];
/// Disciplines that make their own queue anew at each change, in place of what a command has put there.
const REFILLED: [&str; 2] = ["red", "sfb"];

impl Plan {
    /// Changes the qdisc at `place` as a command with these words behind its kind says.
    pub(super) fn change_qdisc(
        &mut self,
        place: usize,
        kind: Option<&str>,
        words: &[String],
        stab: Option<Args>,
    ) -> Read<Effect> {
        let Some(kind) = kind else { return Ok(Effect::Nothing) };
        let (set, written) = match self.at(place).what {
            What::Leaf { .. } => self.change_leaf(place, kind, words)?,
            What::Scheduler { .. } => self.change_scheduler(place, kind, words)?,
        };
        let Some(own) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        own.stab = stab.map(Box::new); // a command without one takes it away
        let at = match own.parent {
            Id::ROOT => "root".to_string(),
            parent => format!("parent {parent}"),
        };
        let words =
            format!("qdisc change dev {} {at} handle {} {written}", self.device, self.at(place).handle);
        Ok(Effect::Set(place, set, words))
    }

    /// Changes a discipline without classes of its own.
    fn change_leaf(&mut self, place: usize, kind: &str, words: &[String]) -> Read<(Option<Set>, String)> {
        let What::Leaf { args, inside } = &self.at(place).what else { return Ok((None, kind.to_string())) };
        let (args, inside) = (args.clone(), *inside);
        let line = [&[kind.to_string()], words].concat().join(" ");
        if UNCHANGING.contains(&kind) {
            if words.is_empty() {
                return Ok((None, line)); // tc sends no parameters then
            }
            self.leaf_of(kind, words)?; // what tc refuses
            return Err(by_linux(
                &format!("a change of {kind}"),
                "a discipline that Linux changes",
                "Change operation not supported by specified qdisc.",
            ));
        }
        refuse_if(kind == "dualpi2" && words.is_empty(), || {
            let linux = "sch_dualpi2: Dualpi2 options are required.";
            by_linux("a change of dualpi2 without words", "the parameters to change", linux)
        })?;
        let changed = match ASKED_ANEW.contains(&kind) {
            true => self.leaf_of(kind, words)?,
            false => {
                for (name, linux) in
                    [("fq_codel", INVALID), ("fq_pie", "sch_fq_pie: Number of flows cannot be changed.")]
                {
                    refuse_if(kind == name && words.iter().any(|word| word == "flows"), || {
                        by_linux(
                            &format!("flows in a change of {name}"),
                            &format!("{name} without flows"),
                            linux,
                        )
                    })?;
                }
                Arc::new(args.rewritten(&line).map_err(|error| error.0)?)
            }
        };
        self.check_netems(Some(place), &changed)?;
        let inside_after = match inside {
            _ if REFILLED.contains(&kind) => Inside::Own,
            Inside::Nothing if kind == "tbf" => Inside::Own,
            other => other,
        };
        if let (Inside::Qdisc(child), "tbf") = (inside, kind) {
            self.limit_fifo(child, &changed)?;
        }
        if let (Inside::Qdisc(gone), Inside::Own) = (inside, inside_after) {
            self.destroy(gone);
        }
        if let Some(own) = self.qdiscs.get_mut(&place) {
            own.what = What::Leaf { args: changed.clone(), inside: inside_after };
        }
        let holds = matches!(inside, Inside::Qdisc(_)) || args.child().is_some();
        let fixed = args.check_fixed(&changed).err().map(|error| error.0);
        Ok((Some(Set::Leaf { args: changed, holds, fixed }), line))
    }

    /// Gives the FIFO at `child`, if it is one, the limit of the `tbf` that holds it (`fifo_set_limit`). The limit of a
    /// `tbf` is bytes, and that of a `pfifo` gets the same number.
    fn limit_fifo(&mut self, child: usize, tbf: &Args) -> Read<()> {
        let Some(own) = self.qdiscs.get_mut(&child) else { return Ok(()) };
        let What::Leaf { args, .. } = &mut own.what else { return Ok(()) };
        let name = args.spec.name;
        if let ("pfifo" | "bfifo" | "pfifo_head_drop", Some(rate)) = (name, tbf.get(&ANY_RATE)) {
            let limit = own_limit(tbf, rate, FRAME);
            *args = Arc::new(args.rewritten(&format!("{name} limit {limit}")).map_err(|error| error.0)?);
        }
        Ok(())
    }

    /// Changes a scheduler's own parameters.
    fn change_scheduler(
        &mut self,
        place: usize,
        kind: &str,
        words: &[String],
    ) -> Read<(Option<Set>, String)> {
        let read = Scheduler::read(kind, &mut Line::new(words), FRAME, txqueuelen(&self.device))?;
        let Some(asked) = read else { return Ok((None, kind.to_string())) };
        if kind == "htb" {
            return Err(by_linux(
                "a change of htb",
                "a change of its classes",
                "Change operation not supported by specified qdisc.",
            ));
        }
        asked.check()?;
        let Some(own) = self.qdiscs.get_mut(&place) else { return Ok((None, kind.to_string())) };
        let handle = own.handle;
        let What::Scheduler { own, classes } = &mut own.what else { return Ok((None, kind.to_string())) };
        let mut gone = Vec::new();
        let set = match &asked {
            Scheduler::Hfsc { default } => Some(Set::Default(*default)),
            Scheduler::Ets { .. } | Scheduler::Prio { .. } => {
                let count = asked.bands() as u16;
                let lost =
                    |(band, node): (&u16, &Node)| node.qdisc.filter(|_| *band > count).map(|at| (*band, at));
                let lost: Vec<(u16, usize)> = classes.iter().filter_map(lost).collect();
                let (before, bands): (_, Vec<_>) = (classes.len() as u16, bands(count).collect());
                (count + 1..=before).for_each(|band| drop(classes.remove(&band)));
                bands.into_iter().skip(before.into()).for_each(|(band, node)| classes.insert(band, node));
                gone = lost.iter().map(|(_, at)| *at).collect();
                let lost = lost.last().map(|(band, _)| Id::of(handle.major(), *band));
                Some(Set::Bands { asked: asked.clone(), lost })
            }
            // tc sends no parameters, so Linux changes nothing.
            Scheduler::Drr | Scheduler::Mq | Scheduler::Htb { .. } => None,
        };
        let written = asked.words();
        *own = asked;
        gone.into_iter().for_each(|gone| self.destroy(gone));
        Ok((set, written))
    }

    /// Changes the class `id` of the qdisc at `place`, which is there. `parent` is the class above that the command
    /// names, or [`Id::NONE`].
    pub(super) fn change_class(
        &mut self,
        place: usize,
        (id, parent): (Id, Id),
        Asked { own: asked, words }: Asked,
    ) -> Read<Effect> {
        let device = self.device.clone();
        let Some(holder) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        let handle = holder.handle;
        let What::Scheduler { own, classes } = &mut holder.what else { return Ok(Effect::Nothing) };
        let (set, written) = if let Class::Ets(quantum) = asked {
            own.set_quantum(id, quantum)?
        } else {
            let Some(node) = classes.get_mut(&id.minor()) else {
                return Err(format!(
                    "found a change of {id}, the root class of hfsc; accepted: of a class below"
                ));
            };
            let above = Id::of(handle.major(), node.parent.unwrap_or(0));
            let is_elsewhere = parent != Id::NONE && parent != above;
            refuse_if(is_elsewhere && own.name() == "hfsc", || {
                by_linux(&format!("parent {parent} of class {id}"), &format!("{above}, where it is"), INVALID)
            })?;
            let set = set_class(node, own, id, asked);
            if has_hidden_limit(&node.own) && !words.starts_with("hfsc") {
                node.words = Some(words.clone());
            }
            (set, words)
        };
        Ok(Effect::Set(place, set, format!("class change dev {device} classid {id} {written}")))
    }
}

/// Sets what a command says of a class, and returns it.
fn set_class(node: &mut Node, own: &Scheduler, id: Id, asked: Class) -> Option<Set> {
    match (&mut node.own, asked, own) {
        (Class::Hfsc(curves), Class::Hfsc(asked), _) => {
            for (curve, asked) in curves.iter_mut().zip(asked) {
                *curve = asked.or(*curve);
            }
            Some(Set::Hfsc { id, curves: asked })
        }
        (Class::Drr(quantum), Class::Drr(asked), _) => {
            *quantum = asked.or(*quantum);
            asked.map(|quantum| Set::Quantum { id, quantum })
        }
        (Class::Htb(args), Class::Htb(asked), Scheduler::Htb { r2q, .. }) => {
            *args = asked.clone();
            Some(Set::Htb { id, args: Args::clone(&asked), r2q: *r2q })
        }
        _ => None,
    }
}

impl Scheduler {
    /// Sets the quantum of a band of `ets`, and returns it with the command's words.
    fn set_quantum(&mut self, id: Id, asked: Option<u32>) -> Read<(Option<Set>, String)> {
        let Self::Ets { strict, quanta, .. } = self else { return Ok((None, String::new())) };
        let Some(quantum) = asked else { return Ok((None, "ets".to_string())) };
        let band = usize::from(id.minor()).saturating_sub(1);
        refuse_if(band < *strict as usize, || {
            by_linux(
                &format!("a quantum for {id}, which is strict"),
                "a band that takes turns",
                "Strict bands do not have a configurable quantum.",
            )
        })?;
        if let Some(known) = quanta.get_mut(band) {
            *known = quantum;
        }
        Ok((Some(Set::Quantum { id, quantum }), format!("ets quantum {quantum}")))
    }
}
