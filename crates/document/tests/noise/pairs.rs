//! Real pages with invented noise between their paragraphs, and later a real edit.

use std::io::Read;
use std::path::Path;

use vernal_model::{Chance, NoiseBook};

use crate::sources::{REPLACED, Source, WORDED};
use crate::watcher::{Watcher, has_content, parsed};

/// Larger pages say nothing more and take longer.
const PAGE_BYTES_MAX: usize = 300_000;

/// The pages of the pair set, by name; nothing where it is not at hand.
fn pages() -> Option<Vec<(String, String)>> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs/pairs.tar.zst");
    let Ok(packed) = std::fs::File::open(&archive) else {
        assert!(std::env::var_os("CI").is_none(), "the pair set is missing: {}", archive.display());
        println!("skipped: {} is not there", archive.display());
        return None;
    };
    let unpacked = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    let mut pages = Vec::new();
    for entry in tar::Archive::new(unpacked).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if !name.ends_with(".before.html") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if bytes.len() <= PAGE_BYTES_MAX {
            pages.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    pages.sort();
    Some(pages)
}

/// A real page with gaps in which noise may stand.
struct Prepared {
    html: String,
    gaps: Vec<(usize, Source)>,
}

impl Prepared {
    /// Finds gaps where a paragraph of our own is seen; `None` on pages without room for one.
    fn new(html: &str, sources: &[Source], chance: &mut Chance) -> Option<Prepared> {
        let ends: Vec<usize> = ["</p>", "</h2>", "</ul>", "</div>"]
            .iter()
            .flat_map(|end| html.match_indices(end).map(|(at, end)| at + end.len()))
            .collect();
        let mut gaps = Vec::new();
        for source in sources {
            let tries = (0..6).filter_map(|_| chance.pick(&ends).copied());
            let seen = |at: &usize| {
                let with = format!("{}<p>zanzibar quince</p>{}", &html[..*at], &html[*at..]);
                parsed(&with).document.text.lines().any(|line| line == "zanzibar quince")
            };
            let gap = tries.collect::<Vec<_>>().into_iter().find(seen)?;
            gaps.push((gap, *source));
        }
        gaps.sort_by_key(|(at, _)| *at);
        Some(Prepared { html: html.to_owned(), gaps })
    }

    fn at(&self, visit: u64, chance: &Chance, edited: Option<usize>) -> String {
        let mut html = String::with_capacity(self.html.len() + 1_000);
        let mut from = 0;
        for (index, (at, source)) in self.gaps.iter().enumerate() {
            html += &self.html[from..*at];
            from = *at;
            let chance = chance.numbered(visit).numbered(index as u64);
            let edit = (edited == Some(index)).then(|| source.edited(visit, &mut chance.clone())).flatten();
            html += &edit.unwrap_or_else(|| source.html(visit, &mut chance.clone()));
        }
        html + &self.html[from..]
    }

    /// Changes one word of the page's own text, in a place where a reader sees it.
    fn edit(&mut self, chance: &mut Chance) -> bool {
        let document = parsed(&self.html).document;
        let lines: Vec<&str> = document.text.lines().filter(|line| line.split(' ').count() >= 5).collect();
        for _ in 0..12 {
            let Some(line) = chance.pick(&lines) else { return false };
            let words: Vec<&str> = line.split(' ').collect();
            let start = chance.below(words.len() as u64 - 2) as usize;
            let three = words[start..start + 3].join(" ");
            let Some(at) = self.html.find(&three) else { continue };
            let mut edited = self.html.clone();
            edited.replace_range(at..at + words[start].len(), "zanzibar");
            if parsed(&edited).document.text != document.text {
                let grown = "zanzibar".len() as isize - words[start].len() as isize;
                for (gap, _) in self.gaps.iter_mut().filter(|(gap, _)| *gap > at) {
                    *gap = gap.saturating_add_signed(grown);
                }
                self.html = edited;
                return true;
            }
        }
        false
    }
}

#[test]
fn on_real_pages_noise_is_silent_after_three_visits_and_edits_are_found() {
    let Some(pages) = pages() else { return };
    let (mut quiet, mut quiet_of, mut found, mut found_of, mut cases) = (0u32, 0u32, 0u32, 0u32, 0u32);
    for (number, (name, html)) in pages.iter().enumerate() {
        let mut chance = Chance::new(number as u64).stream("pairs");
        let mut sources: Vec<Source> = WORDED.into_iter().chain(REPLACED).collect();
        chance.shuffle(&mut sources);
        sources.truncate(1 + chance.below(3) as usize);
        let Some(mut page) = Prepared::new(html, &sources, &mut chance) else { continue };
        cases += 1;
        let root = chance.stream("noise");
        let (mut watcher, mut book) = (Watcher::new(number as u32), NoiseBook::default());
        let mut answers = 1..;
        let mut answer = |page: &Prepared| page.at(answers.next().unwrap_or_default(), &root, None);
        watcher.visit(&mut book, &answer(&page));
        watcher.wants_look = true;
        watcher.looks(&mut book, || answer(&page));
        for _ in 0..2 {
            watcher.visit_and_looks(&mut book, || answer(&page));
        }
        for visit in 5..=7 {
            let change = watcher.visit_and_looks(&mut book, || answer(&page));
            quiet_of += 1;
            quiet += u32::from(!has_content(&change));
            if has_content(&change) {
                let first = change.paragraphs.first();
                println!("{name} visit {visit} {sources:?}: {:?}", first.map(|one| (&one.before, &one.after)));
            }
        }
        let at = chance.below(page.gaps.len() as u64) as usize;
        let can = page.gaps[at].1.edited(0, &mut chance.clone()).is_some();
        let inside = (chance.happens(0.5) && can).then_some(at);
        if inside.is_none() && !page.edit(&mut chance) {
            continue;
        }
        let change = watcher.visit(&mut book, &page.at(answers.next().unwrap_or_default(), &root, inside));
        found_of += 1;
        found += u32::from(has_content(&change));
        if !has_content(&change) {
            println!("{name} lost {inside:?} {sources:?}: {:?}", change.noise);
        }
    }
    let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
    println!(
        "{cases} real pages: silent {quiet} of {quiet_of} ({:.2} %), edits found {found} of {found_of} ({:.2} %)",
        share(quiet, quiet_of) * 100.0,
        share(found, found_of) * 100.0
    );
    assert!(cases >= 300 && found_of >= 200);
    assert!(share(quiet, quiet_of) >= 0.99 && share(found, found_of) >= 0.98);
}
