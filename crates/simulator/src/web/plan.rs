//! Which pages there are and how they hang together.
//!
//! Page 0 of a site is `/`. Its articles form a tree in which every page hangs under an earlier one; everything else
//! hangs under some article as a leaf. Links across are drawn when a page is written, so the plan stays small.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use vernal_model::{Chance, Moment};

use super::class::{Class, Trap};
use super::robots::{FORBIDDEN, OPEN, RobotsManner};
use super::settings::WebSettings;
use super::words::{self, Language};
use crate::Result;
use crate::drift::Drift;

/// A redirect leads to a page within so many hops.
const REDIRECT_HOPS_MAX: u8 = 3;

/// The number of a page in the whole web.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PageNumber(pub u32);

impl PageNumber {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What stands at a path of a site.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A listed page; `mirrors` tells how many mirror folders stand before its path.
    Page {
        page: PageNumber,
        mirrors: u16,
    },
    /// Some page within a trap.
    Trap(Trap),
    Robots,
    Sitemap,
    /// A style sheet or script that pages name but that is no page.
    Asset,
    Nothing,
}

/// The invented web. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Web {
    pub(super) plan: Arc<Plan>,
    /// `http://` and the name of each site, without a slash at the end.
    roots: Arc<[String]>,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub settings: WebSettings,
    pub sites: Vec<SitePlan>,
    pub pages: Vec<PagePlan>,
    pub drift: Drift,
}

#[derive(Debug)]
pub(super) struct SitePlan {
    pub name: String,
    /// Its pages are `first..first + count` of the web; traps are the last ones.
    pub first: u32,
    pub count: u32,
    pub robots: RobotsManner,
    pub language: Language,
    pub charset: Charset,
    pub compresses: bool,
    pub chance: Chance,
    by_path: HashMap<Arc<str>, u32>,
}

#[derive(Debug)]
pub(super) struct PagePlan {
    pub site: u32,
    pub path: Arc<str>,
    pub class: Class,
    /// It lies where robots.txt says no, and the site has a robots.txt.
    pub forbidden: bool,
    pub allowed: bool,
    /// Only a forbidden or a nofollow page links to it.
    pub hidden: bool,
    /// The page it hangs under; of `/`, itself.
    pub parent: u32,
    /// Where a redirect leads, or whose body a duplicate has; else itself.
    pub target: u32,
    pub children: Vec<u32>,
    pub validators: ValidatorManner,
    pub chance: Chance,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Utf8,
    Latin1,
    Cyrillic,
    ShiftJis,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ValidatorManner {
    None,
    ModifiedOnly,
    EtagOnly,
    Both,
    Weak,
    Lying,
}

impl Web {
    pub fn new(settings: WebSettings) -> Result<Self> {
        settings.check()?;
        let root = Chance::new(settings.chance);
        let mut plan = Plan { drift: Drift::new(settings.origin), sites: Vec::new(), pages: Vec::new(), settings };
        for site in 0..plan.settings.sites {
            plan.push_site(&root.stream("site").numbered(site as u64));
        }
        plan.hang_away();
        let roots = plan.sites.iter().map(|site| format!("http://{}", site.name)).collect();
        Ok(Web { plan: Arc::new(plan), roots })
    }

    /// The same web under other names: one root such as `http://127.0.1.1:8080` for each site.
    pub fn rooted(&self, roots: Vec<String>) -> Self {
        assert_eq!(roots.len(), self.plan.sites.len(), "each site has one root");
        Web { plan: Arc::clone(&self.plan), roots: roots.into() }
    }

    pub fn settings(&self) -> &WebSettings {
        &self.plan.settings
    }

    pub fn sites(&self) -> usize {
        self.plan.sites.len()
    }

    /// `http://` and name of a site, without a slash at the end.
    pub fn root(&self, site: usize) -> &str {
        &self.roots[site]
    }

    /// The site with this host (and port, where it has one).
    pub fn site_of_host(&self, host: &str) -> Option<usize> {
        self.roots.iter().position(|root| root.strip_prefix("http://") == Some(host))
    }

    pub fn pages(&self) -> usize {
        self.plan.pages.len()
    }

