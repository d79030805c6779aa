//! The invented web of a demonstration, and the hosts table by which its sites have names.

use std::sync::Arc;

use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::web::{Web, WebSettings, Writing};

use super::Arguments;
use crate::command::Context;
use crate::config::Settings;
use crate::error::{Error, OrFail, Result};
use crate::runtime::clock::Clock;

/// The settings with the names of the invented sites, which lead to loopback.
pub fn with_hosts(mut context: Context, served: &Served) -> Result<Context> {
    for (root, address) in served.addresses() {
        let host = root.strip_prefix("http://").unwrap_or(root);
        context.settings.fetch.hosts.0.push(format!("{host}:80:{address}").parse().map_err(Error::Failed)?);
    }
    Ok(context)
}

pub fn web(arguments: &Arguments, settings: &Settings, clock: &Arc<Clock>) -> Result<Served> {
    let mut web = WebSettings::realistic(arguments.sites.max(1), arguments.pages.max(2));
    web.chance = settings.crawler.chance;
    web.writing = Writing::Sentences;
    // The web changes quickly, because a minute is two or three days and something must happen in it.
    web.drift.changes_per_day_median = 0.5;
    web.share.trap_sites = 1.0 / web.sites as f64;
    web.origin = clock.now();
    let web = Web::new(web).or_fail()?;
    let hour: vernal_simulator::serve::Clock = {
        let clock = Arc::clone(clock);
        Arc::new(move || clock.now())
    };
    let named = ServeOptions { named: true, ..ServeOptions::default() };
    let spread = ServeOptions { spread_addresses: true, ..named.clone() };
    // Not every system has all of 127/8; then the sites share one address.
    serve(&web, Arc::clone(&hour), &spread).or_else(|_| serve(&web, hour, &named)).or_fail()
}
