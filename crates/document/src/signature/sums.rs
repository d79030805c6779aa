//! What the attributes of one tag add to the marks, and notes of it for the tags that a page repeats.

use super::marks::{Aspect, Bag, aspect_of, value_mark};
use crate::noise::builtin;
use crate::parse::repeats::PLACES;
use crate::parse::scan::OpenTag;
use crate::parse::tag::Tag;

/// The bags of one tag; see `Marks` and its quiet twins.
#[derive(Copy, Clone, Debug, Default)]
pub struct Sums {
    pub attributes: Bag,
    pub metadata: Bag,
    pub images: Bag,
    pub behaviour: Bag,
    pub quiet_looks: Bag,
    pub quiet_images: Bag,
    pub quiet_metadata: Bag,
}

impl Sums {
    pub fn of(tag: &OpenTag<'_, '_>, in_head: bool, is_advertising: bool) -> Self {
        let mut sums = Sums::default();
        let element = tag.name.mark();
        let holds_token = builtin::holds_token(tag);
        let is_metadata = in_head && matches!(tag.tag, Tag::Meta | Tag::Link | Tag::Base);
        for attribute in tag.attributes {
            let value = attribute.value();
            let name = element.rotate_left(7) ^ attribute.name.mark();
            let mark = value_mark(name, &value);
            let aspect = aspect_of(tag, attribute.name, in_head);
            sums.attributes.add(mark);
            if is_metadata {
                sums.metadata.add(mark);
            }
            if aspect == Aspect::Image {
                sums.images.add(mark);
            }
            if is_advertising {
                continue;
            }
            let quieted = builtin::attribute(tag.tag, attribute, &value, holds_token);
            let mark = if quieted.detector.is_none() { mark } else { value_mark(name, &quieted.text) };
            match aspect {
                Aspect::Looks => sums.quiet_looks.add(mark),
                // A nonce or a build's number is told as an attribute; what the page does is the same with it.
                Aspect::Behaviour => sums.behaviour.add(mark),
                Aspect::Image => sums.quiet_images.add(mark),
                Aspect::Metadata => sums.quiet_metadata.add(mark),
                Aspect::Link => {}
            }
        }
        sums
    }
}

/// What was found out about the tags that the scan remembers, by their places there.
#[derive(Default)]
pub struct Notes(Vec<Noted>);

#[derive(Copy, Clone, Default)]
pub struct Noted {
    /// In the head the same tag says something else.
    pub in_head: bool,
    pub is_advertising: bool,
    pub sums: Sums,
}

impl Notes {
    /// What is known of this tag, if it is a repeat. Of a tag without attributes nothing is noted.
    pub fn of(&self, tag: &OpenTag<'_, '_>) -> Option<Noted> {
        let known = tag.known.filter(|known| known.is_repeat && !tag.attributes.is_empty())?;
        self.0.get(usize::from(known.place)).copied()
    }

    pub fn note(&mut self, tag: &OpenTag<'_, '_>, noted: Noted) {
        let Some(known) = tag.known else { return };
        if self.0.is_empty() {
            self.0.resize(PLACES, Noted::default());
        }
        self.0[usize::from(known.place)] = noted;
    }
}
