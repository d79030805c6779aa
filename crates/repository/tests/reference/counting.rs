//! The history of the crawl as a plain program would keep it: lists of visits, counted when they are asked for.

use std::collections::BTreeMap;

use vernal_model::{
    Chance, Day, Deed, DiskBytes, Gauges, Hour, HourClosed, HourMeasured, Measures, OpenHour, Partition, SeriesRow,
    Site, SiteDaysClosed, Visit, VisitCounts, Visited,
};
use vernal_repository::Reader;

#[derive(Clone)]
enum Counted {
    Page(Box<Visited>),
    Other(Visit),
}

#[derive(Clone, Default)]
pub struct PlainHistory {
    open: Option<Hour>,
    of_hour: Vec<Counted>,
    of_sites: BTreeMap<Site, Vec<Counted>>,
    pub hours: BTreeMap<Hour, SeriesRow>,
    days: BTreeMap<Day, SeriesRow>,
    site_days: BTreeMap<(Site, Day), VisitCounts>,
    measured: BTreeMap<Hour, Measures>,
    measured_days: BTreeMap<Day, Measures>,
}

impl PlainHistory {
    pub fn page(&mut self, visited: &Visited) {
        self.count(visited.page.url.site(), Counted::Page(Box::new(visited.clone())));
    }

    pub fn other(&mut self, site: &Site, visit: &Visit) {
        self.count(site.clone(), Counted::Other(visit.clone()));
    }

    pub fn hour_closed(&mut self, deed: HourClosed) {
        self.hours.extend(deed.closed);
        if let Some((day, row)) = deed.folded {
            self.days.insert(day, row);
            self.hours.retain(|hour, _| hour.day() != day);
        }
        self.open = Some(deed.opened);
        self.of_hour.clear();
    }

    pub fn site_days_closed(&mut self, deed: SiteDaysClosed) {
        for (site, counts) in deed.sites {
            self.of_sites.remove(&site);
            self.site_days.insert((site, deed.day), counts);
        }
    }

    pub fn hour_measured(&mut self, deed: HourMeasured) {
        self.measured.insert(deed.hour, deed.measures);
        if let Some((day, measures)) = deed.folded {
            self.measured_days.insert(day, measures);
            self.measured.retain(|hour, _| hour.day() != day);
        }
    }

    pub fn check(&self, reader: &Reader) {
        let measured: Vec<_> = self.measured.iter().map(|(hour, measures)| (*hour, *measures)).collect();
        assert_eq!(reader.hours_measured(Hour(0), Hour(u32::MAX)).unwrap(), measured);
        assert_eq!(reader.last_measured().unwrap(), measured.last().copied());
        let days: Vec<_> = self.measured_days.iter().map(|(day, measures)| (*day, *measures)).collect();
        assert_eq!(reader.days_measured(Day(0), Day(u32::MAX)).unwrap(), days);
        let open = self.open.map(|hour| OpenHour { hour, counts: counts(&self.of_hour) });
        assert_eq!(reader.open_hour(), open);
        let hours: Vec<_> = self.hours.iter().map(|(hour, row)| (*hour, *row)).collect();
        assert_eq!(reader.hours(Hour(0), Hour(u32::MAX)).unwrap(), hours);
        assert_eq!(reader.oldest_hour().unwrap(), hours.first().map(|(hour, _)| *hour));
        let days: Vec<_> = self.days.iter().map(|(day, row)| (*day, *row)).collect();
        assert_eq!(reader.days(Day(0), Day(u32::MAX)).unwrap(), days);
        let of_sites = self.of_sites.iter().map(|(site, visits)| (site.clone(), counts(visits)));
        let counted: Vec<_> = of_sites.filter(|(_, counts)| !counts.is_empty()).collect();
        let told = reader.open_site_days().into_iter().map(|(site, _, counts)| (site, counts));
        assert_eq!(told.collect::<Vec<_>>(), counted);
        for site in self.site_days.keys().map(|(site, _)| site) {
            let of_site = self.site_days.iter().filter(|((of, _), _)| of == site);
            let expected: Vec<_> = of_site.map(|((_, day), counts)| (*day, *counts)).collect();
            assert_eq!(reader.site_days(site, Day(0), Day(u32::MAX)).unwrap(), expected, "{site:?}");
        }
    }

    /// Nothing is counted before the first hour.
    fn count(&mut self, site: Site, counted: Counted) {
        if self.open.is_some() {
            self.of_hour.push(counted.clone());
            self.of_sites.entry(site).or_default().push(counted);
        }
    }
}

fn counts(visits: &[Counted]) -> VisitCounts {
    let mut counts = VisitCounts::default();
    for visit in visits {
        match visit {
            Counted::Page(visited) => counts.count_page(visited),
            Counted::Other(visit) => counts.count_other(visit),
        }
    }
    counts
}

/// An hour ends, and now and then a day; days of long ago are folded.
pub fn deeds(
    hours: &BTreeMap<Hour, SeriesRow>,
    sites: &[(Site, Partition)],
    chance: &mut Chance,
) -> Vec<(Partition, Deed)> {
    let last = hours.last_key_value().map_or(Hour(480_000), |(hour, _)| *hour);
    let hour = Hour(last.0 + 1 + chance.below(40) as u32);
    let oldest = hours.first_key_value().map(|(hour, _)| hour.day()).filter(|day| *day < last.day());
    let folded = oldest.filter(|_| chance.happens(0.5)).map(|day| {
        let of_day = hours.iter().filter(move |(hour, _)| hour.day() == day).map(|(_, row)| row);
        (day, SeriesRow::folded(of_day))
    });
    let closed = chance.happens(0.9).then(|| (hour, row(chance)));
    let opened = Hour(hour.0 + 1);
    let mut deeds = vec![(Partition(0), Deed::HourClosed(Box::new(HourClosed { closed, opened, folded })))];
    let measured = oldest.filter(|day| folded.is_some() && *day < hour.day()).map(|day| (day, measures(chance)));
    let measured = HourMeasured { hour, measures: measures(chance), folded: measured };
    deeds.push((Partition(0), Deed::HourMeasured(Box::new(measured))));
    if let Some((site, partition)) = chance.pick(sites).filter(|_| hour.day() > last.day()) {
        let sites = vec![(site.clone(), row(chance).counts)];
        deeds.push((*partition, Deed::SiteDaysClosed(Box::new(SiteDaysClosed { day: last.day(), sites }))));
    }
    deeds
}

fn measures(chance: &mut Chance) -> Measures {
    let (bound, spent) =
        (chance.happens(0.3).then(|| chance.share() as f32), chance.happens(0.8).then(|| chance.share()));
    let disk = chance.happens(0.9).then(|| DiskBytes { bodies: chance.below(1 << 40), journal: 1, tables: 2 });
    Measures { bound, price: None, spent, spent_in_all: chance.share(), disk }
}

fn row(chance: &mut Chance) -> SeriesRow {
    let counts =
        VisitCounts { visits: chance.below(9) as u32, wire_bytes: chance.below(1 << 40), ..Default::default() };
    let believed = chance.happens(0.5).then(|| chance.share() as f32);
    let gauges = Gauges { freshness_believed: believed, held: chance.below(99), ..Gauges::default() };
    SeriesRow { counts, gauges: chance.happens(0.9).then_some(gauges) }
}
