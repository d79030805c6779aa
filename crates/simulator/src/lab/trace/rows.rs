//! The rows of a trace file, one at a time: CSV after RFC 4180, or the JSON lines that the API gives, gzipped or not.

use std::io::{BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use vernal_model::Moment;

use super::own::{CENSORED_NOTE, Head, OwnRow};
use crate::lab::world::ChangeKind;
use crate::{Error, Result};

/// A row is at most so long; beyond it the file is no trace.
const ROW_BYTES_MAX: usize = 64 << 10;
pub(super) const COLUMNS: [&str; 5] = ["site", "page", "change_time_unix", "bytes", "kind"];
const READ_AHEAD_BYTES: usize = 256 << 10;
/// Times beyond these seconds are mistakes: 1970 to 2100.
pub(super) const TIME_SECS_MAX: i64 = 4_102_444_800;

pub(super) struct Rows {
    input: Box<dyn BufRead>,
    name: String,
    /// Lines read so far.
    line: u64,
    text: Vec<u8>,
    /// The fields of the row, their quotes removed.
    fields: Vec<String>,
    /// The rows are JSON objects, one to a line, and there is no head line.
    is_json: bool,
    /// The last visit that rows in JSON told of so far.
    last_visit_unix: Option<i64>,
}

/// One change of one page; site and page are asked of [`Rows`], so that a row costs no allocation.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub moment: Moment,
    pub bytes: u64,
    pub kind: ChangeKind,
}

impl Rows {
    pub fn new(input: impl Read + 'static, name: &str) -> Result<Self> {
        let mut input = BufReader::with_capacity(READ_AHEAD_BYTES, input);
        let unreadable = |source| Error::TraceUnreadable { path: name.into(), source };
        let zipped = input.fill_buf().map_err(unreadable)?.starts_with(&[0x1f, 0x8b]);
        let mut input: Box<dyn BufRead> = match zipped {
            true => Box::new(BufReader::with_capacity(READ_AHEAD_BYTES, MultiGzDecoder::new(input))),
            false => Box::new(input),
        };
        let is_json = input.fill_buf().map_err(unreadable)?.starts_with(b"{");
        let mut rows = Rows {
            input,
            name: name.to_owned(),
            line: 0,
            text: Vec::new(),
            fields: vec![String::new(); COLUMNS.len()],
            is_json,
            last_visit_unix: None,
        };
        if !is_json {
            rows.check_head()?;
        }
        Ok(rows)
    }

    /// What the rows themselves tell of their recording; only those in JSON do. It reads them to their end.
    pub fn head(mut self) -> Result<Option<Head>> {
        if !self.is_json {
            return Ok(None);
        }
        let mut rows = 0;
        while self.read_fields()? {
            rows += 1;
        }
        let observed_until_unix = self.last_visit_unix;
        Ok(Some(Head { censored: true, note: CENSORED_NOTE.to_owned(), rows, observed_until_unix, ..Head::default() }))
    }

    pub fn site(&self) -> &str {
        &self.fields[0]
    }

    pub fn page(&self) -> &str {
        &self.fields[1]
    }

    pub fn next(&mut self) -> Result<Option<Row>> {
        if !self.read_fields()? {
            return Ok(None);
        }
        if self.fields[0].is_empty() {
            return Err(self.wrong(0, "a site has a name"));
        }
        let secs = self.fields[2].parse::<i64>().ok().filter(|secs| (0..=TIME_SECS_MAX).contains(secs));
        let Some(secs) = secs else { return Err(self.wrong(2, "seconds since 1970 are expected")) };
        let Ok(bytes) = self.fields[3].parse::<u64>() else { return Err(self.wrong(3, "a size is expected")) };
        let Some(kind) = ChangeKind::by_name(&self.fields[4]) else {
            let known = ChangeKind::ALL.map(ChangeKind::name).join(", ");
            return Err(self.wrong(4, &format!("there is no such kind; there are {known}")));
        };
        Ok(Some(Row { moment: Moment::from_secs(secs), bytes, kind }))
    }

