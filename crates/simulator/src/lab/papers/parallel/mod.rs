//! Paper 003: the incremental parallel crawler, its priority lists and its change detection.
//!
//! - `lists`: eighteen URLs through the frontier (Tables 1 and 2).
//! - `together`: one frontier for all crawlers, and one for each (Table 3).
//! - `worked`: its worked trees, fingerprints and sums (Tables 4 to 7, 9 to 13).
//! - `place`: where in the paper. `markup`: pages as trees of tags with text, and edits of them.
//! - `structure`: the document tree and the fingerprint side by side (Table 8).
//! - `contents`: the two sums on pages that change (Tables 9, 11, 12); `amounts`: what they say of the amount (Table 14).

mod amounts;
mod contents;
mod lists;
mod markup;
mod place;
mod structure;
mod together;
mod worked;

use self::place::at;
use super::trials::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment::worked("003", lists::tell),
    together::EXPERIMENT,
    Experiment::worked("003", worked::structures),
    structure::EXPERIMENT,
    Experiment::worked("003", worked::contents),
    contents::EXPERIMENT,
    Experiment::worked("003", worked::digests),
    amounts::EXPERIMENT,
];
