//! Making a watch, and changing one: a sentence with slots, and before it is saved what it would have told.

use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::watches::Tabs;
use crate::answers::{AlertRoute, Change, Event, Preview, Status, Told as ToldEvent, Watch};
use crate::chart::{Svg, kinds, magnitude};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, figure};
use crate::problem::{Problem, Told};
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::screen::page::{drawn, leads_to, unknown_act};
use crate::screen::search::address;
use crate::times::{Bracket, Times};
use crate::words;

const LATEST_SHOWN: usize = 5;
const OVERS: [(&str, &str); 5] = [
    ("url", "the page"),
    ("prefix", "pages whose URL begins with"),
    ("site", "the site"),
    ("tag", "what has the tag"),
    ("search", "pages that are found by"),
];
const KINDS: [&str; 4] = ["content", "structure", "presentation", "behaviour"];
const EVENTS: [&str; 8] = ["new", "changed", "gone", "back", "moved", "blocked", "unblocked", "template"];
const DEGREES: [&str; 5] = ["hidden", "slight", "moderate", "large", "total"];
const SIDES: [(&str, &str); 4] = [
    ("either", "added or removed"),
    ("added", "added"),
    ("removed", "removed"),
    ("paragraph", "anywhere in a paragraph that changes"),
];
const ROLES: [(&str, &str); 7] = [
    ("heading", "headings"),
    ("main", "main text"),
    ("list-item", "list items"),
    ("table-row", "table rows"),
    ("title", "the title"),
    ("navigation", "navigation"),
    ("footer", "the footer"),
];
const HOWS: [(&str, &str); 4] =
    [("at-once", "at once"), ("hourly", "hourly"), ("daily", "daily at"), ("weekly", "weekly on Monday at")];
/// When a digest is sent where nobody says it.
const DIGEST_HOUR: &str = "07:00";

/// A choice of a form: its name, its words, and whether it is made.
type Choice = (&'static str, &'static str, bool);

#[derive(Template)]
#[template(path = "new_watch.html")]
struct NewWatch {
    frame: Frame,
    tabs: Tabs,
    title: &'static str,
    action: String,
    wrong: Option<String>,
    fields: Fields,
    overs: Vec<Choice>,
    kinds: Vec<Choice>,
    events: Vec<Choice>,
    degrees: Vec<Choice>,
    sides: Vec<Choice>,
    roles: Vec<Choice>,
    hows: Vec<Choice>,
    /// The routes there are; `None` where this reader may not know them.
    routes: Option<Vec<(String, bool)>>,
    preview: Option<PreviewShown>,
    /// Why there is no preview, where one was asked for.
    no_preview: Option<String>,
    command: String,
}

struct PreviewShown {
    says: String,
    advice: Option<String>,
    latest: Vec<ToldShown>,
}

struct ToldShown {
    title: String,
    language: String,
    link: String,
    address: String,
    bracket: Bracket,
    kinds: Svg,
    magnitude: Svg,
    before: Option<String>,
    after: Option<String>,
    line: String,
}

/// The form, filled in by whatever leads here: a diff, a search, a site.
pub async fn form(reader: Reader, fields: Fields) -> Told<Response> {
    let fields = match (fields.some("event"), fields.some("url")) {
        (Some(id), _) => of_event(&reader, id).await?,
        (None, Some(url)) => filled(&[("over", "url"), ("what", url)]),
        (None, None) => fields,
    };
    screen(&reader, fields, None, None).await
}

/// The form with what a watch asks now.
pub async fn form_of(reader: Reader, Path(id): Path<String>) -> Told<Response> {
    let watch: Watch = reader.one(Question::of(&format!("watches/{}", segment(&id)))).await?;
    let written = written(&watch);
    screen(&reader, Fields::read(written.as_bytes()), Some(&id), None).await
}

pub async fn make(reader: Reader, fields: Fields) -> Told<Response> {
    sent(&reader, fields, None).await
}

pub async fn change(reader: Reader, Path(id): Path<String>, fields: Fields) -> Told<Response> {
    sent(&reader, fields, Some(&id)).await
}

async fn sent(reader: &Reader, fields: Fields, id: Option<&str>) -> Told<Response> {
    let saved = match fields.one("act") {
        "preview" => return screen(reader, fields, id, None).await,
        "save" => match id {
            None => reader.send(Method::POST, Question::of("watches"), Some(&watch(&fields))).await,
            Some(id) => {
                // What the form does not ask stays as it is.
                let own = Question::of(&format!("watches/{}", segment(id)));
                let known: Value = reader.one(own.clone()).await?;
                reader.send(Method::PUT, own, Some(&merged(&known, watch(&fields)))).await
            }
        },
        other => return Err(unknown_act(other)),
    };
    match saved {
        Ok(told) => {
            let id = told["watch"]["id"].as_str().or(told["id"].as_str()).unwrap_or_default();
            Ok(leads_to(&format!("/watches/{}", segment(id))))
        }
        Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
            screen(reader, fields, id, Some(problem.line)).await
        }
        Err(problem) => Err(problem),
    }
}

