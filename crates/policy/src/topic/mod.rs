//! Topics: which pages, across sites, are thought to change together, and how such groups are sampled (seed 001, whose
//! word for a topic is category; the reputation is Rafiei and Mendelzon's of 2000).
//!
//! - [`graph`](Graph): pages and their links, as dense numbers.
//! - [`reputation`](Column): R(p, t), one column of the sparse matrix of pages and words at a time (Algorithm 1).
//! - [`relaxation`](Reputations): the same, kept up while pages arrive, change and go.
//! - [`best`](Best): the few topics that a page is best known for.
//! - [`categorise`](Catalogue): the topics of a page when it is read, from those of the pages that link to it
//!   (Algorithm 2).
//! - [`terms`](TopicTerms): the parameters; the paper's d, and the topics per page.
//! - [`cycle`](enact): one cycle of sampling by topic: sizes, draws, estimates, downloads (Algorithms 3 and 4).

mod best;
mod categorise;
mod cycle;
mod graph;
mod kept_column;
mod relaxation;
mod reputation;
mod terms;

pub use best::{Best, TOPICS_OF_A_PAGE};
pub use categorise::{Catalogue, Known, LinkedFrom, known_for};
pub use cycle::{Cycle, Draw, Estimate, Overlap, Sample, SampleSizes, draw, enact, estimates, sizes};
pub use graph::Graph;
pub use relaxation::{Relaxed, Reputations};
pub use reputation::{Column, Reckoning, Workspace, by_pushes, by_sweeps, each_by_pushes};
pub use terms::TopicTerms;
