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

/// What an application was asked for and has not done. Each kind counts its own things: transfers, pages, videos.
///
/// A distribution has only the times of what ended, so it says nothing of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Things of which nothing came, while nothing else came either; and things whose turn did not come.
    pub never_started: u64,
    /// Other things that began and have not ended, whether or not they began within the measured time.
    pub unfinished: u64,
}

impl Undone {
    /// Returns what is undone of things that come one after the other. `under_way` have begun, and `waiting` have not.
    /// `has_come` says whether anything ever came.
    pub(crate) fn in_turn(under_way: u64, waiting: u64, has_come: bool) -> Self {
        let unfinished = if has_come { under_way } else { 0 };
        Self { never_started: waiting + under_way - unfinished, unfinished }
    }

    /// Returns what is undone of one thing that has `begun`: nothing of it came, or it has not ended.
    pub(crate) fn of_one(begun: bool, has_come: bool, is_unfinished: bool) -> Self {
        Self {
            never_started: u64::from(begun && !has_come),
            unfinished: u64::from(has_come && is_unfinished),
        }
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
