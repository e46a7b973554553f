//! Congestion control: one file per algorithm, one line per algorithm in the table below.
//!
//! The sender owns the window and decides *when* something happens: which ACK may grow the window, when a loss is a
//! congestion, how the reduction is paced (PRR), what a timeout does. An algorithm decides *how much*. Linux divides
//! the work in the same way, and it keeps an algorithm to the formulas of its paper.

mod bandwidth;
mod bbr;
mod bbr2;
mod bbr3;
#[cfg(test)]
mod bench;
#[cfg(feature = "complete")]
mod c4;
mod cubic;
mod dctcp;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod ledbat;
#[cfg(feature = "complete")]
mod ledbat_plus_plus;
mod line;
mod none;
mod own;
mod prague;
mod reno;
mod scalable;
mod vegas;
mod westwood;

pub use line::{CcLine, CcOptions, CcWord};
pub use own::{ForeignCc, MakeCc, OwnCc};

use crate::{Config, CongestionState, EcnMode, EcnUse, RateEstimator, RateSample, SeqNumber, Window};
use goodqueue_units::{Duration, Instant};

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Segments that this ACK newly delivered, cumulatively or by SACK.
    pub segments: u32,
    /// Segments that count for growth: `segments`, or 1 if the stack counts ACKs.
    pub counted: u32,
    /// The path's RTT by the last segment delivered. `None` if that segment was sent twice (Karn).
    pub rtt: Option<Duration>,
    /// The smoothed RTT of the connection, by the first segment that each ACK covers. Zero before the first sample.
    #[cfg(feature = "complete")]
    pub srtt: Duration,
    /// Bytes that the application has written and that were not sent, those included that wait for room in the socket.
    pub unsent: u64,
    /// The first byte not acknowledged.
    pub una: SeqNumber,
    /// The first byte not sent.
    pub nxt: SeqNumber,
    /// Whether the window, and not the application or the receiver, limits the sender. If not, the window must not grow
    /// (RFC 9438, section 4.2).
    pub is_cwnd_limited: bool,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// Segments in flight after this ACK.
    pub in_flight: u32,
    /// Segments that this ACK reports as delivered with a CE mark. The number is exact with AccECN. Otherwise an ACK
    /// with ECE counts all segments that it delivered, as DCTCP does (RFC 8257, 3.3).
    pub marked: u32,
    /// The receiver's clock when it sent this ACK, minus our clock when the echoed segment left (RFC 7323): the one-way
    /// delay plus the offset of the clocks, in milliseconds, with wrap.
    pub clock_ms: u32,
    /// The state of the sender after this ACK.
    pub state: CongestionState,
}

/// The signal of a congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Segments were lost, and others arrived.
    Loss,
    /// Segments were marked.
    Ecn,
    /// The retransmission timer fired.
    Timeout,
}

/// A congestion, by loss, timeout or ECN.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Instant,
    /// The window at that time, in segments.
    pub cwnd: u32,
    /// The signal.
    pub cause: Cause,
}

/// A congestion control algorithm.
pub trait CongestionControl: Sized {
    /// The algorithm's name in scenarios, as in Linux's `tcp_congestion_control`.
    const NAME: &'static str;
    /// One line for `goodqueue list cc`.
    const SUMMARY: &'static str;
    /// The document that the algorithm follows.
    const SOURCE: &'static str;
    /// Whether the algorithm sets window and pacing rate by a model of the path, in every state of the sender. If it
    /// does, the sender estimates the delivery rate, calls `on_rate` with every ACK instead of `on_ack` and the pacing
    /// of reductions, and paces what it sends.
    const MODEL_BASED: bool = false;
    /// Whether the sender always paces, even if the configuration does not ask for pacing.
    const PACES: bool = Self::MODEL_BASED;

    /// How this implementation differs from `SOURCE`, in one line.
    const DIFFERS: &'static str;
    /// The words that may follow the name.
    const WORDS: &'static [CcWord] = &[];
    /// How the algorithm uses ECN.
    const ECN: EcnUse = EcnUse::Classic;

    /// Builds the state of a new connection.
    fn new(config: &Config) -> Self;

