//! The head of a command: what it is about, what it does, and its words up to the kind.
//!
//! Source: `do_qdisc`, `do_class` and `do_tcfilter`, and the `*_modify` functions below them (tc/tc_*.c, iproute2 6.1).

use super::refusal::by_tc;
use super::{Plan, Read};
use crate::param::Args;
use crate::tree::filter;
use crate::tree::id::Id;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use goodqueue_units::number;

/// What a command is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    Qdisc,
    Class,
    Filter,
}

/// What a command does to its object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Makes one that is not there yet (`NLM_F_CREATE`, `NLM_F_EXCL`).
    Add,
    /// Sets parameters of one that is there (no flags).
    Change,
    /// Makes one, or takes the place of one (`NLM_F_CREATE`, and `NLM_F_REPLACE` for a qdisc).
    Replace,
    /// Gives a qdisc that is there to a class (`NLM_F_REPLACE`).
    Link,
    Delete,
}

/// The head of a command. A part that the command leaves out, or that its object does not have, is the default.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// The kind of discipline, class or filter, if the command says one.
    pub(super) kind: Option<&'a str>,
    /// The qdisc or class above.
    pub(super) parent: Id,
    /// The handle of a qdisc, or the `classid` of a class.
    pub(super) id: Id,
    /// The size table of a qdisc.
    pub(super) stab: Option<Args>,
    /// The protocol of a filter, with its number.
    pub(super) protocol: Option<(&'a str, u16)>,
    /// The preference of a filter. 0: none is given.
    pub(super) preference: u32,
    /// The handle of a filter.
    pub(super) handle: Option<&'a str>,
}

impl Object {
    /// Reads what a command is about, of which the first letters are enough.
    pub(super) fn read(word: &str) -> Read<Self> {
        let known = [("qdisc", Self::Qdisc), ("class", Self::Class), ("filter", Self::Filter)];
        let found = known.iter().find(|(name, _)| !word.is_empty() && name.starts_with(word));
        found.map(|(_, object)| *object).ok_or_else(|| {
            let said = format!("Object {word:?} is unknown, try \"tc help\".");
            by_tc(&format!("{word:?}"), "qdisc, class, filter", &said)
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Qdisc => "qdisc",
            Self::Class => "class",
            Self::Filter => "filter",
        }
    }
}

impl Verb {
    /// Reads what a command does. `None`: it shows something.
    pub(super) fn read(object: Object, word: &str) -> Read<Option<Self>> {
        const KNOWN: [(&str, Option<Verb>); 9] = [
            ("add", Some(Verb::Add)),
            ("delete", Some(Verb::Delete)),
            ("change", Some(Verb::Change)),
            ("replace", Some(Verb::Replace)),
            ("link", Some(Verb::Link)),
            ("show", None),
            ("list", None),
            ("lst", None),
            ("get", None),
        ];
        let known = KNOWN.iter().filter(|(name, _)| *name != "link" || object == Object::Qdisc);
        let found = known.into_iter().find(|(name, _)| name.starts_with(word));
        found.map(|(_, verb)| *verb).ok_or_else(|| {
            let object = object.word();
            let said = format!("Command {word:?} is unknown, try \"tc {object} help\".");
            by_tc(&format!("\"{object} {word}\""), "add, change, replace, delete", &said)
        })
    }

    pub(super) const fn creates(self) -> bool {
        matches!(self, Self::Add | Self::Replace)
    }

    pub(super) const fn is_exclusive(self) -> bool {
        matches!(self, Self::Add)
    }

    /// Returns whether a qdisc takes the place of another one (`NLM_F_REPLACE`).
    pub(super) const fn replaces(self) -> bool {
        matches!(self, Self::Replace | Self::Link)
    }
}

impl<'a> Head<'a> {
    /// Returns the place that is set once, or the refusal of a second one.
    fn once(place: &mut Id, id: Id, word: &str, text: &str) -> Read<()> {
        if *place != Id::NONE {
            let said = format!("duplicate {word:?}: {text:?} is the second value.");
            return Err(by_tc(&format!("{word} twice"), "once", &said));
        }
        *place = id;
        Ok(())
    }

