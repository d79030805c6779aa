//! What authors call the parts of their pages.

use crate::parse::links::limited;
use crate::parse::scan::OpenTag;

/// What the name of a part says of it. The lesser of two wins.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    Boilerplate,
    Content,
}

/// Words in ids and classes of what stands around the content.
const BOILERPLATE: [&str; 62] = [
    "nav",
    "navbar",
    "navigation",
    "menu",
    "menubar",
    "topbar",
    "sidebar",
    "sidenav",
    "breadcrumb",
    "breadcrumbs",
    "crumbs",
    "footer",
    "foot",
    "masthead",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "banner",
    "share",
    "sharing",
    "social",
    "related",
    "recommended",
    "recommendations",
    "subscribe",
    "subscription",
    "newsletter",
    "signup",
    "login",
    "promo",
    "promotion",
    "advert",
    "advertisement",
    "ads",
    "ad",
    "sponsor",
    "sponsored",
    "popup",
    "modal",
    "overlay",
    "pagination",
    "pager",
    "paginator",
    "toolbar",
    "skip",
    "skiplink",
    "toc",
    "comments",
    "comment",
    "disqus",
    "respond",
    "widget",
    "widgets",
    "tags",
    "byline",
    "dropdown",
    "tooltip",
    "hidden",
    "noprint",
    "search",
    "toclist",
];

/// Words of the content itself. Whole names alone count: `content-wrapper` holds everything.
const CONTENT: [&str; 24] = [
    "content",
    "main",
    "maincontent",
    "post",
    "entry",
    "docs-content",
    "article-body",
    "article-content",
    "article__body",
    "articlebody",
    "entry-content",
    "post-content",
    "post-body",
    "post_content",
    "story-body",
    "content-body",
    "page-content",
    "main-content",
    "markdown-body",
    "rst-content",
    "td-content",
    "body-content",
    "mw-parser-output",
    "td-post-content",
];

/// What an id or a list of classes says; nothing for most.
pub fn meaning(value: &str) -> Option<Meaning> {
    let mut found = None;
    for name in value.split_ascii_whitespace().take(NAMES_MAX) {
        if name.len() > NAME_BYTES_MAX {
            continue;
        }
        if CONTENT.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            found = Some(Meaning::Content);
        } else if is_boilerplate(name) {
            return Some(Meaning::Boilerplate);
        }
    }
    found
}

const NAMES_MAX: usize = 16; // names of one element that are looked at
const NAME_BYTES_MAX: usize = 48; // longer names are generated

/// A name says so by its first or last word: `site-nav` and `menu-main`, but not `no-sidebar-left` or `has-menu`.
fn is_boilerplate(name: &str) -> bool {
    if name.starts_with("has-") || name.starts_with("no-") || name.starts_with("with-") || name.starts_with("js-") {
        return false;
    }
    // State classes of frameworks hold the whole page.
    if name.contains("-for-")
        || name.contains("open")
        || name.contains("layout")
        || name.contains("wrapper")
        || name.contains("container")
    {
        return false;
    }
    let mut words = name.split(['-', '_']).filter(|word| !word.is_empty());
    let (first, last) = (words.next(), words.next_back());
    [first, last].into_iter().flatten().any(|word| BOILERPLATE.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// The language of code as its classes name it.
pub fn language(tag: &OpenTag<'_, '_>) -> String {
    let classes = tag.value("class").unwrap_or_default();
    let named = classes.split_ascii_whitespace().find_map(|class| {
        class
            .strip_prefix("language-")
            .or_else(|| class.strip_prefix("lang-"))
            .or_else(|| class.strip_prefix("highlight-source-"))
    });
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+' | '#');
    named.map_or(String::new(), |name| {
        limited(name, LANGUAGE_BYTES_MAX).chars().filter(|&letter| is_plain(letter)).collect()
    })
}

const LANGUAGE_BYTES_MAX: usize = 24; // the rest of a longer name is cut

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_part_is_by_its_first_or_last_word() {
        for name in ["nav", "site-footer", "Cookie-Notice", "post share", "x sidebar"] {
            assert_eq!(meaning(name), Some(Meaning::Boilerplate), "{name}");
        }
        for name in ["has-sidebar", "content", "no-nav-here", "navigate", "menu-open", ""] {
            assert_eq!(meaning(name), None, "{name}");
        }
        assert_eq!(meaning("wide entry-content"), Some(Meaning::Content));
    }
}
