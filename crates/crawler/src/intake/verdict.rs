//! Whether a page is the same as before, and which test decided: validators, then bytes, then signatures.

use vernal_model::{Change, DecidedBy, Kind, Kinds, Outcome, Page, Report};

/// What a visit says about the content of the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The first body that was read of the page.
    First,
    /// Confirmed unchanged by the site, or by equal bytes.
    Same(DecidedBy),
    /// The bytes differ. The change may be empty: then nothing that is compared differs.
    Differs(Change),
    /// The answer says nothing about the content.
    Silent,
}

impl Verdict {
    pub(crate) fn decided_by(&self) -> Option<DecidedBy> {
        match self {
            Verdict::First | Verdict::Silent => None,
            Verdict::Same(decided_by) => Some(*decided_by),
            Verdict::Differs(change) => Some(change.decided_by),
        }
    }

    /// Whether a meaningful difference was found: `None` when there was nothing to compare with.
    pub(crate) fn changed(&self) -> Option<bool> {
        self.changed_in(Kinds::of(&Kind::ALL))
    }

    /// Like `changed`, for some kinds of change only: what a policy may learn.
    pub(crate) fn changed_in(&self, kinds: Kinds) -> Option<bool> {
        match self {
            Verdict::First | Verdict::Silent => None,
            Verdict::Same(_) => Some(false),
            Verdict::Differs(change) => Some(change.left.meets(kinds)),
        }
    }

    pub(crate) fn degree(&self) -> f32 {
        match self {
            Verdict::Differs(change) => change.magnitude,
            _ => 0.0,
        }
    }
}

/// The verdict if the cheap tests alone decide it, so that no row has to be read.
pub(crate) fn by_cheap_tests(before: Option<&Page>, report: &Report) -> Option<Verdict> {
    let version = before.and_then(|page| page.version);
    match (&report.outcome, version) {
        (Outcome::NotModified, Some(_)) => Some(Verdict::Same(DecidedBy::Validators)),
        (Outcome::Read { .. }, None) => Some(Verdict::First),
        (Outcome::Read { .. }, Some(version)) => match &report.signature {
            // The same bytes are a version of their own where those that we had are lost.
            Some(signature) if signature.payload == version.payload && version.is_lost() => {
                Some(Verdict::Differs(Change { decided_by: DecidedBy::Digest, ..Change::default() }))
            }
            Some(signature) if signature.payload == version.payload => Some(Verdict::Same(DecidedBy::Digest)),
            Some(_) => None,
            None => Some(Verdict::Silent),
        },
        _ => Some(Verdict::Silent),
    }
}
