//! The commands about qdiscs.
//!
//! Source: `tc_modify_qdisc` and `tc_get_qdisc` (net/sched/sch_api.c, Linux 6.1), whose branches these are.

use super::grafted::OF_QUEUES;
use super::head::{Head, Verb};
use super::refusal::{by_linux, refuse_if};
use super::{Effect, Id, Inside, Node, Plan, Qdisc, Read, What};
use crate::tree::params::{Class, Scheduler};
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Which qdisc a command is about.
enum Aim {
    /// The one at this place, which is there.
    There(usize),
    /// One that is to be made.
    Missing,
}

impl Plan {
    /// Carries out `tc qdisc add`, `change`, `replace` or `link`.
    pub(super) fn modify_qdisc(&mut self, verb: Verb, head: Head<'_>, line: &mut Line<'_>) -> Read<Effect> {
        let words: Vec<String> = line.rest().to_vec();
        let (parent, handle) = (head.parent, head.id);
        // tc reads all words before Linux sees any.
        let read = head.kind.map(|kind| self.discipline(kind, &words)).transpose()?;
        let holder = match parent {
            Id::NONE | Id::ROOT => None,
            _ => Some(self.find(parent).ok_or_else(|| {
                let accepted = "a class of a qdisc above";
                by_linux(&format!("parent {parent}"), accepted, "Failed to find specified qdisc.")
            })?),
        };
        match self.aim(verb, &head, holder)? {
            Aim::There(place) => self.change_qdisc(place, head.kind, &words, head.stab),
            Aim::Missing => {
                let unknown = || by_linux("no kind", "a qdisc", "Specified qdisc kind is unknown.");
                let what = read.ok_or_else(unknown)?;
                self.create((holder, parent), handle, what, head.stab)?;
                Ok(Effect::Structure)
            }
        }
    }

    /// Returns which qdisc a command changes, or that it makes one.
    fn aim(&self, verb: Verb, head: &Head<'_>, holder: Option<usize>) -> Read<Aim> {
        let (parent, handle) = (head.parent, head.id);
        let is_other = |place: usize| head.kind.filter(|kind| *kind != self.at(place).name());
        let wrong_name = |place: usize, kind: &str| {
            let (own, name) = (self.at(place).handle, self.at(place).name());
            by_linux(&format!("{kind} for {own}, which is {name}"), name, self.wrong_name())
        };
        let create = |accepted: &str| match verb.creates() {
            true => Ok(Aim::Missing),
            false => {
                let found = match handle {
                    Id::NONE => format!("parent {parent}, which has no qdisc by a command"),
                    _ => format!("handle {handle} at {parent}, which is not there"),
                };
                Err(by_linux(&found, accepted, "Qdisc not found. To create specify NLM_F_CREATE flag."))
            }
        };
        let accepted = "a qdisc that a command has made";
        let mut place = match (parent, holder) {
            (Id::NONE, _) => {
                refuse_if(handle == Id::NONE, || {
                    by_linux("neither root, parent nor handle", "one of them", "Handle cannot be zero.")
                })?;
                self.find(handle)
            }
            (Id::ROOT, _) => self.root,
            (_, Some(holder)) => self.leaf(holder, parent)?,
            (_, None) => None,
        };
        if parent != Id::NONE {
            let is_same = place.is_some_and(|place| self.at(place).handle == handle);
            if handle != Id::NONE && !is_same {
                refuse_if(place.is_some() && !verb.replaces(), || {
                    let own = place.map(|place| self.at(place).handle).unwrap_or_default();
                    let found = format!("handle {handle} where {own} is");
                    by_linux(&found, &own.to_string(), "NLM_F_REPLACE needed to override.")
                })?;
                match self.find(handle) {
                    None => return create(accepted),
                    Some(other) => return Err(self.refuse_moved(verb, head, other)),
                }
            }
            if handle == Id::NONE {
                match place {
                    None => return create(accepted),
                    // Linux makes a qdisc of another kind, even for `change`, which it calls a hole in the interface.
                    Some(at) if is_other(at).is_some() && verb != Verb::Link => place = None,
                    Some(_) => {}
                }
                if place.is_none() {
                    return Ok(Aim::Missing);
                }
            }
        }
        let place = place
            .ok_or_else(|| by_linux(&format!("handle {handle}"), accepted, "Specified qdisc not found."))?;
        refuse_if(verb.is_exclusive(), || {
            let found = format!("a second {} for {parent}", self.at(place).handle);
            by_linux(&found, "one, or replace", "Exclusivity flag on, cannot modify.")
        })?;
        match is_other(place) {
            Some(kind) => Err(wrong_name(place, kind)),
            None => Ok(Aim::There(place)),
        }
    }

