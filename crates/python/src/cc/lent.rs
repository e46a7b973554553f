//! The objects that the methods of a congestion control in Python get. They are lent: valid during a call.

use super::nanos;
use goodqueue_tcp::{Ack, Cause, Congestion, CongestionState, RateEstimator, RateSample, Window};
use goodqueue_units::{Rate, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The largest window and threshold, in segments.
pub(super) const MOST: u32 = 0x7fff_ffff;
/// The most segments that one call counts: no ACK delivers more, and sums stay small.
const MOST_COUNTED: u32 = 1 << 30;

/// The content of an object that a method is lent.
pub(super) struct Lent<T>(pub(super) Option<T>);

impl<T> Lent<T> {
    fn get(&self) -> PyResult<&T> {
        self.0.as_ref().ok_or_else(over)
    }
    fn get_mut(&mut self) -> PyResult<&mut T> {
        self.0.as_mut().ok_or_else(over)
    }
}

/// What a congestion control knows of its connection.
#[pyclass(name = "Connection", module = "goodqueue.congestion")]
pub(crate) struct CcConnection {
    #[pyo3(get)]
    pub(super) smss: u16,
    #[pyo3(get)]
    pub(super) initial_window: u32,
    pub(super) random: Stream,
}

#[pymethods]
impl CcConnection {
    fn random(&mut self) -> f64 {
        self.random.next_f64()
    }
}

/// An ACK of new data.
#[pyclass(name = "Ack", module = "goodqueue.congestion")]
pub(crate) struct CcAck(pub(super) Lent<Ack>);

#[pymethods]
impl CcAck {
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.0.get()?.now.as_nanos())
    }
    #[getter]
    fn segments(&self) -> PyResult<u32> {
        Ok(self.0.get()?.segments)
    }
    #[getter]
    fn counted(&self) -> PyResult<u32> {
        Ok(self.0.get()?.counted)
    }
    #[getter]
    fn rtt(&self) -> PyResult<Option<u64>> {
        Ok(nanos(self.0.get()?.rtt))
    }
    #[getter]
    fn una(&self) -> PyResult<u32> {
        Ok(self.0.get()?.una.0)
    }
    #[getter]
    fn nxt(&self) -> PyResult<u32> {
        Ok(self.0.get()?.nxt.0)
    }
    #[getter]
    fn is_cwnd_limited(&self) -> PyResult<bool> {
        Ok(self.0.get()?.is_cwnd_limited)
    }
    #[getter]
    fn prior_in_flight(&self) -> PyResult<u32> {
        Ok(self.0.get()?.prior_in_flight)
    }
    #[getter]
    fn in_flight(&self) -> PyResult<u32> {
        Ok(self.0.get()?.in_flight)
    }
    #[getter]
    fn marked(&self) -> PyResult<u32> {
        Ok(self.0.get()?.marked)
    }
    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        Ok(state_name(self.0.get()?.state))
    }
}

/// A sample of the delivery rate, and the estimator that took it.
pub(crate) struct Sampled {
    sample: RateSample,
    total_delivered: u64,
    total_lost: u64,
    is_idle: bool,
    /// The segments in flight that the class marks as limited by the application.
    pub(super) marks_app_limited: Option<u32>,
}

impl Sampled {
    pub(super) fn of(sample: RateSample, rate: &RateEstimator) -> Self {
        let (total_delivered, total_lost) = (rate.delivered(), rate.lost());
        Self { sample, total_delivered, total_lost, is_idle: rate.is_app_limited(), marks_app_limited: None }
    }
}

/// A sample of the delivery rate.
#[pyclass(name = "RateSample", module = "goodqueue.congestion")]
pub(crate) struct CcSample(pub(super) Lent<Sampled>);

