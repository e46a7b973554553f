//! The commands, one after the other, as changes of a plan.

use super::place::{ClassPlace, QdiscPlace};
use super::{Node, Plan, Qdisc, Read, What};
use crate::param::{Args, Value};
use crate::registry::parse_inner;
use crate::tree::htb::LEVELS;
use crate::tree::id::Id;
use crate::tree::params::{Class, Scheduler, TXQUEUELEN, txqueuelen};
use crate::tree::words::Line;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes of a full frame, for the quanta of `ets` that are unset.
pub(super) const FRAME: u32 = 1514;
/// The handle of the first qdisc that is given none.
const FIRST_HANDLE: u16 = 0x8001;

/// Returns a refusal with Linux's own words.
pub(super) fn by_linux(found: &str, accepted: &str, linux: &str) -> String {
    format!("found {found}; accepted: {accepted} (Linux: \"{linux}\")")
}

impl Plan {
    /// Carries out one command.
    pub(super) fn command(&mut self, words: &[String]) -> Read<()> {
        let mut line = Line::new(words);
        let (object, verb) = (line.next().unwrap_or(""), line.next().unwrap_or(""));
        if words.len() > 1 && object == "qdisc" && matches!(verb, "del" | "delete") {
            return self.delete(&mut line);
        }
        if !matches!(verb, "add" | "replace") {
            return Err(format!("found \"{object} {verb}\"; accepted: add, replace"));
        }
        match object {
            "qdisc" => self.qdisc(&mut line, verb == "replace"),
            "class" => self.class(&mut line),
            "filter" => self.filter(&mut line, verb == "replace"),
            _ => Err(format!("found {object:?}; accepted: qdisc, class, filter")),
        }
    }

    /// Scripts begin with the deletion of the root that is perhaps there.
    fn delete(&mut self, line: &mut Line<'_>) -> Read<()> {
        let words = line.rest();
        if !words.iter().any(|word| matches!(word.as_str(), "root" | "ingress" | "clsact")) {
            return Err("found \"qdisc del\" of an inner qdisc; accepted: of the root".to_string());
        }
        if words.iter().any(|word| word == "root") {
            *self = Self::default();
        }
        Ok(())
    }

    /// Returns the place of the qdisc `major`.
    pub(super) fn find(&self, id: Id) -> Option<usize> {
        self.majors.get(&id.major()).copied()
    }

    fn qdisc(&mut self, line: &mut Line<'_>, replaces: bool) -> Read<()> {
        let QdiscPlace { parent, handle, is_root, stab, kind } = self.qdisc_place(line)?;
        if is_root == parent.is_some() {
            return Err("found neither root nor parent, or both; accepted: one of them".to_string());
        }
        let handle = match handle {
            Some(handle) => handle,
            None => self.next_handle(),
        };
        if self.find(handle).is_some() {
            return Err(by_linux(
                &format!("handle {handle} twice"),
                "a new one",
                "Cannot move an existing qdisc to a different parent.",
            ));
        }
        let own = Scheduler::read(kind, line, FRAME, txqueuelen(&self.device))?;
        let what = match own {
            Some(own) => {
                let band = |order| Node { own: Class::Band, parent: None, level: 0, qdisc: None, order };
                let classes = (1..=own.bands() as u16).map(|minor| (minor, band(minor.into()))).collect();
                What::Scheduler { own, classes, filters: Vec::new() }
            }
            None => {
                let words = [&[kind.to_string()], line.rest()].concat().join(" ");
                What::Leaf(self.leaf(words)?)
            }
        };
        if is_root {
            if !self.qdiscs.is_empty() && !replaces {
                return Err(by_linux("a second root qdisc", "one", "NLM_F_REPLACE needed to override."));
            }
            *self = Self { device: core::mem::take(&mut self.device), stab, ..Self::default() };
        } else if stab.is_some() {
            return Err("found stab; accepted: stab only at the root".to_string());
        }
        let place = self.qdiscs.len();
        if let Some(parent) = parent
            && let Some(holder) = self.attach(parent, place, replaces)?
        {
            return self.put_inside(holder, handle, what);
        }
        self.majors.insert(handle.major(), place);
        self.qdiscs.push(Qdisc { handle, parent, what });
        Ok(())
    }

    /// Reads the line of a discipline without classes.
    pub(super) fn leaf(&mut self, words: String) -> Read<Arc<Args>> {
        if let Some(known) = self.leaves.get(&words) {
            return Ok(known.clone());
        }
        let mut args = parse_inner(&words).map_err(|error| error.0)?;
        fit(&mut args, txqueuelen(&self.device));
        let args = Arc::new(args);
        self.leaves.insert(words, args.clone());
        Ok(args)
    }

    /// Returns a handle for a qdisc that is given none.
    fn next_handle(&mut self) -> Id {
        self.automatic = self.automatic.max(FIRST_HANDLE - 1).saturating_add(1);
        Id::of(self.automatic, 0)
    }

    /// Gives each class without a qdisc the `pfifo` that Linux gives it (`qdisc_create_dflt`), if its limit is not that
    /// of an Ethernet device. So the canonical commands say the limit, and mean the same on every device.
    pub(super) fn give_fifos(&mut self) -> Read<()> {
        if txqueuelen(&self.device) == TXQUEUELEN {
            return Ok(());
        }
        for at in 0..self.qdiscs.len() {
            let major = self.qdiscs[at].handle.major();
            let What::Scheduler { classes, .. } = &self.qdiscs[at].what else { continue };
            let bare = classes.iter().filter(|(_, node)| node.level == 0 && node.qdisc.is_none());
            let bare: Vec<Id> = bare.map(|(minor, _)| Id::of(major, *minor)).collect();
            for parent in bare {
                let (handle, what) = (self.next_handle(), What::Leaf(self.leaf("pfifo".to_string())?));
                if self.find(handle).is_some() {
                    return Err(format!(
                        "tc: found no free handle for {parent}; accepted: a qdisc for each class"
                    ));
                }
                let place = self.qdiscs.len();
                self.attach(parent, place, false)?;
                self.majors.insert(handle.major(), place);
                self.qdiscs.push(Qdisc { handle, parent: Some(parent), what });
            }
        }
        Ok(())
    }

