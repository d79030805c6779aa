//! Second looks: a page is visited once more some minutes after a visit, because what differs then is noise.
//!
//! The first page of each template of a site gets one after its first visit. After that a page gets one when something on it
//! differed that may be noise or content, and only a look can tell (`wants_look` of a lesson). Second looks are a small share of
//! the requests, and the policy does not learn change rates from them.

use std::collections::{BTreeMap, BTreeSet};

use vernal_document::noise::template_key;
use vernal_model::{Media, Moment, Page, PageKey, Report, Span};

use crate::core::Core;

/// The wait from the first visit to the second look: long enough for a clock or a counter to move, too short for news.
const LOOK_AFTER: Span = Span::from_secs(300);
/// A look that could not be made within so much time is given up: it would no longer be one.
const LOOK_WITHIN: Span = Span::from_secs(600);
/// At most one of so many requests is a second look,
const LOOK_EVERY: u64 = 50;
/// but for so many that a process may make at once: a crawl of few pages would otherwise wait for days.
const LOOKS_AT_ONCE: u64 = 8;
/// So many pages of a template are examined at a time, which is how many it takes for a rule of the template. What they teach holds
/// for the others, so that these need no looks of their own.
const EXAMINED_OF_TEMPLATE: usize = 3;
/// A page whose looks are not made makes room for another one after this time.
const EXAMINED_FOR: Span = Span::from_days(1);
/// Second looks that may wait; further ones are not noted.
const WAITING_MAX: usize = 1_000;
/// Templates of one site that get a second look.
const TEMPLATES_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct SecondLooks {
    waiting: BTreeSet<(Moment, PageKey)>,
    sent: u64,
    /// Second looks under way, and when each was due.
    out: BTreeMap<PageKey, Moment>,
    /// Those that were put back: their robots.txt may have been asked for, so they are made however late.
    begun: BTreeSet<PageKey>,
    /// Pages whose noise is being told from their content.
    examined: BTreeMap<PageKey, Examined>,
}

struct Examined {
    template: u32,
    last: Moment,
}

impl SecondLooks {
    /// Ends the second look at this page; returns whether there was one.
    pub fn ended(&mut self, page: PageKey) -> bool {
        self.begun.remove(&page);
        self.out.remove(&page).is_some()
    }

    /// Puts back a second look that could not be sent. It stays first: its robots.txt may have been asked for, and if
    /// others went before it, theirs would be asked for as well.
    pub fn put_back(&mut self, page: PageKey) {
        if let Some(due) = self.out.remove(&page) {
            self.sent -= 1;
            self.waiting.insert((due, page));
            self.begun.insert(page);
        }
    }

    /// A record does not say whether its visit was a second look. The first visit after a second look was due is taken
    /// for it.
    pub fn suppose(&mut self, page: PageKey, started: Moment) {
        let mut due = self.waiting.iter().take_while(|&&(at, _)| at <= started);
        if let Some(&found) = due.find(|&&(_, waiting)| waiting == page) {
            self.waiting.remove(&found);
            self.out.insert(page, found.0);
        }
    }

    /// Whether a second look at this page waits or is under way.
    pub fn concern(&self, page: PageKey) -> bool {
        self.out.contains_key(&page) || self.waiting.iter().any(|&(_, waiting)| waiting == page)
    }

    pub fn next(&self) -> Option<Moment> {
        self.waiting.first().map(|&(at, _)| at)
    }

    /// Notes a second look at a page that was read for the first time, if its template had none yet.
    pub fn note(&mut self, core: &mut Core, page: &Page, report: &Report) {
        let is_markup = report.document.as_ref().is_some_and(|document| document.media == Media::Html);
        let Some(signature) = report.signature.as_ref().filter(|_| is_markup && !core.settings.once) else { return };
        let template = template_key(&signature.paragraphs);
        if template == 0 || self.waiting.len() >= WAITING_MAX {
            return;
        }
        let (site, id) = (page.url.site(), page.key.partition);
        let looked_at = &mut core.partitions.of_mut(id).sites.site_mut(&site).profile.looked_at;
        if looked_at.len() >= TEMPLATES_MAX || looked_at.contains(&template) {
            return;
        }
        looked_at.push(template);
        core.note_site(&site, id);
        self.waiting.insert((report.started + LOOK_AFTER, page.key));
    }

