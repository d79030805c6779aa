//! Sitemaps without end: indexes that name further indexes, and files that name no page.

use foldhash::HashMap;
use vernal_model::Site;

/// Sitemaps that the indexes of one site may name.
pub const SITEMAPS_MAX: usize = 1_000;
/// Indexes at this depth are not followed: the standard allows no index within an index, but sites use one.
const INDEX_DEPTH_MAX: u16 = 2;
/// After so many files in a row that name no page of ours, further ones are not asked for.
const WITHOUT_PAGES_MAX: usize = 100;

/// The words before the reason why sitemaps of a site are not asked for.
const CLOSED_WORDS: &str = "sitemaps without end: ";
const ENOUGH_WORDS: &str = "enough sitemaps: ";

/// What the sitemaps of each site showed.
#[derive(Clone, Debug, Default)]
pub(super) struct SitemapBook {
    /// Sites that have an index. The map is never iterated.
    sites: HashMap<Site, SitemapEvidence>,
}

#[derive(Clone, Debug, Default)]
struct SitemapEvidence {
    named: usize,
    without_pages: usize,
    closed: Option<Box<str>>,
}

/// What may be followed of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexReach {
    /// So many of the files that it names may be asked for.
    pub files: usize,
    /// The reason, in words, where that is not all.
    pub words: Option<String>,
}

impl SitemapBook {
    /// An index names files that are not known yet. `depth` counts the indexes above it, and `read` is the number of lists that
    /// the site is known to have.
    pub fn follow_index(&mut self, site: &Site, depth: u16, named: usize, read: usize) -> IndexReach {
        if depth >= INDEX_DEPTH_MAX {
            let words = format!("indexes of sitemaps are followed {INDEX_DEPTH_MAX} deep, and these go deeper");
            return IndexReach { files: 0, words: Some(words).filter(|_| named > 0) };
        }
        let evidence = self.sites.entry(site.clone()).or_default();
        if evidence.closed.is_some() {
            return IndexReach::default();
        }
        evidence.named = evidence.named.max(read);
        let files = named.min(SITEMAPS_MAX.saturating_sub(evidence.named));
        evidence.named += files;
        let words = (files < named).then(|| format!("{ENOUGH_WORDS}{SITEMAPS_MAX} of one site are asked for"));
        IndexReach { files, words }
    }

    /// A list was read for the first time, and names pages of ours or none. Returns the reason, in words, if this closes the
    /// sitemaps of the site. Only the files of an index are closed.
    pub fn learn(&mut self, site: &Site, names_pages: bool) -> Option<String> {
        let evidence = self.sites.get_mut(site)?;
        evidence.without_pages = if names_pages { 0 } else { evidence.without_pages + 1 };
        if evidence.without_pages < WITHOUT_PAGES_MAX || evidence.closed.is_some() {
            return None;
        }
        let words = format!("{CLOSED_WORDS}{WITHOUT_PAGES_MAX} in a row name no page");
        evidence.closed = Some(words.as_str().into());
        Some(words)
    }

    /// The reason why the files that the indexes of a site name are not asked for.
    pub fn closed(&self, site: &Site) -> Option<&str> {
        self.sites.get(site)?.closed.as_deref()
    }

    /// Restores what an earlier process returned; false if these are the words of another trap.
    pub fn recall(&mut self, site: &Site, words: &str) -> bool {
        let (is_closed, is_enough) = (words.starts_with(CLOSED_WORDS), words.starts_with(ENOUGH_WORDS));
        if is_closed || is_enough {
            let evidence = self.sites.entry(site.clone()).or_default();
            evidence.named = SITEMAPS_MAX;
            evidence.closed = is_closed.then(|| words.into());
        }
        is_closed || is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::new("a.org")
    }

    #[test]
    fn indexes_name_files_up_to_a_number_and_a_depth() {
        let mut book = SitemapBook::default();
        let reach = |book: &mut SitemapBook, depth| book.follow_index(&site(), depth, 400, 1);
        assert_eq!((reach(&mut book, 0), reach(&mut book, 1).files), (IndexReach { files: 400, words: None }, 400));
        let last = reach(&mut book, 1);
        assert_eq!((last.files, last.words.as_deref()), (199, Some("enough sitemaps: 1000 of one site are asked for")));
        let deep = book.follow_index(&Site::new("b.org"), INDEX_DEPTH_MAX, 400, 1);
        assert!(deep.files == 0 && deep.words.is_some());
        assert_eq!(book.closed(&site()), None, "what was named is asked for");
    }

    #[test]
    fn files_that_name_no_page_close_the_rest_unless_one_does() {
        let mut book = SitemapBook::default();
        assert_eq!(book.learn(&site(), false), None, "without an index there is no end to fear");
        book.follow_index(&site(), 0, 900, 1);
        let read = |book: &mut SitemapBook, files| (0..files).find_map(|_| book.learn(&site(), false));
        assert_eq!(read(&mut book, WITHOUT_PAGES_MAX - 1), None);
        assert_eq!(book.learn(&site(), true), None);
        let words = read(&mut book, WITHOUT_PAGES_MAX);
        assert_eq!(words.as_deref(), Some("sitemaps without end: 100 in a row name no page"));
        assert_eq!(book.closed(&site()), words.as_deref());
        assert_eq!(book.learn(&site(), false), None, "it is told once");
        assert_eq!(book.follow_index(&site(), 0, 5, 0), IndexReach::default());
    }

    #[test]
    fn the_next_process_knows_what_this_one_told() {
        let (mut book, mut other) = (SitemapBook::default(), SitemapBook::default());
        let enough = book.follow_index(&site(), 0, SITEMAPS_MAX + 1, 0).words.unwrap();
        assert!(other.recall(&site(), &enough) && !other.recall(&site(), "20 pages like `/x` have the same content"));
        assert_eq!((other.follow_index(&site(), 0, 5, 0).files, other.closed(&site())), (0, None));
        let closed = (0..WITHOUT_PAGES_MAX).find_map(|_| book.learn(&site(), false)).unwrap();
        assert!(other.recall(&site(), &closed));
        assert_eq!(other.closed(&site()), Some(closed.as_str()));
    }
}
