//! The held pages of one partition with their policy, and the value of the policy's best visit.

use vernal_model::{Moment, Page, PageKey, Span, TopicOf};
use vernal_policy::{Best, Held, Refresh};

use super::sites::{NO_SITE, SiteBook};
use super::{Facts, RefreshView};
use crate::settings::Promise;
use crate::url_terms::UrlTermsBook;
use crate::{Error, Result};

pub(crate) struct RefreshQueue {
    pub policy: Box<dyn Refresh>,
    url_terms: UrlTermsBook,
    /// Visits to held pages that the partition is owed, when several partitions want one.
    pub credit: f64,
    /// The value of its best visit, where the policy knows it, and when the policy was asked.
    best: Option<Best>,
    asked: Option<Moment>,
    /// The tick at which the policy had nothing to choose, if nothing changed here since.
    nothing_at: Option<u64>,
    /// The site of the page that the policy chose last.
    last_chosen: Option<u32>,
}

impl RefreshQueue {
    pub fn new(policy: &str) -> Result<Self> {
        let (policy, url_terms) = (vernal_policy::named(policy).map_err(Error::Policy)?, UrlTermsBook::default());
        Ok(RefreshQueue {
            policy,
            url_terms,
            credit: 0.0,
            best: None,
            asked: None,
            nothing_at: None,
            last_chosen: None,
        })
    }

    /// With parameters that some URLs have of their own.
    #[must_use]
    pub fn with_terms(self, url_terms: UrlTermsBook) -> Self {
        RefreshQueue { url_terms, ..self }
    }

    /// Adds a page to the policy.
    pub fn recall(&mut self, sites: &mut SiteBook, page: &Page, promise: Promise) {
        self.invalidate();
        if let Some(policy) = self.policy.own_terms() {
            policy.set_terms(page.key, self.url_terms.of(&page.url));
        }
        self.policy.recall(&held(sites, page, promise));
    }

    /// Sets what is promised of a page that the policy has.
    pub fn promise(&mut self, sites: &mut SiteBook, page: &Page, promise: Promise, in_flight: bool) {
        self.invalidate();
        if let Some(policy) = self.policy.promising_mut() {
            policy.promise(&held(sites, page, promise), in_flight);
        }
    }

    /// Sets the importance of a page.
    pub fn weigh(&mut self, page: PageKey, importance: f32) {
        if let Some(policy) = self.policy.weighable() {
            policy.weigh(page, importance);
        }
        self.invalidate();
    }

    /// Passes on a hint that the page changed since its last visit; `worth` is the waiting time that it counts for.
    pub fn hint(&mut self, page: PageKey, worth: Span) {
        if let Some(policy) = self.policy.hinted() {
            policy.hint(page, worth);
        }
        self.invalidate();
    }

    /// Sets the topics of a page.
    pub fn topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        if let Some(policy) = self.policy.topical() {
            policy.topics(page, topics);
        }
    }

    /// What the policy remembers of a site, if that changed since the last call.
    pub fn site_state(&mut self, site: u32) -> Option<Vec<u8>> {
        self.policy.site_memory().and_then(|policy| policy.site_state(site))
    }

    /// Restores what the policy remembered of a site.
    pub fn recall_site(&mut self, site: u32, state: &[u8]) {
        if let Some(policy) = self.policy.site_memory() {
            policy.recall_site(site, state);
        }
    }

    /// Returns a page that the policy chose and that is not visited after all.
    pub fn put_back(&mut self, page: PageKey) {
        self.policy.put_back(page);
        self.nothing_at = None;
    }

    /// Something changed here: the value of the best visit must be asked again.
    pub fn invalidate(&mut self) {
        self.asked = None;
        self.nothing_at = None;
    }

    pub fn best(&self) -> Option<Best> {
        self.best
    }

    /// When the policy was last asked for the value of its best visit, if nothing changed since.
    pub fn asked(&self) -> Option<Moment> {
        self.asked
    }

    /// Whether the policy had nothing to choose at this tick.
    pub fn has_nothing(&self, tick: u64) -> bool {
        self.nothing_at == Some(tick)
    }

    /// Stores the value of the best visit as of now.
    pub fn told_best(&mut self, best: Option<Best>, now: Moment) {
        (self.best, self.asked) = (best, Some(now));
    }

    /// Notes that the policy had nothing to choose at this tick.
    pub fn told_nothing(&mut self, tick: u64) {
        (self.best, self.asked, self.nothing_at) = (None, None, Some(tick));
    }

    /// Notes that the policy chose pages, and the site of the last one.
    pub fn chose(&mut self, site_of_last: Option<u32>) {
        (self.asked, self.last_chosen) = (None, site_of_last);
    }

    /// The site that the policy chose last.
    pub fn last_chosen(&self) -> Option<u32> {
        self.last_chosen
    }

    /// The policy, and the view that it may see.
    pub fn with_view<'a>(
        &'a mut self,
        sites: &'a SiteBook,
        facts: Facts,
        now: Moment,
    ) -> (&'a mut dyn Refresh, RefreshView<'a>) {
        (self.policy.as_mut(), RefreshView { facts, sites, now })
    }
}

