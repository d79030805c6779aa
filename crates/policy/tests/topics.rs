//! Laws of topics: reputations against a dense reference, what is kept up against what is reckoned from nothing, and the
//! cycle of sampling by topic.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use vernal_model::{Chance, PageKey, Partition, TopicId, TopicOf};
use vernal_policy::topic::{
    Best, Catalogue, Cycle, Draw, Graph, Known, LinkedFrom, Overlap, Reckoning, Reputations, SampleSizes, Workspace,
    by_pushes, by_sweeps, draw, enact, estimates, known_for, sizes,
};

const EXACT: Reckoning = Reckoning { jump: 0.15, tolerance: 1e-10 };

/// Pages with their targets, and how many more links lead out of what we hold.
#[derive(Clone, Debug)]
struct Web {
    links: Vec<(BTreeSet<u32>, u32)>,
    words: Vec<BTreeSet<u32>>,
}

const WORDS: u32 = 5;

fn webs(pages: std::ops::Range<u32>) -> impl Strategy<Value = Web> {
    pages.prop_flat_map(|pages| {
        let links = (prop::collection::btree_set(0..pages, 0..6), 0u32..4);
        let words = prop::collection::btree_set(0..WORDS, 0..4);
        let all = pages as usize;
        (prop::collection::vec(links, all), prop::collection::vec(words, all))
            .prop_map(|(links, words)| Web { links, words })
    })
}

