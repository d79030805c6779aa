//! Paper 003: the incremental parallel crawler, its priority lists and its change detection.

use vernal_document::checksum::{PLAIN_POINTS, checksum, checksum_from};
use vernal_document::rms::{page_rms, rms};
use vernal_document::{compare_trees, structure::StructureDegree, tag_letters, written_tree};

use super::{Page, Vector};

const DOG: &str = "The quick brown fox jumps over the lazy dog";
const COG: &str = "The quick brown fox jumps over the lazy cog";
/// Figure 11, made whole by Table 5.
const INITIAL: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><h3></h3></center><p><br><br><center><b></b></center></p><h2></h2></body></html>";
const CHANGED: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><b></b></center><center><h3></h3></center><p></p><h2></h2></body></html>";
/// Figures 14 and 15.
const TAGS: &str = "html head title body table tr td p img tr td td tr td td img p b font p font br font br br br br font br \
                    ul ul li p font b font a font li p font a font p";
const TAGS_CHANGED: &str = "html head title body table tr td p img tr td td tr td td img p b font ul ul li p font b font a font \
                            li p font b font a font li p font b font a font li p font b font a font";

pub(super) fn vectors() -> Vec<Vector> {
    let mut vectors = lists();
    vectors.extend(structures());
    vectors.extend(contents());
    vectors
}

fn at(place: &'static str) -> Page {
    Page { paper: "003", place }
}

/// Tables 1 and 2: eighteen URLs by forward less back links, cut into thirds.
fn lists() -> Vec<Vector> {
    const FORWARD: [f64; 18] = [20., 18., 11., 4., 3., 40., 79., 65., 155., 60., 21., 13., 52., 60., 15., 5., 16., 53.];
    const PRINTED: [[f64; 6]; 3] =
        [[155., 79., 65., 60., 60., 52.], [53., 40., 21., 20., 18., 16.], [15., 13., 11., 5., 4., 3.]];
    const LISTS: [&str; 3] = ["first list", "second list", "third list"];
    let mut sorted = FORWARD.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let slip = "the printed lists are not sorted by their own rule: 53 belongs before 52";
    let thirds = sorted.chunks(6).zip(PRINTED).zip(LISTS);
    thirds
        .map(|((ours, printed), name)| {
            at("Table 2").numbers(name, ours, &printed, 0, if name == LISTS[2] { "" } else { slip })
        })
        .collect()
}

fn structures() -> Vec<Vector> {
    let (old, new) = (written_tree(INITIAL), written_tree(CHANGED));
    let levels = |tree: &vernal_document::DocumentTree| {
        let mut counts: Vec<f64> = tree.counts().iter().map(|&count| count as f64).collect();
        counts.resize(5, 0.0);
        counts
    };
    let degree = match compare_trees(&old, &new).degree {
        StructureDegree::Major => "major",
        StructureDegree::Minor => "minor",
        StructureDegree::None => "none",
    };
    let (initial, changed) = (tag_letters(TAGS.split_whitespace()), tag_letters(TAGS_CHANGED.split_whitespace()));
    let short = "one letter t is missing in print: 43 letters for 44 tags, 48 for 49";
    let typed = "two f are printed for the t of font";
    vec![
        at("Table 4").numbers("tags at each level, initial", &levels(&old), &[1., 2., 7., 7., 1.], 0, ""),
        at("Table 4").numbers("tags at each level, changed", &levels(&new), &[1., 2., 8., 5., 0.], 0, ""),
        at("Table 6").text("degree of the change", degree, "major", ""),
        at("Table 7").text(
            "fingerprint 1, initial",
            &initial.first,
            "hhtbtttpitttttipbfpfbfbbbbfbuulpfbfaflpfafp",
            short,
        ),
        at("Table 7").text("fingerprint 2, initial", &initial.last, "ldeyerdpgrddrddgpbtptrtrrrrtrlliptbtatiptatp", ""),
        at("Table 7").text(
            "fingerprint 1, changed",
            &changed.first,
            "hhtbtttpitttttipbfuulpfbfaflpfbfaflpfbfaflpfbfaf",
            short,
        ),
        at("Table 7").text(
            "fingerprint 2, changed",
            &changed.last,
            "ldeyerdpgrddrddgpbtlliptbfatiptbtatipfbtatiptbtat",
            typed,
        ),
    ]
}

fn contents() -> Vec<Vector> {
    let constant = "the text gives the constant as 0.0001; the printed numbers need 0.001";
    let skipped = "the printed totals leave out the first two letters; whole they are 45.612 and 45.600";
    let digest = "the printed MD5 of the changed text is that of a text with a full stop, one digit short; the SHA rows are right";
    let sums = [checksum_from(DOG, PLAIN_POINTS, 2), checksum_from(COG, PLAIN_POINTS, 2)];
    let whole = [checksum(DOG, PLAIN_POINTS), checksum(COG, PLAIN_POINTS)];
    let mut vectors = vec![
        at("Table 13").numbers("root mean square, dog and cog", &[rms(DOG), rms(COG)], &[127.329, 129.820], 3, digest),
        at("Table 13").numbers("checksum, dog and cog", &sums, &[43.356, 43.344], 3, skipped),
        at("Table 13").number("step of the checksum", whole[1] - whole[0], -0.012, 3, constant),
    ];
    vectors.extend(table_10());
    vectors
}

/// Table 10: a page's root mean square is a tenth of the sum over its paragraphs.
fn table_10() -> Vec<Vector> {
    const PAGES: [(&str, f64, i32, &[f64], &str); 6] = [
        ("version 1", 161.176, 3, &[355.779, 346.451, 325.086, 261.167, 154.898, 168.383], ""),
        ("version 2", 131.122, 3, &[356.838, 317.343, 291.005, 168.39, 177.651], "printed cut, not rounded"),
        ("version 4", 129.4951, 3, &[364.99, 341.317, 260.205, 166.285, 162.152], "to the third place"),
        ("version 5", 121.0349, 3, &[364.55, 264.664, 272.749, 168.091, 140.293], "to the third place"),
        ("version 6", 116.56, 1, &[346.89, 284.38, 242.87, 142.487, 148.874], "to the first place"),
        (
            "version 7",
            116.21,
            2,
            &[337.37, 284.38, 242.97, 142.487, 148.87],
            "the printed page does not fit its paragraphs",
        ),
    ];
    let vector = |&(name, printed, places, paragraphs, note): &(&str, f64, i32, &[f64], &'static str)| {
        at("Table 10").number(name, page_rms(paragraphs.iter().copied()), printed, places, note)
    };
    PAGES.iter().map(vector).collect()
}
