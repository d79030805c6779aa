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

use vernal_model::DateRange;

use super::dates;

const FIRST_LINE: &str = "volatile-information 1";

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
