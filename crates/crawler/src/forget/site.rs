//! What is kept of a site beside its pages, and what its noise book quotes of them.

use vernal_model::{Deed, ErasedSite, ForgetRule, Location, NoiseRows, Origin, Partition, RuleState, Site, Unfound};

use super::covered::partitions_of;
use crate::Result;
use crate::core::Core;
use crate::work::WHOLE;

/// The origins that a site may have.
const SCHEMES: [&str; 4] = ["http", "https", "ftp", "gopher"];

/// Erases robots.txt, hints and noise of the sites of these rules, and what the noise books of other sites quote.
pub(super) fn erase(core: &mut Core, rules: &[ForgetRule]) -> Result<()> {
    let rows = core.work.acknowledged().sites();
    for row in rows {
        let concerned: Vec<&ForgetRule> = rules.iter().filter(|rule| rule.concerns(&row.site)).collect();
        if concerned.is_empty() {
            continue;
        }
        let is_whole = concerned.iter().any(|rule| matches!(rule, ForgetRule::Site(_)));
        unquote(core, &row.site, row.partition, is_whole)?;
        if is_whole {
            erase_site(core, &row.site, row.partition)?;
        }
    }
    Ok(())
}

fn erase_site(core: &mut Core, site: &Site, partition: Partition) -> Result<()> {
    let reader = core.work.acknowledged();
    let (visits, records) = reader.robots_visits(partition, site)?;
    let mut origins = Vec::new();
    for scheme in SCHEMES {
        let origin = Origin::new(&format!("{scheme}://{site}"));
        core.sites.robots.forget(&origin);
        if reader.robots(&origin)?.is_some() {
            origins.push(origin);
        }
    }
    let erased = ErasedSite { site: site.clone(), origins, visits, records };
    core.work.push(partition, Deed::SiteErased(Box::new(erased)));
    let life = core.partitions.of_mut(partition).sites.site_mut(site);
    life.profile.traps.clear();
    life.profile.trouble = None;
    core.note_site(site, partition);
    Ok(())
}

/// Has records overwritten that no row names any more.
pub(crate) fn overwrite(core: &mut Core, records: Vec<Location>) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let records = core.work.acknowledged().with_followers(records.into_iter().map(Some))?;
    let erased = ErasedSite { site: Site::new(""), origins: Vec::new(), visits: Vec::new(), records };
    core.work.push(WHOLE, Deed::SiteErased(Box::new(erased)));
    Ok(())
}

/// Rules that were learned on one page alone are forgotten, because they may be made of its words; the examples of all others are.
/// Of a `whole` site nothing stays.
fn unquote(core: &mut Core, site: &Site, partition: Partition, whole: bool) -> Result<()> {
    let book = core.sites.noise.book(&core.work, site)?;
    let mut rows = NoiseRows::new(site.clone());
    for rule in &book.rules {
        let is_learned = !matches!(rule.standing, RuleState::Added | RuleState::Allowed);
        if whole || (is_learned && rule.pages <= 1) {
            rows.forgotten.push(rule.id);
        } else if !rule.before.is_empty() || !rule.after.is_empty() {
            let mut rule = rule.clone();
            (rule.before, rule.after) = ("".into(), "".into());
            rows.rules.push(rule);
        }
    }
    core.sites.noise.learn(&mut core.work, partition, rows);
    Ok(())
}

/// Takes URLs of these rules out of what was found and waits for the sieve.
pub(super) fn unfind(core: &mut Core, rules: &[ForgetRule]) -> Result<()> {
    for partition in partitions_of(core, &rules.iter().collect::<Vec<_>>()) {
        let mut unfound = Vec::new();
        for (sequence, found) in core.work.acknowledged().found_of(partition)? {
            let covered = found.iter().filter(|found| rules.iter().any(|rule| rule.covers(&found.url)));
            let urls: Vec<_> = covered.map(|found| found.url.fingerprint()).collect();
            if !urls.is_empty() {
                unfound.push(Unfound { sequence, urls });
            }
        }
        if !unfound.is_empty() {
            core.work.push(partition, Deed::Unfound(unfound));
        }
    }
    Ok(())
}
