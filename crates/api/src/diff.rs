//! What differs between any two versions of a page: as JSON, as text, as source lines, or as a page that cannot run.
//!
//! The rules that governed the feed then govern this too: what they set aside is named and not told as a change. So a diff never
//! contradicts the event of the same change. `rules=now` judges by the rules of today.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use vernal_document::diff::{self, Diff, ParagraphDiff, Reading, render};
use vernal_document::methods::{PaperVerdicts, paper_verdicts};
use vernal_document::noise::{self, NoiseInput};
use vernal_document::tell::{method_lines, plain, remarks, verdict};
use vernal_document::{Parsed, compare_pages, source_text};
use vernal_model::{Change, Event, Operation, Page, PageNoise, Version};

use super::answer::{self, ApiError, ApiResult, Views};
use super::body::{self, ReadBody};
use super::change::{self, Answers, ChangeJson};
use super::diff_json::{self, DiffAnswer};
use super::nouns::Nouns;
use super::page::{self, version_row};
use super::parameters::{Parameters, url};
use super::replica;
use super::shared::{Shared, time};
use super::version_pair;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffQuery {
    /// The page
    url: String,
    /// A number, a time, `latest` or `previous` (default: the version before `to`)
    from: Option<String>,
    /// A number, a time, `latest` or `previous` (default: latest)
    to: Option<String>,
    /// json, text, source or html; the HTML can run nothing
    #[serde(default)]
    view: View,
    /// Everything, not only what changed.
    #[serde(default)]
    full: bool,
    /// Also what was set aside.
    #[serde(default)]
    with_noise: bool,
    /// In text also what the methods of paper 003 say; JSON always has it.
    #[serde(default)]
    papers: bool,
    /// Colours for a terminal, in text and source
    #[serde(default)]
    colour: bool,
    /// The rules of the newer version's time, or those of today.
    #[serde(default)]
    rules: RulesOf,
}

/// The time whose rules on noise judge a change.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RulesOf {
    #[default]
    Then,
    Now,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    #[default]
    Json,
    Text,
    Source,
    Html,
}

/// A browser may show this and do nothing else with it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Unchanged lines of source around a change.
const SOURCE_LINES_AROUND: usize = 3;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("diff", "What differs between two versions of a page; the HTML view can run nothing", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<DiffQuery>,
) -> ApiResult<Views<DiffAnswer>> {
    let page = page::of(&shared, &url(&query.url)?)?;
    let versions = shared.reader.versions(page.key)?;
    if versions.is_empty() {
        return Err(ApiError::not_found(format!("{} has no version: it is {}", page.url, page.state.name())));
    }
    let asked = (query.from.as_deref(), query.to.as_deref());
    let (from, to) = version_pair::both(&page.url, &versions, asked, shared.clock.now())?;
    answer::on_blocking_thread(move || answered(&shared, &page, from, to, &query)).await
}

fn answered(
    shared: &Shared,
    page: &Page,
    from: Version,
    to: Version,
    query: &DiffQuery,
) -> ApiResult<Views<DiffAnswer>> {
    let sides = Sides::read(shared, page, from, to)?;
    if query.view == View::Source {
        let (old, new) = (source_text(&sides.old_body.input()), source_text(&sides.new_body.input()));
        let (from, to) = (named(&from), named(&to));
        let view = render::View { context: SOURCE_LINES_AROUND, ..sides.view(query, &from, &to) };
        let text = Body::from(render::source(&old, &new, &view));
        return Ok(Views::shown(answer::typed("text/plain; charset=utf-8", text)));
    }
    let events = page::other_events(&shared.reader, page.key)?;
    let told = event_of(&sides, &events).filter(|event| query.rules == RulesOf::Then && !event.change.kinds.is_empty());
    let change = match told {
        Some(event) => event.change.clone(),
        None => sides.judged(shared, page, query.rules)?,
    };
    let mut diff = diff::diff(&sides.old.document, &sides.new.document).between(from.number, to.number);
    if !query.with_noise {
        leave_out_noise(&mut diff, &change);
    }
    sides.number(shared, page, &events, &mut diff)?;
    Ok(match query.view {
        View::Json => {
            let whole = if query.full { Some(sides.marks(shared, page, &events)?) } else { None };
            answer::value(&shown(page, &sides, change, diff, &events, whole.as_ref())).into()
        }
        View::Html => Views::shown(html(&sides, &diff, query)),
        View::Text | View::Source => Views::shown(text(&sides, &change, &diff, query)),
    })
}

