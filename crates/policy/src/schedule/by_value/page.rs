//! What this policy keeps of a page: 28 bytes.

use vernal_model::{PageKey, Partition};

/// Where a page stands between two visits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Unknown,
    /// Visited too short a time ago.
    CoolingDown,
    /// Recalled, and not looked at since; it may have cooled down or not.
    Recalled,
    /// Chosen, and not heard of since.
    InFlight,
    /// Eligible, behind the leader of its unobserved group, which is worth no less.
    Following,
    Eligible,
}

#[derive(Copy, Clone, Debug, Default)]
pub struct Page {
    /// The evidence of its own visits, beyond the prior: shape and scale. A page whose rate is known has that rate as its
    /// shape and `KNOWN` as its scale.
    pub shape: f32,
    pub scale: f32,
    /// The last visit, in seconds since 1970.
    pub last: u32,
    pub site: u32,
    /// The mean rate after the last visit, as a logarithm; 0 if it was never compared.
    rate_code: u16,
    /// Expected cost on the wire, as a logarithm; 0 if it is not known.
    bytes_code: u16,
    /// The upper half of the bits of the importance, which keeps it to a third of a percent.
    importance_code: u16,
    /// A fingerprint of the entry with which it waits; 0 if it waits nowhere.
    entry: u16,
    /// Its state, and where that is `Eligible` its level on top of it.
    state_and_level: u16,
    /// Its path group within the site: pages whose paths begin alike.
    pub group: u8,
    pub partition: u8,
}

/// In place of a scale: the rate of this page is known.
const KNOWN: f32 = -1.0;

/// No page is more important than this, so that sums stay finite.
const IMPORTANCE_MAX: f32 = 1e30;
const CODES_PER_DOUBLING: f64 = 1_024.0;
/// The rate of code 0 would be 2 to the power of minus this.
const RATE_DOUBLINGS: f64 = 32.0;

impl Page {
    pub fn key(&self, number: u32) -> PageKey {
        PageKey::new(Partition(self.partition), number)
    }

    /// Whether its rate is known, and not believed.
    pub fn is_known(&self) -> bool {
        self.scale == KNOWN
    }

    /// Its rate is known, and told next.
    pub fn mark_known(&mut self) {
        self.scale = KNOWN;
    }

    pub fn is_eligible(&self) -> bool {
        matches!(self.state(), State::Eligible | State::Following)
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

    /// Whether it has a rate. Cheaper than to ask for the rate.
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

    /// Its importance bucket: pages of one bucket count the same within a factor of two.
    pub fn importance_bucket(&self) -> u8 {
        (self.importance_code >> 7) as u8
    }

    /// No visit of it was compared, so that no more is known of it than of any page like it.
    pub fn is_unobserved(&self) -> bool {
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

    /// Waits with an entry of this key from now on. Entries that it waited with before are void.
    pub fn wait_with(&mut self, key: f32) {
        self.entry = fingerprint_of(key);
    }

    pub fn wait_nowhere(&mut self) {
        self.entry = 0;
    }

    /// Whether an entry of this key is the one with which it waits. One in thirty thousand others has the same
    /// fingerprint, and then the page is looked at once more than needed.
    pub fn waits_with(&self, key: f32) -> bool {
        self.entry == fingerprint_of(key)
    }

    pub fn last_day(&self) -> f64 {
        f64::from(self.last) / 86_400.0
    }

    pub fn state(&self) -> State {
        match self.state_and_level {
            0 => State::Unknown,
            1 => State::CoolingDown,
            2 => State::Recalled,
            3 => State::InFlight,
            4 => State::Following,
            _ => State::Eligible,
        }
    }

    /// Its level; 0 while its value is below the threshold, and while it is not eligible.
    pub fn level(&self) -> u16 {
        self.state_and_level.saturating_sub(State::Eligible as u16)
    }

    /// Enters a state; as an eligible page below all levels.
    pub fn enter(&mut self, state: State) {
        self.state_and_level = state as u16;
    }

    /// An eligible page reaches a level.
    pub fn set_level(&mut self, level: u16) {
        self.state_and_level = State::Eligible as u16 + level;
    }
}

fn fingerprint_of(key: f32) -> u16 {
    let bits = key.to_bits();
    (bits ^ (bits >> 16)) as u16 | 1
}

/// Spreads page numbers, so that pages of one level are served in no order of their numbers (lowbias32, Wellons 2018).
/// One to one.
pub fn spread(number: u32) -> u32 {
    let mut x = number;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The number that was spread.
pub fn gathered(spread: u32) -> u32 {
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
