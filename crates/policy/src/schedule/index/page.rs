//! What the index policies keep of a page: 28 bytes.

use vernal_model::{Moment, PageKey, Partition, Span};

/// Where a page is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Unknown,
    /// Visited too short a time ago.
    Resting,
    /// Taken up, and not yet looked at; it may have rested or not.
    Recalled,
    /// Chosen, and not yet heard of.
    Out,
    /// At home, behind a page that is worth no less.
    Following,
    Home,
}

#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Page {
    /// The evidence of its own visits, beyond the prior: shape and scale. A page whose rate somebody knows has that rate for
    /// a shape, and a mark for a scale.
    pub shape: f32,
    pub scale: f32,
    /// The last visit, in seconds since 1970.
    pub last: u32,
    pub site: u32,
    /// The mean rate after the last visit, as a logarithm; 0 if it was never compared.
    rate_code: u16,
    /// Expected cost on the wire, as a logarithm; 0 if nobody knows.
    bytes_code: u16,
    /// The upper half of the importance, which holds it to a third of a percent.
    importance_code: u16,
    /// The mark of the entry with which it waits; 0 if it waits nowhere.
    mark: u16,
    /// Its place, and at home its rung on top of it.
    standing: u16,
    /// Its group within the site: pages whose paths begin alike.
    pub group: u8,
    pub partition: u8,
}

/// In place of evidence, the mark of a page whose rate somebody knows.
pub(super) const KNOWN: f32 = -1.0;

/// Nobody is more important than this, so that no sum is endless.
const IMPORTANCE_MAX: f32 = 1e30;
const CODES_PER_DOUBLING: f64 = 1_024.0;
/// The rate of code 0 would be 2 to the power of minus this.
const RATE_DOUBLINGS: f64 = 32.0;

impl Page {
    pub fn key(&self, number: u32) -> PageKey {
        PageKey::new(Partition(self.partition), number)
    }

    /// Whether somebody knows its rate.
    pub fn is_known(&self) -> bool {
        self.scale == KNOWN
    }

    pub fn bytes(&self) -> Option<f64> {
        (self.bytes_code > 0).then(|| (f64::from(self.bytes_code) / CODES_PER_DOUBLING).exp2())
    }

    pub fn set_bytes(&mut self, bytes: u64) {
        self.bytes_code = if bytes == 0 { 0 } else { ((bytes as f64).log2() * CODES_PER_DOUBLING).max(1.0) as u16 };
    }

    /// The mean rate after the last visit, or the known rate; 0 if it was never compared.
    pub fn rate(&self) -> f32 {
        match self.rate_code {
            _ if self.scale == KNOWN => self.shape,
            0 => 0.0,
            code => (f64::from(code) / CODES_PER_DOUBLING - RATE_DOUBLINGS).exp2() as f32,
        }
    }

    /// Whether it has a rate, for those who need not know which.
    pub fn is_compared(&self) -> bool {
        self.rate_code > 0 || self.scale == KNOWN && self.shape > 0.0
    }

    pub fn set_rate(&mut self, rate: f32) {
        let code = ((f64::from(rate).log2() + RATE_DOUBLINGS) * CODES_PER_DOUBLING).round().max(1.0) as u16;
        match self.scale == KNOWN {
            true => self.shape = rate,
            false => self.rate_code = if rate > 0.0 { code } else { 0 },
        }
    }

    pub fn importance(&self) -> f32 {
        f32::from_bits(u32::from(self.importance_code) << 16)
    }

    /// The importance as it is kept: the same for those that count the same.
    pub fn importance_code(&self) -> u16 {
        self.importance_code
    }

    /// The octave of its importance: pages of one count the same within a factor of two.
    pub fn octave(&self) -> u8 {
        (self.importance_code >> 7) as u8
    }

    /// Nobody knows more of it than of any page like it.
    pub fn is_unheard(&self) -> bool {
        self.shape == 0.0 && self.scale == 0.0
    }

    /// Whether this would be another importance.
    pub fn is_another_importance(&self, importance: f32) -> bool {
        let mut page = *self;
        page.set_importance(importance)
    }

    /// Takes an importance, rounded; whether it is another one.
    pub fn set_importance(&mut self, importance: f32) -> bool {
        // What is no number counts as nothing.
        let sound = if importance > 0.0 { importance.min(IMPORTANCE_MAX) } else { 0.0 };
        let rounded = sound.to_bits() + (1 << 15);
        std::mem::replace(&mut self.importance_code, (rounded >> 16) as u16) != self.importance_code
    }

    /// Waits with an entry of this key from now on. What it waited with before stands no longer.
    pub fn wait_with(&mut self, key: f32) {
        self.mark = mark_of(key);
    }

    pub fn wait_nowhere(&mut self) {
        self.mark = 0;
    }

    /// Whether an entry of this key is the one with which it waits. One in thirty thousand others looks like it, and then the
    /// page is looked at once more than it need be.
    pub fn waits_with(&self, key: f32) -> bool {
        self.mark == mark_of(key)
    }

