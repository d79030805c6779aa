//! What went wrong: sites in trouble, pages that could not be read, deliveries that nobody took.

use askama::Template;
use axum::response::Response;

use super::Tabs;
use crate::answers::{Delivery, PageRow, Site, Status};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::screen::hits::address;
use crate::screen::page::drawn;
use crate::times::{Time, Times};

const ROWS: usize = 50;
const SITES_READ: usize = 1_000;
const STATES: [(&str, &str); 4] =
    [("failed", "Failed"), ("blocked", "Blocked"), ("refused", "Refused"), ("gone", "Gone")];

#[derive(Template)]
#[template(path = "operations-log.html")]
struct Log {
    frame: Frame,
    tabs: Tabs,
    sites: Vec<(String, String, String)>,
    states: Vec<(&'static str, String, u64, bool)>,
    rows: Vec<Row>,
    more: Option<String>,
    given_up: Vec<crate::screen::alerts::DeliveryRow>,
}

struct Row {
    at: Time,
    link: String,
    address: String,
    outcome: String,
    status: Option<u16>,
}

pub async fn show(reader: Reader, fields: Fields) -> Told<Response> {
    let chosen = STATES.into_iter().find(|(name, _)| *name == fields.one("state")).unwrap_or(STATES[0]).0;
    let pages = Question::of("pages")
        .with("state", chosen)
        .with("sort", "-last_visit")
        .with_some("after", fields.some("after"))
        .with("limit", ROWS);
    let given_up = Question::of("deliveries").with("state", "given-up").with("limit", ROWS);
    let (status, sites, pages, given_up) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.list::<Site>(Question::of("sites").with("limit", SITES_READ)),
        reader.list::<PageRow>(pages),
        reader.list::<Delivery>(given_up),
    );
    let (status, pages) = (status?, pages?);
    let times = Times::new(status.now());
    let troubled = sites?.rows.into_iter().filter_map(|site| {
        let link = format!("/sites/{}", segment(&site.site));
        Some((site.site, link, site.trouble?))
    });
    let totals = &status.totals;
    let counts = [totals.failed, status.kept.blocked, totals.refused, totals.gone];
    let states = STATES.iter().zip(counts);
    drawn(&Log {
        frame: Frame::of(&reader, "What went wrong", Place::Operations, &status),
        tabs: Tabs("log"),
        sites: troubled.collect(),
        states: states
            .map(|((name, words), count)| {
                (*words, link("/operations/log", &[("state", *name)]), count, *name == chosen)
            })
            .collect(),
        rows: pages.rows.iter().map(|page| row(page, &times)).collect(),
        more: pages.after.as_deref().map(|after| link("/operations/log", &[("state", chosen), ("after", after)])),
        // A folder without alerts has none that were given up.
        given_up: given_up
            .map(|listed| listed.rows)
            .unwrap_or_default()
            .iter()
            .map(|one| crate::screen::alerts::delivery_row(one, &times))
            .collect(),
    })
}

fn row(page: &PageRow, times: &Times) -> Row {
    Row {
        at: times.moment(page.last_visit.as_deref()),
        link: link("/page", &[("url", &page.url)]),
        address: address(&page.url),
        outcome: page.last_outcome.clone(),
        status: page.status,
    }
}
