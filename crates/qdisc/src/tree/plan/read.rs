//! The commands, one after the other, as changes of a plan.

use super::head::{Head, Object};
use super::{Node, Plan, Qdisc, Read, What};
use crate::param::{Args, Value};
use crate::registry::parse_inner;
use crate::tree::id::Id;
use crate::tree::params::{Class, Scheduler, TXQUEUELEN, txqueuelen};
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes of a full frame, for the quanta of `ets` that are unset.
pub(super) const FRAME: u32 = 1514;
/// The handle of the first qdisc that is given none.
const FIRST_HANDLE: u16 = 0x8001;

/// A condition, and the refusal of what meets it.
pub(super) type Rule<'a> = (bool, &'a dyn Fn() -> String);

/// Fails with the refusal of the first of `rules` whose condition holds.
pub(super) fn refuse(rules: &[Rule<'_>]) -> Read<()> {
    rules.iter().find(|(holds, _)| *holds).map_or(Ok(()), |(_, refusal)| Err(refusal()))
}

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
        let Head { parent, id: handle, is_root, stab, kind, .. } = self.head(Object::Qdisc, line)?;
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
        let what = self.discipline(kind, line)?;
        refuse(&[
            (is_root && !self.qdiscs.is_empty() && !replaces, &|| {
                by_linux("a second root qdisc", "one", "NLM_F_REPLACE needed to override.")
            }),
            (!is_root && stab.is_some(), &|| "found stab; accepted: stab only at the root".to_string()),
        ])?;
        if is_root {
            *self = Self { device: core::mem::take(&mut self.device), stab, ..Self::default() };
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

    /// Reads a discipline: one with classes, or one of the registry.
    fn discipline(&mut self, kind: &str, line: &mut Line<'_>) -> Read<What> {
        let Some(own) = Scheduler::read(kind, line, FRAME, txqueuelen(&self.device))? else {
            let words = [&[kind.to_string()], line.rest()].concat().join(" ");
            return Ok(What::Leaf(self.leaf(words)?));
        };
        let band = |order| Node { own: Class::Band, parent: None, level: 0, qdisc: None, order };
        let classes = (1..=own.bands() as u16).map(|minor| (minor, band(minor.into()))).collect();
        Ok(What::Scheduler { own, classes, filters: Vec::new() })
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
        refuse(&[
            (class.level > 0, &|| {
                by_linux(
                    &format!("parent {parent}, which has classes below it"),
                    "a leaf",
                    "Invalid argument",
                )
            }),
            (class.qdisc.is_some() && !replaces, &|| {
                by_linux(&format!("a second qdisc for {parent}"), "one", "NLM_F_REPLACE needed to override.")
            }),
        ])?;
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
