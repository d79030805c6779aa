//! The events of an export: those of its pages that are in one state and not in the other.

use std::io::Write;

use serde_json::{Map, Value, json};
use vernal_model::Event;
use vernal_repository::{Cursor, EventId, Reader};

use super::Result;
use super::asked::Asked;
use super::json_lines::line;
use super::pages::Progress;
use super::tables::{self, Table};

/// Events that are read at once.
const BATCH: usize = 256;

/// Gives them to `each` in the order of the feed.
pub fn each_event(
    reader: &Reader,
    asked: &Asked,
    told: &mut dyn FnMut(Progress),
    each: &mut dyn FnMut(Cursor, EventId, &Event) -> Result<()>,
) -> Result<()> {
    let mut after = asked.from.filter(|from| from.moment.is_none()).map_or(Cursor::START, |from| from.cursor);
    let mut progress = Progress::default();
    loop {
        let batch = reader.events(after, BATCH)?;
        let Some((last, _, _)) = batch.last() else { return Ok(()) };
        after = *last;
        for (cursor, id, event) in batch {
            let is_between = asked.to.has(cursor, &event) && asked.from.is_none_or(|from| !from.has(cursor, &event));
            if is_between && asked.filter.has(&event.url) {
                each(cursor, id, &event)?;
            }
            progress.pages += 1;
            told(progress);
        }
        if after >= asked.to.cursor {
            return Ok(());
        }
    }
}

/// Writes each as a line of JSON with the fields of the table of events. Gives their count.
pub fn lines(reader: &Reader, asked: &Asked, told: &mut dyn FnMut(Progress), out: &mut dyn Write) -> Result<u64> {
    let mut count = 0;
    each_event(reader, asked, told, &mut |cursor, id, event| {
        count += 1;
        let names = Table::Events.columns().iter().map(|(name, _)| (*name).to_owned());
        let values = tables::event(cursor, id, event, &asked.filter).into_iter().map(value);
        line(out, &names.zip(values).collect::<Map<String, Value>>())
    })?;
    Ok(count)
}

fn value(value: tables::Value) -> Value {
    use tables::Value as Cell;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        Cell::None => Value::Null,
        Cell::Text(text) => text.into(),
        Cell::Texts(texts) => texts.into(),
        Cell::Whole(number) => number.into(),
        // Its few digits are those of the smaller number that it was.
        Cell::Number(number) => (number as f32).to_string().parse::<f64>().unwrap_or(number).into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Time(moment) => moment.rfc3339().into(),
        Cell::Bytes(bytes) => hex(&bytes).into(),
        Cell::Changes(changes) => changes
            .into_iter()
            .map(|one| {
                json!({ "op": one.operation, "id": one.id, "digest": hex(&one.digest), "role": one.role,
                    "position": one.position, "headings": one.headings, "before": one.before, "after": one.after })
            })
            .collect(),
    }
}
