//! Pages that are one page with several names: which they are, why, and the word of people over it.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::{Act, Acted, NamesWord};
use vernal_model::{Event, EventKind, Moment, NameMark, NameReason, NameRelation, NameRow, NameWord, PageKey};
use vernal_repository::{Cursor, Reader, Result};

use super::answer::{self, ApiError, ApiResult, Listed, One};
use super::nouns::Nouns;
use super::page;
use super::paging::Part;
use super::parameters::{Fields, Parameters, site, url};
use super::shared::{Shared, time};

/// A reason is one line.
const REASON_LETTERS_MAX: usize = 500;
/// So many second names of a page are shown with the page; the list of names shows all.
const NAMES_SHOWN_MAX: usize = 32;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamesQuery {
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamesRequest {
    /// join, part or forget
    word: NamesAction,
    /// A page; to join: the first name
    url: String,
    /// The other page; to join: the second name
    other: String,
    /// Why, in words
    reason: Option<String>,
}

#[derive(Copy, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NamesAction {
    Join,
    Part,
    Forget,
}

/// A page and another one: a name of it, or parted from it by a person.
#[derive(Serialize, JsonSchema)]
pub struct NameAnswer {
    url: String,
    site: String,
    /// The first name of this page.
    same_as: Option<String>,
    /// The page that people keep apart from this one.
    apart_from: Option<String>,
    /// canonical, spelling or person.
    why: &'static str,
    since: Option<String>,
    /// What the person said who decided so.
    reason: Option<Box<str>>,
    /// False of a word that waits until both pages are held.
    in_force: bool,
}

/// What was decided of two pages.
#[derive(Serialize, JsonSchema)]
pub struct NamesDecided {
    other: String,
    /// The first name of the other page now.
    same_as: Option<String>,
    url: String,
    word: NamesAction,
}

/// The first name of the page of an event, if the page was a second name then. The event of a site speaks of many pages.
pub fn first_name(reader: &Reader, cursor: Cursor, event: &Event) -> Result<Option<String>> {
    if event.kind == EventKind::Template {
        return Ok(None);
    }
    let first = reader.first_name_at(event.page, cursor)?;
    Ok(first.map(|first| url_of(reader, first)).transpose()?.flatten())
}

/// The second names of a page, the first of them by number.
pub fn second_names(reader: &Reader, page: PageKey) -> Result<Vec<String>> {
    let names = reader.marked_pages(page.partition, NameMark::SecondOf(page.number)).take(NAMES_SHOWN_MAX);
    names.filter_map(|name| name.and_then(|name| url_of(reader, name)).transpose()).collect()
}

pub fn url_of(reader: &Reader, page: PageKey) -> Result<Option<String>> {
    Ok(reader.url(page)?.map(|row| row.url.to_string()))
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/names", "The pages that are second names of others, and what people said of names", list).post(
        "/api/v1/names",
        "Says whether two pages are one page with two names, or takes that back",
        decide,
    )
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<NamesQuery>,
) -> ApiResult<Listed<NameAnswer>> {
    let site = query.site.as_deref().map(site).transpose()?;
    let part = Part::read(query.limit, query.after.as_deref())?;
    Ok(answer::listed(move |lines| {
        let of_row = |row: Result<(PageKey, NameRow)>| -> Vec<Result<NameAnswer>> {
            match row.and_then(|(page, row)| shown(&shared.reader, page, &row)) {
                Ok(names) => names.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        };
        let names = shared.reader.name_rows().flat_map(of_row);
        let is_wanted = |name: &Result<NameAnswer>| {
            let name = name.as_ref().ok();
            name.is_none_or(|name| site.as_ref().is_none_or(|site| site.as_str() == name.site))
        };
        part.write(names.filter(is_wanted), lines, |name| Ok(name?))
    }))
}

/// What is to be said of the names of a page: of a pair that is kept apart, at the page with the lower number.
fn shown(reader: &Reader, page: PageKey, row: &NameRow) -> Result<Vec<NameAnswer>> {
    let mut pairs: Vec<(PageKey, NameReason, Moment, Option<&NameWord>)> = Vec::new();
    if let Some(same) = &row.same_as {
        pairs.push((same.first, same.why, same.since, row.word_on(same.first)));
    }
    for word in &row.words {
        let is_shown = match word.says {
            NameRelation::FirstOf => false,
            NameRelation::SecondOf => row.same_as.is_none_or(|same| same.first != word.other),
            NameRelation::Apart => page < word.other,
        };
        if is_shown {
            pairs.push((word.other, NameReason::Person, word.since, Some(word)));
        }
    }
    let Some(known) = reader.url(page)? else { return Ok(Vec::new()) };
    let answer = |(other, why, since, word): (PageKey, NameReason, Moment, Option<&NameWord>)| {
        let is_apart = word.is_some_and(|word| word.says == NameRelation::Apart);
        let is_name = row.same_as.is_some_and(|same| same.first == other);
        let other = url_of(reader, other)?;
        Ok(NameAnswer {
            url: known.url.to_string(),
            site: known.url.site_text().to_owned(),
            same_as: other.clone().filter(|_| !is_apart),
            apart_from: other.filter(|_| is_apart),
            why: why.name(),
            since: time(since),
            reason: word.map(|word| word.reason.clone()),
            in_force: is_apart || is_name,
        })
    };
    pairs.into_iter().map(answer).collect()
}

pub async fn decide(
    State(shared): State<Arc<Shared>>,
    Fields(request): Fields<NamesRequest>,
) -> ApiResult<One<NamesDecided>> {
    let (first, second) = (url(&request.url)?, url(&request.other)?);
    for url in [&first, &second] {
        page::of(&shared, url)?;
    }
    let word = match request.word {
        NamesAction::Join => NamesWord::Join,
        NamesAction::Part => NamesWord::Part,
        NamesAction::Forget => NamesWord::Forget,
    };
    let reason = reason(&request)?;
    let act = Act::Names { first: first.clone(), second: second.clone(), word, reason };
    match shared.backend.act(act, shared.clock.now()).await.map_err(ApiError::failed)? {
        Acted::NamesRuled => {
            let other = page::of(&shared, &second)?;
            let same_as = shared.reader.name_row(other.key)?.same_as;
            let same_as = same_as.map(|same| url_of(&shared.reader, same.first)).transpose()?.flatten();
            let (url, other) = (first.to_string(), second.to_string());
            Ok(answer::value(&NamesDecided { other, same_as, url, word: request.word }))
        }
        Acted::NothingSaid => Err(ApiError::not_found(format!("nobody said anything of {first} and {second}"))),
        Acted::NamesFull(url) => Err(ApiError::failed(format!(
            "people have said something of {} pages beside {url}; forget some of it first",
            NameRow::WORDS_MAX
        ))),
        Acted::UnknownPage(url) => Err(ApiError::not_found(format!("{url} is not known here"))),
        _ => Err(ApiError::bad_request("only two pages of one site can be one page with two names")),
    }
}

fn reason(request: &NamesRequest) -> std::result::Result<String, ApiError> {
    let reason = request.reason.clone().unwrap_or_else(|| "a person said so".into());
    match reason.chars().count() > REASON_LETTERS_MAX || reason.chars().any(char::is_control) {
        true => Err(ApiError::bad_request(format!("a reason is one line of at most {REASON_LETTERS_MAX} letters"))),
        false => Ok(reason),
    }
}
