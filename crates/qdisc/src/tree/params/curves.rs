//! The words of service curves, in a class of `hfsc`.
//!
//! Source: iproute2's q_hfsc.c.

use super::super::curve::Spec;
use super::super::plan::refusal::by_tc;
use super::super::words::Line;
use super::{CURVES, unknown};
use alloc::format;
use alloc::string::String;
use goodqueue_units::parse;

/// Reads the curves of a class of `hfsc`: `rt`, `ls`, `sc` (both) and `ul`.
pub(super) fn read(line: &mut Line<'_>) -> Result<[Option<Spec>; 3], String> {
    let mut curves = [None; 3];
    while let Some(word) = line.next() {
        let at = match word {
            "sc" => None,
            _ => match CURVES.iter().position(|name| *name == word) {
                None => return Err(unknown("hfsc", word, "rt, ls, sc, ul")),
                at => at,
            },
        };
        let spec = Some(curve(word, line)?);
        match at {
            Some(at) => curves[at] = spec,
            None => (curves[0], curves[1]) = (spec, spec),
        }
    }
    match curves {
        [None, None, None] => Err(by_tc(
            "a class of hfsc without a curve",
            "rt, ls or sc, and perhaps ul",
            "HFSC: no parameters given",
        )),
        [_, None, Some(_)] => {
            let said = "HFSC: Upper-limit Service Curve without Link-Share Service Curve";
            Err(by_tc("ul without ls", "ul beside ls or sc", said))
        }
        _ => Ok(curves),
    }
}

/// Reads a curve: `m1 RATE d TIME m2 RATE`, or `umax SIZE dmax TIME rate RATE`.
fn curve(name: &str, line: &mut Line<'_>) -> Result<Spec, String> {
    let rate = |line: &mut Line<'_>, word: &str| {
        let text = line.value(word)?;
        let bits = parse::tc_rate(text).map_err(|why| format!("hfsc {name} {word}: {why}"))?;
        u32::try_from(bits / 8)
            .map_err(|_| format!("hfsc {name} {word}: found {text:?}; accepted: less than 34.4gbit"))
    };
    let time = |line: &mut Line<'_>, word: &str| {
        let text = line.value(word)?;
        let time = parse::tc_time(text).map_err(|why| format!("hfsc {name} {word}: {why}"))?;
        Ok::<_, String>((time.as_nanos() / 1000).min(u32::MAX.into()) as u32)
    };
    let (mut spec, mut umax, mut dmax) = (Spec { m1: 0, d: 0, m2: 0 }, 0.0, 0_u32);
    loop {
        let word = line.value(name)?;
        match word {
            "m1" => spec.m1 = rate(line, word)?,
            "d" => spec.d = time(line, word)?,
            "umax" => {
                let text = line.value(word)?;
                umax = parse::tc_bytes(text).map_err(|why| format!("hfsc {name} {word}: {why}"))? as f64;
            }
            "dmax" => dmax = time(line, word)?,
            "m2" => {
                spec.m2 = rate(line, word)?;
                break;
            }
            "rate" => {
                spec.m2 = rate(line, word)?;
                let first = if dmax > 0 { libm::ceil(umax * 1e6 / f64::from(dmax)) } else { 0.0 };
                if umax > 0.0 && dmax == 0 {
                    return Err(format!("hfsc {name}: found umax without dmax; accepted: both"));
                }
                if dmax > 0 && first > f64::from(spec.m2) {
                    (spec.m1, spec.d) = (first.min(f64::from(u32::MAX)) as u32, dmax);
                } else if let Some(rest) = (umax as u32).wrapping_mul(1_000_000).checked_div(spec.m2) {
                    // tc computes this with whole numbers of 32 bits.
                    spec.d = dmax.wrapping_sub(rest);
                }
                break;
            }
            _ => return Err(unknown("hfsc", word, "m1, d, m2, or umax, dmax, rate")),
        }
    }
    if (spec.m1, spec.m2) == (0, 0) {
        return Err(format!("hfsc {name}: found two slopes of zero; accepted: a rate"));
    }
    Ok(spec)
}