    /// Returns whether this connection's algorithm is [`MODEL_BASED`](Self::MODEL_BASED).
    #[inline]
    fn is_model_based(&self) -> bool {
        Self::MODEL_BASED
    }

    /// Returns whether this connection's algorithm sets the window in every state of the sender, as Linux's
    /// `cong_control` does. If it does, the sender does not pace reductions, and calls `on_ack` with every ACK that
    /// delivers something.
    #[inline]
    fn sets_window(&self) -> bool {
        self.is_model_based()
    }

    /// Takes the ECN feedback that this connection has. Called once, before `on_open`.
    fn on_ecn_agreed(&mut self, _mode: EcnMode) {}

    /// Takes `rtt`, the sample of the handshake. Called once, when the handshake is over.
    fn on_open(&mut self, _now: Instant, _rtt: Option<Duration>, _window: &mut Window) {}

    /// Takes note of a delivery. Called for every ACK that delivered something, in any state, before `on_ack`. `state`
    /// and `in_flight` are then the values before losses are looked for.
    fn on_delivered(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Takes a sample of the delivery rate. Called for every ACK, as the last call, if the algorithm is
    /// [`MODEL_BASED`](Self::MODEL_BASED).
    fn on_rate(&mut self, _ack: &Ack, _sample: &RateSample, _rate: &mut RateEstimator, _window: &mut Window) {
    }

    /// Grows the window. Called for every ACK that advances it, except while a reduction is under way (recovery, CWR).
    /// An algorithm that sets the window itself is called then, too.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// Returns the new slow-start threshold, at least 2 segments. Called when congestion begins, once per window of
    /// data.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32;

    /// Returns the window to restore when it turns out that nothing was lost. `prior_cwnd` is the window at the time of
    /// the reduction.
    fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
        window.cwnd.max(prior_cwnd)
    }

    /// Prepares an undo. Called before `undo_cwnd`.
    fn on_undo(&mut self) {}

    /// Takes note that the sender has entered `state`.
    fn on_state(&mut self, _state: CongestionState, _window: &mut Window) {}

    /// Takes note that the congestion was a retransmission timeout. Called after `ssthresh`.
    fn on_rto(&mut self) {}

    /// Takes note that data is sent after `idle` with nothing in flight.
    fn on_restart(&mut self, _now: Instant, _idle: Duration) {}

    /// Takes note that something is sent while nothing was in flight. Called if the delivery rate is estimated.
    fn on_transmit_start(&mut self, _now: Instant, _rate: &RateEstimator, _window: &mut Window) {}

    /// Shows inner state to plots and traces: name (with its unit) and value.
    fn probe(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

macro_rules! congestion_controls {
    // The table, and then the table with the control of the caller's own, which no list shows.
    ([$($(#[$only_listed:meta])? $listed:ident),+] $($(#[$only:meta])? $module:ident :: $name:ident),+) => {
        /// The congestion controls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Cc { $($(#[$only])? #[doc = concat!("`", stringify!($module), "`")] $name),+ }

        impl Cc {
            /// All congestion controls.
            pub const ALL: &'static [Self] = &[$($(#[$only_listed])? Self::$listed),+];

            /// Returns its name in scenarios.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::NAME),+ }
            }

            /// Returns a summary of one line.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::SUMMARY),+ }
            }

            /// Returns how it differs from its source, in one line.
            #[must_use]
            pub const fn differs(self) -> &'static str {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::DIFFERS),+ }
            }

            /// Returns whether it always paces.
            #[must_use]
            pub const fn paces(self) -> bool {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::PACES),+ }
            }

            /// Returns whether it sets window and rate by a model of the path.
            #[must_use]
            pub const fn is_model_based(self) -> bool {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::MODEL_BASED),+ }
            }

