//! Commands that change a tree while it runs: `tc class change` and `tc qdisc change`.
//!
//! Source: `tc_ctl_tclass` and `tc_modify_qdisc` (net/sched/sch_api.c), the `change` functions of the schedulers, and
//! iproute2's parsers (6.1). A command of a class sets what its kind sets: all of it in `htb`, whose `tc` fills in what
//! is left out, and only what the command names in `hfsc`, `drr` and `ets`.

use super::head::{Head, Object};
use super::read::{FRAME, by_linux};
use super::{Node, Plan, Read, What};
use crate::param::{Args, Error, Value};
use crate::registry::parse_inner;
use crate::tree::curve::Spec;
use crate::tree::id::Id;
use crate::tree::params::{Class, Scheduler, ets_quantum, txqueuelen};
use crate::tree::shell;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// Disciplines that Linux does not change once they are made: `Qdisc_ops.change` is missing.
const UNCHANGING: [&str; 4] = ["htb", "sfq", "pfifo_fast", "cake_mq"];
/// Disciplines whose parameters `tc` asks for in each command: those left out have `tc`'s defaults.
const ASKED_ANEW: [&str; 2] = ["red", "tbf"];
/// Disciplines that forget a part of their state at a change, which is not simulated.
const FORGETTING: [&str; 2] = ["choke", "sfb"];

/// What one command does to one discipline of a tree.
#[derive(Clone, Debug)]
pub(in super::super) struct Step {
    /// The classes from the root down to the discipline.
    pub(in super::super) path: Vec<Id>,
    pub(in super::super) set: Set,
}

/// What a command sets.
#[derive(Clone, Debug)]
pub(in super::super) enum Set {
    /// A class of `htb`, whose qdisc has this `r2q`.
    Htb { id: Id, args: Args, r2q: u32 },
    /// The curves of a class of `hfsc`. Those that the command does not name stay.
    Hfsc { id: Id, curves: [Option<Spec>; 3] },
    /// The quantum of a class of `drr` or `ets`.
    Quantum { id: Id, quantum: u32 },
    /// The default class of `hfsc`.
    Default(u16),
    /// The parameters of `prio` or `ets`.
    Bands(Scheduler),
    /// The parameters of a discipline without classes.
    Leaf(Arc<Args>),
}

impl Plan {
    /// Carries out the commands of `text`, one per line or with `;` between them, and returns what they do. The
    /// second result is the canonical text.
    ///
    /// # Errors
    /// Fails at the first command that `tc` or Linux refuses, or that is not simulated. The plan has then changed in
    /// part.
    pub(super) fn change(&mut self, text: &str, has_stab: bool) -> Result<(Vec<Step>, String), Error> {
        let at_line = |number: usize, why: String| Error(format!("tc line {number}: {why}"));
        let (mut steps, mut canonical) = (Vec::new(), String::new());
        shell::carry_out(text, &mut |words| {
            let (step, words) = self.changing(words, has_stab)?;
            let between = if canonical.is_empty() { "" } else { "; " };
            _ = write!(canonical, "{between}tc {words}");
            steps.extend(step);
            Ok(())
        })
        .map_err(|(number, why)| at_line(number, why))?;
        if canonical.is_empty() {
            return Err(Error("tc: found no command; accepted: tc class change, tc qdisc change".into()));
        }
        Ok((steps, canonical))
    }

    /// Carries out one command. Returns what it does, if anything, and its canonical words after `tc`.
    fn changing(&mut self, words: &[String], has_stab: bool) -> Read<(Option<Step>, String)> {
        let mut line = Line::new(words);
        let (object, verb) = (line.next().unwrap_or(""), line.next().unwrap_or(""));
        match (object, verb) {
            ("class", "change" | "replace") => self.change_class(&mut line),
            ("qdisc", "change" | "replace") => self.change_qdisc(&mut line, verb == "replace", has_stab),
            _ => Err(format!(
                "found \"{object} {verb}\" during a run; accepted: class change, qdisc change, as a tree keeps its \
                 classes, disciplines and filters"
            )),
        }
    }

    /// Returns the classes from the root down to the qdisc number `at`.
    fn path(&self, at: usize) -> Vec<Id> {
        let mut path = Vec::new();
        let mut next = self.qdiscs[at].parent;
        while let Some(class) = next {
            path.push(class);
            next = self.find(class).and_then(|at| self.qdiscs[at].parent);
        }
        path.reverse();
        path
    }

