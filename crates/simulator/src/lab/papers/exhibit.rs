//! What a paper says, and what came out here: one value or claim at a time, gathered by table, figure or example.

use serde::Serialize;

use crate::lab::findings::Plot;
use crate::lab::statistics::Interval;

/// One table, figure or worked example of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Exhibit {
    pub paper: &'static str,
    /// The section, table or figure.
    pub place: &'static str,
    pub title: &'static str,
    /// Which parts of the program made it, and what had to be supposed.
    pub method: &'static str,
    pub vectors: Vec<Vector>,
    pub plots: Vec<Plot>,
}

/// One number, text or claim of a paper, as it was printed and as it comes out here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Vector {
    pub paper: &'static str,
    pub place: &'static str,
    pub what: String,
    /// What the paper says, in its own words.
    pub claim: Option<&'static str>,
    pub ours: VectorValue,
    /// The 95 % interval over chance numbers; nothing where nothing was drawn, and over a single chance number.
    pub low: Option<VectorValue>,
    pub high: Option<VectorValue>,
    /// How many chance numbers; 0 where nothing was drawn.
    pub chances: u64,
    /// What each of several numbers belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Nothing where the paper shows a drawing only, or no number at all.
    pub printed: Option<VectorValue>,
    /// A value that follows from a formula of the paper or was computed by other means, where nothing is in print.
    pub reference: Option<VectorValue>,
    /// Whether ours is the printed value, or else the reference, to its number of places; nothing where there is nothing to
    /// compare.
    pub agrees: Option<bool>,
    /// Nothing where no paper claims anything.
    pub verdict: Option<Verdict>,
    /// What is wrong in print, or what must be known of the value.
    pub note: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum VectorValue {
    Number(f64),
    Numbers(Vec<f64>),
    Text(String),
}

/// What we say of a claim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The printed value comes out, or the whole interval lies on the claim's side.
    Reproduced,
    /// The interval cannot tell, or the claim needs what nobody has.
    NotReproduced,
    /// The whole interval lies on the other side, or what is printed breaks the paper's own rule.
    Contradicted,
}

impl Verdict {
    pub const ALL: [Verdict; 3] = [Verdict::Reproduced, Verdict::NotReproduced, Verdict::Contradicted];

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Contradicted => "contradicted",
        }
    }

    /// The claim is that the value lies above zero.
    pub fn above_zero(interval: &Interval) -> Verdict {
        Self::above(interval, 0.0)
    }

    /// The claim is that the value lies above another.
    pub fn above(interval: &Interval, than: f64) -> Verdict {
        match interval {
            interval if interval.low > than => Verdict::Reproduced,
            interval if interval.high < than => Verdict::Contradicted,
            _ => Verdict::NotReproduced,
        }
    }

    /// The claim is that the value lies no farther than this from another.
    pub fn near(interval: &Interval, other: f64, margin: f64) -> Verdict {
        let (low, high) = (other - margin, other + margin);
        match interval {
            interval if interval.low >= low && interval.high <= high => Verdict::Reproduced,
            interval if interval.low > high || interval.high < low => Verdict::Contradicted,
            _ => Verdict::NotReproduced,
        }
    }
}

/// Makes the vectors of one place.
#[derive(Copy, Clone)]
pub(super) struct Page {
    pub paper: &'static str,
    pub place: &'static str,
}

/// A claim with what it was measured by.
pub(super) struct Claim {
    pub quote: &'static str,
    pub what: &'static str,
    pub measured: Interval,
    pub verdict: Verdict,
    pub note: &'static str,
}

impl Page {
    pub fn exhibit(self, title: &'static str, method: &'static str, vectors: Vec<Vector>) -> Exhibit {
        Exhibit { paper: self.paper, place: self.place, title, method, vectors, plots: Vec::new() }
    }

    /// A number that was printed with so many places.
    pub fn number(self, what: &str, ours: f64, printed: f64, places: i32, note: &'static str) -> Vector {
        let agrees = is_near(ours, printed, places);
        self.printed(what, VectorValue::Number(rounded(ours)), VectorValue::Number(printed), agrees, note)
    }

    pub fn numbers(self, what: &str, ours: &[f64], printed: &[f64], places: i32, note: &'static str) -> Vector {
        let near = |(&ours, &printed): (&f64, &f64)| is_near(ours, printed, places);
        let agrees = ours.len() == printed.len() && ours.iter().zip(printed).all(near);
        let ours = VectorValue::Numbers(ours.iter().copied().map(rounded).collect());
        self.printed(what, ours, VectorValue::Numbers(printed.to_vec()), agrees, note)
    }

    pub fn text(self, what: &str, ours: &str, printed: &str, note: &'static str) -> Vector {
        let told = |text: &str| VectorValue::Text(text.to_owned());
        self.printed(what, told(ours), told(printed), ours == printed, note)
    }

    /// A number of which no paper says anything.
    pub fn shown(self, what: &str, ours: &[f64], note: &'static str) -> Vector {
        let ours = VectorValue::Numbers(ours.iter().copied().map(rounded).collect());
        Vector { note, ..self.vector(what, ours) }
    }

