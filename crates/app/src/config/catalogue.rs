//! Every top-level setting, in one entry each: its name, default and help, and how its text becomes a value. The flags,
//! the environment, the file, the typed `Settings` and the print of the settings in force are all made from this list.
//!
//! A new setting is an entry here and a field where its value is used, which for most is `vernal_crawler::Settings`.

use std::path::PathBuf;

use vernal_model::Kinds;

use super::setting::{Setting, all, many, one, put, put_some, secret, switch};
use super::value::{
    self, above_zero, at_least_one, bytes, callback, command_route, header_text, importance, journal, kinds,
    log_format, number, parsed, public_url, real_span, span, topics,
};
use super::{alerts, listener, policies, promises, weights};

pub fn by_name(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

fn site(text: &str) -> Result<vernal_model::Site, String> {
    crate::seeds::site(text).map_err(|error| error.to_string())
}

/// The set of all kinds that are named.
fn all_kinds(texts: &[String]) -> Result<Kinds, String> {
    let mut together = Kinds::default();
    for some in all(texts, kinds)? {
        some.iter().for_each(|kind| together.insert(kind));
    }
    Ok(together)
}

pub static ALL: &[Setting] = &[
    Setting {
        everywhere: true,
        ..one("data", "DIR", "./vernal-data", "The data folder", |to, text| put(&mut to.data, Ok(PathBuf::from(text))))
    },
    Setting {
        everywhere: true,
        ..one("log-format", "FORMAT", "text", "How log lines look: text or json", |to, text| {
            put(&mut to.log_format, log_format(text))
        })
    },
    one(
        "seeds",
        "FILE",
        "",
        "A file of seeds, or - for standard input: URL per line, CSV with a header, or JSON lines",
        |to, text| put(&mut to.seeds, Ok(Some(text.to_owned()))),
    ),
    one(
        "budget",
        "BUDGET",
        "20%/day",
        "The budget: 5000/day, 200/hour, 2/s or 2GB/day for all requests, or 20%/day of the held pages for refreshing alone",
        |to, text| put(&mut to.crawler.budget, parsed(text)),
    ),
    one("scope", "SCOPE", "site", "How far from a seed it may go: page, prefix, site, domain or any", |to, text| {
        put(&mut to.crawler.scope, parsed(text))
    }),
    one("depth", "N", "", "Links followed from a seed at most (default: no limit)", |to, text| {
        put_some(&mut to.crawler.depth, number(text))
    }),
    one(
        "max-pages",
        "N",
        "100000",
        "Pages held at most; when there are more, the most important ones are held",
        |to, text| put(&mut to.crawler.pages_max, number(text)),
    ),
    one("max-pages-per-site", "N", "", "Pages held of one site at most (default: no limit)", |to, text| {
        put_some(&mut to.crawler.per_site_pages_max, number(text))
    }),
    many("include", "REGEX", "", "Only URLs that match one of these; may be repeated", |to, texts| {
        put(&mut to.crawler.include, Ok(texts.to_vec()))
    }),
    many("exclude", "REGEX", "", "No URL that matches one of these; may be repeated", |to, texts| {
        put(&mut to.crawler.exclude, Ok(texts.to_vec()))
    }),
    one(
        "policy",
        "NAME",
        "vernal",
        "How pages are chosen for a refresh: vernal, bayes, round-robin, refresh-time, greedy, hybrid and many more, with \
         parameters as in hybrid:v=4,p=5%; `lab policies` lists them, and a wrong name is answered with all of them",
        |to, text| put(&mut to.crawler.policy, Ok(text.to_owned())),
    ),
    many(
        "parameters",
        "POLICY:NAME=VALUE",
        "",
        "Parameters of policies, for whichever of them is used: hybrid:v=4; in the file as [policy.hybrid] tables; may be \
         repeated",
        |to, texts| put(&mut to.parameters, all(texts, policies::parameters)),
    ),
    many(
        "url-thresholds",
        "URLS VALUES",
        "",
        "Thresholds of refresh-time for some URLs: \"prefix:http://a.example/news/ lower=0.1 upper=0.5 initial=0.5\" or \
         \"pattern:REGEX ...\", the first that matches counts; in the file as [[policy.refresh-time.url]]; may be \
         repeated",
        |to, texts| put(&mut to.crawler.url_terms, all(texts, policies::url_terms)),
    ),
    one(
        "topics",
        "WHEN",
        "auto",
        "How often topics are computed, such as 1d; auto is daily where the policy samples by topic, off is never",
        |to, text| put(&mut to.topics, topics(text)),
    ),
    one("search", "on|off", "on", "Whether the text index is kept up to date while the crawl runs", |to, text| {
        put(&mut to.search, value::switch(text))
    }),
    Setting {
        table: Some(promises::text_of),
        ..many(
            "promises",
            "PROMISE",
            "",
            "How often pages are visited at least or at most: \"tag:news at_least_every=1h\" or \"pattern:REGEX \
             at_most_every=7d\"; in the file as [[promises]] tables; may be repeated",
            |to, texts| put(&mut to.crawler.promises, all(texts, promises::parse)),
        )
    },
    many(
        "counts",
        "KIND",
        "content",
        "The kinds of change that the schedule learns from: content, structure, presentation, behaviour or any; may be \
         repeated",
        |to, texts| put(&mut to.crawler.counts, all_kinds(texts)),
    ),
    one(
        "hints",
        "on|off",
        "on",
        "Whether sites are asked for, and believed in, what they say of their own changes",
        |to, text| put(&mut to.crawler.hints, value::switch(text)),
    ),
    Setting {
        shown: Some(secret),
        ..many(
            "indexnow-keys",
            "KEY",
            "",
            "Keys that a push to /indexnow may carry instead of the token; may be repeated",
            |to, texts| put(&mut to.indexnow_keys, Ok(texts.to_vec())),
        )
    },
    Setting {
        shown: Some(secret),
        ..one(
            "websub-secret",
            "TEXT",
            "",
            "The secret that hubs sign their deliveries to /websub with, instead of the token",
            |to, text| put(&mut to.websub_secret, Ok(Some(text.to_owned()))),
        )
    },
    one(
        "websub-callback",
        "URL",
        "",
        "Where hubs reach /websub of this crawl from outside; then the hubs that feeds name are asked to send what is new",
        |to, text| put_some(&mut to.websub_callback, callback(text)),
    ),
    switch("strict", "Report every change, also what was only learned to be noise", |to| &mut to.crawler.strict),
    many(
        "strict-sites",
        "SITE",
        "",
        "Sites where every change is reported, also what was only learned to be noise; may be repeated",
        |to, texts| put(&mut to.crawler.strict_sites, all(texts, site)),
    ),
    one(
        "order",
        "ORDER",
        "paper",
        "In which order found URLs are visited: paper, breadth-first, depth-first or importance; breadth-first is strict: \
         no URL of a site goes while one that was admitted with fewer links from a seed could go",
        |to, text| put(&mut to.crawler.visit_order, parsed(text)),
    ),
    one(
        "requisites",
        "WHICH",
        "none",
        "Images, scripts and style sheets that pages use and that are fetched with them: site (those of the page's site) or \
         none; their changes are told as changes of the page",
        |to, text| put(&mut to.crawler.requisites, value::requisites(text)),
    ),
    one(
        "importance",
        "BY",
        "none",
        "What makes a held page count more in freshness: links (of the pages that link to it) or none (all pages count the same)",
        |to, text| put(&mut to.crawler.importance, importance(text)),
    ),
    Setting {
        table: Some(weights::text_of),
        ..many(
            "weights",
            "WEIGHT",
            "",
            "What multiplies the importance of pages: \"pattern:REGEX weight=3\", or \"file:PATH\" of a CSV with URL and \
             weight; in the file as [[weights]] tables; may be repeated",
            |to, texts| put(&mut to.crawler.weights, weights::parse(texts)),
        )
    },
    one("delay", "SPAN", "1s", "The time between two requests to one site", |to, text| {
        put(&mut to.crawler.delay, span(text))
    }),
    one("delay-max", "SPAN", "60s", "The longest crawl-delay of robots.txt that is honoured", |to, text| {
        put(&mut to.crawler.delay_max, span(text))
    }),
    one("concurrency", "N", "64", "Requests at a time, over all sites", |to, text| {
        put(&mut to.crawler.concurrency, at_least_one(text))
    }),
    one("per-site", "N", "1", "Requests at a time to one site", |to, text| {
        put(&mut to.crawler.per_site, at_least_one(text))
    }),
    one("per-address", "N", "16", "Requests at a time to one address, however many sites lie behind it", |to, text| {
        put(&mut to.crawler.address.at_once, at_least_one(text))
    }),
    one("per-address-rate", "N", "20", "Requests a second to one address, whatever sites lie behind it", |to, text| {
        put(&mut to.crawler.address.per_second, above_zero(text))
    }),
    one("loops", "N", "1", "Threads that fetch and read pages", |to, text| {
        put(&mut to.fetch.loops, at_least_one(text))
    }),
    one("refresh-min", "SPAN", "1h", "No page is refreshed sooner than this after its last visit", |to, text| {
        put(&mut to.crawler.refresh_min, span(text))
    }),
    switch(
        "abandon",
        "Never visit again the pages that are not worth a visit; without it each is visited now and then",
        |to| &mut to.crawler.abandon,
    ),
    one(
        "user-agent",
        "TEXT",
        "",
        "The User-Agent header (default: vernal with its version and the contact)",
        |to, text| put(&mut to.fetch.user_agent, header_text(text)),
    ),
    one(
        "contact",
        "WHO",
        "",
        "An address or URL where the operator can be reached; part of the identity",
        |to, text| put(&mut to.fetch.contact, header_text(text)),
    ),
    one("operator", "NAME", "", "Who runs this crawl; written into the archive", |to, text| {
        put(&mut to.repository.operator, header_text(text))
    }),
    one("connect-timeout", "SPAN", "10s", "The time that a connection may take", |to, text| {
        put(&mut to.fetch.timeouts.connect, real_span(text))
    }),
    one("first-byte-timeout", "SPAN", "30s", "The time until the first byte of an answer", |to, text| {
        put(&mut to.fetch.timeouts.first_byte, real_span(text))
    }),
    one("total-timeout", "SPAN", "60s", "The time that a whole answer may take", |to, text| {
        put(&mut to.fetch.timeouts.total, real_span(text))
    }),
    one("body-max", "BYTES", "8MiB", "The largest body that is taken", |to, text| {
        put(&mut to.fetch.body_bytes_max, bytes(text).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
    }),
    one("segment-max", "BYTES", "1GB", "A WARC segment is sealed at this size", |to, text| {
        put(&mut to.repository.segment_bytes_max, bytes(text))
    }),
    one("journal", "WHAT", "drop", "Deeds before a checkpoint of the tables: drop, archive or keep", |to, text| {
        put(&mut to.repository.journal, journal(text))
    }),
    one(
        "disk-free-min",
        "BYTES",
        "2GiB",
        "Fetching stops while less than this is free on the disk, or less than 5 % of it if that is fewer bytes",
        |to, text| put(&mut to.crawler.disk_free_min.bytes, bytes(text)),
    ),
    one(
        "keep-versions",
        "N",
        "",
        "`compact` keeps the bodies of the N newest versions of a page (default: all)",
        |to, text| put_some(&mut to.keep_versions, at_least_one(text)),
    ),
    one("keep-for", "SPAN", "", "`compact` keeps bodies that are not older than this (default: all)", |to, text| {
        put_some(&mut to.keep_for, span(text))
    }),
    listener::LISTEN,
    listener::ARCHIVE_LISTEN,
    listener::TOKEN_FILE,
    listener::TLS_CERT,
    listener::TLS_KEY,
    listener::CORS_ORIGIN,
    listener::API_RATE,
    switch("allow-private", "Also visit loopback and private addresses, for tests and intranets", |to| {
        &mut to.fetch.allow_private
    }),
    switch("allow-private-routes", "Also send alerts to loopback and private addresses", |to| {
        &mut to.alerts.allow_private
    }),
    many(
        "command-route",
        "NAME=PROGRAM",
        "",
        "A route of alerts to a program, with its arguments behind it; may be repeated",
        |to, texts| put(&mut to.alerts.programs, all(texts, command_route)),
    ),
    Setting {
        shown: Some(alerts::shown),
        ..many(
            alerts::ROUTES,
            "JSON",
            "",
            "Where alerts go, each as the API takes it; in the file as [[routes]] tables; may be repeated",
            |to, texts| put(&mut to.alerts.routes, all(texts, alerts::route)),
        )
    },
    Setting {
        shown: Some(alerts::shown),
        ..many(
            alerts::WATCHES,
            "JSON",
            "",
            "Watches, each as the API takes it; in the file as [[watches]] tables; may be repeated",
            |to, texts| put(&mut to.alerts.watches, all(texts, alerts::watch)),
        )
    },
    one("public-url", "URL", "", "Links in alerts begin with this (default: the address of --listen)", |to, text| {
        put_some(&mut to.alerts.public_url, public_url(text))
    }),
    many("resolve", "HOST:PORT:ADDRESS", "", "Connect there for URLs of HOST:PORT; or ADDRESS:PORT", |to, texts| {
        put(&mut to.fetch.hosts.0, all(texts, parsed))
    }),
    one("time-scale", "X", "1", "One real second counts as X, for demonstrations and tests", |to, text| {
        put(&mut to.time_scale, above_zero(text))
    }),
    one("chance", "NUMBER", "1", "The number that all randomness of this process begins with", |to, text| {
        put(&mut to.crawler.chance, number(text))
    }),
];
