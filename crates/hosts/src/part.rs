//! The parts of a record as data: their keys, the type and the meaning of each key, and which engines leave it out.
//!
//! `part!` makes a struct and its description of one declaration. A record has keys that only other engines write:
//! the declaration lists them, too, without making a field of them.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A part of the record: an object of the JSON.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name in docs and in Python.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
}

/// A key of a part of the record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key, with the unit.
    pub key: &'static str,
    /// The type of what the simulator writes.
    pub shape: Shape,
    /// The type of what any engine writes, if it is wider, except for null.
    pub wider: Option<Shape>,
    /// What the value is. Empty without the feature `reference`.
    pub help: &'static str,
    /// Whether engines that know the key leave it out if there is nothing to tell.
    pub is_optional: bool,
    /// The engines that write null.
    pub null_from: &'static [Engine],
    /// The engines that leave the key out.
    pub not_from: &'static [Engine],
    /// The only engines that write the key. Empty: there are others.
    pub only_from: &'static [Engine],
    /// The key's column in the table of one run; none: the table does not show it.
    pub column: Option<Column>,
}

impl Serialize for Field {
    /// Writes what the table of one run and the lists of kinds show: key, type, help and column.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = match self.shape {
            Shape::Nullable(Shape::Part(_)) => "times",
            Shape::Nullable(Shape::List(_)) => "percentiles",
            Shape::Text | Shape::Nullable(Shape::Text) => "text",
            Shape::Count => "count",
            _ => "number",
        };
        let mut field = serializer.serialize_struct("Field", 4)?;
        field.serialize_field("key", self.key)?;
        field.serialize_field("type", word)?;
        field.serialize_field("help", self.help)?;
        field.serialize_field("column", &self.column)?;
        field.end()
    }
}

/// A column of the table of one run. A field of type `times` has several.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// The heading's first line.
    pub heading: &'static str,
    /// The heading's second line. For `times`: which of them are shown, such as `mean p50 p95`.
    pub detail: &'static str,
    /// How many decimals are shown.
    pub decimals: u8,
}

/// What makes records: the engines, and the other programs whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The simulator.
    Sim,
    /// Linux in the laboratory.
    Kernel,
    /// Real packets across the simulator's path.
    Live,
    /// Flent's files.
    Flent,
    /// irtt's files.
    Irtt,
    /// iperf3's files.
    Iperf3,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Sim, Self::Kernel, Self::Live, Self::Flent, Self::Irtt, Self::Iperf3];
}