async fn screen(reader: &Reader, fields: Fields, id: Option<&str>, wrong: Option<String>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let routes = reader.list::<AlertRoute>(Question::of("routes")).await.ok();
    let looks = wrong.is_none() && fields.some("what").is_some();
    let preview = if looks { Some(preview(reader, &fields).await) } else { None };
    let times = Times::new(status.now());
    let mut wrong = wrong;
    let (preview, no_preview) = match preview {
        None => (None, None),
        Some(Ok(preview)) => (Some(preview_shown(&preview, &times)), None),
        Some(Err(problem)) if problem.status == StatusCode::BAD_REQUEST => {
            wrong = Some(problem.line);
            (None, None)
        }
        Some(Err(problem)) => (None, Some(problem.line)),
    };
    let has = |name: &'static str| {
        let fields = &fields;
        move |&(value, words): &(&'static str, &'static str)| (value, words, fields.has(name, value))
    };
    let plain = |name: &'static str, values: &[&'static str]| -> Vec<Choice> {
        values.iter().map(|value| (*value, *value, fields.has(name, value))).collect()
    };
    let title = if id.is_some() { "Change the watch" } else { "New watch" };
    drawn(&NewWatch {
        frame: Frame::of(reader, title, Place::Watches, &status),
        tabs: Tabs::of(&status, "new"),
        title,
        action: id.map_or_else(|| "/watches/new".into(), |id| format!("/watches/{}/change", segment(id))),
        wrong,
        overs: OVERS.iter().map(has("over")).collect(),
        kinds: plain("kinds", &KINDS),
        events: plain("events", &EVENTS),
        degrees: plain("min", &DEGREES),
        sides: SIDES.iter().map(has("in")).collect(),
        roles: ROLES.iter().map(has("roles")).collect(),
        hows: HOWS.iter().map(has("how")).collect(),
        routes: routes.map(|listed| {
            listed.rows.into_iter().map(|route| (route.name.clone(), fields.has("to", &route.name))).collect()
        }),
        preview,
        no_preview,
        command: command(&fields),
        fields,
    })
}

async fn preview(reader: &Reader, fields: &Fields) -> Told<Preview> {
    let asked = json!({ "watch": watch(fields) });
    let told = reader.send(Method::POST, Question::of("watches/preview"), Some(&asked)).await?;
    serde_json::from_value(told)
        .map_err(|error| Problem::failed(format!("read what the watch would have told: {error}")))
}

fn preview_shown(preview: &Preview, times: &Times) -> PreviewShown {
    let span = preview
        .since
        .as_deref()
        .and_then(|since| times.age_s(since))
        .map_or_else(|| "the time that was looked at".into(), |age| crate::times::span(age.max(0.0)));
    let times_told = match preview.matches {
        1 => "once".into(),
        matches => format!("{} times", count(matches)),
    };
    let says = match preview.covered {
        0 => format!("In the last {span} nothing of it changed, so there is nothing to judge it by."),
        covered => format!(
            "In the last {span} this watch would have told {times_told}, {} a day, of {} that it looks at.",
            figure(preview.per_day),
            counted(covered, "change")
        ),
    };
    let latest = preview.latest.iter().take(LATEST_SHOWN).map(|told| told_shown(told, times));
    PreviewShown { says, advice: preview.advice.clone(), latest: latest.collect() }
}

fn told_shown(told: &ToldEvent, times: &Times) -> ToldShown {
    let change = Change { kinds: told.kinds.clone(), left: told.left.clone(), ..Change::default() };
    let excerpt = told.excerpt.clone().unwrap_or_default();
    ToldShown {
        title: words::title(&told.title, &told.url),
        language: words::language(&told.language).unwrap_or_default(),
        link: format!("/changes/{}", segment(&told.id)),
        address: address(&told.url),
        bracket: times.bracket(told.seen_same.as_deref(), told.seen_different.as_deref()),
        kinds: kinds(&change),
        magnitude: magnitude(told.magnitude),
        before: excerpt.before.filter(|text| !text.is_empty()),
        after: excerpt.after.filter(|text| !text.is_empty()),
        line: told.line.clone(),
    }
}

