//! Copies for other programs, as links; what a link asks is chosen by a form.

use askama::Template;
use axum::response::Response;

use super::Tabs;
use crate::answers::Status;
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;
use crate::screen::page::drawn;

type Terms = &'static [(&'static str, &'static str)];
type Format = (&'static str, Terms, &'static str, &'static str);

/// Format, further terms, name, and what it is for.
const FORMATS: [Format; 12] = [
    ("warc", &[], "WARC", "responses as they came, for archives and replay"),
    ("wacz", &[("text", "true")], "WACZ", "one file that a replay program opens, with its words"),
    ("cdxj", &[], "CDXJ", "the index of the WARC files"),
    ("markdown", &[], "Markdown", "one file for each page, as a tar"),
    ("jsonl", &[("unit", "page")], "JSON lines, pages", "one line for each page"),
    ("jsonl", &[("unit", "paragraph")], "JSON lines, paragraphs", "one line for each paragraph, with its lasting id"),
    ("parquet", &[("table", "pages")], "Parquet, pages", "a table for databases and notebooks"),
    ("parquet", &[("table", "versions")], "Parquet, versions", "every version with its digest"),
    ("parquet", &[("table", "paragraphs")], "Parquet, paragraphs", "the text that is held"),
    ("parquet", &[("table", "events")], "Parquet, events", "every change"),
    ("parquet", &[("table", "visits")], "Parquet, visits", "what each visit found and cost"),
    ("", &[], "Trace", "change times, for the lab"),
];

#[derive(Template)]
#[template(path = "operations-exports.html")]
struct Exports {
    frame: Frame,
    tabs: Tabs,
    fields: Fields,
    rows: Vec<(&'static str, &'static str, String)>,
    cursor: String,
}

pub async fn show(reader: Reader, fields: Fields) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let asked = |format: &'static str, terms: &[(&'static str, &'static str)]| {
        let question = match format {
            "" => Question::of("trace"),
            format => Question::of("export")
                .with("format", format)
                .with_some("site", fields.some("site"))
                .with_some("tag", fields.some("tag"))
                .with_some("prefix", fields.some("prefix"))
                .with_some("since", fields.some("since"))
                .with_some("at", fields.some("at")),
        };
        terms.iter().fold(question, |question, (name, value)| question.with(name, value)).address()
    };
    drawn(&Exports {
        frame: Frame::of(&reader, "Exports", Place::Operations, &status),
        tabs: Tabs("exports"),
        rows: FORMATS.iter().map(|(format, terms, name, says)| (*name, *says, asked(format, terms))).collect(),
        cursor: status.cursor.clone(),
        fields,
    })
}
