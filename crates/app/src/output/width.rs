//! How many columns of a terminal a text takes, and texts cut to so many.

/// Letters that take two columns, as the East Asian width of Unicode tells, and pictures.
const WIDE: [(char, char); 14] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{33ff}'),
    ('\u{3400}', '\u{4dbf}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{a000}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// Letters that stand on the one before them.
const COMBINING: [(char, char); 6] = [
    ('\u{300}', '\u{36f}'),
    ('\u{483}', '\u{489}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
];

pub fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

fn letter_width(letter: char) -> usize {
    let within = |rows: &[(char, char)]| rows.iter().any(|&(first, last)| (first..=last).contains(&letter));
    match letter {
        ' '..='~' => 1,
        _ if within(&WIDE) => 2,
        _ if within(&COMBINING) => 0,
        _ => 1,
    }
}

/// The text if it fits, else cut with an ellipsis: a URL in its middle, because its site and its end tell most, any other text
/// at its end.
pub fn cut(text: &str, columns: usize) -> String {
    let is_url = text.contains("://") && !text.contains(' ');
    cut_around(text, columns, if is_url { columns.saturating_sub(1) / 2 } else { 0 })
}

/// The text if it fits, else its beginning with an ellipsis.
pub fn cut_at_end(text: &str, columns: usize) -> String {
    cut_around(text, columns, 0)
}

/// So many columns of the end stay.
fn cut_around(text: &str, columns: usize, tail_room: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let tail = end_of(text, tail_room);
    let head = start_of(text, room - width(tail));
    format!("{head}…{tail}")
}

fn start_of(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let fits = text.char_indices().find(|&(_, letter)| match left.checked_sub(letter_width(letter)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    fits.map_or(text, |(at, _)| &text[..at])
}

fn end_of(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let first_out = text.char_indices().rev().find(|&(_, letter)| match left.checked_sub(letter_width(letter)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    first_out.map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_east_asia_take_two_columns_and_marks_none() {
        assert_eq!((width("abc"), width("你好"), width("u\u{308}"), width("ü🙂")), (3, 4, 1, 3));
    }

    #[test]
    fn a_url_is_cut_in_its_middle_and_other_texts_at_their_end() {
        assert_eq!(cut("http://a.example/one/two/three.html", 21), "http://a.e…three.html");
        assert_eq!(cut("Some words of a title", 10), "Some word…");
        assert_eq!(cut("你好你好", 5), "你好…");
        assert_eq!(cut("Moved to http://a.example/", 10), "Moved to …");
        assert_eq!(cut_at_end("12  http://a.example/page.html", 15), "12  http://a.e…");
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn nothing_is_wider_than_its_room() {
        for text in
            ["", "http://a.example/你好/page.html", "a你b好c🙂d", "u\u{308}o\u{308}a\u{308}", "https://ü.example/"]
        {
            for columns in 0..40 {
                assert!(width(&cut(text, columns)) <= columns, "{text} in {columns}");
            }
        }
    }
}
