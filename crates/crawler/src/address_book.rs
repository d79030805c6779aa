//! The wider politeness: an address behind many sites has its own limit, kept above the partitions.

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_model::{Moment, Span};

use crate::AddressLimits;

/// Addresses remembered at most; the longest unused go first.
const ADDRESSES_MAX: usize = 100_000;

pub(crate) struct AddressBook {
    limits: AddressLimits,
    addresses: BTreeMap<IpAddr, Entry>,
}

#[derive(Copy, Clone, Default)]
struct Entry {
    in_flight: u32,
    /// The earliest next start: starts are spaced, with one second's worth of them allowed at once.
    next_start: Moment,
}

impl AddressBook {
    pub(crate) fn new(limits: AddressLimits) -> Self {
        AddressBook { limits, addresses: BTreeMap::new() }
    }

    /// When this address may be asked; `None` while it has its full number of requests in flight.
    pub(crate) fn earliest(&self, address: IpAddr) -> Option<Moment> {
        let Some(entry) = self.addresses.get(&address) else { return Some(Moment::EPOCH) };
        (entry.in_flight < self.limits.at_once).then_some(entry.next_start)
    }

    pub(crate) fn asked(&mut self, address: IpAddr, now: Moment) {
        self.make_room();
        let spacing = Span::from_secs_f64(1.0 / self.limits.per_second);
        let entry = self.addresses.entry(address).or_default();
        entry.in_flight += 1;
        entry.next_start = entry.next_start.max(now) + spacing;
    }

    pub(crate) fn answered(&mut self, address: IpAddr) {
        if let Some(entry) = self.addresses.get_mut(&address) {
            entry.in_flight = entry.in_flight.saturating_sub(1);
        }
    }

    fn make_room(&mut self) {
        if self.addresses.len() < ADDRESSES_MAX {
            return;
        }
        let idle = self.addresses.iter().filter(|(_, entry)| entry.in_flight == 0);
        let oldest = idle.min_by_key(|(_, entry)| entry.next_start).map(|(&address, _)| address);
        if let Some(oldest) = oldest {
            self.addresses.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_asked_so_often_and_so_many_at_a_time() {
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let mut book = AddressBook::new(AddressLimits { at_once: 3, per_second: 2.0 });
        let start = Moment::from_secs(100);
        let mut starts = Vec::new();
        let mut now = start;
        for _ in 0..9 {
            match book.earliest(address) {
                None => book.answered(address),
                Some(at) => {
                    now = now.max(at);
                    book.asked(address, now);
                    starts.push(now);
                }
            }
        }
        assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) >= Span::from_millis(500)), "{starts:?}");
        assert_eq!(starts.len(), 6, "every third turn had to wait for an answer");
    }
}
