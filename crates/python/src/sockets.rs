//! The applications of a scenario on Linux's sockets. Linux only.

use goodqueue_sockets::{Clock, Run};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::fs::File;

/// The flows of a run, and their sockets.
#[pyclass(module = "goodqueue._goodqueue")]
pub(crate) struct Sockets {
    run: Run,
}

#[pymethods]
impl Sockets {
    /// Opens the sockets that listen. `spaces` are the descriptors of the namespaces of the client and of the server;
    /// `clock` is the run's beginning by CLOCK_MONOTONIC and CLOCK_REALTIME, in nanoseconds.
    #[new]
    fn new(scenario_json: &str, order_json: &str, spaces: (u32, u32), clock: (u64, u64)) -> PyResult<Self> {
        let space = |descriptor: u32| File::open(format!("/proc/self/fd/{descriptor}"));
        let spaces = [space(spaces.0)?.into(), space(spaces.1)?.into()];
        let clock = Clock { monotonic_ns: clock.0, realtime_ns: clock.1 };
        let run = Run::new(scenario_json, order_json, spaces, clock).map_err(PyOSError::new_err)?;
        Ok(Self { run })
    }

    /// Runs all flows to the end. Returns what each measured, by name, as JSON.
    fn run(&mut self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.run.run()).map_err(PyOSError::new_err)
    }
}
