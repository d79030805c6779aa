//! Running heads and page numbers: what stands at the edge of many pages, alike but for its numbers.

use std::collections::HashMap;

use super::rows::Row;

/// The parts of a page's height in which its frame stands.
const HEAD_TO: f32 = 0.09;
const FOOT_FROM: f32 = 0.91;

/// So many rows at each edge are looked at.
const EDGE_ROWS: usize = 3;

/// The least share of the pages on which a running head is met.
const PAGES_SHARE_MIN: f32 = 0.25;

/// Longer rows are no running heads.
const FRAME_BYTES_MAX: usize = 150;

/// The room between the frame and the text, in parts of the text's size. Lines of one text stand closer.
const GAP_MIN: f32 = 1.5;

/// What a row of a page is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Body,
    Head,
    Foot,
}

/// The rows of one page from top to bottom, and its height.
pub struct Sheet<'r> {
    pub rows: &'r [Row],
    pub height: f32,
}

/// For each row of each page, whether it belongs to the frame.
pub fn frames_of(sheets: &[Sheet<'_>]) -> Vec<Vec<Place>> {
    let mut met: HashMap<(Place, String), usize> = HashMap::new();
    let edges: Vec<Vec<Option<Place>>> = sheets.iter().map(edge_of).collect();
    for (sheet, edges) in sheets.iter().zip(&edges) {
        let mut of_page: Vec<(Place, String)> = Vec::new();
        for (row, edge) in sheet.rows.iter().zip(edges) {
            if let Some(edge) = edge {
                of_page.push((*edge, pattern(&row.text())));
            }
        }
        of_page.sort();
        of_page.dedup();
        for found in of_page {
            *met.entry(found).or_default() += 1;
        }
    }
    let pages = sheets.len();
    let enough = ((pages as f32 * PAGES_SHARE_MIN).ceil() as usize).max(2);
    let may_be_frame = |row: &Row, edge: Option<Place>| {
        let Some(edge) = edge else { return false };
        let text = row.text();
        let repeats = || met.get(&(edge, pattern(&text))).is_some_and(|count| *count >= enough);
        row.is_artifact() || pages > 1 && (text.len() <= FRAME_BYTES_MAX && repeats() || is_page_number(&text))
    };
    let of_page = |(sheet, edges): (&Sheet<'_>, &Vec<Option<Place>>)| {
        let may_be: Vec<bool> = sheet.rows.iter().zip(edges).map(|(row, edge)| may_be_frame(row, *edge)).collect();
        places_of(sheet.rows, edges, &may_be)
    };
    sheets.iter().zip(&edges).map(of_page).collect()
}

/// The frame lies outside of all text, with room between.
fn places_of(rows: &[Row], edges: &[Option<Place>], may_be: &[bool]) -> Vec<Place> {
    let is = |place: usize, wanted: Place| may_be[place] && edges[place] == Some(wanted);
    let apart = |above: usize, below: usize| {
        let (above, below) = (&rows[above], &rows[below]);
        below.down - above.down >= GAP_MIN * below.size.max(above.size)
    };
    let mut heads = (0..rows.len()).take_while(|place| is(*place, Place::Head)).count();
    while heads > 0 && (heads == rows.len() || !apart(heads - 1, heads)) && !rows[heads - 1].is_artifact() {
        heads -= 1;
    }
    let mut feet = (heads..rows.len()).rev().take_while(|place| is(*place, Place::Foot)).count();
    let first = |feet: usize| rows.len() - feet;
    while feet > 0 && first(feet) > 0 && !apart(first(feet) - 1, first(feet)) && !rows[first(feet)].is_artifact() {
        feet -= 1;
    }
    let place = |place: usize| match place {
        place if place < heads => Place::Head,
        place if place >= first(feet) => Place::Foot,
        _ => Place::Body,
    };
    (0..rows.len()).map(place).collect()
}

/// The rows that stand where frames do.
fn edge_of(sheet: &Sheet<'_>) -> Vec<Option<Place>> {
    let last = sheet.rows.len().saturating_sub(EDGE_ROWS);
    let edge = |(place, row): (usize, &Row)| {
        if place < EDGE_ROWS && row.down < sheet.height * HEAD_TO {
            Some(Place::Head)
        } else if place >= last && row.down > sheet.height * FOOT_FROM {
            Some(Place::Foot)
        } else {
            None
        }
    };
    sheet.rows.iter().enumerate().map(edge).collect()
}

/// The text with every number made the same.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    let mut in_number = false;
    for letter in text.chars() {
        let is_digit = letter.is_numeric();
        if !is_digit {
            pattern.extend(letter.to_lowercase());
        } else if !in_number {
            pattern.push('#');
        }
        in_number = is_digit;
    }
    pattern
}

