//! The elements that contain others: what lies in each of them, and what their names say of it.

use super::names::{Meaning, meaning};
use crate::parse::scan::OpenTag;
use crate::parse::tag::Tag;

/// Deeper elements count as part of the deepest.
const OPEN_MAX: usize = 256;

/// Further containers count as part of the page.
const CONTAINERS_MAX: usize = 50_000;

#[derive(Copy, Clone, Debug, Default)]
pub struct Container {
    pub parent: usize,
    /// Bytes of words in it and in all that it contains, and how many of them are words of links.
    pub letters: usize,
    pub linked: usize,
    /// Words of text that is no list, heading or table, directly in it.
    pub prose: usize,
    pub kind: Kind,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Plain,
    /// The element that the author marked as the main part.
    Main,
    /// An article or a part named like one.
    Article,
    /// Not displayed, or named like something that stands around the content.
    Boilerplate,
    List,
}

pub struct Containers {
    pub all: Vec<Container>,
    open: Vec<(Tag, usize)>,
    /// Elements that were opened beyond the limit.
    beyond: usize,
}

impl Containers {
    pub fn new() -> Containers {
        Containers { all: vec![Container::default()], open: Vec::new(), beyond: 0 }
    }

    pub fn current(&self) -> usize {
        self.open.last().map_or(0, |open| open.1)
    }

    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
        if !is_container(tag.tag) {
            return;
        }
        if self.open.len() >= OPEN_MAX || self.all.len() >= CONTAINERS_MAX {
            self.beyond += 1;
            return;
        }
        let parent = self.current();
        self.all.push(Container { parent, kind: kind_of(tag), ..Container::default() });
        self.open.push((tag.tag, self.all.len() - 1));
    }

    pub fn close(&mut self, tag: Tag) {
        if !is_container(tag) {
            return;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if let Some(place) = self.open.iter().rposition(|open| open.0 == tag) {
            self.open.truncate(place);
        }
    }

    /// Counts the words of a piece in all that contain it.
    pub fn count(&mut self, at: usize, letters: usize, linked: usize, is_prose: bool) {
        self.all[at].prose += if is_prose { letters - linked.min(letters) } else { 0 };
        let mut next = at;
        loop {
            self.all[next].letters += letters;
            self.all[next].linked += linked;
            if next == 0 {
                return;
            }
            next = self.all[next].parent;
        }
    }

    /// Whether something that contains it, or itself, is of this kind; those above `until` do not count.
    pub fn is_in(&self, at: usize, kind: Kind, until: usize) -> bool {
        let mut next = at;
        while next != until && next != 0 {
            if self.all[next].kind == kind {
                return true;
            }
            next = self.all[next].parent;
        }
        false
    }

    pub fn contains(&self, outer: usize, inner: usize) -> bool {
        let mut next = inner;
        // A container has a greater number than those around it.
        while next > outer {
            next = self.all[next].parent;
        }
        next == outer
    }
}

fn is_container(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Article
            | Tag::Main
            | Tag::Aside
            | Tag::Header
            | Tag::Footer
            | Tag::Nav
            | Tag::Form
            | Tag::Figure
            | Tag::Fieldset
            | Tag::Details
            | Tag::Dialog
            | Tag::Table
            | Tag::Ul
            | Tag::Ol
            | Tag::Menu
            | Tag::Dl
            | Tag::Blockquote
            | Tag::Center
            | Tag::Search
            | Tag::Span
            | Tag::P
            | Tag::Select
            | Tag::Button
            | Tag::Svg
    )
}

fn kind_of(tag: &OpenTag<'_, '_>) -> Kind {
    let is_hidden = tag.has("hidden") || tag.value("style").is_some_and(|style| hides(&style));
    if is_hidden || matches!(tag.tag, Tag::Select | Tag::Button | Tag::Dialog | Tag::Search | Tag::Svg | Tag::Nav) {
        return Kind::Boilerplate;
    }
    let named = named(tag);
    match tag.tag {
        Tag::Main => Kind::Main,
        _ if tag.value("role").is_some_and(|role| role.trim() == "main") => Kind::Main,
        Tag::Article => Kind::Article,
        _ if tag.value("itemprop").is_some_and(|name| name.contains("articleBody")) => Kind::Article,
        _ if named == Some(Meaning::Boilerplate) => Kind::Boilerplate,
        Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dl => Kind::List,
        Tag::Div | Tag::Section if named == Some(Meaning::Content) => Kind::Article,
        _ => Kind::Plain,
    }
}

fn hides(style: &str) -> bool {
    let mut rest = style;
    while let Some(at) = rest.find("display") {
        rest = rest[at + 7..].trim_start();
        if rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with("none")) {
            return true;
        }
    }
    false
}

fn named(tag: &OpenTag<'_, '_>) -> Option<Meaning> {
    let values = [tag.value("id"), tag.value("class"), tag.value("role")];
    let found = values.iter().flatten().filter_map(|value| meaning(value));
    found.min()
}
