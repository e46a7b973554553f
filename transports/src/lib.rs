//! Real QUIC stacks as traffic of goodqueue's scenarios: the extension module of the package goodqueue-transports.

mod aioquic;
mod app;
mod clock;
mod connection;
mod cpu;
mod ends;
mod family;
mod guarded;
mod noq;
mod peer;
mod qlog;
mod queue_log;
mod quiche;
mod quinn;
mod run;
mod s2n;
mod shown;
mod socket;
mod tls;
mod turn;

use goodqueue_hosts::traffic::quic::QuicStack;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// One run of one scenario, with the methods of goodqueue's own `Simulation`.
#[pyclass(module = "goodqueue_transports")]
struct Simulation(Mutex<run::Run>);

/// Does `work`. A panic becomes an exception of one line. (Those of stacks end their connections: see `guarded`.)
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(refused),
        Err(panic) => Err(refused(guarded::line(panic.as_ref()))),
    }
}

impl Simulation {
    /// Returns the run. Python lends the object to one thread at a time, so nobody else has it.
    fn run(&mut self) -> &mut run::Run {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Simulation {
    /// Sets the scenario up. `cpu` says whether the stacks' CPU time is measured, `qlog` is a folder for their qlogs.
    #[new]
    #[pyo3(signature = (scenario_json, cpu=false, qlog=None))]
    fn new(scenario_json: &str, cpu: bool, qlog: Option<PathBuf>) -> PyResult<Self> {
        Ok(Self(Mutex::new(run::Run::new(scenario_json, cpu, qlog).map_err(refused)?)))
    }

    /// The length of the run, in seconds of simulated time.
    #[getter]
    fn duration_s(&mut self) -> f64 {
        self.run().duration().as_secs_f64()
    }

    /// Runs until `until_s` seconds of simulated time, at most to the end, and returns the time reached.
    #[pyo3(signature = (until_s, most_events=None))]
    fn advance(&mut self, py: Python<'_>, until_s: f64, most_events: Option<u64>) -> PyResult<f64> {
        let _unused = most_events;
        let until = Duration::try_from_secs_f64(until_s).map_err(refused)?;
        let run = self.run();
        py.detach(|| guarded(|| run.advance(until)))?;
        Ok(run.now().as_secs_f64())
    }

    /// Returns the record of the run so far, as JSON.
    fn record(&mut self, py: Python<'_>) -> PyResult<String> {
        let run = self.run();
        py.detach(|| guarded(|| serde_json::to_string(&run.record()).map_err(|error| error.to_string())))
    }

    /// Ends the files of qlog, and with them the connections.
    fn finish_qlog(&mut self) -> PyResult<()> {
        self.run().finish_qlog().map_err(refused)
    }

    /// Removes the files of qlog, unless they have been ended.
    fn discard_qlog(&mut self) {
        self.run().discard_qlog();
    }

    /// Returns, per connection: its name, its stack, and for sender and receiver the CPU seconds and the datagrams.
    fn cpu(&mut self) -> Vec<crate::cpu::OfConnection> {
        self.run().cpu()
    }

    /// Returns the connections that ended by an error, one line each.
    fn failures(&mut self) -> Vec<String> {
        self.run().failures()
    }
}

/// Runs one end of the only connection of a scenario over a UDP socket at `address`, by the real clock. Returns what it
/// measured, as JSON. The server waits for its client.
#[pyfunction]
fn over_socket(py: Python<'_>, scenario_json: &str, is_server: bool, address: &str) -> PyResult<String> {
    let role = if is_server { peer::Role::Server } else { peer::Role::Client };
    let address =
        address.parse().map_err(|_| refused(format!("found {address:?}; accepted: 127.0.0.1:4433")))?;
    py.detach(|| guarded(|| socket::run(scenario_json, role, address).map(|found| found.to_string())))
}

/// Returns the stacks: their names, the releases that are built in (empty: it is no part of this module), and their
/// congestion controls, of which the first is the default.
#[pyfunction]
fn stacks() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let release = |stack| match stack {
        QuicStack::Quinn => env!("QUINN_PROTO"),
        QuicStack::Noq => env!("NOQ_PROTO"),
        QuicStack::Quiche => env!("QUICHE"),
        QuicStack::S2n => env!("S2N_QUIC"),
        QuicStack::Aioquic => "",
    };
    QuicStack::ALL.iter().map(|&stack| (stack.name(), release(stack), stack.ccs().to_vec())).collect()
}

#[pymodule]
fn _goodqueue_transports(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(stacks, module)?)?;
    module.add_function(wrap_pyfunction!(over_socket, module)?)?;
    module.add_class::<Simulation>()
}
