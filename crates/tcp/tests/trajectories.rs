//! Runs of each congestion control and each stack on six paths, as tables under version control. A row has the time of
//! the last event (60 s at most), the client's counters, and a digest of everything that both ends did and showed on
//! the way. The situations and scripts beside this file say what is right. These tables say that nothing else has
//! changed: a change of behaviour shows as changed rows in review.
//!
//! After an intended change: `GOODQUEUE_BLESS=1 cargo test -p goodqueue-tcp --test all trajectories`.

use crate::common::{MSS, Pair, Path};
use goodqueue_tcp::{Cc, CcOptions, Config, Connection, EcnMode, Segment, Stack};
use goodqueue_units::{Duration, Instant, Rate, Stream, Streams};
use std::fmt::Write;

/// The FNV-1a hash of a sequence of numbers.
struct Digest(u64);

impl Digest {
    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn add_time(&mut self, time: Option<Duration>) {
        self.add(time.map_or(u64::MAX, Duration::as_nanos));
    }

    /// Adds everything that an endpoint shows.
    fn add_end(&mut self, end: &Connection) {
        for number in [end.cwnd(), end.ssthresh(), end.in_flight(), end.unacked(), end.state() as u32] {
            self.add(number.into());
        }
        for bytes in [end.delivered_bytes(), end.acked_bytes(), end.sent_bytes()] {
            self.add(bytes);
        }
        for time in [end.srtt(), end.rttvar(), end.min_rtt(), end.latest_rtt(), Some(end.rto())] {
            self.add_time(time);
        }
        for rate in [end.delivery_rate(), end.pacing_rate()] {
            self.add(rate.map_or(0, Rate::as_bps));
        }
        let stats = end.stats();
        for count in [
            stats.segments_sent,
            stats.retransmitted,
            stats.bytes_retransmitted,
            stats.spurious_retransmissions,
            stats.lost,
            stats.undos.into(),
            stats.tlp_probes.into(),
            stats.timeouts,
            stats.fast_recoveries.into(),
            stats.delivered_ce,
            stats.ecn_reductions.into(),
        ] {
            self.add(count);
        }
        end.probe(&mut |_, value| self.add(value.to_bits()));
    }

    fn add_sent(&mut self, log: &[(Instant, Segment)]) {
        for (at, segment) in log {
            self.add(at.as_nanos());
            for byte in format!("{segment:?}").bytes() {
                self.add(byte.into());
            }
        }
    }
}

