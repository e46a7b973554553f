//! The commands about classes.
//!
//! Source: `tc_ctl_tclass` (net/sched/sch_api.c), and the `change` and `delete` functions of `htb`, `hfsc`, `drr`,
//! `ets`, `prio` and the disciplines of one class (Linux 6.1).

use super::foreign::{Asked, has_hidden_limit};
use super::head::{Head, Verb};
use super::nodes::Classes;
use super::refusal::{BUSY, EXISTS, INVALID, NO_ENTRY, UNSUPPORTED, by_linux, refuse_if};
use super::{Effect, Id, Node, Plan, Read, What};
use crate::tree::htb::LEVELS;
use crate::tree::params::{Class, Scheduler};
use crate::tree::words::Line;
use alloc::format;

/// The most levels of classes of `hfsc`. Linux has no bound. Each level takes time with each packet, and with each
/// class that is added below it.
const MOST_LEVELS: usize = 256;

impl Plan {
    /// Reads the words of a class. Equal classes of `htb` share their parameters.
    fn words_of_class(&mut self, kind: &str, line: &mut Line<'_>) -> Read<Class> {
        if kind != "htb" {
            return Scheduler::class(kind, line);
        }
        let words = line.left().join(" ");
        if let Some(known) = self.classes.get(&words) {
            line.rest();
            return Ok(Class::Htb(known.clone()));
        }
        let class = Scheduler::class(kind, line)?;
        if let Class::Htb(args) = &class {
            self.classes.insert(words, args.clone());
        }
        Ok(class)
    }

    /// Carries out `tc class add`, `change`, `replace` or `delete`.
    pub(super) fn modify_class(&mut self, verb: Verb, head: &Head<'_>, line: &mut Line<'_>) -> Read<Effect> {
        let is_alone = verb == Verb::Delete && head.kind.is_some_and(|kind| matches!(kind, "drr" | "ets"));
        let asked =
            head.kind.filter(|_| !is_alone).map(|kind| self.words_of_class(kind, line)).transpose()?;
        let (place, id, parent) = self.class_of(head)?;
        let own = self.at(place);
        if id == Id::NONE || !own.has_class(id) {
            refuse_if(!verb.creates(), || by_linux(&format!("class {id}"), "a class of the tree", NO_ENTRY))?;
            return self.make_class(place, (id, parent), asked);
        }
        match verb {
            Verb::Add => Err(by_linux(&format!("class {id} twice"), "once", EXISTS)),
            Verb::Delete => self.delete_class(place, id),
            _ => {
                self.refuse_kind(place, id)?;
                let asked = self.fitting(place, asked)?;
                self.change_class(place, (id, parent), asked)
            }
        }
    }

    /// Returns the place of the qdisc of a class, the class's number and that of its parent, with what the command
    /// leaves out.
    fn class_of(&self, head: &Head<'_>) -> Read<(usize, Id, Id)> {
        let (mut id, mut parent) = (head.id, head.parent);
        let of_parent = if parent == Id::ROOT { 0 } else { parent.major() };
        let major = match (id.major(), of_parent) {
            (0, 0) => self.root().major(),
            (0, other) | (other, 0) => other,
            (one, other) if one == other => one,
            _ => {
                let found = format!("classid {id} beside parent {parent}");
                return Err(by_linux(&found, "two of one qdisc", INVALID));
            }
        };
        if parent != Id::ROOT && parent != Id::NONE {
            parent = Id::of(major, parent.minor());
        }
        let missing = || by_linux(&format!("a class of {}", Id::of(major, 0)), "a qdisc above", NO_ENTRY);
        let place = self.find(Id::of(major, 0)).ok_or_else(missing)?;
        refuse_if(!self.at(place).is_classful(), || {
            let name = self.at(place).name();
            by_linux(&format!("a class of {name}, which has none"), "htb, hfsc or drr", INVALID)
        })?;
        if id != Id::NONE || parent == Id::ROOT {
            id = Id::of(major, id.minor());
        }
        Ok((place, id, parent))
    }

