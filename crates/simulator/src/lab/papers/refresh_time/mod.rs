//! Paper 004: self-adjusting refresh times.
//!
//! - `cases`: its three cases. `growth`: fixed and self-adjusting refresh on webs of growing size (Figures 5 and 6).

mod cases;
mod growth;

use super::trials::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment::worked("004", cases::tell), growth::EXPERIMENT];
