//! The keys that kinds above TCP share.

use crate::keys::{
    AnyKey, Dscp, EcnAsked, Json, Key, Quantity, Result, ScenarioError, Table, Values, refuse,
};
use goodqueue_tcp::{CcLine, Config, OwnCc, Stack};
use serde_json::json;

/// Congestion control: its name and its options.
pub const CC: Key<CcLine> = Key::with_default("cc", "\"cubic\"")
    .help("congestion control of both ends (`goodqueue list cc`), or FILE.py:CLASS, with its parameters")
    .source("Linux, net.ipv4.tcp_congestion_control");
/// Which TCP implementation both ends have.
pub const STACK: Key<Stack> = Key::with_default("stack", "\"linux-6.1\"")
    .help("whose TCP both ends have (docs/concepts/tcp.md says how they differ)")
    .source("Linux 6.1");
/// Explicit congestion notification.
pub const ECN: Key<EcnAsked> = Key::derived("ecn", "what the congestion control needs, else false", "true")
    .help("whether data are ECN-capable: false, true (RFC 3168) or \"accecn\" (RFC 9768)")
    .source("RFC 3168; RFC 9768");
/// Whether TCP paces if the congestion control does not ask for it.
pub const PACING: Key<bool> = Key::optional("pacing", "true")
    .help(
        "whether TCP paces what it sends, as if the socket asked for it; some congestion controls always pace",
    )
    .source("Linux, SO_MAX_PACING_RATE");
/// Codepoint of the packets both ways.
pub const DSCP: Key<Dscp> = Key::optional("dscp", "\"EF\"")
    .help(
        "codepoint of the packets both ways, CS0 if left out. TCP's ACKs have the flow's codepoint, as if both ends set \
         it. A ping's echo has the codepoint that arrived",
    )
    .source("RFC 4594");

/// The first congestion window. ns-2, which older papers used, has 2.
pub const INITIAL_WINDOW: Key<u64> = Key::optional("initial_window", "2")
    .unit("packets")
    .range(1, 1000)
    .help("first congestion window in segments, 10 if left out")
    .source("RFC 6928; RFC 5681, 3.1")
    .simulator_only();
/// How often a receiver acknowledges.
pub const ACK_EVERY: Key<u64> = Key::optional("ack_every", "1")
    .unit("packets")
    .range(1, 255)
    .help(
        "full segments per ACK, and each segment with 1; an ACK is at most 500 ms late. If left out, the receiver does \
         as Linux does",
    )
    .source("RFC 5681, 4.2")
    .simulator_only();
/// Payload of a full segment.
pub const MSS: Key<u64> = Key::optional("mss", "448")
    .unit("bytes")
    .range(68, 1448)
    .help("most payload bytes of a segment. The default and the maximum is what `path.mtu` allows (1448)")
    .source("RFC 9293, 3.7.1; Linux, TCP_MAXSEG")
    .simulator_only();

/// All keys of TCP.
pub(crate) const KEYS: &[&dyn AnyKey] =
    &[&CC, &STACK, &PACING, &ECN, &DSCP, &INITIAL_WINDOW, &ACK_EVERY, &MSS];
/// The keys for an application that writes whole objects: all except `pacing`.
pub(crate) const UNPACED: &[&dyn AnyKey] = &[&CC, &STACK, &ECN, &DSCP, &INITIAL_WINDOW, &ACK_EVERY, &MSS];
/// The keys for tests whose flows have marks of their own.
pub(crate) const UNMARKED: &[&dyn AnyKey] = &[&CC, &STACK, &ECN];

/// The order in which a resolved scenario has the keys.
pub(crate) const ORDER: &[&dyn AnyKey] =
    &[&CC, &STACK, &ECN, &PACING, &DSCP, &INITIAL_WINDOW, &ACK_EVERY, &MSS];

impl Quantity for CcLine {
    const TYPE: &'static str = "congestion control";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        String::read(found).and_then(|line| Self::parse(&line))
    }
    fn write(&self) -> Json {
        json!(self.to_string())
    }
    fn schema() -> Json {
        let names: Vec<&str> = goodqueue_tcp::Cc::ALL.iter().map(|cc| cc.name()).collect();
        json!({"type": "string", "examples": names})
    }
}

crate::word!(Stack);

/// Fills in the ECN mode that the congestion control needs, and refuses contradictions.
pub(crate) fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    let cc = values.get(&CC).cc;
    let paces = cc.paces();
    match values.find(&PACING) {
        Some(false) if paces => {
            let accepted = format!("true, or none, as {} always paces", cc.name());
            return refuse(&table.key("pacing"), false, &accepted);
        }
        Some(asked) if paces || !asked => values.unset(&PACING),
        _ => {}
    }
    let ecn = values.find(&ECN).unwrap_or_else(|| EcnAsked::default_of(cc));
    ecn.check(cc.ecn_use(), cc.name()).map_err(|message| ScenarioError::new(table.key("ecn"), message))?;
    values.put(&ECN, ecn);
    Ok(())
}

/// Returns the configuration of both ends of a connection, on a path whose full segments have `most` bytes of
/// payload.
#[must_use]
pub fn config(values: &Values, most: u16) -> Config {
    let CcLine { cc, options, own } = values.get(&CC);
    let pacing = values.find(&PACING).unwrap_or_else(|| own.as_ref().is_some_and(OwnCc::paces));
    let initial_window = Config::default().initial_window;
    Config {
        cc,
        cc_options: options,
        own,
        stack: values.get(&STACK),
        ecn: values.get(&ECN).0,
        pacing,
        initial_window: values.find(&INITIAL_WINDOW).map_or(initial_window, |segments| segments as u32),
        ack_every: values.find(&ACK_EVERY).map(|segments| segments as u8),
        mss: values.find(&MSS).map_or(most, |bytes| most.min(bytes as u16)),
        ..Config::default()
    }
}
