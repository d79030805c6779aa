//! Marks that people set on events, and how far each of them has read.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_repository::{Cursor, EventId};
use vernal_watch::marks::MARKED_AT_ONCE_MAX;
use vernal_watch::{Mark, MarkState, Marks};

use super::answer::{self, ApiError, ApiResult, One, StreamError};
use super::changes::{ChangesQuery, FeedReader};
use super::event_filter::EventFilter;
use super::nouns::Nouns;
use super::parameters::{Given, Parameters};
use super::shared::{Shared, time};

/// The reader of whoever asks through the socket of the data folder or in process.
const LOCAL: &str = "local";

/// Who asks: the name of their token. The guard of the listener says so; through the socket it is the owner of the folder.
#[derive(Clone, Debug)]
pub struct Asking(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let known = parts.extensions.get::<Asking>().cloned();
        Ok(known.unwrap_or_else(|| Asking(LOCAL.to_owned())))
    }
}

/// What is put on an event.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkGiven {
    Seen,
    Act,
    Noise,
    /// Takes the mark away.
    None,
}

/// Which marks are asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkAsked {
    Seen,
    Act,
    Noise,
    /// Without a mark.
    None,
    /// Without a mark, and behind what the reader has seen (`/api/v1/reader`).
    Unseen,
}

