//! One run of one scenario, on one thread or on several.

use crate::failure::Failure;
use crate::making::Making;
use crate::{refuse, to_json, trace};
use goodqueue_netsim::{Scenario, Simulation as Run, Threaded, Trial, idle_cores};
use goodqueue_units::Duration;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// The state of a run. Boxed: its cache lines need 64 bytes of alignment, and Python aligns its objects to less (see
/// `add_class`).
enum State {
    Whole(Box<Run>),
    Cut(Box<Threaded>),
    /// Cut, unless one thread is faster.
    Tried(Box<Trial>),
    /// The run is over; its record.
    Over(String),
}

/// One run of one scenario.
#[pyclass(module = "goodqueue._goodqueue")]
pub(crate) struct Simulation {
    state: State,
    duration: Duration,
    /// Whether a discipline is written in Python.
    python: bool,
    /// The exception that such a discipline raised.
    failure: Failure,
    /// The capture, if one is taken.
    trace: Option<trace::Shared>,
}

#[pymethods]
impl Simulation {
    /// Sets the scenario up. `make(line, link)` makes what is written in Python: see `making`.
    #[new]
    #[pyo3(signature = (scenario_json, make=None))]
    fn new(py: Python<'_>, scenario_json: &str, make: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(py, &error))?;
        let failure = Failure::default();
        let mut making = Making::new(make, &failure);
        let run = making
            .ccs(&mut scenario)
            .and_then(|()| Run::with_foreign(scenario, &mut |request| making.law(request)))
            .map_err(|error| making.exception(py, &error))?;
        let (duration, state) = (run.duration(), State::Whole(Box::new(run)));
        Ok(Self { state, duration, python: making.is_python, failure, trace: None })
    }

    /// Cuts the run, which has not begun, for `threads` threads. Without `threads`, a long run tries as many as there
    /// are cores, and goes on with them if they are faster than one. Returns why the run is not cut, if it is not.
    #[pyo3(signature = (threads = None))]
    fn cut(&mut self, py: Python<'_>, threads: Option<usize>) -> Option<&'static str> {
        let state = std::mem::replace(&mut self.state, State::Over(String::new()));
        let State::Whole(run) = state else {
            self.state = state;
            return Some("the run is cut already, or over");
        };
        let cores = || available_parallelism().map_or(1, std::num::NonZero::get);
        let cut = py.detach(|| match threads {
            Some(threads) => Threaded::cut(*run, threads).map(|run| State::Cut(Box::new(run))),
            None => {
                let threads = match run.threads_worth(cores()) {
                    1 => 1,
                    worth => idle_cores(worth),
                };
                Trial::new(*run, threads).map(|run| State::Tried(Box::new(run)))
            }
        });
        match cut {
            Ok(state) => {
                self.state = state;
                None
            }
            Err(uncut) => {
                let (run, why) = *uncut;
                self.state = State::Whole(Box::new(run));
                Some(why)
            }
        }
    }

    /// The length of the run, in seconds of simulated time.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.duration.as_secs_f64()
    }

    /// Runs until `until_s` seconds of simulated time, at most to the end, and handles at most `most_events` events.
    /// Returns the time reached, in seconds. Other threads continue meanwhile. A discipline written in Python needs the
    /// interpreter for every packet. So the GIL is kept then, instead of being handed over twice per packet. The
    /// interpreter itself lets other threads run every few milliseconds.
    #[pyo3(signature = (until_s, most_events = u64::MAX))]
    fn advance(&mut self, py: Python<'_>, until_s: f64, most_events: u64) -> PyResult<f64> {
        let until = Duration::from_secs_f64(until_s);
        let elapsed = match &mut self.state {
            State::Whole(run) if self.python => {
                run.advance_by(until, most_events);
                self.failure.raise()?;
                run.elapsed()
            }
            State::Whole(run) => {
                py.detach(|| run.advance_by(until, most_events));
                run.elapsed()
            }
            State::Cut(run) => {
                py.detach(|| run.advance_by(until, most_events));
                run.elapsed()
            }
            State::Tried(run) => {
                py.detach(|| run.advance_by(until, most_events));
                run.elapsed()
            }
            State::Over(_) => self.duration,
        };
        self.trace.as_ref().map_or(Ok(()), trace::check)?;
        Ok(elapsed.as_secs_f64())
    }

    /// Captures the run from now on. The file appears under its name only after `finish_trace`.
    fn trace(&mut self, path: PathBuf, points: Vec<String>, snap_bytes: u32) -> PyResult<()> {
        if let State::Whole(run) = &mut self.state {
            self.trace = Some(trace::begin(run, &path, &points, snap_bytes)?);
        }
        Ok(())
    }

    /// Ends the capture, if there is one.
    fn finish_trace(&mut self, py: Python<'_>) -> PyResult<()> {
        let trace = self.trace.take();
        py.detach(|| trace.as_ref().map_or(Ok(()), trace::finish))
    }

    /// Removes a capture that is not finished.
    fn discard_trace(&mut self) {
        self.trace.take().as_ref().map(trace::discard);
    }

    /// Returns the record of the run so far, as JSON. Ends a run that was cut.
    fn record(&mut self, py: Python<'_>) -> PyResult<String> {
        let state = std::mem::replace(&mut self.state, State::Over(String::new()));
        let (state, text) = py.detach(|| {
            let text = match state {
                State::Whole(run) => {
                    let text = to_json(&run.record());
                    return (State::Whole(run), text);
                }
                State::Cut(run) => to_json(&run.into_record()),
                State::Tried(run) => to_json(&run.into_record()),
                State::Over(text) => Ok(text),
            };
            (State::Over(text.as_ref().map_or_else(|_| String::new(), String::clone)), text)
        });
        self.state = state;
        text
    }
}
