//! The HTML of a page at one version: boilerplate around prose, of which each change edits some paragraphs.

use std::fmt::Write;

use vernal_model::{Chance, Moment};

use super::articles::{self, Theme};
use super::charset::Declared;
use super::class::Class;
use super::plan::{PageNumber, PagePlan, Web};
use super::settings::Writing;
use super::words::{self, Language};

/// A change edits at most so many paragraphs.
const PARAGRAPHS_PER_CHANGE_MAX: u64 = 3;

/// A change of structure stays visible for so many changes.
const STRUCTURE_LASTS_CHANGES: u32 = 12;

/// Links of the navigation bar beside the one to `/`.
const NAVIGATION_LINKS: usize = 5;

impl Web {
    /// The pages that a page links to, each once: navigation, the page above, its own children, and links across.
    pub fn links(&self, number: PageNumber) -> Vec<PageNumber> {
        let plan = &self.plan;
        let page = &plan.pages[number.index()];
        let site = &plan.sites[page.site as usize];
        let mut chance = page.chance.stream("links");
        let (links_min, links_max) = plan.settings.links;
        let wanted = links_min + chance.below((links_max - links_min) as u64 + 1) as usize;
        let home = PageNumber(site.first);
        let mut links = vec![home];
        let top = plan.pages[home.index()].children.iter().map(|&child| PageNumber(child));
        links.extend(
            top.filter(|&child| self.class(child) == Class::Article && self.is_open(child)).take(NAVIGATION_LINKS),
        );
        let mut add = |link: PageNumber| {
            if !links.contains(&link) {
                links.push(link);
            }
            links.len()
        };
        add(PageNumber(page.parent));
        let mut count = links_len(page.children.iter().map(|&child| add(PageNumber(child))), 0);
        // A small site runs out of targets, so the tries are limited.
        for _ in 0..wanted * 4 {
            if count >= wanted {
                break;
            }
            let target = if plan.sites.len() > 1 && chance.happens(plan.settings.share.links_away) {
                PageNumber(plan.sites[chance.below(plan.sites.len() as u64) as usize].first)
            } else {
                PageNumber(site.first + chance.below(u64::from(site.count)) as u32)
            };
            if self.is_open(target) {
                count = add(target);
            }
        }
        links
    }

    /// Whether links across may lead there: hidden pages would be given away, and traps have one entrance each.
    fn is_open(&self, page: PageNumber) -> bool {
        let page = &self.plan.pages[page.index()];
        !page.hidden && !page.forbidden && !matches!(page.class, Class::Trap(_))
    }

    pub(super) fn html(&self, number: PageNumber, version: u32, now: Moment, mirrors: u16) -> String {
        let writer = Writer { web: self, number, page: &self.plan.pages[number.index()], version, now, mirrors };
        writer.html()
    }

    pub(super) fn title(&self, number: PageNumber) -> String {
        let page = &self.plan.pages[number.index()];
        let mut chance = page.chance.stream("title");
        match self.plan.settings.writing {
            Writing::Words => words::title(self.plan.sites[page.site as usize].language, &mut chance),
            Writing::Sentences => articles::title(Theme::of_site(page.site as usize), &mut chance),
        }
    }
}

fn links_len(lengths: impl Iterator<Item = usize>, start: usize) -> usize {
    lengths.fold(start, |_, length| length)
}

struct Writer<'a> {
    web: &'a Web,
    number: PageNumber,
    page: &'a PagePlan,
    version: u32,
    now: Moment,
    mirrors: u16,
}

