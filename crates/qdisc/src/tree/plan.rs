//! A device, as the commands of a tree set it up one after the other.
//!
//! Source: tc(8), and net/sched/sch_api.c and cls_api.c (Linux 6.1). A command does what it does there, or is refused
//! with the words of `tc` or Linux in brackets. What a device may have and a run here cannot is refused when all
//! commands are read (`limits`).

mod altered;
mod blocks;
mod change;
mod classes;
mod filters;
mod foreign;
mod grafted;
mod groups;
mod head;
mod limits;
mod nodes;
mod qdiscs;
mod queues;
mod read;
pub(super) mod refusal;
mod shown;
mod tried;

pub(crate) use change::Change;
pub(super) use change::{Set, Step};
pub use tried::{Tried, tried};

use super::chain::Rule;
use super::devices::is_of;
use super::id::Id;
use super::params::{Class, Scheduler};
use super::shell;
use super::words::Line;
use crate::param::{Args, Error};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use blocks::Blocks;
use goodqueue_units::Release;
use head::{Object, Verb};
use nodes::Classes;
use queues::OtherQueues;

type Read<T> = Result<T, String>;

/// The longest text of commands.
const LONGEST: usize = 64 << 20;
/// Bytes of a full frame, for the quanta of `ets` that are unset.
const FRAME: u32 = 1514;

/// A device with its qdiscs, their classes and filters.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The name of the device in the commands.
    device: String,
    /// The qdiscs that have a handle, in the order in which they were made.
    pub(super) qdiscs: BTreeMap<usize, Qdisc>,
    root: Option<usize>,
    /// The qdiscs by the first number of their handles.
    majors: BTreeMap<u16, usize>,
    /// How many qdiscs, classes and filters were made so far.
    made: usize,
    /// The first number of the last handle that no command gave.
    automatic: u16,
    /// Sentences on what was skipped in the script.
    skipped: Vec<String>,
    /// The release of Linux whose rules these are.
    release: Release,
    /// Equal leaves share their parameters.
    leaves: BTreeMap<String, Arc<Args>>,
    /// So do equal classes of `htb`.
    classes: BTreeMap<String, Arc<Args>>,
}

/// A qdisc that has a handle.
#[derive(Clone, Debug)]
pub(super) struct Qdisc {
    pub(super) handle: Id,
    /// The class above as the command names it, or [`Id::ROOT`].
    parent: Id,
    /// How many qdiscs are above it.
    depth: usize,
    stab: Option<Box<Args>>,
    /// The qdisc of the root class of `hfsc`, which no packet reaches.
    of_root_class: Option<usize>,
    /// The classes of `drr` that a command without `classid` made: 0:0, which no command and no packet finds.
    nameless: Vec<Class>,
    pub(super) what: What,
    /// The filters, by the class that has them (0: the qdisc itself) and by preference.
    pub(super) filters: Blocks,
    /// The number of the last hash table of `u32`.
    last_table: u32,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Scheduler {
        own: Scheduler,
        /// By the minor number.
        classes: Classes,
    },
    /// A discipline of the registry.
    Leaf { args: Arc<Args>, inside: Inside },
}

/// What a discipline of one class holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// What it has from the beginning: a queue of its own.
    Own,
    /// The qdisc of a command.
    Qdisc(usize),
    /// Nothing, as a command has deleted that (`noop`): it drops every packet.
    Nothing,
}

/// A class of a tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) own: Class,
    pub(super) parent: Option<u16>,
    /// 0: a leaf.
    pub(super) level: usize,
    /// Its discipline, if a command gives it one. A class of `hfsc` keeps it when it gets children.
    pub(super) qdisc: Option<usize>,
    /// In which order the classes were made.
    order: usize,
    /// Words of another kind that gave it what words of its own kind cannot say.
    words: Option<String>,
}

