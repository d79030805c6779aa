//! The role that each route needs, declared once and here: reading needs `read`, and everything else is listed.
//!
//! What is not listed and does not read needs `admin`, so that a new route that nobody thought of lets too few in. A test holds
//! the list against the routes that OpenAPI names.

use axum::http::Method;
use serde_json::{Value, json};
use vernal_repository::Role;

/// A route that does more than read, or reads what is not for everybody.
struct Route {
    method: &'static str,
    /// A segment in braces stands for any text.
    path: &'static str,
    role: Role,
}

const fn read(method: &'static str, path: &'static str) -> Route {
    Route { method, path, role: Role::Read }
}

const fn operate(method: &'static str, path: &'static str) -> Route {
    Route { method, path, role: Role::Operate }
}

const fn admin(method: &'static str, path: &'static str) -> Route {
    Route { method, path, role: Role::Admin }
}

const LISTED: &[Route] = &[
    // How far one has read oneself is for everybody to say.
    read("PUT", "/api/v1/reader"),
    operate("PUT", "/api/v1/changes/{id}/mark"),
    operate("POST", "/api/v1/changes/marks"),
    operate("POST", "/api/v1/undo"),
    operate("POST", "/api/v1/noise"),
    operate("POST", "/api/v1/names"),
    operate("POST", "/api/v1/search/rebuild"),
    operate("POST", "/api/v1/seeds"),
    operate("DELETE", "/api/v1/seeds"),
    operate("POST", "/api/v1/pause"),
    operate("POST", "/api/v1/resume"),
    operate("POST", "/api/v1/block"),
    operate("POST", "/api/v1/compact"),
    operate("POST", "/api/v1/watches"),
    operate("POST", "/api/v1/watches/preview"),
    operate("PUT", "/api/v1/watches/{id}"),
    operate("DELETE", "/api/v1/watches/{id}"),
    operate("POST", "/api/v1/watches/{id}/pause"),
    operate("POST", "/api/v1/watches/{id}/resume"),
    operate("POST", "/api/v1/watches/{id}/acknowledge"),
    operate("POST", "/api/v1/deliveries/{id}/again"),
    // The address of a webhook is often all that it takes to write there.
    operate("GET", "/api/v1/routes"),
    operate("GET", "/api/v1/routes/{name}"),
    operate("POST", "/api/v1/routes/{name}/test"),
    operate("POST", "/api/v1/routes/{name}/enable"),
    // Pushes change something even where they are read, as their standards want it.
    operate("GET", "/indexnow"),
    operate("POST", "/indexnow"),
    operate("GET", "/websub"),
    operate("POST", "/websub"),
    admin("POST", "/api/v1/routes"),
    admin("PUT", "/api/v1/routes/{name}"),
    admin("DELETE", "/api/v1/routes/{name}"),
    admin("POST", "/api/v1/routes/{name}/rotate"),
    // What is erased never comes back.
    admin("POST", "/api/v1/forget"),
    admin("DELETE", "/api/v1/forgotten/{id}"),
    admin("GET", "/api/v1/tokens"),
    admin("POST", "/api/v1/tokens"),
    admin("DELETE", "/api/v1/tokens/{name}"),
];

/// The path that needs no token: it says only that the process lives.
pub const OPEN_PATH: &str = "/healthz";

/// What a request needs.
pub fn needed(method: &Method, path: &str) -> Role {
    // HEAD is answered by whatever answers GET.
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let listed = LISTED.iter().find(|route| route.method == method && matches(route.path, path));
    match listed {
        Some(route) => route.role,
        None if matches!(method, "GET" | "OPTIONS") => Role::Read,
        None => Role::Admin,
    }
}

/// Whether a request reads and no more, whoever may send it.
pub fn only_reads(method: &Method, path: &str) -> bool {
    let pushes = ["/indexnow", "/websub"].contains(&path);
    !pushes && is_reading(method)
}

pub fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a path is one of this pattern, as routes are written: `{name}` is one segment, `{*name}` all that are left.
pub fn matches(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(_)) if wanted.starts_with("{*") => return true,
            (Some(wanted), Some(given)) if wanted == given || (wanted.starts_with('{') && !given.is_empty()) => {}
            _ => return false,
        }
    }
}