/// The type of a value in the JSON.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// Text.
    Text,
    /// True or false.
    Flag,
    /// Anything.
    Anything,
    /// A resolved scenario.
    Scenario,
    /// A part.
    Part(&'static Part),
    /// Null, or a value.
    Nullable(&'static Self),
    /// A list.
    List(&'static Self),
    /// A table, by name.
    Table(&'static Self),
    /// A table, by direction.
    Directions(&'static Self),
    /// The keys of one of several parts, which stand among the part's own keys.
    Flat(Kinds),
}

/// The kinds that decide which keys stand among the part's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// What a hop did, by its kind.
    Hops,
    /// What an application measured, by its kind.
    Applications,
    /// The lists of time series, each named by a kind of traffic.
    Series,
}

/// A type of values of a record.
pub trait Value {
    /// How its values are described.
    const SHAPE: Shape;

    /// Returns whether there is nothing to tell. An optional key is then left out.
    fn is_nothing(&self) -> bool {
        false
    }
}

/// Declares the shapes of types that are no part.
#[macro_export]
macro_rules! shapes {
    ($($type:ty => $shape:expr),* $(,)?) => {
        $(impl $crate::part::Value for $type {
            const SHAPE: $crate::part::Shape = $shape;
        })*
    };
}
shapes! {
    u32 => Shape::Count,
    f64 => Shape::Number,
    bool => Shape::Flag,
    String => Shape::Text,
    &'static str => Shape::Text,
    Json => Shape::Anything,
}

impl Value for u64 {
    const SHAPE: Shape = Shape::Count;
    fn is_nothing(&self) -> bool {
        *self == 0
    }
}

impl<T: Value> Value for Option<T> {
    const SHAPE: Shape = Shape::Nullable(&T::SHAPE);
    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T: Value> Value for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<K, T: Value> Value for BTreeMap<K, T> {
    const SHAPE: Shape = Shape::Table(&T::SHAPE);
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

/// Returns the keys of a part. A program without the reference has none.
#[must_use]
pub const fn fields(all: &'static [Field]) -> &'static [Field] {
    if cfg!(feature = "reference") { all } else { &[] }
}

/// Returns the help text of a part or a key. A program without the reference has none.
#[must_use]
pub const fn help(text: &'static str) -> &'static str {
    if cfg!(feature = "reference") { text.trim_ascii() } else { "" }
}

impl Field {
    /// Makes a key that each engine always writes.
    #[must_use]
    pub const fn new(key: &'static str, shape: Shape, help: &'static str) -> Self {
        let key = match key.as_bytes() {
            [b'r', b'#', ..] => key.split_at(2).1, // a field that is named as a word of Rust
            _ => key,
        };
        Self {
            key,
            shape,
            wider: None,
            help,
            is_optional: false,
            null_from: &[],
            not_from: &[],
            only_from: &[],
            column: None,
        }
    }

    /// Makes a key that is left out if there is nothing to tell. So it is never null.
    #[must_use]
    pub const fn optional(self) -> Self {
        let shape = match self.shape {
            Shape::Nullable(inner) => *inner,
            shape => shape,
        };
        Self { shape, is_optional: true, ..self }
    }
}

/// Declares a part of the record: the struct, and its description (`PART`). The comments are the help texts.
///
/// - `struct X as "Y"`: the part is called Y in docs and in Python.
/// - `#[serde(skip_serializing_if = "Value::is_nothing")]`: the key is left out if there is nothing to tell.
/// - `#[serde(flatten)]`: the keys of the value stand among the part's own.
/// - `#[optional(by_schema)]`: schema 1 lets the key be left out, although all engines of today write it.
/// - `#[not_from(Kernel, …)]`: these engines leave it out. `#[null_from(Kernel, …)]`: these may write null.
/// - `#[wider(Type)]`: other engines write this type.
/// - `=> column`: the key's column in the table of one run.
/// - At the end, `#[serde(skip)] field: Type` is no key, and `#[only_from(Kernel, …)] key: Type` is no field: these
///   engines write it, and the simulator does not.
#[macro_export]
macro_rules! part {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derived:ident),+)])?
        pub struct $name:ident $(as $called:literal)? {
            $(
                $(#[doc = $help:literal])+
                $(#[serde($serde:ident $(= $predicate:literal)?)])?
                $(#[optional($optional:ident)])?
                $(#[not_from($($not_from:ident),+)])?
                $(#[null_from($($null_from:ident),+)])?
                $(#[wider($wider:ty)])?
                pub $key:ident: $type:ty $(=> $column:expr)?,
            )*
            $(#[serde(skip)] $own:ident: $own_type:ty,)*
            $(#[only_from($($only_from:ident),+)] $(#[doc = $other_help:literal])+ $other:ident: $other_type:ty,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, serde::Serialize $($(, $derived)+)?)]
        #[allow(unreachable_pub)] // `record` exports those that callers in Rust read
        pub struct $name {
            $(
                $(#[doc = $help])+
                $(#[serde($serde $(= $predicate)?)])?
                pub $key: $type,
            )*
            $(#[serde(skip)] $own: $own_type,)*
        }

        impl $name {
            const FIELDS: &'static [$crate::part::Field] = &[
                $($crate::part::Field {
                    null_from: &[$($($crate::part::Engine::$null_from),+)?],
                    not_from: &[$($($crate::part::Engine::$not_from),+)?],
                    wider: $crate::part!(@some $(<$wider as $crate::part::Value>::SHAPE)?),
                    column: $crate::part!(@some $($column)?),
                    ..$crate::part!(
                        @optional $($serde)? $($optional)?:
                        $crate::part::Field::new(
                            stringify!($key),
                            <$type as $crate::part::Value>::SHAPE,
                            $crate::part::help(concat!($($help),+)),
                        )
                    )
                },)*
                $($crate::part::Field {
                    only_from: &[$($crate::part::Engine::$only_from),+],
                    ..$crate::part::Field::new(
                        stringify!($other),
                        <$other_type as $crate::part::Value>::SHAPE,
                        $crate::part::help(concat!($($other_help),+)),
                    )
                },)*
            ];

            pub(crate) const PART: &'static $crate::part::Part = &$crate::part::Part {
                name: $crate::part!(@name $name $($called)?),
                help: $crate::part::help(concat!($($about),+)),
                fields: $crate::part::fields(Self::FIELDS),
            };
        }

        impl $crate::part::Value for $name {
            const SHAPE: $crate::part::Shape = $crate::part::Shape::Part(Self::PART);
        }
    };
    (@some $value:expr) => { Some($value) };
    (@some) => { None };
    (@name $name:ident $called:literal) => { $called };
    (@name $name:ident) => { stringify!($name) };
    (@optional skip_serializing_if: $field:expr) => { $field.optional() };
    (@optional by_schema: $field:expr) => { $crate::part::Field { is_optional: true, ..$field } };
    (@optional $(flatten)?: $field:expr) => { $field };
}
