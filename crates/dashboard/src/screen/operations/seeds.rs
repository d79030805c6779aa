//! The seeds, and adding some: first what scope, robots.txt, guard and traps would say of each.

use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};

use super::Tabs;
use crate::answers::{Check, Seed, Status};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{counted, figure};
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::screen::page::unknown_act;
use crate::screen::page::{drawn, leads_to};
use crate::times::{Time, Times};

const ROWS: usize = 200;
/// URLs that are looked at before they are added.
const LOOKED_AT_MAX: usize = 50;
const SCOPES: [(&str, &str); 6] = [
    ("", "as the settings say"),
    ("page", "this page alone"),
    ("prefix", "what lies under it"),
    ("site", "its site"),
    ("domain", "its domain with subdomains"),
    ("any", "wherever links lead"),
];

#[derive(Template)]
#[template(path = "operations-seeds.html")]
struct Seeds {
    frame: Frame,
    tabs: Tabs,
    rows: Vec<Row>,
    more: Option<String>,
    fields: Fields,
    scopes: Vec<(&'static str, &'static str, bool)>,
    looked: Vec<Looked>,
    left: String,
    wrong: Option<String>,
    done: Option<String>,
}

struct Row {
    url: String,
    link: String,
    added: Time,
    tags: Vec<String>,
    terms: String,
    moved_to: Option<String>,
}

/// A URL that is not added yet.
struct Looked {
    url: String,
    class: &'static str,
    words: String,
    details: Vec<String>,
}

pub async fn list(reader: Reader, fields: Fields) -> Told<Response> {
    let done = fields.some("new").map(|new| {
        let known = fields.some("known").unwrap_or("0");
        format!("{new} new, {known} known already. The first visits are on their way.")
    });
    screen(&reader, fields, Vec::new(), (None, done)).await
}

async fn screen(
    reader: &Reader,
    fields: Fields,
    looked: Vec<Looked>,
    (wrong, done): (Option<String>, Option<String>),
) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let asked = Question::of("seeds")
        .with("limit", ROWS)
        .with_some("after", fields.some("after"))
        .with_some("tag", fields.some("tag"));
    let listed = reader.list::<Seed>(asked).await?;
    let times = Times::new(status.now());
    let given = urls(&fields).len();
    drawn(&Seeds {
        frame: Frame { address: "/operations/seeds".into(), ..Frame::of(reader, "Seeds", Place::Operations, &status) },
        tabs: Tabs("seeds"),
        rows: listed.rows.iter().map(|seed| row(seed, &times)).collect(),
        more: listed
            .after
            .as_deref()
            .map(|after| link("/operations/seeds", &[("after", after), ("tag", fields.one("tag"))])),
        scopes: SCOPES.map(|(name, words)| (name, words, fields.one("scope") == name)).into_iter().collect(),
        left: match given.saturating_sub(LOOKED_AT_MAX) {
            0 => String::new(),
            _ if looked.is_empty() => String::new(),
            left => format!("{} more are not looked at here; they are added all the same.", left),
        },
        fields,
        looked,
        wrong,
        done,
    })
}

fn row(seed: &Seed, times: &Times) -> Row {
    let mut terms = vec![format!("scope {}", seed.scope)];
    terms.extend(seed.depth.map(|depth| format!("depth {depth}")));
    terms.extend((seed.weight != 1.0 && seed.weight > 0.0).then(|| format!("weight {}", figure(seed.weight))));
    terms.extend(seed.at_least_every.as_ref().map(|span| format!("at least every {span}")));
    terms.extend(seed.at_most_every.as_ref().map(|span| format!("at most every {span}")));
    Row {
        link: link("/page", &[("url", &seed.url)]),
        url: seed.url.clone(),
        added: times.moment(seed.added.as_deref()),
        tags: seed.tags.clone(),
        terms: terms.join(", "),
        moved_to: seed.moved_to.clone(),
    }
}

fn urls(fields: &Fields) -> Vec<&str> {
    let lines = fields.one("urls").lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

pub async fn act(reader: Reader, fields: Fields) -> Told<Response> {
    match fields.one("act") {
        "look" => {
            let mut looked = Vec::new();
            let status: Status = reader.one(Question::of("status")).await?;
            let times = Times::new(status.now());
            for url in urls(&fields).into_iter().take(LOOKED_AT_MAX) {
                looked.push(look(&reader, url, &times).await?);
            }
            screen(&reader, fields, looked, (None, None)).await
        }
        "add" => match add(&reader, &fields).await {
            Ok(told) if told["wrong"].as_array().is_none_or(Vec::is_empty) => {
                let count = |name: &str| told[name].as_u64().unwrap_or(0).to_string();
                Ok(leads_to(&link("/operations/seeds", &[("new", &count("new")), ("known", &count("known"))])))
            }
            Ok(told) => {
                let lines = told["wrong"].as_array().into_iter().flatten();
                let lines: Vec<&str> = lines.filter_map(|wrong| wrong["error"].as_str()).collect();
                let taken = told["new"].as_u64().unwrap_or(0);
                let line = format!("{} added. Not taken: {}", counted(taken, "seed"), lines.join("; "));
                screen(&reader, fields, Vec::new(), (Some(line), None)).await
            }
            Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
                screen(&reader, fields, Vec::new(), (Some(problem.line), None)).await
            }
            Err(problem) => Err(problem),
        },
        "remove" => {
            reader.send(Method::DELETE, Question::of("seeds").with("url", fields.one("url")), None).await?;
            Ok(leads_to("/operations/seeds"))
        }
        other => Err(unknown_act(other)),
    }
}

