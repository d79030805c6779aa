//! The settings in force as the settings of each room, and the rooms put together.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use vernal_model::{Budget, BudgetUnit, Seed, Span};

use super::live::Until;
use crate::config::{Settings, Topics, nearest};
use crate::error::{Error, OrFail, Result};

/// A public crawl of more sites than this, or of more visits a day, must say who runs it.
const ANONYMOUS_SITES_MAX: usize = 10;
const ANONYMOUS_VISITS_PER_DAY_MAX: f64 = 10_000.0;

pub fn crawler_settings(settings: &Settings, until: Until) -> Result<vernal_crawler::Settings> {
    known_policy(&settings.policy)?;
    for pattern in settings.include.iter().chain(&settings.exclude) {
        vernal_frontier::pattern(pattern).or_usage()?;
    }
    Ok(vernal_crawler::Settings {
        scope: settings.scope,
        depth: settings.depth,
        pages_max: settings.pages_max,
        per_site_pages_max: settings.per_site_pages_max,
        include: settings.include.clone(),
        exclude: settings.exclude.clone(),
        budget: settings.budget,
        policy: settings.policy.clone(),
        topics_every: match settings.topics {
            Topics::Auto => vernal_crawler::Settings::topics_for(&settings.policy),
            Topics::Off => None,
            Topics::Every(every) => Some(every),
        },
        counts: settings.counts,
        hints: settings.hints,
        callback: settings.websub_callback.clone().zip(settings.websub_secret.clone()).map(callback),
        strict: settings.strict,
        strict_sites: settings.strict_sites.clone(),
        promises: settings.promises.clone(),
        visit_order: settings.order.parse().or_usage()?,
        importance: settings.importance,
        weights: settings.weights.clone(),
        delay: settings.delay,
        delay_max: settings.delay_max,
        per_site: settings.per_site,
        concurrency: settings.concurrency,
        refresh_min: settings.refresh_min,
        abandon: settings.abandon,
        address: vernal_model::AddressLimits { at_once: settings.per_address, per_second: settings.per_address_rate },
        robots_agent: robots_agent(settings),
        once: until.idle,
        visits_max: until.visits,
        chance: settings.chance,
        disk_free_min: vernal_crawler::DiskFreeMin { bytes: settings.disk_free_bytes_min, ..Default::default() },
        ..vernal_crawler::Settings::default()
    })
}

fn callback((url, secret): (vernal_model::Url, String)) -> vernal_crawler::Callback {
    vernal_crawler::Callback::new(url, secret)
}

/// Refuses what is no policy, with the nearest name and all of them.
pub fn known_policy(name: &str) -> Result<()> {
    if vernal_policy::by_name(name).is_some() {
        return Ok(());
    }
    let known = vernal_policy::NAMES.join(", ");
    let near = nearest(name, vernal_policy::NAMES.iter().copied());
    let meant = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    Err(Error::Usage(format!("`{name}` is no policy{meant}; the policies are {known}")))
}

/// The product token: what stands before the slash or the first space of the User-Agent.
fn robots_agent(settings: &Settings) -> String {
    let agent = settings.user_agent.as_deref().unwrap_or("vernal");
    agent.split(['/', ' ']).next().unwrap_or("vernal").to_ascii_lowercase()
}

pub fn fetch_settings(settings: &Settings, own_listeners: Vec<SocketAddr>) -> vernal_fetch::Settings {
    let default = vernal_fetch::Settings::default();
    vernal_fetch::Settings {
        user_agent: settings.user_agent.clone().unwrap_or(default.user_agent),
        contact: settings.contact.clone().unwrap_or_default(),
        concurrency: settings.concurrency,
        loops: settings.loops,
        timeouts: vernal_fetch::Timeouts {
            connect: real(settings.connect_timeout),
            first_byte: real(settings.first_byte_timeout),
            total: real(settings.total_timeout),
            ..default.timeouts
        },
        body_bytes_max: usize::try_from(settings.body_bytes_max).unwrap_or(usize::MAX),
        address: vernal_model::AddressLimits { at_once: settings.per_address, per_second: settings.per_address_rate },
        allow_private: settings.allow_private,
        own_listeners,
        ..vernal_fetch::Settings::default()
    }
}

pub fn repository_settings(settings: &Settings) -> vernal_repository::Settings {
    vernal_repository::Settings {
        operator: settings.operator.clone().unwrap_or_default(),
        contact: settings.contact.clone().unwrap_or_default(),
        user_agent: fetch_settings(settings, Vec::new()).user_agent_line(),
        segment_bytes_max: settings.segment_bytes_max,
        ..vernal_repository::Settings::default()
    }
}

/// Network timeouts are real, whatever the time scale says.
fn real(span: Span) -> Duration {
    Duration::from_micros(span.micros())
}

/// Whether these seeds may be crawled under this identity: `Ok` with a warning, or a refusal.
pub fn identity(settings: &Settings, seeds: &[Seed]) -> Result<Option<String>> {
    if settings.contact.is_some() || (settings.allow_private && seeds.iter().all(is_private)) {
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
    if visits_per_day(&settings.budget) > ANONYMOUS_VISITS_PER_DAY_MAX {
        return Err(Error::Usage(format!(
            "a budget of {} without an identity: more than {ANONYMOUS_VISITS_PER_DAY_MAX} visits a day need --contact",
            settings.budget
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

/// A seed on an address of this machine or of a private network, by its literal or by the name `localhost`.
fn is_private(seed: &Seed) -> bool {
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
    }
}
