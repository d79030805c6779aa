//! What a crawl is asked to do; every setting in force is printed at start.

use vernal_frontier::VisitOrder;
use vernal_model::{Budget, Scope, Span};

#[derive(Clone, Debug)]
pub struct Settings {
    /// Scope and depth of seeds that do not say otherwise.
    pub scope: Scope,
    pub depth: Option<u16>,
    /// Pages held at most.
    pub pages_max: u64,
    pub per_site_pages_max: Option<u64>,
    /// URLs must match one of these, if there are any, and none of `exclude` (linear-time regular expressions).
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub budget: Budget,
    /// A name of `vernal_policy::NAMES`.
    pub policy: String,
    pub visit_order: VisitOrder,
    /// Between two requests to one site.
    pub delay: Span,
    /// A crawl-delay of robots.txt wins over `delay` up to this.
    pub delay_max: Span,
    /// Requests to one site at a time.
    pub per_site: u16,
    /// Requests at a time, over all sites.
    pub concurrency: usize,
    /// No page is refreshed sooner than this after its last visit.
    pub refresh_min: Span,
    pub address: AddressLimits,
    pub group: GroupLimits,
    /// The product token that robots.txt groups are matched with.
    pub robots_agent: String,
    /// Visit each held page at most once in the life of this process (`--until-idle`).
    pub once: bool,
    /// Requests at most in the life of this process.
    pub visits_max: Option<u64>,
    /// Fetching stops while less than this is free on the disk.
    pub disk_free_min: DiskFreeMin,
    /// The chance number of this process.
    pub chance: u64,
}

/// An address behind many sites has its own, wider limit.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct AddressLimits {
    pub at_once: u32,
    pub per_second: f64,
}

/// A group of deeds is closed when one of these is reached, or when the runtime says that 100 ms have passed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    pub visits: usize,
    pub bytes: usize,
}

/// The smaller of the two counts, so that neither a small nor a large disk is wasted.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct DiskFreeMin {
    pub bytes: u64,
    pub share: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scope: Scope::Site,
            depth: None,
            pages_max: 100_000,
            per_site_pages_max: None,
            include: Vec::new(),
            exclude: Vec::new(),
            budget: Budget::default(),
            policy: "round-robin".into(),
            visit_order: VisitOrder::Paper,
            delay: Span::from_secs(1),
            delay_max: Span::from_secs(60),
            per_site: 1,
            concurrency: 64,
            refresh_min: Span::from_hours(1),
            address: AddressLimits { at_once: 16, per_second: 20.0 },
            group: GroupLimits { visits: 512, bytes: 1 << 20 },
            robots_agent: "vernal".into(),
            once: false,
            visits_max: None,
            disk_free_min: DiskFreeMin { bytes: 2 << 30, share: 0.05 },
            chance: 1,
        }
    }
}
