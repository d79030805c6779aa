//! Explains the state of the crawl to people; nothing is changed here.

use vernal_model::{Moment, Page, PageKey, PageState, Site, SiteState, Span, Url, Via};
use vernal_policy::collection::{HISTORY_KEPT, RETURN_AFTER};
use vernal_policy::{Remedy, Unkept};
use vernal_repository::KnownState;

use crate::crawler::Crawler;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::partition::Believed;
use crate::plan::choosing::show_view;
use crate::{Check, Result};

/// Whether promises are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromisesKept {
    /// Pages that were promised a visit within some time, and how many of them are overdue.
    pub promised: u64,
    pub overdue: u64,
    pub most_overdue: Span,
    /// Visits a day that all promises together need, and visits a day that the budget pays for.
    pub needs_per_day: f64,
    pub per_day: f64,
    /// Changes of settings that would let the broken promises be kept.
    pub remedies: Vec<Remedy<Site>>,
}

impl Crawler {
    /// What keeps a URL from its next visit.
    pub fn check(&mut self, url: &Url, now: Moment) -> Result<Check> {
        let known = self.core.work.key_of(url)?;
        let state = match known {
            None if self.core.scope.forgotten.entry_of(url).is_some() => "forgotten",
            None => "unknown",
            Some(known) => match known.state {
                KnownState::Waiting => "waiting",
                KnownState::Barred => "barred",
                KnownState::Visited => {
                    let page = known.key.map(|key| self.core.work.page(key)).transpose()?.flatten();
                    page.map_or("visited", |page| page.state.name())
                }
            },
        };
        let site = url.site();
        let id = self.core.partitions.home_of(url);
        let robots = self.core.sites.robots.told(url, &self.core.work, now)?;
        let copy = self.core.sites.robots.copy_in_force(url, &self.core.work)?;
        // A requisite is within the scope of its page.
        let row = known.and_then(|known| known.key).map(|key| self.core.work.url(key)).transpose()?.flatten();
        let is_requisite = row.is_some_and(|row| row.via == Via::Requisite && row.url == *url);
        let in_scope = is_requisite || self.core.scope.contains(url, 0);
        let seed = self.core.scope.seeds().iter().find(|seed| seed.covers(url, 0)).map(|seed| seed.url.clone());
        let sites = &self.core.partitions.of(id).sites;
        let next_slot = sites.politeness.earliest(&site).max(now);
        let trap = sites.traps.suspects(url, now);
        let (standing, crawl_delay) = match sites.site(&site) {
            Some(life) => (life.profile.standing, life.profile.crawl_delay),
            None => (SiteState::Active, None),
        };
        Ok(Check {
            url: url.clone(),
            in_scope,
            seed,
            robots,
            robots_read: copy.map(|(read, _)| read),
            robots_stale: copy.is_some_and(|(_, stale)| stale),
            crawl_delay_secs: crawl_delay.map(|delay| delay.secs_f64()),
            trap,
            state,
            next_slot,
            site_standing: match standing {
                SiteState::Active => "active",
                SiteState::Paused => "paused",
                SiteState::Blocked => "blocked",
            },
        })
    }

    /// Why this page is due when it is, in words and numbers; `None` if no such page is known.
    pub fn why(&mut self, url: &Url, now: Moment) -> Result<Option<Vec<(String, String)>>> {
        let Some(page) = self.core.work.page_by_url(url)? else { return self.why_waiting(url) };
        // A policy that has not chosen yet does not know its budget, nor whether pages may be abandoned.
        show_view(&mut self.core, page.key.partition, now);
        let mut reasons = vec![
            ("state".to_owned(), page.state.name().to_owned()),
            ("last visit".to_owned(), page.last_visit.rfc3339()),
            ("last outcome".to_owned(), page.last_outcome.name().to_owned()),
            ("visits compared".to_owned(), page.compared.to_string()),
            ("changes seen".to_owned(), page.changes.to_string()),
        ];
        reasons.extend(changes_a_day(&page).map(|words| ("changes a day".to_owned(), words)));
        reasons.extend(self.hints.words(&self.core, &page)?);
        let policy = &self.core.partitions.of(page.key.partition).refresh.policy;
        match visit_owner(&page) {
            VisitOwner::Policy => reasons.extend(policy.why(page.key, now)),
            VisitOwner::Retry { at, .. } => {
                if page.version.is_some_and(|version| version.is_lost()) {
                    reasons.push(("body".to_owned(), "lost on disk, so the page is asked for again".to_owned()));
                }
                reasons.push(("tried again at".to_owned(), at.rfc3339()));
            }
            VisitOwner::Nobody => {}
        }
        reasons.extend(self.why_held(page.key, Some(page.state))?);
        Ok(Some(reasons))
    }

