//! The founding papers' worked examples, tables and figures, computed by the program's own parts and set beside what was
//! printed; slips in print are noted and never imitated.
//!
//! - `thesis`: sampling policies and the frequency-greedy hybrid (000), with its experiment re-enacted.
//! - `nine_sites`: the web of that experiment: nine sites with the published pages and rates.
//! - `correlation`: sampling by topics (001); `topics`: the same with computed topics.
//! - `detection`: the incremental parallel crawler and its change detection (003).
//! - `refresh_time`: self-adjusting refresh times (004).
//! - `since`: the closed forms that came after them.

mod correlation;
mod detection;
mod nine_sites;
mod refresh_time;
mod since;
mod thesis;
mod topics;

use serde::Serialize;

/// One number or text of a paper, as it was printed and as it comes out here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Vector {
    pub paper: &'static str,
    /// The section, table or figure.
    pub place: &'static str,
    pub what: String,
    pub ours: VectorValue,
    /// Nothing where the paper shows a drawing only, or no number at all.
    pub printed: Option<VectorValue>,
    /// A value that was computed elsewhere, by other means, where nothing is in print.
    pub reference: Option<VectorValue>,
    /// Whether ours is the printed value, or else the reference, to its number of places; nothing where there is nothing to
    /// compare.
    pub agrees: Option<bool>,
    /// What is wrong in print, or what the re-enactment had to suppose.
    pub note: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum VectorValue {
    Number(f64),
    Numbers(Vec<f64>),
    Text(String),
}

/// All papers, in the order of their numbers.
pub fn papers(chance: u64) -> Vec<Vector> {
    let mut vectors = thesis::vectors(chance);
    vectors.extend(correlation::vectors(chance));
    vectors.extend(topics::vectors(chance));
    vectors.extend(detection::vectors());
    vectors.extend(refresh_time::vectors());
    vectors.extend(since::vectors());
    vectors
}

/// Makes the vectors of one place.
#[derive(Copy, Clone)]
struct Page {
    paper: &'static str,
    place: &'static str,
}

impl Page {
    /// A number that was printed with so many places.
    fn number(self, what: &str, ours: f64, printed: f64, places: i32, note: &'static str) -> Vector {
        let agrees = (ours - printed).abs() <= 0.5000001 * 10f64.powi(-places);
        self.vector(what, VectorValue::Number(rounded(ours)), Some(VectorValue::Number(printed)), Some(agrees), note)
    }

    fn numbers(self, what: &str, ours: &[f64], printed: &[f64], places: i32, note: &'static str) -> Vector {
        let near = |(ours, printed): (&f64, &f64)| (ours - printed).abs() <= 0.5000001 * 10f64.powi(-places);
        let agrees = ours.len() == printed.len() && ours.iter().zip(printed).all(near);
        let ours = VectorValue::Numbers(ours.iter().copied().map(rounded).collect());
        self.vector(what, ours, Some(VectorValue::Numbers(printed.to_vec())), Some(agrees), note)
    }

    fn text(self, what: &str, ours: &str, printed: &str, note: &'static str) -> Vector {
        let told = |text: &str| VectorValue::Text(text.to_owned());
        self.vector(what, told(ours), Some(told(printed)), Some(ours == printed), note)
    }

    /// Numbers of a re-enactment, beside printed ones that they need not equal.
    fn enacted(self, what: &str, ours: &[f64], printed: &[f64], note: &'static str) -> Vector {
        let ours = VectorValue::Numbers(ours.iter().copied().map(rounded).collect());
        let printed = (!printed.is_empty()).then(|| VectorValue::Numbers(printed.to_vec()));
        self.vector(what, ours, printed, None, note)
    }

    fn vector(
        self,
        what: &str,
        ours: VectorValue,
        printed: Option<VectorValue>,
        agrees: Option<bool>,
        note: &'static str,
    ) -> Vector {
        let (paper, place, what) = (self.paper, self.place, what.to_owned());
        Vector { paper, place, what, ours, printed, reference: None, agrees, note }
    }
}

impl Vector {
    /// Marks the number beside ours as a reference, where none is in print.
    fn beside_reference(self) -> Vector {
        Vector { reference: self.printed, printed: None, ..self }
    }
}

/// Six places are more than any paper prints.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What disagrees is a slip in print, and says so.
    #[test]
    fn every_printed_value_is_reproduced_or_its_slip_is_named() {
        for vector in papers(1) {
            assert!(vector.agrees != Some(false) || !vector.note.is_empty(), "{vector:?}");
        }
    }

    #[test]
    fn a_reference_is_never_told_as_printed_and_is_met() {
        let vectors = papers(1);
        let beside: Vec<&Vector> = vectors.iter().filter(|vector| vector.reference.is_some()).collect();
        assert!(!beside.is_empty());
        for vector in beside {
            assert!(vector.printed.is_none() && vector.agrees == Some(true), "{vector:?}");
        }
    }

    #[test]
    fn the_same_chance_number_gives_the_same_numbers() {
        assert_eq!(papers(7), papers(7));
    }
}