    /// The pages of one site, the traps' entrances included.
    pub fn pages_of(&self, site: usize) -> impl Iterator<Item = PageNumber> + use<> {
        let site = &self.plan.sites[site];
        (site.first..site.first + site.count).map(PageNumber)
    }

    pub fn class(&self, page: PageNumber) -> Class {
        self.plan.pages[page.index()].class
    }

    pub fn path(&self, page: PageNumber) -> &str {
        &self.plan.pages[page.index()].path
    }

    pub fn url(&self, page: PageNumber) -> String {
        let page = &self.plan.pages[page.index()];
        format!("{}{}", self.roots[page.site as usize], page.path)
    }

    pub fn drift(&self) -> &Drift {
        &self.plan.drift
    }

    /// How many real changes the page had up to a Moment. A duplicate changes with its original.
    pub fn version_at(&self, page: PageNumber, now: Moment) -> u32 {
        self.plan.drift.count(self.original(page), now)
    }

    /// How many real changes the page had after `from` up to `to`.
    pub fn changes_between(&self, page: PageNumber, from: Moment, to: Moment) -> u32 {
        self.version_at(page, to).saturating_sub(self.version_at(page, from))
    }

    /// Every real change of the page after `from` up to `to`, in order.
    pub fn change_times(&self, page: PageNumber, from: Moment, to: Moment) -> Vec<Moment> {
        self.plan.drift.times(self.original(page), from, to)
    }

    /// The page whose body this one has.
    pub fn original(&self, page: PageNumber) -> PageNumber {
        let plan = &self.plan.pages[page.index()];
        if plan.class == Class::Duplicate { PageNumber(plan.target) } else { page }
    }

    /// What stands at a path (with its query) of a site.
    pub fn place(&self, site: usize, path_and_query: &str) -> Place {
        let site = &self.plan.sites[site];
        if let Some(page) = site.find(path_and_query) {
            return Place::Page { page, mirrors: 0 };
        }
        let path = path_and_query.split(['?', '#']).next().unwrap_or("/");
        match path {
            "/robots.txt" | "/rules/robots.txt" => return Place::Robots,
            "/sitemap.xml" => return Place::Sitemap,
            "/style.css" | "/app.js" => return Place::Asset,
            _ => {}
        }
        if let Some(page) = site.find(path) {
            return Place::Page { page, mirrors: 0 };
        }
        if !site.has_traps() {
            return Place::Nothing;
        }
        site.mirrored(path).or_else(|| super::traps::trap_at(path).map(Place::Trap)).unwrap_or(Place::Nothing)
    }
}

impl SitePlan {
    fn find(&self, path: &str) -> Option<PageNumber> {
        self.by_path.get(path).map(|&page| PageNumber(page))
    }

    fn has_traps(&self) -> bool {
        self.by_path.contains_key(Trap::Mirror.entrance())
    }

    fn mirrored(&self, path: &str) -> Option<Place> {
        let (mut rest, mut mirrors) = (path, 0);
        while let Some(inner) = rest.strip_prefix("/mirror").filter(|inner| inner.starts_with('/')) {
            rest = inner;
            mirrors += 1;
        }
        let page = self.find(rest).filter(|_| mirrors > 0)?;
        Some(Place::Page { page, mirrors })
    }
}

impl Plan {
    fn push_site(&mut self, chance: &Chance) {
        let number = self.sites.len();
        let mut draws = chance.stream("manner");
        let (pages_min, pages_max) = self.settings.pages_per_site;
        let pages = pages_min + draws.below((pages_max - pages_min) as u64 + 1) as usize;
        let (language, charset) = draw_language(number, self.settings.share.old_charset_sites, &mut draws);
        let robots = if self.settings.odd_robots { RobotsManner::of_site(number) } else { RobotsManner::Rules };
        self.sites.push(SitePlan {
            name: words::site_name(number, &mut draws),
            first: self.pages.len() as u32,
            count: pages as u32,
            robots,
            language,
            charset,
            compresses: !draws.happens(self.settings.share.uncompressed_sites),
            chance: chance.clone(),
            by_path: HashMap::new(),
        });
        self.drift.push_site(&self.settings.drift, chance);
        let deck = self.deal(pages, &mut chance.stream("deck"));
        for (index, card) in deck.into_iter().enumerate() {
            self.push_page(index, card, chance);
        }
        if draws.happens(self.settings.share.trap_sites) {
            for trap in Trap::ALL {
                self.push_page(0, Card { class: Class::Trap(trap), forbidden: false, hidden: false }, chance);
            }
        }
        self.hang(&mut chance.stream("tree"));
        self.lead(&mut chance.stream("redirects"));
        self.remember_paths();
    }