    /// Refuses to make or to set a class of a kind that has no such command.
    fn refuse_kind(&self, place: usize, id: Id) -> Read<()> {
        let own = self.at(place);
        let refused =
            |linux: &str| Err(by_linux(&format!("class {id} of {}", own.name()), "htb, hfsc or drr", linux));
        match &own.what {
            What::Leaf { .. } if own.name() == "sfb" => refused("Function not implemented"),
            What::Leaf { .. } => refused(UNSUPPORTED),
            What::Scheduler { own: Scheduler::Prio { .. } | Scheduler::Mq, .. } => refused(UNSUPPORTED),
            What::Scheduler { own: Scheduler::Ets { .. }, .. } if !own.has_class(id) => {
                refused("Fine-grained class addition and removal is not supported.")
            }
            What::Scheduler { .. } => Ok(()),
        }
    }

    /// Makes the class `id` below `parent`.
    fn make_class(&mut self, place: usize, (id, parent): (Id, Id), asked: Option<Class>) -> Read<Effect> {
        self.refuse_kind(place, id)?;
        let Asked { own, words } = self.fitting(place, asked)?;
        let too_deep = self.since_7_3("tree is too deep.", INVALID);
        let order = self.next_order();
        let Some(holder) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        let What::Scheduler { own: scheduler, classes } = &mut holder.what else {
            return Ok(Effect::Nothing);
        };
        let above = match scheduler {
            Scheduler::Htb { .. } => above_htb(classes, id, parent, too_deep)?,
            Scheduler::Hfsc { .. } => {
                let above = above_hfsc(classes, id, parent)?;
                refuse_if(matches!(own, Class::Hfsc([None, None, _])), || {
                    by_linux("a class without a curve", "rt, ls or sc", INVALID)
                })?;
                above
            }
            _ => None,
        };
        if id == Id::NONE {
            holder.nameless.push(own); // of drr: a class 0:0, which no later command finds
            return Ok(Effect::Structure);
        }
        let mut gone = None;
        match (above, &scheduler) {
            (Some(minor), Scheduler::Htb { .. }) => gone = lower(classes, minor),
            (Some(minor), _) => raise(classes, minor),
            (None, _) => {}
        }
        let words = has_hidden_limit(&own).then_some(words);
        classes.insert(id.minor(), Node { own, parent: above, level: 0, qdisc: None, order, words });
        self.bind_to(place, id);
        if let Some(gone) = gone {
            self.destroy(gone);
        }
        Ok(Effect::Structure)
    }

    fn delete_class(&mut self, place: usize, id: Id) -> Read<Effect> {
        let own = self.at(place);
        let refused =
            |found: &str, linux: &str| Err(by_linux(found, "a class without classes and filters", linux));
        let (is_inner, is_htb) = match &own.what {
            What::Scheduler {
                own: own @ (Scheduler::Htb { .. } | Scheduler::Hfsc { .. } | Scheduler::Drr),
                classes,
            } => {
                // The root class of hfsc has no node.
                (classes.get(&id.minor()).is_none_or(|node| node.level > 0), own.name() == "htb")
            }
            What::Leaf { .. } if own.name() == "sfb" => {
                return refused("a class of sfb", self.since_7_3("Function not implemented", INVALID));
            }
            _ => return refused(&format!("a class of {}", own.name()), UNSUPPORTED),
        };
        let in_use = match own.name() {
            "htb" => self.since_7_3("HTB class in use.", BUSY),
            "hfsc" => self.since_7_3("HFSC class in use.", BUSY),
            _ => self.since_7_3("DRR class is in use.", BUSY),
        };
        if is_inner {
            self.unbind_from(place, id);
            return refused(&format!("a deletion of {id}, which has classes below it"), in_use);
        }
        if self.is_bound(place, id) {
            self.unbind_from(place, id);
            return refused(&format!("a deletion of {id}, to which a filter sorts"), in_use);
        }
        let Some(own) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        if id.minor() != 0 {
            own.filters.remove_of(id.minor());
        }
        let What::Scheduler { classes, .. } = &mut own.what else { return Ok(Effect::Nothing) };
        let gone = classes.remove(&id.minor());
        if let Some(minor) = gone.as_ref().and_then(|node| node.parent) {
            settle(classes, minor, is_htb);
        }
        if let Some(gone) = gone.and_then(|node| node.qdisc) {
            self.destroy(gone);
        }
        Ok(Effect::Structure)
    }
}

