//! What an application measured: parts of the record of its kind's own types.

use crate::probe::delay::Summary;
use serde::Serialize;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// What one flow of a kind measured; it is written into the record as its keys.
pub trait AppResult: erased_serde::Serialize + Any + Debug + Send + Sync {
    /// Returns how long the flow's one transfer took, if it made one, in ms.
    fn completion_ms(&self) -> Option<f64> {
        None
    }
}

/// One flow's part of the record's time series.
pub trait Kept: erased_serde::Serialize + Any + Debug + Send + Sync {}

impl<T: serde::Serialize + Any + Debug + Send + Sync> Kept for T {}

erased_serde::serialize_trait_object!(AppResult);
erased_serde::serialize_trait_object!(Kept);

/// A result, and what it is called, as the record holds both.
pub(crate) type Result = Arc<dyn AppResult>;
/// A part of the time series.
pub(crate) type Series = Arc<dyn Kept>;

/// Something in a kind's part of the record.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Field {
    /// Its key, with the unit.
    pub key: &'static str,
    /// `times` (a distribution in ms), `percentiles` (101 numbers), `number` or `count`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is.
    pub help: &'static str,
    /// How it stands in the table of one run; none: it does not.
    pub column: Option<Column>,
}

/// A column of the table of one run; of times, several.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// The first line.
    pub heading: &'static str,
    /// The second line; of times, which of them are shown: `mean p50 p95`.
    pub detail: &'static str,
    /// How many decimals are shown.
    pub decimals: u8,
}

/// The columns of times: `heading` says of what, `which` are shown.
pub(crate) const fn times(heading: &'static str, which: &'static str) -> Column {
    Column { heading, detail: which, decimals: 1 }
}

/// The column of a number.
pub(crate) const fn column(heading: &'static str, detail: &'static str, decimals: u8) -> Column {
    Column { heading, detail, decimals }
}

/// What a field of the record may be.
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

/// Makes the struct that is a kind's part of the record, and its `FIELDS`, which say what the fields' comments do.
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
