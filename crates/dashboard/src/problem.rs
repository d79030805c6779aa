//! What went wrong with a question, in words for people.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// A screen or a part of one that cannot be shown.
#[derive(Clone, Debug)]
pub struct Problem {
    pub status: StatusCode,
    /// One line that says what is wrong, as the API has it.
    pub line: String,
}

pub type Told<T> = Result<T, Problem>;

impl Problem {
    pub fn new(status: StatusCode, line: impl std::fmt::Display) -> Problem {
        Problem { status, line: line.to_string() }
    }

    pub fn failed(line: impl std::fmt::Display) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, line)
    }

    pub fn asks_for_token(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }

    pub fn is_unknown(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// What happened, as a heading.
    pub fn act(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "This is not held here",
            StatusCode::BAD_REQUEST => "This cannot be asked so",
            StatusCode::UNAUTHORIZED => "A token is needed",
            StatusCode::FORBIDDEN => "This is not allowed",
            StatusCode::CONFLICT => "This cannot be done now",
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "Too much is asked at once",
            _ => "This could not be read",
        }
    }

    /// What to do about it.
    pub fn cure(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "Look for it by its words or its URL, or go back to the overview.",
            StatusCode::BAD_REQUEST => "Correct what the line names; it comes from the address of this screen.",
            StatusCode::UNAUTHORIZED => "Give a token, and you come back here.",
            StatusCode::FORBIDDEN => "Ask whoever runs this crawl for a token with a larger role.",
            StatusCode::CONFLICT => "The line says what stands in the way.",
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                "Load this screen again in some seconds."
            }
            _ => "Load this screen again. If it stays, `vernal verify` looks at everything on disk.",
        }
    }
}

/// The outermost layer draws it, because it knows the reader.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
