//! The bytes of a version, as the archive has them: never rendered, always a download.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use vernal_document::Input;
use vernal_model::{Media, Moment, Page, Url, Version};
use vernal_repository::{Reader, Record};

use super::answer::{ApiError, ApiResult, RawBody};
use super::nouns::Nouns;
use super::page;
use super::parameters::{Parameters, url};
use super::shared::Shared;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyQuery {
    /// The page
    url: String,
    /// The version that was current then.
    at: Option<String>,
    /// The version with this number.
    version: Option<u32>,
    /// As received, still content-encoded.
    #[serde(default)]
    raw: bool,
}

/// A version's response, found and read.
pub struct Kept {
    pub version: Version,
    pub record: Record,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("body", "The bytes of a version, as a download", show)
}

pub async fn show(State(shared): State<Arc<Shared>>, Parameters(query): Parameters<BodyQuery>) -> ApiResult<RawBody> {
    let page = page::of(&shared, &url(&query.url)?)?;
    let version = choose(&shared, &page, &query)?;
    let kept = kept(&shared.reader, &page.url, version)?;
    let bytes = if query.raw { kept.payload()?.to_vec() } else { kept.unpacked(&shared)? };
    let media = shared.reader.document(page.key)?.map(|document| document.media);
    Ok(RawBody(attachment(&kept, media, bytes)))
}

fn choose(shared: &Shared, page: &Page, query: &BodyQuery) -> Result<Version, ApiError> {
    let versions = shared.reader.versions(page.key)?;
    let url = &page.url;
    if let Some(number) = query.version {
        let found = versions.into_iter().find(|version| version.number == number);
        return found.ok_or_else(|| ApiError::not_found(format!("{url} has no version {number}")));
    }
    let until = match &query.at {
        Some(text) => Moment::parse(text, shared.clock.now()).map_err(ApiError::bad_request)?,
        None => Moment::NEVER,
    };
    let found = versions.into_iter().rfind(|version| version.moment <= until);
    found.ok_or_else(|| match &query.at {
        Some(text) => ApiError::not_found(format!("no version of {url} was held at {text}")),
        None => ApiError::not_found(format!("{url} has no version: it is {}", page.state.name())),
    })
}

/// Reads a version; what cannot be read is named by its URL and its number.
pub fn kept(reader: &Reader, url: &Url, version: Version) -> Result<Kept, ApiError> {
    found(reader, url, version).map_err(|error| match error.unread {
        Some(_) => error.of_version(version.number, url),
        None => error,
    })
}

fn found(reader: &Reader, url: &Url, version: Version) -> Result<Kept, ApiError> {
    if version.location.is_none() {
        return Err(ApiError::not_found(without_body(reader, url, version)?));
    }
    let record = reader.record_of(url, version)?;
    let record = record.ok_or_else(|| {
        ApiError::failed(format!("version {} of {url} refers to a body that is not here", version.number))
    })?;
    Ok(Kept { version, record })
}

/// A version has no body because the page asked not to be archived, or because `compact` was told to let it go.
fn without_body(reader: &Reader, url: &Url, version: Version) -> Result<String, ApiError> {
    let page = reader.page_by_url(url)?;
    let newest = page.and_then(|page| page.version);
    let is_given_up = newest.is_some_and(|newest| newest.number > version.number && newest.location.is_some());
    Ok(match is_given_up {
        true => format!(
            "version {} of {url} has no body: it was given up by `compact`, or the page asked not to be archived then",
            version.number
        ),
        false => format!("{url} asked not to be archived: version {} has no body", version.number),
    })
}

impl Kept {
    /// The body as received.
    pub fn payload(&self) -> Result<&[u8], ApiError> {
        self.record.payload().ok_or_else(|| ApiError::failed(format!("version {} has no payload", self.version.number)))
    }

    /// The body as its author wrote it.
    pub fn unpacked(&self, shared: &Shared) -> Result<Vec<u8>, ApiError> {
        let payload = self.payload()?;
        let head = &self.record.block[..self.record.block.len() - payload.len()];
        vernal_document::unpack(head, payload, &shared.settings.unpacking)
            .map_err(|failure| ApiError::failed(format!("unpack version {}: {failure:?}", self.version.number)))
    }

    /// The body, ready to be read for its meaning.
    pub fn read(&self, shared: &Shared, url: &Url) -> Result<ReadBody, ApiError> {
        // A resource has no head of a response; its record says what it is.
        let of_record = || self.record.header("Content-Type").filter(|_| self.record.kind() == "resource");
        Ok(ReadBody {
            url: url.clone(),
            bytes: self.unpacked(shared)?,
            content_type: self.header("content-type").or_else(|| of_record().map(str::to_owned)),
            content_language: self.header("content-language"),
            payload: self.version.payload,
        })
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.record.http()?.header(name).map(str::to_owned)
    }
}

/// A body as its author wrote it, with what it takes to read it.
pub struct ReadBody {
    pub url: Url,
    pub bytes: Vec<u8>,
    content_type: Option<String>,
    content_language: Option<String>,
    payload: vernal_model::Digest,
}

impl ReadBody {
    pub fn input(&self) -> Input<'_> {
        Input {
            url: &self.url,
            bytes: &self.bytes,
            content_type: self.content_type.as_deref(),
            content_language: self.content_language.as_deref(),
            robots_tags: &[],
            payload: self.payload,
        }
    }
}

/// Whatever media type the site gave, a browser gets plain text or untyped bytes that cannot run on our origin.
fn attachment(kept: &Kept, media: Option<Media>, bytes: Vec<u8>) -> Response {
    let is_text =
        matches!(media, Some(Media::Html | Media::Xml | Media::Text | Media::Json | Media::Style | Media::Script))
            && std::str::from_utf8(&bytes).is_ok();
    let content_type = if is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" };
    let header = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'")),
        (HeaderName::from_static("vernal-version"), header(kept.version.number.to_string())),
        (HeaderName::from_static("vernal-moment"), header(kept.version.moment.rfc3339())),
        (HeaderName::from_static("vernal-content-type"), header(kept.header("content-type").unwrap_or_default())),
    ];
    (headers, Body::from(bytes)).into_response()
}
