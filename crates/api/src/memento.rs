//! Memento (RFC 7089): TimeGate, TimeMaps and the way to each memento. Archived bytes are on another origin.
//!
//! The URL at the end of a path is taken as it came: it may have a query and escapes of its own.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{HOST, LINK, LOCATION, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::IntoResponse;
use vernal_archive::memento::{self, Mementos, TimeMap, Uris};
use vernal_archive::replay;
use vernal_model::{Moment, Page, Url};

use super::answer::{self, ApiError, ApiResult};
use super::nouns::Nouns;
use super::other_forms::{LeadsOn, TimeMaps};
use super::page;
use super::shared::Shared;

const ACCEPT_DATETIME: HeaderName = HeaderName::from_static("accept-datetime");

/// A request whose path ends with a URL.
pub struct Behind(Request);

impl<S: Send + Sync> FromRequest<S> for Behind {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        Ok(Behind(request))
    }
}

/// The moment that the client accepts; a date in no form of HTTP is an error of its own.
pub struct AcceptDatetime(Option<Moment>);

impl<S: Send + Sync> FromRequestParts<S> for AcceptDatetime {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        accepted(&parts.headers).map(AcceptDatetime)
    }
}

pub fn routes(nouns: Nouns) -> Nouns {
    let timegate_at = ("/timegate/{*url}", "/timegate/{url}");
    let timemap_at = ("/timemap/{*url}", "/timemap/{form}/{url}");
    let memento_at = ("/memento/{*url}", "/memento/{moment}/{url}");
    nouns
        .before_url(timegate_at, "Leads to the memento nearest to a moment (RFC 7089)", timegate)
        .before_url(timemap_at, "All mementos of a page (RFC 7089); later pages have a number before the URL", timemap)
        .before_url(memento_at, "Leads to the archived bytes of a moment, on their own origin", memento)
}

/// Leads to the memento nearest to the moment that is accepted, or to the newest.
async fn timegate(
    State(shared): State<Arc<Shared>>,
    AcceptDatetime(asked): AcceptDatetime,
    Behind(request): Behind,
) -> ApiResult<LeadsOn> {
    let asked = asked.unwrap_or_else(|| shared.clock.now());
    let (url, uris) = (url_behind(&request, "/timegate/")?, uris(&shared, request.headers()));
    answer::on_blocking_thread(move || {
        let (page, all) = mementos(&shared, &url)?;
        let chosen = all.nearest(asked).ok_or_else(|| nothing_kept(&page))?;
        let to = uris.memento(all.all()[chosen].moment(), &page.url);
        Ok(found(&to, &uris.link_header(&page.url, &all, Some(chosen))))
    })
    .await
}

/// Leads to the archived bytes of a moment.
async fn memento(State(shared): State<Arc<Shared>>, Behind(request): Behind) -> ApiResult<LeadsOn> {
    let target = target_behind(&request, "/memento/")?;
    let (digits, rest) = target.split_once('/').ok_or_else(|| ApiError::bad_request("give a moment and a URL"))?;
    let moment = memento::of_digits(digits)
        .ok_or_else(|| ApiError::bad_request(format!("`{digits}` is no moment: give 14 digits")))?;
    let url = memento::url_at_end(rest).map_err(ApiError::bad_request)?;
    let uris = uris(&shared, request.headers());
    let host = host(request.headers());
    answer::on_blocking_thread(move || {
        let (page, all) = mementos(&shared, &url)?;
        let chosen = all.nearest(moment).ok_or_else(|| nothing_kept(&page))?;
        let archive = shared.archive_origin.ok_or_else(|| {
            ApiError::not_found("no archived bytes are served here: start the crawl with --archive-listen")
        })?;
        let path = replay::Answer::path_of(all.all()[chosen].moment(), &page.url);
        let name = if archive.ip().is_unspecified() { name_of(&host) } else { None };
        let origin = match name {
            Some(name) => format!("{}://{name}:{}", shared.scheme, archive.port()),
            None => format!("{}://{archive}", shared.scheme),
        };
        Ok(found(&format!("{origin}{path}"), &uris.link_header(&page.url, &all, Some(chosen))))
    })
    .await
}

