//! How distributions are written, and which ones are refused.

use super::{Draws, Read, Scale, Shape, Unit};
use crate::keys::Json;
use crate::keys::{Quantity, describe};
use serde_json::json;
use std::marker::PhantomData;

/// The most points of one distribution.
const MOST_POINTS: usize = 10_000;
/// The most parts of a mixture.
const MOST_PARTS: usize = 20;

fn accepted(unit: &Scale) -> String {
    let one = unit.example;
    format!(
        "accepted: a value such as \"{one}\", \"exponential({one})\", \"pareto({one}, 1.5)\", \"weibull({one}, 0.5)\", \
         \"lognormal(9, 1.3)\", points [[0, …], [1, …]] of the inverse distribution function, or a mixture"
    )
}

impl<U: Unit> Quantity for Draws<U> {
    const TYPE: &'static str = U::SCALE.name;

    fn read(found: &Json) -> Read<Self> {
        Ok(Self { shape: shape(found, true, &U::SCALE)?, unit: PhantomData })
    }

    fn write(&self) -> Json {
        self.shape.write(&U::SCALE)
    }

    fn schema() -> Json {
        let pair = json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
        let points = json!({"type": "array", "items": pair, "minItems": 2});
        let part = json!({"type": "object", "properties": {"share": {"type": "number"}, "of": {}}, "required": ["share", "of"]});
        json!({"anyOf": [
            {"type": "string"},
            {"type": "number"},
            points,
            {"type": "object", "properties": {"tail": points}, "required": ["tail"], "additionalProperties": false},
            {"type": "array", "items": part, "minItems": 2},
        ]})
    }
}

fn shape(found: &Json, may_mix: bool, unit: &Scale) -> Read<Shape> {
    match found {
        Json::String(text) => family(text, unit),
        Json::Number(number) => (unit.read)(&number.to_string()).map(Shape::Constant),
        Json::Object(table) => match table.get("tail") {
            Some(tail) if table.len() == 1 => tail_points(tail, unit),
            _ => Err(format!("found a table; {}", accepted(unit))),
        },
        Json::Array(list) if may_mix && list.iter().all(Json::is_object) && !list.is_empty() => {
            mixture(list, unit)
        }
        Json::Array(_) => points(found, unit),
        _ => Err(format!("found {}; {}", describe(found), accepted(unit))),
    }
}

/// Reads `pareto(1kB, 1.2)`, or a value.
fn family(text: &str, unit: &Scale) -> Read<Shape> {
    let Some((name, rest)) = text.split_once('(') else { return (unit.read)(text).map(Shape::Constant) };
    let refused = || format!("found {text:?}; {}", accepted(unit));
    let inner = rest.strip_suffix(')').ok_or_else(refused)?;
    let words: Vec<&str> = inner.split(',').map(str::trim).collect();
    let positive = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let shape = match (name.trim(), words.as_slice()) {
        ("exponential", [mean]) => Shape::Exponential { mean: (unit.read)(mean)? },
        ("pareto", [least, alpha]) => {
            Shape::Pareto { least: (unit.read)(least)?, alpha: positive(alpha).ok_or_else(refused)? }
        }
        ("weibull", [scale, shape]) => {
            Shape::Weibull { scale: (unit.read)(scale)?, shape: positive(shape).ok_or_else(refused)? }
        }
        ("lognormal", [mu, sigma]) => {
            let mu = mu.parse::<f64>().ok().filter(|mu| mu.is_finite()).ok_or_else(refused)?;
            Shape::Lognormal { mu, sigma: positive(sigma).ok_or_else(refused)? }
        }
        _ => return Err(refused()),
    };
    Ok(shape)
}

fn mixture(list: &[Json], unit: &Scale) -> Read<Shape> {
    if list.len() > MOST_PARTS {
        return Err(format!("found a mixture of {} parts; accepted: up to {MOST_PARTS}", list.len()));
    }
    let part = |one: &Json| {
        let share = one.get("share").and_then(Json::as_f64).filter(|share| (0.0..=1.0).contains(share));
        let (Some(share), Some(of), Some(2)) =
            (share, one.get("of"), one.as_object().map(serde_json::Map::len))
        else {
            return Err(
                "found a part without them; accepted: share (0 to 1) and of (a distribution)".to_string()
            );
        };
        Ok((share, shape(of, false, unit)?))
    };
    let parts = list.iter().map(part).collect::<Read<Vec<_>>>()?;
    let sum: f64 = parts.iter().map(|(share, _)| share).sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(format!("found shares that add up to {sum}; accepted: shares that add up to 1"));
    }
    Ok(Shape::Mixture(parts))
}