/// Draws numbers below `end`, each with a probability of `share` percent.
fn some(draw: &mut Stream, end: u64, share: f64) -> impl Iterator<Item = u64> {
    (0..end).filter(move |_| draw.next_f64() * 100.0 < share)
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn pair(config: Config) -> Pair {
    let mut pair = Pair::alike(config);
    pair.twins = false;
    pair
}

/// Builds a bottleneck of 10 Mbit/s with a buffer of 60 ms: only the sender's overfilling causes losses.
fn queue(config: Config, _draw: &mut Stream) -> Pair {
    let mut pair = pair(config);
    pair.delay = Duration::from_millis(20);
    pair.up.spacing = Some(Duration::from_micros(1200));
    pair.up.room = Some(Duration::from_millis(60));
    pair.client.write_unlimited();
    pair
}

/// Builds a path that loses one segment in fifty, and one ACK in ten.
fn losses(config: Config, draw: &mut Stream) -> Pair {
    let mut pair = pair(config);
    pair.up = Path::drop(some(draw, 3000, 2.0));
    pair.up.spacing = Some(Duration::from_micros(500));
    pair.down.drop_acks = some(draw, 3000, 10.0).collect();
    pair.client.write(900 * MSS);
    pair.client.close();
    pair.server.close();
    pair
}

/// Builds a path that loses runs of up to 20 segments, including retransmissions and the tail. The second write ends in
/// the middle of a segment.
fn bursts(config: Config, draw: &mut Stream) -> Pair {
    let mut pair = pair(config);
    let begins: Vec<_> = some(draw, 800, 2.0).collect();
    pair.up = Path::drop(begins.into_iter().flat_map(|first| first..first + 1 + draw.next_u64() % 20));
    pair.up.drop_data.extend([398, 400, 402, 403]);
    pair.client.write(398 * MSS + 700);
    pair.client.close();
    pair.server.write(40 * MSS);
    pair.server.close();
    pair
}

/// Builds a path on which segments overtake each other by up to 60 ms, and some arrive twice. AccECN counts marks.
fn overtaking(config: Config, draw: &mut Stream) -> Pair {
    let mut pair = pair(Config { ecn: EcnMode::Accurate, ..config });
    let late: Vec<_> = some(draw, 1500, 4.0).collect();
    let mut late_by = |number| (number, Duration::from_micros(draw.next_u64() % 60_000));
    pair.up.late_data = late.into_iter().map(&mut late_by).collect();
    pair.up.twice = some(draw, 1500, 2.0).collect();
    pair.up.mark_data = some(draw, 1500, 1.0).collect();
    pair.up.drop_data = some(draw, 1500, 0.3).collect();
    pair.up.spacing = Some(Duration::from_micros(500));
    pair.client.write(700 * MSS);
    pair.client.close();
    pair.server.close();
    pair
}

/// Builds a path with marks, by RFC 3168 or as the congestion control asks for them, and few losses.
fn marks(config: Config, draw: &mut Stream) -> Pair {
    let mut pair = pair(Config { ecn: EcnMode::Classic, pacing: true, ..config });
    pair.up.mark_data = some(draw, 3000, 5.0).collect();
    pair.up.mark_data.extend(200..230);
    pair.up.drop_data = some(draw, 3000, 0.2).collect();
    pair.up.spacing = Some(Duration::from_micros(1000));
    pair.client.write(900 * MSS);
    pair.client.close();
    pair.server.close();
    pair
}

/// Builds requests and answers with pauses between them, small windows, a path that stops for a second, and few losses.
fn talk(config: Config, draw: &mut Stream) -> Pair {
    let mut pair = pair(Config { receive_window: 40_000, ..config });
    pair.delay = Duration::from_millis(15);
    pair.up.drop_data = some(draw, 600, 1.5).collect();
    pair.down.drop_data = some(draw, 600, 1.5).collect();
    pair.down.drop_acks = some(draw, 600, 3.0).collect();
    pair.up.pause = Some((at(3000), at(4100)));
    pair
}

/// The time, the bytes that the client writes, and the bytes that the server answers with. The last one is before 10 s.
type Word = (u64, u64, u64);

fn words(draw: &mut Stream) -> Vec<Word> {
    let mut words = Vec::new();
    let mut ms = 40;
    while ms < 9000 {
        words.push((ms, 1 + draw.next_u64() % 9000, draw.next_u64() % 40_000));
        ms += 5 + [20, 200, 900][(draw.next_u64() % 3) as usize];
    }
    words
}

/// Runs `pair` until `end`, and adds both ends to the digest after each event. Returns the time of the last event.
fn run(pair: &mut Pair, digest: &mut Digest, words: &[Word], end: Instant) -> Instant {
    let mut words = words.iter().peekable();
    let mut last = Instant::ZERO;
    loop {
        let until = words.peek().map_or(end, |word| at(word.0));
        while pair.step(until) {
            last = pair.now;
            digest.add(pair.now.as_nanos());
            digest.add_end(&pair.client);
            digest.add_end(&pair.server);
        }
        let Some(&(ms, ask, answer)) = words.next() else { break };
        pair.client.write(ask);
        pair.server.write(answer);
        match ms % 5 {
            0 => pair.client.pause(),
            1 | 2 => pair.client.resume(pair.now),
            _ => {}
        }
        if words.peek().is_none() {
            pair.client.resume(pair.now);
            pair.client.close();
            pair.server.close();
        }
    }
    digest.add(pair.up.acks_seen);
    digest.add(pair.down.acks_seen);
    digest.add_sent(&pair.up.log);
    digest.add_sent(&pair.down.log);
    last
}

fn row(config: &Config, name: &str, set_up: fn(Config, &mut Stream) -> Pair) -> String {
    let mut draw = Streams::new(17).stream(name, 0);
    let mut pair = set_up(config.clone(), &mut draw);
    let (words, end) = match name {
        "talk" => (words(&mut draw), 60),
        "queue" => (Vec::new(), 4),
        _ => (Vec::new(), 60),
    };
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    let last = run(&mut pair, &mut digest, &words, at(end * 1000));
    let stats = pair.client.stats();
    format!(
        "{:20} {:10} {:7.3} {:6} {:6} {:6} {:9} {:11} {:6} {:6}  {:016x}",
        config.cc_line().to_string(),
        config.stack.name(),
        last.as_nanos() as f64 / 1e9,
        stats.segments_sent,
        stats.retransmitted,
        stats.spurious_retransmissions,
        stats.timeouts,
        stats.fast_recoveries,
        stats.undos,
        stats.ecn_reductions,
        digest.0
    )
}

fn configs() -> Vec<Config> {
    let plain = |cc: Cc, stack: Stack| Config { cc, stack, delivery_rate: true, ..Config::default() };
    // `c4` is only there with the feature `complete`, and the tables are the same without.
    let always = Cc::ALL.iter().filter(|cc| cc.name() != "c4");
    let new = always.map(|&cc| plain(cc, Stack::Linux6_1));
    let old = Stack::ALL.iter().filter(|&&stack| stack != Stack::Linux6_1);
    let old = old.flat_map(|&stack| [Cc::Reno, Cc::Cubic, Cc::Bbr].map(|cc| plain(cc, stack)));
    let words = CcOptions { hystart_plus_plus: true, abe: true, ..CcOptions::default() };
    let with_words =
        [Cc::Reno, Cc::Cubic].map(|cc| Config { cc_options: words, ..plain(cc, Stack::Linux6_1) });
    new.chain(old).chain(with_words).collect()
}

/// Compares the rows of a path with `tests/data/trajectories/NAME.txt`. Its random numbers come from a stream of that
/// name, so that a new path changes no other.
#[track_caller]
fn is_as_the_table_says(name: &str, set_up: fn(Config, &mut Stream) -> Pair) {
    let mut table = String::from(
        "cc                   stack        end s   sent  again  twice  timeouts  recoveries  undos  marks  digest (FNV-1a)\n",
    );
    for config in configs() {
        writeln!(table, "{}", row(&config, name, set_up)).unwrap();
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/trajectories")
        .join(format!("{name}.txt"));
    if std::env::var_os("GOODQUEUE_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (now, before) in table.lines().zip(kept.lines().chain(std::iter::repeat("(no such row)"))) {
        assert_eq!(now, before, "{name} has changed; if that is intended, see the head of this file");
    }
    assert_eq!(table.lines().count(), kept.lines().count(), "rows are gone");
}

#[test]
fn where_a_buffer_overflows() {
    is_as_the_table_says("queue", queue);
}

#[test]
fn where_single_segments_and_acks_are_lost() {
    is_as_the_table_says("losses", losses);
}

#[test]
fn where_runs_of_segments_are_lost() {
    is_as_the_table_says("bursts", bursts);
}

#[test]
fn where_segments_overtake_each_other() {
    is_as_the_table_says("overtaking", overtaking);
}

#[test]
fn where_segments_are_marked() {
    is_as_the_table_says("marks", marks);
}

#[test]
fn where_the_applications_take_turns() {
    is_as_the_table_says("talk", talk);
}
