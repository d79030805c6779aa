//! Whoever knows nothing but the events, and the numbers that are kept of each version, holds every page: on the invented
//! web, and on a site that is edited at random.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;
mod small_web;

use std::collections::BTreeMap;

use proptest::prelude::*;
use small_web::{SmallWeb, url};
use vernal_crawler::Settings;
use vernal_document::diff::{NumberedParagraph, replay, replica_steps, texts};
use vernal_document::{Input, read};
use vernal_model::{
    Chance, Digest, Event, EventKind, FoldKey, NumberRun, Page, PageKey, PageState, Span, Version, VersionRow,
};
use vernal_repository::{Cursor, Reader};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{Web, WebSettings};

/// The paragraphs of a version with their numbers, as the archive and the tables have them.
fn paragraphs(reader: &Reader, page: &Page, version: &Version) -> Vec<NumberedParagraph> {
    let record = reader.body(&version.location.expect("it is archived")).unwrap();
    let http = record.http().expect("it is a response");
    let document = read(&Input {
        url: &page.url,
        bytes: record.payload().unwrap(),
        content_type: http.header("content-type"),
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    })
    .document;
    let count = document.paragraphs.len();
    let numbers = match reader.version_row(page.key, version.number).unwrap() {
        Some(row) => NumberRun::numbers(&row.numbers, count + 1),
        None => {
            assert_eq!(version.number, 1, "only the numbers of a first version are not kept");
            (1..=count as u32).collect()
        }
    };
    assert_eq!(numbers.len(), count, "{} version {}", page.url, version.number);
    let all = document.paragraphs.iter().zip(texts(&document)).zip(numbers);
    all.map(|((one, text), number)| NumberedParagraph { number, role: one.role, text: text.into() }).collect()
}

fn events(reader: &Reader) -> Vec<(Cursor, Event)> {
    let all = reader.events(Cursor::START, usize::MAX).unwrap();
    all.into_iter().map(|(cursor, _, event)| (cursor, event)).collect()
}

/// What a program that follows the events holds of one page.
#[derive(Default)]
struct Held {
    version: Option<u32>,
    paragraphs: Vec<NumberedParagraph>,
}

/// Follows all events, and holds what is held at each cursor against the version that it tells of.
fn follow(reader: &Reader) -> BTreeMap<PageKey, Held> {
    let mut pages: BTreeMap<PageKey, Held> = BTreeMap::new();
    let mut versions: BTreeMap<PageKey, Vec<Version>> = BTreeMap::new();
    for (cursor, event) in events(reader) {
        let page = reader.page(event.page).unwrap().unwrap();
        let versions = versions.entry(page.key).or_insert_with(|| reader.versions(page.key).unwrap());
        let of = |number: Option<u32>| {
            let version = versions.iter().find(|version| Some(version.number) == number).expect("it is a version");
            paragraphs(reader, &page, version)
        };
        let held = pages.entry(event.page).or_default();
        match event.kind {
            EventKind::New | EventKind::Back => held.paragraphs = of(event.version.or(event.previous)),
            EventKind::Gone => held.paragraphs.clear(),
            EventKind::Changed => {
                assert_eq!(event.previous, held.version, "{} at {cursor}: the version that was told last", page.url);
                let (old, new) = (of(event.previous), of(event.version));
                let steps = replica_steps(&old, &new).expect("each number occurs once");
                held.paragraphs = replay(&held.paragraphs, &steps).expect("the steps begin with what is held");
                assert_eq!(held.paragraphs, new, "{} at {cursor}", page.url);
            }
            EventKind::Template => {
                assert!(reader.told_folds(cursor).unwrap().is_some(), "it is an event of the site");
                continue;
            }
            _ => {}
        }
        held.version = event.version.or(held.version);
    }
    pages
}

