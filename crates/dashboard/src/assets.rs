//! Style, script, icon and fonts: embedded in the binary, under a path that changes with their content, so that browsers may
//! keep them for ever.

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::Xxh3;

struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const WOFF2: &str = "font/woff2";

const ASSETS: [Asset; 7] = [
    Asset { name: "style.css", content_type: CSS, bytes: include_bytes!("../assets/style.css") },
    Asset { name: "vernal.js", content_type: SCRIPT, bytes: include_bytes!("../assets/vernal.js") },
    Asset { name: "icon.svg", content_type: "image/svg+xml", bytes: include_bytes!("../assets/icon.svg") },
    font("fonts/sans-latin.woff2", include_bytes!("../assets/fonts/sans-latin.woff2")),
    font("fonts/sans-cyrillic.woff2", include_bytes!("../assets/fonts/sans-cyrillic.woff2")),
    font("fonts/serif-latin.woff2", include_bytes!("../assets/fonts/serif-latin.woff2")),
    font("fonts/serif-cyrillic.woff2", include_bytes!("../assets/fonts/serif-cyrillic.woff2")),
];

const fn font(name: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, content_type: WOFF2, bytes }
}

/// The path below which all assets lie.
pub fn folder() -> String {
    let mut content = Xxh3::new();
    for asset in &ASSETS {
        content.update(asset.name.as_bytes());
        content.update(asset.bytes);
    }
    format!("/assets/{:016x}", content.digest())
}

/// Under an old path the newest is given, for pages that were open while the binary was replaced.
pub async fn show(Path((_, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = Response::new(Body::from(asset.bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    const STYLE_BYTES_MAX: usize = 40 << 10;
    const SCRIPT_BYTES_MAX: usize = 80 << 10;

    fn packed(name: &str) -> usize {
        let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap();
        let mut gzip = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        gzip.stdin.take().unwrap().write_all(asset.bytes).unwrap();
        gzip.wait_with_output().unwrap().stdout.len()
    }

    #[test]
    fn style_and_script_are_small() {
        let (style, script) = (packed("style.css"), packed("vernal.js"));
        assert!((1..=STYLE_BYTES_MAX).contains(&style), "{style}");
        assert!((1..=SCRIPT_BYTES_MAX).contains(&script), "{script}");
    }

    #[test]
    fn nothing_is_asked_of_a_foreign_origin() {
        for asset in ASSETS.iter().filter(|asset| [CSS, SCRIPT].contains(&asset.content_type)) {
            let text = std::str::from_utf8(asset.bytes).unwrap().replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("://") && !text.contains("@import"), "{}", asset.name);
        }
    }
}
