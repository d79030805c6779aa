//! Worlds from recordings of real pages.
//!
//! - [`selection`]: which sites, pages, kinds and days of a recording make a world, and the named selections.
//! - `rows`: the rows of a trace file, one at a time, with errors that name line and column.
//! - `replay`: rows become a world.
//! - [`own`]: one's own crawl as a trace.
//! - [`recrawl`]: the format of Microsoft's Optimal-Freshness-Crawl-Scheduling release.
//!
//! A trace is a CSV file, gzipped or not, with the columns `site,page,change_time_unix,bytes,kind` and one row for each
//! change, sorted by site, page and time; or the same rows as JSON lines, as `GET /trace` gives them. A page is online from its first row (or `create`) to its `delete`; a page that
//! is created again goes on with the same life, and both instants count as changes. It reaches to its last row, or to the
//! last visit if the head file beside it ([`own::Head`]) tells of a later one.

pub mod own;
pub mod recrawl;
mod replay;
mod rows;
pub mod selection;

use std::path::Path;

use super::world::World;
use crate::{Error, Result};

pub use replay::Summary;
pub use selection::Selection;

/// Reads the selected part of a trace file.
pub fn load(path: &Path, selection: &Selection) -> Result<(World, Summary)> {
    let selection = begun(&ended(selection, path), || rows_of(path))?;
    replay::replay(rows_of(path)?, &selection, &mut Err)
}

/// Reads the selected part of a trace from bytes; `name` is for errors.
pub fn read(bytes: &[u8], name: &str, selection: &Selection) -> Result<(World, Summary)> {
    let rows = || rows::Rows::new(std::io::Cursor::new(bytes.to_vec()), name);
    let selection = begun(selection, rows)?;
    replay::replay(rows()?, &selection, &mut Err)
}

fn rows_of(path: &Path) -> Result<rows::Rows> {
    let file = std::fs::File::open(path).map_err(|source| Error::TraceUnreadable { path: path.to_owned(), source })?;
    rows::Rows::new(file, &path.display().to_string())
}

/// The head beside a trace says to when it reaches.
fn ended(selection: &Selection, path: &Path) -> Selection {
    let observed_until = selection.observed_until.or_else(|| own::Head::of(path)?.observed_until());
    Selection { observed_until, ..selection.clone() }
}

/// A selection with a length and no beginning means the first days of the selected rows. When these are must be known
/// before pages are taken, so the recording is read twice then.
fn begun(selection: &Selection, rows: impl FnOnce() -> Result<rows::Rows>) -> Result<Selection> {
    let mut selection = selection.clone();
    if selection.from.is_none() && selection.days.is_some() {
        selection.from = replay::first_moment(rows()?, &selection);
    }
    Ok(selection)
}

/// With more bad rows than this, the file is taken for something else.
const WRONG_MAX: usize = 1_000;

/// Reads the selected part and passes over bad rows, each of which is returned with its line. A file whose head is no
/// trace's, or that has more than a thousand bad rows, is refused all the same.
pub fn load_good_rows(path: &Path, selection: &Selection) -> Result<(World, Summary, Vec<Error>)> {
    let selection = begun(&ended(selection, path), || rows_of(path))?;
    let mut wrong = Vec::new();
    let mut pass_over = |error: Error| match &error {
        Error::TraceMalformed { .. } if wrong.len() < WRONG_MAX => {
            wrong.push(error);
            Ok(())
        }
        _ => Err(error),
    };
    match (replay::replay(rows_of(path)?, &selection, &mut pass_over), wrong.first()) {
        (Ok((world, summary)), _) => Ok((world, summary, wrong)),
        // Where too little is left, the rows that were passed over are why.
        (Err(Error::Lab(why)), Some(first)) => {
            Err(Error::Lab(format!("{why}; rows passed over as bad: {}, the first: {first}", wrong.len())))
        }
        (Err(error), _) => Err(error),
    }
}
