//! The storage format of a clock: format (1), record (4 × 8), bins (2, then for each: start 4, exposure 4, counts 3 ×
//! 4), little-endian.

use super::bins::{Bin, Bins};
use super::clock::SiteClock;

/// The longest clock: fine bins, days and four-days, with those that are not merged yet.
const BINS_MAX: usize = 256;
const FORMAT: u8 = 1;

impl SiteClock {
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(FORMAT);
        self.record.iter().for_each(|record| bytes.extend(record.to_le_bytes()));
        bytes.extend((self.bins.all().len() as u16).to_le_bytes());
        for bin in self.bins.all() {
            bytes.extend(bin.start.to_le_bytes());
            bin.held.iter().for_each(|part| bytes.extend(part.to_le_bytes()));
        }
    }

    /// `None` if the bytes are not exactly one clock of ours.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&format, mut rest) = bytes.split_first()?;
        let mut record = [0.0; 4];
        for record in &mut record {
            *record = f64::from_le_bytes(take(&mut rest)?);
        }
        let length = usize::from(u16::from_le_bytes(take(&mut rest)?));
        if format != FORMAT || length > BINS_MAX || rest.len() != length * 20 {
            return None;
        }
        let mut bins = Vec::with_capacity(length);
        for _ in 0..length {
            let mut bin = Bin::at(u32::from_le_bytes(take(&mut rest)?));
            for part in &mut bin.held {
                *part = f32::from_le_bytes(take(&mut rest)?);
            }
            bins.push(bin);
        }
        let sound = |bin: &Bin| bin.held.iter().all(|part| part.is_finite() && *part >= 0.0);
        let ordered = bins.windows(2).all(|two| two[0].start < two[1].start);
        let known = record.iter().all(|record| record.is_finite());
        (ordered && known && bins.iter().all(sound)).then(|| SiteClock::of(Bins::of(bins), record))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}
