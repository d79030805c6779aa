//! Paper 003's comparison of document trees (4.1.1): level by level, with the place of the node that decided.

use schemars::JsonSchema;
use serde::Serialize;

use super::alignment::in_order;
use crate::diff::{STEPS_MAX, Steps};
use crate::parse::tree::{DocumentTree, Node};
use crate::signature::digest;

/// How two structures differ (paper 003, Table 6).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StructureDegree {
    #[default]
    None,
    /// Siblings without children were added or removed.
    Minor,
    /// Siblings with children were added or removed.
    Major,
}

impl StructureDegree {
    pub fn name(self) -> &'static str {
        match self {
            StructureDegree::None => "none",
            StructureDegree::Minor => "minor",
            StructureDegree::Major => "major",
        }
    }
}

/// A place in a tree: the level from 1, and the position within it from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreePosition {
    pub level: usize,
    pub position: usize,
}

/// One level of both trees: the paper's Table 4, and how many nodes of it came and went.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LevelRow {
    pub level: usize,
    pub old: usize,
    pub new: usize,
    pub added: usize,
    pub removed: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureChange {
    pub degree: StructureDegree,
    /// Where the first node is, the highest level first, that decided: one with children for a major change.
    pub place: Option<TreePosition>,
    /// Whether that node was removed, so that the place is one of the older tree.
    pub is_removed: bool,
    pub levels: Vec<LevelRow>,
}

/// Compares two trees level by level, the highest first.
pub fn compare_trees(old: &DocumentTree, new: &DocumentTree) -> StructureChange {
    let mut change = StructureChange::default();
    let mut steps = Steps::new(STEPS_MAX);
    for level in 0..old.levels.len().max(new.levels.len()) {
        let old = old.levels.get(level).map_or(&[][..], Vec::as_slice);
        let new = new.levels.get(level).map_or(&[][..], Vec::as_slice);
        let (removed, added) = differing(old, new, &mut steps);
        change.levels.push(LevelRow {
            level: level + 1,
            old: old.len(),
            new: new.len(),
            added: added.len(),
            removed: removed.len(),
        });
        let came = added.iter().map(|&place| (place, false, new[place].children > 0));
        let went = removed.iter().map(|&place| (place, true, old[place].children > 0));
        for (position, is_removed, has_children) in came.chain(went) {
            let degree = if has_children { StructureDegree::Major } else { StructureDegree::Minor };
            if degree > change.degree {
                change.degree = degree;
                (change.place, change.is_removed) = (Some(TreePosition { level: level + 1, position }), is_removed);
            }
        }
    }
    change
}

/// The nodes of a level that only the older and only the newer tree has, by their tags in order.
fn differing(old: &[Node], new: &[Node], steps: &mut Steps) -> (Vec<usize>, Vec<usize>) {
    let is_equal = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.tag == new.tag);
    if is_equal {
        return (Vec::new(), Vec::new());
    }
    let tags = |nodes: &[Node]| nodes.iter().map(|node| digest(node.tag.as_bytes())).collect::<Vec<u64>>();
    let stayed = in_order(&tags(old), &tags(new), steps);
    let removed = (0..old.len()).filter(|&place| stayed[place].is_none()).collect();
    let mut is_new = vec![true; new.len()];
    stayed.into_iter().flatten().for_each(|place| is_new[place] = false);
    let added = (0..new.len()).filter(|&place| is_new[place]).collect();
    (removed, added)
}
