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
        let old = old.levels.get(level).map_or(&[][..], Vec::as_slice);
        let new = new.levels.get(level).map_or(&[][..], Vec::as_slice);
        let Some((position, has_children)) = first_difference(old, new) else { continue };
        change.place = change.place.or(Some(Place { level: level + 1, position }));
        if has_children {
            change.degree = Degree::Major;
            return change;
        }
        change.degree = Degree::Minor;
    }
    change
}

/// Where two levels part, and whether what came or went there has children; `None` if they are the same.
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