impl Web {
    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (targets, beyond) in &self.links {
            graph.push(&targets.iter().copied().collect::<Vec<_>>(), targets.len() as u32 + beyond);
        }
        graph
    }

    fn holders(&self, word: u32) -> Vec<u32> {
        (0..self.words.len() as u32).filter(|&page| self.words[page as usize].contains(&word)).collect()
    }

    /// R = d·(I − (1 − d)·Aᵀ)⁻¹·v by elimination: nothing is iterated.
    fn dense(&self, word: u32, jump: f64) -> Vec<f64> {
        let pages = self.links.len();
        let holders = self.holders(word);
        let mut rows = vec![vec![0.0; pages + 1]; pages];
        for (page, row) in rows.iter_mut().enumerate() {
            row[page] = 1.0;
            row[pages] = if holders.contains(&(page as u32)) { jump / holders.len() as f64 } else { 0.0 };
        }
        for (from, (targets, beyond)) in self.links.iter().enumerate() {
            for &to in targets {
                rows[to as usize][from] -= (1.0 - jump) / (targets.len() as u32 + beyond) as f64;
            }
        }
        for pivot in 0..pages {
            let best = (pivot..pages).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs())).unwrap();
            rows.swap(pivot, best);
            let above = rows[pivot].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|&(at, _)| at != pivot) {
                let factor = row[pivot] / above[pivot];
                row.iter_mut().zip(&above).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
        (0..pages).map(|page| rows[page][pages] / rows[page][page]).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn pushes_and_sweeps_give_what_elimination_gives(web in webs(1..14), jump in 0.05f64..0.9) {
        let (graph, mut room) = (web.graph(), Workspace::new(web.links.len()));
        let reckoning = Reckoning { jump, ..EXACT };
        for word in 0..WORDS {
            let truth = web.dense(word, jump);
            let (pushed, swept) = (
                by_pushes(&graph, &web.holders(word), reckoning, &mut room),
                by_sweeps(&graph, &web.holders(word), reckoning),
            );
            for (page, &truth) in truth.iter().enumerate() {
                prop_assert!((pushed.of(page as u32) - truth).abs() < 1e-7, "pushed {} for {}", pushed.of(page as u32), truth);
                prop_assert!((swept.of(page as u32) - truth).abs() < 1e-7, "swept {} for {}", swept.of(page as u32), truth);
            }
        }
    }

    /// All reputations on a word are a share of one surfer: at most 1 together, d/N_t at least where the word stands.
    #[test]
    fn reputations_are_bounded_and_lack_no_more_than_they_say(web in webs(1..30), tolerance in 1e-6f64..0.5) {
        let (graph, mut room) = (web.graph(), Workspace::new(web.links.len()));
        for word in 0..WORDS {
            let holders = web.holders(word);
            let rough = by_pushes(&graph, &holders, Reckoning { tolerance, ..EXACT }, &mut room);
            let exact = by_pushes(&graph, &holders, EXACT, &mut room);
            let sum: f64 = exact.reputations.iter().map(|&(_, reputation)| reputation).sum();
            prop_assert!(sum <= 1.0 + 1e-9, "{}", sum);
            for &page in &holders {
                prop_assert!(rough.of(page) >= EXACT.jump / holders.len() as f64 - 1e-12);
            }
            let mut lacks = 0.0;
            for &(page, truth) in &exact.reputations {
                prop_assert!(rough.of(page) <= truth + 1e-9);
                lacks += truth - rough.of(page);
            }
            prop_assert!(lacks <= rough.missing + 1e-9, "lacks {} and says {}", lacks, rough.missing);
            prop_assert!(rough.steps <= exact.steps);
        }
    }

    /// Where every page links on and all is held, nothing of the surfer is lost.
    #[test]
    fn nothing_is_lost_where_every_link_leads_to_a_page(pages in 2u32..20, chance in 0u64..1_000) {
        let mut chance = Chance::new(chance);
        let mut graph = Graph::new();
        for page in 0..pages {
            let target = (page + 1 + chance.below(u64::from(pages) - 1) as u32) % pages;
            graph.push(&[target], 1);
        }
        let column = by_pushes(&graph, &[0], EXACT, &mut Workspace::new(pages as usize));
        let sum: f64 = column.reputations.iter().map(|&(_, reputation)| reputation).sum();
        prop_assert!((sum - 1.0).abs() < 1e-6, "{}", sum);
    }

    #[test]
    fn the_numbers_of_pages_mean_nothing(web in webs(2..20), chance in 0u64..1_000) {
        let pages = web.links.len();
        let mut new: Vec<u32> = (0..pages as u32).collect();
        Chance::new(chance).shuffle(&mut new);
        let mut other = web.clone();
        for (page, (targets, beyond)) in web.links.iter().enumerate() {
            let targets = targets.iter().map(|&target| new[target as usize]).collect();
            other.links[new[page] as usize] = (targets, *beyond);
            other.words[new[page] as usize] = web.words[page].clone();
        }
        let mut room = Workspace::new(pages);
        for word in 0..WORDS {
            let one = by_pushes(&web.graph(), &web.holders(word), EXACT, &mut room);
            let two = by_pushes(&other.graph(), &other.holders(word), EXACT, &mut room);
            for page in 0..pages as u32 {
                prop_assert!((one.of(page) - two.of(new[page as usize])).abs() < 1e-7);
            }
        }
    }

    /// Pages arrive, change and go, with few pushes between; relaxed to the end it is what a reckoning from nothing says.
    #[test]
    fn what_is_kept_up_agrees_with_what_is_reckoned_from_nothing(
        web in webs(2..14),
        other in webs(14..15),
        edits in prop::collection::vec((0usize..14, any::<bool>(), any::<bool>()), 0..40),
    ) {
        let mut kept = Reputations::new(EXACT);
        let mut now = web.clone();
        let set = |kept: &mut Reputations, page: usize, web: &Web| {
            let (targets, beyond) = &web.links[page];
            let words: Vec<u32> = web.words[page].iter().copied().collect();
            kept.set(page as u32, &words, &targets.iter().copied().collect::<Vec<_>>(), targets.len() as u32 + beyond);
        };
        for page in 0..web.links.len() {
            set(&mut kept, page, &now);
        }
        let pages = web.links.len();
        for (page, goes, relaxes) in edits {
            let page = page % pages;
            if goes {
                (now.links[page], now.words[page]) = ((BTreeSet::new(), 0), BTreeSet::new());
                kept.remove(page as u32);
            } else {
                let within = other.links[page].0.iter().copied().filter(|&target| (target as usize) < pages).collect();
                now.links[page] = (within, other.links[page].1);
                now.words[page] = other.words[page].clone();
                set(&mut kept, page, &now);
            }
            if relaxes {
                prop_assert!(kept.relax(7).pushes <= 7);
            }
        }
        prop_assert_eq!(kept.relax(usize::MAX).waiting, 0);
        for word in 0..WORDS {
            let truth = now.dense(word, EXACT.jump);
            for (page, &truth) in truth.iter().enumerate() {
                let ours = kept.reputation(page as u32, word);
                prop_assert!((ours - truth).abs() < 1e-6, "{} for {}", ours, truth);
            }
        }
    }

    /// What each page may hold back bounds what all reputations on a word lack together, however often pages changed.
    #[test]
    fn what_is_kept_up_lacks_no_more_than_its_tolerance_allows(
        web in webs(3..14),
        edits in prop::collection::vec((0u32..14, prop::collection::btree_set(0u32..14, 0..6), prop::collection::btree_set(0..WORDS, 0..4)), 0..30),
        tolerance in 1e-4f64..0.2,
    ) {
        let reckoning = Reckoning { tolerance, ..EXACT };
        let mut kept = Reputations::new(reckoning);
        let mut now = web.clone();
        let pages = web.links.len() as u32;
        for page in 0..pages {
            let at = page as usize;
            let (targets, words): (Vec<u32>, Vec<u32>) =
                (web.links[at].0.iter().copied().collect(), web.words[at].iter().copied().collect());
            kept.set(page, &words, &targets, targets.len() as u32 + web.links[at].1);
        }
        for (page, targets, words) in edits {
            let (page, targets) = (page % pages, targets.into_iter().filter(|target| *target < pages).collect::<BTreeSet<_>>());
            now.words[page as usize] = words.clone();
            now.links[page as usize] = (targets.clone(), 1);
            let (words, targets): (Vec<u32>, Vec<u32>) = (words.into_iter().collect(), targets.into_iter().collect());
            kept.set(page, &words, &targets, targets.len() as u32 + 1);
            prop_assert_eq!(kept.relax(usize::MAX).waiting, 0);
        }
        kept.relax(usize::MAX);
        for word in 0..WORDS {
            let truth = now.dense(word, reckoning.jump);
            let ours: Vec<f64> = (0..pages).map(|page| kept.reputation(page, word)).collect();
            let off: f64 = ours.iter().zip(&truth).map(|(ours, truth)| (ours - truth).abs()).sum();
            let allowed = f64::from(pages) * tolerance * (1.0 - reckoning.jump) / now.holders(word).len().max(1) as f64;
            prop_assert!(off <= allowed + 1e-9, "{} off, {} allowed", off, allowed);
            for page in 0..pages {
                let best = kept.best(page, usize::from(WORDS as u16)).into_topics();
                let known = best.iter().find(|of| of.topic == TopicId(word)).map_or(0.0, |of| f64::from(of.reputation));
                prop_assert!((known - ours[page as usize]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn the_best_are_those_that_sorting_puts_first(offers in prop::collection::vec((0u32..40, 0u32..9), 0..60), most in 0usize..9) {
        let mut offers: Vec<TopicOf> =
            offers.into_iter().map(|(topic, reputation)| TopicOf { topic: TopicId(topic), reputation: reputation as f32 }).collect();
        let mut best = Best::default();
        for offer in &offers {
            best.offer(offer.topic, offer.reputation, most);
        }
        offers.sort_by(|a, b| b.reputation.total_cmp(&a.reputation).then(a.topic.cmp(&b.topic)));
        offers.truncate(most);
        prop_assert_eq!(best.into_topics(), offers);
    }
}

/// One step from the in-links is the whole reckoning, where these have what the whole reckoning gave them.
#[test]
fn a_page_is_categorised_from_its_in_links_as_the_whole_reckoning_does() {
    // Pages 0 and 1 link to page 2; the word is on pages 0 and 2.
    let mut graph = Graph::new();
    graph.push(&[1, 2], 2);
    graph.push(&[2], 4);
    graph.push(&[], 0);
    let column = by_pushes(&graph, &[0, 2], EXACT, &mut Workspace::new(3));
    let of = |page: u32| [TopicOf { topic: TopicId(7), reputation: column.of(page) as f32 }];
    let (first, second) = (of(0), of(1));
    let linked_from = [LinkedFrom { topics: &first, out: 2 }, LinkedFrom { topics: &second, out: 4 }];
    let known = known_for(&[Known { topic: TopicId(7), holders: 2 }], &linked_from, EXACT.jump, 6);
    assert_eq!(known.len(), 1);
    assert!((f64::from(known[0].reputation) - column.of(2)).abs() < 1e-6, "{known:?} {}", column.of(2));
}

/// The slip of Algorithm 2: as printed, a page gets only into topics that are new.
#[test]
fn a_page_gets_into_topics_that_exist_already() {
    let mut catalogue = Catalogue::default();
    let topic = [TopicOf { topic: TopicId(3), reputation: 0.5 }];
    for number in [4, 2, 2] {
        catalogue.classify(PageKey::new(Partition(1), number), &topic);
    }
    assert_eq!(catalogue.pages(TopicId(3)).iter().map(|page| page.number).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(catalogue.iter().count(), 1);
}

fn twenty_topics() -> Vec<Vec<u32>> {
    (0..20).map(|topic| (topic * 50..topic * 50 + 50).collect()).collect()
}

/// Seed 001, 4.1 and equation 8.
#[test]
fn sizes_are_the_root_of_pages_times_share_and_follow_the_size_of_the_topic() {
    assert_eq!(sizes(&twenty_topics(), 1_000, 0.2, SampleSizes::Same), [3; 20]);
    let uneven = vec![(0..10).collect::<Vec<u32>>(), (10..100).collect()];
    // N = 50, r = 0.5: s = 5; the topics have a fifth and nine fifths of the mean.
    assert_eq!(sizes(&uneven, 100, 0.5, SampleSizes::Same), [5, 5]);
    assert_eq!(sizes(&uneven, 100, 0.5, SampleSizes::BySize), [1, 9]);
    // The same pages in both topics: twice as many memberships as pages.
    let double = vec![(0..100).collect::<Vec<u32>>(), (0..100).collect()];
    assert_eq!(sizes(&double, 100, 0.25, SampleSizes::BySize), [10, 10]);
    assert_eq!(sizes(&double, 100, 0.25, SampleSizes::ByMemberships), [5, 5]);
}

#[test]
fn a_sample_has_distinct_pages_of_its_topic_and_free_ones_come_on_top() {
    let members = vec![(0..40).collect::<Vec<u32>>(), (20..60).collect(), (0..60).collect()];
    for number in 0..20 {
        let samples = draw(&members, &[6, 6, 6], Draw::Uniform, Overlap::Free, &mut Chance::new(number));
        let mut met = BTreeSet::new();
        for (sample, pages) in samples.iter().zip(&members) {
            assert_eq!(sample.own.len(), 6);
            assert!(sample.own.iter().chain(&sample.free).all(|page| pages.contains(page)));
            assert!(sample.own.iter().all(|page| met.insert(*page)), "sampled twice");
            assert!(sample.free.iter().all(|page| met.contains(page)));
        }
        let spent = draw(&members, &[6, 6, 6], Draw::Uniform, Overlap::Spent, &mut Chance::new(number));
        assert!(spent.iter().all(|sample| sample.own.len() == 6 && sample.free.is_empty()));
    }
}

#[test]
fn authority_is_drawn_in_proportion() {
    let members = vec![vec![0, 1, 2, 3]];
    let weights = vec![vec![8.0, 4.0, 2.0, 2.0]];
    let mut firsts = [0.0f64; 4];
    for number in 0..4_000 {
        let sample = &draw(&members, &[1], Draw::ByAuthority(&weights), Overlap::Spent, &mut Chance::new(number))[0];
        firsts[sample.own[0] as usize] += 1.0 / 4_000.0;
    }
    for (seen, wanted) in firsts.iter().zip([0.5, 0.25, 0.125, 0.125]) {
        assert!((seen - wanted).abs() < 0.03, "{firsts:?}");
    }
}

/// An interval of 95 % holds the true share nineteen times in twenty, or more often: pages are not put back.
#[test]
fn the_true_share_lies_in_its_interval_as_often_as_it_says() {
    let members = vec![(0..400).collect::<Vec<u32>>()];
    for share in [0.02, 0.1, 0.5, 0.9] {
        let changed = |page: u32| f64::from(page) < share * 400.0;
        let mut held = 0.0;
        for number in 0..500 {
            let samples = draw(&members, &[20], Draw::Uniform, Overlap::Spent, &mut Chance::new(number));
            let estimate = estimates(&samples, &changed, 0.95)[0];
            held += f64::from(u8::from(estimate.interval.low <= share && share <= estimate.interval.high)) / 500.0;
        }
        assert!(held > 0.91, "{share}: {held}");
    }
}

fn cycle(downloads: usize, pages: usize) -> Cycle<'static> {
    Cycle { downloads, pages, sizes: SampleSizes::Same, draw: Draw::Uniform, overlap: Overlap::Free }
}

/// Seed 001, 2.3: by site 0.66, by topic 0.77, in the cycles whose samples say what those of the example say.
#[test]
fn the_worked_example_gives_0_66_by_site_and_0_77_by_topic() {
    let changes = [[20, 20, 20, 10, 0], [20, 10, 0, 0, 0]];
    let (mut by_site, mut by_topic) = (vec![Vec::new(); 2], vec![Vec::new(); 5]);
    let mut is_changed = Vec::new();
    for (site, row) in changes.iter().enumerate() {
        for (topic, &changed) in row.iter().enumerate() {
            for number in 0..20 {
                by_site[site].push(is_changed.len() as u32);
                by_topic[topic].push(is_changed.len() as u32);
                is_changed.push(number < changed);
            }
        }
    }
    let changed = |page: u32| is_changed[page as usize];
    let ratio = |members: &[Vec<u32>], says: &[f64]| {
        let (mut hits, mut cycles) = (0, 0);
        for number in 0..4_000 {
            let sizes = sizes(members, 200, 0.5, SampleSizes::Same);
            let samples = draw(members, &sizes, Draw::Uniform, Overlap::Free, &mut Chance::new(number));
            let shares = estimates(&samples, &changed, 0.95).into_iter().map(|estimate| estimate.share());
            if shares.zip(says).any(|(share, says)| (share - says).abs() > 0.03) {
                continue;
            }
            let downloads = enact(members, &cycle(100, 200), &changed, &mut Chance::new(number));
            assert_eq!(downloads.iter().collect::<BTreeSet<_>>().len(), 100);
            hits += downloads.into_iter().filter(|&page| changed(page)).count();
            cycles += 100;
        }
        assert!(cycles > 3_000, "{cycles}");
        hits as f64 / f64::from(cycles)
    };
    // A sample of seven says 5/7 and 2/7 where the example's ten say 0.7 and 0.3.
    let (site, topic) = (ratio(&by_site, &[0.7, 0.3]), ratio(&by_topic, &[1.0, 0.75, 0.5, 0.25, 0.0]));
    assert!((site - 0.66).abs() < 0.015, "{site}");
    assert!((topic - 0.77).abs() < 0.01, "{topic}");
}

#[test]
fn a_cycle_never_downloads_more_than_it_may_nor_a_page_twice() {
    let members = vec![(0..30).collect::<Vec<u32>>(), (10..50).collect(), Vec::new()];
    for downloads in [0, 1, 7, 49, 50, 90] {
        for number in 0..5 {
            let pages = enact(&members, &cycle(downloads, 50), &|page| page % 3 == 0, &mut Chance::new(number));
            assert_eq!(pages.len(), downloads.min(50));
            assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), pages.len());
        }
    }
}
