//! What a user of the web does, as distributions: built-in models, and the keys of a scenario that replace their
//! parts.

use crate::keys::{Bytes, Count, Draws, Key, Percent, Quantity, Seconds, Values};
use crate::traffic::packmime::curves::{DOWNLOAD, LARGE_REQUEST, REQUEST as SMALL_REQUEST, VALIDATION};
use goodqueue_units::{Duration, Stream as Random};
use std::sync::LazyLock;

/// A built-in model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    Packmime,
    Surge,
    Web2025,
}

impl Model {
    const ALL: [Self; 3] = [Self::Packmime, Self::Surge, Self::Web2025];

    const fn name(self) -> &'static str {
        match self {
            Self::Packmime => "packmime",
            Self::Surge => "surge",
            Self::Web2025 => "web2025",
        }
    }
}

crate::word!(Model);

/// How connections are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// One request at a time on a connection. The connections of a page are persistent, or have one request each.
    Http1,
    /// One connection per server, with all requests at once.
    Http2,
}

impl Protocol {
    const ALL: [Self; 2] = [Self::Http1, Self::Http2];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1",
            Self::Http2 => "http/2",
        }
    }
}

crate::word!(Protocol);

pub(super) const MODEL: Key<Model> = Key::with_default("model", "\"packmime\"")
    .help(
        "the users' behaviour, except what the keys below set: \"packmime\" (sizes and think times measured on a link of \
         1999 to 2001), \"surge\" (Barford and Crovella 1998), \"web2025\" (sizes of today's pages, over HTTP/2)",
    )
    .source("Cao et al. 2004; Barford and Crovella 1998; HTTP Archive, Web Almanac 2025");
pub(super) const THINK: Key<Draws<Seconds>> = Key::derived("think", "the model's", "\"exponential(15s)\"")
    .help("time from the end of a page to the start of the user's next one");
pub(super) const OBJECTS: Key<Draws<Count>> = Key::derived("objects", "the model's", "\"pareto(1, 2.43)\"")
    .help("objects of a page beside its document, rounded up");
pub(super) const SERVERS: Key<Draws<Count>> = Key::derived("servers", "the model's", "12")
    .help("servers that hold a page's objects, rounded up; the document is on the first");
pub(super) const REQUEST: Key<Draws<Bytes>> =
    Key::derived("request", "the model's", "\"400B\"").help("bytes of a request");
pub(super) const DOCUMENT: Key<Draws<Bytes>> =
    Key::derived("document", "the model's", "\"22kB\"").help("bytes of the response that is a page's document");
pub(super) const OBJECT: Key<Draws<Bytes>> =
    Key::derived("object", "the model's", "[[0, 100], [0.5, 2000], [1, 1000000]]")
        .help("bytes of the response that is another object of a page");
pub(super) const SERVER_DELAY: Key<Draws<Seconds>> = Key::derived("server_delay", "the model's", "\"20ms\"")
    .help("time that a server takes from a request to the start of its response");
pub(super) const GAP: Key<Draws<Seconds>> = Key::derived("gap", "the model's", "\"0s\"")
    .help("time from a response to the next request on its connection, HTTP/1 only");
pub(super) const PROTOCOL: Key<Protocol> = Key::derived("protocol", "the model's", "\"http/2\"")
    .help("\"http/1\" (one request at a time on a connection) or \"http/2\" (a connection per server, all requests at once)");
pub(super) const PERSISTENT: Key<Percent> = Key::derived("persistent", "the model's", "\"15%\"")
    .help("share of pages that reuse their connections, with HTTP/1. All other pages open one connection per object");
pub(super) const WAVES: Key<u64> = Key::derived("waves", "the model's", "2")
    .range(1, 10)
    .help("number of steps in which a page's objects become known. 2: first style and scripts, then the objects that those request");

/// The quantities that are drawn when a page begins.
pub(super) struct Visit {
    /// Objects beside the document, and the servers that have the objects.
    pub(super) objects: u64,
    pub(super) servers: u64,
    pub(super) is_persistent: bool,
}

/// The quantities that are drawn when a request is sent. So the requests of a page are the same in whatever order the
/// responses arrive.
pub(super) struct Asked {
    pub(super) request: u64,
    pub(super) response: u64,
    pub(super) server_delay: Duration,
    /// Time from the response to the next request in its place.
    pub(super) gap: Duration,
}

impl Model {
    /// Returns what a user of this model does. Each of ten thousand subscribers asks for it, and reading a model takes
    /// as long as thousands of packets.
    fn profile(self) -> &'static Profile {
        static PACKMIME: LazyLock<Profile> = LazyLock::new(Profile::packmime);
        static SURGE: LazyLock<Profile> = LazyLock::new(Profile::surge);
        static WEB_2025: LazyLock<Profile> = LazyLock::new(Profile::web2025);
        match self {
            Self::Packmime => &PACKMIME,
            Self::Surge => &SURGE,
            Self::Web2025 => &WEB_2025,
        }
    }
}