    /// Returns the refusal of a handle that the qdisc at `other` has, which is not that of the class.
    fn refuse_moved(&self, verb: Verb, head: &Head<'_>, other: usize) -> String {
        let (own, handle) = (self.at(other), head.id);
        if own.parent != head.parent {
            let found = format!("handle {handle} at {}, which is at {}", head.parent, own.parent);
            return by_linux(&found, "a new one", "Cannot move an existing qdisc to a different parent.");
        }
        if verb.is_exclusive() {
            return by_linux(
                &format!("handle {handle} twice"),
                "once",
                "Exclusivity flag on, cannot override.",
            );
        }
        if let Some(kind) = head.kind.filter(|kind| *kind != own.name()) {
            return by_linux(&format!("{kind} for {handle}"), own.name(), self.wrong_name());
        }
        // The class has children, and has kept its qdisc: `hfsc_graft_class`.
        by_linux(
            &format!("parent {}, which has classes below it", head.parent),
            "a leaf",
            super::refusal::INVALID,
        )
    }

    /// Carries out `tc qdisc delete`.
    pub(super) fn delete_qdisc(&mut self, head: &Head<'_>) -> Read<Effect> {
        let Head { parent, id: handle, kind, .. } = *head;
        let gone = |found: &str, linux: &str| Err(by_linux(found, "a qdisc that a command has made", linux));
        let holder = match parent {
            Id::NONE | Id::ROOT => None,
            _ => match self.find(parent) {
                None => {
                    return gone(&format!("parent {parent}"), "Failed to find qdisc with specified classid.");
                }
                found => found,
            },
        };
        let place = match (parent, holder) {
            (Id::NONE, _) => match self.find(handle) {
                None => {
                    return gone(&format!("handle {handle}"), "Failed to find qdisc with specified handle.");
                }
                found => found,
            },
            (Id::ROOT, _) => self.root,
            (_, Some(holder)) => {
                let place = self.leaf(holder, parent)?;
                if self.has_no_queue(holder, parent) {
                    let linux = "Cannot find specified qdisc on specified device.";
                    return gone(&format!("parent {parent}, which has no qdisc"), linux);
                }
                place
            }
            (_, None) => None,
        };
        let own = place.map(|place| self.at(place));
        if handle != Id::NONE && own.is_none_or(|own| own.handle != handle) {
            return Err(by_linux(
                &format!("handle {handle}"),
                "the handle of the qdisc there",
                "Invalid handle.",
            ));
        }
        let name = own.map_or_else(|| self.name_without_command(holder), Qdisc::name);
        if let Some(kind) = kind.filter(|kind| *kind != name) {
            return Err(by_linux(&format!("{kind}, where {name} is"), name, self.wrong_name()));
        }
        if parent == Id::NONE {
            return Err(by_linux("a deletion by handle alone", "root, or parent", "Classid cannot be zero."));
        }
        let Some(place) = place else {
            let found = format!("{parent}, which has what it has without a command");
            return gone(&found, "Cannot delete qdisc with handle of zero.");
        };
        match holder {
            None => self.clear(),
            Some(holder) => self.graft(holder, parent, None)?,
        }
        debug_assert!(!self.qdiscs.contains_key(&place), "the grafts above have destroyed it");
        Ok(Effect::Structure)
    }

    /// Returns what Linux says of a kind that is not that of the qdisc there.
    fn wrong_name(&self) -> &'static str {
        self.since_7_3("Invalid qdisc name: must match existing qdisc.", "Invalid qdisc name.")
    }

    /// Returns whether Linux finds no qdisc at all at a class: an inner class has none, and `netem` none inside.
    fn has_no_queue(&self, holder: usize, id: Id) -> bool {
        match &self.at(holder).what {
            What::Scheduler { classes, .. } => match classes.get(&id.minor()) {
                Some(node) => node.level > 0,
                None => !classes.is_empty(), // the root class of hfsc
            },
            What::Leaf { args, inside } => args.spec.name == "netem" && *inside == Inside::Own,
        }
    }

    /// Returns the kind that a class, or the device, has without a command.
    fn name_without_command(&self, holder: Option<usize>) -> &'static str {
        let Some(holder) = holder else { return "pfifo_fast" };
        match &self.at(holder).what {
            What::Leaf { args, .. } if args.spec.name == OF_QUEUES => "cake",
            What::Scheduler { own: Scheduler::Mq, classes } => {
                let is_closed = classes.values().any(|node| matches!(node.own, Class::Closed));
                if is_closed { "noop" } else { "pfifo_fast" }
            }
            What::Leaf { inside: Inside::Nothing, .. } => "noop",
            What::Leaf { args, .. } if args.spec.name != "sfb" => "bfifo",
            _ => "pfifo",
        }
    }
}

/// Returns the classes of a discipline with this many bands.
pub(super) fn bands(count: u16) -> impl Iterator<Item = (u16, Node)> {
    let band = |order| Node { own: Class::Band, parent: None, level: 0, qdisc: None, order, words: None };
    (1..=count).map(move |minor| (minor, band(minor.into())))
}
