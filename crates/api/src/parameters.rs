//! The parameters of requests, parsed before any handler runs.

use std::convert::Infallible;
use std::marker::PhantomData;

use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded;
use vernal_model::{Site, Url, nearest};

use super::answer::ApiError;
use super::seed_entry;

/// Parameters of the query and of the path; errors in them are answered in our own words. A page may be named in either:
/// `/why?url=U` and `/pages/U/why` are one request.
pub struct Parameters<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let named = RawPathParams::from_request_parts(parts, state).await;
        let named = named.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(joined(parts.uri.query().unwrap_or_default()));
        query.extend_pairs(&named);
        let asked: Uri =
            format!("/?{}", query.finish()).parse().map_err(|_| ApiError::bad_request("this is no query"))?;
        let query = Query::<T>::try_from_uri(&asked);
        query.map(|Query(asked)| Parameters(asked)).map_err(|rejection| ApiError::bad_request(rejection.body_text()))
    }
}

/// What every request may say of itself, such as which answer it has already.
pub struct Heads(pub HeaderMap);

impl<S: Send + Sync> FromRequestParts<S> for Heads {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Heads(parts.headers.clone()))
    }
}

/// Parameters whose values are separated by commas, or given several times.
const LISTS: [&str; 3] = ["budget", "event", "notes"];

/// The pairs of a query, with the values of a list that is given several times in one.
fn joined(query: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let known = pairs.iter_mut().find(|(known, _)| *known == name && LISTS.contains(&&*name));
        match known {
            Some((_, values)) => *values = format!("{values},{value}"),
            None => pairs.push((name.into_owned(), value.into_owned())),
        }
    }
    pairs
}

/// The parameters of a request that changes something: in the query, or as the fields of a JSON object in the body.
pub struct Fields<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Fields<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let body = String::from_request(Request::from_parts(parts.clone(), body), state).await;
        let body = body.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        let fields = fields_of(&body)?;
        if !fields.is_empty() {
            let mut query = form_urlencoded::Serializer::new(parts.uri.query().unwrap_or_default().to_owned());
            query.extend_pairs(&fields);
            let asked = format!("{}?{}", parts.uri.path(), query.finish()).parse();
            parts.uri = asked.map_err(|_| ApiError::bad_request("these fields are no parameters"))?;
        }
        let Parameters(asked) = Parameters::from_request_parts(&mut parts, state).await?;
        Ok(Fields(asked))
    }
}

/// A body of JSON lines, each of which is such an object. The handler reads them, so that a bad line can be named.
pub struct JsonLines<T> {
    pub text: String,
    rows: PhantomData<fn() -> T>,
}

impl<T, S: Send + Sync> FromRequest<S> for JsonLines<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let text = String::from_request(request, state).await;
        let text = text.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        Ok(JsonLines { text, rows: PhantomData })
    }
}

/// A body that is one JSON object of this type.
pub struct Given<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let text = String::from_request(request, state).await;
        let text = text.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
        // What was given may have secrets in it: of them only the place of the mistake is told.
        let given = serde_json::from_str(&text);
        given.map(Given).map_err(|error| ApiError::bad_request(format!("the body is not what is asked for: {error}")))
    }
}

