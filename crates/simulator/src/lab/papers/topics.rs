//! Paper 001's experiments with topics that are reckoned and not given: pages with words and links, reputations by
//! Algorithm 1, the best topics of each page, and the policies themselves over one cycle. What the paper left to future
//! work is here too: as many sites as topics, so that sampling by site and by topic can be compared.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicId, TopicOf};
use vernal_policy::topic::{
    Best, Cycle, Draw, Graph, Known, LinkedFrom, Overlap, Reckoning, SampleSizes, TOPICS_OF_A_PAGE, Workspace,
    by_pushes, enact, known_for,
};
use vernal_policy::{Held, OneCycle, Seen, by_name};

use super::{Page, Vector};

/// The repository of the paper's experiment: twenty subjects, and as many sites.
const PAGES: usize = 1_000;
const SUBJECTS: usize = 20;
const SITES: usize = 20;
const DOWNLOADS: usize = 200;
/// Words that belong to a subject, how many of them a page of it has, and how many of other subjects.
const WORDS_OF_A_SUBJECT: usize = 6;
const OWN_WORDS: usize = 4;
const OTHER_WORDS: usize = 2;
/// In-links of pages: 9/x, so that 18 of 100 pages have more than 50, as the paper saw (5.1); of these most come from pages
/// of the same subject.
const IN_LINKS: f64 = 9.0;
const IN_LINKS_MAX: usize = 400;
const SAME_SUBJECT: f64 = 0.7;
/// Change rates lie evenly about the mean that makes round-robin's change ratio the printed one.
const MEAN_RATE: f64 = 0.45;
const TRIALS: u64 = 10;
const IN_LINKS_CONSIDERED: [usize; 5] = [10, 20, 50, 100, 300];

/// What changes together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum GroupedBy {
    /// Pages of one subject, on whatever site.
    Subjects,
    /// Pages of one site, of whatever subject.
    Sites,
}

pub(super) fn vectors(chance: u64) -> Vec<Vector> {
    let chance = Chance::new(chance).stream("papers").stream("topics");
    let webs: Vec<TopicalWeb> = (0..TRIALS).map(|trial| TopicalWeb::draw(&mut chance.numbered(trial))).collect();
    let at = Page { paper: "001", place: "5.2" };
    vec![
        table_2(&webs[0]),
        at.enacted(
            "round-robin, by site, by topic, by topic with authority, where subjects change together",
            &comparison(&webs, GroupedBy::Subjects),
            &[],
            "twenty sites and twenty subjects that lie across them; topics are reckoned from words and links",
        ),
        at.enacted(
            "the same where sites change together",
            &comparison(&webs, GroupedBy::Sites),
            &[],
            "the same web with changes by site: there sampling by topic has nothing to find",
        ),
        figure_2(&webs, &chance),
    ]
}

/// What it costs to categorise pages against the in-links considered for each: topics looked at, in thousands.
fn table_2(web: &TopicalWeb) -> Vector {
    let costs = IN_LINKS_CONSIDERED.map(|most| web.categorised(most).0 as f64 / 1e3);
    let note = "printed in seconds, most of which went into asking a search engine for the links; here topics of in-links and \
                words looked at for a thousand pages, in thousands. Both level off where few pages have as many in-links";
    Page { paper: "001", place: "Table 2" }.enacted(
        "cost of categorising by 10, 20, 50, 100 and 300 in-links",
        &costs,
        &[450.0, 455.0, 463.0, 472.0, 479.0],
        note,
    )
}

/// The change ratios of the policies.
fn comparison(webs: &[TopicalWeb], grouped_by: GroupedBy) -> [f64; 4] {
    let mut ratios = [0.0; 4];
    for (trial, web) in webs.iter().enumerate() {
        for (ratio, policy) in ratios.iter_mut().zip(["round-robin", "greedy", "correlated", "correlated:authority"]) {
            *ratio += web.change_ratio(policy, grouped_by, trial as u64) / webs.len() as f64;
        }
    }
    ratios
}

