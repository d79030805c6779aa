//! A crawler of an invented web, in a folder of its own.

use std::path::Path;

use vernal_crawler::{Act, Crawler, Settings};
use vernal_model::{Moment, Seed, Url};
use vernal_repository::Repository;
use vernal_simulator::web::Web;

/// A fixed number instead of a random one, so that records have the same ids and lengths in every trial.
pub fn opened(dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let fixed = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(dir, fixed, now).unwrap();
    Crawler::open(repository, settings, now).unwrap()
}

/// A crawler of the whole web, seeded with the first page of each site.
pub fn seeded(web: &Web, dir: &Path, settings: Settings, now: Moment) -> Crawler {
    let mut crawler = opened(dir, settings, now);
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), now).unwrap();
    crawler
}
