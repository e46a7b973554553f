//! Handles, as `tc` reads and writes them: two hexadecimal numbers with a colon between them.
//!
//! Source: `get_qdisc_handle` and `get_tc_classid` (tc/tc_util.c, iproute2 6.1), which call C's `strtoul`.

use core::fmt;

/// The handle of a qdisc (`1:`, minor number 0) or of a class (`1:10`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// No handle (`TC_H_UNSPEC`).
    pub(super) const NONE: Self = Self(0);
    /// Above the root qdisc (`TC_H_ROOT`).
    pub(super) const ROOT: Self = Self(u32::MAX);

    /// Returns the class `minor` of the qdisc `major`.
    pub(super) const fn of(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// Returns the number of the qdisc.
    pub(crate) const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Returns the number of the class within its qdisc.
    pub(crate) const fn minor(self) -> u16 {
        self.0 as u16
    }

    /// Returns the queue of a discipline with `count` of them, which filters number from 1 on. `None`: it is not there.
    pub(crate) fn queue(self, count: u32) -> Option<u32> {
        u32::from(self.minor()).checked_sub(1).filter(|queue| *queue < count)
    }

    /// Reads the handle of a class, or of a parent. `None`: `tc` refuses it.
    pub(super) fn read(text: &str) -> Option<Self> {
        match text {
            "root" => return Some(Self::ROOT),
            "none" => return Some(Self::NONE),
            _ => {}
        }
        let (major, rest) = match strtoul(text) {
            (None, rest) if rest.starts_with(':') => (0, rest),
            (major, rest) => (major?, rest),
        };
        let Some(minor) = rest.strip_prefix(':') else {
            return rest.is_empty().then_some(Self(major as u32));
        };
        let (minor, rest) = strtoul(minor);
        let (major, minor) = (u16::try_from(major).ok()?, u16::try_from(minor.unwrap_or(0)).ok()?);
        rest.is_empty().then_some(Self::of(major, minor))
    }

    /// Reads the handle of a qdisc, of which `tc` reads nothing behind the colon. `None`: `tc` refuses it.
    pub(super) fn read_qdisc(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::NONE);
        }
        let (major, rest) = strtoul(text);
        let major = u16::try_from(major?).ok()?;
        (rest.is_empty() || rest.starts_with(':')).then_some(Self::of(major, 0))
    }
}

/// Reads the hexadecimal number at the beginning of `text` as C's `strtoul` does, and returns it with what is behind.
/// `None`: there is no number.
pub(super) fn strtoul(text: &str) -> (Option<u64>, &str) {
    let unspaced = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (is_negative, unsigned) = match unspaced.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, unspaced.strip_prefix('+').unwrap_or(unspaced)),
    };
    let prefixed = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let digits = prefixed.filter(|rest| rest.starts_with(|first: char| first.is_ascii_hexdigit()));
    let digits = digits.unwrap_or(unsigned);
    let end = digits.find(|one: char| !one.is_ascii_hexdigit()).unwrap_or(digits.len());
    if end == 0 {
        return (None, text);
    }
    let number = u64::from_str_radix(&digits[..end], 16).unwrap_or(u64::MAX);
    (Some(if is_negative { number.wrapping_neg() } else { number }), &digits[end..])
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.major(), self.minor()) {
            _ if *self == Self::ROOT => f.write_str("root"),
            (0, 0) => f.write_str("none"),
            (0, minor) => write!(f, ":{minor:x}"),
            (major, 0) => write!(f, "{major:x}:"),
            (major, minor) => write!(f, "{major:x}:{minor:x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Id;

    /// The forms were tried with `tc` of iproute2 6.1.0.
    #[test]
    fn handles_are_read_as_tc_reads_them() {
        for (text, class, qdisc) in [
            ("5:0", Some(0x5_0000), Some(0x5_0000)),
            ("5", Some(5), Some(0x5_0000)),
            ("7FFF:0x1", Some(0x7fff_0001), Some(0x7fff_0000)),
            ("0x1:", Some(0x1_0000), Some(0x1_0000)),
            ("0x4", Some(4), Some(0x4_0000)),
            ("10001", Some(0x1_0001), None),
            (":a", Some(0xa), None),
            ("5:1", Some(0x5_0001), Some(0x5_0000)),
            ("5:1:2", None, Some(0x5_0000)),
            ("5x:", None, None),
            ("10000:", None, None),
            ("0x:1", None, None),
            ("-1:", None, None),
            ("", None, None),
        ] {
            assert_eq!(
                (Id::read(text).map(|id| id.0), Id::read_qdisc(text).map(|id| id.0)),
                (class, qdisc),
                "{text}"
            );
        }
    }
}
