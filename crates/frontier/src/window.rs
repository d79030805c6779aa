//! The frontier: a bounded window of waiting URLs, ranked, cut in thirds, drawn 4 : 2 : 1 over the sites that are free.
//!
//! Each site has an ordered queue of its waiting URLs. The three lists are ranges of ranks between two cuts, so that new cuts
//! move no URL. Each list has an ordered set of the heads of the eligible sites' queues. A site that is found not to be free
//! becomes ineligible, until a Moment where that is known. So a draw looks at a few heads and never at all sites. The cuts
//! are renewed only after many arrivals, or when a list is empty.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use foldhash::{HashMap, HashSet};
use vernal_model::{Moment, PageKey, Site, Url, Via, WaitingPlace};

use crate::{Allocator, Politeness, thirds};

/// The cuts are renewed after so many arrivals, or after an eighth of the length of the window if that is more.
const ARRIVALS_BEFORE_CUT_MIN: usize = 64;

#[derive(Copy, Clone, Debug)]
pub struct FrontierLimits {
    pub window_max: usize,
    pub per_site_max: usize,
}

impl Default for FrontierLimits {
    fn default() -> Self {
        FrontierLimits { window_max: 16_384, per_site_max: 256 }
    }
}

/// A URL that waits for its first visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub page: PageKey,
    pub url: Url,
    pub place: WaitingPlace,
    pub rank: i32,
    pub depth: u16,
    pub via: Via,
    pub found_on: Option<PageKey>,
    pub admitted: Moment,
}

#[derive(Clone, Debug, Default)]
pub struct Frontier {
    limits: FrontierLimits,
    /// Whether the highest rank of the sites that are free always goes first: then there is one list.
    is_strict: bool,
    allocator: Allocator,
    /// `None` before the first cut: then all URLs are in the first list.
    cuts: Cuts,
    arrivals_since_cut: usize,
    lengths: [usize; 3],
    pages: HashSet<PageKey>,
    /// Numbers of sites. It is never iterated, because its order is random.
    numbers: HashMap<Site, u32>,
    sites: BTreeMap<u32, SiteQueue>,
    number_next: u32,
    /// The heads of the queues of eligible sites, for each list.
    heads: [BTreeSet<(Rank, u32)>; 3],
    wake_times: BTreeSet<(Moment, u32)>,
    loosened_seen: u64,
}

/// One of the three ranked parts of the window.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorityList {
    /// Its turns in one round of the allocator.
    pub turns: u64,
    pub waiting: u64,
    /// URLs that were drawn from it by this process.
    pub drawn: u64,
}

/// The order of the window: highest rank first, then the earliest arrival.
type Rank = (Reverse<i32>, u64, PageKey);

/// The last ranks of the first and of the second list; `None` before the first cut.
type Cuts = Option<[Rank; 2]>;

const LISTS: [usize; 3] = [0, 1, 2];

#[derive(Clone, Debug)]
struct SiteQueue {
    site: Site,
    waiting: BTreeMap<Rank, Waiting>,
    availability: Availability,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Availability {
    Eligible,
    After(Moment),
    /// Until politeness reports that the site was loosened.
    Unknown,
}

impl Frontier {
    pub fn new(limits: FrontierLimits) -> Self {
        Frontier { limits, ..Frontier::default() }
    }

    /// One that always gives the highest rank of the sites that are free, in place of 4 : 2 : 1.
    #[must_use]
    pub fn in_strict_order(self) -> Self {
        Frontier { is_strict: true, ..self }
    }

    pub fn len(&self) -> usize {
        self.lengths.iter().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The three priority lists; where the highest rank always goes first, all URLs are in the first.
    pub fn lists(&self) -> [PriorityList; 3] {
        let (turns, drawn) = (Allocator::turns(), self.allocator.drawn());
        LISTS.map(|list| PriorityList { turns: turns[list], waiting: self.lengths[list] as u64, drawn: drawn[list] })
    }

    pub fn contains(&self, page: PageKey) -> bool {
        self.pages.contains(&page)
    }

    /// How many more URLs of this site the window accepts.
    pub fn room_for(&self, site: &Site) -> usize {
        let of_site = self.limits.per_site_max.saturating_sub(self.len_of(site));
        of_site.min(self.limits.window_max.saturating_sub(self.len()))
    }

    /// Whether the window accepts no more URLs of any site.
    pub fn is_full(&self) -> bool {
        self.len() >= self.limits.window_max
    }

    /// The sites with URLs in the window.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.sites.values().map(|part| &part.site)
    }

    /// How many URLs of this site are in the window.
    pub fn len_of(&self, site: &Site) -> usize {
        let part = self.numbers.get(site).and_then(|number| self.sites.get(number));
        part.map_or(0, |part| part.waiting.len())
    }

