//! Thresholds and initial refresh times that people give to URLs: what seed 004 keeps in the record of each URL.

use vernal_frontier::Pattern;
use vernal_model::Url;
use vernal_policy::parameters::PolicySpec;
use vernal_policy::schedule::{RefreshTerms, RefreshTime};

/// What holds for some URLs in place of the parameters of the policy `refresh-time`.
#[derive(Clone, Debug)]
pub struct UrlTerms {
    pub of: UrlsOf,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    pub initial: Option<f64>,
}

#[derive(Clone, Debug)]
pub enum UrlsOf {
    Prefix(String),
    Pattern(Pattern),
}

impl UrlsOf {
    fn holds(&self, url: &Url) -> bool {
        match self {
            UrlsOf::Prefix(prefix) => url.as_str().starts_with(prefix.as_str()),
            UrlsOf::Pattern(pattern) => pattern.is_match(url.as_str()),
        }
    }
}

/// All of them, and what they stand in place of.
#[derive(Clone, Debug, Default)]
pub struct UrlTermsBook {
    own: Vec<UrlTerms>,
    policy: RefreshTerms,
}

impl UrlTermsBook {
    pub fn new(own: &[UrlTerms], policy: &str) -> Self {
        let of_policy = PolicySpec::parse(policy).ok().filter(|spec| spec.name() == "refresh-time");
        let policy = of_policy.map_or_else(RefreshTerms::default, |spec| RefreshTime::of(&spec).terms());
        UrlTermsBook { own: own.to_vec(), policy }
    }

    /// What holds for a URL, if anybody gave it something of its own. Of several that match, the first counts.
    pub fn of(&self, url: &Url) -> Option<RefreshTerms> {
        let own = self.own.iter().find(|own| own.of.holds(url))?;
        Some(RefreshTerms {
            lower: own.lower.unwrap_or(self.policy.lower),
            upper: own.upper.unwrap_or(self.policy.upper),
            initial: own.initial.unwrap_or(self.policy.initial),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_matches_holds_and_what_it_leaves_out_is_that_of_the_policy() {
        let news = UrlsOf::Prefix("http://a.example/news/".into());
        let all = UrlsOf::Pattern(vernal_frontier::pattern("example").unwrap());
        let own = [
            UrlTerms { of: news, lower: Some(0.1), upper: None, initial: Some(0.5) },
            UrlTerms { of: all, lower: None, upper: Some(0.9), initial: None },
        ];
        let book = UrlTermsBook::new(&own, "refresh-time:lower=0.2,upper=0.8");
        let of = |url: &str| book.of(&Url::parse(url).unwrap());
        assert_eq!(of("http://a.example/news/1"), Some(RefreshTerms { lower: 0.1, upper: 0.8, initial: 0.5 }));
        assert_eq!(of("http://a.example/"), Some(RefreshTerms { lower: 0.2, upper: 0.9, initial: 1.0 }));
        assert_eq!(of("http://b.test/"), None);
    }
}
