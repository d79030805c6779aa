//! The report of a comparison, for people and for other programs: plain strings, made from its results alone.
//!
//! - `summary`: one cell for each policy on each world at each budget, with intervals; one line for each trial.
//! - `standing`: how policies stand to the best, and what a reader must know about that.
//! - `svg`: a chart; `plots`: which charts there are.
//! - `report`: a page that needs nothing but itself, the rows as CSV and every plot as a file.

mod plots;
mod report;
mod standing;
mod summary;
mod svg;

pub use plots::{Plot, plots};
pub(in crate::lab) use report::{PAGE_STYLE, cell};
pub use report::{csv, html};
pub use standing::{Standing, WorldFacts, facts_of, notes};
pub use summary::{BASELINE, Cell, Line, first_days_title, lines, summary};
pub use svg::{Axis, Chart, Series};
pub(in crate::lab) use svg::{STYLE, escaped};