    /// Why a known URL was not visited yet; `None` when it does not wait.
    fn why_waiting(&self, url: &Url) -> Result<Option<Vec<(String, String)>>> {
        let Some(known) = self.core.work.key_of(url)? else { return Ok(None) };
        let Some(key) = known.key.filter(|_| known.state == KnownState::Waiting) else { return Ok(None) };
        let mut reasons = vec![
            ("state".to_owned(), "waiting for its first visit".to_owned()),
            ("pages that link to it".to_owned(), known.back_links.to_string()),
        ];
        if let Some(row) = self.core.work.url(key)?.filter(|row| row.url == *url) {
            reasons.push(("known since".to_owned(), row.admitted.rfc3339()));
            reasons.push(("rank".to_owned(), row.rank.to_string()));
        }
        reasons.extend(self.why_held(key, None)?);
        Ok(Some(reasons))
    }

    /// Whether the collection holds a URL and what it would need to be held, in words.
    fn why_held(&self, key: PageKey, state: Option<PageState>) -> Result<Vec<(String, String)>> {
        let mut reasons = Vec::new();
        let mut say = |name: &str, value: String| reasons.push((name.to_owned(), value));
        let mark = self.passes.graph_mark();
        if let Some(urls) = self.passes.link_scores.refused() {
            let most = self.core.settings.pass_urls_max;
            say("no pass over links", format!("{urls} known URLs are more than the {most} that one may take"));
        }
        let score = self.core.work.score(key)?;
        if let Some(score) = score.filter(|_| mark.passes > 0) {
            say("score by links", format!("{score:.3} of a mean held page's, as of {}", mark.moment.rfc3339()));
        }
        if state == Some(PageState::Held) && self.core.is_collection_full() && mark.bar > 0.0 {
            say("held because", format!("a URL needs {:.3} to take a place (the collection is full)", mark.bar));
        }
        if let Some(left) = self.core.work.left(key)? {
            let for_whom = match self.core.work.url(left.made_room_for)?.filter(|_| left.made_room_for != key) {
                Some(row) => format!("to make room for {} with {:.3}", row.url, left.better),
                None => "because more was held than should be".to_owned(),
            };
            let words =
                format!("at {} with an importance of {:.3}, {for_whom}", left.moment.rfc3339(), left.importance);
            say(if state == Some(PageState::Left) { "left" } else { "had left" }, words);
            if state == Some(PageState::Left) {
                say("may return from", (left.moment + RETURN_AFTER).rfc3339());
                say("history kept until", (left.moment + HISTORY_KEPT).rfc3339());
            }
        }
        if matches!(state, None | Some(PageState::Left)) {
            match self.plan.wanted.place_of(key) {
                Some(place) => say("wanted", format!("as number {} of those with room made for them", place + 1)),
                None if mark.bar > 0.0 && self.core.is_collection_full() => {
                    say("needs", format!("an importance of {:.3} to be held (the collection is full)", mark.bar));
                }
                None => {}
            }
        }
        Ok(reasons)
    }

    /// What the policy believes of the freshness of the held pages. The only place where this is summed up.
    pub fn believed(&mut self, now: Moment) -> Believed {
        let believed = self.core.partitions.believed(now);
        let partitions = &self.core.partitions;
        let site_of = |page: PageKey| Some(partitions.of(page.partition).sites.life_of(page)?.site.clone());
        Believed { measured: self.plan.samples.by_site(site_of), ..believed }
    }

    /// How likely a held page is up to date; `None` where the policy does not know it, or has no model.
    pub fn belief_of(&self, page: PageKey, now: Moment) -> Option<f64> {
        self.core.partitions.belief_of(page, now)
    }

    /// Whether any promise was made.
    pub fn has_promises(&self) -> bool {
        self.core.scope.has_promises()
    }

    pub fn promises_kept(&mut self, now: Moment) -> Result<PromisesKept> {
        self.renew_promises(now)?;
        let (mut all, mut named) = (Unkept::default(), Vec::new());
        for partition in self.core.partitions.iter().filter(|_| self.has_promises()) {
            let Some(policy) = partition.refresh.policy.promising() else { continue };
            let unkept = policy.unkept(now);
            let site_of = |number: u32| &partition.sites.at(number).site;
            // The budget is shared by all partitions and judged below.
            for remedy in unkept.remedies(f64::INFINITY, |site| partition.sites.politeness.delay(site_of(site))) {
                if let Remedy::Delay { site, at_most, now } = remedy {
                    named.push(Remedy::Delay { site: site_of(site).clone(), at_most, now });
                }
            }
            all.join(&unkept);
        }
        let per_day = self.core.refresh_per_day(self.core.partitions.sums());
        if all.needs_per_day > per_day {
            named.insert(0, Remedy::Budget { per_day: all.needs_per_day });
        }
        Ok(PromisesKept {
            promised: all.promised,
            overdue: all.overdue,
            most_overdue: all.most_overdue,
            needs_per_day: all.needs_per_day,
            per_day,
            remedies: named,
        })
    }
}

