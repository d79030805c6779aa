//! What really changed in the invented web, beside what the copy knows of it.

use std::collections::HashMap;
use std::sync::Arc;

use vernal_model::{Moment, Page, Share, Url, Visit};
use vernal_policy::measure::freshness;
use vernal_repository::Reader;
use vernal_simulator::web::{PageNumber, Target, Web};

use crate::error::{OrFail, Result};

/// The listed pages. Within traps there are endless others, which have no truth on record; the entrances of traps are
/// left out with them.
pub struct Truth {
    web: Arc<Web>,
    pages: HashMap<Url, PageNumber>,
}

/// The copy held against the truth, counted over listed pages where nothing else is said.
#[derive(Copy, Clone, Debug, Default)]
pub struct CopyCheck {
    pub held: u64,
    up_to_date: u64,
    /// Visits that found changes which really happened. One visit finds all that happened since the visit before, so that
    /// these are never more than happened.
    pub changes_found: u64,
    /// Visits that took noise for a change, because nobody knew yet that it was noise.
    pub noise_found: u64,
    /// Changes that happened on the held pages after their first visits, so that they could be found.
    pub changes_happened: u64,
    pub trap_pages: u64,
    /// Changes that visits to pages within traps took for real. Most such pages are copies of listed ones under further
    /// names, and nothing of them is on record.
    pub trap_changes: u64,
    /// The same of sitemaps and feeds of the sites, which are read for what they name.
    pub list_changes: u64,
}

impl CopyCheck {
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

    pub fn check_copy(&self, reader: &Reader, now: Moment) -> Result<CopyCheck> {
        let mut check = CopyCheck::default();
        for page in reader.held_pages() {
            let page = page.or_fail()?;
            let Some(&number) = self.pages.get(&page.url) else {
                self.count_unlisted(&page, &mut check);
                continue;
            };
            check.held += 1;
            check.up_to_date += u64::from(self.is_fresh(number, &page, now));
            if page.changes > 0 {
                let visits = reader.visits(page.key).or_fail()?;
                let finds = Finds::of(&visits, |moment| self.web.version_at(number, moment));
                check.changes_found += finds.real;
                check.noise_found += finds.noise;
            }
            check.changes_happened += u64::from(self.web.changes_between(number, page.first_visit, now));
        }
        Ok(check)
    }

    fn count_unlisted(&self, page: &Page, check: &mut CopyCheck) {
        let site = self.web.site_of_host(page.url.site_text());
        if site.is_some_and(|site| self.web.target(site, page.url.path()) == Target::Sitemap) {
            check.list_changes += u64::from(page.changes);
        } else {
            check.trap_pages += 1;
            check.trap_changes += u64::from(page.changes);
        }
    }

    fn is_fresh(&self, number: PageNumber, page: &Page, now: Moment) -> bool {
        page.last_confirmed.is_some_and(|seen| self.web.changes_between(number, seen, now) == 0)
    }
}

/// The finds of one page's visits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Finds {
    real: u64,
    noise: u64,
}

impl Finds {
    /// A find is real if the page really had another version. The answer was given at some time between the beginning and
    /// the end of a visit: a change within it counts as found by the first visit that reports it.
    fn of(visits: &[Visit], version_at: impl Fn(Moment) -> u32) -> Finds {
        let mut finds = Finds::default();
        let mut known = visits.first().map_or(0, |first| version_at(first.started));
        for visit in visits {
            match visit.changed {
                Some(true) if version_at(visit.finished) > known => {
                    finds.real += 1;
                    known = version_at(visit.finished);
                }
                Some(true) => finds.noise += 1,
                Some(false) => known = known.max(version_at(visit.started)),
                None => {}
            }
        }
        finds
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Outcome, Span};

    use super::*;

    fn visit(hour: u64, changed: Option<bool>) -> Visit {
        let started = Moment::EPOCH + Span::from_hours(hour);
        Visit {
            started,
            finished: started + Span::from_secs(60),
            outcome: Outcome::Read { status: 200 },
            address: None,
            wire_bytes: 0,
            version: None,
            record: None,
            decided_by: None,
            changed,
            second_look: false,
            robots: None,
        }
    }

    #[test]
    fn finds_are_never_more_than_happened_and_noise_is_counted_apart() {
        // The page really changes at hours 3, 4 and 9, the last time while it is being read.
        let changes = [3.0, 4.0, 9.01].map(|hour: f64| Moment::EPOCH + Span::from_secs_f64(hour * 3_600.0));
        let version_at = |moment| changes.iter().filter(|&&change| change <= moment).count() as u32;
        let found = Some(true);
        let visits = [
            visit(0, None),
            // A counter on the page moved, and nothing else.
            visit(1, found),
            visit(2, Some(false)),
            // Two changes, one find.
            visit(5, found),
            visit(6, found),
            visit(9, Some(false)),
            visit(10, found),
            visit(11, found),
        ];
        assert_eq!(Finds::of(&visits, version_at), Finds { real: 2, noise: 3 });
        assert_eq!(Finds::of(&[], version_at), Finds::default());
    }
}
