//! The shared types of Vernal.
//!
//! Everything here is plain data: no I/O, no async, no clock. The other crates exchange these types, and a
//! reader who knows them can follow a page around the ring: a [`Url`] is found, an [`Order`] asks for one request, a
//! [`Report`] has the answer of the web, and [`Deed`]s are what the journal keeps of it.

mod budget;
mod bytes;
mod chance;
mod change;
mod deed;
mod document;
mod event;
mod fold;
mod forget;
mod graph;
mod hint;
mod id;
mod moment;
mod name;
mod nearest;
mod noise;
mod noise_before;
mod order;
mod outcome;
mod page;
mod report;
mod scope;
mod series;
mod signature;
mod signature_bytes;
mod site;
mod subscription;
mod topic;
mod url;
mod version;
mod visit;

pub use budget::{Budget, BudgetAccount, BudgetError, BudgetUnit, Share};
pub use bytes::bytes_shown;
pub use chance::Chance;
pub use change::{Change, DecidedBy, Degree, Kind, Kinds, Note, Operation, ParagraphChange, Suppressed};
pub use deed::{
    Admitted, Control, Deed, Found, Relocated, Restated, RestatedRow, ScopeMark, Via, Visited, WaitingPlace,
};
pub use document::{
    AlternateLink, AnchorPlace, CountedIn, Directives, Document, DocumentRow, Link, LinkKind, LinkRow, Media,
    Paragraph, Rel, Role,
};
pub use event::{Event, EventKind};
pub use fold::{FoldKey, FoldRow, Folded, NumberRun, OperationFold, Telling, ToldFolds, VersionRow, VersionTold};
pub use forget::{ErasedCounts, ErasedPage, ErasedSite, ErasedVisit, ForgetRule, ForgottenRow, Unfound};
pub use graph::{Eviction, EvictionRow, GraphMark, WeightRow};
pub use hint::{
    Cadence, DateRange, HintFile, HintRows, HintSource, ListEntry, ListEntryRows, Muted, PageHints, PendingHint,
    SiteList, SiteListKind, TrustRow,
};
pub use id::{Fingerprint, OrderId, PageKey, ParagraphKey, Partition, Sequence};
pub use moment::{Moment, MomentError, Span, TimeOrigin};
pub use name::{NameMark, NameReason, NameRelation, NameRow, NameWord, Named, Retold, SameAs};
pub use nearest::nearest;
pub use noise::{
    Look, Looks, Masked, NoiseBook, NoisePattern, NoiseRows, NoiseRule, PageNoise, RuleForce, RuleReach, RuleState,
    Suspect, TextClass,
};
pub use order::{Order, OrderKind, Validators};
pub use outcome::{Failure, Outcome, Refusal, Stage, Wall};
pub use page::{Page, PageState, PolicyState};
pub use report::{Exchange, Protocol, Report};
pub use scope::{Scope, Seed};
pub use series::{
    Day, DiskBytes, Gauges, Hour, HourClosed, HourMeasured, Measures, OpenHour, SeriesRow, SiteDaysClosed, VisitCounts,
};
pub use signature::{Digest, ParagraphMark, QuietMarks, Signature};
pub use signature_bytes::SignatureFault;
pub use site::{AddressLimits, Origin, RobotsAnswer, RobotsRow, Site, SiteCounts, SiteProfile, SiteRow, SiteState};
pub use subscription::{Form, Subscription, SubscriptionRow, SubscriptionState, escaped};
pub use topic::{AnchorTerms, PageTerms, TopicId, TopicMark, TopicOf, TopicRow};
pub use url::{Url, UrlError};
pub use version::{Location, Version};
pub use visit::Visit;
