//! Births, ends and hints of a world, in the order in which they come.

use vernal_model::Moment;

use crate::lab::world::World;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Upcoming {
    Birth,
    Hint,
    End,
}

pub(super) fn upcoming(world: &World) -> Vec<(Moment, Upcoming, u32)> {
    let mut upcoming = Vec::new();
    for page in 0..world.pages.len() {
        let (from, until) = world.life(page);
        if until <= from {
            continue;
        }
        if from > world.origin {
            upcoming.push((from, Upcoming::Birth, page as u32));
        }
        if until < world.end {
            upcoming.push((until, Upcoming::End, page as u32));
        }
        upcoming.extend(world.hints(page).iter().map(|&hint| (hint, Upcoming::Hint, page as u32)));
    }
    upcoming.sort_unstable();
    upcoming
}