    /// Puts a URL into the window. Refuses a URL that is there already or would exceed the limits.
    pub fn accept(&mut self, waiting: Waiting) -> bool {
        if self.contains(waiting.page) || self.room_for(&waiting.place.site) == 0 {
            return false;
        }
        self.insert(waiting);
        true
    }

    /// Returns a URL that was drawn and could not be requested. It was counted before, so no limit applies.
    pub fn put_back(&mut self, waiting: Waiting) {
        if !self.contains(waiting.page) {
            self.insert(waiting);
        }
    }

    /// Draws the URL to request now. The allocator chooses the list, and the URL is the highest of that list whose site is
    /// free.
    pub fn next(&mut self, politeness: &Politeness, now: Moment) -> Option<Waiting> {
        if self.is_empty() {
            return None;
        }
        self.wake(politeness, now);
        if self.cut_is_due() {
            self.cut();
        }
        let askable = LISTS.map(|list| self.has_free_head(list, politeness, now));
        let list = self.allocator.next(askable)?;
        let &(rank, number) = self.heads[list].first()?;
        self.remove(number, list, rank)
    }

    /// Removes one URL from the window, whatever its rank and whether or not its site is free.
    pub fn take(&mut self, site: &Site, page: PageKey) -> Option<Waiting> {
        let number = self.numbers.get(site).copied().filter(|_| self.contains(page))?;
        let part = self.sites.get(&number)?;
        let rank = part.waiting.iter().find(|(_, waiting)| waiting.page == page).map(|(rank, _)| *rank)?;
        let availability = part.availability;
        // Removing the last URL removes the site, and no wake time may outlive it.
        self.set_availability(number, Availability::Eligible);
        let waiting = self.remove(number, list_of(self.cuts, &rank), rank);
        if availability != Availability::Eligible {
            self.unlist_heads(number);
            self.set_availability(number, availability);
        }
        waiting
    }

    /// Removes all URLs of a site from the window and returns them in their order.
    pub fn drop_site(&mut self, site: &Site) -> Vec<Waiting> {
        let Some(&number) = self.numbers.get(site) else { return Vec::new() };
        self.unlist_heads(number);
        self.set_availability(number, Availability::Eligible);
        self.numbers.remove(site);
        let Some(part) = self.sites.remove(&number) else { return Vec::new() };
        let dropped: Vec<Waiting> = part.waiting.into_values().collect();
        for waiting in &dropped {
            self.pages.remove(&waiting.page);
            self.lengths[list_of(self.cuts, &rank_of(waiting))] -= 1;
        }
        dropped
    }

    fn insert(&mut self, waiting: Waiting) {
        let rank = rank_of(&waiting);
        let list = list_of(self.cuts, &rank);
        let number = self.number_of(&waiting.place.site);
        self.pages.insert(waiting.page);
        self.arrivals_since_cut += 1;
        self.lengths[list] += 1;
        let Some(part) = self.sites.get_mut(&number) else { return };
        let old_head = part.head(self.cuts, list);
        part.waiting.insert(rank, waiting);
        if part.availability == Availability::Eligible && old_head.is_none_or(|head| rank < head) {
            if let Some(head) = old_head {
                self.heads[list].remove(&(head, number));
            }
            self.heads[list].insert((rank, number));
        }
    }

    fn remove(&mut self, number: u32, list: usize, rank: Rank) -> Option<Waiting> {
        let part = self.sites.get_mut(&number)?;
        let waiting = part.waiting.remove(&rank)?;
        self.lengths[list] -= 1;
        self.pages.remove(&waiting.page);
        self.heads[list].remove(&(rank, number));
        if let Some(head) = part.head(self.cuts, list) {
            self.heads[list].insert((head, number));
        } else if part.waiting.is_empty() {
            self.numbers.remove(&part.site);
            self.sites.remove(&number);
        }
        Some(waiting)
    }

    fn number_of(&mut self, site: &Site) -> u32 {
        if let Some(&number) = self.numbers.get(site) {
            return number;
        }
        let number = self.number_next;
        self.number_next = self.number_next.wrapping_add(1);
        self.numbers.insert(site.clone(), number);
        let part = SiteQueue { site: site.clone(), waiting: BTreeMap::new(), availability: Availability::Eligible };
        self.sites.insert(number, part);
        number
    }

    /// Whether the best head of the list belongs to a free site. Sites that are found not to be free become ineligible.
    fn has_free_head(&mut self, list: usize, politeness: &Politeness, now: Moment) -> bool {
        while let Some(&(_, number)) = self.heads[list].first() {
            let Some(part) = self.sites.get(&number) else { return false };
            let earliest = politeness.earliest(&part.site);
            if earliest <= now {
                return true;
            }
            self.unlist_heads(number);
            self.set_availability(number, Availability::until(earliest));
        }
        false
    }

