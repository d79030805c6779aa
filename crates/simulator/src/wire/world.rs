//! A world of the laboratory as a web: its pages answer with documents and signatures, and no bytes are kept of them.
//!
//! Each site has a list at `/`, which names the pages that are online, and is no page of the world; pages lie at
//! `/part-N/page-N`. A site whose politeness is capped says so in the crawl delay of its robots.txt. The hints of a world
//! are announced by pushes, as to the API of a live crawl. What the answers mean is for the crawler to detect:
//! [`Blemishes`] make that harder.

use std::fmt::Write as _;
use std::ops::Range;

use sha1::Digest as _;
use vernal_document::{Input, LINKS_MAX, StatusMeaning};
use vernal_model::{Chance, Digest, Failure, Moment, Order, OrderKind, Outcome, Report, Seed, Url, Validators};

use super::Wire;
use crate::lab::World;
use crate::web::words::{self, Language};
use crate::{Error, Result};

/// Paragraphs of a page; a change writes as many of them anew as its degree says, and at least one.
const PARAGRAPHS: usize = 6;
/// Room for the words of a page.
const BODY_BYTES: usize = 1_024;
/// Asking and answering without a body.
const HEADS_BYTES: u64 = 400;
/// What a list answers for each page that it names.
const LINK_BYTES: u64 = 40;

/// What makes detection harder than in a world of truth. Nothing by default.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Blemishes {
    /// The share of visits to an unchanged page that find a part of it that differs by itself.
    pub noise: f64,
    /// The share of visits to a changed page that are told that it is the same, as by a cache on the way.
    pub misses: f64,
    /// The share of visits that the site answers with an error of its own.
    pub errors: f64,
}

pub struct WorldWire<'w> {
    world: &'w World,
    blemishes: Blemishes,
    chance: Chance,
    sites: Vec<SiteOfWorld>,
    /// When pages come and when they go, each in order.
    births: Vec<Moment>,
    ends: Vec<Moment>,
    /// What sites say of their changes, in order, and of which pages.
    hints: Vec<(Moment, u32)>,
}

#[derive(Clone, Debug, Default)]
struct SiteOfWorld {
    /// Its pages among those of the world.
    pages: Range<usize>,
    /// When its list changes: births and ends, in order.
    turns: Vec<Moment>,
}

/// What an order asks for.
enum Target {
    List(usize),
    Page(usize),
    Nothing,
}

impl<'w> WorldWire<'w> {
    pub fn new(world: &'w World, blemishes: Blemishes, chance: u64) -> Result<Self> {
        let mut sites = vec![SiteOfWorld::default(); world.sites.len()];
        for (number, page) in world.pages.iter().enumerate() {
            let site = &mut sites[page.site as usize];
            if site.pages.is_empty() {
                site.pages = number..number;
            }
            if site.pages.end != number {
                return Err(Error::Lab(format!("the pages of {} do not lie together", world.name)));
            }
            site.pages.end = number + 1;
            let (born, gone) = world.life(number);
            site.turns.extend([born, gone].into_iter().filter(|&turn| turn > world.origin && turn < world.end));
        }
        if let Some(large) = sites.iter().find(|site| site.pages.len() > LINKS_MAX) {
            let pages = large.pages.len();
            return Err(Error::Lab(format!("a site of {pages} pages: a list names at most {LINKS_MAX}")));
        }
        sites.iter_mut().for_each(|site| site.turns.sort_unstable());
        let mut births: Vec<Moment> = world.pages.iter().map(|page| page.born).collect();
        let mut ends: Vec<Moment> = world.pages.iter().map(|page| page.gone).collect();
        births.sort_unstable();
        ends.sort_unstable();
        let of_page = |page: usize| world.hints(page).iter().map(move |&hint| (hint, page as u32));
        let mut hints: Vec<(Moment, u32)> = (0..world.pages.len()).flat_map(of_page).collect();
        hints.sort_unstable();
        Ok(WorldWire { world, blemishes, chance: Chance::new(chance).stream("wire"), sites, births, ends, hints })
    }

    /// The list of each site, to begin with.
    pub fn seeds(&self) -> Result<Vec<Seed>> {
        let seed = |site| Ok(Seed::new(parsed(&format!("http://{}/", host(site)))?, self.world.origin));
        (0..self.sites.len()).map(seed).collect()
    }

    pub fn url(&self, page: usize) -> String {
        let facts = &self.world.pages[page];
        format!("http://{}/part-{}/page-{page}", host(facts.site as usize), facts.path)
    }

