//! What people say of a change: seen, to act on, noise; and how that is undone.

use axum::extract::Path;
use axum::http::Method;
use axum::response::Response;
use serde_json::json;

use super::page::{leads_to, unknown_act};
use crate::fields::Fields;
use crate::problem::Told;
use crate::question::{Question, segment};
use crate::reader::Reader;

const STATES: [&str; 4] = ["seen", "act", "noise", "none"];

/// Puts a mark on a change, and leads back to where it can be undone.
pub async fn mark(reader: Reader, Path(id): Path<String>, fields: Fields) -> Told<Response> {
    let state = fields.one("state");
    if !STATES.contains(&state) {
        return Err(unknown_act(state));
    }
    let asked = Question::of(&format!("changes/{}/mark", segment(&id)));
    let done = reader.send(Method::PUT, asked, Some(&json!({ "state": state }))).await?;
    let back = fields.some("back").unwrap_or("/changes");
    Ok(leads_to(&with_undo(back, done["undo"].as_str())))
}

pub async fn undo(reader: Reader, fields: Fields) -> Told<Response> {
    reader.send(Method::POST, Question::of("undo"), Some(&json!({ "undo": fields.one("undo") }))).await?;
    Ok(leads_to(fields.some("back").unwrap_or("/changes")))
}

fn with_undo(back: &str, undo: Option<&str>) -> String {
    let sign = if back.contains('?') { '&' } else { '?' };
    undo.map_or_else(|| back.to_owned(), |undo| format!("{back}{sign}undo={undo}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_can_be_undone_where_the_reader_was() {
        assert_eq!(with_undo("/changes", Some("u8")), "/changes?undo=u8");
        assert_eq!(with_undo("/changes?site=a", Some("u8")), "/changes?site=a&undo=u8");
        assert_eq!(with_undo("/changes", None), "/changes");
    }
}
