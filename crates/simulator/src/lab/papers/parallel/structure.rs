//! Table 8: the document tree and the fingerprint side by side: what each sees, and what each costs.

use vernal_document::{
    Input, TagLetters, compare, compare_trees, read, structure::StructureDegree, tag_letters, written_tree,
};
use vernal_model::{Chance, Digest, Kind, Signature, Url};

use super::at;
use super::markup::{Element, sections, source, word};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "003", enact: Some(enact), tell };

/// Pages of one chance number, each with every edit.
const PAGES: usize = 20;
/// How often a page is compared with itself while CPU time is measured.
const REPEATS: usize = 3;

/// What is done to a page, and whether its structure changes by it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Edit {
    LeafAdded,
    LeafRemoved,
    ListAdded,
    SectionRemoved,
    TagReplaced,
    TagOfSameLetters,
    NestedInstead,
    MovedAcross,
    TextEdited,
    AttributeChanged,
    EndTagsLeftOut,
    TagsMisaligned,
}

const EDITS: [Edit; 12] = [
    Edit::LeafAdded,
    Edit::LeafRemoved,
    Edit::ListAdded,
    Edit::SectionRemoved,
    Edit::TagReplaced,
    Edit::TagOfSameLetters,
    Edit::NestedInstead,
    Edit::MovedAcross,
    Edit::TextEdited,
    Edit::AttributeChanged,
    Edit::EndTagsLeftOut,
    Edit::TagsMisaligned,
];
const LABELS: [&str; 12] = [
    "leaf added",
    "leaf removed",
    "list added",
    "section removed",
    "tag replaced",
    "tag of same letters",
    "nested, not beside",
    "moved to next parent",
    "text edited",
    "attribute changed",
    "end tags left out",
    "tags misaligned",
];
/// Of those, the first eight change the structure.
const STRUCTURAL: usize = 8;
const METHODS: usize = 3;
/// Where the rows of one chance number lie: by method and edit, then bytes and CPU time of tree and fingerprint, then how often the
/// tree's place is right.
const BYTES: usize = METHODS * EDITS.len();
const CPU: usize = BYTES + 2;
const PLACED: usize = CPU + 2;

impl Edit {
    /// The source of the page after the edit.
    fn of(self, old: &[Element], chance: &mut Chance) -> String {
        let mut new = old.to_vec();
        let at = chance.below(new.len() as u64 - 1) as usize;
        let section = &mut new[at];
        match self {
            Edit::LeafAdded => section.children.push(Element::leaf("hr")),
            Edit::LeafRemoved => drop(section.children.pop()),
            Edit::ListAdded => {
                let item = Element::new("li", word(chance).into(), Vec::new());
                section.children.push(Element::new("ul", String::new(), vec![item.clone(), item]));
            }
            Edit::SectionRemoved => drop(new.remove(at)),
            Edit::TagReplaced => section.children[1].children[0].tag = "i",
            // Both begin with s and end with n.
            Edit::TagOfSameLetters => section.tag = "span",
            Edit::NestedInstead => {
                let paragraph = &mut section.children[1].children;
                let link = paragraph.pop();
                paragraph[0].children.extend(link);
            }
            Edit::MovedAcross => {
                let moved = section.children.pop();
                new[at + 1].children.splice(0..0, moved);
            }
            Edit::TextEdited => section.children[1].text = format!("{} {}", word(chance), section.children[1].text),
            Edit::AttributeChanged => section.attributes = " class=\"wide\"".into(),
            Edit::EndTagsLeftOut => return source(old).replace("</p>", "").replace("</li>", ""),
            Edit::TagsMisaligned => {
                return source(old).replacen("</b>\n<a>", "<a>", 1).replacen("</a>", "</b></a>", 1);
            }
        }
        source(&new)
    }
}

/// The fingerprint of a page, from its opening tags as they are written.
fn fingerprint(source: &str) -> TagLetters {
    let opening = source.split('<').filter(|tag| tag.starts_with(|first: char| first.is_ascii_alphabetic()));
    tag_letters(opening.map(|tag| tag.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default()))
}

