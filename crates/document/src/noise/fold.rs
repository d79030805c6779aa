//! Recognises one operation on many pages of a site, so that it is one event of the site.
//!
//! Each operation of a change has a mark, which pages with the same operation share. The fifth page gives the site an
//! event; the listing of the feed then shows the operation there and no longer at its pages. What is decided depends on
//! the operation alone, so the order of the visits does not matter.
//!
//! In main text an operation is the same only with the same words before and after, in the frame of the page (menus and
//! footers) and in its title with the same words that went and came: "Soil | Notes of 2025" and "Roses | Notes of 2025" are
//! one title of the site beside the names of two pages. And it must be possible that it happened at one time on all pages:
//! "sold out" on one page in May and on another in June are two events. So the spans between the visits that found the
//! older and the newer version must have a moment in common.

use vernal_model::{
    Change, FoldRow, Kind, Moment, Note, Operation, OperationFold, PageKey, ParagraphChange, ParagraphMark, Role, Site,
};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::changed_spots::is_main;

/// A change with more operations and notes is not folded.
const OPERATIONS_MAX: usize = 128;

/// The marks of one change, by index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationMarks {
    pub operations: Vec<u64>,
    pub notes: Vec<u64>,
}

/// The visit that found an operation.
#[derive(Copy, Clone, Debug)]
pub struct FoldVisit {
    pub page: PageKey,
    pub version: u32,
    /// The last visit that found the version before.
    pub seen_same: Moment,
    pub moment: Moment,
}

/// The marks of all operations of a change, without its noise. Empty for a change that is too large.
pub fn operation_marks(
    site: &Site,
    change: &Change,
    old_marks: &[ParagraphMark],
    new_marks: &[ParagraphMark],
) -> OperationMarks {
    if change.paragraphs.len() + change.notes.len() > OPERATIONS_MAX {
        return OperationMarks::default();
    }
    let seed = xxh3_64(site.as_str().as_bytes());
    let of_paragraph = |change: &ParagraphChange| {
        let mark = match is_main(change.role) && change.role != Role::Title {
            true => main_mark(seed, change, old_marks, new_marks),
            false => frame_mark(seed, change, old_marks, new_marks),
        };
        mark.max(1)
    };
    OperationMarks {
        operations: change.paragraphs.iter().map(of_paragraph).collect(),
        notes: change.notes.iter().map(|note| note_mark(seed, note).max(1)).collect(),
    }
}

/// Whether an operation found by this visit belongs to the current fold of its mark.
pub fn continues(row: &FoldRow, visit: &FoldVisit) -> bool {
    row.current.after.max(visit.seen_same) < row.current.before.min(visit.moment)
}

/// The folds of the mark after this visit. `is_counted` says that the page has joined the current fold before.
pub fn join(row: Option<FoldRow>, visit: &FoldVisit, is_counted: bool) -> FoldRow {
    let &FoldVisit { page, version, seen_same, moment } = visit;
    let fresh = || OperationFold {
        first: moment,
        last: moment,
        after: seen_same,
        before: moment,
        pages: 0,
        versions: 0,
        sample: Vec::new(),
        told: 0,
    };
    let mut row = match row {
        Some(row) if continues(&row, visit) => row,
        Some(mut row) => {
            let ended = std::mem::replace(&mut row.current, fresh());
            if ended.is_told() {
                row.earlier.push((row.number, ended));
                let over = row.earlier.len().saturating_sub(FoldRow::EARLIER_MAX);
                row.earlier.drain(..over);
            }
            row.number += 1;
            row
        }
        None => FoldRow { number: 1, current: fresh(), earlier: Vec::new() },
    };
    let fold = &mut row.current;
    (fold.first, fold.last) = (fold.first.min(moment), fold.last.max(moment));
    (fold.after, fold.before) = (fold.after.max(seen_same), fold.before.min(moment));
    fold.versions = fold.versions.wrapping_add(version_mark(page, version));
    if !is_counted {
        fold.pages = fold.pages.saturating_add(1);
        if fold.sample.len() < OperationFold::SAMPLE_MAX {
            fold.sample.push((page, version));
        }
    }
    row
}

/// Whether the site has an event to tell of this fold now: at the fifth page, and then each time the count has doubled.
pub fn is_due(fold: &OperationFold) -> bool {
    fold.pages >= OperationFold::PAGES_MIN && fold.pages >= fold.told.saturating_mul(2)
}

fn version_mark(page: PageKey, version: u32) -> u64 {
    let mut hash = Xxh3::with_seed(u64::from(version));
    hash.update(&page.bytes());
    hash.digest()
}

