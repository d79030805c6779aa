//! Is it the same page as before, and by which test do we know: validators, then bytes, then signatures.

use vernal_model::{Change, DecidedBy, DocumentRow, Kind, Outcome, Page, Report};

/// What a visit says about the content of the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The first body we ever read of it.
    First,
    /// Confirmed unchanged by the site, or by equal bytes.
    Same(DecidedBy),
    /// Other bytes. The change may be empty: then nothing that we compare differs.
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

    /// What a policy may learn: `None` when the visit could not be compared with an earlier one.
    pub(crate) fn changed(&self) -> Option<bool> {
        match self {
            Verdict::First | Verdict::Silent => None,
            Verdict::Same(_) => Some(false),
            Verdict::Differs(change) => Some(change.is_change()),
        }
    }

    pub(crate) fn degree(&self) -> f32 {
        match self {
            Verdict::Differs(change) => change.magnitude,
            _ => 0.0,
        }
    }
}

/// Whether the bytes alone settle it, so that no row has to be read.
pub(crate) fn by_cheap_tests(before: Option<&Page>, report: &Report) -> Option<Verdict> {
    let version = before.and_then(|page| page.version);
    match (&report.outcome, version) {
        (Outcome::NotModified, Some(_)) => Some(Verdict::Same(DecidedBy::Validators)),
        (Outcome::Read { .. }, None) => Some(Verdict::First),
        (Outcome::Read { .. }, Some(version)) => match &report.signature {
            Some(signature) if signature.payload == version.payload => Some(Verdict::Same(DecidedBy::Digest)),
            Some(_) => None,
            None => Some(Verdict::Silent),
        },
        _ => Some(Verdict::Silent),
    }
}

/// Compares with the newest document we kept; `old` is `None` when its row is lost, then only bytes can tell.
pub(crate) fn by_signatures(old: Option<&DocumentRow>, report: &Report) -> Verdict {
    let Some(new) = &report.signature else {
        return Verdict::Silent;
    };
    let Some(old) = old else {
        let mut change = Change { magnitude: 1.0, decided_by: DecidedBy::Digest, ..Change::default() };
        change.kinds.insert(Kind::Content);
        change.left.insert(Kind::Content);
        return Verdict::Differs(change);
    };
    let mut change = vernal_document::compare(&old.signature, new);
    add_words(&mut change, report);
    Verdict::Differs(change)
}

/// Words of one event at most; beyond them the operations stay and their words are left out.
const EVENT_WORDS_BYTES_MAX: usize = 64 << 10;

/// Puts the words of added paragraphs into the change. What was removed is named by its digest alone: its words lie in
/// the older body.
fn add_words(change: &mut Change, report: &Report) {
    let Some(document) = &report.document else { return };
    let mut room = EVENT_WORDS_BYTES_MAX;
    for paragraph_change in &mut change.paragraphs {
        let Some(paragraph) = document.paragraphs.get(paragraph_change.position as usize) else { continue };
        let Some(words) = document.text.get(paragraph.start as usize..paragraph.end as usize) else { continue };
        let is_new = paragraph.digest == paragraph_change.digest
            && paragraph_change.operation != vernal_model::Operation::Removed;
        if is_new && words.len() <= room {
            room -= words.len();
            paragraph_change.after = Some(words.into());
        }
    }
}
