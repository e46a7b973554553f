//! A congestion control written in Python: calls its methods, with the names of TCP's own.

use crate::law::{DisciplineError, Failure};
use goodqueue_tcp::{Ack, Cause, Config, Congestion, CongestionState, ForeignCc, MakeCc, Window};
use goodqueue_units::{Duration, Instant, Rate, Stream, Streams};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, PoisonError};

/// The largest window and threshold, in segments.
const MOST: u32 = 0x7fff_ffff;
/// The most segments that one call counts: no ACK delivers more, and sums stay small.
const MOST_COUNTED: u32 = 1 << 30;

/// Makes the congestion controls of a run's connections.
pub(crate) struct Maker {
    /// `make(connection)` returns the object.
    make: Py<PyAny>,
    /// The class's name, for error messages.
    name: Arc<str>,
    line: String,
    paces: bool,
    failure: Failure,
}

impl Maker {
    /// Calls `make(line, None)`, which returns what makes the objects, the class's name, the line with every parameter
    /// and whether the class paces.
    pub(crate) fn new(make: &Bound<'_, PyAny>, line: &str, failure: Failure) -> PyResult<Self> {
        let (make, name, line, paces): (Bound<'_, PyAny>, String, String, bool) =
            make.call1((line, make.py().None()))?.extract()?;
        Ok(Self { make: make.unbind(), name: name.into(), line, paces, failure })
    }
}

impl MakeCc for Maker {
    fn line(&self) -> &str {
        &self.line
    }

    fn paces(&self) -> bool {
        self.paces
    }

    fn make(&self, config: &Config) -> Box<dyn ForeignCc> {
        let (name, failure) = (Arc::clone(&self.name), Failure::clone(&self.failure));
        Python::attach(|py| {
            let made = InPython::new(self.make.bind(py), name, config, Failure::clone(&failure));
            match made {
                Ok(cc) => Box::new(cc) as Box<dyn ForeignCc>,
                Err(error) => {
                    note(&failure, error);
                    Box::new(Failed)
                }
            }
        })
    }
}

fn note(failure: &Failure, error: PyErr) {
    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

/// In place of an object that could not be made. The run ends with the exception.
struct Failed;

impl ForeignCc for Failed {
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        halved(congestion)
    }
    fn copied(&self) -> Box<dyn ForeignCc> {
        Box::new(Self)
    }
}

fn halved(congestion: &Congestion) -> u32 {
    (congestion.cwnd / 2).max(2)
}

/// The methods that a class may have.
struct Hooks {
    on_open: Option<Py<PyAny>>,
    on_delivered: Option<Py<PyAny>>,
    on_ack: Py<PyAny>,
    ssthresh: Py<PyAny>,
    undo_cwnd: Option<Py<PyAny>>,
    on_undo: Option<Py<PyAny>>,
    on_state: Option<Py<PyAny>>,
    on_rto: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
}

impl Hooks {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let may = |name: &str| PyResult::Ok(object.getattr_opt(name)?.map(Bound::unbind));
        Ok(Self {
            on_open: may("on_open")?,
            on_delivered: may("on_delivered")?,
            on_ack: object.getattr("on_ack")?.unbind(),
            ssthresh: object.getattr("ssthresh")?.unbind(),
            undo_cwnd: may("undo_cwnd")?,
            on_undo: may("on_undo")?,
            on_state: may("on_state")?,
            on_rto: may("on_rto")?,
            on_restart: may("on_restart")?,
        })
    }
}

/// One connection's congestion control.
struct InPython {
    name: Arc<str>,
    object: Py<PyAny>,
    hooks: Hooks,
    /// The objects that the methods get. They are the same for each call, and their content is that of the call.
    ack: Py<CcAck>,
    window: Py<CcWindow>,
    congestion: Py<CcCongestion>,
    failure: Failure,
    has_failed: bool,
}

