//! What a page of the invented web is, and what a good crawler makes of it.

use serde::Serialize;

use super::settings::Shares;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Ordinary HTML; the only class that carries the tree of links.
    Article,
    /// HTML with a meta robots word.
    NoIndex,
    NoFollow,
    NoArchive,
    /// The same body as another page, which it names as canonical.
    Duplicate,
    Pdf,
    Image,
    Feed,
    Json,
    /// 301 or 302 to a page, over at most three hops.
    Redirect,
    RedirectLoop,
    RedirectAway,
    /// 404, 410, 500.
    Missing,
    Gone,
    ServerError,
    /// 503 with Retry-After, then free, by turns.
    Busy,
    /// Says "not found" with status 200.
    SoftMissing,
    Login,
    /// An article that comes late; a body of many megabytes.
    Slow,
    Huge,
    /// Attacks: a byte at a time and then nothing; no end; cut off; a wrong Content-Length; no answer; a gzip bomb.
    Drip,
    Endless,
    CutOff,
    LyingLength,
    Silent,
    Bomb,
    /// The entrance of a trap.
    Trap(Trap),
}

/// Ways to lose a crawler.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trap {
    /// A next month without end.
    Calendar,
    /// Relative links that go ever deeper.
    Deep,
    /// A new session id in each link.
    Session,
    /// Every mix of filters is a URL.
    Facets,
    /// The whole site once more under a folder, and so on within it.
    Mirror,
}

/// What a crawler that may visit the page should end up with.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// A body, held.
    Held,
    Moved,
    Gone,
    /// A soft 404 or a login wall: answered, and not what was asked for.
    Blocked,
    Failed,
    /// Some of it may be held, but not much.
    Trapped,
}

impl Trap {
    pub const ALL: [Trap; 5] = [Trap::Calendar, Trap::Deep, Trap::Session, Trap::Facets, Trap::Mirror];

    pub(crate) fn entrance(self) -> &'static str {
        match self {
            Trap::Calendar => "/calendar/2026/01/",
            Trap::Deep => "/deep/",
            Trap::Session => "/session/?visit=5eed5eed5eed5eed",
            Trap::Facets => "/find?page=1",
            Trap::Mirror => "/mirror/",
        }
    }
}

impl Class {
    const HOSTILE: [Class; 6] =
        [Class::Drip, Class::Endless, Class::CutOff, Class::LyingLength, Class::Silent, Class::Bomb];

    pub fn expected(self) -> Expected {
        match self {
            Class::Article | Class::NoIndex | Class::NoFollow | Class::NoArchive | Class::Duplicate => Expected::Held,
            Class::Pdf | Class::Image | Class::Feed | Class::Json | Class::Slow | Class::Busy => Expected::Held,
            Class::Redirect | Class::RedirectLoop | Class::RedirectAway => Expected::Moved,
            Class::Missing | Class::Gone => Expected::Gone,
            Class::SoftMissing | Class::Login => Expected::Blocked,
            Class::ServerError | Class::Huge => Expected::Failed,
            Class::Drip | Class::Endless | Class::CutOff | Class::LyingLength => Expected::Failed,
            Class::Silent | Class::Bomb => Expected::Failed,
            Class::Trap(_) => Expected::Trapped,
        }
    }

    /// Whether the page has a body of its own that may change.
    pub(crate) fn drifts(self) -> bool {
        self.expected() == Expected::Held && self != Class::Duplicate
    }

    /// The classes beside Article with their shares of the pages. Attacks are dealt in turn.
    pub(crate) fn shares(share: &Shares) -> Vec<(Class, f64)> {
        let mut shares = vec![
            (Class::Missing, share.missing),
            (Class::Gone, share.gone),
            (Class::ServerError, share.server_error),
            (Class::Busy, share.busy),
            (Class::SoftMissing, share.soft_missing),
            (Class::Login, share.login),
            (Class::Redirect, share.redirect),
            (Class::RedirectLoop, share.redirect_loop),
            (Class::RedirectAway, share.redirect_away),
            (Class::Pdf, share.pdf),
            (Class::Image, share.image),
            (Class::Feed, share.feed),
            (Class::Json, share.json),
            (Class::NoIndex, share.noindex),
            (Class::NoFollow, share.nofollow),
            (Class::NoArchive, share.noarchive),
            (Class::Duplicate, share.duplicate),
            (Class::Slow, share.slow),
            (Class::Huge, share.huge),
        ];
        let each = share.hostile / Self::HOSTILE.len() as f64;
        shares.extend(Self::HOSTILE.map(|class| (class, each)));
        shares
    }
}
