//! The values of a table or figure as tables of the page.

use std::fmt::Write;

use super::exhibit::{Vector, VectorValue, Verdict};
use crate::lab::findings::escaped;

/// With more columns than this a table lies on its side.
const COLUMNS_MAX: usize = 6;
/// Decimal places of a value without an interval.
const PLACES_MAX: usize = 4;

/// Text in which names of the program stand in backticks.
pub(super) fn coded(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(nth, part)| if nth % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) })
        .collect()
}

pub(super) fn badge(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(String::new, |verdict| {
        format!("<span class=\"v {}\">{}</span>", class_of(verdict), verdict.name())
    })
}

pub(super) fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::NotReproduced => "not-reproduced",
        Verdict::Contradicted => "contradicted",
    }
}

/// Vectors of the same labels in one table.
pub(super) fn table(page: &mut String, vectors: &[&Vector]) {
    page.push_str("<div class=\"wide\"><table>");
    match vectors.first().map_or(0, |vector| vector.labels.len()) {
        0 => single_values(page, vectors),
        columns if columns <= COLUMNS_MAX => one_row_each(page, vectors),
        _ => one_column_each(page, vectors),
    }
    page.push_str("</table></div>\n");
}

fn single_values(page: &mut String, vectors: &[&Vector]) {
    page.push_str("<tr><th><th>here<th>in print<th>verdict</tr>\n");
    for vector in vectors {
        let beside = match (&vector.printed, &vector.reference) {
            (Some(VectorValue::Text(text)), _) => escaped(text),
            (Some(printed), _) => numbers(Some(printed)).iter().map(f64::to_string).collect::<Vec<_>>().join("  "),
            (None, Some(_)) => "derived".to_owned(),
            (None, None) => String::new(),
        };
        let (here, verdict) = (shown(vector).join("  "), badge(vector.verdict));
        let _ = writeln!(
            page,
            "<tr><td class=\"w\">{}<td class=\"w\">{here}<td class=\"w\">{beside}<td>{verdict}</tr>",
            named(vector)
        );
    }
}

fn one_row_each(page: &mut String, vectors: &[&Vector]) {
    page.push_str("<tr><th>");
    let labels = vectors.first().map_or(&[][..], |vector| &vector.labels);
    labels.iter().for_each(|label| page.push_str(&format!("<th class=\"n\">{}", escaped(label))));
    page.push_str("</tr>\n");
    for vector in vectors {
        let _ = write!(page, "<tr><td class=\"w\">{}", named(vector));
        shown(vector).iter().for_each(|value| page.push_str(&format!("<td class=\"n\">{value}")));
        if vector.reference.is_some() {
            page.push_str("<td class=\"note\">derived");
        }
        if vector.printed.is_some() {
            let _ = write!(page, "</tr>\n<tr><td class=\"w note\">in print {}", badge(vector.verdict));
            let printed = numbers(vector.printed.as_ref());
            printed.iter().for_each(|number| page.push_str(&format!("<td class=\"n note\">{number}")));
        }
        page.push_str("</tr>\n");
    }
}

fn one_column_each(page: &mut String, vectors: &[&Vector]) {
    page.push_str("<tr><th>");
    let mut columns: Vec<Vec<String>> = Vec::new();
    for vector in vectors {
        let _ = write!(page, "<th class=\"n w\">{}", named(vector));
        columns.push(shown(vector));
        if vector.printed.is_some() {
            let _ = write!(page, "<th class=\"n note\">in print {}", badge(vector.verdict));
            columns.push(numbers(vector.printed.as_ref()).iter().map(f64::to_string).collect());
        }
    }
    page.push_str("</tr>\n");
    let labels = vectors.first().map_or(&[][..], |vector| &vector.labels);
    for (nth, label) in labels.iter().enumerate() {
        let _ = write!(page, "<tr><td>{}", escaped(label));
        for column in &columns {
            let _ = write!(page, "<td class=\"n\">{}", column.get(nth).map_or("", String::as_str));
        }
        page.push_str("</tr>\n");
    }
}

fn named(vector: &Vector) -> String {
    let note =
        if vector.note.is_empty() { String::new() } else { format!("<br><small>{}</small>", coded(vector.note)) };
    format!("{}{note}", coded(&vector.what))
}

fn numbers(value: Option<&VectorValue>) -> Vec<f64> {
    match value {
        Some(VectorValue::Numbers(numbers)) => numbers.clone(),
        Some(VectorValue::Number(number)) => vec![*number],
        Some(VectorValue::Text(_)) | None => Vec::new(),
    }
}

/// The values of a vector, each with half of its interval where it has some width.
pub(super) fn shown(vector: &Vector) -> Vec<String> {
    if let VectorValue::Text(text) = &vector.ours {
        return vec![escaped(text)];
    }
    let (low, high) = (numbers(vector.low.as_ref()), numbers(vector.high.as_ref()));
    let one = |(nth, value): (usize, &f64)| match low.get(nth).zip(high.get(nth)) {
        Some((low, high)) if high > low => {
            let places = places_of(*value);
            format!("{value:.places$} ± {:.places$}", (high - low) / 2.0)
        }
        _ => trimmed(*value),
    };
    numbers(Some(&vector.ours)).iter().enumerate().map(one).collect()
}

/// As many places as say something beside an interval.
fn places_of(value: f64) -> usize {
    match value.abs() {
        size if size >= 1_000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    }
}

fn trimmed(value: f64) -> String {
    format!("{value:.PLACES_MAX$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::exhibit::Page;
    use super::*;
    use crate::lab::statistics::Interval;

    fn vector(labels: &[&str], half: f64) -> Vector {
        let intervals = vec![Interval { mean: 0.5, low: 0.5 - half, high: 0.5 + half, count: 30 }; labels.len().max(1)];
        Page { paper: "003", place: "Table 8" }.measured("what", labels, &intervals, "")
    }

    #[test]
    fn a_value_that_never_differs_has_no_interval_and_others_have_theirs() {
        assert_eq!(shown(&vector(&[], 0.0)), ["0.5"]);
        assert_eq!(shown(&vector(&[], 0.1)), ["0.500 ± 0.100"]);
    }

    #[test]
    fn a_table_of_many_columns_lies_on_its_side() {
        let drawn = |labels: &[&str]| {
            let mut page = String::new();
            table(&mut page, &[&vector(labels, 0.1)]);
            page.matches("<tr>").count()
        };
        assert_eq!(drawn(&["a", "b", "c"]), 2);
        assert_eq!(drawn(&["a", "b", "c", "d", "e", "f", "g"]), 8);
    }
}
