//! The tabs of the operations.

/// The screens of this place: the last part of the address, and the name.
const TABS: [(&str, &str); 7] = [
    ("state", "State"),
    ("settings", "Settings"),
    ("seeds", "Seeds"),
    ("noise", "Noise"),
    ("exports", "Exports"),
    ("forgotten", "Forgotten"),
    ("log", "Log"),
];

/// The tabs, of which one is shown.
pub struct Tabs(pub &'static str);

impl Tabs {
    pub fn all(&self) -> Vec<(String, &'static str, bool)> {
        TABS.map(|(name, words)| (format!("/operations/{name}"), words, name == self.0)).into_iter().collect()
    }
}
