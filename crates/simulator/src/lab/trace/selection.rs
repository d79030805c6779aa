//! Which part of a recording makes a world.

use vernal_model::{Moment, Span};

use crate::lab::world::ChangeKind;
use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The name of the world.
    pub name: String,
    /// Where it begins; the first row of the recording if nobody says.
    pub from: Option<Moment>,
    /// How long it lasts; to the end of the recording if nobody says.
    pub days: Option<f64>,
    /// To when the recording reaches, where that is known to be beyond its last row.
    pub observed_until: Option<Moment>,
    pub warm_up: Span,
    /// At most so many pages of a site, a fair sample by their names, so that no site dominates.
    pub site_cap: Option<usize>,
    /// At most so many pages in all, a fair sample too.
    pub pages_max: Option<usize>,
    /// Kinds that do not count as changes.
    pub ignored: Vec<ChangeKind>,
    /// Sites whose names begin so; all if there is none.
    pub only: Vec<String>,
    /// Sites left out, by how their names begin.
    pub without: Vec<String>,
}

impl Default for Selection {
    fn default() -> Self {
        Selection {
            name: "trace".into(),
            from: None,
            days: None,
            observed_until: None,
            warm_up: Span::from_days(60),
            site_cap: None,
            pages_max: None,
            ignored: Vec::new(),
            only: Vec::new(),
            without: Vec::new(),
        }
    }
}

/// The two years of a selection begin at a round number of seconds, as in the trial whose figures they reproduce.
const PUBLISHED_FROM_SECS: i64 = 1_643_000_000;
const PUBLISHED_EARLIER_FROM_SECS: i64 = 1_558_800_000;
const CRAWLED_FROM_SECS: i64 = 1_685_000_000;
const CRAWLED_EARLIER_FROM_SECS: i64 = 1_622_500_000;
const SELECTION_DAYS: f64 = 730.0;
const PUBLISHED_SITE_CAP: usize = 500;
/// Sites of the shared recording that were crawled, not published: pages and text of terms of service, watched hosts and
/// two listings.
const CRAWLED: [&str; 5] = ["ota-contrib/", "ota-text-contrib/", "stalker/", "pge-outages", "hn-domains"];

impl Selection {
    /// The named selections of the shared recording.
    pub const NAMES: [&'static str; 6] = ["pub", "pubs", "pubold", "ota", "otaold", "stalker"];

    pub fn by_name(name: &str) -> Result<Self> {
        let published = |from, cap| Selection {
            from: Some(Moment::from_secs(from)),
            site_cap: Some(cap),
            without: CRAWLED.iter().map(|&prefix| prefix.to_owned()).collect(),
            ..Self::two_years(name)
        };
        let crawled = |from, prefix: &str| Selection {
            from: Some(Moment::from_secs(from)),
            only: vec![prefix.to_owned()],
            ..Self::two_years(name)
        };
        match name {
            "pub" => Ok(published(PUBLISHED_FROM_SECS, PUBLISHED_SITE_CAP)),
            "pubs" => Ok(published(PUBLISHED_FROM_SECS, 120)),
            "pubold" => Ok(published(PUBLISHED_EARLIER_FROM_SECS, PUBLISHED_SITE_CAP)),
            "ota" => Ok(crawled(CRAWLED_FROM_SECS, "ota-text-contrib/")),
            "otaold" => Ok(crawled(CRAWLED_EARLIER_FROM_SECS, "ota-text-contrib/")),
            "stalker" => Ok(crawled(CRAWLED_FROM_SECS, "stalker/")),
            _ => Err(Error::Lab(format!("there is no selection `{name}`; there are {}", Self::NAMES.join(", ")))),
        }
    }

    fn two_years(name: &str) -> Self {
        Selection {
            name: name.to_owned(),
            days: Some(SELECTION_DAYS),
            ignored: vec![ChangeKind::Nothing, ChangeKind::Presentation],
            ..Selection::default()
        }
    }

    /// Reads a list such as `none,presentation`.
    pub fn kinds(list: &str) -> Result<Vec<ChangeKind>> {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        let kind = |name: &str| {
            let known = || ChangeKind::ALL.map(ChangeKind::name).join(", ");
            ChangeKind::by_name(name).ok_or_else(|| Error::Lab(format!("`{name}` is no kind; there are {}", known())))
        };
        names.map(kind).collect()
    }

    pub(super) fn takes_site(&self, site: &str) -> bool {
        let begins = |prefixes: &[String]| prefixes.iter().any(|prefix| site.starts_with(prefix.as_str()));
        (self.only.is_empty() || begins(&self.only)) && !begins(&self.without)
    }
}
