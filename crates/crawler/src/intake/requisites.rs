//! Requisites of a page: the images, scripts and style sheets that it uses. A reader sees or feels their changes, but no mark of the
//! page shows them.
//!
//! They are fetched where the setting `requisites` asks for it, as pages of the repository with visits and versions of their own.
//! The feed does not tell them as pages: a change is told as one of the page on which the requisite was found. Other pages
//! that use it name it when they have a change of their own, as they do with files that were visited for another reason.

use vernal_model::{
    Change, DecidedBy, Degree, DocumentRow, Event, EventKind, Found, Kind, Kinds, Link, LinkKind, Note, Outcome, Page,
    PageState, Report, Url, Version, Via,
};

use super::discovery::{Recent, is_followed};
use super::readable::size_shown;
use crate::Result;
use crate::core::Core;
use crate::settings::Requisites;

/// Requisites that one version of a page adds to those that are fetched, or that are looked up for it, each once. Pages with more name
/// one picture in many sizes.
const REQUISITES_MAX: usize = 64;

/// What is said of one that is no longer there.
const GONE: &str = "gone";

/// The kind of change that a requisite of this kind of link makes.
pub(crate) fn kind_of(link: LinkKind) -> Option<Kind> {
    match link {
        LinkKind::Image => Some(Kind::Content),
        LinkKind::Style => Some(Kind::Presentation),
        LinkKind::Script => Some(Kind::Behaviour),
        _ => None,
    }
}

/// The part of the page, as a note names it.
fn part_of(link: LinkKind) -> &'static str {
    match link {
        LinkKind::Style => "style sheet bytes",
        LinkKind::Script => "script bytes",
        _ => "image bytes",
    }
}

/// The requisites that a page names and that are to be fetched: those of its own site, if any.
pub(super) fn named(report: &Report, page: &Page, wanted: Requisites, recent: &mut Recent) -> Vec<Found> {
    let document = report.document.as_ref().filter(|_| wanted == Requisites::Site);
    let links = document.map_or(&[][..], |document| &document.links);
    let is_ours = |link: &&Link| is_of_site(link, &page.url);
    let found = links.iter().filter(is_ours).filter(|link| !recent.met(link.target.fingerprint()));
    let found = found.take(REQUISITES_MAX).map(|link| Found {
        url: link.target.clone(),
        via: Via::Requisite,
        // It is as far from the seeds as the page that it belongs to.
        depth: page.depth,
        found_on: Some(page.key),
        forward: 0,
    });
    found.collect()
}

/// Whether a link names a requisite that lies on the site of the page.
pub(crate) fn is_of_site(link: &Link, page: &Url) -> bool {
    kind_of(link.kind).is_some() && link.target.site_text() == page.site_text()
}

/// Notes the requisites whose bytes changed between the held version and this answer.
pub(super) fn note_requisites(
    core: &Core,
    before: &Page,
    old: &DocumentRow,
    report: &Report,
    change: &mut Change,
) -> Result<()> {
    let Some(since) = before.version.map(|version| version.moment) else { return Ok(()) };
    let was_there = |url: &Url| {
        let target = url.fingerprint();
        old.links.iter().any(|link| kind_of(link.kind).is_some() && link.target == target)
    };
    let Some(document) = &report.document else { return Ok(()) };
    let links = document.links.iter().filter(|link| kind_of(link.kind).is_some() && was_there(&link.target));
    // Each with what it shows, as the page says.
    let mut links: Vec<(&Url, LinkKind, &str)> =
        links.map(|link| (&link.target, link.kind, document.anchor(link).trim())).collect();
    links.sort_unstable();
    links.dedup_by_key(|(url, ..)| *url);
    for (url, link, shows) in links.into_iter().take(REQUISITES_MAX) {
        let (Some(kind), Some(requisite)) = (kind_of(link), core.work.page_by_url(url)?) else { continue };
        let was_told = core.settings.requisites == Requisites::Site && requisite.found_on == Some(before.key);
        if was_told || requisite.version.is_none_or(|version| version.moment <= since) {
            continue;
        }
        let versions = core.work.versions(requisite.key)?;
        // A requisite is first visited after the page that names it.
        let then = versions.iter().rfind(|version| version.moment <= since).or(versions.first());
        let Some(then) = then else { continue };
        let Some(now) = versions.last().filter(|now| now.payload != then.payload) else { continue };
        let size = |version: &Version| size_shown(version.body_bytes as usize);
        let shows = if shows.is_empty() { String::new() } else { format!(" ({shows})") };
        let others = if size(then) == size(now) { ", other bytes" } else { "" };
        change.kinds.insert(kind);
        change.left.insert(kind);
        change.notes.push(Note {
            kind,
            what: part_of(link).into(),
            before: Some(format!("{url}{shows}, {}", size(then)).into()),
            after: Some(format!("{url}{shows}, {}{others}", size(now)).into()),
        });
    }
    Ok(())
}

/// The page to which a requisite belongs.
pub(super) struct User {
    page: Page,
    row: DocumentRow,
    link: LinkKind,
}

