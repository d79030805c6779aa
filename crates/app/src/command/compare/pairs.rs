//! Labelled pairs judge us: a table of precision, recall and agreement for each question.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vernal_document::judge::{self, Label, LabelFault, QUESTIONS, Table};
use vernal_model::Url;

use super::bodies::Body;
use super::{Compared, NOWHERE};
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;

/// Where the labels of a folder are, if nobody says otherwise.
const LABELS: &str = "labels.jsonl";

pub fn labels_of(folder: &Path, given: Option<&Path>) -> Result<PathBuf> {
    let beside = folder.join(LABELS);
    match given {
        Some(given) => Ok(given.to_owned()),
        None if beside.is_file() => Ok(beside),
        None => Err(Error::usage(format!("{} has no {LABELS}: give --labels", folder.display()))),
    }
}

pub fn judge(context: &Context, folder: &Path, labels: &Path) -> Result<()> {
    let url = Url::parse(NOWHERE).or_fail()?;
    let mut table = Table::default();
    let passed_over = each(folder, labels, |label, old, new| {
        let compared = Compared::of(&url, old, new);
        table.add(label, &compared.flags, &compared.change);
    })?;
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&shown(&table, passed_over).to_string())?;
        return sink.flush();
    }
    sink.bytes(table.to_string().as_bytes())?;
    if context.log.is_verbose() {
        for (id, question, ours) in &table.disagreements {
            sink.line(&format!("{id}: {question}: we say {}", if *ours { "yes" } else { "no" }))?;
        }
    }
    sink.flush()
}

/// Reads one pair after the other, and returns how many lines were passed over, each with a warning.
pub fn each(folder: &Path, labels: &Path, mut judge: impl FnMut(&Label, &Body, &Body)) -> Result<u64> {
    let text = std::fs::read_to_string(labels)
        .map_err(|error| Error::Failed(format!("read {}: {error}", labels.display())))?;
    let (mut judged, mut passed_over) = (0_u64, 0_u64);
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match label(line).and_then(|label| Ok((both(folder, &label)?, label))) {
            Ok(((old, new), label)) => {
                judge(&label, &old, &new);
                judged += 1;
            }
            Err(what) => {
                passed_over += 1;
                tracing::warn!("{}, line {}: {what}", labels.display(), place + 1);
            }
        }
    }
    match judged {
        0 => Err(Error::Failed(format!("{} names no pair that is in {}", labels.display(), folder.display()))),
        _ => Ok(passed_over),
    }
}

/// Why a line of the labels is passed over.
#[derive(Debug, thiserror::Error)]
enum PairError {
    #[error("this is no label{}", why.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
    NoLabel { why: Option<String> },
    #[error("`{0}` is missing")]
    FieldMissing(&'static str),
    #[error("`{}` is no id of a pair", crate::output::plain(.0))]
    Id(String),
    #[error("read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
}

fn label(line: &str) -> Result<Label, PairError> {
    let labels = judge::labels(line).map_err(|fault| match fault {
        LabelFault::Json { why, .. } => PairError::NoLabel { why: Some(why) },
        LabelFault::Missing { field, .. } => PairError::FieldMissing(field),
    })?;
    let label = labels.into_iter().next().ok_or(PairError::NoLabel { why: None })?;
    match label.id.is_empty() || label.id.contains(['/', '\\', '\0']) {
        true => Err(PairError::Id(label.id)),
        false => Ok(label),
    }
}

/// The two bodies of a pair, in the folder or in its folder `html`.
fn both(folder: &Path, label: &Label) -> Result<(Body, Body), PairError> {
    Ok((body(folder, label, "before")?, body(folder, label, "after")?))
}

fn body(folder: &Path, label: &Label, side: &str) -> Result<Body, PairError> {
    let name = format!("{}.{side}.html", label.id);
    let places: [PathBuf; 2] = [folder.join(&name), folder.join("html").join(&name)];
    let path = places.iter().find(|path| path.is_file()).unwrap_or(&places[0]);
    let bytes = std::fs::read(path).map_err(|source| PairError::Unreadable { path: path.clone(), source })?;
    Ok(Body::new(name, bytes, Some("text/html".into())))
}

fn shown(table: &Table, passed_over: u64) -> Value {
    let questions: Vec<Value> = QUESTIONS
        .iter()
        .zip(&table.scores)
        .map(|(question, score)| {
            json!({
                "question": question,
                "precision": score.precision(),
                "recall": score.recall(),
                "agreement": score.agreement(),
                "both": score.both,
                "ours_only": score.ours_only,
                "label_only": score.label_only,
                "neither": score.neither,
            })
        })
        .collect();
    let disagreements: Vec<Value> = table
        .disagreements
        .iter()
        .map(|(id, question, ours)| json!({ "id": id, "question": question, "ours": ours, "label": !ours }))
        .collect();
    let classes: Vec<Value> = table
        .noise_only
        .iter()
        .map(|(class, quiet, all)| json!({ "class": class, "noise_only": quiet, "pairs": all }))
        .collect();
    json!({
        "pairs": table.pairs,
        "passed_over": passed_over,
        "questions": questions,
        "false_content": table.false_content,
        "classes": classes,
        "disagreements": disagreements,
    })
}
