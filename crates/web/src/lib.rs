//! The WebAssembly binding: converts, never decides. Everything structured crosses as JSON text, as in the Python
//! binding, except packets, of which there are many: they cross as rows of numbers (see [`look`]).
//!
//! A refusal is thrown as JSON text: `{"key": …, "message": …}`.

pub mod look;

use crate::look::Look;
use goodqueue_netsim::{Scenario, ScenarioError, Simulation, catalogue};
use goodqueue_units::Duration;
use std::sync::{Arc, Mutex, PoisonError};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// A panic ends the module with "unreachable executed"; the browser's console gets what it said.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| error(&info.to_string())));
}

fn refuse(error: &ScenarioError) -> JsError {
    JsError::new(&serde_json::json!({"key": error.key, "message": error.message}).to_string())
}

/// A run in progress.
#[wasm_bindgen]
pub struct Run {
    simulation: Simulation,
    look: Option<Arc<Mutex<Look>>>,
}

#[wasm_bindgen]
impl Run {
    /// Sets a scenario up.
    ///
    /// # Errors
    /// The refusal of the scenario.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario_json: &str) -> Result<Self, JsError> {
        let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(&error))?;
        let simulation = Simulation::new(scenario).map_err(|error| refuse(&error))?;
        Ok(Self { simulation, look: None })
    }

    /// How long the run is, in seconds of its own clock.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.simulation.duration().as_secs_f64()
    }

    /// Runs until `until_s` seconds have passed, the end at the latest.
    pub fn advance(&mut self, until_s: f64) {
        self.simulation.advance(Duration::from_secs_f64(until_s));
    }

    /// Runs on as [`advance`](Self::advance) does, but looks at each packet from the first call on. Returns a row for
    /// each packet that was on its way since the call before, in no order: [`look::COLUMNS`] says which numbers.
    pub fn packets(&mut self, until_s: f64) -> Vec<f64> {
        let simulation = &mut self.simulation;
        let look = self.look.get_or_insert_with(|| {
            let look = Arc::new(Mutex::new(Look::default()));
            simulation.observe(Arc::clone(&look) as _);
            look
        });
        let until = Duration::from_secs_f64(until_s);
        while simulation.step(until) {
            look.lock().unwrap_or_else(PoisonError::into_inner).note_laws(simulation);
        }
        let mut look = look.lock().unwrap_or_else(PoisonError::into_inner);
        look.note_laws(simulation);
        look.take_rows()
    }

    /// What the laws of both directions thought, since the call before, whenever a packet left the queue or was
    /// dropped: as JSON, `{"down": {"count": […], …}, "up": …}`. A row's column `law` is the place in these lists.
    pub fn laws(&mut self) -> String {
        let taken =
            self.look.as_ref().map(|look| look.lock().unwrap_or_else(PoisonError::into_inner).take_laws());
        taken.unwrap_or_default()
    }

    /// The record as JSON.
    #[must_use]
    pub fn record(&self) -> String {
        serde_json::to_string(&self.simulation.record()).unwrap_or_default()
    }
}

/// Every queue discipline and every congestion control, as JSON: `{"qdiscs": …, "congestion_controls": …}`.
#[must_use]
#[wasm_bindgen]
pub fn choices() -> String {
    let all = [("qdiscs", catalogue::qdiscs()), ("congestion_controls", catalogue::congestion_controls())];
    serde_json::Value::Object(all.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
        .to_string()
}
