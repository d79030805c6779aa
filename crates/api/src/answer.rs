//! The forms of an answer: one JSON value, JSON lines that stream, or a problem. The type of a form says what it holds, which
//! is what the description of the routes reads.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::StreamExt;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc;
use vernal_document::tell::escaped;
use vernal_model::Url;

use super::backend::BackendError;

/// Bytes of lines gathered before they are sent on.
const PART_BYTES: usize = 32 << 10;
/// Parts that may wait for a slow reader; beyond this the writer waits.
const PARTS_WAITING_MAX: usize = 4;

pub const JSON: &str = "application/json";
pub const LINES: &str = "application/x-ndjson";
pub const PROBLEM: &str = "application/problem+json";

/// Seconds after which what is not ready now is asked for again.
const RETRY_AFTER_S: &str = "5";

/// A refusal or a failure, answered as a [`Problem`].
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub line: String,
    /// What the repository could not read, where this is the reason.
    pub unread: Option<Arc<vernal_repository::Error>>,
}

/// What is said behind damage of the tables.
pub const ANEW: &str = "; the tables are a cache and are made anew from the journal at the next opening, so ask again";

pub type ApiResult<T = Response> = Result<T, ApiError>;

/// What is wrong, as RFC 9457 has it.
#[derive(Serialize, JsonSchema)]
pub struct Problem {
    /// `about:blank`: the status says what kind of problem it is.
    r#type: &'static str,
    /// The name of the status.
    title: &'static str,
    status: u16,
    /// What is wrong, in one line.
    detail: String,
    /// The same line, for scripts that read this field.
    error: String,
}

impl ApiError {
    pub fn new(status: StatusCode, line: impl std::fmt::Display) -> ApiError {
        ApiError { status, line: line.to_string(), unread: None }
    }

    pub fn bad_request(line: impl std::fmt::Display) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, line)
    }

    pub fn not_found(line: impl std::fmt::Display) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, line)
    }

    pub fn failed(line: impl std::fmt::Display) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, line)
    }

    /// Names the version that could not be read.
    pub fn of_version(self, number: u32, url: &Url) -> ApiError {
        ApiError { line: format!("read version {number} of {url}: {}", self.line), ..self }
    }

    /// The error that breaks a streamed answer off.
    pub fn breaking_off(self) -> std::io::Error {
        match self.unread {
            Some(error) => std::io::Error::other(error),
            None => std::io::Error::other(self.line),
        }
    }

    /// The line, where something that is here could not be read; `None` where it never was, or was let go.
    pub fn unread(&self) -> Option<String> {
        self.unread.as_ref().map(|_| self.line.clone())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let problem = Problem {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Failed"),
            status: self.status.as_u16(),
            detail: self.line.clone(),
            error: self.line,
        };
        let mut response = value(&problem).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        *response.status_mut() = self.status;
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
        }
        if let Some(error) = self.unread {
            response.extensions_mut().insert(error);
        }
        response
    }
}

impl From<vernal_repository::Error> for ApiError {
    fn from(error: vernal_repository::Error) -> ApiError {
        let hint = if error.is_of_cache() { ANEW } else { "" };
        let failed = ApiError::failed(format!("{error}{hint}"));
        ApiError { unread: Some(Arc::new(error)), ..failed }
    }
}

/// One JSON value of this type.
pub struct One<T>(Response, PhantomData<fn() -> T>);

/// JSON lines of this type.
pub struct Many<T>(Response, PhantomData<fn() -> T>);

/// JSON lines of this type, and behind them a [`Rest`] where a limit was given and there is more.
pub struct Listed<T>(Response, PhantomData<fn() -> T>);

/// Server-sent events of this type.
pub struct EventStream<T>(Response, PhantomData<fn() -> T>);

/// One JSON value of this type, or the same for people, as text or HTML.
pub struct Views<T>(Response, PhantomData<fn() -> T>);

pub struct PlainText(pub Response);

/// Bytes that a site gave.
pub struct RawBody(pub Response);

macro_rules! into_response {
    ($($form:ident$(<$type:ident>)?),*) => {
        $(impl$(<$type>)? IntoResponse for $form$(<$type>)? {
            fn into_response(self) -> Response {
                self.0
            }
        })*
    };
}

/// A copy for other programs, in a format of its own.
pub struct Exported(pub Response);

into_response!(One<T>, Many<T>, Listed<T>, EventStream<T>, Views<T>, PlainText, RawBody, Exported);

impl<T> EventStream<T> {
    pub fn of(body: Body) -> EventStream<T> {
        EventStream(typed("text/event-stream", body), PhantomData)
    }
}

impl<T> Views<T> {
    pub fn shown(response: Response) -> Views<T> {
        Views(response, PhantomData)
    }
}

impl<T> From<One<T>> for Views<T> {
    fn from(one: One<T>) -> Views<T> {
        Views(one.0, PhantomData)
    }
}

