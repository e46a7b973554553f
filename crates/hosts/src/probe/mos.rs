//! The E-model of ITU-T G.107 (06/2015): how people would rate a call, from its delay and its loss.
//!
//! All other parameters have the Recommendation's defaults (table 3). The codec is G.711 without packet loss
//! concealment (G.113, appendix I: Ie 0, Bpl 4.3), and loss is random (BurstR 1). The delay is the mean one-way delay
//! of the network: neither the time to fill a packet nor a jitter buffer is added to it. (Flent's MOS adds twice the
//! mean jitter.)

use libm::{exp, log10, pow, sqrt};

/// Loudness ratings of sending and receiving (dB), and their sum.
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const OLR: f64 = SLR + RLR;
/// Sidetone masking rating and listener's sidetone rating (dB).
const STMR: f64 = 15.0;
const LSTR: f64 = 18.0;
/// D-value of the telephone at the sending side.
const DS: f64 = 3.0;
/// Talker echo loudness rating and weighted echo path loss (dB).
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
/// Quantisation distortion units.
const QDU: f64 = 1.0;
/// Circuit noise (dBm0p), noise floor at the receiving side (dBmp), room noise at each side (dB(A)).
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;
/// Delay sensitivity: the least delay that people notice (ms), and how steeply the impairment grows beyond it.
const MT: f64 = 100.0;
const ST: f64 = 1.0;
/// The codec's robustness against random loss, in percent.
const BPL: f64 = 4.3;

/// Returns the mean opinion score, from 1 (bad) to 4.5, of a call with a one-way delay of `delay_ms` that loses
/// `loss_percent` of its packets (E-model of ITU-T G.107).
pub fn mos(delay_ms: f64, loss_percent: f64) -> f64 {
    mos_of_rating(rating(delay_ms, loss_percent))
}

