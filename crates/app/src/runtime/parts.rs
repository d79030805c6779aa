//! The settings in force as the settings of each room, and the rooms put together.

use std::net::{IpAddr, SocketAddr};

use vernal_model::{Budget, BudgetUnit, Seed, Span};

use super::descriptors;
use super::live::Until;
use crate::command::Context;
use crate::config::{Settings, Topics};
use crate::error::{Error, OrFail, Result};

/// A public crawl of more sites than this, or of more visits a day, must say who runs it.
const ANONYMOUS_SITES_MAX: usize = 10;
const ANONYMOUS_VISITS_PER_DAY_MAX: f64 = 10_000.0;

pub fn crawler_settings(settings: &Settings, until: Until) -> Result<vernal_crawler::Settings> {
    let crawler = &settings.crawler;
    for pattern in crawler.include.iter().chain(&crawler.exclude) {
        vernal_frontier::pattern(pattern).or_usage()?;
    }
    let callback = settings.websub_callback.clone().zip(settings.websub_secret.clone());
    Ok(vernal_crawler::Settings {
        history: true,
        topics_every: match settings.topics {
            Topics::Auto => vernal_crawler::Settings::topics_for(&crawler.policy),
            Topics::Off => None,
            Topics::Every(every) => Some(every),
        },
        callback: callback.map(|(url, secret)| vernal_crawler::Callback::new(url, secret)),
        robots_agent: robots_agent(&settings.fetch.user_agent),
        once: until.idle,
        allow_private: settings.fetch.allow_private,
        visits_max: until.visits,
        ..crawler.clone()
    })
}

/// The policy of this name with what the settings give for its parameters, as one text. Refuses what is no policy, with the
/// nearest name and all of them.
pub fn with_parameters(context: &Context, name: &str) -> Result<String> {
    crate::config::with_parameters(name, &context.settings.parameters).or_usage()
}

/// The product token: what stands before the slash or the first space of the User-Agent.
fn robots_agent(user_agent: &str) -> String {
    user_agent.split(['/', ' ']).next().unwrap_or("vernal").to_ascii_lowercase()
}

pub fn fetch_settings(settings: &Settings, own_listeners: Vec<SocketAddr>) -> vernal_fetch::Settings {
    let shares = descriptors::shares(descriptors::limit());
    vernal_fetch::Settings {
        concurrency: settings.crawler.concurrency.min(shares.requests),
        idle_connections_max: settings.fetch.idle_connections_max.min(shares.idle_connections),
        address: settings.crawler.address,
        own_listeners,
        ..settings.fetch.clone()
    }
}

/// What the answers of the API depend on.
pub fn api_settings(context: &Context, settings: &Settings) -> Result<vernal_api::Settings> {
    Ok(vernal_api::Settings {
        data: settings.data.clone(),
        crawler: crawler_settings(settings, Until::default())?,
        unpacking: settings.fetch.unpacking(),
        guard: vernal_fetch::guard::check,
        indexnow_keys: settings.indexnow_keys.clone(),
        websub_secret: settings.websub_secret.clone(),
        websub_callback: settings.websub_callback.clone(),
        keep_versions: settings.keep_versions,
        keep_for: settings.keep_for,
        shown: context.in_force.rows(),
    })
}

pub fn repository_settings(settings: &Settings) -> vernal_repository::Settings {
    vernal_repository::Settings {
        store_files_max: settings.repository.store_files_max.min(descriptors::shares(descriptors::limit()).store),
        contact: settings.fetch.contact.clone(),
        user_agent: settings.fetch.user_agent_line(),
        ..settings.repository.clone()
    }
}