#[pymethods]
impl CcSample {
    #[getter]
    fn delivered(&self) -> PyResult<u64> {
        Ok(self.0.get()?.sample.delivered)
    }
    #[getter]
    fn interval(&self) -> PyResult<Option<u64>> {
        Ok(nanos(self.0.get()?.sample.interval))
    }
    #[getter]
    fn prior_delivered(&self) -> PyResult<u64> {
        Ok(self.0.get()?.sample.prior_delivered)
    }
    #[getter]
    fn delivered_ce(&self) -> PyResult<u64> {
        Ok(self.0.get()?.sample.delivered_ce)
    }
    #[getter]
    fn losses(&self) -> PyResult<u32> {
        Ok(self.0.get()?.sample.losses)
    }
    #[getter]
    fn tx_in_flight(&self) -> PyResult<u32> {
        Ok(self.0.get()?.sample.tx_in_flight)
    }
    #[getter]
    fn lost(&self) -> PyResult<u64> {
        Ok(self.0.get()?.sample.lost)
    }
    #[getter]
    fn is_app_limited(&self) -> PyResult<bool> {
        Ok(self.0.get()?.sample.is_app_limited)
    }
    #[getter]
    fn is_ack_delayed(&self) -> PyResult<bool> {
        Ok(self.0.get()?.sample.is_ack_delayed)
    }
    #[getter]
    fn departure(&self) -> PyResult<u64> {
        Ok(self.0.get()?.sample.departure.as_nanos())
    }
    #[getter]
    fn total_delivered(&self) -> PyResult<u64> {
        Ok(self.0.get()?.total_delivered)
    }
    #[getter]
    fn total_lost(&self) -> PyResult<u64> {
        Ok(self.0.get()?.total_lost)
    }
    #[getter]
    fn is_idle(&self) -> PyResult<bool> {
        Ok(self.0.get()?.is_idle)
    }
    fn mark_app_limited(&mut self, in_flight: u32) -> PyResult<()> {
        self.0.get_mut()?.marks_app_limited = Some(in_flight);
        Ok(())
    }
}

/// The congestion window.
#[pyclass(name = "Window", module = "goodqueue.congestion")]
pub(crate) struct CcWindow(pub(super) Lent<Window>);

/// Reads the number of segments `name` of a window.
fn count(name: &str, least: u32, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let segments = value.extract::<u32>().ok().filter(|segments| (least..=MOST).contains(segments));
    segments.ok_or_else(|| {
        let found = value.repr().map(|found| found.to_string()).unwrap_or_default();
        PyValueError::new_err(format!(
            "window.{name}: found {found}; accepted: a whole number of segments, {least} to {MOST}"
        ))
    })
}

#[pymethods]
impl CcWindow {
    #[getter]
    fn cwnd(&self) -> PyResult<u32> {
        Ok(self.0.get()?.cwnd)
    }
    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.get_mut()?.cwnd = count("cwnd", 1, value)?;
        Ok(())
    }
    #[getter]
    fn ssthresh(&self) -> PyResult<u32> {
        Ok(self.0.get()?.ssthresh)
    }
    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.get_mut()?.ssthresh = count("ssthresh", 2, value)?;
        Ok(())
    }
    #[getter]
    fn pacing_bps(&self) -> PyResult<Option<u64>> {
        Ok(self.0.get()?.pacing_rate.map(Rate::as_bps))
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
        self.0.get_mut()?.pacing_rate = rate;
        Ok(())
    }
    #[getter]
    fn in_slow_start(&self) -> PyResult<bool> {
        Ok(self.0.get()?.in_slow_start())
    }
    fn slow_start(&mut self, counted: &Bound<'_, PyAny>) -> PyResult<u32> {
        let counted = count("slow_start: counted", 0, counted)?;
        let window = self.0.get_mut()?;
        let rest = window.slow_start(counted);
        window.cwnd = window.cwnd.min(MOST);
        Ok(rest)
    }
    fn increase(&mut self, per: &Bound<'_, PyAny>, counted: &Bound<'_, PyAny>) -> PyResult<()> {
        let (per, counted) = (count("increase: per", 1, per)?, count("increase: counted", 0, counted)?);
        let window = self.0.get_mut()?;
        window.increase(per, counted.min(MOST_COUNTED));
        window.cwnd = window.cwnd.min(MOST);
        Ok(())
    }
}

/// A congestion, by loss, timeout or ECN.
#[pyclass(name = "Congestion", module = "goodqueue.congestion")]
pub(crate) struct CcCongestion(pub(super) Lent<Congestion>);

#[pymethods]
impl CcCongestion {
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.0.get()?.now.as_nanos())
    }
    #[getter]
    fn cwnd(&self) -> PyResult<u32> {
        Ok(self.0.get()?.cwnd)
    }
    #[getter]
    fn cause(&self) -> PyResult<&'static str> {
        Ok(match self.0.get()?.cause {
            Cause::Loss => "loss",
            Cause::Ecn => "ecn",
            Cause::Timeout => "timeout",
        })
    }
}

pub(super) fn state_name(state: CongestionState) -> &'static str {
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
