//! Lines over time, or over anything else, with a band of uncertainty, names at their ends, and the figures in a table.

use super::scale::{Scale, time_ticks};
use super::svg::{Svg, path, percent};

/// Points of one line; the server of the figures thins them already.
const POINTS_MAX: usize = 400;
/// Rows of the table below.
const ROWS_MAX: usize = 60;
/// Room above the plot, and below it for the axis.
const ABOVE: f64 = 10.0;
const BELOW: f64 = 24.0;
/// Names at the ends of lines stand at least so far apart.
const NAME_HEIGHT: f64 = 17.0;

/// One line. `class` is a series of the style sheet: `believed`, `measured`, `bound`.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: &'static str,
    pub class: &'static str,
    pub points: Vec<(f64, Option<f64>)>,
    /// From and until, for each point that has them.
    pub band: Vec<(f64, f64, f64)>,
}

/// Lines of figures that are shares, shown in percent.
#[derive(Clone, Debug)]
pub struct Lines {
    pub name: &'static str,
    /// What the drawing shows, in a sentence.
    pub says: String,
    pub height: f64,
    pub from: f64,
    pub until: f64,
    pub lines: Vec<Line>,
}

impl Line {
    pub fn new(name: &'static str, class: &'static str, points: Vec<(f64, Option<f64>)>) -> Line {
        Line { name, class, points: thinned(points), band: Vec::new() }
    }

    fn last(&self) -> Option<f64> {
        self.points.iter().rev().find_map(|(_, value)| *value)
    }
}

/// Leaves the least and the greatest of each group of neighbours.
fn thinned(points: Vec<(f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    if points.len() <= POINTS_MAX {
        return points;
    }
    let size = points.len().div_ceil(POINTS_MAX / 2);
    let mut left = Vec::new();
    for group in points.chunks(size) {
        let known = || group.iter().filter(|(_, value)| value.is_some());
        let least = known().min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal));
        let greatest = known().max_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal));
        let mut pair: Vec<_> = [least, greatest].into_iter().flatten().copied().collect();
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        pair.dedup();
        left.extend(pair);
    }
    left
}

impl Lines {
    /// Whether there is a line to see: two points of one.
    pub fn is_drawn(&self) -> bool {
        self.lines.iter().any(|line| line.points.iter().filter(|(_, value)| value.is_some()).count() > 1)
    }

    pub fn svg(&self) -> Svg {
        let scale = self.scale();
        let base = self.height - BELOW;
        let y = |value: f64| ABOVE + (1.0 - scale.share(value)) * (base - ABOVE);
        let mut svg = Svg::new();
        svg.begin("figure", &[("class", "chart".into()), ("role", "group".into()), ("aria-label", self.name.into())]);
        figures(&mut svg, self.height, scale.ticks().iter().map(|&tick| (y(tick), in_percent(tick))));
        let label: &[_] =
            &[("height", self.height.into()), ("role", "img".into()), ("aria-label", (&self.says).into())];
        svg.begin("svg", label);
        grid(&mut svg, scale.ticks().into_iter().map(y));
        svg.add(&plot(base - ABOVE, &self.shapes(&scale, base - ABOVE)));
        time_axis(&mut svg, base, self.from, self.until);
        svg.end("svg");
        self.ends(&mut svg, y);
        self.legend(&mut svg);
        self.table(&mut svg);
        svg.end("figure");
        svg
    }

    fn scale(&self) -> Scale {
        let values = self.lines.iter().flat_map(|line| line.points.iter().filter_map(|(_, value)| *value));
        let bands = self.lines.iter().flat_map(|line| &line.band).map(|(_, low, _)| *low);
        // A wide band of the first samples would press the lines together.
        let least = values.clone().fold(1.0, f64::min);
        Scale::round(values.chain(bands.filter(|low| *low > least - 0.1)), (0.0, 1.0))
    }

