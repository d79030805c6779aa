//! The answer to a request for robots.txt: a record, a row, a delay, and the sitemaps that the file names.

use vernal_model::{Deed, Location, Moment, Origin, Report, Site, Visit};
use vernal_repository::bodies::{Keep, KeepKind};

use super::archive_record;
use crate::Result;
use crate::core::Core;
use crate::hints::announce;

/// `kept` is the location of the record, if there is one already.
pub(crate) fn take_robots(
    core: &mut Core,
    (origin, home): (&Origin, &Site),
    report: &Report,
    kept: Option<Location>,
    now: Moment,
) -> Result<()> {
    let (row, crawl_delay) = core.sites.robots.answered(origin, report, now);
    let record = match &report.exchange {
        _ if kept.is_some() => kept,
        Some(exchange) => Some(core.work.keep(&Keep {
            url: &report.order.url,
            moment: report.started,
            exchange,
            payload: archive_record::digest_of(&exchange.body),
            what: KeepKind::Robots { origin },
        })?),
        None => None,
    };
    let Some(id) = core.partitions.home_of_site(home) else { return Ok(()) };
    let sites = &mut core.partitions.of_mut(id).sites;
    let profile = &mut sites.site_mut(home).profile;
    let delay_changed = profile.crawl_delay != crawl_delay;
    profile.crawl_delay = crawl_delay;
    sites.politeness.set_crawl_delay(home, crawl_delay);
    if delay_changed {
        core.note_site(home, id);
    }
    if core.settings.hints && kept.is_none() {
        announce::find_sitemaps(core, origin, &row);
    }
    tracing::debug!(origin = origin.as_str(), outcome = report.outcome.name(), "robots.txt taken");
    let visit = visit_beside_pages(report, record);
    core.work.push(id, Deed::RobotsRead { site: home.clone(), row, visit });
    Ok(())
}

/// A visit that belongs to no known page: to a robots.txt or a hub.
pub(crate) fn visit_beside_pages(report: &Report, record: Option<Location>) -> Visit {
    Visit {
        started: report.started,
        finished: report.finished,
        outcome: report.outcome.clone(),
        address: report.exchange.as_ref().and_then(|exchange| exchange.address),
        wire_bytes: report.wire_bytes,
        version: None,
        record,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: Some(report.order.url.clone()),
    }
}
