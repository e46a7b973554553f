//! Compares the draws with moments that another program computed from the same formulas, with all points of the
//! curves.

use super::*;

const DRAWS: usize = 400_000;

fn laws(rate: f64) -> Laws {
    Laws::new(rate, Streams::new(1).stream("test", 0))
}

/// Returns the same laws without memory. With memory, 400 000 draws give a moment to no better than 5 %. `farima`
/// tests the memory itself.
fn forgetful(rate: f64) -> Laws {
    let stream = |name| Streams::new(1).stream(name, 0);
    let (arrivals, requests) =
        (Farima::new(0.33, 1, 1.0, stream("arrivals")), Farima::new(0.31, 1, 1.0, stream("requests")));
    Laws { arrivals, requests, ..laws(rate) }
}

fn quantile(sorted: &[f64], percent: usize) -> f64 {
    sorted[sorted.len() * percent / 100]
}

fn sorted(draws: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    draws
}

fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

/// Asserts that `got` is within 2 % of `want`.
#[track_caller]
fn assert_near(what: &str, got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 0.02, "{what}: {got}, wanted {want}");
}

/// The load must be what the rate asks for.
#[test]
fn connections_come_at_the_rate_with_the_shape_of_the_paper() {
    let table = [
        (1.0, 0.587, 0.6457),
        (2.0, 0.677, 0.3822),
        (5.0, 0.778, 0.1729),
        (10.0, 0.838, 0.0911),
        (20.0, 0.884, 0.0470),
        (40.0, 0.918, 0.0240),
        (80.0, 0.943, 0.0122),
    ];
    for (rate, shape, scale) in table {
        let laws = laws(rate);
        assert_near("shape", laws.shape, shape);
        assert_near("scale", laws.scale, scale);
    }
    let mut laws = forgetful(10.0);
    let gaps = sorted((0..DRAWS).map(|_| laws.interarrival().as_secs_f64()));
    assert_near("mean", mean(&gaps), 0.1);
    assert_near("median", quantile(&gaps, 50), 0.0911 * core::f64::consts::LN_2.powf(1.0 / 0.838));
    assert_near("p90", quantile(&gaps, 90), 0.0911 * 10.0_f64.ln().powf(1.0 / 0.838));
}

/// A generator must not be off its rate for longer than its memory lasts. The rate of one generator over one hour is
/// known to about 5 %.
#[test]
fn the_rate_is_kept_over_an_hour() {
    let rates: Vec<f64> = (0..16)
        .map(|seed| {
            let mut laws = Laws::new(10.0, Streams::new(seed).stream("test", 0));
            let (mut now, mut connections) = (Duration::ZERO, 0);
            while now < Duration::from_secs(3600) {
                now = now + laws.interarrival();
                connections += 1;
            }
            f64::from(connections) / 3600.0
        })
        .collect();
    assert!(rates.iter().all(|rate| (rate / 10.0 - 1.0).abs() < 0.2), "{rates:?}");
    assert!((mean(&rates) / 10.0 - 1.0).abs() < 0.03, "{}", mean(&rates));
}

#[test]
fn responses_have_the_sizes_of_the_paper() {
    for (rate, share) in [(1.0, 0.29), (5.0, 0.28), (20.0, 0.276)] {
        let mut responses = laws(rate).responses;
        let mut downloads = 0;
        (0..DRAWS).for_each(|_| {
            responses.draw();
            downloads += usize::from(responses.is_download);
        });
        assert_near("validations", 1.0 - downloads as f64 / DRAWS as f64, share);
    }
    let mut responses = laws(5.0).responses;
    let mut draws = [Vec::new(), Vec::new()];
    while draws[1].len() < DRAWS {
        let size = responses.draw();
        draws[usize::from(responses.is_download)].push(size);
    }
    let [validations, downloads] = draws.map(|draws| sorted(draws.into_iter()));
    assert_near("validation", mean(&validations), 152.0);
    let wanted = [(5, 324.0), (25, 693.0), (50, 2278.0), (75, 8876.0), (90, 20_200.0), (95, 35_800.0), (99, 92_600.0)];
    for (percent, want) in wanted {
        assert_near(&format!("download p{percent}"), quantile(&downloads, percent), want);
    }
    // 400 000 draws do not give the mean of a tail with alpha 1.23 to within 2 %.
    assert!((10_000.0..14_500.0).contains(&mean(&downloads)), "{}", mean(&downloads));
}

