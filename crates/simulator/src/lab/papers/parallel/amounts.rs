//! Table 14: what the two sums say of the amount of a change, beside a message digest; and what each method costs.

use sha1::{Digest, Sha1};
use vernal_model::Chance;

use super::at;
use super::contents::{Sums, differ, paragraphs};
use super::markup::word;
use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::papers::exhibit::{Claim, Exhibit, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "003", enact: Some(enact), tell };

const PAGES: usize = 20;
/// The share of a page's words that is replaced, per cent.
const AMOUNTS: [u64; 6] = [1, 2, 5, 10, 25, 50];
const LABELS: [&str; 6] = ["1 %", "2 %", "5 %", "10 %", "25 %", "50 %"];
const METHODS: usize = 3;
/// Where the rows of one chance number lie: the difference by method and amount, then how often the larger of two changes has the
/// larger difference, then the share of digest bits that one letter turns, then CPU times.
const RIGHT: usize = METHODS * AMOUNTS.len();
const ONE_LETTER: usize = RIGHT + METHODS;
const CPU: usize = ONE_LETTER + METHODS;

/// How far two versions are apart: by root mean square, by checksum, and by bits of SHA-1.
fn apart(old: &[String], new: &[String]) -> [f64; METHODS] {
    let (before, after) = (Sums::of(old), Sums::of(new));
    let digest = |texts: &[String]| Sha1::digest(texts.join("\n").as_bytes());
    let turned: u32 = digest(old).iter().zip(digest(new)).map(|(old, new)| (old ^ new).count_ones()).sum();
    [(before.page[0] - after.page[0]).abs(), (before.page[1] - after.page[1]).abs(), f64::from(turned) / 160.0]
}

fn replaced(old: &[String], share: f64, chance: &mut Chance) -> Vec<String> {
    let edit = |text: &String| -> String {
        let words = text.split(' ').map(|old| if chance.happens(share) { word(chance) } else { old });
        words.collect::<Vec<_>>().join(" ")
    };
    old.iter().map(edit).collect()
}

fn enact(chance: &Chance, cpu_seconds: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("table 14");
    let mut row = vec![0.0; CPU + 2];
    let share = 1.0 / PAGES as f64;
    for _ in 0..PAGES {
        let old = paragraphs(&mut chance);
        let all = AMOUNTS.map(|amount| apart(&old, &replaced(&old, amount as f64 / 100.0, &mut chance)));
        let pairs = (AMOUNTS.len() * (AMOUNTS.len() - 1) / 2) as f64;
        for method in 0..METHODS {
            for (place, of) in all.iter().enumerate() {
                row[method * AMOUNTS.len() + place] += share * of[method];
                let smaller = all[..place].iter();
                let right = smaller.map(|smaller| match of[method].total_cmp(&smaller[method]) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                });
                row[RIGHT + method] += share * right.sum::<f64>() / pairs;
            }
        }
        let mut letter = old.clone();
        let other = if letter[1].starts_with('k') { "z" } else { "k" };
        letter[1].replace_range(0..1, other);
        let (before, one) = (Sums::of(&old), apart(&old, &letter));
        row[ONE_LETTER] += share * one[0] / before.page[0];
        row[ONE_LETTER + 1] += share * one[1] / before.page[1];
        row[ONE_LETTER + 2] += share * one[2];
        let from = cpu_seconds();
        std::hint::black_box(differ(Sums::of(&old).page[0], before.page[0]));
        let middle = cpu_seconds();
        std::hint::black_box(Sha1::digest(old.join("\n").as_bytes()));
        row[CPU] += share * 1e6 * (middle - from);
        row[CPU + 1] += share * 1e6 * (cpu_seconds() - middle);
    }
    row
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let page = at("Table 14");
    let names = ["root mean square", "checksum", "SHA-1"];
    let of = |method: usize| trials.range(method * AMOUNTS.len()..(method + 1) * AMOUNTS.len());
    let right = trials.range(RIGHT..ONE_LETTER);
    let letter = trials.range(ONE_LETTER..CPU);
    let estimated = |method: usize, what| {
        page.claim(Claim {
            quote: "On seeing the checksum, the amount of change in two versions of documents may be estimated",
            what,
            measured: right[method],
            verdict: Verdict::above(&right[method], 0.5),
            note: "of two changes, how often the larger has the larger difference; a coin has 0.5, and the sure way 1",
        })
    };
    let vectors = vec![
        page.measured("difference of root mean squares by share of words replaced", &LABELS, &of(0), ""),
        page.measured(
            "difference of checksums",
            &LABELS,
            &of(1),
            "words of like letters cancel, so that half of a page may change for little",
        ),
        page.measured("share of SHA-1 bits that turn", &LABELS, &of(2), ""),
        page.measured("how often the larger change has the larger difference", &names, &right, ""),
        page.measured(
            "what one letter changes, as a share of the value",
            &names,
            &letter,
            "for SHA-1 the share of bits",
        ),
        page.measured(
            "CPU time of a page, µs",
            &["both sums", "SHA-1"],
            &trials.range(CPU..CPU + 2),
            "on the machine that made this report",
        ),
        estimated(0, "by root mean square"),
        estimated(1, "by checksum"),
        page.claim(Claim {
            quote: "The complete checksum generated gets changed even on changing of single characters",
            what: "share of SHA-1 bits that one letter turns",
            measured: letter[2],
            verdict: Verdict::near(&letter[2], 0.5, 0.05),
            note: "half of the bits is as different as two digests can be",
        }),
        page.claim(Claim {
            quote: "Only little changes occur in the final checksum if input data gets changed at micro level",
            what: "what one letter changes of the checksum, as a share of it",
            measured: letter[1],
            verdict: Verdict::near(&letter[1], 0.0, 0.01),
            note: "",
        }),
    ];
    let shares = AMOUNTS.map(|amount| amount as f64);
    let series = vec![Series::of("root mean square", 0, &shares, &of(0)), Series::of("checksum", 1, &shares, &of(1))];
    let across = Axis { label: "words replaced, per cent".into(), tenfold: true, ..Axis::default() };
    let up = Axis { label: "difference of the sums".into(), ..Axis::default() };
    let chart = Chart { title: "003, Table 14: difference by amount of change".into(), across, up, series };
    let plots = vec![Plot { file: "003-table-14.svg".into(), chart }];
    let method = "Pages of which 1 to 50 per cent of the words are replaced; `page_rms` and `checksum` of the product beside SHA-1.";
    vec![page.exhibit("The sums beside message digests", method, vectors).with_plots(plots)]
}
