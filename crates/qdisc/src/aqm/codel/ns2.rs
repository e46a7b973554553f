//! CoDel as the article's authors published it for ns-2: the variant `ns2`.
//!
//! Source: ns-2.35, `queue/codel.cc` (K. Nichols, 2011-2012). It is the RFC's law, except that it resumes from
//! `count - 1`. Its guard is the largest packet so far, which soon is a full frame. Here it is a full frame from the
//! start.

use super::law::Law;
use super::vars::Vars;

/// The CoDel of ns-2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns2;

impl Law for Ns2 {
    fn resume(vars: &Vars) -> u32 {
        vars.count.saturating_sub(1)
    }
}