    /// Hears whether a second look could tell the noise of a page from its content, and notes one.
    pub fn hear(&mut self, core: &Core, page: PageKey, report: &Report, wants_look: bool) {
        if !wants_look {
            self.examined.remove(&page);
            return;
        }
        let (seen, marks) = (report.started, report.signature.as_ref().map_or(&[][..], |one| &one.paragraphs));
        let template = template_key(marks);
        if core.settings.once || self.waiting.len() >= WAITING_MAX || !self.may_examine(page, template, seen) {
            return;
        }
        self.examined.insert(page, Examined { template, last: seen });
        if !self.concern(page) {
            self.waiting.insert((seen + LOOK_AFTER, page));
        }
    }

    /// Whether this page is one of the few of its template, or may become one.
    fn may_examine(&mut self, page: PageKey, template: u32, now: Moment) -> bool {
        self.examined.retain(|_, examined| now.since(examined.last) <= EXAMINED_FOR);
        let is_other = |(key, examined): &(&PageKey, &Examined)| {
            **key != page && key.partition == page.partition && examined.template == template
        };
        self.examined.iter().filter(is_other).count() < EXAMINED_OF_TEMPLATE && self.examined.len() < WAITING_MAX
    }

    /// The page whose second look is due and whose site may be asked, if the number of orders so far allows one.
    pub fn next_look(&mut self, orders: u64, may_ask: impl Fn(PageKey) -> bool, now: Moment) -> Option<PageKey> {
        while let Some(&(due, page)) = self.waiting.first()
            && now.since(due) > LOOK_WITHIN
            && !self.begun.contains(&page)
        {
            self.waiting.remove(&(due, page));
        }
        if self.sent >= LOOKS_AT_ONCE + orders / LOOK_EVERY {
            return None;
        }
        let mut due = self.waiting.iter().copied().take_while(|&(at, _)| at <= now);
        let found = due.find(|&(_, key)| may_ask(key))?;
        self.waiting.remove(&found);
        self.sent += 1;
        self.out.insert(found.1, found.0);
        Some(found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::testing::{Bench, START, after, answered, held, html, order, unhindered};

    /// A visit to a page that says this.
    fn note(bench: &mut Bench, looks: &mut SecondLooks, number: u32, body: &str) {
        let text = format!("http://a.example/{number}");
        let page = held(&text, number);
        let report = answered(order(&text, page.key), START, "text/html", body);
        looks.note(&mut bench.crawler.core, &page, &report);
    }

    #[test]
    fn a_template_of_a_site_is_looked_at_once() {
        let (mut bench, mut looks) = (Bench::new(unhindered()), SecondLooks::default());
        let one = |words: &str| html(words, &["/a", "/b"]);
        note(&mut bench, &mut looks, 1, &one("One page says this."));
        note(&mut bench, &mut looks, 2, &one("One page says this."));
        assert_eq!((looks.waiting.len(), looks.next()), (1, Some(START + LOOK_AFTER)));
        assert!(looks.concern(held("http://a.example/1", 1).key));
        let site = vernal_model::Site::new("a.example");
        let id = held("http://a.example/1", 1).key.partition;
        let looked_at = &bench.crawler.core.partitions.of(id).sites.site(&site).unwrap().profile.looked_at;
        assert_eq!(looked_at.len(), 1, "the site remembers it");
    }

    #[test]
    fn text_and_crawls_that_end_have_no_second_looks() {
        let mut looks = SecondLooks::default();
        let mut bench = Bench::new(Settings { once: true, ..unhindered() });
        note(&mut bench, &mut looks, 1, &html("Words.", &[]));
        assert_eq!(looks.next(), None);
        let mut bench = Bench::new(unhindered());
        let page = held("http://a.example/1", 1);
        let report = answered(order("http://a.example/1", page.key), START, "text/plain", "Words.");
        looks.note(&mut bench.crawler.core, &page, &report);
        assert_eq!(looks.next(), None);
    }

    #[test]
    fn but_for_the_first_few_second_looks_are_at_most_two_in_a_hundred_orders() {
        let mut looks = SecondLooks::default();
        looks.waiting.extend((0..500).map(|number| (START, held("http://a.example/", number).key)));
        let mut sent = 0u64;
        for orders in 0..1_000 {
            if let Some(page) = looks.next_look(orders, |_| true, after(1)) {
                sent += 1;
                assert!(looks.ended(page) && !looks.ended(page), "a look is over with its visit");
            }
            assert!(sent <= orders / LOOK_EVERY + LOOKS_AT_ONCE, "{sent} of {orders}");
        }
        assert_eq!(sent, 999 / LOOK_EVERY + LOOKS_AT_ONCE);
    }

    #[test]
    fn a_look_that_could_not_be_sent_keeps_its_turn() {
        let (mut looks, first, second) =
            (SecondLooks::default(), held("http://a.example/", 1).key, held("http://a.example/", 2).key);
        looks.sent = LOOKS_AT_ONCE - 1;
        looks.waiting.extend([(after(1), first), (after(2), second)]);
        assert_eq!(looks.next_look(0, |_| true, START), None, "its time has not come");
        assert_eq!(looks.next_look(0, |page| page == second, after(9)), Some(second), "the site of the other is busy");
        looks.put_back(second);
        assert_eq!(looks.next_look(0, |_| true, after(9)), Some(first));
        assert_eq!(looks.next_look(0, |_| true, after(9)), None, "one was sent");
        looks.put_back(first);
        looks.put_back(first);
        assert_eq!((looks.sent, looks.waiting.len()), (LOOKS_AT_ONCE - 1, 2));
    }

    fn differs(core: &Core, looks: &mut SecondLooks, number: u32, at: Moment, wants_look: bool) -> PageKey {
        let (text, page) = (format!("http://a.example/{number}"), held("http://a.example/", number).key);
        let report = answered(order(&text, page), at, "text/html", &html("One page says this.", &["/a", "/b"]));
        looks.hear(core, page, &report, wants_look);
        page
    }

    #[test]
    fn a_page_that_differs_is_looked_at_once_and_not_when_it_is_too_late() {
        let (bench, mut looks) = (Bench::new(unhindered()), SecondLooks::default());
        differs(&bench.crawler.core, &mut looks, 1, START, true);
        differs(&bench.crawler.core, &mut looks, 1, after(60), true);
        assert_eq!((looks.waiting.len(), looks.next()), (1, Some(START + LOOK_AFTER)));
        let too_late = START + LOOK_AFTER + LOOK_WITHIN + Span::from_secs(1);
        assert_eq!(looks.next_look(0, |_| true, too_late), None);
        assert_eq!(looks.next(), None, "it is given up");
        let bench = Bench::new(Settings { once: true, ..unhindered() });
        differs(&bench.crawler.core, &mut looks, 1, too_late, true);
        assert_eq!(looks.next(), None, "a crawl that ends visits no page twice");
    }

    #[test]
    fn three_pages_of_a_template_are_examined_before_the_others() {
        let (bench, mut looks) = (Bench::new(unhindered()), SecondLooks::default());
        let core = &bench.crawler.core;
        let pages: Vec<PageKey> = (1..=5).map(|number| differs(core, &mut looks, number, START, true)).collect();
        assert_eq!(looks.waiting.iter().map(|&(_, page)| page).collect::<Vec<_>>(), pages[..3]);
        differs(core, &mut looks, 2, after(10), false);
        differs(core, &mut looks, 5, after(20), true);
        assert!(looks.concern(pages[4]) && !looks.concern(pages[3]), "the second one is done");
        differs(core, &mut looks, 4, START + EXAMINED_FOR + Span::from_secs(9), true);
        assert!(looks.concern(pages[3]), "nobody came back to the first one");
    }

    #[test]
    fn the_first_record_behind_the_time_of_a_look_was_that_look() {
        let (mut looks, page) = (SecondLooks::default(), held("http://a.example/", 1).key);
        looks.waiting.insert((after(300), page));
        looks.suppose(page, after(10));
        assert!(!looks.ended(page), "it came too soon");
        looks.suppose(page, after(400));
        assert!(looks.ended(page));
        looks.suppose(page, after(500));
        assert!(!looks.ended(page), "there was one look");
    }
}
