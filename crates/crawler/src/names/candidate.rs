//! A page that may be one page with others, as it is known now.

use vernal_model::{Moment, NameMark, NameRow, Page, PageKey, PageState, Role, Signature};

use crate::Result;
use crate::work::Work;

/// Whether such words belong to the page alone: the title and the frame say little of what it is.
pub(super) fn is_main(role: Role) -> bool {
    !matches!(role, Role::Title | Role::Navigation | Role::Footer)
}

pub(super) struct Candidate {
    pub page: Page,
    pub row: NameRow,
    /// The words of its newest version without what is noise by itself; `None` where there are none beside the frame.
    pub content: Option<u64>,
    /// Whether it has so much text that equal spellings count.
    pub has_enough_text: bool,
}

impl Candidate {
    /// `None` for a page that is not held: it is one page with no other.
    pub fn load(work: &Work, key: PageKey) -> Result<Option<Candidate>> {
        let Some(page) = work.page(key)?.filter(|page| page.state == PageState::Held && page.version.is_some()) else {
            return Ok(None);
        };
        let document = work.document(key)?;
        let signature = document.as_ref().map(|document| &document.signature);
        let has_words = |one: &&Signature| one.paragraphs.iter().any(|mark| is_main(mark.role));
        let content = signature.filter(|one| one.format == Signature::FORMAT).filter(has_words);
        Ok(Some(Candidate {
            content: content.map(|signature| signature.quiet.content),
            has_enough_text: work.is_marked(key, NameMark::Spelling(page.url.spelling_mark()))?,
            row: work.name_row(key)?,
            page,
        }))
    }

    pub fn key(&self) -> PageKey {
        self.page.key
    }

    /// The span in which the newest version is known to have been the page.
    pub fn known_from(&self) -> Moment {
        self.page.version.map_or(self.page.last_visit, |version| version.moment)
    }

    pub fn known_until(&self) -> Moment {
        self.page.last_confirmed.unwrap_or(self.page.last_visit).max(self.known_from())
    }

    /// Whether its canonical link names that page.
    pub fn names(&self, other: &Candidate) -> bool {
        self.row.canonical == Some(other.page.url.fingerprint())
    }
}
