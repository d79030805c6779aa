//! How worlds are played, and how the results are shown.

use std::path::{Path, PathBuf};

use clap::Args;
use vernal_model::Budget;
use vernal_simulator::lab::compare::OUTSIDE_PREFIX;
use vernal_simulator::lab::findings::{self, Cell};
use vernal_simulator::lab::statistics::Interval;
use vernal_simulator::lab::{Compared, Comparison, ComputedBounds, Means, Options, Source};

use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::clock::cpu_seconds;
use crate::runtime::parts;

/// Where nobody names policies: the simplest, the papers' best known, the default, and the one that knows every rate.
const POLICIES: &str = "round-robin,refresh-time,hybrid,bayes,vernal,hindsight";
const BUDGET: &str = "5%/day";
/// Without several trials nobody knows how far their results scatter. On a recording the sites tell that.
const CHANCES_INVENTED: &str = "1..5";
const CHANCES_RECORDED: &str = "1";
/// More chance numbers than this are taken for a typing error.
const CHANCES_MAX: u64 = 10_000;

#[derive(Args)]
pub struct Trials {
    /// Policies, separated by commas, each with parameters if need be (hybrid:v=4,p=5%); exec:COMMAND is a program of its
    /// own, and all up to the next ,exec: is its command; may be repeated
    #[arg(long, value_name = "NAMES", default_value = POLICIES)]
    policies: Vec<String>,
    /// A budget: 5%/day, 500/day, 1GB/day; may be repeated [default: 5%/day]
    #[arg(long = "budget", value_name = "BUDGET")]
    budgets: Vec<String>,
    /// The number that all randomness begins with; 1..10 are ten of them [default: 1..5 on invented worlds, 1 on a recording]
    #[arg(long, value_name = "NUMBER")]
    chance: Option<String>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A folder for report.html, rows.csv and the plots
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn play(context: &Context, trials: &Trials, sources: Vec<Source>, title: &str, notes: Vec<String>) -> Result<()> {
    let recorded: Vec<String> = sources
        .iter()
        .filter(|source| matches!(source, Source::Recorded(_)))
        .map(|source| source.name().to_owned())
        .collect();
    if trials.jobs == Some(0) {
        return Err(Error::usage(
            "--jobs 0 leaves no thread to work: give at least 1, or leave it out for one thread per core",
        ));
    }
    let chance = if recorded.is_empty() { CHANCES_INVENTED } else { CHANCES_RECORDED };
    let facts = findings::facts_of(&sources);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let comparison = Comparison {
        policies: policies(context, &trials.policies)?,
        sources,
        budgets: budgets(&trials.budgets)?,
        chances: chances(trials.chance.as_deref().unwrap_or(chance))?,
        options: Options::default(),
        jobs: trials.jobs.unwrap_or(cores),
    };
    if let Some(out) = &trials.out {
        std::fs::create_dir_all(out).map_err(|error| Error::Failed(format!("create {}: {error}", out.display())))?;
    }
    let live = context.log.progress_is_live();
    let progress = |done: usize, all: usize| {
        if live {
            context.log.progress(&format!("{done} of {all} trials"));
        }
    };
    let means = Means { bounds: &ComputedBounds, cpu_seconds: &cpu_seconds, progress: &progress };
    let compared = comparison.run(&means).or_fail()?;
    if live {
        tracing::info!("{} trials", compared.len());
    }
    let is_recorded = |world: &str| recorded.iter().any(|name| name == world);
    let cells = findings::summary(&compared, is_recorded);
    let below = findings::notes(&cells, &facts);
    show(context, &compared, &cells, &below)?;
    match &trials.out {
        Some(out) => write_report(out, title, &notes, &compared, (&cells, &below), is_recorded),
        None => Ok(()),
    }
}

/// Policies by their names, with the parameters that the settings give for them.
fn policies(context: &Context, given: &[String]) -> Result<Vec<String>> {
    let with_parameters = |name: String| match name.starts_with(OUTSIDE_PREFIX) {
        true => Ok(name),
        false => parts::with_parameters(context, &name),
    };
    names(given)?.into_iter().map(with_parameters).collect()
}

/// Names between commas, each with its parameters: `hybrid:v=4,p=5%` is one. What follows `exec:` is a command line and keeps its commas, up to one before another `exec:`.
fn names(given: &[String]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for list in given {
        let mut rest = list.as_str();
        while !rest.is_empty() {
            let is_outside = rest.trim_start().starts_with(OUTSIDE_PREFIX);
            let ends =
                |&(at, _): &(usize, &str)| !is_outside || rest[at + 1..].trim_start().starts_with(OUTSIDE_PREFIX);
            let end = rest.match_indices(',').find(ends).map(|(at, _)| at);
            let (name, after) = end.map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
            let name = name.trim();
            if name.strip_prefix(OUTSIDE_PREFIX).is_some_and(|command| command.trim().is_empty()) {
                return Err(Error::usage("exec: has no command: give for example exec:./mine"));
            }
            if let (true, Some(last)) = (is_value(name), names.last_mut().filter(|last| has_values(last))) {
                *last = format!("{last},{name}");
            } else if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            rest = after;
        }
    }
    if names.is_empty() {
        return Err(Error::usage("no policy was given"));
    }
    Ok(names)
}

/// Whether this is one more parameter of the policy before it: no name of a policy has an equals sign before a colon.
fn is_value(text: &str) -> bool {
    text.find('=').is_some_and(|equals| !text[..equals].contains(':'))
}

fn has_values(name: &str) -> bool {
    !name.starts_with(OUTSIDE_PREFIX) && name.contains('=')
}

pub fn budgets(given: &[String]) -> Result<Vec<Budget>> {
    let given = if given.is_empty() { vec![BUDGET.to_owned()] } else { given.to_vec() };
    let mut budgets: Vec<Budget> = Vec::new();
    for text in given.iter().flat_map(|list| list.split(',')) {
        let budget: Budget = text.trim().parse().or_usage()?;
        // One budget in two spellings is one row, and would be counted twice in its mean.
        if !budgets.iter().any(|known| *known == budget || known.to_string() == budget.to_string()) {
            budgets.push(budget);
        }
    }
    Ok(budgets)
}

/// One number, or the first and the last of many.
pub fn chances(text: &str) -> Result<Vec<u64>> {
    let wrong = || Error::Usage(format!("`{text}` is no chance number: give one, such as 7, or many, such as 1..10"));
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
        None => (number(text)?, number(text)?),
    };
    if last < first || last - first >= CHANCES_MAX {
        return Err(wrong());
    }
    Ok((first..=last).collect())
}

