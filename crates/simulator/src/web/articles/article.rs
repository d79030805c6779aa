//! One page at one version, and what people did to it.

use vernal_model::Moment;

use super::draw;
use super::edits::{Edit, EditKind, Editor};
use super::sentences::Sentence;
use super::themes::Theme;
use crate::web::answer::is_file;
use crate::web::class::Class;
use crate::web::plan::{PageNumber, Web};
use crate::web::settings::Writing;

/// The words of one page, and the design that shows them.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::web) struct Article {
    pub(super) design: u8,
    pub(super) sections: Vec<Section>,
}

/// A heading with what stands under it. The first section of an article has no heading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    pub heading: Option<String>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Prose(Vec<Sentence>),
    List(Vec<String>),
    Prices(Vec<Price>),
}

/// A row of a price list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Price {
    pub name: String,
    pub cents: u32,
}

/// Every so many changes an article is written anew, so that no version costs more than this many edits.
const REWRITTEN_EVERY: u32 = 64;

/// An article at a version, and the edits that made it out of the last one that was written anew, in order.
pub(in crate::web) fn article(web: &Web, number: PageNumber, version: u32) -> (Article, Vec<EditKind>) {
    let page = &web.plan.pages[number.index()];
    let theme = Theme::of_site(page.site as usize);
    let begun = version - version % REWRITTEN_EVERY;
    let drawn = page.chance.stream("article").numbered(u64::from(begun));
    let mut article = draw::article(theme, web.plan.settings.paragraphs, drawn);
    let mut editor = Editor::default();
    let edits = page.chance.stream("edits");
    let kinds = (begun + 1..=version)
        .map(|edit| editor.edit(&mut article, theme, &mut edits.numbered(u64::from(edit))))
        .collect();
    (article, kinds)
}

/// What people did to a page after `from` up to `to`, in order. Files, and pages of a web that is not written in
/// sentences, are replaced.
pub fn edits_between(web: &Web, number: PageNumber, from: Moment, to: Moment) -> Vec<Edit> {
    let original = web.original(number);
    let (before, after) = (web.version_at(original, from), web.version_at(original, to));
    let is_article = web.plan.settings.writing == Writing::Sentences && !is_file(web.class(original));
    let has_edits = is_article && !matches!(web.class(original), Class::Trap(_));
    let kind = |version: u32| match has_edits {
        true => article(web, original, version).1.last().copied().unwrap_or(EditKind::Replaced),
        false => EditKind::Replaced,
    };
    (before + 1..=after).map(|version| Edit { version, kind: kind(version) }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::web::WebSettings;

    fn web() -> Web {
        Web::new(WebSettings { writing: Writing::Sentences, ..WebSettings::plain(8, 12) }).unwrap()
    }

    #[test]
    fn a_version_is_the_same_whenever_it_is_asked_for() {
        let web = web();
        for number in (0..web.pages() as u32).map(PageNumber) {
            let (late, kinds) = article(&web, number, 30);
            assert_eq!(article(&web, number, 30), (late, kinds.clone()));
            assert_eq!(article(&web, number, 12).1, kinds[..12]);
        }
    }

    #[test]
    fn every_edit_changes_the_words_of_its_page_except_a_redesign() {
        let web = web();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for number in (0..web.pages() as u32).map(PageNumber) {
            for version in 1..=60 {
                let (before, _) = article(&web, number, version - 1);
                let (after, edits) = article(&web, number, version);
                let kind = edits[version as usize - 1];
                *kinds.entry(format!("{kind:?}")).or_default() += 1;
                let is_same_text = before.text() == after.text();
                assert_eq!(is_same_text, kind == EditKind::Redesigned, "{kind:?} in version {version}");
            }
        }
        assert_eq!(kinds.len(), EditKind::ALL.len() - 1, "every kind but a replaced file is met: {kinds:?}");
        assert!(kinds.values().all(|&count| count >= 20), "{kinds:?}");
    }

    #[test]
    fn articles_neither_dry_up_nor_grow_without_end() {
        let web = web();
        for number in (0..web.pages() as u32).map(PageNumber) {
            let (article, _) = article(&web, number, 300);
            let letters = article.text().join(" ").len();
            assert!((300..20_000).contains(&letters), "{letters} letters after 300 edits");
        }
    }
}