            /// Returns the words that may follow the name.
            #[must_use]
            pub const fn words(self) -> &'static [CcWord] {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::WORDS),+ }
            }

            /// Returns how it uses ECN.
            #[must_use]
            pub const fn ecn_use(self) -> EcnUse {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::ECN),+ }
            }

            /// Returns the document that it follows.
            #[must_use]
            pub const fn source(self) -> &'static str {
                match self { $($(#[$only])? Self::$name => <$module::$name as CongestionControl>::SOURCE),+ }
            }
        }

        /// Any congestion control, dispatched statically.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyCc { $($(#[$only])? $name($module::$name)),+ }

        impl AnyCc {
            pub(crate) fn new(config: &Config) -> Self {
                match config.cc { $($(#[$only])? Cc::$name => Self::$name($module::$name::new(config))),+ }
            }
            #[inline]
            pub(crate) fn is_model_based(&self) -> bool {
                match self { $($(#[$only])? Self::$name(cc) => cc.is_model_based()),+ }
            }
            #[inline]
            pub(crate) fn sets_window(&self) -> bool {
                match self { $($(#[$only])? Self::$name(cc) => cc.sets_window()),+ }
            }
            pub(crate) fn on_ecn_agreed(&mut self, mode: EcnMode) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_ecn_agreed(mode)),+ }
            }
            pub(crate) fn on_open(&mut self, now: Instant, rtt: Option<Duration>, window: &mut Window) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_open(now, rtt, window)),+ }
            }
            #[cold]
            pub(crate) fn on_rate(
                &mut self,
                ack: &Ack,
                sample: &RateSample,
                rate: &mut RateEstimator,
                window: &mut Window,
            ) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_rate(ack, sample, rate, window)),+ }
            }
            pub(crate) fn on_transmit_start(&mut self, now: Instant, rate: &RateEstimator, window: &mut Window) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_transmit_start(now, rate, window)),+ }
            }
            #[inline(never)]
            fn on_delivered_apart(&mut self, ack: Ack, window: &mut Window) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_delivered(&ack, window)),+ }
            }
            pub(crate) fn on_undo(&mut self) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_undo()),+ }
            }
            pub(crate) fn undo_cwnd(&self, window: &Window, prior_cwnd: u32) -> u32 {
                match self { $($(#[$only])? Self::$name(cc) => cc.undo_cwnd(window, prior_cwnd)),+ }
            }
            pub(crate) fn on_state(&mut self, state: CongestionState, window: &mut Window) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_state(state, window)),+ }
            }
            #[inline(never)]
            fn on_ack_apart(&mut self, ack: Ack, window: &mut Window) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_ack(&ack, window)),+ }
            }
            pub(crate) fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
                match self { $($(#[$only])? Self::$name(cc) => cc.ssthresh(congestion)),+ }
            }
            pub(crate) fn on_rto(&mut self) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_rto()),+ }
            }
            pub(crate) fn on_restart(&mut self, now: Instant, idle: Duration) {
                match self { $($(#[$only])? Self::$name(cc) => cc.on_restart(now, idle)),+ }
            }
            pub(crate) fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
                match self { $($(#[$only])? Self::$name(cc) => cc.probe(show)),+ }
            }
        }
    };
    ($($(#[$only:meta])? $module:ident :: $name:ident),+ $(,)?) => {
        congestion_controls!([$($(#[$only])? $name),+] $($(#[$only])? $module::$name,)+ own::Own);
    };
}

congestion_controls! {
    cubic::Cubic,
    reno::Reno,
    bbr::Bbr,
    #[cfg(not(target_family = "wasm"))]
    bbr2::Bbr2,
    bbr3::Bbr3,
    dctcp::Dctcp,
    prague::Prague,
    vegas::Vegas,
    westwood::Westwood,
    illinois::Illinois,
    scalable::Scalable,
    ledbat::Ledbat,
    #[cfg(feature = "complete")]
    ledbat_plus_plus::LedbatPlusPlus,
    #[cfg(feature = "complete")]
    c4::C4,
    none::Fixed,
}

// CUBIC, the default, is inlined into the processing of ACKs. All algorithms inlined would be too much code there. The
// others get a copy of the `Ack`: if they got a reference, the `Ack` would have to be in memory for CUBIC too.
impl AnyCc {
    /// Where the part ends that each segment touches of CUBIC: the enum's tag, and all of CUBIC except HyStart.
    pub(crate) const HOT_BYTES: usize = align_of::<Self>() + cubic::Cubic::HOT_BYTES;

    // Inlined late, the copy would be left out, and the `Ack` be in memory.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        match self {
            Self::Cubic(cc) => cc.on_delivered(ack, window),
            _ => self.on_delivered_apart(*ack, window),
        }
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `on_delivered`
    pub(crate) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        match self {
            Self::Cubic(cc) => cc.on_ack(ack, window),
            _ => self.on_ack_apart(*ack, window),
        }
    }
}

impl Cc {
    /// Returns the congestion control called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cc| cc.name() == name)
    }
}

#[cfg(test)]
impl Ack {
    /// Builds an ACK at `now` that delivers `segments` of a window of 1000 bytes, for tests of algorithms.
    pub(crate) fn of(now: Instant, segments: u32) -> Self {
        Self {
            now,
            segments,
            counted: segments,
            rtt: None,
            #[cfg(feature = "complete")]
            srtt: Duration::ZERO,
            unsent: u64::MAX,
            una: SeqNumber(1),
            nxt: SeqNumber(1000),
            is_cwnd_limited: true,
            prior_in_flight: 10,
            in_flight: 10,
            marked: 0,
            clock_ms: 0,
            state: CongestionState::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stack;

    #[test]
    fn every_algorithm_is_found_by_its_name_and_says_what_it_is() {
        for &cc in Cc::ALL {
            assert_eq!(Cc::from_name(cc.name()), Some(cc));
            assert!(!cc.summary().is_empty() && !cc.source().is_empty() && !cc.differs().is_empty());
        }
        assert_eq!(Cc::from_name("vegan"), None);
    }

    /// Guards against a tag that takes more room than `HOT_BYTES` reckons with: the end of CUBIC's part would not be
    /// prefetched.
    #[test]
    fn hot_bytes_of_cubic_are_all_but_hystart() {
        let any = AnyCc::new(&Config::default());
        let AnyCc::Cubic(cubic) = &any else { panic!("the default is CUBIC") };
        let tag = core::ptr::from_ref(cubic).addr() - core::ptr::from_ref(&any).addr();
        assert!(tag + cubic::Cubic::HOT_BYTES <= AnyCc::HOT_BYTES, "{tag}");
        assert!(AnyCc::HOT_BYTES <= size_of::<AnyCc>());
    }

    /// The sender relies on this for every algorithm in the table.
    #[test]
    fn every_algorithm_grows_only_when_limited_and_falls_to_two_at_least() {
        let sets = |cc| AnyCc::new(&Config { cc, ..Config::default() }).sets_window();
        let window_based = Cc::ALL.iter().filter(|cc| !sets(**cc));
        for (&cc, stack) in window_based.flat_map(|cc| [(cc, Stack::Linux3_10), (cc, Stack::Linux6_1)]) {
            let config = Config { cc, stack, ..Config::default() };
            let mut any = AnyCc::new(&config);
            let mut window = Window::new(&config);
            let mut ack = Ack { is_cwnd_limited: false, ..Ack::of(Instant::ZERO, 2) };
            any.on_ack(&ack, &mut window);
            assert_eq!(window.cwnd, 10, "{cc:?}");
            ack.is_cwnd_limited = true;
            any.on_ack(&ack, &mut window);
            // Before the first RTT. LEDBAT has no slow start, and `none` does not grow.
            let grown = if matches!(cc, Cc::Ledbat | Cc::Fixed) { 10 } else { 12 };
            assert_eq!(window.cwnd, grown, "{cc:?}");
            for cwnd in [1, 2, 3, 1000] {
                let congestion = Congestion { now: Instant::ZERO, cwnd, cause: Cause::Loss };
                let ssthresh = any.ssthresh(&congestion);
                // An eighth of a small window rounds to nothing, and `none` does not fall.
                let falls = ssthresh < cwnd || cwnd < 8 || cc == Cc::Fixed;
                let rises = ssthresh > cwnd.max(2) && cc != Cc::Fixed;
                assert!(ssthresh >= 2 && falls && !rises, "{cc:?}: {cwnd} to {ssthresh}");
            }
        }
    }
}
