//! The commands that add filters.

use super::head::{Head, Object};
use super::read::{by_linux, refuse};
use super::{Filter, Plan, Read, What};
use crate::tree::filter;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// The preference of the first filter that is given none. Each later one comes before those.
const FIRST_AUTOMATIC: u32 = 0xc000;

impl Plan {
    /// Carries out `tc filter add` or `replace` (`tc_new_tfilter`, net/sched/cls_api.c).
    pub(super) fn filter(&mut self, line: &mut Line<'_>, replaces: bool) -> Read<()> {
        let Head { parent, kind, protocol, preference, handle, .. } = self.head(Object::Filter, line)?;
        let protocol = protocol.unwrap_or("all");
        let root = self.qdiscs.first().map(|root| root.handle);
        let parent = parent.or(root).unwrap_or_default();
        let at = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a qdisc above", "Parent Qdisc doesn't exists.")
        })?;
        let What::Scheduler { own, classes, filters } = &mut self.qdiscs[at].what else {
            return Err(by_linux(&format!("parent {parent}"), "a qdisc with classes", "Qdisc not classful."));
        };
        let of = parent.minor();
        refuse(&[
            (of != 0 && !classes.contains_key(&of), &|| {
                by_linux(&format!("parent {parent}"), "a class above", "Specified class doesn't exist.")
            }),
            (of != 0 && !own.filters_classes(), &|| {
                format!(
                    "found parent {parent}; accepted: the qdisc itself, as only classes of htb and hfsc have filters"
                )
            }),
        ])?;
        let words = [&[kind.to_string()], line.rest()].concat();
        let number = filter::protocol(protocol)?;
        let mut notes = Vec::new();
        let place = (parent.major(), number);
        let filter::Filter { rule, mask, identity } =
            filter::read(kind, handle, &mut Line::new(&words[1..]), place, &mut notes)?;
        let preference = if preference == 0 { next_preference(filters, of)? } else { preference };
        let new = Filter {
            of,
            preference,
            protocol: protocol.to_string(),
            kind: kind.to_string(),
            mask,
            handle: handle.map(str::to_string),
            words: words.join(" "),
            has_note: !notes.is_empty(),
            rule,
        };
        if let Some(other) = filters.iter().find(|one| one.of == of && one.preference == preference) {
            new.check_beside(other, number)?;
        }
        if let Some(identity) = identity
            && !self.taken.insert((at, of, preference, identity))
        {
            return new.take_the_place(filters, replaces);
        }
        self.notes.append(&mut notes);
        filters.push(new);
        Ok(())
    }
}

/// Returns the preference of a filter of the class `of` that is given none.
fn next_preference(filters: &[Filter], of: u16) -> Read<u32> {
    let automatic = filters.iter().filter(|one| one.of == of && one.preference >= 0x8000);
    let preference = automatic.map(|one| one.preference - 1).min().unwrap_or(FIRST_AUTOMATIC);
    refuse(&[(preference < 0x8000, &|| {
        let linux = "Filter with specified priority/protocol not found.";
        by_linux("a filter without prio beside one of 32768", "prio and a number", linux)
    })])?;
    Ok(preference)
}

impl Filter {
    /// Refuses this filter, whose protocol has this `number`, beside `other`, which has the same preference.
    fn check_beside(&self, other: &Self, number: u16) -> Read<()> {
        let Self { kind, protocol, preference, .. } = self;
        let number_of_other = filter::protocol(&other.protocol)?;
        refuse(&[
            (number_of_other != number, &|| {
                let linux = "Filter with specified priority/protocol not found.";
                by_linux(&format!("protocol {protocol} at prio {preference}"), &other.protocol, linux)
            }),
            (other.kind != *kind, &|| {
                let linux = "Specified filter kind does not match existing one.";
                by_linux(&format!("{kind} at prio {preference}"), &other.kind, linux)
            }),
            (kind == "fw" && other.mask != self.mask, &|| {
                let found = format!("fw with another mask at prio {preference}");
                by_linux(&found, "one mask for each prio", "Invalid argument")
            }),
        ])
    }

    /// Takes the place of the filter with the same identity, if the command `replaces` it.
    fn take_the_place(self, filters: &mut [Self], replaces: bool) -> Read<()> {
        let Self { kind, preference, handle, .. } = &self;
        let is_same = |one: &&mut Self| {
            (one.of, one.preference, &one.handle) == (self.of, self.preference, &self.handle)
        };
        if let (true, "fw", Some(known)) = (replaces, kind.as_str(), filters.iter_mut().find(is_same)) {
            (known.words, known.rule) = (self.words, self.rule);
            return Ok(());
        }
        if replaces && handle.is_some() {
            return Err(format!("found {kind} replaced; accepted: only fw, as others are not simulated"));
        }
        let linux = if handle.is_some() { "Filter already exists" } else { "File exists" };
        Err(by_linux(&format!("{kind} twice at prio {preference}"), "each filter once", linux))
    }
}
