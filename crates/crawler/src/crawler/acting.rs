//! What a person asks of the crawl. Every act is durable when it returns.

use std::collections::HashMap;

use vernal_document::noise;
use vernal_model::{Control, Deed, Found, Moment, Seed, Site, SiteState, Url, Via};
use vernal_repository::KnownState;

use super::{Crawler, WHOLE};
use crate::{Act, Acted, Check, NoiseWord, Result};

impl Crawler {
    pub fn act(&mut self, act: Act, now: Moment) -> Result<Acted> {
        let acted = match act {
            Act::AddSeeds(seeds) => self.add_seeds(seeds),
            Act::RemoveSeed(url) => self.remove_seed(&url),
            Act::Pause(None) => self.set_paused(true),
            Act::Resume(None) => self.set_paused(false),
            Act::Pause(Some(site)) if self.home.contains_key(&site) => {
                self.set_standing(&site, SiteState::Paused);
                Acted::Done
            }
            Act::Resume(Some(site)) if self.home.contains_key(&site) => {
                self.set_standing(&site, SiteState::Active);
                Acted::Done
            }
            Act::Block(site) if self.home.contains_key(&site) => {
                self.set_standing(&site, SiteState::Blocked);
                Acted::Done
            }
            Act::Hint { source, urls } => self.take_push(source, urls, now)?,
            Act::Hub { topic, word } => self.hear_hub(&topic, word, now),
            Act::Noise { site, word } if self.home.contains_key(&site) => self.rule(&site, word, now)?,
            Act::Pause(Some(site)) | Act::Resume(Some(site)) | Act::Block(site) | Act::Noise { site, .. } => {
                Acted::UnknownSite(site)
            }
        };
        self.commit(now)?;
        Ok(acted)
    }

    fn add_seeds(&mut self, given: Vec<Seed>) -> Acted {
        let mut seeds = self.dispatcher.seeds().to_vec();
        let mut places: HashMap<Url, usize> =
            seeds.iter().enumerate().map(|(at, seed)| (seed.url.clone(), at)).collect();
        let (mut new, mut known) = (0, 0);
        for mut seed in given {
            match places.get(&seed.url).and_then(|&at| seeds.get_mut(at)) {
                Some(old) => {
                    seed.moved_to = old.moved_to.clone();
                    seed.added = old.added;
                    *old = seed.clone();
                    known += 1;
                }
                None => {
                    places.insert(seed.url.clone(), seeds.len());
                    seeds.push(seed.clone());
                    new += 1;
                }
            }
            let found = Found { url: seed.url.clone(), via: Via::Seed, depth: 0, found_on: None, forward: 0 };
            let id = self.home_of(&seed.url);
            self.group.push(WHOLE, Deed::Seeded(seed));
            self.group.push(id, Deed::Found { urls: vec![found], again: Vec::new() });
        }
        self.set_seeds(seeds);
        Acted::Seeds { new, known }
    }

    fn remove_seed(&mut self, url: &Url) -> Acted {
        let seeds = self.dispatcher.seeds();
        if !seeds.iter().any(|seed| seed.url == *url) {
            return Acted::Removed(false);
        }
        let left = seeds.iter().filter(|seed| seed.url != *url).cloned().collect();
        self.set_seeds(left);
        self.group.push(WHOLE, Deed::Unseeded(url.clone()));
        Acted::Removed(true)
    }

    /// A person has the last word on what is noise.
    fn rule(&mut self, site: &Site, word: NoiseWord, now: Moment) -> Result<Acted> {
        let Some(&id) = self.home.get(site) else { return Ok(Acted::UnknownSite(site.clone())) };
        let book = self.book(site)?;
        let (rows, refused) = match word {
            NoiseWord::Add { what, on, reason } => {
                let number = book.last_id + 1;
                (noise::add(site, book, what, on, &reason, now).map(|rows| (rows, number)), Acted::BookFull)
            }
            NoiseWord::Allow { rule, reason } => {
                (noise::allow(site, book, rule, &reason).map(|rows| (rows, rule)), Acted::UnknownRule(rule))
            }
            NoiseWord::Forget { rule } => {
                (noise::forget(site, book, rule).map(|rows| (rows, rule)), Acted::UnknownRule(rule))
            }
        };
        let Some((rows, rule)) = rows else { return Ok(refused) };
        self.teach_noise(id, rows)?;
        Ok(Acted::Ruled(rule))
    }

