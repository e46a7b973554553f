//! What an application measured: the parts of the record whose types belong to its kind.

use crate::part::{Column, Kinds, Shape};
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
pub type Result = Arc<dyn AppResult>;
/// A part of the time series, as the record holds it.
pub type Series = Arc<dyn Kept>;

crate::shapes! { Result => Shape::Flat(Kinds::Applications) }

/// Makes the columns of a field of type `times`. `heading` says which times; `which` lists the ones shown.
pub(crate) const fn times(heading: &'static str, which: &'static str) -> Column {
    Column { heading, detail: which, decimals: 1 }
}

/// Makes the column of a number.
pub(crate) const fn column(heading: &'static str, detail: &'static str, decimals: u8) -> Column {
    Column { heading, detail, decimals }
}
