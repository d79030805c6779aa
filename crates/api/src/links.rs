//! Links out of a page, read from its newest version, or into it. The words of a link are in the body alone, so that they
//! cost nothing until somebody asks for them.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Document, DocumentRow, Link, LinkKind, Page, Rel, Url, Version};
use vernal_repository::KnownState;
use vernal_repository::graph::BackLink;

use super::answer::{self, ApiError, ApiResult, Listed, UnreadRows};
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{Parameters, url};
use super::shared::Shared;
use super::{body, page};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksQuery {
    /// The page
    url: String,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
    /// Links into the page instead of out of it.
    #[serde(default)]
    back: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LinkOut")]
pub struct Forward {
    /// Null where only the mark of a link is kept (noarchive).
    target: Option<String>,
    kind: &'static str,
    rel: Vec<&'static str>,
    anchor: Option<String>,
    /// `held` and its kin, `waiting`, `barred`, or `unknown`.
    state: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LinkBack")]
pub struct Back {
    source: String,
    kind: &'static str,
    rel: Vec<&'static str>,
    /// The words of the link, or of another one on the same page where it has none; null where no body is kept.
    anchor: Option<String>,
    /// Why the words are not here that could not be read; null where they were.
    unread: Option<String>,
    /// How many links of the page lead here.
    links: usize,
    /// Whether it counts as a back link: it may be followed, and lies within the scope.
    counted: bool,
    /// `held`, or `left` for a page that is out of the collection now.
    state: &'static str,
}

/// One line of a list of links.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LinkLine {
    Out(Forward),
    Back(Back),
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("links", "Links out of a page, or into it: kind, rel, anchor, and what became of the other end", list)
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<LinksQuery>,
) -> ApiResult<Listed<LinkLine>> {
    let url = url(&query.url)?;
    let part = Part::read(query.limit, query.after.as_deref())?;
    if query.back {
        return Ok(into(shared, url, part));
    }
    let page = page::of(&shared, &url)?;
    let links = out_of(&shared, &page)?;
    Ok(answer::listed(move |lines| part.write(links, lines, |link| Ok(LinkLine::Out(link)))))
}

fn out_of(shared: &Shared, page: &Page) -> Result<Vec<Forward>, ApiError> {
    let Some(version) = page.version else { return Ok(Vec::new()) };
    if version.location.is_none() {
        let row = shared.reader.document(page.key)?;
        return Ok(row.map(marks).unwrap_or_default());
    }
    let document = written(shared, page, version)?;
    let forward = |link: &Link| -> Result<Forward, ApiError> {
        Ok(Forward {
            state: state(shared, &link.target)?,
            target: Some(link.target.to_string()),
            kind: kind(link.kind),
            rel: rel(link.rel),
            anchor: Some(document.anchor(link).to_owned()),
        })
    };
    document.links.iter().map(forward).collect()
}

/// A version with its links as they are written there.
fn written(shared: &Shared, page: &Page, version: Version) -> Result<Document, ApiError> {
    let kept = body::kept(&shared.reader, &page.url, version)?;
    let read = kept.read(shared, &page.url)?;
    Ok(vernal_document::read(&read.input()).document)
}

fn marks(row: DocumentRow) -> Vec<Forward> {
    let forward = |link: vernal_model::LinkRow| Forward {
        target: None,
        kind: kind(link.kind),
        rel: rel(link.rel),
        anchor: None,
        state: "unknown",
    };
    row.links.into_iter().map(forward).collect()
}

fn state(shared: &Shared, url: &Url) -> Result<&'static str, ApiError> {
    Ok(match shared.reader.key_of(url)?.map(|known| known.state) {
        None => "unknown",
        Some(KnownState::Waiting) => "waiting",
        Some(KnownState::Barred) => "barred",
        Some(KnownState::Visited) => shared.reader.page_by_url(url)?.map_or("unknown", |page| page.state.name()),
    })
}

fn into(shared: Arc<Shared>, url: Url, part: Part) -> Listed<LinkLine> {
    answer::listed(move |lines| {
        let mut unread_rows = UnreadRows::default();
        part.write(shared.reader.back_links(&url)?, lines, |link| {
            let link = link?;
            let (anchor, unread) = match anchor(&shared, &link, &url) {
                Ok(anchor) => (anchor, None),
                Err(error) => (None, error.unread()),
            };
            unread.iter().for_each(|line| unread_rows.note(line));
            Ok(LinkLine::Back(Back {
                source: link.page.url.to_string(),
                kind: kind(link.link.kind),
                rel: rel(link.link.rel),
                anchor,
                unread,
                links: link.links,
                counted: link.link.counted.partition().is_some(),
                state: link.page.state.name(),
            }))
        })?;
        unread_rows.end()
    })
}

/// The words of a link into a page. The rows stand in the order of the body, so that the place says which one is meant,
/// also where a session was taken out of its target.
fn anchor(shared: &Shared, link: &BackLink, url: &Url) -> Result<Option<String>, ApiError> {
    let version = link.page.version.filter(|version| version.body().is_some());
    let Some(version) = version else { return Ok(None) };
    let document = written(shared, &link.page, version)?;
    let here = document.links.get(link.place).filter(|written| written.kind == link.link.kind);
    let others = document.links.iter().filter(|written| written.target == *url);
    let mut anchors = here.into_iter().chain(others).map(|written| document.anchor(written));
    Ok(anchors.find(|words| !words.is_empty()).or(Some("")).map(str::to_owned))
}

fn kind(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Anchor => "anchor",
        LinkKind::Image => "image",
        LinkKind::Style => "style",
        LinkKind::Script => "script",
        LinkKind::Frame => "frame",
        LinkKind::Media => "media",
        LinkKind::Redirect => "redirect",
        LinkKind::Canonical => "canonical",
        LinkKind::Alternate => "alternate",
        LinkKind::Feed => "feed",
        LinkKind::Companion => "companion",
    }
}

fn rel(rel: Rel) -> Vec<&'static str> {
    let words = [(Rel::NOFOLLOW, "nofollow"), (Rel::UGC, "ugc"), (Rel::SPONSORED, "sponsored"), (Rel::NEXT, "next")];
    words.into_iter().filter(|(bit, _)| rel.contains(*bit)).map(|(_, word)| word).collect()
}
