//! The slow path: compares two pages closely, with words, notes and suppressed noise.

use foldhash::{HashMap, HashMapExt};
use vernal_model::{Change, Document, Kind, Note, Operation, Suppressed};

use super::compare;
use crate::Parsed;
use crate::diff::explain;
use crate::noise::builtin;
use crate::parse::links::limited;
use crate::parse::parts::{Part, Parts};

/// Further notes and suppressed differences are dropped, to keep events small.
const NOTES_MAX: usize = 500;

/// The text limit of one side of a note.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// Compares two pages with the built-in detectors only. Notes need pages that were read closely.
pub fn compare_pages(old: &Parsed, new: &Parsed) -> Change {
    let mut change = compare(&old.signature, &new.signature);
    tell_closely((&old.document, &old.parts), (&new.document, &new.parts), &mut change);
    change
}

/// Adds words and notes to a change that was found by signatures, from the documents and parts of the two pages.
pub fn tell_closely(old: (&Document, &Parts), new: (&Document, &Parts), change: &mut Change) {
    explain(old.0, new.0, change);
    set_aside_words(change);
    compare_parts(old.1, new.1, change);
}

/// Moves paragraphs that differ by noise alone out of the change.
fn set_aside_words(change: &mut Change) {
    let noise = &mut change.noise;
    change.paragraphs.retain(|paragraph| {
        let (Some(before), Some(after)) = (&paragraph.before, &paragraph.after) else { return true };
        if paragraph.operation != Operation::Edited {
            return true;
        }
        let (quiet_before, quiet_after) = (builtin::words(before), builtin::words(after));
        let Some(detector) = quiet_before.detector.or(quiet_after.detector) else { return true };
        if quiet_before.text != quiet_after.text {
            return true;
        }
        noise.push(Suppressed {
            kind: Kind::Content,
            detector: detector.into(),
            rule: None,
            before: Some(limited(before, TEXT_BYTES_MAX).into()),
            after: Some(limited(after, TEXT_BYTES_MAX).into()),
        });
        false
    });
}

/// Compares parts as sets, because their order does not matter. The remaining parts of one kind are paired in order, so that a
/// changed target appears as before and after.
fn compare_parts(old: &Parts, new: &Parts, change: &mut Change) {
    let mut counts: HashMap<(&str, &str), i64> = HashMap::new();
    for part in &new.items {
        *counts.entry((&part.what, &part.value)).or_default() += 1;
    }
    let gone: Vec<&Part> = old.items.iter().filter(|part| take(&mut counts, part)).collect();
    let mut counts: HashMap<(&str, &str), i64> = HashMap::new();
    for part in &old.items {
        *counts.entry((&part.what, &part.value)).or_default() += 1;
    }
    let come: Vec<&Part> = new.items.iter().filter(|part| take(&mut counts, part)).collect();

    let mut waiting: HashMap<&str, Vec<&Part>> = HashMap::new();
    for part in come.iter().rev() {
        waiting.entry(&part.what).or_default().push(part);
    }
    for before in gone {
        let after = waiting.get_mut(&*before.what).and_then(|parts| partner(parts, before));
        tell(Some(before), after, change);
    }
    let left: Vec<&Part> = come
        .into_iter()
        .filter(|part| {
            waiting.get(&*part.what).is_some_and(|parts| parts.iter().any(|left| std::ptr::eq(*left, *part)))
        })
        .collect();
    for after in left {
        tell(None, Some(after), change);
    }
}

/// Whether the part has no unmatched equal on the other side.
fn take<'a>(counts: &mut HashMap<(&'a str, &'a str), i64>, part: &'a Part) -> bool {
    match counts.get_mut(&(&*part.what, &*part.value)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    }
}

/// Among the first few added parts, the one that is equal without noise, otherwise the next in order.
fn partner<'a>(parts: &mut Vec<&'a Part>, before: &Part) -> Option<&'a Part> {
    const TRIED_MAX: usize = 64;
    let tried = parts.iter().rev().take(TRIED_MAX).position(|part| part.quiet == before.quiet);
    match tried {
        Some(ahead) => Some(parts.remove(parts.len() - 1 - ahead)),
        None => parts.pop(),
    }
}

fn tell(before: Option<&Part>, after: Option<&Part>, change: &mut Change) {
    let Some(part) = before.or(after) else { return };
    let quiet = |part: Option<&Part>| part.map(|part| part.quiet.clone()).unwrap_or_default();
    let detector = before.and_then(|part| part.detector).or(after.and_then(|part| part.detector));
    let shown = |part: Option<&Part>| part.map(|part| Box::from(limited(&part.value, TEXT_BYTES_MAX)));
    let aside = detector.filter(|_| quiet(before) == quiet(after));
    let (before, after) = (shown(before), shown(after));
    match aside {
        Some(detector) if change.noise.len() < NOTES_MAX => {
            change.noise.push(Suppressed { kind: part.kind, detector: detector.into(), rule: None, before, after });
        }
        None if change.notes.len() < NOTES_MAX => {
            change.notes.push(Note { kind: part.kind, what: part.what.as_ref().into(), before, after });
        }
        _ => {}
    }
}
