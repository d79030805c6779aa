//! The writer of elements. Names of elements and attributes are ours; values are escaped.

use std::fmt::{Display, Write};

/// SVG that was written here, and that templates take as it is.
#[derive(Clone, Debug, Default)]
pub struct Svg(String);

impl askama::filters::HtmlSafe for Svg {}

impl Display for Svg {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// A value of an attribute: text, or a figure with at most one place.
pub enum Value<'a> {
    Text(&'a str),
    Number(f64),
    Percent(f64),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Value<'a> {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Value<'a> {
        Value::Text(text)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

pub fn percent(number: f64) -> Value<'static> {
    Value::Percent(number)
}

/// A figure with at most one place.
pub fn rounded(number: f64) -> f64 {
    let rounded = (number * 10.0).round() / 10.0;
    if rounded == 0.0 { 0.0 } else { rounded }
}

impl Svg {
    pub fn new() -> Svg {
        Svg::default()
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, Value<'_>)]) -> &mut Svg {
        self.begin(name, attributes);
        self.0.pop();
        self.0.push_str("/>");
        self
    }

    pub fn begin(&mut self, name: &str, attributes: &[(&str, Value<'_>)]) -> &mut Svg {
        let _ = write!(self.0, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            match value {
                Value::Text(text) => self.escaped(text),
                Value::Number(number) => drop(write!(self.0, "{}", rounded(*number))),
                Value::Percent(number) => drop(write!(self.0, "{:.2}%", number)),
            }
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    pub fn end(&mut self, name: &str) -> &mut Svg {
        let _ = write!(self.0, "</{name}>");
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Svg {
        self.escaped(text);
        self
    }

    /// An element with nothing but text in it.
    pub fn word(&mut self, name: &str, attributes: &[(&str, Value<'_>)], text: &str) -> &mut Svg {
        self.begin(name, attributes).text(text).end(name)
    }

    pub fn add(&mut self, other: &Svg) -> &mut Svg {
        self.0.push_str(&other.0);
        self
    }

    fn escaped(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\0' => self.0.push('\u{fffd}'),
                other => self.0.push(other),
            }
        }
    }
}

/// The path of a line through points; a point that is not there breaks it.
pub fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut is_drawn = false;
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(path, "{}{},{}", if is_drawn { 'L' } else { 'M' }, rounded(x), rounded(y));
        }
        is_drawn = point.is_some();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sites_say_stays_text_in_drawings() {
        let mut svg = Svg::new();
        svg.begin("a", &[("href", "\"><script>".into())]).text("</svg><img onerror='x'>").end("a");
        svg.empty("rect", &[("x", 1.26.into()), ("width", percent(50.0))]);
        assert_eq!(
            svg.to_string(),
            "<a href=\"&quot;&gt;&lt;script&gt;\">&lt;/svg&gt;&lt;img onerror=&#39;x&#39;&gt;</a><rect x=\"1.3\" width=\"50.00%\"/>"
        );
    }

    #[test]
    fn a_line_breaks_where_nothing_was_kept() {
        let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((3.0, 4.04))];
        assert_eq!(path(points.into_iter()), "M0,1L1,2M3,4");
    }
}
