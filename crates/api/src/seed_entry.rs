//! Seeds as people give them: a URL per line, CSV with a header, or JSON lines. Bad lines are named by number and the
//! rest is taken.

use std::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Moment, MomentError, Scope, Seed, Site, Span, Url, UrlError, nearest};

/// Seeds that are taken at once: a larger crowd comes in parts, so that no group of deeds grows without end.
pub const SEEDS_AT_ONCE: usize = 1_000;

/// What a person may say about a seed; what is left out comes from the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeedEntry {
    pub url: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tags_of_any_shape")]
    #[schemars(with = "Tags")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_every: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_every: Option<String>,
}

/// Why a text is no seed, no URL or no site. Each says what would do.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SeedError {
    #[error("`{0}` names no site: give a host, such as example.org")]
    Site(String),
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error("`{text}` has no scheme; did you mean {scheme}://{text}?")]
    SchemeMissing { text: String, scheme: &'static str },
    #[error("`{0}` is no weight: give a number from 0")]
    Weight(f32),
    #[error(transparent)]
    Span(#[from] MomentError),
    /// The address can never be visited under the settings in force.
    #[error("{0}")]
    Shut(String),
    #[error("no seed in JSON: {0}")]
    Json(String),
    #[error("unknown column `{column}`{}", near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Column { column: String, near: Option<&'static str> },
    #[error("column {column}: `{cell}` is no {wanted}")]
    Cell { column: String, cell: String, wanted: &'static str },
    #[error("{0}")]
    Scope(String),
}

type Result<T, E = SeedError> = std::result::Result<T, E>;

/// What the settings say for seeds that do not say it themselves.
#[derive(Copy, Clone, Debug)]
pub struct Defaults {
    pub scope: Scope,
    pub depth: Option<u16>,
}

/// What a file came to.
#[derive(Debug, Default, PartialEq)]
pub struct Reading {
    pub entries: Vec<SeedEntry>,
    /// Line number from 1, and what is wrong with it.
    pub wrong: Vec<(usize, SeedError)>,
}

impl SeedEntry {
    pub fn of(url: &str) -> SeedEntry {
        SeedEntry { url: url.to_owned(), ..SeedEntry::default() }
    }

    /// The seed that this entry means.
    pub fn seed(&self, defaults: Defaults, now: Moment) -> Result<Seed> {
        let url = url(&self.url)?;
        let weight = self.weight.unwrap_or(1.0);
        if !weight.is_finite() || weight < 0.0 {
            return Err(SeedError::Weight(weight));
        }
        let span = |text: &Option<String>| text.as_deref().map(Span::parse).transpose();
        Ok(Seed {
            tags: self.tags.clone(),
            weight,
            scope: self.scope.unwrap_or(defaults.scope),
            depth: self.depth.or(defaults.depth),
            at_least_every: span(&self.at_least_every)?,
            at_most_every: span(&self.at_most_every)?,
            ..Seed::new(url, now)
        })
    }

    fn check(&self) -> Result<()> {
        self.seed(Defaults { scope: Scope::Site, depth: None }, Moment::EPOCH).map(drop)
    }
}

/// A site by its name, or by any URL of it.
pub fn site(text: &str) -> Result<Site> {
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}/")) };
    Ok(url.map_err(|_| SeedError::Site(text.to_owned()))?.site())
}

/// A URL as a person gives it.
pub fn url(text: &str) -> Result<Url> {
    let text = text.trim();
    Url::parse(text).map_err(|error| match scheme_meant(text) {
        Some(scheme) => SeedError::SchemeMissing { text: text.to_owned(), scheme },
        None => error.into(),
    })
}

/// A name without a scheme is the most common mistake, so the error names the scheme that was probably meant.
fn scheme_meant(text: &str) -> Option<&'static str> {
    let looks_like_a_host = text.contains('.') || text.starts_with("localhost");
    if text.contains("://") || text.contains('@') || !looks_like_a_host {
        return None;
    }
    let meant = Url::parse(&format!("https://{text}")).ok()?;
    // There are no certificates for addresses of this machine.
    Some(if literal_address(&meant).is_some() { "http" } else { "https" })
}

