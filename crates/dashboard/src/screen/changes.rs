//! The inbox of changes, the newest first, with facets, and beside it the change that is looked at.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::event::Told as EventTold;
use super::page::drawn;
use super::told::{self, Row};
use crate::answers::{Counts, Event, Status};
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted};
use crate::problem::Told;
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::Times;

const ROWS_SHOWN: usize = 40;
/// Events that facets are counted over, the newest.
const COUNTED_MAX: usize = 2_000;
const SITES_SHOWN: usize = 10;
/// What the inbox shows where nobody says: everything but first visits.
const USUAL: &str = "changed,gone,back,moved,blocked,template,erased";

/// What is asked for, which is all in the address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    site: String,
    tag: String,
    kind: String,
    min: String,
    event: String,
    q: String,
    r#in: String,
    mark: String,
    before: String,
    /// An act that was just done and can be undone.
    undo: String,
}

#[derive(Template)]
#[template(path = "changes.html")]
struct Changes {
    frame: Frame,
    summary: String,
    days: Vec<Day>,
    facets: Vec<Facet>,
    asked: Asked,
    sides: [(&'static str, &'static str, bool); 3],
    older: Option<String>,
    peek: Option<EventTold>,
    is_filtered: bool,
    atom: String,
    /// This list, without what was just done.
    here: String,
}

struct Day {
    name: String,
    rows: Vec<Row>,
}

/// A question whose answers are links.
struct Facet {
    name: &'static str,
    choices: Vec<Choice>,
}

struct Choice {
    words: String,
    link: String,
    number: Option<String>,
    is_chosen: bool,
}