/// What a user does.
pub(super) struct Profile {
    pub(super) think: Draws<Seconds>,
    pub(super) objects: Draws<Count>,
    pub(super) servers: Draws<Count>,
    pub(super) request: Draws<Bytes>,
    pub(super) document: Draws<Bytes>,
    pub(super) object: Draws<Bytes>,
    pub(super) server_delay: Draws<Seconds>,
    pub(super) gap: Draws<Seconds>,
    pub(super) protocol: Protocol,
    pub(super) persistent: f64,
    pub(super) waves: u64,
}

impl Profile {
    /// Returns the scenario's values, and the model's values where the scenario has none.
    pub(super) fn of(values: &Values) -> Self {
        let model = values.get(&MODEL).profile();
        Self {
            think: values.find(&THINK).unwrap_or_else(|| model.think.clone()),
            objects: values.find(&OBJECTS).unwrap_or_else(|| model.objects.clone()),
            servers: values.find(&SERVERS).unwrap_or_else(|| model.servers.clone()),
            request: values.find(&REQUEST).unwrap_or_else(|| model.request.clone()),
            document: values.find(&DOCUMENT).unwrap_or_else(|| model.document.clone()),
            object: values.find(&OBJECT).unwrap_or_else(|| model.object.clone()),
            server_delay: values.find(&SERVER_DELAY).unwrap_or_else(|| model.server_delay.clone()),
            gap: values.find(&GAP).unwrap_or_else(|| model.gap.clone()),
            protocol: values.find(&PROTOCOL).unwrap_or(model.protocol),
            persistent: values.find(&PERSISTENT).map_or(model.persistent, |share| share.0),
            waves: values.find(&WAVES).unwrap_or(model.waves),
        }
    }

    /// Returns the time from the start of the flow to a user's first page: a random part of a think time, as if all
    /// users had begun before.
    pub(super) fn first_think(&self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(self.think.draw(random) * random.next_f64())
    }

    pub(super) fn think(&self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(self.think.draw(random))
    }

    pub(super) fn visit(&self, random: &mut Random) -> Visit {
        Visit {
            objects: self.objects.draw(random).ceil() as u64,
            servers: self.servers.draw(random).ceil().max(1.0) as u64,
            is_persistent: random.next_f64() < self.persistent,
        }
    }

    pub(super) fn ask(&self, is_document: bool, random: &mut Random) -> Asked {
        let size = if is_document { &self.document } else { &self.object };
        Asked {
            request: (self.request.draw(random) as u64).max(1),
            response: (size.draw(random) as u64).max(1),
            server_delay: Duration::from_secs_f64(self.server_delay.draw(random)),
            gap: Duration::from_secs_f64(self.gap.draw(random)),
        }
    }