/// The place of the column that is entitled by the days that were measured.
const FIRST_DAYS: usize = 11;

const COLUMNS: [Column; 13] = [
    Column::left("world"),
    Column::left("budget"),
    Column::left("policy"),
    Column::right("freshness"),
    Column::right("to round-robin"),
    Column::right("gap closed"),
    Column::right("to the best"),
    Column::right("bound"),
    Column::right("change ratio"),
    Column::right("age, days"),
    Column::right("never visited"),
    Column::right("first days"),
    Column::right("CPU, s"),
];

fn show(context: &Context, compared: &[Compared], cells: &[Cell], below: &[String]) -> Result<()> {
    let mut sink = Sink::stdout();
    if context.json {
        for line in findings::lines(compared) {
            sink.line(&serde_json::to_string(&line).or_fail()?)?;
        }
        return sink.flush();
    }
    let mut table = Table::new(&COLUMNS).with_title(FIRST_DAYS, findings::first_days_title(cells));
    for cell in cells {
        let row = vec![
            cell.world.clone(),
            cell.budget.clone(),
            cell.policy.clone(),
            interval(&cell.freshness, 4),
            cell.difference.as_ref().map_or("-".into(), |difference| {
                let sign = if difference.mean >= 0.0 { "+" } else { "" };
                format!("{sign}{}", interval(difference, 4))
            }),
            cell.gap_closed.as_ref().map_or("-".into(), |gap| interval(gap, 2)),
            cell.standing.shown(),
            cell.bound_shown("-"),
            format!("{:.3}", cell.change_ratio),
            format!("{:.2}", cell.age_days),
            format!("{:.0}", cell.never_visited),
            format!("{:.4}", cell.first_60_days),
            format!("{:.2}", cell.cpu_s),
        ];
        table.row(&mut sink, row)?;
    }
    table.end(&mut sink)?;
    for note in below {
        sink.line("")?;
        sink.line(note)?;
    }
    sink.flush()
}