    fn change_class(&mut self, line: &mut Line<'_>) -> Read<(Option<Step>, String)> {
        let Head { parent, id, kind, .. } = self.head(Object::Class, line)?;
        let id = id.ok_or("found a class without classid; accepted: classid, as 1:10")?;
        let own = [id, parent.unwrap_or_default()].map(Id::major);
        let major = match own {
            [0, 0] => self.root().major(),
            [0, other] | [other, 0] => other,
            [one, other] if one == other => one,
            _ => {
                return Err(by_linux(
                    &format!("classid {id} beside parent {}", parent.unwrap_or_default()),
                    "two of one qdisc",
                    "Invalid argument",
                ));
            }
        };
        let (id, parent) = (Id::of(major, id.minor()), parent.map(|id| id.minor()));
        let missing = || by_linux(&format!("class {id}"), "a class of the tree", "No such file or directory");
        let at = self.find(id).ok_or_else(missing)?;
        let What::Scheduler { own, classes, .. } = &mut self.qdiscs[at].what else {
            return Err(format!(
                "found class {id}, whose qdisc has none; accepted: a class of htb, hfsc, drr or ets"
            ));
        };
        let asked = match own {
            Scheduler::Ets { .. } => Asked::Quantum(ets_quantum(kind, line)?),
            Scheduler::Prio { .. } | Scheduler::Mq => {
                let found = format!("a change of class {id}, a band of {}", own.name());
                let linux = format!("Qdisc \"{}\" is classless.", own.name());
                return Err(format!(
                    "found {found}; accepted: a class of htb, hfsc, drr or ets (tc: {linux:?})"
                ));
            }
            _ => Asked::Class(own.class(kind, line)?),
        };
        let order = id.minor();
        let node = classes.get_mut(&order).ok_or_else(missing)?;
        let above = node.parent.unwrap_or(0);
        if let (Scheduler::Hfsc { .. }, Some(parent)) = (&*own, parent.filter(|parent| *parent != above)) {
            let found = format!("parent {} of class {id}", Id::of(major, parent));
            return Err(by_linux(
                &found,
                &format!("{}, where it is", Id::of(major, above)),
                "Invalid argument",
            ));
        }
        let (set, written) = match asked {
            Asked::Quantum(quantum) => own.set_quantum(id, quantum)?,
            Asked::Class(class) => set_class(node, own, id, class),
        };
        let device = &self.device;
        let words = format!("class change dev {device} classid {id} {written}");
        Ok((set.map(|set| Step { path: self.path(at), set }), words))
    }

    fn change_qdisc(
        &mut self,
        line: &mut Line<'_>,
        replaces: bool,
        has_stab: bool,
    ) -> Read<(Option<Step>, String)> {
        let Head { parent, id: handle, is_root, stab, kind, .. } = self.head(Object::Qdisc, line)?;
        let at = match (is_root, parent) {
            (true, None) => 0,
            (false, Some(parent)) => self.below(parent, handle)?,
            (false, None) => {
                let handle = handle.ok_or("found neither root, parent nor handle; accepted: one of them")?;
                self.find(handle).ok_or_else(|| {
                    by_linux(&format!("handle {handle}"), "a qdisc of the tree", "Specified qdisc not found.")
                })?
            }
            (true, Some(_)) => return Err("found root and parent; accepted: one of them".to_string()),
        };
        if stab.is_some() || at == 0 && has_stab {
            return Err(
                "found a change of the root beside a stab, which Linux sets anew or takes away; accepted: a change of \
                 a class, or of a qdisc below the root"
                    .to_string(),
            );
        }
        let own = self.qdiscs[at].handle;
        if let Some(other) = handle.filter(|handle| *handle != own) {
            return Err(match self.find(other) == Some(at) {
                true => format!("found handle {other}, inside {own}; accepted: {own}, which holds it"),
                false => by_linux(
                    &format!("handle {other} where {own} is"),
                    &own.to_string(),
                    "NLM_F_REPLACE needed to override.",
                ),
            });
        }
        let name = match &self.qdiscs[at].what {
            What::Leaf(args) => args.spec.name,
            What::Scheduler { own, .. } => own.name(),
        };
        if kind != name {
            let found = format!("found {kind} for {own}, which is {name}; accepted: {name}");
            return Err(match handle {
                Some(_) if !replaces => format!("{found} (Linux: \"Invalid qdisc name.\")"),
                _ => format!("{found}, as a tree keeps its disciplines during a run (Linux replaces it)"),
            });
        }
        let place = match self.qdiscs[at].parent {
            None => "root".to_string(),
            Some(parent) => format!("parent {parent}"),
        };
        let (set, written) = match self.qdiscs[at].what {
            What::Leaf(_) => self.change_leaf(at, kind, line.rest())?,
            What::Scheduler { .. } => self.change_scheduler(at, kind, line)?,
        };
        let words = format!("qdisc change dev {} {place} handle {own} {written}", self.device);
        Ok((set.map(|set| Step { path: self.path(at), set }), words))
    }

