//! Elements that the HTML standard inserts although they are not written. This covers what tree construction adds to the sequence
//! of element names, without building the tree.

use crate::parse::scan::OpenTag;
use crate::parse::tag::{Tag, pack};

/// Deeper nested tables are taken as written.
const TABLES_MAX: usize = 64;

/// The phase of the page, and the open tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implied {
    phase: Phase,
    /// Templates are pages of their own: nothing in them begins the body.
    templates: u32,
    tables: Vec<TableState>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Head,
    AfterHead,
    Body,
}

/// The state within a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum TableState {
    Table,
    Columns,
    Section,
    Row,
}

impl Implied {
    pub fn in_head(&self) -> bool {
        self.phase != Phase::Body
    }

    /// Reports the names of the elements that this tag creates, in order.
    pub fn open(&mut self, tag: &OpenTag<'_, '_>, mut tell: impl FnMut(u64)) {
        if self.phase != Phase::Body && self.templates == 0 {
            match tag.tag {
                // Always present, written or not.
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
            // The standard itself comments on this rename with "don't ask".
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
            Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Colgroup => self.stand(TableState::Table),
            Tag::Tr => self.stand(TableState::Section),
            _ => {}
        }
    }

    pub fn begin_body(&mut self, mut tell: impl FnMut(u64)) {
        if self.templates == 0 && self.phase != Phase::Body {
            self.phase = Phase::Body;
            tell(pack(b"body"));
        }
    }

    fn stand(&mut self, row: TableState) {
        if let Some(last) = self.tables.last_mut() {
            *last = row;
        }
    }

    fn open_in_table(&mut self, tag: Tag, tell: &mut impl FnMut(u64)) {
        if tag == Tag::Table {
            if self.tables.len() < TABLES_MAX {
                self.tables.push(TableState::Table);
            }
            return;
        }
        let Some(&row) = self.tables.last() else { return };
        let in_section = matches!(row, TableState::Section | TableState::Row);
        match tag {
            Tag::Colgroup => self.stand(TableState::Columns),
            Tag::Col if row != TableState::Columns => {
                tell(pack(b"colgroup"));
                self.stand(TableState::Columns);
            }
            Tag::Tbody | Tag::Thead | Tag::Tfoot => self.stand(TableState::Section),
            Tag::Tr => {
                if !in_section {
                    tell(pack(b"tbody"));
                }
                self.stand(TableState::Row);
            }
            Tag::Td | Tag::Th => {
                if !in_section {
                    tell(pack(b"tbody"));
                }
                if row != TableState::Row {
                    tell(pack(b"tr"));
                }
                self.stand(TableState::Row);
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
