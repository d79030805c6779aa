//! Which pages there are and how they are linked.
//!
//! Page 0 of a site is `/`. Its articles form a tree in which every page hangs under an earlier one; everything else
//! hangs under some article as a leaf. Links across are drawn when a page is written, so the plan stays small.
//! - `draw`: the pages of a site. `link_tree`: the tree of their links.

mod draw;
mod link_tree;

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use vernal_model::{Chance, Moment};

use super::class::{Class, Trap};
use super::robots::RobotsManner;
use super::settings::WebSettings;
use super::words::Language;
use crate::Result;
use crate::drift::Drift;

/// The number of a page in the whole web.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PageNumber(pub u32);

impl PageNumber {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a path of a site leads to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Target {
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
    /// The site of each host.
    by_host: Arc<HashMap<String, usize>>,
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
        plan.link_redirects_between_sites();
        let roots = plan.sites.iter().map(|site| format!("http://{}", site.name)).collect();
        Ok(Web::at(Arc::new(plan), roots))
    }

    /// The same web under other names: one root such as `http://127.0.1.1:8080` for each site.
    pub fn rooted(&self, roots: Vec<String>) -> Self {
        assert_eq!(roots.len(), self.plan.sites.len(), "each site has one root");
        Web::at(Arc::clone(&self.plan), roots)
    }

    fn at(plan: Arc<Plan>, roots: Vec<String>) -> Self {
        let hosts = roots.iter().map(|root| root.strip_prefix("http://").unwrap_or(root).to_owned());
        let by_host = hosts.zip(0..).collect();
        Web { plan, roots: roots.into(), by_host: Arc::new(by_host) }
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
        self.by_host.get(host).copied()
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
    pub fn target(&self, site: usize, path_and_query: &str) -> Target {
        let site = &self.plan.sites[site];
        if let Some(page) = site.find(path_and_query) {
            return Target::Page { page, mirrors: 0 };
        }
        let path = path_and_query.split(['?', '#']).next().unwrap_or("/");
        match path {
            "/robots.txt" | "/rules/robots.txt" => return Target::Robots,
            "/sitemap.xml" => return Target::Sitemap,
            "/style.css" | "/app.js" => return Target::Asset,
            _ => {}
        }
        if let Some(page) = site.find(path) {
            return Target::Page { page, mirrors: 0 };
        }
        if !site.has_traps() {
            return Target::Nothing;
        }
        site.mirrored(path).or_else(|| super::traps::trap_at(path).map(Target::Trap)).unwrap_or(Target::Nothing)
    }
}

impl SitePlan {
    fn find(&self, path: &str) -> Option<PageNumber> {
        self.by_path.get(path).map(|&page| PageNumber(page))
    }

    fn has_traps(&self) -> bool {
        self.by_path.contains_key(Trap::Mirror.entrance())
    }

    fn mirrored(&self, path: &str) -> Option<Target> {
        let (mut rest, mut mirrors) = (path, 0);
        while let Some(inner) = rest.strip_prefix("/mirror").filter(|inner| inner.starts_with('/')) {
            rest = inner;
            mirrors += 1;
        }
        let page = self.find(rest).filter(|_| mirrors > 0)?;
        Some(Target::Page { page, mirrors })
    }
}
