//! Where each word of a page came from, and what was removed.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use super::page_head::PageHead;
use crate::answers::{Blame, BlamedParagraph, Event, Page, Status};
use crate::frame::{Frame, Place};
use crate::numbers::counted;
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::{Bracket, Times};
use crate::words;

/// Paragraphs of one page that are told.
const PARAGRAPHS_MAX: usize = 1_000;
/// Events of the page that are looked through for what was removed.
const EVENTS_READ: usize = 60;
const REMOVED_SHOWN: usize = 12;
/// Shades of age.
const AGES: usize = 5;

#[derive(Deserialize)]
pub struct Asked {
    url: String,
    #[serde(default)]
    at: String,
}

#[derive(Template)]
#[template(path = "blame.html")]
struct BlameScreen {
    frame: Frame,
    head: PageHead,
    lead: String,
    lines: Vec<Line>,
    removed: Vec<Removed>,
    /// Why there is nothing to tell.
    nothing: String,
}

struct Line {
    id: Option<String>,
    age: usize,
    class: &'static str,
    version: u32,
    link: String,
    when: String,
    edits: String,
    /// Runs of words with the shade of their version; none where they are as old as their paragraph.
    pieces: Vec<(Option<usize>, String)>,
    /// Whether it is of the same version as the one above.
    is_quiet: bool,
}

struct Removed {
    text: String,
    when: Bracket,
    link: String,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let question = Question::of("blame").with("url", &asked.url).with_some("at", Some(&asked.at));
    let events = Question::of("changes").with("order", "newest").with("prefix", &asked.url).with("limit", EVENTS_READ);
    let (status, page, blame, events) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.one::<Page>(Question::of("page").with("url", &asked.url)),
        reader.one::<Blame>(question.with("limit", PARAGRAPHS_MAX)),
        reader.list::<Event>(events),
    );
    let (status, page) = (status?, page?);
    let times = Times::new(status.now());
    let head = PageHead::of(&page, "/blame");
    let (blame, nothing) = match blame {
        Ok(blame) => (blame, String::new()),
        Err(Problem { status: axum::http::StatusCode::NOT_FOUND, line }) => (Blame::default(), line),
        Err(problem) => return Err(problem),
    };
    let lead = format!(
        "Version {} has {}. Its words came with {}; younger words are underlined.",
        blame.version,
        counted(blame.paragraphs.len() as u64, "paragraph"),
        counted(ages(&blame).len() as u64, "version")
    );
    drawn(&BlameScreen {
        frame: Frame::of(&reader, format!("Blame of {}", head.title), Place::Sites, &status),
        lines: lines(&asked.url, &blame, &times),
        removed: removed(&asked.url, &events?.rows, &times),
        head,
        lead,
        nothing,
    })
}

/// The shade of each version that brought something: 0 for the youngest.
fn ages(blame: &Blame) -> BTreeMap<u32, usize> {
    let own = blame.paragraphs.iter().flat_map(|one| [one.born.version, one.edited.version]);
    let of_words = blame.paragraphs.iter().flat_map(|one| one.words.iter().map(|words| words.version));
    let mut versions: Vec<u32> = own.chain(of_words).collect();
    versions.sort_unstable();
    versions.dedup();
    let last = versions.len().saturating_sub(1).max(1);
    let shade = |place: usize| (last.saturating_sub(place)) * (AGES - 1) / last;
    versions.into_iter().enumerate().map(|(place, version)| (version, shade(place))).collect()
}

fn lines(url: &str, blame: &Blame, times: &Times) -> Vec<Line> {
    let ages = ages(blame);
    let age = |version: u32| ages.get(&version).copied().unwrap_or(AGES - 1);
    let mut last = None;
    let line = |one: &BlamedParagraph| {
        let version = one.edited.version.max(one.born.version);
        let seen = if one.edited.version >= one.born.version { &one.edited } else { &one.born };
        let is_quiet = last.replace(version) == Some(version);
        let anchor = one.id.as_ref().map_or_else(String::new, |id| format!("#{id}"));
        let number = version.to_string();
        let pieces = one.words.iter().map(|words| {
            let shade = age(words.version);
            (
                Some(shade).filter(|_| words.version > one.born.version && shade < AGES - 1),
                words::paragraph(&words.text),
            )
        });
        let mut pieces: Vec<(Option<usize>, String)> = pieces.collect();
        if pieces.is_empty() {
            pieces.push((None, words::paragraph(&one.text)));
        }
        Line {
            id: one.id.clone(),
            age: age(version),
            class: match one.role.as_str() {
                "heading" | "title" => "h",
                "navigation" | "footer" => "nav-p",
                _ => "",
            },
            version,
            link: if version > 1 {
                link("/diff", &[("url", url), ("to", &*number)]) + &anchor
            } else {
                link("/page", &[("url", url)])
            },
            when: times.moment(seen.moment.as_deref()).words,
            edits: if one.edits > 0 { counted(one.edits, "edit") } else { String::new() },
            pieces,
            is_quiet,
        }
    };
    blame.paragraphs.iter().map(line).collect()
}

fn removed(url: &str, events: &[Event], times: &Times) -> Vec<Removed> {
    let of_page = events.iter().filter(|event| event.url == url);
    let all = of_page
        .flat_map(|event| event.paragraphs.iter().filter(|one| one.op == "removed").map(move |one| (event, one)));
    let shown = all.filter_map(|(event, one)| {
        let to = event.version?.to_string();
        let anchor = one.id.as_ref().map_or_else(String::new, |id| format!("#{id}"));
        Some(Removed {
            text: words::cut(one.before.as_deref()?, 600),
            when: times.bracket(event.seen_same.as_deref(), event.seen_different.as_deref()),
            link: link("/diff", &[("url", url), ("to", &*to)]) + &anchor,
        })
    });
    shown.take(REMOVED_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Seen;

    #[test]
    fn the_youngest_version_has_the_strongest_shade() {
        let one = |version| BlamedParagraph {
            born: Seen { version, moment: None },
            edited: Seen { version, moment: None },
            ..BlamedParagraph::default()
        };
        let blame = Blame { paragraphs: [1, 3, 7, 9, 12].map(one).into(), ..Blame::default() };
        let shades: Vec<usize> = ages(&blame).into_values().collect();
        assert_eq!(shades, [4, 3, 2, 1, 0]);
        let single = Blame { paragraphs: vec![one(1)], ..Blame::default() };
        assert_eq!(ages(&single).into_values().collect::<Vec<_>>(), [4]);
    }
}
