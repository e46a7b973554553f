//! Commands that change a tree while it runs: `tc class change` and `tc qdisc change`.
//!
//! They are carried out as all commands are, and what has changed becomes steps for the disciplines that run. A tree
//! keeps its classes, disciplines and filters during a run.

use super::refusal::refuse_if;
use super::{Effect, Id, Plan, Read};
use crate::param::{Args, Error, Value};
use crate::tree::curve::Spec;
use crate::tree::params::Scheduler;
use crate::tree::shell;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;

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
    /// The parameters of `prio` or `ets`, and the last class that went with the discipline of a command.
    Bands { asked: Scheduler, lost: Option<Id> },
    /// The parameters of a discipline without classes, whether it held another one, and why one that runs cannot take
    /// them.
    Leaf { args: Arc<Args>, holds: bool, fixed: Option<String> },
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
        let Effect::Set(place, set, canonical) = self.apply(words)? else {
            return Err(format!(
                "found \"{}\" during a run; accepted: class change, qdisc change, as a tree keeps its classes, \
                 disciplines and filters",
                words.iter().take(2).cloned().collect::<Vec<_>>().join(" ")
            ));
        };
        let of_qdisc = canonical.starts_with("qdisc");
        let has_stab = has_stab && Some(place) == self.root_place() || self.at(place).stab.is_some();
        refuse_if(of_qdisc && has_stab, || {
            "found a change of the root beside a stab, which Linux sets anew or takes away; accepted: a change of \
             a class, or of a qdisc below the root"
                .to_string()
        })?;
        if let Some(set) = &set {
            check(set)?;
        }
        Ok((set.map(|set| Step { path: self.path(place), set }), canonical))
    }

    /// Returns the classes from the root down to the qdisc at `place`.
    fn path(&self, place: usize) -> Vec<Id> {
        let mut path = Vec::new();
        let mut next = Some(place);
        while let Some(at) = next.filter(|at| Some(*at) != self.root_place()) {
            let parent = self.at(at).parent;
            path.push(parent);
            next = self.find(parent);
        }
        path.reverse();
        path
    }
}

/// Refuses what a discipline that runs does not do.
fn check(set: &Set) -> Read<()> {
    match set {
        Set::Bands { asked, lost: Some(lost) } => Err(format!(
            "{} bands: found {}; accepted: {} or more, as {lost} has a qdisc",
            asked.name(),
            asked.bands(),
            lost.minor()
        )),
        Set::Leaf { fixed: Some(why), .. } => Err(why.clone()),
        Set::Leaf { args, holds, .. } => {
            let kind = args.spec.name;
            refuse_if(FORGETTING.contains(&kind), || {
                format!(
                    "found a change of {kind}, which forgets its state then in Linux; accepted in a tree: a change of \
                     another discipline"
                )
            })?;
            refuse_if(*holds, || {
                format!("found a change of {kind}, which holds another; accepted: of one that holds none")
            })?;
            refuse_if(args.value("adaptive") == Some(Value::Flag(true)), || {
                format!(
                    "found a change to {kind} adaptive, whose clock begins anew in Linux; accepted: without adaptive"
                )
            })
        }
        _ => Ok(()),
    }
}

/// A change of a tree: the tree's parameters after it, its commands, and what they do.
pub(crate) struct Change {
    pub(crate) args: Args,
    pub(crate) commands: String,
    pub(in super::super) steps: Vec<Step>,
}

impl Args {
    /// Returns the change of this tree by the commands in `text`. `None`: this is no tree.
    pub(crate) fn change_of_tree(&self, text: &str) -> Option<Result<Change, Error>> {
        let mut plan = self.plan()?.clone();
        let changed = plan.change(text, self.stab().is_some());
        Some(changed.map(|(steps, commands)| Change { args: self.with_plan(plan), commands, steps }))
    }
}
