//! Rows become a world: page by page, site by site, with only the chosen pages kept in memory.

use std::collections::HashSet;

use serde::Serialize;
use vernal_model::{Moment, Span};
use xxhash_rust::xxh3::xxh3_64;

use super::rows::{Row, Rows};
use super::selection::Selection;
use crate::lab::world::{ChangeKind, World, WorldChange, WorldPage, WorldSite};
use crate::{Error, Result};

/// The least degree of a change whose sizes are equal.
const DEGREE_MIN: f32 = 0.02;

/// What a selection found in a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub rows: u64,
    pub sites: u64,
    pub pages: u64,
    pub changes: u64,
    /// Pages that would have been taken if there were no caps.
    pub pages_before_caps: u64,
    /// Changes of the chosen pages that were ignored by kind.
    pub changes_ignored: u64,
}

/// A page of the selection, before its site is complete.
struct Candidate {
    name: Box<str>,
    /// A page is in a fair sample if its mark is among the least.
    mark: u64,
    born: Moment,
    gone: Moment,
    bytes: u32,
    changes: Vec<WorldChange>,
    ignored: u64,
}

struct SitePages {
    name: String,
    pages: Vec<Candidate>,
}

/// When the first row of the selected sites happened. Bad rows are reported by the second reading.
pub(super) fn first_moment(mut rows: Rows, selection: &Selection) -> Option<Moment> {
    let mut first = None;
    loop {
        match rows.next() {
            Ok(Some(row)) if selection.takes_site(rows.site()) => {
                first = Some(first.map_or(row.moment, |first: Moment| first.min(row.moment)));
            }
            Ok(Some(_)) | Err(Error::TraceMalformed { .. }) => {}
            Ok(None) | Err(_) => return first,
        }
    }
}

/// `wrong` hears of each row that is none, and says whether that ends the reading.
pub(super) fn replay(
    mut rows: Rows,
    selection: &Selection,
    wrong: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<(World, Summary)> {
    let mut reading = Reading::new(selection);
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                wrong(error)?;
                continue;
            }
        };
        if let Err(error) = reading.take(&rows, row) {
            wrong(error)?;
        }
    }
    reading.close_page();
    reading.close_site();
    reading.finish()
}

struct Reading<'s> {
    selection: &'s Selection,
    from: Moment,
    until: Moment,
    site: String,
    page: String,
    taken: bool,
    seen_sites: HashSet<String>,
    rows: Vec<Row>,
    here: Vec<Candidate>,
    sites: Vec<SitePages>,
    summary: Summary,
    first: Moment,
    last: Moment,
}

impl<'s> Reading<'s> {
    fn new(selection: &'s Selection) -> Self {
        let from = selection.from.unwrap_or(Moment::EPOCH);
        Reading {
            selection,
            from,
            until: selection.days.map_or(Moment::NEVER, |days| from + span_of(days)),
            site: String::new(),
            page: String::new(),
            taken: false,
            seen_sites: HashSet::new(),
            rows: Vec::new(),
            here: Vec::new(),
            sites: Vec::new(),
            summary: Summary::default(),
            first: Moment::NEVER,
            last: Moment::EPOCH,
        }
    }

    fn take(&mut self, rows: &Rows, row: Row) -> Result<()> {
        self.summary.rows += 1;
        if rows.site() != self.site || self.summary.rows == 1 {
            self.close_page();
            self.close_site();
            self.site.clear();
            self.site.push_str(rows.site());
            if !self.seen_sites.insert(self.site.clone()) {
                return Err(rows.wrong(0, "the rows of a site must stand together"));
            }
            self.taken = self.selection.takes_site(&self.site);
            self.page.clear();
            self.page.push_str(rows.page());
        } else if rows.page() != self.page {
            if rows.page() < self.page.as_str() {
                return Err(rows.wrong(1, "the pages of a site must be in order"));
            }
            self.close_page();
            self.page.clear();
            self.page.push_str(rows.page());
        }
        if !self.taken {
            return Ok(());
        }
        if self.rows.last().is_some_and(|last| last.moment > row.moment) {
            return Err(rows.wrong(2, "the changes of a page must be in the order of time"));
        }
        (self.first, self.last) = (self.first.min(row.moment), self.last.max(row.moment));
        self.rows.push(row);
        Ok(())
    }

    fn close_page(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if let Some((born, gone)) = life(&rows, self.from, self.until) {
            self.here.push(self.candidate(&rows, born, gone));
        }
        self.rows = rows;
        self.rows.clear();
    }