impl InPython {
    fn new(make: &Bound<'_, PyAny>, name: Arc<str>, config: &Config, failure: Failure) -> PyResult<Self> {
        let random = Streams::new(config.random.into()).stream("congestion control", 0);
        let connection = CcConnection { smss: config.mss, initial_window: config.initial_window, random };
        let object = make.call1((connection,))?;
        Self::of(object, name, failure)
    }

    fn of(object: Bound<'_, PyAny>, name: Arc<str>, failure: Failure) -> PyResult<Self> {
        let py = object.py();
        Ok(Self {
            name,
            hooks: Hooks::of(&object)?,
            object: object.unbind(),
            ack: Py::new(py, CcAck(None))?,
            window: Py::new(py, CcWindow(None))?,
            congestion: Py::new(py, CcCongestion(None))?,
            failure,
            has_failed: false,
        })
    }

    /// Notes an exception. From then on the window stays as it is, until the run ends with the exception.
    fn fail(&mut self, error: PyErr) {
        self.has_failed = true;
        note(&self.failure, error);
    }

    /// Calls `work`, unless a method has failed before, with the window in a Python object. Then `window` is what the
    /// method made of it.
    fn with_window(&mut self, window: &mut Window, work: impl FnOnce(&Self, Python<'_>) -> PyResult<()>) {
        if self.has_failed {
            return;
        }
        let done = Python::attach(|py| {
            self.window.borrow_mut(py).0 = Some(window.clone());
            work(self, py)?;
            if let Some(changed) = self.window.borrow_mut(py).0.take() {
                *window = changed;
            }
            Ok(())
        });
        done.unwrap_or_else(|error| self.fail(error));
    }

    /// Calls `work`, unless a method has failed before.
    fn alone(&mut self, work: impl FnOnce(&Hooks, Python<'_>) -> PyResult<()>) {
        if !self.has_failed {
            Python::attach(|py| work(&self.hooks, py)).unwrap_or_else(|error| self.fail(error));
        }
    }

    /// Reads a number of segments that `method` returned.
    fn segments(&self, method: &str, least: u32, answer: &Bound<'_, PyAny>) -> PyResult<u32> {
        match answer.extract::<u32>() {
            Ok(segments) if (least..=MOST).contains(&segments) => Ok(segments),
            _ => {
                let found = answer.repr()?;
                Err(DisciplineError::new_err(format!(
                    "{}.{method} returned {found}; accepted: a whole number of segments, {least} or more",
                    self.name
                )))
            }
        }
    }
}

fn nanos(time: Option<Duration>) -> Option<u64> {
    time.map(Duration::as_nanos)
}

impl ForeignCc for InPython {
    fn on_open(&mut self, now: Instant, rtt: Option<Duration>, window: &mut Window) {
        if self.hooks.on_open.is_some() {
            self.with_window(window, |own, py| {
                let Some(method) = &own.hooks.on_open else { return Ok(()) };
                method.bind(py).call1((now.as_nanos(), nanos(rtt), &own.window)).map(|_| ())
            });
        }
    }

    fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        if self.hooks.on_delivered.is_some() {
            self.with_window(window, |own, py| {
                let Some(method) = &own.hooks.on_delivered else { return Ok(()) };
                own.ack.borrow_mut(py).0 = Some(*ack);
                method.bind(py).call1((&own.ack, &own.window)).map(|_| ())
            });
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.with_window(window, |own, py| {
            own.ack.borrow_mut(py).0 = Some(*ack);
            own.hooks.on_ack.bind(py).call1((&own.ack, &own.window)).map(|_| ())
        });
    }

    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if self.has_failed {
            return halved(congestion);
        }
        let answer = Python::attach(|py| {
            self.congestion.borrow_mut(py).0 = Some(*congestion);
            let answer = self.hooks.ssthresh.bind(py).call1((&self.congestion,))?;
            self.segments("ssthresh", 2, &answer)
        });
        answer.unwrap_or_else(|error| {
            self.fail(error);
            halved(congestion)
        })
    }

    fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        let kept = window.cwnd.max(prior_cwnd);
        let Some(method) = self.hooks.undo_cwnd.as_ref().filter(|_| !self.has_failed) else { return kept };
        let answer = Python::attach(|py| {
            self.window.borrow_mut(py).0 = Some(window.clone());
            let answer = method.bind(py).call1((&self.window, prior_cwnd))?;
            self.segments("undo_cwnd", 1, &answer)
        });
        answer.unwrap_or_else(|error| {
            note(&self.failure, error); // the next method finds out: this one cannot change anything
            kept
        })
    }

