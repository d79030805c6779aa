//! Images that a page still names and whose bytes changed: a reader sees the difference, but no mark of the page shows
//! it. This works only for images that are visited as pages of their own, because they were seeded or linked.

use vernal_model::{Change, DocumentRow, Kind, LinkKind, Note, Page, Report, Url, Version};

use super::readable::size_shown;
use crate::Result;
use crate::core::Core;

/// Images of one page that are looked up, each once.
const IMAGES_MAX: usize = 32;

/// Notes the images whose bytes changed between the held version and this answer.
pub(super) fn note_images(
    core: &Core,
    before: &Page,
    old: &DocumentRow,
    report: &Report,
    change: &mut Change,
) -> Result<()> {
    let Some(since) = before.version.map(|version| version.moment) else { return Ok(()) };
    let was_there = |url: &Url| {
        let target = url.fingerprint();
        old.links.iter().any(|link| link.kind == LinkKind::Image && link.target == target)
    };
    let Some(document) = &report.document else { return Ok(()) };
    let images = document.links.iter().filter(|link| link.kind == LinkKind::Image && was_there(&link.target));
    // Each with what it shows, as the page says.
    let mut images: Vec<(&Url, &str)> = images.map(|link| (&link.target, document.anchor(link).trim())).collect();
    images.sort_unstable();
    images.dedup_by_key(|(url, _)| *url);
    for (url, shows) in images.into_iter().take(IMAGES_MAX) {
        let Some(image) = core.work.page_by_url(url)? else { continue };
        if image.version.is_none_or(|version| version.moment <= since) {
            continue;
        }
        let versions = core.work.versions(image.key)?;
        // An image is first visited after the page that names it.
        let then = versions.iter().rfind(|version| version.moment <= since).or(versions.first());
        let Some(then) = then else { continue };
        let Some(now) = versions.last().filter(|now| now.payload != then.payload) else { continue };
        let size = |version: &Version| size_shown(version.body_bytes as usize);
        let shows = if shows.is_empty() { String::new() } else { format!(" ({shows})") };
        let others = if size(then) == size(now) { ", other bytes" } else { "" };
        change.kinds.insert(Kind::Presentation);
        change.left.insert(Kind::Presentation);
        change.notes.push(Note {
            kind: Kind::Presentation,
            what: "image bytes".into(),
            before: Some(format!("{url}{shows}, {}", size(then)).into()),
            after: Some(format!("{url}{shows}, {}{others}", size(now)).into()),
        });
    }
    Ok(())
}
