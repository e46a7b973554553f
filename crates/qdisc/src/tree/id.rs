//! Handles, as `tc` writes them: two hexadecimal numbers with a colon between them.

use alloc::format;
use alloc::string::String;
use core::fmt;
use goodqueue_units::number as numbers;

/// The handle of a qdisc (`1:`, minor number 0) or of a class (`1:10`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// Returns the class `minor` of the qdisc `major`.
    pub(super) const fn of(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// Returns the number of the qdisc.
    pub(super) const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// Returns the number of the class within its qdisc.
    pub(super) const fn minor(self) -> u16 {
        self.0 as u16
    }

    /// Reads a handle as iproute2's get_tc_classid does. The error says what is accepted.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let refuse = || format!("found {text:?}; accepted: a handle of two hexadecimal numbers, as 1:10");
        let number = |text: &str| match text {
            "" => Some(0),
            _ => numbers::whole_in(16, text),
        };
        let read = match (text, text.split_once(':')) {
            ("none", _) => Some(0),
            ("root", _) => Some(u32::MAX), // TC_H_ROOT, which is no class
            (_, Some((major, minor))) => {
                let half = |text| number(text).and_then(|number| u16::try_from(number).ok());
                half(major).zip(half(minor)).map(|(major, minor)| Self::of(major, minor).0)
            }
            (_, None) => numbers::whole_in(16, text).and_then(|number| u32::try_from(number).ok()),
        };
        read.map(Self).ok_or_else(refuse)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor() {
            0 => write!(f, "{:x}:", self.major()),
            minor => write!(f, "{:x}:{minor:x}", self.major()),
        }
    }
}