/// The watch that a form describes, as the API takes it.
fn watch(fields: &Fields) -> Value {
    let over = fields.some("over").filter(|over| OVERS.iter().any(|(name, _)| name == over)).unwrap_or("site");
    let mut when = Map::new();
    for name in ["events", "kinds", "roles"] {
        let given: Vec<&str> = fields.all(name).collect();
        when.insert(name.into(), given.into());
    }
    when.insert("words".into(), fields.listed("words").iter().map(|word| word.trim_matches('"')).collect());
    when.insert("in".into(), fields.some("in").unwrap_or("either").into());
    when.insert("not_flapping".into(), fields.some("not_flapping").is_some().into());
    for name in ["min", "regex", "language"] {
        if let Some(value) = fields.some(name) {
            when.insert(name.into(), value.into());
        }
    }
    if let Some(number) = number(fields) {
        when.insert("number".into(), number);
    }
    let mut watch = json!({
        "name": fields.one("name"),
        "owner": fields.one("owner"),
        "over": { over: fields.one("what") },
        "when": when,
        "to": fields.all("to").map(|route| to(fields, route)).collect::<Vec<Value>>(),
        "also": { "region_lost": true },
    });
    if let Some(span) = fields.some("silent_for") {
        watch["also"]["silent_for"] = span.into();
    }
    watch
}

fn number(fields: &Fields) -> Option<Value> {
    let mut number = Map::new();
    for name in ["above", "below"] {
        let given = fields.some(name);
        // What is no number is left to the API to refuse.
        if let Some(text) = given {
            number.insert(name.into(), text.parse::<f64>().map_or_else(|_| text.into(), Value::from));
        }
    }
    if let Some(by) = fields.some("moves_by") {
        number.insert("moves_by".into(), by.into());
    }
    (!number.is_empty()).then_some(Value::Object(number))
}

fn how(fields: &Fields) -> String {
    let at = fields.some("at").unwrap_or(DIGEST_HOUR);
    match fields.one("how") {
        "hourly" => "hourly".into(),
        "daily" => format!("daily {at}"),
        "weekly" => format!("weekly mon {at}"),
        _ => "at-once".into(),
    }
}

fn to(fields: &Fields, route: &str) -> Value {
    let mut to = json!({ "route": route, "how": how(fields) });
    if let Some(most) = fields.some("at_most") {
        let most = most.trim_end_matches("/day").trim();
        to["at_most"] = format!("{most}/day").into();
    }
    to
}

/// A watch as the form would say it.
fn written(watch: &Watch) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let (over, what) = watch.over.named();
    query.append_pair("over", over).append_pair("what", what);
    query.append_pair("name", &watch.name).append_pair("owner", &watch.owner);
    let when = &watch.when;
    for (name, values) in [("events", &when.events), ("kinds", &when.kinds), ("roles", &when.roles)] {
        for value in values {
            query.append_pair(name, value);
        }
    }
    query.append_pair("words", &when.words.join(", ")).append_pair("in", &when.r#in);
    for (name, value) in [("min", &when.min), ("regex", &when.regex), ("language", &when.language)] {
        query.append_pair(name, value.as_deref().unwrap_or_default());
    }
    if when.not_flapping {
        query.append_pair("not_flapping", "on");
    }
    if let Some(number) = &when.number {
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        query.append_pair("above", &text(number.above)).append_pair("below", &text(number.below));
        query.append_pair("moves_by", number.moves_by.as_deref().unwrap_or_default());
    }
    for to in &watch.to {
        query.append_pair("to", &to.route);
    }
    if let Some(to) = watch.to.first() {
        let (how, at) = to.how.split_once(' ').unwrap_or((&to.how, ""));
        query.append_pair("how", how).append_pair("at", at.trim_start_matches("mon").trim());
        query.append_pair("at_most", to.at_most.as_deref().unwrap_or_default().trim_end_matches("/day"));
    }
    query.append_pair("silent_for", watch.also.silent_for.as_deref().unwrap_or_default());
    query.finish()
}

/// What the form says, over what it does not ask.
fn merged(known: &Value, mut watch: Value) -> Value {
    for name in ["enabled", "template", "quiet"] {
        if let Some(value) = known.get(name) {
            watch[name] = value.clone();
        }
    }
    for name in ["not_roles", "magnitude"] {
        watch["when"][name] = known["when"][name].clone();
    }
    if let Some(paragraph) = known["when"]["number"]["paragraph"].as_str()
        && watch["when"]["number"].is_object()
    {
        watch["when"]["number"]["paragraph"] = paragraph.into();
    }
    if !known["also"]["region_lost"].is_null() {
        watch["also"]["region_lost"] = known["also"]["region_lost"].clone();
    }
    // Each route keeps its own time where only others were changed.
    let empty = Vec::new();
    let routes = known["to"].as_array().unwrap_or(&empty);
    if let Some(to) = watch["to"].as_array_mut() {
        for one in to {
            let before = routes.iter().find(|before| before["route"] == one["route"]);
            if let Some(then) = before.map(|before| &before["then"]).filter(|then| !then.is_null()) {
                one["then"] = then.clone();
            }
        }
    }
    watch
}