/// The verdict on the change between two versions by the rules of today.
pub(super) fn judged_today(shared: &Shared, page: &Page, from: Version, to: Version) -> Result<Change, ApiError> {
    Sides::read(shared, page, from, to)?.judged(shared, page, RulesOf::Now)
}

/// The event that told this change.
fn event_of<'e>(sides: &Sides, events: &'e [Event]) -> Option<&'e Event> {
    events.iter().find(|event| (event.previous, event.version) == (Some(sides.from.number), Some(sides.to.number)))
}

/// Two versions, read closely.
struct Sides {
    from: Version,
    to: Version,
    old_body: ReadBody,
    new_body: ReadBody,
    old: Parsed,
    new: Parsed,
}

impl Sides {
    fn read(shared: &Shared, page: &Page, from: Version, to: Version) -> Result<Sides, ApiError> {
        let read = |version| body::kept(&shared.reader, &page.url, version)?.read(shared, &page.url);
        let (old_body, new_body) = (read(from)?, read(to)?);
        let parsed = |body: &ReadBody| vernal_document::read_closely(&body.input());
        let (old, new) = (parsed(&old_body), parsed(&new_body));
        Ok(Sides { from, to, old_body, new_body, old, new })
    }

    fn bytes_differ(&self) -> bool {
        self.from.payload != self.to.payload && self.old_body.bytes != self.new_body.bytes
    }

    /// What the methods of paper 003 say.
    fn papers(&self) -> PaperVerdicts {
        paper_verdicts(&self.old_body.input(), &self.new_body.input())
    }

    /// The verdict by the rules in force. To compare two versions is no evidence: what is only suspected stays so.
    fn judged(&self, shared: &Shared, page: &Page, rules: RulesOf) -> Result<Change, ApiError> {
        let change = compare_pages(&self.old, &self.new);
        if change.kinds.is_empty() {
            return Ok(change);
        }
        let site = page.url.site();
        let book = match rules {
            RulesOf::Then => noise::book_of(shared.reader.noise_book(&site)?, self.to.moment),
            RulesOf::Now => noise::book_of_today(shared.reader.noise_book(&site)?),
        };
        let known = PageNoise { suspects: Vec::new(), ..shared.reader.page_noise(page.key)? };
        let judgement = noise::judge(&NoiseInput {
            site: &site,
            page: page.key,
            template: noise::template_key(&self.new.signature.paragraphs),
            moment: self.to.moment,
            second_look: false,
            strict: shared.settings.crawler.is_strict(&site),
            old_marks: &self.old.signature.paragraphs,
            new_marks: &self.new.signature.paragraphs,
            old: Some(&self.old.document),
            new: &self.new.document,
            change: &change,
            book: &book,
            noise: &known,
        });
        Ok(judgement.change)
    }

    /// Writes the paragraphs' numbers in, as they are kept of each version; in folders from before they were kept, as far
    /// as events tell of the same words.
    fn number(&self, shared: &Shared, page: &Page, events: &[Event], diff: &mut Diff) -> Result<(), ApiError> {
        let marks = self.marks(shared, page, events)?;
        for paragraph in &mut diff.paragraphs {
            paragraph.id = match paragraph.op {
                Operation::Removed => marks.number_at(&self.old, marks.old.as_deref(), paragraph.position),
                _ => marks.number_at(&self.new, marks.new.as_deref(), paragraph.position),
            };
        }
        Ok(())
    }

    fn marks(&self, shared: &Shared, page: &Page, events: &[Event]) -> Result<Marks, ApiError> {
        let numbers = |version: &Version, parsed: &Parsed| {
            replica::numbers(shared, page.key, version.number, parsed.document.paragraphs.len())
        };
        let (old, new) = (numbers(&self.from, &self.old)?, numbers(&self.to, &self.new)?);
        let mut by_digest: HashMap<u64, u32> = HashMap::new();
        let told = events.iter().flat_map(|event| &event.change.paragraphs).filter(|one| one.id > 0);
        by_digest.extend(told.map(|one| (one.digest, one.id)));
        Ok(Marks { old, new, by_digest })
    }

