//! What a method found, in one line.

use super::fingerprint::FingerprintFound;
use super::letters::LettersFound;
use super::method::{Found, VernalFound};
use super::tree::TreeFound;
use crate::structure::StructureDegree;

pub(super) fn words(found: &Found) -> String {
    match found {
        Found::Tree(found) => tree(found),
        Found::Fingerprint(found) => fingerprint(found),
        Found::Letters(found) => letters(found),
        Found::Vernal(found) => vernal(found),
    }
}

fn tree(found: &TreeFound) -> String {
    let Some(place) = found.place.as_ref().filter(|_| found.degree != StructureDegree::None) else {
        return "none: the same tags on every level".into();
    };
    let children = match place.children {
        0 => "without children",
        1 => "with a child",
        _ => "with children",
    };
    format!(
        "{}: a {} {children} was {} at level {}, position {}: {}",
        found.degree.name(),
        place.tag,
        place.what,
        place.level,
        place.position,
        place.path
    )
}

fn fingerprint(found: &FingerprintFound) -> String {
    let Some(parting) = &found.parts_at else { return "the same letters".into() };
    let tag = |tag: &Option<String>| tag.clone().unwrap_or_else(|| "the end".into());
    let tags = format!("{} → {}", tag(&parting.tag.old), tag(&parting.tag.new));
    format!("{} and {} letters, which part at tag {}: {tags}", found.letters.old, found.letters.new, parting.position)
}

fn letters(found: &LettersFound) -> String {
    let (old, new) = (found.page.old.unwrap_or_default(), found.page.new.unwrap_or_default());
    let page = match old == new {
        true => format!("{new:.4} in both"),
        false => format!("{old:.4} → {new:.4} ({:+.4})", found.page.difference),
    };
    let all = found.paragraphs.old.max(found.paragraphs.new);
    format!("{page}; {} of {all} paragraphs differ", found.differing)
}

fn vernal(found: &VernalFound) -> String {
    let kinds = found.left.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    match (found.left.is_empty(), found.kinds.is_empty()) {
        (false, _) => format!("{kinds}; {} ({:.3})", found.degree.name(), found.magnitude),
        (true, false) => "noise only".into(),
        (true, true) => "nothing differs".into(),
    }
}