fn signature(source: &str) -> Option<Signature> {
    let url = Url::parse("http://paper.example/").ok()?;
    let input = Input {
        url: &url,
        bytes: source.as_bytes(),
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        // Any digest will do that differs where the body does.
        payload: Digest(
            sha1::Digest::finalize(sha1::Digest::chain_update(<sha1::Sha1 as sha1::Digest>::new(), source.as_bytes()))
                .into(),
        ),
    };
    Some(read(&input).signature)
}

fn enact(chance: &Chance, cpu_seconds: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("table 8");
    let mut row = vec![0.0; PLACED + 1];
    let share = 1.0 / PAGES as f64;
    for _ in 0..PAGES {
        let old = sections(&mut chance);
        let old_source = source(&old);
        let (old_tree, old_letters, old_signature) =
            (written_tree(&old_source), fingerprint(&old_source), signature(&old_source));
        for (place, edit) in EDITS.into_iter().enumerate() {
            let new_source = edit.of(&old, &mut chance);
            let change = compare_trees(&old_tree, &written_tree(&new_source));
            let ours = old_signature.as_ref().zip(signature(&new_source));
            let ours = ours.is_some_and(|(old, new)| compare(old, &new).kinds.contains(Kind::Structure));
            let seen = [change.degree != StructureDegree::None, old_letters != fingerprint(&new_source), ours];
            for (method, seen) in seen.into_iter().enumerate() {
                row[method * EDITS.len() + place] += share * f64::from(u8::from(seen));
            }
            if edit == Edit::SectionRemoved {
                // A section is on the third level.
                row[PLACED] += share * f64::from(u8::from(change.place.is_some_and(|place| place.level == 3)));
            }
        }
        // Tag, children, level and siblings of every node; two letters of every tag.
        row[BYTES] += share * old_tree.nodes().map(|node| node.tag.len() as f64 + 10.0).sum::<f64>();
        row[BYTES + 1] += share * (old_letters.first.len() + old_letters.last.len()) as f64;
        let costs = costs(&old_source, cpu_seconds);
        row[CPU] += share * costs[0];
        row[CPU + 1] += share * costs[1];
    }
    row
}

/// CPU microseconds to make and compare the tree, and the fingerprint.
fn costs(source: &str, cpu_seconds: CpuSeconds<'_>) -> [f64; 2] {
    let per_page = 1e6 / REPEATS as f64;
    let start = cpu_seconds();
    for _ in 0..REPEATS {
        std::hint::black_box(compare_trees(&written_tree(source), &written_tree(source)));
    }
    let middle = cpu_seconds();
    for _ in 0..REPEATS {
        std::hint::black_box(fingerprint(source) == fingerprint(source));
    }
    [(middle - start) * per_page, (cpu_seconds() - middle) * per_page]
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let page = at("Table 8");
    let method = |method: usize| trials.range(method * EDITS.len()..(method + 1) * EDITS.len());
    let seen = "the first eight change the structure, the last four do not";
    let mut vectors = vec![
        page.measured("share of edits seen by the document tree", &LABELS, &method(0), seen),
        page.measured("share of edits seen by the fingerprint", &LABELS, &method(1), seen),
        page.measured(
            "share of edits that are structure to `compare`",
            &LABELS,
            &method(2),
            "what the product does today",
        ),
        page.measured("bytes kept for a page", &["tree", "fingerprint"], &trials.range(BYTES..CPU), ""),
        page.measured(
            "CPU time of a comparison, µs",
            &["tree", "fingerprint"],
            &trials.range(CPU..PLACED),
            "on the machine that made this report; both from the source",
        ),
    ];
    vectors.extend(claims(trials));
    vectors.extend(cost_claims(trials));
    let method = "Invented pages with twelve kinds of edit, each of them known; `written_tree`, `compare_trees` and `tag_letters` of the product, \
                  and the product's own `compare` beside them.";
    vec![page.exhibit("Document tree and fingerprint: what they see and cost", method, vectors)]
}

