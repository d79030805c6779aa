//! What was believed against what was found, each with its likely range. On the diagonal the belief is right.

use super::lines::{figures, grid};
use super::scale::Scale;
use super::svg::{Svg, percent};

const HEIGHT: f64 = 190.0;
const ABOVE: f64 = 8.0;
const BASE: f64 = 166.0;

/// Some samples of which about the same was believed.
#[derive(Clone, Debug)]
pub struct Dot {
    pub believed: f64,
    pub found: f64,
    /// Where the truth lies, 95 times in a hundred.
    pub range: (f64, f64),
    pub samples: u64,
}

/// `None` without a dot.
pub fn calibration(dots: &[Dot]) -> Option<Svg> {
    if dots.is_empty() {
        return None;
    }
    let all = dots.iter().flat_map(|dot| [dot.believed, dot.found, dot.range.0, dot.range.1]);
    let scale = Scale::round(all, (0.0, 1.0));
    let y = |share: f64| ABOVE + (1.0 - scale.share(share)) * (BASE - ABOVE);
    let x = |share: f64| percent(scale.share(share) * 100.0);
    let ticks = scale.ticks();
    let shown = |tick: f64| crate::numbers::percent(tick).trim_end_matches(".0").to_owned();
    let mut svg = Svg::new();
    svg.begin(
        "figure",
        &[("class", "chart no-ends".into()), ("role", "group".into()), ("aria-label", "Calibration".into())],
    );
    figures(&mut svg, HEIGHT, ticks.iter().map(|&tick| (y(tick), shown(tick))));
    let says = format!("{} groups of samples: believed against measured", dots.len());
    svg.begin("svg", &[("height", HEIGHT.into()), ("role", "img".into()), ("aria-label", (&says).into())]);
    grid(&mut svg, ticks.iter().map(|&tick| y(tick)));
    let (least, most) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    let diagonal =
        [("class", "bound".into()), ("x1", x(least)), ("x2", x(most)), ("y1", y(least).into()), ("y2", y(most).into())];
    svg.empty("line", &diagonal);
    for dot in dots {
        let (low, high) = dot.range;
        let range = [
            ("class", "lane-same".into()),
            ("x1", x(dot.believed)),
            ("x2", x(dot.believed)),
            ("y1", y(low).into()),
            ("y2", y(high).into()),
        ];
        let point =
            [("class", "pt measured".into()), ("cx", x(dot.believed)), ("cy", y(dot.found).into()), ("r", 3.5.into())];
        svg.empty("line", &range).empty("circle", &point);
    }
    svg.begin("g", &[("class", "axis".into())]);
    svg.empty("line", &[("x1", "0".into()), ("x2", "100%".into()), ("y1", BASE.into()), ("y2", BASE.into())]).end("g");
    for &tick in &ticks {
        svg.word("text", &[("class", "mid-t".into()), ("x", x(tick)), ("y", (BASE + 16.0).into())], &shown(tick));
    }
    svg.end("svg").begin("details", &[]).word("summary", &[], "Figures").begin("table", &[("class", "table".into())]);
    svg.begin("thead", &[]).begin("tr", &[]);
    for name in ["Believed", "Found", "Likely range", "Samples"] {
        svg.word("th", &[("scope", "col".into()), ("class", "num".into())], name);
    }
    svg.end("tr").end("thead").begin("tbody", &[]);
    for dot in dots {
        let in_percent = |share: f64| format!("{} %", crate::numbers::percent(share));
        let range = format!("{} to {}", in_percent(dot.range.0), in_percent(dot.range.1));
        svg.begin("tr", &[]);
        for cell in [in_percent(dot.believed), in_percent(dot.found), range, dot.samples.to_string()] {
            svg.word("td", &[("class", "num".into())], &cell);
        }
        svg.end("tr");
    }
    svg.end("tbody").end("table").end("details").end("figure");
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_of_samples_is_a_dot_and_a_row() {
        let dot = |believed| Dot { believed, found: 0.9, range: (0.8, 0.95), samples: 60 };
        let drawn = calibration(&[dot(0.92), dot(0.7)]).unwrap().to_string();
        assert_eq!((drawn.matches("<circle").count(), drawn.matches("<tr>").count()), (2, 3));
        assert!(calibration(&[]).is_none());
    }
}