/// The page that tells the changes of this one, if this is a requisite: the page on which it was found, as long as that page is
/// held and uses it. `None` for a page in its own right, which a person seeded or the other page links to.
pub(super) fn user_of(core: &Core, page: &Page) -> Result<Option<User>> {
    let found_on = page.found_on.filter(|_| core.settings.requisites == Requisites::Site);
    let Some(key) = found_on.filter(|key| key.partition == page.key.partition) else { return Ok(None) };
    if core.scope.seed_at(&page.url).is_some() {
        return Ok(None);
    }
    let is_told = |user: &Page| user.state == PageState::Held && !matches!(user.last_outcome, Outcome::Blocked { .. });
    let Some(user) = core.work.page(key)?.filter(is_told) else { return Ok(None) };
    let Some(row) = core.work.document(key)? else { return Ok(None) };
    let target = page.url.fingerprint();
    let links = || row.links.iter().filter(|link| link.target == target);
    let is_page = links().any(|link| is_followed(link.kind, link.rel));
    let link = links().map(|link| link.kind).find(|&kind| kind_of(kind).is_some());
    Ok(link.filter(|_| !is_page).map(|link| User { page: user, row, link }))
}

impl User {
    /// What the feed says of the page that uses it, instead of the event of the requisite. Where nothing changed that a reader would
    /// see or feel, it says nothing.
    pub(super) fn event(&self, requisite: &Event) -> Option<Event> {
        let User { page, row, link } = self;
        let kind = kind_of(*link)?;
        let sizes = requisite.change.notes.iter().find(|note| note.kind == Kind::Content);
        // What is said behind it is said of a page.
        let said =
            |side: Option<&str>| side.and_then(|text| text.split(';').next()).unwrap_or("other bytes").to_owned();
        let (before, after) = match requisite.kind {
            EventKind::Changed | EventKind::Back if requisite.change.is_change() => (
                said(sizes.and_then(|note| note.before.as_deref())),
                said(sizes.and_then(|note| note.after.as_deref())),
            ),
            EventKind::Gone => ("there".to_owned(), GONE.to_owned()),
            EventKind::Back => (GONE.to_owned(), "there again".to_owned()),
            _ => return None,
        };
        let url = &requisite.url;
        let note = Note {
            kind,
            what: part_of(*link).into(),
            before: Some(format!("{url}, {before}").into()),
            after: Some(format!("{url}, {after}").into()),
        };
        let version = page.version.map(|version| version.number);
        Some(Event {
            kind: EventKind::Changed,
            page: page.key,
            url: page.url.clone(),
            version,
            previous: version,
            seen_same: requisite.seen_same,
            seen_different: requisite.seen_different,
            title: row.title.clone(),
            language: row.language.clone(),
            content_type: row.content_type.clone(),
            change: Change {
                kinds: Kinds::of(&[kind]),
                left: Kinds::of(&[kind]),
                degree: if kind == Kind::Content { Degree::Slight } else { Degree::Hidden },
                decided_by: DecidedBy::Digest,
                notes: vec![note],
                ..Change::default()
            },
            detail: "".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, held};

    fn user(link: LinkKind) -> User {
        User { page: held("http://a.example/", 1), row: DocumentRow::default(), link }
    }

    fn event(kind: EventKind, words: &[(&str, &str)]) -> Event {
        let note = |&(before, after): &(&str, &str)| Note {
            kind: Kind::Content,
            what: "picture".into(),
            before: Some(before.into()),
            after: Some(after.into()),
        };
        let left = if words.is_empty() { Kinds::default() } else { Kinds::of(&[Kind::Content]) };
        let page = held("http://a.example/a.png", 2);
        Event {
            kind,
            page: page.key,
            url: page.url,
            version: Some(2),
            previous: Some(1),
            seen_same: None,
            seen_different: START,
            title: "".into(),
            language: "".into(),
            content_type: "image/png".into(),
            change: Change { left, notes: words.iter().map(note).collect(), ..Change::default() },
            detail: "".into(),
        }
    }

    #[test]
    fn a_requisite_is_told_as_the_kind_of_change_that_it_makes_to_its_page() {
        let changed = event(EventKind::Changed, &[("1 kB PNG 8×8", "1 kB PNG 8×8, other bytes; its text is not read")]);
        for (link, kind, what) in [
            (LinkKind::Image, Kind::Content, "image bytes"),
            (LinkKind::Style, Kind::Presentation, "style sheet bytes"),
            (LinkKind::Script, Kind::Behaviour, "script bytes"),
        ] {
            let told = user(link).event(&changed).unwrap();
            assert_eq!((told.url.as_str(), told.kind), ("http://a.example/", EventKind::Changed));
            assert_eq!((told.change.left, &*told.change.notes[0].what), (Kinds::of(&[kind]), what));
            let after = told.change.notes[0].after.as_deref().unwrap();
            assert_eq!(after, "http://a.example/a.png, 1 kB PNG 8×8, other bytes");
            assert!(told.is_of_requisite());
        }
        assert!(kind_of(LinkKind::Anchor).is_none() && kind_of(LinkKind::Frame).is_none());
    }

    #[test]
    fn a_first_visit_and_noise_alone_are_not_told_and_an_end_is() {
        let told = |kind| user(LinkKind::Image).event(&event(kind, &[]));
        for silent in [EventKind::New, EventKind::Changed, EventKind::Moved, EventKind::Blocked] {
            assert_eq!(told(silent), None, "{silent:?}");
        }
        let words = |event: Option<Event>| event.unwrap().change.notes[0].after.clone().unwrap();
        assert!(words(told(EventKind::Gone)).ends_with(", gone"));
        assert!(words(told(EventKind::Back)).ends_with(", there again"));
    }
}
