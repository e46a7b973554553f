//! Captures of runs.

use goodqueue_netsim::wifi::frames::SharedAirObserver;
use goodqueue_netsim::{SharedObserver, Simulation};
use goodqueue_trace::{Error, Point, Trace};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pyo3::create_exception!(
    _goodqueue,
    TraceError,
    PyValueError,
    "A capture that cannot be written: file and reason."
);

/// A capture that the run writes and Python controls.
pub(crate) type Shared = Arc<Mutex<Trace>>;

fn refuse(error: &Error) -> PyErr {
    TraceError::new_err(error.to_string())
}

fn locked(trace: &Shared) -> MutexGuard<'_, Trace> {
    trace.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn named(names: &[String]) -> PyResult<Vec<Point>> {
    let unknown = |name: &String| PyValueError::new_err(format!("no point {name:?}"));
    names.iter().map(|name| Point::from_name(name).ok_or_else(|| unknown(name))).collect()
}

pub(crate) fn begin(
    run: &mut Simulation,
    path: &Path,
    points: &[String],
    snap_bytes: u32,
) -> PyResult<Shared> {
    let flows = run.scenario().flows();
    let trace = Trace::create(path, &flows, &named(points)?, snap_bytes).map_err(|error| refuse(&error))?;
    let shared = Arc::new(Mutex::new(trace));
    run.observe(Arc::clone(&shared) as SharedObserver);
    run.observe_air(Arc::clone(&shared) as SharedAirObserver);
    Ok(shared)
}

pub(crate) fn check(trace: &Shared) -> PyResult<()> {
    locked(trace).take_failure().map_or(Ok(()), |error| Err(refuse(&error)))
}

pub(crate) fn finish(trace: &Shared) -> PyResult<()> {
    locked(trace).finish().map_err(|error| refuse(&error))
}

pub(crate) fn discard(trace: &Shared) {
    locked(trace).discard();
}

/// Returns the points at which a run can be captured.
#[pyfunction]
pub(crate) fn trace_points() -> Vec<&'static str> {
    Point::ALL.iter().map(|point| point.name()).collect()
}

/// Merges the kernel engine's captures into one file.
#[pyfunction]
pub(crate) fn merge_captures(
    py: Python<'_>,
    path: PathBuf,
    points: Vec<String>,
    wan: PathBuf,
    cli: PathBuf,
    start_ns: i64,
) -> PyResult<()> {
    let points = named(&points)?;
    py.detach(|| goodqueue_trace::merge(&path, &points, &wan, &cli, start_ns)).map_err(|error| refuse(&error))
}
