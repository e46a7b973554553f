//! A line's parameters, each with a value.

use super::spec::{ParamSpec, QdiscSpec, Unit, Value};
use crate::registry;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use goodqueue_units::Duration;

/// A discipline's parameters, each with a value: the `tc` line, understood.
#[derive(Clone, Debug)]
pub struct Args {
    /// The discipline.
    pub spec: &'static QdiscSpec,
    /// A value a parameter, in the order of `spec.params`.
    pub(super) values: Vec<Value>,
    /// Which of them the line set, in the same order.
    pub(super) given: Vec<bool>,
    /// The discipline inside this one.
    pub(super) child: Option<Box<Self>>,
}

impl Args {
    /// The defaults of `spec`.
    #[must_use]
    pub fn defaults(spec: &'static QdiscSpec) -> Self {
        let values = spec.params.iter().map(|param| param.default).collect();
        let mut args = Self { spec, values, given: alloc::vec![false; spec.params.len()], child: None };
        args.settle();
        args
    }

    /// Gives each default that depends on the variant the value that it has for the one chosen.
    pub(super) fn settle(&mut self) {
        let variant = self.integer("variant").unwrap_or(0) as usize;
        for ((param, value), given) in self.spec.params.iter().zip(&mut self.values).zip(&self.given) {
            if let (Value::PerVariant(values), false) = (param.default, *given) {
                *value = values.get(variant).copied().unwrap_or(Value::Unset);
            }
            if let (Value::Line(line), false) = (param.default, *given) {
                self.child = registry::parse_line(line).ok().map(Box::new);
            }
        }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.spec.params.iter().position(|param| param.name == name)
    }

    fn get(&self, name: &str) -> Value {
        self.position(name).map_or(Value::Unset, |index| self.values[index])
    }

    /// Each parameter with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, Value)> {
        self.spec.params.iter().zip(self.values.iter().copied())
    }

    /// The discipline inside this one, if it has one that a line names.
    #[must_use]
    pub fn child(&self) -> Option<&Self> {
        self.child.as_deref()
    }

    /// As [`Args::child`], to set what its line left out.
    #[must_use]
    pub fn child_mut(&mut self) -> Option<&mut Self> {
        self.child.as_deref_mut()
    }

    /// Whether the line itself set `name`.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.position(name).is_some_and(|index| self.given[index])
    }

    /// Sets `name`, whatever the line says: how values that follow from others come to stand in the canonical line.
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        if let Some(index) = self.position(name) {
            self.values[index] = value;
        }
    }

    /// Sets `name` where the line did not: how a scenario's `buffer` becomes a queue's `limit`.
    pub fn set_default(&mut self, name: &str, value: Value) {
        if let Some(index) = self.position(name)
            && !self.given[index]
        {
            self.values[index] = value;
        }
    }

    /// The parameter `name` as an integer of its unit (bytes, packets, count, bit/s, index of a choice), if set.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Value::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The parameter `name` as packets, if set so where a time could be.
    #[must_use]
    pub fn packets(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Value::Packets(packets) => Some(packets),
            _ => None,
        }
    }

    /// The parameter `name` as a time, if set.
    #[must_use]
    pub fn time(&self, name: &str) -> Option<Duration> {
        self.integer(name).map(Duration::from_nanos)
    }

    /// The parameter `name` as a real number, if set.
    #[must_use]
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Value::Real(real) => Some(real),
            _ => None,
        }
    }

    /// Whether the flag `name` is on.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Value::Flag(true)
    }

    /// The word chosen for `name`, or the empty word.
    #[must_use]
    pub fn choice(&self, name: &str) -> &'static str {
        let spec = self.spec.params.iter().find(|param| param.name == name);
        match (spec.map(|param| param.unit), self.integer(name)) {
            (Some(Unit::Choice(words) | Unit::Word(words)), Some(index)) => {
                words.get(index as usize).copied().unwrap_or("")
            }
            _ => "",
        }
    }
}

impl fmt::Display for Args {
    /// The canonical line: every parameter that has a value, so that it can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec.name)?;
        for (param, value) in self.spec.params.iter().zip(&self.values) {
            match value {
                Value::Unset | Value::PerVariant(_) | Value::Line(_) => {}
                Value::Flag(true) => write!(f, " {}", param.name)?,
                // As tc spells them: `noecn`, but `no_dq_rate_estimator`.
                Value::Flag(false) if param.name.contains('_') => write!(f, " no_{}", param.name)?,
                Value::Flag(false) => write!(f, " no{}", param.name)?,
                value if matches!(param.unit, Unit::Word(_)) => write!(f, " {}", param.show(*value))?,
                value => write!(f, " {} {}", param.name, param.show(*value))?,
            }
        }
        match &self.child {
            Some(child) => write!(f, " child {child}"),
            None => Ok(()),
        }
    }
}