/// Filters of one preference, which have a protocol and a kind in common (`tcf_proto`).
#[derive(Clone, Debug)]
pub(super) struct Group {
    protocol: String,
    number: u16,
    kind: String,
    /// The mask of `fw`, or the number of the hash table of `u32`.
    common: u32,
    /// The masks of `flower`.
    masks: BTreeMap<Vec<u32>, Mask>,
    /// The handles of the filters of `flower`, by what they compare.
    identities: BTreeMap<Vec<u32>, u32>,
    /// By the handle.
    filters: BTreeMap<u32, Filter>,
    /// No handle below this one is free, of those that Linux gives.
    free: u32,
}

/// A mask of `flower`.
#[derive(Clone, Debug)]
struct Mask {
    /// The place in the order in which the masks are tried.
    order: usize,
    /// How many filters have it.
    filters: usize,
}

/// A filter of a tree.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    order: usize,
    /// Whether it counts for its class, which then cannot be deleted (`tcf_bind_filter`).
    is_bound: bool,
    /// The words from the kind on, with the handle of the command.
    handle: Option<String>,
    words: String,
    /// A sentence for each thing that it does not do as its words seem to say.
    notes: Vec<String>,
    mask: Vec<u32>,
    identity: Vec<u32>,
    pub(super) rule: Rule,
}

/// What a command did.
#[derive(Debug)]
pub(super) enum Effect {
    /// Nothing that a packet could notice.
    Nothing,
    /// It made, took away or moved a qdisc, a class or a filter.
    Structure,
    /// It set parameters of the qdisc at this place, or of one of its classes. The text is the canonical command.
    Set(usize, Option<Set>, String),
}

impl Plan {
    /// Carries out the commands in `text`: those of a shell script, or of `tc -batch`.
    ///
    /// # Errors
    /// Fails at the first command that `tc` or Linux refuses, or that is not simulated.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        Self::read_of(text, None, Release::default())
    }

    /// Reads the commands in `text` that are of `device`, or all of them, as Linux of `release` does.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub(crate) fn read_of(text: &str, device: Option<&str>, release: Release) -> Result<Self, Error> {
        let at_line = |number: usize, why: String| Error(format!("tc line {number}: {why}"));
        if text.len() > LONGEST {
            return Err(Error(format!("tc: found {} bytes; accepted: at most {LONGEST}", text.len())));
        }
        let mut plan = Self { release, ..Self::default() };
        let mut others = OtherQueues::default();
        let notes = shell::carry_out(text, &mut |words| {
            if device.is_some_and(|device| !is_of(words, device)) || others.take(&plan, words) {
                return Ok(());
            }
            match plan.apply(words) {
                Err(_) if is_deletion_of_root(words) => Ok(()),
                done => done.map(|_| ()),
            }
        });
        plan.skipped = notes.map_err(|(number, why)| at_line(number, why))?;
        plan.skipped.extend(others.note());
        plan.check()?;
        plan.give_fifos().map_err(Error)?;
        Ok(plan)
    }

    /// Carries out one command: its words after `tc`.
    fn apply(&mut self, words: &[String]) -> Read<Effect> {
        let mut line = Line::new(words);
        let object = Object::read(line.next().unwrap_or(""))?;
        let Some(word) = line.next() else { return Ok(Effect::Nothing) };
        let Some(verb) = Verb::read(object, word)? else { return Ok(Effect::Nothing) };
        let head = self.head(object, &mut line)?;
        match (object, verb) {
            (Object::Qdisc, Verb::Delete) => self.delete_qdisc(&head),
            (Object::Qdisc, _) => self.modify_qdisc(verb, head, &mut line),
            (Object::Class, _) => self.modify_class(verb, &head, &mut line),
            (Object::Filter, Verb::Delete) => self.delete_filter(&head),
            (Object::Filter, _) => self.modify_filter(verb, &head, &mut line),
        }
    }

    /// Takes the size table of the root.
    pub(crate) fn take_stab(&mut self) -> Option<Args> {
        let root = self.root.and_then(|at| self.qdiscs.get_mut(&at))?;
        root.stab.take().map(|stab| *stab).filter(|stab| !stab.is_idle_stab())
    }

    /// Returns a sentence for each filter that does on Linux, and here, not what its words seem to say, and those on
    /// what was skipped.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.filters().into_iter().flat_map(|filter| filter.notes.iter().cloned()).collect();
        for own in self.qdiscs.values().filter(|own| !own.filters.is_empty()) {
            notes.extend(own.note_on_filters());
        }
        notes.extend(self.skipped.iter().cloned());
        notes
    }

    /// Returns all filters, in the order in which they were made.
    pub(super) fn filters(&self) -> Vec<&Filter> {
        let groups = self.qdiscs.values().flat_map(|qdisc| qdisc.filters.values());
        let mut filters: Vec<&Filter> = groups.flat_map(|group| group.filters.values()).collect();
        filters.sort_by_key(|filter| filter.order);
        filters
    }

    /// Returns the handle of the root.
    pub(super) fn root(&self) -> Id {
        self.root.and_then(|at| self.qdiscs.get(&at)).map(|root| root.handle).unwrap_or_default()
    }

    /// Returns the place of the root.
    pub(super) fn root_place(&self) -> Option<usize> {
        self.root
    }

    /// Returns the place of the qdisc of which `id` is, by its first number (`qdisc_lookup`).
    fn find(&self, id: Id) -> Option<usize> {
        self.majors.get(&id.major()).copied()
    }

    /// Returns the next number in the order in which things are made.
    fn next_order(&mut self) -> usize {
        self.made += 1;
        self.made
    }

    /// Returns the qdisc at `place`, which is there.
    fn at(&self, place: usize) -> &Qdisc {
        &self.qdiscs[&place]
    }
}

