//! The table of volatile information (paper 004, II B: a file beside the document that holds its changing parts, small
//! against the document itself, and written anew whenever one of them changes).
//!
//! A page names its table by `<link rel="volatile-information" href="…">`. The table is plain text in UTF-8:
//!
//! ```text
//! volatile-information 1
//! page /prices.html
//! part price 2026-11-02T10:00:00Z 17.20
//! part stock 2026-11-02T11:30:00Z 3 left
//! ```
//!
//! The first line is the format. `page` names the page that the parts below it belong to; one table may serve several.
//! `part` has a name, the date of its last change, and whatever else: a page's date is that of its youngest part.
//!
//! The paper's own naming is understood as well: a page with `Vol#` tags has its table beside it, in a file of the same name with
//! the extension `.TVI`, which holds the tags with their information. The paper does not write its lines down; here each begins
//! with a tag, as `<Vol#1>17.20</Vol#1>` or `Vol#1 17.20`. It has no dates and names no page: it has moved when anything in it
//! differs, and it speaks of the page that it was found by.

use vernal_model::{DateRange, Url};

use super::dates;

const FIRST_LINE: &str = "volatile-information 1";
/// The paper's tag and extension; case does not matter.
const TAG: &str = "vol#";
const EXTENSION: &str = "TVI";

/// Whether a tag of a page marks volatile information.
pub fn is_volatile_tag(name: &[u8]) -> bool {
    name.get(..TAG.len()).is_some_and(|start| start.eq_ignore_ascii_case(TAG.as_bytes()))
}

/// The table beside a page: the same name with the extension of tables. A page whose name is empty has none.
pub fn beside(page: &Url) -> Option<Url> {
    let file = page.path().rsplit('/').next().filter(|file| !file.is_empty())?;
    let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
    page.join(&format!("./{name}.{EXTENSION}")).ok()
}

/// Whether this is a table of the paper's own naming, by the end of its path and its first line.
pub fn is_beside(path: &str, text: &str) -> bool {
    let is_named = path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(EXTENSION));
    let first = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty());
    let tag = first.map(|line| line.strip_prefix('<').unwrap_or(line).as_bytes());
    is_named && tag.is_some_and(is_volatile_tag)
}

pub fn is_table(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim() == FIRST_LINE)
}

/// Gives each page with the date of its youngest part.
pub fn each_page(text: &str, take: &mut dyn FnMut(&str, Option<DateRange>)) -> Option<&'static str> {
    let mut page: Option<(&str, Option<DateRange>)> = None;
    let mut fault = None;
    for line in text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()) {
        match (line.split_once(' '), &mut page) {
            (Some(("page", name)), page) => {
                if let Some((name, stamp)) = page.replace((name.trim(), None)) {
                    take(name, stamp);
                }
            }
            (Some(("part", rest)), Some((_, youngest))) => {
                let date = rest.split_ascii_whitespace().nth(1).and_then(dates::stamp);
                if date.is_some_and(|date| youngest.is_none_or(|other| date.from > other.from)) {
                    *youngest = date;
                }
            }
            _ => fault = Some("some lines are neither a page nor a part of one"),
        }
    }
    if let Some((name, stamp)) = page {
        take(name, stamp);
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lies_beside_its_page_under_the_same_name() {
        let table = |page: &str| beside(&Url::parse(page).unwrap()).map(|table| table.to_string());
        assert_eq!(table("http://a.example/b/prices.html?x=1").as_deref(), Some("http://a.example/b/prices.TVI"));
        assert_eq!(table("http://a.example/prices").as_deref(), Some("http://a.example/prices.TVI"));
        assert_eq!(table("http://a.example/b/"), None);
        assert!(is_volatile_tag(b"Vol#12") && is_volatile_tag(b"VOL#") && !is_volatile_tag(b"volume"));
        assert!(is_beside("/prices.TVI", "\n<Vol#1>17.20</Vol#1>\n") && is_beside("/a.tvi", "vol#2 3 left"));
        assert!(!is_beside("/prices.txt", "Vol#1 17.20") && !is_beside("/prices.TVI", "not found"));
    }

    #[test]
    fn a_page_is_as_young_as_its_youngest_part() {
        let text = "volatile-information 1\npage /a\npart price 2026-11-02T10:00:00Z 17\npart stock 2026-11-03T00:00:00Z 3 left\n\npage /b\npart x never\nnoise\n";
        assert!(is_table(text));
        let mut rows = Vec::new();
        let fault =
            each_page(text, &mut |page, stamp| rows.push((page.to_owned(), stamp.map(|stamp| stamp.from.warc_date()))));
        assert_eq!(rows, [("/a".to_owned(), Some("2026-11-03T00:00:00Z".to_owned())), ("/b".to_owned(), None)]);
        assert!(fault.is_some());
        assert!(!is_table("volatile information"));
    }
}
