//! What the papers draw without a measurement, with the part of the program that does it; and what is said plainly of their
//! policies on real pages.

/// A drawing, definition or algorithm of a paper that has no numbers to re-enact.
pub struct Drawing {
    pub paper: &'static str,
    pub place: &'static str,
    pub what: &'static str,
    /// Where the program does it.
    pub by: &'static str,
}

const fn drawing(paper: &'static str, place: &'static str, what: &'static str, by: &'static str) -> Drawing {
    Drawing { paper, place, what, by }
}

pub const DRAWINGS: [Drawing; 22] = [
    drawing("000", "Figure 1.1", "change rate detection", "policy/estimate"),
    drawing(
        "000",
        "Figure 1.2",
        "a change is unknown until the next visit",
        "the age that `status` and `lab compare` show",
    ),
    drawing("000", "Figure 1.4", "web, repository and crawler", "docs/ARCHITECTURE.md"),
    drawing("000", "Figure 2.1", "architecture of a crawler", "docs/ARCHITECTURE.md"),
    drawing(
        "000",
        "Figures 3.1 to 3.3",
        "the hybrid and its cycle",
        "the policy `hybrid`; measured under Figure 4.2 and 5.1",
    ),
    drawing("000", "Tables 2.1, 2.2 and 3.1", "notations", "policy/schedule/sampling/sizes.rs"),
    drawing(
        "001",
        "Algorithm 1",
        "reputation of a page on a topic",
        "policy/topic/reputation.rs; used under Tables 2 and 3",
    ),
    drawing(
        "001",
        "Algorithm 2",
        "a page is categorised when it is read",
        "policy/topic/categorise.rs; used under Table 2",
    ),
    drawing("001", "Algorithms 3 and 4", "samples by topic", "policy/topic/cycle.rs and the policy `correlated`"),
    drawing("003", "Figure 1", "architecture of the parallel crawler", "docs/ARCHITECTURE.md"),
    drawing(
        "003",
        "Figure 2",
        "MT server: dispatcher, ranking, distributor, allocator",
        "the room frontier; used under Tables 1 to 3",
    ),
    drawing("003", "Figure 3", "client crawler", "fetch/worker.rs"),
    drawing(
        "003",
        "Figures 4 to 6",
        "structural, content and presentation changes",
        "`vernal compare`; document/corpus",
    ),
    drawing("003", "Figures 7 to 10", "a page, its changed version and their trees", "Tables 4 and 5"),
    drawing("003", "Figure 11", "their tags", "Tables 4 and 5"),
    drawing("003", "Figures 12 to 15", "a page, its changed version and their tags", "Table 7"),
    drawing("003", "Figures 16 to 19", "versions of a front page; their text is not printed", "Tables 9 to 12"),
    drawing("004", "Figure 1", "a typical crawler", "fetch/visitor.rs"),
    drawing(
        "004",
        "Figure 2",
        "an incremental crawler: URLs known and URLs held",
        "repository/sieve, crawler/passes/eviction.rs",
    ),
    drawing("004", "Figure 3", "refresh time controller", "the policy `refresh-time`"),
    drawing("004", "Figure 4", "URL record", "the page row of the repository"),
    drawing("004", "SARTCM", "the algorithm of the refresh time controller", "policy/schedule/refresh_time.rs"),
];

/// Said plainly of the papers' policies on real pages, because the papers say otherwise. Freshness is that of docs/refresh.md (ten
/// chance numbers), change ratio that of three chance numbers on the same recordings.
pub const PLAIN: [&str; 4] = [
    "No sampling policy of the papers keeps recorded pages fresher than `round-robin` in the mean. Over three \
     recorded webs (pub, ota and stalker, 5 % of the pages a day) `round-robin` has a freshness of 0.8859, and the \
     best of them, `groups`, has 0.8805. On pub, where sites publish many pages at once, all of them are above \
     `round-robin`; on ota and on stalker all of them are below it.",
    "`change-frequency` has the highest change ratio, above that of `vernal` and of every other policy of the papers: \
     0.210 on pub, 0.207 on ota and 0.494 on stalker, where `round-robin` has 0.111, 0.114 and 0.331. It is less \
     fresh than `round-robin` on each of them: 0.930, 0.906 and 0.731 against 0.936, 0.932 and 0.790.",
    "`refresh-time` wins change ratio and loses freshness: it has a change ratio of 0.119, 0.130 and 0.456, each \
     above that of `round-robin`, and a freshness of 0.8784 in the mean against 0.8859. What it loses, it loses on \
     stalker (0.765 against 0.790); on pub it is a little above `round-robin`, on ota level with it.",
    "`vernal lab replay --trace FILE --web stalker --policies round-robin,groups,change-frequency,refresh-time` shows \
     it; docs/refresh.md has every policy on all three.",
];

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../../docs/papers.md");

    #[test]
    fn the_document_says_plainly_what_the_report_says() {
        let document = DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in PLAIN {
            let said = said.replace("docs/refresh.md", "[refresh.md](refresh.md)");
            assert!(document.contains(&said), "docs/papers.md lacks: {said}");
        }
    }

    #[test]
    fn no_drawing_is_listed_twice_and_each_says_who_does_it() {
        let places: std::collections::BTreeSet<_> =
            DRAWINGS.iter().map(|drawing| (drawing.paper, drawing.place)).collect();
        assert_eq!(places.len(), DRAWINGS.len());
        assert!(DRAWINGS.iter().all(|drawing| !drawing.by.is_empty() && !drawing.what.is_empty()));
    }
}
