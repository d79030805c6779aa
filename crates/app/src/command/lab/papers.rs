//! `vernal lab papers`

use std::path::{Path, PathBuf};

use clap::Args;
use vernal_simulator::lab::papers::{self, Exhibit, PAPERS, PLAIN, Reenactment, Vector, VectorValue, Verdict};

use super::trials::chances;
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::clock::cpu_seconds;

#[derive(Args)]
pub struct Arguments {
    /// The numbers that re-enacted experiments are drawn from: one, or the first and the last of many
    #[arg(long, value_name = "NUMBERS", default_value = "1..30")]
    chance: String,
    /// One paper only: 000, 001, 003 or 004; `since` for what came after them
    #[arg(long, value_name = "NUMBER")]
    paper: Option<String>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A folder for report.html, papers.csv and the plots
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn papers(context: &Context, arguments: &Arguments) -> Result<()> {
    let chances = chances(&arguments.chance)?;
    if let Some(paper) = arguments.paper.as_deref().filter(|paper| PAPERS.iter().all(|known| known.number != *paper)) {
        let known: Vec<&str> = PAPERS.iter().map(|known| known.number).collect();
        return Err(Error::Usage(format!("there is no paper `{paper}`; there are {}", known.join(", "))));
    }
    if arguments.jobs == Some(0) {
        return Err(Error::usage(
            "--jobs 0 leaves no thread to work: give at least 1, or leave it out for one thread per core",
        ));
    }
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).map_err(|error| Error::Failed(format!("create {}: {error}", out.display())))?;
    }
    let live = context.log.progress_is_live();
    let progress = |done: usize, all: usize| {
        if live {
            context.log.progress(&format!("{done} of {all} re-enactments"));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(cores);
    let paper = arguments.paper.as_deref();
    let exhibits = Reenactment { paper, chances: &chances, jobs, cpu_seconds: &cpu_seconds, progress: &progress }.run();
    if live {
        tracing::info!("{} tables, figures and examples", exhibits.len());
    }
    show(context, &exhibits)?;
    match &arguments.out {
        Some(out) => write_report(out, &exhibits, &chances),
        None => Ok(()),
    }
}

fn show(context: &Context, exhibits: &[Exhibit]) -> Result<()> {
    let mut sink = Sink::stdout();
    let mut paper = "";
    for exhibit in exhibits {
        if !context.json && exhibit.paper != paper {
            paper = exhibit.paper;
            let title = PAPERS.iter().find(|known| known.number == paper).map_or("", |known| known.title);
            sink.line(&if paper == "since" { "\nSince then".to_owned() } else { format!("\n{paper}: {title}") })?;
        }
        for vector in &exhibit.vectors {
            if context.json {
                sink.line(&serde_json::to_string(vector).or_fail()?)?;
            } else {
                lines(vector).iter().try_for_each(|line| sink.line(line))?;
            }
        }
    }
    if !context.json {
        sink.line("")?;
        for (paper, counts) in papers::tally(exhibits) {
            let counts: Vec<String> =
                Verdict::ALL.iter().zip(counts).map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
            sink.line(&format!("{paper}: {}", counts.join(", ")))?;
        }
        PLAIN.iter().try_for_each(|said| sink.line(&format!("\n{said}")))?;
    }
    sink.flush()
}

/// A value with what the paper has, and our verdict.
fn lines(vector: &Vector) -> Vec<String> {
    let interval = match (&vector.low, &vector.high) {
        (Some(low), Some(high)) => format!("  [{}; {}]", shown(low), shown(high)),
        _ => String::new(),
    };
    let mut lines = vec![format!("  {}, {}: {}{interval}", vector.place, vector.what, shown(&vector.ours))];
    if !vector.labels.is_empty() {
        lines.push(format!("      of: {}", vector.labels.join(", ")));
    }
    if let Some(claim) = vector.claim {
        lines.push(format!("      the paper: \"{claim}\""));
    }
    let beside = [("printed", &vector.printed), ("reference", &vector.reference)];
    for (name, value) in beside.into_iter().filter(|_| vector.agrees != Some(true)) {
        if let Some(value) = value {
            lines.push(format!("      {name}: {}", shown(value)));
        }
    }
    let verdict = match (vector.verdict, vector.agrees, &vector.reference) {
        (_, Some(_), Some(_)) => "derived: a reference value by the formula or by other means; no paper prints it",
        (Some(Verdict::Reproduced), Some(true), _) => "reproduced, as printed",
        (Some(Verdict::Contradicted), Some(false), _) => "contradicted, not as printed",
        (Some(verdict), ..) => verdict.name(),
        (None, ..) => "no claim",
    };
    let note = if vector.note.is_empty() { String::new() } else { format!(": {}", vector.note) };
    lines.push(format!("      {verdict}{note}"));
    lines
}

fn shown(told: &VectorValue) -> String {
    match told {
        VectorValue::Number(number) => number.to_string(),
        VectorValue::Numbers(numbers) => numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("  "),
        VectorValue::Text(text) => text.clone(),
    }
}

fn write_report(out: &Path, exhibits: &[Exhibit], chances: &[u64]) -> Result<()> {
    let write = |name: &str, text: &str| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| Error::Failed(format!("write {}: {error}", path.display())))
    };
    let plots: Vec<_> = exhibits.iter().flat_map(|exhibit| &exhibit.plots).collect();
    for plot in &plots {
        write(&plot.file, &plot.chart.draw(true))?;
    }
    write("papers.csv", &papers::csv(exhibits))?;
    write("report.html", &papers::html(exhibits, chances))?;
    tracing::info!("{} and {} plots", out.join("report.html").display(), plots.len());
    Ok(())
}
