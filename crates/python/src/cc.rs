//! A congestion control written in Python: calls its methods, with the names of TCP's own.

mod lent;

pub(crate) use lent::{CcAck, CcCongestion, CcConnection, CcSample, CcWindow};

use crate::failure::Failure;
use crate::law::DisciplineError;
use goodqueue_tcp::{
    Ack, Config, Congestion, CongestionState, EcnMode, EcnUse, ForeignCc, MakeCc, RateEstimator, RateSample,
    Window,
};
use goodqueue_units::{Duration, Instant, Streams};
use lent::{Lent, MOST, Sampled, state_name};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the congestion controls of a run's connections.
pub(crate) struct Maker {
    /// `make(connection)` returns the object.
    make: Py<PyAny>,
    /// The class's name, for error messages.
    name: Arc<str>,
    line: String,
    paces: bool,
    is_model_based: bool,
    ecn_use: EcnUse,
    failure: Failure,
}

/// What `make(line, None)` returns: what makes the objects, the class's name, the line with every parameter, whether
/// the class paces and whether it is model-based, and how it uses ECN.
type Made<'py> = (Bound<'py, PyAny>, String, String, bool, bool, String);

impl Maker {
    /// Calls `make(line, None)`, which returns a [`Made`].
    pub(crate) fn new(make: &Bound<'_, PyAny>, line: &str, failure: Failure) -> PyResult<Self> {
        let (make, name, line, paces, is_model_based, ecn): Made<'_> =
            make.call1((line, make.py().None()))?.extract()?;
        let ecn_use = match ecn.as_str() {
            "l4s" => EcnUse::L4s,
            "dctcp" => EcnUse::Dctcp,
            _ => EcnUse::Classic,
        };
        Ok(Self { make: make.unbind(), name: name.into(), line, paces, is_model_based, ecn_use, failure })
    }
}

impl MakeCc for Maker {
    fn line(&self) -> &str {
        &self.line
    }

    fn paces(&self) -> bool {
        self.paces
    }

    fn is_model_based(&self) -> bool {
        self.is_model_based
    }

    fn ecn_use(&self) -> EcnUse {
        self.ecn_use
    }