/// Returns whether a command deletes the root: scripts begin with that of one that is perhaps there.
fn is_deletion_of_root(words: &[String]) -> bool {
    let is = |at: usize, name: &str| {
        words.get(at).is_some_and(|word| !word.is_empty() && name.starts_with(word.as_str()))
    };
    let place = |word: &String| matches!(word.as_str(), "root" | "ingress" | "clsact");
    is(0, "qdisc") && is(1, "delete") && words.iter().any(place)
}

/// Returns the rules of the filters of a qdisc (0) or class, in the order in which they are asked.
pub(super) fn rules(qdisc: &Qdisc, of: u16) -> Vec<&Rule> {
    let groups = qdisc.filters.range((of, 0)..=(of, u32::MAX));
    groups.flat_map(|(_, group)| group.rules()).collect()
}

impl Group {
    /// Returns the rules in the order in which they are asked.
    fn rules(&self) -> Vec<&Rule> {
        let mut filters: Vec<(usize, usize, &Rule)> = Vec::with_capacity(self.filters.len());
        for filter in self.filters.values() {
            // flower asks all filters of a mask before those of the next mask (`fl_classify`), basic the latest filter
            // first (`basic_change`), and u32 by the handle (`u32_change`).
            let mask = self.masks.get(&filter.mask).map_or(0, |mask| mask.order);
            let place = match self.kind.as_str() {
                "basic" => usize::MAX - filter.order,
                "u32" => 0,
                _ => filter.order,
            };
            filters.push((mask, place, &filter.rule));
        }
        filters.sort_by_key(|(mask, place, _)| (*mask, *place));
        filters.into_iter().map(|(.., rule)| rule).collect()
    }
}

impl Filter {
    /// Returns the words from the handle on.
    pub(super) fn words(&self) -> String {
        self.handle.iter().map(|handle| format!("handle {handle} ")).chain([self.words.clone()]).collect()
    }

    /// Returns whether a note says already that it does not what its words seem to say.
    pub(super) fn has_note(&self) -> bool {
        !self.notes.is_empty()
    }
}

impl Qdisc {
    /// Returns the kind.
    pub(super) fn name(&self) -> &'static str {
        match &self.what {
            What::Leaf { args, .. } => args.spec.name,
            What::Scheduler { own, .. } => own.name(),
        }
    }
}