    fn read_class(&mut self, object: Object, word: &str, text: &'a str) -> Read<()> {
        let said = match word {
            "parent" if object == Object::Filter => format!("argument {text:?} is wrong: Invalid parent ID"),
            "parent" => format!("argument {text:?} is wrong: invalid parent ID"),
            _ => format!("argument {text:?} is wrong: invalid class ID"),
        };
        let accepted = "a handle of two hexadecimal numbers, as 1:10";
        let id = Id::read(text).ok_or_else(|| by_tc(&format!("{word} {text:?}"), accepted, &said))?;
        Self::once(if word == "parent" { &mut self.parent } else { &mut self.id }, id, word, text)
    }
}

impl Plan {
    /// Reads the head of a command about `object`.
    pub(super) fn head<'a>(&mut self, object: Object, line: &mut Line<'a>) -> Read<Head<'a>> {
        use Object::{Class, Filter, Qdisc};
        let mut head = Head::default();
        while let Some(word) = line.next() {
            match (object, word) {
                (_, "dev") => self.device(line)?,
                (_, "root") => Head::once(&mut head.parent, Id::ROOT, "parent", "root")?,
                (_, "parent") => head.read_class(object, "parent", line.value("parent")?)?,
                (Qdisc, "handle") => {
                    let text = line.value("handle")?;
                    let said = format!("argument {text:?} is wrong: invalid qdisc ID");
                    let refused = || by_tc(&format!("handle {text:?}"), "a hexadecimal number, as 1:", &said);
                    Head::once(&mut head.id, Id::read_qdisc(text).ok_or_else(refused)?, "handle", text)?;
                }
                (Qdisc, "stab") => head.stab = Some(size_table(line)?),
                (
                    Qdisc | Filter,
                    "ingress" | "clsact" | "egress" | "ingress_block" | "egress_block" | "block",
                ) => {
                    return Err(format!(
                        "found {word}; accepted: qdiscs that queue packets, and their filters; a [[hop]] of kind \
                         \"police\" polices what arrives"
                    ));
                }
                (Class, "classid") => head.read_class(object, "classid", line.value("classid")?)?,
                (Class, "handle") => {
                    let said = "Error: try \"classid\" instead of \"handle\"";
                    return Err(by_tc("handle of a class", "classid", said));
                }
                (Filter, "handle") => head.handle = Some(line.value("handle")?),
                (Filter, word) if begins("preference", word) || begins("priority", word) => {
                    head.preference = preference(line.value("prio")?)?;
                }
                (Filter, word) if begins("protocol", word) => {
                    let text = line.value("protocol")?;
                    head.protocol = Some((text, filter::protocol(text)?));
                }
                (Filter, word) if begins("chain", word) => match line.value("chain")? {
                    "0" => {}
                    other => return Err(format!("found chain {other}; accepted: 0")),
                },
                (_, word) if begins("estimator", word) => _ = (line.value(word)?, line.value(word)?),
                (_, kind) => return Ok(Head { kind: Some(kind), ..head }),
            }
        }
        Ok(head)
    }

    /// Notes the device, which is the same in all commands.
    fn device(&mut self, line: &mut Line<'_>) -> Read<()> {
        let name = line.value("dev")?;
        if !self.device.is_empty() && self.device != name {
            return Err(format!(
                "found dev {name:?}; accepted: {:?}, the device of the commands before",
                self.device
            ));
        }
        self.device = name.to_string();
        Ok(())
    }
}

/// Returns whether `word` is `name`, or its first letters.
fn begins(name: &str, word: &str) -> bool {
    !word.is_empty() && name.starts_with(word)
}

/// Reads the preference of a filter.
fn preference(text: &str) -> Read<u32> {
    let refused = || -> String {
        let said = format!("argument {text:?} is wrong: invalid priority value");
        by_tc(&format!("prio {text:?}"), "1 to 65535", &said)
    };
    let number = number::whole(text).filter(|number| *number <= 0xffff);
    Ok(number.ok_or_else(refused)? as u32)
}

/// Reads a size table.
fn size_table(line: &mut Line<'_>) -> Read<Args> {
    let mut words = alloc::vec!["stab".to_string()];
    while let Some(word) = line.peek().filter(|word| crate::param::stab::begins(word)) {
        line.next();
        words.push(word.to_string());
        words.push(line.value(word)?.to_string());
    }
    let (stab, _) = Args::split_stab(&words.join(" ")).map_err(|error| error.0)?;
    stab.ok_or_else(|| "found stab without words; accepted: overhead, mpu, linklayer".to_string())
}
