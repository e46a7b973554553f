//! The types that values of parameters have.

use super::spec::{Default, MOST_VARIANTS, Value};
use super::typed::Param;
use goodqueue_units::{Duration, Rate};

/// A type that values have: those below and, by [`crate::words!`], sets of words.
pub trait Kind: Sized {
    /// `value` as one of these, if it is one.
    fn of(value: Value) -> Option<Self>;

    /// The other way round.
    fn value(self) -> Value;
}

/// A set of words, of which a parameter's value is one: see [`crate::words!`].
pub trait Words: Kind {
    /// The words, in the order of the set.
    const WORDS: &'static [&'static str];
}

/// What [`super::Unit::TimeOrPackets`] measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOrPackets {
    /// A time.
    Time(Duration),
    /// Packets.
    Packets(u64),
}

/// What [`super::Unit::Masked`] is: a byte, and the mask that it is compared under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    /// What the masked bits must be.
    pub value: u8,
    /// The bits that count.
    pub mask: u8,
}

/// Declares sets of words, one of which is a parameter's value.
///
/// ```
/// use goodqueue_qdisc::{param::Param, words};
///
/// words! {
///     pub enum Variant { Linux = "linux", Rfc = "rfc8289" }
/// }
/// const VARIANT: Param<Variant> = Param::choice("variant", "whose algorithm", "linux");
/// ```
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* $vis:vis enum $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant,)+
        }

        impl $crate::param::Kind for $name {
            fn of(value: $crate::param::Value) -> Option<Self> {
                let $crate::param::Value::Integer(index) = value else { return None };
                [$(Self::$variant),+].get(index as usize).copied()
            }

            fn value(self) -> $crate::param::Value {
                $crate::param::Value::Integer(self as u64)
            }
        }

        impl $crate::param::Words for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
        }
    )+};
}

impl<T: Kind> Kind for Option<T> {
    fn of(value: Value) -> Option<Self> {
        if value == Value::Unset { Some(None) } else { T::of(value).map(Some) }
    }

    fn value(self) -> Value {
        self.map_or(Value::Unset, T::value)
    }
}

/// What a type's values are kept as, and the builders that take one: of a parameter that has a default already, too, so
/// that another discipline can list it with its own.
macro_rules! kinds {
    ($($type:ty: $($pattern:pat => $of:expr),+; |$self:ident| $value:expr $(, in $number:expr)?;)+) => {$(
        impl Kind for $type {
            fn of(value: Value) -> Option<Self> {
                match value { $($pattern => Some($of),)+ _ => None }
            }

            fn value(self) -> Value {
                let $self = self;
                $value
            }
        }

        kinds!(@builders $type, |$self: $type| $value, |$self| Some($value) $(, $number)?);
        kinds!(@builders Option<$type>, |$self: $type| $value,
            |$self| Some(if let Some($self) = $self { $value } else { Value::Unset }) $(, $number)?);
    )+};
    (@builders $param:ty, |$self:ident: $type:ty| $value:expr, |$each:ident| $of_variant:expr $(, $number:expr)?) => {
        impl Param<$param> {
            /// The value where the line has none.
            pub const fn default(self, $self: $type) -> Param<$type> {
                self.with(Default::Always($value))
            }

            /// The value where the line has none, for each word of `variant`.
            pub const fn by_variant<const N: usize>(self, defaults: [$param; N]) -> Self {
                let mut values = [None; MOST_VARIANTS];
                let mut at = 0;
                while at < N {
                    let $each = defaults[at];
                    values[at] = $of_variant;
                    at += 1;
                }
                self.with(Default::ByVariant(values))
            }

            $(
                /// The least and the greatest value accepted.
                pub const fn range(mut self, least: $type, greatest: $type) -> Self {
                    let $self = least;
                    self.spec.range.0 = $number;
                    let $self = greatest;
                    self.spec.range.1 = $number;
                    self
                }
            )?
        }
    };
}

kinds! {
    Duration: Value::Integer(ns) => Duration::from_nanos(ns);
        |span| Value::Integer(span.as_nanos()), in span.as_nanos() as f64;
    Rate: Value::Integer(bps) => Rate::from_bps(bps)?; |rate| Value::Integer(rate.as_bps()), in rate.as_bps() as f64;
    u64: Value::Integer(count) => count; |count| Value::Integer(count), in count as f64;
    // A limit that a scenario's `buffer` sets may be larger than any line can say.
    u32: Value::Integer(count) => u32::try_from(count).unwrap_or(u32::MAX);
        |count| Value::Integer(count as u64), in count as f64;
    f64: Value::Real(real) => real; |real| Value::Real(real), in real;
    bool: Value::Flag(on) => on; |on| Value::Flag(on);
    Masked: Value::Integer(pair) => Masked { value: (pair >> 8) as u8, mask: pair as u8 };
        |pair| Value::Integer((pair.value as u64) << 8 | pair.mask as u64);
    TimeOrPackets: Value::Integer(ns) => TimeOrPackets::Time(Duration::from_nanos(ns)),
        Value::Packets(packets) => TimeOrPackets::Packets(packets);
        |either| match either {
            TimeOrPackets::Time(span) => Value::Integer(span.as_nanos()),
            TimeOrPackets::Packets(packets) => Value::Packets(packets),
        };
}