impl Asked {
    /// The filters as parameters of the API.
    fn filtered(&self, question: Question) -> Question {
        let events = match &*self.event {
            "" => Some(USUAL),
            "all" => None,
            event => Some(event),
        };
        let side = Some(&*self.r#in).filter(|_| !self.q.trim().is_empty());
        question
            .with_some("event", events)
            .with_some("site", Some(&self.site))
            .with_some("tag", Some(&self.tag))
            .with_some("kind", Some(&self.kind))
            .with_some("min", Some(&self.min))
            .with_some("mark", Some(&self.mark))
            .with_some("words", Some(&self.q))
            .with_some("in", side)
    }

    fn pairs(&self) -> Vec<(&'static str, &str)> {
        vec![
            ("site", &self.site),
            ("tag", &self.tag),
            ("kind", &self.kind),
            ("min", &self.min),
            ("event", &self.event),
            ("q", &self.q),
            ("in", &self.r#in),
            ("mark", &self.mark),
        ]
    }

    /// The same list with one answer more, or one less.
    fn but(&self, name: &str, value: &str) -> String {
        let pairs: Vec<(&str, &str)> =
            self.pairs().into_iter().map(|(own, old)| (own, if own == name { value } else { old })).collect();
        link("/changes", &pairs)
    }

    /// The filters that the form of words does not ask for.
    fn kept(&self) -> Vec<(&'static str, &str)> {
        let asks = ["q", "in"];
        self.pairs().into_iter().filter(|(name, value)| !value.is_empty() && !asks.contains(name)).collect()
    }

    fn is_filtered(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let list = Question::of("changes").with("order", "newest").with("brief", true).with("limit", ROWS_SHOWN);
    let list = asked.filtered(list).with_some("before", Some(&asked.before));
    // The counts of a facet are those without its own answer, so that another can be chosen; where it has none, one count does
    // for all.
    let (status, listed, all, sites, kinds, events, degrees) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.list::<Event>(list),
        counted_by(&reader, asked.clone(), "kind,degree,site"),
        counts(&reader, &asked, "site"),
        counts(&reader, &asked, "kind"),
        counts(&reader, &asked, "event"),
        counts(&reader, &asked, "min"),
    );
    let (status, listed, all) = (status?, listed?, all?);
    let or_all = |counts: Option<Counts>| counts.unwrap_or_else(|| all.clone());
    let (sites, kinds, events, degrees) = (or_all(sites?), or_all(kinds?), or_all(events?), or_all(degrees?));
    let times = Times::new(status.now());
    let peek = match listed.rows.first() {
        Some(event) => Some(EventTold::of(&reader, event.clone(), &times).await?),
        None => None,
    };
    let mut here = asked.pairs();
    here.push(("before", &asked.before));
    let here = link("/changes", &here);
    let peek = peek.map(|told| told.leading_back(here.clone()));
    let side = if asked.r#in.is_empty() { "either" } else { &asked.r#in };
    let sides =
        [("added", "came"), ("removed", "went"), ("either", "either")].map(|(name, words)| (name, words, side == name));
    drawn(&Changes {
        frame: Frame::of(&reader, "Changes", Place::Changes, &status),
        summary: summary(&all, &asked),
        days: days(&listed.rows, &times),
        facets: facets(&asked, &sites, &kinds, &events, &degrees),
        sides,
        older: listed.rows.last().filter(|_| listed.after.is_some() || listed.rows.len() >= ROWS_SHOWN).map(|last| {
            let mut pairs = asked.pairs();
            pairs.push(("before", &last.cursor));
            link("/changes", &pairs)
        }),
        peek,
        here,
        is_filtered: asked.is_filtered(),
        atom: link("/feed.atom", &[("site", &asked.site), ("tag", &asked.tag)]),
        asked,
    })
}

async fn counted_by(reader: &Reader, asked: Asked, by: &str) -> Told<Counts> {
    let question = asked.filtered(Question::of("changes/count"));
    reader.one(question.with("by", by).with("limit", COUNTED_MAX)).await
}

/// The counts without the answer to one facet, if it has one.
async fn counts(reader: &Reader, asked: &Asked, without: &str) -> Told<Option<Counts>> {
    let mut other = asked.clone();
    let answer = match without {
        "site" => &mut other.site,
        "kind" => &mut other.kind,
        "event" => &mut other.event,
        _ => &mut other.min,
    };
    let (had, by) = (std::mem::take(answer), if without == "min" { "degree" } else { without });
    match without {
        "event" => other.event = "all".into(),
        _ if had.is_empty() => return Ok(None),
        _ => {}
    }
    counted_by(reader, other, by).await.map(Some)
}

fn summary(counts: &Counts, asked: &Asked) -> String {
    let all = counts.total;
    let of = if asked.is_filtered() { " that fit" } else { "" };
    if counts.exact {
        format!("{}{of}", counted(all, "change"))
    } else {
        format!("More than {} changes{of}", count(all))
    }
}

fn days(events: &[Event], times: &Times) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for event in events {
        let row = told::row(event, times);
        match days.last_mut().filter(|day| day.name == row.day) {
            Some(day) => day.rows.push(row),
            None => days.push(Day { name: row.day.clone(), rows: vec![row] }),
        }
    }
    days
}

fn facets(asked: &Asked, sites: &Counts, kinds: &Counts, events: &Counts, degrees: &Counts) -> Vec<Facet> {
    let shown = |counts: &BTreeMap<String, u64>, name: &str| counts.get(name).map(|number| count(*number));
    let choice = |name: &'static str, own: &str, value: &str, words: &str, number| Choice {
        words: words.to_owned(),
        link: asked.but(name, if own == value { "" } else { value }),
        number,
        is_chosen: own == value,
    };
    let kind = |(value, words)| choice("kind", &asked.kind, value, words, shown(&kinds.kind, value));
    let least = ["slight", "moderate", "large", "total"];
    let at_least = |place: usize| {
        let sum: u64 = least[place..].iter().filter_map(|name| degrees.degree.get(*name)).sum();
        Some(count(sum))
    };
    let mut by_number: Vec<(&String, &u64)> = sites.site.iter().collect();
    by_number.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), (*name).clone()));
    let chosen_site = |(name, _): &(&String, &u64)| **name == asked.site;
    let mut top: Vec<_> = by_number.iter().take(SITES_SHOWN).copied().collect();
    top.extend(by_number.iter().skip(SITES_SHOWN).copied().filter(|one| chosen_site(one)));
    let site = |(name, number): (&String, &u64)| choice("site", &asked.site, name, name, Some(count(*number)));
    const KINDS: [(&str, &str); 4] = [
        ("content", "content"),
        ("structure", "structure"),
        ("presentation", "presentation"),
        ("behaviour", "behaviour"),
    ];
    const EVENTS: [(&str, &str); 6] = [
        ("all", "everything"),
        ("changed", "changed"),
        ("new", "new here"),
        ("gone", "gone"),
        ("back", "back"),
        ("template", "on many pages"),
    ];
    const MARKS: [(&str, &str); 4] = [("unseen", "unseen"), ("act", "to act on"), ("seen", "seen"), ("noise", "noise")];
    let mark = |(value, words)| choice("mark", &asked.mark, value, words, None);
    let event = |(value, words): (&'static str, &'static str)| {
        let number =
            if value == "all" { Some(count(events.event.values().sum())) } else { shown(&events.event, value) };
        choice("event", &asked.event, value, words, number)
    };
    vec![
        Facet { name: "What happened", choices: EVENTS.into_iter().map(event).collect() },
        Facet { name: "Kind, noise set aside", choices: KINDS.into_iter().map(kind).collect() },
        Facet {
            name: "At least",
            choices: (0..4)
                .map(|place| choice("min", &asked.min, least[place], least[place], at_least(place)))
                .collect(),
        },
        Facet { name: "Mark", choices: MARKS.into_iter().map(mark).collect() },
        Facet { name: "Site", choices: top.into_iter().map(site).collect() },
    ]
}