    /// Numbers over chance numbers, each with what it belongs to.
    pub fn measured(self, what: &str, labels: &[&str], ours: &[Interval], note: &'static str) -> Vector {
        let of = |value: &dyn Fn(&Interval) -> f64| ours.iter().map(|one| rounded(value(one))).collect::<Vec<f64>>();
        let ends = |value: Vec<f64>| {
            value.iter().all(|end| end.is_finite()).then_some(VectorValue::Numbers(value)).filter(|_| !ours.is_empty())
        };
        Vector {
            low: ends(of(&|one| one.low)),
            high: ends(of(&|one| one.high)),
            chances: ours.first().map_or(0, |one| one.count),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            note,
            ..self.vector(what, VectorValue::Numbers(of(&|one| one.mean)))
        }
    }

    /// What a paper says, held against an interval.
    pub fn claim(self, claim: Claim) -> Vector {
        let Claim { quote, what, measured, verdict, note } = claim;
        let end = |end: f64| end.is_finite().then(|| VectorValue::Number(rounded(end)));
        Vector {
            claim: Some(quote),
            low: end(measured.low).filter(|_| measured.count > 0),
            high: end(measured.high).filter(|_| measured.count > 0),
            chances: measured.count,
            verdict: Some(verdict),
            note,
            ..self.vector(what, VectorValue::Number(rounded(measured.mean)))
        }
    }

    fn printed(self, what: &str, ours: VectorValue, printed: VectorValue, agrees: bool, note: &'static str) -> Vector {
        let verdict = if agrees { Verdict::Reproduced } else { Verdict::Contradicted };
        Vector { printed: Some(printed), agrees: Some(agrees), verdict: Some(verdict), note, ..self.vector(what, ours) }
    }

    fn vector(self, what: &str, ours: VectorValue) -> Vector {
        Vector {
            paper: self.paper,
            place: self.place,
            what: what.to_owned(),
            claim: None,
            ours,
            low: None,
            high: None,
            chances: 0,
            labels: Vec::new(),
            printed: None,
            reference: None,
            agrees: None,
            verdict: None,
            note: "",
        }
    }
}

impl Exhibit {
    pub fn with_plots(self, plots: Vec<Plot>) -> Exhibit {
        Exhibit { plots, ..self }
    }
}

impl Vector {
    /// Marks the number beside ours as derived: no paper prints it.
    pub fn derived(self) -> Vector {
        Vector { reference: self.printed, printed: None, verdict: None, ..self }
    }

    /// Sets a printed number beside a measured one.
    pub fn beside(self, printed: &[f64], verdict: Verdict) -> Vector {
        let printed = VectorValue::Numbers(printed.to_vec());
        Vector { printed: Some(printed), verdict: Some(verdict), ..self }
    }

    pub fn labelled(self, labels: &[&str]) -> Vector {
        Vector { labels: labels.iter().map(|&label| label.to_owned()).collect(), ..self }
    }
}

/// A value that was not drawn, as an interval without width.
pub(super) fn exactly(value: f64) -> Interval {
    Interval { mean: value, low: value, high: value, count: 0 }
}

fn is_near(ours: f64, printed: f64, places: i32) -> bool {
    (ours - printed).abs() <= 0.5000001 * 10f64.powi(-places)
}

/// Six places are more than any paper prints.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Interval {
        Interval { mean: (low + high) / 2.0, low, high, count: 30 }
    }

    #[test]
    fn a_verdict_needs_the_whole_interval() {
        assert_eq!(Verdict::above_zero(&between(0.1, 0.3)), Verdict::Reproduced);
        assert_eq!(Verdict::above_zero(&between(-0.1, 0.3)), Verdict::NotReproduced);
        assert_eq!(Verdict::above_zero(&between(-0.3, -0.1)), Verdict::Contradicted);
        let single = Interval { mean: 1.0, low: f64::NEG_INFINITY, high: f64::INFINITY, count: 1 };
        assert_eq!(Verdict::above_zero(&single), Verdict::NotReproduced, "one chance number says nothing");
        assert_eq!(Verdict::near(&between(0.64, 0.67), 0.66, 0.02), Verdict::Reproduced);
        assert_eq!(Verdict::near(&between(0.60, 0.67), 0.66, 0.02), Verdict::NotReproduced);
        assert_eq!(Verdict::near(&between(0.50, 0.52), 0.66, 0.02), Verdict::Contradicted);
    }

    #[test]
    fn a_derived_value_is_not_called_printed_and_has_no_verdict() {
        let vector = Page { paper: "000", place: "2.6" }.number("sample", 3.162, 3.16, 2, "").derived();
        assert_eq!((vector.printed, vector.verdict, vector.agrees), (None, None, Some(true)));
        assert_eq!(vector.reference, Some(VectorValue::Number(3.16)));
    }

    #[test]
    fn a_single_chance_number_has_no_interval() {
        let page = Page { paper: "000", place: "2.6" };
        let single = Interval { mean: 1.0, low: f64::NEG_INFINITY, high: f64::INFINITY, count: 1 };
        assert_eq!(page.measured("x", &[], &[single], "").low, None);
        assert_eq!(page.measured("x", &[], &[between(0.0, 1.0)], "").low, Some(VectorValue::Numbers(vec![0.0])));
    }
}
