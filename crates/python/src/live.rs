//! Real packets on the path of a scenario. Linux only.

use crate::failure::Failure;
use crate::making::Making;
use crate::trace::{TraceError, named};
use goodqueue_gateway::{Live, Path, Port, PortRoute};
use goodqueue_netsim::OutsideRoute;
use goodqueue_units::Duration;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// The state of a gateway.
enum State {
    Built(Box<Path>, Box<(Port, Port)>),
    Running(Live),
    Over,
}

/// A path between two devices.
#[pyclass(module = "goodqueue._goodqueue")]
pub(crate) struct Gateway {
    state: State,
    /// What a discipline written in Python raised.
    failure: Failure,
    /// Why the requested capture does not exist.
    no_capture: Option<String>,
}

type Device = (i32, Vec<u8>);
type Route = ((u16, u16), f64, Option<Vec<String>>);

fn port_route(((first, last), rtt_s, hops): Route) -> PortRoute {
    let rtt = Some(Duration::from_secs_f64(rtt_s));
    PortRoute { ports: first..=last, route: OutsideRoute { rtt, hops } }
}

#[pymethods]
impl Gateway {
    /// Builds the path. `routes` are ranges of ports whose packets have their own base RTT, in seconds, and cross only
    /// the named hops. `make(line, link)` makes disciplines that are written in Python: see `law`.
    #[new]
    #[pyo3(signature = (scenario_json, server, client, make=None, routes=vec![]))]
    fn new(
        py: Python<'_>,
        scenario_json: &str,
        server: Device,
        client: Device,
        make: Option<&Bound<'_, PyAny>>,
        routes: Vec<Route>,
    ) -> PyResult<Self> {
        let failure = Failure::default();
        let mut making = Making::new(make, &failure);
        let routes = routes.into_iter().map(port_route).collect();
        let path = Path::new(scenario_json, routes, &mut |request| making.law(request));
        let path = path.map_err(|error| making.exception(py, &error))?;
        let ports = (Port::new(server.0, &server.1)?, Port::new(client.0, &client.1)?);
        Ok(Self { state: State::Built(Box::new(path), Box::new(ports)), failure, no_capture: None })
    }

    /// Captures the packets that pass `points`, from the start on.
    fn trace(&mut self, path: PathBuf, points: Vec<String>, snap_bytes: u32) -> PyResult<()> {
        let State::Built(own, _) = &mut self.state else {
            return Err(PyValueError::new_err("it has started"));
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        own.capture(&path, &named(&points)?, snap_bytes, since.as_nanos() as u64)
            .map_err(|error| TraceError::new_err(error.to_string()))
    }

    /// Starts a thread that carries packets across the path. With `virtual_time` no time passes while it works.
    #[pyo3(signature = (virtual_time = false))]
    fn start(&mut self, virtual_time: bool) -> PyResult<()> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Built(path, ports) => {
                self.state = State::Running(Live::start(*path, ports.0, ports.1, virtual_time)?);
                Ok(())
            }
            other => {
                self.state = other;
                Err(PyValueError::new_err("it has started"))
            }
        }
    }

    /// Returns the progress as JSON. It is `null` if the gateway has ended by itself, or if a discipline written in
    /// Python has failed.
    fn glance(&self, py: Python<'_>) -> PyResult<String> {
        let State::Running(live) = &self.state else { return Err(PyValueError::new_err("it does not run")) };
        if self.failure.is_noted() {
            return Ok("null".to_string());
        }
        Ok(py.detach(|| live.glance()).to_string())
    }

    /// Returns the record so far, as JSON. Packets continue to cross.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        let State::Running(live) = &self.state else { return Err(PyValueError::new_err("it does not run")) };
        Ok(py.detach(|| live.record())?.to_string())
    }

    /// Why the capture could not be written, known after the end. The measurements are not lost with it.
    #[getter]
    fn no_capture(&self) -> Option<&str> {
        self.no_capture.as_deref()
    }

    /// Ends the gateway, and returns the record as JSON.
    fn stop(&mut self, py: Python<'_>) -> PyResult<String> {
        let State::Running(live) = std::mem::replace(&mut self.state, State::Over) else {
            return Err(PyValueError::new_err("it does not run"));
        };
        let mut path = py.detach(|| live.stop())?;
        self.failure.raise()?;
        self.no_capture = path.finish().err().map(|error| error.to_string());
        let record = py.detach(|| path.record());
        record.map(|record| record.to_string()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}
