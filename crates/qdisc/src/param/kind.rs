//! The types of parameter values.

use super::spec::{Default, Form, MOST_NUMBERS, MOST_VARIANTS, Numbers, Value};
use super::typed::Param;
use goodqueue_units::{Duration, Rate};

/// A type of parameter values: the types below and, with [`crate::words!`], sets of words.
pub trait Kind: Sized {
    /// Returns `value` as this type, or `None` if it has another type.
    fn of(value: Value) -> Option<Self>;

    /// Returns this value as a [`Value`].
    fn value(self) -> Value;
}

/// A set of words, one of which is a parameter's value: see [`crate::words!`].
pub trait Words: Kind {
    /// The words, in the order of the set.
    const WORDS: &'static [&'static str];
}

/// A value of [`super::Unit::TimeOrPackets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOrPackets {
    /// A time.
    Time(Duration),
    /// Packets.
    Packets(u64),
}

/// A value of [`super::Unit::Masked`]: a byte, and the mask under which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The value that the masked bits must have.
    pub value: u8,
    /// The bits that are compared.
    pub mask: u8,
}

/// Declares sets of words. One word of a set is a parameter's value.
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

impl<const N: usize> Kind for [u32; N] {
    fn of(value: Value) -> Option<Self> {
        let Value::Numbers(numbers) = value else { return None };
        numbers.as_slice().try_into().ok()
    }

    fn value(self) -> Value {
        Value::Numbers(Numbers::of(self))
    }
}

impl<const N: usize> Param<Option<[u32; N]>> {
    /// Declares a parameter whose value is `N` whole numbers, each 0 to 2^32 - 1.
    pub const fn numbers(name: &'static str, help: &'static str) -> Self {
        const { assert!(N <= MOST_NUMBERS, "too many numbers") };
        Self::new(name, help, Form::Numbers { most: N, fewer: false }, (0.0, u32::MAX as f64))
    }

    /// Sets the value for lines that name none.
    pub const fn default(self, numbers: [u32; N]) -> Param<[u32; N]> {
        self.with(Default::Always(Value::Numbers(Numbers::of(numbers))))
    }
}

impl<const N: usize> Param<[u32; N]> {
    /// Lets a line give fewer numbers. The other numbers keep their value.
    pub const fn or_fewer(mut self) -> Self {
        self.spec.form = Form::Numbers { most: N, fewer: true };
        self
    }

    /// Sets the smallest and the largest number accepted.
    pub const fn range(mut self, least: u32, greatest: u32) -> Self {
        self.spec.range = (least as f64, greatest as f64);
        self
    }
}

/// How each type's values are stored, and the builders that take such a value. The builders also work on a parameter
/// that already has a default, so that another discipline can list it with a default of its own.
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
            /// Sets the value for lines that name none.
            pub const fn default(self, $self: $type) -> Param<$type> {
                self.with(Default::Always($value))
            }

            /// Sets the value for lines that name none, for each word of `variant`.
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
                /// Sets the smallest and the largest value accepted.
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
    // A scenario's `buffer` may set a limit that is larger than any line can give.
    u32: Value::Integer(count) => u32::try_from(count).unwrap_or(u32::MAX);
        |count| Value::Integer(count as u64), in count as f64;
    f64: Value::Real(real) => real; |real| Value::Real(real), in real;
    i32: Value::Real(signed) => signed as i32; |signed| Value::Real(signed as f64), in signed as f64;
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