/// One JSON value.
pub fn value<T: Serialize>(value: &T) -> One<T> {
    let response = match serde_json::to_string(value) {
        Ok(text) => {
            let mut text = escaped(&text).into_owned();
            text.push('\n');
            typed(JSON, Body::from(text))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    };
    One(response, PhantomData)
}

pub fn typed(content_type: &'static str, body: Body) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(content_type))], body).into_response()
}

/// The body of an answer that a thread writes as JSON lines; writing fails once the reader has gone.
pub struct Lines<T> {
    parts: mpsc::Sender<Result<Bytes, std::io::Error>>,
    gathered: Vec<u8>,
    rows: PhantomData<fn(&T)>,
}

/// The last line of a list that has more than was asked for.
#[derive(Serialize, JsonSchema)]
pub struct Rest {
    /// Given back as `after`, the list goes on behind this line.
    pub after: String,
}

/// The reader has gone away; there is nothing left to do.
pub struct ReaderGone;

impl<T: Serialize> Lines<T> {
    pub fn line(&mut self, row: &T) -> Result<(), ReaderGone> {
        self.put(row)
    }
}

impl<T> Lines<T> {
    /// The last line of a list that goes on.
    pub fn rest(&mut self, after: String) -> Result<(), ReaderGone> {
        self.put(&Rest { after })
    }

    fn put(&mut self, row: &impl Serialize) -> Result<(), ReaderGone> {
        let text = serde_json::to_string(row).map_err(|_| ReaderGone)?;
        // Commands print these lines as they come, and what sites wrote must not turn a line on a terminal.
        self.gathered.extend_from_slice(escaped(&text).as_bytes());
        self.gathered.push(b'\n');
        if self.gathered.len() >= PART_BYTES { self.flush() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> Result<(), ReaderGone> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let part = Bytes::from(std::mem::take(&mut self.gathered));
        self.parts.blocking_send(Ok(part)).map_err(|_| ReaderGone)
    }

    /// Ends the body with an error, so that the client sees that it is incomplete.
    fn break_off(&mut self, error: impl std::error::Error + Send + Sync + 'static) {
        let _ = self.flush();
        let _ = self.parts.blocking_send(Err(std::io::Error::other(error)));
    }
}

/// Rows of a list that could not be read whole. The list goes on, and its end says so.
#[derive(Debug, Default, thiserror::Error)]
#[error("{count} of these rows could not be read whole: {}; `vernal verify` lists what is damaged", first.join("; "))]
pub struct UnreadRows {
    count: u64,
    first: Vec<String>,
}

/// Rows that are named at the end of a list; more are counted.
const UNREAD_NAMED_MAX: usize = 10;

impl UnreadRows {
    pub fn note(&mut self, line: &str) {
        self.count += 1;
        if self.first.len() < UNREAD_NAMED_MAX {
            self.first.push(line.to_owned());
        }
    }

    /// The end of a list.
    pub fn end(self) -> Result<(), StreamError> {
        if self.count == 0 { Ok(()) } else { Err(StreamError::Unread(self)) }
    }
}

/// So that exporters can write bytes into an answer.
impl<T> std::io::Write for Lines<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= PART_BYTES {
            std::io::Write::flush(self)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Lines::flush(self).map_err(|ReaderGone| std::io::ErrorKind::BrokenPipe.into())
    }
}

/// Why a writer of lines stopped early.
pub enum StreamError {
    ReaderGone,
    Repository(vernal_repository::Error),
    Backend(BackendError),
    Export(vernal_archive::export::Error),
    Unread(UnreadRows),
}

impl StreamError {
    /// The error of an answer that is one value.
    pub fn into_api(self) -> ApiError {
        match self {
            StreamError::ReaderGone => ApiError::failed("the reader has gone"),
            StreamError::Repository(error) => error.into(),
            StreamError::Backend(error) => error.into(),
            StreamError::Export(error) => ApiError::failed(error),
            StreamError::Unread(error) => ApiError::failed(error),
        }
    }
}

impl From<ReaderGone> for StreamError {
    fn from(_: ReaderGone) -> StreamError {
        StreamError::ReaderGone
    }
}

impl From<vernal_repository::Error> for StreamError {
    fn from(error: vernal_repository::Error) -> StreamError {
        StreamError::Repository(error)
    }
}

/// JSON lines that stream while `write` makes them on a thread of its own.
pub fn lines<T>(write: impl FnOnce(&mut Lines<T>) -> Result<(), StreamError> + Send + 'static) -> Many<T> {
    Many(streamed(write), PhantomData)
}

/// The same for a list that can be asked for in parts.
pub fn listed<T>(write: impl FnOnce(&mut Lines<T>) -> Result<(), StreamError> + Send + 'static) -> Listed<T> {
    Listed(streamed(write), PhantomData)
}

/// Bytes that a thread writes, such as those of an export.
pub fn streamed_as(
    content_type: &'static str,
    write: impl FnOnce(&mut Lines<()>) -> Result<(), StreamError> + Send + 'static,
) -> Response {
    let mut response = streamed(write);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn streamed<T>(write: impl FnOnce(&mut Lines<T>) -> Result<(), StreamError> + Send + 'static) -> Response {
    let (parts, receiver) = mpsc::channel(PARTS_WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        let mut lines = Lines { parts, gathered: Vec::new(), rows: PhantomData };
        match write(&mut lines) {
            Ok(()) => drop(lines.flush()),
            Err(StreamError::ReaderGone) => {}
            Err(StreamError::Repository(error)) => lines.break_off(error),
            Err(StreamError::Backend(error)) => lines.break_off(error),
            Err(StreamError::Export(error)) => lines.break_off(error),
            Err(StreamError::Unread(error)) => lines.break_off(error),
        }
    });
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let part = receiver.recv().await?;
        Some((part, receiver))
    });
    // Whoever packs an answer asks again behind its end.
    typed(LINES, Body::from_stream(stream.fuse()))
}

/// Does what takes long on a thread of its own, so that the event loop goes on.
pub async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::failed)?
}

pub async fn no_such_method(request: Request) -> ApiError {
    let (method, path) = (request.method(), request.uri().path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} does not answer {method}"))
}

pub async fn no_such_route(request: Request) -> ApiError {
    ApiError::not_found(format!("there is nothing at {}", request.uri().path()))
}

/// Headers that keep browsers from sniffing, framing, running or caching anything served here.
pub async fn safe_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Archived pages have their own, on their own origin.
    for (name, text) in [
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(text));
    }
    response
}
