//! Elements that are there although nobody wrote them, in small: what of the HTML standard's tree construction can be
//! seen in the sequence of element names without building the tree.

use crate::parse::scan::OpenTag;
use crate::parse::tag::{Tag, pack};

/// Nested tables beyond these are taken as they are written.
const TABLES_MAX: usize = 64;

/// How far the page has come, and which tables are open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implied {
    phase: Phase,
    /// Templates are pages of their own: nothing in them begins the body.
    templates: u32,
    tables: Vec<Stand>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Head,
    AfterHead,
    Body,
}

/// Where we stand in a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stand {
    Table,
    Columns,
    Section,
    Row,
}

impl Implied {
    pub fn in_head(&self) -> bool {
        self.phase != Phase::Body
    }

    /// Tells the names of the elements that this tag makes, in order.
    pub fn open(&mut self, tag: &OpenTag<'_, '_>, mut tell: impl FnMut(u64)) {
        if self.phase != Phase::Body && self.templates == 0 {
            match tag.tag {
                // Always there, written or not.
                Tag::Html | Tag::Head => return,
                Tag::Body => return self.begin_body(tell),
                Tag::Frameset => self.phase = Phase::Body,
                Tag::Noscript if self.phase == Phase::Head => {}
                _ if stays_in_head(tag) => {}
                _ => self.begin_body(&mut tell),
            }
        } else if self.templates == 0 && matches!(tag.tag, Tag::Html | Tag::Head | Tag::Body) {
            return;
        }
        if tag.tag == Tag::Template {
            self.templates = self.templates.saturating_add(1);
        }
        if !tag.foreign {
            self.open_in_table(tag.tag, &mut tell);
        }
        tell(match tag.tag {
            // The standard's own word: "don't ask".
            Tag::Image if !tag.foreign => pack(b"img"),
            _ => tag.name.mark(),
        });
    }

    pub fn close(&mut self, tag: Tag, mut tell: impl FnMut(u64)) {
        match tag {
            Tag::Head if self.phase == Phase::Head => self.phase = Phase::AfterHead,
            Tag::Body | Tag::Html if self.phase != Phase::Body => self.begin_body(tell),
            Tag::Br => {
                if self.phase != Phase::Body && self.templates == 0 {
                    self.begin_body(&mut tell);
                }
                tell(pack(b"br"));
            }
            Tag::Template => self.templates = self.templates.saturating_sub(1),
            Tag::Table => drop(self.tables.pop()),
            Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Colgroup => self.stand(Stand::Table),
            Tag::Tr => self.stand(Stand::Section),
            _ => {}
        }
    }

    pub fn begin_body(&mut self, mut tell: impl FnMut(u64)) {
        if self.templates == 0 && self.phase != Phase::Body {
            self.phase = Phase::Body;
            tell(pack(b"body"));
        }
    }

    fn stand(&mut self, row: Stand) {
        if let Some(last) = self.tables.last_mut() {
            *last = row;
        }
    }

    fn open_in_table(&mut self, tag: Tag, tell: &mut impl FnMut(u64)) {
        if tag == Tag::Table {
            if self.tables.len() < TABLES_MAX {
                self.tables.push(Stand::Table);
            }
            return;
        }
        let Some(&row) = self.tables.last() else { return };
        let in_section = matches!(row, Stand::Section | Stand::Row);
        match tag {
            Tag::Colgroup => self.stand(Stand::Columns),
            Tag::Col if row != Stand::Columns => {
                tell(pack(b"colgroup"));
                self.stand(Stand::Columns);
            }
            Tag::Tbody | Tag::Thead | Tag::Tfoot => self.stand(Stand::Section),
            Tag::Tr => {
                if !in_section {
                    tell(pack(b"tbody"));
                }
                self.stand(Stand::Row);
            }
            Tag::Td | Tag::Th => {
                if !in_section {
                    tell(pack(b"tbody"));
                }
                if row != Stand::Row {
                    tell(pack(b"tr"));
                }
                self.stand(Stand::Row);
            }
            _ => {}
        }
    }
}

fn stays_in_head(tag: &OpenTag<'_, '_>) -> bool {
    matches!(
        tag.tag,
        Tag::Base | Tag::Link | Tag::Meta | Tag::Title | Tag::Script | Tag::Style | Tag::Template | Tag::Noframes
    ) || tag.name.is("basefont")
        || tag.name.is("bgsound")
}