    /// Puts the qdisc number `place` below the class `parent`. Returns the place of a discipline of the registry if it
    /// has the class.
    fn attach(&mut self, parent: Id, place: usize, replaces: bool) -> Read<Option<usize>> {
        let at = self.find(parent).ok_or_else(|| {
            by_linux(
                &format!("parent {parent}"),
                "a class of a qdisc above",
                "Failed to find specified qdisc.",
            )
        })?;
        let What::Scheduler { classes, .. } = &mut self.qdiscs[at].what else { return Ok(Some(at)) };
        let class = classes.get_mut(&parent.minor()).ok_or_else(|| {
            by_linux(
                &format!("parent {parent}"),
                "a class that a line above makes",
                "Specified class not found.",
            )
        })?;
        if class.level > 0 {
            return Err(by_linux(
                &format!("parent {parent}, which has classes below it"),
                "a leaf",
                "Invalid argument",
            ));
        }
        if class.qdisc.is_some() && !replaces {
            return Err(by_linux(
                &format!("a second qdisc for {parent}"),
                "one",
                "NLM_F_REPLACE needed to override.",
            ));
        }
        class.qdisc = Some(place);
        Ok(None)
    }

    /// Puts a discipline into one that holds another, such as `tbf`.
    fn put_inside(&mut self, at: usize, handle: Id, what: What) -> Read<()> {
        let (What::Leaf(inner), What::Leaf(args)) = (what, &self.qdiscs[at].what) else {
            return Err(
                "found a tree inside a qdisc of one class; accepted: a qdisc without classes".to_string()
            );
        };
        let name = args.spec.name;
        if args.spec.param("child").is_none() {
            return Err(format!("found a qdisc below {name}; accepted: none, as {name} has no classes here"));
        }
        let args = self.leaf(format!("{args} child {inner}"))?;
        self.qdiscs[at].what = What::Leaf(args);
        self.majors.insert(handle.major(), at);
        Ok(())
    }

    fn class(&mut self, line: &mut Line<'_>) -> Read<()> {
        let ClassPlace { parent, id, kind } = self.class_place(line)?;
        let (Some(parent), Some(id)) = (parent, id) else {
            return Err("found a class without parent or classid; accepted: both".to_string());
        };
        let id = if id.major() == 0 { Id::of(parent.major(), id.minor()) } else { id };
        let at = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a qdisc or class above", "No such file or directory")
        })?;
        let What::Scheduler { own, classes, .. } = &mut self.qdiscs[at].what else {
            return Err(by_linux(
                &format!("parent {parent}, whose qdisc has no classes"),
                "htb, hfsc or drr",
                "Invalid argument",
            ));
        };
        if id.major() != parent.major() || id.minor() == 0 {
            return Err(by_linux(
                &format!("classid {id}"),
                &format!("{0:x}:1 to {0:x}:ffff", parent.major()),
                "Invalid argument",
            ));
        }
        let node = own.class(kind, line)?;
        if classes.contains_key(&id.minor()) {
            return Err(by_linux(&format!("class {id} twice"), "once", "File exists"));
        }
        let is_flat = matches!(own, Scheduler::Drr);
        let is_htb = matches!(own, Scheduler::Htb { .. });
        let parent = Some(parent.minor()).filter(|minor| *minor != 0 && !is_flat);
        // htb makes a class whose parent is missing a root class. hfsc refuses it.
        let above = parent.filter(|minor| classes.contains_key(minor));
        if let (Some(minor), None, false) = (parent, above, is_htb) {
            let missing = Id::of(id.major(), minor);
            return Err(by_linux(&format!("parent {missing}"), "a class above", "No such file or directory"));
        }
        let order = classes.len();
        if let Some(minor) = above {
            let level_of =
                |minor: Option<u16>| minor.and_then(|minor| classes.get(&minor)).map(|node| node.level);
            let grandparent = classes.get(&minor).and_then(|node| node.parent);
            let (own, higher) = (level_of(above), level_of(grandparent));
            if is_htb && higher.is_some_and(|level| level < 2) {
                return Err(by_linux(
                    &format!("class {id} on level {}", LEVELS + 1),
                    &format!("{LEVELS} levels"),
                    "tree is too deep",
                ));
            }
            match classes.get_mut(&minor) {
                Some(node) if node.qdisc.is_some() => {
                    let parent = Id::of(id.major(), minor);
                    return Err(format!(
                        "found class {id} below {parent}, which has a qdisc; accepted: qdiscs at leaves"
                    ));
                }
                Some(node) if is_htb && own == Some(0) => node.level = higher.unwrap_or(LEVELS) - 1,
                _ if !is_htb => raise(classes, minor),
                _ => {}
            }
        }
        classes.insert(id.minor(), Node { own: node, parent: above, level: 0, qdisc: None, order });
        Ok(())
    }
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

/// Gives a class of `hfsc` and those above it the level above their children (`hfsc_adjust_levels`).
fn raise(classes: &mut BTreeMap<u16, Node>, minor: u16) {
    let (mut level, mut next) = (0, Some(minor));
    while let Some(node) = next.and_then(|minor| classes.get_mut(&minor)) {
        level = node.level.max(level + 1);
        (node.level, next) = (level, node.parent);
    }
}
