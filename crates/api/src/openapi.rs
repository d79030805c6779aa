//! The routes described for machines (OpenAPI 3.1).

use axum::response::Response;
use serde_json::{Map, Value, json};

use super::access::roles;
use super::answer;
use super::event_schema::event_schema;
use super::openapi_feed::{ATOM, CHANGES, COUNT, STREAM};

pub async fn show() -> Response {
    answer::value(&document())
}

/// A parameter of a query: name, schema type, whether it must be given, what it says.
pub(super) type Parameter = (&'static str, &'static str, bool, &'static str);

const URL: Parameter = ("url", "string", true, "The page");
pub(super) const LIMIT: Parameter = ("limit", "integer", false, "At most N rows");
const SORT: Parameter = ("sort", "string", false, "A column; a hyphen before it puts the greatest first");
pub const TAG: Parameter = ("tag", "string", false, "Only what a seed with this tag covers");
pub const SITE: Parameter = ("site", "string", false, "A host, with its port where that is not the scheme's own");
const RULES: Parameter =
    ("rules", "string", false, "The rules on noise: of the newer version's time (then, the default) or of today (now)");

const SEARCH: &[Parameter] = &[
    ("q", "string", false, "Words, \"exact words\", begin*, fields such as site: and title:, AND OR NOT - ( )"),
    ("in", "string", false, "now (default), removed (what changes took away) or past (both)"),
    ("at", "string", false, "The text that was held at this time"),
    ("like", "string", false, "Pages with the telling words of this page"),
    SITE,
    TAG,
    ("lang", "string", false, "Only pages in this language, such as en"),
    (
        "kind",
        "string",
        false,
        "Only what this kind of change made or took: structure, content, presentation, behaviour or new",
    ),
    ("role", "string", false, "main: only main text; frame: only menus, headers and footers"),
    ("from", "string", false, "Only text that came, or went, since this time"),
    ("until", "string", false, "Only text that came, or went, before this time"),
    ("sort", "string", false, "relevance (default), fresh or newest"),
    ("after", "string", false, "Where an earlier answer ended"),
    LIMIT,
];

const EXPORT: &[Parameter] = &[
    ("format", "string", true, "warc, wacz, cdxj, parquet, jsonl or markdown (a tar)"),
    SITE,
    TAG,
    ("prefix", "string", false, "Only pages whose URL begins so"),
    ("since", "string", false, "Only what leads from this state to the newer one: a cursor, or a time"),
    ("at", "string", false, "The state of this time"),
    ("until", "string", false, "The state that this cursor names; the newest if none is given"),
    ("after", "string", false, "Go on behind this page, as 12/2 (jsonl, markdown)"),
    ("unit", "string", false, "paragraph (default) or page for jsonl; file: markdown as JSON lines"),
    ("table", "string", false, "pages, versions, paragraphs, events or visits (parquet)"),
    ("warc", "string", false, "The name of the one file that the index is of (cdxj)"),
    ("all", "boolean", false, "Everything on a page and not the main content alone (markdown)"),
    ("ids", "boolean", false, "The ids of paragraphs behind them (markdown)"),
    ("text", "boolean", false, "Also the words of the pages (wacz)"),
    ("with_noindex", "boolean", false, "Also the text of pages that ask not to be indexed"),
    ("follow", "boolean", false, "Go on with what changes (jsonl)"),
    ("every", "integer", false, "Seconds in which changes are gathered before they are told (2)"),
];

pub(super) const LINES: &str = "application/x-ndjson";
pub(super) const JSON: &str = "application/json";

pub(super) struct Route {
    path: &'static str,
    method: &'static str,
    says: &'static str,
    parameters: &'static [Parameter],
    answers: &'static str,
}

pub(super) const fn get(
    path: &'static str,
    says: &'static str,
    parameters: &'static [Parameter],
    answers: &'static str,
) -> Route {
    Route { path, method: "get", says, parameters, answers }
}

pub(super) const fn post(path: &'static str, says: &'static str, parameters: &'static [Parameter]) -> Route {
    Route { path, method: "post", says, parameters, answers: JSON }
}

pub(super) const fn put(path: &'static str, says: &'static str, parameters: &'static [Parameter]) -> Route {
    Route { path, method: "put", says, parameters, answers: JSON }
}

pub(super) const fn delete(path: &'static str, says: &'static str, parameters: &'static [Parameter]) -> Route {
    Route { path, method: "delete", says, parameters, answers: JSON }
}

const ROUTES: &[Route] = &[
    get("/api/v1/status", "Totals of the crawl at a glance", &[], JSON),
    get("/api/v1/sites", "What is known of each site", &[SITE, TAG, SORT, LIMIT], LINES),
    get(
        "/api/v1/pages",
        "The visited pages",
        &[SITE, ("state", "string", false, "A state of pages"), TAG, SORT, LIMIT],
        LINES,
    ),
    get("/api/v1/hints", "What sites say of their own changes, and how far they are believed", &[SITE, LIMIT], LINES),
    get("/api/v1/page", "Everything known of one page", &[URL], JSON),
    get(
        "/api/v1/history",
        "Every visit to one page, newest first, with the versions that they made",
        &[URL, LIMIT, RULES],
        LINES,
    ),
    get(
        "/api/v1/diff",
        "What differs between two versions of a page; the HTML view can run nothing",
        &[
            URL,
            ("from", "string", false, "A number, a time, latest or previous (default: the version before `to`)"),
            ("to", "string", false, "A number, a time, latest or previous (default: latest)"),
            ("view", "string", false, "json (default), text, source or html"),
            (
                "full",
                "boolean",
                false,
                "Everything, not only what changed; in JSON unchanged paragraphs have the op `same`",
            ),
            ("with_noise", "boolean", false, "Also what was set aside"),
            ("papers", "boolean", false, "In text also what the methods of paper 003 say; JSON has it in `papers`"),
            RULES,
            ("colour", "boolean", false, "Colours for a terminal, in text and source"),
        ],
        JSON,
    ),
    get(
        "/api/v1/search",
        "Full text over current, past and removed text; the first line counts, the last may say where to go on",
        SEARCH,
        LINES,
    ),
    post("/api/v1/search/rebuild", "Makes the text index anew, and tells how far it is as JSON lines", &[]),
    get("/api/v1/blame", "Which version each paragraph and each word of a page came from", &[URL, LIMIT], JSON),
    get(
        "/api/v1/noise",
        "What was learned or said to be noise, and on what evidence",
        &[
            SITE,
            ("id", "integer", false, "The rule with this number of the site"),
            ("standing", "string", false, "suspected, learned, added, allowed, turned or content"),
            LIMIT,
        ],
        LINES,
    ),
    post(
        "/api/v1/noise",
        "Adds, allows or forgets a rule about noise",
        &[
            ("site", "string", true, "A host"),
            ("word", "string", true, "add, allow or forget"),
            ("id", "integer", false, "The rule to allow or forget"),
            ("words", "string", false, "To add: a paragraph with wildcards, such as Views: *"),
            ("kind", "string", false, "To add: structure, presentation or behaviour"),
            ("notes", "string", false, "With a kind: what of it, as notes name it, separated by commas"),
            ("page", "string", false, "To add: only on this page"),
            ("reason", "string", false, "Why, in words"),
        ],
    ),
    get(
        "/api/v1/names",
        "The pages that are second names of others, and what people said of names",
        &[SITE, LIMIT],
        LINES,
    ),
    post(
        "/api/v1/names",
        "Says whether two pages are one page with two names, or takes that back",
        &[
            ("word", "string", true, "join, part or forget"),
            ("url", "string", true, "A page; to join: the first name"),
            ("other", "string", true, "The other page; to join: the second name"),
            ("reason", "string", false, "Why, in words"),
        ],
    ),
    get(
        "/api/v1/body",
        "The bytes of a version, as a download",
        &[
            URL,
            ("at", "string", false, "The version that was current then"),
            ("version", "integer", false, "The version with this number"),
            ("raw", "boolean", false, "As received, still content-encoded"),
        ],
        "application/octet-stream",
    ),
    get(
        "/api/v1/links",
        "Links out of a page, or into it: kind, rel, anchor, and what became of the other end",
        &[URL, ("back", "boolean", false, "Into it"), LIMIT],
        LINES,
    ),
    get(
        "/api/v1/topics",
        "The topics of the repository, or the pages of one topic by reputation",
        &[
            ("word", "string", false, "The pages of this topic"),
            ("why", "boolean", false, "Why there are none, in words; null where there are some"),
            LIMIT,
        ],
        LINES,
    ),
    get("/api/v1/changes", "The change feed from a cursor on", &CHANGES, LINES),
    get(
        "/api/v1/changes/stream",
        "The change feed as server-sent events; Last-Event-ID is a cursor",
        &STREAM,
        "text/event-stream",
    ),
    get("/api/v1/changes/count", "How many events there are by event, kind, degree, site and tag", &COUNT, JSON),
    get("/api/v1/changes/{id}", "One event", &[("id", "string", true, "The id of the event")], JSON),
    get("/feed.atom", "The newest events as an Atom feed, older ones on further pages", &ATOM, "application/atom+xml"),
    get(
        "/api/v1/series",
        "The history of the crawl, or of a site, by hour and day; what was not kept is null",
        &[
            ("names", "string", false, "Such as visits,changed,wasted,freshness_believed,wire_bytes"),
            ("from", "string", false, "A time (default: 7d)"),
            ("until", "string", false, "A time (default: now)"),
            ("step", "string", false, "Such as 1h or 1d, or auto (default)"),
            ("points", "integer", false, "At most N rows; beyond this those with the least and greatest values stay"),
            SITE,
        ],
        JSON,
    ),
    get("/api/v1/changes/schema", "The JSON Schema of an event", &[], JSON),
    get("/api/v1/seeds", "The seeds", &[TAG, SORT, LIMIT], LINES),
    post("/api/v1/seeds", "Adds seeds, given as JSON lines with url, tags, weight, scope, depth, at_least_every", &[]),
    Route { path: "/api/v1/seeds", method: "delete", says: "Removes a seed", parameters: &[URL], answers: JSON },
    post("/api/v1/pause", "Pauses the crawl, or one site", &[SITE]),
    post("/api/v1/resume", "Resumes the crawl, or one site", &[SITE]),
    post("/api/v1/block", "Never asks this site again", &[("site", "string", true, "A host")]),
    get("/api/v1/settings", "All settings in force, with their sources", &[], LINES),
    get("/api/v1/tokens", "Tokens with roles, without their texts", &[], LINES),
    post(
        "/api/v1/tokens",
        "Makes a token; only this answer ever has its text",
        &[
            ("name", "string", true, "Letters, digits, dots, hyphens and underscores"),
            ("role", "string", true, "read, operate or admin; each may do what those before it may"),
            ("expires", "string", false, "A span such as 90d, a date or RFC 3339 (default: never)"),
        ],
    ),
    Route {
        path: "/api/v1/tokens/{name}",
        method: "delete",
        says: "Revokes a token, at once",
        parameters: &[("name", "string", true, "Its name")],
        answers: JSON,
    },
    get("/api/v1/check", "What stands between a URL and its next visit", &[URL], JSON),
    get("/api/v1/why", "Why a page is due when it is", &[URL], JSON),
    get(
        "/api/v1/plan",
        "Which pages would be visited when, and the freshness that this would give, without a request",
        &[
            ("for", "string", false, "How far ahead, such as 1d"),
            ("budget", "string", false, "Budgets, separated by commas; the one in force if none is given"),
            LIMIT,
        ],
        JSON,
    ),
    get("/api/v1/export", "A copy for other programs; `vernal-cursor` in the head names its state", EXPORT, LINES),
    get("/api/v1/trace", "Every change that visits found, as rows of a trace", &[], LINES),
    get(
        "/api/v1/verify",
        "Checks everything on disk; progress lines, then the verdict",
        &[("deep", "boolean", false, "Also hold the tables against the journal, however large it is")],
        LINES,
    ),
    post("/api/v1/compact", "Frees disk space", &[]),
    get("/api/v1/openapi.json", "This description", &[], JSON),
    get("/metrics", "Counts for Prometheus", &[], "text/plain"),
    get("/healthz", "Whether the process lives; needs no token", &[], JSON),
];

/// Questions about one page, which may be named in the path instead.
const OF_PAGE: [&str; 8] = ["page", "history", "diff", "blame", "body", "links", "check", "why"];

/// Where a question about one page is asked with the page in its path.
fn path_of_page(route: &Route) -> Option<String> {
    let noun = route.path.strip_prefix("/api/v1/").filter(|noun| OF_PAGE.contains(noun))?;
    Some(if noun == "page" { "/api/v1/pages/{url}".to_owned() } else { format!("/api/v1/pages/{{url}}/{noun}") })
}

pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES.iter().chain(super::openapi_alerts::ROUTES) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(route, route.path);
        if let Some(in_path) = path_of_page(route) {
            let operation = operation(route, &in_path);
            paths.entry(in_path).or_insert_with(|| json!({}))[route.method] = operation;
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Vernal",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A copy of the web, kept fresh. Times are RFC 3339 in UTC; lists are JSON lines.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Event": event_schema(),
                "Error": { "type": "object", "properties": { "error": { "type": "string" } }, "required": ["error"] },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }],
    });
    roles::describe(&mut document);
    document
}

