//! The paragraphs that a difference leaves alone, for readers who want the whole page.

use std::collections::{HashMap, VecDeque};

use vernal_model::{Document, Role};

use super::headings::Headings;
use super::render::{Row, View, rows, touched};
use super::words::text_of;
use super::{Diff, ParagraphDiff};

/// A paragraph in neither version of which the difference says anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Unchanged {
    /// Its place in the new version.
    pub position: u32,
    /// Its place in the old version; `None` where its words differ and that was set aside.
    pub from: Option<u32>,
    pub role: Role,
    /// The headings above it, the highest first.
    pub headings: Vec<Box<str>>,
    pub text: Box<str>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reading<'a> {
    Changed(&'a ParagraphDiff),
    Unchanged(Unchanged),
}

/// The whole page in reading order: what changed where it is or was, and everything else between.
pub fn whole<'a>(diff: &'a Diff, old: &Document, new: &Document) -> Vec<Reading<'a>> {
    let (old_touched, _) = touched(diff);
    let mut places: HashMap<u64, VecDeque<u32>> = HashMap::new();
    for (place, paragraph) in (0u32..).zip(&old.paragraphs) {
        if old_touched.binary_search(&place).is_err() {
            places.entry(paragraph.digest).or_default().push_back(place);
        }
    }
    let headings = Headings::of(new);
    let view = View { full: true, ..View::default() };
    let all = rows(diff, new, &view).into_iter().filter_map(|row| match row {
        Row::Changed(paragraph) => Some(Reading::Changed(paragraph)),
        Row::Skipped(_) => None,
        Row::Same(place) => {
            let paragraph = &new.paragraphs[place];
            Some(Reading::Unchanged(Unchanged {
                position: place as u32,
                from: places.get_mut(&paragraph.digest).and_then(VecDeque::pop_front),
                role: paragraph.role,
                headings: headings.trail(new, place),
                text: text_of(new, place).into(),
            }))
        }
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use vernal_model::{Digest, Operation, Url};

    use super::*;
    use crate::diff::diff;
    use crate::{Input, read};

    fn document(paragraphs: &[&str]) -> Document {
        let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect();
        read(&Input {
            url: &Url::parse("http://a.example/").unwrap(),
            bytes: body.as_bytes(),
            content_type: Some("text/html"),
            content_language: None,
            robots_tags: &[],
            payload: Digest::default(),
        })
        .document
    }

    #[test]
    fn every_paragraph_of_both_versions_is_read_once_and_in_order() {
        let old = document(&["One stays.", "Two is edited today.", "Three goes away.", "Four stays.", "Five stays."]);
        let new =
            document(&["One stays.", "Two is edited tomorrow.", "Four stays.", "Six is new here.", "Five stays."]);
        let diff = diff(&old, &new);
        let read = whole(&diff, &old, &new);
        let told: Vec<(&str, u32, Option<u32>)> = read
            .iter()
            .map(|reading| match reading {
                Reading::Unchanged(same) => ("same", same.position, same.from),
                Reading::Changed(one) if one.op == Operation::Removed => ("removed", one.position, None),
                Reading::Changed(one) => ("changed", one.position, one.from),
            })
            .collect();
        let expected = [
            ("same", 0, Some(0)),
            ("changed", 1, Some(1)),
            ("removed", 2, None),
            ("same", 2, Some(3)),
            ("changed", 3, None),
            ("same", 4, Some(4)),
        ];
        assert_eq!(told, expected);
        let same = read.iter().filter_map(|reading| match reading {
            Reading::Unchanged(same) => Some(&*same.text),
            Reading::Changed(_) => None,
        });
        assert_eq!(same.collect::<Vec<_>>(), ["One stays.", "Four stays.", "Five stays."]);
    }
}
