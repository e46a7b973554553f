//! The core's definitions of numbers, for the engines and programs that measure by other means: quantities with units,
//! rounding, percentiles, jitter, fairness.

use crate::packet::instant;
use crate::to_json;
use goodqueue_hosts::probe::jitter::Jitter;
use goodqueue_hosts::probe::samples::Samples;
use goodqueue_netsim::Quantiles;
use goodqueue_units::{Instant, parse};
use pyo3::buffer::PyBuffer;
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

/// Returns the mean opinion score of a call.
#[pyfunction]
pub(crate) fn mos(delay_ms: f64, loss_percent: f64) -> f64 {
    goodqueue_hosts::probe::mos::mos(delay_ms, loss_percent)
}

/// Rounds as a record does.
#[pyfunction]
pub(crate) fn rounded(value: f64) -> f64 {
    goodqueue_hosts::probe::rounded(value)
}

/// Returns `part` as a percentage of `whole`.
#[pyfunction]
pub(crate) fn percent(part: i64, whole: i64) -> f64 {
    goodqueue_hosts::probe::percent(part, whole)
}

/// Returns Jain's index.
#[pyfunction]
pub(crate) fn jain(shares: Vec<f64>) -> Option<f64> {
    goodqueue_hosts::probe::jain(&shares)
}

/// Returns the percentiles of delays.
#[pyfunction]
pub(crate) fn percentiles_ms(py: Python<'_>, ns: PyBuffer<i64>) -> PyResult<Option<Vec<f64>>> {
    Ok(Samples::new(ns.to_vec(py)?).percentiles_ms())
}

/// Returns the summary of delays, as a dict.
#[pyfunction]
pub(crate) fn summary<'py>(py: Python<'py>, ns: PyBuffer<i64>) -> PyResult<Bound<'py, PyAny>> {
    part(py, &Samples::new(ns.to_vec(py)?).summary())
}

/// What a subscriber got: bytes, bytes of the best second, packets offered and dropped, and delays.
pub(crate) type Got = (u64, u64, u64, u64, PyBuffer<i64>);

/// Returns the same as the core has it.
pub(crate) fn got(py: Python<'_>, list: Vec<Got>) -> PyResult<Vec<goodqueue_netsim::record::Got>> {
    let of = |(bytes, peak_bytes, offered, dropped, ns): Got| {
        let delay_ms = Samples::new(ns.to_vec(py)?).summary();
        Ok(goodqueue_netsim::record::Got { bytes, peak_bytes, offered, dropped, delay_ms })
    };
    list.into_iter().map(of).collect()
}

/// Returns the quantiles of a flow's goodput in bins, as a dict.
#[pyfunction]
pub(crate) fn goodput_quantiles(py: Python<'_>, mbps: Vec<f64>) -> PyResult<Bound<'_, PyAny>> {
    part(py, &Quantiles::of(mbps))
}

/// Returns the mean and RFC 3550's jitter of delays in the order of arrival.
#[pyfunction]
pub(crate) fn jitter_ms(py: Python<'_>, ns: PyBuffer<i64>) -> PyResult<(Option<f64>, Option<f64>)> {
    let mut jitter = Jitter::default();
    ns.to_vec(py)?.into_iter().for_each(|delay| jitter.took(delay));
    Ok(jitter.in_ms().unzip())
}

/// Returns a part of a record as a dict, in the order of its declaration.
fn part<'py>(py: Python<'py>, part: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (to_json(part)?,))
}
