//! The path of a scenario for endpoints in Python, in virtual time.

use crate::failure::Failure;
use crate::making::Making;
use crate::packet::{codepoint, codepoint_name};
use crate::{ScenarioError, to_json};
use goodqueue_bottleneck as door;
use goodqueue_bottleneck::{Direction, Flow};
use goodqueue_netsim::Scenario;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::time::Duration;

/// Simulated time between two checks for a signal.
const SLICE: Duration = Duration::from_millis(100);

/// A path, and what its Python raised.
#[pyclass(module = "goodqueue._goodqueue")]
pub(crate) struct Bottleneck {
    path: Box<door::Bottleneck>,
    /// Whether the run has Python in it. Then it needs the interpreter for its packets.
    python: bool,
    failure: Failure,
}

/// A datagram that has arrived.
#[pyclass(module = "goodqueue._goodqueue", frozen)]
pub(crate) struct Datagram(door::Datagram);

fn refused(error: door::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

fn time(what: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        ScenarioError::new_err(format!(
            "{what}: found {seconds}; accepted: seconds since the run began, 0 or more"
        ))
    })
}

/// Reads a whole number, which is 0 unless it is given.
fn number<T>(what: &str, given: Option<&Bound<'_, PyAny>>, accepted: &str) -> PyResult<T>
where
    T: Default + for<'a, 'py> FromPyObject<'a, 'py>,
{
    given.map_or(Ok(T::default()), |value| {
        value.extract().map_err(|_| {
            let found = value.repr().map(|found| found.to_string()).unwrap_or_default();
            ScenarioError::new_err(format!("{what}: found {found}; accepted: {accepted}"))
        })
    })
}

fn direction(name: &str) -> PyResult<Direction> {
    match name {
        "down" => Ok(Direction::Down),
        "up" => Ok(Direction::Up),
        _ => Err(ScenarioError::new_err(format!("direction: found {name:?}; accepted: down, up"))),
    }
}

#[pymethods]
impl Bottleneck {
    /// Builds the path. `make` is as in `Simulation`.
    #[new]
    fn new(py: Python<'_>, scenario_json: &str, make: &Bound<'_, PyAny>) -> PyResult<Self> {
        let failure = Failure::default();
        let mut making = Making::new(Some(make), &failure);
        let opened = Scenario::open(scenario_json, &[])
            .and_then(|mut scenario| making.ccs(&mut scenario).map(|()| scenario))
            .and_then(|scenario| door::Bottleneck::of(scenario, &mut |request| making.law(request)));
        let path = Box::new(opened.map_err(|error| making.exception(py, &error))?);
        Ok(Self { path, python: making.is_python, failure })
    }

    #[getter]
    fn now(&self) -> f64 {
        self.path.now().as_secs_f64()
    }

    #[getter]
    fn duration(&self) -> f64 {
        self.path.duration().as_secs_f64()
    }

    #[getter]
    fn most_bytes(&self) -> usize {
        self.path.most_bytes()
    }

    fn flow(&self, name: &str) -> PyResult<u32> {
        self.path.flow(name).map(|flow| flow.0).map_err(refused)
    }

    fn next_time(&mut self) -> Option<f64> {
        self.path.next_time().map(|time| time.as_secs_f64())
    }

    #[pyo3(signature = (direction, data, *, ecn="not-ect", dscp=None, flow=None, now=None))]
    fn send(
        &mut self,
        direction: &str,
        data: PyBackedBytes,
        ecn: &str,
        dscp: Option<&Bound<'_, PyAny>>,
        flow: Option<&Bound<'_, PyAny>>,
        now: Option<f64>,
    ) -> PyResult<()> {
        let at = now.map_or_else(|| Ok(self.path.now()), |now| time("now", now))?;
        let (direction, ecn) = (self::direction(direction)?, codepoint(ecn).map_err(ScenarioError::new_err)?);
        let dscp = number("dscp", dscp, "0 to 63")?;
        let flow = Flow(number("flow", flow, "a flow's number, from 0 on")?);
        let bytes = data.to_vec();
        let sent = self.path.send(door::Datagram { time: at, direction, flow, ecn, dscp, bytes });
        self.failure.raise()?;
        sent.map_err(refused)
    }

    /// Runs until a datagram arrives, at the latest until `until`. Other threads continue meanwhile, unless the run
    /// has Python in it.
    fn receive(&mut self, py: Python<'_>, until: f64) -> PyResult<Option<Datagram>> {
        let until = time("until", until)?.min(self.path.duration());
        loop {
            let at = until.min(self.path.now() + SLICE);
            let received =
                if self.python { self.path.receive(at) } else { py.detach(|| self.path.receive(at)) };
            self.failure.raise()?;
            if let Some(datagram) = received.map_err(refused)? {
                return Ok(Some(Datagram(datagram)));
            }
            if at == until {
                return Ok(None);
            }
            py.check_signals()?;
        }
    }

    /// Returns what the path did to each flow, as JSON.
    fn results(&self) -> PyResult<String> {
        to_json(&self.path.results())
    }

    /// Returns the record of the run so far, as JSON.
    fn record(&self) -> PyResult<String> {
        to_json(&self.path.record())
    }
}

#[pymethods]
impl Datagram {
    #[getter]
    fn time(&self) -> f64 {
        self.0.time.as_secs_f64()
    }
    #[getter]
    fn direction(&self) -> &'static str {
        match self.0.direction {
            Direction::Down => "down",
            Direction::Up => "up",
        }
    }
    #[getter]
    fn flow(&self) -> u32 {
        self.0.flow.0
    }
    #[getter]
    fn ecn(&self) -> &'static str {
        codepoint_name(self.0.ecn)
    }
    #[getter]
    fn dscp(&self) -> u8 {
        self.0.dscp
    }
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.bytes)
    }
    fn __repr__(&self) -> String {
        let (direction, ecn, len) = (self.direction(), self.ecn(), self.0.bytes.len());
        format!("<datagram of {len} bytes {direction} at {} s, flow {}, {ecn}>", self.time(), self.0.flow.0)
    }
}
