//! Places on disk: files that appear whole or not at all.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What is one file goes into a folder by a name of ours; the folder is made if there is none.
pub fn file_of(out: &str, name: &str) -> Result<String> {
    let path = Path::new(out);
    if out == "-" || !out.ends_with('/') && !path.is_dir() {
        return Ok(out.to_owned());
    }
    make_folder(path)?;
    Ok(path.join(name).display().to_string())
}

pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| failed("create", path, &error))
}

/// The name of a file until it is whole.
pub fn passing(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Gives a whole file its name.
pub fn settle(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(|error| failed("sync", path, &error))?;
    fs::rename(passing(path), path).map_err(|error| failed("name", path, &error))
}

/// Writes a small file at once.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    let passing = passing(path);
    fs::write(&passing, text).map_err(|error| failed("write", &passing, &error))?;
    fs::rename(&passing, path).map_err(|error| failed("name", path, &error))
}

pub fn failed(act: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("{act} {}: {error}", path.display()))
}
