//! Lines for the operator, on standard error only: text for people, or one JSON object per line for machines. Every crate
//! says what happened as a `tracing` event; this is where events become lines.
//!
//! `-q` leaves errors alone. Without a flag, what the operator has to know is shown. `-v` adds the story of each page:
//! its order, its request, its verdict and what was written; `-vv` adds the single steps.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

use crate::output::{escaped, plain};

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Standard error, as far as it is more than events: the progress line. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    format: LogFormat,
    loudest: LevelFilter,
    /// A progress line stands on the terminal and must be wiped before another line is written.
    progress_shown: Arc<AtomicBool>,
}

/// The events of our own crates; those of libraries are for their authors.
const OWN_TARGETS: &str = "vernal";

const WIPE_LINE: &str = "\r\x1b[2K";

impl Log {
    /// From here on, events become lines.
    pub fn start(format: LogFormat, quiet: bool, verbose: u8) -> Log {
        let loudest = match (quiet, verbose) {
            (true, _) => LevelFilter::ERROR,
            (false, 0) => LevelFilter::INFO,
            (false, 1) => LevelFilter::DEBUG,
            (false, _) => LevelFilter::TRACE,
        };
        let progress_shown = Arc::<AtomicBool>::default();
        let lines = EventLines { format, progress_shown: Arc::clone(&progress_shown) };
        let layer = tracing_subscriber::fmt::layer().event_format(lines).with_writer(io::stderr);
        let filter = Targets::new().with_target(OWN_TARGETS, loudest);
        // Only a test that makes two contexts in one process finds a subscriber in place, which then stays.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(filter).with(layer));
        Log { format, loudest, progress_shown }
    }

    /// Whether more was asked for than usual.
    pub fn is_verbose(&self) -> bool {
        self.loudest >= LevelFilter::DEBUG
    }

    /// Whether progress is one line that is written again and again; else it is a plain line now and then.
    pub fn progress_is_live(&self) -> bool {
        self.format == LogFormat::Text && self.loudest >= LevelFilter::INFO && io::stderr().is_terminal()
    }

    /// Replaces the progress line on a terminal.
    pub fn progress(&self, line: &str) {
        if self.loudest < LevelFilter::INFO {
            return;
        }
        self.progress_shown.store(true, Ordering::Relaxed);
        // If standard error is closed, there is no place to report that either.
        let _ = write!(io::stderr().lock(), "{WIPE_LINE}{line}");
    }
}

/// One event as one line.
struct EventLines {
    format: LogFormat,
    progress_shown: Arc<AtomicBool>,
}

impl<S, N> FormatEvent<S, N> for EventLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if self.progress_shown.swap(false, Ordering::Relaxed) {
            out.write_str(WIPE_LINE)?;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = *event.metadata().level();
        match self.format {
            LogFormat::Text => writeln!(out, "{}", fields.text(level)),
            LogFormat::Json => writeln!(out, "{}", fields.json(level)),
        }
    }
}

/// The message of an event and its fields, in the order in which they were given.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.others.push((name, format!("{value:?}").into())),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = value.to_owned(),
            name => self.others.push((name, value.into())),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.others.push((field.name(), value.into()));
    }
}

impl Fields {
    fn text(&self, level: Level) -> String {
        let mut line = format!("vernal: {}{}", if level == Level::WARN { "warning: " } else { "" }, self.message);
        for (name, value) in &self.others {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // Fields may hold what a site sent: it must not be able to steer the terminal.
            line.push_str(&format!(" {name}={}", plain(&value)));
        }
        escaped(&line).into_owned()
    }

    fn json(self, level: Level) -> Value {
        let mut object: Map<String, Value> =
            self.others.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        object.insert("time".into(), crate::runtime::clock::wall().rfc3339().into());
        object.insert("level".into(), level.as_str().to_ascii_lowercase().into());
        object.insert("message".into(), self.message.into());
        object.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        let others = vec![("url", "http://a.example/\u{1b}[2J".into()), ("status", 200.into())];
        Fields { message: "page visited".into(), others }
    }

    #[test]
    fn an_event_is_a_sentence_and_its_fields_which_cannot_steer_the_terminal() {
        assert_eq!(fields().text(Level::DEBUG), "vernal: page visited url=http://a.example/ [2J status=200");
        assert_eq!(Fields::default().text(Level::WARN), "vernal: warning: ");
    }

    #[test]
    fn a_json_line_has_time_level_message_and_the_fields() {
        let line = fields().json(Level::INFO);
        assert_eq!(
            (&line["level"], &line["message"], &line["status"]),
            (&"info".into(), &"page visited".into(), &200.into())
        );
        assert!(line["time"].is_string());
    }
}
