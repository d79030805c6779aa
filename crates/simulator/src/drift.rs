//! How pages change, in random access and without a list of changes in memory.
//!
//! A Poisson process over `HORIZON_SECS` is drawn top-down: the total first, then, node by node of a binary tree over
//! time, how many of a node's events fall into its first half. That number is binomial(n, 1/2), which is the count of
//! ones among n random bits, and the bits come from the node's own chance number. So "how many changes up to now" costs
//! one walk of 27 steps, needs no memory, and gives the same answer in any order of asking. Every change happens at a
//! whole second after the origin, so that two versions never share a Last-Modified.

mod tree;

use serde::{Deserialize, Serialize};
use vernal_model::{Chance, Moment, Span};

use self::tree::{Tree, draw_normal};
use crate::web::PageNumber;
use crate::{Error, Result};

/// Changes are drawn for so many seconds after the origin, about 4.25 years; after that the web stands still.
pub const HORIZON_SECS: u64 = 1 << 27;

const DAY_SECS: u64 = 86_400;
const HORIZON_DAYS: f64 = HORIZON_SECS as f64 / DAY_SECS as f64;

/// A burst recurs once in this time, on average.
const BURST_PERIOD_SECS: u64 = 8 * DAY_SECS;
/// A burst lasts this long.
const BURST_SECS: u64 = DAY_SECS;

/// The mix of processes of a web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriftSettings {
    /// Shares of the pages that never change, change in bursts, and change each day at their hour; the rest change
    /// independently.
    pub never: f64,
    pub bursty: f64,
    pub daily: f64,
    /// Change rates are log-normal: the median, the spread (sigma of the logarithm) and a ceiling.
    pub changes_per_day_median: f64,
    pub spread: f64,
    pub changes_per_day_max: f64,
    /// The share of sites that have publications, how many a day, and the share of the site's pages that take part in
    /// each one, on top of their own changes.
    pub publishing_sites: f64,
    pub publications_per_day: f64,
    pub publication_pages: f64,
}

impl DriftSettings {
    /// Nothing ever changes.
    pub fn still() -> Self {
        DriftSettings { never: 1.0, bursty: 0.0, daily: 0.0, publishing_sites: 0.0, ..Self::default() }
    }

    /// Every page changes by its own Poisson process with this rate.
    pub fn independent(changes_per_day: f64) -> Self {
        DriftSettings {
            never: 0.0,
            bursty: 0.0,
            daily: 0.0,
            changes_per_day_median: changes_per_day,
            spread: 0.0,
            changes_per_day_max: changes_per_day,
            publishing_sites: 0.0,
            ..Self::default()
        }
    }

    /// Every page changes once a day, at its own second of the day.
    pub fn daily() -> Self {
        DriftSettings { daily: 1.0, ..Self::independent(0.0) }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let shares = [self.never, self.bursty, self.daily, self.publishing_sites, self.publication_pages];
        let kinds = self.never + self.bursty + self.daily;
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || kinds > 1.0 + 1e-9 {
            return Err(Error::Settings("each share of the drift must lie in 0..=1, and its kinds sum to 1".into()));
        }
        let rates = [self.changes_per_day_median, self.changes_per_day_max, self.publications_per_day];
        if rates.iter().any(|rate| !(0.0..=2_000.0).contains(rate)) || !(0.0..=10.0).contains(&self.spread) {
            return Err(Error::Settings("rates of change must lie in 0..=2000 a day, the spread in 0..=10".into()));
        }
        Ok(())
    }
}

/// Rates as Cho and Garcia-Molina (2003) saw them: many pages never change, most change within months, few each hour.
impl Default for DriftSettings {
    fn default() -> Self {
        DriftSettings {
            never: 0.25,
            bursty: 0.10,
            daily: 0.10,
            changes_per_day_median: 0.05,
            spread: 1.5,
            changes_per_day_max: 24.0,
            publishing_sites: 0.3,
            publications_per_day: 0.5,
            publication_pages: 0.2,
        }
    }
}

/// How a page changes by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    Never,
    Independent,
    /// Only in bursts of a day, one in every eight days.
    Bursty,
    /// Once a day at the page's own second of the day.
    Daily,
}

