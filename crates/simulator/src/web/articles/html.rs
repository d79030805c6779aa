//! The designs in which the words of an article are shown: the same words, other tags and classes around them.

use std::fmt::Write;

use vernal_model::Moment;

use super::article::{Article, Block, Section};
use super::sentences::price_text;
use super::themes::Theme;

/// The tags of one design: around the article, around a section, and the classes of paragraphs and lists.
struct Design {
    open: &'static str,
    close: &'static str,
    section: (&'static str, &'static str),
    heading: &'static str,
    paragraph: &'static str,
    list: &'static str,
}

const DESIGNS: [Design; super::draw::DESIGNS as usize] = [
    Design {
        open: "<main>\n<article>\n",
        close: "</article>\n",
        section: ("", ""),
        heading: "h2",
        paragraph: "<p>",
        list: "<ul>",
    },
    Design {
        open: "<main id=\"content\">\n<div class=\"entry\">\n",
        close: "</div>\n",
        section: ("<section>\n", "</section>\n"),
        heading: "h2",
        paragraph: "<p class=\"text\">",
        list: "<ul class=\"points\">",
    },
    Design {
        open: "<main class=\"grid\">\n<article class=\"wide\"><div class=\"inner\">\n",
        close: "</div></article>\n",
        section: ("<div class=\"card\">\n", "</div>\n"),
        heading: "h3",
        paragraph: "<p class=\"body-text\">",
        list: "<ul class=\"bullets\" role=\"list\">",
    },
    Design {
        open: "<main>\n<div class=\"columns\"><div class=\"column\">\n",
        close: "</div></div>\n",
        section: ("<section class=\"part\"><div>\n", "</div></section>\n"),
        heading: "h2",
        paragraph: "<p class=\"copy\">",
        list: "<ul class=\"plain\">",
    },
];

impl Article {
    /// The part of the page from `<main>` on, which is left open.
    pub fn push_html(&self, out: &mut String, title: &str, below_title: &str, theme: &'static Theme, origin: Moment) {
        let design = &DESIGNS[usize::from(self.design)];
        let _ = write!(out, "{}<h1>{title}</h1>\n{below_title}", design.open);
        for section in &self.sections {
            section.push_html(out, design, theme, origin);
        }
        out.push_str(design.close);
    }

    /// The words of each block, as a reader sees them.
    #[cfg(test)]
    pub fn text(&self) -> Vec<String> {
        let plain = Article { design: 0, ..self.clone() };
        let mut html = String::new();
        plain.push_html(&mut html, "", "", Theme::of_site(0), Moment::EPOCH);
        html.lines().map(str::to_owned).collect()
    }
}

impl Section {
    fn push_html(&self, out: &mut String, design: &Design, theme: &'static Theme, origin: Moment) {
        let (open, close) = if self.heading.is_some() { design.section } else { ("", "") };
        out.push_str(open);
        if let Some(heading) = &self.heading {
            let _ = writeln!(out, "<{0}>{heading}</{0}>", design.heading);
        }
        for block in &self.blocks {
            match block {
                Block::Prose(sentences) => {
                    out.push_str(design.paragraph);
                    for (index, sentence) in sentences.iter().enumerate() {
                        out.push_str(if index == 0 { "" } else { " " });
                        out.push_str(&sentence.text(theme, origin));
                    }
                    out.push_str("</p>\n");
                }
                Block::List(items) => {
                    let _ = writeln!(out, "{}", design.list);
                    items.iter().for_each(|item| _ = writeln!(out, "<li>{item}</li>"));
                    out.push_str("</ul>\n");
                }
                Block::Prices(rows) => {
                    out.push_str("<table>\n");
                    for row in rows {
                        let _ = writeln!(out, "<tr><td>{}</td><td>{}</td></tr>", row.name, price_text(row.cents));
                    }
                    out.push_str("</table>\n");
                }
            }
        }
        out.push_str(close);
    }
}
