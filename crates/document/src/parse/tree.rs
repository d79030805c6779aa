//! The document tree of paper 003 (4.1.1): nodes with tag, children, level and siblings, level by level. It reproduces the
//! results of the paper; the crawl compares structures by their digests.

use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;

/// Further nodes are not kept.
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
    /// All nodes of its level including itself, as the paper counts them.
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

/// Makes the tree as the tags are nested in the source. Like the paper, it trusts every end tag and allows a `center` inside a
/// `p`.
pub fn written_tree(source: &str) -> DocumentTree {
    let mut builder = Builder::default();
    scan(source, Markup::Html, &mut builder);
    builder.finish()
}

#[derive(Default)]
struct Builder {
    tree: DocumentTree,
    open: Vec<OpenElement>,
    nodes: usize,
}

struct OpenElement {
    tag: Tag,
    level: usize,
    place: usize,
}

impl Sink for Builder {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
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
        self.open.push(OpenElement { tag: tag.tag, level, place });
    }

    fn close(&mut self, tag: Tag) {
        // The end tag of an unknown name closes the innermost unknown element.
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
}
