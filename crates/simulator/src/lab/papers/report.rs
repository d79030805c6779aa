//! One page that needs nothing but itself, and every value as CSV.

use std::fmt::Write;

use super::exhibit::{Exhibit, Vector, VectorValue, Verdict};
use super::tables::{badge, class_of, coded, shown, table};
use super::{DRAWINGS, PAPERS, PLAIN, Paper};
use crate::lab::findings::{PAGE_STYLE, STYLE, cell, escaped};

/// With fewer chance numbers a verdict is weak, and the page says so.
const CHANCES_MIN: usize = 30;

const OWN_STYLE: &str = "h2{margin-top:3rem;border-bottom:2px solid var(--rule);padding-bottom:.3rem}\
section{margin:2.2rem 0;padding-top:.4rem}h3{margin:.2rem 0 .4rem;font-weight:600}h3 b{color:var(--soft);font-weight:600;margin-right:.6rem}\
.claim{margin:.7rem 0;padding:.5rem .9rem;border-left:4px solid var(--soft)}.claim q{font-style:italic}.claim p{margin:.25rem 0}\
.reproduced{border-color:#2f7d4f}.not-reproduced{border-color:#a8871b}.contradicted{border-color:#c23a5e}\
.v{display:inline-block;font-size:13px;font-weight:600;padding:.05rem .55rem;border-radius:1rem;margin-right:.5rem;color:#fff;background:#5a6b5e}\
.v.reproduced{background:#2b7248}.v.not-reproduced{background:#806410}.v.contradicted{background:#b02f51}\
nav ul{columns:20rem;padding-left:1.1rem;font-size:14px}nav li{break-inside:avoid}nav i{display:inline-block;width:.55em;height:.55em;border-radius:50%;margin-right:.15em}\
i.reproduced{background:#3f9463}i.not-reproduced{background:#b89a2c}i.contradicted{background:#d1466c}nav a,td a{color:inherit}.plain{padding:.6rem 1.2rem;border:1px solid var(--rule)}\
.note{color:var(--soft);white-space:normal}td.w{white-space:normal;min-width:16rem}th.w{white-space:normal;max-width:15rem;vertical-align:bottom}th small{font-weight:400}code{font-size:.92em}";

/// The page: verdicts in sum, then each paper with its tables and figures, the paper's words beside ours.
pub fn html(exhibits: &[Exhibit], chances: &[u64]) -> String {
    let title = "The founding papers, enacted again";
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}{PAGE_STYLE}{OWN_STYLE}</style></head>\n<body><h1>{title}</h1>\n"
    );
    introduction(&mut page, exhibits, chances);
    for paper in &PAPERS {
        let own: Vec<(usize, &Exhibit)> =
            exhibits.iter().enumerate().filter(|(_, exhibit)| exhibit.paper == paper.number).collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(page, "<h2 id=\"p{}\">{}</h2>", paper.number, escaped(&heading(paper)));
        let _ = writeln!(page, "<p class=\"soft\">{}</p>", escaped(paper.source));
        for (number, exhibit) in own {
            section(&mut page, number, exhibit);
        }
        drawings(&mut page, paper);
    }
    page.push_str("</body></html>\n");
    page
}

fn heading(paper: &Paper) -> String {
    if paper.number == "since" { "Since then".to_owned() } else { format!("{}: {}", paper.number, paper.title) }
}

/// How many claims and printed values of each paper are reproduced, not reproduced, and contradicted.
pub fn tally(exhibits: &[Exhibit]) -> Vec<(&'static str, [usize; 3])> {
    let count = |paper: &'static str| {
        let own = exhibits.iter().filter(|exhibit| exhibit.paper == paper);
        let verdicts: Vec<Verdict> = own.flat_map(|one| &one.vectors).filter_map(|vector| vector.verdict).collect();
        Verdict::ALL.map(|verdict| verdicts.iter().filter(|&&one| one == verdict).count())
    };
    let counts = PAPERS.iter().map(|paper| (paper.number, count(paper.number)));
    counts.filter(|(_, counts)| counts.iter().sum::<usize>() > 0).collect()
}

