//! Seeds that could not be read, with the reason: a crawl that ends by itself says so.

use vernal_model::{Failure, Moment, Outcome, Page, Refusal, Url};

use crate::Result;
use crate::core::Core;
use crate::crawler::Crawler;
use crate::partition::Reach;

/// A seed that no visit has read, or whose site did not answer this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreachedSeed {
    pub url: Url,
    pub why: String,
}

impl Crawler {
    /// The seeds that could not be reached, in the order of their URLs.
    pub fn unreached_seeds(&mut self, now: Moment) -> Result<Vec<UnreachedSeed>> {
        let core = &mut self.core;
        let seeds: Vec<(Url, Option<Url>)> =
            core.scope.seeds().iter().map(|seed| (seed.url.clone(), seed.moved_to.clone())).collect();
        let mut unreached = Vec::new();
        for (url, moved_to) in seeds {
            let why = match why_unreached(core, &url, now)? {
                Some(why) => Some(why),
                None => match moved_to.filter(|to| *to != url) {
                    Some(to) => why_unreached(core, &to, now)?.map(|why| format!("it redirects to {to}: {why}")),
                    None => None,
                },
            };
            unreached.extend(why.map(|why| UnreachedSeed { url, why }));
        }
        unreached.sort_by(|one, other| one.url.cmp(&other.url));
        Ok(unreached)
    }

    /// Whether a person gave this URL as a seed.
    pub fn is_seed(&self, url: &Url) -> bool {
        self.core.scope.seed_at(url).is_some()
    }
}

fn why_unreached(core: &mut Core, url: &Url, now: Moment) -> Result<Option<String>> {
    let id = core.partitions.home_of(url);
    if let Some(Reach::Unreached(why)) = core.partitions.of(id).sites.site(&url.site()).map(|life| life.reach.clone()) {
        return Ok(Some(why.into()));
    }
    if let Some(page) = core.work.page_by_url(url)? {
        return Ok(why_unread(&page));
    }
    let waits = core.work.key_of(url)?.is_some_and(|known| known.key.is_some());
    let is_forbidden_for_now = waits && core.sites.robots.told(url, &core.work, now)? == "unreachable";
    Ok(is_forbidden_for_now.then(|| Outcome::Refused(Refusal::RobotsUnreachable).detail()))
}

/// Why a page was never read, if that is no answer of its own and no rule of its site.
fn why_unread(page: &Page) -> Option<String> {
    let speaks = match &page.last_outcome {
        Outcome::Failed(failure) => *failure != Failure::Lost,
        Outcome::Refused(Refusal::Guard(_) | Refusal::RobotsUnreachable | Refusal::Scheme) => true,
        _ => false,
    };
    (page.version.is_none() && speaks).then(|| page.last_outcome.detail())
}

#[cfg(test)]
mod tests {
    use vernal_model::Span;

    use super::*;
    use crate::testing::{Bench, Web, unhindered};
    use crate::{Act, Settings};

    const ROOT: &str = "http://a.example/";

    fn down() -> Outcome {
        Outcome::Failed(Failure::Connect("connection refused".into()))
    }

    fn told(bench: &mut Bench) -> Vec<(String, String)> {
        let unreached = bench.crawler.unreached_seeds(bench.now).unwrap();
        unreached.into_iter().map(|seed| (seed.url.to_string(), seed.why)).collect()
    }

    /// A site that answers nothing, beside one that does.
    fn half_down() -> Web {
        let mut web = Web::of_sites(&["b.example"], 3);
        for url in ["http://a.example/robots.txt", ROOT] {
            web.answers(url, down());
        }
        web
    }

    #[test]
    fn a_crawl_that_ends_by_itself_does_not_wait_for_a_site_that_it_never_reached() {
        let mut bench = Bench::seeded(Settings { once: true, ..unhindered() }, &[ROOT, "http://b.example/"]);
        let begun = bench.now;
        bench.run_until_idle(&half_down());
        assert!(bench.now.since(begun) < Span::from_secs(10), "{}", bench.now.since(begun));
        assert_eq!(bench.crawler.core.partitions.held(), 4, "the other site is read whole");
        assert_eq!(told(&mut bench), [(ROOT.to_owned(), "connect: connection refused".to_owned())]);
    }

    #[test]
    fn a_site_that_fails_after_it_was_reached_is_tried_again_before_the_end() {
        let mut web = half_down();
        web.put_as("http://a.example/robots.txt", "text/plain", "");
        let mut bench = Bench::seeded(Settings { once: true, ..unhindered() }, &[ROOT]);
        bench.run_until_idle(&web);
        assert!(bench.times_asked(ROOT) > 1);
        assert_eq!(told(&mut bench), [(ROOT.to_owned(), "connect: connection refused".to_owned())]);
    }

    #[test]
    fn what_the_guard_of_one_process_refused_is_read_by_the_next_whose_guard_allows_it() {
        let open = Web::of_sites(&["a.example"], 6);
        let mut shut = open.clone();
        let refused = || Outcome::Refused(Refusal::Guard("10.0.0.1 is private".into()));
        let paths = ["robots.txt", "p1", "p2", "p3", "p4", "p5", "p0"];
        paths.iter().for_each(|path| shut.answers(&format!("{ROOT}{path}"), refused()));
        let settings = Settings { once: true, ..unhindered() };
        let mut bench = Bench::seeded(settings.clone(), &[ROOT]);
        let mut front_only = open.clone();
        paths.iter().skip(1).for_each(|path| front_only.answers(&format!("{ROOT}{path}"), refused()));
        bench.run_until_idle(&front_only);
        bench.commit();
        assert_eq!(bench.crawler.reader().totals().refused, 6);
        shut.answers(ROOT, refused());
        bench.now += Span::from_secs(5);
        let mut bench =
            bench.reopened_with(Settings { refresh_min: Span::ZERO, budget: "1000/s".parse().unwrap(), ..settings });
        bench.run_until_idle(&shut);
        assert_eq!(bench.page(ROOT).unwrap().last_outcome.name(), "refused", "the held page too");
        bench.now += Span::from_secs(5);
        let mut bench = bench.reopened();
        let begun = bench.now;
        bench.run_until_idle(&open);
        assert!(bench.now.since(begun) < Span::from_secs(60), "{}", bench.now.since(begun));
        assert_eq!(bench.crawler.core.partitions.held(), 7);
        assert_eq!(bench.page(ROOT).unwrap().failures, 0);
    }

    #[test]
    fn what_was_read_or_answered_is_no_unreached_seed() {
        let mut web = Web::of_sites(&["a.example"], 2);
        web.put_as("http://a.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /p1");
        let seeds = [ROOT, "http://a.example/p1", "http://a.example/nothing-here"];
        let mut bench = Bench::seeded(Settings { once: true, ..unhindered() }, &seeds);
        assert_eq!(told(&mut bench), [], "nothing was asked yet");
        bench.run_until_idle(&web);
        assert_eq!(told(&mut bench), []);
        let mut bench = bench.reopened();
        bench.meet(ROOT, down());
        assert_eq!(told(&mut bench), [], "a held page that fails once is held");
        bench.crawler.act(Act::RemoveSeed(Url::parse(ROOT).unwrap()), bench.now).unwrap();
        assert!(!bench.crawler.is_seed(&Url::parse(ROOT).unwrap()));
    }
}
