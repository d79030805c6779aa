//! Style sheets with their links led into the archive: `url(…)`, and the strings of `@import`. Links that are hidden behind
//! escapes stay as they are, and the headers keep them from being followed.

use super::links::Links;

/// The style sheet with every address led into the archive.
pub fn rewritten(css: &str, links: &Links) -> String {
    let mut writer = Writer { css, links, out: String::with_capacity(css.len() + css.len() / 8), place: 0 };
    while writer.place < css.len() {
        writer.step();
    }
    writer.out
}

struct Writer<'a> {
    css: &'a str,
    links: &'a Links,
    out: String,
    place: usize,
}

impl Writer<'_> {
    fn step(&mut self) {
        let left = &self.css[self.place..];
        if let Some(comment) = left.strip_prefix("/*") {
            self.copy(comment.find("*/").map_or(left.len(), |end| end + "/*".len() + "*/".len()));
        } else if left.starts_with(['"', '\'']) {
            let length = string_bytes(left);
            self.copy(length);
        } else if begins(left, "@import") {
            self.copy("@import".len());
            self.copy_space();
            let left = &self.css[self.place..];
            if left.starts_with(['"', '\'']) {
                self.address(string_bytes(left), 1);
            }
        } else if begins(left, "url(") && !self.is_in_word() {
            self.copy("url(".len());
            self.copy_space();
            let left = &self.css[self.place..];
            match left.starts_with(['"', '\'']) {
                true => self.address(string_bytes(left), 1),
                false => self.address(bare_bytes(left), 0),
            }
        } else {
            let letter = left.chars().next().map_or(1, char::len_utf8);
            self.copy(letter);
        }
    }

    /// Replaces so many bytes, an address with so many quotes around it.
    fn address(&mut self, bytes: usize, quotes: usize) {
        let text = &self.css[self.place..self.place + bytes];
        let inner = text.get(quotes..text.len().saturating_sub(quotes)).unwrap_or_default();
        match self.links.led(&unescaped(inner.trim())) {
            Some(led) => {
                self.out.push('"');
                self.out.push_str(&quotable(&led));
                self.out.push('"');
                self.place += bytes;
            }
            None => self.copy(bytes),
        }
    }

    fn copy(&mut self, bytes: usize) {
        let end = (self.place + bytes).min(self.css.len());
        self.out.push_str(&self.css[self.place..end]);
        self.place = end;
    }

    fn copy_space(&mut self) {
        let left = &self.css[self.place..];
        self.copy(left.len() - left.trim_start().len());
    }

    fn is_in_word(&self) -> bool {
        self.css[..self.place].ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
    }
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// A string with its quotes. It ends at the line's end where its quote is missing.
fn string_bytes(text: &str) -> usize {
    let quote = text.as_bytes().first().copied().unwrap_or_default();
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => return place,
            byte if byte == quote => return place + 1,
            _ => {}
        }
    }
    text.len()
}

/// An address without quotes, up to its bracket.
fn bare_bytes(text: &str) -> usize {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b')' => return place,
            _ => {}
        }
    }
    text.len()
}

fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let (mut plain, mut letters) = (String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        let mut code = String::new();
        while code.len() < 6 {
            let Some(digit) = letters.next_if(char::is_ascii_hexdigit) else { break };
            code.push(digit);
        }
        if code.is_empty() {
            plain.extend(letters.next().filter(|letter| *letter != '\n'));
            continue;
        }
        let _ = letters.next_if(char::is_ascii_whitespace);
        plain.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
    }
    plain
}

/// What may stand between quotes, in a style element too.
fn quotable(address: &str) -> String {
    let mut safe = String::with_capacity(address.len());
    for letter in address.chars() {
        match letter {
            '"' => safe.push_str("%22"),
            '\\' => safe.push_str("%5C"),
            '<' => safe.push_str("%3C"),
            letter if letter.is_control() => {}
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use vernal_model::{Moment, Url};

    use super::*;

    fn led(css: &str) -> String {
        let moment = Moment::parse("20260501", Moment::EPOCH).unwrap();
        rewritten(css, &Links::new(moment, Url::parse("http://a.example/css/main.css").unwrap()))
    }

    #[test]
    fn addresses_are_led_and_all_else_stays() {
        let a = "/20260501000000/http://a.example";
        for (css, expected) in [
            ("a{background:url(x.png)}", format!("a{{background:url(\"{a}/css/x.png\")}}")),
            ("a{background:URL( 'x.png' )}", format!("a{{background:URL( \"{a}/css/x.png\" )}}")),
            ("@import \"/b.css\" print;", format!("@import \"{a}/b.css\" print;")),
            ("@IMPORT url(/b.css);", format!("@IMPORT url(\"{a}/b.css\");")),
            ("a{b:url(a\\29 b)}", format!("a{{b:url(\"{a}/css/a)b\")}}")),
            ("/* url(x) */ a{}", "/* url(x) */ a{}".into()),
            ("a::before{content:\"url(x)\"}", "a::before{content:\"url(x)\"}".into()),
            ("a{b:curl(x)}", "a{b:curl(x)}".into()),
            ("a{b:url(data:image/gif;base64,AA)}", "a{b:url(data:image/gif;base64,AA)}".into()),
            ("a{b:url(#id)}", "a{b:url(#id)}".into()),
        ] {
            assert_eq!(led(css), expected, "{css}");
        }
    }

    #[test]
    fn cut_off_style_sheets_end_without_a_fault() {
        for css in ["url(", "url('", "@import", "@import '", "/*", "\"\\", "url(\\", "url(ä\\1F600", "ü@import \"ö"]
        {
            led(css);
        }
        assert!(!led("a{b:url(\"x</style>\")}").contains("</style>"));
    }
}
