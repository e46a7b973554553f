//! Plays a script: one connection, a virtual clock, and the script's events on both sides.

use super::Fault;
use super::parse::{Event, Script, Settings, Step, Value};
use super::wire::{Acks, Origins, Wire, block};
use goodqueue_tcp::{
    Cc, Config, CongestionState, Connection, EcnMode, Flags, INFINITE_SSTHRESH, Segment, SeqNumber, Stack,
    SynOptions,
};
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// The most times that timers may fire without a segment sent. More means a timer that does not go away.
const MOST_TIMERS: u32 = 10_000;

/// Bits by which a peer shifts its windows if it offers more than a header can say (RFC 7323, 2.3).
const MOST_SHIFT: u8 = 14;

/// Plays `script` with these first sequence numbers of the endpoint and of its peer.
pub fn play(script: &Script, ours: u32, theirs: u32) -> Result<(), Fault> {
    let mut player = Player::new(&script.settings, ours, theirs)?;
    if let Some(rtt) = script.settings.connected {
        let line = script.steps[0].line;
        player.shake_hands(rtt).map_err(|text| Fault { line, text })?;
    }
    player.poll();
    for step in &script.steps {
        player.step(step).map_err(|text| Fault { line: step.line, text })?;
    }
    player.expect_silence().map_err(|text| Fault { line: script.end, text })
}

#[derive(Clone)]
struct Player<'a> {
    settings: &'a Settings,
    connection: Connection,
    origins: Origins,
    now: Instant,
    /// Segments sent that no line has expected yet.
    sent: VecDeque<(Instant, Segment)>,
    /// The peer's numbers if a line leaves them out, counted from its SYN and from ours.
    peer_seq: u32,
    peer_ack: u32,
    peer_window: u32,
    /// Bits by which the peer's windows are shifted.
    peer_shift: u8,
}

impl<'a> Player<'a> {
    fn new(settings: &'a Settings, ours: u32, theirs: u32) -> Result<Self, Fault> {
        let mut config = Config { initial_sequence: SeqNumber(ours), ..settings.config.clone() };
        if let Some((line, name)) = &settings.stack {
            let known = Stack::ALL.iter().map(|stack| stack.name());
            config.stack = Stack::from_name(name).ok_or_else(|| no_such(*line, name, known))?;
        }
        if let Some((line, name)) = &settings.cc {
            let known = Cc::ALL.iter().map(|cc| cc.name());
            config.cc = Cc::from_name(name).ok_or_else(|| no_such(*line, name, known))?;
        }
        let connection =
            if settings.is_server { Connection::server(config) } else { Connection::client(config) };
        Ok(Self {
            settings,
            connection,
            origins: Origins { ours, theirs, time: Instant::ZERO, window_shift: 0 },
            now: Instant::ZERO,
            sent: VecDeque::new(),
            peer_seq: 0,
            peer_ack: 0,
            peer_window: settings.peer_window,
            peer_shift: if settings.peer_window > u32::from(u16::MAX) { MOST_SHIFT } else { 0 },
        })
    }

