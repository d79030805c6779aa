//! Hits on what was held at a time.
//!
//! The words of a version at that time stand in the newest version or in paragraphs that went later. So a page can fit only
//! if each word that is asked for stands in one of these. The pages that are left are read as they were then and held
//! against the whole expression: no hit is wrong, and only their number is limited.

use foldhash::{HashMap, HashMapExt, HashSet};
use tantivy::collector::DocSetCollector;
use tantivy::query::Query;
use vernal_model::{EventKind, Moment, Page, PageKey, Span, Version};

use super::answer::{Answer, Facets, Hit, LIMIT_MAX, Sort};
use super::compiled::{Compiled, QueryMaker, Text, Words, is_of_topic, topic_ids};
use super::current::Shown;
use super::gather::counts;
use super::matcher::{Matcher, Part, Region};
use super::search::Searching;
use crate::follow::kept::{ReadVersion, read_known_version};
use crate::follow::page_unit::language;
use crate::index::schema::{OF, TIME, page_of};
use crate::query::expression::Filter;
use crate::{Error, Result};

/// Versions that are read for one answer.
pub const READ_MAX: usize = 1_000;

/// Pages that may fit.
enum Candidates {
    All,
    Some(HashSet<u64>),
}

/// A version that fits.
struct Fitting {
    page: Page,
    version: Version,
    language: String,
    score: f32,
}

pub fn answered(searching: &Searching<'_>, compiled: &Compiled, at: Moment) -> Result<Answer> {
    // Times are told in whole milliseconds: what is told of one is held at it.
    let at = at + Span::from_micros(999);
    let mut counted = Vec::new();
    let candidates = match candidates(searching, compiled, at, &mut counted)? {
        Candidates::Some(pages) => pages.into_iter().collect(),
        Candidates::All => all_pages(searching)?,
    };
    let mut candidates: Vec<u64> = candidates;
    candidates.sort_unstable();
    let mut is_exact = candidates.len() <= READ_MAX;
    let mut fitting: Vec<Fitting> = Vec::new();
    for number in candidates.into_iter().take(READ_MAX) {
        let key = page_of(number);
        let Some(page) = searching.reader.page(key)? else { continue };
        let Some(version) = held(searching, key, at)? else { continue };
        let Some(read) = read_known_version(searching.reader, &page.url, version)? else {
            is_exact = false;
            continue;
        };
        fitting.extend(fitted(searching, compiled, &counted, page, &read));
    }
    let facets = facets(&fitting);
    order(&mut fitting, searching.asked.sort);
    let limit = searching.asked.limit.min(LIMIT_MAX);
    let shown = Shown { reader: searching.reader, asked: compiled.all_words(), role: searching.asked.role };
    let page_of_hits = fitting.iter().skip(searching.asked.skip).take(limit);
    let hits: Result<Vec<Hit>> = page_of_hits.map(|one| shown.hit(&one.page, one.version.number, one.score)).collect();
    let has_more = fitting.len() > searching.asked.skip + limit;
    let total = fitting.len() as u64;
    Ok(Answer { total, exact: is_exact, cursor: String::new(), facets, hits: hits?, has_more })
}

/// The pages that may fit, and how many may have each of the words.
fn candidates(
    searching: &Searching<'_>,
    compiled: &Compiled,
    at: Moment,
    counted: &mut Vec<usize>,
) -> Result<Candidates> {
    Ok(match compiled {
        Compiled::Not(_) | Compiled::Filter(_) | Compiled::Page(_) => Candidates::All,
        Compiled::Words(words) => {
            let pages = pages_with(searching, words, at)?;
            counted.push(pages.len());
            Candidates::Some(pages)
        }
        Compiled::Every(parts) => {
            let mut all = Candidates::All;
            for part in parts {
                all = match (all, candidates(searching, part, at, counted)?) {
                    (Candidates::All, other) | (other, Candidates::All) => other,
                    (Candidates::Some(a), Candidates::Some(b)) => {
                        Candidates::Some(a.into_iter().filter(|page| b.contains(page)).collect())
                    }
                };
            }
            all
        }
        Compiled::Either(parts) => {
            let mut any = HashSet::default();
            let mut is_all = false;
            for part in parts {
                match candidates(searching, part, at, counted)? {
                    Candidates::All => is_all = true,
                    Candidates::Some(pages) => any.extend(pages),
                }
            }
            if is_all { Candidates::All } else { Candidates::Some(any) }
        }
    })
}

