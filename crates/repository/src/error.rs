//! The errors of this crate. Each names the act that failed and its object.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the repository itself, never an answer of a site.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{act} {}: {source}", path.display())]
    Io { act: &'static str, path: PathBuf, source: io::Error },
    #[error("segment {segment} is damaged at byte {offset}: {what}")]
    Corrupt { what: String, segment: u32, offset: u64 },
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    CorruptFile { what: String, path: PathBuf, offset: u64 },
    #[error("keep a record of {bytes} bytes: more than {limit}")]
    RecordTooLarge { bytes: u64, limit: u64 },
    #[error("segment {0} is not here")]
    SegmentMissing(u32),
    #[error("{} is in use by process {process}", dir.display())]
    Held { dir: PathBuf, process: String },
    #[error("{} was made by a newer Vernal: its format is `{found}`, this one reads `{ours}`", dir.display())]
    NewerFormat { dir: PathBuf, found: String, ours: String },
    #[error(
        "{} was made by an older Vernal: its format is `{found}`, this one reads `{ours}`; `vernal verify --repair` makes \
         it anew from its segments, and keeps seeds and what a person decided",
        dir.display()
    )]
    OlderFormat { dir: PathBuf, found: String, ours: String },
    #[error("{} is no repository that this Vernal can read: {why}", dir.display())]
    NotOurs { dir: PathBuf, why: String },
    #[error("{act}: {}", plainly(source))]
    Tables { act: &'static str, source: fjall::Error },
    #[error("read a row of table {table}: {why}")]
    Row { table: &'static str, why: String },
    #[error("append a group of {bytes} bytes to the journal: more than {limit}")]
    GroupTooLarge { bytes: u64, limit: u64 },
    #[error("a repair of {} was cut short; `vernal verify --repair` begins it again", .0.display())]
    RepairUnfinished(PathBuf),
    #[error(
        "the folder cannot be written, and its journal and tables are more than {limit} bytes, too much to be copied"
    )]
    CopyTooLarge { limit: u64 },
    #[error("an earlier write failed, so nothing more is written until the repository is opened again")]
    Broken,
    #[error("`{0}` is no cursor: it is `c` and hexadecimal digits, as the feed gave it")]
    NotACursor(String),
    #[error("`{0}` is no id of an event: the feed gives each event one, such as e3-17")]
    NotAnEvent(String),
}

impl Error {
    /// Whether the error shows that files are damaged, so that a repair may help. A full disk or a missing permission does not.
    pub fn is_damage(&self) -> bool {
        let of_ours = |error: &Error| {
            matches!(
                error,
                Error::RepairUnfinished(_)
                    | Error::SegmentMissing(_)
                    | Error::Corrupt { .. }
                    | Error::OlderFormat { .. }
            )
        };
        of_ours(self) || crate::recover::is_damage(self)
    }

    /// Whether the folder cannot be written: a read-only mount, a full disk, or a missing permission.
    pub fn is_unwritable(&self) -> bool {
        let kind = match self {
            Error::Io { source, .. } => source.kind(),
            Error::Tables { source: fjall::Error::Io(error), .. } => error.kind(),
            Error::Tables { source: fjall::Error::Storage(fjall::LsmError::Io(error)), .. } => error.kind(),
            _ => return false,
        };
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        matches!(kind, PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
    }

    /// Whether the error shows that the tables are damaged, which are a cache: see [`crate::note_damage`].
    pub fn is_of_cache(&self) -> bool {
        crate::recover::is_damage_of_tables(self)
    }

    /// For `map_err`: names the act and the file.
    pub(crate) fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { act, path, source }
    }

    /// For `map_err`: names what was asked of the embedded store.
    pub(crate) fn tables(act: &'static str) -> impl FnOnce(fjall::Error) -> Error {
        move |source| Error::Tables { act, source }
    }

    pub(crate) fn row(table: &'static str, why: impl ToString) -> Error {
        Error::Row { table, why: why.to_string() }
    }
}

/// The message of a store error. Input and output errors are shown in the words of the system, which are shorter.
fn plainly(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => error.to_string(),
        other => other.to_string(),
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_in_the_words_of_the_system() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for error in [fjall::Error::Io(full()), fjall::Error::Storage(fjall::LsmError::Io(full()))] {
            let told = Error::tables("write the tables")(error);
            assert_eq!(told.to_string(), format!("write the tables: {}", full()));
            assert!(!told.is_damage() && told.is_unwritable());
        }
    }
}