/// "12", "- 12 -", "Page 3 of 9", "iv".
fn is_page_number(text: &str) -> bool {
    const WORDS: [&str; 12] = ["page", "seite", "página", "pagina", "p", "s", "pg", "of", "von", "de", "sur", "/"];
    let (mut numbers, mut has_words) = (0, false);
    for word in
        text.split(|letter: char| letter.is_whitespace() || matches!(letter, '-' | '–' | '—' | '.' | '|' | '[' | ']'))
    {
        let word = word.to_lowercase();
        let is_number = !word.is_empty()
            && (word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_digit())
                || word.len() <= 6 && word.bytes().all(|byte| b"ivxl".contains(&byte))
                || word.split_once('/').is_some_and(|(one, all)| is_digits(one) && is_digits(all)));
        if is_number {
            numbers += 1;
        } else if WORDS.contains(&word.as_str()) {
            has_words = true;
        } else if !word.is_empty() {
            return false;
        }
    }
    numbers == 1 || numbers == 2 && has_words
}

fn is_digits(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::letters::Mark;
    use super::super::rows::rows_of;
    use super::super::words::Word;
    use super::*;

    fn page(lines: &[(&str, f32)]) -> Vec<Row> {
        let word = |&(text, down): &(&str, f32)| Word {
            text: text.into(),
            start: 50.0,
            end: 90.0,
            down,
            size: 10.0,
            mark: Mark::None,
            link: None,
            spaced: true,
        };
        rows_of(lines.iter().map(word).collect())
    }

    #[test]
    fn what_repeats_at_the_edge_is_frame_and_what_stands_inside_is_not() {
        let pages: Vec<Vec<Row>> = (1..=4)
            .map(|number| {
                let (head, foot) = (format!("Report 2024, part {number}"), format!("- {number} -"));
                page(&[(&head, 30.0), ("Words", 60.0), (&head, 400.0), (&foot, 770.0), (&head, 781.0)])
            })
            .collect();
        let sheets: Vec<Sheet<'_>> = pages.iter().map(|rows| Sheet { rows, height: 800.0 }).collect();
        for places in frames_of(&sheets) {
            assert_eq!(places[0], Place::Head);
            assert_eq!(places[2], Place::Body);
            assert_eq!(places[3..], [Place::Foot, Place::Foot]);
        }
    }

    #[test]
    fn lines_of_one_text_are_no_frame_though_each_page_begins_alike() {
        let pages: Vec<Vec<Row>> =
            (1..=4).map(|number| page(&[(&format!("Line 1 of page {number}"), 40.0), ("Line 2", 52.0)])).collect();
        let sheets: Vec<Sheet<'_>> = pages.iter().map(|rows| Sheet { rows, height: 800.0 }).collect();
        assert!(frames_of(&sheets).concat().iter().all(|place| *place == Place::Body));
    }

    #[test]
    fn page_numbers_are_known_by_themselves() {
        for (text, expected) in [
            ("12", true),
            ("Page 3 of 9", true),
            ("3/9", true),
            ("iv", true),
            ("Chapter 3", false),
            ("2024-05", false),
            ("", false),
        ] {
            assert_eq!(is_page_number(text), expected, "{text}");
        }
    }
}
