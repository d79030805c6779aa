//! What differs between any two versions of a page: the changes alone, side by side, the whole text, or the source.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::diff_items::{self, Item};
use super::page::drawn;
use super::page_head::PageHead;
use super::told::{self, Aside};
use super::versions::{self, Choice, Steps};
use crate::answers::{Diff, DiffParagraph, Page, Status, Tally, Visit};
use crate::chart::{Svg, kinds, magnitude};
use crate::frame::{Frame, Place};
use crate::numbers::bytes;
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::{self, Times};

/// Visits among which versions can be chosen.
const VISITS_MAX: usize = 200;
/// Lines of source that one screen shows.
const SOURCE_LINES_MAX: usize = 2_000;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    url: String,
    from: String,
    to: String,
    view: String,
}

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffScreen {
    frame: Frame,
    head: PageHead,
    views: Vec<View>,
    shown: Result<Shown, String>,
    view: &'static str,
    url: String,
}

struct View {
    name: &'static str,
    words: &'static str,
    link: String,
    key: String,
}

struct Shown {
    pair: Pair,
    kinds: Svg,
    magnitude: (Svg, String),
    tally: Tally,
    sentence: String,
    items: Vec<Item>,
    source: Vec<SourceLine>,
    notes: Vec<(String, String)>,
    asides: Vec<Aside>,
    is_coarse: bool,
    citation: (String, String),
    watch: String,
}

/// The two versions, and others to choose.
struct Pair {
    from: Choice,
    to: Choice,
    choices: Vec<Choice>,
    steps: Steps,
    sizes: (String, String),
    digests: (String, String),
}

/// A line of source, with `added`, `removed`, `place` or nothing.
struct SourceLine {
    class: &'static str,
    text: String,
}

const VIEWS: [(&str, &str); 4] =
    [("changes", "Changes only"), ("side", "Side by side"), ("text", "Whole text"), ("source", "Source")];

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let view = VIEWS.iter().map(|(name, _)| *name).find(|name| *name == asked.view).unwrap_or("changes");
    let question = Question::of("diff").with("url", &asked.url);
    let question = question.with_some("from", Some(&asked.from)).with_some("to", Some(&asked.to));
    let history = Question::of("history").with("url", &asked.url).with("limit", VISITS_MAX);
    let source = async {
        let asks = view == "source";
        if asks { reader.text(question.clone().with("view", "source")).await.map(Some) } else { Ok(None) }
    };
    let (status, page, diff, visits, source) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.one::<Page>(Question::of("page").with("url", &asked.url)),
        reader.one::<Diff>(question.clone().with("full", true)),
        reader.list::<Visit>(history),
        source,
    );
    let (status, page) = (status?, page?);
    let times = Times::new(status.now());
    let head = PageHead::of(&page, "/diff");
    let shown = match diff {
        Ok(diff) => Ok(shown(&asked, view, diff, (&visits?.rows, source?.unwrap_or_default()), (&head, &times))),
        // A page with one version has nothing to compare; the line says which there are.
        Err(Problem { status, line }) if status == axum::http::StatusCode::NOT_FOUND => Err(line),
        Err(problem) => return Err(problem),
    };
    let to_view = |(place, (name, words)): (usize, (&'static str, &'static str))| View {
        name,
        words,
        link: link("/diff", &[("url", &*asked.url), ("from", &*asked.from), ("to", &*asked.to), ("view", name)]),
        key: (place + 1).to_string(),
    };
    drawn(&DiffScreen {
        frame: Frame::of(&reader, format!("Changes of {}", head.title), Place::Sites, &status),
        head,
        views: VIEWS.into_iter().enumerate().map(to_view).collect(),
        shown,
        view,
        url: asked.url.clone(),
    })
}

fn shown(
    asked: &Asked,
    view: &'static str,
    diff: Diff,
    (visits, source): (&[Visit], String),
    (head, times): (&PageHead, &Times),
) -> Shown {
    let (from, to) = (diff.from.number, diff.to.number);
    let permanent = link("/diff", &[("url", asked.url.as_str()), ("from", &from.to_string()), ("to", &to.to_string())]);
    let sentence = sentence(&diff, visits, times);
    let degree = if diff.change.degree.is_empty() { "none" } else { &diff.change.degree };
    Shown {
        pair: Pair {
            from: Choice::of(&diff.from, times),
            to: Choice::of(&diff.to, times),
            choices: versions::choices(visits, (&diff.from, &diff.to), times),
            steps: versions::steps(&asked.url, &asked.view, visits, (from, to)),
            sizes: (bytes(diff.from.body_bytes), bytes(diff.to.body_bytes)),
            digests: (diff.from.payload_digest.clone(), diff.to.payload_digest.clone()),
        },
        kinds: kinds(&diff.change),
        magnitude: (magnitude(diff.change.magnitude), format!("{degree}, {:.2}", diff.change.magnitude)),
        tally: tally(&diff.paragraphs),
        items: if view == "source" { Vec::new() } else { diff_items::items(&diff.paragraphs, view) },
        source: source.lines().take(SOURCE_LINES_MAX).map(source_line).collect(),
        notes: told::notes(&diff.change),
        asides: told::asides(&diff.change),
        is_coarse: diff.fallback.is_some(),
        citation: (permanent, format!("{} ({}), {sentence}", head.title, diff.url)),
        watch: head.watch.clone(),
        sentence,
    }
}

fn tally(paragraphs: &[DiffParagraph]) -> Tally {
    let count = |op: &str| paragraphs.iter().filter(|one| one.op == op).count() as u64;
    Tally {
        added: count("added"),
        removed: count("removed"),
        edited: count("edited"),
        moved: count("moved"),
        split: count("split"),
        merged: count("merged"),
    }
}

/// When the change was, and what lies between two versions that are no neighbours.
fn sentence(diff: &Diff, visits: &[Visit], times: &Times) -> String {
    let (from, to) = (diff.from.number, diff.to.number);
    if let (Some(same), Some(different)) = (&diff.seen_same, &diff.seen_different) {
        let lasted = times::second_of(same).zip(times::second_of(different)).map(|(a, b)| times::span(b - a));
        return format!(
            "Changed between {} and {} ({}). Version {from} became {to}{}.",
            times.moment(Some(same)).words,
            times.moment(Some(different)).words,
            lasted.unwrap_or_default(),
            diff.change.decided_by.as_ref().map_or_else(String::new, |by| format!("; decided by {by}"))
        );
    }
    let between = visits.iter().filter(|visit| {
        let number = visit.version.as_ref().map_or(0, |version| version.number);
        number > from.min(to) && number <= from.max(to) && visit.changed == Some(true)
    });
    let moments = (diff.from.moment.as_deref(), diff.to.moment.as_deref());
    let lasted = moments.0.and_then(times::second_of).zip(moments.1.and_then(times::second_of));
    let lasted = lasted.map_or_else(String::new, |(a, b)| times::span((b - a).abs()));
    let changes = crate::numbers::counted(between.count() as u64, "change");
    format!("{lasted} and {changes} lie between versions {from} and {to}.")
}

fn source_line(line: &str) -> SourceLine {
    let class = match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        Some(b'@') => "place",
        _ => "",
    };
    SourceLine { class, text: crate::words::cut(line, 2_000) }
}
