//! What differs between two versions, and whether the difference has meaning: cheapest test first.
//!
//! Marks are compared first, and differences that the site's rules explain are set aside. Only if something is left is
//! the older body read, so that the change has words, and judged again with them. One verdict serves the feed, the
//! history and what the policy learns.

use vernal_document::noise::{self, Lesson, NoiseInput};
use vernal_document::{IncrementalReader, Input, Parts, compare, diff, tell_closely};
use vernal_model::{
    Change, Document, DocumentRow, Kind, Moment, NoiseRows, Note, Page, PageKey, PageNoise, Report, Signature, Site,
    Span, Suppressed,
};

use super::archived_report;
use super::readable::leave_something_to_read;
use super::requisites::note_requisites;
use super::verdict::Verdict;
use crate::Result;
use crate::core::Core;

/// The decompressed size of an ordinary page; the buffer shrinks to this after a larger one.
const OLDER_BODY_BYTES_MAX: usize = 256 << 10;

/// A second look that comes later than this after the visit before it shows nothing of what differs within minutes.
const LOOK_WITHIN: Span = Span::from_secs(15 * 60);

/// What a visit found, and what was learned of noise.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// What was learned of noise.
    pub noise: Option<Lesson>,
}

/// Judges what differs between the report of a page and its last version.
#[derive(Default)]
pub(crate) struct Intake {
    /// The buffer for one older version, decompressed.
    older_body: Vec<u8>,
}

impl Intake {
    /// Compares an answer with the held version, and writes the paragraph numbers into the report.
    pub fn judge(
        &mut self,
        core: &mut Core,
        before: &Page,
        old: Option<&DocumentRow>,
        report: &mut Report,
        second_look: bool,
    ) -> Result<Judged> {
        let (Some(old), Some(new)) = (old, &report.signature) else {
            return Ok(Judged { verdict: only_bytes(report), noise: None });
        };
        let change = compare(&old.signature, new);
        let site = before.url.site();
        let second_look = second_look && is_in_time(before, report.started);
        if change.kinds.is_empty() || report.document.is_none() {
            let rows = learn_quiet(core, before, report.started, second_look)?;
            let noise = rows.map(|rows| Lesson { rows, wants_look: false });
            return Ok(Judged { verdict: Verdict::Differs(change), noise });
        }
        let noise = if before.noisy { core.work.page_noise(before.key)? } else { PageNoise::default() };
        let pair = Pair { site: &site, page: before.key, old: &old.signature, noise: &noise, second_look };
        let (mut change, lesson) = self.judged_closely(core, &pair, before, report, change)?;
        note_requisites(core, before, old, report, &mut change)?;
        name_what_was_set_aside(&mut change);
        leave_something_to_read(core, before, &old.signature, report, &mut change, &mut self.older_body);
        change.flapping = report.signature.as_ref().is_some_and(|new| {
            old.content_before.is_some_and(|content| content == new.content) && old.signature.content != new.content
        });
        Ok(Judged { verdict: Verdict::Differs(change), noise: Some(lesson) })
    }

    /// Judges by the marks alone where they suffice, else with the words of both bodies. Only the last judgement
    /// counts.
    fn judged_closely(
        &mut self,
        core: &mut Core,
        pair: &Pair<'_>,
        before: &Page,
        report: &Report,
        change: Change,
    ) -> Result<(Change, Lesson)> {
        let mut judged = None;
        if noise::may_explain(core.sites.noise.book(&core.work, pair.site)?, pair.noise, pair.second_look) {
            let (explained, lesson) = explained(core, pair, report, &change, None)?;
            if explained.as_ref().unwrap_or(&change).left.is_empty() {
                return Ok((explained.unwrap_or(change), lesson));
            }
            judged = Some((explained, lesson));
        }
        if !change.left.is_empty()
            && let Some(closer) = self.closer(core, before, pair.old, report, &change)?
        {
            let (explained, lesson) = explained(core, pair, report, &closer.change, Some(&closer.old))?;
            return Ok((explained.unwrap_or(closer.change), lesson));
        }
        let (explained, lesson) = match judged {
            Some(judged) => judged,
            None => explained(core, pair, report, &change, None)?,
        };
        Ok((explained.unwrap_or(change), lesson))
    }

    /// The change with its words, from both bodies; `None` if the older body is needed and can no longer be read.
    fn closer(
        &mut self,
        core: &Core,
        before: &Page,
        marked: &Signature,
        report: &Report,
        change: &Change,
    ) -> Result<Option<Closer>> {
        let Some(new) = &report.document else { return Ok(None) };
        let Some(location) = before.version.and_then(|version| version.body()) else { return Ok(None) };
        let is_text_alone = !change.kinds.contains(Kind::Presentation) && !change.kinds.contains(Kind::Behaviour);
        let beside = is_text_alone.then(|| IncrementalReader::new(&marked.paragraphs, new));
        let mut change = change.clone();
        // Where only new words were added, all earlier paragraphs are unchanged.
        if let Some(old) = beside.as_ref().and_then(IncrementalReader::reused_document) {
            tell_closely((&old, &Parts::default()), (new, &Parts::default()), &mut change);
            return Ok(Some(Closer { change, old }));
        }
        // A lost older body must not lose the newer one: the marks have to do.
        let Ok(kept) = core.work.record(&location) else { return Ok(None) };
        let room = &mut self.older_body;
        let words = archived_report::words(&kept, &before.url, beside.as_ref(), room);
        let new_parts = if is_text_alone || words.is_none() { None } else { parts_again(report, room) };
        if room.capacity() > OLDER_BODY_BYTES_MAX {
            *room = Vec::new();
        }
        let Some((old, old_parts)) = words else { return Ok(None) };
        tell_closely((&old, &old_parts), (new, &new_parts.unwrap_or_default()), &mut change);
        Ok(Some(Closer { change, old }))
    }
}

