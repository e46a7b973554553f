//! The parameters of a line, each with a value.

use super::Error;
use super::complete::SharedPlan;
use super::kind::Kind;
use super::place::Place;
use super::spec::{Default, Form, ParamSpec, QdiscSpec, Value};
use super::typed::Param;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use goodqueue_units::Rate;

/// The parameter that defaults may depend on.
const VARIANT: &str = "variant";

/// A discipline's parameters, each with a value: a parsed `tc` line.
///
/// An `Args` prints as the canonical line, and [`crate::AnyQdisc::build`] makes the discipline from it.
#[derive(Clone, Debug)]
pub struct Args {
    /// The discipline.
    pub spec: &'static QdiscSpec,
    /// One value per parameter, in the order of `spec.params`.
    pub(super) values: Vec<Value>,
    /// Whether the line set each parameter, in the same order.
    pub(super) given: Vec<bool>,
    /// Whether the line of a change set each parameter. Empty: these parameters are no change's.
    pub(super) named: Vec<bool>,
    /// The discipline inside this one.
    pub(super) child: Option<Box<Self>>,
    /// The size table in front of the discipline, if there is one: the words of `sched::stab`.
    pub(super) stab: Option<Box<Self>>,
    /// The tree of classes that this line is.
    pub(super) plan: Option<SharedPlan>,
    pub(super) place: Place,
}

impl Args {
    /// Returns the defaults of `spec`.
    #[must_use]
    pub fn defaults(spec: &'static QdiscSpec) -> Self {
        let value = |param: &ParamSpec| match param.default {
            Default::Always(value) => value,
            Default::ByVariant(_) | Default::Line(_) => Value::Unset,
        };
        let values = spec.params.iter().map(value).collect();
        let mut args = Self {
            spec,
            values,
            given: alloc::vec![false; spec.params.len()],
            named: Vec::new(),
            child: None,
            stab: None,
            plan: None,
            place: Place::default(),
        };
        args.fill_in();
        args
    }

    /// Sets the values that the line left out: defaults that depend on the variant, and the child.
    pub(super) fn fill_in(&mut self) {
        let variant = match self.value(VARIANT) {
            Some(Value::Integer(word)) => word as usize,
            _ => 0,
        };
        for ((param, value), given) in self.spec.params.iter().zip(&mut self.values).zip(&self.given) {
            match param.default {
                Default::ByVariant(values) if !given => {
                    *value = values.get(variant).copied().flatten().unwrap_or(Value::Unset);
                }
                Default::Line(line) if !given => {
                    self.child = (self.spec.read_child)(line).ok().map(Box::new);
                }
                _ => {}
            }
        }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.spec.params.iter().position(|param| param.name == name)
    }

    /// Returns the index of `param`, which the discipline must list.
    fn place<T>(&self, param: &Param<T>) -> usize {
        let (name, form) = (param.name(), param.spec().form);
        let place = self.spec.params.iter().position(|listed| listed.name == name && listed.form == form);
        place.unwrap_or_else(|| panic!("{} does not list the parameter {name} ({form:?})", self.spec.name))
    }

    /// Returns the value of `param`.
    ///
    /// # Panics
    /// Panics if the discipline does not list `param`. Panics if the variant leaves a parameter unset whose type is
    /// no `Option`.
    #[must_use]
    pub fn get<T: Kind>(&self, param: &Param<T>) -> T {
        let value = self.values[self.place(param)];
        let typed = T::of(value);
        typed.unwrap_or_else(|| panic!("{} {}: cannot be {value:?}", self.spec.name, param.name()))
    }

    /// Sets `param` even if the line gave it. So values that follow from others appear in the canonical line.
    pub(crate) fn put<T: Kind>(&mut self, param: &Param<T>, value: T) {
        let place = self.place(param);
        self.values[place] = value.value();
    }

    /// Returns the same parameters as those of no change.
    pub(crate) fn unnamed(mut self) -> Self {
        self.named.clear();
        self.child = self.child.map(|child| Box::new(child.unnamed()));
        self
    }

    /// Replaces the rates that the line gives in percent. A percentage is one of the device's rate, in the discipline
    /// inside this one, too.
    ///
    /// # Errors
    /// Fails if a rate is then out of range.
    pub fn resolve(&mut self, device: Rate) -> Result<(), Error> {
        for (param, value) in self.spec.params.iter().zip(&mut self.values) {
            if let Value::Share(percent) = *value {
                // iproute2's parse_percent_rate.
                let bps = percent / 100.0 * device.as_bps() as f64;
                let rate = param.read(&format!("{bps:.6}bit"));
                // Where a rate of 0 is none, a share of nothing is still no rate.
                let rate = if rate == Ok(Value::Integer(0)) { Err("0bit".into()) } else { rate };
                *value = rate.map_err(|why| {
                    Error(format!("{} {}: {percent}% of {device}: {why}", self.spec.name, param.name))
                })?;
            }
        }
        self.child.as_mut().map_or(Ok(()), |child| child.resolve(device))
    }

    /// Returns whether [`Args::resolve`] has to be called first.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        let own = self.values.iter().any(|value| matches!(value, Value::Share(_)));
        own || self.child.as_ref().is_some_and(|child| child.has_shares())
    }

    /// Returns each parameter with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, Value)> {
        self.spec.params.iter().zip(self.values.iter().copied())
    }

    /// Returns the value of the parameter `name`, for a caller that does not know the discipline. `None`: there is no
    /// parameter of this name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value> {
        self.position(name).map(|index| self.values[index])
    }

    /// Returns whether the line itself set `name`.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.position(name).is_some_and(|index| self.given[index])
    }

    /// Sets `name` if the line did not. So a scenario's `buffer` becomes a queue's `limit`.
    pub fn set_default(&mut self, name: &str, value: Value) {
        if let Some(index) = self.position(name)
            && !self.given[index]
        {
            self.values[index] = value;
        }
    }

    /// Returns the discipline inside this one, if there is one.
    #[must_use]
    pub fn child(&self) -> Option<&Self> {
        self.child.as_deref()
    }

    /// Returns the words of the size table in front of the discipline, if there is one.
    #[must_use]
    pub fn stab(&self) -> Option<&Self> {
        self.stab.as_deref()
    }

    /// Returns the discipline inside this one, so that a caller can set values which its line left out.
    #[must_use]
    pub fn child_mut(&mut self) -> Option<&mut Self> {
        self.child.as_deref_mut()
    }
}

impl fmt::Display for Args {
    /// Writes the canonical line: every parameter that has a value. The line can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stab) = &self.stab {
            write!(f, "{stab} ")?;
        }
        if let Some(plan) = &self.plan {
            return plan.fmt(f);
        }
        f.write_str(self.spec.name)?;
        for (param, value) in self.iter().filter(|(param, _)| param.follows.is_none()) {
            match (value, param.form) {
                (Value::Unset, _) => continue,
                (Value::Flag(true), _) => write!(f, " {}", param.name)?,
                (Value::Flag(false), _) => write!(f, " {}", param.negated())?,
                (_, Form::Word(_)) => write!(f, " {}", param.show(value))?,
                _ => write!(f, " {} {}", param.name, param.show(value))?,
            }
            let following =
                self.spec.followers(param.name).map(|index| (&self.spec.params[index], self.values[index]));
            for (follower, value) in following.take_while(|(_, value)| *value != Value::Unset) {
                write!(f, " {}", follower.show(value))?;
            }
        }
        match &self.child {
            Some(child) => write!(f, " child {child}"),
            None => Ok(()),
        }
    }
}
