//! A web whose topics are reckoned and not given: pages with words and links, reputations by Algorithm 1, and the best
//! topics of each page. There are as many sites as subjects, which the paper left to future work, so that sampling by site
//! and by topic can be compared.

use vernal_model::{Chance, TopicId, TopicOf};
use vernal_policy::topic::{
    Best, Graph, Known, LinkedFrom, Reckoning, TOPICS_OF_A_PAGE, Workspace, by_pushes, known_for,
};

use super::{MEAN_RATE, PAGES, TOPICS, VISITS, rate_of};
use crate::lab::papers::one_cycle::CycleWeb;

/// As many sites as subjects. A page of a subject has its term, and terms of others by chance.
const SITES: usize = TOPICS;
const OTHER_TERMS: usize = 2;
/// In-links of pages: 9/x, so that 18 of 100 pages have more than 50, as the paper saw (5.1); of these most come from pages
/// of the same subject.
const IN_LINKS: f64 = 9.0;
const IN_LINKS_MAX: usize = 400;
const SAME_SUBJECT: f64 = 0.7;
/// Topics of a page that are told at most.
const TOPICS_MAX: usize = 10;

/// What changes together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GroupedBy {
    /// Pages of one subject, on whatever site.
    Subjects,
    /// Pages of one site, of whatever subject.
    Sites,
    /// A page changes at the mean rate of all its topics, each by its reputation.
    AllTopics,
}

/// Pages with a site, a subject, words and links, and whether they have changed.
pub struct TopicalWeb {
    sites: Vec<u32>,
    words: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    out: Vec<u32>,
    /// Where subjects change together, where sites do, and where all topics of a page count.
    changed: [Vec<bool>; 3],
    /// For each page all topics that it has a reputation on, the best first.
    topics: Vec<Vec<TopicOf>>,
}

impl TopicalWeb {
    pub fn draw(chance: &mut Chance) -> Self {
        let subject_of = |page: usize| page % TOPICS;
        // Every subject lies on every site.
        let sites: Vec<u32> = (0..PAGES).map(|page| (page / TOPICS % SITES) as u32).collect();
        let (mut words, mut changed) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
        for (page, &site) in sites.iter().enumerate() {
            let others = (0..OTHER_TERMS).map(|_| chance.below(TOPICS as u64) as u32);
            let mut of_page: Vec<u32> = others.chain([subject_of(page) as u32]).collect();
            of_page.sort_unstable();
            of_page.dedup();
            words.push(of_page);
            for (changed, group) in changed.iter_mut().zip([subject_of(page), site as usize]) {
                changed.push(chance.happens(rate_of(group)));
            }
        }
        let mut targets = vec![Vec::new(); PAGES];
        for page in 0..PAGES {
            let links = ((IN_LINKS / chance.share().max(1e-9)) as usize).min(IN_LINKS_MAX);
            for _ in 0..links {
                let from = chance.below((PAGES / TOPICS) as u64) as usize * TOPICS;
                let is_same = chance.happens(SAME_SUBJECT);
                let of = if is_same { subject_of(page) } else { chance.below(TOPICS as u64) as usize };
                targets[from + of].push(page as u32);
            }
        }
        let (mut into, mut out, mut graph) = (vec![Vec::new(); PAGES], Vec::new(), Graph::new());
        for (from, targets) in targets.iter_mut().enumerate() {
            targets.sort_unstable();
            targets.dedup();
            targets.iter().for_each(|&to| into[to as usize].push(from as u32));
            out.push(targets.len() as u32);
            graph.push(targets, targets.len() as u32);
        }
        let topics = reckoned(&graph, &words);
        changed[GroupedBy::AllTopics as usize] =
            topics.iter().map(|of_page| chance.happens(mean_rate(of_page))).collect();
        TopicalWeb { sites, words, into, out, changed, topics }
    }

    /// Categorises every page from at most so many of its in-links; how many topics and words were looked at, and the share
    /// of pages whose best topic is the one that the whole reckoning gives.
    pub fn categorised(&self, most: usize) -> (usize, f64) {
        let mut holders = [0u32; TOPICS];
        self.words.iter().flatten().for_each(|&word| holders[word as usize] += 1);
        let (mut cost, mut agrees) = (0, 0.0);
        for page in 0..PAGES {
            let of = |&from: &u32| {
                let topics = &self.topics[from as usize];
                let out = self.out[from as usize];
                LinkedFrom { topics: &topics[..topics.len().min(TOPICS_OF_A_PAGE)], out }
            };
            let linked_from: Vec<LinkedFrom<'_>> = self.into[page].iter().take(most).map(of).collect();
            let known = |&word: &u32| Known { topic: TopicId(word), holders: holders[word as usize] };
            let words: Vec<Known> = self.words[page].iter().map(known).collect();
            cost += words.len() + linked_from.iter().map(|linked| linked.topics.len()).sum::<usize>();
            let best = known_for(&words, &linked_from, Reckoning::default().jump, 1);
            let is_same = best.first().map(|of| of.topic) == self.topics[page].first().map(|of| of.topic);
            agrees += f64::from(u8::from(is_same)) / PAGES as f64;
        }
        (cost, agrees)
    }

    /// The change ratio of one cycle of a policy, told so many topics of each page.
    pub fn change_ratio(&self, policy: &str, grouped_by: GroupedBy, per_page: usize, numbers: &mut Chance) -> f64 {
        let first = |topics: &Vec<TopicOf>| topics[..topics.len().min(per_page)].to_vec();
        let topics: Vec<Vec<TopicOf>> = self.topics.iter().map(first).collect();
        let changed = &self.changed[grouped_by as usize];
        let web = CycleWeb { sites: &self.sites, paths: &[], topics: &topics, changed, visits: VISITS };
        web.change_ratio(&web.visited(policy, numbers.bits()))
    }
}

/// The mean rate of a page's topics, each by its reputation.
fn mean_rate(topics: &[TopicOf]) -> f64 {
    let (sum, weight) = topics.iter().fold((0.0, 0.0), |(sum, weight), of| {
        let reputation = f64::from(of.reputation);
        (sum + reputation * rate_of(of.topic.0 as usize), weight + reputation)
    });
    if weight > 0.0 { sum / weight } else { MEAN_RATE }
}

/// The topics of all pages by Algorithm 1, each page's best first.
fn reckoned(graph: &Graph, words: &[Vec<u32>]) -> Vec<Vec<TopicOf>> {
    let mut best = vec![Best::default(); PAGES];
    let mut room = Workspace::new(PAGES);
    for word in 0..TOPICS as u32 {
        let holders: Vec<u32> =
            (0..PAGES as u32).filter(|&page| words[page as usize].binary_search(&word).is_ok()).collect();
        let column = by_pushes(graph, &holders, Reckoning::default().for_pages(PAGES), &mut room);
        for &(page, reputation) in &column.reputations {
            best[page as usize].offer(TopicId(word), reputation as f32, TOPICS_MAX);
        }
    }
    best.into_iter().map(Best::into_topics).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_pages_have_many_in_links_and_all_of_them_say_what_the_whole_reckoning_says() {
        let web = TopicalWeb::draw(&mut Chance::new(2));
        let many = web.into.iter().filter(|into| into.len() > 50).count() as f64 / PAGES as f64;
        assert!((0.1..0.25).contains(&many), "{many} of the pages have more than 50 in-links");
        let (few, all) = (web.categorised(3).1, web.categorised(IN_LINKS_MAX).1);
        assert!(all > few && all > 0.85, "{few} {all}");
    }
}
