//! Lines that are appended as changes come. A file that was broken off is cut behind the last cursor that it names, and goes on from
//! there.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

use super::arguments::{Arguments, Unit};
use super::place;
use super::question::question;
use super::run::{Exported, LINES_FILE};
use super::transfer::Transfer;
use crate::command::Context;
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

pub async fn export(context: &Context, folder: &Folder, arguments: &Arguments) -> Result<Exported> {
    let out = place::file_of(&arguments.out, LINES_FILE)?;
    let mut asked = question(arguments);
    let mut sink = Target::open(&out)?;
    if let Some(cursor) = &sink.cursor {
        if arguments.since.as_ref().is_some_and(|since| since != cursor) {
            return Err(Error::usage(format!(
                "{out} goes on from cursor {cursor}: leave out --since, or give another file"
            )));
        }
        tracing::info!("{out} goes on from cursor {cursor}");
        asked = if arguments.since.is_none() { asked.with("since", Some(cursor)) } else { asked };
    }
    let answer = folder.get(asked.text()).await?;
    let is_feed = arguments.unit == Some(Unit::Event);
    let mut last = sink.cursor.clone().unwrap_or_default();
    let follow = Transfer::new(context, "export jsonl").lines(answer, |line| {
        let line = match (is_feed, line.strip_prefix("data: ")) {
            (false, _) => line,
            (true, Some(data)) => data,
            // What else a stream of events has.
            (true, None) => return Ok(()),
        };
        sink.line(line)?;
        if is_feed || is_cursor(line.as_bytes()) {
            let told: Value = serde_json::from_str(line).unwrap_or_default();
            last = told["cursor"].as_str().unwrap_or(&last).to_owned();
            sink.flush()?;
        }
        Ok(())
    });
    follow.await?;
    sink.flush()?;
    Ok(Exported { cursor: last, out, told: Value::Null })
}

/// Where the lines go.
struct Target {
    name: String,
    to: To,
    /// The last cursor that the file names.
    cursor: Option<String>,
}

enum To {
    Standard(Sink),
    File(BufWriter<File>),
}

impl Target {
    fn open(out: &str) -> Result<Target> {
        if out == "-" {
            return Ok(Target { name: "standard output".into(), to: To::Standard(Sink::stdout()), cursor: None });
        }
        let path = Path::new(out);
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
        let mut file = file.map_err(|error| place::failed("open", path, &error))?;
        let (end, cursor) = last_cursor(&mut file).map_err(|error| place::failed("read", path, &error))?;
        file.set_len(end).map_err(|error| place::failed("cut", path, &error))?;
        file.seek(SeekFrom::Start(end)).map_err(|error| place::failed("append to", path, &error))?;
        Ok(Target { name: out.to_owned(), to: To::File(BufWriter::new(file)), cursor })
    }

    fn line(&mut self, line: &str) -> Result<()> {
        match &mut self.to {
            To::Standard(sink) => sink.line(line),
            To::File(file) => writeln!(file, "{line}").map_err(|error| Error::writing(&self.name, &error)),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.to {
            To::Standard(sink) => sink.flush(),
            To::File(file) => file.flush().map_err(|error| Error::writing(&self.name, &error)),
        }
    }
}

/// The last cursor of a file, and where its line ends: what comes behind it is written once more. Of the feed every whole line
/// names one.
fn last_cursor(file: &mut File) -> std::io::Result<(u64, Option<String>)> {
    let (mut found, mut place) = ((0, None), 0);
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        place += line.len() as u64;
        if line.ends_with(b"\n") && (is_cursor(&line) || line.starts_with(b"{\"id\":\"e")) {
            let told: Value = serde_json::from_slice(&line).unwrap_or_default();
            if let Some(cursor) = told["cursor"].as_str() {
                found = (place, Some(cursor.to_owned()));
            }
        }
        line.clear();
    }
    Ok(found)
}

fn is_cursor(line: &[u8]) -> bool {
    line.starts_with(b"{\"op\":\"cursor\"") || line.starts_with(b"{\"op\":\"end\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_on_behind_the_last_cursor_that_it_names() {
        let mut file = tempfile::tempfile().unwrap();
        let whole = "{\"op\":\"upsert\",\"id\":\"p1\"}\n{\"op\":\"cursor\",\"cursor\":\"c5\"}\n";
        file.write_all(format!("{whole}{{\"op\":\"upsert\",\"id\":\"p2\"}}\n{{\"op\":\"cur").as_bytes()).unwrap();
        file.rewind().unwrap();
        assert_eq!(last_cursor(&mut file).unwrap(), (whole.len() as u64, Some("c5".to_owned())));
        let mut none = tempfile::tempfile().unwrap();
        none.write_all(b"{\"op\":\"upsert\",\"id\":\"c9\"}\n").unwrap();
        none.rewind().unwrap();
        assert_eq!(last_cursor(&mut none).unwrap(), (0, None));
    }
}
