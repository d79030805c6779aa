//! The answer of the archive's origin. Every answer, refusals too, has the headers that keep its content in.

use vernal_document::{Input, UnpackLimits};
use vernal_model::{Moment, Url};
use vernal_repository::{Reader, Record, Result};

use super::css;
use super::found::{Found, Held, find};
use super::html;
use super::links::Links;
use super::target::{Form, Target, TargetError};
use crate::memento::Uris;

/// Status, headers and body, for whoever speaks HTTP.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Nothing runs, nothing is sent, nothing is asked of another host; the page is in an origin of its own.
const NO_SCRIPTS: &str = "sandbox allow-popups; default-src 'self' data: blob:; script-src 'none'; style-src 'self' data: \
                          'unsafe-inline'; connect-src 'none'; form-action 'none'; worker-src 'none'; object-src 'none'; \
                          base-uri 'none'";
/// The scripts of the page run, still in an origin of its own and without connections.
const WITH_SCRIPTS: &str = "sandbox allow-scripts; default-src 'self' data: blob:; script-src 'self' data: blob: \
                            'unsafe-inline' 'unsafe-eval'; style-src 'self' data: 'unsafe-inline'; connect-src 'none'; \
                            form-action 'none'; worker-src 'none'; object-src 'none'; base-uri 'none'";
const FEATURES: &str = "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), payment=(), midi=()";

/// Answers a request by its path and query, as they came. `uris` are those of the main origin, for the links of Memento.
pub fn answer(reader: &Reader, path_and_query: &str, uris: &Uris) -> Result<Answer> {
    if path_and_query == "/robots.txt" {
        return Ok(plain(200, "User-agent: *\nDisallow: /\n"));
    }
    let target = match Target::read(path_and_query) {
        Ok(target) => target,
        Err(error @ TargetError::Shape) => return Ok(plain(404, &format!("{error}\n"))),
        Err(error) => return Ok(plain(400, &format!("{error}\n"))),
    };
    Ok(match find(reader, &target)? {
        Found::Version(held) => shown(&held, target.form, uris),
        Found::Elsewhere(url, moment) => redirect(&Target::path(moment, target.form, url.as_str()), &target),
        Found::Moved(to) => redirect(&Target::path(target.moment, target.form, to.as_str()), &target),
        Found::Withheld(why) => plain(451, &format!("{} is not shown: {why}\n", target.url)),
        Found::Nothing(why, nearest) => nothing(&target, why, nearest),
    })
}

/// A refusal that names no archived page.
pub fn refusal(status: u16, line: &str) -> Answer {
    plain(status, &format!("{line}\n"))
}

fn nothing(target: &Target, why: &str, nearest: Option<Moment>) -> Answer {
    let url = &target.url;
    let Some(moment) = nearest else { return plain(404, &format!("{url} is not in this archive: {why}\n")) };
    let path = Target::path(moment, target.form, url.as_str());
    let line = format!("{url} at {}: {why}; the nearest that is held: {path}\n", target.moment.rfc3339());
    let mut answer = plain(404, &line);
    answer.headers.push(("link", format!("<{path}>; rel=\"memento\"; datetime=\"{}\"", moment.http_date())));
    answer
}

fn redirect(path: &str, target: &Target) -> Answer {
    let scripts = if target.with_scripts.is_none() || path.ends_with("scripts=1") {
        ""
    } else if path.contains('?') {
        "&scripts=1"
    } else {
        "?scripts=1"
    };
    let mut answer = plain(302, "");
    answer.headers.push(("location", format!("{}{scripts}", in_header(path))));
    answer
}

fn shown(held: &Held, form: Form, uris: &Uris) -> Answer {
    let Some((head, payload)) = parts(&held.record) else {
        return plain(404, &format!("{}: its record holds no body\n", held.url));
    };
    let bytes = match vernal_document::unpack(head, payload, &UnpackLimits::default()) {
        Ok(bytes) => bytes,
        Err(failure) => return plain(404, &format!("{}: its body cannot be unpacked: {failure:?}\n", held.url)),
    };
    let given = content_type(&held.record).unwrap_or_default();
    let (content_type, body) = match form {
        Form::Identity => (given, bytes),
        Form::Source => ("text/plain; charset=utf-8".to_owned(), source(held, &given, &bytes).into_bytes()),
        Form::Page => led(held, given, bytes),
    };
    let policy = if held.with_scripts { WITH_SCRIPTS } else { NO_SCRIPTS };
    let mut headers = safe_headers(policy);
    let content_type = in_header(&content_type);
    headers
        .push(("content-type", if content_type.is_empty() { "application/octet-stream".into() } else { content_type }));
    headers.push(("memento-datetime", held.all.all()[held.place].moment().http_date()));
    headers.push(("link", in_header(&uris.link_header(&held.url, &held.all, Some(held.place)))));
    Answer { status: 200, headers, body }
}

fn parts(record: &Record) -> Option<(&[u8], &[u8])> {
    let payload = record.payload()?;
    Some((&record.block[..record.block.len() - payload.len()], payload))
}

fn content_type(record: &Record) -> Option<String> {
    match record.http() {
        Some(http) => http.header("content-type").map(str::to_owned),
        None => record.header("Content-Type").map(str::to_owned),
    }
}

/// Pages and style sheets with their links led; everything else as it came.
fn led(held: &Held, given: String, bytes: Vec<u8>) -> (String, Vec<u8>) {
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let links = || Links::new(held.all.all()[held.place].moment(), held.url.clone());
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => {
            let source = source(held, &given, &bytes);
            let page = html::rewritten(&source, &links()).unwrap_or(source);
            (format!("{essence}; charset=utf-8"), page.into_bytes())
        }
        "text/css" => {
            let sheet = css::rewritten(&source(held, &given, &bytes), &links());
            ("text/css; charset=utf-8".to_owned(), sheet.into_bytes())
        }
        // A browser would guess, and may not: what looks like a page is shown as one.
        "" if looks_like_html(&bytes) => led(held, "text/html".to_owned(), bytes),
        _ => (given, bytes),
    }
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|mark| start.trim_start().starts_with(mark))
}

fn source(held: &Held, content_type: &str, bytes: &[u8]) -> String {
    vernal_document::source_text(&Input {
        url: &held.url,
        bytes,
        content_type: Some(content_type),
        content_language: None,
        robots_tags: &[],
        payload: held.version.payload,
    })
}

fn plain(status: u16, text: &str) -> Answer {
    let mut headers = safe_headers(NO_SCRIPTS);
    headers.push(("content-type", "text/plain; charset=utf-8".to_owned()));
    Answer { status, headers, body: text.as_bytes().to_vec() }
}

fn safe_headers(policy: &str) -> Vec<(&'static str, String)> {
    [
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("permissions-policy", FEATURES),
        ("x-robots-tag", "noindex, nofollow"),
        ("x-dns-prefetch-control", "off"),
        ("cache-control", "no-store"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

/// What may stand in a header: anything else could end it.
fn in_header(text: &str) -> String {
    text.chars().filter(|letter| matches!(letter, ' '..='~')).collect()
}

/// A URL below the archive's origin, for redirects from the main one.
impl Answer {
    pub fn path_of(moment: Moment, url: &Url) -> String {
        in_header(&Target::path(moment, Form::Page, url.as_str()))
    }
}