/// One page of a list of all mementos: `/timemap/link/URL` or `/timemap/json/URL`, and with a number the later pages.
async fn timemap(State(shared): State<Arc<Shared>>, Behind(request): Behind) -> ApiResult<TimeMaps> {
    let target = target_behind(&request, "/timemap/")?;
    let (form, rest) = target.split_once('/').unwrap_or((target, ""));
    if !matches!(form, "link" | "json") {
        return Err(ApiError::not_found("there are TimeMaps in two forms: /timemap/link/URL and /timemap/json/URL"));
    }
    let is_json = form == "json";
    let (number, rest) = numbered(rest);
    let page_number = number.checked_sub(1).ok_or_else(|| ApiError::bad_request("pages are counted from 1"))?;
    let url = memento::url_at_end(rest).map_err(ApiError::bad_request)?;
    let uris = uris(&shared, request.headers());
    answer::on_blocking_thread(move || {
        let (page, all) = mementos(&shared, &url)?;
        if all.is_empty() {
            return Err(nothing_kept(&page));
        }
        let map = TimeMap { url: &page.url, all: &all, uris: &uris, page: page_number };
        let beyond = || ApiError::not_found(format!("the TimeMap of {} has no page {number}", page.url));
        if is_json {
            let page = memento::json_page(&map).ok_or_else(beyond)?;
            return Ok(TimeMaps(answer::value(&page).into_response()));
        }
        let text = memento::link_page(&map).ok_or_else(beyond)?;
        Ok(TimeMaps(answer::typed("application/link-format", Body::from(text))))
    })
    .await
}

/// A number and a slash before the URL. A host is no number.
fn numbered(rest: &str) -> (usize, &str) {
    let number = rest.split_once('/').and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
    number.unwrap_or((1, rest))
}

fn mementos(shared: &Shared, url: &Url) -> Result<(Page, Mementos), ApiError> {
    let page = page::of(shared, url)?;
    let all = Mementos::of(&shared.reader, &page)?;
    Ok((page, all))
}

fn nothing_kept(page: &Page) -> ApiError {
    ApiError::not_found(format!("{} has no memento: it is {}", page.url, page.state.name()))
}

fn accepted(headers: &HeaderMap) -> Result<Option<Moment>, ApiError> {
    let Some(value) = headers.get(ACCEPT_DATETIME) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    match Moment::parse_http_date(text) {
        Some(moment) => Ok(Some(moment)),
        None => Err(ApiError::bad_request(
            "Accept-Datetime must be a date as HTTP has it, such as Thu, 01 Oct 2026 12:00:00 GMT",
        )),
    }
}

fn url_behind(request: &Request, prefix: &str) -> Result<Url, ApiError> {
    memento::url_at_end(target_behind(request, prefix)?).map_err(ApiError::bad_request)
}

fn target_behind<'a>(request: &'a Request, prefix: &str) -> Result<&'a str, ApiError> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let rest = target.strip_prefix(prefix).filter(|rest| !rest.is_empty());
    rest.ok_or_else(|| ApiError::bad_request(format!("give a URL behind {prefix}")))
}

/// The addresses of this origin, by the name that the client uses for it.
fn uris(shared: &Shared, headers: &HeaderMap) -> Uris {
    Uris::new(&base(shared, headers))
}

pub fn base(shared: &Shared, headers: &HeaderMap) -> String {
    format!("{}://{}", shared.scheme, host(headers))
}

fn host(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']' | b'_');
    if host.is_empty() || !host.bytes().all(is_host) { "localhost".to_owned() } else { host.to_owned() }
}

/// The name in a `Host`, without its port.
fn name_of(host: &str) -> Option<&str> {
    match host.rfind(']') {
        Some(end) => host.get(..=end),
        None => host.split(':').next(),
    }
    .filter(|name| !name.is_empty())
}

fn found(to: &str, links: &str) -> LeadsOn {
    let header = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""));
    let headers = [(LOCATION, header(to)), (LINK, header(links)), (VARY, HeaderValue::from_static("accept-datetime"))];
    LeadsOn((StatusCode::FOUND, headers).into_response())
}
