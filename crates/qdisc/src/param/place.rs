//! Where a line's discipline is: in which release of Linux, and whether in the host that sends its packets.
//!
//! A build without the feature `complete`, such as the page's, has only the default place.

use super::complete::COMPLETE;
use super::spec::{Default as Preset, ParamSpec, Value};
use super::{Args, Error};
use alloc::boxed::Box;
use alloc::format;
use goodqueue_units::Release;

/// Where a discipline is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    release: Release,
    is_at_sender: bool,
}

impl Args {
    /// Returns the release of Linux whose law the line means. A discipline that came later has the law with which it
    /// came.
    #[must_use]
    pub fn release(&self) -> Release {
        if !COMPLETE {
            return Release::Linux6_1; // a constant, so that the other laws are not in the program
        }
        self.place.release.max(self.spec.since.unwrap_or_default())
    }

    /// Returns whether sockets of this host send all packets: see [`Args::at_sender`].
    pub(crate) fn is_at_sender(&self) -> bool {
        COMPLETE && self.place.is_at_sender
    }

    /// Returns the same line with the law that `release` has, of the discipline inside this one, too.
    #[must_use]
    pub fn in_release(self, release: Release) -> Self {
        let place = Place { release, ..self.place };
        self.at(place)
    }

    /// Returns the same line as that of a host's own interface: sockets of this host send all its packets. The
    /// discipline inside this one is there, too.
    #[must_use]
    pub fn at_sender(self) -> Self {
        let place = Place { is_at_sender: true, ..self.place };
        self.at(place)
    }

    /// Returns the same line at `place`.
    pub(super) fn at(self, place: Place) -> Self {
        let child = self.child.map(|child| Box::new(child.at(place)));
        Self { child, place, ..self }
    }

    /// Refuses a word that came to Linux after the line's release, in the discipline inside this one, too. The word's
    /// default is no difference.
    ///
    /// # Errors
    /// Fails at the first such word.
    pub fn refuse_newer(&self) -> Result<(), Error> {
        if !COMPLETE {
            return Ok(());
        }
        let release = self.release();
        let is_newer = |param: &ParamSpec, value: Value| {
            param.rules.since > release && param.default != Preset::Always(value)
        };
        match self.iter().find(|(param, value)| is_newer(param, *value)) {
            Some((param, value)) => Err(Error(format!(
                "{} {}: found {}, a word that Linux {} does not have; accepted: [linux] release = {:?} or later",
                self.spec.name,
                param.name,
                param.show(value),
                release.name(),
                param.rules.since.name()
            ))),
            None => self.child.as_ref().map_or(Ok(()), |child| child.refuse_newer()),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "complete")]
mod tests {
    use super::*;
    use crate::registry::parse_line;

    /// A change must not bring a line back to the default release, and neither must the child that it makes anew.
    #[test]
    fn a_line_stays_where_it_is() {
        let line = parse_line("tbf rate 9mbit burst 5kb child codel").unwrap();
        let placed = line.in_release(Release::Linux7_3).at_sender();
        let changed = placed.changed("tbf child codel target 9ms").unwrap();
        for args in [&placed, &changed] {
            for each in [args, args.child().unwrap()] {
                assert_eq!((each.release(), each.is_at_sender()), (Release::Linux7_3, true), "{each}");
            }
        }
        let plain = parse_line("codel").unwrap();
        assert_eq!((plain.release(), plain.is_at_sender()), (Release::Linux6_1, false));
        let later = parse_line("cake_mq").unwrap();
        assert_eq!(later.release(), Release::Linux7_3, "it has the law with which it came");
    }
}
