//! What topics cost: `bench-topics [PAGES] [TOLERANCE]`. A pass over an invented web that lies on no disk: 500 sites, 800
//! subjects that reach over them, sixty thousand words by Zipf's law, 25 links a page. Each page is written as HTML, parsed,
//! and its words are found; then the pass of the crawler itself. Writing is timed apart. IncrementalReader it, what it costs to keep
//! reputations up when one page changes. Prints one JSON object; times are the processor's, not the wall's.

use std::cell::{Cell, RefCell};
use std::error::Error;

use rustix::time::{ClockId, clock_gettime};
use vernal_crawler::topics::{HeldPage, Pass, Source, TopicBook, Turn};
use vernal_document::terms::page_terms;
use vernal_document::{Input, read};
use vernal_model::{
    AnchorTerms, Chance, Deed, Digest, Fingerprint, Moment, PageKey, PageTerms, Partition, TopicOf, Url,
};
use vernal_policy::topic::{Reckoning, Reputations, TopicTerms};

const PAGES: usize = 100_000;
const SITES: usize = 500;
const SUBJECTS: u64 = 800;
const WORDS: u64 = 60_000;
const WORDS_OF_A_SUBJECT: u64 = 60;
const WORDS_OF_A_PAGE: usize = 320;
const LINKS: usize = 25;
const PER_PARTITION: usize = 1 << 20;
/// Pages whose reputations are kept up, and changes that are timed.
const KEPT_UP: usize = 5_000;
const CHANGES: usize = 500;
/// Words, and links, that differ where a page changes a little.
const FEW: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let pages = arguments.next().map_or(Ok(PAGES), |text| text.parse())?;
    let tolerance = arguments.next().map_or(Ok(Reckoning::default().tolerance), |text| text.parse())?;
    let reckoning = Reckoning { tolerance, ..Reckoning::default() };
    let web = InventedWeb::new(pages)?;
    let (parsing, finding) = one_page(&web);
    let before = resident_mb("VmRSS");
    let mut book = TopicBook::default();
    let (first, stages) = pass(&web, &mut book, reckoning)?;
    let writing = web.writing.replace(0.0);
    let peak = resident_mb("VmHWM");
    let (second, _) = pass(&web, &mut book, reckoning)?;
    let [anew, little] = kept_up(&web, reckoning);
    let mark = book.mark();
    let rows = web.rows.borrow().iter().map(|row| row.len()).sum::<usize>() / pages;
    println!(
        "{{\"pages\":{pages},\"tolerance\":{tolerance},\"topics\":{},\"pages_with_topics\":{},\"first_pass_cpu_s\":{:.1},\
         \"of_which_writing_pages_s\":{writing:.1},\"next_pass_cpu_s\":{second:.1},\"stages_s\":{stages:?},\
         \"parse_us\":{parsing:.0},\"find_words_us\":{finding:.1},\"bytes_of_words_a_page\":{rows},\"before_mb\":{:.0},\"peak_mb\":{peak:.0},\
         \"kept_up_pages\":{},\"kept_up_peak_mb\":{:.0},\"rewritten_ms\":{:.3},\"rewritten_worst_ms\":{:.3},\"rewritten_links_walked\":{:.0},\
         \"small_change_ms\":{:.3},\"small_change_worst_ms\":{:.3}}}",
        mark.topics,
        mark.pages,
        first,
        before,
        KEPT_UP.min(pages),
        resident_mb("VmHWM"),
        anew.mean,
        anew.worst,
        anew.steps,
        little.mean,
        little.worst,
    );
    Ok(())
}

/// Microseconds to parse a page, and to find its words in the document.
fn one_page(web: &InventedWeb) -> (f64, f64) {
    let pages = web.pages.min(2_000);
    let (mut parsing, mut finding) = (0.0, 0.0);
    for page in 0..pages {
        let html = web.html(page);
        let begun = cpu_seconds();
        let document = read(&web.input(page, &html)).document;
        let parsed = cpu_seconds();
        std::hint::black_box(page_terms(&document, web.fingerprints[page], 1));
        finding += cpu_seconds() - parsed;
        parsing += parsed - begun;
    }
    (parsing * 1e6 / pages as f64, finding * 1e6 / pages as f64)
}

