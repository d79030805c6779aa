//! How a diff looks.

use vernal_document::diff::diff;
use vernal_document::diff::render::{View, html, text};

use crate::page;

const OLD: &str = "<title>Shop</title><h1>Shop</h1><p>One.<p>Two.<h2>Plans</h2><p>Basic is free.<p>Pro costs €9.99 a \
    month.<p>Gone soon.<h2>End</h2><p>Three.<p>Four.";
const NEW: &str = "<title>Shop</title><h1>Shop</h1><p>One.<p>Two.<h2>Plans</h2><p>Basic is free.<p>Pro costs €12.99 a \
    month.<h2>End</h2><p>Three.<p>Four.<p>Brand new.";

#[test]
fn text_tells_only_what_changed() {
    let (old, new) = (page(OLD), page(NEW));
    let found = diff(&old, &new);
    let told = text(&found, &new, &View { from: "version 1", to: "version 2", ..View::default() });
    let expected = "--- version 1\n+++ version 2\n  … 5 paragraphs unchanged\n  Basic is free.\n@@ Plans @@\n\
        ~ Pro costs €[-9.99-]{+12.99+} a month.\n- Gone soon.\n  End\n  Three.\n  Four.\n@@ End @@\n+ Brand new.\n";
    // Until headings have levels all of them count alike; with levels the trail begins with "Shop".
    assert_eq!(told.replace("@@ Shop › ", "@@ "), expected);
    assert_eq!(text(&diff(&new, &new), &new, &View::default()), "");
}

#[test]
fn full_text_tells_everything_and_colour_is_asked_for() {
    let (old, new) = (page(OLD), page(NEW));
    let found = diff(&old, &new);
    let told = text(&found, &new, &View { full: true, colour: true, ..View::default() });
    assert!(told.contains("  One.\n") && told.contains("\x1b[32m+ Brand new.\x1b[0m") && !told.contains("unchanged"));
    assert!(!text(&found, &new, &View::default()).contains('\x1b'));
}

#[test]
fn a_long_edit_is_shown_around_its_changes() {
    let words = "plain words without end ".repeat(40);
    let (old, new) = (page(&format!("<p>{words} old {words}")), page(&format!("<p>{words} new {words}")));
    let found = diff(&old, &new);
    let told = text(&found, &new, &View::default());
    assert!(told.contains("[-old-]") && told.contains('…') && told.len() < 400, "{told}");
    assert!(text(&found, &new, &View { full: true, ..View::default() }).len() > 1_800);
}

#[test]
fn a_page_shows_text_and_nothing_of_the_pages_it_is_about() {
    let evil = "<p>&lt;script>alert(1)&lt;/script> &lt;img src=x onerror=y> \"q\" 'r' &amp;lt; <a href=http://evil.test/>link</a>\
        <script src=//evil.test/a.js></script><style>p{background:url(//evil.test/)}</style>";
    let (old, new) = (page("<p>harmless text <a href=http://evil.test/>link</a>"), page(evil));
    let found = diff(&old, &new);
    for full in [false, true] {
        let view = View { title: "<b>\"title\"", from: "<i>", to: "</style><script>", full, ..View::default() };
        let shown = html(&found, &new, &view);
        assert!(shown.starts_with("<!doctype html>") && shown.ends_with("</html>\n"));
        assert!(shown.contains("default-src 'none'") && shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        let lower = shown.to_lowercase();
        for forbidden in ["<script", "<img", "evil.test", "href", "<b>", "<i>"] {
            assert!(!lower.contains(forbidden), "{forbidden} in {shown}");
        }
        assert_eq!(lower.matches("<style>").count(), 1);
    }
    // An outside judge: the page is the tree it looks like.
    let shown = page(&html(&found, &new, &View::default()));
    assert!(shown.links.is_empty());
    assert!(shown.text.contains("<script>alert(1)</script>"));
}

#[test]
fn json_is_what_the_contract_says() {
    let (old, new) = (page("<h2>Plans</h2><p>Pro costs €9.99 now."), page("<h2>Plans</h2><p>Pro costs €12.99 now."));
    let mut found = diff(&old, &new).between(3, 4);
    let mark = |id| vernal_model::ParagraphMark { id, ..Default::default() };
    found.number(&[mark(1), mark(2)], &[mark(1), mark(2)]);
    let told = serde_json::to_value(&found).unwrap();
    let expected = serde_json::json!({
        "from": 3, "to": 4, "fallback": null,
        "paragraphs": [{
            "op": "edited", "id": 2, "role": "main", "headings": ["Plans"], "position": 1, "from": 1,
            "before": "Pro costs €9.99 now.", "after": "Pro costs €12.99 now.",
            "words": [
                { "op": "same", "text": "Pro costs €" }, { "op": "removed", "text": "9.99" },
                { "op": "added", "text": "12.99" }, { "op": "same", "text": " now." },
            ],
        }],
    });
    assert_eq!(told, expected);
}
