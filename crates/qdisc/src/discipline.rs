//! The contract between a discipline and the registry that lists it.

use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::Qdisc;
use crate::signal::Owner;
use goodqueue_units::Instant;

/// A discipline that the registry can list: its specification, how to make one from it, and how to change it.
pub trait Discipline<P>: Qdisc<P> + Sized {
    /// Name, parameters and sources.
    const SPEC: QdiscSpec;

    /// Makes one from a line's parameters.
    ///
    /// # Errors
    /// Where parameters contradict each other; ranges were checked before.
    fn build(args: &Args, link: &Link) -> Result<Self, Error>;

    /// Takes `args`, all of its parameters, and `link` in place of those that it had. Its state stands, what follows
    /// from parameters and link is derived anew, and what exceeds a smaller limit is dropped through `owner`.
    ///
    /// # Errors
    /// Where [`Discipline::build`] has one, and in that case nothing has changed.
    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error>;
}