async fn add(reader: &Reader, fields: &Fields) -> Told<Value> {
    let lines: String = urls(fields).into_iter().map(|url| format!("{}\n", entry(fields, url))).collect();
    if lines.is_empty() {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "give a URL on each line"));
    }
    let told = reader.send_text(Question::of("seeds"), "application/x-ndjson", lines).await?;
    serde_json::from_str(&told).map_err(Problem::failed)
}

/// One seed as the API takes it: what is left out comes from the settings.
fn entry(fields: &Fields, url: &str) -> Value {
    let mut entry = Map::new();
    entry.insert("url".into(), url.into());
    let tags = fields.listed("tags");
    if !tags.is_empty() {
        entry.insert("tags".into(), tags.into());
    }
    for name in ["scope", "at_least_every", "at_most_every"] {
        if let Some(value) = fields.some(name) {
            entry.insert(name.into(), value.into());
        }
    }
    for name in ["depth", "weight"] {
        if let Some(value) = fields.some(name) {
            // What is no number is left to the API to refuse.
            entry.insert(name.into(), serde_json::from_str(value).unwrap_or_else(|_| value.into()));
        }
    }
    Value::Object(entry)
}

/// What stands between a URL and its first visit.
async fn look(reader: &Reader, url: &str, times: &Times) -> Told<Looked> {
    let check: Check = match reader.one(Question::of("check").with("url", url)).await {
        Ok(check) => check,
        Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
            return Ok(Looked { url: url.to_owned(), class: "bad", words: problem.line, details: Vec::new() });
        }
        Err(problem) => return Err(problem),
    };
    Ok(looked(&check, times))
}

fn looked(check: &Check, times: &Times) -> Looked {
    let shut = check.guard.strip_prefix("shut: ");
    let (class, words) = match () {
        () if shut.is_some() => ("bad", format!("never visited: {}", shut.unwrap_or_default())),
        () if check.trouble.is_some() => ("bad", check.trouble.clone().unwrap_or_default()),
        () if check.site_standing == "blocked" => ("bad", "its site is blocked".into()),
        () if check.robots.starts_with("dis") => ("bad", "robots.txt forbids it".into()),
        () if check.trap.is_some() => ("warn", format!("a trap: {}", check.trap.clone().unwrap_or_default())),
        () if check.state == "held" => ("", "held already".into()),
        () => ("good", "will be visited".into()),
    };
    let mut details = vec![match &check.seed {
        Some(seed) => format!("in the scope of {seed}"),
        None => "in no scope yet; it begins one".into(),
    }];
    details.push(match check.robots_read.as_deref() {
        Some(read) => format!("robots.txt: {}, read {}", check.robots, times.ago(Some(read))),
        None => format!("robots.txt: {}; it is asked before anything else", check.robots),
    });
    details.extend(check.crawl_delay_secs.map(|delay| format!("the site wants {} s between requests", figure(delay))));
    details.push(format!("guard: {}", check.guard));
    Looked { url: check.url.clone(), class, words, details }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_seed_says_only_what_the_form_says() {
        let fields = Fields::read(
            b"urls=http%3A%2F%2Fa.example%2F%0D%0A%23+no%0D%0A&tags=news%2C+city&scope=&depth=2&weight=heavy",
        );
        assert_eq!(urls(&fields), ["http://a.example/"]);
        assert_eq!(
            entry(&fields, "http://a.example/"),
            json!({ "url": "http://a.example/", "tags": ["news", "city"], "depth": 2, "weight": "heavy" })
        );
    }

    #[test]
    fn what_forbids_a_visit_is_said_first() {
        let times = Times::new(None);
        let told = |check: Check| looked(&check, &times).words;
        let allowed = Check { robots: "allowed".into(), guard: "open".into(), ..Check::default() };
        assert_eq!(told(allowed.clone()), "will be visited");
        assert_eq!(told(Check { robots: "disallowed".into(), ..allowed.clone() }), "robots.txt forbids it");
        assert_eq!(
            told(Check { guard: "shut: it is private".into(), robots: "disallowed".into(), ..allowed }),
            "never visited: it is private"
        );
    }
}
