//! Commands carried out whatever becomes of those before (`tc -force -batch`), for a comparison with Linux: what is
//! said of each, and the device afterwards as commands that `tc` itself takes.

use super::altered::ASKED_ANEW;
use super::{Filter, Group, Id, Inside, Node, Plan, What};
use crate::param::{Args, Form, ParamSpec, Value};
use crate::tree::params::{Class, Scheduler};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;
use goodqueue_units::Release;

/// What became of commands.
#[derive(Clone, Debug)]
pub struct Tried {
    /// For each command the refusal, if there is one.
    pub said: Vec<Option<String>>,
    /// Commands that bring a device without a qdisc into the same state.
    pub state: Vec<String>,
    /// Why the device's state cannot be run, if it cannot.
    pub limit: Option<String>,
}

/// Carries out `commands`, each without `tc` in front, as Linux of `release` does. `build` makes a discipline, or refuses its parameters.
#[must_use]
pub fn tried<'a>(
    commands: impl Iterator<Item = &'a str>,
    release: Release,
    build: impl Fn(&Args) -> Result<(), crate::param::Error>,
) -> Tried {
    let mut plan = Plan { release, ..Plan::default() };
    let mut said = Vec::new();
    for command in commands {
        let words: Vec<String> = command.split_whitespace().map(ToString::to_string).collect();
        let mut after = plan.clone();
        let done = after.apply(&words).map(|_| ());
        let built = after.new_leaves(&plan).try_for_each(|args| build(args).map_err(|error| error.0));
        // A refusal may leave something behind: Linux counts the handles, and unbinds filters.
        if built.is_ok() {
            plan = after;
        }
        let refusal = done.and(built).err();
        said.push(refusal);
    }
    let limit = if plan.qdiscs.is_empty() { None } else { plan.check().err().map(|error| error.0) };
    let mut state = Vec::new();
    if let Some(root) = plan.root {
        plan.write(root, &mut state);
    }
    Tried { said, state, limit }
}

impl Plan {
    /// Returns the parameters of the leaves that are not the same `before`.
    fn new_leaves<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Args> {
        self.qdiscs.iter().filter_map(|(place, own)| {
            let What::Leaf { args, .. } = &own.what else { return None };
            let is_same = |known: &super::Qdisc| match &known.what {
                What::Leaf { args: known, .. } => alloc::sync::Arc::ptr_eq(known, args),
                What::Scheduler { .. } => false,
            };
            (!before.qdiscs.get(place).is_some_and(is_same)).then_some(&**args)
        })
    }

    /// Adds the commands of the qdisc at `place` and of all below it.
    fn write(&self, place: usize, to: &mut Vec<String>) {
        let (own, device) = (self.at(place), &self.device);
        let at = if own.parent == Id::ROOT { "root".to_string() } else { format!("parent {}", own.parent) };
        let handle = own.handle;
        let stab = own.stab.as_ref().map(|stab| format!("{} ", given(stab)));
        // A qdisc that is not the root gets a table by a change alone.
        let above = self.find(own.parent).map_or("mq", |at| self.at(at).name());
        let (stab, changed) =
            if own.parent == Id::ROOT || above == "mq" { (stab, None) } else { (None, stab) };
        let stab = stab.unwrap_or_default();
        let words = match &own.what {
            What::Leaf { args, .. } => given(args),
            What::Scheduler { own, .. } => own.words(),
        };
        to.push(format!("qdisc add dev {device} {at} handle {handle} {stab}{words}"));
        if let Some(stab) = changed {
            let name = own.name();
            let words = if ASKED_ANEW.contains(&name) { &words } else { name };
            to.push(format!("qdisc change dev {device} {at} handle {handle} {stab}{words}"));
        }
        if let What::Leaf { inside: Inside::Nothing, .. } = own.what {
            let one = Id::of(handle.major(), 1);
            to.push(format!("qdisc add dev {device} parent {one} handle fff0: pfifo"));
            to.push(format!("qdisc del dev {device} parent {one}"));
        }
        for class in &own.nameless {
            to.push(format!("class add dev {device} parent {handle} {}", class.words()));
        }
        if let What::Scheduler { own: Scheduler::Mq, classes } = &own.what {
            for minor in
                classes.iter().filter(|(_, node)| matches!(node.own, Class::Closed)).map(|(minor, _)| *minor)
            {
                let one = Id::of(handle.major(), minor);
                to.push(format!("qdisc add dev {device} parent {one} handle fff0: pfifo"));
                to.push(format!("qdisc del dev {device} parent {one}"));
            }
        }
        let mut below = own.children();
        if let What::Scheduler { classes, .. } = &own.what {
            let mut classes: Vec<(&u16, &Node)> = classes.iter().collect();
            classes.sort_by_key(|(_, node)| node.order);
            if let Some(at) = own.of_root_class {
                below.retain(|other| *other != at);
                self.write(at, to);
            }
            for (minor, node) in
                classes.into_iter().filter(|(_, node)| !matches!(node.own, Class::Band | Class::Closed))
            {
                let parent = match (node.parent, &node.own) {
                    (None, Class::Htb(_)) => "root".to_string(),
                    (parent, _) => format!("parent {}", Id::of(handle.major(), parent.unwrap_or(0))),
                };
                let id = Id::of(handle.major(), *minor);
                let (words, more) = node.words();
                to.push(format!("class add dev {device} {parent} classid {id} {words}"));
                to.extend(more.map(|words| format!("class change dev {device} classid {id} {words}")));
                // A class of hfsc has its qdisc before it has children.
                if let (true, Some(at)) = (node.level > 0, node.qdisc) {
                    below.retain(|other| *other != at);
                    self.write(at, to);
                }
            }
        }
        self.write_filters(place, to);
        below.into_iter().for_each(|place| self.write(place, to));
    }