    /// The page of the world that a URL of ours names; lists are none.
    pub fn page_at(&self, url: &str) -> Option<usize> {
        let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
        match self.target(host, path) {
            Target::Page(page) => Some(page),
            Target::List(_) | Target::Nothing => None,
        }
    }

    fn target(&self, host: &str, path: &str) -> Target {
        let Some(site) = site_of(host).filter(|&site| site < self.sites.len()) else { return Target::Nothing };
        if path.is_empty() {
            return Target::List(site);
        }
        let page = path.rsplit_once("/page-").and_then(|(_, number)| number.parse().ok());
        page.filter(|page| self.sites[site].pages.contains(page)).map_or(Target::Nothing, Target::Page)
    }

    fn robots(&self, order: Order, started: Moment, finished: Moment) -> Report {
        let site = site_of(order.url.site_text()).and_then(|site| self.world.sites.get(site));
        let Some(visits_per_day) = site.and_then(|site| site.visits_per_day_max) else {
            let outcome = Outcome::Gone { status: 404 };
            return Report { wire_bytes: HEADS_BYTES, ..Report::unanswered(order, started, finished, outcome) };
        };
        let seconds = 86_400.0 / visits_per_day.max(1e-6);
        let text = format!("User-agent: *\nCrawl-delay: {seconds:.3}\n");
        let outcome = match vernal_document::of_status(&order, 200, &|_| None, started) {
            StatusMeaning::Final(outcome) | StatusMeaning::Robots(outcome) | StatusMeaning::Reads(outcome) => outcome,
        };
        Report {
            document: Some(vernal_document::robots_text(text.as_bytes())),
            wire_bytes: HEADS_BYTES + text.len() as u64,
            ..Report::unanswered(order, started, finished, outcome)
        }
    }

    fn list(&self, site: usize, order: Order, started: Moment, finished: Moment) -> Report {
        let facts = &self.sites[site];
        let edition = facts.turns.partition_point(|&turn| turn <= started);
        if held_edition(&order) == Some(edition) {
            return unchanged(order, started, finished);
        }
        let online = || facts.pages.clone().filter(|&page| self.world.pages[page].is_online(started));
        let mut body = String::with_capacity(64 * (1 + facts.pages.len()));
        let _ = write!(body, "<html><head><title>Site {site}</title></head><body><h1>All pages</h1><ul>");
        for page in online() {
            let path = self.world.pages[page].path;
            let _ = write!(body, "<li><a href=\"/part-{path}/page-{page}\">Page {page}</a></li>");
        }
        body.push_str("</ul></body></html>");
        let bytes = HEADS_BYTES + LINK_BYTES * online().count() as u64;
        read(order, &body, edition, bytes, started, finished)
    }

    /// The place of the first hint after a Moment.
    fn hint_after(&self, moment: Moment) -> usize {
        self.hints.partition_point(|&(hint, _)| hint <= moment)
    }

    fn page(&self, page: usize, order: Order, started: Moment, finished: Moment) -> Report {
        if !self.world.pages[page].is_online(started) {
            let outcome = Outcome::Gone { status: 404 };
            return Report { wire_bytes: HEADS_BYTES, ..Report::unanswered(order, started, finished, outcome) };
        }
        let mut draw = self.chance.numbered(page as u64).numbered(started.micros() as u64);
        if self.blemishes.errors > 0.0 && draw.happens(self.blemishes.errors) {
            let outcome = Outcome::Failed(Failure::Status { status: 503, retry_after: None });
            return Report { wire_bytes: HEADS_BYTES, ..Report::unanswered(order, started, finished, outcome) };
        }
        let edition = self.world.changes(page).partition_point(|change| change.moment <= started);
        let teaser = match held_edition(&order) {
            Some(held) if held == edition => {
                if self.blemishes.noise <= 0.0 || !draw.happens(self.blemishes.noise) {
                    return unchanged(order, started, finished);
                }
                draw.bits()
            }
            Some(_) if self.blemishes.misses > 0.0 && draw.happens(self.blemishes.misses) => {
                return unchanged(order, started, finished);
            }
            _ => 0,
        };
        let body = self.body(page, edition, teaser);
        read(order, &body, edition, u64::from(self.world.pages[page].bytes), started, finished)
    }

