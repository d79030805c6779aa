//! Parquet in a folder: one folder for each table, one file for each export, named by its cursor. Readers take all files of a table
//! together. An export into a folder that has one adds what changed since.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;

use super::arguments::{Arguments, Table};
use super::file::cursor_of;
use super::markdown::Round;
use super::place;
use super::question::of_scope;
use super::run::Exported;
use super::transfer::Transfer;
use crate::command::Context;
use crate::error::{Error, Result};
use crate::runtime::folder::Folder;

const TABLES: [Table; 5] = [Table::Pages, Table::Versions, Table::Paragraphs, Table::Events, Table::Visits];

pub async fn export(context: &Context, folder: &Folder, arguments: &Arguments) -> Result<Exported> {
    let dir = Path::new(&arguments.out);
    place::make_folder(dir)?;
    let round = Round::begin(dir, arguments)?;
    // All tables are of the state that the first of them names.
    let mut cursor = round.begun.as_ref().map(|begun| begun.cursor.clone());
    let mut files = Vec::new();
    for table in TABLES.into_iter().filter(|table| *table != Table::Visits || arguments.with_visits) {
        let in_table = dir.join(table.name());
        place::make_folder(&in_table)?;
        // A file that stands there was whole when the export broke off.
        if let Some(known) = &cursor
            && in_table.join(format!("{known}.parquet")).exists()
            && round.begun.is_some()
        {
            files.push(format!("{}/{known}.parquet", table.name()));
            continue;
        }
        let question = of_scope(arguments)
            .with("table", Some(table.name()))
            .with("since", round.since.as_ref())
            .with("until", cursor.as_ref());
        let answer = folder.get(question.text()).await?;
        let named = cursor_of(&answer)?;
        if cursor.is_none() {
            round.note(&named, None)?;
        }
        let path = in_table.join(format!("{named}.parquet"));
        let passing = place::passing(&path);
        let file = File::create(&passing).map_err(|error| place::failed("create", &passing, &error))?;
        let mut file = BufWriter::new(file);
        let name = path.display().to_string();
        let written = Transfer::new(context, format!("export {}", table.name()))
            .bytes(answer, |part| file.write_all(part).map_err(|error| Error::writing(&name, &error)))
            .await;
        let written = written.and_then(|()| file.flush().map_err(|error| Error::writing(&name, &error)));
        if let Err(error) = written {
            let _ = fs::remove_file(&passing);
            return Err(error);
        }
        place::settle(file.get_ref(), &path)?;
        files.push(format!("{}/{named}.parquet", table.name()));
        cursor = Some(named);
    }
    let cursor = cursor.unwrap_or_default();
    let mut manifest = json!({
        "format": "parquet",
        "schema": 1,
        "cursor": cursor,
        "since": round.since,
        "made": crate::runtime::clock::wall().rfc3339(),
        "files": files,
        "version": env!("CARGO_PKG_VERSION"),
    });
    round.end(&mut manifest)?;
    Ok(Exported { cursor, out: arguments.out.clone(), told: manifest })
}
