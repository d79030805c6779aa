//! The known name that a mistyped one most likely meant.

/// `None` when nothing is near enough to be worth saying.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(wrong, name), name));
    let (score, name) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 0.75).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        let known = ["budget", "delay", "max_pages"];
        assert_eq!(nearest("budjet", known), Some("budget"));
        assert_eq!(nearest("maxpages", known), Some("max_pages"));
        assert_eq!(nearest("zzz", known), None);
    }
}
