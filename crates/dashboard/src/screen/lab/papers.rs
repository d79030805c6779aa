//! The machine of the founding papers at work: the three priority lists and the 4 : 2 : 1 draw, the URL records with refresh
//! time and degree of success, the sampling cycle with its quota and change ratio.

use askama::Template;
use axum::response::Response;

use crate::answers::{Page, PageRow, PriorityList, SamplingCycle, Site, Status};
use crate::chart::{Svg, meter};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, figure, percent, share};
use crate::problem::Told;
use crate::question::{Question, link, segment};
use crate::reader::{Listed, Reader};
use crate::screen::hits::address;
use crate::screen::page::drawn;
use crate::times::Times;

/// URL records of one screen. Each is read from the history of its page.
const RECORDS: usize = 12;
const SITES_SHOWN: usize = 10;
const LISTS: [&str; 3] = ["first", "second", "third"];

#[derive(Template)]
#[template(path = "lab-papers.html")]
struct Papers {
    frame: Frame,
    lists: Vec<ListLine>,
    lists_words: String,
    cycle: Option<Cycle>,
    no_cycle: String,
    records: Vec<Record>,
    records_words: String,
    more: Option<String>,
    sites: Vec<Measured>,
    all: Measured,
}

struct ListLine {
    name: &'static str,
    turns: u64,
    waiting: String,
    drawn: String,
    bar: Svg,
    share: String,
}

struct Cycle {
    says: String,
    facts: Vec<(&'static str, String, String)>,
    sampled: Svg,
}

struct Record {
    link: String,
    address: String,
    refresh: String,
    initial: String,
    success: String,
    visits: String,
    thresholds: String,
    moves: &'static str,
}

struct Measured {
    name: String,
    link: String,
    ratio: String,
    visits: String,
    success: String,
}

pub async fn show(reader: Reader, fields: Fields) -> Told<Response> {
    let pages = Question::of("pages").with("state", "held").with("sort", "-changes").with("limit", RECORDS);
    let (status, pages, sites) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.list::<PageRow>(pages.with_some("after", fields.some("after"))),
        reader.list::<Site>(Question::of("sites").with("sort", "-held").with("limit", SITES_SHOWN)),
    );
    let status = status?;
    let Listed { rows, after } = pages?;
    let mut records = Vec::new();
    for row in &rows {
        let page: Option<Page> = reader.maybe(Question::of("page").with("url", &row.url)).await?;
        records.extend(page.as_ref().and_then(record));
    }
    let times = Times::new(status.now());
    let crawl = status.crawl.clone().unwrap_or_default();
    let kept_by_policy = status.policy.starts_with("refresh-time");
    let measured = |name: &str, link: String, figures: &crate::answers::Figures| Measured {
        name: name.to_owned(),
        link,
        ratio: share(figures.change_ratio),
        visits: count(figures.change_ratio_visits),
        success: share(figures.degree_of_success),
    };
    drawn(&Papers {
        frame: Frame::of(&reader, "The founding papers", Place::Lab, &status),
        lists_words: lists_words(&crawl.lists, status.crawl.is_some()),
        lists: lists(&crawl.lists),
        cycle: crawl.cycle.as_ref().map(|cycle| cycle_shown(cycle, &times)),
        no_cycle: match &status.crawl {
            None => "Nobody crawls, so no cycle goes on.".into(),
            Some(_) => format!(
                "The policy in force, {}, does not sample in cycles, or its first has not begun. `--policy hybrid` does.",
                status.policy
            ),
        },
        records_words: match kept_by_policy {
            true => "kept by the policy in force".into(),
            false => format!("what the paper's policy would hold after the visits that {} made", status.policy),
        },
        records,
        more: after.map(|after| link("/lab/papers", &[("after", &*after)])),
        sites: sites?
            .rows
            .iter()
            .map(|site| measured(&site.site, format!("/sites/{}", segment(&site.site)), &site.measures))
            .collect(),
        all: measured("the whole copy", "/sites".into(), &status.measures),
    })
}

