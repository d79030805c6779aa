//! What is asked for: which pages, and which state or states of them.

use vernal_model::{Event, Moment, PageKey, Seed, Site, Url};
use vernal_repository::{Cursor, Reader};

use super::{Error, Result};

/// A state of the repository: everything that its events told up to here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Until {
    pub cursor: Cursor,
    /// And of that, only what was seen until this Moment.
    pub moment: Option<Moment>,
}

impl Until {
    pub fn has(&self, cursor: Cursor, event: &Event) -> bool {
        cursor <= self.cursor && self.moment.is_none_or(|moment| event.seen_different <= moment)
    }
}

/// Which pages.
#[derive(Clone, Debug, Default)]
pub struct PageFilter {
    pub site: Option<Site>,
    /// The beginning of their URLs.
    pub prefix: Option<String>,
    pub tag: Option<String>,
    /// The seeds of the repository, which give pages their tags.
    pub seeds: Vec<Seed>,
    /// Also the text of pages that ask not to be indexed.
    pub with_noindex: bool,
}

impl PageFilter {
    pub fn has(&self, url: &Url) -> bool {
        self.site.as_ref().is_none_or(|site| url.site_text() == site.as_str())
            && self.prefix.as_ref().is_none_or(|prefix| url.as_str().starts_with(prefix.as_str()))
            && self.tag.as_ref().is_none_or(|tag| self.tags(url).any(|own| own == tag))
    }

    /// Whether every page is asked for.
    pub fn is_all(&self) -> bool {
        self.site.is_none() && self.prefix.is_none() && self.tag.is_none()
    }

    fn tags<'a>(&'a self, url: &'a Url) -> impl Iterator<Item = &'a String> {
        self.seeds.iter().filter(|seed| seed.covers(url, 0)).flat_map(|seed| &seed.tags)
    }

    pub fn tags_of(&self, url: &Url) -> Vec<String> {
        let mut tags: Vec<String> = self.tags(url).cloned().collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }
}

/// A whole state, or what leads from one state to another.
#[derive(Clone, Debug)]
pub struct Asked {
    pub filter: PageFilter,
    pub from: Option<Until>,
    pub to: Until,
    /// Pages up to this one were written before; a broken-off export goes on behind it.
    pub after: Option<PageKey>,
    /// The hour that the export says it was made.
    pub made: Moment,
}

impl Asked {
    /// The whole of the newest state.
    pub fn now(reader: &Reader, filter: PageFilter, made: Moment) -> Asked {
        let to = Until { cursor: reader.cursor(), moment: None };
        Asked { filter, from: None, to, after: None, made }
    }

    /// A state can only be named by a cursor that this repository has given.
    pub fn check(&self, reader: &Reader) -> Result<()> {
        let end = reader.cursor();
        for until in self.from.iter().chain([&self.to]) {
            if until.cursor > end {
                return Err(Error::Asked(format!(
                    "cursor {} is not of this repository, which is at {end}: take a full export",
                    until.cursor
                )));
            }
        }
        let is_backwards = self.from.is_some_and(|from| from.moment > self.to.moment.or(Some(Moment::NEVER)));
        if self.from.is_some_and(|from| from.cursor > self.to.cursor) || is_backwards {
            return Err(Error::Asked("the state to begin from is newer than the one to export".into()));
        }
        Ok(())
    }
}
