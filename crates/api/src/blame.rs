//! Which version each paragraph of a page, and each of its words, came from.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_document::diff::{Blame, BlamedParagraph, SeenVersion};
use vernal_document::noise::{self, Shape};
use vernal_model::{Page, Version};

use super::answer::{self, ApiError, ApiResult, One};
use super::body;
use super::change::paragraph_id;
use super::nouns::Nouns;
use super::page;
use super::parameters::{Parameters, url};
use super::replica;
use super::shared::{Shared, time};
use super::version_pair;

/// Versions that are walked over, the newest of them; what was there before counts as brought by the first.
const VERSIONS_MAX: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlameQuery {
    /// The page
    url: String,
    /// The version whose paragraphs are told: a number, a time, `latest` or `previous` (default: latest)
    at: Option<String>,
    /// At most so many paragraphs
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub struct BlameAnswer {
    url: String,
    /// The version whose paragraphs these are.
    version: u32,
    /// The first version that was looked at; what it had may be older.
    first: u32,
    versions: usize,
    /// Versions without a body: what they brought is told as brought by the next.
    without_body: Vec<u32>,
    paragraphs: Vec<Paragraph>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlamedParagraph")]
pub struct Paragraph {
    id: Option<String>,
    position: u32,
    role: &'static str,
    text: String,
    born: SeenJson,
    edited: SeenJson,
    edits: u32,
    words: Vec<Words>,
}

#[derive(Serialize, JsonSchema)]
pub struct SeenJson {
    version: u32,
    moment: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlamedWords")]
pub struct Words {
    version: u32,
    text: Box<str>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("blame", "Which version each paragraph and each word of a page came from", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<BlameQuery>,
) -> ApiResult<One<BlameAnswer>> {
    let page = page::of(&shared, &url(&asked.url)?)?;
    let limit = asked.limit.unwrap_or(usize::MAX);
    let mut versions = shared.reader.versions(page.key)?;
    if let Some(at) = &asked.at {
        let last = version_pair::meant(&page.url, &versions, at, shared.clock.now())?;
        versions.retain(|version| version.number <= last.number);
    }
    answer::on_blocking_thread(move || {
        let mut shown = blamed(&shared, &page, &versions)?;
        shown.paragraphs.truncate(limit);
        Ok(answer::value(&shown))
    })
    .await
}

/// What was learned to be noise on the page, and is no edit of it.
fn learned_noise(shared: &Shared, page: &Page) -> Result<Vec<Shape>, ApiError> {
    let site = page.url.site();
    if shared.settings.crawler.is_strict(&site) {
        return Ok(Vec::new());
    }
    let template = shared.reader.page_noise(page.key)?.template;
    Ok(noise::shapes_on(&shared.reader.noise_book(&site)?, page.key, template))
}

fn blamed(shared: &Shared, page: &Page, versions: &[Version]) -> Result<BlameAnswer, ApiError> {
    let newest = &versions[versions.len().saturating_sub(VERSIONS_MAX)..];
    let mut blame = Blame::with_shapes(learned_noise(shared, page)?);
    let (mut without_body, mut last) = (Vec::new(), None);
    for version in newest {
        if version.location.is_none() {
            without_body.push(version.number);
            continue;
        }
        let body = body::kept(&shared.reader, &page.url, *version)?.read(shared, &page.url)?;
        blame.version(version.number, version.moment, &vernal_document::read(&body.input()).document);
        last = Some(*version);
    }
    let (Some(first), Some(last)) = (newest.first(), last) else {
        return Err(ApiError::not_found(match versions.is_empty() {
            true => format!("{} has no version: it is {}", page.url, page.state.name()),
            false => format!("no version of {} has a body", page.url),
        }));
    };
    let paragraphs = blame.finish();
    let numbers = replica::numbers(shared, page.key, last.number, paragraphs.len())?.unwrap_or_default();
    Ok(BlameAnswer {
        url: page.url.to_string(),
        version: last.number,
        first: first.number,
        versions: newest.len(),
        without_body,
        paragraphs: paragraphs.into_iter().map(|paragraph| shown(page, &numbers, paragraph)).collect(),
    })
}

fn shown(page: &Page, numbers: &[u32], paragraph: BlamedParagraph) -> Paragraph {
    let number = numbers.get(paragraph.position as usize).copied().unwrap_or(0);
    Paragraph {
        id: paragraph_id(Some(page.key), number),
        position: paragraph.position,
        role: paragraph.role.name(),
        text: paragraph.text(),
        born: seen(paragraph.born),
        edited: seen(paragraph.edited),
        edits: paragraph.edits,
        words: paragraph
            .words
            .into_iter()
            .map(|words| Words { version: words.seen.version, text: words.text })
            .collect(),
    }
}

fn seen(seen: SeenVersion) -> SeenJson {
    SeenJson { version: seen.version, moment: time(seen.moment) }
}
