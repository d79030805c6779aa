//! The token of this machine: whoever can read the data folder may steer the crawl through its loopback port.
//!
//! Every user of a machine reaches its loopback ports, but only the owner reads a file of mode 0600. Commands need no token,
//! because they go through the socket in the folder.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use vernal_api::random_text;

use crate::error::{Error, Result};

pub const FILE_NAME: &str = "local-token";

const MODE: u32 = 0o600;

/// Makes a new token and writes it into the folder, where it replaces the one of the last run.
pub fn make(dir: &Path) -> Result<String> {
    let path = dir.join(FILE_NAME);
    let wrong = |error: std::io::Error| Error::Failed(format!("write {}: {error}", path.display()));
    let token = random_text().map_err(wrong)?;
    // Written under another name and renamed, so that nobody reads half a token.
    let young = dir.join(format!("{FILE_NAME}.{}", std::process::id()));
    let _ = fs::remove_file(&young);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&young).map_err(wrong)?;
    writeln!(file, "{token}").map_err(wrong)?;
    fs::rename(&young, &path).map_err(wrong)?;
    Ok(token)
}

/// The token of the run that holds the folder.
pub fn of(dir: &Path) -> Option<String> {
    fs::read_to_string(dir.join(FILE_NAME)).ok().map(|token| token.trim().to_owned())
}

pub fn remove(dir: &Path) {
    // A token left behind opens nothing: the next run makes another.
    let _ = fs::remove_file(dir.join(FILE_NAME));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn every_run_has_a_token_of_its_own_that_only_the_owner_reads() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (make(dir.path()).unwrap(), make(dir.path()).unwrap());
        assert!(first != second && second.len() == 64);
        let path = dir.path().join(FILE_NAME);
        assert_eq!(of(dir.path()), Some(second));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        remove(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
