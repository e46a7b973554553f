//! Numbers as the core reads and writes them.

use crate::packet::instant;
use goodqueue_units::{Instant, parse};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

/// Converts a time such as `5ms` to nanoseconds. A whole number is in nanoseconds already.
#[pyfunction]
pub(crate) fn time_ns(text: &Bound<'_, PyAny>) -> PyResult<u64> {
    if text.is_instance_of::<PyInt>() && !text.is_instance_of::<PyBool>() {
        return instant("ns", text).map(Instant::as_nanos);
    }
    let text: String = text.str()?.extract()?;
    let parsed = parse::duration_with_unit(&text);
    parsed.map(|span| span.as_nanos()).map_err(PyValueError::new_err)
}

/// Converts a rate such as `10mbit` to bit/s.
#[pyfunction]
pub(crate) fn rate_bps(text: &str) -> PyResult<u64> {
    parse::rate(text).map(goodqueue_units::Rate::as_bps).map_err(PyValueError::new_err)
}
