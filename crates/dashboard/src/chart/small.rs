//! Drawings within a line of text: the strip of kinds, the bar of magnitude, sparklines and meters.

use super::svg::{Svg, percent, rounded};
use crate::answers::Change;

/// The four kinds at their places: a letter where something is left, a ring where it was set aside, a dot where nothing was.
pub fn kinds(change: &Change) -> Svg {
    const KINDS: [(&str, &str, &str); 4] = [
        ("content", "C", "c-on"),
        ("structure", "S", "s-on"),
        ("presentation", "P", "p-on"),
        ("behaviour", "B", "b-on"),
    ];
    let is_left = |kind: &str| change.left.iter().any(|own| own == kind);
    let is_aside = |kind: &str| !is_left(kind) && change.kinds.iter().any(|own| own == kind);
    let told = KINDS.iter().filter_map(|(kind, ..)| match () {
        () if is_left(kind) => Some((*kind).to_owned()),
        () if is_aside(kind) => Some(format!("{kind} set aside")),
        () => None,
    });
    let told: Vec<String> = told.collect();
    let label = if told.is_empty() { "no kind of change".to_owned() } else { told.join(", ") };
    let mut svg = Svg::new();
    let frame = [
        ("class", "kinds".into()),
        ("width", 66.0.into()),
        ("height", 15.0.into()),
        ("role", "img".into()),
        ("aria-label", (&label).into()),
    ];
    svg.begin("svg", &frame);
    for (place, (kind, letter, class)) in KINDS.iter().enumerate() {
        let x = 17.0 * place as f64;
        if is_left(kind) {
            svg.begin("g", &[("class", (*class).into())]);
            svg.empty("rect", &[("x", x.into()), ("width", 15.0.into()), ("height", 15.0.into()), ("rx", 3.0.into())]);
            svg.word("text", &[("x", (x + 7.5).into()), ("y", 11.0.into())], letter).end("g");
        } else {
            let (class, radius) = if is_aside(kind) { ("aside", 2.5) } else { ("off", 1.5) };
            svg.begin("g", &[("class", class.into())]);
            svg.empty("circle", &[("cx", (x + 7.5).into()), ("cy", 7.5.into()), ("r", radius.into())]).end("g");
        }
    }
    svg.end("svg");
    svg
}

/// The square root of it, so that small changes are seen.
pub fn magnitude(magnitude: f64) -> Svg {
    const WIDTH: f64 = 52.0;
    let label = format!("magnitude {magnitude:.2}");
    let fill = magnitude.clamp(0.0, 1.0).sqrt() * WIDTH;
    let mut svg = bar("mag", (WIDTH, 5.0), &label);
    let place = |class: &'static str, width: f64| {
        [("class", class.into()), ("width", width.into()), ("height", 5.0.into()), ("rx", 2.5.into())]
    };
    svg.empty("rect", &place("track", WIDTH)).empty("rect", &place("fill", fill)).end("svg");
    svg
}

/// A share of a whole.
pub fn meter(share: f64, label: &str, is_warning: bool) -> Svg {
    const WIDTH: f64 = 100.0;
    let class = if is_warning { "fill warn" } else { "fill" };
    let mut svg = bar("meter", (WIDTH, 8.0), label);
    let place = |class: &'static str, width: f64| {
        [("class", class.into()), ("width", width.into()), ("height", 8.0.into()), ("rx", 2.0.into())]
    };
    svg.empty("rect", &place("track", WIDTH)).empty("rect", &place(class, share.clamp(0.0, 1.0) * WIDTH)).end("svg");
    svg
}

fn bar(class: &'static str, (width, height): (f64, f64), label: &str) -> Svg {
    let mut svg = Svg::new();
    let frame = [
        ("class", class.into()),
        ("width", width.into()),
        ("height", height.into()),
        ("role", "img".into()),
        ("aria-label", label.into()),
    ];
    svg.begin("svg", &frame);
    svg
}

/// Bars over equal times, the latest last.
pub fn spark(amounts: &[f64], label: &str) -> Svg {
    const HEIGHT: f64 = 20.0;
    let most = amounts.iter().copied().fold(0.0, f64::max);
    let room = 100.0 / amounts.len().max(1) as f64;
    let mut svg = Svg::new();
    let frame = [
        ("class", "spark".into()),
        ("width", 110.0.into()),
        ("height", HEIGHT.into()),
        ("viewBox", "0 0 100 20".into()),
        ("preserveAspectRatio", "none".into()),
        ("role", "img".into()),
        ("aria-label", label.into()),
    ];
    svg.begin("svg", &frame);
    for (place, &amount) in amounts.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
        let tall = amount / most * HEIGHT;
        let shape = [
            ("x", rounded(room * place as f64 + room * 0.08).into()),
            ("y", (HEIGHT - tall).into()),
            ("width", (room * 0.84).into()),
            ("height", tall.into()),
        ];
        svg.empty("rect", &shape);
    }
    svg.end("svg");
    svg
}

/// From when to when something stood there, of all the time that is looked at; both ends are shares of it.
pub fn life(from: f64, until: f64, is_gone: bool, label: &str) -> Svg {
    let mut svg = bar("life-bar", (110.0, 8.0), label);
    let (from, until) = (from.clamp(0.0, 1.0), until.clamp(0.0, 1.0));
    let place = |class: &'static str, x: f64, width: f64| {
        [
            ("class", class.into()),
            ("x", percent(x * 100.0)),
            ("width", percent(width * 100.0)),
            ("y", 2.0.into()),
            ("height", 4.0.into()),
        ]
    };
    svg.empty("rect", &place("all", 0.0, 1.0)).empty("rect", &place("held", from, (until - from).max(0.01)));
    if is_gone {
        let cut =
            [("class", "cut-at".into()), ("x", percent(until * 99.0)), ("width", 2.0.into()), ("height", 8.0.into())];
        svg.empty("rect", &cut);
    }
    svg.end("svg");
    svg
}

/// A bar of parts of a whole, each with a class of its own.
pub fn spans(parts: &[f64], label: &str) -> Svg {
    let whole: f64 = parts.iter().sum();
    let mut svg = Svg::new();
    svg.begin("svg", &[("class", "disk-bar".into()), ("role", "img".into()), ("aria-label", label.into())]);
    let mut from = 0.0;
    for (place, &part) in parts.iter().enumerate() {
        let width = crate::numbers::part(part, whole);
        let class = format!("f-{}", place + 1);
        let shape = [
            ("class", (&class).into()),
            ("x", percent(from)),
            ("width", percent((width - 0.3).max(0.2))),
            ("height", 10.0.into()),
            ("rx", 2.0.into()),
        ];
        svg.empty("rect", &shape);
        from += width;
    }
    svg.end("svg");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strip_says_in_words_what_it_draws() {
        let change = Change {
            kinds: vec!["content".into(), "behaviour".into()],
            left: vec!["content".into()],
            ..Change::default()
        };
        let drawn = kinds(&change).to_string();
        assert!(drawn.contains("aria-label=\"content, behaviour set aside\""), "{drawn}");
        assert_eq!((drawn.matches("class=\"off\"").count(), drawn.matches("class=\"aside\"").count()), (2, 1));
    }

    #[test]
    fn a_magnitude_fills_the_square_root_of_the_bar() {
        assert!(magnitude(0.25).to_string().contains("class=\"fill\" width=\"26\""));
        assert!(magnitude(7.0).to_string().contains("class=\"fill\" width=\"52\""));
    }
}