/// Whether these seeds may be crawled under this identity: `Ok` with a warning, or a refusal.
pub fn identity(settings: &Settings, seeds: &[Seed]) -> Result<Option<String>> {
    if !settings.fetch.contact.is_empty()
        || (settings.fetch.allow_private && seeds.iter().all(|seed| is_private(settings, seed)))
    {
        return Ok(None);
    }
    let mut sites: Vec<&str> = seeds.iter().map(|seed| seed.url.site_text()).collect();
    sites.sort_unstable();
    sites.dedup();
    if sites.len() > ANONYMOUS_SITES_MAX {
        return Err(Error::Usage(format!(
            "{} sites without an identity: a crawl of more than {ANONYMOUS_SITES_MAX} sites needs --contact",
            sites.len()
        )));
    }
    if visits_per_day(&settings.crawler.budget) > ANONYMOUS_VISITS_PER_DAY_MAX {
        return Err(Error::Usage(format!(
            "a budget of {} without an identity: more than {ANONYMOUS_VISITS_PER_DAY_MAX} visits a day need --contact",
            settings.crawler.budget
        )));
    }
    Ok(Some("no --contact: the sites cannot tell who visits them or complain; give a mail address or a URL".into()))
}

/// The budget's own count of visits; a budget in bytes names none, and a share is of pages that are held already.
fn visits_per_day(budget: &Budget) -> f64 {
    match budget.unit {
        BudgetUnit::Visits => budget.per_second(0) * Span::from_days(1).secs_f64(),
        BudgetUnit::WireBytes | BudgetUnit::PercentOfHeld => 0.0,
    }
}

/// A seed on an address of this machine or of a private network, by its literal, by the name `localhost`, or by the hosts
/// table.
fn is_private(settings: &Settings, seed: &Seed) -> bool {
    let targets = settings.fetch.hosts.targets(seed.url.host(), seed.url.port());
    if !targets.is_empty() {
        return targets.iter().all(|target| vernal_fetch::guard::check(target.ip(), false).is_err());
    }
    let host = seed.url.host().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => vernal_fetch::guard::check(address, false).is_err(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, resolve};
    use vernal_model::{Moment, Url};

    fn settings(given: &[(&str, &str)]) -> Settings {
        let mut flags = Flags::default();
        for (name, value) in given {
            flags.push(name, (*value).into());
        }
        Settings::read(&resolve(&flags, &[], Some(std::path::Path::new("/dev/null"))).unwrap()).unwrap()
    }

    fn seeds(hosts: impl Iterator<Item = String>) -> Vec<Seed> {
        hosts.map(|host| Seed::new(Url::parse(&format!("http://{host}/")).unwrap(), Moment::EPOCH)).collect()
    }

    #[test]
    fn a_public_crawl_without_contact_warns_and_a_large_one_is_refused() {
        let few = seeds((0..10).map(|n| format!("s{n}.example.org")));
        let many = seeds((0..11).map(|n| format!("s{n}.example.org")));
        assert!(identity(&settings(&[]), &few).unwrap().is_some());
        assert_eq!(identity(&settings(&[]), &many).unwrap_err().exit_code(), 2);
        assert_eq!(identity(&settings(&[("budget", "10001/day")]), &few).unwrap_err().exit_code(), 2);
        assert!(
            identity(&settings(&[("contact", "ops@example.org"), ("budget", "10001/day")]), &many).unwrap().is_none()
        );
    }

    #[test]
    fn tests_on_loopback_need_no_identity() {
        let local = seeds((0..20).map(|n| format!("127.0.0.{}:8000", n + 1)));
        assert!(identity(&settings(&[("allow-private", "true"), ("budget", "50/s")]), &local).unwrap().is_none());
        assert!(identity(&settings(&[("budget", "50/s")]), &local).is_err());
        let named = seeds((0..20).map(|n| format!("s{n}.example")));
        let mut given: Vec<(&str, String)> = vec![("allow-private", "true".into()), ("budget", "50/s".into())];
        given.extend((0..20).map(|n| ("resolve", format!("s{n}.example:80:127.0.0.{}:8000", n + 1))));
        let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert!(identity(&settings(&given), &named).unwrap().is_none(), "a private address by the hosts table");
        assert!(identity(&settings(&given[..10]), &named).is_err());
    }
}
