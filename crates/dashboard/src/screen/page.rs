//! How a template becomes an answer.

use askama::Template;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};

use crate::problem::{Problem, Told};

pub fn drawn(template: &impl Template) -> Told<Response> {
    let html = template.render().map_err(Problem::failed)?;
    let mut response = html.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Ok(response)
}

/// Leads on after a form, so that loading again does not send it again.
pub fn leads_to(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let place = HeaderValue::from_str(own_address(address)).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, place);
    response
}

pub fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// A form that names no deed of its screen.
pub fn unknown_act(act: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("nothing here is called `{act}`"))
}

/// An address that stays here: anything else would lead a reader away in our name.
pub fn own_address(address: &str) -> &str {
    let stays = address.starts_with('/') && !address.starts_with("//") && !address.contains('\\');
    if stays && address.bytes().all(|byte| byte.is_ascii_graphic()) { address } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_nowhere_else() {
        assert_eq!(own_address("/diff?url=http%3A%2F%2Fa"), "/diff?url=http%3A%2F%2Fa");
        for elsewhere in
            ["//evil.example", "http://evil.example", "/\\evil.example", "/\r\nSet-Cookie: a", "", "javascript:1"]
        {
            assert_eq!(own_address(elsewhere), "/", "{elsewhere}");
        }
    }
}
