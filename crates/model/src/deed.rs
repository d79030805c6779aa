//! A deed: one typed change of the state of a partition. A journal holds nothing else.
//!
//! A deed contains the new rows, never instructions to compute them. So applying it is a plain write, and any prefix of the
//! journal, applied to an empty store, equals the tables.

use serde::{Deserialize, Serialize};

use crate::{
    BudgetAccount, DocumentRow, ErasedPage, ErasedSite, Event, Eviction, Fingerprint, Folded, ForgottenRow, GraphMark,
    HintRows, HourClosed, HourMeasured, Location, Moment, Named, NoiseRows, Page, PageKey, PageState, PageTerms,
    RobotsRow, Seed, Sequence, Site, SiteDaysClosed, SiteProfile, Subscription, TimeOrigin, TopicMark, TopicOf,
    TopicRow, Unfound, Url, VersionTold, Visit, WeightRow, noise_before,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// A process opened this repository. Time never goes back before this Moment.
    Started {
        moment: Moment,
    },
    /// A seed was given, or given again with other settings.
    Seeded(Seed),
    Unseeded(Url),
    /// URLs of this partition were found. They wait for the sieve.
    Found {
        urls: Vec<Found>,
        /// Links to URLs that an earlier `Found` of this journal contains. They only count as back links.
        again: Vec<Fingerprint>,
    },
    /// The sieve compared everything found up to and including `through` with the known URLs.
    Sieved {
        through: Sequence,
        admitted: Vec<Admitted>,
        /// New, but not admitted (traps, limits): known from now on, and never requested.
        barred: Vec<(Url, Box<str>)>,
    },
    Visited(Box<Visited>),
    SiteSeen(Site, SiteProfile),
    RobotsRead {
        site: Site,
        row: RobotsRow,
        visit: Visit,
    },
    Controlled(Control),
    /// The budget account after spending.
    Spent {
        account: BudgetAccount,
    },
    /// Records were moved or removed: the new location of the record of each of these visits.
    Relocated(Vec<Relocated>),
    /// [`Deed::NoiseLearned`] as folders of format 4 and before have it. Reading a journal turns it into that.
    #[serde(skip_serializing)]
    NoiseLearnedBefore(Box<noise_before::NoiseRows>),
    /// Links to URLs of this partition were removed: their page no longer has them, or is gone. They stop counting as back links
    /// when they pass the sieve.
    Unlinked {
        gone: Vec<Fingerprint>,
    },
    /// Links of a kept document that were outside the scope are inside now, and are counted from now on.
    Relinked {
        page: PageKey,
        document: Box<DocumentRow>,
    },
    ScopeFollowed(ScopeMark),
    /// The time origin from now on.
    Clocked(TimeOrigin),
    /// The words of pages of this partition that may be topics, extracted again.
    TermsRead(Vec<(PageKey, PageTerms)>),
    /// The new topics of pages of this partition, best reputation first. An empty list removes them.
    Categorised(Vec<(PageKey, Vec<TopicOf>)>),
    /// New rows of topics.
    TopicsNamed(Vec<TopicRow>),
    /// A pass for topics over the whole repository was completed.
    TopicsReckoned(TopicMark),
    /// A pass over all links computed scores of URLs of this partition.
    Weighed(WeightRow),
    /// A pass over all links was completed.
    GraphPassed(GraphMark),
    /// A page was evicted for a more important one.
    Left(Box<Eviction>),
    /// A site hinted at its changes, or a visit showed whether a hint was right.
    Hinted(Box<HintRows>),
    /// The subscription to the hub of a feed of this partition.
    Subscribed(Box<Subscription>),
    /// A hub at a site of this partition was asked for a subscription.
    HubAsked {
        site: Site,
        visit: Visit,
    },
    /// A visit or a person changed the knowledge of noise.
    NoiseLearned(Box<NoiseRows>),
    /// What is kept of a version for those who follow the feed.
    VersionTold(Box<VersionTold>),
    /// A version joined folds. The site may have an event of it, which has the position of this deed.
    Folded(Box<Folded>),
    /// The names of a page became others. The page may have an event of it, which has the position of this deed.
    Named(Box<Named>),
    /// Rows of the tables as they stood, in place of earlier deeds. Only checkpoints have them.
    Restated(Box<Restated>),
    /// An hour ended, and the next one is counted from here on.
    HourClosed(Box<HourClosed>),
    /// A day ended at sites of this partition, which are counted anew from here on.
    SiteDaysClosed(Box<SiteDaysClosed>),
    /// What was so at the end of an hour.
    HourMeasured(Box<HourMeasured>),
    /// An entry of the ledger of what was forgotten, as it is from now on.
    Forgot(Box<ForgottenRow>),
    /// A page of this partition was erased: all its rows go, and its earlier events lose their words.
    Erased(Box<ErasedPage>),
    /// What was kept of a site of this partition beside its pages was erased.
    SiteErased(Box<ErasedSite>),
    /// URLs of this partition that were found and wait for the sieve do not come to it: they were forgotten.
    Unfound(Vec<Unfound>),
    /// These records of erased pages were overwritten in the archive.
    Overwritten(Vec<Location>),
}

