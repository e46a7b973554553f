//! Random paths made from bytes, and properties that each of them must have. The property test and the fuzz target
//! share this code (`fuzz/` includes this file by its path).
//!
//! Each choice takes one byte. After the last byte every choice is its first option, so a short input is a simple
//! path.

use goodqueue_netsim::record::{HopBody, HopRecord, QueueRecord, WirePackets};
use goodqueue_netsim::{Direction, Record, Scenario, Simulation, Threaded};
use goodqueue_units::Duration;
use serde_json::{Value, json};

/// Access networks: with their defaults, and at the ends of their ranges.
const ACCESS: &[&str] = &[
    "starlink",
    "starlink spread 1 jump 1s turn 1s stall 10s loss 50",
    "docsis channel 10tbit",
    "docsis map 50ms channel 10tbit ggr 8bit",
    "docsis map 100us channel 10tbit modems 1000 burst 1522",
];

const QDISCS: &[&str] = &[
    "pfifo limit 3",
    "bfifo limit 20000",
    "codel",
    "fq_codel limit 20 flows 4",
    "pie",
    "red",
    "cake bandwidth 3mbit",
    "tbf rate 2mbit burst 5kb child pie",
    "dualpi2",
];

/// The most hops beside the bottleneck.
const HOPS: usize = 5;

/// The form of a file of rates.
#[derive(Clone, Copy)]
enum Form {
    Milliseconds,
    Rates,
    Bytes,
}

/// Choices made from bytes.
struct Draws<'a>(&'a [u8]);

