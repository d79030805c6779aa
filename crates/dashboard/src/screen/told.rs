//! An event as screens tell it: as a row of a list, and with its paragraphs.

use crate::answers::{Event, Paragraph, Tally};
use crate::chart::{Svg, kinds, magnitude};
use crate::question::{link, segment};
use crate::times::{Bracket, Times};
use crate::words::{self, Piece};

/// Paragraphs of one event that are shown; the diff has all.
const PARAGRAPHS_MAX: usize = 60;
/// What was set aside, told one by one.
const NOISE_MAX: usize = 20;

/// An event in a list.
pub struct Row {
    pub link: String,
    pub state: &'static str,
    pub title: String,
    pub language: Option<String>,
    pub site: String,
    pub path: String,
    pub when: Bracket,
    pub day: String,
    pub tally: Tally,
    pub kinds: Svg,
    pub magnitude: Svg,
    pub lines: Lines,
}

/// One line old and one line new, or what else there is to say.
#[derive(Default)]
pub struct Lines {
    pub old: Option<String>,
    pub new: Option<String>,
    pub note: Option<String>,
    pub fold: Option<String>,
}

/// What happened to one paragraph.
pub struct Para {
    pub class: &'static str,
    pub op: String,
    pub under: String,
    pub id: Option<String>,
    /// One run for what is shown of it: of an edited one before and after.
    pub runs: Vec<Vec<Piece>>,
}