    fn candidate(&self, rows: &[Row], born: Moment, gone: Moment) -> Candidate {
        let (mut changes, mut ignored, mut bytes, mut before) = (Vec::new(), 0, 0, 0);
        for row in rows.iter().filter(|row| row.moment < self.until) {
            let degree = degree_of(before, row.bytes);
            before = row.bytes;
            bytes = bytes.max(row.bytes);
            // The instant of birth is no change, and neither is the end.
            if row.moment <= born || row.moment <= self.from || row.moment >= gone {
                continue;
            }
            if self.selection.ignored.contains(&row.kind) {
                ignored += 1;
                continue;
            }
            changes.push(WorldChange { moment: row.moment, degree, kind: row.kind });
        }
        changes.dedup_by_key(|change| change.moment);
        let mark = xxh3_64(format!("{}\n{}", self.site, self.page).as_bytes());
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Candidate { name: self.page.as_str().into(), mark, born, gone, bytes, changes, ignored }
    }

    fn close_site(&mut self) {
        let mut pages = std::mem::take(&mut self.here);
        if pages.is_empty() {
            return;
        }
        self.summary.pages_before_caps += pages.len() as u64;
        if let Some(cap) = self.selection.site_cap {
            keep_least(&mut pages, cap, |page| page.mark);
        }
        self.sites.push(SitePages { name: self.site.clone(), pages });
    }

    fn finish(mut self) -> Result<(World, Summary)> {
        let from = self.selection.from.unwrap_or(self.first);
        // Visits after the last change saw that there was no other.
        let end = self.selection.observed_until.map_or(self.last, |end| end.max(self.last));
        let until = self.selection.days.map_or(end, |days| from + span_of(days)).min(end);
        if self.sites.is_empty() {
            return Err(Error::Lab(format!("the selection {} holds no page of the trace", self.selection.name)));
        }
        if until <= from {
            return Err(Error::Lab(format!(
                "the selection {} has no length: it would begin at {from}, and what it takes of the trace ends at {end}",
                self.selection.name
            )));
        }
        if let Some(most) = self.selection.pages_max {
            let mut marks: Vec<u64> = self.sites.iter().flat_map(|site| &site.pages).map(|page| page.mark).collect();
            marks.sort_unstable();
            let limit = marks.get(most).copied().unwrap_or(u64::MAX);
            self.sites.iter_mut().for_each(|site| site.pages.retain(|page| page.mark < limit));
            self.sites.retain(|site| !site.pages.is_empty());
        }
        let mut world = World::new(&self.selection.name, from, until.since(from), self.selection.warm_up);
        for (number, site) in self.sites.into_iter().enumerate() {
            world.sites.push(WorldSite { name: site.name, visits_per_day_max: None });
            let mut paths: Vec<Box<str>> = Vec::new();
            for page in site.pages {
                self.summary.changes_ignored += page.ignored;
                let path = path_number(&page.name, &mut paths);
                let facts = WorldPage {
                    name: page.name,
                    site: number as u32,
                    path,
                    born: page.born,
                    gone: page.gone,
                    weight: 1.0,
                    bytes: page.bytes,
                    ..WorldPage::default()
                };
                world.push(facts, &page.changes, &[]);
            }
        }
        world.rate_in_hindsight();
        self.summary.sites = world.sites.len() as u64;
        self.summary.pages = world.pages.len() as u64;
        self.summary.changes = world.changes_total() as u64;
        Ok((world, self.summary))
    }
}

/// From when to when a page is online within the window, from its first to its last stretch there.
fn life(rows: &[Row], from: Moment, until: Moment) -> Option<(Moment, Moment)> {
    let mut stretches: Option<(Moment, Moment)> = None;
    let mut online: Option<Moment> = None;
    let mut close = |begun: Moment, ended: Moment| {
        if begun < until && ended > from {
            stretches = Some(stretches.map_or((begun, ended), |(first, _)| (first, ended)));
        }
    };
    for row in rows {
        match (row.kind == ChangeKind::Deleted, online) {
            (true, Some(begun)) => {
                close(begun, row.moment);
                online = None;
            }
            (false, None) => online = Some(row.moment),
            _ => {}
        }
    }
    if let Some(begun) = online {
        close(begun, Moment::NEVER);
    }
    stretches
}

fn degree_of(before: u64, after: u64) -> f32 {
    let larger = before.max(after).max(1) as f32;
    (before.abs_diff(after) as f32 / larger).clamp(DEGREE_MIN, 1.0)
}

/// Keeps the items with the least marks, in their order.
fn keep_least<T>(items: &mut Vec<T>, most: usize, mark: impl Fn(&T) -> u64) {
    if items.len() <= most {
        return;
    }
    let mut marks: Vec<u64> = items.iter().map(&mark).collect();
    marks.sort_unstable();
    let limit = marks[most];
    items.retain(|item| mark(item) < limit);
}

/// The number of the first part of a path within its site; pages at the top share number 0.
fn path_number(name: &str, paths: &mut Vec<Box<str>>) -> u32 {
    if paths.is_empty() {
        paths.push("".into());
    }
    let first = name.trim_start_matches('/').split_once('/').map_or("", |(first, _)| first);
    match paths.iter().position(|path| **path == *first) {
        Some(number) => number as u32,
        None => {
            paths.push(first.into());
            paths.len() as u32 - 1
        }
    }
}

fn span_of(days: f64) -> Span {
    Span::from_secs_f64(days * 86_400.0)
}
