//! Orders that left and whose reports have not come back.

use std::net::IpAddr;

use foldhash::{HashMap, HashSet};
use vernal_frontier::Waiting;
use vernal_model::{OrderId, Origin, Page, PageKey, PageState, Site};

/// The purpose of an order that left.
pub(crate) struct Request {
    /// The requested page, if the order was for a page.
    pub page: Option<PageKey>,
    /// The site that the request goes to.
    pub site: Site,
    pub address: Option<IpAddr>,
    pub asked: Asked,
    /// The level of the site then.
    pub level: u8,
}

pub(crate) enum Asked {
    First(Box<Waiting>),
    Again(Box<Page>),
    Robots {
        origin: Origin,
        home: Site,
        /// Whether a visit is reserved behind this request.
        for_visit: bool,
    },
    Subscription {
        file: PageKey,
    },
}

impl Asked {
    /// Whether the visit may bring a page that is not held yet, so that it counts against the limits.
    pub fn may_become_held(&self) -> bool {
        match self {
            Asked::First(_) => true,
            Asked::Again(page) => page.state != PageState::Held,
            Asked::Robots { .. } | Asked::Subscription { .. } => false,
        }
    }
}

#[derive(Default)]
pub(crate) struct InFlight {
    requests: HashMap<OrderId, Request>,
    pages: HashSet<PageKey>,
    /// Visits under way that may bring a page which is not held yet.
    first_visits: u64,
    sent: u64,
    reports: u64,
}

impl InFlight {
    /// The number of the next order.
    pub fn next_id(&mut self) -> OrderId {
        self.sent += 1;
        OrderId(self.sent)
    }

    pub fn sent(&mut self, id: OrderId, request: Request) {
        self.pages.extend(request.page);
        self.first_visits += u64::from(request.asked.may_become_held());
        self.requests.insert(id, request);
    }

    /// Removes the order whose report came back, and returns its request; `None` if there is no such order.
    pub fn ended(&mut self, id: OrderId) -> Option<Request> {
        let request = self.requests.remove(&id)?;
        self.reports += 1;
        if let Some(page) = request.page {
            self.pages.remove(&page);
        }
        self.first_visits -= u64::from(request.asked.may_become_held());
        Some(request)
    }

    pub fn has(&self, page: PageKey) -> bool {
        self.pages.contains(&page)
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn first_visits(&self) -> u64 {
        self.first_visits
    }

    /// Orders given so far.
    pub fn orders(&self) -> u64 {
        self.sent
    }

    /// Reports taken so far.
    pub fn reports(&self) -> u64 {
        self.reports
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{
        Moment, Order, OrderKind, Outcome, Partition, Report, Span, Url, Validators, Via, WaitingPlace,
    };

    use super::*;

    fn request(page: Option<u32>, asked: Asked) -> Request {
        let page = page.map(|number| PageKey::new(Partition(0), number));
        Request { page, site: Site::new("a.org"), address: None, asked, level: 0 }
    }

    /// A page that was visited and is in this state.
    fn page(state: PageState) -> Box<Page> {
        let (url, site) = (Url::parse("http://a.org/").unwrap(), Site::new("a.org"));
        let key = PageKey::new(Partition(0), 7);
        let order = Order {
            id: OrderId(0),
            page: key,
            url: url.clone(),
            kind: OrderKind::Page,
            validators: Validators::default(),
            held: None,
            gap: Span::ZERO,
            patience: None,
            public_only: false,
        };
        let waiting = Waiting {
            page: key,
            url,
            place: WaitingPlace { site, band: 0, arrival: 0 },
            rank: 0,
            depth: 0,
            via: Via::Seed,
            found_on: None,
            admitted: Moment::EPOCH,
        };
        let report = Report::unanswered(order, Moment::EPOCH, Moment::EPOCH, Outcome::NotModified);
        Box::new(Page { state, ..crate::intake::page_life::first_row(&waiting, &report) })
    }

    #[test]
    fn a_page_is_in_flight_from_its_order_to_its_report_and_a_stray_report_ends_nothing() {
        let mut in_flight = InFlight::default();
        let (first, robots) = (in_flight.next_id(), in_flight.next_id());
        let held = page(PageState::Held);
        in_flight.sent(first, request(Some(7), Asked::Again(held)));
        let home = Site::new("a.org");
        let asked = Asked::Robots { origin: Origin::new("http://a.org"), home, for_visit: false };
        in_flight.sent(robots, request(None, asked));
        let key = PageKey::new(Partition(0), 7);
        assert!(in_flight.has(key) && in_flight.len() == 2 && in_flight.first_visits() == 0);
        assert!(in_flight.ended(OrderId(99)).is_none());
        assert!(in_flight.ended(first).is_some() && !in_flight.has(key));
        assert!(in_flight.ended(first).is_none(), "one report for one order");
        assert!(in_flight.ended(robots).is_some() && in_flight.is_empty());
        assert_eq!((in_flight.orders(), in_flight.reports()), (2, 2));
    }

    #[test]
    fn a_visit_that_may_bring_a_page_counts_as_a_first_visit_until_its_report() {
        let mut in_flight = InFlight::default();
        let id = in_flight.next_id();
        let failed = page(PageState::Failed);
        in_flight.sent(id, request(Some(1), Asked::Again(failed)));
        assert_eq!(in_flight.first_visits(), 1);
        in_flight.ended(id);
        assert_eq!(in_flight.first_visits(), 0);
    }
}
