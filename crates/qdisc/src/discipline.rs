//! The contract between a discipline and the registry that lists it.

use crate::kept::Look;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::Qdisc;
use crate::signal::Owner;
use goodqueue_units::Instant;

/// A discipline that the registry can list: its specification, how to build it and how to change it.
pub trait Discipline<P>: Qdisc<P> + Sized {
    /// Name, parameters and sources.
    const SPEC: QdiscSpec;

    /// Builds the discipline from a line's parameters.
    ///
    /// # Errors
    /// Fails if parameters contradict each other. Their ranges were checked before.
    fn build(args: &Args, link: &Link) -> Result<Self, Error>;

    /// Builds one like this, which was built from `args` and `link`. Both may share what never changes.
    ///
    /// # Errors
    /// Fails as [`Discipline::build`] does.
    fn another(&self, args: &Args, link: &Link) -> Result<Self, Error> {
        Self::build(args, link)
    }

    /// Replaces all parameters by `args` and the link by `link`. The discipline's state stays. Values that follow
    /// from parameters and link are derived anew. Packets above a smaller limit are dropped through `owner`.
    ///
    /// # Errors
    /// Fails if [`Discipline::build`] would fail, and then nothing has changed.
    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error>;

    /// Returns how a shaper above (`tbf`, or a scheduler of a tree) sees the packet that leaves next.
    fn look(&mut self) -> Look<'_, P>;
}
