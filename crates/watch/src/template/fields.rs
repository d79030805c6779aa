//! The fields that a template can name, and the same as JSON.

use serde_json::{Map, Value, json};
use vernal_model::EventKind;

use crate::outbox::Delivery;
use crate::told::Told;

/// Every name that can stand in a tag.
pub const NAMES: [&str; 52] = [
    "delivery",
    "watch",
    "id",
    "name",
    "reason",
    "line",
    "events",
    "more",
    "count",
    "event",
    "url",
    "site",
    "site_name",
    "tags",
    "title",
    "language",
    "version",
    "previous",
    "seen_same",
    "seen_different",
    "kinds",
    "left",
    "magnitude",
    "degree",
    "flapping",
    "notes",
    "kind",
    "what",
    "paragraphs",
    "op",
    "role",
    "headings",
    "position",
    "before",
    "after",
    "detail",
    "fold",
    "pages",
    "same_as",
    "cut",
    "link",
    "diff_link",
    "tally",
    "added",
    "removed",
    "edited",
    "moved",
    "excerpt",
    "cursor",
    "gone",
    "back",
    "new",
];

/// A delivery as JSON. The fields of its first event stand beside its own, so that a template for one event needs no section.
pub fn fields(delivery: &Delivery, links: Option<&str>) -> Value {
    let alert = &delivery.alert;
    let events: Vec<Value> = alert.events.iter().map(|told| event(told, links)).collect();
    let mut all = match events.first() {
        Some(Value::Object(first)) => first.clone(),
        _ => Map::new(),
    };
    let own = json!({
        "delivery": delivery.id,
        "watch": { "id": delivery.watch, "name": delivery.watch_name },
        "reason": alert.reason.name(),
        "line": alert.line(),
        "more": alert.more,
        "count": alert.events.len() as u64 + alert.more,
        "events": events,
    });
    if let Value::Object(own) = own {
        all.extend(own);
    }
    Value::Object(all)
}

/// An event with what templates have beside its own fields.
pub fn event(told: &Told, links: Option<&str>) -> Value {
    let mut fields = serde_json::to_value(told).unwrap_or_default();
    let excerpt = told.excerpt();
    fields["site_name"] = told.site.clone().into();
    fields["line"] = told.line().into();
    fields["tally"] = serde_json::to_value(told.tally()).unwrap_or_default();
    fields["excerpt"] = serde_json::to_value(excerpt).unwrap_or_default();
    fields["link"] = told.url.clone().into();
    fields["diff_link"] = diff_link(told, links).into();
    for (name, kind) in [("gone", EventKind::Gone), ("back", EventKind::Back), ("new", EventKind::New)] {
        fields[name] = (told.event == kind).into();
    }
    fields
}

/// Where the two versions are shown beside each other; the page itself where nothing shows them.
pub fn diff_link(told: &Told, links: Option<&str>) -> String {
    let Some(links) = links else { return told.url.clone() };
    let versions = match (told.versions.previous, told.versions.version) {
        (Some(from), Some(to)) if from != to => format!("&from={from}&to={to}"),
        _ => String::new(),
    };
    let what = if versions.is_empty() { "history" } else { "diff" };
    format!("{links}/api/v1/{what}?url={}{versions}", encoded(&told.url))
}

/// Percent-encoded for a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