fn lists(lists: &[PriorityList]) -> Vec<ListLine> {
    let drawn: u64 = lists.iter().map(|list| list.drawn).sum();
    let line = |(name, list): (&'static str, &PriorityList)| {
        let part = if drawn > 0 { list.drawn as f64 / drawn as f64 } else { 0.0 };
        let words = format!("{} %", percent(part));
        ListLine {
            name,
            turns: list.turns,
            waiting: count(list.waiting),
            drawn: count(list.drawn),
            bar: meter(part, &words, false),
            share: words,
        }
    };
    LISTS.into_iter().zip(lists).map(line).collect()
}

fn lists_words(lists: &[PriorityList], runs: bool) -> String {
    let waiting: u64 = lists.iter().map(|list| list.waiting).sum();
    match (runs, waiting) {
        (false, _) => "Nobody crawls: the lists are filled when the crawl goes on.".into(),
        (true, 0) => "No URL waits for its first visit now. What was drawn shows how the lists were served.".into(),
        (true, waiting) => {
            format!(
                "{} in memory, ranked and cut in thirds. A list without a URL of a free site loses its turn.",
                counted(waiting, "URL")
            )
        }
    }
}

fn cycle_shown(cycle: &SamplingCycle, times: &Times) -> Cycle {
    let done = if cycle.sample_size > 0 { cycle.sampled as f64 / cycle.sample_size as f64 } else { 0.0 };
    let begins = times.moment(cycle.begins.as_deref()).words;
    let ends = times.ago(cycle.ends.as_deref());
    Cycle {
        says: format!(
            "The cycle began {begins} and ends {ends}. It pays for {} % of the pages.",
            percent(cycle.share.min(1.0))
        ),
        sampled: meter(done, &format!("{} of {} sampled", count(cycle.sampled), count(cycle.sample_size)), false),
        facts: vec![
            ("Groups", count(cycle.groups), format!("with {}", counted(cycle.pages, "page"))),
            ("Quota", count(cycle.sample_size), format!("{} sampled", count(cycle.sampled))),
            (
                "Change ratio of the samples",
                share(cycle.change_ratio),
                format!("{} of {} changed", count(cycle.changed), count(cycle.compared)),
            ),
            ("Downloaded beside them", count(cycle.downloaded), "where the samples found changes".into()),
        ],
    }
}

/// The record of one URL, as Figure 4 of the paper has it.
fn record(page: &Page) -> Option<Record> {
    let record = page.url_record.as_ref()?;
    let hours = |hours: Option<f64>, waits: f64| match hours {
        Some(hours) => crate::times::span(hours * 3_600.0),
        None => format!("{} mean waits", figure(waits)),
    };
    let moves = match record.degree_of_success {
        Some(success) if success > record.upper_threshold => "shrinks",
        Some(success) if success < record.lower_threshold => "grows",
        Some(_) => "stays",
        None => "–",
    };
    Some(Record {
        link: link("/page", &[("url", &*page.url)]),
        address: address(&page.url),
        refresh: hours(record.current_hours, record.current_mean_waits),
        initial: hours(record.initial_hours, 1.0),
        success: record.degree_of_success.map_or_else(|| "–".into(), |success| format!("{success:.2}")),
        visits: format!("{} of {}", record.changes, record.visits),
        thresholds: format!("{} / {}", figure(record.lower_threshold), figure(record.upper_threshold)),
        moves,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draw_is_told_as_shares_of_what_was_drawn() {
        let list = |turns, drawn| PriorityList { turns, waiting: 3, drawn };
        let shown = lists(&[list(4, 40), list(2, 20), list(1, 10)]);
        let told: Vec<(u64, &str)> = shown.iter().map(|line| (line.turns, &*line.share)).collect();
        assert_eq!(told, [(4, "57.1 %"), (2, "28.6 %"), (1, "14.3 %")]);
        assert!(lists(&[]).is_empty(), "an older API tells of no lists");
    }

    #[test]
    fn a_record_says_where_its_refresh_time_goes() {
        let page = r#"{"url":"http://a.example/x","url_record":{"current_mean_waits":0.25,"current_hours":1.0,"initial_hours":4.0,
            "degree_of_success":1.0,"visits":6,"changes":6,"lower_threshold":0.3,"upper_threshold":0.7}}"#;
        let told = record(&serde_json::from_str(page).unwrap()).unwrap();
        assert_eq!(
            (&*told.refresh, &*told.initial, told.moves, &*told.visits),
            ("60 min", "4.0 h", "shrinks", "6 of 6")
        );
    }
}