    /// Returns PackMime-HTTP (Cao, Cleveland, Gao, Jeffay, Smith, Weigle, INFOCOM 2004), which describes connections.
    /// This model is a user made of its parts. The think time is PackMime's time between the pages of one connection,
    /// over all connections: its log₂ is normal with mean 3.22 and variance 0.73 + 1.21. Each size is a mixture of
    /// PackMime's two parts, in their mean shares (28 % of responses only validate a cache).
    fn packmime() -> Self {
        let response = Draws::mixture([(0.28, Draws::points(VALIDATION)), (0.72, Draws::tail(DOWNLOAD))]);
        let request = Draws::mixture([(0.5, Draws::points(SMALL_REQUEST)), (0.5, Draws::tail(LARGE_REQUEST))]);
        // The delay is 1/max(10, W) seconds, where W has a Weibull distribution with shape 0.63 and scale 305.
        let server_delay = r"[[0, 0], [0.001, 0.000152552], [0.01, 0.000290355], [0.03, 0.000447517],
            [0.06, 0.000634792], [0.1, 0.000872478], [0.15, 0.00118653], [0.2, 0.00154044], [0.25, 0.00195224],
            [0.3, 0.00244195], [0.35, 0.00303517], [0.4, 0.00376673], [0.45, 0.00468611], [0.5, 0.00586622],
            [0.55, 0.00741875], [0.6, 0.00952268], [0.65, 0.0124808], [0.7, 0.0168414], [0.75, 0.0236902],
            [0.8, 0.0354563], [0.85, 0.0586453], [0.9, 0.1], [0.95, 0.1], [1, 0.1]]";
        Self {
            think: built_in(r#""lognormal(2.2319, 0.9654)""#),
            // PackMime has 1 object with probability 0.69, else ceil(1 + W), where W has shape 1 and scale 1.578.
            // Here the document is not counted.
            objects: built_in(r#"[{"share": 0.69, "of": "0"}, {"share": 0.31, "of": "exponential(1.578)"}]"#),
            servers: Draws::constant(1.0),
            request,
            document: response.clone(),
            object: response,
            server_delay: built_in(server_delay),
            gap: Draws::constant(0.0),
            protocol: Protocol::Http1,
            persistent: 0.09,
            waves: 1,
        }
    }

    /// Returns the model of Barford and Crovella, SIGMETRICS 1998.
    fn surge() -> Self {
        let size = r#"[{"share": 0.93, "of": "lognormal(9.357, 1.318)"}, {"share": 0.07, "of": "pareto(133kB, 1.1)"}]"#;
        Self {
            think: built_in(r#""pareto(1s, 1.5)""#),
            objects: built_in(r#""pareto(1, 2.43)""#),
            servers: Draws::constant(1.0),
            request: Draws::constant(400.0),
            document: built_in(size),
            object: built_in(size),
            server_delay: Draws::constant(0.0),
            gap: built_in(r#""weibull(1.46s, 0.382)""#),
            protocol: Protocol::Http1,
            persistent: 1.0,
            waves: 1,
        }
    }

    /// Returns the mobile pages of HTTP Archive's Web Almanac of 2025. The number of objects follows the requests of a
    /// page at its 10th, 25th, 50th, 75th and 90th percentile. Objects are mixed by kind as on the median page (22
    /// scripts of 632 kB in all, 8 style sheets of 77 kB, 16 images, 4 fonts). Images and fonts follow their own
    /// percentiles. The Almanac says nothing of servers, think times and waves, so three choices are ours: 12 servers,
    /// PackMime's think time, and 2 waves (what the document names, and what those objects ask for).
    fn web2025() -> Self {
        let object = r#"[
            {"share": 0.31, "of": "exponential(28700B)"},
            {"share": 0.11, "of": "exponential(9600B)"},
            {"share": 0.22, "of": [[0, 100], [0.1, 200], [0.25, 1000], [0.5, 8000], [0.75, 52000], [0.9, 186000], [1, 800000]]},
            {"share": 0.06, "of": [[0, 4000], [0.1, 8000], [0.25, 14000], [0.5, 23000], [0.75, 45000], [0.9, 80000], [1, 150000]]},
            {"share": 0.30, "of": "exponential(18000B)"}]"#;
        Self {
            objects: built_in("[[0, 5], [0.1, 24], [0.25, 41], [0.5, 71], [0.75, 115], [0.9, 178], [1, 400]]"),
            servers: Draws::constant(12.0),
            request: Draws::constant(400.0),
            document: built_in(r#""exponential(22kB)""#),
            object: built_in(object),
            protocol: Protocol::Http2,
            persistent: 1.0,
            waves: 2,
            ..Self::packmime()
        }
    }
}

/// Reads a built-in distribution.
#[allow(clippy::expect_used)] // a constant of ours: `each_model_is_read` reads each
fn built_in<T: Quantity>(text: &str) -> T {
    serde_json::from_str(text).map_err(|error| error.to_string()).and_then(|json| T::read(&json)).expect(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;

    #[test]
    fn each_model_is_read() {
        for profile in [Profile::packmime(), Profile::surge(), Profile::web2025()] {
            let mut random = Streams::new(1).stream("test", 0);
            assert!(profile.document.draw(&mut random) > 0.0);
        }
    }

    fn sorted<U: crate::keys::Unit>(draws: &Draws<U>, count: usize) -> Vec<f64> {
        let mut random = Streams::new(1).stream("test", 0);
        let mut drawn: Vec<f64> = (0..count).map(|_| draws.draw(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        drawn
    }

    /// The moments must be those that PackMime's formulas give, else users would ask for other pages.
    #[test]
    fn packmimes_parts_have_its_moments() {
        let profile = Profile::packmime();
        let at = |sorted: &[f64], share: f64| sorted[(share * sorted.len() as f64) as usize];
        let mean = |drawn: &[f64]| drawn.iter().sum::<f64>() / drawn.len() as f64;
        let think = sorted(&profile.think, 400_000);
        let delay = sorted(&profile.server_delay, 400_000);
        let request = sorted(&profile.request, 400_000);
        let response = sorted(&profile.object, 400_000);
        let objects = sorted(&profile.objects, 400_000);
        let share = |least: f64| objects.iter().filter(|&&n| n > least && n <= least + 1.0).count() as f64 / 400_000.0;
        // 28 % of the 400,000 responses only validate. So the share u of downloads is the share 0.28 + 0.72 u of all
        // responses.
        for (what, found, want) in [
            ("think, median", at(&think, 0.5), 9.3),
            ("think, mean", mean(&think), 15.0),
            ("delay, median", at(&delay, 0.5), 0.0059),
            ("delay, p75", at(&delay, 0.75), 0.024),
            ("delay, mean", mean(&delay), 0.022),
            ("request, p5", at(&request, 0.05), 217.0),
            ("request, p75", at(&request, 0.75), 513.0),
            ("request, p95", at(&request, 0.95), 1055.0),
            ("download, p25", at(&response, 0.28 + 0.72 * 0.25), 693.0),
            ("download, p50", at(&response, 0.28 + 0.72 * 0.5), 2278.0),
            ("download, p90", at(&response, 0.28 + 0.72 * 0.9), 20_200.0),
            ("two objects, of pages with more than one", share(0.0) / 0.31, 0.464),
            ("three", share(1.0) / 0.31, 0.242),
        ] {
            assert!((found / want - 1.0).abs() < 0.04, "{what}: {found}, not {want}");
        }
    }
}
