//! An event as the feed tells it, as far as alerts speak of it. The names are those of the feed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Degree, EventKind, Kind, Operation};

/// Letters of an excerpt on each side.
pub const EXCERPT_LETTERS_MAX: usize = 200;
/// Words of an excerpt that stand beside those that differ.
const WORDS_BESIDE: usize = 4;
/// Bytes of the words that one event keeps in the outbox; the page itself has them all.
pub const WORDS_BYTES_MAX: usize = 16 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToldEvent")]
pub struct Told {
    pub id: String,
    pub cursor: String,
    pub event: EventKind,
    pub url: String,
    pub site: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub language: String,
    #[serde(flatten)]
    pub versions: Versions,
    #[serde(flatten)]
    pub change: ToldChange,
    #[serde(default)]
    pub paragraphs: Vec<Paragraph>,
    #[serde(default)]
    pub detail: String,
    #[serde(flatten)]
    pub group: Group,
    /// Words were left out here because there are too many; the page has them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How often a page changed back and forth that is told once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

/// Which versions differ, and when that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToldVersions")]
pub struct Versions {
    #[serde(default)]
    pub version: Option<u32>,
    #[serde(default)]
    pub previous: Option<u32>,
    #[serde(default)]
    pub seen_same: Option<String>,
    #[serde(default)]
    pub seen_different: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToldChange {
    #[serde(default)]
    pub kinds: Vec<Kind>,
    #[serde(default)]
    pub left: Vec<Kind>,
    #[serde(default)]
    pub magnitude: f32,
    #[serde(default)]
    pub degree: Degree,
    #[serde(default)]
    pub flapping: bool,
    #[serde(default)]
    pub notes: Vec<Note>,
}

/// One change on many pages, and the first name of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToldGroup")]
pub struct Group {
    #[serde(default)]
    pub fold: Option<String>,
    #[serde(default)]
    pub pages: Option<u32>,
    #[serde(default)]
    pub same_as: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToldParagraph")]
pub struct Paragraph {
    pub op: Operation,
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub role: String,
    #[serde(default)]
    pub headings: Vec<String>,
    #[serde(default)]
    pub position: u32,
    #[serde(default)]
    pub before: Option<String>,
    #[serde(default)]
    pub after: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ToldNote")]
pub struct Note {
    pub kind: Kind,
    pub what: String,
    #[serde(default)]
    pub before: Option<String>,
    #[serde(default)]
    pub after: Option<String>,
}

/// What happened to how many paragraphs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    pub added: usize,
    pub removed: usize,
    pub edited: usize,
    pub moved: usize,
    pub split: usize,
    pub merged: usize,
}

/// The words that tell the most, with a few words around those that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    pub before: String,
    pub after: String,
}

impl Tally {
    pub fn of(operations: impl Iterator<Item = Operation>) -> Tally {
        let mut tally = Tally::default();
        for operation in operations {
            *match operation {
                Operation::Added => &mut tally.added,
                Operation::Removed => &mut tally.removed,
                Operation::Edited => &mut tally.edited,
                Operation::Moved => &mut tally.moved,
                Operation::Split => &mut tally.split,
                Operation::Merged => &mut tally.merged,
            } += 1;
        }
        tally
    }
}

impl Excerpt {
    /// Of the words of one paragraph.
    pub fn of(before: Option<&str>, after: Option<&str>) -> Excerpt {
        excerpt(before, after)
    }
}

impl Told {
    /// Whether there is something that a person can read: words that came or went, a note in words, or what became of the page.
    pub fn is_readable(&self) -> bool {
        match self.event {
            EventKind::Changed | EventKind::Template => {
                self.paragraphs.iter().any(Paragraph::has_words) || self.change.notes.iter().any(Note::has_words)
            }
            _ => true,
        }
    }

    pub fn tally(&self) -> Tally {
        Tally::of(self.paragraphs.iter().map(|paragraph| paragraph.op))
    }

