//! Which records of which files a CDXJ index names. The files lie beside the index or below it, never elsewhere.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::zip_entries::wrong_name;

/// Bytes of one line.
const LINE_BYTES_MAX: u64 = 64 << 10;

#[derive(Deserialize)]
struct Named {
    filename: String,
    offset: Value,
}

/// One record that an index names: its file, and where in it.
pub(super) struct Line {
    pub filename: String,
    pub offset: u64,
}

/// Reads the lines of an index; what is wrong with one is told by its number.
pub(super) fn lines(path: &Path, mut each: impl FnMut(Result<Line, String>) -> bool) -> std::io::Result<()> {
    let mut input = BufReader::new(File::open(path)?);
    let mut number = 0u64;
    loop {
        let mut text = Vec::new();
        let read = (&mut input).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut text)?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        let line = match read as u64 > LINE_BYTES_MAX {
            true => Err(format!("line {number} is longer than {LINE_BYTES_MAX} bytes")),
            false => line(&String::from_utf8_lossy(&text)).map_err(|why| format!("line {number}: {why}")),
        };
        let is_too_long = read as u64 > LINE_BYTES_MAX;
        // A header of the index begins with an exclamation mark.
        if text.starts_with(b"!") || text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if !each(line) || is_too_long {
            return Ok(());
        }
    }
}

fn line(text: &str) -> Result<Line, String> {
    let json = text.splitn(3, ' ').nth(2).ok_or("it has no fields")?;
    let named: Named = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let offset = match &named.offset {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    Ok(Line { filename: named.filename, offset: offset.ok_or("its offset is no number")? })
}

/// The file that an index names, if it lies in the folder of the index. Some indexes name files of a WACZ, which lie in `archive`.
pub(super) fn file_beside(index: &Path, filename: &str) -> Result<PathBuf, String> {
    if let Some(wrong) = wrong_name(filename) {
        return Err(format!("{filename}: {wrong}"));
    }
    let folder = index.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for path in [folder.join(filename), folder.join("archive").join(filename)] {
        let Ok(real) = fs::canonicalize(&path) else { continue };
        let home = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        return match real.starts_with(&home) && real.is_file() {
            true => Ok(real),
            false => Err(format!("{filename}: it leads out of the folder of the index")),
        };
    }
    Err(format!("{filename} is not beside the index"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_file_and_a_place() {
        let good = "com,example)/ 20260501120000 {\"url\":\"http://example.com/\",\"filename\":\"a.warc.gz\",\"offset\":\"17\"}";
        let line_of = |text: &str| line(text).map(|line| (line.filename, line.offset));
        assert_eq!(line_of(good), Ok(("a.warc.gz".to_owned(), 17)));
        assert_eq!(line_of(&good.replace("\"17\"", "17")), Ok(("a.warc.gz".to_owned(), 17)));
        for text in ["", "a b", "a b {", "a b {\"filename\":\"x\",\"offset\":-1}", "a b {\"offset\":1}", "a b []"] {
            assert!(line_of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_outside_the_folder_is_never_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (index, inside) = (dir.path().join("in/index.cdxj"), dir.path().join("in/a.warc"));
        fs::create_dir(dir.path().join("in")).unwrap();
        fs::write(&inside, b"x").unwrap();
        fs::write(dir.path().join("b.warc"), b"x").unwrap();
        std::os::unix::fs::symlink("../b.warc", dir.path().join("in/c.warc")).unwrap();
        assert!(file_beside(&index, "a.warc").is_ok());
        for name in ["../b.warc", "c.warc", "/etc/passwd", "none.warc", "."] {
            assert!(file_beside(&index, name).is_err(), "{name}");
        }
    }
}
