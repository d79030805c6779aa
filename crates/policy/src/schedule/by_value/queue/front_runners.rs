//! The front runner of each site: its best page, in the order of all sites.

use std::collections::BTreeSet;

use super::levels::Rank;

#[derive(Clone, Debug, Default)]
pub struct FrontRunners {
    /// Best first.
    ranks: BTreeSet<Rank>,
}

impl FrontRunners {
    /// The best rank at or after one.
    pub fn first_from(&self, rank: Rank) -> Option<Rank> {
        self.ranks.range(rank..).next().copied()
    }

    /// A site has another front runner, or none.
    pub fn replace(&mut self, gone: Option<Rank>, comes: Option<Rank>) {
        gone.map(|rank| self.ranks.remove(&rank));
        comes.map(|rank| self.ranks.insert(rank));
    }

    #[cfg(test)]
    pub fn all(&self) -> &BTreeSet<Rank> {
        &self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_rank_is_told_from_any_rank_on() {
        let mut front = FrontRunners::default();
        let [second, third, fourth] = [(5, 1), (4, 2), (4, 3)].map(|(level, number)| Rank::of(level, number));
        front.replace(None, Some(third.min(fourth)));
        front.replace(None, Some(second));
        assert_eq!(front.first_from(Rank::BEST), Some(second));
        assert_eq!(front.first_from(second.next()), Some(third.min(fourth)));
        front.replace(Some(second), Some(third.max(fourth)));
        assert_eq!(front.first_from(Rank::BEST), Some(third.min(fourth)));
        assert_eq!(front.first_from(third.max(fourth).next()), None);
    }
}
