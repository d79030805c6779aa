//! What stands around every screen: navigation, the pulse of the crawl, and banners for what the reader must know first.

use crate::answers::Status;
use crate::numbers::percent;
use crate::reader::Reader;
use crate::times::{Time, Times};

/// The main places of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Overview,
    Changes,
    Sites,
    Search,
    Watches,
    Lab,
    Operations,
    /// A screen that stands beside them: login, help, or what went wrong.
    Beside,
}

/// A place in the navigation.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub place: Place,
    pub name: &'static str,
    pub path: &'static str,
    /// The second key behind `g`.
    pub key: &'static str,
}

pub const WAYS: [Way; 7] = [
    Way { place: Place::Overview, name: "Overview", path: "/", key: "o" },
    Way { place: Place::Changes, name: "Changes", path: "/changes", key: "c" },
    Way { place: Place::Sites, name: "Sites", path: "/sites", key: "s" },
    Way { place: Place::Search, name: "Search", path: "/search", key: "f" },
    Way { place: Place::Watches, name: "Watches", path: "/watches", key: "w" },
    Way { place: Place::Lab, name: "Lab", path: "/lab", key: "l" },
    Way { place: Place::Operations, name: "Operations", path: "/operations", key: "p" },
];

/// Something that the reader must know first.
#[derive(Clone, Debug)]
pub struct Banner {
    /// `calm`, `warn` or `bad`.
    pub class: &'static str,
    pub words: String,
    /// Where it leads, and how that is called.
    pub leads: Option<(&'static str, &'static str)>,
}

/// How the crawl stands, in two words.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    /// `live`, `warn`, `bad` or `off`.
    pub class: &'static str,
    pub words: &'static str,
    pub fresh: String,
}

/// What every template draws around its screen.
#[derive(Clone, Debug)]
pub struct Frame {
    pub title: String,
    pub place: Place,
    pub theme: Option<&'static str>,
    pub keys: bool,
    /// The folder of style, script and fonts.
    pub assets: String,
    /// The address of this screen, to come back to.
    pub address: String,
    pub pulse: Option<Pulse>,
    pub banners: Vec<Banner>,
    pub unseen: Option<u64>,
    pub has_token: bool,
    pub version: String,
    pub now: Time,
    /// Where the feed of changes stood; nothing where nothing moves.
    pub cursor: Option<String>,
}

impl Frame {
    /// A frame that knows nothing of the crawl.
    pub fn bare(reader: &Reader, title: impl Into<String>, place: Place) -> Frame {
        Frame {
            title: title.into(),
            place,
            theme: reader.theme,
            keys: reader.keys,
            assets: reader.house.assets.clone(),
            address: reader.address.clone(),
            pulse: None,
            banners: Vec::new(),
            unseen: None,
            has_token: reader.has_token(),
            version: String::new(),
            now: Time::default(),
            cursor: None,
        }
    }

    pub fn of(reader: &Reader, title: impl Into<String>, place: Place, status: &Status) -> Frame {
        let times = Times::new(status.now());
        Frame {
            pulse: Some(pulse(status)),
            banners: banners(status, &times, reader.house.read_only),
            version: status.version.clone(),
            now: times.moment(status.now()),
            cursor: status.crawl.is_some().then(|| status.cursor.clone()),
            ..Frame::bare(reader, title, place)
        }
    }

    pub fn is_at(&self, place: &Place) -> bool {
        self.place == *place
    }

    /// The places of the bar at the bottom of small screens; the last is "More".
    pub fn tabs(&self) -> Vec<Way> {
        let places = [Place::Overview, Place::Changes, Place::Search, Place::Watches];
        WAYS.into_iter().filter(|way| places.contains(&way.place)).collect()
    }

    pub fn ways(&self) -> [Way; 7] {
        WAYS
    }
}

fn pulse(status: &Status) -> Pulse {
    let fresh = status.believed().map(|share| format!("{} % fresh", percent(share))).unwrap_or_default();
    let (class, words) = match &status.crawl {
        None => ("off", "stopped"),
        Some(crawl) if crawl.disk_full => ("bad", "disk full"),
        Some(_) if status.paused => ("warn", "paused"),
        Some(_) => ("live", "running"),
    };
    Pulse { class, words, fresh }
}

fn banners(status: &Status, times: &Times, read_only: bool) -> Vec<Banner> {
    let mut banners = Vec::new();
    let mut add = |class, words: String, leads| banners.push(Banner { class, words, leads });
    match &status.crawl {
        None => {
            let last = times.moment(status.now()).words;
            let only = if read_only { " It is shown here and cannot be changed." } else { "" };
            add(
                "calm",
                format!(
                    "Nothing crawls here: this is the folder as it was left on {last}.{only} The command vernal run goes on with it."
                ),
                None,
            );
        }
        Some(crawl) => {
            if crawl.disk_full {
                add(
                    "bad",
                    "The disk is full. Nothing is fetched until there is room; what is held is safe.".into(),
                    Some(("/operations", "what takes room")),
                );
            }
            if status.paused {
                add(
                    "warn",
                    "The crawl is paused. Nothing is visited until it is resumed.".into(),
                    Some(("/operations", "resume")),
                );
            }
        }
    }
    if let Some(promises) = status.promises.as_ref().filter(|promises| promises.overdue > 0) {
        let cure = promises.cures.first().map_or_else(String::new, |cure| format!(" It would take {cure}."));
        let pages = crate::numbers::counted(promises.overdue, "promised visit");
        add(
            "warn",
            format!("{pages} overdue, of {} promised pages.{cure}", promises.pages),
            Some(("/operations", "the promises")),
        );
    }
    banners
}