impl MarkAsked {
    pub fn takes(self, mark: Option<MarkState>) -> bool {
        match self {
            MarkAsked::Seen => mark == Some(MarkState::Seen),
            MarkAsked::Act => mark == Some(MarkState::Act),
            MarkAsked::Noise => mark == Some(MarkState::Noise),
            MarkAsked::None | MarkAsked::Unseen => mark.is_none(),
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventMark")]
pub struct MarkJson {
    state: MarkState,
    /// The token of whoever set it.
    by: String,
    at: Option<String>,
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfEvent {
    /// The id of an event, such as e12-9
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkRequest {
    state: MarkGiven,
    note: Option<String>,
}

/// Events by their ids, or all that a list with this filter has up to a cursor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarksRequest {
    #[serde(default)]
    events: Vec<String>,
    /// The last event, by its cursor
    until: Option<String>,
    /// The parameters of `/api/v1/changes`
    filter: Option<ChangesQuery>,
    state: MarkGiven,
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// As the act answered it, such as u81
    undo: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReaderRequest {
    /// The cursor of the last event that was seen
    seen_until: String,
}

#[derive(Serialize, JsonSchema)]
pub struct MarkedAnswer {
    id: String,
    mark: Option<MarkJson>,
    undo: String,
}

#[derive(Serialize, JsonSchema)]
pub struct MarkedManyAnswer {
    marked: usize,
    /// Null where nothing was marked
    undo: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct UndoneAnswer {
    undone: String,
    /// Events that have their mark of before again. Those that were marked anew since keep the new one.
    events: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct ReaderAnswer {
    /// The name of the token
    reader: String,
    /// Null where nothing was said yet
    seen_until: Option<String>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .put(
            "/api/v1/changes/{id}/mark",
            "Marks an event as seen, to be acted on or noise; none takes the mark away",
            one,
        )
        .post("/api/v1/changes/marks", "Marks events by their ids, or all up to a cursor that a filter gives", many)
        .post("/api/v1/undo", "Undoes an act on marks", undo)
        .get("/api/v1/reader", "Up to where the bearer of this token has read", show_reader)
        .put("/api/v1/reader", "Says up to where the bearer of this token has read", change_reader)
}

impl Shared {
    pub(super) fn marks(&self) -> Result<Arc<Mutex<Marks>>, ApiError> {
        Ok(self.alerting()?.marks()?)
    }

    /// The mark of an event, as it is shown.
    pub(super) fn mark_of(&self, id: &str) -> Option<MarkJson> {
        let marks = self.marks().ok()?;
        locked(&marks).of(id).map(MarkJson::of)
    }

    /// Up to where the one who asks has read.
    pub(super) fn read_until(&self, asking: &Asking) -> Result<Cursor, ApiError> {
        Ok(locked(&self.marks()?).read_until(&asking.0).unwrap_or(Cursor::START))
    }
}

fn locked(marks: &Arc<Mutex<Marks>>) -> MutexGuard<'_, Marks> {
    marks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MarkJson {
    pub fn state(&self) -> MarkState {
        self.state
    }

    fn of(mark: &Mark) -> MarkJson {
        MarkJson { state: mark.state, by: mark.by.clone(), at: time(mark.at), note: mark.note.clone() }
    }
}

fn mark(shared: &Shared, asking: Asking, state: MarkGiven, note: Option<String>) -> Result<Option<Mark>, ApiError> {
    let state = match state {
        MarkGiven::Seen => MarkState::Seen,
        MarkGiven::Act => MarkState::Act,
        MarkGiven::Noise => MarkState::Noise,
        MarkGiven::None => return Ok(None),
    };
    let note = note.filter(|note| !note.trim().is_empty());
    Ok(Some(Mark { state, by: asking.0, at: shared.alerting()?.now(), note }))
}

/// The id as the feed spells it, of an event that there is.
fn known(shared: &Shared, id: &str) -> Result<String, ApiError> {
    let read: EventId = id.strip_prefix('e').unwrap_or(id).parse().map_err(ApiError::bad_request)?;
    match shared.reader.event(read)? {
        Some((_, id, _)) => Ok(format!("e{id}")),
        None => Err(ApiError::not_found(format!("there is no event {id}"))),
    }
}

async fn one(
    State(shared): State<Arc<Shared>>,
    Parameters(OfEvent { id }): Parameters<OfEvent>,
    asking: Asking,
    Given(request): Given<MarkRequest>,
) -> ApiResult<One<MarkedAnswer>> {
    let answered = answer::on_blocking_thread(move || {
        let id = known(&shared, &id)?;
        let mark = mark(&shared, asking, request.state, request.note)?;
        let undo = locked(&shared.marks()?).set(vec![id.clone()], mark)?;
        Ok(MarkedAnswer { mark: shared.mark_of(&id), id, undo: format!("u{undo}") })
    });
    Ok(answer::value(&answered.await?))
}

async fn many(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Given(request): Given<MarksRequest>,
) -> ApiResult<One<MarkedManyAnswer>> {
    let answered = answer::on_blocking_thread(move || {
        let events = chosen(&shared, &asking, &request)?;
        if events.is_empty() {
            return Ok(MarkedManyAnswer { marked: 0, undo: None });
        }
        let marked = events.len();
        let mark = mark(&shared, asking, request.state, request.note)?;
        let undo = locked(&shared.marks()?).set(events, mark)?;
        Ok(MarkedManyAnswer { marked, undo: Some(format!("u{undo}")) })
    });
    Ok(answer::value(&answered.await?))
}

/// The ids of the events that are meant.
fn chosen(shared: &Shared, asking: &Asking, request: &MarksRequest) -> Result<Vec<String>, ApiError> {
    let by_list = request.until.is_some() || request.filter.is_some();
    if by_list != request.events.is_empty() {
        return Err(ApiError::bad_request("give the `events`, or `until` and a `filter`"));
    }
    if !by_list {
        if request.events.len() > MARKED_AT_ONCE_MAX {
            return Err(ApiError::bad_request(format!("mark at most {MARKED_AT_ONCE_MAX} events at once")));
        }
        let mut events =
            request.events.iter().map(|id| known(shared, id)).collect::<Result<Vec<String>, ApiError>>()?;
        events.sort_unstable();
        events.dedup();
        return Ok(events);
    }
    // Events that come while somebody reads were not seen by them.
    let until = request.until.as_deref().ok_or_else(|| {
        ApiError::bad_request(
            "`until` says up to which event, by its cursor: others may have come since the list was read",
        )
    })?;
    let until: Cursor = until.parse().map_err(ApiError::bad_request)?;
    let nothing = ChangesQuery::default();
    let query = request.filter.as_ref().unwrap_or(&nothing);
    query.refuse_but("a filter", &["mark"])?;
    let (start, filter) = query.read_for(shared, asking)?;
    let filter = EventFilter { brief: true, ..filter };
    let (seeds, mut events, mut is_all) = (shared.seeds()?, Vec::new(), true);
    let before = Cursor(until.0.saturating_add(1));
    FeedReader::new(shared, &seeds, &filter)
        .back_from((start, before), &mut |rows| {
            events.extend(rows.into_iter().map(|row| row.id).take(1));
            is_all = events.len() <= MARKED_AT_ONCE_MAX;
            Ok(is_all)
        })
        .map_err(StreamError::into_api)?;
    match is_all {
        true => Ok(events),
        false => Err(ApiError::bad_request(format!(
            "these are more than {MARKED_AT_ONCE_MAX} events: give a narrower filter, or say how far you have read \
             (PUT /api/v1/reader)"
        ))),
    }
}

async fn undo(
    State(shared): State<Arc<Shared>>,
    Given(UndoRequest { undo }): Given<UndoRequest>,
) -> ApiResult<One<UndoneAnswer>> {
    let number = undo.strip_prefix('u').and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| ApiError::bad_request(format!("`{undo}` names no act: give one such as u81")))?;
    let answered = answer::on_blocking_thread(move || Ok(locked(&shared.marks()?).undo(number)?));
    Ok(answer::value(&UndoneAnswer { events: answered.await?, undone: undo }))
}

async fn show_reader(State(shared): State<Arc<Shared>>, asking: Asking) -> ApiResult<One<ReaderAnswer>> {
    let until = locked(&shared.marks()?).read_until(&asking.0);
    Ok(answer::value(&ReaderAnswer { reader: asking.0, seen_until: until.map(|until| until.to_string()) }))
}

async fn change_reader(
    State(shared): State<Arc<Shared>>,
    asking: Asking,
    Given(request): Given<ReaderRequest>,
) -> ApiResult<One<ReaderAnswer>> {
    let until: Cursor = request.seen_until.parse().map_err(ApiError::bad_request)?;
    let end = shared.reader.cursor();
    if until > end {
        return Err(ApiError::bad_request(format!("cursor {until} is not of this repository, which is at {end}")));
    }
    let reader = asking.0.clone();
    let set = answer::on_blocking_thread(move || Ok(locked(&shared.marks()?).set_read_until(&reader, until)?));
    set.await?;
    Ok(answer::value(&ReaderAnswer { reader: asking.0, seen_until: Some(until.to_string()) }))
}
