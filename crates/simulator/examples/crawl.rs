//! The whole crawler on an invented web, in virtual time: `crawl FOLDER SITES PAGES_PER_SITE DAYS`, timed from outside. Every
//! page is read once, and then again as the default policy says, at half of the pages a day. With a folder in memory
//! nothing waits for a disk.

use std::process::ExitCode;

use vernal_crawler::{Act, Crawler, Settings};
use vernal_model::{Seed, Span, Url};
use vernal_repository::Repository;
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{Web, WebSettings};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match crawled(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crawl: {error}");
            ExitCode::FAILURE
        }
    }
}

fn crawled(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [folder, sites, pages, days] = words else { return Err("crawl FOLDER SITES PAGES_PER_SITE DAYS".into()) };
    let web = Web::new(WebSettings::plain(sites.parse()?, pages.parse()?))?;
    let start = web.settings().origin + Span::from_days(1);
    let settings = Settings {
        budget: "50%/day".parse()?,
        delay: Span::from_millis(10),
        concurrency: 64,
        once: false,
        ..Settings::default()
    };
    let (repository, _) = Repository::open(folder.as_ref(), vernal_repository::Settings::default(), start)?;
    let mut crawler = Crawler::open(repository, settings, start)?;
    let mut seeds = Vec::new();
    for site in 0..web.sites() {
        seeds.push(Seed::new(Url::parse(&format!("{}/", web.root(site)))?, start));
    }
    crawler.act(Act::AddSeeds(seeds), start)?;
    let mut trial = Trial::new(&web, crawler, start, 1).committing_every(Span::from_secs(60));
    trial.run_until(start + Span::from_days(days.parse()?))?;
    let visits = trial.asked().len();
    trial.close()?;
    println!("{visits} visits in {days} days");
    Ok(())
}
