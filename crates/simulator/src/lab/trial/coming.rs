//! Births, ends and hints of a world, in the order in which they come.

use vernal_model::Moment;

use crate::lab::world::World;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Coming {
    Birth,
    Hint,
    End,
}

pub(super) fn coming(world: &World) -> Vec<(Moment, Coming, u32)> {
    let mut coming = Vec::new();
    for page in 0..world.pages.len() {
        let (from, until) = world.life(page);
        if until <= from {
            continue;
        }
        if from > world.origin {
            coming.push((from, Coming::Birth, page as u32));
        }
        if until < world.end {
            coming.push((until, Coming::End, page as u32));
        }
        coming.extend(world.hints(page).iter().map(|&hint| (hint, Coming::Hint, page as u32)));
    }
    coming.sort_unstable();
    coming
}
