//! The subscriber's side of WebSub (W3C, 2018): a hub asks whether we want a feed, and then sends it whenever it changes.
//!
//! With the setting `websub-callback` the crawl asks hubs itself (`crawler/subscribing.rs`): each is given a callback
//! with a key and a secret of its own, both made of `websub-secret`. Without it that is left to the operator: the callback is
//! `/websub?topic=URL`, the secret `websub-secret`. Where a secret is set, every delivery must be signed and the token is
//! not asked for; where it is not, the token or the loopback guards this door.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use vernal_crawler::{Act, Acted, HubWord, callback_key, hub_secret, keyed_digest};
use vernal_document::Input;
use vernal_model::{Digest, HintSource, ListingKind, Span, Url};

use super::answer::{Answered, No};
use super::door::is_same;
use super::indexnow::hint;
use super::parameters::{Asked, url};
use super::shared::Shared;

/// A challenge is echoed; hubs send a few dozen letters.
const CHALLENGE_BYTES_MAX: usize = 1_024;

#[derive(Debug, Deserialize)]
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

#[derive(Debug, Deserialize)]
pub struct Delivered {
    topic: String,
}

/// A hub asks whether we meant it: yes for feeds whose hub we asked, or which we hold where hubs are asked by hand; no for
/// everything else.
pub async fn verify(State(shared): State<Arc<Shared>>, Asked(asks): Asked<Asks>) -> Result<Response, No> {
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
        let is_signed_with =
            |secret: &str| is_same(given.as_bytes(), keyed_digest(secret.as_bytes(), &body).as_bytes());
        if !is_signed_with(&hub_secret(secret, &topic)) && !is_signed_with(secret) {
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

/// Hands the hub's word to the crawl, which knows what it asked for. A hub that does not bear the key was never asked.
async fn is_asked_for(shared: &Shared, asks: &Asks, topic: &Url) -> Result<bool, No> {
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
    let acted = shared.hands.act(act, shared.clock.now()).await.map_err(No::failed)?;
    Ok(acted == Acted::Subscribed(true))
}

fn is_held_feed(shared: &Shared, topic: &Url) -> Result<bool, No> {
    let hints = shared.reader.site_hints(&topic.site())?;
    let is_it = |url: &Url| url == topic;
    Ok(hints.files.iter().any(|(_, file)| {
        file.source == HintSource::Feed && (is_it(&file.url) || file.topic.as_ref().is_some_and(is_it))
    }))
}
