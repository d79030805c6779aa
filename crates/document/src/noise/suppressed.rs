//! What the rules explain: which paragraphs of the new version they cover, and the change without what is set aside.

use vernal_model::{Change, Degree, Document, Kind, Masked, Note, PageNoise, SetAside, Volatile};

use super::learned::NoiseInput;
use super::ledger::Ledger;
use super::spot::{Spot, is_main, paragraph};
use super::suspicion::KindAside;
use crate::parse::links::limited;

/// What is kept of a text that was set aside.
const QUOTED_BYTES_MAX: usize = 400;

/// The paragraphs of the new version that rules cover, so that the next comparison needs no old words.
pub(super) fn known(
    ledger: &Ledger<'_>,
    input: &NoiseInput<'_>,
    spots: &[Spot<'_>],
    aside: &[(usize, u32)],
    is_present: impl Fn(u64) -> bool,
) -> Vec<Masked> {
    let rules = ledger.paragraph_rules();
    let mut known: Vec<Masked> = Vec::new();
    let mut add = |digest: u64, rule: u32| {
        let masked = Masked { digest, rule };
        if known.len() < PageNoise::KNOWN_MAX && !known.contains(&masked) {
            known.push(masked);
        }
    };
    for (index, rule) in aside {
        if rules.iter().any(|(id, _, shape)| id == rule && shape.is_some()) {
            add(spots[*index].after.digest, *rule);
        }
    }
    for (id, rule, shape) in &rules {
        let earlier = || input.noise.known.iter().filter(|known| known.rule == *id);
        if matches!(rule.what, Volatile::Kind { .. }) && (ledger.was_used(*id) || earlier().next().is_some()) {
            add(0, *id);
        }
        if let Volatile::Slot { after, .. } = &rule.what
            && (*after == 0 || is_present(*after))
        {
            add(*after, *id);
        }
        let Some(shape) = shape else { continue };
        earlier().filter(|known| is_present(known.digest)).for_each(|known| add(known.digest, *id));
        if shape.is_bare() {
            continue;
        }
        let sole = ledger.is_sole(*id);
        for (place, mark) in input.new_marks.iter().enumerate() {
            let certain = sole || !is_main(mark.role) || !shape.has_numbers();
            if certain && paragraph(input.new, place).is_some_and(|text| shape.matches(text)) {
                add(mark.digest, *id);
            }
        }
    }
    known
}

/// The change with everything explained moved to its noise.
pub(super) fn told(input: &NoiseInput<'_>, spots: &[Spot<'_>], aside: &[(usize, u32)], kinds: &[KindAside]) -> Change {
    let mut change = input.change.clone();
    let total = change.paragraphs.len();
    let mut gone = vec![false; total];
    let mut texts: Vec<&str> = Vec::new();
    for (index, rule) in aside {
        let spot = &spots[*index];
        spot.operations.iter().for_each(|&at| gone[at] = true);
        texts.extend([spot.before.text.as_deref(), spot.after.text.as_deref()].into_iter().flatten());
        change.noise.push(set_aside(Kind::Content, *rule, spot.before.text.as_deref(), spot.after.text.as_deref()));
    }
    let mut place = 0;
    change.paragraphs.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
    let explained = !aside.is_empty();
    if explained {
        let rule = aside[0].1;
        let (stay, go): (Vec<_>, Vec<_>) =
            std::mem::take(&mut change.notes).into_iter().partition(|note| !is_link_of(note, input, &texts));
        change.notes = stay;
        change
            .noise
            .extend(go.iter().map(|note| set_aside(note.kind, rule, note.before.as_deref(), note.after.as_deref())));
        change.magnitude *= change.paragraphs.len() as f32 / total as f32;
    }
    let content_notes = change.notes.iter().any(|note| note.kind == Kind::Content);
    if explained && change.paragraphs.is_empty() && !content_notes {
        change.left.remove(Kind::Content);
    }
    for aside in kinds {
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut change.notes)
            .into_iter()
            .partition(|note| note.kind != aside.kind || aside.beyond.contains(&note.what));
        change.notes = stay;
        if go.is_empty() && aside.beyond.is_empty() {
            change.noise.push(set_aside(aside.kind, aside.rule, None, None));
        }
        let told =
            go.iter().map(|note| set_aside(note.kind, aside.rule, note.before.as_deref(), note.after.as_deref()));
        change.noise.extend(told);
        if aside.beyond.is_empty() {
            change.left.remove(aside.kind);
        }
    }
    if change.left != input.change.left {
        change.degree = match change.left.contains(Kind::Content) {
            true => change.degree,
            false if change.left.is_empty() => Degree::None,
            false => Degree::Hidden,
        };
    }
    change
}

fn set_aside(kind: Kind, rule: u32, before: Option<&str>, after: Option<&str>) -> SetAside {
    let quoted = |text: Option<&str>| text.map(|text| Box::from(limited(text, QUOTED_BYTES_MAX)));
    SetAside { kind, detector: "learned".into(), rule: Some(rule), before: quoted(before), after: quoted(after) }
}

/// Whether a note tells of a link whose words were set aside with their paragraph.
fn is_link_of(note: &Note, input: &NoiseInput<'_>, texts: &[&str]) -> bool {
    let within = |target: &Option<Box<str>>, document: Option<&Document>| {
        let Some(target) = target else { return true };
        document.is_some_and(|document| {
            let of_target = document.links.iter().filter(|link| link.target.as_str() == &**target);
            let mut named = of_target.map(|link| document.anchor(link)).filter(|anchor| !anchor.is_empty());
            named.any(|anchor| texts.iter().any(|text| text.contains(anchor)))
        })
    };
    let told = note.before.is_some() || note.after.is_some();
    note.kind == Kind::Content && told && within(&note.before, input.old) && within(&note.after, Some(input.new))
}
