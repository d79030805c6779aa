//! One change: its words, what was set aside, and where to go from here. Its address is permanent.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use super::told::{self, Aside, Para, page_link};
use crate::answers::{Event, Status, Tally};
use crate::chart::{Svg, kinds, magnitude};
use crate::frame::{Frame, Place};
use crate::problem::Told as Result;
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::times::{self, Times};
use crate::words;

const SAMPLE_SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "event.html")]
struct EventScreen {
    frame: Frame,
    told: Told,
    undo: String,
    here: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// An act that was just done and can be undone.
    undo: String,
}

/// An event with everything that is told of it.
pub struct Told {
    pub id: String,
    pub link: String,
    pub title: String,
    pub language: Option<String>,
    pub site: String,
    pub url: String,
    pub sentence: String,
    pub kinds: Svg,
    pub magnitude: (Svg, String),
    pub tally: Tally,
    pub body: Body,
    pub ways: Ways,
    /// The mark that a person set, empty without one.
    pub mark: String,
    /// Where the form of marks leads back to.
    pub back: String,
}

/// The words of an event.
pub struct Body {
    pub paragraphs: Vec<Para>,
    pub more: usize,
    pub notes: Vec<(String, String)>,
    pub asides: Vec<Aside>,
    /// Further pages with the same change: address here, and path.
    pub sample: Vec<(String, String)>,
    pub unread: Option<String>,
}

/// Where to go from here.
pub struct Ways {
    pub site: String,
    pub diff: Option<String>,
    pub history: String,
    pub blame: String,
    pub watch: String,
}

pub async fn show(reader: Reader, Path(id): Path<String>, Query(asked): Query<Asked>) -> Result<Response> {
    let undo = asked.undo;
    let asked = Question::of(&format!("changes/{}", segment(&id)));
    let (status, event) = tokio::join!(reader.one::<Status>(Question::of("status")), reader.one::<Event>(asked));
    let (status, event) = (status?, event?);
    let times = Times::new(status.now());
    let told = Told::whole(event, &times);
    let frame = Frame::of(&reader, told.title.clone(), Place::Changes, &status);
    drawn(&EventScreen { frame, undo, here: told.link.clone(), told })
}

impl Told {
    /// The event of a list, with what the list left out.
    pub async fn of(reader: &Reader, event: Event, times: &Times) -> Result<Told> {
        let asked = Question::of(&format!("changes/{}", segment(&event.id)));
        let whole = reader.maybe::<Event>(asked).await?;
        Ok(Told::whole(whole.unwrap_or(event), times))
    }

    /// The same, whose form of marks leads back to another address.
    pub fn leading_back(self, back: String) -> Told {
        Told { back, ..self }
    }

    /// What a person can say of the change: the state, its words and its key.
    pub fn marks(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let has_mark = !self.mark.is_empty();
        let states =
            [("seen", "Seen", "e"), ("act", "To act on", "a"), ("noise", "Noise", "n"), ("none", "No mark", "")];
        states.into_iter().filter(move |(state, _, _)| has_mark || *state != "none")
    }

    fn whole(event: Event, times: &Times) -> Told {
        let (paragraphs, more) = told::paragraphs(&event);
        let sample = event.around.sample.iter().take(SAMPLE_SHOWN);
        let sample = sample.map(|page| (page_link("/page", &page.url), words::path(&page.url))).collect();
        let diff = event.version.zip(event.previous).map(|(to, from)| {
            link("/diff", &[("url", event.url.as_str()), ("from", &from.to_string()), ("to", &to.to_string())])
        });
        Told {
            link: format!("/changes/{}", segment(&event.id)),
            title: words::title(&event.title, &event.url),
            language: words::language(&event.language),
            site: event.site.clone(),
            sentence: sentence(&event, times),
            kinds: kinds(&event.change),
            magnitude: (magnitude(event.change.magnitude), degree(&event)),
            tally: event.tally(),
            body: Body {
                paragraphs,
                more,
                notes: told::notes(&event.change),
                asides: told::asides(&event.change),
                sample,
                unread: event.around.unread.clone(),
            },
            ways: Ways {
                site: format!("/sites/{}", segment(&event.site)),
                diff,
                history: page_link("/page", &event.url),
                blame: page_link("/blame", &event.url),
                watch: link("/watches/new", &[("event", event.id.as_str())]),
            },
            mark: event.around.mark.map(|mark| mark.state).unwrap_or_default(),
            back: format!("/changes/{}", segment(&event.id)),
            id: event.id,
            url: event.url,
        }
    }
}

fn degree(event: &Event) -> String {
    let degree = if event.change.degree.is_empty() { "none" } else { &event.change.degree };
    format!("{degree}, {:.2}", event.change.magnitude)
}

/// When, and which versions, in a sentence.
fn sentence(event: &Event, times: &Times) -> String {
    let (same, different) = (event.seen_same.as_deref(), event.seen_different.as_deref());
    let (from, until) = (times.moment(same), times.moment(different));
    let lasted = same.and_then(times::second_of).zip(different.and_then(times::second_of));
    let lasted = lasted.map_or_else(String::new, |(from, until)| format!(" ({})", times::span(until - from)));
    let versions = match (event.previous, event.version) {
        (Some(previous), Some(version)) => format!(" Version {previous} became {version}."),
        (None, Some(version)) => format!(" It is version {version}."),
        _ => String::new(),
    };
    match &*event.event {
        "changed" | "template" if !from.iso.is_empty() => {
            format!("Changed between {} and {}{lasted}.{versions}", from.words, until.words)
        }
        "new" => format!("First seen at {}.{versions}", until.words),
        "gone" if !from.iso.is_empty() => format!("Went between {} and {}{lasted}.", from.words, until.words),
        other => format!("{}: seen at {}.{versions}", if other.is_empty() { "changed" } else { other }, until.words),
    }
}