/// A part of the tables, in the bytes in which they lie there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Restated {
    Rows {
        table: Box<str>,
        rows: Vec<RestatedRow>,
    },
    /// Records of the known set, in order. They come first.
    Known(Box<[u8]>),
    /// The row with the progress of the tables. It comes last.
    State(Box<[u8]>),
    /// Further records of the known set, behind those before.
    KnownMore(Box<[u8]>),
}

impl Deed {
    /// The deed of today that says the same as one of an older format.
    pub fn of_today(self) -> Deed {
        match self {
            Deed::NoiseLearnedBefore(rows) => Deed::NoiseLearned(Box::new((*rows).into())),
            deed => deed,
        }
    }
}

/// A row with its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestatedRow {
    pub key: Box<[u8]>,
    pub row: Box<[u8]>,
}

/// The progress of the pass that compares held pages with the scope and announces their links that are inside now.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeMark {
    /// The digest of the last scope that was compared with all pages; 0 means none.
    pub followed: u64,
    /// The scope of the running pass, and the last page that it has processed.
    pub following: Option<(u64, Option<PageKey>)>,
}

/// A discovered URL on its way to the sieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub url: Url,
    pub via: Via,
    /// Links followed from the nearest seed to reach it.
    pub depth: u16,
    /// The page that links to it. A page is counted once, however many links it has.
    pub found_on: Option<PageKey>,
    /// The forward link count of the page it was found on (Yadav 2012, 3.1.2: all that is known of an unread URL).
    pub forward: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    Seed,
    Link,
    /// A redirect target, so many hops from the URL first asked for.
    Redirect {
        hops: u8,
    },
    /// A sitemap lists it, or it is a sitemap named by robots.txt, a well-known path or an index.
    Sitemap,
    /// A feed lists it, or it is a feed named by a page.
    Feed,
    /// It was pushed to us.
    Told,
    /// It is the table of volatile information named by a page.
    Companion,
    /// It is an image, a script or a style sheet that a page uses.
    Requisite,
}

/// A URL that passed the sieve and the dispatcher. It has a number and waits for its first visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    pub number: u32,
    pub url: Url,
    pub via: Via,
    pub depth: u16,
    pub found_on: Option<PageKey>,
    pub moment: Moment,
    /// The rank at the time of the sieve (Pvalue or that of another order), higher first.
    pub rank: i32,
    /// Its place on disk.
    pub place: WaitingPlace,
}

/// The place of a waiting URL: (partition, site, band, arrival), which is also its order on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WaitingPlace {
    pub site: Site,
    /// Coarse priority, 0 first.
    pub band: u8,
    pub arrival: u64,
}

/// Everything one visit changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// The page's row after the visit.
    pub page: Page,
    /// Its state before, `None` at the first visit.
    pub was: Option<PageState>,
    /// The place in which it waited until now.
    pub left: Option<WaitingPlace>,
    pub visit: Visit,
    /// The newest document, if it differs from the kept one.
    pub document: Option<DocumentRow>,
    pub event: Option<Event>,
}

/// A visit whose record has a new location. The version that the visit made has the same location.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocated {
    /// The page. Visits to robots.txt have the number `u32::MAX`.
    pub page: PageKey,
    pub started: Moment,
    /// The sequence of the deed that journalled the visit.
    pub sequence: Sequence,
    /// `None` when the record was removed: then only the row is kept.
    pub to: Option<Location>,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Control {
    PauseAll,
    ResumeAll,
}
