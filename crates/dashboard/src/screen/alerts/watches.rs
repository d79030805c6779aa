//! The watches, one watch, and what can be done to it.

use askama::Template;
use axum::extract::Path;
use axum::http::Method;
use axum::response::Response;

use crate::answers::{Delivery, Status, TestLine, Watch};
use crate::chart::{Svg, spark};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{counted, figure};
use crate::problem::Told;
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::screen::hits::address;
use crate::screen::page::{drawn, leads_to, unknown_act};
use crate::times::{Time, Times};

/// Of a watch, deliveries of so many days are drawn.
const SPARK_DAYS: usize = 30;
/// Deliveries of one watch that are counted.
const DELIVERIES_READ: usize = 1_000;
/// The newest changes that the test of a watch looks at, and what it would send of them that is shown.
const TESTED: usize = 100;
const TESTED_SHOWN: usize = 10;
const DELIVERIES_SHOWN: usize = 20;
/// Letters of a message that are shown.
const BODY_SHOWN: usize = 2_000;

/// The parts of alerts, as tabs.
pub struct Tabs {
    pub watches: u64,
    pub waiting: u64,
    pub at: &'static str,
}

impl Tabs {
    pub fn of(status: &Status, at: &'static str) -> Tabs {
        let outbox = status.outbox.clone().unwrap_or_default();
        Tabs { watches: outbox.watches, waiting: outbox.waiting, at }
    }

    pub fn is(&self, name: &str) -> bool {
        self.at == name
    }
}

