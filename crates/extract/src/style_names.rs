//! Names of styles that are headings, as Word and its kin write them.

/// The level of a heading: "heading 2", "Title", "Heading_20_3".
pub fn level_of_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase().replace(['-', '_'], " ");
    if name == "title" {
        return Some(1);
    }
    let number = name.strip_prefix("heading")?.trim();
    number.parse().ok().filter(|level| (1..=9).contains(level))
}

#[cfg(test)]
mod tests {
    use super::level_of_name;

    #[test]
    fn headings_are_known_by_the_names_of_their_styles() {
        assert_eq!(level_of_name("heading 2"), Some(2));
        assert_eq!(level_of_name("Title"), Some(1));
        assert_eq!(level_of_name("Heading3"), Some(3));
        assert_eq!(level_of_name("heading"), None);
        assert_eq!(level_of_name("Normal"), None);
    }
}