    fn make(&self, config: &Config) -> Box<dyn ForeignCc> {
        let (name, failure) = (Arc::clone(&self.name), Failure::clone(&self.failure));
        Python::attach(|py| {
            let made = InPython::new(self.make.bind(py), name, config, Failure::clone(&failure));
            match made {
                Ok(cc) => Box::new(cc) as Box<dyn ForeignCc>,
                Err(error) => {
                    failure.note(error);
                    Box::new(Failed)
                }
            }
        })
    }
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
    on_ecn_agreed: Option<Py<PyAny>>,
    on_rate: Option<Py<PyAny>>,
    on_transmit_start: Option<Py<PyAny>>,
    probe: Option<Py<PyAny>>,
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
            on_ecn_agreed: may("on_ecn_agreed")?,
            on_rate: may("on_rate")?,
            on_transmit_start: may("on_transmit_start")?,
            probe: may("probe")?,
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
    sample: Py<CcSample>,
    window: Py<CcWindow>,
    congestion: Py<CcCongestion>,
    failure: Failure,
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
            ack: Py::new(py, CcAck(Lent(None)))?,
            sample: Py::new(py, CcSample(Lent(None)))?,
            window: Py::new(py, CcWindow(Lent(None)))?,
            congestion: Py::new(py, CcCongestion(Lent(None)))?,
            failure,
        })
    }

    /// Calls `work` with the window in a Python object, unless the run's Python has failed. Then `window` is what the
    /// method made of it. After a failure the window stays as it is, until the run ends with the exception.
    fn with_window(&mut self, window: &mut Window, work: impl FnOnce(&Self, Python<'_>) -> PyResult<()>) {
        if self.failure.is_noted() {
            return;
        }
        let done = Python::attach(|py| {
            self.window.borrow_mut(py).0.0 = Some(window.clone());
            work(self, py)?;
            if let Some(changed) = self.window.borrow_mut(py).0.0.take() {
                *window = changed;
            }
            Ok(())
        });
        done.unwrap_or_else(|error| self.failure.note(error));
    }

    /// Calls `work`, unless the run's Python has failed.
    fn alone(&mut self, work: impl FnOnce(&Hooks, Python<'_>) -> PyResult<()>) {
        if !self.failure.is_noted() {
            Python::attach(|py| work(&self.hooks, py)).unwrap_or_else(|error| self.failure.note(error));
        }
    }

    /// Reads a number of segments that `method` returned.
    fn segments(&self, method: &str, least: u32, answer: &Bound<'_, PyAny>) -> PyResult<u32> {
        match answer.extract::<u32>() {
            Ok(segments) if (least..=MOST).contains(&segments) => Ok(segments),
            _ => {
                let found = answer.repr()?;
                Err(DisciplineError::new_err(format!(
                    "{}.{method} returned {found}; accepted: a whole number of segments, {least} to {MOST}",
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
    fn on_ecn_agreed(&mut self, mode: EcnMode) {
        let word = match mode {
            EcnMode::Off => None,
            EcnMode::Classic => Some("rfc3168"),
            EcnMode::Accurate => Some("accecn"),
        };
        self.alone(|hooks, py| {
            hooks.on_ecn_agreed.as_ref().map_or(Ok(()), |hook| hook.call1(py, (word,)).map(|_| ()))
        });
    }

    fn on_rate(&mut self, ack: &Ack, sample: &RateSample, rate: &mut RateEstimator, window: &mut Window) {
        let mut app_limited = None;
        self.with_window(window, |own, py| {
            let Some(method) = &own.hooks.on_rate else { return Ok(()) };
            own.ack.borrow_mut(py).0.0 = Some(*ack);
            own.sample.borrow_mut(py).0.0 = Some(Sampled::of(*sample, rate));
            method.bind(py).call1((&own.ack, &own.sample, &own.window))?;
            app_limited = own.sample.borrow_mut(py).0.0.take().and_then(|sampled| sampled.marks_app_limited);
            Ok(())
        });
        if let Some(in_flight) = app_limited {
            rate.mark_app_limited(in_flight);
        }
    }

    fn on_transmit_start(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        if self.hooks.on_transmit_start.is_some() {
            self.with_window(window, |own, py| {
                let Some(method) = &own.hooks.on_transmit_start else { return Ok(()) };
                method.bind(py).call1((now.as_nanos(), rate.is_app_limited(), &own.window)).map(|_| ())
            });
        }
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let Some(hook) = self.hooks.probe.as_ref().filter(|_| !self.failure.is_noted()) else { return };
        let shown = Python::attach(|py| {
            let answer = hook.bind(py).call0()?;
            answer.extract::<Vec<(String, f64)>>().or_else(|_| {
                answer.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()
            })
        });
        match shown {
            Ok(values) => values.into_iter().for_each(|(name, value)| show(lasting(name), value)),
            Err(error) => self.failure.note(error),
        }
    }

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
                own.ack.borrow_mut(py).0.0 = Some(*ack);
                method.bind(py).call1((&own.ack, &own.window)).map(|_| ())
            });
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.with_window(window, |own, py| {
            own.ack.borrow_mut(py).0.0 = Some(*ack);
            own.hooks.on_ack.bind(py).call1((&own.ack, &own.window)).map(|_| ())
        });
    }

    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if self.failure.is_noted() {
            return halved(congestion);
        }
        let answer = Python::attach(|py| {
            self.congestion.borrow_mut(py).0.0 = Some(*congestion);
            let answer = self.hooks.ssthresh.bind(py).call1((&self.congestion,))?;
            self.segments("ssthresh", 2, &answer)
        });
        answer.unwrap_or_else(|error| {
            self.failure.note(error);
            halved(congestion)
        })
    }

    fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        let kept = window.cwnd.max(prior_cwnd);
        let Some(method) = self.hooks.undo_cwnd.as_ref().filter(|_| !self.failure.is_noted()) else {
            return kept;
        };
        let answer = Python::attach(|py| {
            self.window.borrow_mut(py).0.0 = Some(window.clone());
            let answer = method.bind(py).call1((&self.window, prior_cwnd))?;
            self.segments("undo_cwnd", 1, &answer)
        });
        answer.unwrap_or_else(|error| {
            self.failure.note(error);
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
                self.failure.note(error);
                Box::new(Failed)
            }
        }
    }
}

/// Returns `name` for as long as the process lives. A class has few names, and each is kept once.
fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let kept: &'static str = name.leak();
    names.insert(kept);
    kept
}
