//! The version that answers for a URL at a moment, or why there is none.

use vernal_model::{Moment, Outcome, Page, Url, Version};
use vernal_repository::{KnownState, Reader, Record, Result};

use super::target::Target;
use crate::memento::{Mementos, rounded};

/// What the archive has of a URL at a moment.
pub(super) enum Found {
    /// The version of exactly that second.
    Version(Box<Held>),
    /// The nearest version is of another moment.
    Elsewhere(Url, Moment),
    /// The page had moved then.
    Moved(Url),
    /// It must not be shown.
    Withheld(&'static str),
    /// There is nothing to show; perhaps at another moment there is.
    Nothing(&'static str, Option<Moment>),
}

pub(super) struct Held {
    pub url: Url,
    pub version: Version,
    pub record: Record,
    pub all: Mementos,
    pub place: usize,
    pub with_scripts: bool,
}

/// Looks for what a request names. Whether scripts are asked for is known only here: a page may have such a query itself.
pub(super) fn find(reader: &Reader, target: &Target) -> Result<Found> {
    if let Some(page) = reader.page_by_url(&target.url)? {
        return of_page(reader, &page, target.moment, false);
    }
    if let Some(bare) = &target.with_scripts
        && let Some(page) = reader.page_by_url(bare)?
    {
        return of_page(reader, &page, target.moment, true);
    }
    Ok(match reader.key_of(&target.url)?.map(|known| known.state) {
        Some(KnownState::Barred) => Found::Withheld("it is barred here"),
        Some(_) => Found::Nothing("it waits for its first visit", None),
        None => Found::Nothing("it is not held", None),
    })
}

fn of_page(reader: &Reader, page: &Page, moment: Moment, with_scripts: bool) -> Result<Found> {
    if reader.document(page.key)?.is_some_and(|document| document.directives.noarchive) {
        return Ok(Found::Withheld("it asked not to be archived"));
    }
    let all = Mementos::of(reader, page)?;
    let nearest = all.nearest(moment);
    let distance = nearest.map(|place| gap(all.all()[place].moment(), moment));
    if let Some((to, away)) = move_nearest(reader, page, moment)?
        && distance.is_none_or(|distance| away < distance)
    {
        return Ok(Found::Moved(to));
    }
    let Some(place) = all.at(moment).or(nearest) else {
        return Ok(Found::Nothing("no visit read it", None));
    };
    let version = all.all()[place].version;
    if version.body().is_none() {
        return Ok(without_body(&all, version));
    }
    if rounded(version.moment) != rounded(moment) {
        return Ok(Found::Elsewhere(page.url.clone(), rounded(version.moment)));
    }
    match reader.record_of(&page.url, version)? {
        Some(record) => {
            let url = page.url.clone();
            Ok(Found::Version(Box::new(Held { url, version, record, all, place, with_scripts })))
        }
        None => Ok(Found::Nothing("its body is not here", nearest_held(&all, version))),
    }
}

fn without_body(all: &Mementos, version: Version) -> Found {
    let held = nearest_held(all, version);
    match (version.is_lost(), held) {
        (true, held) => Found::Nothing("its body is lost", held),
        // The page asks for it no longer, or the body was given up later.
        (false, Some(held)) => Found::Nothing("no body was kept of this version", Some(held)),
        (false, None) => Found::Withheld("it asked not to be archived"),
    }
}

/// The moment nearest to a version at which another has a body.
fn nearest_held(all: &Mementos, version: Version) -> Option<Moment> {
    let held = all.all().iter().filter(|memento| memento.version.number != version.number);
    let held = held.filter(|memento| memento.version.body().is_some());
    held.map(crate::memento::Memento::moment).min_by_key(|moment| gap(*moment, version.moment))
}

/// Where the visit nearest to a moment found the page moved to, and how far away that visit was.
fn move_nearest(reader: &Reader, page: &Page, moment: Moment) -> Result<Option<(Url, i64)>> {
    let moves = reader.visits(page.key)?.into_iter().filter_map(|visit| match visit.outcome {
        Outcome::Moved { to: Some(to), .. } => Some((to, gap(rounded(visit.started), moment))),
        _ => None,
    });
    Ok(moves.min_by_key(|(_, away)| *away))
}

fn gap(one: Moment, other: Moment) -> i64 {
    one.micros().saturating_sub(other.micros()).saturating_abs()
}
