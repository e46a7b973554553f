//! What an application measured: the parts of the record whose types belong to its kind.

use crate::probe::delay::Summary;
use serde::Serialize;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// What one flow of a kind measured. The record contains it as the flow's keys.
pub trait AppResult: erased_serde::Serialize + Any + Debug + Send + Sync {
    /// Returns how long the flow's transfer took in ms, if the flow made exactly one.
    fn completion_ms(&self) -> Option<f64> {
        None
    }
}

/// One flow's part of the record's time series.
pub trait Kept: erased_serde::Serialize + Any + Debug + Send + Sync {}

impl<T: serde::Serialize + Any + Debug + Send + Sync> Kept for T {}

erased_serde::serialize_trait_object!(AppResult);
erased_serde::serialize_trait_object!(Kept);

/// A result, as the record holds it.
pub(crate) type Result = Arc<dyn AppResult>;
/// A part of the time series, as the record holds it.
pub(crate) type Series = Arc<dyn Kept>;

/// A field in a kind's part of the record.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Field {
    /// The field's key, with the unit.
    pub key: &'static str,
    /// `times` (a distribution in ms), `percentiles` (101 numbers), `number` or `count`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What the field is.
    pub help: &'static str,
    /// The field's column in the table of one run; none: the table does not show it.
    pub column: Option<Column>,
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

/// Makes the columns of a field of type `times`. `heading` says which times; `which` lists the ones shown.
pub(crate) const fn times(heading: &'static str, which: &'static str) -> Column {
    Column { heading, detail: which, decimals: 1 }
}

/// Makes the column of a number.
pub(crate) const fn column(heading: &'static str, detail: &'static str, decimals: u8) -> Column {
    Column { heading, detail, decimals }
}

/// The types that a field of the record may have.
pub(crate) trait Value {
    const TYPE: &'static str;
}

impl Value for Option<Summary> {
    const TYPE: &'static str = "times";
}
impl Value for Option<Vec<f64>> {
    const TYPE: &'static str = "percentiles";
}
impl Value for Option<f64> {
    const TYPE: &'static str = "number";
}
impl Value for f64 {
    const TYPE: &'static str = "number";
}
impl Value for u64 {
    const TYPE: &'static str = "count";
}

/// Makes the struct that is a kind's part of the record, and its `FIELDS`. A field's comment becomes its help text.
macro_rules! part {
    (
        $(#[doc = $about:literal])+
        $(#[derive($more:ident)])?
        pub struct $name:ident {
            $($(#[doc = $help:literal])+ pub $key:ident: $type:ty $(=> $column:expr)?,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, serde::Serialize $(, $more)?)]
        #[allow(unreachable_pub)] // `record` exports those that callers in Rust read
        pub struct $name {
            $($(#[doc = $help])+ pub $key: $type,)+
        }

        impl $name {
            pub(crate) const FIELDS: &'static [$crate::traffic::Field] = &[$($crate::traffic::Field {
                key: stringify!($key),
                kind: <$type as $crate::traffic::result::Value>::TYPE,
                help: concat!($($help),+).trim_ascii(),
                column: $crate::traffic::result::part!(@ $($column)?),
            },)+];
        }
    };
    (@ $column:expr) => { Some($column) };
    (@) => { None };
}
pub(crate) use part;
