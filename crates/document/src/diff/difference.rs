//! The complete difference of two documents: what happened to each paragraph, and to the words of the edited ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use vernal_model::{Document, Operation, Role};

use super::explain::{after, before};
use super::headings::Headings;
use super::matching::{Pairing, match_paragraphs};
use super::steps::{STEPS_MAX, Steps};
use super::words::{BOUNDARY, Word, stayed, text_of, words};

/// The difference of two documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The numbers of the two versions, for display. `None` for documents that are not versions.
    pub from: Option<u32>,
    pub to: Option<u32>,
    /// In reading order. A removed paragraph is listed where it would be.
    pub paragraphs: Vec<ParagraphDiff>,
    /// Set where a limit was reached, so that the difference is coarser than it could be.
    pub fallback: Option<Fallback>,
    /// The steps it took, at most `STEPS_MAX`.
    #[serde(skip)]
    pub steps: u64,
}

/// Why a difference is coarser than it could be: the steps were used up or a paragraph was too long.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Some paragraphs were not compared word by word, or not with all candidates.
    WholeParagraph,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParagraphDiff {
    pub op: Operation,
    /// The paragraph's number within its page, 0 where there is none. See `Diff::number`.
    pub id: u32,
    #[serde(serialize_with = "role_by_name")]
    pub role: Role,
    /// The headings above it, the highest first.
    pub headings: Vec<Box<str>>,
    /// Its place in the version that has it, from 0: the new one, or the old one if removed.
    pub position: u32,
    /// Where it was before, if it was.
    pub from: Option<u32>,
    /// The other parts of a split (new places) or the other sources of a merge (old places).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u32>,
    /// Other items of the same list that changed places: old and new place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reordered: Vec<(u32, u32)>,
    /// The old words; of a merge, those of all sources, one to a line.
    pub before: Option<Box<str>>,
    /// The new words; of a split, those of all parts, one to a line.
    pub after: Option<Box<str>>,
    /// How `before` became `after`, where they differ. A line feed is a boundary between paragraphs. Without a space at the
    /// beginning, same and removed texts are the old words, and same and added texts are the new words.
    pub words: Vec<WordEdit>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WordEdit {
    pub op: WordOperation,
    pub text: Box<str>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WordOperation {
    Same,
    Added,
    Removed,
}

/// The difference of any two documents. It is empty if they have the same paragraphs.
pub fn diff(old: &Document, new: &Document) -> Diff {
    diff_within(old, new, &mut Steps::new(STEPS_MAX))
}

pub fn diff_within(old: &Document, new: &Document, steps: &mut Steps) -> Diff {
    let matching = match_paragraphs(old, new, steps);
    let mut diff = Diff::default();
    if matching.links.is_empty() {
        diff.steps = steps.spent();
        return diff;
    }
    let headings = (Headings::of(old), Headings::of(new));
    let mut whole = steps.have_ended();
    for link in &matching.links {
        let (before, after) = (before(old, link), after(new, link));
        let words = match (&before, &after) {
            (Some(before), Some(after)) if before != after => word_edits(before, after, steps).unwrap_or_else(|| {
                whole = true;
                replaced(before, after)
            }),
            _ => Vec::new(),
        };
        let (document, place, headings) = match (link.to, link.from) {
            (Some(to), _) => (new, to, &headings.1),
            (None, from) => (old, from.unwrap_or_default(), &headings.0),
        };
        diff.paragraphs.push(ParagraphDiff {
            op: link.operation,
            id: 0,
            role: document.paragraphs[place].role,
            headings: headings.trail(document, place),
            position: place as u32,
            from: link.to.and(link.from).map(|from| from as u32),
            others: link.others.iter().map(|&other| other as u32).collect(),
            reordered: reordered(link),
            before: before.map(Box::from),
            after: after.map(Box::from),
            words,
        });
    }
    diff.fallback = whole.then_some(Fallback::WholeParagraph);
    diff.steps = steps.spent();
    diff
}

fn reordered(link: &Pairing) -> Vec<(u32, u32)> {
    link.reordered.iter().map(|&(from, to)| (from as u32, to as u32)).collect()
}

impl Diff {
    pub fn is_empty(&self) -> bool {
        self.paragraphs.is_empty()
    }

    /// The numbers of the two versions.
    #[must_use]
    pub fn between(self, from: u32, to: u32) -> Self {
        Diff { from: Some(from), to: Some(to), ..self }
    }

    /// Fills in the numbers of the paragraphs from the marks of the two versions.
    pub fn number(&mut self, old: &[vernal_model::ParagraphMark], new: &[vernal_model::ParagraphMark]) {
        for paragraph in &mut self.paragraphs {
            let marks = if paragraph.op == Operation::Removed { old } else { new };
            paragraph.id = marks.get(paragraph.position as usize).map_or(0, |mark| mark.id);
        }
    }

    /// Makes the new paragraphs from the old ones. `None` if these are not the old paragraphs of this difference.
    pub fn apply(&self, old: &[&str]) -> Option<Vec<String>> {
        let mut left: Vec<Option<&str>> = old.iter().map(|text| Some(*text)).collect();
        let mut made: BTreeMap<usize, String> = BTreeMap::new();
        let mut put = |place: u32, text: String| made.insert(place as usize, text).is_none().then_some(());
        for paragraph in &self.paragraphs {
            for &(from, to) in &paragraph.reordered {
                put(to, left.get_mut(from as usize)?.take()?.to_string())?;
            }
            paragraph.apply(&mut left, &mut put)?;
        }
        let mut staying = left.into_iter().flatten();
        let mut all = Vec::with_capacity(old.len());
        loop {
            match made.remove(&all.len()).or_else(|| staying.next().map(str::to_string)) {
                Some(text) => all.push(text),
                None => return made.is_empty().then_some(all),
            }
        }
    }
}

impl ParagraphDiff {
    /// Removes its old paragraphs from `left` and inserts its new ones.
    fn apply(&self, left: &mut [Option<&str>], put: &mut impl FnMut(u32, String) -> Option<()>) -> Option<()> {
        if self.op == Operation::Added {
            return put(self.position, self.after.as_deref()?.to_string());
        }
        let from = if self.op == Operation::Removed { self.position } else { self.from? };
        let mut sources = vec![from];
        if self.op == Operation::Merged {
            sources.extend(&self.others);
            sources.sort_unstable();
        }
        let mut texts = Vec::with_capacity(sources.len());
        for source in sources {
            texts.push(left.get_mut(source as usize)?.take()?);
        }
        let before = texts.join("\n");
        if before != self.before.as_deref()? {
            return None;
        }
        if self.op == Operation::Removed {
            return Some(());
        }
        let after = if self.words.is_empty() { before } else { rebuilt(&self.words, WordOperation::Added) };
        if self.op != Operation::Split {
            return put(self.position, after);
        }
        let mut places = self.others.clone();
        places.push(self.position);
        places.sort_unstable();
        let parts: Vec<&str> = after.split(BOUNDARY).collect();
        if parts.len() != places.len() {
            return None;
        }
        places.into_iter().zip(parts).try_for_each(|(place, part)| put(place, part.to_string()))
    }
}

/// One side of an edit: the text that stayed and the text that is only on that side.
pub fn rebuilt(words: &[WordEdit], side: WordOperation) -> String {
    let on_side = words.iter().filter(|word| word.op == WordOperation::Same || word.op == side);
    let text: String = on_side.map(|word| &*word.text).collect();
    // The first word of a paragraph has no space before it, wherever it came from.
    let lines: Vec<&str> = text.split(BOUNDARY).map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// The words that stayed, were added and were removed. `None` when that takes too many steps.
pub fn word_edits(before: &str, after: &str, steps: &mut Steps) -> Option<Vec<WordEdit>> {
    // A space at the beginning of a paragraph cannot be distinguished from one that came with its word.
    let begins_with_space = |text: &str| text.split(BOUNDARY).any(|line| line.starts_with(' '));
    if begins_with_space(before) || begins_with_space(after) || !steps.spend((before.len() + after.len()) / 4) {
        return None;
    }
    let (old, new) = (words(before)?, words(after)?);
    let marks = |words: &[Word]| words.iter().map(|word| word.mark).collect::<Vec<u64>>();
    let mut stays = stayed(&marks(&old), &marks(&new), steps)?;
    join_islands(before, &old, &mut stays);
    let mut edits = Edits::default();
    let mut next = 0;
    for (place, to) in stays.iter().enumerate() {
        let Some(to) = *to else {
            edits.push(WordOperation::Removed, before, &old, place);
            continue;
        };
        while next < to {
            edits.push(WordOperation::Added, after, &new, next);
            next += 1;
        }
        edits.push(WordOperation::Same, before, &old, place);
        next = to + 1;
    }
    (next..new.len()).for_each(|place| edits.push(WordOperation::Added, after, &new, place));
    Some(edits.finish())
}

/// All of it removed, all of it added.
fn replaced(before: &str, after: &str) -> Vec<WordEdit> {
    let one = |op, text: &str| WordEdit { op, text: Box::from(text) };
    // A leading space would be removed as if it had come with its word.
    let guarded =
        after.split(BOUNDARY).map(|line| if line.starts_with(' ') { format!(" {line}") } else { line.into() });
    let after = guarded.collect::<Vec<String>>().join("\n");
    vec![one(WordOperation::Removed, before), one(WordOperation::Added, &after)]
}

/// A single sign or short word that stayed between two changes is easier to read as part of the change.
fn join_islands(text: &str, words: &[Word], stays: &mut [Option<usize>]) {
    for place in 1..stays.len().saturating_sub(1) {
        let alone = stays[place - 1].is_none() && stays[place + 1].is_none();
        let word = &text[words[place].start as usize..words[place].end as usize];
        if alone && !word.contains(|letter: char| letter.is_alphanumeric() || letter == BOUNDARY) {
            stays[place] = None;
        }
    }
}

/// Collects runs of words of one operation. In every change the removed words come before the added ones.
#[derive(Default)]
struct Edits {
    done: Vec<WordEdit>,
    same: String,
    removed: String,
    added: String,
}

impl Edits {
    fn push(&mut self, op: WordOperation, text: &str, words: &[Word], place: usize) {
        match op {
            WordOperation::Same if !(self.removed.is_empty() && self.added.is_empty()) => self.end_change(),
            WordOperation::Added | WordOperation::Removed if !self.same.is_empty() => self.end_same(),
            _ => {}
        }
        let word = &text[words[place].start as usize..words[place].end as usize];
        let to = match op {
            WordOperation::Same => &mut self.same,
            WordOperation::Added => &mut self.added,
            WordOperation::Removed => &mut self.removed,
        };
        let is_first = words[place].start == 0 || text[..words[place].start as usize].ends_with(BOUNDARY);
        let stands_first = self.done.is_empty() && to.is_empty();
        if is_first && !stands_first && !word.starts_with([' ', BOUNDARY]) {
            to.push(' ');
        }
        to.push_str(word);
    }

    fn end_same(&mut self) {
        let text = std::mem::take(&mut self.same).into();
        self.done.push(WordEdit { op: WordOperation::Same, text });
    }

    fn end_change(&mut self) {
        for (op, text) in [(WordOperation::Removed, &mut self.removed), (WordOperation::Added, &mut self.added)] {
            if !text.is_empty() {
                self.done.push(WordEdit { op, text: std::mem::take(text).into() });
            }
        }
    }

    fn finish(mut self) -> Vec<WordEdit> {
        if !self.same.is_empty() {
            self.end_same();
        }
        self.end_change();
        self.done
    }
}

pub fn role_by_name<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.name())
}

/// The texts of a document's paragraphs, as `Diff::apply` takes them.
pub fn texts(document: &Document) -> Vec<&str> {
    (0..document.paragraphs.len()).map(|place| text_of(document, place)).collect()
}
