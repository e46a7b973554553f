//! What an application measured: parts of the record of its kind's own types.

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
