//! When to come back; pure, and shared by live crawl and simulation.
//!
//! A policy has two verbs ([`Refresh`]): `choose` gives the next pages to visit within the budget that its [`View`]
//! shows, `learn` hears what each visit found. What else it may be able to do is asked for by name ([`Valued`], [`Hinted`],
//! [`Topical`] and others). What it remembers of a page travels in at most 40 bytes with the visit's
//! deed, and `recall` takes it up after a restart.
//!
//! - [`estimate`]: what a history of visits says.
//! - [`schedule`]: the policies.
//! - [`topic`]: which pages are thought to change together.
//! - [`measure`]: how well it went.
//! - [`importance`]: what links say of a page; [`collection`]: which pages are worth holding.

mod abilities;
pub mod collection;
pub mod estimate;
pub mod importance;
pub mod measure;
mod names;
mod one_cycle;
mod pages;
mod refresh;
pub mod schedule;
mod test_view;
pub mod topic;
mod unkept;

pub use abilities::{
    Belief, Believing, Best, Hinted, Promising, RateSums, SiteMemory, TopicRates, TopicSample, Topical, Valued,
    Weighable,
};
pub use names::{NAMES, by_name, wants_topics};
pub use one_cycle::OneCycle;
pub use refresh::{Held, Refresh, Seen, View};
pub use test_view::TestView;
pub use unkept::{Remedy, SiteNeed, Unkept};