    pub fn last_day(&self) -> f64 {
        f64::from(self.last) / 86_400.0
    }

    pub fn place(&self) -> Place {
        match self.standing {
            0 => Place::Unknown,
            1 => Place::Resting,
            2 => Place::Recalled,
            3 => Place::Out,
            4 => Place::Following,
            _ => Place::Home,
        }
    }

    /// Its rung; 0 while its value is below the floor, and when it is not at home.
    pub fn level(&self) -> u16 {
        self.standing.saturating_sub(Place::Home as u16)
    }

    /// Goes to a place; at home below all rungs.
    pub fn go(&mut self, place: Place) {
        self.standing = place as u16;
    }

    /// Goes to a rung, at home.
    pub fn climb(&mut self, level: u16) {
        self.standing = Place::Home as u16 + level;
    }
}

fn mark_of(key: f32) -> u16 {
    let bits = key.to_bits();
    (bits ^ (bits >> 16)) as u16 | 1
}

/// Whole seconds, rounded up, so that no page is thought to have rested longer than it has.
pub(super) fn seconds(moment: Moment) -> u32 {
    let micros = moment.micros().max(0);
    u32::try_from((micros + 999_999) / 1_000_000).unwrap_or(u32::MAX)
}

/// When a page that was visited in this second may be visited again. Seconds are rounded up, so that no rest is cut short;
/// a rest of less than a second is for tests and demonstrations, and then it is not made longer than a second either.
pub(super) fn rested_at(last: u32, refresh_min: Span) -> Moment {
    let rounded = i64::from(refresh_min < Span::from_secs(1));
    Moment::from_secs(i64::from(last) - rounded) + refresh_min
}

/// Days since 1970.
pub(super) fn days(moment: Moment) -> f64 {
    moment.micros() as f64 / 86_400e6
}

/// Spreads page numbers, so that equals are served in no order of theirs (lowbias32, Wellons 2018); one to one.
pub(super) fn spread(number: u32) -> u32 {
    let mut x = number;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

pub(super) fn gathered(spread: u32) -> u32 {
    let mut x = spread;
    x = (x ^ (x >> 16)).wrapping_mul(0x4302_1123);
    x = (x ^ (x >> 15) ^ (x >> 30)).wrapping_mul(0x1d69_e2a5);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_small_and_its_number_comes_back() {
        assert!(size_of::<Page>() <= 28);
        for number in (0..200_000).chain([u32::MAX, u32::MAX - 1]) {
            assert_eq!(gathered(spread(number)), number);
        }
    }

    #[test]
    fn rates_are_kept_to_a_tenth_of_a_percent_and_come_back_as_they_are_kept() {
        let mut page = Page::default();
        assert_eq!(page.rate(), 0.0);
        for rate in [1e-9f32, 0.000_3, 0.02, 1.0, 7.3, 90_000.0] {
            page.set_rate(rate);
            let kept = page.rate();
            assert!((kept / rate - 1.0).abs() < 1e-3, "{kept} {rate}");
            page.set_rate(kept);
            assert_eq!(page.rate(), kept);
        }
        page.scale = KNOWN;
        page.set_rate(0.123_456_7);
        assert_eq!(page.rate(), 0.123_456_7);
    }

    #[test]
    fn importance_is_kept_to_a_third_of_a_percent_and_small_numbers_as_they_are() {
        let mut page = Page::default();
        for importance in [0.0f32, 0.5, 1.0, 3.0, 96.0] {
            page.set_importance(importance);
            assert_eq!(page.importance(), importance);
            assert!(!page.set_importance(importance));
        }
        for importance in [0.0123f32, 0.777, 12.34, 1e6] {
            assert!(page.set_importance(importance));
            assert!((page.importance() / importance - 1.0).abs() < 1.0 / 300.0);
        }
        page.set_importance(f32::MAX);
        assert!(page.importance().is_finite());
        page.set_importance(-1.0);
        assert_eq!(page.importance(), 0.0);
    }

    #[test]
    fn a_page_waits_with_its_last_entry_only() {
        let mut page = Page::default();
        assert!(!page.waits_with(0.0));
        page.wait_with(1.25);
        page.wait_with(1.5);
        assert!(page.waits_with(1.5) && !page.waits_with(1.25));
        page.wait_nowhere();
        assert!(!page.waits_with(1.5));
    }

    #[test]
    fn bytes_are_kept_to_a_tenth_of_a_percent() {
        let mut page = Page::default();
        assert_eq!(page.bytes(), None);
        for bytes in [2u64, 900, 14_000, 3_000_000, 5_000_000_000] {
            page.set_bytes(bytes);
            let kept = page.bytes().unwrap();
            assert!((kept / bytes as f64 - 1.0).abs() < 1e-3, "{kept} {bytes}");
        }
    }
}
