//! Seeds as people give them, judged by the guard of the fetchers.

pub use vernal_api::seed_entry::{Defaults, Reading, SEEDS_AT_ONCE, SeedEntry, read, site, url};
use vernal_model::Url;

/// Why a URL can never be visited, as far as that is known before its name is resolved; `None` if it may be.
pub fn why_never_visited(url: &Url, allow_private: bool) -> Option<String> {
    vernal_api::seed_entry::why_never_visited(url, allow_private, vernal_fetch::guard::check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shut_address_names_the_flag_that_opens_it() {
        let told = |text: &str, allow_private| why_never_visited(&Url::parse(text).unwrap(), allow_private);
        let private = told("http://127.0.0.1:8500/", false).unwrap();
        assert!(private.contains("127.0.0.1") && private.contains("--allow-private"), "{private}");
        assert!(told("http://localhost/", false).is_some());
        assert_eq!(told("http://127.0.0.1:8500/", true), None);
        assert!(!told("http://169.254.169.254/", true).unwrap().contains("--allow-private"));
        assert_eq!(told("http://example.org/", false), None);
    }
}
