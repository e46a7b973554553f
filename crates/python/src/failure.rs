//! The exception that ends a run with Python in it.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that the Python of one run raised, until the run's caller takes it.
///
/// All disciplines and congestion controls of a run share it. Once one of them has failed, none is called again: with
/// one Ctrl-C, of many that never return only the first one is interrupted, and the next would be called without end.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_noted: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Failure {
    /// Notes an exception, unless one waits already.
    pub(crate) fn note(&self, error: PyErr) {
        self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.0.is_noted.store(true, Ordering::Release);
    }

    /// Returns whether an exception was noted, also if it is taken already.
    pub(crate) fn is_noted(&self) -> bool {
        self.0.is_noted.load(Ordering::Acquire)
    }

    /// Takes the exception and raises it, if there is one.
    pub(crate) fn raise(&self) -> PyResult<()> {
        let raised = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }
}