    fn on_undo(&mut self) {
        self.alone(|hooks, py| hooks.on_undo.as_ref().map_or(Ok(()), |hook| hook.call0(py).map(|_| ())));
    }

    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        if self.hooks.on_state.is_some() {
            self.with_window(window, |own, py| {
                let Some(method) = &own.hooks.on_state else { return Ok(()) };
                method.bind(py).call1((state_name(state), &own.window)).map(|_| ())
            });
        }
    }

    fn on_rto(&mut self) {
        self.alone(|hooks, py| hooks.on_rto.as_ref().map_or(Ok(()), |hook| hook.call0(py).map(|_| ())));
    }

    fn on_restart(&mut self, now: Instant, idle: Duration) {
        self.alone(|hooks, py| {
            let Some(hook) = &hooks.on_restart else { return Ok(()) };
            hook.call1(py, (now.as_nanos(), idle.as_nanos())).map(|_| ())
        });
    }

    fn copied(&self) -> Box<dyn ForeignCc> {
        let copy = Python::attach(|py| {
            let object = py.import("copy")?.call_method1("copy", (&self.object,))?;
            Self::of(object, Arc::clone(&self.name), Failure::clone(&self.failure))
        });
        match copy {
            Ok(cc) => Box::new(cc),
            Err(error) => {
                note(&self.failure, error);
                Box::new(Failed)
            }
        }
    }
}

fn state_name(state: CongestionState) -> &'static str {
    match state {
        CongestionState::Open => "open",
        CongestionState::Disorder => "disorder",
        CongestionState::Cwr => "cwr",
        CongestionState::Recovery => "recovery",
        CongestionState::Loss => "loss",
    }
}

fn over() -> PyErr {
    PyValueError::new_err(
        "it is valid only during the call that got it; accepted: keep its numbers, not the object",
    )
}

/// What a congestion control knows of its connection.
#[pyclass(name = "Connection", module = "goodqueue.congestion")]
pub(crate) struct CcConnection {
    #[pyo3(get)]
    smss: u16,
    #[pyo3(get)]
    initial_window: u32,
    random: Stream,
}

#[pymethods]
impl CcConnection {
    fn random(&mut self) -> f64 {
        self.random.next_f64()
    }
}

/// An ACK of new data.
#[pyclass(name = "Ack", module = "goodqueue.congestion")]
pub(crate) struct CcAck(Option<Ack>);

impl CcAck {
    fn get(&self) -> PyResult<&Ack> {
        self.0.as_ref().ok_or_else(over)
    }
}

#[pymethods]
impl CcAck {
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.get()?.now.as_nanos())
    }
    #[getter]
    fn segments(&self) -> PyResult<u32> {
        Ok(self.get()?.segments)
    }
    #[getter]
    fn counted(&self) -> PyResult<u32> {
        Ok(self.get()?.counted)
    }
    #[getter]
    fn rtt(&self) -> PyResult<Option<u64>> {
        Ok(nanos(self.get()?.rtt))
    }
    #[getter]
    fn una(&self) -> PyResult<u32> {
        Ok(self.get()?.una.0)
    }
    #[getter]
    fn nxt(&self) -> PyResult<u32> {
        Ok(self.get()?.nxt.0)
    }
    #[getter]
    fn is_cwnd_limited(&self) -> PyResult<bool> {
        Ok(self.get()?.is_cwnd_limited)
    }
    #[getter]
    fn prior_in_flight(&self) -> PyResult<u32> {
        Ok(self.get()?.prior_in_flight)
    }
    #[getter]
    fn in_flight(&self) -> PyResult<u32> {
        Ok(self.get()?.in_flight)
    }
    #[getter]
    fn marked(&self) -> PyResult<u32> {
        Ok(self.get()?.marked)
    }
    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        Ok(state_name(self.get()?.state))
    }
}

