//! Drawings as SVG, made by the server. Shapes stretch in a nested `svg` with a view box of a thousand units; words are placed
//! in percent of the width, so that text never scales. Colours are classes of the style sheet.
//!
//! - `svg`: the writer. It escapes what it is given; nothing else of this room gives HTML that templates take as it is.
//! - `scale`: round figures on an axis, and days on a line of time.
//! - `lines`, `stacked`: figures over time; `budgets`: freshness over the budget. `timeline`, `calendar`, `heat`: visits and changes of a page or a site.
//! - `small`: drawings within a line of text.

mod budgets;
mod calendar;
mod calibration;
mod heat;
mod lines;
mod scale;
mod small;
mod stacked;
mod svg;
mod timeline;

pub use budgets::Budgets;
pub use calendar::{Day, calendar};
pub use calibration::{Dot, calibration};
pub use heat::heat;
pub use lines::{Line, Lines};
pub use small::{kinds, life, magnitude, meter, spans, spark};
pub use stacked::{Bar, Layer, Stacked};
pub use svg::Svg;
pub use timeline::{Mark, Timeline};
