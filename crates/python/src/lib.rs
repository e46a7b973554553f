//! The Python binding: converts, never decides. Everything structured crosses as JSON text, so that one schema
//! serves Rust, Python and the page; the typed face of this module is `python/goodqueue/_goodqueue.pyi`.

use goodqueue_netsim::traffic::Kind;
use goodqueue_netsim::{Scenario, Simulation as Run};
use goodqueue_tcp::Cc;
use goodqueue_units::Duration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

pyo3::create_exception!(_goodqueue, ScenarioError, PyValueError, "A refused scenario: `key` and `message`.");

/// The Python exception for a refused scenario, with its key and message as attributes.
fn refuse(py: Python<'_>, error: &goodqueue_netsim::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(error.to_string());
    let value = exception.value(py);
    let attributes = value.setattr("key", &error.key).and_then(|()| value.setattr("message", &error.message));
    attributes.err().unwrap_or(exception)
}

fn to_json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A run in progress.
#[pyclass(module = "goodqueue._goodqueue")]
struct Simulation {
    run: Run,
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scenario_json: &str) -> PyResult<Self> {
        let run =
            Scenario::from_json(scenario_json).and_then(Run::new).map_err(|error| refuse(py, &error))?;
        Ok(Self { run })
    }

    /// How long the run is, in seconds of its own clock.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.run.duration().as_secs_f64()
    }

    /// Runs until `until_s` seconds have passed, the end at the latest; other threads go on meanwhile.
    fn advance(&mut self, py: Python<'_>, until_s: f64) {
        let until = Duration::from_secs_f64(until_s);
        py.detach(|| self.run.advance(until));
    }

    /// The record as JSON.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| to_json(&self.run.record()))
    }
}

/// The scenario with its defaults filled in.
#[pyfunction]
fn resolve(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    to_json(&Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?)
}

/// Every queue discipline with its parameters.
#[pyfunction]
fn qdiscs() -> PyResult<String> {
    let specs: Vec<Value> = goodqueue_qdisc::registry::ALL
        .iter()
        .map(|spec| {
            let params: Vec<Value> = spec
                .params
                .iter()
                .map(|param| {
                    json!({
                        "name": param.name,
                        "unit": param.unit.name(),
                        "default": param.show(param.default),
                        "accepted": param.accepted(),
                        "source": param.source,
                        "help": param.help,
                    })
                })
                .collect();
            json!({"name": spec.name, "summary": spec.summary, "source": spec.source, "params": params})
        })
        .collect();
    to_json(&specs)
}

/// Every congestion control.
#[pyfunction]
fn congestion_controls() -> PyResult<String> {
    let all: Vec<Value> = Cc::ALL
        .iter()
        .map(|cc| json!({"name": cc.name(), "summary": cc.summary(), "source": cc.source()}))
        .collect();
    to_json(&all)
}

/// Every kind of traffic.
#[pyfunction]
fn traffic_kinds() -> PyResult<String> {
    let all: Vec<Value> =
        Kind::ALL.iter().map(|kind| json!({"name": kind.name(), "summary": kind.summary()})).collect();
    to_json(&all)
}

/// Replays one decision trace.
#[pyfunction]
fn replay(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let outcome = py.detach(|| goodqueue_conformance::replay(&path));
    to_json(&outcome.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Nanoseconds that one enqueue and one dequeue take, with `backlog` packets of `flows` flows waiting.
#[pyfunction]
fn qdisc_pair_ns(py: Python<'_>, line: &str, flows: u32, backlog: u32, pairs: u64) -> PyResult<f64> {
    py.detach(|| goodqueue_conformance::bench::pair_ns(line, flows, backlog, pairs))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymodule]
fn _goodqueue(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_class::<Simulation>()?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(qdiscs, module)?)?;
    module.add_function(wrap_pyfunction!(congestion_controls, module)?)?;
    module.add_function(wrap_pyfunction!(traffic_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(replay, module)?)?;
    module.add_function(wrap_pyfunction!(qdisc_pair_ns, module)?)
}
