//! What a visit teaches: of the page, of its site, and of all.

use vernal_model::{Moment, PolicyState};

use super::page::days;
use super::policy::Index;
use crate::estimate::{Gamma, SiteClock};

/// Clocks exist for sites with at least so many pages: one has nothing to share.
const CLOCK_PAGES_MIN: u32 = 2;
/// Sites with more pages than this get their clock with the first change seen, and learn enough soon after; smaller
/// ones from the first visit, because they cannot spare what an unchanged page says.
const CLOCK_AT_ONCE_PAGES_MAX: u32 = 64;
/// Evidence counts half after this many days: rates drift.
const EVIDENCE_HALF_LIFE_DAYS: f64 = 365.0;
/// Priors of small sites wait for so many visits within a day.
const UNFITTED_VISITS_MIN: u32 = 16;
/// Of the bytes that are kept of a page.
const FORMAT: u8 = 1;

impl Index {
    pub(super) fn count_bytes(&mut self, number: u32, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let page = self.pages.at_mut(number);
        let before = page.bytes();
        page.set_bytes(bytes);
        let after = page.bytes();
        self.bytes.0 += after.unwrap_or(0.0) - before.unwrap_or(0.0);
        self.bytes.1 = self.bytes.1 + u64::from(after.is_some()) - u64::from(before.is_some());
    }

    /// Hears that a page was seen changed or unchanged, a time after the visit before. `dated` says when it last changed, where
    /// the site's word for it has proved good.
    pub(super) fn hear(&mut self, number: u32, last: f64, now: f64, changed: bool, dated: Option<f64>) {
        let page = *self.pages.at(number);
        let kept = (-(now - last) / EVIDENCE_HALF_LIFE_DAYS).exp2();
        let (shape, scale) = (f64::from(page.shape) * kept, f64::from(page.scale) * kept);
        let (prior, firm) = (self.prior_of(&page), self.firmness.shape());
        let base = firm / prior;
        let before = Gamma { a: firm + shape, b: base + scale };
        let site = &mut self.sites[page.site as usize];
        let worth_it = site.pages >= CLOCK_PAGES_MIN && (changed || site.pages <= CLOCK_AT_ONCE_PAGES_MAX);
        if self.rule.site_clock && site.clock.is_none() && worth_it && page.site > 0 {
            let mut clock = Box::new(SiteClock::default());
            clock.shared_by(site.pages);
            site.clock = Some(clock);
            site.stale = true;
        }
        let mut times = [0.0; 3];
        let o = match &mut site.clock {
            None => now - last,
            Some(clock) => {
                clock.roll(last, now);
                times = clock.times(last, now);
                clock.mixed(times, now - last)
            }
        };
        let after = match dated.filter(|&at| changed && at > last && at <= now) {
            Some(at) => {
                before.seen_last_change(site.clock.as_ref().map_or(now - at, |clock| clock.operational(at, now)))
            }
            None if changed => before.seen_changed(o),
            None => before.seen_unchanged(o),
        };
        if let Some(clock) = &mut site.clock {
            clock.hear_times(times, before, after.mean(), (last, now), changed);
        }
        self.shared.calibration.hear(1.0 - before.survival(o), changed);
        if self.octaves.are_known() {
            self.firmness.hear(changed, |firm| Gamma { a: firm + shape, b: firm / prior + scale }.survival(o));
        }
        let page = self.pages.at_mut(number);
        page.shape = (after.a - firm).max(0.0) as f32;
        page.scale = (after.b - base).max(0.0) as f32;
        self.set_rate(number, after.mean() as f32);
    }

    /// A clock hears how many pages go by it whenever one comes or goes, so that it is the same after a restart.
    pub(super) fn share_clock(&mut self, site: u32) {
        let life = &mut self.sites[site as usize];
        let pages = life.pages;
        if life.clock.as_mut().is_some_and(|clock| clock.shared_by(pages)) {
            self.shake(site);
        }
    }

    pub(super) fn set_rate(&mut self, number: u32, rate: f32) {
        let page = self.pages.at_mut(number);
        let before = page.rate();
        page.set_rate(rate);
        let rate = page.rate();
        self.count_rate(number, before, rate);
        if !self.topics.is_empty() {
            self.count_in_topics(number, before, rate);
        }
    }

    /// Counts another mean rate of a page in its site and in all, 0 being none: what it would be if importance said nothing.
    pub(super) fn count_rate(&mut self, number: u32, before: f32, after: f32) {
        let page = self.pages.at(number);
        let times = self.times_of(page);
        let alike = |rate: f32| if times == 1.0 { rate } else { (f64::from(rate) / times) as f32 };
        let site = &mut self.sites[page.site as usize];
        let (share, weighted) = site.share();
        site.count(page.group, alike(before), alike(after));
        let (share_now, weighted_now) = site.share();
        self.shared.sums.weight += share_now - share;
        self.shared.sums.weighted += weighted_now - weighted;
    }

    pub(super) fn state_of(&self, number: u32) -> PolicyState {
        let page = self.pages.at(number);
        let rate = page.rate();
        if rate == 0.0 {
            return PolicyState::default();
        }
        let mut bytes = [FORMAT; 13];
        bytes[1..5].copy_from_slice(&page.shape.to_le_bytes());
        bytes[5..9].copy_from_slice(&page.scale.to_le_bytes());
        bytes[9..].copy_from_slice(&rate.to_le_bytes());
        PolicyState::new(&bytes).expect("13 bytes are fewer than a policy may keep")
    }

    /// Fits the priors of a site and what all sites share: once a day, and as soon as the site has had as many visits as it
    /// has pages. A site that is asked often must not wait for the day to pass to be known as lively.
    pub(super) fn fit(&mut self, site: u32, now: Moment) {
        let today = days(now) as u32;
        let life = &mut self.sites[site as usize];
        life.unfitted += 1;
        let is_due = life.fitted_day != today || life.all.mean == 0.0;
        if !is_due && life.unfitted < life.pages.max(UNFITTED_VISITS_MIN) {
            return;
        }
        life.fitted_day = today;
        life.unfitted = 0;
        self.ask_octaves(today);
        if self.shared.fit() {
            self.settle_topics();
            let unfitted: Vec<u32> = self.sites_where(|site| site.all.mean == 0.0);
            unfitted.into_iter().for_each(|site| self.shake_stale(site));
        }
        let (mean, by_path) = (self.above_site(site), self.rule.path_priors);
        if self.sites[site as usize].fit(mean, by_path) {
            self.shake(site);
        }
    }
}

/// Shape, scale and rate as a state holds them: format (1), then each as 4 bytes, little-endian.
pub(super) fn from_state(state: &PolicyState) -> Option<[f32; 3]> {
    let bytes: &[u8; 13] = state.bytes().try_into().ok()?;
    let part = |from: usize| f32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]]);
    let parts = [part(1), part(5), part(9)];
    let sound = parts.iter().all(|part| part.is_finite() && (0.0..1e9).contains(part)) && parts[2] > 0.0;
    (bytes[0] == FORMAT && sound).then_some(parts)
}
