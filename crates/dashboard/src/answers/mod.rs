//! The parts of the API's answers that screens show. A field that an answer does not have is `None` or empty, so that a
//! dashboard can stand before another version of the API.

mod blame;
mod diff;
mod event;
mod operating;
mod page;
mod page_row;
mod plan;
mod rule;
mod search;
mod series;
mod site;
mod status;
mod visit;
mod watch;

#[cfg(test)]
pub use blame::Seen;
pub use blame::{Blame, BlamedParagraph};
#[cfg(test)]
pub use diff::Edit;
pub use diff::{Diff, DiffParagraph};
pub use event::{Change, Counts, Event, Noise, Note, Paragraph, Tally};
pub use operating::{Check, ForgottenEntry, Link, Seed, Setting};
pub use page::{Page, UrlRecord, Version, Why};
pub use page_row::PageRow;
pub use plan::{Forecast, Plan};
pub use rule::Rule;
pub use search::{Count, Facets, Hit, SearchLine};
pub use series::Series;
pub use site::Site;
pub use status::{Figures, PriorityList, SamplingCycle, Status};
pub use visit::{Evidence, Visit};
pub use watch::{AlertRoute, Delivery, Preview, TestLine, To as WatchTo, Told, Watch};
