//! Evaluates change detection on labelled pairs: reads labels from lines of JSON, counts answers, and computes precision, recall
//! and agreement.
//!
//! The labels are those of a set of page pairs, one JSON object per line with `id` and `label`; see `docs/change-detection.md`.

use std::fmt;

use vernal_model::{Change, Kind};

use crate::Flags;
use crate::methods::{Found, Method, MethodVerdict};

/// The label of one pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    pub id: String,
    /// `text`, `structure`, `attrs`, `style`, `script` or `none`.
    pub class: String,
    pub origin: String,
    pub flags: Flags,
}

/// Why a line cannot be read as a label.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LabelFault {
    #[error("read label of line {line}: {why}")]
    Json { line: usize, why: String },
    #[error("read label of line {line}: `{field}` is missing")]
    Missing { line: usize, field: &'static str },
}

/// Reads labels, one JSON object per line. Empty lines are skipped.
pub fn labels(text: &str) -> Result<Vec<Label>, LabelFault> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(place, line)| label(line, place + 1)).collect()
}

fn label(line: &str, number: usize) -> Result<Label, LabelFault> {
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|why| LabelFault::Json { line: number, why: why.to_string() })?;
    let missing = |field| LabelFault::Missing { line: number, field };
    let id = value["id"].as_str().ok_or(missing("id"))?.to_owned();
    let said = value.get("label").ok_or(missing("label"))?;
    let flag = |field: &'static str| said[field].as_bool().ok_or(missing(field));
    Ok(Label {
        id,
        class: said["class"].as_str().unwrap_or_default().to_owned(),
        origin: value["origin"].as_str().unwrap_or_default().to_owned(),
        flags: Flags {
            text: flag("text")?,
            structure: flag("structure")?,
            attributes: flag("attrs")?,
            script: flag("script")?,
            style: flag("style")?,
            head_meta: flag("head_meta")?,
            comments: flag("comments")?,
        },
    })
}

/// Answers to one yes-or-no question, compared with the labels.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub both: u32,
    /// We answered yes, the label says no.
    pub ours_only: u32,
    /// The label says yes, we answered no.
    pub label_only: u32,
    pub neither: u32,
}

impl Score {
    pub fn add(&mut self, ours: bool, label: bool) {
        *match (ours, label) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.ours_only,
            (false, true) => &mut self.label_only,
            (false, false) => &mut self.neither,
        } += 1;
    }

    pub fn precision(&self) -> f64 {
        share(self.both, self.both + self.ours_only)
    }

    pub fn recall(&self) -> f64 {
        share(self.both, self.both + self.label_only)
    }

    pub fn agreement(&self) -> f64 {
        share(self.both + self.neither, self.both + self.neither + self.ours_only + self.label_only)
    }
}

/// A share of nothing is 1, because there was nothing to get wrong.
fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 1.0 } else { f64::from(part) / f64::from(whole) }
}

/// The questions of the table: seven flags as the labels ask them, then the four kinds.
pub const QUESTIONS: [&str; 11] = [
    "text",
    "structure",
    "attributes",
    "script",
    "style",
    "head_meta",
    "comments",
    "kind content",
    "kind structure",
    "kind presentation",
    "kind behaviour",
];

/// All answers so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub pairs: u32,
    pub scores: [Score; 11],
    /// Pairs without a change of text for which we reported a content change, by id. There must be none.
    pub false_content: Vec<String>,
    /// Each disagreement: pair, question, our answer.
    pub disagreements: Vec<(String, &'static str, bool)>,
    /// Pairs that differ by noise only, and all pairs, by the class of the label.
    pub noise_only: Vec<(String, u32, u32)>,
}

impl Table {
    pub fn add(&mut self, label: &Label, flags: &Flags, change: &Change) {
        self.pairs += 1;
        let said = &label.flags;
        let has = |kind| change.kinds.contains(kind);
        let answers = [
            (flags.text, said.text),
            (flags.structure, said.structure),
            (flags.attributes, said.attributes),
            (flags.script, said.script),
            (flags.style, said.style),
            (flags.head_meta, said.head_meta),
            (flags.comments, said.comments),
            (has(Kind::Content), said.text),
            (has(Kind::Structure), said.structure),
            (has(Kind::Presentation), said.attributes || said.style),
            (has(Kind::Behaviour), said.script),
        ];
        for ((score, question), (ours, said)) in self.scores.iter_mut().zip(QUESTIONS).zip(answers) {
            score.add(ours, said);
            if ours != said {
                self.disagreements.push((label.id.clone(), question, ours));
            }
        }
        if has(Kind::Content) && !said.text {
            self.false_content.push(label.id.clone());
        }
        let place = self.noise_only.iter().position(|(class, ..)| *class == label.class).unwrap_or_else(|| {
            self.noise_only.push((label.class.clone(), 0, 0));
            self.noise_only.len() - 1
        });
        let (_, quiet, all) = &mut self.noise_only[place];
        *quiet += u32::from(!change.is_change());
        *all += 1;
    }

