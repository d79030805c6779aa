//! A page as it was: its bytes come from the archive's own origin, in a frame that may do nothing.

use askama::Template;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use super::page_head::PageHead;
use crate::answers::{Page, Status, Visit};
use crate::frame::{Frame, Place};
use crate::headers::Frames;
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::Times;

/// Visits whose versions can be chosen.
const VISITS_READ: usize = 1_000;
const VERSIONS_SHOWN: usize = 100;

#[derive(Deserialize)]
pub struct Asked {
    url: String,
    version: Option<u32>,
    /// The version that was current then, as RFC 3339.
    at: Option<String>,
}

#[derive(Template)]
#[template(path = "as-it-was.html")]
struct AsItWas {
    frame: Frame,
    head: PageHead,
    url: String,
    says: String,
    versions: Vec<(u32, String, bool)>,
    before: Option<String>,
    after: Option<String>,
    /// Where the archive shows it.
    replay: Option<String>,
    bytes: String,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let page: Page = reader.one(Question::of("page").with("url", &asked.url)).await?;
    let history = Question::of("history").with("url", &page.url).with("limit", VISITS_READ);
    let visits = reader.list::<Visit>(history).await?.rows;
    let kept: Vec<(u32, String)> = kept(&visits);
    let place = chosen(&kept, &asked);
    let Some((number, moment)) = place.and_then(|place| kept.get(place)) else {
        return Err(Problem::new(StatusCode::NOT_FOUND, format!("no such version of {} is kept", page.url)));
    };
    let place = place.unwrap_or_default();
    let times = Times::new(status.now());
    let archive = reader.house.archive.clone();
    let address = |place: usize| {
        let number = kept.get(place)?.0.to_string();
        Some(link("/as-it-was", &[("url", &*page.url), ("version", &number)]))
    };
    let first = place.saturating_sub(VERSIONS_SHOWN / 2);
    let near = kept.iter().skip(first).take(VERSIONS_SHOWN);
    let screen = AsItWas {
        frame: Frame::of(&reader, "As it was", Place::Sites, &status),
        head: PageHead::of(&page, "/as-it-was"),
        says: format!("Version {number}, first seen {}.", times.moment(Some(moment)).words),
        versions: near
            .map(|(own, at)| (*own, format!("{own}, {}", times.moment(Some(at)).words), own == number))
            .collect(),
        before: address(place + 1),
        after: place.checked_sub(1).and_then(address),
        replay: archive.as_ref().and_then(|archive| replay(archive, moment, &page.url)),
        bytes: Question::of("body").with("url", &page.url).with("version", number).address(),
        url: page.url.clone(),
    };
    let mut response = drawn(&screen)?;
    if let Some(archive) = archive {
        response.extensions_mut().insert(Frames(archive));
    }
    Ok(response)
}

/// Versions whose bytes are kept, newest first, with when each was first seen.
fn kept(visits: &[Visit]) -> Vec<(u32, String)> {
    let mut kept: Vec<(u32, String)> = Vec::new();
    for visit in visits {
        let version = visit.version.as_ref().filter(|version| version.archived);
        let Some((version, moment)) = version.and_then(|version| Some((version, version.moment.clone()?))) else {
            continue;
        };
        if kept.last().is_none_or(|(number, _)| *number != version.number) {
            kept.push((version.number, moment));
        }
    }
    kept
}

/// The place of the version that is asked for: by its number, by its time, or the newest.
fn chosen(kept: &[(u32, String)], asked: &Asked) -> Option<usize> {
    match (&asked.version, &asked.at) {
        (Some(number), _) => kept.iter().position(|(own, _)| own == number),
        (None, Some(at)) => {
            let at = crate::times::second_of(at)?;
            kept.iter().position(|(_, moment)| crate::times::second_of(moment).is_some_and(|moment| moment <= at))
        }
        (None, None) => (!kept.is_empty()).then_some(0),
    }
}

/// The address in the archive: fourteen digits of the moment, and the URL.
fn replay(archive: &str, moment: &str, url: &str) -> Option<String> {
    // The archive gives the version that was current in that second; one that began within it is found from the next on.
    let second = crate::times::second_of(moment)? + 1.0;
    let digits = crate::times::written(second, "%Y%m%d%H%M%S");
    Some(format!("{}/{digits}/{url}", archive.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Vec<(u32, String)> {
        vec![
            (3, "2026-05-03T00:00:00.500Z".into()),
            (2, "2026-05-02T00:00:00Z".into()),
            (1, "2026-05-01T00:00:00Z".into()),
        ]
    }

    fn asked(version: Option<u32>, at: Option<&str>) -> Asked {
        Asked { url: String::new(), version, at: at.map(str::to_owned) }
    }

    #[test]
    fn a_version_is_chosen_by_number_or_by_time() {
        assert_eq!(chosen(&kept(), &asked(None, None)), Some(0));
        assert_eq!(chosen(&kept(), &asked(Some(1), None)), Some(2));
        assert_eq!(chosen(&kept(), &asked(None, Some("2026-05-02T12:00:00Z"))), Some(1));
        assert_eq!(chosen(&kept(), &asked(None, Some("2026-04-02T12:00:00Z"))), None);
        assert_eq!(chosen(&kept(), &asked(Some(9), None)), None);
    }

    #[test]
    fn the_archive_is_asked_for_the_second_in_which_the_version_was_there() {
        assert_eq!(
            replay("http://127.0.0.1:8377", "2026-05-03T00:00:00.500Z", "http://a.example/?b=c").unwrap(),
            "http://127.0.0.1:8377/20260503000001/http://a.example/?b=c"
        );
    }
}
