//! `vernal lab papers`

use clap::Args;
use vernal_simulator::lab::papers::{self, VectorValue};

use crate::command::Context;
use crate::error::{OrFail, Result};
use crate::output::Sink;

#[derive(Args)]
pub struct Arguments {
    /// The number that re-enacted experiments are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    chance: u64,
}

pub fn papers(context: &Context, arguments: &Arguments) -> Result<()> {
    let mut sink = Sink::stdout();
    let mut paper = "";
    for vector in papers::papers(arguments.chance) {
        if context.json {
            sink.line(&serde_json::to_string(&vector).or_fail()?)?;
            continue;
        }
        if vector.paper != paper {
            paper = vector.paper;
            sink.line(&format!("\n{}", title(paper)))?;
        }
        let verdict = match (vector.agrees, &vector.reference) {
            (Some(true), None) => "as printed",
            (Some(false), None) => "not as printed",
            (Some(true), Some(_)) => "as a reference value that was computed by other means; none is in print",
            (Some(false), Some(_)) => "not as a reference value that was computed by other means; none is in print",
            (None, _) => "re-enacted",
        };
        sink.line(&format!("  {}, {}: {}", vector.place, vector.what, shown(&vector.ours)))?;
        for (name, value) in [("printed", &vector.printed), ("reference", &vector.reference)] {
            if let Some(value) = value.as_ref().filter(|_| vector.agrees != Some(true)) {
                sink.line(&format!("      {name}: {}", shown(value)))?;
            }
        }
        let note = if vector.note.is_empty() { String::new() } else { format!(": {}", vector.note) };
        sink.line(&format!("      {verdict}{note}"))?;
    }
    sink.flush()
}

fn title(paper: &str) -> &'static str {
    match paper {
        "000" => "000: sampling policies and the frequency-greedy hybrid (thesis)",
        "001" => "001: sampling with correlation",
        "003" => "003: incremental parallel crawler, change detection",
        "004" => "004: self-adjusting refresh time",
        _ => "Since then",
    }
}

fn shown(told: &VectorValue) -> String {
    match told {
        VectorValue::Number(number) => number.to_string(),
        VectorValue::Numbers(numbers) => numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("  "),
        VectorValue::Text(text) => text.clone(),
    }
}
