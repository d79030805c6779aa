//! What really changed in the invented web, beside what the copy knows of it.

use std::collections::HashMap;
use std::sync::Arc;

use vernal_model::{Moment, Page, Share, Url};
use vernal_policy::measure::freshness;
use vernal_repository::Reader;
use vernal_simulator::web::{PageNumber, Web};

use crate::error::{OrFail, Result};

pub struct Truth {
    web: Arc<Web>,
    pages: HashMap<Url, PageNumber>,
}

impl Truth {
    pub fn new(web: &Arc<Web>) -> Truth {
        let listed = web.truth().into_iter();
        let pages = listed.filter_map(|page| Some((Url::parse(&page.url).ok()?, page.page))).collect();
        Truth { web: Arc::clone(web), pages }
    }

    /// The share of held pages that have not really changed since they were last confirmed. Pages within traps have no
    /// truth on record and are left out.
    pub fn freshness(&self, reader: &Reader, now: Moment) -> Result<Share> {
        let (mut up_to_date, mut held) = (0, 0);
        for page in reader.held_pages() {
            let page = page.or_fail()?;
            let Some(&number) = self.pages.get(&page.url) else { continue };
            held += 1;
            up_to_date += u64::from(self.is_fresh(number, &page, now));
        }
        Ok(freshness(up_to_date, held))
    }

    fn is_fresh(&self, number: PageNumber, page: &Page, now: Moment) -> bool {
        page.last_confirmed.is_some_and(|seen| self.web.changes_between(number, seen, now) == 0)
    }

    /// Every real change of every page in this time, whether anybody held it or not.
    pub fn changes(&self, from: Moment, to: Moment) -> u64 {
        self.pages.values().map(|&number| u64::from(self.web.changes_between(number, from, to))).sum()
    }
}
