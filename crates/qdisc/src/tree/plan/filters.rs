//! The commands that add filters.

use super::read::by_linux;
use super::{Filter, Plan, Read, What};
use crate::tree::filter;
use crate::tree::id::Id;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use goodqueue_units::number;

/// The preference of the first filter that is given none. Each later one comes before those.
const FIRST_AUTOMATIC: u32 = 0xc000;

impl Plan {
    /// Carries out `tc filter add` or `replace` (`tc_new_tfilter`, net/sched/cls_api.c).
    pub(super) fn filter(&mut self, line: &mut Line<'_>, replaces: bool) -> Read<()> {
        let (mut parent, mut preference, mut protocol, mut handle) = (None, 0, "all", None);
        let kind = loop {
            match line.value("filter")? {
                "dev" => self.device(line)?,
                "root" => {}
                "parent" => match line.value("parent")? {
                    "root" => {}
                    id => parent = Some(Id::read(id)?),
                },
                "protocol" => protocol = line.value("protocol")?,
                "prio" | "pref" | "preference" => {
                    let text = line.value("prio")?;
                    let number = number::whole(text).filter(|number| *number <= 0xffff);
                    preference =
                        number.ok_or_else(|| format!("found prio {text:?}; accepted: 1 to 65535"))? as u32;
                }
                "handle" => handle = Some(line.value("handle")?),
                "chain" => match line.value("chain")? {
                    "0" => {}
                    other => return Err(format!("found chain {other}; accepted: 0")),
                },
                "est" | "estimator" => _ = (line.value("est")?, line.value("est")?),
                kind => break kind,
            }
        };
        let root = self.qdiscs.first().map(|root| root.handle);
        let parent = parent.or(root).unwrap_or_default();
        let at = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a qdisc above", "Parent Qdisc doesn't exists.")
        })?;
        let What::Scheduler { own, classes, filters } = &mut self.qdiscs[at].what else {
            return Err(by_linux(&format!("parent {parent}"), "a qdisc with classes", "Qdisc not classful."));
        };
        let of = parent.minor();
        if of != 0 && !classes.contains_key(&of) {
            return Err(by_linux(
                &format!("parent {parent}"),
                "a class above",
                "Specified class doesn't exist.",
            ));
        }
        if of != 0 && !own.filters_classes() {
            return Err(format!(
                "found parent {parent}; accepted: the qdisc itself, as only classes of htb and hfsc have filters"
            ));
        }
        let words = [&[kind.to_string()], line.rest()].concat();
        let number = filter::protocol(protocol)?;
        let mut notes = Vec::new();
        let place = (parent.major(), number);
        let read = filter::read(kind, handle, &mut Line::new(&words[1..]), place, &mut notes)?;
        if preference == 0 {
            let least = filters.iter().filter(|one| one.of == of && one.preference >= 0x8000);
            preference = least.map(|one| one.preference - 1).min().unwrap_or(FIRST_AUTOMATIC);
            if preference < 0x8000 {
                let linux = "Filter with specified priority/protocol not found.";
                return Err(by_linux(
                    "a filter without prio beside one of 32768",
                    "prio and a number",
                    linux,
                ));
            }
        }
        if let Some(other) = filters.iter().find(|one| one.of == of && one.preference == preference) {
            if filter::protocol(&other.protocol)? != number {
                return Err(by_linux(
                    &format!("protocol {protocol} at prio {preference}"),
                    &other.protocol,
                    "Filter with specified priority/protocol not found.",
                ));
            }
            if other.kind != kind {
                return Err(by_linux(
                    &format!("{kind} at prio {preference}"),
                    &other.kind,
                    "Specified filter kind does not match existing one.",
                ));
            }
            if kind == "fw" && other.mask != read.mask {
                return Err(by_linux(
                    &format!("fw with another mask at prio {preference}"),
                    "one mask for each prio",
                    "Invalid argument",
                ));
            }
        }
        if let Some(identity) = read.identity
            && !self.taken.insert((at, of, preference, identity))
        {
            let same = |one: &&mut Filter| {
                (one.of, one.preference, one.handle.as_deref()) == (of, preference, handle)
            };
            if let (true, "fw", Some(known)) = (replaces, kind, filters.iter_mut().find(same)) {
                (known.words, known.rule) = (words.join(" "), read.rule);
                return Ok(());
            }
            if replaces && handle.is_some() {
                return Err(format!("found {kind} replaced; accepted: only fw, as others are not simulated"));
            }
            let linux = if handle.is_some() { "Filter already exists" } else { "File exists" };
            return Err(by_linux(&format!("{kind} twice at prio {preference}"), "each filter once", linux));
        }
        self.notes.append(&mut notes);
        filters.push(Filter {
            of,
            preference,
            protocol: protocol.to_string(),
            kind: kind.to_string(),
            mask: read.mask,
            handle: handle.map(str::to_string),
            words: words.join(" "),
            rule: read.rule,
        });
        Ok(())
    }
}
