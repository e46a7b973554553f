//! Handles, as `tc` writes them: two hexadecimal numbers with a colon between them.

use alloc::format;
use alloc::string::String;
use core::fmt;

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
            "" => Ok(0),
            _ => u16::from_str_radix(text, 16).map_err(|_| refuse()),
        };
        match text.split_once(':') {
            Some((major, minor)) => Ok(Self::of(number(major)?, number(minor)?)),
            None => u32::from_str_radix(text, 16).map(Self).map_err(|_| refuse()),
        }
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
