//! The prior of a page, and what its own visits make of it.

use super::{Calibration, GlobalRate, ImportanceBuckets, PriorStrength, TopicPool};
use crate::estimate::Gamma;
use crate::schedule::by_value::page::Page;
use crate::schedule::by_value::rule::Rule;
use crate::schedule::by_value::site::Site;
use crate::schedule::value::Rate;

#[derive(Clone, Debug)]
pub struct Beliefs {
    pub global: GlobalRate,
    pub topics: TopicPool,
    pub importance: ImportanceBuckets,
    pub strength: PriorStrength,
    /// How right it was lately.
    pub calibration: Calibration,
    path_priors: bool,
    known_rates: bool,
}

impl Beliefs {
    pub fn new(rule: &Rule) -> Self {
        Beliefs {
            global: GlobalRate::default(),
            topics: TopicPool::default(),
            importance: ImportanceBuckets::default(),
            strength: PriorStrength::default(),
            calibration: Calibration::default(),
            path_priors: rule.path_priors,
            known_rates: rule.known_rates,
        }
    }

    /// The rate that the prior of a site leans towards: that of its topics, or of all.
    pub fn above_site(&self, site: u32) -> f64 {
        self.topics.ratio(site).map_or(self.global.mean, |ratio| ratio * self.global.mean)
    }

    /// The mean rate of a page's siblings: its path's, its site's, that of its site's topics, or that of all.
    pub fn siblings(&self, page: &Page, site: &Site) -> f64 {
        if let Some(mean) = site.group_prior(page.group).filter(|_| self.path_priors) {
            return mean;
        }
        if site.all.mean > 0.0 { f64::from(site.all.mean) } else { self.above_site(page.site) }
    }

    /// How many times as often as its siblings a page of its importance is expected to change.
    pub fn times_of(&self, page: &Page) -> f64 {
        self.importance.times(page.importance_bucket())
    }

    /// The mean rate that is expected of a page before its own visits.
    pub fn prior(&self, page: &Page, site: &Site) -> f64 {
        self.siblings(page, site) * self.times_of(page)
    }

    pub fn belief(&self, page: &Page, site: &Site) -> Gamma {
        self.belief_from(page, self.prior(page, site))
    }

    /// What is believed of a page of which this rate was expected.
    pub fn belief_from(&self, page: &Page, prior: f64) -> Gamma {
        let strength = self.strength.shape();
        Gamma { a: strength + f64::from(page.shape), b: strength / prior + f64::from(page.scale) }
    }

    pub fn rate(&self, page: &Page, site: &Site) -> Rate {
        match page.is_known() {
            true => Rate::Known(f64::from(page.rate())),
            false if self.known_rates => Rate::Known(self.belief(page, site).mean()),
            false => Rate::Believed(self.belief(page, site)),
        }
    }

    /// How likely a page is up to date after this operational time, corrected by how right such beliefs were lately.
    pub fn fresh(&self, page: &Page, site: &Site, operational: f64) -> f64 {
        let survival = self.rate(page, site).survival(operational);
        if page.is_known() { survival } else { self.calibration.corrected(survival) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beliefs() -> Beliefs {
        Beliefs::new(&Rule::named("vernal").unwrap())
    }

    #[test]
    fn the_nearest_siblings_that_were_seen_say_what_is_expected() {
        let (mut beliefs, mut site) = (beliefs(), Site::default());
        let mut page = Page::default();
        page.group = site.group_of(5);
        beliefs.global.mean = 0.1;
        assert_eq!(beliefs.siblings(&page, &site), 0.1);
        site.all.mean = 0.5;
        assert_eq!(beliefs.siblings(&page, &site), 0.5);
        site.group_mut(page.group).unwrap().mean = 2.0;
        assert_eq!(beliefs.siblings(&page, &site), 2.0);
    }

    #[test]
    fn visits_of_its_own_move_a_page_away_from_its_prior() {
        let (beliefs, site) = (beliefs(), Site::default());
        let (unobserved, mut quiet) = (Page::default(), Page::default());
        quiet.scale = 900.0;
        let mean = |page: &Page| beliefs.belief(page, &site).mean();
        assert!((mean(&unobserved) - beliefs.prior(&unobserved, &site)).abs() < 1e-12);
        assert!(mean(&quiet) < mean(&unobserved) / 10.0);
        assert!(beliefs.fresh(&quiet, &site, 30.0) > beliefs.fresh(&unobserved, &site, 30.0));
    }

    #[test]
    fn a_known_rate_is_taken_as_it_is() {
        let mut page = Page::default();
        page.mark_known();
        page.set_rate(0.25);
        assert_eq!(beliefs().rate(&page, &Site::default()), Rate::Known(0.25));
    }
}
