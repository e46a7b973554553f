//! Makes what a scenario has from Python: disciplines and congestion controls.

use crate::cc::Maker;
use crate::failure::Failure;
use crate::law::{InRun, Law};
use goodqueue_netsim::foreign::{CcRequest, Foreign, Request};
use goodqueue_netsim::{Scenario, ScenarioError};
use goodqueue_tcp::MakeCc;
use pyo3::prelude::*;
use std::sync::Arc;

/// Makes the disciplines and the congestion controls of one run.
pub(crate) struct Making<'a, 'py> {
    /// `make(line, link)` returns a discipline, and `make(line, None)` what makes congestion controls.
    make: Option<&'a Bound<'py, PyAny>>,
    failure: Failure,
    raised: Option<PyErr>,
    /// Whether the run has Python in it.
    pub(crate) is_python: bool,
}

impl<'a, 'py> Making<'a, 'py> {
    pub(crate) fn new(make: Option<&'a Bound<'py, PyAny>>, failure: &Failure) -> Self {
        Self { make, failure: Failure::clone(failure), raised: None, is_python: false }
    }

    /// Makes a discipline.
    pub(crate) fn law(&mut self, request: Request<'_>) -> Result<Box<dyn Foreign>, ScenarioError> {
        let failure = Failure::clone(&self.failure);
        self.made(request.key, request.line, "a discipline of the registry", |make| {
            let law = Law::new(make, request.line, request.link, request.random)?;
            Ok(Box::new(InRun::new(law, failure)) as Box<dyn Foreign>)
        })
    }

    /// Makes the congestion controls of `scenario`.
    pub(crate) fn ccs(&mut self, scenario: &mut Scenario) -> Result<(), ScenarioError> {
        scenario.make_ccs(&mut |CcRequest { key, line }| {
            let failure = Failure::clone(&self.failure);
            self.made(key, line, "a congestion control of the list", |make| {
                Ok(Arc::new(Maker::new(make, line, failure)?) as Arc<dyn MakeCc>)
            })
        })
    }

    fn made<T>(
        &mut self,
        key: &str,
        line: &str,
        accepted: &str,
        work: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T, ScenarioError> {
        let Some(make) = self.make else {
            return Err(ScenarioError::new(key, format!("found {line:?}; accepted here: {accepted}")));
        };
        self.is_python = true;
        work(make).map_err(|error| {
            let refused = ScenarioError::new(key, error.to_string());
            self.raised = Some(error);
            refused
        })
    }

    /// Returns the exception for `error`: what Python raised, if it did.
    pub(crate) fn exception(&mut self, py: Python<'_>, error: &ScenarioError) -> PyErr {
        self.raised.take().unwrap_or_else(|| crate::refuse(py, error))
    }
}