fn introduction(page: &mut String, exhibits: &[Exhibit], chances: &[u64]) {
    let numbers = match chances {
        [] => "no chance number".to_owned(),
        [one] => format!("chance number {one}"),
        [first, .., last] => format!("chance numbers {first} to {last}"),
    };
    let _ = writeln!(
        page,
        "<p>Every table and figure of the four papers that Vernal is built on, made again by the program's own parts, beside what the papers \
         say. A printed value is <em>reproduced</em> if it comes out as printed, and <em>contradicted</em> if it breaks the paper's own \
         rule. A claim is <em>reproduced</em> if the 95 % interval over {numbers} lies wholly on its side, <em>contradicted</em> if it lies \
         wholly on the other, and else <em>not reproduced</em>. Values that follow from a paper's formula and stand in no paper are called \
         derived and have no verdict.</p>"
    );
    if chances.len() < CHANCES_MIN {
        let _ =
            writeln!(page, "<p><strong>Fewer than {CHANCES_MIN} chance numbers: these verdicts are weak.</strong></p>");
    }
    page.push_str("<div class=\"wide\"><table><tr><th>paper");
    Verdict::ALL.iter().for_each(|verdict| page.push_str(&format!("<th class=\"n\">{}", verdict.name())));
    page.push_str("</tr>\n");
    for (number, counts) in tally(exhibits) {
        let paper = PAPERS.iter().find(|paper| paper.number == number).map_or_else(String::new, heading);
        let _ = write!(page, "<tr><td><a href=\"#p{number}\">{}</a>", escaped(&paper));
        counts.iter().for_each(|count| page.push_str(&format!("<td class=\"n\">{count}")));
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n<h2>Said plainly</h2><div class=\"plain\">\n");
    PLAIN.iter().for_each(|said| page.push_str(&format!("<p>{}</p>\n", coded(said))));
    page.push_str("</div>\n<nav><h2>Tables and figures</h2><ul>\n");
    for (number, exhibit) in exhibits.iter().enumerate() {
        let name = format!("{} {}: {}", exhibit.paper, exhibit.place, exhibit.title);
        let verdicts = exhibit.vectors.iter().filter_map(|vector| vector.verdict);
        let marks: String = verdicts.map(|one| format!("<i class=\"{0}\" title=\"{0}\"></i>", class_of(one))).collect();
        let _ = writeln!(page, "<li><a href=\"#e{number}\">{}</a> {marks}</li>", escaped(&name));
    }
    page.push_str("</ul></nav>\n");
}

fn section(page: &mut String, number: usize, exhibit: &Exhibit) {
    let Exhibit { place, title, method, vectors, plots, .. } = exhibit;
    let _ = writeln!(page, "<section id=\"e{number}\"><h3><b>{}</b>{}</h3>", escaped(place), escaped(title));
    let _ = writeln!(page, "<p class=\"soft\">{}</p>", coded(method));
    vectors.iter().filter(|vector| vector.claim.is_some()).for_each(|vector| claim(page, vector));
    let values: Vec<&Vector> = vectors.iter().filter(|vector| vector.claim.is_none()).collect();
    for group in values.chunk_by(|one, other| one.labels == other.labels) {
        table(page, group);
    }
    if !plots.is_empty() {
        page.push_str("<div class=\"plots\">\n");
        plots.iter().for_each(|plot| page.push_str(&format!("<figure>{}</figure>\n", plot.chart.draw(false))));
        page.push_str("</div>\n");
    }
    page.push_str("</section>\n");
}

fn claim(page: &mut String, vector: &Vector) {
    let class = vector.verdict.map_or("", class_of);
    let _ = writeln!(
        page,
        "<div class=\"claim {class}\"><p>{}<q>{}</q></p><p>{}: <strong>{}</strong>{}</p>{}</div>",
        badge(vector.verdict),
        escaped(vector.claim.unwrap_or_default()),
        coded(&vector.what),
        shown(vector).join("  "),
        if vector.chances > 0 {
            format!(" <small>over {} chance numbers</small>", vector.chances)
        } else {
            String::new()
        },
        if vector.note.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>", coded(vector.note)) },
    );
}

