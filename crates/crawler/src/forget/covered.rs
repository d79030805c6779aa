//! Which pages and which waiting URLs some rules cover.

use std::collections::BTreeSet;

use vernal_model::{ForgetRule, NameMark, PageKey, Partition, Url};

use crate::Result;
use crate::core::Core;
use crate::work::Work;

/// So many names of one page are forgotten with it.
const NAMES_MAX: usize = 64;
/// The schemes under which one page may answer.
const SCHEMES: [&str; 2] = ["http", "https"];

/// The known URLs that these rules cover, visited or waiting, by key.
pub(super) fn covered(core: &Core, rules: &[ForgetRule]) -> Result<BTreeSet<PageKey>> {
    let mut keys = BTreeSet::new();
    let mut wide = Vec::new();
    for rule in rules {
        match rule {
            ForgetRule::Page(url) => keys.extend(spellings_known(&core.work, url)?),
            rule => wide.push(rule),
        }
    }
    for partition in partitions_of(core, &wide) {
        for row in core.work.acknowledged().urls_of(partition) {
            let row = row?;
            if wide.iter().any(|rule| rule.covers(&row.url)) {
                keys.insert(row.page);
            }
        }
    }
    Ok(keys)
}

/// The rules for the other names of these pages that no rule covers: they are the same page.
pub(super) fn other_names(core: &Core, keys: &BTreeSet<PageKey>, rules: &[ForgetRule]) -> Result<Vec<ForgetRule>> {
    let mut names: Vec<ForgetRule> = Vec::new();
    for &key in keys {
        let row = core.work.name_row(key)?;
        if !row.is_first && row.same_as.is_none() {
            continue;
        }
        let first = row.same_as.map_or(key, |same| same.first);
        let mut pages = core.work.marked_pages(key.partition, NameMark::SecondOf(first.number), NAMES_MAX)?;
        pages.push(first);
        for page in pages {
            let Some(page) = core.work.page(page)? else { continue };
            if !rules.iter().chain(&names).any(|rule| rule.covers(&page.url)) {
                names.push(ForgetRule::Page(page.url));
            }
        }
    }
    Ok(names)
}

/// The partitions that may have pages of these rules.
pub(super) fn partitions_of(core: &Core, rules: &[&ForgetRule]) -> BTreeSet<Partition> {
    let mut partitions: BTreeSet<Partition> = BTreeSet::new();
    for rule in rules {
        let sites = core.work.acknowledged().sites();
        partitions.extend(sites.iter().filter(|row| rule.concerns(&row.site)).map(|row| row.partition));
        let urls =
            SCHEMES.iter().filter_map(|scheme| Url::parse(&format!("{scheme}://{}/", rule.site_without_www())).ok());
        partitions.extend(urls.map(|url| core.partitions.home_of(&url)));
    }
    partitions
}

/// The known URLs that differ from this one in scheme and `www.` alone.
fn spellings_known(work: &Work, url: &Url) -> Result<Vec<PageKey>> {
    let (host, rest) = (url.site_without_www(), url.path_and_query());
    let texts = SCHEMES.iter().flat_map(|scheme| ["", "www."].map(|www| format!("{scheme}://{www}{host}{rest}")));
    let mut urls: Vec<Url> = texts.filter_map(|text| Url::parse(&text).ok()).collect();
    urls.push(url.clone());
    let mut keys = Vec::new();
    for url in urls {
        let Some(key) = work.key_of(&url)?.and_then(|known| known.key) else { continue };
        // Two URLs may share a fingerprint; the row says which one it is.
        keys.extend(work.url(key)?.filter(|row| row.url == url).map(|row| row.page));
    }
    Ok(keys)
}