impl Draws<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// Returns true once in `in_so_many` times.
    fn once(&mut self, in_so_many: u8) -> bool {
        self.byte() % in_so_many == in_so_many - 1
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns a number of up to 40 bits, of any order of magnitude.
    fn number(&mut self) -> u64 {
        let (bits, high, low) = (self.byte() % 41, self.byte(), self.byte());
        u64::from(u16::from_be_bytes([high, low]) | 0x8000) << bits >> 16
    }

    /// Returns one of the `usual` words, or rarely a word that `odd` makes from a number.
    fn word(&mut self, usual: &[&str], odd: fn(u64) -> String) -> Value {
        if self.once(128) { json!(odd(self.number())) } else { json!(self.of(usual)) }
    }

    fn count(&mut self, usual: &[u64]) -> Value {
        if self.once(128) { json!(self.number()) } else { json!(self.of(usual)) }
    }

    fn percents(&mut self, usual: &[&str]) -> Value {
        if !self.once(128) {
            return json!(self.of(usual));
        }
        let head = self.of(&["", "gemodel ", "random ", "loss "]);
        let shares: Vec<String> = (0..self.below(6)).map(|_| format!("{}%", self.number() % 128)).collect();
        json!(format!("{head}{}", shares.join(" ")))
    }

    /// Returns a rate that is low enough for a run of a fraction of a second.
    fn rate(&mut self, usual: &[&str]) -> Value {
        self.word(usual, |number| format!("{}bit", number % 10_000_000_000))
    }

    fn time(&mut self, usual: &[&str]) -> Value {
        self.word(usual, |number| format!("{number}ns"))
    }

    /// Returns the name of a file of rates: one of each format (the second ends with a time without a rate), or
    /// random content.
    fn trace(&mut self) -> String {
        match self.below(3) {
            0 => file("ms", b"1\n2\n2\n2\n9\n40\n"),
            1 => file("steps", b"0s 20mbit\n50ms 1mbit\n90ms 8mbit\n120ms repeat\n"),
            _ => {
                let form = self.of(&[Form::Milliseconds, Form::Rates, Form::Bytes]);
                let lines = self.below(8);
                let mut at = 0;
                let mut entry = || {
                    at += u32::from(self.byte());
                    match form {
                        Form::Milliseconds => format!("{at}\n"),
                        Form::Rates => {
                            format!("{at}ms {}kbit\n", u32::from(self.byte()) << (self.byte() % 16))
                        }
                        Form::Bytes => char::from(self.byte()).to_string(),
                    }
                };
                let text: String = (0..lines).map(|_| entry()).collect();
                file("any", text.as_bytes())
            }
        }
    }

    /// Returns a link: its transmitter and its discipline.
    fn link(&mut self) -> Value {
        let mut link = json!({"qdisc": self.of(QDISCS)});
        if self.once(5) {
            link["trace"] = json!(self.trace());
        } else {
            link["rate"] = self.rate(&["5mbit", "300kbit", "4mbit", "100mbit", "10gbit"]);
            if self.once(3) {
                link["bursts"] = self.time(&["1ms", "10us", "4ms", "150ms"]);
                // A peak rate below the rate is refused.
                if self.once(2) {
                    link["peak"] = self.rate(&["10gbit", "200mbit", "20mbit"]);
                }
            } else if self.once(6) {
                link["access"] = json!(self.of(ACCESS));
            }
        }
        // An access network with a ring is refused.
        if link.get("access").is_none() && self.once(3) {
            link["ring"] = self.count(&[1, 2, 8, 40]);
            if self.once(2) {
                link["bql"] = json!(self.of(&["dynamic", "1514B", "0B"]));
            }
        }
        link
    }

    /// Returns a Wi-Fi cell, and the disciplines of its ends.
    fn cell(&mut self) -> Value {
        let standard = self.of(&["802.11n", "802.11g", "802.11a", "802.11b"]);
        let station = |draws: &mut Self, number: usize| {
            let rates = match standard {
                "802.11n" => ["mcs7", "minstrel", "mcs15", "mcs0"],
                "802.11b" => ["11mbit", "minstrel", "1mbit", "5.5mbit"],
                _ => ["54mbit", "minstrel", "6mbit", "24mbit"],
            };
            let mut station = json!({"name": format!("s{number}"), "rate": draws.of(&rates)});
            station["count"] = draws.count(&[1, 1, 3]);
            if draws.once(2) {
                station["snr"] = json!(f64::from(draws.byte() % 50) - 5.0);
            }
            if standard == "802.11n" && draws.once(4) {
                station["aggregate"] = json!(draws.of(&[2, 1, 5]));
            }
            station
        };
        let mut wifi = json!({"standard": standard});
        wifi["station"] = (0..1 + self.below(3)).map(|number| station(self, number)).collect();
        if self.once(2) {
            wifi["driver"] = json!(self.of(&["ideal", "ath9k", "iwlwifi", "ath5k", "ath10k"]));
        }
        if self.once(4) {
            wifi["rts"] = json!(true);
        }
        if standard == "802.11n" {
            wifi["width"] = json!(self.of(&[20, 40, 30]));
            wifi["ampdu"] = json!(self.of(&["65535B", "0B", "4kB"]));
            if self.once(4) {
                wifi["band"] = json!("2.4ghz");
                let stations = wifi["station"].as_array_mut().unwrap();
                stations.push(
                    json!({"name": "old", "standard": "802.11b", "rate": self.of(&["minstrel", "1mbit"])}),
                );
            }
        }
        if self.once(4) {
            wifi["lifetime"] = json!(self.of(&["20ms", "1ms", "500ms"]));
        }
        let qdiscs =
            ["mac80211", "mac80211 noairtime limit 20", "fq_codel", "pfifo limit 3", "pie", "cake", "codel"];
        json!({"wifi": wifi, "qdisc": self.of(&qdiscs), "up": {"qdisc": self.of(&qdiscs)}})
    }

    fn wire(&mut self) -> Value {
        json!({
            "delay": self.time(&["0s", "1ns", "3ms", "30ms"]),
            "jitter": self.time(&["0s", "1ms", "100ms"]),
            "distribution": self.of(&["uniform", "normal", "pareto", "paretonormal", "wifi"]),
            "loss": self.percents(&["0%", "2%", "10% 50%", "gemodel 2% 30% 50% 1%"]),
            "duplicate": self.percents(&["0%", "3%", "100%"]),
            "reorder": self.percents(&["0%", "0%", "20% 50%"]),
            "jitter_reorders": self.once(2),
            "limit": self.count(&[1_000_000, 10, 1]),
        })
    }

    fn hop(&mut self, number: usize) -> Value {
        let (kind, mut hop) = if self.once(2) { ("wire", self.wire()) } else { ("link", self.link()) };
        hop["kind"] = json!(kind);
        hop["name"] = json!(format!("h{number}"));
        hop["direction"] = json!(self.of(&["down", "up"]));
        // Most hops are placed so that they can form a row.
        match self.below(8) {
            0..4 => {}
            4 => hop["before"] = json!("bottleneck"),
            5 => hop["after"] = json!("bottleneck"),
            6 => hop["before"] = json!(format!("h{}", self.below(HOPS))),
            _ => hop["after"] = json!(format!("h{}", self.below(HOPS))),
        }
        hop
    }

    /// Returns tables of hosts, and gives some flows of `traffic` these hosts.
    fn hosts(&mut self, traffic: &mut Value) -> Value {
        let mut tables = Vec::new();
        for (name, role) in
            ["host", "server"].into_iter().flat_map(|role| [("a", role), ("b", role), ("", role)])
        {
            let mut is_named = name.is_empty();
            for flow in traffic.as_array_mut().unwrap() {
                if !name.is_empty() && flow.get(role).is_none() && self.once(2) {
                    (flow[role], is_named) = (json!(name), true);
                }
            }
            if !is_named || self.once(3) {
                continue;
            }
            let mut table = json!({"role": role, "small_queues": !self.once(4), "tso": self.once(2)});
            table["pacing_shift"] = json!(self.of(&[10, 7, 0]));
            if !name.is_empty() {
                table["name"] = json!(name);
            }
            if !name.is_empty() && self.once(2) {
                table["qdisc"] = json!(self.of(&["fq", "pfifo limit 3", "fq_codel", "pfifo_fast"]));
                table["rate"] = json!(self.of(&["5mbit", "100mbit", "1gbit"]));
            }
            if table.get("rate").is_some() && self.once(2) {
                table["ring"] = json!(self.of(&[1, 8, 256]));
                table["bql"] = json!(self.of(&["dynamic", "1514B"]));
            }
            if !name.is_empty() {
                self.card(&mut table);
            }
            tables.push(table);
        }
        json!(tables)
    }

    /// Gives some tables the keys of a card that receives.
    fn card(&mut self, table: &mut Value) {
        if self.once(3) {
            return;
        }
        table["gro"] = json!(!self.once(4));
        table["rx_usecs"] = json!(self.of(&[0, 1, 100, 5000]));
        if self.once(4) {
            table["rx_frames"] = json!(self.of(&[1, 3, 70]));
        }
    }

    /// Returns flows of several kinds in both directions. With `in_part`, some of them cross a part of the hops.
    fn traffic(&mut self, hops: usize, in_part: bool) -> Value {
        let names = || (0..hops).map(|number| format!("h{number}")).chain(["bottleneck".into()]);
        let mut traffic = json!([
            {"kind": "bulk", "count": 2, "ecn": true, "start_spread": "10ms"},
            {"kind": "bulk", "name": "back", "direction": "up", "cc": "reno"},
            {"kind": "cbr", "rate": "2mbit", "packet_size": 300},
            {"kind": "ping", "interval": "5ms"},
            {"kind": "media", "ecn": true, "max_rate": "10mbit", "pause": ["50ms", "80ms"]},
            {"kind": "rr", "request": "1kB", "response": "9kB"},
            {"kind": "video", "rule": "throughput", "segment": "100ms", "buffer": "400ms", "direction": "up"},
            {"kind": "rpm", "interval": "100ms", "unsent": "20kB"},
        ]);
        for flow in traffic.as_array_mut().unwrap() {
            if in_part && self.once(2) {
                flow["hops"] = names().filter(|_| self.once(2)).collect();
            }
        }
        traffic
    }
}

