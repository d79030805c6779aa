//! Every visit to one page, what it found, and the versions that they made; newest first.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Change, DecidedBy, Event, EventKind, Location, Moment, Page, Version, Visit};

use super::answer::{self, ApiError, ApiResult, Listed, UnreadRows};
use super::change::ChangeJson;
use super::diff::{self, RulesOf};
use super::folds::Folds;
use super::nouns::Nouns;
use super::page::{self, VersionRow, version_row};
use super::paging::Part;
use super::parameters::{Parameters, url};
use super::shared::{Shared, time};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VisitRow")]
pub struct Row {
    started: Option<String>,
    finished: Option<String>,
    outcome: &'static str,
    status: Option<u16>,
    detail: String,
    version: Option<VersionRow>,
    decided_by: Option<DecidedBy>,
    address: Option<std::net::IpAddr>,
    wire_bytes: u64,
    record: Option<Location>,
    /// Somebody else made it, and an import brought it here.
    imported: bool,
    /// It was ordered to learn what is noise.
    second_look: bool,
    /// Whether a kind of change that counts for the schedule was found; null where nothing was compared.
    counted: Option<bool>,
    /// Whether something was left when noise was set aside; null where nothing was compared.
    changed: Option<bool>,
    /// What the feed tells of this visit; null where it has nothing to tell.
    event: Option<EventKind>,
    /// It differs as many pages of its site do, and the site's one event tells of that.
    folded: bool,
    /// The change happened between these two visits.
    seen_same: Option<String>,
    seen_different: Option<String>,
    /// The verdict; null where there is none.
    change: Option<ChangeJson>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryQuery {
    /// The page
    url: String,
    /// At most so many rows
    limit: Option<usize>,
    /// Where an earlier part of the list ended
    after: Option<String>,
    /// The rules of the visit's time, or those of today.
    #[serde(default)]
    rules: RulesOf,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("history", "Every visit to one page, newest first, with the versions that they made", list)
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<HistoryQuery>,
) -> ApiResult<Listed<Row>> {
    let page = page::of(&shared, &url(&asked.url)?)?;
    let visits = shared.reader.visits(page.key)?;
    let versions = match asked.rules {
        RulesOf::Then => Vec::new(),
        RulesOf::Now => shared.reader.versions(page.key)?,
    };
    let part = Part::read(asked.limit, asked.after.as_deref())?;
    let reader = shared.reader.clone();
    Ok(answer::listed(move |lines| {
        let (mut folds, mut unread_rows) = (Folds::default(), UnreadRows::default());
        let events = page::other_events(&reader, page.key)?.into_iter();
        let mut events: HashMap<Moment, Event> = events.map(|event| (event.seen_different, event)).collect();
        part.write(visits.into_iter().rev(), lines, |visit| {
            let mut event = events.remove(&visit.started);
            if asked.rules == RulesOf::Now
                && let Some(event) = &mut event
            {
                let unread = judge_today(&shared, &page, &versions, event).err().and_then(|error| error.unread());
                unread.iter().for_each(|line| unread_rows.note(line));
            }
            let is_folded = event.as_ref().map(|event| folds.is_folded(&reader, event)).transpose()?;
            Ok(row(visit, event, is_folded.unwrap_or_default()))
        })?;
        unread_rows.end()
    }))
}

/// Puts the verdict by the rules of today into an event. Where a version has no body any more, the verdict of then stays.
fn judge_today(shared: &Shared, page: &Page, versions: &[Version], event: &mut Event) -> Result<(), ApiError> {
    let numbered = |number: Option<u32>| versions.iter().find(|version| Some(version.number) == number).copied();
    let (Some(from), Some(to)) = (numbered(event.previous), numbered(event.version)) else { return Ok(()) };
    if event.change.kinds.is_empty() {
        return Ok(());
    }
    let change = diff::judged_today(shared, page, from, to)?;
    let flapping = event.change.flapping;
    event.change = Change { flapping, ..change };
    Ok(())
}

fn row(visit: Visit, event: Option<Event>, is_folded: bool) -> Row {
    let is_first = visit.version.is_some_and(|version| version.number == 1);
    let is_other = visit.version.is_some() && !is_first && visit.decided_by != Some(DecidedBy::Nothing);
    // Folders from before every version had an event have none of folded ones.
    let folded = is_folded || is_other && event.is_none();
    let compared = event.as_ref().filter(|event| !event.change.kinds.is_empty());
    let changed = match (&visit.decided_by, compared) {
        (_, Some(event)) => Some(event.change.is_change()),
        (Some(_), None) => Some(folded),
        (None, None) => None,
    };
    Row {
        started: time(visit.started),
        finished: time(visit.finished),
        outcome: visit.outcome.name(),
        status: visit.outcome.status(),
        detail: visit.outcome.detail(),
        version: visit.version.as_ref().map(version_row),
        decided_by: visit.decided_by,
        address: visit.address,
        wire_bytes: visit.wire_bytes,
        record: visit.record,
        imported: visit.is_imported(),
        second_look: visit.second_look,
        counted: visit.changed,
        changed,
        event: event.as_ref().map(|event| event.kind),
        folded,
        seen_same: compared.and_then(|event| event.seen_same).and_then(time),
        seen_different: compared.and_then(|event| time(event.seen_different)),
        change: compared.map(|event| ChangeJson::of(event.change.clone())),
    }
}
