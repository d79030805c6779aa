//! Every visit to a page: dots for changes, ticks for visits that found none, and the two versions that are compared.

use super::lines::{figures, grid, time_axis};
use super::svg::{Svg, percent};

const HEIGHT: f64 = 132.0;
/// Where the axis lies, and where nothing and everything changed.
const BASE: f64 = 108.0;
const NONE_Y: f64 = 82.0;
const ALL_Y: f64 = 30.0;

/// One visit.
#[derive(Clone, Debug)]
pub enum Mark {
    /// The first version.
    First {
        at: f64,
    },
    /// A change between two visits, with its weightiest kind.
    Changed {
        same: f64,
        at: f64,
        kind: &'static str,
        magnitude: f64,
        says: String,
    },
    Noise {
        at: f64,
    },
    Same {
        at: f64,
    },
    Trouble {
        at: f64,
        says: String,
    },
}

#[derive(Clone, Debug)]
pub struct Timeline {
    pub says: String,
    pub from: f64,
    pub until: f64,
    pub marks: Vec<Mark>,
    /// The two versions that are chosen, and the next visit with its words.
    pub chosen: Option<(f64, f64)>,
    pub next: Option<(f64, String)>,
}

impl Timeline {
    fn x(&self, at: f64) -> f64 {
        // The outermost marks stay whole.
        1.0 + (at - self.from) / (self.until - self.from).max(1.0) * 98.0
    }

    pub fn svg(&self) -> Svg {
        let mut svg = Svg::new();
        let frame = [
            ("class", "chart no-ends".into()),
            ("role", "group".into()),
            ("aria-label", "Every visit to this page".into()),
        ];
        svg.begin("figure", &frame);
        let y = |magnitude: f64| NONE_Y - magnitude.clamp(0.0, 1.0).sqrt() * (NONE_Y - ALL_Y);
        figures(
            &mut svg,
            HEIGHT,
            [(0.0, "0"), (0.25, ".25"), (1.0, "1")].map(|(at, words)| (y(at), words.to_owned())).into_iter(),
        );
        svg.begin("svg", &[("height", HEIGHT.into()), ("role", "img".into()), ("aria-label", (&self.says).into())]);
        grid(&mut svg, [0.0, 0.25, 1.0].into_iter().map(y));
        if let Some((from, until)) = self.chosen {
            let (from, until) = (self.x(from), self.x(until));
            let width = percent((until - from).max(0.1));
            let span = [
                ("class", "tl-span".into()),
                ("x", percent(from)),
                ("width", width),
                ("y", 12.0.into()),
                ("height", 96.0.into()),
            ];
            svg.empty("rect", &span);
        }
        self.marks.iter().for_each(|mark| self.mark(&mut svg, mark, y));
        self.handles(&mut svg);
        time_axis(&mut svg, BASE, self.from, self.until);
        svg.end("svg");
        legend(&mut svg);
        svg.end("figure");
        svg
    }

    fn mark(&self, svg: &mut Svg, mark: &Mark, y: impl Fn(f64) -> f64) {
        let tick = |svg: &mut Svg, class: &'static str, at: f64, (from, until): (f64, f64)| {
            let x = || percent(self.x(at));
            svg.empty(
                "line",
                &[("class", class.into()), ("x1", x()), ("x2", x()), ("y1", from.into()), ("y2", until.into())],
            );
        };
        let dot = |svg: &mut Svg, class: &str, at: f64, (y, r): (f64, f64), says: &str| {
            let place = [("class", class.into()), ("cx", percent(self.x(at))), ("cy", y.into()), ("r", r.into())];
            svg.begin("circle", &place).word("title", &[], says).end("circle");
        };
        match mark {
            Mark::First { at } => dot(svg, "tl-dot new", *at, (NONE_Y, 4.0), "first version"),
            Mark::Noise { at } => tick(svg, "lane-noise", *at, (92.0, 103.0)),
            Mark::Same { at } => tick(svg, "lane-same", *at, (95.0, 101.0)),
            Mark::Trouble { at, says } => {
                let place = [("class", "tl-err mid-t".into()), ("x", percent(self.x(*at))), ("y", 102.0.into())];
                svg.begin("text", &place).text("!").word("title", &[], says).end("text");
            }
            Mark::Changed { same, at, kind, magnitude, says } => {
                let (from, until) = (self.x(*same), self.x(*at));
                // The change lies anywhere on this line.
                let bracket = [
                    ("class", "lane-x".into()),
                    ("x1", percent(from)),
                    ("x2", percent(until)),
                    ("y1", 98.0.into()),
                    ("y2", 98.0.into()),
                ];
                svg.empty("line", &bracket);
                tick(svg, "lane-same", *at, (y(*magnitude), 103.0));
                let class = format!("tl-dot {kind}");
                dot(svg, &class, *at, (y(*magnitude), 3.0 + 9.0 * magnitude.clamp(0.0, 1.0).sqrt()), says);
            }
        }
    }

    fn handles(&self, svg: &mut Svg) {
        let line = |svg: &mut Svg, at: f64, (top, class, y, words): (f64, &str, f64, &str)| {
            let x = || percent(self.x(at));
            svg.empty(
                "line",
                &[("class", "here".into()), ("x1", x()), ("x2", x()), ("y1", top.into()), ("y2", BASE.into())],
            );
            let aside = if class.ends_with("end") { -0.5 } else { 0.5 };
            svg.word("text", &[("class", class.into()), ("x", percent(self.x(at) + aside)), ("y", y.into())], words);
        };
        if let Some((from, until)) = self.chosen {
            // Near the right edge both names stand on the left of their lines.
            let is_late = self.x(until) > 94.0;
            let is_near = self.x(until) - self.x(from) < 4.0;
            let from_words = if is_late && is_near { "" } else { "from" };
            line(svg, from, (12.0, "t-ink end", 10.0, from_words));
            let words = if is_late && is_near { "from, to" } else { "to" };
            line(svg, until, (12.0, if is_late { "t-ink end" } else { "t-ink" }, 10.0, words));
        }
        if let Some((at, words)) = &self.next {
            line(svg, *at, (26.0, "t-believed end", 24.0, words));
        }
    }
}

fn legend(svg: &mut Svg) {
    svg.begin("p", &[("class", "legend show".into())]);
    for (class, words) in [
        ("tl-dot", "content"),
        ("tl-dot structure", "structure"),
        ("tl-dot presentation", "presentation"),
        ("tl-dot behaviour", "behaviour"),
    ] {
        svg.begin("span", &[])
            .begin("svg", &[("width", 12.0.into()), ("height", 12.0.into()), ("aria-hidden", "true".into())]);
        svg.empty("circle", &[("class", class.into()), ("cx", 6.0.into()), ("cy", 6.0.into()), ("r", 4.5.into())]);
        svg.end("svg").text(words).end("span");
    }
    for (class, words) in [("lane-noise", "differed only by noise"), ("lane-same", "the same")] {
        svg.begin("span", &[])
            .begin("svg", &[("width", 8.0.into()), ("height", 12.0.into()), ("aria-hidden", "true".into())]);
        let tick =
            [("class", class.into()), ("x1", 4.0.into()), ("x2", 4.0.into()), ("y1", 1.0.into()), ("y2", 11.0.into())];
        svg.empty("line", &tick).end("svg").text(words).end("span");
    }
    svg.word(
        "span",
        &[("class", "faint".into())],
        "height and size: how much changed; the bar below: between which visits",
    );
    svg.end("p");
}
