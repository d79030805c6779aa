//! Writes the plain HTML that every reader turns its file into.
//!
//! ```text
//! <!DOCTYPE html><html lang="en"><head><title>…</title><meta name="author" content="…"></head>
//! <!--format application/pdf--><!--pages 12--><!--created 2024-05-01T10:00:00Z-->
//! <body>
//! <!--page 1--><!--head Annual report--><h1>…</h1>
//! <p>… <a href="https://a.example/">…</a> … <!--bare--><a href="…">…</a></p>
//! <ul><li>…</li></ul>
//! <table><tr><td>…<td>…</tr></table>
//! <!--foot 12-->
//! </body></html>
//! ```
//!
//! Everything that is no change when it differs is a comment: places, running heads and page numbers, dates, the program that made the
//! file. The marks of a document do not cover comments, and everything else is read as HTML is. The same file gives the same bytes.

use crate::bare_links::bare_links;

pub use crate::line::Line;

/// Longer text is cut, and the result says so.
pub const HTML_BYTES_MAX: usize = 16 << 20;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph,
    /// 1 to 6.
    Heading(u8),
    Item,
}

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub title: String,
    pub author: String,
    pub language: String,
    /// RFC 3339.
    pub created: String,
    pub modified: String,
    pub pages: Option<usize>,
    /// A warning for readers, such as that there is no text.
    pub note: Option<&'static str>,
}

/// The HTML while it is written.
#[derive(Default)]
pub struct Draft {
    body: String,
    open: Open,
    pub facts: Facts,
    is_cut: bool,
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    List,
    Table,
}

impl Draft {
    pub fn new(facts: Facts) -> Draft {
        Draft { facts, ..Draft::default() }
    }

    /// Whether the limit is reached. A reader may stop then.
    pub fn is_full(&self) -> bool {
        self.is_cut
    }

    pub fn has_text(&self) -> bool {
        !self.body.is_empty()
    }

    pub fn block(&mut self, block: Block, line: &Line) {
        if line.is_blank() || !self.has_room() {
            return;
        }
        match block {
            Block::Item => {
                self.open(Open::List);
                self.enclosed("li", line);
            }
            Block::Paragraph => {
                self.open(Open::Nothing);
                self.enclosed("p", line);
            }
            Block::Heading(level) => {
                self.open(Open::Nothing);
                const NAMES: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];
                self.enclosed(NAMES[usize::from(level.clamp(1, 6)) - 1], line);
            }
        }
    }

    pub fn row(&mut self, cells: &[Line]) {
        if cells.iter().all(Line::is_blank) || !self.has_room() {
            return;
        }
        self.open(Open::Table);
        self.body.push_str("<tr>");
        for cell in cells {
            self.body.push_str("<td>");
            self.line(cell);
        }
        self.body.push_str("</tr>\n");
    }

    /// Ends a table, so that the next row begins another.
    pub fn end_table(&mut self) {
        self.open(Open::Nothing);
    }

    /// What follows lies here: "page 12", "sheet Prices".
    pub fn place(&mut self, name: &str) {
        self.remark("", name);
    }

    /// A running head.
    pub fn head(&mut self, text: &str) {
        self.remark("head ", text);
    }

    /// A running foot or a page number.
    pub fn foot(&mut self, text: &str) {
        self.remark("foot ", text);
    }

    /// The alternative text of a picture.
    pub fn picture(&mut self, alternative: &str) {
        if !alternative.trim().is_empty() {
            self.block(Block::Paragraph, &Line::of(alternative));
        }
    }

    pub fn finish(mut self, content_type: &str) -> String {
        self.open(Open::Nothing);
        let mut html = String::with_capacity(self.body.len() + 512);
        html.push_str("<!DOCTYPE html>\n<html");
        if !self.facts.language.is_empty() {
            html.push_str(" lang=\"");
            escape(&self.facts.language, &mut html);
            html.push('"');
        }
        html.push_str("><head>");
        if !self.facts.title.trim().is_empty() {
            html.push_str("<title>");
            escape(self.facts.title.trim(), &mut html);
            html.push_str("</title>");
        }
        if !self.facts.author.trim().is_empty() {
            html.push_str("<meta name=\"author\" content=\"");
            escape(self.facts.author.trim(), &mut html);
            html.push_str("\">");
        }
        html.push_str("</head>\n");
        let pages = self.facts.pages.map(|pages| pages.to_string()).unwrap_or_default();
        for (name, value) in [
            ("format", content_type),
            ("pages", &pages),
            ("created", &self.facts.created),
            ("modified", &self.facts.modified),
            ("note", self.facts.note.unwrap_or_default()),
            ("note", if self.is_cut { "the text is longer than we keep; its end is left out" } else { "" }),
        ] {
            if !value.is_empty() {
                remark(&mut html, name, " ", value);
            }
        }
        html.push_str("<body>\n");
        html.push_str(&self.body);
        html.push_str("</body></html>\n");
        html
    }

    fn remark(&mut self, kind: &str, text: &str) {
        // A remark inside a table or list leaves it open: a table may go on over the page.
        if !text.trim().is_empty() && self.has_room() {
            remark(&mut self.body, "", kind, text);
        }
    }

    fn has_room(&mut self) -> bool {
        self.is_cut |= self.body.len() >= HTML_BYTES_MAX;
        !self.is_cut
    }

    fn open(&mut self, wanted: Open) {
        if self.open == wanted {
            return;
        }
        self.body.push_str(match self.open {
            Open::Nothing => "",
            Open::List => "</ul>\n",
            Open::Table => "</table>\n",
        });
        self.body.push_str(match wanted {
            Open::Nothing => "",
            Open::List => "<ul>\n",
            Open::Table => "<table>\n",
        });
        self.open = wanted;
    }

    fn enclosed(&mut self, name: &str, line: &Line) {
        self.body.extend(["<", name, ">"]);
        self.line(line);
        self.body.extend(["</", name, ">\n"]);
    }

    fn line(&mut self, line: &Line) {
        let room = HTML_BYTES_MAX.saturating_sub(self.body.len());
        let mut written = 0;
        for run in &line.runs {
            if written >= room {
                self.is_cut = true;
                return;
            }
            written += run.text.len();
            let target = run.link.as_deref().filter(|target| is_link(target));
            match target {
                Some(target) => self.linked(target, &run.text, ""),
                None => self.with_bare_links(&run.text),
            }
        }
    }

    fn with_bare_links(&mut self, text: &str) {
        let mut from = 0;
        for link in bare_links(text) {
            escape_folded(&text[from..link.range.start], &mut self.body);
            self.linked(&link.target, &text[link.range.clone()], "<!--bare-->");
            from = link.range.end;
        }
        escape_folded(&text[from..], &mut self.body);
    }

    fn linked(&mut self, target: &str, text: &str, mark: &str) {
        self.body.push_str(mark);
        self.body.push_str("<a href=\"");
        escape(target, &mut self.body);
        self.body.push_str("\">");
        escape_folded(text, &mut self.body);
        self.body.push_str("</a>");
    }
}

