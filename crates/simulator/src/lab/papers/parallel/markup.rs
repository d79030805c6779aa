//! Pages as trees of tags with text, as the re-enactments need them, and edits of which it is known what they change.

use std::fmt::Write;

use vernal_model::Chance;

/// Words that texts are made of; each comes as often as chance has it.
const WORDS: [&str; 48] = [
    "market", "river", "train", "minister", "report", "season", "harvest", "school", "village", "engine", "signal",
    "winter", "bridge", "council", "doctor", "island", "library", "market", "museum", "needle", "office", "people",
    "quarter", "reader", "street", "theatre", "update", "valley", "window", "yellow", "about", "after", "before",
    "closed", "during", "every", "found", "great", "house", "inside", "known", "later", "never", "opened", "public",
    "rather", "second", "twelve",
];

/// An element with its own text before its children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    pub tag: &'static str,
    /// What stands in the tag behind its name.
    pub attributes: String,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    pub fn new(tag: &'static str, text: String, children: Vec<Element>) -> Self {
        Element { tag, attributes: String::new(), text, children }
    }

    pub fn leaf(tag: &'static str) -> Self {
        Element { tag, ..Element::default() }
    }

    fn html(&self, out: &mut String) {
        let Element { tag, attributes, text, children } = self;
        let _ = write!(out, "<{tag}{attributes}>{text}");
        children.iter().for_each(|child| child.html(out));
        if !matches!(*tag, "br" | "hr" | "img") {
            let _ = writeln!(out, "</{tag}>");
        }
    }
}

pub fn words(count: usize, chance: &mut Chance) -> Vec<&'static str> {
    (0..count).filter_map(|_| chance.pick(&WORDS).copied()).collect()
}

pub fn word(chance: &mut Chance) -> &'static str {
    WORDS[chance.below(WORDS.len() as u64) as usize]
}

fn text(count: usize, chance: &mut Chance) -> String {
    words(count, chance).join(" ")
}

/// The sections of a page: a heading, paragraphs with a bold and a linked word, and a list in every second one.
pub fn sections(chance: &mut Chance) -> Vec<Element> {
    let section = |number: u64, chance: &mut Chance| {
        let mut parts = vec![Element::new("h2", text(4, chance), Vec::new())];
        for _ in 0..2 + chance.below(3) {
            let marked =
                vec![Element::new("b", text(1, chance), Vec::new()), Element::new("a", text(2, chance), Vec::new())];
            parts.push(Element::new("p", text(12, chance), marked));
        }
        if number.is_multiple_of(2) {
            let items = (0..3).map(|_| Element::new("li", text(3, chance), Vec::new())).collect();
            parts.push(Element::new("ul", String::new(), items));
        }
        parts.push(Element::new("p", text(8, chance), Vec::new()));
        Element::new("section", String::new(), parts)
    };
    (0..4 + chance.below(4)).map(|number| section(number, chance)).collect()
}

fn page(sections: Vec<Element>) -> Element {
    let title = Element::new("title", "Report".into(), Vec::new());
    let head = Element::new("head", String::new(), vec![title]);
    let body = Element::new("body", String::new(), sections);
    Element::new("html", String::new(), vec![head, body])
}

pub fn source(sections: &[Element]) -> String {
    let mut out = String::new();
    page(sections.to_vec()).html(&mut out);
    out
}
