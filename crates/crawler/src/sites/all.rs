//! What is known of sites above the partitions.

use super::addresses::AddressBook;
use super::noise_books::NoiseBooks;
use super::robots::RobotsBook;
use super::slots::Slots;
use crate::Settings;

pub(crate) struct Sites {
    pub robots: RobotsBook,
    pub addresses: AddressBook,
    pub noise: NoiseBooks,
    pub slots: Slots,
}

impl Sites {
    pub fn new(settings: &Settings) -> Self {
        Sites {
            robots: RobotsBook::new(&settings.robots_agent),
            addresses: AddressBook::new(settings.address),
            noise: NoiseBooks::new(settings.noise_books_max),
            slots: Slots::new(settings.concurrency),
        }
    }
}
