//! The HTML of a file as plain text, frame and all, for people and for tools that want words.

use std::borrow::Cow;

/// The text of HTML that a reader of this room wrote: a line for each paragraph and row, cells with tabs between them, running heads and
/// page numbers where they stand on a page. Those of a file without pages, such as the header of a DOCX file, stand nowhere and are left
/// out.
pub fn plain_text(html: &str) -> String {
    let body = html.split_once("<body>").map_or(html, |(_, body)| body);
    let mut text = String::with_capacity(body.len());
    let (mut rest, mut has_pages) = (body, false);
    while let Some(place) = rest.find('<') {
        text.push_str(&decoded(rest[..place].trim_matches('\n')));
        rest = &rest[place..];
        if let Some(remark) = rest.strip_prefix("<!--") {
            let (remark, after) = remark.split_once("-->").unwrap_or((remark, ""));
            has_pages |= remark.starts_with("page ") || remark.starts_with("slide ");
            let frame = remark.strip_prefix("head ").or_else(|| remark.strip_prefix("foot ")).filter(|_| has_pages);
            if let Some(frame) = frame {
                end_line(&mut text);
                text.push_str(&decoded(frame));
                text.push('\n');
            }
            rest = after;
            continue;
        }
        let (tag, after) = rest.split_once('>').unwrap_or((rest, ""));
        match tag.trim_start_matches(['<', '/']).split(' ').next().unwrap_or_default() {
            "td" if !text.ends_with('\n') && !text.is_empty() => text.push('\t'),
            "a" | "td" => {}
            _ => end_line(&mut text),
        }
        rest = after;
    }
    text.push_str(&decoded(rest.trim_matches('\n')));
    end_line(&mut text);
    text
}

/// What a remark at the beginning says: `fact(html, "pages")`.
pub fn fact<'h>(html: &'h str, name: &str) -> Option<Cow<'h, str>> {
    let head = html.split_once("<body>").map_or(html, |(head, _)| head);
    head.split("<!--").skip(1).find_map(|remark| {
        let value = remark.split_once("-->")?.0.strip_prefix(name)?.strip_prefix(' ')?;
        Some(decoded(value))
    })
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let decoded = text.replace("&#45;", "-").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Cow::Owned(decoded.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::{Block, Draft, Facts, Line};

    #[test]
    fn text_is_what_was_written_line_by_line() {
        let mut draft = Draft::new(Facts { pages: Some(2), created: "2024-05-01".into(), ..Facts::default() });
        draft.place("page 1");
        draft.head("A - B");
        draft.block(Block::Heading(1), &Line::of("Tom & <Jerry>"));
        draft.block(Block::Item, &Line::of("see www.a.example now"));
        draft.row(&[Line::of("a"), Line::default(), Line::of("c")]);
        draft.foot("1");
        let html = draft.finish("application/pdf");
        assert_eq!(plain_text(&html), "A - B\nTom & <Jerry>\nsee www.a.example now\na\t\tc\n1\n");
        assert_eq!(fact(&html, "pages").as_deref(), Some("2"));
        assert_eq!(fact(&html, "created").as_deref(), Some("2024-05-01"));
        assert_eq!(fact(&html, "note"), None);
        let mut draft = Draft::new(Facts::default());
        draft.head("stands nowhere");
        draft.block(Block::Paragraph, &Line::of("text"));
        assert_eq!(plain_text(&draft.finish("application/rtf")), "text\n");
    }
}
