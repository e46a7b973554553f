//! The head of a command: its words up to the kind, which say what the command is about.

use super::{Plan, Read};
use crate::param::Args;
use crate::tree::id::Id;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::ToString;
use goodqueue_units::number;

/// What a command is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    Qdisc,
    Class,
    Filter,
}

/// The head of a command. A part that the command leaves out, or that its object does not have, is the default.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// The kind of discipline, class or filter.
    pub(super) kind: &'a str,
    /// The qdisc or class above. The parent of a class may be written `root`.
    pub(super) parent: Option<Id>,
    /// Whether a qdisc, or a filter's qdisc, is the root.
    pub(super) is_root: bool,
    /// The handle of a qdisc, or the `classid` of a class.
    pub(super) id: Option<Id>,
    /// The size table of a qdisc.
    pub(super) stab: Option<Args>,
    /// The protocol of a filter.
    pub(super) protocol: Option<&'a str>,
    /// The preference of a filter. 0: none is given.
    pub(super) preference: u32,
    /// The handle of a filter.
    pub(super) handle: Option<&'a str>,
}

impl Plan {
    /// Reads the head of a command about `object`.
    pub(super) fn head<'a>(&mut self, object: Object, line: &mut Line<'a>) -> Read<Head<'a>> {
        use Object::{Class, Filter, Qdisc};
        let mut head = Head::default();
        loop {
            match (object, line.value(object.word())?) {
                (_, "dev") => self.device(line)?,
                (_, "est" | "estimator") => _ = (line.value("est")?, line.value("est")?),
                (Class, "root") => head.parent = self.qdiscs.first().map(|root| root.handle),
                (_, "root") => head.is_root = true,
                (_, "parent") => match line.value("parent")? {
                    "root" if object != Class => head.is_root = true,
                    id => head.parent = Some(Id::read(id)?),
                },
                (Qdisc, "handle") => head.id = Some(qdisc_handle(line.value("handle")?)?),
                (Qdisc, "stab") => head.stab = Some(size_table(line)?),
                (Qdisc, "ingress" | "clsact" | "ingress_block" | "egress_block") => {
                    return Err("found an ingress qdisc; accepted: those that queue packets".to_string());
                }
                (Class, "classid") => head.id = Some(Id::read(line.value("classid")?)?),
                (Filter, "protocol") => head.protocol = Some(line.value("protocol")?),
                (Filter, "prio" | "pref" | "preference") => {
                    head.preference = preference(line.value("prio")?)?
                }
                (Filter, "handle") => head.handle = Some(line.value("handle")?),
                (Filter, "chain") => match line.value("chain")? {
                    "0" => {}
                    other => return Err(format!("found chain {other}; accepted: 0")),
                },
                (_, kind) => return Ok(Head { kind, ..head }),
            }
        }
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

impl Object {
    fn word(self) -> &'static str {
        match self {
            Self::Qdisc => "qdisc",
            Self::Class => "class",
            Self::Filter => "filter",
        }
    }
}

/// Reads the handle of a qdisc.
fn qdisc_handle(text: &str) -> Read<Id> {
    let major = u16::from_str_radix(text.trim_end_matches(':'), 16).ok().filter(|major| *major != 0);
    let refused = || format!("found handle {text:?}; accepted: a hexadecimal number, as 1:");
    Ok(Id::of(major.ok_or_else(refused)?, 0))
}

/// Reads the preference of a filter.
fn preference(text: &str) -> Read<u32> {
    let number = number::whole(text).filter(|number| *number <= 0xffff);
    Ok(number.ok_or_else(|| format!("found prio {text:?}; accepted: 1 to 65535"))? as u32)
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
