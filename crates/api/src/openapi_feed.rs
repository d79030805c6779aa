//! The parameters of the change feed, described for machines.

use super::openapi::{LIMIT, Parameter, SITE, TAG};

const SINCE: Parameter =
    ("since", "string", false, "A cursor, or a time: RFC 3339, a date, 14 digits, or an age such as 7d");
const KIND: Parameter = ("kind", "string", false, "structure, content, presentation or behaviour");
const NOISE: Parameter = ("with_noise", "boolean", false, "Also changes that are noise alone");
const NAMES: Parameter = ("with_names", "boolean", false, "Also events of pages that are second names of others");
const EVENT: Parameter = (
    "event",
    "string",
    false,
    "new, changed, gone, back, moved, blocked, unblocked, erased, template, joined, parted or imported; several with commas",
);
const ROLE: Parameter = (
    "role",
    "string",
    false,
    "main: only main text; frame: only menus, headers, footers and what stands beside the content",
);
const LATEST: Parameter = ("latest", "integer", false, "Only the newest N events, oldest first");
const PAGES: Parameter = (
    "pages",
    "boolean",
    false,
    "For whoever keeps copies of pages: every version of every page, folded and noise alone too, with the exact steps \
     in `replica`",
);
const BRIEF: Parameter = ("brief", "boolean", false, "Without the words of pages that are new or back");
const PREFIX: Parameter = ("prefix", "string", false, "Only pages whose URL begins with this one");
const UNTIL: Parameter = ("until", "string", false, "Only events that were observed before this time");
const MIN: Parameter =
    ("min", "string", false, "Only changes of at least this magnitude: slight, moderate, large, total, or from 0 to 1");
const WORDS: Parameter =
    ("words", "string", false, "Only events with all these words, and \"phrases\", among what came or went");
const IN: Parameter = ("in", "string", false, "Whether `words` were added, removed or either (default)");
const BEFORE: Parameter = ("before", "string", false, "Only events before this cursor, the newest first");

/// What chooses events, on every transport.
const FILTERS: [Parameter; 13] = [SINCE, UNTIL, SITE, PREFIX, TAG, EVENT, KIND, MIN, WORDS, IN, ROLE, NOISE, NAMES];
const fn with_filters<const N: usize, const M: usize>(more: [Parameter; N]) -> [Parameter; M] {
    let mut all = [LIMIT; M];
    let mut place = 0;
    while place < M {
        all[place] = if place < FILTERS.len() { FILTERS[place] } else { more[place - FILTERS.len()] };
        place += 1;
    }
    all
}
pub const CHANGES: [Parameter; 19] =
    with_filters([PAGES, BRIEF, LATEST, ("order", "string", false, "oldest (default) or newest first"), BEFORE, LIMIT]);
pub const STREAM: [Parameter; 16] = with_filters([PAGES, BRIEF, LIMIT]);
pub const COUNT: [Parameter; 15] =
    with_filters([("by", "string", false, "event, kind, degree, site, tag; several with commas"), LIMIT]);
pub const ATOM: [Parameter; 16] = with_filters([
    ("search", "string", false, "A query of the search: the events that brought or took what it finds"),
    BEFORE,
    LIMIT,
]);
