//! What a crawler ought to find, on record.

use serde::Serialize;

use super::class::{Class, Expected};
use super::plan::{PageNumber, Web};
use super::robots::RobotsManner;

/// The truth about one listed page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TruthPage {
    pub page: PageNumber,
    pub site: usize,
    pub url: String,
    pub path: String,
    pub class: Class,
    /// What robots.txt says.
    pub allowed: bool,
    /// Whether allowed pages that may be followed lead from `/` to a link to it.
    pub reachable: bool,
    pub is_trap: bool,
}

impl TruthPage {
    /// Whether a crawl of the whole site should end with this page's body, once and no other way.
    pub fn must_be_held(&self) -> bool {
        self.allowed && self.reachable && self.class.expected() == Expected::Held
    }
}

impl Web {
    /// Every listed page with what is true of it. Within traps there are endless others, which no list can hold.
    pub fn truth(&self) -> Vec<TruthPage> {
        (0..self.pages() as u32).map(|number| self.truth_of(PageNumber(number))).collect()
    }

    pub fn truth_of(&self, number: PageNumber) -> TruthPage {
        let page = &self.plan.pages[number.index()];
        let site = page.site as usize;
        TruthPage {
            page: number,
            site,
            url: self.url(number),
            path: page.path.to_string(),
            class: page.class,
            allowed: page.allowed,
            reachable: !page.hidden && self.plan.sites[site].robots != RobotsManner::Failing,
            is_trap: matches!(page.class, Class::Trap(_)),
        }
    }
}