/// Longer targets are no links.
const LINK_BYTES_MAX: usize = 4_096;

/// Whether a target may be followed; scripts and files of the author's machine are left out.
fn is_link(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    !target.trim().is_empty()
        && target.len() <= LINK_BYTES_MAX
        && !matches!(scheme.as_deref(), Some("javascript" | "data" | "file" | "vbscript"))
}

/// Escapes what HTML would read as markup.
pub fn escape(text: &str, into: &mut String) {
    for letter in text.chars() {
        push_escaped(letter, into);
    }
}

/// The same, with letters for ligatures and without what nobody sees.
fn escape_folded(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '\u{fb00}' => into.push_str("ff"),
            '\u{fb01}' => into.push_str("fi"),
            '\u{fb02}' => into.push_str("fl"),
            '\u{fb03}' => into.push_str("ffi"),
            '\u{fb04}' => into.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => into.push_str("st"),
            // Soft hyphens, byte order marks, and marks of direction.
            '\u{ad}' | '\u{feff}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => {}
            _ => push_escaped(letter, into),
        }
    }
}

fn push_escaped(letter: char, into: &mut String) {
    match letter {
        '&' => into.push_str("&amp;"),
        '<' => into.push_str("&lt;"),
        '>' => into.push_str("&gt;"),
        '"' => into.push_str("&quot;"),
        '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' => into.push(' '),
        _ if letter.is_control() || ('\u{fdd0}'..='\u{fdef}').contains(&letter) => {}
        _ => into.push(letter),
    }
}

/// A comment. Its text cannot end it.
fn remark(html: &mut String, name: &str, between: &str, text: &str) {
    html.push_str("<!--");
    html.push_str(name);
    html.push_str(between);
    let mut escaped = String::new();
    escape_folded(text.trim(), &mut escaped);
    html.push_str(&escaped.replace('-', "&#45;"));
    html.push_str("-->");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_has_headings_lists_tables_and_remarks_and_escapes_them() {
        let mut draft =
            Draft::new(Facts { title: "A <b>".into(), language: "en".into(), pages: Some(2), ..Facts::default() });
        draft.place("page 1");
        draft.head("Report --> 3");
        draft.block(Block::Heading(2), &Line::of("Tom & Jerry"));
        draft.block(Block::Item, &Line::of("one"));
        draft.block(Block::Item, &Line::of("two"));
        draft.row(&[Line::of("a"), Line::of("b")]);
        draft.block(Block::Paragraph, &Line::of("see https://a.example/x."));
        let html = draft.finish("application/pdf");
        assert_eq!(
            html,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><title>A &lt;b&gt;</title></head>\n\
             <!--format application/pdf--><!--pages 2--><body>\n<!--page 1--><!--head Report &#45;&#45;&gt; 3-->\
             <h2>Tom &amp; Jerry</h2>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<table>\n<tr><td>a<td>b</tr>\n</table>\n\
             <p>see <!--bare--><a href=\"https://a.example/x\">https://a.example/x</a>.</p>\n</body></html>\n"
        );
    }

    #[test]
    fn text_beyond_the_limit_is_cut_and_the_result_says_so() {
        let mut draft = Draft::default();
        let line = Line::of("x".repeat(1 << 20));
        while !draft.is_full() {
            draft.block(Block::Paragraph, &line);
        }
        let html = draft.finish("application/rtf");
        assert!(html.len() < HTML_BYTES_MAX + (2 << 20) && html.contains("its end is left out"));
    }

    #[test]
    fn scripts_and_files_are_no_links() {
        for (target, expected) in [
            ("https://a.example/", true),
            ("../b.pdf", true),
            ("mailto:a@b.example", true),
            ("JavaScript:alert(1)", false),
            ("file:///etc/passwd", false),
            (" ", false),
        ] {
            assert_eq!(is_link(target), expected, "{target}");
        }
    }
}
