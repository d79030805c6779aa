//! The wider politeness: an address with many sites has its own limit, kept above the partitions.

use std::collections::BTreeMap;
use std::net::IpAddr;

use vernal_model::{AddressLimits, Moment, Span};

/// Starts may come together within this time, because ticks do.
const TOLERANCE: Span = Span::from_millis(100);
/// Addresses kept in memory; beyond this, addresses that delay no request are forgotten.
const ADDRESSES_MAX: usize = 100_000;

/// Whether an address belongs to this machine or to a private network: what `allow_private` allows.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_private() || address.is_loopback(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_loopback(),
    }
}

pub(crate) struct AddressBook {
    limits: AddressLimits,
    addresses: BTreeMap<IpAddr, Entry>,
}

#[derive(Copy, Clone, Default)]
struct Entry {
    in_flight: u32,
    /// When the next start would be if all starts were evenly spaced; a start may come `TOLERANCE` earlier.
    next_start: Moment,
}

impl AddressBook {
    pub(crate) fn new(limits: AddressLimits) -> Self {
        AddressBook { limits, addresses: BTreeMap::new() }
    }

    /// When this address may be asked; `None` while it has as many requests in flight as it may have. Slow sites leave some to
    /// the others behind the same address.
    pub(crate) fn earliest(&self, address: IpAddr, is_slow: bool) -> Option<Moment> {
        let Some(entry) = self.addresses.get(&address) else { return Some(Moment::EPOCH) };
        let at_once = if is_slow { self.limits.at_once_of_slow() } else { self.limits.at_once };
        (entry.in_flight < at_once).then(|| entry.next_start - TOLERANCE)
    }

    pub(crate) fn asked(&mut self, address: IpAddr, now: Moment) {
        self.make_room(now);
        let spacing = self.spacing();
        let entry = self.addresses.entry(address).or_default();
        entry.in_flight += 1;
        entry.next_start = entry.next_start.max(now) + spacing;
    }

    /// Spaced so that no second has more starts than the limit, including starts that came together.
    fn spacing(&self) -> Span {
        let per_second = self.limits.per_second;
        Span::from_secs_f64((1.0 + TOLERANCE.secs_f64()) / (per_second - 1.0).max(per_second / 2.0))
    }

    pub(crate) fn answered(&mut self, address: IpAddr) {
        if let Some(entry) = self.addresses.get_mut(&address) {
            entry.in_flight = entry.in_flight.saturating_sub(1);
        }
    }

    /// Forgets addresses that delay no request any more.
    fn make_room(&mut self, now: Moment) {
        if self.addresses.len() >= ADDRESSES_MAX {
            self.addresses.retain(|_, entry| entry.in_flight > 0 || entry.next_start > now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_has_more_starts_than_the_limit_and_never_are_more_in_flight() {
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let limits = AddressLimits { at_once: 3, per_second: 20.0 };
        let mut book = AddressBook::new(limits);
        let mut chance = vernal_model::Chance::new(5);
        let (mut now, mut in_flight, mut starts) = (Moment::from_secs(100), 0, Vec::new());
        for _ in 0..2_000 {
            match book.earliest(address, chance.happens(0.5)) {
                Some(at) if at <= now && chance.happens(0.8) => {
                    book.asked(address, now);
                    starts.push(now);
                    in_flight += 1;
                    assert!(in_flight <= limits.at_once);
                }
                _ if in_flight > 0 && chance.happens(0.5) => {
                    book.answered(address);
                    in_flight -= 1;
                }
                _ => now += Span::from_millis(chance.below(60)),
            }
        }
        let most = starts.iter().map(|&from| {
            starts.iter().filter(|&&start| start >= from && start.since(from) < Span::from_secs(1)).count()
        });
        let most = most.max().unwrap();
        assert!((15..=20).contains(&most), "{most} starts in one second");
    }

    #[test]
    fn slow_sites_leave_requests_to_the_others_behind_their_address() {
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let mut book = AddressBook::new(AddressLimits::default());
        let filled = (0..).take_while(|_| {
            let has_room = book.earliest(address, true).is_some();
            book.asked(address, Moment::from_secs(100));
            has_room
        });
        assert_eq!(filled.count(), 12);
        assert!(book.earliest(address, false).is_some());
    }
}
