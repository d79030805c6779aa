//! The subscriber's side of WebSub (W3C, 2018): a hub asks whether we want a feed, and then sends it whenever it changes.
//!
//! Asking a hub to begin is left to the operator: it is a POST, and the crawl sends nothing but GET. The callback is
//! `/websub?topic=URL`; the secret that the hub is given is the setting `websub-secret`. Where that is set, every delivery
//! must be signed with it and the token is not asked for; where it is not, the token or the loopback guards this door.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sha1::{Digest as _, Sha1};
use vernal_document::Input;
use vernal_model::{Digest, HintSource, ListingKind, Url};

use super::answer::{Answered, No};
use super::door::is_same;
use super::indexnow::hint;
use super::parameters::{Asked, url};
use super::shared::Shared;

/// A challenge is echoed; hubs send a few dozen letters.
const CHALLENGE_BYTES_MAX: usize = 1_024;
/// The block of SHA-1, to which a key is brought.
const BLOCK_BYTES: usize = 64;

#[derive(Debug, Deserialize)]
pub struct Asks {
    #[serde(rename = "hub.mode")]
    mode: String,
    #[serde(rename = "hub.topic")]
    topic: String,
    #[serde(rename = "hub.challenge", default)]
    challenge: String,
}

#[derive(Debug, Deserialize)]
pub struct Delivered {
    topic: String,
}

/// A hub asks whether we meant it: yes for feeds that we hold, no for everything else.
pub async fn verify(State(shared): State<Arc<Shared>>, Asked(asks): Asked<Asks>) -> Result<Response, No> {
    let topic = url(&asks.topic)?;
    let is_ours = is_held_feed(&shared, &topic)?;
    let wanted = match asks.mode.as_str() {
        "subscribe" => is_ours,
        // Whoever has let a feed go wants no more of it.
        "unsubscribe" => !is_ours,
        "denied" => return Ok(StatusCode::OK.into_response()),
        other => return Err(No::wrong(format!("`{other}` is no mode of WebSub"))),
    };
    if !wanted || asks.challenge.is_empty() || asks.challenge.len() > CHALLENGE_BYTES_MAX {
        return Err(No::unknown(format!("nobody here asked to {} {topic}", asks.mode)));
    }
    Ok(asks.challenge.into_response())
}

/// A hub delivers a feed: the pages that it names have news.
pub async fn deliver(
    State(shared): State<Arc<Shared>>,
    Asked(delivered): Asked<Delivered>,
    headers: HeaderMap,
    body: Bytes,
) -> Answered {
    let topic = url(&delivered.topic)?;
    if let Some(secret) = &shared.settings.websub_secret {
        let signature = headers.get("x-hub-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let given = signature.strip_prefix("sha1=").unwrap_or_default().to_ascii_lowercase();
        if !is_same(given.as_bytes(), signed(secret.as_bytes(), &body).as_bytes()) {
            return Err(No { status: StatusCode::FORBIDDEN, line: "the signature is not that of our secret".into() });
        }
    }
    if !is_held_feed(&shared, &topic)? {
        return Err(No::unknown(format!("{topic} is no feed that is held here")));
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
    let listing = parsed.document.listing.filter(|listing| listing.kind == ListingKind::Feed);
    let Some(listing) = listing else { return Err(No::wrong("what was delivered is no feed")) };
    // A feed speaks for its own site.
    let own = listing.entries.into_iter().map(|entry| entry.url).filter(|url| url.site_text() == topic.site_text());
    hint(&shared, HintSource::WebSub, own.collect()).await
}

fn is_held_feed(shared: &Shared, topic: &Url) -> Result<bool, No> {
    let hints = shared.reader.site_hints(&topic.site())?;
    let is_it = |url: &Url| url == topic;
    Ok(hints.files.iter().any(|(_, file)| {
        file.source == HintSource::Feed && (is_it(&file.url) || file.topic.as_ref().is_some_and(is_it))
    }))
}

/// HMAC-SHA1 (RFC 2104) in hexadecimal digits.
fn signed(secret: &[u8], body: &[u8]) -> String {
    let mut key = [0; BLOCK_BYTES];
    if secret.len() > BLOCK_BYTES {
        key[..20].copy_from_slice(&Sha1::digest(secret));
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let padded = |with: u8| key.map(|byte| byte ^ with);
    let inner = Sha1::new().chain_update(padded(0x36)).chain_update(body).finalize();
    let outer = Sha1::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_2202() {
        assert_eq!(signed(&[0x0b; 20], b"Hi There"), "b617318655057264e28bc0b6fb378c8ef146be00");
        assert_eq!(signed(b"Jefe", b"what do ya want for nothing?"), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        let long = signed(&[0xaa; 80], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(long, "aa4ae5e15272d00e95705637ce8a3b55ed402112");
    }
}