    fn set_paused(&mut self, paused: bool) -> Acted {
        self.paused = paused;
        let control = if paused { Control::PauseAll } else { Control::ResumeAll };
        self.group.push(WHOLE, Deed::Controlled(control));
        Acted::Done
    }

    /// What stands between a URL and its next visit.
    pub fn check(&mut self, url: &Url, now: Moment) -> Result<Check> {
        let known = self.reader.key_of(url)?;
        let state = match known {
            None => "unknown",
            Some(known) => match known.state {
                KnownState::Waiting => "waiting",
                KnownState::Barred => "barred",
                KnownState::Visited => {
                    let page = known.key.map(|key| self.reader.page(key)).transpose()?.flatten();
                    page.map_or("visited", |page| page.state.name())
                }
            },
        };
        let site = url.site();
        let id = self.home_of(url);
        let robots = self.robots.told(url, &self.reader, now)?;
        let copy = self.robots.copy_in_force(url, &self.reader)?;
        let in_scope = self.dispatcher.in_scope(url, 0);
        let seed = self.dispatcher.seeds().iter().find(|seed| seed.covers(url, 0)).map(|seed| seed.url.clone());
        let partition = self.partition(id);
        let next_slot = partition.politeness.earliest(&site).max(now);
        let trap = partition.traps.suspects(url, now);
        let (standing, crawl_delay) = match partition.site(&site) {
            Some(life) => (life.profile.standing, life.profile.crawl_delay),
            None => (SiteState::Active, None),
        };
        Ok(Check {
            url: url.clone(),
            in_scope,
            seed,
            robots,
            robots_read: copy.map(|(read, _)| read),
            robots_stale: copy.is_some_and(|(_, stale)| stale),
            crawl_delay_secs: crawl_delay.map(|delay| delay.secs_f64()),
            trap,
            state,
            next_slot,
            site_standing: match standing {
                SiteState::Active => "active",
                SiteState::Paused => "paused",
                SiteState::Blocked => "blocked",
            },
        })
    }

    /// Why this page is due when it is, in words and numbers; `None` when it is not a page of ours.
    pub fn why(&mut self, url: &Url, now: Moment) -> Result<Option<Vec<(String, String)>>> {
        let Some(page) = self.reader.page_by_url(url)? else { return self.why_waiting(url) };
        // Who has not chosen yet does not know what may be spent, nor whether pages may be abandoned.
        self.show_view(page.key.partition, now);
        let mut reasons = vec![
            ("state".to_owned(), page.state.name().to_owned()),
            ("last visit".to_owned(), page.last_visit.rfc3339()),
            ("last outcome".to_owned(), page.last_outcome.name().to_owned()),
            ("visits compared".to_owned(), page.compared.to_string()),
            ("changes seen".to_owned(), page.changes.to_string()),
        ];
        reasons.extend(self.hint_words(&page)?);
        let partition = &self.partitions[usize::from(page.key.partition.0)];
        match crate::intake::page_life::hands(&page) {
            crate::intake::page_life::Hands::Policy => reasons.extend(partition.policy.why(page.key, now)),
            crate::intake::page_life::Hands::Retry { at, .. } => {
                reasons.push(("tried again at".to_owned(), at.rfc3339()));
            }
            crate::intake::page_life::Hands::Nobody => {}
        }
        reasons.extend(self.why_collected(page.key, Some(page.state))?);
        Ok(Some(reasons))
    }

    /// Why a URL that is known was not visited yet; `None` when it does not wait.
    fn why_waiting(&self, url: &Url) -> Result<Option<Vec<(String, String)>>> {
        let Some(known) = self.reader.key_of(url)? else { return Ok(None) };
        let Some(key) = known.key.filter(|_| known.state == KnownState::Waiting) else { return Ok(None) };
        let mut reasons = vec![
            ("state".to_owned(), "waiting for its first visit".to_owned()),
            ("pages that link to it".to_owned(), known.back_links.to_string()),
        ];
        if let Some(row) = self.reader.url(key)?.filter(|row| row.url == *url) {
            reasons.push(("known since".to_owned(), row.admitted.rfc3339()));
            reasons.push(("rank".to_owned(), row.rank.to_string()));
        }
        reasons.extend(self.why_collected(key, None)?);
        Ok(Some(reasons))
    }
}
