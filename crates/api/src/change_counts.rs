//! How many events there are of each kind, degree, site, tag and mark.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{self, ApiError, ApiResult, One, StreamError};
use super::changes::{ChangesQuery, FeedReader};
use super::event_json::EventAnswer;
use super::marks::Asking;
use super::nouns::Nouns;
use super::parameters::Parameters;
use super::shared::Shared;

/// Events that one answer counts, the newest first: a few seconds of work.
const COUNTED_MAX: u64 = 200_000;
/// Names that one answer gives of sites or tags, those with most events.
const NAMES_MAX: usize = 1_000;

/// What events are counted by.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CountedBy {
    Event,
    Kind,
    Degree,
    Site,
    Tag,
    Mark,
}

const BY: [CountedBy; 6] =
    [CountedBy::Event, CountedBy::Kind, CountedBy::Degree, CountedBy::Site, CountedBy::Tag, CountedBy::Mark];

#[derive(Serialize, JsonSchema)]
pub struct CountsAnswer {
    total: u64,
    /// Whether every event was counted, and not only the newest.
    exact: bool,
    #[serde(flatten)]
    by: BTreeMap<CountedBy, BTreeMap<String, u64>>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/changes/count", "How many events there are by event, kind, degree, site, tag and mark", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Parameters(asked): Parameters<ChangesQuery>,
) -> ApiResult<One<CountsAnswer>> {
    asked.refuse_but("a count", &["by", "mark"])?;
    let by = read_by(asked.by.as_deref())?;
    let (start, filter) = asked.read_for(&shared, &asking)?;
    let limit = asked.limit.map_or(COUNTED_MAX, |limit| COUNTED_MAX.min(limit as u64));
    let counted = answer::on_blocking_thread(move || {
        let seeds = shared.seeds()?;
        let filter = super::event_filter::EventFilter { brief: true, ..filter };
        let mut counts =
            CountsAnswer { total: 0, exact: true, by: by.iter().map(|by| (*by, BTreeMap::new())).collect() };
        let mut feed = FeedReader::new(&shared, &seeds, &filter);
        feed.back_from((start, vernal_repository::Cursor(u64::MAX)), &mut |rows| {
            counts.exact = counts.total < limit;
            if counts.exact {
                rows.iter().for_each(|row| counts.count(row));
            }
            Ok(counts.exact)
        })
        .map_err(StreamError::into_api)?;
        counts.by.values_mut().for_each(keep_most);
        Ok(counts)
    })
    .await?;
    Ok(answer::value(&counted))
}

fn read_by(text: Option<&str>) -> Result<Vec<CountedBy>, ApiError> {
    let Some(text) = text else { return Ok(BY.to_vec()) };
    let named = |name: &str| {
        serde_json::from_value(serde_json::json!(name.trim())).map_err(|_| {
            ApiError::bad_request(format!(
                "`{name}` is nothing to count by: give event, kind, degree, site, tag or mark"
            ))
        })
    };
    text.split(',').map(named).collect()
}

impl CountsAnswer {
    fn count(&mut self, row: &EventAnswer) {
        self.total += 1;
        for (by, counts) in &mut self.by {
            let names: Vec<String> = match by {
                CountedBy::Event => vec![row.event.name().to_owned()],
                CountedBy::Kind => row.change.left.iter().map(|kind| kind.name().to_owned()).collect(),
                CountedBy::Degree => vec![row.change.degree.name().to_owned()],
                CountedBy::Site => vec![row.site.clone()],
                CountedBy::Tag => row.tags.clone(),
                CountedBy::Mark => {
                    vec![row.mark.as_ref().map_or("none", |mark| mark.state().name()).to_owned()]
                }
            };
            names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
        }
    }
}

/// Leaves the names with most events.
fn keep_most(counts: &mut BTreeMap<String, u64>) {
    if counts.len() > NAMES_MAX {
        let mut sorted: Vec<u64> = counts.values().copied().collect();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let least = sorted[NAMES_MAX - 1];
        counts.retain(|_, count| *count >= least);
    }
}
