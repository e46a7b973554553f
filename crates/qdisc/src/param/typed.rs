//! A parameter as a constant: its declaration, and the key that reads its value.
//!
//! ```
//! use goodqueue_qdisc::param::{Param, ms, secs, us};
//! use goodqueue_units::Duration;
//!
//! const TARGET: Param<Duration> =
//!     Param::time("target", "acceptable delay").default(ms(5)).range(us(1), secs(1000)).source("RFC 8289, 4.4");
//! // Without a default it may be unset.
//! const CE_THRESHOLD: Param<Option<Duration>> = Param::time("ce_threshold", "mark what waited longer");
//! ```

use super::kind::{Masked, TimeOrPackets, Words};
use super::spec::{Default, Form, ParamSpec, Value};
use super::unit::Unit;
use core::marker::PhantomData;
use goodqueue_units::{Duration, Rate};

/// A parameter whose value is a `T`; an `Option`, where it has no default.
pub struct Param<T> {
    pub(super) spec: ParamSpec,
    value: PhantomData<fn() -> T>,
}

/// The list of a discipline's parameters, which are constants: `params! { LIMIT, TARGET, ECN }`. With a source for those
/// that name none: `params! { from "tc-red(8)" => LIMIT, MIN, MAX }`.
#[macro_export]
macro_rules! params {
    (from $source:expr => $($param:expr),* $(,)?) => { &[$($param.from($source).spec()),*] };
    ($($param:expr),* $(,)?) => { &[$($param.spec()),*] };
}

/// So many microseconds.
pub const fn us(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// So many milliseconds.
pub const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// So many seconds.
pub const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// So many bits per second; no rate is 0, so that does not compile.
pub const fn bps(count: u64) -> Rate {
    if let Some(rate) = Rate::from_bps(count) { rate } else { panic!("a rate of 0") }
}

/// Numbers. A range that is not said is the one that most parameters of the unit have.
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
    /// A time that `tc` takes for milliseconds where it has no unit.
    milliseconds: Duration = Milliseconds, (0.0, 4_294_967_295e6);
    /// A time, 0 to 60 s, or packets.
    time_or_packets: TimeOrPackets = TimeOrPackets, (0.0, 60e9);
    /// Bytes, 1 to 1e12.
    bytes: u64 = Bytes, (1.0, 1e12);
    /// Packets, 1 to 1e9.
    packets: u32 = Packets, (1.0, 1e9);
    /// A number of something else, 1 to 1e9.
    count: u32 = Count, (1.0, 1e9);
    /// A rate, 1 bit/s to 10 Tbit/s.
    rate: Rate = Rate, (1.0, 1e13);
    /// A real number, 0 to 1.
    real: f64 = Real, (0.0, 1.0);
    /// A real number of hundredths, 0 to 100.
    percent: f64 = Percent, (0.0, 100.0);
    /// A byte under a mask.
    masked: Masked = Masked, (0.0, 65_535.0);
}

impl Param<bool> {
    /// A flag, off by default.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Form::Flag, (0.0, 0.0)).default(false)
    }

    /// Neither on nor off by default.
    pub const fn unset(self) -> Param<Option<bool>> {
        self.with(Default::Always(Value::Unset))
    }
}

impl<W: Words> Param<W> {
    /// The parameter's name and one of the words of `W`; `default` where the line has none.
    pub const fn choice(name: &'static str, help: &'static str, default: &str) -> Self {
        Self::new(name, help, Form::Choice(W::WORDS), (0.0, 0.0)).with(Default::Always(index::<W>(default)))
    }

    /// One of the words of `W`, without a name before it; `default` where the line has none.
    pub const fn word(name: &'static str, help: &'static str, default: &str) -> Self {
        Self::new(name, help, Form::Word(W::WORDS), (0.0, 0.0)).with(Default::Always(index::<W>(default)))
    }

    /// The default only in the variant of this index, and no word in the other one.
    pub const fn only_in_variant(self, variant: usize) -> Param<Option<W>> {
        let Default::Always(word) = self.spec.default else { panic!("a second default") };
        let mut values = [Some(Value::Unset), Some(Value::Unset), None];
        values[variant] = Some(word);
        self.with(Default::ByVariant(values))
    }
}

impl<W: Words> Param<Option<W>> {
    /// As [`Param::word`], without a default.
    pub const fn optional_word(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Form::Word(W::WORDS), (0.0, 0.0))
    }
}

/// The place of `word` in the set; a word that is not in it does not compile.
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
    /// Words that stand for others, see [`Form::Shorthand`].
    pub const fn shorthand(
        name: &'static str,
        help: &'static str,
        table: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::new(name, help, Form::Shorthand(table), (0.0, 0.0))
    }

    /// The discipline inside, for which there is [`super::Args::child`].
    pub const fn child(help: &'static str) -> Self {
        Self::new("child", help, Form::Child, (0.0, 0.0))
    }

    /// `line` where the line names no child.
    pub const fn default_line(self, line: &'static str) -> Self {
        self.with(Default::Line(line))
    }

    /// `name` as another word for the parameter `of`.
    pub const fn alias<T>(name: &'static str, of: &Param<T>) -> Self {
        Self::new(name, "another word for it", Form::Alias(of.spec.name), (0.0, 0.0))
    }

    /// `name` as a word of `tc`'s that is refused for `why`.
    pub const fn refused(name: &'static str, why: &'static str) -> Self {
        Self::new(name, why, Form::Refused(why), (0.0, 0.0))
    }
}

impl<T> Param<T> {
    const fn new(name: &'static str, help: &'static str, form: Form, range: (f64, f64)) -> Self {
        let default = Default::Always(Value::Unset);
        let spec = ParamSpec { name, form, default, range, source: "", help, fixed: false, takes_back: None };
        Self { spec, value: PhantomData }
    }

    pub(super) const fn with<U>(self, default: Default) -> Param<U> {
        Param { spec: ParamSpec { default, ..self.spec }, value: PhantomData }
    }

    /// Where the default comes from: RFC and section, paper and equation, or `tc`'s manual.
    pub const fn source(mut self, source: &'static str) -> Self {
        self.spec.source = source;
        self
    }

    /// [`Param::source`], unless it has one.
    pub const fn from(self, source: &'static str) -> Self {
        if self.spec.source.is_empty() { self.source(source) } else { self }
    }

    /// Another sentence, where a discipline uses another one's parameter.
    pub const fn help(mut self, help: &'static str) -> Self {
        self.spec.help = help;
        self
    }

    /// Another name, likewise.
    pub const fn named(mut self, name: &'static str) -> Self {
        self.spec.name = name;
        self
    }

    /// It keeps the value that the discipline was made with.
    pub const fn fixed(mut self) -> Self {
        self.spec.fixed = true;
        self
    }

    /// A change that names this parameter and not `other` unsets the latter.
    pub const fn takes_back<U>(mut self, other: &Param<U>) -> Self {
        self.spec.takes_back = Some(other.spec.name);
        self
    }

    /// The `tc` word.
    pub const fn name(&self) -> &'static str {
        self.spec.name
    }

    /// What a discipline lists, see [`crate::params!`].
    pub const fn spec(&self) -> ParamSpec {
        self.spec
    }
}
