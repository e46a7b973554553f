//! The words of a command up to the kind: which discipline or class it is about.

use super::{Plan, Read};
use crate::param::Args;
use crate::tree::id::Id;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::ToString;

/// Where the discipline of a command is.
pub(super) struct QdiscPlace<'a> {
    /// The class above.
    pub(super) parent: Option<Id>,
    pub(super) handle: Option<Id>,
    pub(super) is_root: bool,
    pub(super) stab: Option<Args>,
    pub(super) kind: &'a str,
}

/// Where the class of a command is.
pub(super) struct ClassPlace<'a> {
    pub(super) parent: Option<Id>,
    pub(super) id: Option<Id>,
    pub(super) kind: &'a str,
}

impl Plan {
    /// Notes the device, which is the same in all commands.
    pub(super) fn device(&mut self, line: &mut Line<'_>) -> Read<()> {
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

    /// Reads the words of `tc qdisc` up to the kind.
    pub(super) fn qdisc_place<'a>(&mut self, line: &mut Line<'a>) -> Read<QdiscPlace<'a>> {
        let (mut parent, mut handle, mut is_root, mut stab) = (None, None, false, None);
        let kind = loop {
            match line.value("qdisc")? {
                "dev" => self.device(line)?,
                "root" => is_root = true,
                "parent" => match line.value("parent")? {
                    "root" => is_root = true,
                    id => parent = Some(Id::read(id)?),
                },
                "handle" => {
                    let text = line.value("handle")?;
                    let major = u16::from_str_radix(text.trim_end_matches(':'), 16);
                    let major = major.ok().filter(|major| *major != 0);
                    let refused = || format!("found handle {text:?}; accepted: a hexadecimal number, as 1:");
                    handle = Some(Id::of(major.ok_or_else(refused)?, 0));
                }
                "stab" => stab = Some(self.stab(line)?),
                "est" | "estimator" => _ = (line.value("est")?, line.value("est")?),
                "ingress" | "clsact" | "ingress_block" | "egress_block" => {
                    return Err("found an ingress qdisc; accepted: those that queue packets".to_string());
                }
                kind => break kind,
            }
        };
        Ok(QdiscPlace { parent, handle, is_root, stab, kind })
    }

    /// Reads the words of `tc class` up to the kind.
    pub(super) fn class_place<'a>(&mut self, line: &mut Line<'a>) -> Read<ClassPlace<'a>> {
        let (mut parent, mut id) = (None, None);
        let kind = loop {
            match line.value("class")? {
                "dev" => self.device(line)?,
                "parent" => parent = Some(Id::read(line.value("parent")?)?),
                "root" => parent = self.qdiscs.first().map(|root| root.handle),
                "classid" => id = Some(Id::read(line.value("classid")?)?),
                "est" | "estimator" => _ = (line.value("est")?, line.value("est")?),
                kind => break kind,
            }
        };
        Ok(ClassPlace { parent, id, kind })
    }

    /// Reads a size table.
    fn stab(&self, line: &mut Line<'_>) -> Read<Args> {
        let mut words = alloc::vec!["stab".to_string()];
        while let Some(word) = line.peek().filter(|word| crate::param::stab::begins(word)) {
            line.next();
            words.push(word.to_string());
            words.push(line.value(word)?.to_string());
        }
        let (stab, _) = Args::split_stab(&words.join(" ")).map_err(|error| error.0)?;
        stab.ok_or_else(|| "found stab without words; accepted: overhead, mpu, linklayer".to_string())
    }
}