/// The same as a command.
fn command(fields: &Fields) -> String {
    let mut words = vec!["vernal watch add".to_owned()];
    let mut add = |flag: &str, value: &str| words.push(format!("--{flag} {}", quoted(value)));
    if let Some(what) = fields.some("what") {
        add(fields.some("over").unwrap_or("site"), what);
    }
    for kind in fields.all("kinds") {
        add("kind", kind);
    }
    for event in fields.all("events") {
        add("event", event);
    }
    for (flag, name) in
        [("min", "min"), ("regex", "regex"), ("lang", "language"), ("above", "above"), ("below", "below")]
    {
        if let Some(value) = fields.some(name) {
            add(flag, value);
        }
    }
    for word in fields.listed("words") {
        add("word", word.trim_matches('"'));
    }
    if let Some(side) = fields.some("in").filter(|side| *side != "either") {
        add("in", side);
    }
    for role in fields.all("roles") {
        add("role", role);
    }
    for route in fields.all("to") {
        let how = how(fields);
        add("to", &if how == "at-once" { route.to_owned() } else { format!("{route}={how}") });
    }
    if let Some(most) = fields.some("at_most") {
        add("at-most", &format!("{}/day", most.trim_end_matches("/day")));
    }
    if fields.some("not_flapping").is_some() {
        words.push("--not-flapping".into());
    }
    words.extend(fields.some("name").map(quoted));
    words.join(" ")
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=*%+@".contains(letter);
    match !text.is_empty() && text.chars().all(|letter| is_plain(letter) && letter != '*') {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A watch for the like of a change: its page, the kinds that were left, and at least its degree.
async fn of_event(reader: &Reader, id: &str) -> Told<Fields> {
    let event: Event = reader.one(Question::of(&format!("changes/{}", segment(id)))).await?;
    let mut pairs = vec![("over", "url"), ("what", &*event.url), ("min", &*event.change.degree)];
    pairs.extend(event.change.left.iter().map(|kind| ("kinds", &**kind)));
    Ok(filled(&pairs))
}

fn filled(pairs: &[(&str, &str)]) -> Fields {
    let query = link("", pairs);
    Fields::read(query.trim_start_matches('?').as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &[u8] =
        b"over=tag&what=policy&kinds=content&min=moderate&words=Regierung%2C+%22a+b%22&in=either&roles=heading\
        &roles=table-row&to=press-desk&how=daily&at=08%3A00&at_most=20&not_flapping=on&silent_for=7d&name=O%27Neill";

    #[test]
    fn a_form_becomes_a_watch_and_a_command() {
        let fields = Fields::read(FORM);
        let made = watch(&fields);
        assert_eq!(made["over"], json!({ "tag": "policy" }));
        assert_eq!(made["when"]["words"], json!(["Regierung", "a b"]));
        assert_eq!(made["to"], json!([{ "route": "press-desk", "how": "daily 08:00", "at_most": "20/day" }]));
        assert_eq!(
            command(&fields),
            "vernal watch add --tag policy --kind content --min moderate --word Regierung --word 'a b' --role heading \
             --role table-row --to 'press-desk=daily 08:00' --at-most 20/day --not-flapping 'O'\\''Neill'"
        );
    }

    #[test]
    fn a_watch_that_is_read_and_written_again_stays_the_same() {
        let made = watch(&Fields::read(FORM));
        let read: Watch = serde_json::from_value(made.clone()).unwrap();
        assert_eq!(watch(&Fields::read(written(&read).as_bytes())), made);
    }

    #[test]
    fn what_the_form_does_not_ask_is_kept() {
        let known = json!({ "enabled": false, "template": "{{line}}", "when": { "not_roles": ["footer"], "magnitude": 0.2 },
            "also": { "region_lost": false }, "to": [{ "route": "press-desk", "then": "weekly mon 07:00" }] });
        let made = merged(&known, watch(&Fields::read(FORM)));
        assert_eq!((&made["enabled"], &made["template"]), (&json!(false), &json!("{{line}}")));
        assert_eq!((&made["when"]["not_roles"], &made["also"]["region_lost"]), (&json!(["footer"]), &json!(false)));
        assert_eq!(made["to"][0]["then"], "weekly mon 07:00");
    }
}