    /// Returns the number of the qdisc that the class `parent` has by a command.
    fn below(&self, parent: Id, handle: Option<Id>) -> Read<usize> {
        let at = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a class of the tree", "Failed to find specified qdisc.")
        })?;
        let What::Scheduler { classes, .. } = &self.qdiscs[at].what else {
            let holder = self.qdiscs[at].handle;
            return Err(format!(
                "found parent {parent}, inside {holder}; accepted: {holder}, which holds it"
            ));
        };
        let class = classes.get(&parent.minor()).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a class of the tree", "Specified class not found.")
        })?;
        class.qdisc.ok_or_else(|| {
            // The qdisc that a class has from the beginning has no handle, and Linux does not find it.
            let found = match handle {
                Some(handle) => format!("handle {handle} for {parent}, which has the qdisc of the beginning"),
                None => format!("parent {parent}, which has the qdisc of the beginning"),
            };
            by_linux(
                &found,
                "a class to which a command gives a qdisc",
                "Qdisc not found. To create specify NLM_F_CREATE flag.",
            )
        })
    }

    /// Changes a discipline without classes.
    fn change_leaf(&mut self, at: usize, kind: &str, words: &[String]) -> Read<(Option<Set>, String)> {
        let What::Leaf(args) = &self.qdiscs[at].what else { return Ok((None, kind.to_string())) };
        let line = [&[kind.to_string()], words].concat().join(" ");
        if UNCHANGING.contains(&kind) {
            if words.is_empty() {
                return Ok((None, line)); // tc sends no parameters then
            }
            return Err(by_linux(
                &format!("a change of {kind}"),
                "a discipline that Linux changes",
                "Change operation not supported by specified qdisc.",
            ));
        }
        if FORGETTING.contains(&kind) {
            return Err(format!(
                "found a change of {kind}, which forgets its state then in Linux; accepted in a tree: a change of \
                 another discipline"
            ));
        }
        if let Some(child) = args.child() {
            let child = child.spec.name;
            return Err(format!(
                "found a change of {kind}, which holds {child}; accepted: of one that holds none"
            ));
        }
        let changed = match ASKED_ANEW.contains(&kind) {
            true => parse_inner(&line),
            false => args.changed(&line),
        };
        let changed = Arc::new(changed.map_err(|error| error.0)?);
        if changed.value("adaptive") == Some(Value::Flag(true)) {
            return Err(format!(
                "found a change to {kind} adaptive, whose clock begins anew in Linux; accepted: without adaptive"
            ));
        }
        self.qdiscs[at].what = What::Leaf(changed.clone());
        Ok((Some(Set::Leaf(changed)), line))
    }

    /// Changes a scheduler's own parameters.
    fn change_scheduler(
        &mut self,
        at: usize,
        kind: &str,
        line: &mut Line<'_>,
    ) -> Read<(Option<Set>, String)> {
        if kind == "htb" {
            return Err(by_linux(
                "a change of htb",
                "a change of its classes",
                "Change operation not supported by specified qdisc.",
            ));
        }
        let Some(asked) = Scheduler::read(kind, line, FRAME, txqueuelen(&self.device))? else {
            return Ok((None, kind.to_string()));
        };
        let handle = self.qdiscs[at].handle;
        let What::Scheduler { own, classes, .. } = &mut self.qdiscs[at].what else {
            return Ok((None, kind.to_string()));
        };
        let set = match &asked {
            Scheduler::Hfsc { default } => Some(Set::Default(*default)),
            Scheduler::Ets { .. } | Scheduler::Prio { .. } => Some(Set::Bands(asked.clone())),
            // tc sends no parameters, so Linux changes nothing.
            Scheduler::Drr | Scheduler::Mq | Scheduler::Htb { .. } => None,
        };
        if let Some(Set::Bands(_)) = set {
            let bands = asked.bands() as u16;
            let held =
                classes.iter().rev().find(|(_, node)| node.qdisc.is_some()).map_or(0, |(band, _)| *band);
            if held > bands {
                return Err(format!(
                    "{kind} bands: found {bands}; accepted: {held} or more, as {} has a qdisc",
                    Id::of(handle.major(), held)
                ));
            }
            classes.retain(|band, _| *band <= bands);
            for band in 1..=bands {
                let order = band.into();
                classes.entry(band).or_insert(Node {
                    own: Class::Band,
                    parent: None,
                    level: 0,
                    qdisc: None,
                    order,
                });
            }
        }
        let written = asked.words();
        *own = asked;
        Ok((set, written))
    }
}

/// The parameters of a class that a command has.
enum Asked {
    Class(Class),
    /// Of a band of `ets`.
    Quantum(Option<u32>),
}

/// Sets what a command says of a class, and returns it with the command's words.
fn set_class(node: &mut Node, own: &Scheduler, id: Id, asked: Class) -> (Option<Set>, String) {
    let written = asked.words();
    let set = match (&mut node.own, asked, own) {
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
            Some(Set::Htb { id, args: asked, r2q: *r2q })
        }
        _ => None,
    };
    (set, written)
}

impl Scheduler {
    /// Sets the quantum of a band of `ets`, and returns it with the command's words.
    fn set_quantum(&mut self, id: Id, asked: Option<u32>) -> Read<(Option<Set>, String)> {
        let Self::Ets { strict, quanta, .. } = self else { return Ok((None, String::new())) };
        let Some(quantum) = asked else { return Ok((None, "ets".to_string())) };
        let band = usize::from(id.minor()).saturating_sub(1);
        if band < *strict as usize {
            return Err(by_linux(
                &format!("a quantum for {id}, which is strict"),
                "a band that takes turns",
                "Strict bands do not have a configurable quantum.",
            ));
        }
        if let Some(known) = quanta.get_mut(band) {
            *known = quantum;
        }
        Ok((Some(Set::Quantum { id, quantum }), format!("ets quantum {quantum}")))
    }
}