/// Change ratio against the number of topics that a page is counted in, with reckoned topics.
fn figure_2(webs: &[TopicalWeb], chance: &Chance) -> Vector {
    let mut ratios = [0.0; 10];
    for (trial, web) in webs.iter().enumerate() {
        let mut chance = chance.stream("figure 2").numbered(trial as u64);
        for (place, ratio) in ratios.iter_mut().enumerate() {
            *ratio += web.ratio_of_one_cycle(place + 1, &mut chance) / webs.len() as f64;
        }
    }
    let note =
        "a drawing in print, best at 6 topics; here each subject has six words, of which a page contains up to four";
    Page { paper: "001", place: "Figure 2" }.enacted(
        "change ratio with pages in 1 to 10 reckoned topics",
        &ratios,
        &[],
        note,
    )
}

/// Pages with a site, a subject, words and links, and whether they have changed.
struct TopicalWeb {
    sites: Vec<u32>,
    words: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    out: Vec<u32>,
    /// Where subjects change together, and where sites do.
    changed: [Vec<bool>; 2],
    /// For each page all topics that it has a reputation on, the best first.
    topics: Vec<Vec<TopicOf>>,
}

impl TopicalWeb {
    fn draw(chance: &mut Chance) -> Self {
        let subject_of = |page: usize| page % SUBJECTS;
        // Every subject lies on every site.
        let sites: Vec<u32> = (0..PAGES).map(|page| (page / SUBJECTS % SITES) as u32).collect();
        let word_of = |subject: usize, at: u64| (subject * WORDS_OF_A_SUBJECT) as u32 + at as u32;
        let (mut words, mut changed) = (Vec::new(), [Vec::new(), Vec::new()]);
        for (page, &site) in sites.iter().enumerate() {
            let own = (0..OWN_WORDS).map(|_| word_of(subject_of(page), chance.below(WORDS_OF_A_SUBJECT as u64)));
            let mut of_page: Vec<u32> = own.collect();
            let all = (SUBJECTS * WORDS_OF_A_SUBJECT) as u64;
            of_page.extend((0..OTHER_WORDS).map(|_| chance.below(all) as u32));
            of_page.sort_unstable();
            of_page.dedup();
            words.push(of_page);
            for (changed, group) in changed.iter_mut().zip([subject_of(page), site as usize]) {
                changed.push(chance.happens(2.0 * MEAN_RATE * (group as f64 + 0.5) / SUBJECTS as f64));
            }
        }
        let mut targets = vec![Vec::new(); PAGES];
        for page in 0..PAGES {
            let links = ((IN_LINKS / chance.share().max(1e-9)) as usize).min(IN_LINKS_MAX);
            for _ in 0..links {
                let from = chance.below((PAGES / SUBJECTS) as u64) as usize * SUBJECTS;
                let is_same = chance.happens(SAME_SUBJECT);
                let of = if is_same { subject_of(page) } else { chance.below(SUBJECTS as u64) as usize };
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
        TopicalWeb { sites, words, into, out, changed, topics }
    }

    /// Categorises every page from at most so many of its in-links; how many topics and words were looked at, and the share
    /// of pages whose best topic is the one that the whole reckoning gives.
    fn categorised(&self, most: usize) -> (usize, f64) {
        let mut holders = vec![0u32; SUBJECTS * WORDS_OF_A_SUBJECT];
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

    /// One cycle of sampling with pages in so many of their topics.
    fn ratio_of_one_cycle(&self, per_page: usize, chance: &mut Chance) -> f64 {
        let mut members = vec![Vec::new(); SUBJECTS * WORDS_OF_A_SUBJECT];
        for (page, topics) in self.topics.iter().enumerate() {
            topics.iter().take(per_page).for_each(|of| members[of.topic.0 as usize].push(page as u32));
        }
        members.retain(|pages| !pages.is_empty());
        let cycle = Cycle {
            downloads: DOWNLOADS,
            pages: PAGES,
            sizes: SampleSizes::ByMemberships,
            draw: Draw::Uniform,
            overlap: Overlap::Free,
        };
        let downloads = enact(&members, &cycle, &|page| self.changed[0][page as usize], chance);
        let changed = downloads.iter().filter(|&&page| self.changed[0][page as usize]).count();
        changed as f64 / downloads.len().max(1) as f64
    }

    /// The change ratio of one cycle of a policy, visit by visit.
    fn change_ratio(&self, name: &str, grouped_by: GroupedBy, trial: u64) -> f64 {
        let Some(mut policy) = by_name(name) else { return 0.0 };
        let start = Moment::from_secs(0) + Span::from_days(7 * (100 + trial));
        for page in 0..PAGES {
            policy.recall(&held(page, self.sites[page], start, &PolicyState::default()));
            let topics = &self.topics[page];
            if let Some(topical) = policy.topical() {
                topical.topics(key(page), &topics[..topics.len().min(TOPICS_OF_A_PAGE)]);
            }
        }
        let view = OneCycle { pages: PAGES, downloads: DOWNLOADS };
        let mut changes = 0;
        for visit in 0..DOWNLOADS {
            let now = start + Span::from_secs(1 + visit as u64);
            let Some(&page) = policy.choose(&view, now, &mut Chance::new(trial)).first() else { break };
            let changed = self.changed[grouped_by as usize][page.number as usize];
            changes += u32::from(changed);
            policy.learn(&Seen {
                page,
                moment: now,
                previous: Some(Moment::EPOCH),
                changed: Some(changed),
                degree: 0.5,
                last_modified: None,
                wire_bytes: 1,
            });
        }
        f64::from(changes) / DOWNLOADS as f64
    }
}

/// The topics of all pages by Algorithm 1, each page's best first.
fn reckoned(graph: &Graph, words: &[Vec<u32>]) -> Vec<Vec<TopicOf>> {
    let mut best = vec![Best::default(); PAGES];
    let mut room = Workspace::new(PAGES);
    for word in 0..(SUBJECTS * WORDS_OF_A_SUBJECT) as u32 {
        let holders: Vec<u32> =
            (0..PAGES as u32).filter(|&page| words[page as usize].binary_search(&word).is_ok()).collect();
        let column = by_pushes(graph, &holders, Reckoning::default(), &mut room);
        for &(page, reputation) in &column.reputations {
            best[page as usize].offer(TopicId(word), reputation as f32, 10);
        }
    }
    best.into_iter().map(Best::into_topics).collect()
}

fn key(page: usize) -> PageKey {
    PageKey::new(Partition(0), page as u32)
}

fn held(page: usize, site: u32, start: Moment, state: &PolicyState) -> Held<'_> {
    Held {
        page: key(page),
        site,
        path: 0,
        importance: 1.0,
        admitted: Moment::EPOCH,
        // An order of chance, the same for all policies, for the one that goes round.
        last_visit: Moment::EPOCH
            + Span::from_secs(Chance::new(start.secs() as u64).numbered(page as u64).below(86_400)),
        wire_bytes: 0,
        at_least_every: None,
        at_most_every: None,
        known_rate: None,
        state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thesis of the paper, and its limit.
    #[test]
    fn sampling_by_topic_beats_sampling_by_site_where_topics_change_together_and_only_there() {
        let webs: Vec<TopicalWeb> = (0..6).map(|trial| TopicalWeb::draw(&mut Chance::new(1).numbered(trial))).collect();
        let [round_robin, by_site, by_topic, by_authority] = comparison(&webs, GroupedBy::Subjects);
        assert!(by_topic > by_site + 0.06 && by_topic > round_robin + 0.06, "{by_topic} {by_site} {round_robin}");
        assert!(by_authority > by_site + 0.06, "{by_authority}");
        let [round_robin, by_site, by_topic, _] = comparison(&webs, GroupedBy::Sites);
        assert!(by_site > by_topic + 0.06, "{by_site} {by_topic}");
        assert!((by_topic - round_robin).abs() < 0.05, "{by_topic} {round_robin}");
    }

    /// More in-links cost more as long as there are more, and then no more.
    #[test]
    fn categorising_costs_grow_with_the_in_links_that_there_are() {
        let web = TopicalWeb::draw(&mut Chance::new(2));
        let many = web.into.iter().filter(|into| into.len() > 50).count() as f64 / PAGES as f64;
        assert!((0.1..0.25).contains(&many), "{many} of the pages have more than 50 in-links");
        let costs = IN_LINKS_CONSIDERED.map(|most| web.categorised(most).0);
        assert!(costs.is_sorted(), "{costs:?}");
        let (first, last) = (costs[1] as f64 / costs[0] as f64, costs[4] as f64 / costs[3] as f64);
        assert!(last < first, "{costs:?}");
        // All in-links: what the whole reckoning says of the best topic.
        let (few, all) = (web.categorised(3).1, web.categorised(IN_LINKS_MAX).1);
        assert!(all > few && all > 0.85, "{few} {all}");
    }
}