/// A page as a policy sees it.
fn held<'a>(sites: &mut SiteBook, page: &'a Page, promise: Promise) -> Held<'a> {
    let site = sites.site_of(page.key).unwrap_or(NO_SITE);
    Held {
        page: page.key,
        site,
        path: sites.path_number(site, &page.url),
        importance: page.importance,
        admitted: page.admitted,
        last_visit: page.last_visit,
        wire_bytes: page.version.map_or(0, |version| u64::from(version.body_bytes)),
        at_least_every: promise.at_least_every,
        at_most_every: promise.at_most_every,
        known_rate: None,
        state: &page.policy,
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Span;

    use super::*;
    use crate::Settings;
    use crate::testing::{START, after, held};

    fn facts(held: u64) -> Facts {
        Facts {
            visits_left: 1,
            refresh_min: Span::ZERO,
            held,
            per_day: 1e6,
            mean_rate: 1.0,
            counts_bytes: false,
            may_abandon: false,
            any_site: false,
        }
    }

    #[test]
    fn a_policy_that_nobody_knows_is_named_with_those_that_there_are() {
        let error = RefreshQueue::new("guess").err().expect("there is none").to_string();
        assert!(error.contains("`guess`") && error.contains("round-robin"), "{error}");
    }

    #[test]
    fn what_the_best_visit_is_worth_is_remembered_until_something_happens() {
        let mut queue = RefreshQueue::new("vernal").unwrap();
        queue.told_best(Some(Best::AtMost(2.0)), START);
        assert_eq!((queue.best().map(Best::most), queue.asked()), (Some(2.0), Some(START)));
        queue.chose(Some(4));
        assert_eq!((queue.asked(), queue.last_chosen()), (None, Some(4)), "a visit was taken out");
        queue.told_best(Some(Best::Exactly(1.0)), START);
        queue.invalidate();
        assert_eq!(queue.asked(), None);
        queue.told_best(Some(Best::Exactly(1.0)), START);
        queue.told_nothing(7);
        assert_eq!((queue.best().map(Best::most), queue.asked()), (None, None));
    }

    #[test]
    fn a_queue_that_had_nothing_has_nothing_within_the_tick_unless_something_happens() {
        let mut queue = RefreshQueue::new("round-robin").unwrap();
        queue.told_nothing(7);
        assert!(queue.has_nothing(7) && !queue.has_nothing(8));
        queue.put_back(held("http://a.example/", 0).key);
        assert!(!queue.has_nothing(7));
        queue.told_nothing(7);
        queue.invalidate();
        assert!(!queue.has_nothing(7));
    }

    #[test]
    fn a_page_that_was_chosen_is_out_until_it_is_put_back() {
        for policy in ["round-robin", "change-frequency", "refresh-time", "nutch-adaptive", "vernal"] {
            let mut sites = SiteBook::new(&Settings::default(), START);
            let (mut queue, page) = (RefreshQueue::new(policy).unwrap(), held("http://a.example/", 0));
            sites.note_page(&page);
            queue.recall(&mut sites, &page, Promise::default());
            let mut chance = vernal_model::Chance::new(1);
            let mut chosen = |queue: &mut RefreshQueue, day: u64| {
                let now = after(day * 86_400);
                let (policy, view) = queue.with_view(&sites, facts(1), now);
                policy.choose(&view, now, &mut chance)
            };
            let first = (1..400).find(|&day| !chosen(&mut queue, day).is_empty()).expect("some day it is due");
            assert_eq!(chosen(&mut queue, first), [], "{policy}");
            queue.put_back(page.key);
            let again = (first..first + 400).find(|&day| chosen(&mut queue, day) == [page.key]);
            assert!(again.is_some(), "{policy}");
        }
    }

    #[test]
    fn pages_of_sites_that_are_closed_are_not_chosen() {
        let settings = Settings::default();
        let mut partition = crate::partition::Partition::new(Default::default(), &settings, START).unwrap();
        let page = held("http://a.example/", 0);
        partition.recall_page(&page, Promise::default(), START);
        partition.set_standing(&page.url.site(), vernal_model::SiteState::Blocked);
        let crate::partition::Partition { refresh, sites, .. } = &mut partition;
        let now = after(86_400);
        let (policy, view) = refresh.with_view(sites, Facts { any_site: true, ..facts(1) }, now);
        assert_eq!(policy.choose(&view, now, &mut vernal_model::Chance::new(1)), []);
    }
}
