use super::*;
use crate::path::transmitter::Transmitter;

const MINUTE: Duration = Duration::from_secs(60);
const BITS: f64 = 1514.0 * 8.0;

fn opportunities(shape: Cellular, length: Duration, seed: u64) -> Opportunities {
    match generate(Shape::Cellular(shape), length, seed) {
        Ok(RateTrace::Opportunities(opportunities)) => opportunities,
        other => panic!("{other:?}"),
    }
}

fn rates(shape: Shape, length: Duration, seed: u64) -> Vec<(f64, f64)> {
    match generate(shape, length, seed) {
        Ok(RateTrace::Steps(steps)) => {
            assert_eq!(steps.repeat(), Some(length));
            steps.rates().map(|(time, bps)| (time.as_secs_f64(), bps as f64 / 1e6)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Each trace has the mean that was asked for, whatever its length and seed: opportunities to half a frame, rates to
/// a bit per second.
#[test]
fn the_mean_over_the_whole_trace_is_as_asked() {
    for length in [1, 12, 13, 30, 61, 200].map(Duration::from_secs) {
        for seed in 1..=6 {
            for bps in [2_000_000, 12_000_000, 47_300_000] {
                let mean = Rate::from_bps(bps).unwrap();
                let frame = BITS / length.as_secs_f64();
                for (shape, off) in [
                    (Shape::Cellular(Cellular::lte(mean)), 0.5 * frame + 1.0),
                    (Shape::Starlink(Starlink { mean, spread: 0.5 }), 1.0),
                ] {
                    let trace = generate(shape, length, seed).unwrap();
                    let found = Transmitter::trace(trace).mean_rate().as_bps();
                    assert!(found.abs_diff(bps) as f64 <= off, "{shape:?} of {length}, seed {seed}: {found}");
                }
            }
        }
    }
}

/// Returns the rate of each second in Mbit/s.
fn seconds(trace: &Opportunities) -> Vec<f64> {
    let mut seconds = vec![0.0; trace.period() as usize / 1000];
    for millis in trace.millis() {
        seconds[((millis - 1) / 1000) as usize] += BITS / 1e6;
    }
    seconds
}

/// Returns the mean, the standard deviation over the mean, and the autocorrelation after 1 and 5 s.
fn statistics(series: &[f64]) -> [f64; 4] {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let covariance = |lag: usize| {
        let products = series.iter().zip(&series[lag..]).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / (series.len() - lag) as f64
    };
    [mean, covariance(0).sqrt() / mean, covariance(1) / covariance(0), covariance(5) / covariance(0)]
}

/// Returns the mean and its standard error.
fn estimate(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0) / n).sqrt())
}

#[test]
fn the_same_seed_draws_the_same_trace() {
    for shape in [
        Shape::Cellular(Cellular::lte(mbit(8))),
        Shape::Starlink(Starlink { mean: mbit(100), spread: 0.5 }),
        Shape::MmWave(MmWave::TYPICAL),
    ] {
        let draw = |seed| generate(shape, MINUTE, seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}

/// Without outages, the statistics of the rate have a closed form before it is scaled to its mean. The spread and the
/// autocorrelation are those of the exponential of a normal process, cov(t) = exp(s^2 r(t)) - 1, averaged over each
/// second.
#[test]
fn a_cellular_rate_wanders_as_its_process_does() {
    let shape = Cellular { outages_per_minute: 0.0, ..Cellular::lte(mbit(8)) };
    let (variance, time) = (0.36, 10.0);
    let covariance = |lag: f64| {
        // For two seconds that begin `lag` s apart: the mean over all pairs of moments. The difference of two moments
        // has a triangular density.
        let n = 2000;
        let at = |k: i32| f64::from(2 * k + 1) / f64::from(n) - 1.0;
        let pair = |d: f64| (1.0 - d.abs()) * ((variance * (-(lag + d).abs() / time).exp()).exp() - 1.0);
        (0..n).map(|k| pair(at(k))).sum::<f64>() * 2.0 / f64::from(n)
    };
    let second = |millis: &[f64]| millis.iter().sum::<f64>() / 1000.0 / f64::exp(variance / 2.0);
    let traces: Vec<Vec<f64>> = (0..12)
        .map(|seed| Pace::new(shape, Streams::new(seed).stream("cellular", 0)).take(600_000).collect())
        .map(|paces: Vec<f64>| paces.chunks(1000).map(second).collect())
        .collect();
    let means: Vec<f64> = traces.iter().map(|trace| statistics(trace)[0]).collect();
    let (mean, error) = estimate(&means);
    assert!((mean - 1.0).abs() < 3.0 * error && error < 0.06, "{mean} +- {error}");
    // Around the true mean, because a trace's own mean would remove a part of its slow changes.
    for lag in [0, 1, 5] {
        let found: Vec<f64> = traces
            .iter()
            .map(|trace| {
                let products = trace.iter().zip(&trace[lag..]).map(|(a, b)| (a - 1.0) * (b - 1.0));
                products.sum::<f64>() / (trace.len() - lag) as f64
            })
            .collect();
        let (found, error) = estimate(&found);
        let expected = covariance(lag as f64);
        assert!((found - expected).abs() < 3.0 * error, "after {lag} s: {found} +- {error}, not {expected}");
    }
}

/// The preset must look like the recordings of LTE. The spread and the autocorrelations are within the ranges of the
/// recordings. The outages are as frequent as the parameters say.
#[test]
fn lte_looks_like_recordings_of_lte() {
    let traces: Vec<Opportunities> =
        (0..12).map(|seed| opportunities(Cellular::lte(mbit(8)), MINUTE * 10, seed)).collect();
    let table = traces.iter().map(|trace| statistics(&seconds(trace))).collect::<Vec<_>>();
    let [spread, after_1_s, after_5_s] =
        [1, 2, 3].map(|column| estimate(&table.iter().map(|row| row[column]).collect::<Vec<_>>()).0);
    assert!((0.56..0.78).contains(&spread), "{spread}");
    assert!((0.82..0.92).contains(&after_1_s), "{after_1_s}");
    assert!((0.37..0.76).contains(&after_5_s), "{after_5_s}");
    let outages: Vec<f64> = traces
        .iter()
        .map(|trace| trace.millis().windows(2).filter(|two| two[1] - two[0] > 100).count() as f64 / 10.0)
        .collect();
    // Ten outages begin per minute without outage. A share of exp(-100/300) of them is longer than 100 ms. So 6.8
    // such outages begin per minute of the trace.
    let (outages, error) = estimate(&outages);
    let expected = 10.0 / (1.0 + 10.0 * 0.3 / 60.0) * (-1.0_f64 / 3.0).exp();
    assert!((outages - expected).abs() < 3.0 * error && error < 0.5, "{outages} +- {error}, not {expected}");
}

#[test]
fn opportunities_are_a_poisson_process_where_the_rate_is_constant() {
    let shape = Cellular { deviation: 0.0, outages_per_minute: 0.0, ..Cellular::lte(mbit(24)) };
    let trace = opportunities(shape, MINUTE, 1);
    let mut counts = vec![0.0; 60_000];
    for millis in trace.millis() {
        counts[(millis - 1) as usize] += 1.0;
    }
    let expected = 24_000.0 / BITS;
    let (mean, error) = estimate(&counts);
    let variance = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 60_000.0;
    assert!((mean - expected).abs() < 3.0 * error, "{mean} +- {error}, not {expected}");
    // The variance of a Poisson number is its mean. The variance has the standard error sqrt((mean + 2 mean^2) / n).
    assert!(
        (variance - expected).abs() < 3.0 * ((expected + 2.0 * expected * expected) / 6e4).sqrt(),
        "{variance}"
    );
}

#[test]
fn starlink_steps_at_its_seconds_within_half_of_the_mean() {
    let rates = rates(Shape::Starlink(Starlink { mean: mbit(100), spread: 0.5 }), MINUTE * 600, 3);
    let edges: Vec<f64> = rates.iter().map(|rate| rate.0).take(7).collect();
    assert_eq!(edges, [0.0, 12.0, 27.0, 42.0, 57.0, 72.0, 87.0]);
    let values: Vec<f64> = rates.iter().map(|rate| rate.1).collect();
    assert!(values.iter().all(|mbit| (50.0..=150.0).contains(mbit)));
    assert!(values.iter().any(|mbit| *mbit < 52.0) && values.iter().any(|mbit| *mbit > 148.0));
    let (mean, error) = estimate(&values);
    let [_, spread, after_one, _] = statistics(&values);
    assert!((mean - 100.0).abs() < 3.0 * error, "{mean} +- {error}");
    assert!((spread - 0.5 / 3.0_f64.sqrt()).abs() < 0.01, "{spread}"); // standard deviation of a uniform number
    assert!(
        after_one.abs() < 3.0 / (values.len() as f64).sqrt(),
        "intervals do not depend on each other: {after_one}"
    );
}

#[test]
fn a_millimetre_wave_alternates_between_its_states() {
    let rates = rates(Shape::MmWave(MmWave::TYPICAL), MINUTE * 600, 3);
    let is_blocked = |rate: &(f64, f64)| (50.0..=200.0).contains(&rate.1);
    let is_in_sight = |rate: &(f64, f64)| (500.0..=2000.0).contains(&rate.1);
    for two in rates.windows(2) {
        assert!(is_blocked(&two[0]) && is_in_sight(&two[1]) || is_in_sight(&two[0]) && is_blocked(&two[1]));
        assert!((1.0..=10.0).contains(&(two[1].0 - two[0].0)), "{two:?}");
    }
    let values = |blocked: bool| -> Vec<f64> {
        rates.iter().filter(|rate| is_blocked(rate) == blocked).map(|rate| rate.1).collect()
    };
    for (values, expected) in [(values(true), 125.0), (values(false), 1250.0)] {
        let (mean, error) = estimate(&values);
        assert!((mean - expected).abs() < 3.0 * error, "{mean} +- {error}");
    }
    let dwells: Vec<f64> = rates.windows(2).map(|two| two[1].0 - two[0].0).collect();
    let (mean, error) = estimate(&dwells);
    assert!((mean - 5.5).abs() < 3.0 * error, "{mean} s +- {error}");
}

/// An outage of length 0 and a correlation time of 0 are limits of the parameters. Drawing still ends.
#[test]
fn extremes_of_the_parameters_end() {
    let shape = Cellular { outages_per_minute: 600.0, outage: Duration::ZERO, ..Cellular::lte(mbit(1)) };
    let shortest = Cellular { correlation_time: Duration::ZERO, outage: MINUTE, ..shape };
    for shape in [shape, shortest] {
        assert_eq!(opportunities(shape, MINUTE, 1).period(), 60_000);
    }
}

#[test]
fn impossible_traces_are_refused() {
    let lte = Shape::Cellular(Cellular::lte(mbit(1000)));
    let odd = Shape::Cellular(Cellular { deviation: f64::NAN, ..Cellular::lte(mbit(1)) });
    let often = Shape::Cellular(Cellular { outages_per_minute: 1e6, ..Cellular::lte(mbit(1)) });
    let backwards = Shape::MmWave(MmWave { blocked: (mbit(2), mbit(1)), ..MmWave::TYPICAL });
    let timeless = Shape::MmWave(MmWave { dwell: (Duration::ZERO, MINUTE), ..MmWave::TYPICAL });
    let table = [
        (lte, MINUTE * 60, " packets at 1gbit; accepted: up to 10000000"),
        (often, MINUTE, "found 1000000 outages a minute; accepted: 0 to 600"),
        (lte, Duration::ZERO, "found a length of 0s"),
        (odd, MINUTE, "found a deviation of NaN"),
        (
            Shape::Starlink(Starlink { mean: mbit(1), spread: 1.5 }),
            MINUTE,
            "found a spread of 1.5; accepted: 0 to 1",
        ),
        (Shape::Starlink(Starlink { mean: mbit(1), spread: 0.5 }), Duration::ZERO, "found a length of 0s"),
        (backwards, MINUTE, "found rates from 2mbit to 1mbit"),
        (timeless, MINUTE, "found 60s of states of 0s to 60s"),
        (Shape::MmWave(MmWave::TYPICAL), MINUTE * 1_000_000, "accepted: 1ms to 49 days"),
    ];
    for (shape, length, found) in table {
        let error = generate(shape, length, 1).unwrap_err();
        assert!(error.contains(found), "{error}");
    }
}
