//! Spellings of one address: addresses that servers commonly answer with one file. Whether they do is told by the content alone.

use xxhash_rust::xxh3::xxh3_64;

use super::Url;

/// Names of the file that a server gives for a folder, without their endings.
const INDEX_NAMES: [&str; 4] = ["index", "default", "home", "welcome"];

/// Endings that a server may leave away.
const PAGE_ENDINGS: [&str; 13] =
    [".html", ".htm", ".xhtml", ".shtml", ".php", ".php5", ".phtml", ".asp", ".aspx", ".jsp", ".jspx", ".cfm", ".cgi"];

impl Url {
    /// The site without `www.` in front: the host that people mean.
    pub fn site_without_www(&self) -> &str {
        let site = self.site_text();
        site.strip_prefix("www.").unwrap_or(site)
    }

    /// The address without what spellings of one address differ in:
    ///
    /// 1. the scheme, `www.` before the host, the case of the path;
    /// 2. slashes at the end of the path, and more than one in a row;
    /// 3. the file that a server gives for a folder (`index.html`), and the ending of a page (`.html`);
    /// 4. the order of the parameters.
    pub fn plain_spelling(&self) -> String {
        let mut plain = self.site_without_www().to_owned();
        let path = self.path().to_ascii_lowercase();
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        if let Some(last) = parts.pop() {
            let name = PAGE_ENDINGS.iter().find_map(|ending| last.strip_suffix(ending));
            match name {
                Some(name) if INDEX_NAMES.contains(&name) => {}
                Some(name) if !name.is_empty() => parts.push(name),
                _ => parts.push(last),
            }
        }
        for part in parts {
            plain.push('/');
            plain.push_str(part);
        }
        let mut parameters: Vec<&str> = self.query().unwrap_or_default().split('&').collect();
        parameters.retain(|parameter| !parameter.is_empty());
        parameters.sort_unstable();
        for (place, parameter) in parameters.iter().enumerate() {
            plain.push(if place == 0 { '?' } else { '&' });
            plain.push_str(parameter);
        }
        plain
    }

    /// 64 bits (xxh3) of its plain spelling: two spellings of one address have the same.
    pub fn spelling_mark(&self) -> u64 {
        xxh3_64(self.plain_spelling().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_have_one_mark_and_other_addresses_have_others() {
        let groups: [&[&str]; 8] = [
            &[
                "http://a.org/",
                "https://a.org/",
                "http://www.a.org/",
                "http://a.org//",
                "http://a.org/index.html",
                "http://a.org/INDEX.HTM",
                "http://a.org/index.php",
                "http://a.org/default.aspx",
            ],
            &["http://a.org/docs", "http://a.org/docs/", "http://a.org/Docs", "http://a.org/docs/index.php"],
            &["http://a.org/about", "http://a.org/about.html", "http://a.org/about/", "http://a.org//about.php"],
            &["http://a.org/?b=1&a=2", "http://a.org/index.php?a=2&b=1"],
            &["http://a.org/?a=2"],
            &["http://a.org:81/"],
            &["http://b.a.org/"],
            &["http://a.org/a/index.html/b", "http://a.org/a/index.html/b/"],
        ];
        let mark = |text: &&str| Url::parse(text).unwrap().spelling_mark();
        for (place, group) in groups.iter().enumerate() {
            for (other_place, other) in groups.iter().enumerate() {
                for (one, two) in group.iter().flat_map(|one| other.iter().map(move |two| (one, two))) {
                    assert_eq!(mark(one) == mark(two), place == other_place, "{one} {two}");
                }
            }
        }
    }

    #[test]
    fn a_name_that_is_an_ending_alone_stays() {
        let plain = |text: &str| Url::parse(text).unwrap().plain_spelling();
        assert_eq!(plain("http://a.org/.html"), "a.org/.html");
        assert_eq!(plain("http://a.org/index"), "a.org/index");
        assert_eq!(plain("http://a.org/a.tar.gz"), "a.org/a.tar.gz");
    }
}
