//! Search: words that stand there now, that stood there once, or that were taken away; each hit with the life of its paragraph.

use askama::Template;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::hits::{HitShown, hit_shown};
use super::page::{drawn, leads_to};
use crate::answers::{Count, Facets, Hit, SearchLine, Site, Status};
use crate::chart::{Svg, meter};
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted};
use crate::problem::{Problem, Told};
use crate::question::{Question, link, segment};
use crate::reader::{Listed, Reader};
use crate::times::{Times, second_of, written};

/// Hits of one screen.
const HITS: usize = 10;
/// Rows of one facet.
const FACET_ROWS_MAX: usize = 8;
/// Which text is asked: the name in the address, and on the screen.
const WITHIN: [(&str, &str); 3] = [("now", "Now"), ("past", "Any version"), ("removed", "Removed text")];
const SORTS: [(&str, &str); 3] = [("relevance", "Best first"), ("fresh", "Best and new"), ("newest", "Newest first")];

#[derive(Clone, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct Asked {
    q: String,
    r#in: String,
    at: String,
    site: String,
    tag: String,
    lang: String,
    kind: String,
    from: String,
    until: String,
    like: String,
    sort: String,
    after: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct Search {
    frame: Frame,
    asked: Asked,
    tabs: Vec<Tab>,
    sorts: Vec<(&'static str, &'static str, bool)>,
    sites: Vec<String>,
    wrong: Option<String>,
    /// What was found, in a sentence; empty before anything is asked.
    says: String,
    hits: Vec<HitShown>,
    shown: String,
    more: Option<String>,
    facets: Vec<FacetShown>,
    narrowed: Vec<(String, String)>,
    watch: String,
    lines: String,
}

struct Tab {
    words: &'static str,
    count: Option<String>,
    link: String,
    is_shown: bool,
}

struct FacetShown {
    title: &'static str,
    rows: Vec<FacetRow>,
}

struct FacetRow {
    value: String,
    link: String,
    count: String,
    bar: Svg,
}