/// The truth about all changes of one web.
#[derive(Clone, Debug)]
pub struct Drift {
    origin: Moment,
    sites: Vec<Tree>,
    pages: Vec<PageDrift>,
}

#[derive(Clone, Debug)]
struct PageDrift {
    site: u32,
    process: Process,
    tree: Tree,
    changes_per_day: f32,
    publication_share: f32,
}

impl Drift {
    pub(crate) fn new(origin: Moment) -> Self {
        Drift { origin, sites: Vec::new(), pages: Vec::new() }
    }

    /// Begins the next site; its pages follow.
    pub(crate) fn push_site(&mut self, settings: &DriftSettings, chance: &Chance) {
        let mut chance = chance.stream("publications");
        let rate = if chance.happens(settings.publishing_sites) { settings.publications_per_day } else { 0.0 };
        self.sites.push(Tree::draw(rate * HORIZON_DAYS, &mut chance));
    }

    /// Adds a page to the last site. Pages without content of their own stand `still`.
    pub(crate) fn push_page(&mut self, settings: &DriftSettings, chance: &Chance, still: bool) {
        let mut chance = chance.stream("drift");
        let site = (self.sites.len() - 1) as u32;
        let process = if still { Process::Never } else { draw_process(settings, &mut chance) };
        let changes_per_day = match process {
            Process::Never => 0.0,
            Process::Daily => 1.0,
            Process::Independent | Process::Bursty => draw_rate(settings, &mut chance),
        };
        let expected = match process {
            Process::Never | Process::Daily => 0.0,
            Process::Independent => changes_per_day * HORIZON_DAYS,
            // The tree of a bursty page lies over its time within bursts.
            Process::Bursty => changes_per_day * HORIZON_DAYS * (BURST_PERIOD_SECS / BURST_SECS) as f64,
        };
        let publishes = !still && process != Process::Never && self.sites[site as usize].total > 0;
        let publication_share = if publishes { settings.publication_pages as f32 } else { 0.0 };
        let tree = Tree::draw(expected, &mut chance);
        self.pages.push(PageDrift { site, process, tree, changes_per_day: changes_per_day as f32, publication_share });
    }

    /// How many changes of the page happened up to and including a Moment.
    pub fn count(&self, page: PageNumber, until: Moment) -> u32 {
        let Some(second) = self.second(until) else { return 0 };
        let drift = &self.pages[page.index()];
        drift.own_before(second + 1) + self.published_before(drift, second + 1).len_counted()
    }

    /// The last change up to a Moment.
    pub fn last(&self, page: PageNumber, until: Moment) -> Option<Moment> {
        let second = self.second(until)?;
        let drift = &self.pages[page.index()];
        let own = drift.own_before(second + 1).checked_sub(1).map(|nth| drift.own_second(nth));
        let published = self.published_before(drift, second + 1).last();
        own.max(published).map(|second| self.moment(second))
    }

    /// Every change after `after` up to `until`, in order.
    pub fn times(&self, page: PageNumber, after: Moment, until: Moment) -> Vec<Moment> {
        let Some(last) = self.second(until) else { return Vec::new() };
        let first = self.second(after).map_or(0, |second| second + 1);
        let drift = &self.pages[page.index()];
        let own = drift.own_before(first)..drift.own_before(last + 1);
        let mut seconds: Vec<u64> = own.map(|nth| drift.own_second(nth)).collect();
        seconds.extend(self.published_before(drift, last + 1).filter(|&second| second >= first));
        seconds.sort_unstable();
        seconds.into_iter().map(|second| self.moment(second)).collect()
    }

    pub fn process(&self, page: PageNumber) -> Process {
        self.pages[page.index()].process
    }

    /// The mean number of changes a day, publications included, that the page was given.
    pub fn changes_per_day(&self, page: PageNumber) -> f64 {
        let drift = &self.pages[page.index()];
        let publications = f64::from(self.sites[drift.site as usize].total) / HORIZON_DAYS;
        f64::from(drift.changes_per_day) + publications * f64::from(drift.publication_share)
    }