/// Writes a file whose name contains this process and thread, and returns its name.
pub(crate) fn file(name: &str, content: &[u8]) -> String {
    let thread: String =
        format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    let name = format!("goodqueue-paths-{}-{thread}-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_string()
}

fn simulation(scenario: &str) -> Simulation {
    let scenario = Scenario::from_json(scenario).unwrap();
    Simulation::new(scenario).unwrap_or_else(|error| panic!("resolved, then refused: {error}"))
}

fn run(scenario: &str, cuts: &[Duration]) -> Record {
    let mut simulation = simulation(scenario);
    cuts.iter().for_each(|cut| simulation.advance(*cut));
    simulation.run();
    simulation.record()
}

fn queue_is_conserved(queue: &QueueRecord) {
    let p = queue.packets;
    assert_eq!(p.queued_at_start + p.offered, p.forwarded + p.dropped + p.queued_at_end, "{queue:?}");
    assert!(queue.utilisation_percent <= 100.0, "{queue:?}");
}

fn wire_is_conserved(p: WirePackets) {
    assert_eq!(p.held_at_start + p.offered + p.duplicated, p.delivered + p.lost + p.held_at_end, "{p:?}");
}

/// Returns the packets that entered and left each hop of a direction, including the bottleneck, in the order in which
/// packets cross them. Packets in a card have entered.
fn row(record: &Record, direction: Direction) -> Vec<(u64, u64)> {
    let of_queue = |queue: &QueueRecord| {
        let in_card = queue.card.map_or(0, |card| card.waiting_at_end);
        (queue.packets.offered + in_card, queue.packets.forwarded)
    };
    let resolved = serde_json::to_value(&record.scenario).unwrap();
    let is_before = |name: &str| {
        let hops = resolved["hop"].as_array().unwrap();
        hops.iter().any(|hop| hop["name"] == name && hop.get("before").is_some())
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    // Only some flows cross the interface of a host.
    let is_hop =
        |hop: &&HopRecord| hop.direction == direction && hop.name.starts_with('h') && !hop.name.contains(' ');
    for hop in record.hops.iter().filter(is_hop) {
        let counts = match &hop.body {
            HopBody::Link(queue) => of_queue(queue),
            HopBody::Wire(wire) => (wire.packets.offered, wire.packets.delivered),
        };
        if is_before(&hop.name) { before.push(counts) } else { after.push(counts) }
    }
    let bottleneck = if direction == Direction::Down { &record.queues.down } else { &record.queues.up };
    before.push(of_queue(bottleneck));
    before.extend(after);
    before
}

/// Makes a path from `bytes`. The path is refused in one line that says what is accepted, or it runs. A path that
/// runs conserves packets in every hop, resolves to itself, and is the same in pieces. Returns whether it ran.
///
/// # Panics
/// If any of this does not hold.
pub(crate) fn path_holds(bytes: &[u8]) -> bool {
    let draws = &mut Draws(bytes);
    let hops: Vec<Value> = (0..draws.below(HOPS + 1)).map(|number| draws.hop(number)).collect();
    let in_part = draws.once(2);
    let mut asked = json!({
        "duration": draws.of(&["50ms", "200ms", "30ms"]),
        "seed": draws.byte(),
        "bottleneck": draws.link(),
        "path": {"rtt": "4ms"},
        "traffic": draws.traffic(hops.len(), in_part),
        "hop": hops,
    });
    if draws.once(3) {
        asked["bottleneck"] = draws.cell();
    } else if draws.once(2) {
        asked["bottleneck"]["up"] = draws.link();
    }
    if draws.once(4) {
        let (hop, rate) =
            (draws.of(&["bottleneck", "bottleneck", "h0", "h1"]), draws.rate(&["1mbit", "90mbit"]));
        asked["change"] = json!([{"at": "10ms", "hop": hop, "rate": rate}]);
    }
    let mut cuts: Vec<Duration> =
        (0..draws.below(4)).map(|_| Duration::from_micros(1000 * u64::from(draws.byte()))).collect();
    cuts.sort_unstable();
    // From the other end of the bytes: few are left here.
    let mirrored: Vec<u8> = bytes.iter().rev().copied().collect();
    let of_hosts = &mut Draws(&mirrored);
    for at in ["15ms", "25ms"].into_iter().filter(|_| of_hosts.once(3)).collect::<Vec<_>>() {
        let mut change = json!({"at": at, "hop": of_hosts.of(&["h0", "h1", "h2"])});
        if of_hosts.once(2) {
            change = json!({"at": at, "rtt": of_hosts.time(&["30ms", "0s", "1ms"])});
        } else {
            change["delay"] = of_hosts.time(&["30ms", "1ns", "0s"]);
            change["jitter"] = of_hosts.time(&["0s", "1ms", "20ms"]);
        }
        match asked["change"].as_array_mut() {
            Some(changes) => changes.push(change),
            None => asked["change"] = json!([change]),
        }
    }
    if of_hosts.once(2) {
        asked["host"] = of_hosts.hosts(&mut asked["traffic"]);
    }
    if of_hosts.once(3) {
        of_hosts.card(&mut asked["bottleneck"]);
        let hops = asked["hop"].as_array_mut().unwrap().iter_mut();
        hops.filter(|hop| hop["kind"] == "link").for_each(|hop| of_hosts.card(hop));
    }

    let asked = asked.to_string();
    let resolved = match Scenario::from_json(&asked) {
        Ok(scenario) => serde_json::to_string(&scenario).unwrap(),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.contains("accepted"), "{text}");
            return false;
        }
    };
    let again = serde_json::to_string(&Scenario::from_json(&resolved).unwrap()).unwrap();
    assert_eq!(again, resolved);

    let record = run(&asked, &[]);
    let is_cell = record.wifi.is_some();
    queue_is_conserved(&record.queues.down);
    queue_is_conserved(&record.queues.up);
    for hop in &record.hops {
        match &hop.body {
            HopBody::Link(queue) => queue_is_conserved(queue),
            HopBody::Wire(wire) => wire_is_conserved(wire.packets),
        }
    }
    let has_access = asked.to_string().contains("\"access\"");
    if !in_part {
        for direction in [Direction::Down, Direction::Up] {
            for pair in row(&record, direction).windows(2) {
                let ((_, left), (came, _)) = (pair[0], pair[1]);
                // One packet may be on the link's wire. A cell may have some packets on the air, and lose some there,
                // and so may an access network.
                assert!(
                    came <= left && (is_cell || has_access || left <= came + 1),
                    "{came} of {left} came {direction:?}: {asked}"
                );
            }
        }
    }
    let [whole, pieces] = [record, run(&asked, &cuts)].map(|record| serde_json::to_string(&record).unwrap());
    assert_eq!(whole, pieces);
    if let Ok(mut threaded) = Threaded::cut(simulation(&asked), 2) {
        threaded.advance_by(threaded.duration(), u64::MAX);
        assert_eq!(whole, serde_json::to_string(&threaded.into_record()).unwrap());
    }
    true
}
