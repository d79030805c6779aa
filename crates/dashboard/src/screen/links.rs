//! Links out of a page, or into it, with what became of the other end.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use super::page_head::PageHead;
use crate::answers::{Link, Page, Status};
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::words;

const ROWS: usize = 100;
/// Letters of a URL, and of the words of a link, that are shown.
const SHOWN_MAX: usize = 300;

#[derive(Deserialize)]
pub struct Asked {
    url: String,
    #[serde(default)]
    back: bool,
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "links.html")]
struct Links {
    frame: Frame,
    head: PageHead,
    back: bool,
    out_link: String,
    back_link: String,
    rows: Vec<Row>,
    more: Option<String>,
    says: &'static str,
}

struct Row {
    url: String,
    /// Where the other end is shown; empty where it is not held.
    link: String,
    words: String,
    kind: String,
    rel: String,
    state: String,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    // Links may lead to a URL that is not visited yet.
    let page: Option<Page> = reader.maybe(Question::of("page").with("url", &asked.url)).await?;
    let question = Question::of("links").with("url", &asked.url).with("back", asked.back).with("limit", ROWS);
    let listed = match &page {
        None if !asked.back => None,
        _ => Some(reader.list::<Link>(question.with_some("after", asked.after.as_deref())).await?),
    };
    let address = |back: bool, after: &str| {
        link("/links", &[("url", &*asked.url), ("back", if back { "true" } else { "" }), ("after", after)])
    };
    let (rows, after) = listed.map_or((Vec::new(), None), |listed| (listed.rows, listed.after));
    drawn(&Links {
        frame: Frame::of(&reader, "Links", Place::Sites, &status),
        head: page.map_or_else(|| PageHead::of_url(&asked.url, "/links"), |page| PageHead::of(&page, "/links")),
        back: asked.back,
        out_link: address(false, ""),
        back_link: address(true, ""),
        rows: rows.into_iter().map(row).collect(),
        more: after.map(|after| address(asked.back, &after)),
        says: match asked.back {
            true => "No page that is held links here.",
            false => "This page links nowhere, or nothing of it is kept.",
        },
    })
}

fn row(one: Link) -> Row {
    let url = one.target.or(one.source).unwrap_or_default();
    let is_shown = !["unknown", "waiting", "barred", ""].contains(&&*one.state);
    let mut rel = one.rel;
    if one.links > 1 {
        rel.push(format!("{} links", one.links));
    }
    if one.counted == Some(false) {
        rel.push("not counted".into());
    }
    Row {
        link: if is_shown { link("/page", &[("url", &url)]) } else { String::new() },
        words: words::cut(one.anchor.as_deref().unwrap_or_default().trim(), SHOWN_MAX),
        url: if url.is_empty() { "a link that is not kept".into() } else { words::cut(&url, SHOWN_MAX) },
        kind: one.kind,
        rel: rel.join(", "),
        state: one.state,
    }
}