    /// The version that has the paragraph at its place.
    fn side(&self, paragraph: &ParagraphDiff) -> (&Parsed, &Version) {
        match paragraph.op {
            Operation::Removed => (&self.old, &self.from),
            _ => (&self.new, &self.to),
        }
    }

    fn view<'a>(&'a self, query: &DiffQuery, from: &'a str, to: &'a str) -> render::View<'a> {
        let title = match self.new.document.title.as_str() {
            "" => self.new_body.url.as_str(),
            title => title,
        };
        render::View { title, from, to, full: query.full, colour: query.colour, ..render::View::default() }
    }
}

/// The known numbers of a page's paragraphs.
struct Marks {
    /// Those of the paragraphs of both versions, in order, where they were kept.
    old: Option<Vec<u32>>,
    new: Option<Vec<u32>>,
    by_digest: HashMap<u64, u32>,
}

impl Marks {
    /// The number of a paragraph of one of the versions; 0 where it is not known.
    fn number_at(&self, version: &Parsed, kept: Option<&[u32]>, position: u32) -> u32 {
        let place = position as usize;
        let Some(digest) = version.document.paragraphs.get(place).map(|one| one.digest) else { return 0 };
        let kept = kept.and_then(|numbers| numbers.get(place).copied());
        kept.or_else(|| self.by_digest.get(&digest).copied()).unwrap_or(0)
    }
}

fn named(version: &Version) -> String {
    format!("version {}, {}", version.number, version.moment.rfc3339())
}

/// What the verdict does not tell was set aside, or is a boundary between paragraphs whose words are all the same.
fn leave_out_noise(diff: &mut Diff, change: &Change) {
    let told = |one: &ParagraphDiff| {
        change.paragraphs.iter().any(|told| (told.operation, told.position) == (one.op, one.position))
    };
    diff.paragraphs.retain(told);
}

/// `whole`: the paragraphs that did not change are listed too.
fn shown(
    page: &Page,
    sides: &Sides,
    change: Change,
    diff: Diff,
    events: &[Event],
    whole: Option<&Marks>,
) -> DiffAnswer {
    let event = event_of(sides, events);
    let changed = |one: &ParagraphDiff| {
        let digest = sides.side(one).0.document.paragraphs.get(one.position as usize).map_or(0, |one| one.digest);
        diff_json::changed(page, digest, one.clone())
    };
    let paragraphs = match whole {
        None => diff.paragraphs.iter().map(changed).collect(),
        Some(marks) => {
            let readings = diff::whole(&diff, &sides.old.document, &sides.new.document).into_iter();
            let all = readings.map(|reading| match reading {
                Reading::Changed(one) => changed(one),
                Reading::Unchanged(one) => {
                    let digest = sides.new.document.paragraphs.get(one.position as usize).map_or(0, |one| one.digest);
                    let number = marks.number_at(&sides.new, marks.new.as_deref(), one.position);
                    diff_json::unchanged(page, digest, number, one)
                }
            });
            all.collect()
        }
    };
    DiffAnswer {
        url: page.url.to_string(),
        from: version_row(&sides.from),
        to: version_row(&sides.to),
        seen_same: event.and_then(|event| event.seen_same).and_then(time),
        seen_different: event.and_then(|event| time(event.seen_different)),
        answers: Answers::of(&change, sides.bytes_differ()),
        change: ChangeJson::of(change),
        fallback: diff.fallback,
        paragraphs,
        papers: sides.papers(),
    }
}

fn html(sides: &Sides, diff: &Diff, query: &DiffQuery) -> Response {
    let (from, to) = (named(&sides.from), named(&sides.to));
    let page = render::html(diff, &sides.new.document, &sides.view(query, &from, &to));
    let mut response = answer::typed("text/html; charset=utf-8", Body::from(page)).into_response();
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn text(sides: &Sides, change: &Change, diff: &Diff, query: &DiffQuery) -> Response {
    let (from, to) = (named(&sides.from), named(&sides.to));
    let view = sides.view(query, &from, &to);
    let mut text = format!("{}\n{}\n", plain(view.title), verdict(change, sides.bytes_differ()));
    text.push_str(&render::text(diff, &sides.new.document, &view));
    for line in remarks(change, &change::named_noise(change)) {
        text.push_str(&line);
        text.push('\n');
    }
    if query.papers {
        for line in sides.papers().all().into_iter().flat_map(method_lines) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    answer::typed("text/plain; charset=utf-8", Body::from(text))
}
