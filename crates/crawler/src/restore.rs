//! Rebuilds all state from the archive alone: each record becomes a report again and is handled like every report, so
//! that the crawl and its repair share one code. Nothing is written to the archive.
//!
//! A page must have its number before its visit is journalled, so records are handled in batches: first the pages that
//! are new in the batch are admitted, then its visits follow. The links of the pages are announced again and wait for
//! the sieve, which checks them against the seeds when the crawl continues.

use std::collections::{BTreeMap, HashMap, HashSet};

use vernal_model::{
    Admitted, Deed, Fingerprint, Location, Moment, Origin, Outcome, PageKey, Partition as PartitionId, Report,
    Sequence, Site, SiteListKind, Url, Via, WaitingPlace,
};
use vernal_repository::bodies::{Timeline, timeline};

use crate::crawler::Crawler;
use crate::in_flight::Asked;
use crate::intake::{self, archived_report, discovery, requisites, take_robots};
use crate::partition::window_row;
use crate::settings::Requisites;
use crate::{Result, forget};

/// Records of one batch, and bytes of their blocks: these bound the memory.
const BATCH_RECORDS_MAX: usize = 1_024;
const BATCH_BYTES_MAX: usize = 32 << 20;
/// Links kept in memory to tell on which page another was found first; pages beyond the limit have no such page.
const LEADS_MAX: usize = 4_000_000;
/// Lines about single records; further ones are only counted.
const LOST_TOLD_MAX: usize = 1_000;
/// Likely seeds reported.
const LIKELY_SEEDS_MAX: usize = 100;

/// What was restored, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    pub pages: u64,
    pub versions: u64,
    pub visits: u64,
    pub robots: u64,
    pub links_found: u64,
    /// Pages that no restored page links to: most of them were seeds.
    pub likely_seeds: Vec<Url>,
    /// What could not be restored, record by record.
    pub lost: Vec<String>,
    pub lost_total: u64,
}

/// The page on which another page was found first.
#[derive(Copy, Clone)]
struct Lead {
    found_on: PageKey,
    depth: u16,
    via: Via,
}

/// A page that has its number.
#[derive(Copy, Clone)]
struct Place {
    key: PageKey,
    depth: u16,
    via: Via,
}

struct Item {
    location: Location,
    report: Report,
    what: What,
}

enum What {
    Page { revisit: bool },
    Robots(Origin),
}

/// One restoration.
struct Restoring<'c> {
    crawler: &'c mut Crawler,
    restored: Restored,
    /// Where pages that have no number yet were found first.
    leads: HashMap<Fingerprint, Lead>,
    /// The sites that were ever visited, used as the scope when no seed is known.
    sites: Option<HashSet<Site>>,
    /// Records of pages that were forgotten, which an earlier process had not overwritten yet.
    forgotten: Vec<Location>,
}

impl Crawler {
    /// Restores pages, versions, visits, links and robots rows from the records of the archive into a repository that
    /// holds nothing yet, except perhaps its seeds. `progress` is called with records done and records in all.
    pub fn restore(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Restored> {
        let Timeline { records, sites, damaged } = timeline(self.reader().dir(), &mut |_, _| {})?;
        let mut restoring = Restoring::new(self);
        for line in damaged {
            restoring.lost(line);
        }
        if restoring.crawler.core.scope.seeds().is_empty() {
            restoring.sites = Some(sites.into_iter().collect());
        }
        let total = records.len() as u64;
        let mut done = 0;
        let mut left = records.into_iter().peekable();
        while left.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < BATCH_RECORDS_MAX && bytes < BATCH_BYTES_MAX {
                let Some((_, location)) = left.next() else { break };
                done += 1;
                let Some(item) = restoring.item(location) else { continue };
                bytes += item.report.exchange.as_ref().map_or(0, |exchange| exchange.body.len());
                batch.push(item);
            }
            restoring.restore_batch(batch)?;
            progress(done, total);
        }
        let Restoring { restored, forgotten, .. } = restoring;
        forget::overwrite(&mut self.core, forgotten)?;
        self.commit(self.reader().last_moment())?;
        let totals = self.reader().totals();
        let pages = totals.held + totals.gone + totals.moved + totals.blocked + totals.refused + totals.failed;
        Ok(Restored { pages, versions: totals.versions, links_found: totals.found_pending, ..restored })
    }

