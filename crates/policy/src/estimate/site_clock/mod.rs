//! The site clock: the operational time of a site, learned from the outcomes of visits to its pages.
//!
//! Pages of a site change together. A page found changed makes the time since its last visit run faster for all its
//! siblings, a page found unchanged makes it run slower; where the intervals of many visits overlap, the day of a
//! publication stands out. Three clocks of different stiffness and one that ignores siblings run in parallel, and the
//! quality of their predictions decides per site how far each is trusted.
//!
//! A clock says when a site changes, not how often: each page has its own rate. If more changes were seen than the
//! pages' rates predicted, the clock would run fast for good, the rates would stay low, and every visit to the site
//! would seem worth more than it is. So counts are normalised by their own sum, and the mean speed stays 1.
//!
//! The fewer pages a site has, the rarer are its publications and the more of its pages each one touches: clocks of small
//! sites are less stiff.
//!
//! Time is divided into bins: 6 hours wide for 8 days, 1 day up to 40 days, 4 days up to 160 days; older time runs at
//! speed 1, and so does time without evidence. All times are in days since 1970.
//!
//! - `bins`: time divided into bins that grow wider with age.
//! - `clock`: what a clock learns from visits, and the operational time of a page.
//! - `reading`: a clock's state at one instant, for many pages.
//! - `bytes`: the storage format.

mod bins;
mod bytes;
mod clock;
mod reading;

pub use clock::SiteClock;
pub use reading::{ReadBin, Reading};
