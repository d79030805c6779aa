//! The topics there are, and the pages of one of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::topics::why_none;
use vernal_model::{PageKey, TopicId, TopicRow};
use vernal_repository::Reader;

use super::answer::{self, ApiError, ApiResult, Listed};
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::Parameters;
use super::shared::{Shared, time};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicsQuery {
    /// The pages of this topic instead of all topics.
    word: Option<String>,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
    /// Why there are none, instead of all topics.
    #[serde(default)]
    why: bool,
}

/// Why there are no topics; null where there are some.
#[derive(Serialize, JsonSchema)]
pub struct Absence {
    why: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TopicRow")]
pub struct Row {
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

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TopicPageRow")]
pub struct PageRow {
    url: String,
    reputation: f32,
    changes: u32,
    visits: u32,
    last_visit: Option<String>,
}

/// One line of a list of topics.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TopicLine {
    Topic(Row),
    Page(PageRow),
    Absence(Absence),
}

/// One topic of a page.
#[derive(Serialize, JsonSchema)]
pub struct TopicJson {
    topic: String,
    reputation: f32,
}

/// Words shown beside a topic's own.
const WORDS_BESIDE: usize = 4;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/topics", "The topics of the repository, or the pages of one topic by reputation", list)
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<TopicsQuery>,
) -> ApiResult<Listed<TopicLine>> {
    let part = Part::read(query.limit, query.after.as_deref())?;
    match query.word {
        None if query.why => {
            let why = why_none(&shared.reader).map_err(ApiError::failed)?;
            Ok(answer::listed(move |lines| part.write([Absence { why }], lines, |line| Ok(TopicLine::Absence(line)))))
        }
        Some(word) => pages_of(&shared.reader, &word.to_lowercase(), part),
        None => all(&shared.reader, part),
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

fn all(reader: &Reader, part: Part) -> ApiResult<Listed<TopicLine>> {
    let mut rows: Vec<TopicRow> = reader.topics().collect::<Result<_, _>>()?;
    rows.retain(|row| row.pages > 0);
    let words: BTreeMap<TopicId, Box<str>> = rows.iter().map(|row| (row.id, row.word.clone())).collect();
    rows.sort_by_key(|row| (Reverse(row.pages), row.id));
    let shared = shared_pages(reader, &rows.iter().map(|row| row.id).collect())?;
    let shown = move |row: TopicRow| {
        let others = shared.get(&row.id).into_iter().flatten();
        TopicLine::Topic(Row {
            id: row.id.0,
            words: others.filter_map(|other| words.get(other)).map(|word| word.to_string()).collect(),
            pages: row.pages,
            holders: row.holders,
            change_rate: row.change_rate(),
            changes: row.changes,
            watched_days: row.watched_days,
            topic: row.word.into(),
        })
    };
    Ok(answer::listed(move |lines| part.write(rows, lines, |row| Ok(shown(row)))))
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
fn pages_of(reader: &Reader, word: &str, part: Part) -> ApiResult<Listed<TopicLine>> {
    let topic = reader.topics().find(|row| row.as_ref().map_or(true, |row| *row.word == *word)).transpose()?;
    let Some(topic) = topic else { return Err(ApiError::not_found(format!("`{word}` is no topic here"))) };
    let mut found: Vec<(f32, PageKey)> = Vec::new();
    for row in reader.categorised() {
        let (page, topics) = row?;
        found.extend(topics.iter().filter(|of| of.topic == topic.id).map(|of| (of.reputation, page)));
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let reader = reader.clone();
    Ok(answer::listed(move |lines| {
        let held =
            found.into_iter().filter_map(|(reputation, page)| Some((reputation, reader.page(page).transpose()?)));
        part.write(held, lines, |(reputation, page)| {
            let page = page?;
            Ok(TopicLine::Page(PageRow {
                url: page.url.to_string(),
                reputation,
                changes: page.changes,
                visits: page.visits,
                last_visit: time(page.last_visit),
            }))
        })
    }))
}
