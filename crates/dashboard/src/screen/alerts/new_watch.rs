//! Making a watch, and changing one: a sentence with slots, and before it is saved what it would have told.

use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use super::watch_form::{OVERS, command, merged, watch, written};
use crate::answers::{AlertRoute, Change, Event, Preview, Status, Told as ToldEvent, Watch};
use crate::chart::{Svg, kinds, magnitude};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, figure};
use crate::problem::{Problem, Told};
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::screen::hits::address;
use crate::screen::page::{drawn, leads_to, unknown_act};
use crate::times::{Bracket, Times};
use crate::words;

const LATEST_SHOWN: usize = 5;
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

/// A choice of a form: its name, its words, and whether it is made.
type Choice = (&'static str, &'static str, bool);

#[derive(Template)]
#[template(path = "new_watch.html")]
struct NewWatch {
    frame: Frame,
    title: &'static str,
    action: String,
    wrong: Option<String>,
    fields: Fields,
    choices: Choices,
    /// The routes there are; `None` where this reader may not know them.
    routes: Option<Vec<(String, bool)>>,
    preview: Option<PreviewShown>,
    /// Why there is no preview, where one was asked for.
    no_preview: Option<String>,
    command: String,
    /// The door, and back to this form as it was filled in by a link.
    login: String,
}

/// What can be chosen.
struct Choices {
    overs: Vec<Choice>,
    kinds: Vec<Choice>,
    events: Vec<Choice>,
    degrees: Vec<Choice>,
    sides: Vec<Choice>,
    roles: Vec<Choice>,
    hows: Vec<Choice>,
}

impl Choices {
    fn of(fields: &Fields) -> Choices {
        let has = |name: &'static str| {
            move |&(value, words): &(&'static str, &'static str)| (value, words, fields.has(name, value))
        };
        let plain = |name: &'static str, values: &[&'static str]| -> Vec<Choice> {
            values.iter().map(|value| (*value, *value, fields.has(name, value))).collect()
        };
        Choices {
            overs: OVERS.iter().map(has("over")).collect(),
            kinds: plain("kinds", &KINDS),
            events: plain("events", &EVENTS),
            degrees: plain("min", &DEGREES),
            sides: SIDES.iter().map(has("in")).collect(),
            roles: ROLES.iter().map(has("roles")).collect(),
            hows: HOWS.iter().map(has("how")).collect(),
        }
    }
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
    let title = if id.is_some() { "Change the watch" } else { "New watch" };
    drawn(&NewWatch {
        frame: Frame::of(reader, title, Place::Watches, &status),
        title,
        action: id.map_or_else(|| "/watches/new".into(), |id| format!("/watches/{}/change", segment(id))),
        wrong,
        choices: Choices::of(&fields),
        routes: routes.map(|listed| {
            listed.rows.into_iter().map(|route| (route.name.clone(), fields.has("to", &route.name))).collect()
        }),
        preview,
        no_preview,
        command: command(&fields),
        login: link("/login", &[("back", &reader.address)]),
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