fn pairs(found: &Json) -> Read<Vec<(f64, f64)>> {
    let list = found.as_array().map_or(&[][..], Vec::as_slice);
    if !(2..=MOST_POINTS).contains(&list.len()) {
        return Err(format!("found {} points; accepted: 2 to {MOST_POINTS}", list.len()));
    }
    let pair = |(place, one): (usize, &Json)| {
        let numbers: Option<Vec<f64>> =
            one.as_array().and_then(|pair| pair.iter().map(Json::as_f64).collect());
        match numbers.as_deref() {
            Some(&[x, y]) => Ok((x, y)),
            _ => Err(format!("[{place}]: found {one}; accepted: a probability and a value, two numbers")),
        }
    };
    list.iter().enumerate().map(pair).collect()
}

fn points(found: &Json, unit: &Scale) -> Read<Shape> {
    let points = pairs(found)?;
    for (place, &(probability, value)) in points.iter().enumerate() {
        if !(0.0..=1.0).contains(&probability) {
            return Err(format!("[{place}]: found the probability {probability}; accepted: 0 to 1"));
        }
        if !(0.0..=unit.most).contains(&value) {
            return Err(format!("[{place}]: found the value {value}; accepted: 0 to {}", unit.most));
        }
    }
    ascending(&points, |point| point)?;
    Ok(Shape::Points(points))
}

fn tail_points(found: &Json, unit: &Scale) -> Read<Shape> {
    let points = pairs(found)?;
    let most = unit.most.log2();
    for (place, &(tail, value)) in points.iter().enumerate() {
        if !(-1000.0..=0.0).contains(&tail) || !(-1000.0..=most).contains(&value) {
            let accepted = format!("log2(1 - probability), 0 or less, and log2(value), up to {most:.1}");
            return Err(format!("[{place}]: found [{tail}, {value}]; accepted: {accepted}"));
        }
    }
    ascending(&points, turned)?;
    Ok(Shape::Tail(points.into_iter().map(turned).collect()))
}

/// Negates the logarithm of a point: the written one descends, the kept one ascends.
fn turned((tail, value): (f64, f64)) -> (f64, f64) {
    (0.0 - tail, value) // `0.0 - tail`, because `-tail` makes -0 of 0
}

/// Refuses points whose probabilities do not ascend, or whose values descend.
fn ascending(points: &[(f64, f64)], in_order: fn((f64, f64)) -> (f64, f64)) -> Read<()> {
    for (place, pair) in points.windows(2).enumerate() {
        let (before, after) = (in_order(pair[0]), in_order(pair[1]));
        if after.0 <= before.0 || after.1 < before.1 {
            let found = format!("found [{}, {}] after [{}, {}]", pair[1].0, pair[1].1, pair[0].0, pair[0].1);
            return Err(format!("[{}]: {found}; accepted: ascending probabilities and values", place + 1));
        }
    }
    Ok(())
}

impl Shape {
    fn write(&self, unit: &Scale) -> Json {
        match self {
            Self::Constant(value) => json!((unit.write)(*value)),
            Self::Exponential { mean } => json!(format!("exponential({})", (unit.write)(*mean))),
            Self::Lognormal { mu, sigma } => json!(format!("lognormal({mu}, {sigma})")),
            Self::Pareto { least, alpha } => json!(format!("pareto({}, {alpha})", (unit.write)(*least))),
            Self::Weibull { scale, shape } => json!(format!("weibull({}, {shape})", (unit.write)(*scale))),
            Self::Points(points) => json!(points),
            Self::Tail(points) => json!({ "tail": points.iter().copied().map(turned).collect::<Vec<_>>() }),
            Self::Mixture(parts) => {
                parts.iter().map(|(share, shape)| json!({"share": share, "of": shape.write(unit)})).collect()
            }
        }
    }
}