    /// Ends the repair that `Repository::begin_repair` began: what was restored counts once this crawler is closed.
    pub fn end_repair(&mut self, now: Moment) -> Result<()> {
        self.commit(now)?;
        self.core.work.durable().end_repair()
    }
}

impl<'c> Restoring<'c> {
    fn new(crawler: &'c mut Crawler) -> Self {
        Restoring { crawler, restored: Restored::default(), leads: HashMap::new(), sites: None, forgotten: Vec::new() }
    }

    fn item(&mut self, location: Location) -> Option<Item> {
        let read =
            self.crawler.core.work.acknowledged().body(&location).map_err(|error| error.to_string()).and_then(|kept| {
                let report = archived_report::report(&kept)?;
                let what = match archived_report::robots_origin(&kept) {
                    Some(origin) => What::Robots(origin),
                    None => What::Page { revisit: archived_report::is_revisit(&kept) },
                };
                Ok(Item { location, report, what })
            });
        match read {
            Ok(item) if self.crawler.core.scope.forgotten.entry_of(&item.report.order.url).is_some() => {
                self.forgotten.push(item.location);
                None
            }
            Ok(item) => Some(item),
            Err(why) => {
                self.lost(format!("segment {} at byte {}: {why}", location.segment, location.offset));
                None
            }
        }
    }

    fn restore_batch(&mut self, mut batch: Vec<Item>) -> Result<()> {
        self.admit_batch(&mut batch)?;
        for item in batch {
            let moment = item.report.started;
            match item.what {
                What::Robots(origin) => self.restore_robots(&origin, &item.report, item.location)?,
                What::Page { revisit } => self.restore_page(item.report, item.location, revisit)?,
            }
            if self.crawler.core.work.is_full() {
                self.crawler.commit(moment)?;
            }
        }
        Ok(())
    }

    /// Assigns every page of the batch its number, in the order of the first visits.
    fn admit_batch(&mut self, batch: &mut [Item]) -> Result<()> {
        let mut here: HashMap<Url, Place> = HashMap::new();
        let mut admitted: BTreeMap<PartitionId, Vec<Admitted>> = BTreeMap::new();
        let mut moment = Moment::EPOCH;
        for item in batch.iter_mut().filter(|item| matches!(item.what, What::Page { .. })) {
            let report = &mut item.report;
            moment = moment.max(report.started);
            let met = match here.get(&report.order.url) {
                Some(met) => Some(*met),
                None => self.numbered(&report.order.url)?,
            };
            let place = match met {
                Some(met) => met,
                None => {
                    let lead = self.leads.remove(&report.order.url.fingerprint());
                    let row = self.admit_restored(report, lead);
                    let key = PageKey::new(self.crawler.core.partitions.home_of(&row.url), row.number);
                    if lead.is_none() && self.restored.likely_seeds.len() < LIKELY_SEEDS_MAX {
                        self.restored.likely_seeds.push(row.url.clone());
                    }
                    let place = Place { key, depth: row.depth, via: row.via };
                    admitted.entry(key.partition).or_default().push(row);
                    place
                }
            };
            here.insert(report.order.url.clone(), place);
            report.order.page = place.key;
            self.follow(report, place);
        }
        for (partition, admitted) in admitted {
            let deed = Deed::Sieved { through: Sequence(0), admitted, barred: Vec::new() };
            self.crawler.core.work.push(partition, deed);
        }
        self.crawler.commit(moment)
    }

    fn numbered(&self, url: &Url) -> Result<Option<Place>> {
        let known = self.crawler.core.work.key_of(url)?.and_then(|known| known.key);
        let row = known.map(|key| self.crawler.core.work.url(key)).transpose()?.flatten();
        // Two URLs may share a fingerprint; the row says which one it is.
        let row = row.filter(|row| row.url == *url);
        Ok(row.map(|row| Place { key: row.page, depth: row.depth, via: row.via }))
    }

