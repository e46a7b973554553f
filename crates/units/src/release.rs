//! The releases of Linux between which the laws differ.

/// A long-term release of Linux, or the newest one. Where a rule came or went between two of them, the later one has
/// the new rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// Of December 2022. The default: the newest long-term release whose disciplines are all proven by decision
    /// traces.
    #[default]
    Linux6_1,
    /// Of November 2024.
    Linux6_12,
    /// Of 2026.
    Linux7_3,
}

impl Release {
    /// All, the oldest first.
    pub const ALL: [Self; 3] = [Self::Linux6_1, Self::Linux6_12, Self::Linux7_3];

    /// Returns its number, as in `[linux] release`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux6_1 => "6.1",
            Self::Linux6_12 => "6.12",
            Self::Linux7_3 => "7.3",
        }
    }

    /// Returns the release with this number.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|release| release.name() == name)
    }

    /// Returns the release whose rules a kernel has, from its version (`6.12.117`): the newest one that is not newer.
    /// `None`: the version does not begin with two numbers, or it is older than all.
    #[must_use]
    pub fn of_kernel(version: &str) -> Option<Self> {
        let kernel = numbers(version)?;
        Self::ALL.into_iter().rev().find(|release| numbers(release.name()).is_some_and(|own| own <= kernel))
    }
}

/// Returns the first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 6.8 is not yet 6.12. 6.2 is more than 6.1 as a version, and 6.12 more than 6.2.
    #[test]
    fn a_kernel_has_the_rules_of_the_last_release_before_it() {
        let release = |version| Release::of_kernel(version).map(Release::name);
        for (version, expected) in [
            ("6.1.192", Some("6.1")),
            ("6.2.0", Some("6.1")),
            ("6.8.12-generic", Some("6.1")),
            ("6.12.117+deb13", Some("6.12")),
            ("6.12", Some("6.12")),
            ("7.2", Some("6.12")),
            ("7.3.4", Some("7.3")),
            ("8.0-rc1", Some("7.3")),
            ("5.10.1", None),
            ("mainline:92b9c2b7a88c", None),
            ("7", None),
        ] {
            assert_eq!(release(version), expected, "{version}");
        }
        assert_eq!(Release::ALL.map(|release| Release::named(release.name())), Release::ALL.map(Some));
        assert_eq!(Release::named("6"), None);
    }
}
