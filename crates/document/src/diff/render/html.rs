//! Renders a self-contained page. It has no address, script or style of the archived page, contains its words as text only, and
//! its content policy forbids loading anything. Changes are marked by lines and words too, not by colour alone.

use std::fmt::Write;

use vernal_model::{Document, Operation};

use super::View;
use super::rows::{Row, remark, rows, shortened};
use crate::diff::words::text_of;
use crate::diff::{Diff, ParagraphDiff, WordOperation};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

const STYLE: &str = "<style>\n\
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --faint: #59636e; --line: #d1d9e0; --came: #dafbe1; --went: #ffebe9; }\n\
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9198a1; --line: #3d444d; --came: #12351d; --went: #46181a; } }\n\
body { color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }\n\
h1 { font-size: 1.3rem; } .sides, .place, .told, .skipped { color: var(--faint); font-size: .85rem; }\n\
.change { border-left: .25rem solid var(--line); margin: 1rem 0; padding: .1rem .8rem; } .change p { margin: .3rem 0; }\n\
.told { font-weight: 600; } .same { margin: .6rem 0; } .skipped { border-top: 1px dashed var(--line); padding-top: .2rem; }\n\
ins { background: var(--came); text-decoration: underline; } del { background: var(--went); text-decoration: line-through; }\n\
</style>\n";

/// The whole page.
pub fn html(diff: &Diff, new: &Document, view: &View<'_>) -> String {
    let title = if view.title.is_empty() { "What changed" } else { view.title };
    let mut out = String::from(HEAD);
    let _ = write!(out, "<title>{}</title>\n{STYLE}</head>\n<body>\n<h1>{}</h1>\n", escaped(title), escaped(title));
    let _ = writeln!(out, "<p class=\"sides\"><del>{}</del> → <ins>{}</ins></p>", escaped(view.from), escaped(view.to));
    if diff.is_empty() {
        out += "<p>Nothing differs.</p>\n";
    }
    if diff.fallback.is_some() {
        out += "<p class=\"told\">The limit was met: some paragraphs are shown whole.</p>\n";
    }
    out += "<main>\n";
    for (count, row) in rows(diff, new, view).iter().enumerate() {
        match row {
            Row::Changed(paragraph) => push_changed(&mut out, paragraph, count, view),
            Row::Same(place) => {
                let _ = writeln!(out, "<p class=\"same\">{}</p>", escaped(text_of(new, *place)));
            }
            Row::Skipped(count) => {
                let word = if *count == 1 { "paragraph" } else { "paragraphs" };
                let _ = writeln!(out, "<p class=\"skipped\">{count} {word} unchanged</p>");
            }
        }
    }
    out += "</main>\n</body>\n</html>\n";
    out
}

fn push_changed(out: &mut String, paragraph: &ParagraphDiff, count: usize, view: &View<'_>) {
    let name = if paragraph.id > 0 { format!("p{}", paragraph.id) } else { format!("change-{count}") };
    let _ = writeln!(out, "<section class=\"change\" id=\"{name}\">");
    if !paragraph.headings.is_empty() {
        let trail: Vec<String> = paragraph.headings.iter().map(|heading| escaped(heading)).collect();
        let _ = writeln!(out, "<p class=\"place\">{}</p>", trail.join(" › "));
    }
    let _ = writeln!(out, "<p class=\"told\">{} · {}</p>", remark(paragraph), paragraph.role.name());
    let words = match paragraph.op {
        Operation::Removed => format!("<del>{}</del>", escaped(paragraph.before.as_deref().unwrap_or_default())),
        Operation::Added => format!("<ins>{}</ins>", escaped(paragraph.after.as_deref().unwrap_or_default())),
        _ if paragraph.words.is_empty() => escaped(paragraph.after.as_deref().unwrap_or_default()),
        _ => marked(paragraph, view),
    };
    let _ = writeln!(out, "<p>{words}</p>\n</section>");
}

fn marked(paragraph: &ParagraphDiff, view: &View<'_>) -> String {
    let mut line = String::new();
    for (op, text, tail) in shortened(&paragraph.words, view) {
        let words = escaped(&text.replace('\n', "¶ "));
        let _ = match op {
            WordOperation::Same => write!(line, "{words}"),
            WordOperation::Removed => write!(line, "<del>{words}</del>"),
            WordOperation::Added => write!(line, "<ins>{words}</ins>"),
        };
        if let Some(tail) = tail {
            line += " …";
            line += &escaped(tail);
        }
    }
    line
}

/// Escapes text so that it is text anywhere in the page and cannot reverse the direction of what follows.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            '\n' | '\t' => out.push(' '),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
