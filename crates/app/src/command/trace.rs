//! One's own crawl as a trace: for `export trace`, and for `lab replay` without one.

use std::io::Write;
use std::path::Path;

use vernal_simulator::lab::trace::own::{Head, OwnRow, Writer};

use crate::error::{Error, OrFail, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

/// Writes the trace and the head file beside it; gives the number of rows.
pub async fn export(folder: &Folder, out: &str, cursor: &str) -> Result<Option<u64>> {
    let (bytes, head) = whole(folder).await?;
    let head = Head { cursor: cursor.to_owned(), ..head };
    tracing::warn!("{}", &head.note);
    let mut sink = Sink::named(out)?;
    if out.ends_with(".gz") {
        let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        zipped.write_all(&bytes).and_then(|()| zipped.try_finish()).or_fail()?;
        sink.bytes(zipped.get_ref())?;
    } else {
        sink.bytes(&bytes)?;
    }
    sink.flush()?;
    if out != "-" {
        let path = Head::path(Path::new(out));
        let text = serde_json::to_string_pretty(&head).or_fail()?;
        std::fs::write(&path, text + "\n").map_err(|error| Error::writing(&path.display().to_string(), &error))?;
    }
    Ok(Some(head.rows))
}

/// The whole trace in memory: a line for each change that was ever found.
pub async fn whole(folder: &Folder) -> Result<(Vec<u8>, Head)> {
    let answer = folder.get("/api/v1/trace").await?;
    let mut writer = Writer::new(Vec::new()).or_fail()?;
    answer
        .each_line(|line| {
            let row: OwnRow = serde_json::from_str(line).or_fail()?;
            writer.row(&row).or_fail()
        })
        .await?;
    writer.end().or_fail()
}