/// The stages of a pass, each with its seconds.
type Stages = Vec<(&'static str, f64)>;

/// Runs a pass to its end; the seconds it took, and those of its stages.
fn pass(web: &InventedWeb, book: &mut TopicBook, reckoning: Reckoning) -> Result<(f64, Stages), Box<dyn Error>> {
    let begun = cpu_seconds();
    let mut pass = Pass::new(TopicTerms { reckoning, ..TopicTerms::default() }, book.mark().passes, Moment::EPOCH);
    let mut stages = Stages::new();
    loop {
        let (stage, turn_begun) = (pass.progress().0, cpu_seconds());
        let turn: Turn = pass.turn(web, book, Moment::EPOCH)?;
        for (_, deed) in turn.deeds {
            web.take(deed, book);
        }
        let took = cpu_seconds() - turn_begun;
        match stages.last_mut() {
            Some((last, sum)) if *last == stage => *sum += took,
            _ => {
                // A pass takes its time on a busy machine: whoever waits sees how far it is.
                eprintln!(
                    "{stage}, after {:.1} s of the processor, {:.0} MB",
                    cpu_seconds() - begun,
                    resident_mb("VmHWM")
                );
                stages.push((stage, took));
            }
        }
        if turn.has_ended {
            return Ok((cpu_seconds() - begun, stages));
        }
    }
}

/// Milliseconds to take up one changed page, and the links walked along.
#[derive(Copy, Clone, Default)]
struct Cost {
    mean: f64,
    worst: f64,
    steps: f64,
}

/// What it costs to take up a page that was written anew, all its words and links, and one where a few of them differ;
/// each until nothing is held back that is more than the tolerance.
fn kept_up(web: &InventedWeb, reckoning: Reckoning) -> [Cost; 2] {
    let pages = KEPT_UP.min(web.pages);
    let mut kept = Reputations::new(reckoning);
    // As one page, with the last few words and links of another.
    let set = |kept: &mut Reputations, page: usize, as_page: usize, ends_as: usize| {
        let words = |of: usize| web.drawn(of).into_iter().take(40).map(|word| word as u32).collect::<Vec<u32>>();
        let targets = |of: usize| web.links_of(of).iter().map(|target| (target % pages) as u32).collect::<Vec<u32>>();
        let mixed = |own: Vec<u32>, other: Vec<u32>| {
            let few = own.len() - FEW;
            own[..few].iter().chain(&other[few..]).copied().collect::<Vec<u32>>()
        };
        let (words, targets) = (mixed(words(as_page), words(ends_as)), mixed(targets(as_page), targets(ends_as)));
        let begun = cpu_seconds();
        kept.set(page as u32, &words, &targets, LINKS as u32);
        let steps = kept.relax(usize::MAX).steps;
        ((cpu_seconds() - begun) * 1e3, steps)
    };
    for page in 0..pages {
        set(&mut kept, page, page, page);
    }
    let mut costs = [Cost::default(); 2];
    for change in 0..CHANGES {
        let (page, other) = (change * 31 % pages, pages + change);
        let taken = [set(&mut kept, page, other, other), set(&mut kept, page, other, page)];
        for (cost, (took, steps)) in costs.iter_mut().zip(taken) {
            cost.mean += took / CHANGES as f64;
            cost.worst = cost.worst.max(took);
            cost.steps += steps as f64 / CHANGES as f64;
        }
    }
    costs
}

struct InventedWeb {
    pages: usize,
    urls: Vec<Url>,
    fingerprints: Vec<Fingerprint>,
    /// The words of pages as a table would keep them: packed.
    rows: RefCell<Vec<Box<[u8]>>>,
    topics: RefCell<Vec<Box<[TopicOf]>>>,
    writing: Cell<f64>,
}

impl InventedWeb {
    fn new(pages: usize) -> Result<Self, Box<dyn Error>> {
        let url = |page: usize| Url::parse(&format!("http://site{}.example/page/{page}", page % SITES));
        let urls: Vec<Url> = (0..pages).map(url).collect::<Result<_, _>>()?;
        Ok(InventedWeb {
            pages,
            fingerprints: urls.iter().map(Url::fingerprint).collect(),
            urls,
            rows: RefCell::new(vec![Box::default(); pages]),
            topics: RefCell::new(vec![Box::default(); pages]),
            writing: Cell::new(0.0),
        })
    }

    /// The numbers of the words of a page, in order.
    fn drawn(&self, page: usize) -> Vec<u64> {
        let mut chance = Chance::new(1).numbered(page as u64);
        let subject = chance.below(SUBJECTS);
        let word = |chance: &mut Chance| {
            if chance.happens(0.4) {
                return Chance::new(2).numbered(subject).numbered(chance.below(WORDS_OF_A_SUBJECT)).below(WORDS);
            }
            // By Zipf's law: as many words of each size of frequency.
            ((WORDS as f64).powf(chance.share()) - 1.0) as u64
        };
        (0..WORDS_OF_A_PAGE).map(|_| word(&mut chance)).collect()
    }

    fn links_of(&self, page: usize) -> Vec<usize> {
        let mut chance = Chance::new(3).numbered(page as u64);
        let all = self.pages.max(SITES) as u64;
        let link = |number: usize| match number {
            0..3 => page % SITES,
            3..18 => (page % SITES) + SITES * chance.below(all / SITES as u64) as usize,
            _ => chance.below(all) as usize,
        };
        (0..LINKS).map(link).map(|target| target % self.pages).collect()
    }

    fn html(&self, page: usize) -> String {
        let words = self.drawn(page);
        let mut html = format!("<html lang=xx><title>{} {}</title><body>", name(words[0]), name(words[1]));
        for (number, words) in words.chunks(40).enumerate() {
            html.push_str(if number == 0 { "<h1>" } else { "<p>" });
            for &word in words {
                html.push_str(&name(word));
                html.push(' ');
            }
        }
        for target in self.links_of(page) {
            let word = self.drawn(target)[0];
            html.push_str(&format!("<a href=\"{}\">{}</a> ", self.urls[target], name(word)));
        }
        html
    }

    fn input<'a>(&'a self, page: usize, html: &'a str) -> Input<'a> {
        Input {
            url: &self.urls[page],
            bytes: html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            content_language: None,
            robots_tags: &[],
            payload: Digest::default(),
        }
    }

    fn take(&self, deed: Deed, book: &mut TopicBook) {
        match deed {
            Deed::TermsRead(rows) => {
                for (page, terms) in rows {
                    self.rows.borrow_mut()[number(page)] = packed(&terms);
                }
            }
            Deed::Categorised(rows) => {
                for (page, topics) in rows {
                    self.topics.borrow_mut()[number(page)] = topics.into();
                }
            }
            Deed::TopicsNamed(rows) => book.take(rows),
            Deed::TopicsReckoned(mark) => book.set_mark(mark),
            _ => {}
        }
    }
}

impl Source for InventedWeb {
    fn pages(&self, after: Option<PageKey>, limit: usize) -> vernal_crawler::Result<(Vec<HeldPage>, Option<PageKey>)> {
        let from = after.map_or(0, |page| number(page) + 1);
        let page = |at: usize| HeldPage {
            key: key(at),
            fingerprint: self.fingerprints[at],
            version: 1,
            location: None,
            changes: 1,
            watched_days: 1.0,
        };
        let pages: Vec<HeldPage> = (from..self.pages).take(limit).map(page).collect();
        let last = pages.last().map(|page| page.key);
        Ok((pages, last))
    }

    fn terms(&self, page: PageKey) -> vernal_crawler::Result<Option<PageTerms>> {
        let rows = self.rows.borrow();
        let row = &rows[number(page)];
        Ok((!row.is_empty()).then(|| unpacked(row)))
    }

    fn read(&self, page: &HeldPage) -> vernal_crawler::Result<PageTerms> {
        let (at, begun) = (number(page.key), cpu_seconds());
        let html = self.html(at);
        self.writing.set(self.writing.get() + cpu_seconds() - begun);
        Ok(page_terms(&read(&self.input(at, &html)).document, page.fingerprint, 1))
    }

    fn links(&self, page: PageKey) -> vernal_crawler::Result<Vec<Fingerprint>> {
        let mut targets: Vec<Fingerprint> =
            self.links_of(number(page)).into_iter().map(|target| self.fingerprints[target]).collect();
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    fn is_held(&self, _: PageKey) -> vernal_crawler::Result<bool> {
        Ok(true)
    }

    fn topics_of(&self, page: PageKey) -> vernal_crawler::Result<Vec<TopicOf>> {
        Ok(self.topics.borrow()[number(page)].to_vec())
    }
}

fn key(number: usize) -> PageKey {
    PageKey::new(Partition((number / PER_PARTITION) as u8), (number % PER_PARTITION) as u32)
}

fn number(page: PageKey) -> usize {
    usize::from(page.partition.0) * PER_PARTITION + page.number as usize
}

/// A word for each number, of syllables.
fn name(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pa", "ro", "si", "tu", "va", "wo", "xi", "zu"];
    let mut word = String::from("qu");
    loop {
        word.push_str(SYLLABLES[(number % 16) as usize]);
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}

/// Words by line, then targets and their words.
fn packed(terms: &PageTerms) -> Box<[u8]> {
    let mut text = terms.words.join(" ");
    for anchor in &terms.anchors {
        text.push_str(&format!("\n{:x} {}", anchor.target.0, anchor.words.join(" ")));
    }
    text.into_bytes().into()
}

fn unpacked(row: &[u8]) -> PageTerms {
    let text = String::from_utf8_lossy(row);
    let mut lines = text.lines();
    let words = |line: &str| line.split_ascii_whitespace().map(Box::from).collect::<Vec<Box<str>>>();
    let own = words(lines.next().unwrap_or_default());
    let anchor = |line: &str| {
        let (target, rest) = line.split_once(' ').unwrap_or((line, ""));
        AnchorTerms { target: Fingerprint(u64::from_str_radix(target, 16).unwrap_or(0)), words: words(rest) }
    };
    PageTerms { version: 1, words: own, anchors: lines.map(anchor).collect() }
}

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// A line of the process's own account of its memory, in MB.
fn resident_mb(name: &str) -> f64 {
    let account = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = account.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}