    /// The publications of a site after `after` up to `until`, in order.
    pub fn publications(&self, site: usize, after: Moment, until: Moment) -> Vec<Moment> {
        let Some(last) = self.second(until) else { return Vec::new() };
        let first = self.second(after).map_or(0, |second| second + 1);
        let tree = &self.sites[site];
        (tree.count_before(first)..tree.count_before(last + 1)).map(|nth| self.moment(tree.second_of(nth))).collect()
    }

    /// Whole seconds since the origin; `None` before it.
    fn second(&self, moment: Moment) -> Option<u64> {
        (moment >= self.origin).then(|| moment.since(self.origin).micros() / 1_000_000)
    }

    fn moment(&self, second: u64) -> Moment {
        self.origin + Span::from_secs(second)
    }

    fn published_before<'a>(&'a self, drift: &'a PageDrift, before: u64) -> Published<'a> {
        let site = &self.sites[drift.site as usize];
        let end = if drift.publication_share > 0.0 { site.count_before(before) } else { 0 };
        Published { site, drift, nth: 0, end }
    }
}

impl PageDrift {
    fn own_before(&self, second: u64) -> u32 {
        match self.process {
            Process::Never => 0,
            Process::Independent => self.tree.count_before(second),
            Process::Bursty => self.tree.count_before(self.burst_time(second)),
            Process::Daily => {
                let second = second.min(HORIZON_SECS);
                (second + DAY_SECS - 1 - self.second_of_day()).div_euclid(DAY_SECS) as u32
            }
        }
    }

    fn own_second(&self, nth: u32) -> u64 {
        match self.process {
            Process::Never => 0,
            Process::Independent => self.tree.second_of(nth),
            Process::Bursty => {
                let within = self.tree.second_of(nth);
                let block = within / BURST_SECS;
                block * BURST_PERIOD_SECS + self.burst_start(block) + within % BURST_SECS
            }
            Process::Daily => u64::from(nth) * DAY_SECS + self.second_of_day(),
        }
    }

    fn second_of_day(&self) -> u64 {
        Chance::new(self.tree.number).below(DAY_SECS)
    }

    /// How many seconds before this one lay within bursts.
    fn burst_time(&self, second: u64) -> u64 {
        let (block, rest) = (second / BURST_PERIOD_SECS, second % BURST_PERIOD_SECS);
        block * BURST_SECS + rest.saturating_sub(self.burst_start(block)).min(BURST_SECS)
    }

    fn burst_start(&self, block: u64) -> u64 {
        Chance::new(self.tree.number ^ !block).below(BURST_PERIOD_SECS - BURST_SECS)
    }

    fn takes_part(&self, publication: u32) -> bool {
        let mut chance = Chance::new(self.tree.number.rotate_left(17) ^ u64::from(publication));
        chance.happens(f64::from(self.publication_share))
    }
}

/// The seconds of the publications that a page took part in.
struct Published<'a> {
    site: &'a Tree,
    drift: &'a PageDrift,
    nth: u32,
    end: u32,
}

impl Published<'_> {
    fn len_counted(self) -> u32 {
        (self.nth..self.end).filter(|&nth| self.drift.takes_part(nth)).count() as u32
    }

    fn last(self) -> Option<u64> {
        (self.nth..self.end).rev().find(|&nth| self.drift.takes_part(nth)).map(|nth| self.site.second_of(nth))
    }
}

impl Iterator for Published<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        while self.nth < self.end {
            self.nth += 1;
            if self.drift.takes_part(self.nth - 1) {
                return Some(self.site.second_of(self.nth - 1));
            }
        }
        None
    }
}

fn draw_process(settings: &DriftSettings, chance: &mut Chance) -> Process {
    let share = chance.share();
    if share < settings.never {
        Process::Never
    } else if share < settings.never + settings.bursty {
        Process::Bursty
    } else if share < settings.never + settings.bursty + settings.daily {
        Process::Daily
    } else {
        Process::Independent
    }
}

fn draw_rate(settings: &DriftSettings, chance: &mut Chance) -> f64 {
    let rate = settings.changes_per_day_median * (settings.spread * draw_normal(chance)).exp();
    rate.min(settings.changes_per_day_max)
}