    fn write_filters(&self, place: usize, to: &mut Vec<String>) {
        let own = self.at(place);
        // The tables of u32 have numbers in the order in which they were made.
        let mut groups: Vec<(&(u16, u32), &Group)> = own.filters.iter().collect();
        groups.sort_by_key(|(_, group)| if group.kind == "u32" { group.common } else { 0 });
        for ((of, preference), group) in groups {
            let mut filters: Vec<(&u32, &Filter)> = group.filters.iter().collect();
            if group.kind != "u32" {
                filters.sort_by_key(|(_, filter)| filter.order);
            }
            let parent = Id::of(own.handle.major(), *of);
            if filters.is_empty() {
                // A table of u32 without a filter: those of one preference are shown together.
                to.push(format!(
                    "filter add dev {} parent {parent} protocol {} prio {preference} u32",
                    self.device, group.protocol
                ));
            }
            for (handle, filter) in filters {
                let Group { protocol, kind, common, .. } = group;
                let handle = match kind.as_str() {
                    "u32" => format!("::{:x}", handle & 0xfff),
                    "fw" => format!("{handle:#x}/{common:#x}"),
                    _ => handle.to_string(),
                };
                let words = &filter.words;
                to.push(format!(
                    "filter add dev {} parent {parent} protocol {protocol} prio {preference} handle {handle} {words}",
                    self.device
                ));
            }
        }
    }
}

/// Returns the line of a discipline with the words that a command gave, and with no others.
fn given(args: &Args) -> String {
    let mut line = args.spec.name.to_string();
    // tc turns the two times of dualpi2 into these four parameters.
    let is_derived = args.is_given("max_rtt") || args.is_given("typical_rtt");
    let is_given = |name: &str| {
        args.is_given(name) || is_derived && matches!(name, "target" | "tupdate" | "alpha" | "beta")
    };
    for (param, value) in args.iter().filter(|(param, _)| param.follows.is_none() && is_given(param.name)) {
        match (value, param.form) {
            (Value::Unset, _) | (_, Form::Child) => continue,
            (Value::Flag(true), _) => _ = write!(line, " {}", param.name),
            (Value::Flag(false), _) => _ = write!(line, " {}", param.negated()),
            (_, Form::Word(_)) => _ = write!(line, " {}", param.show(value)),
            _ => _ = write!(line, " {} {}", param.name, param.show(value)),
        }
        let follows = |(other, _): &(&ParamSpec, Value)| other.follows == Some(param.name);
        for (other, value) in args.iter().filter(follows).take_while(|(_, value)| *value != Value::Unset) {
            _ = write!(line, " {}", other.show(value));
        }
    }
    line
}