fn operation(route: &Route, path: &str) -> Value {
    let parameters: Vec<Value> = route
        .parameters
        .iter()
        .map(|(name, shape, required, says)| {
            let place = if path.contains(&format!("{{{name}}}")) { "path" } else { "query" };
            json!({ "name": name, "in": place, "required": required, "description": says, "schema": { "type": shape } })
        })
        .collect();
    let refused = json!({ "content": { JSON: { "schema": { "$ref": "#/components/schemas/Error" } } } });
    let schema = match route.path {
        "/api/v1/changes" => json!({ "$ref": "#/components/schemas/Event" }),
        _ => json!({}),
    };
    let mut operation = json!({
        "operationId": format!("{}{}", route.method, path.replace(['/', '.', '{', '}'], "_")),
        "summary": route.says,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Answered", "content": { route.answers: { "schema": schema } } },
            "400": told(&refused, "Asked wrongly"),
            "404": told(&refused, "Not known here"),
        },
    });
    if route.method == "post" && route.path.ends_with("/seeds") {
        operation["requestBody"] =
            json!({ "required": true, "content": { LINES: { "schema": { "type": "object" } } } });
    } else if takes_body(route) {
        operation["requestBody"] = json!({ "required": true, "content": { JSON: { "schema": { "type": "object" } } } });
    } else if route.method == "post" && !route.parameters.is_empty() && !route.path.contains('{') {
        operation["requestBody"] = json!({
            "required": false,
            "description": "The parameters as fields, instead of in the query",
            "content": { JSON: { "schema": fields_schema(route.parameters) } },
        });
    }
    operation
}

/// Whether what is made or changed is given whole in the body.
fn takes_body(route: &Route) -> bool {
    let nouns = ["/api/v1/watches", "/api/v1/watches/preview", "/api/v1/routes"];
    route.method == "put" || route.method == "post" && nouns.contains(&route.path)
}

fn fields_schema(parameters: &[Parameter]) -> Value {
    let fields = parameters.iter().map(|(name, shape, _, says)| {
        let field = json!({ "type": shape, "description": says });
        ((*name).to_owned(), field)
    });
    json!({ "type": "object", "properties": fields.collect::<Map<String, Value>>() })
}

fn told(refused: &Value, says: &str) -> Value {
    let mut refused = refused.clone();
    refused["description"] = says.into();
    refused
}
