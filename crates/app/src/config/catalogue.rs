//! Every top-level setting, in one entry each: its name, default and help, and how its text becomes a value. The flags,
//! the environment, the file, the typed [`Settings`] and the print of the settings in force are all made from this list.
//!
//! A new setting is an entry here and a field where its value is used, which for most is `vernal_crawler::Settings`.

use std::path::PathBuf;

use vernal_model::Kinds;

use super::settings::Settings;
use super::value::{
    self, above_zero, at_least_one, bytes, callback, header_text, importance, kinds, listen, log_format, number,
    parsed, real_span, span, topics,
};
use super::{promises, weights};

#[derive(Debug)]
pub struct Setting {
    /// As the flag is spelled; the key of the file has underscores for hyphens, and the variable is `VERNAL_` with the key
    /// in capital letters.
    pub name: &'static str,
    pub value_name: &'static str,
    /// Empty where a thing is off unless somebody gives it.
    pub default: &'static str,
    pub help: &'static str,
    pub value: Value,
    /// A flag of every command (`--data`, `--log-format`), not only of those that crawl.
    pub everywhere: bool,
    /// The value is used and never shown.
    pub secret: bool,
    /// The text that a table of the file stands for, where values may be tables.
    pub table: Option<TextOfTable>,
}

/// How a setting is given, and where its value goes.
#[derive(Debug)]
pub enum Value {
    One(SetOne),
    /// May be given again and again; an array in the file, separated by line ends in the environment.
    Many(SetMany),
    /// `true` or `false`; as a flag the name alone is enough.
    Switch(fn(&mut Settings) -> &mut bool),
}

type TextOfTable = fn(&toml::Table) -> Result<String, String>;
type SetOne = fn(&mut Settings, &str) -> Result<(), String>;
type SetMany = fn(&mut Settings, &[String]) -> Result<(), String>;

impl Setting {
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    pub fn variable(&self) -> String {
        format!("VERNAL_{}", self.key().to_uppercase())
    }

    /// Writes the texts that were given into the settings. The last one counts where there can be only one.
    pub fn apply(&self, settings: &mut Settings, texts: &[String]) -> Result<(), String> {
        match (&self.value, texts.last()) {
            (_, None) => Ok(()),
            (Value::One(set), Some(text)) => set(settings, text),
            (Value::Many(set), Some(_)) => set(settings, texts),
            (Value::Switch(field), Some(text)) => put(field(settings), value::switch(text)),
        }
    }
}

pub fn by_name(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

const fn entry(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    value: Value,
) -> Setting {
    Setting { name, value_name, default, help, value, everywhere: false, secret: false, table: None }
}

const fn one(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    set: SetOne,
) -> Setting {
    entry(name, value_name, default, help, Value::One(set))
}

const fn many(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
    set: SetMany,
) -> Setting {
    entry(name, value_name, default, help, Value::Many(set))
}

const fn switch(name: &'static str, help: &'static str, field: fn(&mut Settings) -> &mut bool) -> Setting {
    entry(name, "BOOL", "false", help, Value::Switch(field))
}

/// Writes a value where it belongs, if it is one.
fn put<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

fn put_some<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    put(field, value.map(Some))
}

fn all<T>(texts: &[String], read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    texts.iter().map(|text| read(text)).collect()
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
        "How pages are chosen for a refresh: vernal, bayes, round-robin, refresh-time, greedy, hybrid and many more; a \
         wrong name is answered with all of them",
        |to, text| put(&mut to.crawler.policy, Ok(text.to_owned())),
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
        secret: true,
        ..many(
            "indexnow-keys",
            "KEY",
            "",
            "Keys that a push to /indexnow may carry instead of the token; may be repeated",
            |to, texts| put(&mut to.indexnow_keys, Ok(texts.to_vec())),
        )
    },
    Setting {
        secret: true,
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
        "In which order found URLs are visited: paper, breadth-first, depth-first or importance",
        |to, text| put(&mut to.crawler.visit_order, parsed(text)),
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
    one(
        "per-address-rate",
        "N",
        "20",
        "Requests a second to one address, however many sites lie behind it",
        |to, text| put(&mut to.crawler.address.per_second, above_zero(text)),
    ),
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
    one(
        "keep-for",
        "SPAN",
        "",
        "`compact` keeps the bodies of versions that are not older than this (default: for ever)",
        |to, text| put_some(&mut to.keep_for, span(text)),
    ),
    one(
        "listen",
        "ADDRESS",
        "127.0.0.1:8376",
        "The address where the API and the status page are served",
        |to, text| put(&mut to.listen, listen(text)),
    ),
    one(
        "token-file",
        "FILE",
        "",
        "A file whose first line is the token for the API; needed beyond loopback",
        |to, text| put(&mut to.token_file, Ok(Some(PathBuf::from(text)))),
    ),
    switch("allow-private", "Also visit loopback and private addresses, for tests and intranets", |to| {
        &mut to.fetch.allow_private
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
