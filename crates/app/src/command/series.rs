//! `vernal series [NAME…]`

use clap::Args;
use serde_json::Value;

use vernal_repository::SeriesName;

use super::Context;
use super::printed_list::{Question, value_of};
use crate::error::Result;
use crate::output::{Column, Sink, Table, bytes_shown};

#[derive(Args)]
pub struct Arguments {
    /// What to show, such as visits, changed, wasted, freshness_believed or wire_bytes [default: the most telling]
    names: Vec<String>,
    /// From this time on: RFC 3339, a date, 14 digits, or an age such as 30d [default: 24h, of a site 30d]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Before this time [default: now]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// One row for each of these: 1h, 6h, 1d and so on, or auto
    #[arg(long, value_name = "SPAN|auto")]
    step: Option<String>,
    /// Show at most N rows
    #[arg(long, value_name = "N")]
    points: Option<usize>,
    /// The days of one site
    #[arg(long)]
    site: Option<String>,
}

/// Rows that a terminal shows where nobody says how many.
const POINTS: usize = 40;
/// Heights of a plot, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands where nothing was kept.
const MISSING: char = '·';
const SHARE_NAMES: [&str; 5] =
    ["freshness_believed", "freshness_measured", "bound", "not_modified_share", "wasted_share"];

pub async fn series(context: &Context, arguments: &Arguments) -> Result<()> {
    let names = (!arguments.names.is_empty()).then(|| arguments.names.join(","));
    let points = arguments.points.or((!context.json).then_some(POINTS));
    // Plots on screens ask for a week; a terminal shows the hours of a day.
    let usual = (!context.json).then_some(if arguments.site.is_some() { "30d" } else { "24h" });
    let usual = usual.filter(|_| arguments.until.is_none());
    let question = Question::at("/api/v1/series")
        .with("names", names)
        .with("from", arguments.from.clone().or_else(|| usual.map(str::to_owned)))
        .with("until", arguments.until.as_ref())
        .with("step", arguments.step.as_ref())
        .with("points", points)
        .with("site", arguments.site.as_ref());
    let Some(answer) = value_of(context, question).await? else { return Ok(()) };
    let names: Vec<&str> = answer["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let rows: Vec<&Value> = answer["rows"].as_array().into_iter().flatten().collect();
    let mut sink = Sink::stdout();
    let kept = SeriesName::ALL.into_iter().map(SeriesName::name);
    let heads = names.iter().filter_map(|name| kept.clone().find(|known| known == name)).map(Column::right);
    let mut table = Table::new(&std::iter::once(Column::left("from")).chain(heads).collect::<Vec<_>>());
    for row in &rows {
        let begins = row[0].as_str().map_or_else(|| "-".into(), |text| context.time.of_text(text));
        let cells = names.iter().enumerate().map(|(place, name)| shown(name, row[1][place].as_f64()));
        table.row(&mut sink, std::iter::once(begins).chain(cells).collect())?;
    }
    table.end(&mut sink)?;
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    sink.line("")?;
    for (place, name) in names.iter().enumerate() {
        let values: Vec<Option<f64>> = rows.iter().map(|row| row[1][place].as_f64()).collect();
        sink.line(&plotted(name, width, &values))?;
    }
    if rows.iter().all(|row| row[1].as_array().is_none_or(|values| values.iter().all(Value::is_null))) {
        tracing::info!("no history of this time yet; a crawl keeps one row for each hour");
    }
    sink.flush()
}

fn head(name: &str) -> String {
    name.replace('_', " ")
}

fn shown(name: &str, value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if SHARE_NAMES.contains(&name) => format!("{:.1} %", value * 100.0),
        Some(value) if name.ends_with("_bytes") || name.starts_with("disk_") => bytes_shown(value as u64),
        Some(value) => format!("{value}"),
    }
}

/// One line of bars between the least and the greatest value.
fn plotted(name: &str, width: usize, values: &[Option<f64>]) -> String {
    let known = || values.iter().flatten().copied();
    let (least, greatest) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let bar = |value: f64| {
        let height = if greatest > least { (value - least) / (greatest - least) } else { 0.0 };
        BARS[((height * (BARS.len() - 1) as f64).round() as usize).min(BARS.len() - 1)]
    };
    let bars: String = values.iter().map(|value| value.map_or(MISSING, bar)).collect();
    let range = if known().next().is_none() {
        String::new()
    } else {
        format!("  {} to {}", shown(name, Some(least)), shown(name, Some(greatest)))
    };
    format!("{:<width$}  {bars}{range}", head(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_shows_the_range_and_leaves_gaps_where_nothing_was_kept() {
        let values = [Some(0.0), None, Some(7.0), Some(3.0)];
        assert_eq!(plotted("visits", 8, &values), "visits    ▁·█▄  0 to 7");
        assert_eq!(plotted("held", 4, &[Some(5.0), Some(5.0)]), "held  ▁▁  5 to 5");
        assert_eq!(plotted("held", 4, &[None, None]), "held  ··");
        assert_eq!(shown("wasted_share", Some(0.256)), "25.6 %");
        assert_eq!(shown("wire_bytes", None), "-");
    }
}