#[derive(Template)]
#[template(path = "watches.html")]
struct Watches {
    frame: Frame,
    tabs: Tabs,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    link: String,
    owner: String,
    over: String,
    when: String,
    to: Vec<String>,
    told: Option<Svg>,
    told_count: String,
    last: Time,
    state: (&'static str, String),
}

#[derive(Template)]
#[template(path = "watch.html")]
struct OneWatch {
    frame: Frame,
    tabs: Tabs,
    id: String,
    row: Row,
    made: Time,
    /// Whether it tells now.
    enabled: bool,
    lost: Option<String>,
    held: String,
    from: Option<String>,
    also: String,
    found: String,
    tested: Vec<Tested>,
    deliveries: Vec<super::deliveries::Row>,
    links: Links,
}

/// Its feed, the form that changes it, and all its deliveries.
struct Links {
    atom: String,
    edit: String,
    all: String,
}

struct Tested {
    line: String,
    link: String,
    address: String,
    seen: Time,
    route: String,
    body: String,
}

pub async fn list(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let watches = reader.list::<Watch>(Question::of("watches")).await?.rows;
    let times = Times::new(status.now());
    let mut rows = Vec::new();
    for watch in &watches {
        let deliveries = deliveries(&reader, &watch.id).await?;
        rows.push(row(watch, &deliveries, &times));
    }
    let tabs = Tabs { watches: watches.len() as u64, ..Tabs::of(&status, "watches") };
    drawn(&Watches { frame: Frame::of(&reader, "Watches", Place::Watches, &status), tabs, rows })
}

async fn deliveries(reader: &Reader, watch: &str) -> Told<Vec<Delivery>> {
    let asked = Question::of("deliveries").with("watch", watch).with("limit", DELIVERIES_READ);
    Ok(reader.list::<Delivery>(asked).await?.rows)
}

fn row(watch: &Watch, deliveries: &[Delivery], times: &Times) -> Row {
    let mut days = [0.0; SPARK_DAYS];
    let wall = deliveries.iter().filter_map(|delivery| delivery.made.as_deref()).max();
    // Deliveries go by the wall clock, which the crawl may outrun: days are counted from the last of them.
    let clock = Times::new(wall);
    for age in deliveries.iter().filter_map(|delivery| clock.age_s(delivery.made.as_deref()?)) {
        let day = (age / 86_400.0) as usize;
        if let Some(place) = (SPARK_DAYS - 1).checked_sub(day) {
            days[place] += 1.0;
        }
    }
    let count = deliveries.len() as u64;
    let label = format!(
        "{} in {SPARK_DAYS} days",
        if count == 1 { "1 delivery".into() } else { format!("{} deliveries", crate::numbers::count(count)) }
    );
    Row {
        name: watch.shown_name(),
        link: format!("/watches/{}", segment(&watch.id)),
        owner: watch.owner.clone(),
        over: watch.over.words(),
        when: watch.when.words(),
        to: match watch.to.is_empty() {
            true => vec!["Atom only".into()],
            false => watch.to.iter().map(crate::answers::WatchTo::words).collect(),
        },
        told: (count > 0).then(|| spark(&days, &label)),
        told_count: crate::numbers::count(count),
        last: times.moment(wall),
        state: state(watch),
    }
}

fn state(watch: &Watch) -> (&'static str, String) {
    match () {
        () if !watch.enabled => ("warn", "paused".into()),
        () if watch.stands.lost.as_ref().is_some_and(|lost| !lost.acknowledged) => {
            ("bad", "lost what it watched".into())
        }
        () if watch.stands.waiting > 0 => ("warn", format!("{} to be sent", watch.stands.waiting)),
        () => ("", "well".into()),
    }
}

pub async fn show(reader: Reader, Path(id): Path<String>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let watch: Watch = reader.one(Question::of(&format!("watches/{}", segment(&id)))).await?;
    let asked = Question::of(&format!("watches/{}/test", segment(&id))).with("last", TESTED);
    // A search that cannot be asked now hides no watch.
    let lines = match reader.list::<TestLine>(asked).await {
        Ok(listed) => listed.rows,
        Err(problem) if problem.status.is_server_error() => Vec::new(),
        Err(problem) => return Err(problem),
    };
    let deliveries = deliveries(&reader, &id).await?;
    let times = Times::new(status.now());
    let tested = lines.iter().filter(|line| line.delivery.is_some()).take(TESTED_SHOWN);
    let tested = tested.map(|line| Tested {
        line: line.line.clone(),
        link: link("/page", &[("url", &line.url)]),
        address: address(&line.url),
        seen: times.moment(line.seen.as_deref()),
        route: line.route.clone().unwrap_or_else(|| "no route".into()),
        body: line.body.chars().take(BODY_SHOWN).collect(),
    });
    let row = row(&watch, &deliveries, &times);
    drawn(&OneWatch {
        frame: Frame::of(&reader, row.name.clone(), Place::Watches, &status),
        tabs: Tabs::of(&status, "watches"),
        made: times.moment(watch.stands.made.as_deref()),
        enabled: watch.enabled,
        lost: watch.stands.lost.as_ref().filter(|lost| !lost.acknowledged).map(|lost| lost.says.clone()),
        held: match watch.stands.held {
            0 => "Nothing waits for a digest.".into(),
            held => format!("{} held for the next digest.", counted(held, "event")),
        },
        from: watch.stands.from.clone(),
        also: also(&watch),
        found: found(lines.first()),
        tested: tested.collect(),
        deliveries: deliveries.iter().take(DELIVERIES_SHOWN).map(|one| super::deliveries::row(one, &times)).collect(),
        links: Links {
            atom: link("/feed.atom", &[("watch", &id)]),
            edit: format!("/watches/{}/change", segment(&id)),
            all: link("/deliveries", &[("watch", &id)]),
        },
        row,
        id,
    })
}

fn found(preview: Option<&TestLine>) -> String {
    preview.map_or_else(
        || "What it would tell cannot be reckoned now.".into(),
        |preview| {
            format!(
                "Of the last {} that it looks at it would have told {}, {} a day.",
                counted(preview.covered, "change"),
                preview.matches,
                figure(preview.per_day)
            )
        },
    )
}

fn also(watch: &Watch) -> String {
    let mut words = Vec::new();
    if let Some(span) = &watch.also.silent_for {
        words.push(format!("when nothing was seen for {span}"));
    }
    if watch.also.region_lost != Some(false) {
        words.push("when what matched before is no longer on the page".into());
    }
    words.join(", and ")
}

/// Pause, resume, acknowledge, remove.
pub async fn act(reader: Reader, Path(id): Path<String>, fields: Fields) -> Told<Response> {
    let own = format!("watches/{}", segment(&id));
    let here = format!("/watches/{}", segment(&id));
    let missed = fields.some("missed").map(|_| "true");
    match fields.one("act") {
        act @ ("pause" | "acknowledge") => {
            reader.send(Method::POST, Question::of(&format!("{own}/{act}")), None).await?;
        }
        "resume" => {
            let question = Question::of(&format!("{own}/resume")).with_some("missed", missed);
            reader.send(Method::POST, question, None).await?;
        }
        "remove" => {
            reader.send(Method::DELETE, Question::of(&own), None).await?;
            return Ok(leads_to("/watches"));
        }
        other => return Err(unknown_act(other)),
    }
    Ok(leads_to(&here))
}
