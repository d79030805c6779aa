//! One typed change of a partition's state; the only thing a journal holds.
//!
//! A deed carries the rows as they become, never a recipe to compute them, so that applying it is a plain write and
//! any prefix of the journal, applied to an empty store, equals the tables.

use serde::{Deserialize, Serialize};

use crate::{
    Account, DocumentRow, Event, Fingerprint, GraphMark, HintRows, Leaving, Location, Moment, NoiseRows, Page, PageKey,
    PageState, PageTerms, RobotsRow, Seed, Sequence, Site, SitePosture, Subscription, TimeOrigin, TopicMark, TopicOf,
    TopicRow, Url, Visit, WeightRow,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// A process began to work on this repository; time never goes back behind this.
    Started {
        moment: Moment,
    },
    /// A seed was given, or given again with other wishes.
    Seeded(Seed),
    Unseeded(Url),
    /// URLs that lie in this partition were found; they wait for the sieve.
    Found {
        urls: Vec<Found>,
        /// Links to URLs that an earlier `Found` of this journal spelled out: they only count as back links.
        again: Vec<Fingerprint>,
    },
    /// The sieve met everything found up to and including `through` with the known URLs.
    Sieved {
        through: Sequence,
        admitted: Vec<Admitted>,
        /// New, but not admitted (traps, limits): known from now on, and never asked.
        barred: Vec<(Url, Box<str>)>,
    },
    Visited(Box<Visited>),
    SiteSeen(Site, SitePosture),
    RobotsRead {
        site: Site,
        row: RobotsRow,
        visit: Visit,
    },
    Controlled(Control),
    /// The purse after spending.
    Spent {
        account: Account,
    },
    /// Records went elsewhere, or are gone for good: where each of these visits has its record now.
    Relocated(Vec<Relocated>),
    /// A visit or a person taught us what differs without meaning.
    NoiseLearned(Box<NoiseRows>),
    /// Links to URLs of this partition that earlier `Found` deeds announced are gone: their page lost them, or is gone
    /// itself. They stop to count as back links when the sieve meets them.
    Unlinked {
        gone: Vec<Fingerprint>,
    },
    /// Links of a kept document that led out of the scope lead into it now and are counted from now on.
    Relinked {
        page: PageKey,
        document: Box<DocumentRow>,
    },
    ScopeFollowed(ScopeMark),
    /// From here on time is counted so.
    Clocked(TimeOrigin),
    /// The words of pages of this partition that may be topics, read anew.
    TermsRead(Vec<(PageKey, PageTerms)>),
    /// The topics of pages of this partition as they become, the one with the best reputation first; none removes them.
    Categorised(Vec<(PageKey, Vec<TopicOf>)>),
    /// Topics as they become.
    TopicsNamed(Vec<TopicRow>),
    /// A pass for topics over the whole repository has ended.
    TopicsReckoned(TopicMark),
    /// A pass over all links said how much URLs of this partition weigh.
    Weighed(WeightRow),
    /// A pass over all links came to its end.
    GraphPassed(GraphMark),
    /// A page left the collection for a better one.
    Left(Box<Leaving>),
    /// A site spoke of its own changes, or a visit showed whether it was right.
    Hinted(Box<HintRows>),
    /// How we stand with the hub of a feed of this partition.
    Subscribed(Box<Subscription>),
    /// A hub at a site of this partition was asked for a subscription.
    HubAsked {
        site: Site,
        visit: Visit,
    },
}

/// How far the held pages were met with a scope, so that their links that lead into it are announced.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeMark {
    /// The digest of the last scope that all of them were met with; 0 is none.
    pub followed: u64,
    /// The scope of the pass that is under way, and the last page that it has done.
    pub following: Option<(u64, Option<PageKey>)>,
}

/// A discovered URL on its way to the sieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub url: Url,
    pub via: Via,
    /// Links followed from the nearest seed to reach it.
    pub depth: u16,
    /// The page that links to it, once per page however often it does.
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
    /// A sitemap lists it, or it is one that robots.txt, a well-known place or an index names.
    Sitemap,
    /// A feed lists it, or it is a feed that a page names.
    Feed,
    /// It was pushed to our door.
    Told,
    /// The table of volatile information that a page names.
    Companion,
}

/// A URL that passed the sieve and the dispatcher: it has a number now and waits for its first visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    pub number: u32,
    pub url: Url,
    pub via: Via,
    pub depth: u16,
    pub found_on: Option<PageKey>,
    pub moment: Moment,
    /// Pvalue or another order's rank, higher first, as known at the sieve.
    pub rank: i32,
    /// Where it lies on disk.
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
    /// The place it waited in, left now.
    pub left: Option<WaitingPlace>,
    pub visit: Visit,
    /// The newest document, when it differs from the one kept.
    pub document: Option<DocumentRow>,
    pub event: Option<Event>,
}

/// A visit of the visit book whose record lies elsewhere now. The version that the visit made lies there too.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocated {
    /// The page; visits to robots.txt have the number `u32::MAX`.
    pub page: PageKey,
    pub started: Moment,
    /// The sequence of the deed that journalled the visit.
    pub sequence: Sequence,
    /// `None` when it was given up: then only the row is kept.
    pub to: Option<Location>,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Control {
    PauseAll,
    ResumeAll,
}
