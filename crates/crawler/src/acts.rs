//! The acts that people ask of the crawl. Every act is durable when the call returns.

use std::collections::HashMap;

use vernal_document::noise;
use vernal_model::{Control, Deed, Found, Moment, Seed, Site, SiteState, Url, Via};

use crate::core::Core;
use crate::crawler::Crawler;
use crate::work::WHOLE;
use crate::{Act, Acted, NoiseWord, Result, forget, names};

impl Crawler {
    /// Carries out one act.
    pub fn act(&mut self, act: Act, now: Moment) -> Result<Acted> {
        let (core, tables) = (&mut self.core, &mut self.plan.tables);
        let acted = match act {
            Act::AddSeeds(seeds) => add_seeds(core, seeds),
            Act::Forget(word) => return forget::forget(self, word, now),
            Act::LiftForgotten(id) => forget::lift(core, id, now),
            Act::TakeUpLedger(rows) => forget::take_up_ledger(core, rows),
            Act::RewriteErased => forget::rewrite_erased(self, now)?,
            Act::RemoveSeed(url) => remove_seed(core, &url),
            Act::Pause(None) => self.set_paused(true),
            Act::Resume(None) => self.set_paused(false),
            Act::Pause(Some(site)) => set_standing(core, site, SiteState::Paused),
            Act::Resume(Some(site)) => set_standing(core, site, SiteState::Active),
            Act::Block(site) => set_standing(core, site, SiteState::Blocked),
            Act::Hint { source, urls } => self.hints.take_push(core, tables, source, urls, now)?,
            Act::Hub { topic, word } => self.hints.hear_hub(core, &topic, word, now),
            Act::Names { first, second, word, reason } => {
                names::rule(&mut core.work, (&first, &second), word, &reason, now)?
            }
            Act::Noise { site, word } => rule_on_noise(core, site, word, now)?,
        };
        self.commit(now)?;
        Ok(acted)
    }

    fn set_paused(&mut self, paused: bool) -> Acted {
        self.paused = paused;
        let control = if paused { Control::PauseAll } else { Control::ResumeAll };
        self.core.work.push(WHOLE, Deed::Controlled(control));
        Acted::Done
    }
}

fn set_standing(core: &mut Core, site: Site, standing: SiteState) -> Acted {
    if core.set_standing(&site, standing) { Acted::Done } else { Acted::UnknownSite(site) }
}

fn add_seeds(core: &mut Core, given: Vec<Seed>) -> Acted {
    let forgotten = given.iter().find_map(|seed| Some((seed.url.clone(), core.scope.forgotten.entry_of(&seed.url)?)));
    if let Some((url, id)) = forgotten {
        return Acted::ForgottenSeed(url, id);
    }
    let mut seeds = core.scope.seeds().to_vec();
    let mut places: HashMap<Url, usize> = seeds.iter().enumerate().map(|(at, seed)| (seed.url.clone(), at)).collect();
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
        core.work.push(WHOLE, Deed::Seeded(seed));
        core.announce(found);
    }
    core.scope.set_seeds(seeds);
    Acted::Seeds { new, known }
}

fn remove_seed(core: &mut Core, url: &Url) -> Acted {
    let seeds = core.scope.seeds();
    if !seeds.iter().any(|seed| seed.url == *url) {
        return Acted::Removed(false);
    }
    let left = seeds.iter().filter(|seed| seed.url != *url).cloned().collect();
    core.scope.set_seeds(left);
    core.work.push(WHOLE, Deed::Unseeded(url.clone()));
    Acted::Removed(true)
}

/// Applies a person's decision on what is noise, which overrides what was learned.
fn rule_on_noise(core: &mut Core, site: Site, word: NoiseWord, now: Moment) -> Result<Acted> {
    let Some(id) = core.partitions.home_of_site(&site) else { return Ok(Acted::UnknownSite(site)) };
    let book = core.sites.noise.book(&core.work, &site)?;
    let (rows, refused) = match word {
        NoiseWord::Add { what, on, reason } => {
            let number = book.last_id + 1;
            (noise::add(&site, book, what, on, &reason, now).map(|rows| (rows, number)), Acted::BookFull)
        }
        NoiseWord::Allow { rule, reason } => {
            (noise::allow(&site, book, rule, &reason, now).map(|rows| (rows, rule)), Acted::UnknownRule(rule))
        }
        NoiseWord::Forget { rule } => {
            (noise::forget(&site, book, rule).map(|rows| (rows, rule)), Acted::UnknownRule(rule))
        }
    };
    let Some((rows, rule)) = rows else { return Ok(refused) };
    core.sites.noise.learn(&mut core.work, id, rows);
    Ok(Acted::Ruled(rule))
}
