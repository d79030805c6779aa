//! Seeds as people give them: a URL per line, CSV with a header, or JSON lines. Bad lines are named by number and the
//! rest is taken.

use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Scope, Seed, Span, Url};

/// Seeds that are taken at once: a larger crowd comes in parts, so that no group of deeds grows without end.
pub const SEEDS_AT_ONCE: usize = 1_000;

/// What a person may say about a seed; what is left out comes from the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    pub url: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tags_of_any_shape")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_every: Option<String>,
}

/// What the settings say for seeds that do not say it themselves.
#[derive(Copy, Clone, Debug)]
pub struct Defaults {
    pub scope: Scope,
    pub depth: Option<u16>,
}

/// What a file came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub wishes: Vec<Wish>,
    /// Line number from 1, and what is wrong with it.
    pub wrong: Vec<(usize, String)>,
}

impl Wish {
    pub fn of(url: &str) -> Wish {
        Wish { url: url.to_owned(), ..Wish::default() }
    }

    /// The seed that this wish means.
    pub fn seed(&self, defaults: Defaults, now: Moment) -> Result<Seed, String> {
        let url = Url::parse(self.url.trim()).map_err(|error| with_scheme_meant(&self.url, error.to_string()))?;
        let weight = self.weight.unwrap_or(1.0);
        if !weight.is_finite() || weight < 0.0 {
            return Err(format!("`{weight}` is no weight: give a number from 0"));
        }
        let at_least_every = self.at_least_every.as_deref().map(Span::parse).transpose();
        Ok(Seed {
            tags: self.tags.clone(),
            weight,
            scope: self.scope.unwrap_or(defaults.scope),
            depth: self.depth.or(defaults.depth),
            at_least_every: at_least_every.map_err(|error| error.to_string())?,
            ..Seed::new(url, now)
        })
    }

    fn check(&self) -> Result<(), String> {
        self.seed(Defaults { scope: Scope::Site, depth: None }, Moment::EPOCH).map(drop)
    }
}

/// A name without a scheme is the commonest slip, and worth its own words.
fn with_scheme_meant(text: &str, complaint: String) -> String {
    let meant = format!("https://{}", text.trim());
    if text.contains("://") || !text.contains('.') || Url::parse(&meant).is_err() {
        return complaint;
    }
    format!("`{}` has no scheme; did you mean {meant}?", text.trim())
}

/// Reads a whole file of any of the three forms; the first line that says something tells which.
pub fn read(text: &str) -> Reading {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines =
        || text.lines().enumerate().map(|(place, line)| (place + 1, line.trim())).filter(|(_, line)| speaks(line));
    let Some((header_line, first)) = lines().next() else { return Reading::default() };
    if first.starts_with('{') {
        return gather(lines().map(|(number, line)| (number, from_json(line))));
    }
    match header(first) {
        Some(Ok(header)) => gather(lines().skip(1).map(|(number, line)| (number, from_csv(&header, line)))),
        Some(Err(what)) => Reading { wishes: Vec::new(), wrong: vec![(header_line, what)] },
        None => gather(lines().map(|(number, line)| (number, Ok(Wish::of(line))))),
    }
}

