//! Where foreign content (svg, math) begins and ends, as far as the scan must know it.

use super::attribute::Attribute;
use super::tag::Tag;

/// Nested changes between markup and foreign content beyond these are not followed.
const DEPTH_MAX: usize = 64;

/// The open switches between markup and foreign content, innermost last.
#[derive(Debug, Default)]
pub struct ForeignContent(Vec<Foreign>);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Foreign {
    Svg,
    Math,
    /// An element of foreign content whose content is markup again.
    Markup(Tag),
}

impl ForeignContent {
    pub fn is_here(&self) -> bool {
        matches!(self.0.last(), Some(Foreign::Svg | Foreign::Math))
    }

    /// Processes an opening tag. Returns whether it is in foreign content.
    #[inline]
    pub fn enter(&mut self, tag: Tag, attributes: &[Attribute<'_>], self_closing: bool) -> bool {
        if self.0.is_empty() && !matches!(tag, Tag::Svg | Tag::Math) {
            return false;
        }
        self.enter_inside(tag, attributes, self_closing)
    }

    fn enter_inside(&mut self, tag: Tag, attributes: &[Attribute<'_>], self_closing: bool) -> bool {
        if self.is_here() && breaks_out(tag, attributes) {
            self.break_out();
        }
        let next = match (self.0.last(), tag) {
            (_, Tag::Svg) => Foreign::Svg,
            (_, Tag::Math) => Foreign::Math,
            (Some(Foreign::Svg), Tag::ForeignObject | Tag::Desc | Tag::Title) => Foreign::Markup(tag),
            (Some(Foreign::Math), Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext) => Foreign::Markup(tag),
            (Some(Foreign::Math), Tag::AnnotationXml) if annotates_markup(attributes) => Foreign::Markup(tag),
            _ => return self.is_here(),
        };
        if !self_closing && self.0.len() < DEPTH_MAX {
            self.0.push(next);
        }
        true
    }

    #[inline]
    pub fn leave(&mut self, tag: Tag) {
        if !self.0.is_empty() {
            self.leave_inside(tag);
        }
    }

    fn leave_inside(&mut self, tag: Tag) {
        let left = match tag {
            Tag::Svg => Foreign::Svg,
            Tag::Math => Foreign::Math,
            _ if self.0.contains(&Foreign::Markup(tag)) => Foreign::Markup(tag),
            // An end tag of the surrounding markup ends foreign content that was never closed.
            _ if tag.is_block() || tag == Tag::Br => return self.break_out(),
            _ => return,
        };
        if let Some(place) = self.0.iter().rposition(|&open| open == left) {
            self.0.truncate(place);
        }
    }

    fn break_out(&mut self) {
        while self.is_here() {
            self.0.pop();
        }
    }
}

fn breaks_out(tag: Tag, attributes: &[Attribute<'_>]) -> bool {
    let has = |name| attributes.iter().any(|attribute| attribute.is(name));
    tag.ends_foreign_content() || (tag == Tag::Font && (has("color") || has("face") || has("size")))
}

fn annotates_markup(attributes: &[Attribute<'_>]) -> bool {
    attributes.iter().filter(|attribute| attribute.is("encoding")).any(|attribute| {
        let encoding = attribute.value();
        encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
    })
}