    /// An error about the row that was read last.
    pub fn wrong(&self, column: usize, why: &str) -> Error {
        Error::TraceMalformed {
            name: self.name.clone(),
            line: self.line,
            column: COLUMNS[column].to_owned(),
            why: format!("`{}`: {why}", self.fields[column].chars().take(80).collect::<String>()),
        }
    }

    fn check_head(&mut self) -> Result<()> {
        let found = self.read_fields()?;
        if found && self.fields.iter().zip(COLUMNS).all(|(field, column)| field == column) {
            return Ok(());
        }
        let why = format!("a trace begins with the line {}", COLUMNS.join(","));
        Err(Error::TraceMalformed { name: self.name.clone(), line: 1, column: "site".into(), why })
    }

    /// The fields of the next row; blank lines are none, and end nothing.
    fn read_fields(&mut self) -> Result<bool> {
        loop {
            let (quotes, is_end) = self.read_text()?;
            if !self.text.is_empty() {
                if self.is_json {
                    self.read_object()?
                } else {
                    self.split(quotes > 0)?
                }
                return Ok(true);
            }
            if is_end {
                return Ok(false);
            }
        }
    }

    /// The text of the next row, without the end of its line; tells how many quotes it has and whether the file ended.
    fn read_text(&mut self) -> Result<(usize, bool)> {
        self.text.clear();
        let (mut quotes, mut is_end) = (0, false);
        while !is_end {
            let from = self.text.len();
            let limit = (ROW_BYTES_MAX + 1).saturating_sub(from) as u64;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.text);
            let read = read.map_err(|source| Error::TraceUnreadable { path: self.name.clone().into(), source })?;
            self.line += u64::from(read > 0);
            quotes += self.text[from..].iter().filter(|&&byte| byte == b'"').count();
            if self.text.len() > ROW_BYTES_MAX {
                return Err(self.broken(&format!("the row is longer than {ROW_BYTES_MAX} bytes")));
            }
            if read == 0 && quotes % 2 == 1 && !self.is_json {
                return Err(self.broken("the file ends within quotes"));
            }
            is_end = read == 0;
            // A line break within quotes belongs to the field; in JSON there is none.
            if quotes % 2 == 0 || self.is_json {
                break;
            }
        }
        while self.text.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.text.pop();
        }
        Ok((quotes, is_end))
    }

    fn split(&mut self, quoted: bool) -> Result<()> {
        let Ok(text) = std::str::from_utf8(&self.text) else { return Err(self.broken("the row is no UTF-8")) };
        let mut count = 0;
        let mut put = |field: &str, doubled: bool| {
            if let Some(place) = self.fields.get_mut(count) {
                place.clear();
                if doubled { place.push_str(&field.replace("\"\"", "\"")) } else { place.push_str(field) }
            }
            count += 1;
        };
        if !quoted {
            text.split(',').for_each(|field| put(field, false));
        } else {
            let mut rest = Some(text);
            while let Some(here) = rest {
                let Some(inner) = here.strip_prefix('"') else {
                    let end = here.find(',').unwrap_or(here.len());
                    put(&here[..end], false);
                    rest = here.get(end + 1..);
                    continue;
                };
                let end = closing_quote(inner);
                put(&inner[..end], true);
                let after = inner.get(end + 1..).unwrap_or("");
                rest = after.find(',').and_then(|comma| after.get(comma + 1..));
            }
        }
        match count == COLUMNS.len() {
            true => Ok(()),
            false => Err(self.broken(&format!("{count} columns instead of {}", COLUMNS.len()))),
        }
    }

    fn read_object(&mut self) -> Result<()> {
        let row: OwnRow =
            serde_json::from_slice(&self.text).map_err(|error| self.broken(&format!("no row in JSON: {error}")))?;
        self.last_visit_unix = self.last_visit_unix.max(row.last_visit_unix);
        let OwnRow { site, page, change_time_unix, bytes, kind, .. } = row;
        self.fields = vec![site, page, change_time_unix.to_string(), bytes.to_string(), kind];
        Ok(())
    }

    fn broken(&self, why: &str) -> Error {
        let (name, line) = (self.name.clone(), self.line);
        Error::TraceMalformed { name, line, column: "row".into(), why: why.to_owned() }
    }
}

/// Where a quoted field ends: at a quote that is not doubled.
fn closing_quote(inner: &str) -> usize {
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
