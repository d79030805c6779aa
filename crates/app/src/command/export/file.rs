//! An export that is one file: written beside its place and renamed when it is whole.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::Value;

use super::arguments::{Arguments, Format, Unit};
use super::place;
use super::question::question;
use super::run::Exported;
use super::transfer::Transfer;
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::folder::{Answer, Folder};

pub async fn export(context: &Context, folder: &Folder, arguments: &Arguments, out: &str) -> Result<Exported> {
    let answer = folder.get(question(arguments).text()).await?;
    let cursor = match arguments.unit {
        // The feed names its cursor in every line.
        Some(Unit::Event) => String::new(),
        _ => cursor_of(&answer)?,
    };
    let mut last = LastLine::default();
    let has_lines = arguments.format == Format::Jsonl;
    let mut note = |part: &[u8]| {
        if has_lines {
            last.note(part)
        }
    };
    let transfer = Transfer::new(context, format!("export {}", arguments.format.name()));
    if out == "-" {
        let mut sink = Sink::stdout();
        transfer
            .bytes(answer, |part| {
                note(part);
                sink.bytes(part)
            })
            .await?;
        sink.flush()?;
    } else {
        let path = Path::new(out);
        let passing = place::passing(path);
        let file = File::create(&passing).map_err(|error| place::failed("create", &passing, &error))?;
        let mut file = BufWriter::new(file);
        let written = transfer
            .bytes(answer, |part| {
                note(part);
                file.write_all(part).map_err(|error| Error::writing(out, &error))
            })
            .await;
        let written = written.and_then(|()| file.flush().map_err(|error| Error::writing(out, &error)));
        if let Err(error) = written {
            // The next export begins anew.
            let _ = fs::remove_file(&passing);
            return Err(error);
        }
        place::settle(file.get_ref(), path)?;
    }
    let told: Value = serde_json::from_slice(&last.line).unwrap_or_default();
    let cursor = if cursor.is_empty() { told["cursor"].as_str().unwrap_or("c0").to_owned() } else { cursor };
    let told = if arguments.unit == Some(Unit::Event) { Value::Null } else { told };
    Ok(Exported { cursor, out: out.to_owned(), told })
}

/// The cursor in the head of an answer.
pub fn cursor_of(answer: &Answer) -> Result<String> {
    let found = answer.headers.get("vernal-cursor").and_then(|value| value.to_str().ok());
    found.map(str::to_owned).ok_or("the export names no cursor").or_fail()
}

/// The last whole line of what passes.
#[derive(Default)]
struct LastLine {
    line: Vec<u8>,
    begun: Vec<u8>,
}

impl LastLine {
    fn note(&mut self, part: &[u8]) {
        let mut rest = part;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.begun.extend_from_slice(&rest[..end]);
            self.line = std::mem::take(&mut self.begun);
            rest = &rest[end + 1..];
        }
        self.begun.extend_from_slice(rest);
    }
}
