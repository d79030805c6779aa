//! `vernal changes --follow`: every event once and in order, also across restarts of the crawl.

use std::time::Duration;

use serde_json::Value;

use super::Context;
use super::changes::{COLUMNS, row};
use super::printed_list::Question;
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, Table};
use crate::runtime::folder::Folder;

/// As wide as the longest time, event, kinds and cursor usually are.
const WIDTHS: [usize; COLUMNS.len()] = [20, 8, 17, 7, 8, 40, 0];
/// How often a crawl that has ended is looked for again: soon at first, since most restarts are short.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LAST: Duration = Duration::from_secs(2);
/// Streams in a row that break off before any event; beyond this the failure is not that of a restart.
const BROKEN_MAX: u32 = 5;

/// Makes the question for the events behind a cursor, so many at most.
pub type StreamQuestion<'a> = dyn Fn(Option<&String>, Option<usize>) -> Question + 'a;

/// Prints each event as it comes. A folder in which nothing crawls is read to its end. When a crawl ends, the next one is
/// waited for, and told from where this one was left. The folder itself is not opened meanwhile: its lock is the crawl's.
pub async fn follow(
    context: &Context,
    question: &StreamQuestion<'_>,
    (since, limit): (Option<String>, Option<usize>),
) -> Result<()> {
    let mut folder = Folder::open(context, false).await?;
    let mut printer = Printer::new(context)?;
    let mut place = Place { since, told_of_next: Vec::new(), left: limit };
    let mut broken = 0;
    loop {
        let crawls = matches!(folder, Folder::Running { .. });
        let told = printer.told;
        let end = one_stream(&folder, question, &mut place, &mut printer).await;
        folder.close()?;
        let has_ended = place.left == Some(0) || !crawls;
        match end {
            Ended::Whole if has_ended => return Ok(()),
            Ended::Whole => broken = 0,
            Ended::Output(error) => return Err(error),
            Ended::Broken(error) => {
                broken = if printer.told > told { 0 } else { broken + 1 };
                if has_ended || broken > BROKEN_MAX {
                    return Err(error);
                }
            }
        }
        folder = next_crawl(context).await;
    }
}

/// How a stream ended.
enum Ended {
    /// At its end, or because the crawl stopped.
    Whole,
    Broken(Error),
    /// Nothing more can be printed.
    Output(Error),
}

async fn one_stream(
    folder: &Folder,
    question: &StreamQuestion<'_>,
    place: &mut Place,
    printer: &mut Printer<'_>,
) -> Ended {
    let asked = question(place.since.as_ref(), place.left);
    let answer = match folder.get(asked.text()).await {
        Ok(answer) => answer,
        Err(error) => return Ended::Broken(error),
    };
    let mut event = StreamedEvent::default();
    let mut failed = None;
    let read = answer
        .each_line(|line| {
            let Some(event) = event.line(line) else { return Ok(()) };
            let Some((data, row)) = place.next(event)? else { return Ok(()) };
            printer.print(&data, &row).map_err(|error| {
                failed = Some(error);
                Error::PipeClosed
            })
        })
        .await;
    match (failed, read) {
        (Some(error), _) => Ended::Output(error),
        (None, Err(error)) => Ended::Broken(error),
        (None, Ok(())) => Ended::Whole,
    }
}

/// Waits until a crawl answers again.
async fn next_crawl(context: &Context) -> Folder {
    let mut wait = LOOK_FIRST;
    let mut is_said = false;
    loop {
        if let Some(folder) = Folder::running(context).await {
            return folder;
        }
        if wait == LOOK_LAST && !std::mem::replace(&mut is_said, true) {
            tracing::info!("the crawl has ended; new events are told when it runs again");
        }
        tokio::time::sleep(wait).await;
        wait = (2 * wait).min(LOOK_LAST);
    }
}

/// One event of a stream as its lines come.
#[derive(Default)]
struct StreamedEvent {
    id: Option<String>,
    data: Option<String>,
}

impl StreamedEvent {
    /// Takes a line; gives the event that ends with it.
    fn line(&mut self, line: &str) -> Option<StreamedEvent> {
        match line.split_once(": ") {
            Some(("id", id)) => self.id = Some(id.to_owned()),
            Some(("data", data)) => self.data = Some(data.to_owned()),
            _ if line.is_empty() => return Some(std::mem::take(self)),
            _ => {}
        }
        None
    }
}

/// How far the reader is.
struct Place {
    /// The cursor up to which everything was printed, or where the reader wanted to begin.
    since: Option<String>,
    /// Rows of the next cursor that were printed before the stream broke off.
    told_of_next: Vec<[Value; 3]>,
    left: Option<usize>,
}

impl Place {
    /// What is to be printed of an event: nothing where it was printed before.
    fn next(&mut self, event: StreamedEvent) -> Result<Option<(String, Value)>> {
        let Some(data) = event.data else { return Ok(None) };
        let row: Value = serde_json::from_str(&data).or_fail()?;
        let name = ["id", "fold", "url"].map(|field| row[field].clone());
        let is_new = !self.told_of_next.contains(&name);
        if is_new {
            self.left = self.left.map(|left| left.saturating_sub(1));
            self.told_of_next.push(name);
        }
        if let Some(id) = event.id {
            self.since = Some(id);
            self.told_of_next.clear();
        }
        Ok(is_new.then_some((data, row)))
    }
}

struct Printer<'a> {
    context: &'a Context,
    sink: Sink,
    table: Option<Table>,
    told: u64,
}

impl<'a> Printer<'a> {
    fn new(context: &'a Context) -> Result<Printer<'a>> {
        let mut sink = Sink::stdout();
        let table = if context.json { None } else { Some(Table::at_once(&COLUMNS, &WIDTHS, &mut sink)?) };
        sink.flush()?;
        Ok(Printer { context, sink, table, told: 0 })
    }

    fn print(&mut self, data: &str, event: &Value) -> Result<()> {
        match &mut self.table {
            None => self.sink.line(data)?,
            Some(table) => table.row(&mut self.sink, row(self.context, event))?,
        }
        self.told += 1;
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_cursor_that_broke_off_are_told_once_and_none_is_left_out() {
        let text = |rows: &[(&str, &str, bool)]| -> String {
            let row = |(cursor, fold, is_last): &(&str, &str, bool)| {
                let id = if *is_last { format!("id: {cursor}\n") } else { String::new() };
                format!("{id}event: template\ndata: {{\"id\":\"e{cursor}\",\"fold\":\"{fold}\",\"url\":\"u\"}}\n\n")
            };
            rows.iter().map(row).collect()
        };
        let all = [("c1", "a", true), ("c2", "a", false), ("c2", "b", false), ("c2", "c", true), ("c3", "a", true)];
        for broken_at in 0..=text(&all).len() {
            let mut place = Place { since: None, told_of_next: Vec::new(), left: None };
            let mut told: Vec<String> = Vec::new();
            let mut read = |text: &str, place: &mut Place| {
                let mut event = StreamedEvent::default();
                for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
                    let Some(event) = event.line(line) else { continue };
                    told.extend(place.next(event).unwrap().map(|(data, _)| data));
                }
            };
            read(&text(&all)[..broken_at], &mut place);
            let from = place.since.clone().unwrap_or_default();
            let rest: Vec<_> = all.iter().copied().filter(|(cursor, ..)| *cursor > &*from).collect();
            read(&text(&rest), &mut place);
            assert_eq!(place.since.as_deref(), Some("c3"));
            let expected: Vec<String> =
                text(&all).lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect();
            assert_eq!(told, expected, "broken off at {broken_at}");
        }
    }
}
