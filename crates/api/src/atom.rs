//! `/feed.atom`: the newest events as an Atom feed, with the filters of the feed; older ones on further pages (RFC 5005).

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;
use vernal_model::Moment;
use vernal_repository::Cursor;
use vernal_search::{Asked, Sort, Within};

use super::alerting::locked;
use super::answer::{self, ApiError, ApiResult, StreamError};
use super::atom_text::{self, Entry, FeedHead};
use super::changes::{ChangesQuery, FeedReader};
use super::event_json::EventAnswer;
use super::memento::base;
use super::nouns::Nouns;
use super::other_forms::AtomFeed;
use super::parameters::{Heads, Parameters, url};
use super::shared::Shared;
use super::watch_feed::told_of;

/// Entries of one page where nobody says how many, and at most.
const ENTRIES: usize = 50;
const ENTRIES_MAX: usize = 200;
/// Hits of the text index that one page looks at: several may be of one event.
const HITS_MAX: usize = 400;

/// The authority of our tags is a name that nobody can own (RFC 2606), because a repository has none; the rest is the
/// repository's own number.
const TAG_AUTHORITY: &str = "vernal.invalid,2026";

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get(
        "/feed.atom",
        "The newest events, or what a watch told, as an Atom feed; older ones on its further pages",
        feed,
    )
}

async fn feed(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    Heads(headers): Heads,
    Parameters(query): Parameters<ChangesQuery>,
) -> ApiResult<AtomFeed> {
    query.refuse_but("an Atom feed", &["before", "search", "watch"])?;
    let base = base(&shared, &headers);
    let page = answer::on_blocking_thread(move || match &query.watch {
        Some(watch) => page_of_watch(&shared, watch, &uri, &base),
        None => page_of(&shared, &query, &uri, &base),
    })
    .await?;
    Ok(AtomFeed(page.answer(&headers)))
}

/// What a watch told on the route `atom`. It has one page: the outbox keeps what was told for ninety days.
fn page_of_watch(shared: &Shared, watch: &str, uri: &Uri, base: &str) -> Result<AtomPage, ApiError> {
    let pairs = pairs_of(uri, None);
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !["watch", "limit"].contains(&name.as_str())) {
        return Err(ApiError::bad_request(format!(
            "the feed of a watch has no `{name}`: the watch has the conditions"
        )));
    }
    let limit = pairs.iter().find(|(name, _)| name == "limit").and_then(|(_, value)| value.parse().ok());
    let limit = limit.unwrap_or(ENTRIES).clamp(1, ENTRIES_MAX);
    let (fed, name) = {
        let alerts = shared.alerts()?;
        let alerts = locked(&alerts);
        (alerts.fed(watch, limit)?, alerts.watch(watch)?.watch.shown_name())
    };
    let tag = tag(shared)?;
    let mut known = HashSet::new();
    let mut entries: Vec<Entry> = fed.iter().flat_map(|delivery| Entry::of_delivery(&tag, delivery)).collect();
    entries.retain(|entry| known.insert(entry.id.clone()));
    // In a digest the largest change comes first, in a feed the newest.
    entries.sort_by(|one, other| other.updated.cmp(&one.updated));
    entries.truncate(limit);
    let about = [("watch".to_owned(), watch.to_owned())];
    let links = vec![("self", address_of(base, uri.path(), &pairs))];
    Ok(page_with((format!("{tag}feed?{}", encoded(&about)), name), links, &entries))
}

/// What all ids of a repository begin with.
fn tag(shared: &Shared) -> Result<String, ApiError> {
    Ok(format!("tag:{TAG_AUTHORITY}:{:032x}/", shared.reader.repository_id()?))
}