/// Writes the role of each route, and what the guard may answer, into the description of the API.
pub fn describe(document: &mut Value) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, operations) in paths {
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            let open = path == OPEN_PATH;
            let role = Method::from_bytes(method.to_uppercase().as_bytes()).map(|method| needed(&method, path));
            let (Ok(role), Some(operation)) = (role, operation.as_object_mut()) else { continue };
            operation.insert("security".into(), if open { json!([]) } else { json!([{ "token": [role.name()] }]) });
            let Some(answers) = operation.get_mut("responses").and_then(Value::as_object_mut) else { continue };
            let mut told = vec![("429", "Too many requests; Retry-After says when to come again")];
            if !open {
                told.push(("401", "A token is needed, or this one opens nothing"));
                told.push((
                    "403",
                    "The role of this token is too small, or the request comes from a page that may not ask",
                ));
            }
            if super::places::is_expensive(path) {
                told.push(("503", "All places for such questions are taken; Retry-After says when to come again"));
            }
            let form = answers.get("400").and_then(|answer| answer.get("content")).cloned();
            for (status, says) in told {
                let mut answer = json!({ "description": says });
                if let Some(form) = &form {
                    answer["content"] = form.clone();
                }
                answers.entry(status).or_insert(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Method and path of every operation of the API's own description.
    fn described() -> BTreeSet<(String, String)> {
        let document = crate::openapi::document();
        let operations = document["paths"].as_object().unwrap().iter().flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
        });
        operations.collect()
    }

    #[test]
    fn every_route_that_does_more_than_read_has_its_role_declared_once() {
        let described = described();
        assert!(described.len() > 40, "the description is not empty");
        for (method, path) in described.iter().filter(|(method, _)| method != "GET") {
            let declared = LISTED.iter().filter(|route| route.method == method && route.path == path).count();
            assert_eq!(declared, 1, "{method} {path} is declared {declared} times in LISTED");
        }
        for route in LISTED.iter().filter(|route| route.path.starts_with("/api/")) {
            let named = (route.method.to_owned(), route.path.to_owned());
            assert!(described.contains(&named), "{named:?} has a role and is no route");
        }
    }

    #[test]
    fn each_operation_is_described_with_the_role_that_the_guard_wants() {
        let document = crate::openapi::document();
        for (method, path) in described() {
            let operation = &document["paths"][&path][method.to_lowercase()];
            let role = needed(&method.parse().unwrap(), &path).name();
            let wanted = if path == OPEN_PATH { json!([]) } else { json!([{ "token": [role] }]) };
            assert_eq!(operation["security"], wanted, "{method} {path}");
            assert!(operation["responses"]["429"].is_object(), "{method} {path}");
            assert_eq!(operation["responses"]["401"].is_object(), path != OPEN_PATH, "{method} {path}");
        }
    }

    #[test]
    fn reading_needs_read_acts_need_operate_tokens_and_the_unknown_need_admin() {
        let role = |method: Method, path: &str| needed(&method, path);
        for path in ["/", "/metrics", "/api/v1/pages/http%3A%2F%2Fa%2F/why", "/api/v1/changes/stream", "/nowhere"] {
            assert_eq!(role(Method::GET, path), Role::Read, "{path}");
            assert_eq!(role(Method::HEAD, path), Role::Read, "{path}");
        }
        assert_eq!(role(Method::POST, "/api/v1/pause"), Role::Operate);
        assert_eq!(role(Method::DELETE, "/api/v1/seeds"), Role::Operate);
        assert_eq!(role(Method::GET, "/indexnow"), Role::Operate);
        assert_eq!(role(Method::GET, "/api/v1/tokens"), Role::Admin);
        assert_eq!(role(Method::HEAD, "/api/v1/tokens"), Role::Admin);
        assert_eq!(role(Method::DELETE, "/api/v1/tokens/ci"), Role::Admin);
        assert_eq!(role(Method::PATCH, "/api/v1/settings"), Role::Admin);
        assert_eq!(role(Method::POST, "/api/v1/forget"), Role::Admin);
        assert_eq!(role(Method::from_bytes(b"PURGE").unwrap(), "/"), Role::Admin);
    }

    #[test]
    fn a_segment_in_braces_is_one_segment_that_is_not_empty() {
        assert!(matches("/a/{x}/c", "/a/b%2Fb/c") && matches("/a", "/a"));
        assert!(matches("/m/{*x}", "/m/http://a/b") && !matches("/m/{*x}", "/m") && !matches("/m/{*x}", "/n/a"));
        for path in ["/a//c", "/a/b", "/a/b/c/d", "/b/b/c", "/a/b/c/"] {
            assert!(!matches("/a/{x}/c", path), "{path}");
        }
    }
}
