//! What is shown when a question fails: what happened, the line of the API, and what to do. The frame is drawn if it can be.

use askama::Template;
use axum::response::{IntoResponse, Response};

use super::page::drawn;
use crate::answers::Status;
use crate::frame::{Frame, Place};
use crate::problem::Problem;
use crate::question::Question;
use crate::reader::Reader;

#[derive(Template)]
#[template(path = "problem.html")]
struct Wrong<'a> {
    frame: Frame,
    problem: &'a Problem,
}

pub async fn wrong(reader: &Reader, problem: &Problem) -> Response {
    let status = reader.one::<Status>(Question::of("status")).await.ok();
    let frame = match &status {
        Some(status) => Frame::of(reader, problem.act(), Place::Beside, status),
        None => Frame::bare(reader, problem.act(), Place::Beside),
    };
    let mut response = match drawn(&Wrong { frame, problem }) {
        Ok(response) => response,
        Err(problem) => problem.line.into_response(),
    };
    *response.status_mut() = problem.status;
    response
}
