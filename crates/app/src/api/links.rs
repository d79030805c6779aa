//! Links out of a page, read from its newest version, or into it.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use vernal_document::Input;
use vernal_model::{DocumentRow, LinkKind, Page, Rel};
use vernal_repository::KnownState;

use super::answer::{self, Answered, No};
use super::parameters::{Asked, url};
use super::shared::Shared;
use super::{body, page};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    url: String,
    limit: Option<usize>,
    /// Links into the page instead of out of it.
    #[serde(default)]
    back: bool,
}

#[derive(Serialize)]
struct Forward {
    /// Null where only the mark of a link is kept (noarchive).
    target: Option<String>,
    kind: &'static str,
    rel: Vec<&'static str>,
    anchor: Option<String>,
    /// `held` and its kin, `waiting`, `barred`, or `unknown`.
    state: &'static str,
}

#[derive(Serialize)]
struct Back {
    source: String,
    kind: &'static str,
    rel: Vec<&'static str>,
}

pub async fn list(State(shared): State<Arc<Shared>>, Asked(wanted): Asked<Wanted>) -> Answered {
    let url = url(&wanted.url)?;
    let limit = wanted.limit.unwrap_or(usize::MAX);
    if wanted.back {
        return Ok(into(&shared, url.fingerprint(), limit));
    }
    let page = page::of(&shared, &url)?;
    let mut links = out_of(&shared, &page)?;
    links.truncate(limit);
    Ok(answer::lines(move |lines| {
        for link in links {
            lines.line(&link)?;
        }
        Ok(())
    }))
}

fn out_of(shared: &Shared, page: &Page) -> Result<Vec<Forward>, No> {
    let Some(version) = page.version else { return Ok(Vec::new()) };
    if version.location.is_none() {
        let row = shared.reader.document(page.key)?;
        return Ok(row.map(marks).unwrap_or_default());
    }
    let kept = body::kept(&shared.reader, &page.url, version)?;
    let bytes = kept.unpacked(shared)?;
    let (content_type, language) = (kept.header("content-type"), kept.header("content-language"));
    let parsed = vernal_document::read(&Input {
        url: &page.url,
        bytes: &bytes,
        content_type: content_type.as_deref(),
        content_language: language.as_deref(),
        robots_tags: &[],
        payload: version.payload,
    });
    let forward = |link: vernal_model::Link| -> Result<Forward, No> {
        Ok(Forward {
            state: state(shared, &link.target)?,
            target: Some(link.target.to_string()),
            kind: kind(link.kind),
            rel: rel(link.rel),
            anchor: Some(link.anchor.into()),
        })
    };
    parsed.document.links.into_iter().map(forward).collect()
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

fn state(shared: &Shared, url: &vernal_model::Url) -> Result<&'static str, No> {
    Ok(match shared.reader.key_of(url)?.map(|known| known.state) {
        None => "unknown",
        Some(KnownState::Waiting) => "waiting",
        Some(KnownState::Barred) => "barred",
        Some(KnownState::Visited) => shared.reader.page_by_url(url)?.map_or("unknown", |page| page.state.name()),
    })
}

/// Looks through the link rows of every page: exact, and as slow as the repository is large.
fn into(shared: &Shared, target: vernal_model::Fingerprint, limit: usize) -> axum::response::Response {
    let reader = shared.reader.clone();
    answer::lines(move |lines| {
        let mut left = limit;
        for page in reader.pages_after(None) {
            let page = page?;
            let Some(row) = reader.document(page.key)? else { continue };
            let Some(link) = row.links.iter().find(|link| link.target == target) else { continue };
            if left == 0 {
                break;
            }
            left -= 1;
            lines.line(&Back { source: page.url.to_string(), kind: kind(link.kind), rel: rel(link.rel) })?;
        }
        Ok(())
    })
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
