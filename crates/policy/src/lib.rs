//! When to come back; pure, and shared by live crawl and simulation.
//!
//! A policy has two verbs ([`Refresh`]): `choose` gives the next pages to visit within the budget that its [`View`]
//! shows, `learn` gets the result of each visit. Other abilities are optional ([`Valued`], [`Hinted`], [`Topical`] and
//! others). A policy's state of a page is stored with the visit's deed in at most 40 bytes, and `recall` restores it
//! after a restart.
//!
//! - [`estimate`]: estimates change rates from the history of visits.
//! - [`schedule`]: the policies.
//! - [`topic`]: which pages are thought to change together.
//! - [`measure`]: measures of freshness and cost.
//! - [`parameters`]: the parameters of the papers' policies, as settings.
//! - [`importance`]: importance by links; [`collection`]: which pages are worth holding.

mod abilities;
pub mod collection;
pub mod estimate;
pub mod importance;
pub mod measure;
mod names;
mod one_cycle;
mod pages;
pub mod parameters;
mod refresh;
pub mod schedule;
mod test_view;
pub mod topic;
mod unkept;

pub use abilities::{
    Belief, Believing, Best, Hinted, OwnTerms, PageBelief, Promising, RateSums, Sampled, SamplingCycle, SiteMemory,
    TopicRates, TopicSample, Topical, Valued, Weighable,
};
pub use names::{NAMES, by_name, named, wants_topics};
pub use one_cycle::OneCycle;
pub use refresh::{Held, Refresh, Seen, View};
pub use test_view::TestView;
pub use unkept::{Remedy, SiteNeed, Unkept};