    /// The classes of a site's pages in random order, `/` first. Counts follow the shares as closely as whole numbers
    /// can, so that a feature with a share worth one page is there in most webs.
    fn deal(&self, pages: usize, chance: &mut Chance) -> Vec<Card> {
        let share = &self.settings.share;
        let rest = pages - 1;
        let mut count = |share: f64| (share * rest as f64 + chance.share()).floor() as usize;
        let mut cards = Vec::with_capacity(rest);
        for (class, share) in Class::shares(share) {
            cards.extend(vec![Card { class, forbidden: false, hidden: false }; count(share)]);
        }
        cards.extend(vec![Card { class: Class::Article, forbidden: true, hidden: false }; count(share.disallowed)]);
        cards.extend(vec![Card { class: Class::Article, forbidden: false, hidden: true }; count(share.hidden)]);
        cards.resize(rest, Card { class: Class::Article, forbidden: false, hidden: false });
        chance.shuffle(&mut cards);
        cards.insert(0, Card { class: Class::Article, forbidden: false, hidden: false });
        cards
    }

    fn push_page(&mut self, index: usize, card: Card, chance: &Chance) {
        let number = self.pages.len() as u32;
        let site = self.sites.len() - 1;
        let chance = chance.stream("page").numbered(u64::from(number - self.sites[site].first));
        let mut draws = chance.stream("manner");
        let robots = self.sites[site].robots;
        let forbidden = card.forbidden && robots != RobotsManner::Absent;
        let path: Arc<str> = match card.class {
            Class::Trap(trap) => trap.entrance().into(),
            _ if index == 0 => "/".into(),
            class => draw_path(class, card.forbidden, index, &mut draws).into(),
        };
        if matches!(card.class, Class::Trap(_)) {
            self.sites[site].count += 1;
        }
        self.drift.push_page(&self.settings.drift, &chance, !card.class.drifts());
        self.pages.push(PagePlan {
            site: site as u32,
            path,
            class: card.class,
            forbidden,
            allowed: !forbidden && robots != RobotsManner::Failing,
            hidden: card.hidden,
            parent: self.sites[site].first,
            target: number,
            children: Vec::new(),
            validators: draw_validators(&self.settings.share, &mut draws),
            chance,
        });
    }

    /// Hangs the last site's pages: open articles into a tree, the others under one of its articles.
    fn hang(&mut self, chance: &mut Chance) {
        let first = self.sites[self.sites.len() - 1].first;
        let numbers: Vec<u32> = (first..self.pages.len() as u32).collect();
        let is_tree = |page: &PagePlan| page.class == Class::Article && !page.hidden && !page.forbidden;
        let tree: Vec<u32> = numbers.iter().copied().filter(|&page| is_tree(&self.pages[page as usize])).collect();
        let is_veil = |page: &PagePlan| page.class == Class::NoFollow || page.forbidden;
        let veils: Vec<u32> = numbers.iter().copied().filter(|&page| is_veil(&self.pages[page as usize])).collect();
        let mut in_tree = 0;
        for &number in &numbers {
            let page = &self.pages[number as usize];
            let is_branch = is_tree(page);
            let parent = match page.class {
                Class::Trap(_) => Some(&first),
                _ if page.hidden => chance.pick(&veils),
                _ if is_branch => tree.get((in_tree as usize).saturating_sub(1) / self.settings.branching),
                _ => chance.pick(&tree),
            };
            in_tree += u32::from(is_branch);
            // Without a page to hide behind, a hidden page hangs under `/` like any other.
            self.pages[number as usize].hidden &= parent.is_some();
            let parent = parent.copied().unwrap_or(first);
            self.pages[number as usize].parent = parent;
            if number != first {
                self.pages[parent as usize].children.push(number);
            }
        }
    }

