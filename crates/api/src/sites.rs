//! What is known of each site.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{SiteRow, Url};
use vernal_repository::SiteHints;

use super::answer::{self, ApiResult, Listed};
use super::hints;
use super::measures::{self, Figures};
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{List, Parameters, Sort, site};
use super::shared::{Seeds, Shared, time};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SiteRow")]
pub struct Row {
    site: String,
    standing: vernal_model::SiteState,
    known: u64,
    waiting: u64,
    held: u64,
    gone: u64,
    visits: u64,
    changes: u64,
    failures: u64,
    wire_bytes: u64,
    /// Change ratio, freshness, mean age, change rate and degree of success of its pages.
    measures: Figures,
    failures_in_a_row: u16,
    not_before: Option<String>,
    crawl_delay_secs: Option<f64>,
    traps: Vec<String>,
    /// What the last failure of the site was; null once it answers again.
    trouble: Option<String>,
    tags: Vec<String>,
    /// The sources that speak of its changes, and how far each is believed.
    hints: Vec<hints::Source>,
}

const MEASURES: [&str; 5] = ["change_ratio", "freshness", "mean_age", "change_rate", "degree_of_success"];
const COLUMNS: [&str; 16] = [
    "site",
    "standing",
    "known",
    "waiting",
    "held",
    "gone",
    "visits",
    "changes",
    "failures",
    "wire_bytes",
    "trouble",
    MEASURES[0],
    MEASURES[1],
    MEASURES[2],
    MEASURES[3],
    MEASURES[4],
];

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/sites", "What is known of each site", list)
}

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<List>) -> ApiResult<Listed<Row>> {
    let only = asked.site.as_deref().map(site).transpose()?;
    let seeds = shared.seeds()?;
    let measures = measures::taken(&shared).await?;
    let mut rows: Vec<SiteRow> = shared.reader.sites();
    rows.retain(|row| only.as_ref().is_none_or(|only| row.site == *only));
    rows.retain(|row| asked.tag.as_deref().is_none_or(|tag| tags(&seeds, row).iter().any(|own| own == tag)));
    if let Some(text) = &asked.sort {
        let sort = Sort::read(text, &COLUMNS)?;
        match sort.column {
            "site" => {}
            "standing" => rows.sort_by_key(|row| row.profile.standing as u8),
            column if MEASURES.contains(&column) => {
                rows.sort_by(|a, b| {
                    figure(&measures.of(&a.site), column).total_cmp(&figure(&measures.of(&b.site), column))
                });
            }
            "trouble" => rows.sort_by(|a, b| a.profile.trouble.cmp(&b.profile.trouble)),
            column => rows.sort_by_key(|row| count(row, column)),
        }
        if sort.descending {
            rows.reverse();
        }
    } else {
        rows.sort_by_key(|row| Reverse(row.counts.held));
    }
    let part = Part::read(asked.limit, asked.after.as_deref())?;
    Ok(answer::listed(move |lines| {
        part.write(rows, lines, |row| {
            let tags = tags(&seeds, &row);
            let hints = shared.reader.site_hints(&row.site)?;
            let figures = measures.of(&row.site);
            Ok(shown(row, figures, tags, &hints))
        })
    }))
}

fn shown(row: SiteRow, measures: Figures, tags: Vec<String>, hints: &SiteHints) -> Row {
    let counts = row.counts;
    Row {
        site: row.site.to_string(),
        standing: row.profile.standing,
        known: counts.known,
        waiting: counts.waiting,
        held: counts.held,
        gone: counts.gone,
        visits: counts.visits,
        changes: counts.changes,
        failures: counts.failures,
        wire_bytes: counts.wire_bytes,
        measures,
        failures_in_a_row: row.profile.failures,
        not_before: time(row.profile.not_before),
        crawl_delay_secs: row.profile.crawl_delay.map(|delay| delay.secs_f64()),
        traps: row.profile.traps,
        trouble: row.profile.trouble.map(String::from),
        tags,
        hints: hints.sources.iter().map(|(source, row)| hints::shown(*source, row)).collect(),
    }
}

/// A measure to sort by; what is not known comes before everything.
fn figure(figures: &Figures, column: &str) -> f64 {
    let figure = match column {
        "change_ratio" => figures.change_ratio,
        "freshness" => figures.freshness_believed,
        "mean_age" => figures.mean_age_days,
        "change_rate" => figures.change_rate_per_day,
        _ => figures.degree_of_success,
    };
    figure.unwrap_or(-1.0)
}

fn count(row: &SiteRow, column: &str) -> u64 {
    let counts = &row.counts;
    match column {
        "known" => counts.known,
        "waiting" => counts.waiting,
        "held" => counts.held,
        "gone" => counts.gone,
        "visits" => counts.visits,
        "changes" => counts.changes,
        "failures" => counts.failures,
        _ => counts.wire_bytes,
    }
}

/// The tags of the seeds that lie on this site or cover its front page.
fn tags(seeds: &Seeds, row: &SiteRow) -> Vec<String> {
    let front = Url::parse(&format!("http://{}/", row.site));
    let mut tags = front.map(|front| seeds.tags(&front, 0)).unwrap_or_default();
    let on_site = seeds.0.iter().filter(|seed| seed.url.site_text() == row.site.as_str());
    tags.extend(on_site.flat_map(|seed| seed.tags.iter().cloned()));
    tags.sort_unstable();
    tags.dedup();
    tags
}
