//! Pages that were erased everywhere and are barred from return, with the reason that was given.

use askama::Template;
use axum::response::Response;

use super::Tabs;
use crate::answers::{ForgottenEntry, Status};
use crate::frame::{Frame, Place};
use crate::numbers::count;
use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;
use crate::screen::page::drawn;
use crate::times::{Time, Times};

const ROWS: usize = 200;

#[derive(Template)]
#[template(path = "operations-forgotten.html")]
struct Forgotten {
    frame: Frame,
    tabs: Tabs,
    rows: Vec<Row>,
}

struct Row {
    id: u64,
    rule: String,
    of: String,
    reason: String,
    pages: String,
    versions: String,
    since: Time,
    /// Its pages may come again.
    lifted: Option<Time>,
}

pub async fn list(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let times = Times::new(status.now());
    // An API that cannot forget knows no such list.
    let rows = match reader.list::<ForgottenEntry>(Question::of("forgotten").with("limit", ROWS)).await {
        Ok(listed) => listed.rows,
        Err(problem) if problem.is_unknown() => Vec::new(),
        Err(problem) => return Err(problem),
    };
    drawn(&Forgotten {
        frame: Frame::of(&reader, "Forgotten", Place::Operations, &status),
        tabs: Tabs("forgotten"),
        rows: rows.into_iter().map(|entry| shown(entry, &times)).collect(),
    })
}

fn shown(entry: ForgottenEntry, times: &Times) -> Row {
    Row {
        id: entry.id,
        rule: entry.rule,
        of: entry.of,
        reason: entry.reason,
        pages: count(entry.pages),
        versions: count(entry.versions),
        since: times.moment(entry.since.as_deref()),
        lifted: entry.lifted.map(|moment| times.moment(Some(&moment))),
    }
}
