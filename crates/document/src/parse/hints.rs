//! What a page says about itself for machines: robots directives and paper 000's meta-updates tag.

use vernal_model::Directives;

use super::links::limited;
use super::scan::OpenTag;

/// The crawler name that pages may use in robots directives.
const OUR_NAME: &str = "vernal";

/// A longer meta-updates tag is cut.
const META_UPDATES_BYTES_MAX: usize = 1_024;

/// Directives with a value after a colon. They must not be taken for crawler names.
const VALUED: [&str; 4] = ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];

#[derive(Default)]
pub struct Hints {
    pub directives: Directives,
    pub meta_updates: Option<String>,
    pub language: Option<String>,
}

impl Hints {
    /// A `meta` element.
    pub fn read_meta(&mut self, tag: &OpenTag<'_, '_>) {
        let Some(content) = tag.value("content") else { return };
        if let Some(name) = tag.value("name") {
            let name = name.trim();
            if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(OUR_NAME) {
                self.directives = self.directives.with(directives(&content));
            } else if name.eq_ignore_ascii_case("meta-updates") || name.eq_ignore_ascii_case("updates") {
                self.meta_updates.get_or_insert_with(|| limited(content.trim(), META_UPDATES_BYTES_MAX).to_owned());
            }
        } else if tag.value("http-equiv").is_some_and(|name| name.trim().eq_ignore_ascii_case("content-language")) {
            self.language.get_or_insert_with(|| first_language(&content));
        }
    }
}

/// Reads X-Robots-Tag: `noindex`, or `crawler: noindex`, which applies to our name only.
pub fn from_header(value: &str) -> Directives {
    let Some((name, rest)) = value.split_once(':') else { return directives(value) };
    let name = name.trim();
    if name.contains(',') || VALUED.iter().any(|valued| name.eq_ignore_ascii_case(valued)) {
        return directives(value);
    }
    if name.eq_ignore_ascii_case(OUR_NAME) { directives(rest) } else { Directives::default() }
}

/// The first language of a list such as `de-AT, en`.
pub fn first_language(list: &str) -> String {
    limited(list.split(',').next().unwrap_or_default().trim(), 64).to_owned()
}

fn directives(list: &str) -> Directives {
    let mut found = Directives::default();
    for word in list.split([',', ' ', ';']) {
        let word = word.trim();
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let none = is("none");
        found.noindex |= none || is("noindex");
        found.nofollow |= none || is("nofollow");
        found.noarchive |= is("noarchive") || is("nocache");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_for_others_do_not_concern_us() {
        let all = Directives { noindex: true, nofollow: true, noarchive: false };
        assert_eq!(from_header("none"), all);
        assert_eq!(from_header("NoIndex, nofollow"), all);
        assert_eq!(from_header("vernal: noindex, nofollow"), all);
        assert_eq!(from_header("otherbot: noindex, nofollow"), Directives::default());
        assert_eq!(from_header("noarchive, max-snippet: 20"), Directives { noarchive: true, ..Default::default() });
        assert_eq!(from_header("unavailable_after: 25 Jun 2030 15:00:00 PST"), Directives::default());
    }
}
