//! What one body becomes, seen from outside the room.

use vernal_document::{Input, LINKS_MAX, PARAGRAPHS_MAX, Parsed, read};
use vernal_model::{Digest, Directives, LinkKind, Media, Rel, Role, Url};

fn parsed_as(content_type: Option<&str>, body: impl AsRef<[u8]>) -> Parsed {
    let url = Url::parse("https://www.example.org/folder/page.html").expect("a plain URL");
    read(&Input {
        url: &url,
        bytes: body.as_ref(),
        content_type,
        content_language: Some("fr, en"),
        robots_tags: &["noarchive"],
        payload: Digest([7; 20]),
    })
}

fn html(body: impl AsRef<[u8]>) -> Parsed {
    parsed_as(Some("text/html"), body)
}

fn paragraphs(parsed: &Parsed) -> Vec<(Role, &str)> {
    let document = &parsed.document;
    document.paragraphs.iter().map(|p| (p.role, &document.text[p.start as usize..p.end as usize])).collect()
}

#[test]
fn paragraphs_have_the_roles_of_their_places() {
    let parsed = html(
        "<html lang=de-AT><title> My\n page </title><header>Brand <h1>Big</h1></header><nav><ul><li>Menu</ul></nav>\
         <div role=navigation>Crumbs</div><main><article><header>By me</header><h2>Head</h2>Some <b>bo</b>ld text.\
         <ul><li>one<li>two</ul><table><tr><td>a</td><td>b</td></tr></table>line<br>next<br><br>after</article></main>\
         <footer><p>Legal</footer><template>no</template><noscript>no</noscript>",
    );
    assert_eq!(
        paragraphs(&parsed),
        [
            (Role::Title, "My page"),
            (Role::Navigation, "Brand"),
            (Role::Heading, "Big"),
            (Role::Navigation, "Menu"),
            (Role::Navigation, "Crumbs"),
            (Role::Main, "By me"),
            (Role::Heading, "Head"),
            (Role::Main, "Some bold text."),
            (Role::ListItem, "one"),
            (Role::ListItem, "two"),
            (Role::TableRow, "a b"),
            (Role::Main, "line next"),
            (Role::Main, "after"),
            (Role::Footer, "Legal"),
        ]
    );
    assert_eq!((parsed.document.title.as_str(), parsed.document.language.as_str()), ("My page", "de-AT"));
}

#[test]
fn links_carry_kind_rel_and_anchor() {
    let document = html(
        "<base href=/b/><link rel=canonical href=/c><link rel=alternate hreflang=fr href=/fr>\
         <link rel=alternate type=application/atom+xml title='All  news' href=/atom><link rel='stylesheet' href=s.css>\
         <a href=x rel='nofollow ugc'> Some <i>words</i>\n here</a><img src=i.png alt=' An  image '><script src=j.js></script>\
         <iframe src=/f></iframe><audio src=a.ogg></audio><meta http-equiv=refresh content='0;url=/r'><a rel=next href=/2>2</a>",
    )
    .document;
    let links: Vec<_> =
        document.links.iter().map(|link| (link.kind, link.target.path(), link.rel, document.anchor(link))).collect();
    let plain = Rel::default();
    assert_eq!(
        links,
        [
            (LinkKind::Canonical, "/c", plain, ""),
            (LinkKind::Alternate, "/fr", plain, ""),
            (LinkKind::Feed, "/atom", plain, "All news"),
            (LinkKind::Style, "/b/s.css", plain, ""),
            (LinkKind::Anchor, "/b/x", Rel::NOFOLLOW.with(Rel::UGC), "Some words here"),
            (LinkKind::Image, "/b/i.png", plain, "An image"),
            (LinkKind::Script, "/b/j.js", plain, ""),
            (LinkKind::Frame, "/f", plain, ""),
            (LinkKind::Media, "/b/a.ogg", plain, ""),
            (LinkKind::Redirect, "/r", plain, ""),
            (LinkKind::Anchor, "/2", Rel::NEXT, "2"),
        ]
    );
    assert_eq!(document.canonical.unwrap().path(), "/c");
    assert_eq!((document.alternates.len(), document.alternates[0].language.as_str()), (2, "fr"));
    assert_eq!(document.language, "fr", "the header speaks where the page does not");
}