/// A mean with half of its interval; of one trial, and of a recording of one site, only the mean is known.
fn interval(interval: &Interval, places: usize) -> String {
    let mean = interval.mean;
    interval.half().map_or(format!("{mean:.places$}"), |half| format!("{mean:.places$} ± {half:.places$}"))
}

fn write_report(
    out: &Path,
    title: &str,
    notes: &[String],
    compared: &[Compared],
    (cells, below): (&[Cell], &[String]),
    is_recorded: impl Fn(&str) -> bool,
) -> Result<()> {
    let write = |name: &str, text: &str| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| Error::Failed(format!("write {}: {error}", path.display())))
    };
    let plots = findings::plots(compared, is_recorded);
    for plot in &plots {
        write(&plot.file, &plot.chart.draw(true))?;
    }
    write("rows.csv", &findings::csv(&findings::lines(compared)))?;
    write("report.html", &findings::html(title, notes, cells, below, &plots))?;
    tracing::info!("{} and {} plots", out.join("report.html").display(), plots.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_numbers_are_one_or_many() {
        assert_eq!(chances("7").unwrap(), [7]);
        assert_eq!(chances("1..3").unwrap(), [1, 2, 3]);
        for wrong in ["", "x", "3..1", "1..99999999"] {
            assert_eq!(chances(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn a_budget_that_is_given_twice_is_one_however_it_is_spelt() {
        let told = |given: &[&str]| -> Vec<String> {
            let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
            budgets(&given).unwrap().iter().map(Budget::to_string).collect()
        };
        assert_eq!(told(&["5%/day", "5.0%/d,10%/day"]), ["5%/day", "10%/day"]);
        assert_eq!(told(&["1MB/day", "1000kB/day", "0.001GB/day"]), ["1MB/day"]);
    }

    #[test]
    fn a_command_line_keeps_its_commas_and_a_slip_names_the_nearest() {
        let given = ["bayes, vernal".to_owned(), "exec:./mine --a 1,2".to_owned(), "bayes".to_owned()];
        assert_eq!(names(&given).unwrap(), ["bayes", "vernal", "exec:./mine --a 1,2"]);
        let several = ["exec:A 1,2,exec:B, exec:C,bayes".to_owned(), "vernal,exec:D".to_owned()];
        assert_eq!(names(&several).unwrap(), ["exec:A 1,2", "exec:B", "exec:C,bayes", "vernal", "exec:D"]);
        for empty in ["exec:", "vernal,exec: ", "exec:A,exec:,exec:B"] {
            assert_eq!(names(&[empty.to_owned()]).unwrap_err().exit_code(), 2, "{empty}");
        }
    }

    #[test]
    fn commas_part_policies_and_their_parameters() {
        let given = ["hybrid:v=4,p=5%, vernal,adaptive:kappa=2,alpha=0.9".to_owned(), "exec:A b=1,greedy".to_owned()];
        let expected = ["hybrid:v=4,p=5%", "vernal", "adaptive:kappa=2,alpha=0.9", "exec:A b=1,greedy"];
        assert_eq!(names(&given).unwrap(), expected);
    }
}
