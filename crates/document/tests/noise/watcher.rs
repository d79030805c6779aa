//! A page that is visited again and again, as the crawler does it.

use vernal_document::diff::explain;
use vernal_document::noise::{NoiseInput, judge, template_key};
use vernal_document::{Input, Parsed, compare, read};
use vernal_model::{Change, Digest, Kind, Moment, NoiseBook, PageKey, PageNoise, Partition, Site, Span, Url};
use xxhash_rust::xxh3::xxh3_64;

pub struct Watcher {
    pub page: PageKey,
    pub noise: PageNoise,
    pub moment: Moment,
    pub strict: bool,
    /// The last judgement asks for a look.
    pub wants_look: bool,
    old: Option<Parsed>,
}

impl Watcher {
    pub fn new(number: u32) -> Watcher {
        Watcher {
            page: PageKey::new(Partition(0), number),
            noise: PageNoise::default(),
            moment: Moment::from_secs(1_700_000_000),
            strict: false,
            wants_look: false,
            old: None,
        }
    }

    /// A visit a day after the last one.
    pub fn visit(&mut self, book: &mut NoiseBook, html: &str) -> Change {
        self.moment += Span::from_days(1);
        self.look(book, html, false)
    }

    /// A visit minutes after the last one.
    pub fn second_look(&mut self, book: &mut NoiseBook, html: &str) -> Change {
        self.moment += Span::from_secs(300);
        self.look(book, html, true)
    }

    /// A visit so long after the last one. It is a look if one was asked for and this is a matter of minutes, as in the crawler.
    pub fn visit_after(&mut self, book: &mut NoiseBook, span: Span, html: &str) -> Change {
        self.moment += span;
        self.look(book, html, self.wants_look && span <= Span::from_secs(15 * 60))
    }

    /// A visit a day after the last one, and the looks that follow. `html` is asked for the page as it is at each of them.
    pub fn visit_and_looks(&mut self, book: &mut NoiseBook, mut html: impl FnMut() -> String) -> Change {
        let change = self.visit(book, &html());
        self.looks(book, html);
        change
    }

    /// The looks that are asked for now.
    pub fn looks(&mut self, book: &mut NoiseBook, mut html: impl FnMut() -> String) {
        while self.wants_look {
            self.second_look(book, &html());
        }
    }

    fn look(&mut self, book: &mut NoiseBook, html: &str, second_look: bool) -> Change {
        let new = parsed(html);
        let Some(old) = self.old.take() else {
            self.old = Some(new);
            return Change::default();
        };
        let site = Site::new("example.org");
        let mut change = compare(&old.signature, &new.signature);
        let judged = |change: &Change, with_old: bool| {
            judge(&NoiseInput {
                site: &site,
                page: self.page,
                template: template_key(&new.signature.paragraphs),
                moment: self.moment,
                second_look,
                strict: self.strict,
                old_marks: &old.signature.paragraphs,
                new_marks: &new.signature.paragraphs,
                old: with_old.then_some(&old.document),
                new: &new.document,
                change,
                book,
                noise: &self.noise,
            })
        };
        let mut judgement = judged(&change, false);
        if judgement.change.is_change() {
            explain(&old.document, &new.document, &mut change);
            judgement = judged(&change, true);
        }
        self.wants_look = judgement.lesson.wants_look;
        book.take(&judgement.lesson.rows);
        if let Some((page, noise)) = judgement.lesson.rows.page {
            assert_eq!(page, self.page);
            self.noise = noise;
        }
        assert!(book.rules.len() <= NoiseBook::RULES_MAX);
        assert!(self.noise.suspects.len() <= PageNoise::SUSPECTS_MAX);
        assert!(self.noise.known.len() <= PageNoise::KNOWN_MAX);
        self.old = Some(new);
        judgement.change
    }
}

pub fn has_content(change: &Change) -> bool {
    change.left.contains(Kind::Content)
}

pub fn parsed(html: &str) -> Parsed {
    let url = Url::parse("https://example.org/shop/offers.html").unwrap();
    let mut payload = [0u8; 20];
    payload[..8].copy_from_slice(&xxh3_64(html.as_bytes()).to_le_bytes());
    let mut parsed = read(&Input {
        url: &url,
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        content_language: None,
        robots_tags: &[],
        payload: Digest(payload),
    });
    // A stand-in where the marks say nothing of places: the role.
    let marks = parsed.signature.paragraphs.iter_mut().zip(&mut parsed.document.paragraphs);
    for (mark, paragraph) in marks.filter(|(mark, _)| mark.place == 0) {
        let place = xxh3_64(&[paragraph.role as u8]) as u16 | 1;
        (mark.place, paragraph.place) = (place, place);
    }
    parsed
}
