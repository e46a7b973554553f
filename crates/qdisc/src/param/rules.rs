//! How `tc` reads a parameter's word, where that differs from parameter to parameter: iproute2's parsers, as data.

use super::spec::ParamSpec;
use super::typed::Param;
use goodqueue_units::Release;

/// Which function of iproute2 reads a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// The function of the number's unit: `get_size` for bytes, otherwise `get_u32` with base 0.
    OfUnit,
    /// `get_u32` with base 0: `16`, `0x10`, `020`.
    Any,
    /// `get_u32` with base 10.
    Decimal,
    /// `get_size`: a real number, and `k`, `kb`, `kbit` and so on, whatever is counted.
    Size,
}

/// How `tc` reads a parameter's word.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Which function reads a whole number.
    pub digits: Digits,
    /// Whether 0 means that the line does not give the parameter.
    pub zero_is_unset: bool,
    /// Whether `tc` refuses the word if the line gave the parameter before (`tbf`). Other words replace a value.
    pub once: bool,
    /// Whether the first letters of the word are enough (iproute2's `matches`), and those of the word after it.
    pub abbreviates: bool,
    /// Whether a rate may be a percentage of the device's rate.
    pub takes_percent: bool,
    /// Whether a time is read by `get_time64`: in nanoseconds, without a unit, too.
    pub nanoseconds: bool,
    /// Whether the discipline sends at this rate at most, all flows together.
    pub shapes: bool,
    /// Whether a size may have a cell after it (`6000/16`): a power of two, which Linux has not used since 3.8.
    pub takes_cell: bool,
    /// Another parameter. A line may give one of them, and a change that gives one unsets the other.
    pub excludes: Option<&'static str>,
    /// Another parameter that this word unsets.
    pub ends: Option<&'static str>,
    /// The release from which on Linux has the word.
    pub since: Release,
}

impl Rules {
    pub(super) const USUAL: Self = Self {
        digits: Digits::OfUnit,
        zero_is_unset: false,
        once: false,
        abbreviates: false,
        takes_percent: true,
        nanoseconds: false,
        shapes: false,
        takes_cell: false,
        excludes: None,
        ends: None,
        since: Release::Linux6_1,
    };
}

impl<T> Param<T> {
    const fn ruled(self, rules: Rules) -> Self {
        let Self { spec, value } = self;
        Self { spec: ParamSpec { rules, ..spec }, value }
    }

    /// Sets which function of iproute2 reads the number.
    pub const fn digits(self, digits: Digits) -> Self {
        let rules = Rules { digits, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that `tc` takes 0 as if the line did not give the parameter.
    pub const fn zero_is_unset(self) -> Self {
        let rules = Rules { zero_is_unset: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Takes [`Param::zero_is_unset`] back, for a discipline that uses the parameter of another one.
    pub const fn zero_is_a_value(self) -> Self {
        let rules = Rules { zero_is_unset: false, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that `tc` refuses the word if the line gave the parameter before.
    pub const fn once(self) -> Self {
        let rules = Rules { once: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that the first letters of the word are enough. If several parameters begin with them, the first one in the
    /// discipline's list is meant, so the list has the order of iproute2's parser.
    pub const fn abbreviates(self) -> Self {
        let rules = Rules { abbreviates: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that the discipline sends at this rate at most, all flows together.
    pub const fn shapes(self) -> Self {
        let rules = Rules { shapes: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that `tc` takes no percentage for this rate.
    pub const fn no_percent(self) -> Self {
        let rules = Rules { takes_percent: false, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that `tc` reads the time with `get_time64`: whole nanoseconds, and a number without a unit is in
    /// nanoseconds.
    pub const fn nanoseconds(self) -> Self {
        let rules = Rules { nanoseconds: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that a size may have a cell after it.
    pub const fn takes_cell(self) -> Self {
        let rules = Rules { takes_cell: true, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that a line gives this parameter or `other`, and lets a change that gives one of them unset the other.
    pub const fn excludes<U>(self, other: &Param<U>) -> Self {
        self.excludes_named(other.name())
    }

    /// Does what [`Param::excludes`] does, for two constants that would have to mention each other.
    pub const fn excludes_named(self, other: &'static str) -> Self {
        let rules = Rules { excludes: Some(other), ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says from which release on Linux has the word. Lines of earlier releases may not give it.
    pub const fn since(self, since: Release) -> Self {
        let rules = Rules { since, ..self.spec.rules };
        self.ruled(rules)
    }

    /// Says that this word unsets `other`, which a later word of the same line may set again.
    pub const fn ends<U>(self, other: &Param<U>) -> Self {
        let rules = Rules { ends: Some(other.name()), ..self.spec.rules };
        self.ruled(rules)
    }
}
