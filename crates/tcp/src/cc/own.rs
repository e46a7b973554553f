//! A congestion control of the caller's own: behind a `dyn`, which is slower than those of the table.

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, CongestionState, EcnMode, EcnUse, RateEstimator, RateSample, Window};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};
use goodqueue_units::{Duration, Instant};

/// One connection's congestion control, by the caller. Its methods are those of [`CongestionControl`].
pub trait ForeignCc: Send + Sync {
    /// Does what [`CongestionControl::on_ecn_agreed`] does.
    fn on_ecn_agreed(&mut self, _mode: EcnMode) {}
    /// Does what [`CongestionControl::on_rate`] does, if its maker says that it is model-based.
    fn on_rate(&mut self, _ack: &Ack, _sample: &RateSample, _rate: &mut RateEstimator, _window: &mut Window) {
    }
    /// Does what [`CongestionControl::on_transmit_start`] does.
    fn on_transmit_start(&mut self, _now: Instant, _rate: &RateEstimator, _window: &mut Window) {}
    /// Does what [`CongestionControl::probe`] does.
    fn probe(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
    /// Does what [`CongestionControl::on_open`] does.
    fn on_open(&mut self, _now: Instant, _rtt: Option<Duration>, _window: &mut Window) {}
    /// Does what [`CongestionControl::on_delivered`] does.
    fn on_delivered(&mut self, _ack: &Ack, _window: &mut Window) {}
    /// Does what [`CongestionControl::on_ack`] does.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);
    /// Does what [`CongestionControl::ssthresh`] does.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32;
    /// Does what [`CongestionControl::undo_cwnd`] does.
    fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        window.cwnd.max(prior_cwnd)
    }
    /// Does what [`CongestionControl::on_undo`] does.
    fn on_undo(&mut self) {}
    /// Does what [`CongestionControl::on_state`] does.
    fn on_state(&mut self, _state: CongestionState, _window: &mut Window) {}
    /// Does what [`CongestionControl::on_rto`] does.
    fn on_rto(&mut self) {}
    /// Does what [`CongestionControl::on_restart`] does.
    fn on_restart(&mut self, _now: Instant, _idle: Duration) {}
    /// Returns a copy, for a copy of the connection.
    fn copied(&self) -> Box<dyn ForeignCc>;
}

/// Makes the congestion controls of connections.
pub trait MakeCc: Send + Sync {
    /// Returns the line with every parameter.
    fn line(&self) -> &str;
    /// Returns whether its connections pace what they send.
    fn paces(&self) -> bool;
    /// Returns whether its connections are driven by a model, as [`CongestionControl::MODEL_BASED`] says.
    fn is_model_based(&self) -> bool {
        false
    }
    /// Returns how its connections use ECN.
    fn ecn_use(&self) -> EcnUse {
        EcnUse::Classic
    }
    /// Makes the congestion control of a new connection.
    fn make(&self, config: &Config) -> Box<dyn ForeignCc>;
}

/// A congestion control of the caller's own, as a line names it (`./my_cc.py:MyCc beta 0.5`).
#[derive(Clone)]
pub struct OwnCc {
    line: Arc<str>,
    maker: Option<Arc<dyn MakeCc>>,
}

impl OwnCc {
    /// Returns the one that `line` names. Connections need one that is [`made`](Self::made).
    pub(super) fn named(line: &str) -> Self {
        Self { line: line.into(), maker: None }
    }

    /// Returns the one whose connections `maker` serves.
    #[must_use]
    pub fn made(maker: Arc<dyn MakeCc>) -> Self {
        Self { line: maker.line().into(), maker: Some(maker) }
    }

    /// Returns the line.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns whether connections can have it.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.maker.is_some()
    }

    /// Returns whether its connections pace what they send.
    #[must_use]
    pub fn paces(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.paces())
    }

    /// Returns whether its connections are driven by a model.
    pub(crate) fn is_model_based(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| maker.is_model_based())
    }

    /// Returns how its connections use ECN.
    #[must_use]
    pub fn ecn_use(&self) -> EcnUse {
        self.maker.as_ref().map_or(EcnUse::Classic, |maker| maker.ecn_use())
    }
}

impl fmt::Debug for OwnCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnCc({:?})", self.line)
    }
}

impl PartialEq for OwnCc {
    fn eq(&self, other: &Self) -> bool {
        self.line == other.line
    }
}

impl Eq for OwnCc {}

impl Hash for OwnCc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.line.hash(state);
    }
}

/// The congestion control of one connection, and whether it is driven by a model.
pub(crate) struct Own(Box<dyn ForeignCc>, bool);

impl Clone for Own {
    fn clone(&self) -> Self {
        Self(self.0.copied(), self.1)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

impl CongestionControl for Own {
    const NAME: &'static str = "own";
    const SUMMARY: &'static str = "a congestion control of one's own";
    const SOURCE: &'static str = "its file";
    const DIFFERS: &'static str = "its file says it";

    /// Makes the congestion control of a connection.
    ///
    /// # Panics
    /// If the configuration has the number of a congestion control of the caller's own, and none that is made.
    #[allow(clippy::expect_used)] // a mistake in a caller's program, not in its input
    fn new(config: &Config) -> Self {
        let maker = config.own.as_ref().and_then(|own| own.maker.as_ref());
        let maker = maker.expect("Config::own is made, if Config::cc is Cc::Own");
        Self(maker.make(config), maker.is_model_based())
    }

    fn is_model_based(&self) -> bool {
        self.1
    }
    fn on_ecn_agreed(&mut self, mode: EcnMode) {
        self.0.on_ecn_agreed(mode);
    }
    fn on_rate(&mut self, ack: &Ack, sample: &RateSample, rate: &mut RateEstimator, window: &mut Window) {
        self.0.on_rate(ack, sample, rate, window);
    }
    fn on_transmit_start(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
        self.0.on_transmit_start(now, rate, window);
    }
    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.0.probe(show);
    }

    fn on_open(&mut self, now: Instant, rtt: Option<Duration>, window: &mut Window) {
        self.0.on_open(now, rtt, window);
    }
    fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        self.0.on_delivered(ack, window);
    }
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.0.on_ack(ack, window);
    }
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        self.0.ssthresh(congestion)
    }
    fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        self.0.undo_cwnd(window, prior_cwnd)
    }
    fn on_undo(&mut self) {
        self.0.on_undo();
    }
    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        self.0.on_state(state, window);
    }
    fn on_rto(&mut self) {
        self.0.on_rto();
    }
    fn on_restart(&mut self, now: Instant, idle: Duration) {
        self.0.on_restart(now, idle);
    }
}
