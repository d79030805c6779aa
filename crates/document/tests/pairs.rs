//! The labelled pairs of real pages judge the verdicts. See `docs/change-detection.md` for what is asked and what was seen.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use vernal_document::judge::{Table, labels};
use vernal_document::{
    IncrementalReader, Input, compare, compare_pages, flags, read_closely, read_words_incrementally,
    read_words_of_prefix,
};
use vernal_model::{Digest, Kind, Paragraph, Url};

type Bodies = HashMap<String, Vec<u8>>;

/// The bodies by name, and the labels; `None` where the set is not there.
fn pairs() -> Option<(Bodies, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs");
    let Ok(packed) = std::fs::File::open(folder.join("pairs.tar.zst")) else {
        assert!(std::env::var_os("CI").is_none(), "the pair set is missing: {}", folder.display());
        println!("skipped: {} is not there", folder.display());
        return None;
    };
    let unpacked = ruzstd::decoding::StreamingDecoder::new(packed).expect("a zstd frame");
    let mut bodies = HashMap::new();
    for entry in tar::Archive::new(unpacked).entries().expect("a tar file") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a path").file_name().expect("a name").to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("a whole entry");
        bodies.insert(name, bytes);
    }
    Some((bodies, std::fs::read_to_string(folder.join("labels.jsonl")).expect("labels beside the pairs")))
}

/// How much of the older bodies has to be unpacked for the words that the newer ones do not lend.
#[derive(Debug, Default)]
struct Starts {
    lent: usize,
    whole: usize,
    start: usize,
    start_in_vain: usize,
    bytes: usize,
    bytes_of_starts: usize,
}

impl Starts {
    fn add(&mut self, old: &Input<'_>, beside: &IncrementalReader<'_>, words: (&String, &Vec<Paragraph>)) {
        if beside.reused_document().is_some() {
            self.lent += 1;
            return;
        }
        let Some(bytes) = beside.bytes_wanted(old.bytes.len()) else {
            self.whole += 1;
            return;
        };
        let start = Input { bytes: &old.bytes[..bytes], ..old.clone() };
        match read_words_of_prefix(&start, beside) {
            None => self.start_in_vain += 1,
            Some(document) => {
                assert_eq!((&document.text, &document.paragraphs), words, "read from the start");
                self.start += 1;
                self.bytes += old.bytes.len();
                self.bytes_of_starts += bytes;
            }
        }
    }
}

fn input<'a>(url: &'a Url, bytes: &'a [u8], payload: u8) -> Input<'a> {
    Input {
        url,
        bytes,
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest([payload; 20]),
    }
}

#[test]
fn real_pairs_are_judged_as_their_labels_say() {
    let Some((bodies, lines)) = pairs() else { return };
    let url = Url::parse("https://www.example.org/folder/page.html").unwrap();
    let mut table = Table::default();
    let mut crawled = Table::default();
    let mut starts = Starts::default();
    for label in labels(&lines).unwrap() {
        let old = input(&url, &bodies[&format!("{}.before.html", label.id)], 1);
        let new = input(&url, &bodies[&format!("{}.after.html", label.id)], 2);
        let (old_page, new_page) = (read_closely(&old), read_closely(&new));
        let change = compare_pages(&old_page, &new_page);
        let marked = compare(&old_page.signature, &new_page.signature);
        assert_eq!((change.kinds, change.left), (marked.kinds, marked.left), "{}", label.id);
        let back = compare(&new_page.signature, &old_page.signature);
        assert_eq!((back.kinds, back.left), (change.kinds, change.left), "{} backwards", label.id);
        let beside = IncrementalReader::new(&old_page.signature.paragraphs, &new_page.document);
        let document = read_words_incrementally(&old, &beside);
        let words = (&old_page.document.text, &old_page.document.paragraphs);
        assert_eq!((&document.text, &document.paragraphs), words, "{} read beside its newer version", label.id);
        starts.add(&old, &beside, words);
        table.add(&label, &flags(&old, &new), &change);
        if label.origin == "crawl" {
            crawled.add(&label, &flags(&old, &new), &change);
        }
        assert_eq!(change.left.contains(Kind::Content), change.magnitude > 0.0, "{}", label.id);
    }
    println!("{table}\nof the crawl:\n{crawled}\n{starts:?}");
    for (id, question, ours) in &table.disagreements {
        println!("{id}: {question}: we say {ours}");
    }
    let score = |question: &str| *table.score(question).unwrap();
    assert!(score("text").recall() >= 0.99 && score("text").precision() >= 0.99);
    for question in ["structure", "attributes", "script", "kind content", "kind structure"] {
        assert!(score(question).agreement() >= 0.97, "{question}");
    }
    assert_eq!(table.false_content, Vec::<String>::new());
    assert!(starts.start > 100 && starts.start_in_vain * 20 < starts.start, "{starts:?}");
}
