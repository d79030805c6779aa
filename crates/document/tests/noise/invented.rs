//! Invented pages with invented noise.

use vernal_model::{Chance, Change, NoiseBook, ParagraphChange};

use crate::sources::{REPLACED, Source, WORDED};
use crate::watcher::{Watcher, has_content};

const WORDS: [&str; 40] = [
    "river",
    "stone",
    "garden",
    "letter",
    "winter",
    "bridge",
    "market",
    "doctor",
    "silver",
    "window",
    "school",
    "harbour",
    "castle",
    "village",
    "teacher",
    "morning",
    "kitchen",
    "forest",
    "engine",
    "paper",
    "island",
    "summer",
    "music",
    "travel",
    "quiet",
    "yellow",
    "simple",
    "ancient",
    "narrow",
    "gentle",
    "carries",
    "follows",
    "opens",
    "repairs",
    "remembers",
    "the",
    "of",
    "and",
    "near",
    "under",
];

/// A page whose real paragraphs are told apart from its noise.
#[derive(Clone)]
pub struct InventedPage {
    number: u64,
    paragraphs: Vec<String>,
    /// Noise, and behind which paragraph it stands.
    noise: Vec<(usize, Source)>,
}

impl InventedPage {
    pub fn new(number: u64, noise: &[Source]) -> InventedPage {
        let mut chance = Chance::new(number).stream("page");
        let sentence = |chance: &mut Chance| {
            let words: Vec<&str> = (0..8 + chance.below(30)).map(|_| *chance.pick(&WORDS).unwrap()).collect();
            words.join(" ")
        };
        let paragraphs: Vec<String> = (0..4 + chance.below(10)).map(|_| sentence(&mut chance)).collect();
        let count = paragraphs.len() as u64;
        let noise = noise.iter().map(|source| (chance.below(count) as usize, *source)).collect();
        InventedPage { number, paragraphs, noise }
    }

    pub fn html(&self, visit: u64, edited: Option<usize>) -> String {
        let chance = Chance::new(self.number).numbered(visit);
        let mut html = String::from(
            "<!doctype html><html><head><title>The village press</title></head><body><nav><a href=/a>Home</a> <a \
             href=/b>News</a></nav><main><h1>A page of the press</h1>",
        );
        for (place, paragraph) in self.paragraphs.iter().enumerate() {
            html += &format!("<p>{paragraph}</p>");
            for (index, (_, source)) in self.noise.iter().enumerate().filter(|(_, (behind, _))| *behind == place) {
                let mut chance = chance.numbered(index as u64);
                let edit = (edited == Some(index)).then(|| source.edited(visit, &mut chance.clone())).flatten();
                html += &edit.unwrap_or_else(|| source.html(visit, &mut chance));
            }
        }
        html += &format!(
            "</main><footer>{}<p>All rights reserved by the press</p></footer></body></html>",
            Source::Copyright.html(visit, &mut chance.stream("footer"))
        );
        html
    }

    /// An edit of the real text beside the noise.
    fn edit(&mut self, chance: &mut Chance) {
        let place = chance.below(self.paragraphs.len() as u64) as usize;
        match chance.below(4) {
            0 => self.paragraphs[place].push_str(" and was closed for good"),
            1 => self.paragraphs[place] = self.paragraphs[place].replacen(' ', " never ", 1),
            2 => drop(self.paragraphs.remove(place)),
            _ => self.paragraphs[place] = format!("{}</p><p>A correction: the fee was doubled", self.paragraphs[place]),
        }
        // A removed paragraph takes no noise along.
        let last = self.paragraphs.len() - 1;
        self.noise.iter_mut().for_each(|(behind, _)| *behind = (*behind).min(last));
    }
}

#[derive(Default, Debug)]
struct Figures {
    quiet: u32,
    quiet_of: u32,
    found: u32,
    found_of: u32,
}

impl Figures {
    fn told(&self, what: &str) -> (f64, f64) {
        let (quiet, found) =
            (f64::from(self.quiet) / f64::from(self.quiet_of), f64::from(self.found) / f64::from(self.found_of));
        println!(
            "{what}: silent {} of {} ({:.2} %), edits found {} of {} ({:.2} %)",
            self.quiet,
            self.quiet_of,
            quiet * 100.0,
            self.found,
            self.found_of,
            found * 100.0
        );
        (quiet, found)
    }
}

/// Three visits with the looks that they ask for, then noise alone, then a real edit beside it or inside it. `second_look`: the page
/// is the first of its template, which gets a look in any case.
fn watch(number: u64, sources: &[Source], second_look: bool, figures: &mut Figures) {
    let mut chance = Chance::new(number).stream("watch");
    let mut page = InventedPage::new(number, sources);
    let (mut watcher, mut book) = (Watcher::new(1), NoiseBook::default());
    let mut answers = 1..;
    let mut answer = |page: &InventedPage| page.html(answers.next().unwrap_or_default(), None);
    watcher.visit(&mut book, &answer(&page));
    watcher.wants_look = second_look;
    watcher.looks(&mut book, || answer(&page));
    for _ in 0..2 {
        watcher.visit_and_looks(&mut book, || answer(&page));
    }
    for visit in 0..1 + chance.below(5) {
        let change = watcher.visit_and_looks(&mut book, || answer(&page));
        figures.quiet_of += 1;
        figures.quiet += u32::from(!has_content(&change));
        if has_content(&change) {
            println!("case {number} visit {visit}: {}", left(&change));
        }
    }
    let inside = chance.below(sources.len() as u64) as usize;
    let can = sources[inside].edited(0, &mut chance.clone()).is_some();
    let edited = (chance.happens(0.5) && can).then_some(inside);
    if edited.is_none() {
        page.edit(&mut chance);
    }
    let change = watcher.visit(&mut book, &page.html(answers.next().unwrap_or_default(), edited));
    figures.found_of += 1;
    figures.found += u32::from(has_content(&change));
    if !has_content(&change) {
        println!("case {number} lost {:?}: {:?}", edited.map(|at| sources[at]), change.noise);
    }
}

fn left(change: &Change) -> String {
    let told = |one: &ParagraphChange| format!("{:?} {:?} -> {:?}", one.operation, one.before, one.after);
    change.paragraphs.iter().map(told).collect::<Vec<_>>().join("; ")
}

fn drawn(chance: &mut Chance, from: &[Source]) -> Vec<Source> {
    let mut sources: Vec<Source> = from.to_vec();
    chance.shuffle(&mut sources);
    sources.truncate(1 + chance.below(3) as usize);
    sources
}

#[test]
fn after_three_visits_varying_words_are_silent_and_edits_are_found() {
    let mut figures = Figures::default();
    for number in 0..500 {
        let sources = drawn(&mut Chance::new(number), &WORDED);
        watch(number, &sources, number % 2 == 0, &mut figures);
    }
    let (quiet, found) = figures.told("words that vary");
    assert!(quiet >= 0.99 && found >= 0.98);
}

#[test]
fn after_three_visits_and_a_second_look_rotating_paragraphs_are_silent_and_edits_are_found() {
    let mut figures = Figures::default();
    for number in 1_000..1_500 {
        let mut chance = Chance::new(number);
        let mut sources = drawn(&mut chance, &REPLACED);
        sources.extend(drawn(&mut chance, &WORDED));
        watch(number, &sources, true, &mut figures);
    }
    let (quiet, found) = figures.told("paragraphs that rotate");
    assert!(quiet >= 0.99 && found >= 0.98);
}
