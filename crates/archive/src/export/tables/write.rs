//! Writes one table as one Parquet file, row group by row group.

use std::io::Write;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use vernal_model::Event;
use vernal_repository::{Cursor, Reader};

use super::columns::{Columns, Value};
use super::rows;
use super::schema::Table;
use crate::export::Result;
use crate::export::asked::Asked;
use crate::export::difference::Line;
use crate::export::events::each_event;
use crate::export::json_lines::each_line;
use crate::export::manifest::Manifest;
use crate::export::pages::{Progress, Step, walk};

/// Rows that are gathered before they become columns.
const BATCH_ROWS: usize = 1_024;
/// A row group is closed when it has so many bytes in memory …
const GROUP_BYTES: usize = 16 << 20;
/// … or so many rows.
const GROUP_ROWS: usize = 128 << 10;

struct TableWriter<W: Write + Send> {
    columns: Columns,
    writer: ArrowWriter<W>,
    group_rows: usize,
}

impl<W: Write + Send> TableWriter<W> {
    fn new(table: Table, out: W) -> Result<TableWriter<W>> {
        let columns = Columns::of(table);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("vernal {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = ArrowWriter::try_new(out, columns.schema().clone(), Some(properties))?;
        Ok(TableWriter { columns, writer, group_rows: 0 })
    }

    fn row(&mut self, row: Vec<Value>) -> Result<()> {
        self.columns.push(row)?;
        if self.columns.rows() >= BATCH_ROWS { self.write_batch() } else { Ok(()) }
    }

    fn write_batch(&mut self) -> Result<()> {
        if self.columns.rows() == 0 {
            return Ok(());
        }
        self.group_rows += self.columns.rows();
        self.writer.write(&self.columns.batch()?)?;
        if self.writer.in_progress_size() >= GROUP_BYTES || self.group_rows >= GROUP_ROWS {
            self.writer.flush()?;
            self.group_rows = 0;
        }
        Ok(())
    }

    fn finish(mut self, manifest: &Manifest) -> Result<()> {
        self.write_batch()?;
        let told = serde_json::to_string(manifest)?;
        self.writer.append_key_value_metadata(KeyValue::new("vernal-export".into(), told));
        self.writer.close()?;
        Ok(())
    }
}

/// Writes one table; its manifest also lies in the file, as `vernal-export`.
pub fn write<W: Write + Send>(
    reader: &Reader,
    asked: &Asked,
    table: Table,
    told: &mut dyn FnMut(Progress),
    out: W,
) -> Result<Manifest> {
    asked.check(reader)?;
    let mut writer = TableWriter::new(table, out)?;
    let mut manifest = Manifest::of(asked, "parquet");
    match table {
        Table::Paragraphs => walk(reader, asked, &mut manifest, told, &mut |step, manifest| {
            paragraphs(reader, asked, step, manifest, &mut writer)
        })?,
        Table::Events => each_event(reader, asked, told, &mut |cursor, id, event| {
            manifest.events += 1;
            writer.row(rows::event(cursor, id, event, &asked.filter))
        })?,
        Table::Pages | Table::Versions | Table::Visits => {
            whole_pages(reader, asked, table, &mut manifest, told, &mut writer)?;
        }
    }
    writer.finish(&manifest)?;
    Ok(manifest)
}

fn paragraphs<W: Write + Send>(
    reader: &Reader,
    asked: &Asked,
    mut step: Step<'_>,
    manifest: &mut Manifest,
    writer: &mut TableWriter<W>,
) -> Result<()> {
    let (key, url) = (step.key, step.url.clone());
    each_line((reader, asked), &mut step, manifest, &mut |line, rows_now| match line {
        Line::Upsert(row) => writer.row(rows::paragraph("upsert", row)),
        // A column cannot say that it is unchanged: the row is whole.
        Line::Patch { id, .. } => {
            let row = rows_now.iter().find(|row| row.id == *id);
            row.map_or(Ok(()), |row| writer.row(rows::paragraph("patch", row)))
        }
        Line::Delete(delete) => writer.row(rows::removed(key, &url, delete)),
    })
}

/// Rows about pages, versions or visits: of a difference, those of pages that have events in it.
fn whole_pages<W: Write + Send>(
    reader: &Reader,
    asked: &Asked,
    table: Table,
    manifest: &mut Manifest,
    told: &mut dyn FnMut(Progress),
    writer: &mut TableWriter<W>,
) -> Result<()> {
    let mut progress = Progress::default();
    for page in reader.pages_after(asked.after) {
        let page = page?;
        progress.pages += 1;
        told(progress);
        if !asked.filter.has(&page.url) {
            continue;
        }
        let events: Vec<(Cursor, Event)> =
            reader.page_events(page.key)?.into_iter().map(|(cursor, _, event)| (cursor, event)).collect();
        let is_in = |(cursor, event): &&(Cursor, Event)| {
            asked.to.has(*cursor, event) && asked.from.is_none_or(|from| !from.has(*cursor, event))
        };
        let told: Vec<&Event> = events.iter().filter(is_in).map(|(_, event)| event).collect();
        if asked.from.is_some() && told.is_empty() {
            continue;
        }
        manifest.pages += 1;
        match table {
            Table::Versions => {
                for version in reader.versions(page.key)? {
                    let is_it =
                        |event: &&&Event| event.version == Some(version.number) && event.version != event.previous;
                    let made_by = told.iter().find(is_it).copied();
                    // A version without an event of its own is from before there were any.
                    let is_old = !events.iter().any(|(_, event)| event.version == Some(version.number));
                    if made_by.is_some() || is_old && asked.from.is_none() {
                        writer.row(rows::version(page.key, &page.url, &version, made_by))?;
                    }
                }
            }
            Table::Visits => {
                for visit in reader.visits(page.key)? {
                    writer.row(rows::visit(page.key, &page.url, &visit))?;
                }
            }
            _ => writer.row(rows::page(&page, &asked.filter, told.last().copied()))?,
        }
    }
    Ok(())
}
