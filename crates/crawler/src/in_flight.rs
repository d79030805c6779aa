//! Orders that left and whose reports have not come back.

use std::net::IpAddr;

use foldhash::{HashMap, HashSet};
use vernal_frontier::Waiting;
use vernal_model::{OrderId, Origin, Page, PageKey, PageState, Site};

/// What an order that left was for.
pub(crate) struct Request {
    /// The page that was asked for, if it was one.
    pub page: Option<PageKey>,
    /// The site that was really asked.
    pub site: Site,
    pub address: Option<IpAddr>,
    pub asked: Asked,
}

pub(crate) enum Asked {
    First(Box<Waiting>),
    Again(Box<Page>),
    Robots {
        origin: Origin,
        home: Site,
        /// It stands for a visit that follows it.
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
    /// Requests that may bring a page which is not held yet.
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

    /// What the order was for whose report came back; `None` if there is no such order.
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
    use vernal_model::Partition;

    use super::*;
    use crate::testing;

    fn request(page: Option<u32>, asked: Asked) -> Request {
        let page = page.map(|number| PageKey::new(Partition(0), number));
        Request { page, site: Site::new("a.org"), address: None, asked }
    }

    #[test]
    fn a_page_is_in_flight_from_its_order_to_its_report_and_a_stray_report_ends_nothing() {
        let mut in_flight = InFlight::default();
        let (page, robots) = (in_flight.next_id(), in_flight.next_id());
        let held = testing::held("http://a.org/7", 7);
        in_flight.sent(page, request(Some(7), Asked::Again(Box::new(held))));
        let home = Site::new("a.org");
        let asked = Asked::Robots { origin: Origin::new("http://a.org"), home, for_visit: false };
        in_flight.sent(robots, request(None, asked));
        let key = PageKey::new(Partition(0), 7);
        assert!(in_flight.has(key) && in_flight.len() == 2 && in_flight.first_visits() == 0);
        assert!(in_flight.ended(OrderId(99)).is_none());
        assert!(in_flight.ended(page).is_some() && !in_flight.has(key));
        assert!(in_flight.ended(page).is_none(), "one report for one order");
        assert!(in_flight.ended(robots).is_some() && in_flight.is_empty());
        assert_eq!((in_flight.orders(), in_flight.reports()), (2, 2));
    }

    #[test]
    fn a_visit_that_may_bring_a_page_counts_as_a_first_visit_until_its_report() {
        let mut in_flight = InFlight::default();
        let id = in_flight.next_id();
        let failed = testing::failed("http://a.org/1", 1, testing::START);
        in_flight.sent(id, request(Some(1), Asked::Again(Box::new(failed))));
        assert_eq!(in_flight.first_visits(), 1);
        in_flight.ended(id);
        assert_eq!(in_flight.first_visits(), 0);
    }
}