/// Every page is held as its newest version is.
fn assert_followed(reader: &Reader) -> usize {
    let mut followed = follow(reader);
    let mut held = 0;
    for page in reader.pages(None, usize::MAX).unwrap() {
        let Some(version) = page.version else { continue };
        let found = followed.remove(&page.key).unwrap_or_default();
        if page.state == PageState::Gone {
            assert_eq!(found.paragraphs, [], "{} is gone", page.url);
            continue;
        }
        assert_eq!(found.version, Some(version.number), "{}: every version is told", page.url);
        assert_eq!(found.paragraphs, paragraphs(reader, &page, &version), "{}", page.url);
        let marks = reader.document(page.key).unwrap().unwrap().signature.paragraphs;
        assert!(found.paragraphs.iter().map(|one| one.number).eq(marks.iter().map(|mark| mark.id)), "{}", page.url);
        held += 1;
    }
    held
}

#[test]
fn on_the_invented_web_events_and_numbers_tell_every_page_with_noise_and_edits() {
    for (noise, chance) in [(false, 3), (true, 4)] {
        let drift = DriftSettings::independent(0.6);
        let web = Web::new(WebSettings { noise, drift, chance, ..WebSettings::plain(2, 25) }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin;
        let settings =
            Settings { budget: "200%/day".parse().unwrap(), delay: Span::from_millis(100), ..Settings::default() };
        let crawler = invented::seeded(&web, folder.path(), settings, start);
        let mut trial = Trial::new(&web, crawler, start, 5).committing_every(Span::from_hours(1));
        trial.run_until(start + Span::from_days(8)).unwrap();
        let now = trial.now();
        trial.crawler().commit(now).unwrap();
        let reader = trial.crawler().reader();
        assert!(assert_followed(&reader) > 40);
        let changed = events(&reader).iter().filter(|(_, event)| event.kind == EventKind::Changed).count();
        assert!(changed > 100, "{changed}");
    }
}

/// A site of pages with prose, a sidebar of counts and a footer.
struct Prose {
    pages: Vec<Vec<(&'static str, String)>>,
    missing: Vec<bool>,
    posts: u32,
    year: u32,
    style: u32,
    chance: Chance,
}

const PAGES: usize = 8;
const PATHS: [&str; PAGES] = ["/p0", "/p1", "/p2", "/p3", "/p4", "/p5", "/p6", "/p7"];

impl Prose {
    fn new(chance: u64) -> Prose {
        let mut prose = Prose {
            pages: Vec::new(),
            missing: vec![false; PAGES],
            posts: 286,
            year: 2024,
            style: 1,
            chance: Chance::new(chance),
        };
        for _ in 0..PAGES {
            let page = (0..5).map(|_| ("p", prose.sentences())).collect();
            prose.pages.push(page);
        }
        prose
    }

    fn sentences(&mut self) -> String {
        const WORDS: [&str; 16] = [
            "river", "stone", "lantern", "quiet", "market", "winter", "garden", "letter", "harbour", "copper",
            "thunder", "meadow", "basket", "kitchen", "orchard", "candle",
        ];
        let count = 1 + self.chance.below(3);
        let sentence = |chance: &mut Chance| {
            let words = (0..4 + chance.below(6)).map(|_| WORDS[chance.below(16) as usize]).collect::<Vec<&str>>();
            format!("The {}.", words.join(" "))
        };
        (0..count).map(|_| sentence(&mut self.chance)).collect::<Vec<String>>().join(" ")
    }

    /// One edit somewhere, as people make them.
    fn edit(&mut self) {
        let page = self.chance.below(PAGES as u64) as usize;
        let fresh = self.sentences();
        let paragraphs = self.pages[page].len();
        let (at, to) = (self.chance.below(paragraphs as u64) as usize, self.chance.below(paragraphs as u64) as usize);
        let body = &mut self.pages[page];
        match self.chance.below(12) {
            0 => body[at].1 = body[at].1.replacen("The ", "The old ", 1),
            1 => body.insert(at, ("p", fresh)),
            2 if paragraphs > 2 => _ = body.remove(at),
            3 => {
                let moved = body.remove(at);
                body.insert(to.min(body.len()), moved);
            }
            4 => {
                if let Some((one, two)) = body[at].1.clone().split_once(". ") {
                    body[at].1 = format!("{one}.");
                    body.insert(at + 1, ("p", two.to_owned()));
                }
            }
            5 if at + 1 < paragraphs => {
                let (_, next) = body.remove(at + 1);
                body[at].1 = format!("{} {next}", body[at].1);
            }
            6 => *body = vec![("h2", fresh.clone()), ("p", fresh)],
            7 => self.missing[page] = !self.missing[page],
            8 => self.posts += 1,
            9 => self.year += 1,
            10 => self.style += 1,
            _ => body[at].0 = if body[at].0 == "p" { "blockquote" } else { "p" },
        }
    }

    fn write(&self, web: &mut SmallWeb) {
        let Prose { posts, year, style, .. } = self;
        let links: String = PATHS.iter().map(|path| format!("<a href=\"{path}\">{path}</a> ")).collect();
        let framed = |number: usize, body: String| {
            format!(
                "<html><head><title>Page {number}</title><link rel=stylesheet href=\"/s{style}.css\"></head><body>\
                 <nav>Page {number} of {posts} posts</nav><main>{body}</main><footer>© {year} The author</footer></body></html>"
            )
        };
        web.put("/", "text/html", framed(99, links));
        for (number, body) in self.pages.iter().enumerate() {
            let body = body.iter().map(|(tag, words)| format!("<{tag}>{words}</{tag}>")).collect();
            match self.missing[number] {
                true => web.take(PATHS[number]),
                false => web.put(PATHS[number], "text/html", framed(number, body)),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_of_a_site_are_followed_through_folds_splits_merges_gone_and_back(chance in any::<u64>()) {
        let mut prose = Prose::new(chance);
        let mut web = SmallWeb::new("5000%/day");
        for _ in 0..10 {
            prose.write(&mut web);
            web.run_for(Span::from_days(2));
            for _ in 0..1 + prose.chance.below(4) {
                prose.edit();
            }
        }
        prop_assert!(assert_followed(&web.crawler.reader()) > 0);
    }
}

#[test]
fn a_page_that_is_gone_or_redirected_comes_back_whole() {
    let mut prose = Prose::new(7);
    let mut web = SmallWeb::new("5000%/day");
    prose.write(&mut web);
    web.run_for(Span::from_days(1));
    prose.missing[3] = true;
    prose.write(&mut web);
    web.run_for(Span::from_days(5));
    let page = |web: &SmallWeb| web.crawler.reader().page_by_url(&url(PATHS[3])).unwrap().unwrap();
    assert_eq!(page(&web).state, PageState::Gone);
    assert_followed(&web.crawler.reader());
    prose.missing[3] = false;
    prose.write(&mut web);
    web.run_for(Span::from_days(40));
    assert_eq!(page(&web).state, PageState::Held);
    assert_followed(&web.crawler.reader());
    let kinds: Vec<EventKind> =
        web.crawler.reader().page_events(page(&web).key).unwrap().into_iter().map(|(_, _, event)| event.kind).collect();
    assert_eq!(kinds, [EventKind::New, EventKind::Gone, EventKind::Back]);
}

/// The words of the operations that an event of a page tells itself, with the URL of the page.
type OfPage = (String, Vec<String>);
/// The words of the operations that the site tells together, with the number of their pages.
type OfSite = (u32, Vec<String>);

/// What the listing shows at the end: of each page the operations that are not told by the site, and of the site each
/// fold that is, with its pages. Both by their words.
fn listed(reader: &Reader) -> (Vec<OfPage>, Vec<OfSite>) {
    let mut own: Vec<OfPage> = Vec::new();
    let mut folds: BTreeMap<(u64, u32), Vec<String>> = BTreeMap::new();
    for (cursor, event) in events(reader) {
        let words = |event: &Event| -> Vec<String> {
            let of_paragraph = event.change.paragraphs.iter().map(|one| format!("{:?} {:?}", one.operation, one.role));
            let of_note =
                event.change.notes.iter().map(|note| format!("{} {:?} {:?}", note.what, note.before, note.after));
            of_paragraph.chain(of_note).collect()
        };
        let fold = |key: &FoldKey| {
            let row = reader.folds(event.page.partition, key.mark).unwrap();
            row.and_then(|row| row.fold(key.number).cloned()).expect("each operation has its fold")
        };
        match event.kind {
            EventKind::Changed => {
                let row = reader.version_row(event.page, event.version.unwrap()).unwrap().unwrap_or_default();
                let keys: Vec<FoldKey> = keys_of(&row);
                let left: Vec<String> = words(&event)
                    .into_iter()
                    .zip(&keys)
                    .filter(|(_, key)| !fold(key).is_told())
                    .map(|(words, _)| words)
                    .collect();
                if !left.is_empty() {
                    own.push((event.url.to_string(), left));
                }
            }
            EventKind::Template => {
                let told = reader.told_folds(cursor).unwrap().unwrap();
                for (words, key) in words(&event).into_iter().zip(told.operations.iter().chain(&told.notes)) {
                    let fold = fold(key);
                    if fold.told == told.pages {
                        folds.entry((fold.versions, fold.pages)).or_default().push(words);
                    }
                }
            }
            _ => {}
        }
    }
    own.sort();
    let mut folds: Vec<OfSite> = folds.into_iter().map(|((_, pages), words)| (pages, words)).collect();
    folds.sort();
    (own, folds)
}

fn keys_of(row: &VersionRow) -> Vec<FoldKey> {
    row.operations.iter().chain(&row.notes).copied().collect()
}

/// A site of fifty pages whose template changed in four ways, some pages with an edit of their own.
struct Redesigned {
    paths: Vec<&'static str>,
}

impl Redesigned {
    fn new() -> Redesigned {
        let paths = (0..50).map(|page| &*Box::leak(format!("/page-{page}").into_boxed_str()));
        Redesigned { paths: paths.collect() }
    }

    fn page(&self, number: usize, is_new: bool, what: &str) -> String {
        let is_new_here = |change: &str| is_new && what.contains(change);
        let count = if is_new_here("sidebar") { 287 } else { 286 };
        let year = if is_new_here("footer") { 2026 } else { 2025 };
        let style = if is_new_here("style") { "b" } else { "a" };
        let mut menu = ["Home", "Archive of all posts", "Tags", "About the author"];
        if is_new_here("list") {
            menu.swap(1, 2);
        }
        let menu: String = menu.iter().map(|item| format!("<li>{item}</li>")).collect();
        let own = if is_new_here("own") && number.is_multiple_of(10) {
            format!("<p>What page {number} alone has to say is new today and of no other page.</p>")
        } else {
            String::new()
        };
        format!(
            "<html><head><title>Page {number}</title><link rel=stylesheet href=\"/{style}.css\"></head><body>\
             <nav><ul>{menu}</ul></nav><main><p>These are the words of page {number}, which stay as they are.</p>{own}</main>\
             <aside><p>Page {number} of {count} posts</p></aside><footer>© {year} The author</footer></body></html>"
        )
    }

    /// Crawls the site before and after, the pages in the order that the number gives.
    fn crawl(&self, order: u64, what: &str) -> Reader {
        let mut web = SmallWeb::new("100000%/day");
        let mut paths = self.paths.clone();
        Chance::new(order).shuffle(&mut paths);
        let links: String = paths.iter().map(|path| format!("<a href=\"{path}\">{path}</a> ")).collect();
        web.put("/", "text/html", format!("<html><body><p>All pages:</p>{links}</body></html>"));
        for is_new in [false, true] {
            for (number, path) in self.paths.iter().enumerate() {
                web.put(path, "text/html", self.page(number, is_new, what));
            }
            web.run_for(Span::from_days(6));
        }
        let reader = web.crawler.reader();
        std::mem::forget(web);
        reader
    }
}

#[test]
fn one_change_of_fifty_pages_is_one_row_whatever_the_order_of_the_visits() {
    let site = Redesigned::new();
    for (what, rows) in [("sidebar", 1), ("footer", 1), ("style", 1), ("list", 1), ("sidebar footer own", 1)] {
        let (own, folds) = listed(&site.crawl(1, what));
        assert_eq!((folds.len(), folds[0].0), (rows, 50), "{what}: {folds:?}");
        let expected = if what.contains("own") { 5 } else { 0 };
        assert_eq!(own.len(), expected, "{what}: {own:?}");
        assert!(own.iter().all(|(_, words)| words == &["Added Main"]), "{what}: {own:?}");
        for order in 2..5 {
            assert_eq!(listed(&site.crawl(order, what)), (own.clone(), folds.clone()), "{what}, order {order}");
        }
    }
}
