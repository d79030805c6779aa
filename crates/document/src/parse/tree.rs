//! The document tree of paper 003 (4.1.1): nodes with tag, children, level and siblings, level by level. It is made on
//! the slow path only, to explain where a structure changed; nothing is kept of the text.

use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;

/// Nodes beyond these are not kept: the tree explains, it does not decide.
const NODES_MAX: usize = 200_000;

/// Deeper elements are put on the last level.
const LEVELS_MAX: usize = 512;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentTree {
    /// The nodes of each level from the root's on, in the order of the source.
    pub levels: Vec<Vec<Node>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// In lower case.
    pub tag: Box<str>,
    pub children: u32,
    /// From 1.
    pub level: u16,
    /// All nodes of its level, itself included: so the paper counts them.
    pub siblings: u32,
}

impl DocumentTree {
    /// Nodes of each level: the paper's Table 4.
    pub fn counts(&self) -> Vec<usize> {
        self.levels.iter().map(Vec::len).collect()
    }

    /// All nodes, level by level: the paper's Table 5.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.levels.iter().flatten()
    }
}

/// Makes the tree of a page. End tags that were left out are put where the standard has them for the common elements.
pub fn document_tree(source: &str) -> DocumentTree {
    let mut builder = Builder { implied: true, ..Builder::default() };
    scan(source, Markup::Html, &mut builder);
    builder.finish()
}

/// Makes the tree as the tags are nested in the source, every end tag trusted: so the paper drew its trees, with a
/// `center` inside a `p`.
pub fn written_tree(source: &str) -> DocumentTree {
    let mut builder = Builder::default();
    scan(source, Markup::Html, &mut builder);
    builder.finish()
}

#[derive(Default)]
struct Builder {
    tree: DocumentTree,
    /// Whether elements end where the standard ends them.
    implied: bool,
    open: Vec<Open>,
    nodes: usize,
}

struct Open {
    tag: Tag,
    level: usize,
    place: usize,
}

impl Sink for Builder {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        if self.implied && !tag.foreign {
            self.close_implied(tag.tag);
        }
        if self.nodes >= NODES_MAX {
            return;
        }
        self.nodes += 1;
        let level = self.open.len().min(LEVELS_MAX - 1);
        if self.tree.levels.len() <= level {
            self.tree.levels.push(Vec::new());
        }
        let parent = self.open.last().filter(|parent| parent.level + 1 == level);
        if let Some(parent) = parent {
            self.tree.levels[parent.level][parent.place].children += 1;
        }
        let place = self.tree.levels[level].len();
        self.tree.levels[level].push(Node {
            tag: tag.name.text().to_ascii_lowercase().into(),
            children: 0,
            level: (level + 1) as u16,
            siblings: 0,
        });
        if tag.tag.is_void() || (tag.foreign && tag.self_closing) {
            return;
        }
        self.open.push(Open { tag: tag.tag, level, place });
    }

    fn close(&mut self, tag: Tag) {
        // An unknown name's end is taken for that of the innermost unknown element.
        if let Some(place) = self.open.iter().rposition(|open| open.tag == tag) {
            self.open.truncate(place);
        }
    }

    fn text(&mut self, _text: &str, _coded: bool) {}

    fn raw(&mut self, _tag: Tag, _text: &str) {}
}

impl Builder {
    fn finish(mut self) -> DocumentTree {
        for level in &mut self.tree.levels {
            let siblings = level.len() as u32;
            for node in level {
                node.siblings = siblings;
            }
        }
        self.tree
    }

    /// Ends the elements that this tag ends without saying so.
    fn close_implied(&mut self, tag: Tag) {
        while let Some(open) = self.open.last() {
            let ends = match open.tag {
                Tag::P => tag.is_block() && !matches!(tag, Tag::Html | Tag::Head | Tag::Body),
                Tag::Li => tag == Tag::Li,
                Tag::Dt | Tag::Dd => matches!(tag, Tag::Dt | Tag::Dd),
                Tag::Option => matches!(tag, Tag::Option | Tag::Optgroup),
                Tag::Td | Tag::Th => matches!(tag, Tag::Td | Tag::Th | Tag::Tr | Tag::Tbody | Tag::Tfoot),
                Tag::Tr => matches!(tag, Tag::Tr | Tag::Tbody | Tag::Tfoot | Tag::Thead),
                Tag::Thead | Tag::Tbody => matches!(tag, Tag::Tbody | Tag::Tfoot),
                Tag::Head => tag == Tag::Body,
                _ => false,
            };
            if !ends {
                return;
            }
            self.open.pop();
        }
    }
}
