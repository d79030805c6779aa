//! Sites that must be looked at before the next choice, because their clock, prior or pages changed.

#[derive(Clone, Debug, Default)]
pub struct DirtySites {
    /// By site.
    marks: Vec<Mark>,
    /// Those that were marked since this was last taken.
    marked: Vec<u32>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// It must be looked at.
    pub is_dirty: bool,
    /// All its pages must be placed anew.
    pub is_stale: bool,
}

impl DirtySites {
    /// The clock of a site moved, or the page that led others left.
    pub fn mark(&mut self, site: u32) {
        let mark = self.mark_of(site);
        if !std::mem::replace(&mut mark.is_dirty, true) {
            self.marked.push(site);
        }
    }

    /// All pages of a site must be placed anew.
    pub fn invalidate(&mut self, site: u32) {
        self.invalidate_later(site);
        self.mark(site);
    }

    /// The same when the site is looked at for another reason.
    pub fn invalidate_later(&mut self, site: u32) {
        self.mark_of(site).is_stale = true;
    }

    pub fn is_dirty(&self, site: u32) -> bool {
        self.marks.get(site as usize).is_some_and(|mark| mark.is_dirty)
    }

    /// A site is looked at now: what was marked, and nothing from then on.
    pub fn take(&mut self, site: u32) -> Mark {
        self.marks.get_mut(site as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Sites that were marked since this was last asked. Some may have been looked at since.
    pub fn take_marked(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.marked)
    }

    fn mark_of(&mut self, site: u32) -> &mut Mark {
        let index = site as usize;
        if self.marks.len() <= index {
            self.marks.resize(index + 1, Mark::default());
        }
        &mut self.marks[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_named_once_until_it_is_looked_at() {
        let mut dirty = DirtySites::default();
        dirty.mark(7);
        dirty.invalidate(7);
        dirty.invalidate_later(3);
        assert_eq!(dirty.take_marked(), [7]);
        assert_eq!(dirty.take(7), Mark { is_dirty: true, is_stale: true });
        assert_eq!(dirty.take(7), Mark::default());
        assert_eq!(dirty.take(3), Mark { is_dirty: false, is_stale: true });
        dirty.mark(7);
        assert_eq!(dirty.take_marked(), [7]);
        assert!(dirty.is_dirty(7) && !dirty.is_dirty(3) && !dirty.is_dirty(u32::MAX));
    }
}