fn speaks(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn gather(lines: impl Iterator<Item = (usize, Result<Wish, String>)>) -> Reading {
    let mut reading = Reading::default();
    for (number, wish) in lines {
        match wish.and_then(|wish| wish.check().map(|()| wish)) {
            Ok(wish) => reading.wishes.push(wish),
            Err(what) => reading.wrong.push((number, what)),
        }
    }
    reading
}

/// One JSON object, as a line of a file or of a request's body.
pub fn from_json(line: &str) -> Result<Wish, String> {
    serde_json::from_str(line).map_err(|error| format!("no seed in JSON: {error}"))
}

const COLUMNS: [&str; 6] = ["url", "tags", "weight", "scope", "depth", "at_least_every"];

/// The columns of a CSV header; `None` if the line is none.
fn header(line: &str) -> Option<Result<Vec<String>, String>> {
    let cells: Vec<String> = cells(line).iter().map(|cell| cell.to_ascii_lowercase()).collect();
    if !cells.iter().any(|cell| cell == "url") {
        return None;
    }
    let stranger = cells.iter().find(|cell| !COLUMNS.contains(&cell.as_str()));
    Some(match stranger {
        None => Ok(cells),
        Some(stranger) => Err(match crate::config::nearest(stranger, COLUMNS) {
            Some(near) => format!("unknown column `{stranger}`; did you mean `{near}`?"),
            None => format!("unknown column `{stranger}`"),
        }),
    })
}

fn from_csv(header: &[String], line: &str) -> Result<Wish, String> {
    let mut wish = Wish::default();
    for (column, cell) in header.iter().zip(cells(line)).filter(|(_, cell)| !cell.is_empty()) {
        let wrong = |what: &str| format!("column {column}: `{cell}` is no {what}");
        match column.as_str() {
            "url" => wish.url = cell,
            "tags" => wish.tags = tags(&cell),
            "weight" => wish.weight = Some(cell.parse().map_err(|_| wrong("number"))?),
            "scope" => wish.scope = Some(cell.parse()?),
            "depth" => wish.depth = Some(cell.parse().map_err(|_| wrong("whole number"))?),
            _ => wish.at_least_every = Some(cell),
        }
    }
    Ok(wish)
}

/// The cells of one CSV line (RFC 4180, without line ends inside quotes).
fn cells(line: &str) -> Vec<String> {
    let (mut found, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(letter),
        }
    }
    found.push(cell.trim().to_owned());
    found
}

fn tags(text: &str) -> Vec<String> {
    text.split([' ', ';', '|', ',']).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

fn tags_of_any_shape<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shape {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Shape::deserialize(deserializer)? {
        Shape::List(list) => list,
        Shape::Text(text) => tags(&text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_mean_the_same_seeds() {
        let lines = read("# mine\nhttp://a.example/\n\nhttp://b.example/\n");
        let csv = read("url,tags\nhttp://a.example/,\nhttp://b.example/,\n");
        let json = read("{\"url\":\"http://a.example/\"}\n{\"url\":\"http://b.example/\"}\n");
        assert_eq!(lines.wishes.len(), 2);
        assert_eq!(lines, csv);
        assert_eq!(lines, json);
    }

    #[test]
    fn every_wish_is_heard() {
        let csv =
            read("url,tags,weight,scope,depth,at_least_every\n\"http://a.example/?x=1,2\",news fast,2.5,page,3,1h");
        let json = read(
            r#"{"url":"http://a.example/?x=1,2","tags":["news","fast"],"weight":2.5,"scope":"page","depth":3,"at_least_every":"1h"}"#,
        );
        assert_eq!(csv.wrong, []);
        assert_eq!(csv, json);
        let seed = csv.wishes[0].seed(Defaults { scope: Scope::Site, depth: None }, Moment::EPOCH).unwrap();
        assert_eq!((seed.weight, seed.scope, seed.depth), (2.5, Scope::Page, Some(3)));
        assert_eq!(seed.at_least_every, Some(Span::from_hours(1)));
    }

    #[test]
    fn bad_lines_are_named_by_number_and_the_rest_is_taken() {
        let reading = read("http://a.example/\nno url\nexample.org\nftp://f.example/x\n");
        assert_eq!(reading.wishes.len(), 2);
        assert_eq!(reading.wrong.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
        assert!(reading.wrong[1].1.contains("did you mean https://example.org?"));
        assert_eq!(read("url,depht\nhttp://a.example/,2").wrong[0].1, "unknown column `depht`; did you mean `depth`?");
        assert_eq!(read("{\"url\":\"http://a.example/\",\"extra\":1}").wishes, []);
    }
}