/// The congestion window.
#[pyclass(name = "Window", module = "goodqueue.congestion")]
pub(crate) struct CcWindow(Option<Window>);

impl CcWindow {
    fn get(&self) -> PyResult<&Window> {
        self.0.as_ref().ok_or_else(over)
    }
    fn get_mut(&mut self) -> PyResult<&mut Window> {
        self.0.as_mut().ok_or_else(over)
    }
}

/// Reads the number of segments `name` of a window.
fn count(name: &str, least: u32, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let segments = value.extract::<u32>().ok().filter(|segments| (least..=MOST).contains(segments));
    segments.ok_or_else(|| {
        let found = value.repr().map(|found| found.to_string()).unwrap_or_default();
        PyValueError::new_err(format!(
            "window.{name}: found {found}; accepted: a whole number of segments, {least} or more"
        ))
    })
}

#[pymethods]
impl CcWindow {
    #[getter]
    fn cwnd(&self) -> PyResult<u32> {
        Ok(self.get()?.cwnd)
    }
    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.get_mut()?.cwnd = count("cwnd", 1, value)?;
        Ok(())
    }
    #[getter]
    fn ssthresh(&self) -> PyResult<u32> {
        Ok(self.get()?.ssthresh)
    }
    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.get_mut()?.ssthresh = count("ssthresh", 2, value)?;
        Ok(())
    }
    #[getter]
    fn pacing_bps(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.pacing_rate.map(Rate::as_bps))
    }
    #[setter]
    fn set_pacing_bps(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let rate = if value.is_none() {
            None
        } else {
            let bps = value.extract::<f64>().ok().filter(|bps| (1.0..=1e12).contains(bps));
            let rate = bps.and_then(|bps| Rate::from_bps(bps as u64));
            Some(rate.ok_or_else(|| {
                let found = value.repr().map(|found| found.to_string()).unwrap_or_default();
                let accepted = "1 to 1e12 bits per second, or None";
                PyValueError::new_err(format!("window.pacing_bps: found {found}; accepted: {accepted}"))
            })?)
        };
        self.get_mut()?.pacing_rate = rate;
        Ok(())
    }
    #[getter]
    fn in_slow_start(&self) -> PyResult<bool> {
        Ok(self.get()?.in_slow_start())
    }
    fn slow_start(&mut self, counted: &Bound<'_, PyAny>) -> PyResult<u32> {
        let counted = count("slow_start: counted", 0, counted)?;
        let window = self.get_mut()?;
        let rest = window.slow_start(counted);
        window.cwnd = window.cwnd.min(MOST);
        Ok(rest)
    }
    fn increase(&mut self, per: &Bound<'_, PyAny>, counted: &Bound<'_, PyAny>) -> PyResult<()> {
        let (per, counted) = (count("increase: per", 1, per)?, count("increase: counted", 0, counted)?);
        let window = self.get_mut()?;
        window.increase(per, counted.min(MOST_COUNTED));
        window.cwnd = window.cwnd.min(MOST);
        Ok(())
    }
}

/// A congestion, by loss, timeout or ECN.
#[pyclass(name = "Congestion", module = "goodqueue.congestion")]
pub(crate) struct CcCongestion(Option<Congestion>);

impl CcCongestion {
    fn get(&self) -> PyResult<&Congestion> {
        self.0.as_ref().ok_or_else(over)
    }
}

#[pymethods]
impl CcCongestion {
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.get()?.now.as_nanos())
    }
    #[getter]
    fn cwnd(&self) -> PyResult<u32> {
        Ok(self.get()?.cwnd)
    }
    #[getter]
    fn cause(&self) -> PyResult<&'static str> {
        Ok(match self.get()?.cause {
            Cause::Loss => "loss",
            Cause::Ecn => "ecn",
            Cause::Timeout => "timeout",
        })
    }
}