fn claims(trials: &Trials) -> Vec<Vector> {
    let least = |method: usize| {
        trials.by(|row| row[method * EDITS.len()..][..STRUCTURAL].iter().copied().fold(f64::MAX, f64::min))
    };
    let place = |edit: Edit| EDITS.iter().position(|&other| other == edit).unwrap_or(0);
    let alarm = |method: usize, edit: Edit| trials.at(method * EDITS.len() + place(edit));
    let (tree, letters) = (least(0), least(1));
    let (left_out, misaligned) = (alarm(1, Edit::EndTagsLeftOut), alarm(1, Edit::TagsMisaligned));
    let broken = alarm(0, Edit::EndTagsLeftOut);
    let claim =
        |quote, what, measured, verdict, note| at("Table 8").claim(Claim { quote, what, measured, verdict, note });
    vec![
        claim(
            "is able to detect structural changes even at the minute level",
            "the least share of a structural edit that the tree sees",
            tree,
            Verdict::near(&tree, 1.0, 0.001),
            "levels are compared without their parents, so that a node that moves to the next parent is not seen",
        ),
        claim(
            "This method is also able to detect changes even at the minute level",
            "the least share of a structural edit that the fingerprint sees",
            letters,
            Verdict::near(&letters, 1.0, 0.001),
            "section and span have the same first and last letters, and nesting leaves the order of opening tags",
        ),
        claim(
            "No effects of optional tags as only opening tags are considered",
            "fingerprints that change where end tags are left out",
            left_out,
            Verdict::near(&left_out, 0.0, 0.001),
            "",
        ),
        claim(
            "it becomes difficult to maintain the nested structure among tags",
            "trees that change where end tags are left out",
            broken,
            Verdict::above_zero(&broken),
            "a false alarm",
        ),
        claim(
            "it may produce different fingerprint for the same structure",
            "fingerprints that change where tags are misaligned",
            misaligned,
            Verdict::near(&misaligned, 1.0, 0.999),
            "the summary of the paper says the opposite (no impact of misaligned tags), and that is so",
        ),
    ]
}

fn cost_claims(trials: &Trials) -> Vec<Vector> {
    let (bytes, cpu, placed) =
        (trials.difference(BYTES, BYTES + 1), trials.difference(CPU, CPU + 1), trials.at(PLACED));
    let claim =
        |quote, what, measured, verdict| at("Table 8").claim(Claim { quote, what, measured, verdict, note: "" });
    vec![
        claim(
            "it requires more storage space also for document tree",
            "bytes of the tree less those of the fingerprint",
            bytes,
            Verdict::above_zero(&bytes),
        ),
        claim(
            "To create and compare two trees it consumes more time",
            "CPU time of the tree less that of the fingerprint, µs",
            cpu,
            Verdict::above_zero(&cpu),
        ),
        claim(
            "helps in locating the area of minor/major changes",
            "removed sections whose level the tree names",
            placed,
            Verdict::near(&placed, 1.0, 0.001),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Table 8 says, and where each method is blind.
    #[test]
    fn either_method_is_blind_to_some_structural_edit_and_neither_to_plain_ones() {
        let row = enact(&Chance::new(1).stream("papers"), &|| 0.0);
        let of = |method: usize, edit: Edit| {
            row[method * EDITS.len() + EDITS.iter().position(|&other| other == edit).expect("an edit of the list")]
        };
        for plain in [Edit::LeafAdded, Edit::LeafRemoved, Edit::ListAdded, Edit::SectionRemoved, Edit::TagReplaced] {
            assert!((of(0, plain) - 1.0).abs() < 1e-9 && (of(1, plain) - 1.0).abs() < 1e-9, "{plain:?}");
        }
        assert_eq!([of(0, Edit::MovedAcross), of(1, Edit::TagOfSameLetters), of(1, Edit::NestedInstead)], [0.0; 3]);
        for silent in [Edit::TextEdited, Edit::AttributeChanged] {
            assert_eq!([of(0, silent), of(1, silent), of(2, silent)], [0.0; 3], "{silent:?}");
        }
        assert!(of(0, Edit::EndTagsLeftOut) > 0.9 && of(1, Edit::EndTagsLeftOut) == 0.0);
        assert!(row[BYTES] > 3.0 * row[BYTES + 1]);
    }
}