fn page_with((id, title): (String, String), links: Vec<(&'static str, String)>, entries: &[Entry]) -> AtomPage {
    let newest = entries.iter().map(|entry| entry.updated.clone()).max();
    let updated = newest.clone().unwrap_or_else(|| Moment::EPOCH.rfc3339());
    let text = atom_text::feed(&FeedHead { id, title, updated, links }, entries);
    AtomPage { text, newest: newest.and_then(|text| Moment::parse(&text, Moment::EPOCH).ok()) }
}

/// One page of the feed.
struct AtomPage {
    text: String,
    /// When its newest event was observed.
    newest: Option<Moment>,
}

fn page_of(shared: &Shared, query: &ChangesQuery, uri: &Uri, base: &str) -> Result<AtomPage, ApiError> {
    let limit = query.limit.unwrap_or(ENTRIES).clamp(1, ENTRIES_MAX);
    let (start, filter) = query.read(shared)?;
    let before = query.before()?;
    let seeds = shared.seeds()?;
    let mut feed = FeedReader::new(shared, &seeds, &filter);
    let mut events: Vec<EventAnswer> = Vec::new();
    let take = &mut |rows: Vec<EventAnswer>| {
        // The events of one cursor stay on one page, so that the next page begins behind them.
        events.extend(rows);
        Ok(events.len() <= limit)
    };
    match query.search.as_deref() {
        None => feed.back_from((start, before), take).map_err(StreamError::into_api)?,
        Some(words) => {
            for cursor in
                found(shared, query, words)?.into_iter().filter(|cursor| (start < *cursor) & (*cursor < before))
            {
                let Some((cursor, id, event)) = shared.reader.events(Cursor(cursor.0 - 1), 1)?.pop() else { continue };
                let rows = feed.rows(cursor, id, event)?;
                if !rows.is_empty() && !take(rows).map_err(StreamError::into_api)? {
                    break;
                }
            }
        }
    }
    let next = page_end(&mut events, limit);
    let tag = tag(shared)?;
    let about = about(uri);
    let address = |pairs: &[(String, String)]| address_of(base, uri.path(), pairs);
    let mut first = pairs_of(uri, None);
    first.retain(|(name, _)| name != "before");
    let mut links = vec![("self", address(&pairs_of(uri, None))), ("first", address(&first))];
    links.extend(next.map(|cursor| ("next", address(&pairs_of(uri, Some(cursor))))));
    let entry = |event: &EventAnswer| -> Result<Entry, ApiError> {
        Ok(Entry::of_event(&tag, &told_of(event)?, event.unread.as_deref()))
    };
    let entries: Vec<Entry> = events.iter().map(entry).collect::<Result<_, _>>()?;
    let id = format!("{tag}feed{}", if about.is_empty() { String::new() } else { format!("?{}", encoded(&about)) });
    Ok(page_with((id, title(&about)), links, &entries))
}

/// Cuts what is too much for one page, between two cursors; gives where the next page begins.
fn page_end(events: &mut Vec<EventAnswer>, limit: usize) -> Option<String> {
    if events.len() <= limit {
        return None;
    }
    let cursor = |at: usize| events[at].cursor.clone();
    // A cursor with more rows than a page has makes a longer page.
    let begins = (1..=limit).rev().find(|at| events[*at].cursor != events[at - 1].cursor);
    let end = begins.or_else(|| (limit..events.len()).find(|at| events[*at].cursor != events[at - 1].cursor))?;
    let last = cursor(end - 1);
    events.truncate(end);
    Some(last)
}

/// The events that brought what the text index finds, or that took it, newest first.
fn found(shared: &Shared, query: &ChangesQuery, words: &str) -> Result<Vec<Cursor>, ApiError> {
    let mut cursors: Vec<Cursor> = Vec::new();
    for within in [Within::Now, Within::Removed] {
        let asked = Asked {
            within,
            sort: Sort::Newest,
            limit: HITS_MAX.min(vernal_search::ask::answer::LIMIT_MAX),
            seeds: shared.reader.seeds()?,
            until: time_of(shared, query)?,
            ..Asked::new(words, shared.clock.now())
        };
        for hit in shared.search.search(&asked)?.hits {
            let version = match &hit.gone {
                Some(gone) => gone.version,
                None => Some(hit.born.as_ref().map_or(hit.version, |born| born.version)),
            };
            let Some(page) = shared.reader.page_by_url(&url(&hit.url)?)? else { continue };
            let told = shared.reader.page_events(page.key)?;
            let told = told.into_iter().filter(|(_, _, event)| event.version == version && !event.is_of_requisite());
            cursors.extend(told.map(|(cursor, ..)| cursor));
        }
    }
    cursors.sort_unstable_by(|one, other| other.cmp(one));
    cursors.dedup();
    Ok(cursors)
}

/// When the event before which the page ends was observed: nothing older needs to be looked for.
fn time_of(shared: &Shared, query: &ChangesQuery) -> Result<Option<Moment>, ApiError> {
    let before = query.before()?;
    if before == Cursor(u64::MAX) {
        return Ok(None);
    }
    let event = shared.reader.events(Cursor(before.0.saturating_sub(1)), 1)?.pop();
    Ok(event.map(|(_, _, event)| Moment::from_micros(event.seen_different.micros() + 1)))
}

impl AtomPage {
    /// The page, or 304 where the reader has it.
    fn answer(self, headers: &HeaderMap) -> Response {
        let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(self.text.as_bytes()));
        let modified = self.newest.map(Moment::http_date);
        let status = if self.is_known(headers, &tag) { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        let body = if status == StatusCode::OK { Body::from(self.text) } else { Body::empty() };
        let mut response = (status, body).into_response();
        let fields = [
            (CONTENT_TYPE, Some("application/atom+xml; charset=utf-8".to_owned())),
            (CACHE_CONTROL, Some("no-cache".into())),
            (VARY, Some("host".into())),
            (ETAG, Some(tag)),
            (LAST_MODIFIED, modified),
        ];
        for (name, value) in fields {
            if let Some(value) = value.and_then(|value| value.parse().ok()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    /// RFC 9110, 13.1: a tag decides where one was sent, else the date.
    fn is_known(&self, headers: &HeaderMap, tag: &str) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(tags) = text(IF_NONE_MATCH) {
            let own = |known: &str| known.trim().trim_start_matches("W/") == tag || known.trim() == "*";
            return tags.split(',').any(own);
        }
        let since = text(IF_MODIFIED_SINCE).and_then(Moment::parse_http_date);
        since.zip(self.newest).is_some_and(|(since, newest)| newest.secs() <= since.secs())
    }
}

/// What chooses the events of a feed: everything but the place on which page they are.
fn about(uri: &Uri) -> Vec<(String, String)> {
    let mut about = pairs_of(uri, None);
    about.retain(|(name, _)| !["before", "limit"].contains(&name.as_str()));
    about.sort_unstable();
    about
}

/// The parameters of the request, with another place where one is given.
fn pairs_of(uri: &Uri, before: Option<String>) -> Vec<(String, String)> {
    let given = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned();
    let mut pairs: Vec<(String, String)> = given.filter(|(name, _)| before.is_none() || name != "before").collect();
    pairs.extend(before.map(|before| ("before".to_owned(), before)));
    pairs
}

fn address_of(base: &str, path: &str, pairs: &[(String, String)]) -> String {
    let query = encoded(pairs);
    if query.is_empty() { format!("{base}{path}") } else { format!("{base}{path}?{query}") }
}

fn encoded(pairs: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn title(about: &[(String, String)]) -> String {
    let said: Vec<String> = about.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if said.is_empty() { "Changes".into() } else { format!("Changes: {}", said.join(", ")) }
}
