//! What the page calls. It is compiled for WebAssembly alone, so that native builds need no wasm-bindgen.

use crate::look::Look;
use goodqueue_netsim::scenario::without_buffer;
use goodqueue_netsim::{Direction, Scenario, ScenarioError, Simulation, catalogue};
use goodqueue_units::Duration;
use std::sync::{Arc, Mutex, PoisonError};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Prints the message of a panic on the browser's console. The module itself only ends with "unreachable executed".
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| error(&info.to_string())));
}

fn refuse(error: &ScenarioError) -> JsError {
    JsError::new(&serde_json::json!({"key": error.key, "message": error.message}).to_string())
}

/// One run of one scenario.
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
    /// The scenario is refused.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario_json: &str) -> Result<Self, JsError> {
        let scenario = Scenario::from_json(scenario_json).map_err(|error| refuse(&error))?;
        let simulation = Simulation::new(scenario).map_err(|error| refuse(&error))?;
        Ok(Self { simulation, look: None })
    }

    /// Returns the length of the run, in seconds of simulated time.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.simulation.duration().as_secs_f64()
    }

    /// Runs until `until_s` seconds of simulated time, at most to the end.
    pub fn advance(&mut self, until_s: f64) {
        self.simulation.advance(Duration::from_secs_f64(until_s));
    }

    /// Runs as [`advance`](Self::advance) does, and observes each packet from the first call on. Returns one row of
    /// numbers per packet that was on its way since the last call, in no order.
    /// [`COLUMNS`](crate::look::COLUMNS) describes the numbers.
    pub fn packets(&mut self, until_s: f64) -> Vec<f64> {
        let simulation = &mut self.simulation;
        let look = self.look.get_or_insert_with(|| {
            let look = Arc::new(Mutex::new(Look::default()));
            simulation.observe(Arc::clone(&look) as _);
            look
        });
        let until = Duration::from_secs_f64(until_s);
        while simulation.step(until) {
            look.lock().unwrap_or_else(PoisonError::into_inner).note(simulation);
        }
        let mut look = look.lock().unwrap_or_else(PoisonError::into_inner);
        look.note(simulation);
        look.take_rows()
    }

    /// Returns the state of the laws of both directions, since the last call, each time when a packet left the queue
    /// or was dropped. The result is JSON: `{"down": {"count": […], …}, "up": …}`. The column `law` of a row is the
    /// index into these lists.
    pub fn laws(&mut self) -> String {
        let taken =
            self.look.as_ref().map(|look| look.lock().unwrap_or_else(PoisonError::into_inner).take_laws());
        taken.unwrap_or_default()
    }

    /// Returns the names of the queues into which the disciplines of both directions sort packets, as JSON:
    /// `{"down": ["L, low latency", …], "up": …}`. The column `queue` of a row is the index into these lists.
    #[must_use]
    pub fn queues(&self) -> String {
        let [down, up] = [Direction::Down, Direction::Up].map(|direction| self.simulation.queues(direction));
        serde_json::json!({"down": down, "up": up}).to_string()
    }

    /// Returns the record as JSON.
    #[must_use]
    pub fn record(&self) -> String {
        serde_json::to_string(&self.simulation.record()).unwrap_or_default()
    }
}

/// Returns every queue discipline and every congestion control, as JSON: `{"qdiscs": …, "congestion_controls": …}`.
#[must_use]
#[wasm_bindgen]
pub fn choices() -> String {
    let all = [("qdiscs", catalogue::qdiscs()), ("congestion_controls", catalogue::congestion_controls())];
    serde_json::Value::Object(all.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
        .to_string()
}

/// Returns why the `buffer` of a scenario does not apply to a line, in one sentence. Returns nothing if it applies,
/// and for a line that is refused.
#[must_use]
#[wasm_bindgen(js_name = withoutBuffer)]
pub fn buffer_does_not_apply(line: &str) -> Option<String> {
    without_buffer(line)
}

/// Returns the mean opinion score of a call with a one-way delay that loses a part of its packets.
#[must_use]
#[wasm_bindgen]
pub fn mos(delay_ms: f64, loss_percent: f64) -> f64 {
    goodqueue_hosts::probe::mos::mos(delay_ms, loss_percent)
}