/// Returns the class above a new one of `htb` (`htb_change_class`). A class whose parent is missing is a root class.
fn above_htb(classes: &Classes, id: Id, parent: Id, too_deep: &str) -> Read<Option<u16>> {
    refuse_if(id == Id::NONE, || by_linux("a class without classid", "classid, as 1:10", INVALID))?;
    let is_there = !matches!(parent, Id::ROOT | Id::NONE) && classes.contains_key(&parent.minor());
    let above = is_there.then(|| parent.minor());
    let level = level_above(classes, above.and_then(|minor| classes.get(&minor)));
    refuse_if(level.is_some_and(|level| level < 2), || {
        by_linux(&format!("class {id} on level {}", LEVELS + 1), &format!("{LEVELS} levels"), too_deep)
    })?;
    Ok(above)
}

/// Returns the class above a new one of `hfsc` (`hfsc_change_class`).
fn above_hfsc(classes: &Classes, id: Id, parent: Id) -> Read<Option<u16>> {
    refuse_if(parent == Id::ROOT, || by_linux("parent root", "a class, or the qdisc as 1:", EXISTS))?;
    let above = Some(parent.minor()).filter(|minor| *minor != 0);
    refuse_if(above.is_some_and(|minor| !classes.contains_key(&minor)), || {
        by_linux(&format!("parent {parent}"), "a class above", NO_ENTRY)
    })?;
    refuse_if(id == Id::NONE, || by_linux("a class without classid", "classid, as 1:10", INVALID))?;
    refuse_if(above.is_some_and(|minor| classes.depth_below(minor) >= MOST_LEVELS), || {
        format!("found class {id} below {MOST_LEVELS} levels of classes; accepted here: {MOST_LEVELS} levels")
    })?;
    Ok(above)
}

/// Returns the level of the class above `node`, if there is one.
fn level_above(classes: &Classes, node: Option<&Node>) -> Option<usize> {
    node.and_then(|node| node.parent).and_then(|minor| classes.get(&minor)).map(|node| node.level)
}

/// Gives a leaf of `htb` that gets its first child the level below its parent's. Returns its discipline, which goes.
fn lower(classes: &mut Classes, minor: u16) -> Option<usize> {
    let level = level_above(classes, classes.get(&minor)).unwrap_or(LEVELS) - 1;
    let node = classes.get_mut(&minor).filter(|node| node.level == 0)?;
    node.level = level;
    node.qdisc.take()
}

/// Gives a class of `hfsc` and those above it the level above their children (`hfsc_adjust_levels`). A class without
/// a link-sharing curve gets its real-time one for that (`hfsc_upgrade_rt`).
fn raise(classes: &mut Classes, minor: u16) {
    if let Some(Node { own: Class::Hfsc([rt, ls @ None, _]), .. }) = classes.get_mut(&minor) {
        *ls = *rt;
    }
    classes.raise(minor);
}

/// Gives a class that has lost a child, and in `hfsc` those above it, its level: a class without children is a leaf.
fn settle(classes: &mut Classes, minor: u16, is_htb: bool) {
    if !is_htb {
        classes.settle(minor);
    } else if !classes.is_above_others(minor) {
        // In htb the level counts from the root, and stays while there are children.
        classes.get_mut(&minor).into_iter().for_each(|node| node.level = 0);
    }
}
