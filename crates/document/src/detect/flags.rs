//! The questions of a labelled pair: does the text differ, the sequence of elements, an attribute, a script?

use crate::{Input, read::read_marked};

/// What differs between two bodies, noise included.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Visible text, white space folded, the title included.
    pub text: bool,
    /// The sequence of element names.
    pub structure: bool,
    /// Some attribute of some element.
    pub attributes: bool,
    /// The text of script elements.
    pub script: bool,
    /// The text of style elements.
    pub style: bool,
    /// Meta, link or base in the head.
    pub head_meta: bool,
    /// Comments or the document type.
    pub comments: bool,
}

pub fn flags(old: &Input<'_>, new: &Input<'_>) -> Flags {
    let ((old, old_marks), (new, new_marks)) = (read_marked(old), read_marked(new));
    let structure = old_marks.structure != new_marks.structure;
    // With equal elements, attributes are compared element by element. Otherwise only all attributes together can be compared.
    let attributes = match structure {
        true => old_marks.attributes != new_marks.attributes,
        false => old_marks.attributes_in_order != new_marks.attributes_in_order,
    };
    Flags {
        text: !old.signature.has_words_of(&new.signature),
        structure,
        attributes,
        script: old_marks.scripts != new_marks.scripts,
        style: old_marks.styles != new_marks.styles,
        head_meta: old_marks.metadata_in_order != new_marks.metadata_in_order,
        comments: old_marks.comments != new_marks.comments,
    }
}
