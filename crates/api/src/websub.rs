//! The subscriber's side of WebSub (W3C, 2018): a hub asks whether we want a feed, and then sends it whenever it changes.
//!
//! With the setting `websub-callback` the crawl asks hubs itself (`crawler/subscribing.rs`): each is given a callback
//! with a key and a secret of its own, both made of `websub-secret`. Without it that is left to the operator: the callback
//! is `/websub?topic=URL`, the secret `websub-secret`. Where a secret is set, every delivery must be signed and the token
//! is not asked for; where no secret is set, this path is guarded like every other.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use vernal_crawler::{Act, Acted, HubWord, SignatureMethod, callback_key, hub_secret};
use vernal_document::Input;
use vernal_model::{Digest, HintSource, SiteListKind, Span, Url};

use super::access::secret::is_same;
use super::answer::{ApiError, ApiResult, One};
use super::indexnow::{Hinted, hint};
use super::parameters::{Parameters, url};
use super::shared::Shared;

/// A challenge is echoed; hubs send a few dozen letters.
const CHALLENGE_BYTES_MAX: usize = 1_024;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Asks {
    #[serde(rename = "hub.mode")]
    mode: String,
    #[serde(rename = "hub.topic")]
    topic: String,
    #[serde(rename = "hub.challenge", default)]
    challenge: String,
    #[serde(rename = "hub.lease_seconds", default)]
    lease_seconds: Option<u64>,
    /// That of the callback which the hub was given.
    #[serde(default)]
    key: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Delivered {
    topic: String,
}

/// A hub asks whether the subscription is wanted. It is for feeds whose hub this crawl asked, and for held feeds where the
/// operator asks hubs; for nothing else.
pub async fn verify(
    State(shared): State<Arc<Shared>>,
    Parameters(asks): Parameters<Asks>,
) -> Result<Response, ApiError> {
    let topic = url(&asks.topic)?;
    let is_ours = match &shared.settings.websub_callback {
        Some(_) => is_asked_for(&shared, &asks, &topic).await?,
        None => is_held_feed(&shared, &topic)?,
    };
    let wanted = match asks.mode.as_str() {
        "subscribe" => is_ours,
        // Whoever has let a feed go wants no more of it.
        "unsubscribe" => !is_ours,
        "denied" => return Ok(StatusCode::OK.into_response()),
        other => return Err(ApiError::bad_request(format!("`{other}` is no mode of WebSub"))),
    };
    if !wanted || asks.challenge.is_empty() || asks.challenge.len() > CHALLENGE_BYTES_MAX {
        return Err(ApiError::not_found(format!("nobody here asked to {} {topic}", asks.mode)));
    }
    Ok(asks.challenge.into_response())
}

/// A hub delivers a feed: the pages that it names have news.
pub async fn deliver(
    State(shared): State<Arc<Shared>>,
    Parameters(delivered): Parameters<Delivered>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult<One<Hinted>> {
    let topic = url(&delivered.topic)?;
    if let Some(secret) = &shared.settings.websub_secret {
        let signature = headers.get("x-hub-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !is_signed(signature, &hub_secret(secret, &topic), &body) && !is_signed(signature, secret, &body) {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "the signature is not that of our secret"));
        }
    }
    if !is_held_feed(&shared, &topic)? {
        return Err(ApiError::not_found(format!("{topic} is no feed that is held here")));
    }
    let content_type = headers.get("content-type").and_then(|value| value.to_str().ok());
    let parsed = vernal_document::read(&Input {
        url: &topic,
        bytes: &body,
        content_type,
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    });
    let listing = parsed.document.listing.filter(|listing| listing.kind == SiteListKind::Feed);
    let Some(listing) = listing else { return Err(ApiError::bad_request("what was delivered is no feed")) };
    // A feed speaks for its own site.
    let own = listing.entries.into_iter().map(|entry| entry.url).filter(|url| url.site_text() == topic.site_text());
    hint(&shared, HintSource::WebSub, own.collect()).await
}

/// Whether a body bears the signature `method=digits` of a secret (WebSub, section 7.1). A method that we do not know signs
/// nothing. How long the comparison takes does not tell where the two differ.
fn is_signed(signature: &str, secret: &str, body: &[u8]) -> bool {
    let Some((method, digits)) = signature.trim().split_once('=') else { return false };
    let Ok(method) = method.to_ascii_lowercase().parse::<SignatureMethod>() else { return false };
    let digits = digits.to_ascii_lowercase();
    is_same(digits.as_bytes(), method.keyed_digest(secret.as_bytes(), body).as_bytes())
}

/// Gives the hub's word to the crawl, which knows what it asked for. A hub that does not bear the key was never asked.
async fn is_asked_for(shared: &Shared, asks: &Asks, topic: &Url) -> Result<bool, ApiError> {
    let secret = shared.settings.websub_secret.as_deref().unwrap_or_default();
    if !is_same(asks.key.as_bytes(), callback_key(secret, topic).as_bytes()) {
        return Ok(false);
    }
    let word = match asks.mode.as_str() {
        "subscribe" => HubWord::Verifies { lease: asks.lease_seconds.map(Span::from_secs) },
        "denied" => HubWord::Denies,
        // We never ask to be left: a lease that nobody renews ends by itself.
        _ => return Ok(true),
    };
    let act = Act::Hub { topic: topic.clone(), word };
    let acted = shared.backend.act(act, shared.clock.now()).await?;
    Ok(acted == Acted::Subscribed(true))
}

fn is_held_feed(shared: &Shared, topic: &Url) -> Result<bool, ApiError> {
    let hints = shared.reader.site_hints(&topic.site())?;
    let is_it = |url: &Url| url == topic;
    Ok(hints.files.iter().any(|(_, file)| {
        file.source == HintSource::Feed && (is_it(&file.url) || file.topic.as_ref().is_some_and(is_it))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signatures of `body` with the secret `key` by `openssl dgst -hmac`.
    const SIGNED: [&str; 4] = [
        "sha1=70bbf6819d1037aa94ca7e7f537cbea25fe49283",
        "sha256=515aae133b435d4000956731f68ae5cf5eb85d4f0dc6a546d2bfcd3595ec1ae1",
        "sha384=9af5e5a8f0a932a9f2d4d4f20b9465aa742b5ad36b921661b00d7ce1dea803702c214535e7ed29f5fcbc495b363c999c",
        "sha512=b71e82b42ece244182aae00f5c418d84b5b0ac844874765e658e91b26261b32df39e9fcbf44424d0e3b53bab192e78a4936224ec940cf953164b70aacdd4c845",
    ];

    #[test]
    fn only_whole_signatures_of_known_methods_count() {
        for signature in SIGNED {
            assert!(is_signed(signature, "key", b"body"), "{signature}");
            assert!(is_signed(&signature.to_uppercase(), "key", b"body"), "{signature}");
            assert!(!is_signed(signature, "kez", b"body") && !is_signed(signature, "key", b"bodz"), "{signature}");
            let (method, digits) = signature.split_once('=').unwrap();
            assert!(!is_signed(&format!("md5={digits}"), "key", b"body"));
            assert!(!is_signed(&format!("{method}="), "key", b"body"));
            assert!(!is_signed(digits, "key", b"body"));
            assert!(!is_signed(&signature[..signature.len() - 1], "key", b"body"));
            assert!(!is_signed(&format!("{signature}0"), "key", b"body"));
        }
        // The digits of one method do not count for another.
        let digits = SIGNED[1].split_once('=').unwrap().1;
        assert!(!is_signed(&format!("sha512={digits}"), "key", b"body"));
        assert!(!is_signed("", "key", b"body"));
    }
}
