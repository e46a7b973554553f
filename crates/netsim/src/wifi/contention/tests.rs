use super::*;
use crate::wifi::mode::Mode;
use crate::wifi::standard::{Band, Category, Standard, Timing};
use goodqueue_units::Streams;

const SLOT: Duration = Duration::from_micros(9);
const ACCESS: Access = Access { aifsn: 2, cw_min: 15, cw_max: 1023, txop: Duration::ZERO };

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

fn contention(seed: u64) -> Contention {
    Contention::new(SLOT, Streams::new(seed).stream("contention", 0))
}

/// 802.11-2012, 9.3.4.2: the first frame on a medium that has been idle for a DIFS goes at once.
#[test]
fn a_frame_that_finds_the_medium_idle_for_long_does_not_wait() {
    let mut cell = contention(1);
    let one = cell.join(ACCESS, at(10));
    cell.ready(one, at(1000));
    assert_eq!(cell.next_start(), Some(at(1000)), "110 slots after the 10th microsecond");
    let late = cell.join(ACCESS, at(10));
    cell.ready(late, at(1001));
    let mut winners = Vec::new();
    cell.take(at(1000), &mut winners);
    assert_eq!(winners, [one], "the other waits for its slot's boundary");
}

#[test]
fn who_arrives_while_somebody_sends_draws_a_backoff() {
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let mut cell = contention(seed);
        let (one, other) = (cell.join(ACCESS, at(10)), cell.join(ACCESS, at(10)));
        cell.ready(one, at(1000));
        cell.take(at(1000), &mut Vec::new());
        cell.ready(other, at(1100));
        assert_eq!(cell.next_start(), None, "somebody sends");
        cell.succeeded(one);
        cell.rest(one);
        cell.release(at(1310));
        drawn.insert((cell.next_start().unwrap().since(at(1310)).as_nanos() / 9000) as u32);
    }
    assert_eq!(drawn, (2..=17).collect(), "DIFS is two slots; the window 0 to 15");
}

/// A backoff keeps its count when the medium is taken. A slot counts only when it is over.
#[test]
fn a_frozen_backoff_goes_on_where_it_was() {
    let mut cell = contention(3);
    let (one, other) = (cell.join(ACCESS, at(0)), cell.join(ACCESS, at(0)));
    cell.ready(one, at(0));
    cell.ready(other, at(0));
    cell.contenders[0].backoff = 3;
    cell.contenders[1].backoff = 7;
    let mut winners = Vec::new();
    cell.take(at(5 * 9), &mut winners);
    assert_eq!(winners, [one]);
    cell.release(at(1000));
    assert_eq!(cell.contenders[1].start(SLOT), at(1000 + (2 + 4) * 9));
}

/// A window doubles up to its maximum, and falls back after a success.
#[test]
fn windows_double_with_each_failure() {
    let mut cell = contention(4);
    let one = cell.join(ACCESS, at(0));
    let windows: Vec<u32> = (0..8)
        .map(|_| {
            cell.failed(one);
            cell.contenders[0].cw
        })
        .collect();
    assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023, 1023]);
    cell.succeeded(one);
    assert_eq!(cell.contenders[0].cw, 15);
}

/// Returns the saturation throughput of `n` stations of 802.11g with frames of 1500 bytes, in Mbit/s, and the share
/// of attempts that collide (Bianchi and Tinnirello 2005). A station that has just sent may draw a backoff of zero
/// and send again at once: factor `B`.
fn bianchi(mbps: u8, n: u32, waits_eifs: bool) -> (f64, f64) {
    let (w, m) = (16.0, 6);
    let p_of = |tau: f64| 1.0 - (1.0 - tau).powi(n as i32 - 1);
    let tau_of = |p: f64| 2.0 / (1.0 + w + p * w * (0..m).map(|i| (2.0 * p).powi(i)).sum::<f64>());
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if tau_of(p_of(middle)) > middle { &mut low } else { &mut high }) = middle;
    }
    let tau = low;
    let (mode, us) = (Mode::Ofdm(mbps), |time: Duration| time.as_secs_f64() * 1e6);
    let data = us(mode.duration(1500 + 6 + 28, true));
    let ack = us(mode.control().duration(14, true));
    let b = 1.0 / w;
    let success = (data + 10.0 + ack + 28.0) / (1.0 - b) + 9.0;
    let collision = data + if waits_eifs { 10.0 + ack + 28.0 } else { 28.0 };
    let any = 1.0 - (1.0 - tau).powi(n as i32);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1) / any;
    let bits = 12_000.0 / (1.0 - b);
    let slot = (1.0 - any) * 9.0 + any * (one * success + (1.0 - one) * collision);
    // Attempts that follow a success at once collide with nobody.
    let p = p_of(tau);
    (any * one * bits / slot, p / (p + (1.0 - p) / (1.0 - b)))
}

/// Returns the throughput in Mbit/s of `n` stations that always have a frame, and the share of attempts that collide.
fn saturated(mbps: u8, n: u32, exchanges: u32) -> (f64, f64) {
    let timing = Timing::new(Standard::G, Band::Low, false);
    let mode = Mode::Ofdm(mbps);
    let data = timing.frame(mode, 1500 + 6 + 28);
    let mut cell = Contention::new(timing.slot, Streams::new(u64::from(n)).stream("contention", 0));
    let all: Vec<_> = (0..n).map(|_| cell.join(timing.access(Category::BestEffort), Instant::ZERO)).collect();
    all.iter().for_each(|id| cell.ready(*id, Instant::ZERO));
    all.iter().for_each(|id| cell.succeeded(*id));
    let (mut winners, mut now) = (Vec::new(), Instant::ZERO);
    let (mut sent, mut attempts, mut collided) = (0_u64, 0_u64, 0_u64);
    for _ in 0..exchanges {
        now = cell.next_start().unwrap();
        cell.take(now, &mut winners);
        attempts += winners.len() as u64;
        if let [one] = winners[..] {
            sent += 1;
            cell.succeeded(one);
            now = now + data + timing.sifs + timing.answer(mode, false);
            cell.release(now + timing.sifs);
        } else {
            collided += winners.len() as u64;
            winners.iter().for_each(|one| cell.failed(*one));
            let ends = now + data;
            cell.release(ends + timing.sifs);
            let own = ends + timing.answer_timeout(mode) + timing.sifs;
            winners.iter().for_each(|one| cell.resume_at(*one, own));
            now = ends;
        }
    }
    (sent as f64 * 12_000.0 / (now.as_secs_f64() * 1e6), collided as f64 / attempts as f64)
}

/// Each of 32 cells agrees with the model. The model knows two waits of all stations after a collision, DIFS and
/// EIFS. Here the senders of the collision wait for an answer and the other stations wait for DIFS. So the error is
/// how far a cell lies outside of the two results.
#[test]
fn saturation_throughput_and_collisions_agree_with_bianchi() {
    for mbps in [6, 9, 12, 18, 24, 36, 48, 54] {
        for n in [5, 10, 20, 50] {
            let (got, collided) = saturated(mbps, n, 200_000);
            let (most, p) = bianchi(mbps, n, false);
            let (least, _) = bianchi(mbps, n, true);
            let off = if got > most { got / most - 1.0 } else { (got / least - 1.0).min(0.0) };
            assert!(off.abs() < 0.015, "{mbps} Mbit/s, {n} stations: {got} for {least} to {most} Mbit/s");
            assert!((collided - p).abs() < 0.02, "{mbps} Mbit/s, {n} stations: {collided} for {p}");
        }
    }
}