    /// Plays the handshake. The script's time 0 is when this endpoint has received the peer's part of it.
    fn shake_hands(&mut self, rtt: Duration) -> Result<(), String> {
        let syn = Wire { flags: Flags::SYN, segments: 1, ..Wire::default() };
        let (agrees, asks) = match self.settings.config.ecn {
            EcnMode::Classic => (Flags::ECE, Flags::ECE | Flags::CWR),
            EcnMode::Accurate => (Flags::CWR, Flags::ACE), // our SYN came without ECT
            EcnMode::Off => (Flags::NONE, Flags::NONE),
        };
        let ts = self.settings.timestamps.then_some((1, 0));
        if self.settings.is_server {
            self.arrive(&Wire { flags: Flags::SYN | asks, ts, ..syn.clone() })?;
            self.now = Instant::ZERO + rtt;
            self.peer_ack = 1;
            let told = if self.settings.config.ecn == EcnMode::Accurate { Flags::CWR } else { Flags::NONE };
            self.arrive(&Wire { flags: told, ts, segments: 1, ..Wire::default() })?;
        } else {
            self.poll();
            self.now = Instant::ZERO + rtt;
            let acks = Some(Acks { first: 1, last: 1, step: 0 });
            self.arrive(&Wire { flags: Flags::SYN | agrees, acks, ts, ..syn })?;
        }
        self.sent.clear();
        self.origins.time = self.now;
        if self.connection.is_established() {
            Ok(())
        } else {
            Err("the handshake that \"connected\" stands for did not succeed".to_string())
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let at = self.origins.time + step.at;
        match &step.event {
            Event::Leaves(wire) => {
                for one in self.split(wire)? {
                    self.expect(at, &one)?;
                }
            }
            Event::Arrives(wire) => {
                self.act_at(at)?;
                for one in self.split(wire)? {
                    self.arrive(&one)?;
                }
            }
            Event::Write(bytes) => {
                self.act_at(at)?;
                self.connection.write(*bytes);
            }
            Event::WriteUnlimited => {
                self.act_at(at)?;
                self.connection.write_unlimited();
            }
            Event::Close => {
                self.act_at(at)?;
                self.connection.close();
            }
            Event::Pause => {
                self.act_at(at)?;
                self.connection.pause();
            }
            Event::Resume => {
                self.act_at(at)?;
                self.connection.resume(self.now);
            }
            Event::Check(checks) => {
                self.check_at(at)?;
                for (name, expected) in checks {
                    self.check(name, expected)?;
                }
            }
            Event::Silence => self.check_at(at)?,
        }
        self.poll();
        if self.connection.is_consistent() {
            Ok(())
        } else {
            Err("the scoreboard's counters differ from a recount".to_string())
        }
    }

    /// Advances the clock to `at`, before the timers of that instant.
    fn act_at(&mut self, at: Instant) -> Result<(), String> {
        self.advance(at, false)?;
        self.now = self.now.max(at);
        self.expect_silence()
    }

    /// Advances the clock to `at`, after the timers of that instant.
    fn check_at(&mut self, at: Instant) -> Result<(), String> {
        self.advance(at, true)?;
        self.now = self.now.max(at);
        self.expect_silence()
    }

    /// Fires timers before `end`, or up to it, until something is sent.
    fn advance(&mut self, end: Instant, inclusive: bool) -> Result<(), String> {
        let mut fired = 0;
        while self.sent.is_empty() {
            let timer = self.connection.poll_timeout();
            let Some(timer) = timer.filter(|&at| at < end || (inclusive && at == end)) else { break };
            self.now = self.now.max(timer);
            self.connection.handle_timeout(self.now);
            self.poll();
            fired += 1;
            if fired == MOST_TIMERS {
                return Err(format!("the timer of {} does not go away", self.since(timer)));
            }
        }
        Ok(())
    }

    fn poll(&mut self) {
        while let Some(segment) = self.connection.poll_transmit(self.now) {
            if let Some(options) = segment.syn_options() {
                self.origins.window_shift = options.window_shift;
            }
            self.sent.push_back((self.now, segment));
        }
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.sent.front() {
            Some(sent) => Err(format!("unexpected > {}", self.tell(sent))),
            None => Ok(()),
        }
    }

    fn expect(&mut self, at: Instant, wire: &Wire) -> Result<(), String> {
        self.advance(at + self.settings.tolerance, true)?;
        let said = |text: String| format!("expected > {} at {}, {text}", wire.text(), self.since(at));
        let Some((sent_at, segment)) = self.sent.front() else {
            let mut later = self.clone();
            later.advance(Instant::MAX, false)?;
            return Err(match later.sent.front() {
                Some(next) => said(format!("got nothing; the next is > {}", self.tell(next))),
                None => said("got nothing, and nothing will come".to_string()),
            });
        };
        let late = sent_at.since(at).as_nanos().max(at.since(*sent_at).as_nanos());
        let in_time = late <= self.settings.tolerance.as_nanos();
        if !in_time || !wire.is(segment, &self.origins) {
            return Err(said(format!("got > {}", self.tell(&(*sent_at, *segment)))));
        }
        self.now = self.now.max(at);
        self.sent.pop_front();
        Ok(())
    }

    fn since(&self, at: Instant) -> Duration {
        at.since(self.origins.time)
    }

    fn tell(&self, (at, segment): &(Instant, Segment)) -> String {
        format!("{} at {}", self.origins.describe(segment), self.since(*at))
    }

    /// Returns the line's segments. All are full except the last.
    fn split(&self, wire: &Wire) -> Result<Vec<Wire>, String> {
        let mss = u32::from(self.settings.config.mss);
        if let Some((start, end)) = wire.range {
            let segments = (end - start).div_ceil(mss).max(1);
            if segments != wire.segments {
                return Err(format!(
                    "{start}:{end} are {segments} segments of {mss} bytes, not {}; accepted: ({segments} segments)",
                    wire.segments
                ));
            }
        }
        Ok(wire.split(mss))
    }

    fn arrive(&mut self, wire: &Wire) -> Result<(), String> {
        let is_syn = wire.flags.contains(Flags::SYN);
        let (seq, end) = wire.range.unwrap_or(if is_syn { (0, 0) } else { (self.peer_seq, self.peer_seq) });
        self.peer_ack = wire.ack().unwrap_or(self.peer_ack);
        self.peer_window = wire.win.unwrap_or(self.peer_window);
        let mut flags = wire.flags;
        if !is_syn || wire.acks.is_some() {
            flags |= Flags::ACK;
        }
        if wire.psh == Some(true) {
            flags |= Flags::PSH;
        }
        let (tsval, echo) = match (wire.ts, self.settings.timestamps) {
            (Some(ts), true) => ts,
            (None, false) => (0, 0),
            (Some(_), false) => return Err("ts without \"timestamps on\"".to_string()),
            (None, true) => {
                return Err("no ts, which \"timestamps on\" wants of each that arrives".to_string());
            }
        };
        let mut segment = Segment {
            seq: SeqNumber(self.origins.theirs) + seq,
            ack: SeqNumber(self.origins.ours) + self.peer_ack,
            tsval,
            tsecr: if self.settings.timestamps { self.origins.timestamp(echo) } else { 0 },
            window: self.window_of_peer(is_syn)?,
            payload_len: (end - seq) as u16,
            flags,
            ecn: wire.ecn,
            ..Segment::default()
        };
        if is_syn {
            self.peer_shift = wire.wscale.unwrap_or(self.peer_shift);
            segment = segment.with_syn_options(SynOptions {
                mss: self.settings.config.mss,
                window_shift: self.peer_shift,
            });
        }
        for (slot, &(start, end)) in segment.sack.iter_mut().zip(&wire.sack) {
            *slot = block(self.origins.ours, start, end);
            segment.sack_len += 1;
        }
        if let Some(option) = &wire.accecn {
            segment = segment.with_accecn(option);
        }
        self.peer_seq = self.peer_seq.max(seq + segment.seq_len());
        self.connection.handle_segment(self.now, &segment);
        self.poll();
        Ok(())
    }

    /// Returns the header's field of the peer's window. The window of a SYN is not shifted, so it may be smaller.
    fn window_of_peer(&self, is_syn: bool) -> Result<u16, String> {
        let most = u32::from(u16::MAX);
        let shift = if is_syn { 0 } else { self.peer_shift };
        let said = self.peer_window >> shift;
        if self.peer_window != said << shift {
            let window = self.peer_window;
            return Err(format!(
                "a window shifted by {shift} cannot be {window}; accepted: another peer_window"
            ));
        }
        Ok(said.min(most) as u16)
    }

    fn check(&self, name: &str, expected: &Value) -> Result<(), String> {
        let got = self.ask(name);
        if got == *expected {
            return Ok(());
        }
        Err(format!("expected {name} {}, got {}", expected.text(), got.text()))
    }

    fn ask(&self, name: &str) -> Value {
        let c = &self.connection;
        let stats = c.stats();
        let yes = |yes| Value::Word(if yes { "yes" } else { "no" });
        let time = |time: Option<Duration>| Value::Time(time.unwrap_or(Duration::ZERO));
        let count = |count: u32| Value::Count(u64::from(count));
        match name {
            "cwnd" => count(c.cwnd()),
            "ssthresh" if c.ssthresh() == INFINITE_SSTHRESH => Value::Word("infinite"),
            "ssthresh" => count(c.ssthresh()),
            "state" => Value::Word(match c.state() {
                CongestionState::Open => "open",
                CongestionState::Disorder => "disorder",
                CongestionState::Cwr => "cwr",
                CongestionState::Recovery => "recovery",
                CongestionState::Loss => "loss",
            }),
            "in_flight" => count(c.in_flight()),
            "rto" => Value::Time(c.rto()),
            "srtt" => time(c.srtt()),
            "min_rtt" => time(c.min_rtt()),
            "sent" => Value::Count(stats.segments_sent),
            "retransmitted" => Value::Count(stats.retransmitted),
            "timeouts" => Value::Count(stats.timeouts),
            "recoveries" => Value::Count(stats.fast_recoveries.into()),
            "ecn_reductions" => Value::Count(stats.ecn_reductions.into()),
            "delivered" => Value::Count(c.delivered_bytes()),
            "acked" => Value::Count(c.acked_bytes()),
            "established" => yes(c.is_established()),
            "ecn" => yes(c.is_ecn()),
            "closed" => yes(c.is_closed()),
            "peer_finished" => yes(c.is_peer_finished()),
            _ => unreachable!("{name} is in the table of checks and has no answer here"),
        }
    }
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Time(time) => time.to_string(),
            Self::Word(word) => (*word).to_string(),
        }
    }
}

fn no_such<'a>(line: usize, name: &str, known: impl Iterator<Item = &'a str>) -> Fault {
    let known: Vec<&str> = known.collect();
    Fault { line, text: format!("found {name:?}; accepted: {}", known.join(", ")) }
}
