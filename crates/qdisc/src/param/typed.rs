//! A parameter as a constant: its declaration, and the key that reads its value.
//!
//! ```
//! use goodqueue_qdisc::param::{Param, ms, secs, us};
//! use goodqueue_units::Duration;
//!
//! const TARGET: Param<Duration> =
//!     Param::time("target", "acceptable delay").default(ms(5)).range(us(1), secs(1000)).source("RFC 8289, 4.4");
//! // Without a default a parameter may be unset.
//! const CE_THRESHOLD: Param<Option<Duration>> = Param::time("ce_threshold", "mark what waited longer");
//! ```

use super::kind::{Masked, TimeOrPackets, Words};
use super::rules::Rules;
use super::spec::{Default, Form, ParamSpec, Value};
use super::unit::Unit;
use core::marker::PhantomData;
use goodqueue_units::{Duration, Rate};

/// A parameter whose value is a `T`. Without a default `T` is an `Option`.
pub struct Param<T> {
    pub(super) spec: ParamSpec,
    pub(super) value: PhantomData<fn() -> T>,
}

/// Makes the list of a discipline's parameters from their constants: `params! { LIMIT, TARGET, ECN }`. A source for
/// those parameters that name none stands before the list: `params! { from "tc-red(8)" => LIMIT, MIN, MAX }`.
#[macro_export]
macro_rules! params {
    (from $source:expr => $($param:expr),* $(,)?) => { &[$($param.from($source).spec()),*] };
    ($($param:expr),* $(,)?) => { &[$($param.spec()),*] };
}

/// Returns `count` microseconds.
pub const fn us(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// Returns `count` milliseconds.
pub const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Returns `count` seconds.
pub const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Returns `count` bits per second. A count of 0 is no rate and does not compile in a constant.
pub const fn bps(count: u64) -> Rate {
    if let Some(rate) = Rate::from_bps(count) { rate } else { panic!("a rate of 0") }
}

/// Builders for numbers. Each begins with the range that most parameters of its unit have.
macro_rules! numbers {
    ($($(#[$about:meta])* $name:ident: $type:ty = $unit:ident, $range:expr;)+) => {$(
        impl Param<Option<$type>> {
            $(#[$about])*
            pub const fn $name(name: &'static str, help: &'static str) -> Self {
                Self::new(name, help, Form::Number(Unit::$unit), $range)
            }
        }
    )+};
}

numbers! {
    /// A time, 1 us to 60 s.
    time: Duration = Time, (1e3, 60e9);
    /// A time, for which `tc` takes a number without a unit as milliseconds.
    milliseconds: Duration = Milliseconds, (0.0, 4_294_967_295e6);
    /// A time, 0 to 60 s, or packets.
    time_or_packets: TimeOrPackets = TimeOrPackets, (0.0, 60e9);
    /// Bytes, 1 to 1e12.
    bytes: u64 = Bytes, (1.0, 1e12);
    /// Packets, 1 to 1e9.
    packets: u32 = Packets, (1.0, 1e9);
    /// A number of something else, 1 to 1e9.
    count: u32 = Count, (1.0, 1e9);
    /// A number of 64 bits, such as a seed.
    number: u64 = Count, (0.0, u64::MAX as f64);
    /// A rate, 8 bit/s to 10 Tbit/s. `tc` counts in bytes per second.
    rate: Rate = Rate, (8.0, 1e13);
    /// A whole number that may be negative, of 32 bits.
    signed: i32 = Signed, (i32::MIN as f64, i32::MAX as f64);
    /// A real number, 0 to 1.
    real: f64 = Real, (0.0, 1.0);
    /// A real number of hundredths, 0 to 100.
    percent: f64 = Percent, (0.0, 100.0);
    /// A byte under a mask.
    masked: Masked = Masked, (0.0, 65_535.0);
}

impl Param<bool> {
    /// Declares a flag, off by default.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Form::Flag, (0.0, 0.0)).default(false)
    }

    /// Makes the flag neither on nor off by default.
    pub const fn unset(self) -> Param<Option<bool>> {
        self.with(Default::Always(Value::Unset))
    }
}

impl<W: Words> Param<W> {
    /// Declares a parameter whose value is its name and one of the words of `W`. A line without it means `default`.
    pub const fn choice(name: &'static str, help: &'static str, default: &str) -> Self {
        Self::new(name, help, Form::Choice(W::WORDS), (0.0, 0.0)).with(Default::Always(index::<W>(default)))
    }

    /// Declares a parameter whose value is one of the words of `W`, without its name. A line without it means
    /// `default`.
    pub const fn word(name: &'static str, help: &'static str, default: &str) -> Self {
        Self::new(name, help, Form::Word(W::WORDS), (0.0, 0.0)).with(Default::Always(index::<W>(default)))
    }

    /// Keeps the default only in the variant with this index. In the other variant the default is no word.
    pub const fn only_in_variant(self, variant: usize) -> Param<Option<W>> {
        let Default::Always(word) = self.spec.default else { panic!("a second default") };
        let mut values = [Some(Value::Unset), Some(Value::Unset), None];
        values[variant] = Some(word);
        self.with(Default::ByVariant(values))
    }
}

impl<W: Words> Param<Option<W>> {
    /// Declares a parameter as [`Param::choice`] does, without a default.
    pub const fn optional_choice(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Form::Choice(W::WORDS), (0.0, 0.0))
    }

    /// Declares a parameter as [`Param::word`] does, without a default.
    pub const fn optional_word(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Form::Word(W::WORDS), (0.0, 0.0))
    }
}