impl Writer<'_> {
    fn language(&self) -> Language {
        self.web.plan.sites[self.page.site as usize].language
    }

    /// What the site calls itself.
    fn masthead(&self) -> &str {
        match self.web.plan.settings.writing {
            Writing::Words => &self.web.plan.sites[self.page.site as usize].name,
            Writing::Sentences => Theme::of_site(self.page.site as usize).masthead,
        }
    }

    /// A sentence that belongs to no article.
    fn push_aside(&self, out: &mut String, chance: &mut Chance) {
        match self.web.plan.settings.writing {
            Writing::Words => words::push_sentence(out, self.language(), chance),
            Writing::Sentences => out.push_str(&articles::advertisement(chance)),
        }
    }

    fn noise(&self) -> bool {
        self.web.plan.settings.noise
    }

    fn html(&self) -> String {
        let mut out = String::with_capacity(24_000);
        let links = self.web.links(self.number);
        self.push_head(&mut out);
        let navigation = links.len().min(NAVIGATION_LINKS + 1);
        self.push_header(&mut out, &links[..navigation]);
        match self.web.plan.settings.writing {
            Writing::Words => self.push_main(&mut out, &links[navigation..]),
            Writing::Sentences => self.push_article(&mut out, &links[navigation..]),
        }
        self.push_footer(&mut out);
        out
    }

    fn push_head(&self, out: &mut String) {
        let site = &self.web.plan.sites[self.page.site as usize];
        let title = self.web.title(self.number);
        let _ = write!(out, "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n", site.language.tag());
        if self.page.declared(site.charset) == Declared::InMeta {
            let _ = writeln!(out, "<meta charset=\"{}\">", site.charset.name());
        }
        let _ = writeln!(out, "<title>{title} | {}</title>", self.masthead());
        let _ = writeln!(out, "<meta name=\"description\" content=\"{title}\">");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        let directive = match self.page.class {
            Class::NoIndex => "noindex",
            Class::NoFollow => "nofollow",
            Class::NoArchive => "noarchive",
            _ => "",
        };
        if !directive.is_empty() {
            let _ = writeln!(out, "<meta name=\"robots\" content=\"{directive}\">");
        }
        if self.page.chance.stream("canonical").happens(0.3) && self.mirrors == 0 {
            let _ = writeln!(out, "<link rel=\"canonical\" href=\"{}\">", self.web.url(self.number));
        }
        out.push_str("<link rel=\"stylesheet\" href=\"/style.css\">\n<script src=\"/app.js\" defer></script>\n");
        out.push_str("<style>\nbody { font-family: serif; margin: 0 auto; max-width: 70em }\n.more > a { color: #036 }\n</style>\n");
        if self.noise() {
            let _ = writeln!(out, "<meta name=\"csrf-token\" content=\"{:016x}\">", self.blur("token").bits());
        }
        out.push_str("</head>\n<body>\n");
    }

    fn push_header(&self, out: &mut String, navigation: &[PageNumber]) {
        let _ = write!(out, "<header><div class=\"logo\">{}</div>\n<nav><ul>\n", self.masthead());
        for (index, &link) in navigation.iter().enumerate() {
            let _ = writeln!(out, "<li><a href=\"{}\">{}</a></li>", self.href(link, index), self.web.title(link));
        }
        out.push_str(
            "</ul></nav>\n<form action=\"/lookup\" method=\"get\" role=\"search\"><input name=\"q\" type=\"search\">",
        );
        if self.noise() {
            let _ = write!(out, "<input type=\"hidden\" name=\"nonce\" value=\"{:016x}\">", self.blur("nonce").bits());
        }
        out.push_str("<button>OK</button></form>\n</header>\n");
    }

    fn push_main(&self, out: &mut String, links: &[PageNumber]) {
        let mut manner = self.page.chance.stream("main");
        let _ = write!(out, "<main>\n<article>\n<h1>{}</h1>\n", self.web.title(self.number));
        self.push_ages(out);
        let edits = self.edits();
        let inline = links.len().min(edits.len());
        for (index, &edit) in edits.iter().enumerate() {
            if index > 0 && index % 4 == 0 {
                let heading =
                    words::title(self.language(), &mut self.page.chance.stream("heading").numbered(index as u64));
                let _ = writeln!(out, "<h2 id=\"part-{index}\">{heading}</h2>");
            }
            self.push_paragraph(out, index, edit, links.get(index).copied());
        }
        if manner.happens(0.5) {
            self.push_table(out, &mut self.page.chance.stream("table"));
        }
        self.push_structure(out);
        out.push_str("</article>\n");
        self.push_more(out, &links[inline..], inline);
        out.push_str("</main>\n");
    }

    /// The same in sentences. Its links stand below the article, so that its edits leave them alone.
    fn push_article(&self, out: &mut String, links: &[PageNumber]) {
        let mut below_title = String::new();
        self.push_ages(&mut below_title);
        let (article, _) = articles::article(self.web, self.number, self.version);
        let theme = Theme::of_site(self.page.site as usize);
        article.push_html(out, &self.web.title(self.number), &below_title, theme, self.web.plan.settings.origin);
        if self.noise() {
            // Another one in each answer: what stays for an hour is news, for all that a reader can tell.
            let quote = articles::quote(&mut self.blur("quote"));
            let _ = writeln!(out, "<aside class=\"quote\"><blockquote>{quote}</blockquote></aside>");
        }
        self.push_more(out, links, 0);
        out.push_str("</main>\n");
    }

    /// For each paragraph the last change that edited it, 0 for none. Looking back from the newest change, most
    /// paragraphs are met soon, so this does not cost a step per change.
    fn edits(&self) -> Vec<u32> {
        let (least, most) = self.web.plan.settings.paragraphs;
        let count = least as u64 + self.page.chance.stream("paragraphs").below((most - least) as u64 + 1);
        let mut edits = vec![0; count as usize];
        let mut untouched = edits.len();
        let changes = self.page.chance.stream("changes");
        for change in (1..=self.version).rev() {
            let mut chance = changes.numbered(u64::from(change));
            for _ in 0..1 + chance.below(PARAGRAPHS_PER_CHANGE_MAX) {
                let edit = &mut edits[chance.below(count) as usize];
                if *edit == 0 {
                    *edit = change;
                    untouched -= 1;
                }
            }
            if untouched == 0 {
                break;
            }
        }
        edits
    }

    fn push_paragraph(&self, out: &mut String, index: usize, edit: u32, link: Option<PageNumber>) {
        let mut chance = self.page.chance.stream("prose").numbered(index as u64).numbered(u64::from(edit));
        out.push_str("<p>");
        words::push_paragraph(out, self.language(), &mut chance);
        if let Some(link) = link {
            self.push_anchor(out, link, index);
            out.push(' ');
            words::push_sentence(out, self.language(), &mut chance);
        }
        out.push_str("</p>\n");
    }

    fn push_table(&self, out: &mut String, chance: &mut Chance) {
        out.push_str("<table>\n<thead><tr><th>#</th><th>A</th><th>B</th></tr></thead>\n<tbody>\n");
        for row in 1..=3 + chance.below(6) {
            let name = words::title(self.language(), chance);
            let (many, few) = (chance.below(100_000), chance.below(1_000));
            let _ = writeln!(out, "<tr><td>{row}</td><td>{name}</td><td>{many}.{few:03}</td></tr>");
        }
        out.push_str("</tbody>\n</table>\n");
    }

    /// Some changes add a part of their own, which stays for the next few changes.
    fn push_structure(&self, out: &mut String) {
        let oldest = self.version.saturating_sub(STRUCTURE_LASTS_CHANGES) + 1;
        let structures = self.page.chance.stream("structures");
        for change in (oldest..=self.version).rev() {
            let mut chance = structures.numbered(u64::from(change));
            if !chance.happens(0.15) {
                continue;
            }
            match chance.below(3) {
                0 => self.push_table(out, &mut chance),
                1 => {
                    out.push_str("<ul class=\"points\">\n");
                    for _ in 0..2 + chance.below(4) {
                        let _ = writeln!(out, "<li>{}</li>", words::title(self.language(), &mut chance));
                    }
                    out.push_str("</ul>\n");
                }
                _ => {
                    out.push_str("<aside><h3>+</h3><blockquote>");
                    words::push_sentence(out, self.language(), &mut chance);
                    out.push_str("</blockquote></aside>\n");
                }
            }
            return;
        }
    }

    fn push_more(&self, out: &mut String, links: &[PageNumber], from: usize) {
        if links.is_empty() {
            return;
        }
        out.push_str("<section class=\"more\"><ul>\n");
        for (index, &link) in links.iter().enumerate() {
            out.push_str("<li>");
            self.push_anchor(out, link, from + index);
            out.push_str("</li>\n");
        }
        out.push_str("</ul></section>\n");
    }

    fn push_anchor(&self, out: &mut String, link: PageNumber, index: usize) {
        let (href, title) = (self.href(link, index), self.web.title(link));
        let _ = match self.web.class(link) {
            Class::Image => {
                write!(out, "<a href=\"{href}\"><img src=\"{href}\" alt=\"{title}\" width=\"8\" height=\"8\"></a>")
            }
            _ => write!(out, "<a href=\"{href}\">{title}</a>"),
        };
    }

    /// A link as this page writes it: absolute to other sites, else from the root, and now and then in another way.
    fn href(&self, link: PageNumber, index: usize) -> String {
        let target = &self.web.plan.pages[link.index()];
        if target.site != self.page.site {
            return self.web.url(link);
        }
        let mut path = "/mirror".repeat(usize::from(self.mirrors));
        path.push_str(&target.path);
        let mut chance = self.page.chance.stream("href").numbered(index as u64);
        if chance.happens(self.web.plan.settings.share.tracking_links) {
            let mark = if path.contains('?') { "&amp;" } else { "?" };
            let _ = write!(path, "{mark}utm_source=page&amp;utm_medium=link{index}");
        }
        match chance.below(16) {
            0 if self.mirrors == 0 => format!("{}{path}", self.web.root(target.site as usize)),
            1 => format!("{path}#part-4"),
            _ => path,
        }
    }

    fn push_footer(&self, out: &mut String) {
        let site = &self.web.plan.sites[self.page.site as usize];
        out.push_str("<footer>\n");
        if self.noise() {
            self.push_advertisement(out);
        }
        out.push_str("<p class=\"legal\">");
        match self.web.plan.settings.writing {
            Writing::Words => words::push_sentence(out, site.language, &mut site.chance.stream("legal")),
            Writing::Sentences => out.push_str("All words on these pages were invented by a computer."),
        }
        let _ = write!(out, "</p>\n<p>&copy; 2026 {}</p>\n</footer>\n", site.name);
        let _ = writeln!(out, "<script>\nwindow.page = {{ id: {}, site: \"{}\" }};", self.number.0, site.name);
        if self.noise() {
            let _ = writeln!(out, "window.request = \"{:032x}\";", u128::from(self.blur("request").bits()) << 7);
        }
        out.push_str("</script>\n</body>\n</html>\n");
    }

    /// "3 minutes ago" and a counter, on the pages that have them.
    fn push_ages(&self, out: &mut String) {
        if !self.noise() || self.page.chance.stream("ages").happens(0.5) {
            return;
        }
        let minutes = self.now.secs().div_euclid(60).rem_euclid(59) + 1;
        let _ = writeln!(out, "<p class=\"age\">{minutes} minutes ago</p>");
        let seen = self.now.since(self.web.plan.settings.origin).micros() / 7_000_000;
        let _ = writeln!(out, "<span class=\"views\">{seen} views</span> <time>{}</time>", self.now.rfc3339());
    }

    fn push_advertisement(&self, out: &mut String) {
        out.push_str("<div class=\"ad\">");
        self.push_aside(out, &mut self.blur("advertisement").numbered(0));
        out.push_str("</div>\n");
    }

    /// Chance that is new at each request.
    fn blur(&self, name: &str) -> Chance {
        self.page.chance.stream(name).numbered(self.now.micros() as u64)
    }
}
