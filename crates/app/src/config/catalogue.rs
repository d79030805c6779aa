//! Every top-level setting: its name, its default, and what it says. The one list that flags, environment, file and
//! the print of settings in force are made from.

/// How a setting is given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    One,
    /// May be given again and again; an array in the file, separated by line ends in the environment.
    Many,
    /// `true` or `false`; as a flag the name alone is enough.
    Switch,
}

#[derive(Debug)]
pub struct Setting {
    /// As a flag is spelled; the file's key has underscores for hyphens.
    pub name: &'static str,
    pub shape: Shape,
    pub value_name: &'static str,
    /// Empty where a thing is off unless somebody gives it.
    pub default: &'static str,
    pub help: &'static str,
    /// Flags of every command (`--data`, `--log-format`), not only of those that crawl.
    pub everywhere: bool,
}

impl Setting {
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    pub fn variable(&self) -> String {
        format!("VERNAL_{}", self.key().to_uppercase())
    }
}

pub fn by_name(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

const fn one(name: &'static str, value_name: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { name, shape: Shape::One, value_name, default, help, everywhere: false }
}

const fn many(name: &'static str, value_name: &'static str, help: &'static str) -> Setting {
    Setting { name, shape: Shape::Many, value_name, default: "", help, everywhere: false }
}

const fn switch(name: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { name, shape: Shape::Switch, value_name: "BOOL", default, help, everywhere: false }
}

const fn everywhere(setting: Setting) -> Setting {
    Setting { everywhere: true, ..setting }
}

pub static ALL: &[Setting] = &[
    everywhere(one("data", "DIR", "./vernal-data", "The data folder")),
    everywhere(one("log-format", "FORMAT", "text", "How log lines look: text or json")),
    one(
        "seeds",
        "FILE",
        "",
        "A file of seeds, or - for standard input: URL per line, CSV with a header, or JSON lines",
    ),
    one(
        "budget",
        "BUDGET",
        "20%/day",
        "What may be spent: 5000/day, 200/hour, 2/s or 2GB/day on all requests, or 20%/day of held pages on refreshing alone",
    ),
    one("scope", "SCOPE", "site", "How far from a seed a crawl may go: page, prefix, site, domain or any"),
    one("depth", "N", "", "Links followed from a seed at most (default: no limit)"),
    one("max-pages", "N", "100000", "Pages held at most; when there are more, the most important ones are held"),
    one("max-pages-per-site", "N", "", "Pages held of one site at most (default: no limit)"),
    many("include", "REGEX", "Only URLs that match one of these; may be repeated"),
    many("exclude", "REGEX", "No URL that matches one of these; may be repeated"),
    one(
        "policy",
        "NAME",
        "vernal",
        "How pages are chosen for a refresh: vernal, bayes, round-robin, refresh-time, greedy, hybrid and many more; a \
         wrong name is answered with all of them",
    ),
    one(
        "topics",
        "WHEN",
        "auto",
        "How often topics are reckoned, such as 1d; auto is daily where the policy samples by topic, off is never",
    ),
    many(
        "promises",
        "PROMISE",
        "How often pages are visited at least or at most: \"tag:news at_least_every=1h\" or \"pattern:REGEX \
         at_most_every=7d\"; in the file as [[promises]] tables; may be repeated",
    ),
    Setting {
        default: "content",
        ..many(
            "counts",
            "KIND",
            "The kinds of change that the schedule learns from: content, structure, presentation, behaviour or any; \
             may be repeated",
        )
    },
    one("hints", "on|off", "on", "Whether sites are asked for, and believed in, what they say of their own changes"),
    many("indexnow-keys", "KEY", "Keys that a push to /indexnow may bear instead of the token; may be repeated"),
    one(
        "websub-secret",
        "TEXT",
        "",
        "The secret that hubs sign their deliveries to /websub with, instead of the token",
    ),
    one(
        "websub-callback",
        "URL",
        "",
        "Where hubs reach /websub of this crawl from outside; then the hubs that feeds name are asked to send what is new",
    ),
    switch("strict", "false", "Set nothing aside that was only learned to be noise"),
    many("strict-sites", "SITE", "Sites where nothing is set aside that was only learned to be noise; may be repeated"),
    one(
        "order",
        "ORDER",
        "paper",
        "In which order found URLs are visited: paper, breadth-first, depth-first or importance",
    ),
    one(
        "importance",
        "BY",
        "none",
        "What makes a held page count more in freshness: links (the pages that link to it) or none (all count the same)",
    ),
    many(
        "weights",
        "WEIGHT",
        "What multiplies the importance of pages: \"pattern:REGEX weight=3\", or \"file:PATH\" of a CSV with URL and \
         weight; in the file as [[weights]] tables; may be repeated",
    ),
    one("delay", "SPAN", "1s", "Between two requests to one site"),
    one("delay-max", "SPAN", "60s", "A crawl-delay of robots.txt is honoured up to this"),
    one("concurrency", "N", "64", "Requests at a time, over all sites"),
    one("per-site", "N", "1", "Requests at a time to one site"),
    one("per-address", "N", "16", "Requests at a time to one address, however many sites lie behind it"),
    one("per-address-rate", "N", "20", "Requests a second to one address, however many sites lie behind it"),
    one("loops", "N", "1", "Threads that fetch and read pages"),
    one("refresh-min", "SPAN", "1h", "No page is refreshed sooner than this after its last visit"),
    switch(
        "abandon",
        "false",
        "Leave pages for ever that are never worth a visit; else each is looked at now and then",
    ),
    one("user-agent", "TEXT", "", "The User-Agent header (default: vernal with its version and the contact)"),
    one("contact", "WHO", "", "An address or URL where the operator can be reached; part of the identity"),
    one("operator", "NAME", "", "Who runs this crawl; written into the archive"),
    one("connect-timeout", "SPAN", "10s", "Until a connection must stand"),
    one("first-byte-timeout", "SPAN", "30s", "Until the first byte of an answer must have come"),
    one("total-timeout", "SPAN", "60s", "Until an answer must be whole"),
    one("body-max", "BYTES", "8MiB", "Larger bodies are not taken"),
    one("segment-max", "BYTES", "1GB", "A WARC segment is sealed at this size"),
    one(
        "disk-free-min",
        "BYTES",
        "2GiB",
        "Fetching stops while less than this is free on the disk, or less than 5 % of it if that is fewer bytes",
    ),
    one("keep-versions", "N", "", "`compact` keeps the bodies of so many newest versions of a page (default: all)"),
    one(
        "keep-for",
        "SPAN",
        "",
        "`compact` keeps the bodies of versions that are not older than this (default: for ever)",
    ),
    one("listen", "ADDRESS", "127.0.0.1:8376", "Where API and status page are served"),
    one("token-file", "FILE", "", "A file whose first line is the token for the API; needed beyond loopback"),
    switch("allow-private", "false", "Also visit loopback and private addresses, for tests and intranets"),
    one("time-scale", "X", "1", "One real second counts as X, for demonstrations and tests"),
    one("chance", "NUMBER", "1", "The number that all randomness of this process begins with"),
];