/// Returns the index of `word` in the set. A word that is not in the set does not compile.
const fn index<W: Words>(word: &str) -> Value {
    let mut index = 0;
    while !is_same(W::WORDS[index].as_bytes(), word.as_bytes()) {
        index += 1;
    }
    Value::Integer(index as u64)
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

impl Param<()> {
    /// Declares words that stand for others, see [`Form::Shorthand`].
    pub const fn shorthand(
        name: &'static str,
        help: &'static str,
        table: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::new(name, help, Form::Shorthand(table), (0.0, 0.0))
    }

    /// Declares the discipline inside this one. [`super::Args::child`] reads it.
    pub const fn child(help: &'static str) -> Self {
        Self::new("child", help, Form::Child, (0.0, 0.0))
    }

    /// Sets the child's `line` for lines that name no child.
    pub const fn default_line(self, line: &'static str) -> Self {
        self.with(Default::Line(line))
    }

    /// Declares `name` as another word for the parameter `of`. [`ParamSpec::about`] says so.
    pub const fn alias<T>(name: &'static str, of: &Param<T>) -> Self {
        Self::new(name, "", Form::Alias(of.spec.name), (0.0, 0.0))
    }

    /// Declares `name` as a word of `tc` that is refused for the reason `why`.
    pub const fn refused(name: &'static str, why: &'static str) -> Self {
        Self::new(name, why, Form::Refused(why), (0.0, 0.0))
    }
}

impl<T> Param<T> {
    pub(super) const fn new(name: &'static str, help: &'static str, form: Form, range: (f64, f64)) -> Self {
        let default = Default::Always(Value::Unset);
        let spec = ParamSpec {
            name,
            form,
            default,
            range,
            source: "",
            help,
            fixed: false,
            takes_back: None,
            follows: None,
            rules: Rules::USUAL,
        };
        Self { spec, value: PhantomData }
    }

    pub(super) const fn with<U>(self, default: Default) -> Param<U> {
        Param { spec: ParamSpec { default, ..self.spec }, value: PhantomData }
    }

    /// Sets the source of the default: RFC and section, paper and equation, or `tc`'s manual. Without the feature
    /// `reference` it stays empty.
    pub const fn source(mut self, source: &'static str) -> Self {
        if cfg!(feature = "reference") {
            self.spec.source = source;
        }
        self
    }

    /// Sets [`Param::source`] if the parameter has none.
    pub const fn from(self, source: &'static str) -> Self {
        if self.spec.source.is_empty() { self.source(source) } else { self }
    }

    /// Sets another help sentence, for a discipline that uses the parameter of another one.
    pub const fn help(mut self, help: &'static str) -> Self {
        self.spec.help = help;
        self
    }

    /// Sets another name, for a discipline that uses the parameter of another one.
    pub const fn named(mut self, name: &'static str) -> Self {
        self.spec.name = name;
        self
    }

    /// Makes the parameter keep the value that the discipline was made with.
    pub const fn fixed(mut self) -> Self {
        self.spec.fixed = true;
        self
    }

    /// Lets a change that names this parameter and not `other` unset `other`.
    pub const fn takes_back<U>(mut self, other: &Param<U>) -> Self {
        self.spec.takes_back = Some(other.spec.name);
        self
    }

    /// Makes this parameter one whose value may follow the value of `parent`, as in `netem delay TIME JITTER`. It has
    /// no word of its own. If several parameters follow one parent, their values stand in the order of the
    /// discipline's list. A value is there if the next word begins with a digit (or with `-`, if the range has
    /// negative numbers). The canonical line has the values right after the parent's, up to the first one that is
    /// unset.
    pub const fn follows<U>(mut self, parent: &Param<U>) -> Self {
        self.spec.follows = Some(parent.spec.name);
        self
    }

    /// Returns the `tc` word.
    pub const fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Returns the data that a discipline lists, see [`crate::params!`].
    pub const fn spec(&self) -> ParamSpec {
        self.spec
    }
}
