//! Freshness for each budget, with the one in force and one that is chosen.

use super::lines::{figures, grid, plot};
use super::scale::Scale;
use super::svg::{Svg, path, percent};

const HEIGHT: f64 = 168.0;
const ABOVE: f64 = 10.0;
const BASE: f64 = 144.0;

pub struct Budgets {
    /// In rising order.
    pub names: Vec<String>,
    pub visits: Vec<u64>,
    pub shares: Vec<f64>,
    pub now: usize,
    pub chosen: usize,
}

impl Budgets {
    /// The square root of the visits, so that small budgets have room.
    fn x(&self, place: usize) -> f64 {
        let most = self.visits.iter().copied().max().unwrap_or(1).max(1) as f64;
        (self.visits[place] as f64 / most).sqrt() * 100.0
    }

    pub fn svg(&self) -> Svg {
        let scale = Scale::round(self.shares.iter().copied(), (0.0, 1.0));
        let y = |share: f64| ABOVE + (1.0 - scale.share(share)) * (BASE - ABOVE);
        let mut svg = Svg::new();
        let frame = [
            ("class", "chart no-ends".into()),
            ("role", "group".into()),
            ("aria-label", "Freshness for each budget".into()),
        ];
        svg.begin("figure", &frame);
        let ticks = scale.ticks();
        let shown = |tick: f64| crate::numbers::percent(tick).trim_end_matches(".0").to_owned();
        figures(&mut svg, HEIGHT, ticks.iter().map(|&tick| (y(tick), shown(tick))));
        let says = "Freshness in percent for each budget, from the plan";
        svg.begin("svg", &[("height", HEIGHT.into()), ("role", "img".into()), ("aria-label", says.into())]);
        grid(&mut svg, ticks.iter().map(|&tick| y(tick)));
        let points =
            self.shares.iter().enumerate().map(|(place, &share)| Some((self.x(place) * 10.0, y(share) - ABOVE)));
        let mut line = Svg::new();
        line.empty("path", &[("class", "believed".into()), ("d", (&path(points)).into())]);
        svg.add(&plot(BASE - ABOVE, &line));
        self.points(&mut svg, y);
        self.axis(&mut svg);
        svg.end("svg");
        self.table(&mut svg, y);
        svg.end("figure");
        svg
    }

    fn points(&self, svg: &mut Svg, y: impl Fn(f64) -> f64) {
        let x = || percent(self.x(self.now));
        let at = y(self.shares[self.now]);
        svg.empty(
            "line",
            &[("class", "here".into()), ("x1", x()), ("x2", x()), ("y1", at.into()), ("y2", BASE.into())],
        );
        svg.empty("circle", &[("class", "pt believed".into()), ("cx", x()), ("cy", at.into()), ("r", 3.5.into())]);
        // At the right edge the word stands before its line.
        let (class, aside) = if self.x(self.now) > 85.0 { ("end", -1.5) } else { ("", 1.5) };
        let x = percent(self.x(self.now) + aside);
        svg.word("text", &[("class", class.into()), ("x", x), ("y", 136.0.into())], "now");
        let dot = [
            ("class", "pt believed".into()),
            ("data-dot", "".into()),
            ("cx", percent(self.x(self.chosen))),
            ("cy", y(self.shares[self.chosen]).into()),
            ("r", 5.0.into()),
        ];
        svg.empty("circle", &dot);
    }

    fn axis(&self, svg: &mut Svg) {
        svg.begin("g", &[("class", "axis".into())]);
        svg.empty("line", &[("x1", 0.0.into()), ("x2", "100%".into()), ("y1", BASE.into()), ("y2", BASE.into())]);
        svg.end("g");
        let last = self.names.len() - 1;
        let mut free = 0.0;
        for place in [1, self.now, self.chosen, last].into_iter().filter(|place| *place <= last) {
            let x = self.x(place);
            if x < free {
                continue;
            }
            free = x + 14.0;
            let (class, x) = if place == last { ("end", 100.0) } else { ("mid-t", x) };
            let name = self.names[place].split('/').next().unwrap_or_default();
            svg.word("text", &[("class", class.into()), ("x", percent(x)), ("y", 160.0.into())], name);
        }
    }

    /// The figures, from which the slider reads.
    fn table(&self, svg: &mut Svg, y: impl Fn(f64) -> f64) {
        svg.begin("details", &[]).word("summary", &[], "Numbers");
        let now = self.now.to_string();
        svg.begin("table", &[("class", "table".into()), ("data-now", (&now).into())]);
        svg.begin("thead", &[]).begin("tr", &[]);
        for head in ["Budget", "Visits a day", "Freshness, %"] {
            svg.word("th", &[("scope", "col".into())], head);
        }
        svg.end("tr").end("thead").begin("tbody", &[]);
        for (place, name) in self.names.iter().enumerate() {
            let (x, top) = (format!("{:.2}", self.x(place)), format!("{:.1}", y(self.shares[place])));
            svg.begin("tr", &[("data-x", (&x).into()), ("data-y", (&top).into())]).word("td", &[], name);
            svg.word("td", &[], &crate::numbers::count(self.visits[place]));
            svg.word("td", &[], &crate::numbers::percent(self.shares[place])).end("tr");
        }
        svg.end("tbody").end("table").end("details");
    }
}