/// The change without its explained part, if there is one, and what was learned from the visit.
fn explained(
    core: &mut Core,
    pair: &Pair<'_>,
    report: &Report,
    change: &Change,
    old_document: Option<&Document>,
) -> Result<(Option<Change>, Lesson)> {
    let &Pair { site, page, old, noise, second_look } = pair;
    let strict = core.settings.is_strict(site);
    let new_marks = report.signature.as_ref().map_or(&[][..], |signature| &signature.paragraphs);
    let (empty, moment) = (Document::default(), report.started);
    let new = report.document.as_ref().unwrap_or(&empty);
    let template = noise::template_key(new_marks);
    let book = core.sites.noise.book(&core.work, site)?;
    Ok(noise::explained(&NoiseInput {
        site,
        page,
        template,
        moment,
        second_look,
        strict,
        old_marks: &old.paragraphs,
        new_marks,
        old: old_document,
        new,
        change,
        book,
        noise,
    }))
}

/// A visit that found the page unchanged is also evidence about differences that come and go.
pub(crate) fn learn_quiet(
    core: &mut Core,
    page: &Page,
    moment: Moment,
    second_look: bool,
) -> Result<Option<NoiseRows>> {
    if !page.noisy {
        return Ok(None);
    }
    let noise = core.work.page_noise(page.key)?;
    let site = page.url.site();
    let book = core.sites.noise.book(&core.work, &site)?;
    let second_look = second_look && is_in_time(page, moment);
    Ok(Some(noise::unchanged(&site, page.key, moment, second_look, book, &noise)))
}

/// Whether a second look at this time comes minutes after the last visit that read the page or confirmed it.
fn is_in_time(page: &Page, moment: Moment) -> bool {
    page.last_confirmed.is_some_and(|last| moment.since(last) <= LOOK_WITHIN)
}

/// Two versions of a page that are compared, and what is known of noise on that page.
struct Pair<'a> {
    site: &'a Site,
    page: PageKey,
    old: &'a Signature,
    noise: &'a PageNoise,
    second_look: bool,
}

/// A change that was read closely, and the older document.
struct Closer {
    change: Change,
    old: Document,
}

/// Passes the paragraph numbers on to the new version. A first version gets the first numbers.
pub(crate) fn number_paragraphs(old: Option<&DocumentRow>, signature: &mut Signature, verdict: &mut Verdict) -> u32 {
    let mut next = old.map_or(1, |old| old.next_paragraph.max(1));
    let marks = old.map_or(&[][..], |old| &old.signature.paragraphs);
    match verdict {
        Verdict::Differs(change) => {
            diff::carry_ids(marks, &mut signature.paragraphs, &mut change.paragraphs, &mut next);
        }
        _ => diff::carry_ids_by_marks(marks, &mut signature.paragraphs, &mut next),
    }
    next
}

/// The parts of the new body, which the first reading did not keep. The body is decompressed into `room`.
fn parts_again(report: &Report, room: &mut Vec<u8>) -> Option<Parts> {
    let exchange = report.exchange.as_ref()?;
    let payload = report.signature.as_ref()?.payload;
    vernal_document::unpack_into(&exchange.response_head, &exchange.body, &Default::default(), room).ok()?;
    let document = report.document.as_ref()?;
    // The charset that the first reading chose is given as the header's, so that both readings agree.
    let content_type = format!("{}; charset={}", document.content_type, document.charset);
    Some(vernal_document::parts(&Input {
        url: &report.order.url,
        bytes: room,
        content_type: Some(&content_type),
        content_language: None,
        robots_tags: &[],
        payload,
    }))
}

/// Where only bytes can be compared, different bytes mean different content.
fn only_bytes(report: &Report) -> Verdict {
    let Some(document) = &report.document else { return Verdict::Silent };
    let mut change = Change { magnitude: 1.0, ..Change::default() };
    change.kinds.insert(Kind::Content);
    change.left.insert(Kind::Content);
    change.notes.push(Note {
        kind: Kind::Content,
        what: "body".into(),
        before: None,
        after: Some(
            format!("other bytes of {}; the marks of the version before are lost", document.content_type).into(),
        ),
    });
    Verdict::Differs(change)
}

/// Names a difference that only the quiet marks set aside by its kind.
fn name_what_was_set_aside(change: &mut Change) {
    for kind in change.kinds.iter().filter(|&kind| !change.left.contains(kind)) {
        if !change.noise.iter().any(|aside| aside.kind == kind) {
            let detector = "built-in".into();
            change.noise.push(Suppressed { kind, detector, rule: None, before: None, after: None });
        }
    }
}
