//! The report: one page that needs nothing but itself, and the rows as CSV.

use std::fmt::Write;

use super::plots::{PAIRS_MAX, Plot};
use super::summary::{BASELINE, Cell, Line, first_days_title};
use super::svg::{STYLE, escaped};
use crate::lab::statistics::Interval;

pub(in crate::lab) const PAGE_STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}\
h1,h2{font-weight:600}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}td,th{padding:.2rem .8rem .2rem 0;text-align:left;\
border-bottom:1px solid var(--rule);white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr.best td{font-weight:600}\
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem}figure{margin:0}small,p.soft{color:var(--soft)}";

/// The page. `notes` are said under the title: what was compared, and what to know about it. `below` is said under the table,
/// in the words that the terminal uses.
pub fn html(title: &str, notes: &[String], cells: &[Cell], below: &[String], plots: &[Plot]) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}{PAGE_STYLE}</style></head>\n<body><h1>{title}</h1>\n"
    );
    for note in notes {
        let _ = writeln!(page, "<p class=\"soft\">{}</p>", escaped(note));
    }
    table(&mut page, cells);
    for note in below {
        let _ = writeln!(page, "<p>{}</p>", escaped(note));
    }
    let _ = writeln!(page, "<h2>Plots</h2>");
    let pairs = cells.iter().map(|cell| (&cell.world, &cell.budget)).collect::<std::collections::BTreeSet<_>>().len();
    if pairs > PAIRS_MAX {
        let _ = writeln!(
            page,
            "<p class=\"soft\">The first {PAIRS_MAX} of {pairs} pairs of world and budget have plots of their own.</p>"
        );
    }
    page.push_str("<div class=\"plots\">\n");
    for plot in plots {
        let _ = writeln!(page, "<figure>{}</figure>", plot.chart.draw(false));
    }
    page.push_str("</div></body></html>\n");
    page
}

fn table(page: &mut String, cells: &[Cell]) {
    let first_days = first_days_title(cells);
    let _ = write!(
        page,
        "<h2>Results</h2><p class=\"soft\">Means with 95 % intervals: over chance numbers on invented worlds, over sites \
         drawn again on recordings; a single one of them has no interval. The difference is to {BASELINE} on the same worlds; the gap closed is the share of \
         the way from {BASELINE} to known rates; the last difference is to the best of those that have to learn the rates. The bound is the optimum of the model in the long run where the model holds \
         (one of the mean: a small world may lie above it by chance), its certificate for this window where any of that stands by \
         the first readings, which are free, and what a clairvoyant could reach where the model does not hold or that is less; \
         a word beside it says which.</p>\n<div class=\"wide\"><table><tr><th>world<th>budget<th>policy\
         <th class=\"n\">freshness<th class=\"n\">difference<th class=\"n\">gap closed<th class=\"n\">to the best<th class=\"n\">bound\
         <th class=\"n\">change ratio<th class=\"n\">age, days<th class=\"n\">harmonic<th class=\"n\">visits<th class=\"n\">wasted\
         <th class=\"n\">never visited<th class=\"n\">{first_days}<th class=\"n\">CPU, s</tr>\n"
    );
    for cell in cells {
        let rivals = cells.iter().filter(|other| other.world == cell.world && other.budget == cell.budget);
        let best = rivals.map(|other| other.freshness.mean).fold(f64::NEG_INFINITY, f64::max);
        let mark = if cell.freshness.mean >= best { " class=\"best\"" } else { "" };
        let _ = write!(
            page,
            "<tr{mark}><td>{}<td>{}<td>{}",
            escaped(&cell.world),
            escaped(&cell.budget),
            escaped(&cell.policy)
        );
        let numbers = [
            shown(&cell.freshness, 4),
            cell.difference.as_ref().map_or("–".into(), |interval| signed(interval, 4)),
            cell.gap_closed.as_ref().map_or("–".into(), |interval| shown(interval, 2)),
            cell.standing.shown(),
            cell.bound_shown("–"),
            format!("{:.3}", cell.change_ratio),
            format!("{:.2}", cell.age_days),
            format!("{:.3}", cell.harmonic),
            format!("{:.0}", cell.visits),
            format!("{:.0}", cell.wasted),
            format!("{:.0}", cell.never_visited),
            format!("{:.4}", cell.first_60_days),
            format!("{:.2}", cell.cpu_s),
        ];
        for number in numbers {
            let _ = write!(page, "<td class=\"n\">{number}");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

fn shown(interval: &Interval, places: usize) -> String {
    let mean = interval.mean;
    interval.half().map_or(format!("{mean:.places$}"), |half| format!("{mean:.places$} ± {half:.places$}"))
}

fn signed(interval: &Interval, places: usize) -> String {
    let sign = if interval.mean >= 0.0 { "+" } else { "" };
    format!("{sign}{}", shown(interval, places))
}

/// The rows as CSV, with every field of a line.
pub fn csv(lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(line) else { continue };
        if number == 0 {
            text.push_str(&fields.keys().cloned().collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        let cells: Vec<String> = fields.values().map(cell).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

pub(in crate::lab) fn cell(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) if text.contains([',', '"', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