/// The address that a URL names without asking anybody.
pub fn literal_address(url: &Url) -> Option<IpAddr> {
    let host = url.host().trim_start_matches('[').trim_end_matches(']');
    if host == "localhost" || host.ends_with(".localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    host.parse().ok()
}

/// Whether an address may be dialled, with private ones allowed or not; the error says why it is shut.
pub type AddressGuard = fn(IpAddr, bool) -> Result<(), String>;

/// Why a URL can never be visited, as far as that is known before its name is resolved; `None` if it may be.
pub fn why_never_visited(url: &Url, allow_private: bool, guard: AddressGuard) -> Option<String> {
    let address = literal_address(url)?;
    let why = guard(address, allow_private).err()?;
    Some(match guard(address, true) {
        Ok(()) => format!("{url}: {why}, which is shut; give --allow-private to visit it"),
        Err(_) => format!("{url}: {why}, which is never visited"),
    })
}

/// Reads a whole file of any of the three forms; the first line that says something tells which.
pub fn read(text: &str) -> Reading {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines =
        || text.lines().enumerate().map(|(place, line)| (place + 1, line.trim())).filter(|(_, line)| is_entry(line));
    let Some((header_line, first)) = lines().next() else { return Reading::default() };
    if first.starts_with('{') {
        return gather(lines().map(|(number, line)| (number, from_json(line))));
    }
    match header(first) {
        Some(Ok(header)) => gather(lines().skip(1).map(|(number, line)| (number, from_csv(&header, line)))),
        Some(Err(what)) => Reading { entries: Vec::new(), wrong: vec![(header_line, what)] },
        None => gather(lines().map(|(number, line)| (number, Ok(SeedEntry::of(line))))),
    }
}

fn is_entry(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn gather(lines: impl Iterator<Item = (usize, Result<SeedEntry>)>) -> Reading {
    let mut reading = Reading::default();
    for (number, entry) in lines {
        match entry.and_then(|entry| entry.check().map(|()| entry)) {
            Ok(entry) => reading.entries.push(entry),
            Err(what) => reading.wrong.push((number, what)),
        }
    }
    reading
}

/// One JSON object, as a line of a file or of a request's body.
pub fn from_json(line: &str) -> Result<SeedEntry> {
    serde_json::from_str(line).map_err(|error| SeedError::Json(error.to_string()))
}

const COLUMNS: [&str; 7] = ["url", "tags", "weight", "scope", "depth", "at_least_every", "at_most_every"];

/// The columns of a CSV header; `None` if the line is none.
fn header(line: &str) -> Option<Result<Vec<String>>> {
    let cells: Vec<String> = cells(line).iter().map(|cell| cell.to_ascii_lowercase()).collect();
    if !cells.iter().any(|cell| cell == "url") {
        return None;
    }
    let stranger = cells.iter().find(|cell| !COLUMNS.contains(&cell.as_str()));
    Some(match stranger {
        None => Ok(cells),
        Some(stranger) => {
            let near = nearest(stranger, COLUMNS);
            Err(SeedError::Column { column: stranger.clone(), near })
        }
    })
}

fn from_csv(header: &[String], line: &str) -> Result<SeedEntry> {
    let mut entry = SeedEntry::default();
    for (column, cell) in header.iter().zip(cells(line)).filter(|(_, cell)| !cell.is_empty()) {
        let wrong = |wanted| SeedError::Cell { column: column.clone(), cell: cell.clone(), wanted };
        match column.as_str() {
            "url" => entry.url = cell,
            "tags" => entry.tags = tags(&cell),
            "weight" => entry.weight = Some(cell.parse().map_err(|_| wrong("number"))?),
            "scope" => entry.scope = Some(cell.parse().map_err(SeedError::Scope)?),
            "depth" => entry.depth = Some(cell.parse().map_err(|_| wrong("whole number"))?),
            "at_most_every" => entry.at_most_every = Some(cell),
            _ => entry.at_least_every = Some(cell),
        }
    }
    Ok(entry)
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

/// Tags as a list, or as one text with spaces between them.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Tags {
    List(Vec<String>),
    Text(String),
}

fn tags_of_any_shape<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match Tags::deserialize(deserializer)? {
        Tags::List(list) => list,
        Tags::Text(text) => tags(&text),
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
        assert_eq!(lines.entries.len(), 2);
        assert_eq!(lines, csv);
        assert_eq!(lines, json);
    }

    #[test]
    fn everything_that_is_said_of_a_seed_is_kept() {
        let csv = read(
            "url,tags,weight,scope,depth,at_least_every,at_most_every\n\"http://a.example/?x=1,2\",news fast,2.5,page,3,1h,30m",
        );
        let json = read(
            r#"{"url":"http://a.example/?x=1,2","tags":["news","fast"],"weight":2.5,"scope":"page","depth":3,"at_least_every":"1h","at_most_every":"30m"}"#,
        );
        assert_eq!(csv.wrong, []);
        assert_eq!(csv, json);
        let seed = csv.entries[0].seed(Defaults { scope: Scope::Site, depth: None }, Moment::EPOCH).unwrap();
        assert_eq!((seed.weight, seed.scope, seed.depth), (2.5, Scope::Page, Some(3)));
        assert_eq!(seed.at_least_every, Some(Span::from_hours(1)));
        assert_eq!(seed.at_most_every, Some(Span::from_secs(1_800)));
    }

    #[test]
    fn a_missing_scheme_is_told_with_the_likely_one() {
        for (given, meant) in [
            ("127.0.0.1:8500/", "http://127.0.0.1:8500/"),
            ("localhost:8500/", "http://localhost:8500/"),
            ("example.org:8080/a", "https://example.org:8080/a"),
        ] {
            assert!(url(given).unwrap_err().to_string().ends_with(&format!("did you mean {meant}?")), "{given}");
        }
        assert!(!url("mailto:a@b.example").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn bad_lines_are_named_by_number_and_the_rest_is_taken() {
        let reading = read("http://a.example/\nno url\nexample.org\nftp://f.example/x\n");
        assert_eq!(reading.entries.len(), 2);
        assert_eq!(reading.wrong.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
        assert!(reading.wrong[1].1.to_string().contains("did you mean https://example.org?"));
        let column = &read("url,depht\nhttp://a.example/,2").wrong[0].1;
        assert_eq!(column.to_string(), "unknown column `depht`; did you mean `depth`?");
        assert_eq!(read("{\"url\":\"http://a.example/\",\"extra\":1}").entries, []);
    }
}