    fn shapes(&self, scale: &Scale, height: f64) -> Svg {
        let x = |at: f64| (at - self.from) / (self.until - self.from).max(1.0) * 1_000.0;
        let y = |value: f64| (1.0 - scale.share(value)) * height;
        let mut shapes = Svg::new();
        for line in self.lines.iter().filter(|line| line.band.len() > 1) {
            let there = line.band.iter().map(|(at, low, _)| Some((x(*at), y(*low))));
            let back = line.band.iter().rev().map(|(at, _, high)| Some((x(*at), y(*high))));
            shapes.empty("path", &[("class", "band".into()), ("d", (&(path(there.chain(back)) + "Z")).into())]);
        }
        for line in &self.lines {
            let points = line.points.iter().map(|(at, value)| value.map(|value| (x(*at), y(value))));
            shapes.empty("path", &[("class", line.class.into()), ("d", (&path(points)).into())]);
        }
        shapes
    }

    fn ends(&self, svg: &mut Svg, y: impl Fn(f64) -> f64) {
        let named = self.lines.iter().filter_map(|line| line.last().map(|last| (line, y(last), last)));
        let names = named.map(|(line, at, last)| (at, line.class, in_percent(last), line.name)).collect();
        ends(svg, self.height, names);
    }

    fn legend(&self, svg: &mut Svg) {
        svg.begin("p", &[("class", "legend".into())]);
        for line in &self.lines {
            svg.begin("span", &[]);
            svg.begin("svg", &[("width", 16.0.into()), ("height", 8.0.into()), ("aria-hidden", "true".into())]);
            svg.empty("path", &[("class", line.class.into()), ("d", "M0,4L16,4".into())]).end("svg").text(line.name);
            svg.text(" ").word("b", &[], &line.last().map_or("–".into(), in_percent)).end("span");
        }
        svg.end("p");
    }

    fn table(&self, svg: &mut Svg) {
        let mut moments: Vec<f64> = self.lines.iter().flat_map(|line| line.points.iter().map(|(at, _)| *at)).collect();
        moments.sort_by(f64::total_cmp);
        moments.dedup();
        let every = moments.len().div_ceil(ROWS_MAX).max(1);
        let rows = moments.iter().rev().step_by(every).map(|&at| {
            let value = |line: &Line| {
                let found = line.points.iter().find(|(own, _)| *own == at).and_then(|(_, value)| *value);
                found.map_or("–".into(), in_percent)
            };
            let time = crate::times::written(at, "%-d %b %H:%M");
            std::iter::once(time).chain(self.lines.iter().map(value)).collect()
        });
        let heads: Vec<String> = self.lines.iter().map(|line| format!("{}, %", line.name)).collect();
        numbers(svg, std::iter::once("Time".to_owned()).chain(heads), rows);
    }
}

fn in_percent(share: f64) -> String {
    let shown = crate::numbers::percent(share);
    shown.strip_suffix(".0").map(str::to_owned).unwrap_or(shown)
}

/// The figures at the left of a plot.
pub(super) fn figures(svg: &mut Svg, height: f64, ticks: impl Iterator<Item = (f64, String)>) {
    svg.begin("svg", &[("height", height.into()), ("aria-hidden", "true".into())]);
    for (y, words) in ticks {
        svg.word("text", &[("class", "end".into()), ("x", 34.0.into()), ("y", (y + 4.0).into())], &words);
    }
    svg.end("svg");
}

pub(super) fn grid(svg: &mut Svg, ys: impl Iterator<Item = f64>) {
    svg.begin("g", &[("class", "grid".into())]);
    for y in ys {
        svg.empty("line", &[("x1", 0.0.into()), ("x2", "100%".into()), ("y1", y.into()), ("y2", y.into())]);
    }
    svg.end("g");
}

/// Shapes that stretch over the width.
pub(super) fn plot(height: f64, shapes: &Svg) -> Svg {
    let mut svg = Svg::new();
    let view = format!("0 0 1000 {height}");
    let stretched: &[_] = &[
        ("x", 0.0.into()),
        ("y", ABOVE.into()),
        ("width", "100%".into()),
        ("height", height.into()),
        ("viewBox", (&view).into()),
        ("preserveAspectRatio", "none".into()),
        ("overflow", "hidden".into()),
    ];
    svg.begin("svg", stretched).add(shapes).end("svg");
    svg
}