    /// What the page says after so many changes. The teaser differs from answer to answer where there is noise.
    fn body(&self, page: usize, edition: usize, teaser: u64) -> String {
        let chance = self.chance.stream("words").numbered(page as u64);
        let mut body = String::with_capacity(BODY_BYTES);
        let _ = write!(body, "<html><head><title>Page {page}</title></head><body><h1>Page {page}</h1>");
        for (place, written) in self.editions(page, edition).into_iter().enumerate() {
            body.push_str("<p>");
            let mut chance = chance.numbered((written * PARAGRAPHS + place) as u64);
            words::push_sentence(&mut body, Language::English, &mut chance);
            body.push_str("</p>");
        }
        if self.blemishes.noise > 0.0 {
            body.push_str("<aside><p>");
            words::push_sentence(&mut body, Language::English, &mut self.chance.stream("teaser").numbered(teaser));
            body.push_str("</p></aside>");
        }
        body.push_str("<p><a href=\"/\">All pages</a></p></body></html>");
        body
    }

    /// The change that last wrote each paragraph, 0 for none. A change begins behind where the one before it ended.
    fn editions(&self, page: usize, edition: usize) -> [usize; PARAGRAPHS] {
        let mut written = [0; PARAGRAPHS];
        let mut left = PARAGRAPHS;
        let changes = self.world.changes(page);
        for number in (1..=edition).rev() {
            let touched = (f64::from(changes[number - 1].degree) * PARAGRAPHS as f64).ceil().max(1.0) as usize;
            for place in (0..touched.min(PARAGRAPHS)).map(|step| (number + step) % PARAGRAPHS) {
                if written[place] == 0 {
                    written[place] = number;
                    left -= 1;
                }
            }
            if left == 0 {
                break;
            }
        }
        written
    }
}

impl Wire for WorldWire<'_> {
    fn report(&self, order: Order, started: Moment, finished: Moment) -> Report {
        if order.kind == OrderKind::Robots {
            return self.robots(order, started, finished);
        }
        let path = order.url.path_and_query();
        match self.target(order.url.site_text(), path.strip_prefix('/').unwrap_or(path)) {
            Target::List(site) => self.list(site, order, started, finished),
            Target::Page(page) => self.page(page, order, started, finished),
            Target::Nothing => Report::unanswered(order, started, finished, Outcome::Gone { status: 404 }),
        }
    }

    /// The budget of a policy alone is a percentage of the pages that are there, and so is this one; lists are always
    /// there.
    fn pages_online(&self, now: Moment) -> Option<u64> {
        let until_now = |turns: &[Moment]| turns.partition_point(|&turn| turn <= now);
        Some((until_now(&self.births) - until_now(&self.ends) + self.sites.len()) as u64)
    }

    fn announced(&self, after: Moment, until: Moment) -> Vec<Url> {
        let hints = &self.hints[self.hint_after(after)..self.hint_after(until.max(after))];
        let online =
            hints.iter().map(|&(_, page)| page as usize).filter(|&page| self.world.pages[page].is_online(until));
        online.filter_map(|page| parsed(&self.url(page)).ok()).collect()
    }

    fn next_announced(&self, after: Moment) -> Option<Moment> {
        self.hints.get(self.hint_after(after)).map(|&(hint, _)| hint)
    }
}

/// Names under `.example`, which nobody can own (RFC 2606), whatever the sites of the world are called.
fn host(site: usize) -> String {
    format!("site-{site}.example")
}

fn site_of(host: &str) -> Option<usize> {
    host.strip_prefix("site-")?.strip_suffix(".example")?.parse().ok()
}

pub(crate) fn parsed(text: &str) -> Result<Url> {
    Url::parse(text).map_err(|error| Error::Lab(format!("a URL of our own making: {error}")))
}

/// The edition that the asker holds, by the ETag of its copy.
fn held_edition(order: &Order) -> Option<usize> {
    order.validators.etag.as_deref()?.trim_matches('"').parse().ok()
}

fn unchanged(order: Order, started: Moment, finished: Moment) -> Report {
    let validators = order.validators.clone();
    let report = Report::unanswered(order, started, finished, Outcome::NotModified);
    Report { validators, wire_bytes: HEADS_BYTES, ..report }
}

fn read(order: Order, body: &str, edition: usize, wire_bytes: u64, started: Moment, finished: Moment) -> Report {
    let parsed = vernal_document::read(&Input {
        url: &order.url,
        bytes: body.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        content_language: None,
        robots_tags: &[],
        payload: Digest(sha1::Sha1::digest(body.as_bytes()).into()),
    });
    Report {
        document: Some(parsed.document),
        signature: Some(parsed.signature),
        validators: Validators { etag: Some(format!("\"{edition}\"").into()), last_modified: None },
        wire_bytes,
        ..Report::unanswered(order, started, finished, Outcome::Read { status: 200 })
    }
}
