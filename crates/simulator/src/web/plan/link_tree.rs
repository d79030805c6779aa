//! How the pages of a site are linked: the tree of articles, and where redirects and duplicates lead.

use vernal_model::Chance;

use super::{PagePlan, Plan};
use crate::web::class::Class;

/// A redirect leads to a page within so many hops.
const REDIRECT_HOPS_MAX: u8 = 3;

impl Plan {
    /// Puts the last site's pages into the tree: open articles as its branches, the others as leaves under one article.
    pub(super) fn build_link_tree(&mut self, chance: &mut Chance) {
        let first = self.sites[self.sites.len() - 1].first;
        let numbers: Vec<u32> = (first..self.pages.len() as u32).collect();
        let is_tree = |page: &PagePlan| page.class == Class::Article && !page.hidden && !page.forbidden;
        let tree: Vec<u32> = numbers.iter().copied().filter(|&page| is_tree(&self.pages[page as usize])).collect();
        let is_veil = |page: &PagePlan| page.class == Class::NoFollow || page.forbidden;
        let veils: Vec<u32> = numbers.iter().copied().filter(|&page| is_veil(&self.pages[page as usize])).collect();
        let mut in_tree = 0;
        for &number in &numbers {
            let page = &self.pages[number as usize];
            let is_branch = is_tree(page);
            let parent = match page.class {
                Class::Trap(_) => Some(&first),
                _ if page.hidden => chance.pick(&veils),
                _ if is_branch => tree.get((in_tree as usize).saturating_sub(1) / self.settings.branching),
                _ => chance.pick(&tree),
            };
            in_tree += u32::from(is_branch);
            // Without a page to hide behind, a hidden page hangs under `/` like any other.
            self.pages[number as usize].hidden &= parent.is_some();
            let parent = parent.copied().unwrap_or(first);
            self.pages[number as usize].parent = parent;
            if number != first {
                self.pages[parent as usize].children.push(number);
            }
        }
    }

    /// Gives the last site's redirects and duplicates their targets.
    pub(super) fn lead(&mut self, chance: &mut Chance) {
        let first = self.sites[self.sites.len() - 1].first;
        let of = |pages: &[PagePlan], class: Class| -> Vec<u32> {
            (first..pages.len() as u32).filter(|&page| pages[page as usize].class == class).collect()
        };
        let open = |page: &u32| !self.pages[*page as usize].hidden && !self.pages[*page as usize].forbidden;
        let articles: Vec<u32> = of(&self.pages, Class::Article).into_iter().filter(open).collect();
        let mut hops: Vec<(u32, u8)> = Vec::new();
        for redirect in of(&self.pages, Class::Redirect) {
            let chained = chance.pick(&hops).copied().filter(|&(_, hops)| hops < REDIRECT_HOPS_MAX);
            let (target, after) = match chained.filter(|_| chance.happens(0.5)) {
                Some(earlier) => earlier,
                None => (chance.pick(&articles).copied().unwrap_or(first), 0),
            };
            self.pages[redirect as usize].target = target;
            hops.push((redirect, after + 1));
        }
        let loops = of(&self.pages, Class::RedirectLoop);
        for (index, &redirect) in loops.iter().enumerate() {
            self.pages[redirect as usize].target = loops[(index + 1) % loops.len()];
        }
        for duplicate in of(&self.pages, Class::Duplicate) {
            self.pages[duplicate as usize].target = chance.pick(&articles).copied().unwrap_or(first);
        }
    }

    /// Redirects to other sites need all sites to be there. With a single site they lead to its own first page.
    pub(super) fn link_redirects_between_sites(&mut self) {
        for number in 0..self.pages.len() {
            if self.pages[number].class == Class::RedirectAway {
                let next = (self.pages[number].site as usize + 1) % self.sites.len();
                self.pages[number].target = self.sites[next].first;
            }
        }
    }
}
