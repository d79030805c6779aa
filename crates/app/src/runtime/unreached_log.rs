//! Logs sites and seeds that could not be fetched.

use std::collections::HashSet;

use vernal_crawler::Crawler;
use vernal_model::{OrderKind, Outcome, Refusal, Report, Site};

/// Sites whose failure to give a robots.txt or a seed is logged, each once; `vernal sites` shows all of them.
const LOGGED_MAX: usize = 100;

#[derive(Default)]
pub struct UnreachedLog {
    logged: HashSet<Site>,
}

impl UnreachedLog {
    /// A site whose robots.txt cannot be fetched is not crawled, and a seed that cannot be fetched leads nowhere; the operator
    /// must be able to see why.
    pub fn note(&mut self, crawler: &Crawler, report: &Report) {
        if self.logged.len() >= LOGGED_MAX {
            return;
        }
        let (Outcome::Failed(_) | Outcome::Refused(Refusal::Guard(_))) = report.outcome else { return };
        let (url, why) = (&report.order.url, report.outcome.detail());
        match report.order.kind {
            OrderKind::Robots if self.logged.insert(url.site()) => {
                tracing::warn!("{url} could not be fetched ({why}): its pages wait unless an earlier copy is in force");
            }
            OrderKind::Page if crawler.is_seed(url) && self.logged.insert(url.site()) => {
                tracing::warn!("the seed {url} could not be fetched ({why}); it is tried again");
            }
            _ => {}
        }
    }
}
