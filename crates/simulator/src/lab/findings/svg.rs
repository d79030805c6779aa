//! A chart as SVG: axes, lines, points with their intervals, and names beside it. Colours come from a style sheet that
//! knows light and dark; nothing is fetched from anywhere.

use std::fmt::Write;

use crate::lab::statistics::Interval;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 330.0;
/// Names beside the chart at most; more would run over its edge.
const NAMES_MAX: usize = 18;
pub(super) const NAME_LETTERS_MAX: usize = 26;
/// Decimal places of a mark at most; axes whose marks differ by less are of no use to anybody.
const PLACES_MAX: usize = 12;
/// Colours there are; they come round again.
pub(super) const COLOURS: usize = 10;

/// The style of every chart: the page's own has it once, a file of its own carries it.
pub(in crate::lab) const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b2a1f;--soft:#5a6b5e;--rule:#dde8dc;--paper:#fbfdf9}\
@media(prefers-color-scheme:dark){:root{--ink:#e3ece4;--soft:#9db0a1;--rule:#2f3b32;--paper:#141a16}}\
.plot{font:12px system-ui,sans-serif;max-width:100%;height:auto}.plot text{fill:var(--ink,#1b2a1f)}.plot .soft{fill:var(--soft,#5a6b5e)}\
.plot .rule{stroke:var(--rule,#dde8dc);stroke-width:1}.plot .axis{stroke:var(--soft,#5a6b5e);stroke-width:1}\
.plot path{fill:none;stroke-width:2;stroke-linejoin:round}.plot .reach{stroke-width:1.5}.plot .dash{stroke-dasharray:5 4}\
.s0{stroke:#2f7d4f}.s1{stroke:#c2571a}.s2{stroke:#2a6fb0}.s3{stroke:#8a4fbf}.s4{stroke:#a8871b}.s5{stroke:#c23a5e}.s6{stroke:#1c8f93}.s7{stroke:#6b6f2a}.s8{stroke:#7a5a44}.s9{stroke:#767f8a}\
.f0{fill:#2f7d4f}.f1{fill:#c2571a}.f2{fill:#2a6fb0}.f3{fill:#8a4fbf}.f4{fill:#a8871b}.f5{fill:#c23a5e}.f6{fill:#1c8f93}.f7{fill:#6b6f2a}.f8{fill:#7a5a44}.f9{fill:#767f8a}\
@media(prefers-color-scheme:dark){.s0{stroke:#63c98b}.s1{stroke:#f0945a}.s2{stroke:#6fb1ec}.s3{stroke:#c094f0}.s4{stroke:#dcbf5c}.s5{stroke:#f2809d}.s6{stroke:#5ccfd3}.s7{stroke:#b7bc63}.s8{stroke:#c39f86}.s9{stroke:#aab4bf}\
.f0{fill:#63c98b}.f1{fill:#f0945a}.f2{fill:#6fb1ec}.f3{fill:#c094f0}.f4{fill:#dcbf5c}.f5{fill:#f2809d}.f6{fill:#5ccfd3}.f7{fill:#b7bc63}.f8{fill:#c39f86}.f9{fill:#aab4bf}}";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub label: String,
    /// Tenfold steps are equally far apart.
    pub tenfold: bool,
    /// Marks to show instead of round numbers.
    pub marks: Vec<(f64, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    pub colour: usize,
    pub dashed: bool,
    pub points: Vec<(f64, f64)>,
    /// The interval of each point, if points and not only a line are to be shown.
    pub reach: Vec<(f64, f64)>,
}

impl Series {
    /// Points with their intervals. Of a single trial nothing is known but itself.
    pub fn of(name: &str, colour: usize, across: &[f64], up: &[Interval]) -> Series {
        let reach = |one: &Interval| match one.half() {
            Some(_) => (one.low, one.high),
            None => (one.mean, one.mean),
        };
        Series { reach: up.iter().map(reach).collect(), dashed: false, ..Series::line(name, colour, across, up) }
    }

    /// A dashed line, for what something is to be held against.
    pub fn line(name: &str, colour: usize, across: &[f64], up: &[Interval]) -> Series {
        let points = across.iter().zip(up).map(|(&across, up)| (across, up.mean)).collect();
        Series { name: name.to_owned(), colour, dashed: true, points, reach: Vec::new() }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub title: String,
    pub across: Axis,
    pub up: Axis,
    pub series: Vec<Series>,
}

/// From values to places.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    tenfold: bool,
}

impl Chart {
    /// The chart as part of a page, or as a file that stands alone.
    pub fn draw(&self, alone: bool) -> String {
        let mut svg = String::new();
        let space = if alone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
        let title = escaped(&self.title);
        let _ = write!(
            svg,
            "<svg{space} class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}\">"
        );
        if alone {
            let _ = write!(svg, "<style>{STYLE}</style>");
        }
        let _ = write!(svg, "<title>{title}</title><text x=\"{LEFT}\" y=\"20\" font-weight=\"600\">{title}</text>");
        let points = || self.series.iter().flat_map(|series| &series.points);
        let reaches = || self.series.iter().flat_map(|series| &series.reach);
        let across = Scale::over(points().map(|point| point.0), LEFT, RIGHT, self.across.tenfold);
        let heights = points().map(|point| point.1).chain(reaches().flat_map(|&(low, high)| [low, high]));
        let up = Scale::over(heights, BOTTOM, TOP, self.up.tenfold);
        self.axes(&mut svg, &across, &up);
        for series in &self.series {
            series.draw(&mut svg, &across, &up);
        }
        self.names(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    fn axes(&self, svg: &mut String, across: &Scale, up: &Scale) {
        for (value, text) in marks(&self.up, up) {
            let y = up.place(value);
            let _ = write!(svg, "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            let _ = write!(
                svg,
                "<text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escaped(&text)
            );
        }
        for (value, text) in marks(&self.across, across) {
            let x = across.place(value);
            let _ = write!(
                svg,
                "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{BOTTOM}\" y2=\"{}\"/>",
                BOTTOM + 4.0
            );
            let _ = write!(
                svg,
                "<text class=\"soft\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 17.0,
                escaped(&text)
            );
        }
        let _ = write!(svg, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>");
        let (middle, low) = ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0);
        let _ = write!(
            svg,
            "<text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">{}</text>",
            escaped(&self.across.label)
        );
        let height = (TOP + BOTTOM) / 2.0;
        let _ = write!(
            svg,
            "<text transform=\"translate(14 {height}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(&self.up.label)
        );
    }

    fn names(&self, svg: &mut String) {
        for (place, series) in self.series.iter().filter(|series| !series.name.is_empty()).take(NAMES_MAX).enumerate() {
            let (y, x) = (TOP + 8.0 + 16.0 * place as f64, RIGHT + 18.0);
            let (colour, dash) = (series.colour % COLOURS, if series.dashed { " dash" } else { "" });
            let _ = write!(svg, "<path class=\"s{colour}{dash}\" d=\"M{x} {y}h20\"/>");
            let name: String = series.name.chars().take(NAME_LETTERS_MAX).collect();
            let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 26.0, y + 4.0, escaped(&name));
        }
    }
}

impl Series {
    fn draw(&self, svg: &mut String, across: &Scale, up: &Scale) {
        let colour = self.colour % COLOURS;
        let places: Vec<(f64, f64)> = self
            .points
            .iter()
            .map(|&(x, y)| (across.place(x), up.place(y)))
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect();
        if places.len() > 1 {
            let dash = if self.dashed { " dash" } else { "" };
            let mut line = String::new();
            for (place, (x, y)) in places.iter().enumerate() {
                let _ = write!(line, "{}{x:.1} {y:.1}", if place == 0 { 'M' } else { 'L' });
            }
            let _ = write!(svg, "<path class=\"s{colour}{dash}\" d=\"{line}\"/>");
        }
        for (&(x, _), &(low, high)) in self.points.iter().zip(&self.reach) {
            let (x, low, high) = (across.place(x), up.place(low), up.place(high));
            if [x, low, high].iter().all(|place| place.is_finite()) {
                let _ = write!(svg, "<path class=\"s{colour} reach\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
            }
        }
        if places.len() == 1 || !self.reach.is_empty() {
            for (x, y) in &places {
                let _ = write!(svg, "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>");
            }
        }
    }
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64, tenfold: bool) -> Scale {
        let fits = |value: &f64| value.is_finite() && (!tenfold || *value > 0.0);
        let (low, high) = values
            .filter(fits)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let (low, high) = match tenfold {
            true => ((low.max(1e-12) / 1.15).ln(), (high.max(1e-12) * 1.15).ln()),
            false => {
                let room = if high > low { (high - low) * 0.06 } else { low.abs().max(1.0) * 0.05 };
                (low - room, high + room)
            }
        };
        Scale { low, high, from, to, tenfold }
    }

    fn place(&self, value: f64) -> f64 {
        let value = match self.tenfold {
            true if value <= 0.0 => return f64::NAN,
            true => value.ln(),
            false => value,
        };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }
}

/// Where the axis is marked: as it says, at tenfold steps, or at some five round numbers.
fn marks(axis: &Axis, scale: &Scale) -> Vec<(f64, String)> {
    if !axis.marks.is_empty() {
        return axis.marks.clone();
    }
    if scale.tenfold {
        let power = |value: f64| (value / std::f64::consts::LN_10).floor() as i32;
        let within = |value: &f64| value.ln() >= scale.low && value.ln() <= scale.high;
        let at = |steps: &[f64]| -> Vec<f64> {
            let powers = power(scale.low)..=power(scale.high);
            powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power))).filter(within).collect()
        };
        // Few tenfold steps are told apart by twos and fives.
        let tens = at(&[1.0]);
        let values = if tens.len() > 2 { tens } else { at(&[1.0, 2.0, 5.0]) };
        return values.into_iter().map(|value| (value, format!("{}", (value * 1e9).round() / 1e9))).collect();
    }
    let raw = (scale.high - scale.low) / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= raw).unwrap_or(raw);
    let places = places_of(step);
    let first = (scale.low / step).ceil() as i64;
    (0..12)
        .map(|number| (first + number) as f64 * step)
        .take_while(|&value| value <= scale.high)
        .map(|value| (value, format!("{value:.places$}")))
        .collect()
}

/// The places that tell every multiple of a step: one for steps of 2.5.
fn places_of(step: f64) -> usize {
    let is_whole = |places: &usize| {
        let scaled = step * 10f64.powi(*places as i32);
        scaled >= 0.5 && (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..PLACES_MAX).find(is_whole).unwrap_or(PLACES_MAX)
}

/// Names of worlds and policies come from files and command lines.
pub(in crate::lab) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_lies_within_the_frame_and_no_name_becomes_markup() {
        let points = vec![(1.0, 0.2), (10.0, 0.9), (100.0, 0.4)];
        let series = Series { name: "<b>&".into(), reach: vec![(0.1, 0.3); 3], points, ..Series::default() };
        let axis = Axis { label: "x".into(), tenfold: true, ..Axis::default() };
        let chart = Chart { title: "a \"b\"".into(), across: axis, up: Axis::default(), series: vec![series] };
        let svg = chart.draw(true);
        assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains("<b>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!chart.draw(false).contains("http"));
    }

    #[test]
    fn an_axis_is_marked_at_round_numbers() {
        let scale = Scale::over([0.0, 1.0].into_iter(), 0.0, 100.0, false);
        let told: Vec<String> = marks(&Axis::default(), &scale).into_iter().map(|(_, text)| text).collect();
        assert_eq!(told, ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        for (high, expected) in [
            (10.0, ["0.0", "2.5", "5.0", "7.5", "10.0"]),
            (100.0, ["0", "25", "50", "75", "100"]),
            (0.01, ["0.0000", "0.0025", "0.0050", "0.0075", "0.0100"]),
        ] {
            let scale = Scale::over([0.0, high].into_iter(), 0.0, 100.0, false);
            let told: Vec<String> = marks(&Axis::default(), &scale).into_iter().map(|(_, text)| text).collect();
            assert_eq!(told, expected);
        }
        assert!(Chart::default().draw(false).ends_with("</svg>"));
    }
}
