//! The founding papers' worked examples, tables and figures, re-enacted by the program's own parts and set beside what the papers
//! say; slips in print are noted and never imitated.
//!
//! - `exhibit`: a table or figure with its values, claims and verdicts; `trials`: re-enactments over chance numbers.
//! - `one_cycle`: one cycle of the policies themselves.
//! - `thesis`: sampling policies and the frequency-greedy hybrid (000).
//! - `correlation`: sampling by topics (001).
//! - `parallel`: the incremental parallel crawler and its change detection (003).
//! - `refresh_time`: self-adjusting refresh times (004).
//! - `since`: the closed forms that came after them.
//! - `reenact`: all of them; `drawings`: what the papers draw without a measurement, and what is said plainly.
//! - `report`: one page for people with its `tables`, and all values as CSV.

mod correlation;
mod drawings;
mod exhibit;
mod one_cycle;
mod parallel;
mod reenact;
mod refresh_time;
mod report;
mod since;
mod tables;
mod thesis;
mod trials;

pub use drawings::{DRAWINGS, Drawing, PLAIN};
pub use exhibit::{Exhibit, Vector, VectorValue, Verdict};
pub use reenact::{PAPERS, Paper};
pub use report::{csv, html, tally};
pub use trials::{CpuSeconds, Reenactment};
