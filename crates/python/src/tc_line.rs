//! A discipline's `tc` line: made from keyword arguments, its words one by one, and its values.

use crate::qdisc::refuse;
use goodqueue_qdisc::param::{Form, ParamSpec, Unit, Value};
use goodqueue_qdisc::{Args, QdiscSpec, registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use serde_json::json;

/// Returns the `tc` line of discipline `name` with `params` as keyword arguments. `True` and `False` switch flags,
/// text is as in the line, and numbers stand for numbers.
#[pyfunction]
pub(crate) fn qdisc_line(name: &str, params: &Bound<'_, PyDict>) -> PyResult<String> {
    let line = line_of(registry::parse_line(name).map_err(refuse)?.spec, Some(params))?;
    registry::parse_line(&line).map_err(refuse)?;
    Ok(line)
}

/// Returns the `tc` line before the registry has checked its values.
pub(crate) fn line_of(spec: &QdiscSpec, params: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
    let (name, known) = (spec.name, spec.params);
    let (mut line, mut child) = (String::from(name), String::new());
    for (key, value) in params.into_iter().flatten() {
        let key: String = key.extract()?;
        let spec = known.iter().find(|param| param.name == key);
        let form = spec.map(|param| param.form);
        let flag = value.cast::<PyBool>().ok().map(|flag| flag.is_true());
        let text = value.str()?.to_string();
        let accepted = || spec.map_or_else(String::new, |param| param.accepted());
        let refused =
            |why: &str| Err(PyValueError::new_err(format!("{name} {key}: found {}{why}", value.repr()?)));
        let words = match (form, flag) {
            (Some(Form::Flag), Some(true)) => key,
            (Some(Form::Flag), Some(false)) => spec.map_or(key, ParamSpec::negated),
            (Some(Form::Flag), None) => return refused("; accepted: True or False"),
            (Some(_), Some(_)) => return refused(&format!("; accepted: {}", accepted())),
            (Some(Form::Number(Unit::Time | Unit::Rate)), None)
                if !value.is_instance_of::<pyo3::types::PyString>() =>
            {
                return refused(&format!(", which has no unit; accepted: {}", accepted()));
            }
            (Some(Form::Child), None) => {
                child = format!(" {key} {text}"); // a child ends the line
                continue;
            }
            (Some(Form::Numbers { .. }), None) => {
                let numbers = match value.extract::<Vec<u32>>() {
                    Ok(numbers) => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
                    Err(_) => text,
                };
                format!("{key} {numbers}")
            }
            _ if text.split_whitespace().count() != 1 => {
                return refused(&format!("; accepted: {}", accepted()));
            }
            (Some(Form::Word(_) | Form::Shorthand(_)), None) => text,
            _ => format!("{key} {text}"),
        };
        line = format!("{line} {words}");
    }
    Ok(line + &child)
}

/// Returns what each word of a `tc` line sets, the words of disciplines inside it too, and notes: a sentence for
/// each word that a later word replaced, and for each filter of a tree that surprises. The result is JSON.
#[pyfunction]
pub(crate) fn qdisc_reading(line: &str) -> PyResult<String> {
    let read = registry::reading(line).map_err(refuse)?;
    let steps = read.steps.iter().map(|step| {
        let (param, value) = (step.param, step.value());
        let word = step.words.strip_suffix(value).unwrap_or(&step.words).trim_end();
        json!({"qdisc": step.qdisc, "param": param.name, "unit": param.kind(), "word": word, "value": value,
            "words": step.words, "shapes": param.rules.shapes, "bare": if param.rules.nanoseconds { "ns" } else { "us" }})
    });
    let steps: Vec<_> = steps.collect();
    Ok(json!({"steps": steps, "notes": read.notes}).to_string())
}

/// Returns each parameter of a `tc` line with its value, including parameters that the line leaves out. The keys of
/// numbers end with the unit (`target_ms`, `limit_packets`, `rate_mbps`). The keys of a child's parameters begin with
/// `child_`.
#[pyfunction]
pub(crate) fn qdisc_values<'py>(py: Python<'py>, line: &str) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    put_values(&values, "", &registry::parse_line(line).map_err(refuse)?)?;
    Ok(values)
}

fn put_values(values: &Bound<'_, PyDict>, before: &str, args: &Args) -> PyResult<()> {
    for (param, value) in args.iter() {
        let unit = match param.form {
            Form::Number(unit) => Some(unit),
            Form::Flag | Form::Choice(_) | Form::Word(_) | Form::Numbers { .. } => None,
            Form::Shorthand(_) | Form::Child | Form::Alias(_) | Form::Refused(_) => continue,
        };
        // The unit's suffix in a key, and the factor between that unit and the unit of the stored value.
        let (unit, scale) = match (unit, value) {
            (Some(Unit::Packets), _) | (Some(Unit::TimeOrPackets), Value::Packets(_)) => ("_packets", 1.0),
            (Some(Unit::Time | Unit::Milliseconds | Unit::TimeOrPackets), _) => ("_ms", 1e6),
            (Some(Unit::Bytes), _) => ("_bytes", 1.0),
            (Some(Unit::Rate), _) => ("_mbps", 1e6),
            (Some(Unit::Percent), _) => ("_percent", 1.0),
            (Some(Unit::Count | Unit::Real | Unit::Signed | Unit::Masked) | None, _) => ("", 1.0),
        };
        let key = format!("{before}{}{unit}", param.name);
        match (value, param.form) {
            (Value::Unset, _) => values.set_item(key, None::<f64>)?,
            (Value::Flag(on), _) => values.set_item(key, on)?,
            (Value::Numbers(numbers), _) => values.set_item(key, numbers.as_slice())?,
            (Value::Share(_), _) | (_, Form::Choice(_) | Form::Word(_) | Form::Number(Unit::Masked)) => {
                values.set_item(key, param.show(value))?;
            }
            (Value::Real(real), _) => values.set_item(key, real)?,
            (Value::Integer(number) | Value::Packets(number), _) if scale == 1.0 => {
                values.set_item(key, number)?
            }
            (Value::Integer(number) | Value::Packets(number), _) => {
                values.set_item(key, number as f64 / scale)?
            }
        }
    }
    let Some(child) = args.child() else { return Ok(()) };
    values.set_item(format!("{before}child"), child.spec.name)?;
    put_values(values, &format!("{before}child_"), child)
}
