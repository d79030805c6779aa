//! What is promised of the held pages, kept up to date when people change seeds or their tags.

use vernal_model::Moment;

use crate::Result;
use crate::crawler::Crawler;
use crate::intake::page_life::{VisitOwner, visit_owner};

impl Crawler {
    /// Tells the policies what is promised of their pages, if that has changed since they were last told.
    pub(crate) fn renew_promises(&mut self, now: Moment) -> Result<()> {
        let digest = self.core.scope.promise_digest();
        // A process that visits each page once keeps no promises: a page that it has visited is with no policy any more.
        if digest == self.promised || self.core.settings.once {
            return Ok(());
        }
        self.promised = digest;
        self.commit(now)?;
        let reader = self.reader();
        for page in reader.pages_after(None) {
            let page = page?;
            if visit_owner(&page) != VisitOwner::Policy {
                continue;
            }
            let promise = self.core.scope.promise_of(&page.url, page.depth);
            let in_flight = self.core.in_flight.has(page.key) || self.plan.is_chosen(page.key);
            let partition = self.core.partitions.of_mut(page.key.partition);
            partition.refresh.promise(&mut partition.sites, &page, promise, in_flight);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Seed, Span};

    use crate::settings::{Wish, WishOf};
    use crate::testing::{Bench, Web, seed, unhindered};
    use crate::{Act, Promise, Settings};

    const ROOT: &str = "http://a.example/";
    const PAGES: usize = 20;

    fn tagged(tags: &[&str]) -> Act {
        Act::AddSeeds(vec![Seed { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..seed(ROOT) }])
    }

    fn crawled() -> Bench {
        let every = Promise { at_least_every: Some(Span::from_hours(6)), at_most_every: None };
        let promises = vec![Wish { of: WishOf::Tag("news".into()), promise: every }];
        let settings =
            Settings { policy: "vernal".into(), promises, budget: "1000/day".parse().unwrap(), ..unhindered() };
        let mut bench = Bench::seeded(settings, &[ROOT]);
        bench.run_for(&Web::of_sites(&["a.example"], PAGES), Span::from_secs(3_600));
        bench
    }

    fn promised(bench: &mut Bench) -> u64 {
        let now = bench.now;
        bench.crawler.promises_kept(now).unwrap().promised
    }

    #[test]
    fn a_seed_that_gets_a_tag_or_loses_it_promises_all_of_its_held_pages_or_none() {
        let mut bench = crawled();
        let all = bench.crawler.core.partitions.held();
        assert_eq!((all, promised(&mut bench)), (PAGES as u64 + 1, 0));
        bench.crawler.act(tagged(&["news"]), bench.now).unwrap();
        assert_eq!(promised(&mut bench), all);
        bench.crawler.act(tagged(&["news", "more"]), bench.now).unwrap();
        assert_eq!(promised(&mut bench), all);
        bench.crawler.act(tagged(&[]), bench.now).unwrap();
        assert_eq!(promised(&mut bench), 0);
    }

    #[test]
    fn pages_that_are_promised_later_are_visited_as_promised() {
        let web = Web::of_sites(&["a.example"], PAGES);
        let mut bench = crawled();
        bench.crawler.act(tagged(&["news"]), bench.now).unwrap();
        bench.asked.clear();
        bench.run_for(&web, Span::from_hours(7));
        for page in 0..PAGES {
            assert!(bench.times_asked(&format!("{ROOT}p{page}")) > 0, "{page}");
        }
        let now = bench.now;
        let kept = bench.crawler.promises_kept(now).unwrap();
        assert_eq!((kept.promised, kept.overdue), (PAGES as u64 + 1, 0));
    }
}
