//! What sites say of their own changes, in which files, and how far each source is believed.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{HintFile, HintSource, PageHints, PageKey, Site, TrustRow};
use vernal_policy::estimate::trust;
use vernal_repository::SiteHints;

use super::answer::{self, ApiError, ApiResult, Listed};
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{Parameters, site};
use super::shared::{Shared, time};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintsQuery {
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HintRow")]
pub struct Row {
    site: String,
    #[serde(flatten)]
    source: Source,
    files: Vec<File>,
}

/// One source of one site.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HintSource")]
pub struct Source {
    source: &'static str,
    /// The share of real changes that it announces, and the share of its hints that were right; null for what pages say of
    /// themselves.
    recall: Option<f64>,
    precision: Option<f64>,
    /// Hints that visits have judged, fading.
    judged: f64,
    heard: u64,
    last_heard: Option<String>,
    /// Why it is not listened to; null while it is.
    muted: Option<String>,
    muted_since: Option<String>,
    says: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HintFile")]
pub struct File {
    url: String,
    kind: &'static str,
    entries: u32,
    dated: u32,
    dropped: u32,
    moved: u32,
    read: Option<String>,
    note: Option<String>,
    hub: Option<String>,
    /// How we stand with the hub; null where it was never asked.
    subscription: Option<Subscribed>,
}

#[derive(Serialize, JsonSchema)]
pub struct Subscribed {
    standing: &'static str,
    topic: String,
    asked: Option<String>,
    answer: String,
    /// Until when the hub sends, and when it is asked again.
    until: Option<String>,
    next: Option<String>,
}

/// What is said of one page.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PageHints")]
pub struct OfPage {
    pending: Vec<Pending>,
    spoken_of_by: Vec<&'static str>,
    stays: Vec<Stays>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PendingHint")]
struct Pending {
    source: &'static str,
    said: Option<String>,
    heard: Option<String>,
    worth_days: f64,
}

#[derive(Serialize, JsonSchema)]
struct Stays {
    source: &'static str,
    days: f64,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/hints", "What sites say of their own changes, and how far they are believed", list)
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<HintsQuery>,
) -> ApiResult<Listed<Row>> {
    let sites = match &query.site {
        Some(name) => {
            let site = site(name)?;
            if shared.reader.site(&site).is_none() {
                return Err(ApiError::not_found(format!("no site {site} is known here")));
            }
            vec![(site.clone(), shared.reader.site_hints(&site)?)]
        }
        None => shared.reader.all_site_hints()?,
    };
    let part = Part::read(query.limit, query.after.as_deref())?;
    Ok(answer::listed(move |lines| part.write(sites.iter().flat_map(|(site, hints)| of_site(site, hints)), lines, Ok)))
}

fn of_site(site: &Site, hints: &SiteHints) -> Vec<Row> {
    let mut sources: Vec<HintSource> = hints.sources.iter().map(|(source, _)| *source).collect();
    sources.extend(hints.files.iter().map(|(_, file)| file.source));
    sources.sort_unstable();
    sources.dedup();
    let row = |source: HintSource| {
        let trust = hints.sources.iter().find(|(known, _)| *known == source).map(|(_, row)| row.clone());
        let files = hints.files.iter().filter(|(_, file)| file.source == source);
        Row {
            site: site.to_string(),
            source: shown(source, &trust.unwrap_or_default()),
            files: files.map(|(key, shown)| file(shown, subscription(hints, *key))).collect(),
        }
    };
    sources.into_iter().map(row).collect()
}

pub fn shown(source: HintSource, row: &TrustRow) -> Source {
    let announces = !source.is_cadence();
    Source {
        source: source.name(),
        recall: announces.then(|| trust::recall(row)),
        precision: announces.then(|| trust::precision(row)),
        judged: row.right + row.wrong,
        heard: row.heard,
        last_heard: time(row.last_heard),
        muted: row.muted.as_ref().map(|muted| muted.why.to_string()),
        muted_since: row.muted.as_ref().and_then(|muted| time(muted.since)),
        says: vernal_crawler::trust_words(source, row),
    }
}

/// What is said of one page; nothing where nobody spoke.
pub fn of_page(hints: &PageHints) -> Option<OfPage> {
    let spoken_of_by = HintSource::ALL.into_iter().filter(|source| hints.spoken_of & source.bit() != 0);
    (!hints.is_empty()).then(|| OfPage {
        pending: hints
            .pending
            .iter()
            .map(|hint| Pending {
                source: hint.source.name(),
                said: time(hint.said),
                heard: time(hint.heard),
                worth_days: hint.worth.days_f64(),
            })
            .collect(),
        spoken_of_by: spoken_of_by.map(HintSource::name).collect(),
        stays: hints
            .cadence
            .iter()
            .map(|cadence| Stays { source: cadence.source.name(), days: cadence.period.days_f64() })
            .collect(),
    })
}

fn subscription(hints: &SiteHints, feed: PageKey) -> Option<Subscribed> {
    let (_, row) = hints.subscriptions.iter().find(|(known, _)| *known == feed)?;
    Some(Subscribed {
        standing: row.standing.name(),
        topic: row.topic.to_string(),
        asked: time(row.asked),
        answer: row.answer.to_string(),
        until: row.until.and_then(time),
        next: time(row.next),
    })
}

fn file(file: &HintFile, subscription: Option<Subscribed>) -> File {
    File {
        url: file.url.to_string(),
        kind: match file.kind {
            vernal_model::SiteListKind::Sitemap => "sitemap",
            vernal_model::SiteListKind::SitemapIndex => "sitemap-index",
            vernal_model::SiteListKind::Feed => "feed",
            vernal_model::SiteListKind::VolatileTable => "volatile-information",
        },
        entries: file.entries,
        dated: file.dated,
        dropped: file.dropped,
        moved: file.moved,
        read: time(file.read),
        note: file.note.as_deref().map(str::to_owned),
        hub: file.hub.as_ref().map(ToString::to_string),
        subscription,
    }
}
