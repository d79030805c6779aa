//! The fingerprint of the tags (paper 003, 4.1.2): the first and the last letters of the opening tags, in order.

/// The two strings of the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagLetters {
    pub first: String,
    pub last: String,
}

pub fn tag_letters<'a>(names: impl IntoIterator<Item = &'a str>) -> TagLetters {
    let mut letters = TagLetters::default();
    for name in names {
        letters.first.extend(name.chars().next().map(|letter| letter.to_ascii_lowercase()));
        letters.last.extend(name.chars().next_back().map(|letter| letter.to_ascii_lowercase()));
    }
    letters
}
