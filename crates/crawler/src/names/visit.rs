//! What a visit says of the names of its page.

use vernal_model::{Deed, Document, Fingerprint, Moment, NameMark, NameRow, Named, PageKey, Url};

use super::candidate::is_main;
use super::rename::{Sighting, rename};
use crate::Result;
use crate::intake::VisitEffects;
use crate::work::Work;

/// Equal text shorter than this says nothing of two spellings: "It works!" and "Please enable scripts" stand everywhere.
const TEXT_BYTES_MIN: usize = 64;

/// What the names of a page need to know of a visit.
pub(crate) struct VisitOfNames {
    page: PageKey,
    moment: Moment,
    /// Of a visit that made a version.
    version: Option<VersionOfNames>,
    is_first_version: bool,
    has_other_state: bool,
}

/// What a new version says of the names of its page.
struct VersionOfNames {
    url: Fingerprint,
    spelling: NameMark,
    has_enough_text: bool,
    /// The other page of the site that it names by its canonical link.
    canonical: Option<Fingerprint>,
}

impl VisitOfNames {
    pub fn of(effects: &VisitEffects) -> Self {
        let VisitEffects { report, before, page, finding, .. } = effects;
        let document = report.document.as_ref().filter(|_| finding.is_new_version);
        VisitOfNames {
            page: page.key,
            moment: report.started,
            version: document.map(|document| VersionOfNames::of(&page.url, document)),
            is_first_version: before.as_ref().is_none_or(|before| before.version.is_none()),
            has_other_state: before.as_ref().is_some_and(|before| before.state != page.state),
        }
    }
}

impl VersionOfNames {
    fn of(url: &Url, document: &Document) -> Self {
        let main = document.paragraphs.iter().filter(|paragraph| is_main(paragraph.role));
        let text_bytes: usize = main.map(|paragraph| (paragraph.end - paragraph.start) as usize).sum();
        let is_other = |target: &&Url| *target != url && target.site_without_www() == url.site_without_www();
        VersionOfNames {
            url: url.fingerprint(),
            spelling: NameMark::Spelling(url.spelling_mark()),
            has_enough_text: text_bytes >= TEXT_BYTES_MIN,
            canonical: document.canonical.as_ref().filter(is_other).map(Url::fingerprint),
        }
    }
}

/// Takes up the marks of a new version, and works out which pages are one page with this one now. The visit must be in the group.
pub(crate) fn note_visit(work: &mut Work, visit: &VisitOfNames) -> Result<()> {
    let row = work.name_row(visit.page)?;
    let has_names = row.is_first || row.same_as.is_some() || !row.words.is_empty();
    let may_get_names = match &visit.version {
        Some(version) => {
            let named = marks(work, visit, version, row)?;
            if !named.is_empty() {
                work.push(visit.page.partition, Deed::Named(Box::new(named)));
            }
            has_kin(work, visit.page, version)?
        }
        None => visit.has_other_state,
    };
    if !has_names && !may_get_names {
        return Ok(());
    }
    let page = Some(visit.page);
    let sighting = Sighting {
        now: visit.moment,
        changed: page.filter(|_| visit.version.is_some()),
        fresh: page.filter(|_| visit.is_first_version),
    };
    rename(work, &[visit.page], &sighting)
}

/// The marks that the new version has and the one before had not, and the other way round.
fn marks(work: &Work, visit: &VisitOfNames, version: &VersionOfNames, row: NameRow) -> Result<Named> {
    let mut named = Named::new(visit.page);
    let is_marked = !visit.is_first_version && work.is_marked(visit.page, version.spelling)?;
    match (is_marked, version.has_enough_text) {
        (false, true) => named.marked.push(version.spelling),
        (true, false) => named.unmarked.push(version.spelling),
        _ => {}
    }
    if version.canonical != row.canonical {
        named.unmarked.extend(row.canonical.map(NameMark::Canonical));
        named.marked.extend(version.canonical.map(NameMark::Canonical));
        named.row = Some(NameRow { canonical: version.canonical, ..row });
    }
    Ok(named)
}

/// Whether there are pages that may be one page with this one. Most pages have none, and then nothing more is read.
fn has_kin(work: &Work, page: PageKey, version: &VersionOfNames) -> Result<bool> {
    if let Some(target) = version.canonical
        && work.page_by_fingerprint(page.partition, target)?.is_some()
    {
        return Ok(true);
    }
    if !work.marked_pages(page.partition, NameMark::Canonical(version.url), 1)?.is_empty() {
        return Ok(true);
    }
    let is_shared = || Ok(work.marked_pages(page.partition, version.spelling, 2)?.iter().any(|one| *one != page));
    if version.has_enough_text { is_shared() } else { Ok(false) }
}
