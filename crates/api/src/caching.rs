//! What clients may keep: an ETag on every answer that is whole when it leaves, 304 where they have it already, and HEAD as the
//! GET without its body.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use xxhash_rust::xxh3::xxh3_128;

/// An answer may be kept by the client that asked, and asks again before it is shown.
const KEPT: &str = "private, no-cache";
/// Smaller answers are not packed.
const PACKED_BYTES_MIN: u64 = 1_024;

/// Packs answers for clients that ask for it. Events of a stream leave at once, and bodies of sites leave as they are.
pub fn packing() -> CompressionLayer<impl Predicate> {
    let predicate = SizeAbove::new(PACKED_BYTES_MIN)
        .and(NotForContentType::const_new("text/event-stream"))
        .and(NotForContentType::const_new("application/octet-stream"))
        .and(NotForContentType::const_new("application/warc"))
        .and(NotForContentType::const_new("application/wacz"))
        .and(NotForContentType::const_new("application/vnd.apache.parquet"));
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate)
}

pub async fn conditional(mut request: Request, next: Next) -> Response {
    let is_head = request.method() == Method::HEAD;
    if is_head {
        *request.method_mut() = Method::GET;
    }
    let is_get = request.method() == Method::GET;
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let response = if is_get && response.status() == StatusCode::OK { tagged(response, known).await } else { response };
    if is_head { without_body(response) } else { response }
}

/// The answer with its tag, or 304 where the client has it. An answer that streams has none.
async fn tagged(response: Response, known: Option<HeaderValue>) -> Response {
    // Some routes know a better tag, or that there is none.
    if response.headers().contains_key(ETAG) {
        return response;
    }
    let Some(bytes) = response.body().size_hint().exact() else { return response };
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::try_from(bytes).unwrap_or(usize::MAX)).await else {
        // A body whose size is known lies in memory already.
        return Response::from_parts(parts, Body::empty());
    };
    // The tag is weak: the same answer may leave packed.
    let tag = format!("W/\"{:032x}\"", xxh3_128(&bytes));
    let is_known = known.and_then(|known| known.to_str().map(|known| is_named(known, &tag)).ok()).unwrap_or(false);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(ETAG, tag);
    }
    parts.headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(KEPT));
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        remove_content(&mut parts.headers);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

fn remove_content(headers: &mut HeaderMap) {
    headers.remove(CONTENT_TYPE);
    headers.remove(CONTENT_LENGTH);
}

/// Whether a list of tags (RFC 9110, 13.1.2) names this one. Weak and strong forms are one.
fn is_named(list: &str, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    list.trim() == "*" || list.split(',').any(|one| opaque(one) == opaque(tag))
}

fn without_body(response: Response) -> Response {
    let size = response.body().size_hint().exact();
    let (mut parts, _) = response.into_parts();
    if let Some(size) = size.filter(|_| parts.status != StatusCode::NOT_MODIFIED) {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
    Response::from_parts(parts, Body::empty())
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    fn router() -> Router {
        let stream = || async {
            let part = futures_util::stream::once(async { Ok::<_, std::io::Error>("line\n") });
            Body::from_stream(part)
        };
        let long = "a line of text\n".repeat(200);
        Router::new()
            .route("/value", get(|| async { "value" }))
            .route("/long", get(|| async { long }))
            .route("/stream", get(stream))
            .layer(from_fn(conditional))
            .layer(packing())
    }

    async fn asked(method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, usize) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status.as_u16(), parts.headers, to_bytes(body, usize::MAX).await.unwrap().len())
    }

    #[tokio::test]
    async fn a_client_that_has_the_answer_gets_304_and_a_stream_has_no_tag() {
        let (status, headers, bytes) = asked("GET", "/value", &[]).await;
        let tag = headers[ETAG].to_str().unwrap().to_owned();
        assert_eq!((status, bytes, headers[CACHE_CONTROL].to_str().unwrap()), (200, 5, KEPT));
        for known in [tag.clone(), format!("\"other\", {tag}"), tag.trim_start_matches("W/").to_owned(), "*".into()] {
            let (status, headers, bytes) = asked("GET", "/value", &[("if-none-match", &known)]).await;
            assert_eq!((status, bytes, headers.contains_key(ETAG)), (304, 0, true), "{known}");
        }
        assert_eq!(asked("GET", "/value", &[("if-none-match", "\"other\"")]).await.0, 200);
        let (_, headers, bytes) = asked("GET", "/stream", &[("if-none-match", "*")]).await;
        assert!(bytes == 5 && !headers.contains_key(ETAG) && !headers.contains_key(CACHE_CONTROL));
    }

    #[tokio::test]
    async fn a_head_is_the_get_without_its_body() {
        for path in ["/value", "/stream", "/nothing"] {
            let (status, headers, _) = asked("GET", path, &[]).await;
            let (head_status, head_headers, bytes) = asked("HEAD", path, &[]).await;
            assert_eq!((head_status, bytes, head_headers.get(ETAG)), (status, 0, headers.get(ETAG)), "{path}");
        }
        assert_eq!(asked("HEAD", "/value", &[]).await.1[CONTENT_LENGTH], "5");
    }

    #[tokio::test]
    async fn only_whoever_asks_gets_it_packed() {
        let (_, plain, whole) = asked("GET", "/long", &[]).await;
        let (_, packed, bytes) = asked("GET", "/long", &[("accept-encoding", "gzip")]).await;
        assert!(!plain.contains_key("content-encoding") && packed["content-encoding"] == "gzip" && bytes < whole / 4);
        assert_eq!(plain[ETAG], packed[ETAG]);
        assert!(!asked("GET", "/value", &[("accept-encoding", "gzip")]).await.1.contains_key("content-encoding"));
    }
}
