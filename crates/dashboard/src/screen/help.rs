//! What the screens say and which keys there are.

use askama::Template;
use axum::response::Response;

use super::page::drawn;
use crate::answers::Status;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;

#[derive(Template)]
#[template(path = "help.html")]
struct Help {
    frame: Frame,
}

/// Help is shown also where the crawl cannot be asked.
pub async fn show(reader: Reader) -> Told<Response> {
    let status = reader.one::<Status>(Question::of("status")).await.ok();
    let frame = match &status {
        Some(status) => Frame::of(&reader, "Help", Place::Beside, status),
        None => Frame::bare(&reader, "Help", Place::Beside),
    };
    drawn(&Help { frame })
}
