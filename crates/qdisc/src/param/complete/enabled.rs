//! What the feature `complete` adds to the parameters of a line: a size table in front of it, a tree in place of it,
//! and what a change of `netem` asks of them.

use super::{Args, Error, Value};
use crate::tree::{Plan, TREE};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

/// Whether this build has what the feature adds. As a constant, it keeps code out of a program.
pub(super) const COMPLETE: bool = true;

/// The tree that a line is.
pub(super) type SharedPlan = Arc<Plan>;

/// Returns `args` with the values that `line` gives: of a tree, of a size table, and of the discipline alone.
pub(super) fn changed(args: &Args, line: &str) -> Result<Args, Error> {
    if let Some(change) = args.change_of_tree(line) {
        return change.map(|change| change.args);
    }
    let (stab, line) = Args::split_stab(line)?;
    let stab = args.changed_stab(stab)?;
    Ok(args.changed_alone(&line)?.with_stab(stab))
}

impl Args {
    /// Returns the commands in `text` that change this tree, in their canonical form. `None`: this is no tree, or it
    /// refuses them.
    #[must_use]
    pub fn commands_of_change(&self, text: &str) -> Option<String> {
        self.change_of_tree(text)?.ok().map(|change| change.commands)
    }

    /// Returns whether the line of the change that made these parameters named the parameter `name`.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.position(name).is_some_and(|index| self.named.get(index) == Some(&true))
    }

    /// Returns whether a change made these parameters.
    pub(crate) fn is_change(&self) -> bool {
        !self.named.is_empty()
    }

    /// Gives the parameter `name` the value that it has in `other`, if the line of the change did not name it. It
    /// counts as not given then.
    pub(crate) fn take_unnamed(&mut self, name: &str, other: &Self) {
        if let Some(index) = self.position(name).filter(|_| !self.is_named(name)) {
            (self.values[index], self.given[index]) = (other.values[index], false);
        }
    }

    /// Puts a size table in front of the discipline, or takes it away.
    pub(crate) fn with_stab(self, stab: Option<Self>) -> Self {
        Self { stab: stab.map(Box::new), ..self }
    }

    /// Returns the same line with the discipline `child` inside, which makes the words for an own queue void.
    pub(crate) fn holding(self, child: Self) -> Self {
        let mut args = Self { child: Some(Box::new(child)), ..self };
        for name in ["limit", "latency"] {
            if let Some(index) = args.position(name) {
                (args.values[index], args.given[index]) = (Value::Unset, false);
            }
        }
        if let Some(index) = args.position("child") {
            args.given[index] = true;
        }
        args
    }

    /// Returns the line of a tree.
    pub(crate) fn of_plan(mut plan: Plan) -> Self {
        let stab = plan.take_stab();
        Self { plan: Some(Arc::new(plan)), ..Self::defaults(&TREE) }.with_stab(stab)
    }

    /// Returns the line of the same tree after a change.
    pub(crate) fn with_plan(&self, plan: Plan) -> Self {
        Self { plan: Some(Arc::new(plan)), ..self.clone() }
    }

    /// Returns the tree that this line is.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.as_deref()
    }

    /// Returns the parameters without the size table.
    pub(crate) fn without_stab(&self) -> Self {
        self.clone().with_stab(None)
    }

    /// Returns the same line at the place of `other`.
    pub(crate) fn beside(self, other: &Self) -> Self {
        self.at(other.place)
    }
}
