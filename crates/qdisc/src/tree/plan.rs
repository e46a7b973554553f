//! A tree as its commands describe it, and what `tc` and Linux refuse about them.
//!
//! Source: tc(8), and net/sched/sch_api.c and cls_api.c. A refusal has Linux's own words in brackets where it has some.

mod change;
mod classes;
mod filters;
mod head;
mod read;

pub(super) use change::{Set, Step};

use super::chain::Rule;
use super::devices::is_of;
use super::id::Id;
use super::params::{Class, Scheduler};
use super::shell;
use crate::param::{Args, Error};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

type Read<T> = Result<T, String>;

/// The longest text of commands, and the largest number of classes.
const LONGEST: usize = 64 << 20;
/// A tree.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The name of the device in the commands.
    device: String,
    stab: Option<Args>,
    /// The first is the root.
    pub(super) qdiscs: Vec<Qdisc>,
    /// The places of the qdiscs by the first number of their handles. One inside another has the place of that.
    majors: BTreeMap<u16, usize>,
    /// The first number of the last handle that no command gave.
    automatic: u16,
    /// Equal leaves share their parameters.
    leaves: BTreeMap<String, Arc<Args>>,
    /// What tells filters apart, with the places of their qdiscs, their classes and their preferences.
    taken: BTreeSet<(usize, u16, u32, Vec<u32>)>,
    /// A sentence for each filter that does not do what its words seem to say, and on what was skipped.
    notes: Vec<String>,
}

/// A qdisc of a tree.
#[derive(Clone, Debug)]
pub(super) struct Qdisc {
    pub(super) handle: Id,
    /// The class above, or none for the root.
    parent: Option<Id>,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Scheduler {
        own: Scheduler,
        /// By the minor number.
        classes: BTreeMap<u16, Node>,
        filters: Vec<Filter>,
    },
    /// A discipline of the registry.
    Leaf(Arc<Args>),
}

/// A class of a tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) own: Class,
    pub(super) parent: Option<u16>,
    /// 0: a leaf.
    pub(super) level: usize,
    /// Its discipline, if a command gives it one.
    pub(super) qdisc: Option<usize>,
    /// In which order the classes were made.
    order: usize,
}

/// A filter of a tree.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// 0: of the qdisc itself, else the class that has it.
    pub(super) of: u16,
    preference: u32,
    protocol: String,
    kind: String,
    /// What filters of this preference have in common, by kind: see [`super::filter::Filter`].
    mask: Vec<u32>,
    /// The words from the kind on, with the handle.
    handle: Option<String>,
    words: String,
    /// Whether a note says that it does not what its words seem to say.
    pub(super) has_note: bool,
    pub(super) rule: Rule,
}

