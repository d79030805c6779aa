//! The pages of a site, dealt and drawn one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use vernal_model::Chance;

use super::{Charset, PagePlan, Plan, SitePlan, ValidatorManner};
use crate::web::articles::{self, Theme};
use crate::web::class::{Class, Trap};
use crate::web::robots::{FORBIDDEN, OPEN, RobotsManner};
use crate::web::settings::{Shares, Writing};
use crate::web::words::{self, Language};

impl Plan {
    pub(super) fn push_site(&mut self, chance: &Chance) {
        let number = self.sites.len();
        let mut draws = chance.stream("manner");
        let (pages_min, pages_max) = self.settings.pages_per_site;
        let pages = pages_min + draws.below((pages_max - pages_min) as u64 + 1) as usize;
        let (mut language, mut charset) = draw_language(number, self.settings.share.old_charset_sites, &mut draws);
        let mut name = words::site_name(number, &mut draws);
        if self.settings.writing == Writing::Sentences {
            (language, name) = (Language::English, Theme::site_name(number));
            charset = if charset == Charset::Utf8 { charset } else { Charset::Latin1 };
        }
        let robots = if self.settings.odd_robots { RobotsManner::of_site(number) } else { RobotsManner::Rules };
        self.sites.push(SitePlan {
            name,
            first: self.pages.len() as u32,
            count: pages as u32,
            robots,
            language,
            charset,
            compresses: !draws.happens(self.settings.share.uncompressed_sites),
            chance: chance.clone(),
            by_path: HashMap::new(),
        });
        self.drift.push_site(&self.settings.drift, chance);
        let deck = self.deal(pages, &mut chance.stream("deck"));
        for (index, draft) in deck.into_iter().enumerate() {
            self.push_page(index, draft, chance);
        }
        if draws.happens(self.settings.share.trap_sites) {
            for trap in Trap::ALL {
                self.push_page(0, PageDraft { class: Class::Trap(trap), forbidden: false, hidden: false }, chance);
            }
        }
        self.build_link_tree(&mut chance.stream("tree"));
        self.lead(&mut chance.stream("redirects"));
        self.remember_paths();
    }

    /// The classes of a site's pages in random order, `/` first. Counts follow the shares as closely as whole numbers
    /// can, so that a feature with a share worth one page is there in most webs.
    fn deal(&self, pages: usize, chance: &mut Chance) -> Vec<PageDraft> {
        let share = &self.settings.share;
        let rest = pages - 1;
        let mut count = |share: f64| (share * rest as f64 + chance.share()).floor() as usize;
        let mut drafts = Vec::with_capacity(rest);
        for (class, share) in Class::shares(share) {
            drafts.extend(vec![PageDraft { class, forbidden: false, hidden: false }; count(share)]);
        }
        drafts
            .extend(vec![PageDraft { class: Class::Article, forbidden: true, hidden: false }; count(share.disallowed)]);
        drafts.extend(vec![PageDraft { class: Class::Article, forbidden: false, hidden: true }; count(share.hidden)]);
        drafts.resize(rest, PageDraft { class: Class::Article, forbidden: false, hidden: false });
        chance.shuffle(&mut drafts);
        drafts.insert(0, PageDraft { class: Class::Article, forbidden: false, hidden: false });
        drafts
    }

    fn push_page(&mut self, index: usize, draft: PageDraft, chance: &Chance) {
        let number = self.pages.len() as u32;
        let site = self.sites.len() - 1;
        let chance = chance.stream("page").numbered(u64::from(number - self.sites[site].first));
        let mut draws = chance.stream("manner");
        let robots = self.sites[site].robots;
        let forbidden = draft.forbidden && robots != RobotsManner::Absent;
        let path: Arc<str> = match draft.class {
            Class::Trap(trap) => trap.entrance().into(),
            _ if index == 0 => "/".into(),
            class => {
                let slug = match self.settings.writing {
                    Writing::Words => words::slug(&mut draws),
                    Writing::Sentences => articles::slug(Theme::of_site(site), &mut chance.stream("title")),
                };
                draw_path(class, draft.forbidden, index, &slug, &mut draws).into()
            }
        };
        if matches!(draft.class, Class::Trap(_)) {
            self.sites[site].count += 1;
        }
        self.drift.push_page(&self.settings.drift, &chance, !draft.class.drifts());
        self.pages.push(PagePlan {
            site: site as u32,
            path,
            class: draft.class,
            forbidden,
            allowed: !forbidden && robots != RobotsManner::Failing,
            hidden: draft.hidden,
            parent: self.sites[site].first,
            target: number,
            children: Vec::new(),
            validators: draw_validators(&self.settings.share, &mut draws),
            chance,
        });
    }

    fn remember_paths(&mut self) {
        let Some(site) = self.sites.last_mut() else { return };
        for number in site.first..site.first + site.count {
            site.by_path.insert(Arc::clone(&self.pages[number as usize].path), number);
        }
    }
}

#[derive(Copy, Clone)]
struct PageDraft {
    class: Class,
    forbidden: bool,
    hidden: bool,
}

fn draw_path(class: Class, forbidden: bool, index: usize, slug: &str, chance: &mut Chance) -> String {
    if forbidden {
        let shape = chance.pick(&FORBIDDEN).expect("the list of forbidden folders is not empty");
        return format!("{}{slug}-{index}{}", shape.folder, shape.ending);
    }
    let folder = chance.pick(&OPEN).expect("the list of open folders is not empty");
    let ending = match class {
        Class::Pdf => ".pdf",
        Class::Image => ".png",
        Class::Feed => ".xml",
        Class::Json => ".json",
        Class::Redirect | Class::RedirectLoop | Class::RedirectAway => "",
        _ => *chance.pick(&[".html", ".html", "/", ".php", ""]).expect("the list of endings is not empty"),
    };
    if class == Class::Article && chance.happens(0.1) {
        return format!("{folder}item?id={index}");
    }
    format!("{folder}{slug}-{index}{ending}")
}

fn draw_language(number: usize, old_share: f64, chance: &mut Chance) -> (Language, Charset) {
    let old = chance.happens(old_share);
    let language = if number == 0 { Language::English } else { Language::ALL[chance.below(5) as usize] };
    let charset = match language {
        _ if !old => Charset::Utf8,
        Language::English | Language::German | Language::French => Charset::Latin1,
        Language::Russian => Charset::Cyrillic,
        Language::Japanese => Charset::ShiftJis,
    };
    (language, charset)
}

fn draw_validators(share: &Shares, chance: &mut Chance) -> ValidatorManner {
    let mut drawn = chance.share();
    for (manner, share) in [
        (ValidatorManner::None, share.validator_none),
        (ValidatorManner::ModifiedOnly, share.validator_modified_only),
        (ValidatorManner::Weak, share.validator_weak),
        (ValidatorManner::Lying, share.validator_lying),
    ] {
        if drawn < share {
            return manner;
        }
        drawn -= share;
    }
    if chance.happens(0.5) { ValidatorManner::Both } else { ValidatorManner::EtagOnly }
}
