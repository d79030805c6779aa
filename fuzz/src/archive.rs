//! Laws of the crate `vernal-archive`: archives of other people that may hold any bytes, and pages that are shown from them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use vernal_archive::import::{Archives, Form};
use vernal_archive::replay::{Links, Target, css, html};
use vernal_model::{Moment, Url};

/// Files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| entry.expect("an entry").path().display().to_string()).collect()
}

/// Imports the bytes as each form: records come in the order of their dates, what is wrong is told, and no file is made.
///
/// # Panics
///
/// If a record is out of order or has no URL, or anything was written.
pub fn import(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a folder for one archive");
    for (form, name) in [(Form::Warc, "a.warc.gz"), (Form::Wacz, "a.wacz"), (Form::Cdxj, "index.cdxj")] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("write the archive");
        let before = files(dir.path());
        let opened = Archives::open(form, &[path], dir.path(), &mut |done, total| assert!(done <= total));
        if let Ok(mut archives) = opened {
            let mut last = Moment::EPOCH;
            for place in 0..archives.len() {
                let Some(record) = archives.record(place) else { continue };
                let date = record.date().expect("a prepared record has a date");
                assert!(last <= date, "records come in the order of their dates");
                last = date;
                let url = record.target().and_then(|target| Url::parse(target).ok());
                assert!(
                    url.is_some_and(|url| matches!(url.scheme(), "http" | "https")),
                    "a prepared record is of a page"
                );
                assert!(record.payload().is_some());
            }
        }
        assert_eq!(files(dir.path()), before, "no name in an archive becomes a file");
    }
}

/// Leads the links of the bytes as a page and as a style sheet, and reads them as a request.
///
/// # Panics
///
/// If a style sheet could end its element.
pub fn replay(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let links = Links::new(Moment::from_secs(1_500_000_000), Url::parse("http://a.example/x/").expect("a plain URL"));
    if let Some(page) = html(&text, &links) {
        let _ = html(&page, &links);
    }
    let sheet = css(&text, &links);
    assert!(sheet.matches('<').count() <= text.matches('<').count(), "no address brings a tag");
    let _ = Target::read(&text);
    if let Some(led) = links.led(&text) {
        assert!(led.starts_with('/') || led == "about:invalid", "{led} leads out of the archive");
    }
}
