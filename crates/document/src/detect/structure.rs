//! Paper 003's comparison of document trees (4.1.1): level by level, with the place of the first difference.

use crate::parse::tree::{DocumentTree, Node};

/// How two structures differ (paper 003, Table 6).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum StructureDegree {
    #[default]
    None,
    /// Siblings without children were added or removed.
    Minor,
    /// Siblings with children were added or removed.
    Major,
}

/// Where the structures first differ: the level from 1, and the position within it from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TreePosition {
    pub level: usize,
    pub position: usize,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureChange {
    pub degree: StructureDegree,
    pub place: Option<TreePosition>,
}

/// Compares two trees level by level, the highest first.
pub fn compare_trees(old: &DocumentTree, new: &DocumentTree) -> StructureChange {
    let mut change = StructureChange::default();
    for level in 0..old.levels.len().max(new.levels.len()) {
        let old = old.levels.get(level).map_or(&[][..], Vec::as_slice);
        let new = new.levels.get(level).map_or(&[][..], Vec::as_slice);
        let Some((position, has_children)) = first_difference(old, new) else { continue };
        change.place = change.place.or(Some(TreePosition { level: level + 1, position }));
        if has_children {
            change.degree = StructureDegree::Major;
            return change;
        }
        change.degree = StructureDegree::Minor;
    }
    change
}

/// Where two levels first differ, and whether the added or removed node has children. `None` if they are equal.
fn first_difference(old: &[Node], new: &[Node]) -> Option<(usize, bool)> {
    let start = old.iter().zip(new).take_while(|(old, new)| old.tag == new.tag).count();
    if start == old.len() && start == new.len() {
        return None;
    }
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old.tag == new.tag).count();
    let middle = old[..old.len() - end].iter().chain(&new[..new.len() - end]);
    Some((start, middle.into_iter().any(|node| node.children > 0)))
}