#[test]
fn directives_come_from_header_and_page() {
    let document = html("<meta name=Robots content='NOINDEX'><meta name=vernal content=nofollow><meta name=otherbot content=none><meta name=meta-updates content='weekly'>").document;
    assert_eq!(document.directives, Directives { noindex: true, nofollow: true, noarchive: true });
    assert_eq!(document.meta_updates.as_deref(), Some("weekly"));
}

#[test]
fn other_bodies_are_read_by_their_kind() {
    let feed = parsed_as(
        None,
        "<?xml version='1.0'?><rss><channel><title>News</title><item><title>One &amp; two</title><link>http://a.b/</link><description><![CDATA[<b>x</b>]]></description></item></channel></rss>",
    );
    assert_eq!((feed.document.media, feed.document.title.as_str()), (Media::Xml, "News"));
    assert_eq!(feed.document.text, "News\nOne & two\nhttp://a.b/\n<b>x</b>");
    let picture = parsed_as(None, b"\x89PNG\r\n\x1a\nrest");
    assert_eq!((picture.document.media, picture.signature.structure), (Media::Image, 0));
    assert_ne!(picture.signature.content, 0);
    assert_eq!(picture.signature.payload, Digest([7; 20]));
    let json = parsed_as(Some("application/json"), "{\"a\": 1}");
    assert_eq!((json.document.media, json.document.text.as_str()), (Media::Json, ""));
}

#[test]
fn text_is_the_same_in_every_character_set() {
    let utf8 = html("<meta charset=utf-8><p>Größe: 5 €</p>");
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode("<meta charset=windows-1252><p>Größe: 5 €</p>");
    let other = html(&latin);
    assert_eq!(utf8.signature.content, other.signature.content);
    assert_eq!((utf8.document.charset, other.document.charset), ("UTF-8", "windows-1252"));
}

#[test]
fn too_many_links_are_counted_and_not_kept() {
    let body: String = (0..LINKS_MAX + 50).map(|number| format!("<a href=/p{number}>{number}</a>")).collect();
    let document = html(body).document;
    assert_eq!((document.links.len(), document.links_dropped), (LINKS_MAX, 50));
    assert_eq!(document.anchor(&document.links[LINKS_MAX - 1]), "9999");
}

#[test]
fn too_many_paragraphs_become_one_last() {
    let body: String = (0..PARAGRAPHS_MAX + 500).map(|number| format!("<p>{number}")).collect();
    let parsed = html(body);
    assert_eq!(parsed.document.paragraphs.len(), PARAGRAPHS_MAX);
    assert!(parsed.document.text.ends_with("5497 5498 5499"));
}

#[test]
fn a_million_levels_cost_a_million_steps() {
    for pattern in
        ["<div>", "<div role=navigation>x", "<ul><li>", "</div>", "<svg>", "<a href=x>", "<table><tr><td>", "<"]
    {
        let body = pattern.repeat(1_000_000);
        let parsed = html(&body);
        assert!(parsed.document.paragraphs.len() <= PARAGRAPHS_MAX);
    }
    let attributes = format!("<p {}>x", "a b=c ".repeat(500_000));
    assert_eq!(html(attributes).document.text, "x");
    let names: String = (0..200_000).map(|number| format!("a{number}=1 ")).collect();
    assert_eq!(html(format!("<p {names}>x")).document.text, "x");
    assert_eq!(html("<!--".repeat(300_000)).document.text, "");
    assert_eq!(html("<script><!--".repeat(300_000)).document.text, "");
}
