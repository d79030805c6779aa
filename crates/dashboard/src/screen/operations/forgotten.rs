//! Pages that were erased everywhere and are barred from return, with the reason that was given.

use askama::Template;
use axum::response::Response;
use serde_json::Value;

use super::Tabs;
use crate::answers::Status;
use crate::frame::{Frame, Place};
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
    what: String,
    at: Time,
    reason: String,
    by: String,
    erased: String,
}

pub async fn list(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let times = Times::new(status.now());
    // An API that cannot forget knows no such list.
    let rows = match reader.list::<Value>(Question::of("forgotten").with("limit", ROWS)).await {
        Ok(listed) => listed.rows,
        Err(problem) if problem.is_unknown() => Vec::new(),
        Err(problem) => return Err(problem),
    };
    drawn(&Forgotten {
        frame: Frame::of(&reader, "Forgotten", Place::Operations, &status),
        tabs: Tabs("forgotten"),
        rows: rows.iter().map(|row| shown(row, &times)).collect(),
    })
}

fn shown(row: &Value, times: &Times) -> Row {
    let text = |names: &[&str]| names.iter().find_map(|name| row[*name].as_str()).unwrap_or_default().to_owned();
    Row {
        what: text(&["url", "prefix", "site", "what"]),
        at: times.moment(["at", "moment", "forgotten"].iter().find_map(|name| row[*name].as_str())),
        reason: text(&["reason"]),
        by: text(&["by"]),
        erased: row["pages"].as_u64().map_or_else(String::new, |pages| crate::numbers::counted(pages, "page")),
    }
}