    /// Gives the last site's redirects and duplicates their targets.
    fn lead(&mut self, chance: &mut Chance) {
        let first = self.sites[self.sites.len() - 1].first;
        let of = |pages: &[PagePlan], class: Class| -> Vec<u32> {
            (first..pages.len() as u32).filter(|&page| pages[page as usize].class == class).collect()
        };
        let open = |page: &u32| !self.pages[*page as usize].hidden && !self.pages[*page as usize].forbidden;
        let articles: Vec<u32> = of(&self.pages, Class::Article).into_iter().filter(open).collect();
        let mut hops: Vec<(u32, u8)> = Vec::new();
        for redirect in of(&self.pages, Class::Redirect) {
            let chained = chance.pick(&hops).copied().filter(|&(_, hops)| hops < REDIRECT_HOPS_MAX);
            let (target, after) = match chained.filter(|_| chance.happens(0.5)) {
                Some(earlier) => earlier,
                None => (chance.pick(&articles).copied().unwrap_or(first), 0),
            };
            self.pages[redirect as usize].target = target;
            hops.push((redirect, after + 1));
        }
        let loops = of(&self.pages, Class::RedirectLoop);
        for (index, &redirect) in loops.iter().enumerate() {
            self.pages[redirect as usize].target = loops[(index + 1) % loops.len()];
        }
        for duplicate in of(&self.pages, Class::Duplicate) {
            self.pages[duplicate as usize].target = chance.pick(&articles).copied().unwrap_or(first);
        }
    }

    /// Redirects to other sites need all sites to be there. With a single site they lead home.
    fn hang_away(&mut self) {
        for number in 0..self.pages.len() {
            if self.pages[number].class == Class::RedirectAway {
                let next = (self.pages[number].site as usize + 1) % self.sites.len();
                self.pages[number].target = self.sites[next].first;
            }
        }
    }

    fn remember_paths(&mut self) {
        let Some(site) = self.sites.last_mut() else { return };
        for number in site.first..site.first + site.count {
            site.by_path.insert(Arc::clone(&self.pages[number as usize].path), number);
        }
    }
}

#[derive(Copy, Clone)]
struct Card {
    class: Class,
    forbidden: bool,
    hidden: bool,
}

fn draw_path(class: Class, forbidden: bool, index: usize, chance: &mut Chance) -> String {
    let slug = words::slug(chance);
    if forbidden {
        let shape = chance.pick(&FORBIDDEN).expect("the list of forbidden folders is not empty");
        return format!("{}{slug}-{index}{}", shape.folder, shape.ending);
    }
    let folder = chance.pick(&OPEN).expect("the list of open folders is not empty");
    let ending = match class {
        Class::Pdf => ".pdf",
        Class::Image => ".png",
        Class::Feed => ".xml",
        Class::Json => ".json",
        Class::Redirect | Class::RedirectLoop | Class::RedirectAway => "",
        _ => *chance.pick(&[".html", ".html", "/", ".php", ""]).expect("the list of endings is not empty"),
    };
    if class == Class::Article && chance.happens(0.1) {
        return format!("{folder}item?id={index}");
    }
    format!("{folder}{slug}-{index}{ending}")
}

fn draw_language(number: usize, old_share: f64, chance: &mut Chance) -> (Language, Charset) {
    let old = chance.happens(old_share);
    let language = if number == 0 { Language::English } else { Language::ALL[chance.below(5) as usize] };
    let charset = match language {
        _ if !old => Charset::Utf8,
        Language::English | Language::German | Language::French => Charset::Latin1,
        Language::Russian => Charset::Cyrillic,
        Language::Japanese => Charset::ShiftJis,
    };
    (language, charset)
}

fn draw_validators(share: &super::settings::Shares, chance: &mut Chance) -> ValidatorManner {
    let mut drawn = chance.share();
    for (manner, share) in [
        (ValidatorManner::None, share.validator_none),
        (ValidatorManner::ModifiedOnly, share.validator_modified_only),
        (ValidatorManner::Weak, share.validator_weak),
        (ValidatorManner::Lying, share.validator_lying),
    ] {
        if drawn < share {
            return manner;
        }
        drawn -= share;
    }
    if chance.happens(0.5) { ValidatorManner::Both } else { ValidatorManner::EtagOnly }
}
