//! Pages with their links led into the archive.
//!
//! The page is read as a stream by the parser that browsers' own rules describe, and all that is not a link stays as it was. What
//! protects the reader are the headers of the answer; leading links only keeps the page together.

use std::cell::RefCell;

use lol_html::html_content::{ContentType, Element};
use lol_html::{MemorySettings, Settings, element, rewrite_str, text};

use super::css;
use super::links::Links;

/// Attributes that name one address, on whatever element.
const ADDRESSES: [&str; 11] =
    ["href", "src", "action", "formaction", "poster", "data", "background", "cite", "longdesc", "xlink:href", "lowsrc"];
/// Attributes that would have the browser ask others, or that no longer hold for bytes that were rewritten.
const DROPPED: [&str; 6] = ["ping", "integrity", "manifest", "crossorigin", "nonce", "attributionsrc"];
/// Links that only prepare connections.
const PREPARING: [&str; 6] = ["preconnect", "dns-prefetch", "prefetch", "prerender", "modulepreload", "preload"];
/// `meta` elements that would take the place of our headers.
const HEADERS: [&str; 3] = ["content-security-policy", "content-security-policy-report-only", "set-cookie"];
/// Pages within attributes of pages, so many levels deep.
const NESTED_MAX: usize = 3;
/// Memory for one page, beside the page itself.
const MEMORY_BYTES_MAX: usize = 32 << 20;

/// The page with its links led; `None` where it could not be read within the limits.
pub fn rewritten(html: &str, links: &Links) -> Option<String> {
    nested(html, links, 0)
}

fn nested(html: &str, links: &Links, depth: usize) -> Option<String> {
    let links = RefCell::new(links.clone());
    let style = RefCell::new(String::new());
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES_MAX))
        .append_element_content_handler(element!("*", |element| {
            lead(element, &mut links.borrow_mut(), depth);
            Ok(())
        }))
        .append_element_content_handler(text!("style", |chunk| {
            let mut style = style.borrow_mut();
            style.push_str(chunk.as_str());
            match chunk.last_in_text_node() {
                true => {
                    chunk.replace(&css::rewritten(&std::mem::take(&mut *style), &links.borrow()), ContentType::Html)
                }
                false => chunk.remove(),
            }
            Ok(())
        }));
    rewrite_str(html, settings).ok()
}

fn lead(element: &mut Element<'_, '_>, links: &mut Links, depth: usize) {
    let name = element.tag_name();
    match name.as_str() {
        "base" => {
            if let Some(base) = plain(element, "href") {
                links.set_base(&base);
            }
            // All links are led already.
            element.remove_attribute("href");
            return;
        }
        "meta" => return lead_meta(element, links),
        "link" if prepares(element) => return element.remove(),
        _ => {}
    }
    for dropped in DROPPED {
        element.remove_attribute(dropped);
    }
    for attribute in ADDRESSES {
        if let Some(led) = plain(element, attribute).and_then(|address| links.led(&address)) {
            set(element, attribute, &led);
        }
    }
    for attribute in ["srcset", "imagesrcset"] {
        if let Some(list) = plain(element, attribute) {
            set(element, attribute, &links.led_srcset(&list));
        }
    }
    if let Some(style) = plain(element, "style").filter(|style| style.contains('(')) {
        set(element, "style", &css::rewritten(&style, links));
    }
    if let Some(page) = plain(element, "srcdoc") {
        match nested(&page, links, depth + 1).filter(|_| depth < NESTED_MAX) {
            Some(page) => set(element, "srcdoc", &page),
            None => element.remove_attribute("srcdoc"),
        }
    }
}

fn lead_meta(element: &mut Element<'_, '_>, links: &Links) {
    let Some(named) = plain(element, "http-equiv").map(|named| named.trim().to_ascii_lowercase()) else { return };
    if HEADERS.contains(&named.as_str()) {
        return element.remove();
    }
    if let Some(content) = plain(element, "content").filter(|_| named == "refresh") {
        set(element, "content", &links.led_refresh(&content));
    }
}

