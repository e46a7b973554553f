//! The commands that add classes.

use super::head::{Head, Object};
use super::read::{by_linux, refuse};
use super::{Node, Plan, Read, What};
use crate::tree::htb::LEVELS;
use crate::tree::id::Id;
use crate::tree::params::Scheduler;
use crate::tree::words::Line;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;

/// The most levels of classes of `hfsc`. Linux has no bound. Each level costs time with each packet and with each class
/// that is added below it.
const MOST_LEVELS: usize = 256;

/// The classes of a scheduler, by the minor number.
type Classes = BTreeMap<u16, Node>;

impl Plan {
    /// Carries out `tc class add` (`tc_ctl_tclass`, net/sched/sch_api.c).
    pub(super) fn class(&mut self, line: &mut Line<'_>) -> Read<()> {
        let Head { parent, id, kind, .. } = self.head(Object::Class, line)?;
        let (Some(parent), Some(id)) = (parent, id) else {
            return Err("found a class without parent or classid; accepted: both".to_string());
        };
        let id = if id.major() == 0 { Id::of(parent.major(), id.minor()) } else { id };
        let at = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a qdisc or class above", "No such file or directory")
        })?;
        let What::Scheduler { own: scheduler, classes, .. } = &mut self.qdiscs[at].what else {
            return Err(by_linux(
                &format!("parent {parent}, whose qdisc has no classes"),
                "htb, hfsc or drr",
                "Invalid argument",
            ));
        };
        refuse(&[(id.major() != parent.major() || id.minor() == 0, &|| {
            let accepted = format!("{0:x}:1 to {0:x}:ffff", parent.major());
            by_linux(&format!("classid {id}"), &accepted, "Invalid argument")
        })])?;
        let own = scheduler.class(kind, line)?;
        let is_flat = matches!(scheduler, Scheduler::Drr);
        let parent = Some(parent.minor()).filter(|minor| *minor != 0 && !is_flat);
        let is_htb = matches!(scheduler, Scheduler::Htb { .. });
        check(classes, id, parent, is_htb)?;
        let above = parent.filter(|minor| classes.contains_key(minor));
        if let Some(minor) = above {
            if is_htb { lower(classes, minor) } else { raise(classes, minor)? }
        }
        let order = classes.len();
        classes.insert(id.minor(), Node { own, parent: above, level: 0, qdisc: None, order });
        Ok(())
    }
}

/// Refuses the class `id` below the class `parent`, or below the qdisc itself, where it cannot stand.
fn check(classes: &Classes, id: Id, parent: Option<u16>, is_htb: bool) -> Read<()> {
    let above = parent.and_then(|minor| classes.get(&minor));
    let level = level_above(classes, above);
    let parent_id = Id::of(id.major(), parent.unwrap_or(0));
    refuse(&[
        (classes.contains_key(&id.minor()), &|| {
            by_linux(&format!("class {id} twice"), "once", "File exists")
        }),
        // htb makes a class whose parent is missing a root class. hfsc refuses it.
        (parent.is_some() && above.is_none() && !is_htb, &|| {
            by_linux(&format!("parent {parent_id}"), "a class above", "No such file or directory")
        }),
        (is_htb && level.is_some_and(|level| level < 2), &|| {
            let found = format!("class {id} on level {}", LEVELS + 1);
            by_linux(&found, &format!("{LEVELS} levels"), "tree is too deep")
        }),
        (above.is_some_and(|node| node.qdisc.is_some()), &|| {
            format!("found class {id} below {parent_id}, which has a qdisc; accepted: qdiscs at leaves")
        }),
    ])
}

/// Returns the level of the class above `node`, if there is one.
fn level_above(classes: &Classes, node: Option<&Node>) -> Option<usize> {
    node.and_then(|node| node.parent).and_then(|minor| classes.get(&minor)).map(|node| node.level)
}

/// Gives a leaf of `htb` that gets its first child the level below its parent's.
fn lower(classes: &mut Classes, minor: u16) {
    let level = level_above(classes, classes.get(&minor)).unwrap_or(LEVELS) - 1;
    if let Some(node) = classes.get_mut(&minor).filter(|node| node.level == 0) {
        node.level = level;
    }
}

/// Gives a class of `hfsc` and those above it the level above their children (`hfsc_adjust_levels`).
fn raise(classes: &mut Classes, minor: u16) -> Read<()> {
    let (mut level, mut next) = (0, Some(minor));
    while let Some(node) = next.and_then(|minor| classes.get_mut(&minor)) {
        if node.level > level {
            return Ok(()); // and so are those above
        }
        level += 1;
        (node.level, next) = (level, node.parent);
    }
    refuse(&[(level >= MOST_LEVELS, &|| {
        format!("found classes of hfsc on {} levels; accepted here: {MOST_LEVELS}", level + 1)
    })])
}
