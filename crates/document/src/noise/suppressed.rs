//! Applies the rules of a change: the paragraphs of the new version that they cover, and the change without the suppressed noise.

use vernal_model::{Change, Degree, Document, Kind, Masked, NoisePattern, Note, PageNoise, Suppressed};

use super::active_rules::ActiveRules;
use super::changed_spots::{Spot, is_main, paragraph};
use super::learned::NoiseInput;
use super::suspicion::SuppressedKind;
use crate::parse::links::limited;

/// The length limit of a suppressed text in the evidence.
const QUOTED_BYTES_MAX: usize = 400;

/// The paragraphs of the new version that rules cover. With them the next comparison needs no old words.
pub(super) fn known(
    rules_in_force: &ActiveRules<'_>,
    input: &NoiseInput<'_>,
    spots: &[Spot<'_>],
    suppressed: &[(usize, u32)],
    is_present: impl Fn(u64) -> bool,
) -> Vec<Masked> {
    let rules = rules_in_force.paragraph_rules();
    let mut known: Vec<Masked> = Vec::new();
    let mut add = |digest: u64, rule: u32| {
        let masked = Masked { digest, rule };
        if known.len() < PageNoise::KNOWN_MAX && !known.contains(&masked) {
            known.push(masked);
        }
    };
    for (index, rule) in suppressed {
        if rules.iter().any(|(id, _, shape)| id == rule && shape.is_some()) {
            add(spots[*index].after.digest, *rule);
        }
    }
    for (id, rule, shape) in &rules {
        let earlier = || input.noise.known.iter().filter(|known| known.rule == *id);
        if matches!(rule.what, NoisePattern::Kind { .. })
            && (rules_in_force.was_used(*id) || earlier().next().is_some())
        {
            add(0, *id);
        }
        if let NoisePattern::Slot { after, .. } = &rule.what
            && (*after == 0 || is_present(*after))
        {
            add(*after, *id);
        }
        let Some(shape) = shape else { continue };
        earlier().filter(|known| is_present(known.digest)).for_each(|known| add(known.digest, *id));
        if shape.is_bare() {
            continue;
        }
        let sole = rules_in_force.is_sole(*id);
        for (place, mark) in input.new_marks.iter().enumerate() {
            let certain = sole || !is_main(mark.role) || !shape.has_numbers();
            if certain && paragraph(input.new, place).is_some_and(|text| shape.matches(text)) {
                add(mark.digest, *id);
            }
        }
    }
    known
}

/// The change with everything that rules explain moved to its noise.
pub(super) fn told(
    input: &NoiseInput<'_>,
    spots: &[Spot<'_>],
    suppressed: &[(usize, u32)],
    kinds: &[SuppressedKind],
) -> Change {
    let mut change = input.change.clone();
    let total = change.paragraphs.len();
    let mut gone = vec![false; total];
    let mut texts: Vec<&str> = Vec::new();
    for (index, rule) in suppressed {
        let spot = &spots[*index];
        spot.operations.iter().for_each(|&at| gone[at] = true);
        texts.extend([spot.before.text.as_deref(), spot.after.text.as_deref()].into_iter().flatten());
        change.noise.push(suppressed_difference(
            Kind::Content,
            *rule,
            spot.before.text.as_deref(),
            spot.after.text.as_deref(),
        ));
    }
    let mut place = 0;
    change.paragraphs.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
    let explained = !suppressed.is_empty();
    if explained {
        let rule = suppressed[0].1;
        let (stay, go): (Vec<_>, Vec<_>) =
            std::mem::take(&mut change.notes).into_iter().partition(|note| !is_link_of(note, input, &texts));
        change.notes = stay;
        change.noise.extend(
            go.iter().map(|note| suppressed_difference(note.kind, rule, note.before.as_deref(), note.after.as_deref())),
        );
        change.magnitude *= change.paragraphs.len() as f32 / total as f32;
    }
    let content_notes = change.notes.iter().any(|note| note.kind == Kind::Content);
    if explained && change.paragraphs.is_empty() && !content_notes {
        change.left.remove(Kind::Content);
    }
    for suppressed in kinds {
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut change.notes)
            .into_iter()
            .partition(|note| note.kind != suppressed.kind || suppressed.beyond.contains(&note.what));
        change.notes = stay;
        if go.is_empty() && suppressed.beyond.is_empty() {
            change.noise.push(suppressed_difference(suppressed.kind, suppressed.rule, None, None));
        }
        let told = go.iter().map(|note| {
            suppressed_difference(note.kind, suppressed.rule, note.before.as_deref(), note.after.as_deref())
        });
        change.noise.extend(told);
        if suppressed.beyond.is_empty() {
            change.left.remove(suppressed.kind);
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

fn suppressed_difference(kind: Kind, rule: u32, before: Option<&str>, after: Option<&str>) -> Suppressed {
    let quoted = |text: Option<&str>| text.map(|text| Box::from(limited(text, QUOTED_BYTES_MAX)));
    Suppressed { kind, detector: "learned".into(), rule: Some(rule), before: quoted(before), after: quoted(after) }
}

/// Whether a note is about a link whose words were suppressed with their paragraph.
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