    /// The first words that differ, main text before menus and footers; else the first note; else nothing.
    pub fn excerpt(&self) -> Excerpt {
        let readable = || self.paragraphs.iter().filter(|paragraph| paragraph.has_words());
        let moved = |paragraph: &&Paragraph| paragraph.op == Operation::Moved;
        let first = readable().min_by_key(|paragraph| (moved(paragraph), paragraph.is_frame()));
        match first {
            Some(paragraph) => excerpt(paragraph.before.as_deref(), paragraph.after.as_deref()),
            None => self.change.notes.iter().find(|note| note.has_words()).map_or_else(Excerpt::default, |note| {
                let side = |text: &Option<String>| text.as_ref().map(|text| format!("{}: {text}", note.what));
                excerpt(side(&note.before).as_deref(), side(&note.after).as_deref())
            }),
        }
    }

    /// What happened, in one line that is never empty.
    pub fn line(&self) -> String {
        let excerpt = self.excerpt();
        let words = match (excerpt.before.is_empty(), excerpt.after.is_empty()) {
            (false, false) => format!("{} → {}", excerpt.before, excerpt.after),
            (true, false) => format!("added: {}", excerpt.after),
            (false, true) => format!("removed: {}", excerpt.before),
            (true, true) => String::new(),
        };
        if let Some(times) = self.times {
            return format!("changes back and forth, {times} times; {words}");
        }
        let on_pages = self.group.pages.map_or_else(String::new, |pages| format!("on {pages} pages: "));
        match (self.happened(), words.is_empty()) {
            (Some(happened), true) => happened,
            (Some(happened), false) => format!("{happened}; {words}"),
            (None, false) => format!("{on_pages}{words}"),
            (None, true) => format!("{on_pages}the page changed"),
        }
    }

    /// What became of the page; `None` where only its content changed.
    fn happened(&self) -> Option<String> {
        let because = |what: &str, detail: &str| match detail.is_empty() {
            true => what.to_owned(),
            false => format!("{what}: {detail}"),
        };
        Some(match self.event {
            EventKind::Changed | EventKind::Template => return None,
            EventKind::New => "the page is new".to_owned(),
            EventKind::Gone => because("the page is gone", &self.detail),
            EventKind::Back => "the page is back".to_owned(),
            EventKind::Moved => because("the page moved", &self.detail),
            EventKind::Blocked => because("the page can no longer be read", &self.detail),
            EventKind::Unblocked => "the page can be read again".to_owned(),
            EventKind::Erased => "the page was erased from the repository".to_owned(),
            EventKind::Joined => because("the page is a second name of another one", &self.detail),
            EventKind::Parted => "the page stands on its own again".to_owned(),
            EventKind::Imported => "a version from before was imported".to_owned(),
        })
    }

    /// A name for people: the title, or the URL where there is none.
    pub fn name(&self) -> &str {
        if self.title.trim().is_empty() { &self.url } else { &self.title }
    }

    /// The same event with no more words than the outbox keeps.
    #[must_use]
    pub fn bounded(mut self, bytes_max: usize) -> Told {
        let mut left = bytes_max;
        let mut cut = false;
        let keep = |text: &mut Option<String>, left: &mut usize| {
            let Some(words) = text else { return false };
            let end = words.floor_char_boundary((*left).min(words.len()));
            let is_cut = end < words.len();
            words.truncate(end);
            *left -= end;
            is_cut
        };
        for paragraph in &mut self.paragraphs {
            cut |= keep(&mut paragraph.before, &mut left);
            cut |= keep(&mut paragraph.after, &mut left);
        }
        for note in &mut self.change.notes {
            cut |= keep(&mut note.before, &mut left);
            cut |= keep(&mut note.after, &mut left);
        }
        let count = self.paragraphs.len();
        if cut {
            self.paragraphs.retain(Paragraph::has_words);
        }
        self.cut |= cut || self.paragraphs.len() < count;
        self
    }

    /// The same event without the words of the page, which was erased.
    pub fn forget_words(&mut self) {
        self.paragraphs.clear();
        self.change.notes.clear();
        self.title.clear();
        self.event = EventKind::Erased;
    }
}

impl Paragraph {
    pub fn has_words(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(|text| !text.trim().is_empty())
    }