fn pages_with(searching: &Searching<'_>, words: &Words, at: Moment) -> Result<HashSet<u64>> {
    let seeds = std::sync::Arc::default();
    let maker = QueryMaker { fields: searching.fields, role: None, reader: searching.reader, seeds: &seeds };
    let words = Compiled::Words(words.clone());
    let mut pages = HashSet::default();
    pages_of(searching, &*maker.query(&words, Text::Current), None, &mut pages)?;
    pages_of(searching, &*maker.query(&words, Text::Removed), Some(at), &mut pages)?;
    Ok(pages)
}

/// The pages of all units that fit; of removed paragraphs only those that went after that time.
fn pages_of(
    searching: &Searching<'_>,
    query: &dyn Query,
    gone_after: Option<Moment>,
    pages: &mut HashSet<u64>,
) -> Result<()> {
    const ACT: &str = "ask the search index";
    let units = searching.searcher.search(query, &DocSetCollector).map_err(Error::index(ACT))?;
    for address in units {
        let fast = searching.searcher.segment_reader(address.segment_ord).fast_fields();
        let of = fast.u64(OF).map_err(Error::index(ACT))?;
        let time = fast.i64(TIME).map_err(Error::index(ACT))?;
        let is_late = gone_after.is_none_or(|at| time.first(address.doc_id).is_some_and(|time| time >= at.secs()));
        pages.extend(of.first(address.doc_id).filter(|_| is_late));
    }
    Ok(())
}

fn all_pages(searching: &Searching<'_>) -> Result<Vec<u64>> {
    let mut pages = HashSet::default();
    pages_of(searching, &tantivy::query::AllQuery, None, &mut pages)?;
    Ok(pages.into_iter().collect())
}

/// The version that was held then; `None` where the page was gone, moved or not known yet.
fn held(searching: &Searching<'_>, key: PageKey, at: Moment) -> Result<Option<Version>> {
    let events = searching.reader.page_events(key)?;
    let is_of_page = |event: &vernal_model::Event| !matches!(event.kind, EventKind::Template | EventKind::Imported);
    let is_until = |event: &&vernal_model::Event| event.seen_different <= at && is_of_page(event);
    let speaking = events.iter().map(|(_, _, event)| event).rfind(is_until);
    let ended = speaking.is_some_and(|event| {
        matches!(event.kind, EventKind::Gone | EventKind::Moved | EventKind::Joined | EventKind::Erased)
    });
    if ended {
        return Ok(None);
    }
    Ok(searching.reader.versions(key)?.into_iter().rfind(|version| version.moment <= at))
}

fn fitted(
    searching: &Searching<'_>,
    compiled: &Compiled,
    counted: &[usize],
    page: Page,
    read: &ReadVersion,
) -> Option<Fitting> {
    if read.document.directives.noindex {
        return None;
    }
    let parts = parts(&page, read);
    let language = language(read);
    let passes = |filter: &Filter| match filter {
        Filter::Site(site) => page.url.site_text() == site,
        Filter::Language(asked) => language == *asked,
        Filter::Before(moment) => read.version.moment < *moment,
        Filter::After(moment) => read.version.moment >= *moment,
        // The kind of the change that made a version is in its event alone.
        Filter::Kind(kind) => kinds(searching, page.key, read.version.number).iter().any(|own| own == kind),
        Filter::Topic(topic) => is_of_topic(searching.reader, page.key, &topic_ids(searching.reader, topic)),
        Filter::Tag(tag) => {
            searching.asked.seeds.iter().any(|seed| seed.tags.contains(tag) && seed.covers(&page.url, page.depth))
        }
    };
    let matcher = Matcher { role: searching.asked.role, page: page.key, passes: &passes };
    if !matcher.fits(compiled, &parts) {
        return None;
    }
    let score = score(searching, compiled, counted, &parts);
    Some(Fitting { version: read.version, page, language, score })
}

