//! Real pages: the shared pairs, where they are at hand.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use vernal_document::diff::{diff, explain, texts};
use vernal_model::{Change, Document, Kind, Kinds};

use crate::document;

/// The two versions of each pair, by its name; nothing where the set is not at hand.
fn pairs() -> BTreeMap<String, Vec<Document>> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs/pairs.tar.zst");
    let Ok(file) = std::fs::File::open(archive) else { return BTreeMap::new() };
    let packed = ruzstd::decoding::StreamingDecoder::new(std::io::BufReader::new(file)).expect("the set is readable");
    let mut found: BTreeMap<String, Vec<(bool, Document)>> = BTreeMap::new();
    for entry in tar::Archive::new(packed).entries().expect("the set is an archive") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let Some((pair, side)) = name.trim_end_matches(".html").rsplit_once('.') else { continue };
        let (pair, is_after) = (pair.to_string(), side == "after");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("the set is whole");
        found.entry(pair).or_default().push((is_after, document(&bytes)));
    }
    let sorted = |mut sides: Vec<(bool, Document)>| {
        sides.sort_by_key(|side| side.0);
        sides.into_iter().map(|side| side.1).collect::<Vec<_>>()
    };
    found.into_iter().map(|(name, sides)| (name, sorted(sides))).filter(|(_, sides)| sides.len() == 2).collect()
}

fn content() -> Change {
    let mut kinds = Kinds::default();
    kinds.insert(Kind::Content);
    Change { kinds, left: kinds, ..Change::default() }
}

#[test]
fn the_laws_hold_on_real_pages() {
    for (name, sides) in pairs() {
        let (old, new) = (&sides[0], &sides[1]);
        let found = diff(old, new);
        let made = found.apply(&texts(old)).expect("a diff applies to what it was made of");
        assert_eq!(made, texts(new), "{name}");
        assert_eq!(found.is_empty(), texts(old) == texts(new), "{name}");
        assert_eq!(found.fallback, None, "{name}: {} steps", found.steps);
        let mut change = content();
        explain(old, new, &mut change);
        let same = old.text.replace('\n', " ") == new.text.replace('\n', " ");
        assert_eq!(change.paragraphs.is_empty(), same, "{name}: an event has something to read");
    }
}

/// `cargo test --release -p vernal-document --test diff -- --ignored --nocapture` prints how long diffs take.
#[test]
#[ignore = "a measurement, not a law"]
#[expect(clippy::disallowed_methods, reason = "a measurement takes the real time")]
fn how_long_real_diffs_take() {
    let all = pairs();
    let mut micros: Vec<(u128, u64, String)> = Vec::new();
    for (name, sides) in &all {
        // The least of five, so that what else the machine does counts less.
        let taken = (0..5).map(|_| {
            let started = std::time::Instant::now();
            let mut change = content();
            explain(&sides[0], &sides[1], &mut change);
            let found = std::hint::black_box(diff(&sides[0], &sides[1]));
            (started.elapsed().as_micros(), found.steps, name.clone())
        });
        micros.extend(taken.min());
    }
    micros.sort();
    let at = |share: f64| micros.get(((micros.len() as f64 * share) as usize).min(micros.len().saturating_sub(1)));
    println!("{} pairs; p50 {:?}, p90 {:?}, p99 {:?}, most {:?}", micros.len(), at(0.5), at(0.9), at(0.99), at(1.0));
}