    pub fn score(&self, question: &str) -> Option<&Score> {
        QUESTIONS.iter().position(|known| *known == question).map(|place| &self.scores[place])
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} pairs", self.pairs)?;
        writeln!(
            f,
            "{:<18} {:>9} {:>9} {:>9} {:>6} {:>6}",
            "question", "precision", "recall", "agreement", "ours", "label"
        )?;
        for (question, score) in QUESTIONS.iter().zip(&self.scores) {
            let percent = |share: f64| format!("{:.2} %", share * 100.0);
            writeln!(
                f,
                "{question:<18} {:>9} {:>9} {:>9} {:>6} {:>6}",
                percent(score.precision()),
                percent(score.recall()),
                percent(score.agreement()),
                score.both + score.ours_only,
                score.both + score.label_only,
            )?;
        }
        writeln!(f, "content told where the label sees no change of text: {}", self.false_content.len())?;
        for (class, quiet, all) in &self.noise_only {
            writeln!(f, "class {class}: {quiet} of {all} are noise only")?;
        }
        Ok(())
    }
}

/// The questions by which methods are compared: did the visible text change, did the sequence of elements, did anything but
/// white space and comments.
pub const METHOD_QUESTIONS: [&str; 3] = ["text", "structure", "anything"];

/// The class of pairs in which nothing but white space and comments differs.
const CLASS_NONE: &str = "none";

/// The answers of one method to these questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodScores {
    pub method: Method,
    pub pairs: u32,
    pub scores: [Score; 3],
    /// The sums of the costs.
    pub bytes_read: u64,
    pub kept_bytes: u64,
}

impl MethodScores {
    pub fn new(method: Method) -> Self {
        MethodScores { method, pairs: 0, scores: [Score::default(); 3], bytes_read: 0, kept_bytes: 0 }
    }

    /// A method of the paper has one answer, which is held against every question. Ours tells kinds apart, noise included, as the
    /// labels do.
    pub fn add(&mut self, label: &Label, verdict: &MethodVerdict) {
        let answers = match &verdict.found {
            Found::Vernal(found) => {
                let has = |kind| found.kinds.contains(&kind);
                [has(Kind::Content), has(Kind::Structure), !found.kinds.is_empty()]
            }
            _ => [verdict.changed; 3],
        };
        let said = [label.flags.text, label.flags.structure, label.class != CLASS_NONE];
        for ((score, ours), said) in self.scores.iter_mut().zip(answers).zip(said) {
            score.add(ours, said);
        }
        self.pairs += 1;
        self.bytes_read += verdict.cost.bytes_read as u64;
        self.kept_bytes += verdict.cost.kept_bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_bad_lines_named() {
        let line = r#"{"id":"a","origin":"crawl","label":{"class":"text","text":true,"structure":false,"attrs":true,"script":false,"style":false,"head_meta":false,"comments":true}}"#;
        let read = labels(&format!("{line}\n\n")).unwrap();
        assert_eq!((read[0].id.as_str(), read[0].class.as_str()), ("a", "text"));
        assert!(read[0].flags.text && read[0].flags.attributes && read[0].flags.comments && !read[0].flags.script);
        assert!(labels("{").unwrap_err().to_string().starts_with("read label of line 1: "));
        assert_eq!(labels("{\"id\":\"a\"}"), Err(LabelFault::Missing { line: 1, field: "label" }));
    }

    #[test]
    fn shares_are_those_of_the_counts() {
        let score = Score { both: 8, ours_only: 2, label_only: 0, neither: 10 };
        assert_eq!((score.precision(), score.recall(), score.agreement()), (0.8, 1.0, 0.9));
        assert_eq!(Score::default().recall(), 1.0);
    }
}
