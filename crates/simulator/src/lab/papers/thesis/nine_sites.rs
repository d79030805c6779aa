//! The web of the thesis's experiment: nine sites with the page counts and change rates that it prints.
//!
//! How the pages of a site differ is not printed. Here some pages change on nine days of ten and the others never, so
//! that the site's rate is the printed one: the case in which a small sample says least.

use vernal_model::Chance;

/// Site, change rate in per cent (Table 4.2; Table 4.1 differs by a slip), pages (Table 4.1).
pub const SITES: [(&str, f64, usize); 9] = [
    ("www.alarabiya.net", 3.27, 528),
    ("www.alaswaq.net", 25.77, 223),
    ("www.alzaytoonah.edu.jo", 2.23, 38),
    ("www.jordandaily.com", 81.95, 20),
    ("www.jordanislamicbank.com", 0.0, 45),
    ("www.madabacity.gov.jo", 0.0, 9),
    ("www.moe.gov.jo", 1.55, 110),
    ("www.mutah.edu.jo", 43.59, 94),
    ("www.nitc.gov.jo", 0.09, 73),
];

/// Three weeks of daily visits: twenty comparisons.
pub const DAYS: usize = 20;

/// A page that changes does so on at most this share of days.
const BUSY: f64 = 0.9;

/// For each site and page, the days on which it changed.
pub struct NineSites {
    pub changed: Vec<Vec<Vec<bool>>>,
}

impl NineSites {
    pub fn draw(chance: &mut Chance) -> Self {
        let site = |&(_, percent, pages): &(&str, f64, usize)| {
            let whole = percent / 100.0 * pages as f64;
            let changers = (whole / BUSY).ceil().min(pages as f64);
            let daily = if changers > 0.0 { whole / changers } else { 0.0 };
            let mut rates: Vec<f64> =
                (0..pages).map(|page| if (page as f64) < changers { daily } else { 0.0 }).collect();
            chance.shuffle(&mut rates);
            rates.iter().map(|&rate| (0..DAYS).map(|_| chance.happens(rate)).collect()).collect()
        };
        NineSites { changed: SITES.iter().map(site).collect() }
    }

    /// The share of a site's pages that changed on a day.
    pub fn rate(&self, site: usize, day: usize) -> f64 {
        let pages = &self.changed[site];
        pages.iter().filter(|days| days[day]).count() as f64 / pages.len() as f64
    }
}

/// So many different numbers below `end`.
pub fn sample(end: usize, size: usize, chance: &mut Chance) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..end).collect();
    chance.shuffle(&mut numbers);
    numbers.truncate(size);
    numbers
}
