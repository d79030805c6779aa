//! What is asked of the API, and what cannot be asked together.

use super::super::printed_list::Question;
use super::arguments::{Arguments, Format, Table, Unit};
use crate::error::{Error, Result};

/// Flags that are not for the format are refused.
pub fn check(arguments: &Arguments) -> Result<()> {
    let of = |given: bool, flag: &str, formats: &[Format]| {
        if !given || formats.contains(&arguments.format) {
            return Ok(());
        }
        let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
        Err(Error::usage(format!("{flag} is for {}", names.join(" and "))))
    };
    of(arguments.warc.is_some(), "--warc", &[Format::Cdxj])?;
    of(arguments.text, "--text", &[Format::Wacz])?;
    of(arguments.all, "--all", &[Format::Markdown])?;
    of(arguments.ids, "--ids", &[Format::Markdown])?;
    of(arguments.git, "--git", &[Format::Markdown])?;
    of(arguments.unit.is_some(), "--unit", &[Format::Jsonl])?;
    of(arguments.table.is_some(), "--table", &[Format::Parquet])?;
    of(arguments.with_visits, "--with-visits", &[Format::Parquet])?;
    of(arguments.follow, "--follow", &[Format::Jsonl, Format::Markdown])?;
    let text = [Format::Jsonl, Format::Markdown, Format::Parquet, Format::Wacz];
    of(arguments.with_noindex, "--with-noindex", &text)?;
    if arguments.format == Format::Trace {
        for (given, flag) in [
            (arguments.site.is_some(), "--site"),
            (arguments.tag.is_some(), "--tag"),
            (arguments.prefix.is_some(), "--prefix"),
            (arguments.since.is_some(), "--since"),
            (arguments.at.is_some(), "--at"),
        ] {
            if given {
                return Err(Error::usage(format!("{flag} is not for trace, which is of the whole crawl")));
            }
        }
    }
    if arguments.unit == Some(Unit::Event) && (arguments.prefix.is_some() || arguments.at.is_some()) {
        return Err(Error::usage("--unit event is the change feed: it takes --site, --tag and --since"));
    }
    Ok(())
}

/// The question for the whole stream of a format.
pub fn question(arguments: &Arguments) -> Question {
    if arguments.unit == Some(Unit::Event) {
        let path = if arguments.follow { "/api/v1/changes/stream" } else { "/api/v1/changes" };
        return Question::at(path)
            .with("since", arguments.since.as_ref())
            .with("site", arguments.site.as_ref())
            .with("tag", arguments.tag.as_ref());
    }
    let warc = arguments
        .warc
        .as_deref()
        .map(|path| std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned());
    of_scope(arguments)
        .with("since", arguments.since.as_ref())
        .with("unit", arguments.unit.map(Unit::name))
        .with("table", arguments.table.map(Table::name))
        .with("warc", warc)
        .with("every", arguments.every)
        .when("follow", arguments.follow)
        .when("text", arguments.text)
}

/// What every question about the same pages says.
pub fn of_scope(arguments: &Arguments) -> Question {
    Question::at("/api/v1/export")
        .with("format", Some(arguments.format.name()))
        .with("site", arguments.site.as_ref())
        .with("tag", arguments.tag.as_ref())
        .with("prefix", arguments.prefix.as_ref())
        .with("at", arguments.at.as_ref())
        .when("all", arguments.all)
        .when("ids", arguments.ids)
        .when("with_noindex", arguments.with_noindex)
}
