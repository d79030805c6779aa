//! The worked examples of paper 003, section 4. A slip in print is noted beside the test, never imitated.

use vernal_document::checksum::{PLAIN_POINTS, checksum, checksum_from, font_points, heading_points, styled_points};
use vernal_document::rms::{page_rms, rms};
use vernal_document::structure::{StructureDegree, TreePosition};
use vernal_document::{DocumentTree, compare_trees, tag_letters, written_tree};

const DOG: &str = "The quick brown fox jumps over the lazy dog";
const COG: &str = "The quick brown fox jumps over the lazy cog";

/// Figure 11 (a), made whole by Table 5.
const INITIAL: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><h3></h3></center><p><br><br><center><b></b></center></p><h2></h2></body></html>";

/// Figure 11 (b), made whole by Table 5.
const CHANGED: &str = "<html><head><title></title></head><body><center><h1></h1></center><center><b></b><br></center>\
    <center></center><center><b></b></center><center><h3></h3></center><p></p><h2></h2></body></html>";

fn tags(tree: &DocumentTree) -> Vec<&str> {
    tree.nodes().map(|node| &*node.tag).collect()
}

#[test]
fn the_tree_is_that_of_tables_4_and_5() {
    let (old, new) = (written_tree(INITIAL), written_tree(CHANGED));
    assert_eq!(old.counts(), [1, 2, 7, 7, 1]);
    assert_eq!(new.counts(), [1, 2, 8, 5], "the paper writes the empty fifth level as 0");
    assert_eq!(
        tags(&old),
        [
            "html", "head", "body", "title", "center", "center", "center", "center", "p", "h2", "h1", "b", "br", "h3",
            "br", "br", "center", "b"
        ]
    );
    assert_eq!(
        tags(&new),
        [
            "html", "head", "body", "title", "center", "center", "center", "center", "center", "p", "h2", "h1", "b",
            "br", "b", "h3"
        ]
    );
    let children = |tree: &DocumentTree| tree.nodes().map(|node| node.children).collect::<Vec<_>>();
    assert_eq!(children(&old), [2, 1, 6, 0, 1, 2, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(children(&new), [2, 1, 7, 0, 1, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    // Table 5's row of levels has 20 entries for 18 tags; Table 4 is right.
    let levels: Vec<u16> = old.nodes().map(|node| node.level).collect();
    assert_eq!(levels, [1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5]);
    assert!(old.nodes().all(|node| node.siblings as usize == old.counts()[usize::from(node.level) - 1]));
}

#[test]
fn table_6_tells_none_minor_and_major_with_the_place() {
    let (old, new) = (written_tree(INITIAL), written_tree(CHANGED));
    assert_eq!(compare_trees(&old, &old).degree, StructureDegree::None);
    let change = compare_trees(&old, &new);
    assert_eq!((change.degree, change.place), (StructureDegree::Major, Some(TreePosition { level: 3, position: 5 })));
    assert_eq!(compare_trees(&new, &old).degree, StructureDegree::Major);
    let minor = written_tree(&INITIAL.replace("<h2></h2>", "<h2></h2><hr>"));
    let change = compare_trees(&old, &minor);
    assert_eq!((change.degree, change.place), (StructureDegree::Minor, Some(TreePosition { level: 3, position: 7 })));
}

#[test]
fn fingerprints_are_the_first_and_last_letters_of_the_tags() {
    // Table 7 as printed has 43 and 44 letters; with one `t` more both strings fit the tags.
    let initial = "html head title body table tr td p img tr td td tr td td img p b font p font br font br br br br font br \
                   ul ul li p font b font a font li p font a font p";
    let letters = tag_letters(initial.split_whitespace());
    assert_eq!(letters.first, "hhtbtttpittttttipbfpfbfbbbbfbuulpfbfaflpfafp");
    assert_eq!(letters.last, "ldeyerdpgrddrddgpbtptrtrrrrtrlliptbtatiptatp");
    // In the changed one two `f` are printed where `font` ends in `t`.
    let changed = "html head title body table tr td p img tr td td tr td td img p b font ul ul li p font b font a font li p \
                   font b font a font li p font b font a font li p font b font a font";
    let letters = tag_letters(changed.split_whitespace());
    assert_eq!(letters.first, "hhtbtttpittttttipbfuulpfbfaflpfbfaflpfbfaflpfbfaf");
    assert_eq!(letters.last, "ldeyerdpgrddrddgpbtlliptbtatiptbtatiptbtatiptbtat");
    let tree = written_tree("<html><head><title></title></head><body></body></html>");
    assert_eq!(tag_letters(["HTML", "Head"]).first, "hh");
    assert_eq!(tags(&tree), ["html", "head", "body", "title"]);
}

#[test]
fn the_root_mean_square_is_exact() {
    assert!((rms(DOG) - (421_531f64 / 26.0).sqrt()).abs() < 1e-12);
    assert_eq!(format!("{:.4} {:.4}", rms(DOG), rms(COG)), "127.3292 129.8202");
    assert_eq!(rms("dog"), rms("god"), "it is blind to order, so it never decides");
    assert_eq!(rms("  \n"), 0.0);
    let page = page_rms([DOG, COG].into_iter().map(rms));
    assert!((page - (127.329_226 + 129.820_182) / 10.0).abs() < 1e-4);
}

#[test]
fn the_checksum_steps_by_twelve_thousandths() {
    // The text gives K as 0.0001; the printed numbers need 0.001.
    let (dog, cog) = (checksum(DOG, PLAIN_POINTS), checksum(COG, PLAIN_POINTS));
    assert!((cog - dog + 0.012).abs() < 1e-9);
    assert_eq!(format!("{dog:.3} {cog:.3}"), "45.612 45.600");
    // The paper's own program left out the first two letters.
    let (dog, cog) = (checksum_from(DOG, PLAIN_POINTS, 2), checksum_from(COG, PLAIN_POINTS, 2));
    assert_eq!(format!("{dog:.3} {cog:.3}"), "43.356 43.344");
}

#[test]
fn importance_comes_from_headings_and_style() {
    assert!(heading_points(1) > heading_points(2) && heading_points(3) > heading_points(6));
    assert_eq!(styled_points("color: red; font-size: 16px"), Some(12.0));
    assert_eq!(styled_points("font-size:2em"), Some(24.0));
    assert_eq!(styled_points("font-size: 150%"), Some(18.0));
    assert_eq!(styled_points("font-size: x-large"), Some(18.0));
    assert_eq!(styled_points("font-size: calc(1px)"), None);
    assert_eq!(styled_points("color: red"), None);
    assert_eq!((font_points("5"), font_points("+1"), font_points("-9")), (Some(18.0), Some(13.5), Some(7.5)));
    assert_eq!(font_points("large"), None);
}