/// The changes a day that visits to a page have found, in days of the calendar.
fn changes_a_day(page: &Page) -> Option<String> {
    let watched = page.last_visit.since(page.first_visit);
    let days = watched.days_f64();
    (page.compared > 0 && days > 0.0)
        .then(|| format!("{:.2} found by visits, in {watched}", f64::from(page.changes) / days))
}

#[cfg(test)]
mod tests {
    use vernal_model::{Outcome, Seed};

    use super::*;
    use crate::testing::{Bench, START, Web, after, html, seed, unhindered, url};
    use crate::{Act, Settings};

    const ROOT: &str = "http://a.example/";

    fn crawled() -> Bench {
        let mut web = Web::of_sites(&["a.example"], 3);
        web.put_as("http://a.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /p1\nCrawl-delay: 3\n");
        web.put(ROOT, &html("The front page.", &["/p0", "/p1", "http://b.example/"]));
        let mut bench = Bench::seeded(Settings { policy: "vernal".into(), ..unhindered() }, &[ROOT]);
        bench.run_for(&web, Span::from_secs(60));
        bench.commit();
        bench
    }

    #[test]
    fn a_check_says_what_stands_between_a_url_and_its_visit_and_asks_nobody() {
        let mut bench = crawled();
        let orders = bench.crawler.pulse().orders_sent;
        let mut check = |text: &str| bench.crawler.check(&url(text), after(60)).unwrap();
        let front = check(ROOT);
        assert_eq!((front.state, front.robots, front.in_scope, front.seed), ("held", "allowed", true, Some(url(ROOT))));
        assert_eq!((front.crawl_delay_secs, front.site_standing), (Some(3.0), "active"));
        assert_eq!((front.robots_read, front.robots_stale), (Some(START), false));
        let forbidden = check("http://a.example/p1");
        assert_eq!((forbidden.state, forbidden.robots), ("refused", "forbidden"));
        let elsewhere = check("http://b.example/");
        assert_eq!((elsewhere.state, elsewhere.robots, elsewhere.in_scope), ("unknown", "unknown", false));
        assert_eq!(check("http://a.example/never").state, "unknown");
        assert_eq!(bench.crawler.pulse().orders_sent, orders);
        assert!(!bench.crawler.has_uncommitted());
    }

    #[test]
    fn a_blocked_site_is_never_free() {
        let mut bench = crawled();
        bench.crawler.act(Act::Block(url(ROOT).site()), after(60)).unwrap();
        let check = bench.crawler.check(&url(ROOT), after(60)).unwrap();
        assert_eq!((check.site_standing, check.next_slot), ("blocked", Moment::NEVER));
    }

    #[test]
    fn every_page_of_ours_has_its_reasons_and_strangers_have_none() {
        let mut bench = crawled();
        let mut why = |text: &str| bench.crawler.why(&url(text), after(60)).unwrap();
        let names = |reasons: Option<Vec<(String, String)>>| {
            reasons.map(|reasons| reasons.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        let held = names(why(ROOT)).expect("it is held");
        assert!(["state", "last visit", "visits compared"].iter().all(|name| held.contains(&(*name).to_owned())));
        let refused = names(why("http://a.example/p1")).expect("it is known");
        assert!(refused.contains(&"tried again at".to_owned()), "{refused:?}");
        assert_eq!(why("http://b.example/"), None);
        bench.admit(&["http://a.example/later"]);
        let waiting = names(bench.crawler.why(&url("http://a.example/later"), after(60)).unwrap()).unwrap();
        assert!(waiting.contains(&"pages that link to it".to_owned()), "{waiting:?}");
    }

    #[test]
    fn promises_that_nothing_can_keep_name_what_would() {
        let least = Seed { at_least_every: Some(Span::from_secs(10)), ..seed(ROOT) };
        let settings = Settings {
            policy: "vernal".into(),
            budget: "1/day".parse().unwrap(),
            delay: Span::from_hours(1),
            ..unhindered()
        };
        let mut bench = Bench::new(settings);
        assert!(!bench.crawler.has_promises());
        assert_eq!(bench.crawler.promises_kept(START).unwrap().promised, 0);
        bench.crawler.act(Act::AddSeeds(vec![least]), START).unwrap();
        bench.admit(&[]);
        bench.read(ROOT, &html("Words.", &[]));
        bench.meet(ROOT, Outcome::NotModified);
        let kept = bench.crawler.promises_kept(after(86_400)).unwrap();
        assert!(bench.crawler.has_promises());
        assert_eq!((kept.promised, kept.overdue), (1, 1));
        assert!(kept.most_overdue > Span::from_hours(23) && kept.needs_per_day > kept.per_day);
        let is_budget =
            |remedy: &Remedy<Site>| matches!(remedy, Remedy::Budget { per_day } if *per_day == kept.needs_per_day);
        let is_delay = |remedy: &Remedy<Site>| matches!(remedy, Remedy::Delay { at_most, now, .. } if at_most < now);
        assert!(kept.remedies.iter().any(is_budget) && kept.remedies.iter().any(is_delay), "{:?}", kept.remedies);
    }
}
