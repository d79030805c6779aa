//! Folds one change on many pages of a site into one event: the template was changed.
//!
//! The first pages have events of their own, because the change may be theirs alone. The event of the fifth page becomes the one
//! event of the site, and later pages with exactly this change are counted without an event. A change of a single page is no
//! fold yet (see `pending_folds`).

use vernal_model::{Change, Fold, Moment, NoiseBook, NoiseRows, Operation, PageKey, ParagraphChange, Site, Span};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::pending_folds::{PendingFold, PendingFolds};

/// So many pages must have the same change before it counts as a change of the template.
pub const FOLD_PAGES_MIN: u32 = 5;
/// A fold ends when its change was not seen for so long.
const WINDOW: Span = Span::from_days(30);
/// A change with more paragraph operations is not folded.
const OPERATIONS_MAX: usize = 32;

/// What happens to the event of a page.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FoldingKind {
    /// It is raised: the page has a change of its own.
    Own,
    /// It becomes the one event of the site, of kind `template`. So many pages have the change.
    Template(u32),
    /// The site has raised its event before. The page is counted only.
    Counted(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Folding {
    pub kind: FoldingKind,
    /// The counts to write with the visit.
    pub rows: NoiseRows,
}

/// Compares the change of one page, without its noise, with those of other pages of its site.
pub fn fold(
    site: &Site,
    page: PageKey,
    moment: Moment,
    change: &Change,
    (book, pending_folds): (&NoiseBook, &mut PendingFolds),
) -> Folding {
    let mut rows = NoiseRows::new(site.clone());
    let operations = change.paragraphs.iter().filter(|operation| operation.operation != Operation::Moved);
    let count = operations.clone().count();
    if count == 0 || count > OPERATIONS_MAX {
        return Folding { kind: FoldingKind::Own, rows };
    }
    let site_mark = xxh3_64(site.as_str().as_bytes());
    let notes = notes_mark(change);
    let mut folds: Vec<Fold> = Vec::new();
    let mut exact = count == change.paragraphs.len();
    for operation in operations {
        let (before, after) = digests(operation);
        let mut both = [0; 16];
        both[..8].copy_from_slice(&before.to_le_bytes());
        both[8..].copy_from_slice(&after.to_le_bytes());
        let id = xxh3_64(&both);
        if folds.iter().any(|fold| fold.id == id) {
            continue;
        }
        let mark = xxh3_64_with_seed(&id.to_le_bytes(), site_mark);
        let known = book.fold(id).filter(|fold| moment.since(fold.last) <= WINDOW).cloned();
        let begun = || {
            let seen =
                pending_folds.get(mark).filter(|seen| seen.page != page && moment.since(seen.moment) <= WINDOW)?;
            let &PendingFold { page, moment, left, notes, .. } = seen;
            let sample = vec![page];
            Some(Fold { id, before, after, left, notes, first: moment, last: moment, pages: 1, sample, told: false })
        };
        let Some(mut fold) = known.or_else(begun) else {
            pending_folds.put(PendingFold { mark, page, moment, left: change.left, notes });
            exact = false;
            continue;
        };
        exact &= (fold.left, fold.notes) == (change.left, notes);
        if !fold.sample.contains(&page) {
            fold.pages = fold.pages.saturating_add(1);
            if fold.sample.len() < Fold::SAMPLE_MAX {
                fold.sample.push(page);
            }
        }
        fold.last = fold.last.max(moment);
        folds.push(fold);
    }
    let kind = kind(&folds, exact);
    if let FoldingKind::Template(_) = kind {
        folds.iter_mut().for_each(|fold| fold.told = true);
    }
    rows.unfolded = outlived(book, &folds);
    rows.folds = folds;
    Folding { kind, rows }
}

fn kind(folds: &[Fold], exact: bool) -> FoldingKind {
    let pages = folds.iter().map(|fold| fold.pages).min().unwrap_or(0);
    match () {
        () if !exact || pages < FOLD_PAGES_MIN => FoldingKind::Own,
        () if folds.iter().all(|fold| fold.told) => FoldingKind::Counted(pages),
        () => FoldingKind::Template(pages),
    }
}

fn digests(operation: &ParagraphChange) -> (u64, u64) {
    let of = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| xxh3_64(text.as_bytes()));
    match operation.operation {
        Operation::Removed => (operation.digest, 0),
        Operation::Added => (0, operation.digest),
        _ => (of(&operation.before), operation.digest),
    }
}

fn notes_mark(change: &Change) -> u64 {
    let mut bytes = Vec::new();
    for note in &change.notes {
        let parts = [Some(&note.what), note.before.as_ref(), note.after.as_ref()];
        for part in parts {
            bytes.extend_from_slice(part.map_or(&[][..], |part| part.as_bytes()));
            bytes.push(0xff);
        }
    }
    xxh3_64(&bytes)
}

/// The folds to evict, the longest unseen first.
fn outlived(book: &NoiseBook, folds: &[Fold]) -> Vec<u64> {
    let is_kept = |id: u64| folds.iter().any(|fold| fold.id == id);
    let fresh = folds.iter().filter(|fold| book.fold(fold.id).is_none()).count();
    let over = (book.folds.len() + fresh).saturating_sub(NoiseBook::FOLDS_MAX);
    if over == 0 {
        return Vec::new();
    }
    // Few are evicted at a time, so they are found without sorting all.
    let mut oldest: Vec<(Moment, u64)> = Vec::with_capacity(over + 1);
    // With enough candidates, folds seen later than all of them stay.
    let mut newest = (Moment::NEVER, u64::MAX);
    for fold in &book.folds {
        let other = (fold.last, fold.id);
        if other > newest || is_kept(fold.id) {
            continue;
        }
        oldest.insert(oldest.partition_point(|older| *older < other), other);
        oldest.truncate(over);
        if oldest.len() == over {
            newest = oldest[over - 1];
        }
    }
    oldest.into_iter().map(|(_, id)| id).collect()
}
