//! Lists on standard output: one request to the API, its answer printed as JSON or as a table.

use serde_json::Value;

use super::Context;
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table, bytes_shown, plain, readable};
use crate::runtime::folder::{Answer, Folder};

/// A question's path with its parameters, percent-encoded.
pub struct Question {
    text: String,
    path_bytes: usize,
    /// The parameters as they were given.
    given: Vec<(String, String)>,
}

/// Parameters that select nothing.
const SHAPES: [&str; 8] = ["limit", "latest", "sort", "brief", "with_noise", "with_names", "why", "in"];

impl Question {
    pub fn at(path: &str) -> Question {
        Question { text: path.to_owned(), path_bytes: path.len(), given: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: Option<impl ToString>) -> Question {
        if let Some(value) = value {
            self.text.push(if self.given.is_empty() { '?' } else { '&' });
            self.text.push_str(name);
            self.text.push('=');
            encode(&value.to_string(), &mut self.text);
            self.given.push((name.to_owned(), value.to_string()));
        }
        self
    }

    /// A parameter that is given or not.
    pub fn when(self, name: &str, given: bool) -> Question {
        self.with(name, given.then_some("true"))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says that nothing was found, and what was looked for.
    pub fn nothing_found(&self) -> String {
        let noun = match self.text[..self.path_bytes].rsplit('/').next().unwrap_or_default() {
            "history" => "visits",
            "noise" => "rules about noise",
            "names" => "pages with several names",
            noun => noun,
        };
        let value_of =
            |wanted: &str| self.given.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        let page = value_of("url").map(|url| match (noun, value_of("back")) {
            ("links", Some(_)) => format!(" to {url}"),
            ("links", None) => format!(" on {url}"),
            _ => format!(" of {url}"),
        });
        let since = value_of("since").map(|since| format!(" since {since}"));
        let is_said = |name: &str| SHAPES.contains(&name) || ["url", "back", "since"].contains(&name);
        let selects = self.given.iter().filter(|(name, _)| !is_said(name));
        let selects: Vec<String> = selects
            .map(|(name, value)| if value == "true" { name.clone() } else { format!("{name} {value}") })
            .collect();
        let selects = if selects.is_empty() { String::new() } else { format!(" with {}", selects.join(", ")) };
        let said = [page, since].into_iter().flatten().collect::<String>() + &selects;
        if said.is_empty() { format!("no {noun} yet") } else { format!("no {noun}{said}") }
    }
}

fn encode(value: &str, into: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => into.push(char::from(byte)),
            _ => into.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// Prints each line of the answer: unchanged with `--json`, else as a row of a table.
pub async fn list(
    context: &Context,
    question: Question,
    columns: &[Column],
    row: impl Fn(&Value) -> Vec<String>,
) -> Result<()> {
    list_or(context, question, columns, row, None).await
}

/// Prints a list; where it is empty, a second request asks why, and its field `why` is printed.
pub async fn list_or(
    context: &Context,
    question: Question,
    columns: &[Column],
    row: impl Fn(&Value) -> Vec<String>,
    why_none: Option<Question>,
) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    let mut sink = Sink::stdout();
    if context.json {
        copy_rows(answer, &mut sink).await?;
        return folder.close();
    }
    let mut table = Table::new(columns);
    answer
        .each_line(|line| {
            if is_rest(line) {
                return Ok(());
            }
            let value: Value = serde_json::from_str(line).or_fail()?;
            table.row(&mut sink, row(&value))
        })
        .await?;
    if table.is_empty() {
        let why = match why_none {
            Some(question) => folder.get(question.text()).await?.json().await?["why"].as_str().map(str::to_owned),
            None => None,
        };
        let nothing = question.nothing_found();
        tracing::info!("{}", why.map_or_else(|| nothing.clone(), |why| format!("{nothing}: {why}")));
    }
    table.end(&mut sink)?;
    folder.close()
}

/// Prints one value: unchanged with `--json`, else as names and values.
pub async fn show(context: &Context, question: Question, rows: impl Fn(&Value) -> Vec<(String, String)>) -> Result<()> {
    let Some(value) = value_of(context, question).await? else { return Ok(()) };
    names_and_values(&mut Sink::stdout(), &rows(&value))
}

/// Asks for one value. With `--json` it is printed unchanged, and nothing is left to print.
pub async fn value_of(context: &Context, question: Question) -> Result<Option<Value>> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    let value = if context.json {
        copy(answer, &mut Sink::stdout()).await?;
        None
    } else {
        Some(answer.json().await?)
    };
    folder.close()?;
    Ok(value)
}

pub fn names_and_values(sink: &mut Sink, rows: &[(String, String)]) -> Result<()> {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in rows {
        sink.line(format!("{name:<width$}  {}", plain(value)).trim_end())?;
    }
    sink.flush()
}

/// The bytes of an answer, as they are, each part at once.
pub async fn copy(answer: Answer, sink: &mut Sink) -> Result<()> {
    answer
        .each_part(|part| {
            sink.bytes(part)?;
            sink.flush()
        })
        .await?;
    sink.flush()
}

/// The rows of a list, as they are. Where the list goes on is for those who ask the API in parts.
pub async fn copy_rows(answer: Answer, sink: &mut Sink) -> Result<()> {
    answer.each_line(|line| if is_rest(line) { Ok(()) } else { sink.line(line) }).await?;
    sink.flush()
}

/// Whether this line of a list is no row, but says where the list goes on.
pub fn is_rest(line: &str) -> bool {
    line.starts_with("{\"after\":")
}

/// A field of a JSON answer as a cell.
pub fn cell(value: &Value, name: &str) -> String {
    shown(&value[name])
}

pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => readable(text),
        Value::Array(items) if items.is_empty() => "-".into(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// A field that is a time.
pub fn time(context: &Context, value: &Value, name: &str) -> String {
    match value[name].as_str() {
        Some(text) => context.time.of_text(text),
        None => "-".into(),
    }
}

/// How the last visit to a robots.txt ended, and when.
pub fn robots_visit(context: &Context, value: &Value) -> String {
    let visit = &value["robots_visit"];
    let (asked, again) = (time(context, visit, "asked"), time(context, visit, "again"));
    format!("{} (asked {asked}, again after {again})", cell(visit, "outcome"))
}

/// A field that is a count of bytes.
pub fn bytes(value: &Value, name: &str) -> String {
    value[name].as_u64().map_or_else(|| "-".into(), bytes_shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_says_what_was_not_found() {
        let pages = Question::at("/api/v1/pages").with("limit", Some(3));
        assert_eq!(pages.nothing_found(), "no pages yet");
        let pages = pages.with("site", Some("a.example")).with("state", Some("gone"));
        assert_eq!(pages.nothing_found(), "no pages with site a.example, state gone");
        let links = Question::at("/api/v1/links").with("url", Some("http://a.example/")).when("back", true);
        assert_eq!(links.nothing_found(), "no links to http://a.example/");
        let changes = Question::at("/api/v1/changes").with("since", Some("7d")).with("event", Some("gone"));
        assert_eq!(changes.nothing_found(), "no changes since 7d with event gone");
    }

    #[test]
    fn a_url_survives_as_a_parameter() {
        let question =
            Question::at("/x").with("url", Some("http://a.b/?q=1&r=ä#")).with("limit", None::<u32>).when("back", true);
        assert_eq!(question.text(), "/x?url=http%3A%2F%2Fa.b%2F%3Fq%3D1%26r%3D%C3%A4%23&back=true");
    }
}
