//! The weights that people give to pages: they multiply the link scores.

use std::collections::HashMap;

use vernal_frontier::Pattern;
use vernal_model::{Fingerprint, Url};

/// How the importance of held pages is computed, apart from the weights that people give.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ImportanceBy {
    /// The links between pages.
    Links,
    /// Nothing: every page counts the same.
    #[default]
    None,
}

/// Weights by URL. All weights that apply to a URL are multiplied.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    pub patterns: Vec<(Pattern, f32)>,
    pub urls: HashMap<Fingerprint, f32>,
}

impl Weights {
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.urls.is_empty()
    }

    pub fn weight_of(&self, url: &Url) -> f32 {
        let by_pattern = self.patterns.iter().filter(|(pattern, _)| pattern.is_match(url.as_str()));
        let by_pattern: f32 = by_pattern.map(|(_, weight)| weight).product();
        by_pattern * self.urls.get(&url.fingerprint()).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_speak_of_a_url_multiply() {
        let url = |text: &str| Url::parse(text).unwrap();
        let pattern = |text: &str| vernal_frontier::pattern(text).unwrap();
        let mut weights =
            Weights { patterns: vec![(pattern("/news/"), 3.0), (pattern("old"), 0.5)], urls: HashMap::new() };
        weights.urls.insert(url("http://a.example/news/old").fingerprint(), 4.0);
        assert_eq!(weights.weight_of(&url("http://a.example/")), 1.0);
        assert_eq!(weights.weight_of(&url("http://a.example/news/1")), 3.0);
        assert_eq!(weights.weight_of(&url("http://a.example/news/old")), 6.0);
    }
}
