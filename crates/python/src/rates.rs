//! Files of rates.

use goodqueue_netsim::path;
use goodqueue_units::{Duration, Rate, parse};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Generates a file of rates of the shape `lte`, `starlink` or `mmwave`, with a mean rate and a length such as
/// `12mbit` and `60s`.
#[pyfunction]
pub(crate) fn generate_rates(
    py: Python<'_>,
    shape: &str,
    mean: &str,
    length: &str,
    seed: u64,
) -> PyResult<String> {
    let mean = parse::rate(mean).map_err(PyValueError::new_err)?;
    let length = parse::duration_with_unit(length).map_err(PyValueError::new_err)?;
    py.detach(|| path::generate_rates(shape, mean, length, seed)).map_err(PyValueError::new_err)
}

/// Returns the mean rate of a file of rates in the long run, in bit/s.
#[pyfunction]
pub(crate) fn mean_rate_bps(content: &[u8]) -> PyResult<u64> {
    path::mean_rate(content).map(Rate::as_bps).map_err(PyValueError::new_err)
}

/// Returns the steps of a file of rates up to `end_s` seconds: when each begins, in seconds, and its rate in bit/s.
/// Returns None for a file of opportunities.
#[pyfunction]
pub(crate) fn rate_steps(content: &[u8], end_s: f64) -> PyResult<Option<Vec<(f64, u64)>>> {
    let end = Duration::from_secs_f64(end_s);
    let steps = path::rate_steps(content, end).map_err(PyValueError::new_err)?;
    let seconds = |(time, bps): (Duration, u64)| (time.as_secs_f64(), bps);
    Ok(steps.map(|steps| steps.into_iter().map(seconds).collect()))
}