/// Something that was set aside as noise.
pub struct Aside {
    pub kind: String,
    pub rule: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

pub fn row(event: &Event, times: &Times) -> Row {
    Row {
        link: format!("/changes/{}", segment(&event.id)),
        state: match event.around.mark.as_ref().map(|mark| mark.state.as_str()) {
            Some("new") => "new",
            Some("seen") => "seen",
            Some("act") => "act",
            Some("noise") => "noise",
            _ => "",
        },
        title: words::title(&event.title, &event.url),
        language: words::language(&event.language),
        site: event.site.clone(),
        path: words::path(&event.url),
        when: times.bracket(event.seen_same.as_deref(), event.seen_different.as_deref()),
        day: event.seen_different.as_deref().map(|at| times.day_of_list(at)).unwrap_or_default(),
        tally: event.tally(),
        kinds: kinds(&event.change),
        magnitude: magnitude(event.change.magnitude),
        lines: lines(event),
    }
}

/// What the list says of an event: the paragraph that says most, a note, or what kind of event it is.
fn lines(event: &Event) -> Lines {
    let weight = |one: &&Paragraph| {
        let letters = one.before.as_deref().map_or(0, str::len).max(one.after.as_deref().map_or(0, str::len));
        (one.role == "main", one.op == "edited", letters.min(400))
    };
    let told = event.paragraphs.iter().filter(|one| one.op != "moved");
    let (mut old, mut new) = (None, None);
    let most = told.clone().max_by_key(weight);
    match most.map(|one| (one.before.as_deref(), one.after.as_deref(), one)) {
        Some((Some(before), Some(after), _)) => {
            let (before, after) = words::lines(before, after);
            (old, new) = (Some(before), Some(after));
        }
        Some((Some(before), None, one)) => {
            old = Some(words::lines(before, "").0);
            // What came in its place says more than what went alone.
            let came = told.clone().filter(|other| other.op == "added" && other.headings == one.headings);
            new =
                came.max_by_key(weight).and_then(|other| other.after.as_deref()).map(|after| words::lines("", after).1);
        }
        Some((None, Some(after), one)) => {
            new = Some(words::lines("", after).1);
            let went = told.clone().filter(|other| other.op == "removed" && other.headings == one.headings);
            old = went
                .max_by_key(weight)
                .and_then(|other| other.before.as_deref())
                .map(|before| words::lines(before, "").0);
        }
        _ => {}
    }
    // A page that is new has nothing old, and its first words are its first paragraph.
    let note = (old.is_none() && new.is_none()).then(|| note(event));
    let pages = event.around.pages.filter(|pages| *pages > 1);
    Lines { old, new, note, fold: pages.map(|pages| format!("the same on {pages} pages of this site")) }
}

fn note(event: &Event) -> String {
    if let Some(note) = event.change.notes.first() {
        return words::cut(&noted(note), 300);
    }
    if event.paragraphs.iter().any(|one| one.op == "moved") {
        return "Paragraphs moved; no word changed.".into();
    }
    let said = match event.event.as_str() {
        "new" => "This page is new here.",
        "gone" => "The page is gone.",
        "back" => "The page is back.",
        "moved" => "The page has moved.",
        "blocked" => "The page may not be visited any more.",
        "template" => "Many pages of this site changed alike.",
        "joined" => "The page is another name of one that is held already.",
        "erased" => "The page was erased here.",
        _ => "Only what readers do not see changed.",
    };
    if event.detail.is_empty() { said.into() } else { words::cut(&format!("{said} {}", event.detail), 300) }
}

fn noted(note: &crate::answers::Note) -> String {
    match (&note.before, &note.after) {
        (Some(before), Some(after)) => {
            format!("{}: {} became {}", note.what, words::cut(before, 120), words::cut(after, 120))
        }
        (Some(before), None) => format!("{}: {} went", note.what, words::cut(before, 240)),
        (None, Some(after)) => format!("{}: {} came", note.what, words::cut(after, 240)),
        (None, None) => note.what.clone(),
    }
}

/// The notes of a change, as sentences.
pub fn notes(change: &crate::answers::Change) -> Vec<(String, String)> {
    change.notes.iter().take(NOISE_MAX).map(|note| (note.kind.clone(), noted(note))).collect()
}

pub fn asides(change: &crate::answers::Change) -> Vec<Aside> {
    let aside = |noise: &crate::answers::Noise| Aside {
        kind: noise.kind.clone(),
        rule: match noise.rule {
            Some(rule) => format!("{}, rule {rule}", noise.detector),
            None => noise.detector.clone(),
        },
        before: noise.before.as_deref().map(|text| words::cut(text, 400)),
        after: noise.after.as_deref().map(|text| words::cut(text, 400)),
    };
    change.noise.iter().take(NOISE_MAX).map(aside).collect()
}

/// The paragraphs of an event, and how many more there are.
pub fn paragraphs(event: &Event) -> (Vec<Para>, usize) {
    let shown = event.paragraphs.iter().take(PARAGRAPHS_MAX).map(para).collect();
    (shown, event.paragraphs.len().saturating_sub(PARAGRAPHS_MAX))
}

fn para(one: &Paragraph) -> Para {
    let (before, after) = (one.before.as_deref(), one.after.as_deref());
    let runs = match (before, after) {
        (Some(before), Some(after)) if before != after => {
            let (before, after) = words::between(before, after);
            vec![before, after]
        }
        (before, after) => {
            let text = after.or(before).unwrap_or_default();
            vec![vec![Piece::new("", words::paragraph(text))]]
        }
    };
    Para {
        class: class(&one.op),
        op: op(&one.op, one.from, one.position),
        under: one.headings.last().map(|heading| words::cut(heading, 120)).unwrap_or_default(),
        id: one.id.clone(),
        runs,
    }
}

/// The class of the style sheet for what happened to a paragraph.
pub fn class(op: &str) -> &'static str {
    match op {
        "added" => "added",
        "removed" => "removed",
        "moved" => "moved",
        "same" => "same",
        _ => "edited",
    }
}

/// What happened to a paragraph, in words.
pub fn op(op: &str, from: Option<u32>, position: u32) -> String {
    match (op, from) {
        ("moved", Some(from)) if from < position => format!("moved down from place {}", from + 1),
        ("moved", Some(from)) => format!("moved up from place {}", from + 1),
        ("added" | "removed" | "edited" | "moved" | "split" | "merged", _) => op.to_owned(),
        _ => "changed".to_owned(),
    }
}

/// The screens of a page, as links.
pub fn page_link(path: &str, url: &str) -> String {
    link(path, &[("url", url)])
}
