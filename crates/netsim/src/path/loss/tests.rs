use super::*;
use goodqueue_units::Streams;
use proptest::prelude::*;

#[test]
fn losses_are_read_as_tc_writes_them_and_written_in_one_way() {
    let table = [
        ("1%", "1%"),
        ("random 1%", "1%"),
        ("random 0%", "0%"),
        ("1% 25%", "1% 25%"),
        ("1% 0%", "1%"),
        (" 0.50%  ", "0.5%"),
        ("gemodel 1%", "gemodel 1% 99% 100% 0%"),
        ("gemodel 1% 10%", "gemodel 1% 10% 100% 0%"),
        ("gemodel 1% 10% 70% 0.1%", "gemodel 1% 10% 70% 0.1%"),
    ];
    for (text, canonical) in table {
        let loss = Loss::parse(text).unwrap();
        assert_eq!(loss.to_string(), canonical);
        assert_eq!(Loss::parse(canonical), Ok(loss));
    }
    assert_eq!(
        Loss::parse("gemodel 1% 10% 70% 0.1%"),
        Ok(Loss::Gemodel { p: 0.01, r: 0.1, one_minus_h: 0.7, one_minus_k: 0.001 })
    );
}

#[test]
fn other_losses_are_refused_with_what_was_found() {
    assert_eq!(Loss::parse("101%").unwrap_err(), "found \"101%\"; accepted: 0% to 100%");
    assert_eq!(Loss::parse("gemodel 1% -2%").unwrap_err(), "found \"-2%\"; accepted: 0% to 100%");
    assert_eq!(Loss::parse("1").unwrap_err(), "found \"1\"; accepted: 0% to 100%");
    for text in ["", "random", "gemodel", "1% 2% 3%", "gemodel 1% 1% 1% 1% 1%", "state 1%", "often"] {
        let error = Loss::parse(text).unwrap_err();
        assert!(error.starts_with(&format!("found {text:?}; accepted: a loss such as")), "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,40}", words in "(random|gemodel)?( [0-9.%+-]{1,4}){0,5}") {
        let _ = (Loss::parse(&text), Loss::parse(&words));
    }
}

/// Returns the loss rate, its standard error from the chain's autocorrelation, and the mean length of a run of
/// losses, all in closed form.
fn closed_form(p: f64, r: f64, h: f64, k: f64, n: f64) -> (f64, f64, f64) {
    let bad = p / (p + r);
    let good = 1.0 - bad;
    let rate = bad * h + good * k;
    // Losses that are i packets apart have the covariance (h - k)^2 bad good (1 - p - r)^i.
    let memory = 1.0 - p - r;
    let variance = rate * (1.0 - rate) + 2.0 * (h - k) * (h - k) * bad * good * memory / (1.0 - memory);
    // A run of losses ends with each lost packet that is followed by a delivered packet.
    let rows_end = bad * h * (1.0 - r * k - (1.0 - r) * h) + good * k * (1.0 - p * h - (1.0 - p) * k);
    (rate, (variance / n).sqrt(), rate / rows_end)
}

#[test]
fn gilbert_and_elliott_lose_as_many_and_as_many_in_a_row_as_their_chain_says() {
    let n = 2_000_000;
    let table =
        [(0.01, 0.1, 0.7, 0.001), (0.01, 0.2, 1.0, 0.0), (0.3, 0.1, 0.5, 0.05), (0.02, 0.98, 1.0, 0.0)];
    for (p, r, one_minus_h, one_minus_k) in table {
        let mut random = Streams::new(3).stream("test", 0);
        let mut losses = Losses::new(Loss::Gemodel { p, r, one_minus_h, one_minus_k });
        let lost: Vec<bool> = (0..n).map(|_| losses.next(&mut random)).collect();
        let (rate, error, in_a_row) = closed_form(p, r, one_minus_h, one_minus_k, f64::from(n));
        let found = lost.iter().filter(|lost| **lost).count() as f64 / f64::from(n);
        assert!((found - rate).abs() < 3.0 * error, "{found} lost where the chain says {rate} +- {error}");
        let rows: Vec<f64> =
            lost.split(|lost| !lost).filter(|row| !row.is_empty()).map(|row| row.len() as f64).collect();
        let mean = rows.iter().sum::<f64>() / rows.len() as f64;
        let variance = rows.iter().map(|row| (row - mean) * (row - mean)).sum::<f64>() / rows.len() as f64;
        let error = (variance / rows.len() as f64).sqrt();
        assert!((mean - in_a_row).abs() < 3.0 * error, "{mean} in a row, not {in_a_row} +- {error}");
    }
    // In the simple Gilbert model, the mean run of losses is known to be 1 / r packets long.
    assert!((closed_form(0.01, 0.2, 1.0, 0.0, 1.0).2 - 5.0).abs() < 1e-12);
}

#[test]
fn a_good_channel_finds_the_first_packet() {
    let mut random = Streams::new(1).stream("test", 0);
    let loss = Loss::Gemodel { p: 1.0, r: 0.0, one_minus_h: 1.0, one_minus_k: 0.0 };
    let mut losses = Losses::new(loss);
    let lost: Vec<bool> = (0..4).map(|_| losses.next(&mut random)).collect();
    assert_eq!(lost, [false, true, true, true]);
}