/// The fields of a JSON object as the query would have them; an empty body has none.
fn fields_of(body: &str) -> Result<Vec<(String, String)>, ApiError> {
    if body.is_empty() {
        return Ok(Vec::new());
    }
    let object: serde_json::Map<String, Value> = serde_json::from_str(body).map_err(|error| {
        ApiError::bad_request(format!("give the parameters in the query, or as one JSON object in the body: {error}"))
    })?;
    let mut fields = Vec::new();
    for (name, value) in object {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                return Err(ApiError::bad_request(format!("`{name}` must be a text, a number, true or false")));
            }
        };
        fields.push((name, text));
    }
    Ok(fields)
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// At most so many rows
    pub limit: Option<usize>,
    /// Where an earlier part of the list ended
    pub after: Option<String>,
    /// A column; a hyphen before it puts the greatest first
    pub sort: Option<String>,
    /// Only what a seed with this tag covers
    pub tag: Option<String>,
    /// A host, with its port where that is not the scheme's own
    pub site: Option<String>,
    /// A state of pages
    pub state: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfUrl {
    /// The page
    pub url: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSite {
    /// A host, with its port where that is not the scheme's own
    pub site: Option<String>,
}

pub fn url(text: &str) -> Result<Url, ApiError> {
    seed_entry::url(text).map_err(ApiError::bad_request)
}

/// A site by its name, or by any URL of it.
pub fn site(text: &str) -> Result<Site, ApiError> {
    seed_entry::site(text).map_err(ApiError::bad_request)
}

/// A column to sort by, and whether the greatest comes first (a hyphen before the name).
#[derive(Debug, PartialEq, Eq)]
pub struct Sort {
    pub column: &'static str,
    pub descending: bool,
}

/// Heads of tables that are no names of fields.
const HEADS: [(&str, &str); 2] = [("wire", "wire_bytes"), ("size", "body_bytes")];

impl Sort {
    /// Takes the names of fields and the heads of tables: `last_visit`, `last visit` and `last-visit` are one.
    pub fn read(text: &str, columns: &[&'static str]) -> Result<Sort, ApiError> {
        let (column, descending) = match text.strip_prefix('-') {
            Some(column) => (column, true),
            None => (text, false),
        };
        let name = column.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let name = HEADS.iter().find(|(head, _)| *head == name).map_or(name.as_str(), |(_, field)| field);
        if let Some(column) = columns.iter().copied().find(|known| *known == name) {
            return Ok(Sort { column, descending });
        }
        let near = nearest(column, columns.iter().copied());
        let meant = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        Err(ApiError::bad_request(format!("no column `{column}` to sort by{meant}; there are {}", columns.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[test]
    fn the_fields_of_a_body_are_parameters_and_what_is_no_object_is_refused() {
        let fields = fields_of(r#"{"site":"a.example","id":3,"brief":true,"reason":null}"#).unwrap();
        let expected = [("brief", "true"), ("id", "3"), ("site", "a.example")];
        assert_eq!(fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(fields_of("").unwrap().is_empty());
        for body in [" \n", "[1]", "site=a.example", "{\"site\":[\"a\"]}", "{"] {
            assert_eq!(fields_of(body).unwrap_err().status.as_u16(), 400, "{body}");
        }
    }

    #[test]
    fn a_list_may_be_given_with_commas_or_several_times() {
        let pairs =
            |query| joined(query).into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        assert_eq!(pairs("budget=5/day&for=1d&budget=7%2Fday,9/day"), ["budget=5/day,7/day,9/day", "for=1d"]);
        assert_eq!(pairs("url=a&url=b"), ["url=a", "url=b"], "one value cannot be two");
    }

    /// Pieces that questions are made of, good ones and others.
    const PIECES: [&str; 30] = [
        "site=",
        "url=",
        "limit=",
        "sort=",
        "tag=",
        "state=",
        "&",
        "=",
        "%",
        "%zz",
        "%00",
        "%ff%fe",
        "+",
        "-1",
        "a.example",
        "http://a.example/x?y#z",
        "[::1]",
        ":99999",
        "18446744073709551616",
        "1e9",
        "\u{202e}",
        "\u{0}",
        "ä",
        "{\"site\":",
        "\"",
        "}",
        "null",
        "[[[[",
        "last visit",
        ";",
    ];
    const QUESTIONS: usize = 5_000;

    #[tokio::test]
    async fn whatever_is_asked_is_read_or_refused_as_a_bad_request() {
        let asked = get(|_: Parameters<List>| async {}).post(|_: Fields<List>| async {});
        let router: Router = Router::new().route("/pages/x", asked);
        let mut chance = vernal_model::Chance::new(20_261_119);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..QUESTIONS {
            let count = chance.below(8);
            let text: String = (0..count).filter_map(|_| chance.pick(&PIECES).copied()).collect();
            let errors = [fields_of(&text).err(), url(&text).err(), site(&text).err(), Sort::read(&text, &["a"]).err()];
            assert!(errors.into_iter().flatten().all(|error| error.status.as_u16() == 400), "{text}");
            for method in ["GET", "POST"] {
                let request = Request::builder().method(method).uri(format!("/pages/x?{text}"));
                let Ok(request) = request.body(axum::body::Body::from(text.clone())) else { continue };
                let answer = router.clone().oneshot(request).await.unwrap();
                match answer.status().as_u16() {
                    200 => read += 1,
                    status => {
                        refused += 1;
                        assert_eq!(status, 400, "{method} {text}");
                    }
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} read and {refused} refused");
    }

    #[test]
    fn a_list_is_sorted_by_names_of_fields_and_by_heads_of_tables() {
        let columns = ["last_visit", "body_bytes"];
        let read = |text| Sort::read(text, &columns).ok();
        assert_eq!(read("last visit"), Some(Sort { column: "last_visit", descending: false }));
        assert_eq!(read("-last-visit"), Some(Sort { column: "last_visit", descending: true }));
        assert_eq!(read("-size"), Some(Sort { column: "body_bytes", descending: true }));
        assert_eq!(read("sighs"), None);
    }
}