impl Asked {
    fn within(&self) -> &str {
        WITHIN.iter().map(|(name, _)| *name).find(|name| *name == self.r#in).unwrap_or("now")
    }

    fn sorted(&self) -> &str {
        let usual = if self.within() == "removed" { "newest" } else { "relevance" };
        SORTS.iter().map(|(name, _)| *name).find(|name| *name == self.sort).unwrap_or(usual)
    }

    fn is_empty(&self) -> bool {
        self.q.trim().is_empty() && self.like.is_empty()
    }

    fn question(&self, within: &str, limit: usize) -> Question {
        Question::of("search")
            .with_some("q", Some(&self.q))
            .with("in", within)
            .with_some("at", Some(&self.at))
            .with_some("site", Some(&self.site))
            .with_some("tag", Some(&self.tag))
            .with_some("lang", Some(&self.lang))
            .with_some("kind", Some(&self.kind))
            .with_some("from", Some(&self.from))
            .with_some("until", Some(&self.until))
            .with_some("like", Some(&self.like))
            .with("limit", limit)
    }

    /// The address of the same screen with some fields put in their place, from the first hit on.
    fn link(&self, put: &[(&str, &str)]) -> String {
        let own = [
            ("q", &*self.q),
            ("in", &*self.r#in),
            ("at", &*self.at),
            ("site", &*self.site),
            ("tag", &*self.tag),
            ("lang", &*self.lang),
            ("kind", &*self.kind),
            ("from", &*self.from),
            ("until", &*self.until),
            ("like", &*self.like),
            ("sort", &*self.sort),
        ];
        let is_put = |name: &str| put.iter().any(|(other, _)| *other == name);
        let pairs: Vec<(&str, &str)> =
            own.into_iter().filter(|(name, _)| !is_put(name)).chain(put.iter().copied()).collect();
        link("/search", &pairs)
    }
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    if let Some(address) = jump(&reader, &asked).await? {
        return Ok(leads_to(&address));
    }
    let status: Status = reader.one(Question::of("status")).await?;
    let found = if asked.is_empty() { Ok(None) } else { ask(&reader, &asked).await.map(Some) };
    let (found, wrong) = match found {
        Ok(found) => (found, None),
        Err(problem) if is_told_here(&problem) => (None, Some(problem.line)),
        Err(problem) => return Err(problem),
    };
    let counts = match &found {
        Some(found) => counts(&reader, &asked, found.total).await,
        None => [None; 3],
    };
    drawn(&screen(&reader, &status, asked, found.unwrap_or_default(), counts, wrong))
}

/// Words that cannot be asked so, and an index that is not open yet, are said above the form, so that nothing is lost.
fn is_told_here(problem: &Problem) -> bool {
    [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::SERVICE_UNAVAILABLE].contains(&problem.status)
}

/// Where a URL or the name of a site leads; words stay here.
async fn jump(reader: &Reader, asked: &Asked) -> Told<Option<String>> {
    let text = asked.q.trim();
    let is_plain = asked.r#in.is_empty() && asked.like.is_empty();
    if !is_plain || text.contains(char::is_whitespace) {
        return Ok(None);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        let held = reader.maybe::<serde_json::Value>(Question::of("page").with("url", text)).await;
        return Ok(matches!(held, Ok(Some(_))).then(|| link("/page", &[("url", text)])));
    }
    if !text.contains('.') || text.contains(':') && !text.rsplit(':').next().is_some_and(is_port) {
        return Ok(None);
    }
    let sites = reader.list::<Site>(Question::of("sites").with("site", text)).await;
    let site = sites.ok().and_then(|listed| listed.rows.into_iter().next());
    Ok(site.map(|site| format!("/sites/{}", segment(&site.site))))
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

#[derive(Default)]
struct Found {
    total: u64,
    exact: bool,
    facets: Facets,
    hits: Vec<Hit>,
    after: Option<String>,
}

async fn ask(reader: &Reader, asked: &Asked) -> Told<Found> {
    let question =
        asked.question(asked.within(), HITS).with("sort", asked.sorted()).with_some("after", Some(&asked.after));
    let Listed { rows, after } = reader.list::<SearchLine>(question).await?;
    let mut found = Found { after, ..Found::default() };
    for line in rows {
        match line.total {
            Some(total) => (found.total, found.exact, found.facets) = (total, line.exact, line.facets),
            None => found.hits.push(line.hit),
        }
    }
    Ok(found)
}

/// How many there are now, in any version and removed. What cannot be counted is not said.
async fn counts(reader: &Reader, asked: &Asked, total: u64) -> [Option<u64>; 3] {
    if !asked.at.is_empty() {
        return [None; 3];
    }
    let mut counts = [None; 3];
    for (place, (name, _)) in WITHIN.into_iter().enumerate() {
        counts[place] = match name == asked.within() {
            true => Some(total),
            false => {
                let listed = reader.list::<SearchLine>(asked.question(name, 1)).await.ok();
                listed.and_then(|listed| listed.rows.first()?.total)
            }
        };
    }
    counts
}

fn screen(
    reader: &Reader,
    status: &Status,
    asked: Asked,
    found: Found,
    counts: [Option<u64>; 3],
    wrong: Option<String>,
) -> Search {
    let times = Times::new(status.now());
    let until = status.now().and_then(second_of).unwrap_or_default();
    let born = |hit: &Hit| hit.born.as_ref().and_then(|born| second_of(born.seen_different.as_deref()?));
    let from = found.hits.iter().filter_map(born).fold(until, f64::min);
    let hits = found.hits.iter().map(|hit| hit_shown(hit, &times, (from, until))).collect();
    let tabs = WITHIN.iter().zip(counts).map(|((name, words), count_of)| Tab {
        words,
        count: count_of.map(count),
        link: asked.link(&[("in", name), ("at", "")]),
        is_shown: asked.at.is_empty() && asked.within() == *name,
    });
    let mut sites: Vec<String> = found.facets.by_site.iter().map(|count| count.value.clone()).collect();
    if !asked.site.is_empty() && !sites.contains(&asked.site) {
        sites.push(asked.site.clone());
    }
    Search {
        frame: Frame::of(reader, "Search", Place::Search, status),
        tabs: tabs.collect(),
        sorts: SORTS.map(|(name, words)| (name, words, name == asked.sorted())).into_iter().collect(),
        sites,
        says: if asked.is_empty() || wrong.is_some() { String::new() } else { says(&asked, &found) },
        shown: format!("{} of {}", count(found.hits.len() as u64), count(found.total)),
        more: found.after.as_deref().map(|after| asked.link(&[("after", after)])),
        facets: facets(&asked, &found.facets),
        narrowed: narrowed(&asked),
        watch: watch(&asked),
        lines: asked.question(asked.within(), 200).address(),
        hits,
        wrong,
        asked,
    }
}

fn says(asked: &Asked, found: &Found) -> String {
    let about = if found.exact { "" } else { "About " };
    let what = match (&*asked.q, &*asked.like) {
        (q, "") => format!("with “{}”", q.trim()),
        ("", like) => format!("with the telling words of {like}"),
        (q, like) => format!("with “{}” and the telling words of {like}", q.trim()),
    };
    if !asked.at.is_empty() {
        return format!("{about}{} {what} as of {}.", counted(found.total, "page"), asked.at);
    }
    match asked.within() {
        "removed" if found.total == 1 => format!("{about}1 paragraph {what} was on a page once and is not any more."),
        "removed" => {
            format!("{about}{} paragraphs {what} were on a page once and are not any more.", count(found.total))
        }
        "past" => format!("{about}{} {what}, now or once.", counted(found.total, "text")),
        _ => format!("{about}{} {what} now.", counted(found.total, "page")),
    }
}

fn facets(asked: &Asked, facets: &Facets) -> Vec<FacetShown> {
    let shown = |title, field: &str, counts: &[Count]| {
        let most = counts.iter().map(|count| count.count).max().unwrap_or(1).max(1) as f64;
        let row = |one: &Count| FacetRow {
            link: match field {
                "from" => asked.link(&[("from", &format!("{}-01", one.value)), ("until", &next_month(&one.value))]),
                field => asked.link(&[(field, &one.value)]),
            },
            count: count(one.count),
            bar: meter(one.count as f64 / most, &count(one.count), false),
            value: if field == "from" { month(&one.value) } else { one.value.clone() },
        };
        FacetShown { title, rows: counts.iter().take(FACET_ROWS_MAX).map(row).collect() }
    };
    let months = if asked.within() == "removed" { "When the words were removed" } else { "When the words came" };
    let all = [
        shown("Where", "site", &facets.by_site),
        shown(months, "from", &facets.by_month),
        shown("By what kind of change", "kind", &facets.by_kind),
        shown("Language", "lang", &facets.by_language),
    ];
    all.into_iter().filter(|facet| !facet.rows.is_empty()).collect()
}

/// `December 2026`
fn month(month: &str) -> String {
    second_of(&format!("{month}-01T00:00:00Z")).map_or_else(|| month.to_owned(), |second| written(second, "%B %Y"))
}

/// `2026-12` is followed by `2027-01-01`.
fn next_month(month: &str) -> String {
    let parts =
        month.split_once('-').and_then(|(year, month)| Some((year.parse::<i32>().ok()?, month.parse::<u32>().ok()?)));
    match parts {
        Some((year, 12)) => format!("{}-01-01", year + 1),
        Some((year, month)) => format!("{year:04}-{:02}-01", month + 1),
        None => String::new(),
    }
}

/// What narrows the search, each with the address that takes it away.
fn narrowed(asked: &Asked) -> Vec<(String, String)> {
    let fields = [
        ("tag", "tag", &asked.tag),
        ("lang", "language", &asked.lang),
        ("kind", "kind", &asked.kind),
        ("from", "from", &asked.from),
        ("until", "until", &asked.until),
        ("like", "like", &asked.like),
    ];
    let given = fields.into_iter().filter(|(_, _, value)| !value.is_empty());
    given.map(|(field, name, value)| (format!("{name} {value}"), asked.link(&[(field, "")]))).collect()
}

/// A watch for the like of this search: the words that leave, or the pages that have them.
fn watch(asked: &Asked) -> String {
    match (asked.within(), asked.site.is_empty()) {
        ("removed", false) => {
            link("/watches/new", &[("over", "site"), ("what", &*asked.site), ("words", &*asked.q), ("in", "removed")])
        }
        ("removed", true) => {
            link("/watches/new", &[("over", "search"), ("what", &*asked.q), ("words", &*asked.q), ("in", "removed")])
        }
        _ => link("/watches/new", &[("over", "search"), ("what", &*asked.q)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facet_keeps_what_was_asked_and_begins_anew() {
        let asked = Asked { q: "a&b".into(), r#in: "removed".into(), after: "a10".into(), ..Asked::default() };
        assert_eq!(asked.link(&[("site", "x.example")]), "/search?q=a%26b&in=removed&site=x.example");
        assert_eq!((asked.sorted(), Asked::default().sorted()), ("newest", "relevance"));
        assert_eq!([next_month("2026-12"), next_month("2026-09"), next_month("<")], ["2027-01-01", "2026-10-01", ""]);
    }
}