    fn admit_restored(&mut self, report: &Report, lead: Option<Lead>) -> Admitted {
        let url = report.order.url.clone();
        let (site, id) = (url.site(), self.crawler.core.partitions.home_of(&url));
        self.crawler.core.partitions.settle(&site, id);
        let partition = self.crawler.core.partitions.of_mut(id);
        let number = partition.number_page();
        partition.sites.number(&site);
        Admitted {
            number,
            url,
            via: lead.map_or(Via::Seed, |lead| lead.via),
            depth: lead.map_or(0, |lead| lead.depth),
            found_on: lead.map(|lead| lead.found_on),
            moment: report.started,
            rank: 0,
            place: WaitingPlace { site, band: 0, arrival: u64::from(number) },
        }
    }

    fn restore_page(&mut self, report: Report, location: Location, revisit: bool) -> Result<()> {
        let key = report.order.page;
        let page = self.crawler.core.work.page(key)?;
        let url = &report.order.url;
        let version = page.as_ref().and_then(|page| page.version);
        let confirms = match &report.signature {
            Some(signature) => version.is_some_and(|version| version.payload == signature.payload),
            None => version.is_some(),
        };
        if revisit && !confirms {
            self.lost(format!("a visit to {url} at {}: the version that it found again is not here", report.started));
            return Ok(());
        }
        let what = match page {
            Some(page) => Asked::Again(Box::new(page)),
            None => match self.crawler.core.work.url(key)?.filter(|row| row.url == *url) {
                Some(row) => Asked::First(Box::new(window_row(row))),
                None => {
                    self.lost(format!("{url}: another URL has its fingerprint"));
                    return Ok(());
                }
            },
        };
        self.restored.visits += 1;
        self.crawler.plan.second_looks.suppose(key, report.started);
        self.crawler.take_page(
            what,
            report,
            Some(&intake::Restored { location: Some(location), sites: self.sites.as_ref() }),
        )
    }

    fn restore_robots(&mut self, origin: &Origin, report: &Report, at: Location) -> Result<()> {
        let home = Site::new(origin.as_str().split_once("://").map_or(origin.as_str(), |(_, site)| site));
        let id = Url::parse(&format!("{origin}/")).map(|url| self.crawler.core.partitions.home_of(&url));
        let Ok(id) = id else {
            self.lost(format!("the robots.txt of {origin}, which is no origin"));
            return Ok(());
        };
        self.crawler.core.partitions.settle(&home, id);
        self.restored.visits += 1;
        self.restored.robots += 1;
        take_robots(&mut self.crawler.core, (origin, &home), report, Some(at), report.started)
    }

    fn lost(&mut self, line: String) {
        self.restored.lost_total += 1;
        if self.restored.lost.len() < LOST_TOLD_MAX {
            self.restored.lost.push(line);
        }
    }

    /// Remembers on which page the targets of this page's links were found first.
    fn follow(&mut self, report: &Report, Place { key: page, depth, via }: Place) {
        if let Outcome::Moved { to: Some(to), .. } = &report.outcome {
            let hops = if let Via::Redirect { hops } = via { hops.saturating_add(1) } else { 1 };
            self.lead(to, Lead { found_on: page, depth, via: Via::Redirect { hops } });
        }
        let Some(document) = report.document.as_ref().filter(|document| !document.directives.nofollow) else { return };
        let listed = document.listing.iter().flat_map(|listing| &listing.entries);
        for entry in listed {
            let via = match document.listing.as_ref().map(|listing| listing.kind) {
                Some(SiteListKind::Feed) => Via::Feed,
                _ => Via::Sitemap,
            };
            self.lead(&entry.url, Lead { found_on: page, depth: depth.saturating_add(1), via });
        }
        let followed = document.links.iter();
        let followed = followed.filter(|link| discovery::is_followed(link.kind, link.rel));
        for link in followed {
            let depth = depth.saturating_add(1);
            self.lead(&link.target, Lead { found_on: page, depth, via: Via::Link });
        }
        if self.crawler.core.settings.requisites == Requisites::Site {
            let of_site = document.links.iter().filter(|link| requisites::is_of_site(link, &report.order.url));
            for link in of_site {
                self.lead(&link.target, Lead { found_on: page, depth, via: Via::Requisite });
            }
        }
    }

    fn lead(&mut self, url: &Url, lead: Lead) {
        if self.leads.len() < LEADS_MAX && self.sites.as_ref().is_none_or(|sites| sites.contains(url.site_text())) {
            self.leads.entry(url.fingerprint()).or_insert(lead);
        }
    }
}
