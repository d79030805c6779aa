//! Bars over time, each made of layers: where the visits went.

use super::lines::{ends, figures, grid, numbers, plot, time_axis};
use super::scale::Scale;
use super::svg::Svg;

const ABOVE: f64 = 10.0;
const BELOW: f64 = 24.0;
/// The share of its place that a bar fills.
const FILLED: f64 = 0.86;

/// What one kind of layer is called, with its class of the style sheet.
#[derive(Clone, Debug)]
pub struct Layer {
    pub name: &'static str,
    pub class: &'static str,
    /// The class of its name.
    pub ink: &'static str,
}

/// When a bar begins, and the amounts of its layers, the lowest first.
#[derive(Clone, Debug)]
pub struct Bar {
    pub begins: f64,
    pub amounts: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Stacked {
    pub name: &'static str,
    pub says: String,
    pub height: f64,
    pub from: f64,
    pub until: f64,
    pub layers: Vec<Layer>,
    pub bars: Vec<Bar>,
}

impl Stacked {
    pub fn svg(&self) -> Svg {
        let base = self.height - BELOW;
        let most = self.bars.iter().map(|bar| bar.amounts.iter().sum::<f64>()).fold(0.0, f64::max);
        let scale = Scale::round([0.0, most].into_iter(), (0.0, f64::INFINITY));
        let y = |amount: f64| ABOVE + (1.0 - scale.share(amount)) * (base - ABOVE);
        let mut svg = Svg::new();
        svg.begin("figure", &[("class", "chart".into()), ("role", "group".into()), ("aria-label", self.name.into())]);
        let ticks = scale.ticks();
        let shown =
            |tick: f64| if tick.fract() == 0.0 { crate::numbers::count(tick as u64) } else { format!("{tick:.1}") };
        figures(&mut svg, self.height, ticks.iter().map(|&tick| (y(tick), shown(tick))));
        svg.begin(
            "svg",
            &[("height", self.height.into()), ("role", "img".into()), ("aria-label", (&self.says).into())],
        );
        grid(&mut svg, ticks.iter().map(|&tick| y(tick)));
        svg.add(&plot(base - ABOVE, &self.shapes(&scale, base - ABOVE)));
        time_axis(&mut svg, base, self.from, self.until);
        svg.end("svg");
        self.names(&mut svg, y);
        self.table(&mut svg);
        svg.end("figure");
        svg
    }

    fn shapes(&self, scale: &Scale, height: f64) -> Svg {
        let room = 1_000.0 / self.bars.len().max(1) as f64;
        let mut shapes = Svg::new();
        for bar in &self.bars {
            let x = (bar.begins - self.from) / (self.until - self.from).max(1.0) * 1_000.0;
            let mut below = 0.0;
            for (layer, &amount) in self.layers.iter().zip(&bar.amounts).filter(|(_, amount)| **amount > 0.0) {
                let tall = scale.share(below + amount) - scale.share(below);
                let top = (1.0 - scale.share(below + amount)) * height;
                below += amount;
                let place = [
                    ("class", layer.class.into()),
                    ("x", x.into()),
                    ("y", top.into()),
                    ("width", (room * FILLED).into()),
                    ("height", (tall * height).into()),
                ];
                shapes.empty("rect", &place);
            }
        }
        shapes
    }

    /// The share of each layer in all, beside the last bar and in the legend of small screens.
    fn names(&self, svg: &mut Svg, y: impl Fn(f64) -> f64) {
        let all: f64 = self.bars.iter().flat_map(|bar| &bar.amounts).sum();
        let total = |place: usize| self.bars.iter().filter_map(|bar| bar.amounts.get(place)).sum::<f64>();
        let share = |place: usize| format!("{:.0} %", crate::numbers::part(total(place), all));
        let mean = |place: usize| total(place) / self.bars.len().max(1) as f64;
        let mut below = 0.0;
        let mut names = Vec::new();
        for (place, layer) in self.layers.iter().enumerate() {
            names.push((y(below + mean(place) / 2.0), layer.ink, share(place), layer.name));
            below += mean(place);
        }
        ends(svg, self.height, names);
        svg.begin("p", &[("class", "legend".into())]);
        for (place, layer) in self.layers.iter().enumerate() {
            svg.begin("span", &[]);
            svg.begin("svg", &[("width", 10.0.into()), ("height", 10.0.into()), ("aria-hidden", "true".into())]);
            let swatch =
                [("class", layer.class.into()), ("width", 10.0.into()), ("height", 10.0.into()), ("rx", 2.0.into())];
            svg.empty("rect", &swatch).end("svg").text(layer.name).text(" ").word("b", &[], &share(place)).end("span");
        }
        svg.end("p");
    }

    fn table(&self, svg: &mut Svg) {
        let heads = std::iter::once("From".to_owned()).chain(self.layers.iter().map(|layer| layer.name.to_owned()));
        let rows = self.bars.iter().rev().map(|bar| {
            let begins = crate::times::written(bar.begins, "%-d %b %H:%M");
            let amounts = bar.amounts.iter().map(|amount| crate::numbers::count(amount.round() as u64));
            std::iter::once(begins).chain(amounts).collect()
        });
        numbers(svg, heads, rows);
    }
}
