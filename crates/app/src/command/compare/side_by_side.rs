//! Methods of change detection side by side on labelled pairs: precision and recall with their intervals, and what they cost.

use std::path::Path;

use serde_json::{Value, json};
use vernal_document::judge::{METHOD_QUESTIONS, MethodScores, Score};
use vernal_document::methods::Method;
use vernal_model::Url;
use vernal_policy::estimate::{Interval, wilson, z_of};

use super::bodies::inputs;
use super::methods::Measured;
use super::{NOWHERE, pairs};
use crate::command::Context;
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table, bytes_shown};

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

struct Judged {
    scores: MethodScores,
    cpu_us: f64,
}

pub fn judge(context: &Context, folder: &Path, labels: &Path, methods: &[Method]) -> Result<()> {
    let url = Url::parse(NOWHERE).or_fail()?;
    let new = |&method: &Method| Judged { scores: MethodScores::new(method), cpu_us: 0.0 };
    let mut all: Vec<Judged> = methods.iter().map(new).collect();
    let passed_over = pairs::each(folder, labels, |label, old, new| {
        let (old, new) = inputs(&url, old, new);
        for judged in &mut all {
            let measured = Measured::of(judged.scores.method, &old, &new);
            judged.scores.add(label, &measured.verdict);
            judged.cpu_us += measured.cpu_us;
        }
    })?;
    let mut sink = Sink::stdout();
    if context.json {
        let methods: Vec<Value> = all.iter().map(Judged::json).collect();
        let pairs = all.first().map_or(0, |judged| judged.scores.pairs);
        let value = json!({ "pairs": pairs, "passed_over": passed_over, "confidence": CONFIDENCE, "methods": methods });
        sink.line(&value.to_string())?;
        return sink.flush();
    }
    let mut table = Table::new(&[
        Column::left("METHOD"),
        Column::left("QUESTION"),
        Column::right("PRECISION"),
        Column::left("95 %"),
        Column::right("RECALL"),
        Column::left("95 %"),
        Column::right("CPU A PAIR"),
        Column::right("KEPT A PAGE"),
    ]);
    for judged in &all {
        judged.rows().into_iter().try_for_each(|row| table.row(&mut sink, row))?;
    }
    table.end(&mut sink)
}

impl Judged {
    fn per_pair(&self, sum: f64) -> f64 {
        sum / f64::from(self.scores.pairs.max(1))
    }

    fn json(&self) -> Value {
        let questions = METHOD_QUESTIONS.iter().zip(&self.scores.scores).map(|(question, score)| {
            let (precision, recall) = intervals(score);
            json!({
                "question": question,
                "precision": score.precision(),
                "precision_low": precision.low,
                "precision_high": precision.high,
                "recall": score.recall(),
                "recall_low": recall.low,
                "recall_high": recall.high,
                "both": score.both,
                "ours_only": score.ours_only,
                "label_only": score.label_only,
                "neither": score.neither,
            })
        });
        json!({
            "method": self.scores.method.name(),
            "cpu_us_per_pair": self.per_pair(self.cpu_us),
            "bytes_read_per_pair": self.per_pair(self.scores.bytes_read as f64),
            "kept_bytes_per_page": self.per_pair(self.scores.kept_bytes as f64),
            "questions": questions.collect::<Vec<Value>>(),
        })
    }

    /// A row for each question; what does not depend on it stands in the first.
    fn rows(&self) -> Vec<Vec<String>> {
        let cpu = format!("{:.3} ms", self.per_pair(self.cpu_us) / 1e3);
        let kept = bytes_shown(self.per_pair(self.scores.kept_bytes as f64) as u64);
        let mut first = Some([self.scores.method.name().to_owned(), cpu, kept]);
        let rows = METHOD_QUESTIONS.iter().zip(&self.scores.scores).map(|(question, score)| {
            let [method, cpu, kept] = first.take().unwrap_or_default();
            let (precision, recall) = intervals(score);
            let percent = |share: f64| format!("{:.1} %", share * 100.0);
            let range = |of: Interval| format!("{:.1}–{:.1}", of.low * 100.0, of.high * 100.0);
            vec![
                method,
                (*question).to_owned(),
                percent(score.precision()),
                range(precision),
                percent(score.recall()),
                range(recall),
                cpu,
                kept,
            ]
        });
        rows.collect()
    }
}

/// Those of precision and of recall.
fn intervals(score: &Score) -> (Interval, Interval) {
    let of = |all: u32| wilson(score.both, all, z_of(CONFIDENCE));
    (of(score.both + score.ours_only), of(score.both + score.label_only))
}
