//! A webhook: one POST, signed where there is a secret. 2xx is taken, 410 switches the route off.

use serde_json::json;
use vernal_model::Moment;

use super::attempt::{Outcome, answer_text};
use super::network::{Network, Post, SendError};
use super::sign::signature;
use crate::outbox::Delivery;
use crate::route::{Body, Route, Webhook};
use crate::template::{self, Escape, Template};

pub(super) async fn post(
    hook: &Webhook,
    route: &Route,
    delivery: &Delivery,
    (network, links): (&dyn Network, Option<&str>),
    now: Moment,
) -> Result<Outcome, SendError> {
    let (content_type, body) = body(hook, route, delivery, links)?;
    let mut headers = vec![
        ("content-type", content_type.to_owned()),
        ("webhook-id", delivery.id.clone()),
        ("webhook-timestamp", now.secs().to_string()),
    ];
    let mut signatures = Vec::new();
    for secret in &hook.secrets {
        signatures.push(signature(&secret.key()?, &delivery.id, now.secs(), body.as_bytes()));
    }
    if !signatures.is_empty() {
        headers.push(("webhook-signature", signatures.join(" ")));
    }
    let answer = network.post(Post { url: hook.target()?, headers, body: body.into_bytes() }).await?;
    let taken = (200..300).contains(&answer.status);
    let told = answer_text(&answer.body);
    let answer_told = match answer.status {
        300..400 => format!("a redirect, which is not followed: {told}"),
        _ => told,
    };
    Ok(Outcome { taken, status: Some(answer.status), answer: answer_told, gone: answer.status == 410 })
}

/// The content type and the body.
pub(super) fn body(
    hook: &Webhook,
    route: &Route,
    delivery: &Delivery,
    links: Option<&str>,
) -> Result<(&'static str, String), SendError> {
    const JSON: &str = "application/json";
    let written = |escape: Escape| -> Result<Option<String>, SendError> {
        let Some(template) = &route.template else { return Ok(None) };
        let template = Template::parse(template).map_err(SendError)?;
        Ok(Some(template.write(&template::fields(delivery, links), escape)))
    };
    Ok(match hook.body {
        // The text of a template that is no JSON any more once its fields are in it would be refused for three days.
        Body::Json => match written(Escape::Json)? {
            Some(text) if serde_json::from_str::<serde_json::Value>(&text).is_ok() => (JSON, text),
            Some(_) | None => (JSON, template::json(delivery, links)),
        },
        Body::Chat | Body::Discord => {
            let name = if hook.body == Body::Chat { "text" } else { "content" };
            let text = written(Escape::None)?.filter(|text| !text.trim().is_empty());
            (JSON, json!({ name: text.unwrap_or_else(|| template::chat(delivery, links)) }).to_string())
        }
        Body::Text => {
            let text = written(Escape::None)?.filter(|text| !text.trim().is_empty());
            ("text/plain; charset=utf-8", text.unwrap_or_else(|| template::chat(delivery, links)))
        }
    })
}
