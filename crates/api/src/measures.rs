//! The papers' measures of the whole copy and of each site: change ratio, freshness, mean age, change rate and degree of
//! success. Status, sites and metrics show the same numbers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::Instant;
use vernal_crawler::Believed;
use vernal_model::{Moment, Page, PageKey, Site, Span};
use vernal_policy::Belief;
use vernal_policy::estimate::bias_reduced;
use vernal_policy::measure::expected_age;
use vernal_repository::Reader;

use super::answer::{self, ApiError};
use super::shared::{Shared, time};

/// The cycle over which the change ratio is counted.
const CYCLE: Span = Span::from_days(7);
/// The visits of so many pages are read for it at most: of more pages that were visited in the cycle, every second, third ….
const PAGES_READ_MAX: usize = 5_000;
/// Measures are taken anew after this time and not sooner, because that reads every page; nor before so many times as long as it
/// took, so that it is a small part of the work.
const STAND_FOR: Duration = Duration::from_secs(10);
const STAND_FOR_TIMES: u32 = 30;

/// The measures of the whole copy or of one site; null where nothing is known yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Of a stopped folder, the last visit to a held page.
    pub as_of: Option<String>,
    /// Changed visits over all visits of the last cycle that could be compared, and how many those are.
    pub change_ratio: Option<f64>,
    pub change_ratio_visits: u64,
    pub cycle_days: f64,
    /// D over V: the visits that found a change over all that could be compared, and how many those are.
    pub degree_of_success: Option<f64>,
    pub compared: u64,
    /// Changes a day of a page, the mean over the pages that were compared (bias-reduced).
    pub change_rate_per_day: Option<f64>,
    /// The share that is believed to be up to date, and by what: `policy`, or `history`, that of each page, where the policy
    /// has no model or nothing crawls.
    pub freshness_believed: Option<f64>,
    pub believed_by: Option<&'static str>,
    /// The share of samples drawn by chance that was up to date; null before the first.
    pub freshness_measured: Option<f64>,
    pub freshness_samples: u32,
    /// The mean of the ages that the belief expects, a page that is up to date counting as 0.
    pub mean_age_days: Option<f64>,
}

#[derive(Debug, Default)]
pub struct Measures {
    pub all: Figures,
    sites: BTreeMap<Site, Figures>,
}

impl Measures {
    pub fn of(&self, site: &Site) -> Figures {
        self.sites.get(site).cloned().unwrap_or_else(|| Sums::default().figures(None, None))
    }
}

/// The measures that were taken last, and until when they stand. The lock is held while others are taken: nobody does the same
/// work twice.
#[derive(Default)]
pub struct LastMeasures(Mutex<Option<(Instant, Arc<Measures>)>>);

pub async fn taken(shared: &Arc<Shared>) -> Result<Arc<Measures>, ApiError> {
    let mut last = shared.last_measures.0.lock().await;
    let begun = Instant::now();
    if let Some((until, measures)) = &*last
        && begun < *until
    {
        return Ok(Arc::clone(measures));
    }
    // A folder that nobody crawls is told as it was left, by what its pages say: so it always gives the same answer.
    let (believed, now) = if shared.backend.is_stopped() {
        (None, None)
    } else {
        let now = shared.clock.now();
        (Some(shared.backend.believed(now).await?), Some(now))
    };
    let reader = shared.reader.clone();
    let measures = answer::on_blocking_thread(move || Ok(measure(&reader, believed.as_ref(), now)?)).await?;
    let measures = Arc::new(measures);
    *last = Some((Instant::now() + STAND_FOR.max(begun.elapsed() * STAND_FOR_TIMES), Arc::clone(&measures)));
    Ok(measures)
}

/// As of `now`; without it, as of the last visit to a held page.
fn measure(
    reader: &Reader,
    believed: Option<&Believed>,
    now: Option<Moment>,
) -> Result<Measures, vernal_repository::Error> {
    let last_visit = || {
        let visits = reader.held_pages().filter_map(|page| page.ok().map(|page| page.last_visit));
        visits.max().unwrap_or(Moment::EPOCH)
    };
    let now = now.unwrap_or_else(last_visit);
    let mut sites: BTreeMap<Site, Sums> = BTreeMap::new();
    let mut visited: Vec<(PageKey, Site)> = Vec::new();
    let since = now - CYCLE;
    for page in reader.held_pages() {
        let page = page?;
        let site = page.url.site();
        if page.compared > 0 && page.last_visit >= since {
            visited.push((page.key, site.clone()));
        }
        sites.entry(site).or_default().add(&page, now);
    }
    let step = visited.len().div_ceil(PAGES_READ_MAX).max(1);
    for (key, site) in visited.into_iter().step_by(step) {
        let sums = sites.entry(site).or_default();
        for visit in reader.visits(key)?.iter().filter(|visit| visit.started >= since && !visit.second_look) {
            if let Some(changed) = visit.changed {
                sums.in_cycle += 1;
                sums.changed_in_cycle += u64::from(changed);
            }
        }
    }
    let mut all = Sums::default();
    sites.values().for_each(|sums| all.take(sums));
    let of_policy = believed.filter(|believed| believed.all.pages > 0);
    let sampled = |site: &Site| believed.and_then(|believed| believed.measured.get(site).copied());
    let all_sampled = believed.map(|believed| {
        believed.measured.values().fold((0, 0), |sum: (u32, u32), site| (sum.0 + site.0, sum.1 + site.1))
    });
    let of_site = |(site, sums): (Site, Sums)| {
        let belief = of_policy.map(|believed| believed.sites.get(&site).copied().unwrap_or_default());
        let figures = Figures { as_of: time(now), ..sums.figures(belief, sampled(&site)) };
        (site, figures)
    };
    Ok(Measures {
        all: Figures { as_of: time(now), ..all.figures(of_policy.map(|believed| believed.all), all_sampled) },
        sites: sites.into_iter().map(of_site).collect(),
    })
}

