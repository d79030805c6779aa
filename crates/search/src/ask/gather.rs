//! Goes over all units that fit: keeps the best, and counts how they divide.

use foldhash::HashMap;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};
use vernal_model::{Moment, Span};

use super::answer::{Count, Facets, Sort};
use crate::index::schema::{KIND, LANGUAGE, OF, SITE, TIME};

/// Values of a facet that are told, those with the largest counts.
pub const VALUES_MAX: usize = 20;
/// After so long a text counts as half as fresh.
const HALF_FRESH: Span = Span::from_days(30);
const DAY_SECS: i64 = 86_400;

/// Collects the best units.
pub struct Gather {
    pub sort: Sort,
    pub now: Moment,
    /// How many of the best are kept.
    pub best: usize,
}

/// A unit that fits.
#[derive(Copy, Clone, Debug)]
pub struct Found {
    pub address: DocAddress,
    pub score: f32,
    /// By which it is ordered: the score, or the time.
    pub rank: f64,
    pub page: u64,
    pub time: i64,
}

#[derive(Default)]
pub struct Gathered {
    pub total: u64,
    /// The best first.
    pub best: Vec<Found>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    sites: HashMap<String, u64>,
    languages: HashMap<String, u64>,
    kinds: HashMap<String, u64>,
    days: HashMap<i64, u64>,
}

/// Orders found units. Equals are ordered by what does not depend on how the index lies on disk.
pub fn best_first(best: &mut [Found]) {
    best.sort_by(|a, b| b.rank.total_cmp(&a.rank).then(a.page.cmp(&b.page)).then(b.time.cmp(&a.time)));
}

impl Collector for Gather {
    type Fruit = Gathered;
    type Child = GatherSegment;

    fn for_segment(&self, ordinal: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<GatherSegment> {
        let fast = segment.fast_fields();
        Ok(GatherSegment {
            ordinal,
            sort: self.sort,
            now: self.now,
            most: self.best.max(1),
            of: fast.u64(OF)?,
            time: fast.i64(TIME)?,
            sites: Ords::of(fast.str(SITE)?),
            languages: Ords::of(fast.str(LANGUAGE)?),
            kinds: Ords::of(fast.str(KIND)?),
            days: HashMap::default(),
            total: 0,
            best: Vec::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, parts: Vec<Gathered>) -> tantivy::Result<Gathered> {
        let mut all = Gathered::default();
        for part in parts {
            all.total += part.total;
            all.best.extend(part.best);
            all.counts.add(part.counts);
        }
        best_first(&mut all.best);
        all.best.truncate(self.best);
        Ok(all)
    }
}

pub struct GatherSegment {
    ordinal: SegmentOrdinal,
    sort: Sort,
    now: Moment,
    most: usize,
    of: Column<u64>,
    time: Column<i64>,
    sites: Ords,
    languages: Ords,
    kinds: Ords,
    days: HashMap<i64, u64>,
    total: u64,
    best: Vec<Found>,
}

/// A column of texts with a count for each.
struct Ords {
    column: Option<StrColumn>,
    counts: Vec<u64>,
}

impl Ords {
    fn of(column: Option<StrColumn>) -> Ords {
        let counts = column.as_ref().map_or_else(Vec::new, |column| vec![0; column.num_terms()]);
        Ords { column, counts }
    }

    fn count(&mut self, unit: DocId) {
        let Some(column) = &self.column else { return };
        for ord in column.term_ords(unit) {
            if let Some(count) = self.counts.get_mut(ord as usize) {
                *count += 1;
            }
        }
    }

    fn named(self) -> HashMap<String, u64> {
        let Some(column) = self.column else { return HashMap::default() };
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let name = |ord: usize| {
            let mut text = String::new();
            column.ord_to_str(ord as u64, &mut text).is_ok_and(|found| found).then_some(text)
        };
        counted.filter_map(|(ord, count)| Some((name(ord)?, *count))).collect()
    }
}

impl SegmentCollector for GatherSegment {
    type Fruit = Gathered;

    fn collect(&mut self, unit: DocId, score: Score) {
        self.total += 1;
        self.sites.count(unit);
        self.languages.count(unit);
        self.kinds.count(unit);
        let time = self.time.first(unit).unwrap_or_default();
        *self.days.entry(time.div_euclid(DAY_SECS)).or_default() += 1;
        let rank = match self.sort {
            Sort::Relevance => f64::from(score),
            Sort::Fresh => f64::from(score) * freshness(self.now, time),
            Sort::Newest => time as f64,
        };
        let address = DocAddress::new(self.ordinal, unit);
        self.best.push(Found { address, score, rank, page: self.of.first(unit).unwrap_or_default(), time });
        if self.best.len() >= self.most.saturating_mul(4).max(1_024) {
            self.cut();
        }
    }

    fn harvest(mut self) -> Gathered {
        self.cut();
        let counts = Counts {
            sites: self.sites.named(),
            languages: self.languages.named(),
            kinds: self.kinds.named(),
            days: self.days,
        };
        Gathered { total: self.total, best: self.best, counts }
    }
}

impl GatherSegment {
    fn cut(&mut self) {
        best_first(&mut self.best);
        self.best.truncate(self.most);
    }
}

/// From 1 for what is new down to 0, halved with each month.
fn freshness(now: Moment, time: i64) -> f64 {
    let age = now.since(Moment::from_secs(time)).days_f64();
    (-age / HALF_FRESH.days_f64()).exp2()
}

impl Counts {
    fn add(&mut self, other: Counts) {
        for (into, from) in
            [(&mut self.sites, other.sites), (&mut self.languages, other.languages), (&mut self.kinds, other.kinds)]
        {
            from.into_iter().for_each(|(value, count)| *into.entry(value).or_default() += count);
        }
        other.days.into_iter().for_each(|(day, count)| *self.days.entry(day).or_default() += count);
    }
}

impl Gathered {
    pub fn facets(&self) -> Facets {
        let mut months: HashMap<String, u64> = HashMap::default();
        for (day, count) in &self.counts.days {
            let month = month_of(*day);
            *months.entry(month).or_default() += count;
        }
        let mut by_month = counts(&months, usize::MAX);
        by_month.sort_by(|a, b| a.value.cmp(&b.value));
        Facets {
            by_site: counts(&self.counts.sites, VALUES_MAX),
            by_language: counts(&self.counts.languages, VALUES_MAX),
            by_month,
            by_kind: counts(&self.counts.kinds, VALUES_MAX),
            by_topic: Vec::new(),
        }
    }
}

/// The largest counts first.
pub fn counts(of: &HashMap<String, u64>, most: usize) -> Vec<Count> {
    let mut all: Vec<Count> = of.iter().map(|(value, count)| Count { value: value.clone(), count: *count }).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
    all.truncate(most);
    all
}

/// The year and the month of a day, such as `2026-11`.
fn month_of(day: i64) -> String {
    let mut text = Moment::from_secs(day.saturating_mul(DAY_SECS)).rfc3339();
    text.truncate("2026-11".len());
    text
}