fn drawings(page: &mut String, paper: &Paper) {
    let own: Vec<_> = DRAWINGS.iter().filter(|drawing| drawing.paper == paper.number).collect();
    if own.is_empty() {
        return;
    }
    page.push_str("<section><h3>Drawings and algorithms without numbers</h3><div class=\"wide\"><table>\n");
    for drawing in own {
        let _ = writeln!(
            page,
            "<tr><td>{}<td class=\"w\">{}<td class=\"w\">{}</tr>",
            escaped(drawing.place),
            escaped(drawing.what),
            coded(drawing.by)
        );
    }
    page.push_str("</table></div></section>\n");
}

/// Every value on a line of its own.
pub fn csv(exhibits: &[Exhibit]) -> String {
    let mut text = "paper,place,what,label,claim,ours,low,high,chances,printed,reference,verdict,note\n".to_owned();
    for vector in exhibits.iter().flat_map(|exhibit| &exhibit.vectors) {
        let parts = |value: &Option<VectorValue>| match value {
            Some(VectorValue::Numbers(numbers)) => numbers.iter().map(|&number| number.into()).collect(),
            Some(VectorValue::Number(number)) => vec![(*number).into()],
            Some(VectorValue::Text(text)) => vec![text.clone().into()],
            None => Vec::<serde_json::Value>::new(),
        };
        let [ours, low, high, printed, reference] =
            [&Some(vector.ours.clone()), &vector.low, &vector.high, &vector.printed, &vector.reference].map(parts);
        let at = |values: &[serde_json::Value], nth: usize| values.get(nth).cloned().unwrap_or_default();
        for nth in 0..ours.len().max(printed.len()) {
            let label = vector.labels.get(nth).cloned().unwrap_or_default();
            let fields: [serde_json::Value; 13] = [
                vector.paper.into(),
                vector.place.into(),
                vector.what.clone().into(),
                label.into(),
                vector.claim.unwrap_or_default().into(),
                at(&ours, nth),
                at(&low, nth),
                at(&high, nth),
                vector.chances.into(),
                at(&printed, nth),
                at(&reference, nth),
                vector.verdict.map_or("", Verdict::name).into(),
                vector.note.into(),
            ];
            text.push_str(&fields.iter().map(cell).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::exhibit::Page;
    use super::*;
    use crate::lab::statistics::Interval;

    fn exhibits() -> Vec<Exhibit> {
        let page = Page { paper: "003", place: "Table <8>" };
        let interval = Interval { mean: 0.5, low: 0.4, high: 0.6, count: 30 };
        let labelled = page
            .measured("what & why", &["a<b", "c"], &[interval, interval], "with `code`, a comma")
            .beside(&[1.0, 2.0], Verdict::Contradicted);
        vec![page.exhibit("a \"title\"", "by <script>", vec![labelled, page.number("x", 1.0, 1.0, 0, "")])]
    }

    #[test]
    fn the_page_is_whole_and_no_text_becomes_markup() {
        let page = html(&exhibits(), &[1]);
        assert!(page.ends_with("</html>\n") && page.contains("Table &lt;8&gt;") && page.contains("a&lt;b"));
        assert!(!page.contains("<script>") && !page.contains("http"), "nothing runs and nothing is fetched");
        assert!(page.contains("0.500 ± 0.100") && page.contains("contradicted") && page.contains("verdicts are weak"));
        assert!(page.contains("<code>code</code>") && page.contains("prefers-color-scheme:dark"));
        assert!(!html(&exhibits(), &(1..=30).collect::<Vec<u64>>()).contains("verdicts are weak"));
    }

    #[test]
    fn every_value_is_a_line_of_the_csv() {
        let text = csv(&exhibits());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1], "003,Table <8>,what & why,a<b,,0.5,0.4,0.6,30,1.0,,contradicted,\"with `code`, a comma\"");
        assert!(lines[3].starts_with("003,Table <8>,x,,,1.0,,,0,1.0,,reproduced,"));
    }

    #[test]
    fn verdicts_are_counted_by_paper() {
        assert_eq!(tally(&exhibits()), [("003", [1, 0, 1])]);
    }
}