fn kinds(searching: &Searching<'_>, key: PageKey, version: u32) -> Vec<String> {
    let Ok(events) = searching.reader.page_events(key) else { return Vec::new() };
    let made = events.iter().map(|(_, _, event)| event).find(|event| event.version == Some(version));
    made.map_or_else(Vec::new, |event| match event.kind {
        EventKind::New => vec!["new".into()],
        _ => event.change.left.iter().map(|kind| kind.name().to_owned()).collect(),
    })
}

fn parts(page: &Page, read: &ReadVersion) -> Vec<Part> {
    let own = [Part::of(Region::Title, &read.document.title), Part::of(Region::Url, page.url.as_str())];
    let paragraphs = read.document.paragraphs.iter().zip(read.texts());
    let texts = paragraphs.map(|(one, text)| (Region::of(one.role), text));
    let texts = texts.filter(|(region, _)| *region != Region::Title);
    own.into_iter().chain(texts.map(|(region, text)| Part::of(region, text))).collect()
}

/// BM25 over the version as it was, with the weights of its parts.
fn score(searching: &Searching<'_>, compiled: &Compiled, counted: &[usize], parts: &[Part]) -> f32 {
    const SATURATION: f64 = 1.2;
    const USUAL_WORDS: f64 = 800.0;
    let length: usize = parts.iter().map(Part::word_count).sum();
    let all = searching.searcher.num_docs() as f64;
    let mut score = 0.0;
    for (words, with) in compiled.all_words().into_iter().zip(counted) {
        let rarity = (1.0 + all / (*with as f64 + 0.5)).ln();
        let often: f64 = parts.iter().map(|part| part.places(words).len() as f64 * part.region.weight()).sum();
        let norm = SATURATION * (0.25 + 0.75 * length as f64 / USUAL_WORDS);
        score += rarity * often * (SATURATION + 1.0) / (often + norm);
    }
    score as f32
}

fn order(fitting: &mut [Fitting], sort: Sort) {
    let newest = |a: &Fitting, b: &Fitting| b.version.moment.cmp(&a.version.moment);
    let best = |a: &Fitting, b: &Fitting| b.score.total_cmp(&a.score);
    fitting.sort_by(|a, b| match sort {
        Sort::Newest => newest(a, b).then(a.page.key.cmp(&b.page.key)),
        Sort::Relevance | Sort::Fresh => best(a, b).then(newest(a, b)).then(a.page.key.cmp(&b.page.key)),
    });
}

fn facets(fitting: &[Fitting]) -> Facets {
    let mut sites: HashMap<String, u64> = HashMap::new();
    let mut languages: HashMap<String, u64> = HashMap::new();
    let mut months: HashMap<String, u64> = HashMap::new();
    for one in fitting {
        *sites.entry(one.page.url.site_text().to_owned()).or_default() += 1;
        *languages.entry(one.language.clone()).or_default() += 1;
        let month: String = one.version.moment.rfc3339().chars().take("2026-11".len()).collect();
        *months.entry(month).or_default() += 1;
    }
    let mut by_month = counts(&months, usize::MAX);
    by_month.sort_by(|a, b| a.value.cmp(&b.value));
    const VALUES_MAX: usize = 20;
    Facets {
        by_site: counts(&sites, VALUES_MAX),
        by_language: counts(&languages, VALUES_MAX),
        by_month,
        by_kind: Vec::new(),
        by_topic: Vec::new(),
    }
}
