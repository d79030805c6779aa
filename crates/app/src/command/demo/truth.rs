//! What really changed in the invented web, beside what the copy knows of it.

use std::collections::HashMap;
use std::sync::Arc;

use vernal_model::{Moment, Page, Share, Url};
use vernal_policy::measure::freshness;
use vernal_repository::Reader;
use vernal_simulator::web::{PageNumber, Web};

use crate::error::{OrFail, Result};

/// The listed pages. Within traps there are endless others, which have no truth on record; the entrances of traps are
/// left out with them.
pub struct Truth {
    web: Arc<Web>,
    pages: HashMap<Url, PageNumber>,
}

/// The copy held against the truth. Everything but `trap_pages` is counted over listed pages only.
#[derive(Copy, Clone, Debug, Default)]
pub struct Standing {
    pub held: u64,
    up_to_date: u64,
    /// Changes that visits found.
    pub changes_found: u64,
    /// Changes that happened on the held pages after their first visits, so that they could be found.
    pub changes_happened: u64,
    pub trap_pages: u64,
}

impl Standing {
    /// The share of held pages that have not really changed since they were last confirmed.
    pub fn freshness(&self) -> Share {
        freshness(self.up_to_date, self.held)
    }
}

impl Truth {
    pub fn new(web: &Arc<Web>) -> Truth {
        let listed = web.truth().into_iter().filter(|page| !page.is_trap);
        let pages = listed.filter_map(|page| Some((Url::parse(&page.url).ok()?, page.page))).collect();
        Truth { web: Arc::clone(web), pages }
    }

    pub fn standing(&self, reader: &Reader, now: Moment) -> Result<Standing> {
        let mut standing = Standing::default();
        for page in reader.held_pages() {
            let page = page.or_fail()?;
            let Some(&number) = self.pages.get(&page.url) else {
                standing.trap_pages += 1;
                continue;
            };
            standing.held += 1;
            standing.up_to_date += u64::from(self.is_fresh(number, &page, now));
            standing.changes_found += u64::from(page.changes);
            standing.changes_happened += u64::from(self.web.changes_between(number, page.first_visit, now));
        }
        Ok(standing)
    }

    fn is_fresh(&self, number: PageNumber, page: &Page, now: Moment) -> bool {
        page.last_confirmed.is_some_and(|seen| self.web.changes_between(number, seen, now) == 0)
    }
}
