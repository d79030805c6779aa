//! The event that the feed gets for a visit. There is an event only when it has something that a person can read.

use vernal_model::{Change, Event, EventKind, Outcome, Page, PageState, Report};

use super::verdict::Verdict;

/// What the feed says of a page that was behind a wall and is read again.
const UNBLOCKED: &str = "no longer blocked";

/// Moves the reported change into the event, words included; the verdict keeps only which test decided. `was_blocked`: the last
/// that the feed said of the page is that it is blocked.
pub(crate) fn event(
    before: Option<&Page>,
    after: &Page,
    report: &Report,
    verdict: &mut Verdict,
    was_blocked: bool,
) -> Option<Event> {
    let is_unblocked = was_blocked && matches!(report.outcome, Outcome::Read { .. } | Outcome::NotModified);
    let was = before.map(|page| page.state);
    let was_held = before.is_some_and(|page| page.version.is_some());
    let (kind, change) = match (&report.outcome, verdict) {
        (Outcome::Read { .. } | Outcome::NotModified, verdict)
            if was_held && matches!(was, Some(PageState::Gone | PageState::Moved)) =>
        {
            let change = if let Verdict::Differs(change) = verdict { told(change) } else { Change::default() };
            (EventKind::Back, change)
        }
        (Outcome::Read { .. }, Verdict::First) => (EventKind::New, Change::default()),
        (Outcome::Read { .. }, Verdict::Differs(change)) if is_unblocked && !change.is_change() => {
            (EventKind::Unblocked, told(change))
        }
        // Also changes that are noise alone, and other bytes where nothing that is compared differs: a program that keeps
        // a copy of the page has to know of every version. The feed leaves them out for other readers.
        (Outcome::Read { .. }, Verdict::Differs(change)) => (EventKind::Changed, told(change)),
        (Outcome::Gone { .. }, _) if after.state == PageState::Gone && was_held && was != Some(PageState::Gone) => {
            (EventKind::Gone, Change::default())
        }
        (Outcome::Moved { .. }, _) if was_held && was != Some(PageState::Moved) => {
            (EventKind::Moved, Change::default())
        }
        (Outcome::Blocked { .. }, _) if was_held && !was_blocked => (EventKind::Blocked, Change::default()),
        _ if is_unblocked => (EventKind::Unblocked, Change::default()),
        _ => return None,
    };
    let change = match has_body(before) && has_body(Some(after)) {
        true => with_first_words(change),
        false => change,
    };
    let document = report.document.as_ref();
    Some(Event {
        kind,
        page: after.key,
        url: after.url.clone(),
        version: after.version.map(|version| version.number).filter(|_| matches!(report.outcome, Outcome::Read { .. })),
        previous: before.and_then(|page| page.version).map(|version| version.number),
        seen_same: before.and_then(|page| page.last_confirmed),
        seen_different: report.started,
        title: document.map_or("", |document| &document.title).into(),
        language: document.map_or("", |document| &document.language).into(),
        content_type: document.map_or("", |document| &document.content_type).into(),
        change,
        detail: match is_unblocked {
            true => UNBLOCKED.into(),
            false => report.outcome.detail().into(),
        },
    })
}

fn told(change: &mut Change) -> Change {
    let decided_by = change.decided_by;
    std::mem::replace(change, Change { decided_by, ..Change::default() })
}

fn has_body(page: Option<&Page>) -> bool {
    page.and_then(|page| page.version).is_some_and(|version| version.body().is_some())
}

/// Words that an event keeps itself. A page that was rewritten has far more; readers of the event find those in the
/// page's two versions.
const WORDS_BYTES_MAX: usize = 2 << 10;

/// The first paragraph always keeps its words, so that there is something to read after older versions were removed.
fn with_first_words(mut change: Change) -> Change {
    let mut kept = 0;
    for paragraph in &mut change.paragraphs {
        let length = |words: &Option<Box<str>>| words.as_ref().map_or(0, |words| words.len());
        let bytes = length(&paragraph.before) + length(&paragraph.after);
        if kept > 0 && kept + bytes > WORDS_BYTES_MAX {
            (paragraph.before, paragraph.after) = (None, None);
        } else {
            kept += bytes;
        }
    }
    change
}