/// What the held pages of one site say, added up.
#[derive(Clone, Debug, Default)]
struct Sums {
    compared: u64,
    changes: u64,
    in_cycle: u64,
    changed_in_cycle: u64,
    /// Pages that were compared, and the sums of their change rates, of how likely they are up to date and of their expected
    /// ages, each by its own history.
    pages: u64,
    rates: f64,
    fresh: f64,
    age_days: f64,
}

impl Sums {
    fn add(&mut self, page: &Page, now: Moment) {
        let watched_days = page.last_visit.since(page.first_visit).days_f64();
        self.compared += u64::from(page.compared);
        self.changes += u64::from(page.changes);
        if page.compared == 0 || watched_days <= 0.0 {
            return;
        }
        let (visits, changes) = (f64::from(page.compared), f64::from(page.changes));
        let rate = bias_reduced(visits, changes, watched_days / visits);
        let waited = now.since(page.last_visit).days_f64();
        // A page without a change is not said to be quieter than it was watched to be.
        let fresh = (-rate.max(0.5 / watched_days) * waited).exp();
        self.pages += 1;
        self.rates += rate;
        self.fresh += fresh;
        self.age_days += expected_age(fresh, waited);
    }

    fn take(&mut self, other: &Sums) {
        self.compared += other.compared;
        self.changes += other.changes;
        self.in_cycle += other.in_cycle;
        self.changed_in_cycle += other.changed_in_cycle;
        self.pages += other.pages;
        self.rates += other.rates;
        self.fresh += other.fresh;
        self.age_days += other.age_days;
    }

    /// With what the policy believes, where it has a model, and how many of the samples were up to date.
    fn figures(&self, belief: Option<Belief>, sampled: Option<(u32, u32)>) -> Figures {
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let mean = |sum: f64| (self.pages > 0).then(|| sum / self.pages as f64);
        let (freshness_believed, mean_age_days, by) = match belief {
            Some(belief) => (belief.share(), belief.mean_age_days(), "policy"),
            None => (mean(self.fresh), mean(self.age_days), "history"),
        };
        let (fresh, samples) = sampled.unwrap_or_default();
        Figures {
            as_of: None,
            change_ratio: share(self.changed_in_cycle, self.in_cycle),
            change_ratio_visits: self.in_cycle,
            cycle_days: CYCLE.days_f64(),
            degree_of_success: share(self.changes, self.compared),
            compared: self.compared,
            change_rate_per_day: mean(self.rates),
            freshness_believed,
            believed_by: freshness_believed.map(|_| by),
            freshness_measured: share(fresh.into(), samples.into()),
            freshness_samples: samples,
            mean_age_days,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(compared: u64, changes: u64, pages: u64) -> Sums {
        Sums { compared, changes, pages, rates: 0.5 * pages as f64, fresh: 0.75 * pages as f64, ..Sums::default() }
    }

    #[test]
    fn the_whole_is_the_sum_of_its_sites_and_not_the_mean_of_their_shares() {
        let (busy, quiet) = (sums(90, 60, 3), sums(10, 0, 1));
        let mut all = busy.clone();
        all.take(&quiet);
        let figures = all.figures(None, Some((3, 4)));
        assert_eq!((figures.degree_of_success, figures.compared), (Some(0.6), 100));
        assert_eq!((figures.change_rate_per_day, figures.freshness_believed), (Some(0.5), Some(0.75)));
        assert_eq!((figures.freshness_measured, figures.believed_by), (Some(0.75), Some("history")));
    }

    #[test]
    fn a_policy_with_a_model_is_believed_before_the_history_and_nothing_is_said_of_nothing() {
        let belief = Belief { likely: 1.5, pages: 2, age_days: 3.0, ..Belief::default() };
        let figures = sums(10, 1, 1).figures(Some(belief), None);
        let told = (figures.freshness_believed, figures.mean_age_days, figures.believed_by);
        assert_eq!(told, (Some(0.75), Some(1.5), Some("policy")));
        let nothing = Sums::default().figures(None, None);
        assert_eq!(nothing, Figures { cycle_days: 7.0, ..Figures::default() });
    }
}
