//! A page over time: every visit as a drawing, the versions that differ for a reader, and a calendar.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::answers::Visit;
use crate::chart::{Day, Mark, Svg, Timeline, calendar, kinds, magnitude};
use crate::numbers::{bytes, counted};
use crate::question::link;
use crate::times::{Bracket, Times, second_of};

/// Versions in the table.
const VERSIONS_SHOWN: usize = 12;
const WEEKS: u32 = 12;

/// A version that differs from the one before for a reader.
pub struct VersionLine {
    pub number: u32,
    pub link: String,
    pub when: Bracket,
    pub kinds: Svg,
    pub magnitude: Svg,
    pub size: String,
    pub is_from: bool,
    pub is_to: bool,
}

/// A sentence of what the visits found.
pub fn summary(visits: &[Visit], times: &Times) -> String {
    let found = visits.iter().filter(|visit| visit.changed == Some(true)).count() as u64;
    let noise = visits.iter().filter(|visit| visit.is_noise()).count() as u64;
    let since = visits.last().and_then(|visit| visit.started.as_deref()).map(|at| times.day(at)).unwrap_or_default();
    format!("{} since {since}: {found} found a change, {noise} only noise", counted(visits.len() as u64, "visit"))
}

pub fn timeline(visits: &[Visit], times: &Times, next: Option<&str>) -> Option<Timeline> {
    let begun = |visit: &Visit| visit.started.as_deref().and_then(second_of);
    let (first, last) = (visits.last().and_then(begun)?, visits.first().and_then(begun)?);
    let next = next.and_then(|next| Some((second_of(next)?, format!("next {}", times.moment(Some(next)).words))));
    let next = next.filter(|(at, _)| *at > last && (*at - last) < (last - first).max(3_600.0));
    let until = next.as_ref().map_or(last, |(at, _)| *at).max(first + 60.0);
    let marks = visits.iter().rev().filter_map(|visit| mark(visit, begun(visit)?)).collect();
    let changed = visits.iter().find(|visit| visit.changed == Some(true));
    let chosen = changed.and_then(|visit| Some((second_of(visit.seen_same.as_deref()?)?, begun(visit)?)));
    Some(Timeline { says: summary(visits, times), from: first, until, marks, chosen, next })
}

fn mark(visit: &Visit, at: f64) -> Option<Mark> {
    const KINDS: [&str; 4] = ["content", "structure", "presentation", "behaviour"];
    if visit.is_trouble() {
        let says = format!("{} {}", visit.outcome, visit.detail);
        return Some(Mark::Trouble { at, says: crate::words::cut(&says, 200) });
    }
    if visit.version.as_ref().is_some_and(|version| version.number == 1) {
        return Some(Mark::First { at });
    }
    let Some(change) = visit.change.as_ref().filter(|_| visit.changed == Some(true)) else {
        return Some(if visit.is_noise() { Mark::Noise { at } } else { Mark::Same { at } });
    };
    let kind = KINDS.into_iter().find(|kind| change.left.iter().any(|own| own == kind)).unwrap_or("content");
    let version = visit.version.as_ref().map_or(0, |version| version.number);
    let says = format!("version {version}, {}, {:.2}", change.left.join(", "), change.magnitude);
    let same = visit.seen_same.as_deref().and_then(second_of).unwrap_or(at);
    Some(Mark::Changed { same, at, kind, magnitude: change.magnitude, says })
}

pub fn versions(url: &str, visits: &[Visit], times: &Times) -> Vec<VersionLine> {
    let changed = visits.iter().filter(|visit| visit.changed == Some(true));
    let told = changed.filter_map(|visit| Some((visit, visit.version.as_ref()?, visit.change.as_ref()?)));
    let line =
        |(place, (visit, version, change)): (usize, (&Visit, &crate::answers::Version, &crate::answers::Change))| {
            let number = version.number.to_string();
            VersionLine {
                number: version.number,
                link: link("/diff", &[("url", url), ("to", number.as_str())]),
                when: times.bracket(visit.seen_same.as_deref(), visit.seen_different.as_deref()),
                kinds: kinds(change),
                magnitude: magnitude(change.magnitude),
                size: bytes(version.body_bytes),
                is_from: place == 1,
                is_to: place == 0,
            }
        };
    told.take(VERSIONS_SHOWN).enumerate().map(line).collect()
}

pub fn days(visits: &[Visit], now: &str) -> Option<Svg> {
    let mut days: BTreeMap<Date, Day> = BTreeMap::new();
    for visit in visits {
        let Some(date) = visit.started.as_deref().and_then(date) else { continue };
        let day = days.entry(date).or_insert(Day { date, visits: 0, changes: 0 });
        day.visits += 1;
        day.changes += u64::from(visit.changed == Some(true));
    }
    let days: Vec<Day> = days.into_values().collect();
    let today = date(now)?;
    (!days.is_empty()).then(|| calendar(&days, today, WEEKS))
}

fn date(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}