/// Returns the score of a rating (annex B, equation B-4). The equation holds for R from 6.5 on: below, its cubic
/// falls under 1.
fn mos_of_rating(r: f64) -> f64 {
    if r <= 0.0 {
        1.0
    } else if r >= 100.0 {
        4.5
    } else {
        (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
    }
}

/// Returns the transmission rating factor R (equation 7-1), with Ta = T and Tr = 2T.
fn rating(delay_ms: f64, loss_percent: f64) -> f64 {
    let no = noise();
    let ro = 15.0 - 1.5 * (SLR + no); // 7-2
    let equipment = 95.0 * loss_percent / (loss_percent + BPL); // 7-29
    ro - simultaneous(delay_ms, ro, no) - delay_impairment(delay_ms, ro, no) - equipment
}

/// Returns No, the power of all noise in dBm0p (7-3 to 7-7).
fn noise() -> f64 {
    let sending = PS - SLR - DS - 100.0 + 0.004 * pow(PS - OLR - DS - 14.0, 2.0);
    let effective = PR + 10.0 * log10(1.0 + pow(10.0, (10.0 - LSTR) / 10.0));
    let receiving = RLR - 121.0 + effective + 0.008 * pow(effective - 35.0, 2.0);
    let power = |level: f64| pow(10.0, level / 10.0);
    10.0 * log10(power(NC) + power(sending) + power(receiving) + power(NFOR + RLR))
}

/// Returns Is, the impairments that occur together with speech (7-8 to 7-17).
fn simultaneous(delay_ms: f64, ro: f64, no: f64) -> f64 {
    let root = |base: f64, power: f64| pow(1.0 + pow(base, power), 1.0 / power);
    let loudness = OLR + 0.2 * (64.0 + no - RLR);
    let too_loud = 20.0 * (root(loudness / 8.0, 8.0) - loudness / 8.0);
    let echo = exp(-delay_ms / 4.0) * pow(10.0, -TELR / 10.0);
    let sidetone = -10.0 * log10(pow(10.0, -STMR / 10.0) + echo);
    let sidetone = 12.0 * root((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * root((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * root((sidetone - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * log10(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let (y, z) = ((ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
    too_loud + sidetone + 15.0 * log10(1.0 + pow(10.0, y) + pow(10.0, z))
}

/// Returns Id, the impairments from delay and echoes (7-18 to 7-28).
fn delay_impairment(t: f64, ro: f64, no: f64) -> f64 {
    let talker_echo = if t < 1.0 {
        0.0
    } else {
        let terv = TELR - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * exp(-0.3 * t * t);
        let difference = -1.5 * (no - RLR) - (80.0 + 2.5 * (terv - 14.0));
        (difference / 2.0 + sqrt(difference * difference / 4.0 + 100.0) - 1.0) * (1.0 - exp(-t))
    };
    let difference = ro - 10.5 * (WEPL + 7.0) * pow(2.0 * t + 1.0, -0.25);
    let listener_echo = difference / 2.0 + sqrt(difference * difference / 4.0 + 169.0);
    talker_echo + listener_echo + too_long(t)
}

/// Returns Idd, the impairment from a long delay even without echo (7-27, 7-28).
fn too_long(ta: f64) -> f64 {
    if ta <= MT {
        return 0.0;
    }
    let x = log10(ta / MT) / log10(2.0);
    let root = |x: f64| pow(1.0 + pow(x, 6.0 * ST), 1.0 / (6.0 * ST));
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64, tolerance: f64) {
        assert!((got - wanted).abs() < tolerance, "{got} {wanted}");
    }

    /// R is 93.2 if all parameters have their defaults (G.107, 7.7): 1 + 3.262 + 0.147 = 4.41.
    #[test]
    fn the_defaults_give_what_the_recommendation_says() {
        near(rating(0.0, 0.0), 93.2, 0.05);
        near(mos(0.0, 0.0), 4.41, 0.005);
    }

    /// B-4 by hand. R = 90: 1 + 3.15 + 90 * 30 * 10 * 7e-6 = 4.339. R = 80: 1 + 2.8 + 0.224. R = 70: 1 + 2.45 +
    /// 0.147. R = 60: nothing is added to 3.1. R = 50: 1 + 1.75 - 0.175. R = 6.5: 1 + 0.2275 - 0.227615, and R = 3
    /// gives less still: the score stays 1.
    #[test]
    fn ratings_become_scores() {
        for (r, score) in [(90.0, 4.339), (80.0, 4.024), (70.0, 3.597), (60.0, 3.1), (50.0, 2.575)] {
            near(mos_of_rating(r), score, 1e-12);
        }
        assert_eq!((mos_of_rating(3.0), mos_of_rating(6.5)), (1.0, 1.0));
        assert_eq!((mos_of_rating(-3.0), mos_of_rating(101.0)), (1.0, 4.5));
    }

    /// A loss of 4.3 % takes 95 * 4.3 / 8.6 = 47.5 from R. At 200 ms, X is 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) =
    /// 25 * (1.1224620 - 3.0006855 + 2) = 3.0444.
    #[test]
    fn loss_and_delay_cost_what_the_formulas_say() {
        near(rating(0.0, 0.0) - rating(0.0, 4.3), 47.5, 1e-9);
        near(too_long(200.0), 3.0444, 1e-4);
        assert_eq!(too_long(100.0), 0.0);
    }

    /// G.711 at 20 ms without loss, step by step with six digits.
    /// No = -61.179214 and Ro = 94.768821. Is = 1.413568.
    /// TERV = 65 - 40 lg(3 / 1.133333) = 48.089456. Re = 165.223641 and Roe = 94.768821. With half of their
    /// difference, 35.227410, Idte = sqrt(35.227410^2 + 100) - 35.227410 - 1 = 0.391853.
    /// Rle = 1228.5 / 41^(1/4) = 485.488779. With half of Rle - Ro, 195.359979, Idle = sqrt(195.359979^2 + 169) -
    /// 195.359979 = 0.432057.
    /// R = 94.768821 - 1.413568 - 0.391853 - 0.432057.
    #[test]
    fn twenty_milliseconds_without_loss() {
        near(noise(), -61.179214, 1e-6);
        near(rating(20.0, 0.0), 92.531343, 1e-5);
        // 1 + 0.035 * 92.531343 + 92.531343 * 32.531343 * 7.468657 * 7e-6 = 1 + 3.238597 + 0.157373
        near(mos(20.0, 0.0), 4.395970, 1e-6);
    }
    /// The values come from a second implementation of the formulas, in another language. Without delay, the talker's
    /// echo is heard as sidetone. At 1 ms, TERV has 6 exp(-0.3) more. At 150 and 400 ms nothing is left of either.
    #[test]
    fn from_no_delay_to_a_long_one() {
        for (delay_ms, r) in
            [(0.0, 93.206_207_723), (1.0, 93.262_727_378), (150.0, 89.539_131_974), (400.0, 62.246_826_682)]
        {
            near(rating(delay_ms, 0.0), r, 1e-8);
        }
    }
}