/// In main text: the operation, the place in the template, and the digests before and after. Also what has no words of
/// its own in the frame, such as a list in another order.
fn main_mark(seed: u64, change: &ParagraphChange, old: &[ParagraphMark], new: &[ParagraphMark]) -> u64 {
    let mut hash = begun(seed, 1, change, old, new);
    let (went, came) = sides(change, old, new);
    for side in [went, came] {
        side.iter().for_each(|digest| hash.update(&digest.to_le_bytes()));
        hash.update(b"|");
    }
    hash.digest()
}

/// In the frame and the title: the words that went and came, in no order, so that the words beside them do not matter.
fn frame_mark(seed: u64, change: &ParagraphChange, old: &[ParagraphMark], new: &[ParagraphMark]) -> u64 {
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return main_mark(seed, change, old, new);
    };
    // Titles of East Asia have no blanks beside the name of the site.
    let divides = |letter: char| {
        letter.is_whitespace()
            || (change.role == Role::Title && matches!(letter, '|' | '-' | '–' | '—' | '_' | '·' | '｜'))
    };
    let words = |text: &str| -> Vec<u64> {
        let words = text.split(divides).filter(|word| !word.is_empty());
        let mut words: Vec<u64> = words.map(|word| xxh3_64(word.as_bytes())).collect();
        words.sort_unstable();
        words
    };
    let (went, came) = differing(&words(before), &words(after));
    if went.is_empty() && came.is_empty() {
        return main_mark(seed, change, old, new);
    }
    let mut hash = begun(seed, 2, change, old, new);
    for side in [went, came] {
        side.iter().for_each(|word| hash.update(&word.to_le_bytes()));
        hash.update(b"|");
    }
    hash.digest()
}

fn note_mark(seed: u64, note: &Note) -> u64 {
    let mut hash = Xxh3::with_seed(seed);
    hash.update(&[3, note.kind as u8]);
    hash.update(note.what.as_bytes());
    let count = |text: &Option<Box<str>>| -> Option<i64> { text.as_deref()?.split_whitespace().next()?.parse().ok() };
    // Pages of different length have the same tags more or less.
    match (note.kind, count(&note.before), count(&note.after)) {
        (Kind::Structure, Some(before), Some(after)) => hash.update(&(after - before).to_le_bytes()),
        _ => {
            for side in [&note.before, &note.after] {
                hash.update(&[0xff, u8::from(side.is_some())]);
                hash.update(side.as_deref().unwrap_or_default().as_bytes());
            }
        }
    }
    hash.digest()
}

/// A hash that has the operation, its role and, in main text, its place in the template. Pages of different templates
/// have one frame.
fn begun(seed: u64, class: u8, change: &ParagraphChange, old: &[ParagraphMark], new: &[ParagraphMark]) -> Xxh3 {
    let marks = if change.operation == Operation::Removed { old } else { new };
    let place = marks.get(change.position as usize).filter(|_| is_main(change.role)).map_or(0, |mark| mark.place);
    let mut hash = Xxh3::with_seed(seed);
    hash.update(&[class, change.operation as u8, change.role as u8]);
    hash.update(&place.to_le_bytes());
    hash
}

/// The digests of the paragraphs before and after, in order.
fn sides(change: &ParagraphChange, old: &[ParagraphMark], new: &[ParagraphMark]) -> (Vec<u64>, Vec<u64>) {
    let digests = |marks: &[ParagraphMark], mut places: Vec<u32>| -> Vec<u64> {
        places.sort_unstable();
        places.into_iter().map(|place| marks.get(place as usize).map_or(0, |mark| mark.digest)).collect()
    };
    let (mut went, mut came) = (change.from.into_iter().collect::<Vec<u32>>(), vec![change.position]);
    match change.operation {
        Operation::Removed => (went, came) = (came, Vec::new()),
        Operation::Merged => went.extend(&change.others),
        Operation::Split | Operation::Moved => came.extend(&change.others),
        Operation::Added | Operation::Edited => {}
    }
    (digests(old, went), digests(new, came))
}

/// The items that only one of two sorted lists has.
fn differing(old: &[u64], new: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (mut went, mut came) = (Vec::new(), Vec::new());
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if a == b => _ = (old.next(), new.next()),
            (Some(a), Some(b)) if a > b => came.extend(new.next()),
            (Some(_), _) => went.extend(old.next()),
            (None, Some(_)) => came.extend(new.next()),
            (None, None) => return (went, came),
        }
    }
}
