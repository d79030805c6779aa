//! All papers in the order of their numbers, and what came after them.

use super::exhibit::Exhibit;
use super::trials::{Experiment, Reenactment};
use super::{correlation, parallel, refresh_time, since, thesis};

/// A paper by the number that its re-enactments carry.
pub struct Paper {
    pub number: &'static str,
    pub title: &'static str,
    /// Whose it is; nobody's where it is what came after.
    pub source: &'static str,
}

pub const PAPERS: [Paper; 5] = [
    Paper {
        number: "000",
        title: "sampling policies and the frequency-greedy hybrid (thesis)",
        source: "S. K. Al-Qaaideh: A Hybrid Approach for Web Change Detection. Thesis, Amman, 2009.",
    },
    Paper {
        number: "001",
        title: "sampling with correlation",
        source: "A. Taleghani, Y. Ugur-Ozekinci: Sampling-based Refresh Policy with Correlation. Waterloo.",
    },
    Paper {
        number: "003",
        title: "incremental parallel crawler, change detection",
        source: "D. Yadav, A. K. Sharma, S. Sanchez-Cuadrado, J. Morato: An Approach to Design Incremental Parallel WebCrawler. \
                 Journal of Theoretical and Applied Information Technology 43 (1), 2012.",
    },
    Paper {
        number: "004",
        title: "self-adjusting refresh time",
        source: "A. K. Sharma, A. Dixit: Self Adjusting Refresh Time Based Architecture for Incremental Web Crawler. \
                 International Journal of Computer Science and Network Security 8 (12), 2008.",
    },
    Paper {
        number: "since",
        title: "what came after them",
        source: "Closed forms of later papers, which no founding paper prints.",
    },
];

impl Reenactment<'_> {
    /// Re-enacts every table and figure that has numbers.
    pub fn run(&self) -> Vec<Exhibit> {
        let all = [
            thesis::EXPERIMENTS,
            correlation::EXPERIMENTS,
            parallel::EXPERIMENTS,
            refresh_time::EXPERIMENTS,
            since::EXPERIMENTS,
        ];
        self.of(&all.into_iter().flatten().copied().collect::<Vec<Experiment>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Vector, VectorValue, Verdict};
    use super::*;

    fn enacted(chances: &[u64], jobs: usize, paper: Option<&str>) -> Vec<Exhibit> {
        let reenactment = Reenactment { paper, chances, jobs, cpu_seconds: &|| 0.0, progress: &|_, _| {} };
        reenactment.run()
    }

    fn all(exhibits: &[Exhibit]) -> Vec<&Vector> {
        exhibits.iter().flat_map(|exhibit| &exhibit.vectors).collect()
    }

    /// What disagrees is a slip in print, and says so; what no paper prints is not called printed.
    #[test]
    fn every_printed_value_is_reproduced_or_its_slip_is_named() {
        let exhibits = enacted(&[1, 2], 2, None);
        let vectors = all(&exhibits);
        for vector in &vectors {
            assert!(vector.agrees != Some(false) || !vector.note.is_empty(), "{vector:?}");
            assert!(
                vector.reference.is_none() || vector.printed.is_none() && vector.agrees == Some(true),
                "{vector:?}"
            );
            assert!(vector.claim.is_none() || vector.verdict.is_some(), "{vector:?}");
        }
        let derived = |what: &str| vectors.iter().any(|vector| vector.what == what && vector.reference.is_some());
        for what in [
            "sample of 50 pages at a fifth",
            "sample of 100 pages at a tenth",
            "first sample of nine sites, 100 pages",
            "storage, per cent, 10 to 100 pages",
            "storage of three versions, per cent",
            "groups of 250,000 sites for a million downloads",
            "degree of the change",
            "step of the checksum",
        ] {
            assert!(derived(what), "{what}");
        }
    }

    #[test]
    fn every_table_and_figure_with_numbers_is_there() {
        let exhibits = enacted(&[1], 2, None);
        let has =
            |paper: &str, place: &str| exhibits.iter().any(|exhibit| (exhibit.paper, exhibit.place) == (paper, place));
        for (paper, places) in [
            (
                "000",
                &[
                    "Figure 1.3",
                    "Figure 1.5",
                    "Figure 2.2",
                    "Figure 2.3",
                    "Figure 2.4",
                    "Figure 4.1",
                    "Figure 4.2",
                    "Table 4.1",
                    "Table 4.2",
                ][..],
            ),
            ("001", &["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2", "Equation 8"]),
            (
                "003",
                &["Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 8", "Table 9"],
            ),
            ("003", &["Table 10", "Table 11", "Table 12", "Table 13", "Table 14"]),
            ("004", &["Cases 1 to 3", "Figure 5", "Figure 6"]),
        ] {
            places.iter().for_each(|place| assert!(has(paper, place), "{paper} {place}"));
        }
        let drawn = exhibits.iter().filter(|exhibit| !exhibit.plots.is_empty()).count();
        assert!(drawn >= 9, "{drawn} exhibits have plots");
    }

    #[test]
    fn the_recomputed_values_of_the_papers_stay_equal() {
        let exhibits = enacted(&[1], 2, None);
        let numbers = |what: &str| {
            let vectors = all(&exhibits);
            let found = vectors.iter().find(|vector| vector.what == what).unwrap_or_else(|| panic!("{what}"));
            match &found.ours {
                VectorValue::Number(number) => vec![*number],
                VectorValue::Numbers(numbers) => numbers.clone(),
                VectorValue::Text(text) => panic!("{text}"),
            }
        };
        for (what, expected) in [
            ("first list", &[155., 79., 65., 60., 60., 53.][..]),
            ("second list", &[52., 40., 21., 20., 18., 16.]),
            ("third list", &[15., 13., 11., 5., 4., 3.]),
            ("root mean square, dog and cog", &[127.329_222, 129.820_183]),
            ("checksum of all letters, dog and cog", &[45.612, 45.600]),
            ("refresh time after 0.6 changed", &[100.0]),
            ("refresh time after 0.85 changed", &[78.571_429]),
            ("refresh time after 0.25 changed", &[91.666_667]),
            ("change ratio by site", &[0.66]),
            ("change ratio by topic", &[0.77]),
            ("√(N·r) for a topic of fifty pages", &[3.162_278]),
            ("√(N·r) for twenty topics in all", &[63.245_553]),
            ("topics of 10 and 90 pages, half downloaded", &[1., 9.]),
            ("the same hundred pages in both topics, a quarter downloaded", &[10., 10.]),
            ("the same over all memberships", &[5., 5.]),
        ] {
            assert_eq!(numbers(what), expected, "{what}");
        }
    }

    #[test]
    fn the_same_chance_numbers_give_the_same_values_whatever_the_number_of_threads() {
        assert_eq!(enacted(&[7, 8], 1, Some("004")), enacted(&[7, 8], 3, Some("004")));
    }

    #[test]
    fn a_single_chance_number_proves_nothing() {
        let exhibits = enacted(&[1], 1, Some("004"));
        let drawn = all(&exhibits).into_iter().filter(|vector| vector.chances == 1 && vector.claim.is_some());
        let mut verdicts = drawn.filter_map(|vector| vector.verdict).peekable();
        assert!(verdicts.peek().is_some() && verdicts.all(|verdict| verdict == Verdict::NotReproduced));
    }
}
