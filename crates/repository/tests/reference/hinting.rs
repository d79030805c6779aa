//! What sites say of their own changes, as a plain program would keep it.

use std::collections::{BTreeMap, HashMap};

use vernal_model::{
    Chance, DateRange, Fingerprint, HintFile, HintRows, HintSource, ListEntryRows, Moment, PageHints, PageKey,
    PendingHint, Site, SiteListKind, Span, Subscription, SubscriptionRow, SubscriptionState, TrustRow, Url,
};
use vernal_repository::Reader;

#[derive(Clone, Default)]
pub struct PlainHints {
    sources: BTreeMap<(Site, HintSource), TrustRow>,
    files: BTreeMap<(Site, PageKey), HintFile>,
    pages: BTreeMap<PageKey, PageHints>,
    listed: BTreeMap<PageKey, HashMap<Fingerprint, Option<DateRange>>>,
    subscriptions: BTreeMap<(Site, PageKey), SubscriptionRow>,
}

impl PlainHints {
    pub fn take(&mut self, rows: HintRows) {
        let site = rows.site;
        self.sources.extend(rows.sources.into_iter().map(|(source, row)| ((site.clone(), source), row)));
        self.files.extend(rows.files.into_iter().map(|(page, row)| ((site.clone(), page), row)));
        self.pages.extend(rows.pages);
        self.pages.retain(|_, hints| !hints.is_empty());
        if let Some(listed) = rows.listed {
            let of_file = self.listed.entry(listed.file).or_default();
            of_file.extend(listed.put);
            of_file.retain(|fingerprint, _| !listed.gone.contains(fingerprint));
        }
    }

    pub fn subscribe(&mut self, subscription: Subscription) {
        self.subscriptions.insert((subscription.site, subscription.file), subscription.row);
    }

    pub fn check(&self, reader: &Reader) {
        let mut sources = BTreeMap::new();
        let mut files = BTreeMap::new();
        let mut subscriptions = BTreeMap::new();
        for (site, hints) in reader.all_site_hints().unwrap() {
            assert_eq!(reader.site_hints(&site).unwrap(), hints);
            sources.extend(hints.sources.into_iter().map(|(source, row)| ((site.clone(), source), row)));
            let rows = hints.subscriptions.into_iter();
            subscriptions.extend(rows.map(|(page, row)| ((site.clone(), page), row)));
            files.extend(hints.files.into_iter().map(|(page, row)| ((site.clone(), page), row)));
        }
        assert_eq!((sources, files), (self.sources.clone(), self.files.clone()));
        assert_eq!(subscriptions, self.subscriptions);
        let pages: BTreeMap<PageKey, PageHints> = reader.all_page_hints().map(|row| row.unwrap()).collect();
        assert_eq!(pages, self.pages);
        for (file, listed) in &self.listed {
            assert_eq!(reader.listed(*file).unwrap(), *listed);
        }
    }
}

/// Sources, files and pages come and change; what a file lists comes and goes.
pub fn rows(url: &Url, pages: &[PageKey], now: Moment, chance: &mut Chance) -> HintRows {
    let mut rows = HintRows::of(&url.site());
    let source = *chance.pick(&HintSource::ALL).unwrap();
    if chance.happens(0.7) {
        rows.sources.push((
            source,
            TrustRow { right: chance.share(), heard: chance.below(9), faded: now, ..TrustRow::default() },
        ));
    }
    let Some(&page) = chance.pick(pages) else { return rows };
    if chance.happens(0.5) {
        let hint = PendingHint { source, said: now, heard: now, worth: Span::from_days(chance.below(9)) };
        let pending = if chance.happens(0.7) { vec![hint] } else { Vec::new() };
        rows.pages.push((page, PageHints { pending, ..PageHints::default() }));
    }
    if chance.happens(0.5) {
        let stamp = DateRange { from: now, until: now + Span::from_days(1) };
        let mut fingerprint = || Fingerprint(chance.below(12));
        let put = vec![(fingerprint(), Some(stamp)), (fingerprint(), None)];
        let gone: Vec<Fingerprint> =
            [fingerprint()].into_iter().filter(|gone| put.iter().all(|(put, _)| put != gone)).collect();
        rows.listed = Some(ListEntryRows { file: page, put, gone });
        rows.files.push((
            page,
            HintFile {
                url: url.clone(),
                kind: SiteListKind::Sitemap,
                source,
                read: now,
                entries: chance.below(99) as u32,
                dated: 0,
                dropped: 0,
                moved: 0,
                depth: 0,
                note: None,
                hub: None,
                topic: None,
            },
        ));
    }
    rows
}

/// A feed is subscribed to, or stands otherwise with its hub than before.
pub fn subscription(url: &Url, pages: &[PageKey], now: Moment, chance: &mut Chance) -> Option<Subscription> {
    let row = SubscriptionRow {
        hub: Url::parse("http://hub.example/").unwrap(),
        topic: url.clone(),
        standing: if chance.happens(0.5) { SubscriptionState::Verified } else { SubscriptionState::Failed },
        asked: now,
        answer: "202".into(),
        until: chance.happens(0.5).then(|| now + Span::from_days(chance.below(9))),
        next: now + Span::from_days(1),
        failures: chance.below(3) as u16,
    };
    Some(Subscription { site: url.site(), file: *chance.pick(pages)?, row })
}
