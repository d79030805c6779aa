//! The document tree (paper 003, 4.1.1.1): nodes of each level of both versions, and the node that decided with its path.

use schemars::JsonSchema;
use serde::Serialize;

use super::method::{Cost, Found};
use crate::Input;
use crate::detect::structure::{LevelRow, StructureDegree, compare_trees};
use crate::parse::links::limited;
use crate::parse::tree::{DocumentTree, Node, tree_of};
use crate::read::{letters_of, markup_of};

/// Levels of a table; further ones are only counted. Ordinary pages have about twenty.
pub const LEVELS_SHOWN_MAX: usize = 64;

/// A longer name of a tag, or a longer path, is cut.
const NAME_BYTES_MAX: usize = 40;
const PATH_BYTES_MAX: usize = 2_000;

/// One value of each version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "{T}_of_both")]
pub struct Sides<T> {
    pub old: T,
    pub new: T,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreeFound {
    pub degree: StructureDegree,
    pub place: Option<TreePlace>,
    pub nodes: Sides<usize>,
    pub levels: Vec<LevelRow>,
    /// Levels beyond the limit of the table.
    pub levels_left_out: usize,
}

/// The node that decided: for a major change the first one with children that came or went.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreePlace {
    /// `added` to the newer tree, or `removed` from the older one.
    pub what: &'static str,
    /// From 1.
    pub level: usize,
    /// From 0, in the order of the source.
    pub position: usize,
    pub tag: String,
    pub children: u32,
    /// As XPath, in the tree that has the node.
    pub path: String,
}

pub(super) fn compared(old: &Input<'_>, new: &Input<'_>) -> (bool, Found, Cost) {
    let (old_tree, new_tree) = (tree(old), tree(new));
    let mut change = compare_trees(&old_tree, &new_tree);
    let (tree, what) = if change.is_removed { (&old_tree, "removed") } else { (&new_tree, "added") };
    let place = change.place.and_then(|at| {
        let node = tree.levels.get(at.level - 1)?.get(at.position)?;
        Some(TreePlace {
            what,
            level: at.level,
            position: at.position,
            tag: limited(&node.tag, NAME_BYTES_MAX).to_owned(),
            children: node.children,
            path: limited(&tree.path(at.level - 1, at.position), PATH_BYTES_MAX).to_owned(),
        })
    });
    let nodes = Sides { old: old_tree.nodes().count(), new: new_tree.nodes().count() };
    let cost = Cost {
        bytes_read: old.bytes.len() + new.bytes.len(),
        items: nodes.old + nodes.new,
        kept_bytes: new_tree.nodes().map(|node| size_of::<Node>() + node.tag.len()).sum(),
    };
    let levels_left_out = change.levels.len().saturating_sub(LEVELS_SHOWN_MAX);
    change.levels.truncate(LEVELS_SHOWN_MAX);
    let found = TreeFound { degree: change.degree, place, nodes, levels: change.levels, levels_left_out };
    (change.degree != StructureDegree::None, Found::Tree(found), cost)
}

/// A body without markup has an empty tree.
fn tree(input: &Input<'_>) -> DocumentTree {
    markup_of(input).map_or_else(DocumentTree::default, |markup| tree_of(&letters_of(input), markup))
}