pub(super) fn time_axis(svg: &mut Svg, base: f64, from: f64, until: f64) {
    let ticks = time_ticks(from, until);
    let part = |at: f64| (at - from) / (until - from).max(1.0) * 100.0;
    svg.begin("g", &[("class", "axis".into())]);
    svg.empty("line", &[("x1", 0.0.into()), ("x2", "100%".into()), ("y1", base.into()), ("y2", base.into())]);
    for (at, _) in &ticks {
        let x = || percent(part(*at));
        svg.empty("line", &[("x1", x()), ("x2", x()), ("y1", base.into()), ("y2", (base + 4.0).into())]);
    }
    svg.end("g");
    // A word at the very edge would be cut off.
    for (at, words) in ticks.iter().filter(|(at, _)| (3.0..=97.0).contains(&part(*at))) {
        let place = [("class", "mid-t".into()), ("x", percent(part(*at))), ("y", (base + 16.0).into())];
        svg.word("text", &place, words);
    }
}

/// Names at the ends of lines: where, whose class, the figure, the name. They are moved apart where they would overlap.
pub(super) fn ends(svg: &mut Svg, height: f64, mut names: Vec<(f64, &'static str, String, &'static str)>) {
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    svg.begin("svg", &[("class", "ends".into()), ("height", height.into()), ("aria-hidden", "true".into())]);
    let mut free = 8.0;
    let mut below = height - BELOW - NAME_HEIGHT * names.len() as f64 + NAME_HEIGHT;
    for (y, class, figure, name) in names {
        let at = y.min(below).max(free);
        (free, below) = (at + NAME_HEIGHT, below + NAME_HEIGHT);
        let lead = format!("M1,{}L7,{}", super::svg::rounded(y), super::svg::rounded(at));
        svg.empty("path", &[("class", "lead-line".into()), ("d", (&lead).into())]);
        let class = format!("t-{class}");
        svg.begin("text", &[("class", (&class).into()), ("x", 11.0.into()), ("y", (at + 4.5).into())]);
        svg.word("tspan", &[("class", "v".into())], &figure).text(" ").text(name).end("text");
    }
    svg.end("svg");
}

/// The figures of a drawing as a table that opens.
pub(super) fn numbers(svg: &mut Svg, heads: impl Iterator<Item = String>, rows: impl Iterator<Item = Vec<String>>) {
    svg.begin("details", &[]).word("summary", &[], "Numbers");
    let scroll = [
        ("class", "scroll".into()),
        ("tabindex", "0".into()),
        ("role", "region".into()),
        ("aria-label", "Numbers".into()),
    ];
    svg.begin("div", &scroll).begin("table", &[("class", "table".into())]).begin("thead", &[]).begin("tr", &[]);
    for head in heads {
        svg.word("th", &[("scope", "col".into())], &head);
    }
    svg.end("tr").end("thead").begin("tbody", &[]);
    for row in rows {
        svg.begin("tr", &[]);
        for cell in row {
            svg.word("td", &[], &cell);
        }
        svg.end("tr");
    }
    svg.end("tbody").end("table").end("div").end("details");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_least_and_the_greatest() {
        let points = (0..10_000).map(|at| (f64::from(at), Some(if at == 5_001 { 9.0 } else { 0.5 }))).collect();
        let left = thinned(points);
        assert!(left.len() <= POINTS_MAX, "{}", left.len());
        assert!(left.iter().any(|(at, value)| *at == 5_001.0 && *value == Some(9.0)));
    }

    #[test]
    fn names_at_the_ends_of_lines_do_not_overlap() {
        let mut svg = Svg::new();
        ends(
            &mut svg,
            200.0,
            vec![(50.0, "a", "1".into(), "one"), (51.0, "b", "2".into(), "two"), (175.0, "c", "3".into(), "three")],
        );
        let drawn = svg.to_string();
        let ys: Vec<f64> =
            drawn.split("x=\"11\" y=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
        assert!(ys.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 0.1) && ys[2] < 200.0, "{ys:?}");
    }
}