impl Plan {
    /// Reads the commands in `text`: those of a shell script, or of `tc -batch`.
    ///
    /// # Errors
    /// Fails at the first command that `tc` or Linux refuses, or that is not simulated.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        Self::read_of(text, None)
    }

    /// Reads the commands in `text` that are of `device`, or all of them.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub(crate) fn read_of(text: &str, device: Option<&str>) -> Result<Self, Error> {
        let at_line = |number: usize, why: String| Error(format!("tc line {number}: {why}"));
        if text.len() > LONGEST {
            return Err(Error(format!("tc: found {} bytes; accepted: at most {LONGEST}", text.len())));
        }
        let mut plan = Self::default();
        let notes = shell::carry_out(text, &mut |words| match device {
            Some(device) if !is_of(words, device) => Ok(()),
            _ => plan.command(words),
        });
        plan.notes.extend(notes.map_err(|(number, why)| at_line(number, why))?);
        if plan.qdiscs.is_empty() {
            return Err(Error(
                "tc: found no command that makes the root qdisc; accepted: tc qdisc add dev eth0 root …"
                    .into(),
            ));
        }
        plan.check()?;
        plan.give_fifos().map_err(Error)?;
        Ok(plan)
    }

    /// Takes the size table of the root.
    pub(crate) fn take_stab(&mut self) -> Option<Args> {
        self.stab.take().filter(|stab| !stab.is_idle_stab())
    }

    /// Returns a sentence for each filter that does on Linux, and here, not what its words seem to say.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns all filters.
    pub(super) fn filters(&self) -> impl Iterator<Item = &Filter> {
        self.qdiscs.iter().flat_map(|qdisc| match &qdisc.what {
            What::Scheduler { filters, .. } => filters.iter(),
            What::Leaf(_) => [].iter(),
        })
    }

    /// Returns the handle of the root.
    pub(super) fn root(&self) -> Id {
        self.qdiscs.first().map(|root| root.handle).unwrap_or_default()
    }

    /// Refuses a tree that holds up all of its packets.
    fn check(&self) -> Result<(), Error> {
        for qdisc in &self.qdiscs {
            if let What::Scheduler { own: own @ (Scheduler::Hfsc { .. } | Scheduler::Drr), classes, .. } =
                &qdisc.what
                && classes.is_empty()
            {
                let name = own.name();
                return Err(Error(format!(
                    "tc: found {name} {} without classes, which drops every packet; accepted: one with classes",
                    qdisc.handle
                )));
            }
        }
        Ok(())
    }

    /// Returns the rules of the filters of a qdisc (0) or class, in the order in which they are asked.
    pub(super) fn rules(filters: &[Filter], of: u16) -> Vec<&Rule> {
        let mut own: Vec<(u32, usize, usize, &Rule)> = Vec::new();
        let mut groups = BTreeMap::new();
        for (place, filter) in filters.iter().enumerate().filter(|(_, filter)| filter.of == of) {
            // flower asks all filters of a mask before those of the next mask (`fl_classify`), basic the latest filter
            // first (`basic_change`).
            let group = match filter.kind.as_str() {
                "flower" => *groups.entry((filter.preference, &filter.mask)).or_insert(place),
                "basic" => filters.len() - place,
                _ => place,
            };
            own.push((filter.preference, group, place, &filter.rule));
        }
        own.sort_by_key(|(preference, group, place, _)| (*preference, *group, *place));
        own.into_iter().map(|(.., rule)| rule).collect()
    }
}

impl Filter {
    /// Returns the words from the handle on.
    pub(super) fn words(&self) -> String {
        self.handle.iter().map(|handle| format!("handle {handle} ")).chain([self.words.clone()]).collect()
    }
}

impl fmt::Display for Plan {
    /// Writes the commands, which can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = &self.device;
        let mut between = "";
        for qdisc in &self.qdiscs {
            let handle = qdisc.handle;
            write!(f, "{between}tc qdisc add dev {device} ")?;
            between = "; ";
            match qdisc.parent {
                Some(parent) => write!(f, "parent {parent} handle {handle} ")?,
                None => write!(f, "root handle {handle} ")?,
            }
            let (own, classes, filters) = match &qdisc.what {
                What::Leaf(args) => {
                    write!(f, "{args}")?;
                    continue;
                }
                What::Scheduler { own, classes, filters } => (own, classes, filters),
            };
            f.write_str(&own.words())?;
            let mut classes: Vec<_> =
                classes.iter().filter(|(_, node)| !matches!(node.own, Class::Band)).collect();
            classes.sort_by_key(|(_, node)| node.order);
            for (minor, node) in classes {
                let parent = Id::of(handle.major(), node.parent.unwrap_or(0));
                let id = Id::of(handle.major(), *minor);
                write!(f, "; tc class add dev {device} parent {parent} classid {id} {}", node.own.words())?;
            }
            for filter in filters {
                let parent = Id::of(handle.major(), filter.of);
                let Filter { preference, protocol, words, .. } = filter;
                write!(
                    f,
                    "; tc filter add dev {device} parent {parent} protocol {protocol} prio {preference} "
                )?;
                if let Some(handle) = &filter.handle {
                    write!(f, "handle {handle} ")?;
                }
                f.write_str(words)?;
            }
        }
        Ok(())
    }
}

/// A change of a tree: the tree's parameters after it, its commands, and what they do.
pub(crate) struct Change {
    pub(crate) args: Args,
    pub(crate) commands: String,
    pub(super) steps: Vec<Step>,
}

impl Args {
    /// Returns the change of this tree by the commands in `text`. `None`: this is no tree.
    pub(crate) fn change_of_tree(&self, text: &str) -> Option<Result<Change, Error>> {
        let mut plan = self.plan()?.clone();
        let changed = plan.change(text, self.stab().is_some());
        Some(changed.map(|(steps, commands)| Change { args: self.with_plan(plan), commands, steps }))
    }
}