    fn is_frame(&self) -> bool {
        matches!(self.role.as_str(), "navigation" | "footer")
    }
}

/// The beginning of a fingerprint, which stands where there is nothing to read.
const MARK: &str = "mark ";

impl Note {
    fn has_words(&self) -> bool {
        let sides = || [&self.before, &self.after].into_iter().flatten();
        sides().any(|text| !text.trim().is_empty() && !text.contains(MARK))
    }
}

/// Both sides without most of the words that they begin and end with alike.
fn excerpt(before: Option<&str>, after: Option<&str>) -> Excerpt {
    let words = |text: Option<&str>| -> Vec<String> {
        text.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let (old, new) = (words(before), words(after));
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let is_same = old == new;
    let side = |words: &[String]| {
        let (from, to) = match is_same {
            true => (0, words.len()),
            false => (head.saturating_sub(WORDS_BESIDE), (words.len() - tail + WORDS_BESIDE).min(words.len())),
        };
        let begun = if from > 0 && to > from { "… " } else { "" };
        let text = words[from..to].join(" ");
        let short: String = text.chars().take(EXCERPT_LETTERS_MAX).collect();
        let ended = if to < words.len() && to > from || short.len() < text.len() { " …" } else { "" };
        format!("{begun}{short}{ended}")
    };
    // Words that only moved are told once.
    Excerpt { before: if is_same { String::new() } else { side(&old) }, after: side(&new) }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn told(event: &str, paragraphs: &[(Option<&str>, Option<&str>)]) -> Told {
        let paragraphs: Vec<serde_json::Value> = paragraphs
            .iter()
            .map(|(before, after)| serde_json::json!({ "op": "edited", "role": "main", "before": before, "after": after }))
            .collect();
        let event = serde_json::json!({
            "id": "e1-1", "cursor": "c1", "event": event, "url": "http://a.example/", "site": "a.example",
            "title": "Prices", "paragraphs": paragraphs, "left": ["content"], "degree": "slight",
        });
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn an_event_whose_differences_are_marks_alone_has_nothing_to_read() {
        assert!(!told("changed", &[]).is_readable());
        assert!(!told("changed", &[(None, Some("  "))]).is_readable());
        assert!(told("changed", &[(Some("a"), Some("b"))]).is_readable());
        let mut marks = told("changed", &[]);
        let note = |after: &str| Note {
            kind: Kind::Presentation,
            what: "looks".into(),
            before: Some("mark 1".into()),
            after: Some(after.into()),
        };
        marks.change.notes.push(note("mark 2"));
        assert!(!marks.is_readable());
        marks.change.notes.push(note("a red bus"));
        assert!(marks.is_readable());
        assert!(told("gone", &[]).is_readable() && !told("gone", &[]).line().is_empty());
    }

    #[test]
    fn a_line_has_the_words_that_differ_with_some_beside_them() {
        let line = told(
            "changed",
            &[(
                Some("one two three four five six costs € 9 a month"),
                Some("one two three four five six costs € 12 a month"),
            )],
        )
        .line();
        assert_eq!(line, "… five six costs € 9 a month → … five six costs € 12 a month");
        assert_eq!(told("changed", &[(None, Some("New words"))]).line(), "added: New words");
        assert_eq!(told("changed", &[(Some("a b c"), Some("a c"))]).line(), "a b c → a c");
        assert_eq!(told("gone", &[]).line(), "the page is gone");
    }

    #[test]
    fn words_beyond_the_limit_are_left_out_and_that_is_said() {
        let long = "ä".repeat(100);
        let event = told("changed", &[(None, Some(&long)), (None, Some(&long))]).bounded(101);
        assert!(event.cut && event.paragraphs.len() == 1, "{event:?}");
        assert_eq!(event.paragraphs[0].after.as_ref().map(|text| text.chars().count()), Some(50));
        let whole = told("changed", &[(None, Some("a"))]);
        assert_eq!(whole.clone().bounded(9), whole);
    }
}
