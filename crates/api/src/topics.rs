//! The topics there are, and the pages of one of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use vernal_crawler::topics::why_none;
use vernal_model::{PageKey, TopicId, TopicRow};
use vernal_repository::Reader;

use super::answer::{self, ApiError, ApiResult};
use super::parameters::Parameters;
use super::shared::{Shared, time};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicsQuery {
    /// The pages of this topic instead of all topics.
    word: Option<String>,
    limit: Option<usize>,
    /// Why there are none, instead of all topics.
    #[serde(default)]
    why: bool,
}

/// Why there are no topics; null where there are some.
#[derive(Serialize)]
struct Absence {
    why: Option<String>,
}

#[derive(Serialize)]
struct Row {
    topic: String,
    id: u32,
    /// The words that its pages share most often besides it.
    words: Vec<String>,
    /// Pages that are in it, and pages that contain the word.
    pages: u32,
    holders: u32,
    /// Changes a day of one page, in the mean; null where nobody watched.
    change_rate: Option<f64>,
    changes: u64,
    watched_days: f64,
}

#[derive(Serialize)]
struct PageRow {
    url: String,
    reputation: f32,
    changes: u32,
    visits: u32,
    last_visit: Option<String>,
}

/// One topic of a page.
#[derive(Serialize)]
pub struct TopicJson {
    topic: String,
    reputation: f32,
}

/// Words shown beside a topic's own.
const WORDS_BESIDE: usize = 4;

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(query): Parameters<TopicsQuery>) -> ApiResult {
    let limit = query.limit.unwrap_or(usize::MAX);
    match query.word {
        None if query.why => {
            Ok(lines(std::iter::once(Absence { why: why_none(&shared.reader).map_err(ApiError::failed)? })))
        }
        Some(word) => pages_of(&shared.reader, &word.to_lowercase(), limit),
        None => all(&shared.reader, limit),
    }
}

/// The topics of one page, by their words.
pub fn of_page(reader: &Reader, page: PageKey) -> Result<Vec<TopicJson>, ApiError> {
    let mut shown = Vec::new();
    for of in reader.topics_of(page)? {
        if let Some(row) = reader.topic(of.topic)? {
            shown.push(TopicJson { topic: row.word.into(), reputation: of.reputation });
        }
    }
    Ok(shown)
}

fn all(reader: &Reader, limit: usize) -> ApiResult {
    let mut rows: Vec<TopicRow> = reader.topics().collect::<Result<_, _>>()?;
    rows.retain(|row| row.pages > 0);
    let words: BTreeMap<TopicId, Box<str>> = rows.iter().map(|row| (row.id, row.word.clone())).collect();
    rows.sort_by_key(|row| (Reverse(row.pages), row.id));
    rows.truncate(limit);
    let shared = shared_pages(reader, &rows.iter().map(|row| row.id).collect())?;
    Ok(lines(rows.into_iter().map(move |row| {
        let others = shared.get(&row.id).into_iter().flatten();
        Row {
            id: row.id.0,
            words: others.filter_map(|other| words.get(other)).map(|word| word.to_string()).collect(),
            pages: row.pages,
            holders: row.holders,
            change_rate: row.change_rate(),
            changes: row.changes,
            watched_days: row.watched_days,
            topic: row.word.into(),
        }
    })))
}

/// For each of these topics the others that its pages are in most often.
fn shared_pages(reader: &Reader, wanted: &BTreeSet<TopicId>) -> Result<BTreeMap<TopicId, Vec<TopicId>>, ApiError> {
    let mut counts: BTreeMap<TopicId, BTreeMap<TopicId, u32>> = BTreeMap::new();
    for row in reader.categorised() {
        let (_, topics) = row?;
        for of in topics.iter().filter(|of| wanted.contains(&of.topic)) {
            let counts = counts.entry(of.topic).or_default();
            for other in topics.iter().filter(|other| other.topic != of.topic) {
                *counts.entry(other.topic).or_default() += 1;
            }
        }
    }
    let most = |counts: BTreeMap<TopicId, u32>| {
        let mut others: Vec<(Reverse<u32>, TopicId)> =
            counts.into_iter().map(|(other, count)| (Reverse(count), other)).collect();
        others.sort_unstable();
        others.into_iter().take(WORDS_BESIDE).map(|(_, other)| other).collect()
    };
    Ok(counts.into_iter().map(|(topic, counts)| (topic, most(counts))).collect())
}

/// The pages of a topic, the one with the best reputation first.
fn pages_of(reader: &Reader, word: &str, limit: usize) -> ApiResult {
    let topic = reader.topics().find(|row| row.as_ref().map_or(true, |row| *row.word == *word)).transpose()?;
    let Some(topic) = topic else { return Err(ApiError::not_found(format!("`{word}` is no topic here"))) };
    let mut found: Vec<(f32, PageKey)> = Vec::new();
    for row in reader.categorised() {
        let (page, topics) = row?;
        found.extend(topics.iter().filter(|of| of.topic == topic.id).map(|of| (of.reputation, page)));
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    found.truncate(limit);
    let mut rows = Vec::new();
    for (reputation, page) in found {
        let Some(page) = reader.page(page)? else { continue };
        rows.push(PageRow {
            url: page.url.to_string(),
            reputation,
            changes: page.changes,
            visits: page.visits,
            last_visit: time(page.last_visit),
        });
    }
    Ok(lines(rows.into_iter()))
}

fn lines<T: Serialize>(rows: impl Iterator<Item = T> + Send + 'static) -> Response {
    answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    })
}
