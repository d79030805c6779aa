//! The event as a JSON Schema.

use serde_json::{Value, json};

/// The event, field by field. Fields are only added, never renamed.
pub fn event_schema() -> Value {
    let text = json!({ "type": "string" });
    let number_or_null = json!({ "type": ["integer", "null"], "minimum": 1 });
    let time_or_null = json!({ "type": ["string", "null"], "format": "date-time" });
    let properties = json!({
        "id": { "type": "string", "pattern": "^e[0-9]+-[0-9]+$" },
        "cursor": { "type": "string", "pattern": "^c" },
        "event": { "enum": ["new", "changed", "gone", "back", "moved", "blocked", "erased", "template", "unblocked",
            "joined", "parted", "imported"] },
        "url": { "type": "string", "format": "uri" },
        "site": text,
        "tags": { "type": "array", "items": text },
        "title": text,
        "language": text,
        "content_type": text,
        "version": number_or_null,
        "previous": number_or_null,
        "seen_same": time_or_null,
        "seen_different": time_or_null,
        "kinds": { "type": "array", "items": kind_schema() },
        "left": { "type": "array", "items": kind_schema() },
        "magnitude": { "type": "number", "minimum": 0, "maximum": 1 },
        "degree": { "enum": ["none", "hidden", "slight", "moderate", "large", "total"] },
        "flapping": { "type": "boolean" },
        "decided_by": { "type": ["string", "null"] },
        "notes": { "type": "array", "items": difference_schema("what") },
        "noise": { "type": "array", "items": difference_schema("detector") },
        "paragraphs": { "type": "array", "items": paragraph_schema() },
        "detail": text,
        "tally": tally_schema(),
        "excerpt": excerpt_schema(),
        "mark": mark_schema(),
        "fold": {
            "type": ["string", "null"],
            "description": "Of a template event: the same in all its updates, of which the listing shows the newest",
        },
        "pages": { "type": ["integer", "null"], "description": "Of a template event: on how many pages it is now" },
        "sample": { "type": "array", "items": folded_page_schema() },
        "part_of": {
            "type": "array",
            "items": text,
            "description": "The folds of the site that tell some or all of this event",
        },
        "same_as": {
            "type": ["string", "null"],
            "format": "uri",
            "description": "The page was a second name of that one: whoever embeds pages leaves this event out",
        },
        "replica": replica_schema(),
        "unread": {
            "type": ["string", "null"],
            "description": "Why words or steps are not here that could not be read from the damaged repository",
        },
    });
    let required: Vec<&str> =
        properties.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "type": "object",
        "required": required,
        "properties": properties,
    })
}

/// What happened to how many paragraphs.
fn tally_schema() -> Value {
    let names = ["added", "removed", "edited", "moved", "split", "merged"];
    let count = |name: &str| (name.to_owned(), json!({ "type": "integer", "minimum": 0 }));
    let properties: serde_json::Map<String, Value> = names.into_iter().map(count).collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

fn excerpt_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": ["object", "null"],
        "description": "The words that tell the most, about 200 letters on each side",
        "required": ["paragraph", "before", "after"],
        "properties": {
            "paragraph": { "type": ["string", "null"], "pattern": PARAGRAPH_ID },
            "before": text,
            "after": text,
        },
    })
}

fn mark_schema() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "What somebody said of the event",
        "required": ["state", "by", "at", "note"],
        "properties": {
            "state": { "enum": ["seen", "act", "noise"] },
            "by": { "type": "string" },
            "at": { "type": ["string", "null"], "format": "date-time" },
            "note": { "type": ["string", "null"] },
        },
    })
}

fn kind_schema() -> Value {
    json!({ "enum": ["structure", "content", "presentation", "behaviour"] })
}

/// A note, or what was set aside: told by `name`.
fn difference_schema(name: &str) -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    let mut properties = json!({ "kind": kind_schema(), "before": text_or_null, "after": text_or_null });
    properties[name] = json!({ "type": "string" });
    if name == "detector" {
        properties["rule"] = json!({ "type": ["integer", "null"], "minimum": 1 });
    }
    json!({ "type": "object", "required": ["kind", name, "before", "after"], "properties": properties })
}

/// One of the first pages of a template event.
fn folded_page_schema() -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "required": ["url", "version", "id", "cursor", "replaced"],
        "properties": {
            "url": { "type": "string", "format": "uri" },
            "version": { "type": "integer", "minimum": 1 },
            "id": text_or_null,
            "cursor": text_or_null,
            "replaced": { "type": "boolean", "description": "The template event tells all that the event of the page tells" },
        },
    })
}

fn replica_schema() -> Value {
    json!({
        "type": ["object", "null"],
        "description": REPLICA_RULE,
        "required": ["whole", "missing", "operations"],
        "properties": {
            "whole": { "type": "boolean" },
            "missing": { "type": ["string", "null"] },
            "operations": { "type": "array", "items": {
                "type": "object",
                "required": ["op", "id", "position", "role", "text", "noise"],
                "properties": {
                    "op": { "enum": ["removed", "added", "moved", "edited"] },
                    "id": { "type": ["string", "null"], "pattern": PARAGRAPH_ID },
                    "position": { "type": "integer", "minimum": 0 },
                    "role": { "type": "string" },
                    "text": { "type": ["string", "null"] },
                    "noise": { "type": "boolean" },
                },
            } },
        },
    })
}

/// What a program does with the steps.
const REPLICA_RULE: &str = "Given with pages=true; null where no paragraph of the page changes. If `missing` has a reason, \
    keep what is held of the page. If `whole`, drop all that is held of it. Take away the paragraphs that were removed or \
    moved. Then put in the added and the moved ones in the order in which they are listed, each at its `position`. Last, \
    give the edited ones their `text`. A moved paragraph with a `text` has new words too. `noise` marks steps that the \
    event does not tell other readers.";

const PARAGRAPH_ID: &str = "^p[0-9a-f]{2}-[0-9a-f]+-[0-9a-f]+$";

fn paragraph_schema() -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "required": [
            "op", "id", "digest", "role", "headings", "position", "from", "others", "before", "after", "parts"
        ],
        "properties": {
            "op": { "enum": ["added", "removed", "edited", "moved", "split", "merged"] },
            "id": { "type": ["string", "null"], "pattern": PARAGRAPH_ID },
            "digest": { "type": "string" },
            "role": { "type": "string" },
            "headings": { "type": "array", "items": { "type": "string" } },
            "position": { "type": "integer", "minimum": 0 },
            "from": { "type": ["integer", "null"], "minimum": 0 },
            "others": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
            "before": text_or_null,
            "after": text_or_null,
            "parts": {
                "type": "array",
                "description": "The parts of a split, the sources of a merge, or the items of a reordered list",
                "items": {
                    "type": "object",
                    "required": ["id", "position", "text"],
                    "properties": {
                        "id": { "type": ["string", "null"], "pattern": PARAGRAPH_ID },
                        "position": { "type": "integer", "minimum": 0 },
                        "text": text_or_null,
                    },
                },
            },
        },
    })
}
