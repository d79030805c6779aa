//! Who looks at a screen, and the questions that are put to the API for them. The dashboard has no power of its own: each
//! question carries the reader's token, host and origin, and passes the API's guard like any other.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

use crate::dashboard::House;
use crate::problem::{Problem, Told};
use crate::question::Question;
use crate::session::{self, COOKIE_NAME};

/// Bytes of one answer that a screen takes in; a diff of the largest page is smaller.
const ANSWER_BYTES_MAX: usize = 64 << 20;
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The person, or the program, that asked for a screen.
#[derive(Clone)]
pub struct Reader {
    pub house: Arc<House>,
    /// What goes on with each question: host, origin, token.
    headers: HeaderMap,
    /// What the listener knows of the connection.
    extensions: Extensions,
    /// Light or dark, if they chose.
    pub theme: Option<&'static str>,
    /// Whether single keys act.
    pub keys: bool,
    /// The path and query of the screen.
    pub address: String,
}

/// Rows of a list, and where the next part of it begins.
pub struct Listed<T> {
    pub rows: Vec<T>,
    pub after: Option<String>,
}

impl FromRequestParts<Arc<House>> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, house: &Arc<House>) -> Result<Reader, Infallible> {
        Ok(Reader::of(parts, house))
    }
}

impl Reader {
    pub fn of(parts: &Parts, house: &Arc<House>) -> Reader {
        let mut headers = HeaderMap::new();
        let kept = [HOST, ORIGIN, AUTHORIZATION].into_iter();
        // A link on another site may lead to a screen; what that page loads by itself may not.
        let is_visit = parts.headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        let kept = kept.chain((!is_visit || parts.method != Method::GET).then_some(SEC_FETCH_SITE));
        for name in kept {
            if let Some(value) = parts.headers.get(&name) {
                headers.insert(name, value.clone());
            }
        }
        let token = session::cookie(&parts.headers, COOKIE_NAME).and_then(|name| house.sessions.token(name));
        let bearer = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
        if let Some(bearer) = bearer.filter(|_| !headers.contains_key(AUTHORIZATION)) {
            headers.insert(AUTHORIZATION, bearer);
        }
        let theme = match session::cookie(&parts.headers, "theme") {
            Some("light") => Some("light"),
            Some("dark") => Some("dark"),
            _ => None,
        };
        Reader {
            house: Arc::clone(house),
            headers,
            extensions: (house.carry)(&parts.extensions),
            theme,
            keys: session::cookie(&parts.headers, "keys") != Some("off"),
            address: parts.uri.path_and_query().map_or("/", |address| address.as_str()).to_owned(),
        }
    }

    /// Whether they gave a token.
    pub fn has_token(&self) -> bool {
        self.headers.contains_key(AUTHORIZATION)
    }

    /// Whether these headers come from a page of ours.
    pub fn is_own_origin(&self) -> bool {
        let text = |name| self.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let Some(origin) = text(ORIGIN) else { return false };
        let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        site.is_some_and(|site| text(HOST).is_some_and(|host| host.eq_ignore_ascii_case(site)))
    }

    /// The same reader with another token.
    pub fn with_token(mut self, token: &str) -> Told<Reader> {
        let bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "a token has letters and digits only"))?;
        self.headers.insert(AUTHORIZATION, bearer);
        Ok(self)
    }

    /// One JSON value.
    pub async fn one<T: DeserializeOwned>(&self, question: Question) -> Told<T> {
        let bytes = self.bytes(question.clone()).await?;
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&question, &error))
    }

    /// One JSON value, or nothing where the API knows none.
    pub async fn maybe<T: DeserializeOwned>(&self, question: Question) -> Told<Option<T>> {
        match self.one(question).await {
            Ok(answer) => Ok(Some(answer)),
            Err(problem) if problem.is_unknown() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// JSON lines.
    pub async fn list<T: DeserializeOwned>(&self, question: Question) -> Told<Listed<T>> {
        let bytes = self.bytes(question.clone()).await?;
        let mut listed = Listed { rows: Vec::new(), after: None };
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            if line.starts_with(b"{\"after\":") {
                let rest: Value = serde_json::from_slice(line).map_err(|error| unreadable(&question, &error))?;
                listed.after = rest["after"].as_str().map(str::to_owned);
            } else {
                listed.rows.push(serde_json::from_slice(line).map_err(|error| unreadable(&question, &error))?);
            }
        }
        Ok(listed)
    }

    /// An answer that is text.
    pub async fn text(&self, question: Question) -> Told<String> {
        Ok(String::from_utf8_lossy(&self.bytes(question).await?).into_owned())
    }

    /// Does something, and gives what the API says of it.
    pub async fn send(&self, method: Method, question: Question, body: Option<&Value>) -> Told<Value> {
        let body = body.map(|body| ("application/json", body.to_string()));
        let bytes = self.whole(self.answer(method, &question, body).await?).await?;
        Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    /// Does something with a body that is no JSON value, such as lines.
    pub async fn send_text(&self, question: Question, content_type: &'static str, body: String) -> Told<String> {
        let answer = self.answer(Method::POST, &question, Some((content_type, body))).await?;
        Ok(String::from_utf8_lossy(&self.whole(answer).await?).into_owned())
    }

    /// An answer as it comes, for streams.
    pub async fn stream(&self, question: &Question) -> Told<Response<Body>> {
        self.answer(Method::GET, question, None).await
    }

    async fn bytes(&self, question: Question) -> Told<Vec<u8>> {
        self.whole(self.answer(Method::GET, &question, None).await?).await
    }

    async fn answer(
        &self,
        method: Method,
        question: &Question,
        body: Option<(&'static str, String)>,
    ) -> Told<Response<Body>> {
        let mut request = Request::builder().method(method).uri(question.address());
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            if let Some((content_type, _)) = &body {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            }
        }
        let body = body.map_or_else(Body::empty, |(_, body)| Body::from(body));
        let mut request = request.body(body).map_err(Problem::failed)?;
        *request.extensions_mut() = self.extensions.clone();
        let answer = match self.house.api.clone().oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        if answer.status().is_success() { Ok(answer) } else { Err(self.refused(answer).await) }
    }

    async fn whole(&self, answer: Response<Body>) -> Told<Vec<u8>> {
        let collected = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok(collected.map_err(Problem::failed)?.to_bytes().into())
    }

    async fn refused(&self, answer: Response<Body>) -> Problem {
        let status = answer.status();
        let bytes = self.whole(answer).await.unwrap_or_default();
        let told: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let line = told["detail"].as_str().unwrap_or_else(|| status.canonical_reason().unwrap_or("failed"));
        Problem::new(status, line)
    }
}

fn unreadable(question: &Question, error: &serde_json::Error) -> Problem {
    Problem::failed(format!("read the answer of {}: {error}", question.address()))
}
