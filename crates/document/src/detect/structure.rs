//! Paper 003's comparison of document trees (4.1.1): level by level, with the place of the first difference.

use crate::parse::tree::{DocumentTree, Node};

/// How two structures differ (paper 003, Table 6).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Degree {
    #[default]
    None,
    /// Siblings without children came or went.
    Minor,
    /// Siblings with children came or went.
    Major,
}

/// Where the structures part: the level from 1, and the place within it from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub level: usize,
    pub position: usize,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureChange {
    pub degree: Degree,
    pub place: Option<Place>,
}

/// Compares two trees level by level, the highest first.
pub fn compare_trees(old: &DocumentTree, new: &DocumentTree) -> StructureChange {
    let mut change = StructureChange::default();
    for level in 0..old.levels.len().max(new.levels.len()) {
        let nodes = |tree: &DocumentTree| tree.levels.get(level).cloned().unwrap_or_default();
        let (old, new) = (nodes(old), nodes(new));
        let same = old.iter().zip(&new).take_while(|(old, new)| is_same(old, new)).count();
        if same == old.len() && same == new.len() {
            continue;
        }
        if change.place.is_none() {
            change.place = Some(Place { level: level + 1, position: same });
        }
        if has_family(&old, &new) {
            change.degree = Degree::Major;
            return change;
        }
        change.degree = Degree::Minor;
    }
    change
}

fn is_same(old: &Node, new: &Node) -> bool {
    old.tag == new.tag && old.siblings == new.siblings
}

/// Whether what differs between two levels has children, on either side.
fn has_family(old: &[Node], new: &[Node]) -> bool {
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old.tag == new.tag).count();
    let start = old.iter().zip(new).take_while(|(old, new)| old.tag == new.tag).count();
    let middle = |nodes: &[Node]| {
        let end = nodes.len().saturating_sub(end).max(start.min(nodes.len()));
        nodes[start.min(nodes.len())..end].iter().any(|node| node.children > 0)
    };
    middle(old) || middle(new)
}