fn prepares(element: &Element<'_, '_>) -> bool {
    let rel = plain(element, "rel").unwrap_or_default().to_ascii_lowercase();
    rel.split_ascii_whitespace().any(|word| PREPARING.contains(&word))
}

/// The value of an attribute with its character references read.
fn plain(element: &Element<'_, '_>, name: &str) -> Option<String> {
    let value = element.get_attribute(name)?;
    Some(htmlize::unescape_attribute(value.as_str()).into_owned())
}

fn set(element: &mut Element<'_, '_>, name: &str, value: &str) {
    // The writer escapes quotes; an ampersand would begin a character reference.
    let _ = element.set_attribute(name, &value.replace('&', "&amp;"));
}

#[cfg(test)]
mod tests {
    use vernal_model::{Moment, Url};

    use super::*;

    fn led(html: &str) -> String {
        let moment = Moment::parse("20260501", Moment::EPOCH).unwrap();
        rewritten(html, &Links::new(moment, Url::parse("http://a.example/dir/").unwrap())).unwrap()
    }

    const A: &str = "/20260501000000/http://a.example";

    #[test]
    fn links_of_all_kinds_are_led_and_the_rest_stays_byte_for_byte() {
        for (html, expected) in [
            (
                "<p CLASS=x>a &amp; b<a href=/y?p=1&amp;q=2>z</a>",
                format!("<p CLASS=x>a &amp; b<a href=\"{A}/y?p=1&amp;q=2\">z</a>"),
            ),
            ("<img src='i.png' srcset='j.png 2x'>", format!("<img src=\"{A}/dir/i.png\" srcset=\"{A}/dir/j.png 2x\">")),
            ("<base href=/other/><a href=x>", format!("<base><a href=\"{A}/other/x\">")),
            ("<style>a{b:url(c)}</style>", format!("<style>a{{b:url(\"{A}/dir/c\")}}</style>")),
            ("<div style=\"b:url(c)\">", format!("<div style=\"b:url(&quot;{A}/dir/c&quot;)\">")),
            (
                "<meta http-equiv=Refresh content='0;url=/n'>",
                format!("<meta http-equiv=Refresh content=\"0;url={A}/n\">"),
            ),
            ("<meta http-equiv=content-security-policy content=x>y", "y".into()),
            ("<link rel='x DNS-Prefetch' href=//evil.example>y", "y".into()),
            ("<a ping=//evil.example href='#t'>", "<a href='#t'>".into()),
            ("<svg><image xlink:href=i.png /></svg>", format!("<svg><image xlink:href=\"{A}/dir/i.png\" /></svg>")),
            ("<script>x='<a href=/y>'</script>", "<script>x='<a href=/y>'</script>".into()),
            ("<!-- <a href=/y> -->", "<!-- <a href=/y> -->".into()),
        ] {
            assert_eq!(led(html), expected, "{html}");
        }
    }

    #[test]
    fn a_page_within_a_page_is_led_too_and_only_so_deep() {
        let inner = led("<iframe srcdoc='&lt;img src=/x&gt;'>");
        assert!(inner.contains(&format!("{A}/x")), "{inner}");
        let mut page = "<img src=http://evil.example/x>".to_owned();
        for _ in 0..6 {
            page = format!("<iframe srcdoc=\"{}\">", page.replace('&', "&amp;").replace('"', "&quot;"));
        }
        assert!(!led(&page).contains("evil.example"));
    }

    #[test]
    fn broken_pages_end_without_a_fault() {
        for html in [
            "<",
            "<a href",
            "<a href=\"",
            "<style>a{b:url(",
            "<iframe srcdoc=",
            "<base href='http://[",
            "\u{0}<a href=\u{0}>",
        ] {
            led(html);
        }
    }
}