#[test]
fn requests_and_servers_are_those_of_the_paper() {
    let mut laws = forgetful(5.0);
    let requests = sorted((0..DRAWS).map(|_| laws.request() as f64));
    for (percent, want) in [(5, 217.0), (50, 421.0), (75, 513.0), (90, 868.0), (95, 1055.0), (99, 3064.0)] {
        assert_near(&format!("request p{percent}"), quantile(&requests, percent), want);
    }
    let delays = sorted((0..DRAWS).map(|_| laws.exchange(1.0).server_delay.as_millis_f64()));
    assert_near("delay p50", quantile(&delays, 50), 5.9);
    assert_near("delay p75", quantile(&delays, 75), 24.0);
    assert_near("delay p90", quantile(&delays, 90), 100.0);
    assert_near("delay mean", mean(&delays), 22.0);
}

/// Compares the numbers of pages and objects on persistent connections.
#[test]
fn persistent_connections_carry_what_the_paper_says() {
    let mut laws = laws(5.0);
    let (mut pages, mut exchanges) = (0, [0_usize; 4]);
    for _ in 0..DRAWS {
        let own = laws.pages();
        pages += own;
        let all: u64 = (0..own).map(|_| laws.objects(own)).sum();
        exchanges[0] += all as usize;
        exchanges[(all as usize).min(3)] += usize::from(all < 4);
    }
    assert_near("pages", pages as f64 / DRAWS as f64, 1.20);
    assert_near("requests", exchanges[0] as f64 / DRAWS as f64, 3.19);
    assert_near("of two requests", exchanges[2] as f64 / DRAWS as f64, 0.464);
    assert_near("of three requests", exchanges[3] as f64 / DRAWS as f64, 0.242);
}

#[test]
fn one_connection_in_eleven_is_persistent_and_a_validation_answers_all_alike() {
    let mut laws = laws(5.0);
    let visits: Vec<Visit> = (0..20_000).map(|_| laws.visit()).collect();
    let persistent: Vec<&Visit> = visits.iter().filter(|visit| visit.exchanges.len() > 1).collect();
    let share = persistent.len() as f64 / visits.len() as f64;
    assert!((share - PERSISTENT).abs() < 0.007, "{share}");
    for visit in persistent {
        let (first, rest) = visit.exchanges.split_first().unwrap();
        assert!(rest.iter().all(|one| one.response == first.response) == (first.response <= 275));
        assert!(first.gap > Duration::ZERO && rest.last().unwrap().gap == Duration::ZERO);
    }
}

/// The distributions of the gaps are drawn once per generator. Over many generators, their medians are the paper's.
#[test]
fn gaps_over_many_generators_are_those_of_the_paper() {
    let (mut pages, mut objects) = (Vec::new(), Vec::new());
    for seed in 0..40_000 {
        let mut normal = Normal(Streams::new(seed).stream("gaps", 0));
        pages.push(PAGE_GAP.locate(&mut normal).draw(&mut normal));
        objects.push(OBJECT_GAP.locate(&mut normal).draw(&mut normal));
    }
    let (pages, objects) = (sorted(pages.into_iter()), sorted(objects.into_iter()));
    for (what, got, want) in [("page", quantile(&pages, 50), 9.3), ("object", quantile(&objects, 50), 0.056)] {
        assert!((got / want - 1.0).abs() < 0.04, "{what}: {got}, wanted {want}");
    }
}
