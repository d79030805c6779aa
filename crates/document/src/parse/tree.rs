//! The document tree of paper 003 (4.1.1): nodes with tag, children, level and siblings, level by level. `detect/methods`
//! compares two of them; the crawl itself compares structures by their digests.

use super::links::limited;
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;

/// Further nodes are not kept.
const NODES_MAX: usize = 200_000;

/// Deeper elements are put on the last level.
const LEVELS_MAX: usize = 512;

/// Longer names of tags are cut in a path. No element of HTML has one.
const TAG_BYTES_SHOWN_MAX: usize = 40;

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
    /// The place of its parent on the level above; `None` for a root, and where the tree is deeper than it may be.
    pub parent: Option<u32>,
}

impl DocumentTree {
    /// Nodes of each level: the paper's Table 4.
    pub fn counts(&self) -> Vec<usize> {
        self.levels.iter().map(Vec::len).collect()
    }

    /// The path from the root to a node as XPath writes it: `/html/body/div[2]/p`. A number counts the children of one parent
    /// that have the same tag, and is left out where there is only one.
    pub fn path(&self, level: usize, place: usize) -> String {
        let mut steps = Vec::new();
        let mut at = Some((level, place));
        while let Some((level, place)) = at {
            let Some(node) = self.levels.get(level).and_then(|nodes| nodes.get(place)) else { break };
            steps.push(self.step(level, place, node));
            at = node.parent.and_then(|parent| Some((level.checked_sub(1)?, parent as usize)));
        }
        // The tree does not say what is above a node without a parent that is not on the first level.
        let start = if level + 1 > steps.len() { "…" } else { "" };
        steps.iter().rev().fold(start.to_owned(), |path, step| path + "/" + step)
    }

    fn step(&self, level: usize, place: usize, node: &Node) -> String {
        let is_equal = |other: &&Node| other.parent == node.parent && other.tag == node.tag;
        let nodes = &self.levels[level];
        let before = nodes[..place].iter().filter(is_equal).count();
        let after = nodes[place + 1..].iter().any(|other| is_equal(&other));
        let tag = limited(&node.tag, TAG_BYTES_SHOWN_MAX);
        if before > 0 || after { format!("{tag}[{}]", before + 1) } else { tag.to_owned() }
    }

    /// All nodes, level by level: the paper's Table 5.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.levels.iter().flatten()
    }
}

/// Makes the tree as the tags are nested in the source. Like the paper, it trusts every end tag and allows a `center` inside a
/// `p`.
pub fn written_tree(source: &str) -> DocumentTree {
    tree_of(source, Markup::Html)
}

pub fn tree_of(source: &str, markup: Markup) -> DocumentTree {
    let mut builder = Builder::default();
    scan(source, markup, &mut builder);
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
        let parent = parent.map(|parent| (parent.level, parent.place));
        if let Some((level, place)) = parent {
            self.tree.levels[level][place].children += 1;
        }
        let place = self.tree.levels[level].len();
        self.tree.levels[level].push(Node {
            tag: tag.name.text().to_ascii_lowercase().into(),
            children: 0,
            level: (level + 1) as u16,
            siblings: 0,
            parent: parent.map(|(_, place)| place as u32),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_every_step_and_counts_equal_siblings_of_one_parent() {
        let tree = written_tree("<html><body><p>a</p><div><p>b</p><p>c</p></div></body></html>");
        let tags: Vec<&str> = tree.levels[3].iter().map(|node| &*node.tag).collect();
        assert_eq!(tags, ["p", "p"]);
        assert_eq!(tree.path(3, 1), "/html/body/div/p[2]");
        assert_eq!(tree.path(2, 0), "/html/body/p");
        assert_eq!(tree.path(9, 9), "…");
    }

    #[test]
    fn a_tree_deeper_than_the_limit_has_paths_that_say_so() {
        let tree = written_tree(&"<i>".repeat(LEVELS_MAX + 3));
        assert_eq!(tree.levels.len(), LEVELS_MAX);
        assert_eq!(tree.path(LEVELS_MAX - 1, 2), "…/i[2]");
    }
}
