//! This crawl's own record: how right the belief is, where the visits go, and what other budgets would win.

use askama::Template;
use axum::response::Response;

use crate::answers::{Site, Status};
use crate::chart::{Dot, Svg, calibration, meter};
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, figure, percent, wilson};
use crate::problem::Told;
use crate::question::{Question, segment};
use crate::reader::Reader;
use crate::screen::page::drawn;
use crate::times::second_of;

const SITES_READ: usize = 500;
const SITES_SHOWN: usize = 12;
const DAY_S: f64 = 86_400.0;

#[derive(Template)]
#[template(path = "lab.html")]
struct Lab {
    frame: Frame,
    says: String,
    policy: String,
    budget: String,
    held: u64,
    right: Option<Svg>,
    right_words: String,
    sites: Vec<SiteLine>,
    replay: String,
}

struct SiteLine {
    name: String,
    link: String,
    pages: String,
    rate: String,
    visits: String,
    bar: Svg,
    won: String,
}

pub async fn show(reader: Reader) -> Told<Response> {
    let (status, sites) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.list::<Site>(Question::of("sites").with("sort", "-held").with("limit", SITES_READ))
    );
    let status = status?;
    let (right, right_words) = right(&status);
    drawn(&Lab {
        frame: Frame::of(&reader, "Lab", Place::Lab, &status),
        says: says(&status),
        policy: status.policy.clone(),
        budget: status.budget.clone(),
        held: status.totals.held,
        right,
        right_words,
        sites: site_lines(&sites?.rows, days(&status)),
        replay: format!(
            "vernal lab replay --data {} --policies vernal,bayes,refresh-time,round-robin --out report",
            status.data
        ),
    })
}

fn says(status: &Status) -> String {
    let believed = status.believed().map_or_else(
        || format!("{} has no model of freshness.", status.policy),
        |share| {
            format!(
                "{} believes {} % of the pages to be up to date at {}.",
                status.policy,
                percent(share),
                status.budget
            )
        },
    );
    let Some((found, samples)) = status.measured() else { return format!("{believed} No sample has judged that yet.") };
    let range = wilson(found, samples)
        .map_or_else(String::new, |(low, high)| format!(", so that {} to {} are likely", percent(low), percent(high)));
    format!("{believed} {} drawn by chance found {} %{range}.", counted(samples, "sample"), percent(found))
}

/// Days since the crawl began, as far as its record says.
fn days(status: &Status) -> Option<f64> {
    let crawl = status.crawl.as_ref()?;
    let seconds = second_of(status.now()?)? - second_of(crawl.started.as_deref()?)?;
    (seconds > 0.0).then_some(seconds / DAY_S)
}

fn right(status: &Status) -> (Option<Svg>, String) {
    let Some(crawl) = &status.crawl else {
        return (None, "Nobody crawls, so nothing is believed and nothing is measured.".into());
    };
    let dots = crawl.freshness.calibration.iter().filter(|bin| bin.samples > 0).map(|bin| Dot {
        believed: bin.believed,
        found: bin.found,
        range: wilson(bin.found, bin.samples).unwrap_or((bin.found, bin.found)),
        samples: bin.samples,
    });
    let dots: Vec<Dot> = dots.collect();
    let words = match dots.is_empty() {
        true => format!(
            "A policy with a model of freshness, and {} drawn by chance, are needed before the belief can be judged.",
            counted(crawl.freshness.freshness_samples_needed.max(1), "sample")
        ),
        false => {
            "Every dot is a group of samples drawn by chance, with its likely range; on the dashed line the belief is \
                  right. Above it the crawl is fresher than it believes."
                .into()
        }
    };
    (calibration(&dots), words)
}

/// Visits for each page, against how often its site changes.
fn site_lines(sites: &[Site], days: Option<f64>) -> Vec<SiteLine> {
    let per_page = |site: &Site| site.counts.visits as f64 / site.counts.held.max(1) as f64;
    let most = sites.iter().map(per_page).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut sorted: Vec<&Site> = sites.iter().filter(|site| site.counts.held > 0).collect();
    let rate = |site: &Site| site.measures.change_rate_per_day.unwrap_or(0.0);
    sorted.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let line = |site: &&Site| {
        let visits = per_page(site);
        let words = match days {
            Some(days) => format!("{} a day", figure(visits / days)),
            None => format!("{} in all", figure(visits)),
        };
        SiteLine {
            link: format!("/sites/{}", segment(&site.site)),
            name: site.site.clone(),
            pages: count(site.counts.held),
            rate: site.measures.change_rate_per_day.map_or_else(|| "–".into(), figure),
            bar: meter(visits / most, &words, false),
            visits: words,
            won: site.measures.degree_of_success.map_or_else(|| "–".into(), |share| format!("{} %", percent(share))),
        }
    };
    sorted.iter().take(SITES_SHOWN).map(line).collect()
}