    /// Makes sites eligible whose wake time has come, and looks again at those that politeness loosened.
    fn wake(&mut self, politeness: &Politeness, now: Moment) {
        let (loosened, seen) = politeness.loosened(self.loosened_seen);
        self.loosened_seen = seen;
        let numbers: Vec<u32> = match loosened {
            Some(sites) => sites.filter_map(|site| self.numbers.get(site).copied()).collect(),
            None => self.sites.keys().copied().collect(),
        };
        for number in numbers {
            let Some(part) = self.sites.get(&number) else { continue };
            if part.availability != Availability::Eligible {
                let earliest = politeness.earliest(&part.site);
                self.set_availability(number, Availability::until(earliest));
            }
        }
        while let Some(&(moment, number)) = self.wake_times.first() {
            if moment > now {
                break;
            }
            self.set_availability(number, Availability::Eligible);
            self.list_heads(number);
        }
    }

    fn set_availability(&mut self, number: u32, availability: Availability) {
        let Some(part) = self.sites.get_mut(&number) else { return };
        if let Availability::After(moment) = part.availability {
            self.wake_times.remove(&(moment, number));
        }
        part.availability = availability;
        if let Availability::After(moment) = availability {
            self.wake_times.insert((moment, number));
        }
    }

    fn list_heads(&mut self, number: u32) {
        let Some(part) = self.sites.get(&number) else { return };
        for list in LISTS {
            if let Some(head) = part.head(self.cuts, list) {
                self.heads[list].insert((head, number));
            }
        }
    }

    fn unlist_heads(&mut self, number: u32) {
        let Some(part) = self.sites.get(&number) else { return };
        for list in LISTS {
            if let Some(head) = part.head(self.cuts, list) {
                self.heads[list].remove(&(head, number));
            }
        }
    }

    /// Whether enough URLs arrived, or a list is empty while another has more than its share.
    fn cut_is_due(&self) -> bool {
        let length = self.len();
        let share = length.div_ceil(3);
        let dry = self.lengths.contains(&0) && self.lengths.iter().any(|&length| length > share);
        !self.is_strict && (dry || self.arrivals_since_cut >= ARRIVALS_BEFORE_CUT_MIN.max(length / 8))
    }

    /// Ranks the whole window and cuts it into thirds, as the distributor of the paper does.
    fn cut(&mut self) {
        let mut ranks: Vec<Rank> = self.sites.values().flat_map(|part| part.waiting.keys().copied()).collect();
        let parts = thirds(ranks.len());
        // Only the last ranks of the first and second list are needed in sorted position.
        let mut last_of = |part: &Range<usize>| {
            let last = part.end.checked_sub(1)?;
            Some(*ranks.select_nth_unstable(last).1)
        };
        self.cuts = last_of(&parts[0]).zip(last_of(&parts[1])).map(|(first, second)| [first, second]);
        self.lengths = parts.map(|part| part.len());
        self.arrivals_since_cut = 0;
        let mut heads: [Vec<(Rank, u32)>; 3] = Default::default();
        for (&number, part) in self.sites.iter().filter(|(_, part)| part.availability == Availability::Eligible) {
            for list in LISTS {
                heads[list].extend(part.head(self.cuts, list).map(|head| (head, number)));
            }
        }
        self.heads = heads.map(BTreeSet::from_iter);
    }
}

impl SiteQueue {
    /// The first of this site's URLs in a list.
    fn head(&self, cuts: Cuts, list: usize) -> Option<Rank> {
        let first = match (cuts, list) {
            (_, 0) => self.waiting.first_key_value(),
            (Some(cuts), _) => self.waiting.range((Bound::Excluded(cuts[list - 1]), Bound::Unbounded)).next(),
            (None, _) => None,
        };
        first.map(|(&rank, _)| rank).filter(|rank| list_of(cuts, rank) == list)
    }
}

/// Which list holds a rank.
fn list_of(cuts: Cuts, rank: &Rank) -> usize {
    match cuts {
        Some([first, _]) if *rank <= first => 0,
        Some([_, second]) if *rank <= second => 1,
        Some(_) => 2,
        None => 0,
    }
}

impl Availability {
    fn until(moment: Moment) -> Self {
        if moment == Moment::NEVER { Availability::Unknown } else { Availability::After(moment) }
    }
}

fn rank_of(waiting: &Waiting) -> Rank {
    (Reverse(waiting.rank), waiting.place.arrival, waiting.page)
}
