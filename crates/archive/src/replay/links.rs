//! Where a link of an archived page leads: to the same archive, at the same moment.

use vernal_model::{Moment, Url};

use super::target::{Form, Target};

/// Schemes that lead nowhere on the network. They stay as they are; the headers keep scripts from running.
const INERT_SCHEMES: [&str; 8] = ["data:", "blob:", "javascript:", "mailto:", "tel:", "sms:", "about:", "cid:"];
/// Where a link leads that names no URL we could hold.
const NOWHERE: &str = "about:invalid";

/// The place from which links are read.
#[derive(Clone, Debug)]
pub struct Links {
    moment: Moment,
    base: Url,
}

impl Links {
    pub fn new(moment: Moment, page: Url) -> Links {
        Links { moment, base: page }
    }

    /// The page named another address to resolve its links against.
    pub fn set_base(&mut self, reference: &str) {
        if let Ok(base) = self.base.join(reference.trim()) {
            self.base = base;
        }
    }

    /// Where a reference leads; `None` where it stays as it is.
    pub fn led(&self, reference: &str) -> Option<String> {
        let plain: String =
            reference.trim_matches(is_space).chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        if plain.is_empty() || plain.starts_with('#') || is_inert(&plain) {
            return None;
        }
        let (bare, fragment) = plain.split_once('#').map_or((plain.as_str(), None), |(bare, end)| (bare, Some(end)));
        let Ok(url) = self.base.join(bare) else { return Some(NOWHERE.to_owned()) };
        let mut path = Target::path(self.moment, Form::Page, url.as_str());
        if let Some(fragment) = fragment {
            path.push('#');
            path.push_str(fragment);
        }
        Some(path)
    }

    /// The list of images of a `srcset`, each led into the archive.
    pub fn led_srcset(&self, list: &str) -> String {
        let mut led = Vec::new();
        let mut left = list;
        loop {
            left = left.trim_start_matches(|letter: char| is_space(letter) || letter == ',');
            if left.is_empty() {
                return led.join(", ");
            }
            let end = left.find(is_space).unwrap_or(left.len());
            let (image, rest) = left.split_at(end);
            // A comma at the end of an address ends the candidate.
            let (image, descriptor) = match image.trim_end_matches(',') {
                bare if bare.len() < image.len() => (bare, ""),
                bare => {
                    let end = rest.find(',').unwrap_or(rest.len());
                    left = rest.get(end..).unwrap_or_default();
                    (bare, rest[..end].trim())
                }
            };
            if descriptor.is_empty() && image.len() < end {
                left = rest;
            }
            let image = self.led(image).unwrap_or_else(|| image.to_owned());
            led.push(if descriptor.is_empty() { image } else { format!("{image} {descriptor}") });
        }
    }

    /// What a `refresh` says: seconds, and perhaps an address.
    pub fn led_refresh(&self, content: &str) -> String {
        let Some(at) = content.to_ascii_lowercase().find("url") else { return content.to_owned() };
        let rest = content[at + 3..].trim_start();
        let Some(address) = rest.strip_prefix('=') else { return content.to_owned() };
        let address = address.trim().trim_matches(|letter| matches!(letter, '"' | '\''));
        format!("{}url={}", &content[..at], self.led(address).unwrap_or_else(|| address.to_owned()))
    }
}

fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace() || letter.is_control()
}

fn is_inert(reference: &str) -> bool {
    INERT_SCHEMES
        .iter()
        .any(|scheme| reference.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        let moment = Moment::parse("20260501120000", Moment::EPOCH).unwrap();
        Links::new(moment, Url::parse("http://a.example/dir/page.html").unwrap())
    }

    #[test]
    fn every_link_leads_into_the_archive_at_the_same_moment() {
        for (reference, expected) in [
            ("x.png", "/20260501120000/http://a.example/dir/x.png"),
            ("/x.png", "/20260501120000/http://a.example/x.png"),
            ("//b.example/x", "/20260501120000/http://b.example/x"),
            (" HTTP://B.example/x?y=1#frag ", "/20260501120000/http://b.example/x?y=1#frag"),
            ("ht\ntp://b.example/", "/20260501120000/http://b.example/"),
            ("?q", "/20260501120000/http://a.example/dir/page.html?q"),
            ("\u{1}https://b.example/", "/20260501120000/https://b.example/"),
            ("http://[bad/", "about:invalid"),
            ("ws://b.example/", "about:invalid"),
        ] {
            assert_eq!(links().led(reference).as_deref(), Some(expected), "{reference}");
        }
        for reference in ["", "#top", "data:image/png;base64,AA", "javascript:alert(1)", "mailto:a@b", "  "] {
            assert_eq!(links().led(reference), None, "{reference}");
        }
    }

    #[test]
    fn each_candidate_of_a_srcset_is_led_on_its_own() {
        let a = "/20260501120000/http://a.example";
        for (list, expected) in [
            ("/1.png 1x, /2.png 2x", format!("{a}/1.png 1x, {a}/2.png 2x")),
            ("/1.png, /2.png 2x", format!("{a}/1.png, {a}/2.png 2x")),
            (" /a,b.png 100w,/2.png", format!("{a}/a,b.png 100w, {a}/2.png")),
            ("data:image/gif;base64,R0 1x, /2.png", format!("data:image/gif;base64,R0 1x, {a}/2.png")),
            (", ,", String::new()),
        ] {
            assert_eq!(links().led_srcset(list), expected, "{list}");
        }
    }

    #[test]
    fn a_base_moves_later_links_and_a_refresh_stays_inside() {
        let mut links = links();
        links.set_base("http://c.example/deep/");
        assert_eq!(links.led("x").as_deref(), Some("/20260501120000/http://c.example/deep/x"));
        assert_eq!(links.led_refresh("0; URL='/y'"), "0; url=/20260501120000/http://c.example/y");
        assert_eq!(links.led_refresh("5"), "5");
    }
}
