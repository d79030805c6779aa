//! A body as Markdown.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use proptest::prelude::*;
use vernal_document::{Input, MarkdownOptions, markdown, read};
use vernal_model::{Digest, Url};

fn written(html: &str, options: &MarkdownOptions<'_>) -> String {
    let url = Url::parse("http://garden.example/roses/list.html").unwrap();
    let input = Input {
        url: &url,
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    };
    markdown(&input, options)
}

fn all(body: &str) -> String {
    written(body, &MarkdownOptions { all: true, names: None })
}

#[test]
fn every_form_that_markdown_has_is_kept() {
    for (html, expected) in [
        ("<h1>Roses</h1><p>In the  garden.", "# Roses\n\nIn the garden.\n"),
        ("<p>a <b>bold <i>and</i></b> <em> slanted </em>word", "a **bold *and*** *slanted* word\n"),
        ("<p>see <a href='../a b.html#x'>the list</a>.", "see [the list](http://garden.example/a%20b.html#x).\n"),
        ("<ul><li>one<li>two<ul><li>deep</ul><li>three</ul>", "- one\n- two\n  - deep\n- three\n"),
        ("<ol start=9><li>nine<li>ten<p>more</ol>", "9. nine\n10. ten\n\n    more\n"),
        (
            "<pre><code class='language-rust'>fn a() {\n    b(`c`)\n}\n</code></pre>",
            "```rust\nfn a() {\n    b(`c`)\n}\n```\n",
        ),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````\n"),
        ("<blockquote><p>said<p>twice</blockquote><p>end", "> said\n>\n> twice\n\nend\n"),
        ("<p>run <code>a`b</code> now", "run ``a`b`` now\n".replace("``a`b``", "`` a`b ``").as_str()),
        (
            "<table><tr><th>a<th>b<tr><td>1|2<td><b>x</b><br>y<tr><td>only</table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | **x** y |\n| only |  |\n",
        ),
        ("<p>one<br>two", "one\\\ntwo\n"),
        ("<p>2*3*4 [x] a_b _c_ &lt;b&gt; \\", "2\\*3\\*4 \\[x\\] a_b \\_c\\_ \\<b> \\\\\n"),
        ("<p># not<p>1. not<p>- not<p>> not", "\\# not\n\n1\\. not\n\n\\- not\n\n\\> not\n"),
        ("<p>a<hr><p>b<hr>", "a\n\n---\n\nb\n"),
        ("<script>x</script><style>y</style><template>z</template><p>q", "q\n"),
        ("", ""),
    ] {
        assert_eq!(all(html), expected, "{html}");
    }
}

#[test]
fn an_image_stands_where_it_stood_with_what_it_says_and_its_whole_address() {
    for (html, expected) in [
        (
            "<p>See <img src=../a.png alt='The [red] gate'> here",
            "See ![The \\[red\\] gate](http://garden.example/a.png) here\n",
        ),
        ("<p>one<p><img src=/b.jpg><p>two", "one\n\n![](http://garden.example/b.jpg)\n\ntwo\n"),
        (
            "<figure><a href=/large><img src=s.png alt='A rose'></a><figcaption>It is red</figcaption></figure>",
            "[![A rose](http://garden.example/roses/s.png)](http://garden.example/large)\n\nIt is red\n",
        ),
        ("<ul><li><img src=/a.png alt=One> first</ul>", "- ![One](http://garden.example/a.png) first\n"),
        (
            "<table><tr><th>a<th>b<tr><td><img src=/a.png alt='x|y'><td>1</table>",
            "| a | b |\n| --- | --- |\n| ![x\\|y](http://garden.example/a.png) | 1 |\n",
        ),
        (
            "<p>late<img src='data:image/gif;base64,R0lGOD' data-src='/c (1).png' alt=c>",
            "late![c](http://garden.example/c%20%281%29.png)\n",
        ),
        // For looks, a counter, without an address, in code, and hidden.
        ("<p>a<img src=/line.png alt=''><img src=/count.gif width=1 height=1><img alt=none>", "a\n"),
        ("<p>a<img src=/i.png role=presentation alt=x><img src='data:image/png;base64,AA' alt=x>", "a\n"),
        ("<pre>a<img src=/i.png alt=x></pre><p>run <code>a<img src=/i.png alt=x></code>", "```\na\n```\n\nrun `a`\n"),
        ("<p>a<template><img src=/i.png alt=x></template>", "a\n"),
    ] {
        assert_eq!(all(html), expected, "{html}");
    }
}

#[test]
fn images_of_the_main_content_are_kept_and_those_around_it_are_not() {
    let prose =
        "The roses by the gate were planted in March. They need water in the evening, and no one else may cut them.";
    let page = format!(
        "<header><img src=/logo.png alt=Logo></header><nav><a href=/><img src=/home.png alt=Home></a></nav>\
         <main><h1>Roses</h1><p>{prose}<p><img src=/rose.png alt='A rose'><p>{prose}</main><footer><img src=/f.png alt=F></footer>"
    );
    let image = "![A rose](http://garden.example/rose.png)";
    assert_eq!(written(&page, &MarkdownOptions::default()), format!("# Roses\n\n{prose}\n\n{image}\n\n{prose}\n"));
}

#[test]
fn a_table_that_only_lays_out_a_page_is_no_table() {
    let html = "<table><tr><td><h2>Left</h2><p>first<p>second<td><ul><li>x</ul></table>";
    assert_eq!(all(html), "## Left\n\nfirst\n\nsecond\n\n- x\n");
    // A list in a table of facts stays in its cell.
    let facts = "<table><tr><th>Key<th>Does<tr><td>Space<td><ul><li>opens<li>closes</ul></table>";
    assert_eq!(all(facts), "| Key | Does |\n| --- | --- |\n| Space | opens closes |\n");
}

#[test]
fn what_stands_around_the_content_is_left_out() {
    let prose =
        "The roses by the gate were planted in March. They need water in the evening, and no one else may cut them.";
    let page = format!(
        "<title>T</title><header><p>Logo</header><nav><ul><li><a href=/>Home</a></ul></nav>\
         <div class='cookie-notice'>We use cookies</div><div id=content><h1>Roses</h1><p>{prose}<p>{prose}\
         <div class=share-buttons>Share this</div><h2>More</h2><ul><li><a href=/a>Tulips are fine</a><li><a href=/b>Beans are fine</a></ul></div>\
         <div class=sidebar>Aside</div><footer>Imprint</footer>"
    );
    let main = written(&page, &MarkdownOptions::default());
    assert_eq!(main, format!("# Roses\n\n{prose}\n\n{prose}\n"));
    let whole = written(&page, &MarkdownOptions { all: true, names: None });
    for words in ["Logo", "Home", "cookies", "Share", "Tulips", "Aside", "Imprint"] {
        assert!(whole.contains(words), "{words} is missing in {whole}");
    }
}

#[test]
fn names_stand_behind_the_paragraphs_that_the_document_counts() {
    let html = "<title>T</title><h1>Roses</h1><p>one<ul><li>two</ul><nav>menu</nav><p>three";
    let url = Url::parse("http://garden.example/").unwrap();
    let input = Input {
        url: &url,
        bytes: html.as_bytes(),
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest::default(),
    };
    let document = read(&input).document;
    let texts = vernal_document::diff::texts(&document);
    let name = |place: usize| Some(texts[place].to_owned());
    let text = written(html, &MarkdownOptions { all: true, names: Some(&name) });
    assert_eq!(text, "# Roses ^Roses\n\none ^one\n\n- two ^two\n\nmenu ^menu\n\nthree ^three\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Tags in any order, opened and closed at will: never a panic, never more words than the page has, no control characters.
    #[test]
    fn any_markup_becomes_text(parts in proptest::collection::vec(0usize..26, 0..60)) {
        const PARTS: [&str; 26] = [
            "<ul>", "</ul>", "<ol>", "<li>", "</li>", "<table>", "<tr>", "<td>", "<th>", "</table>", "<pre>", "</pre>", "<blockquote>",
            "</blockquote>", "<b>", "</b>", "<a href=x>", "</a>", "<code>", "</code>", "word ", "<h2>", "</h2>", "<p>", "\u{1f}\u{1e}\u{1d}7\u{1d}", "<br>",
        ];
        let html: String = parts.iter().map(|&part| PARTS[part]).collect();
        for names in [None, Some(&(|place: usize| Some(place.to_string())) as vernal_document::ParagraphName<'_>)] {
            let text = written(&html, &MarkdownOptions { all: true, names });
            prop_assert!(!text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')), "{text:?}");
            let words = parts.iter().filter(|&&part| part == 20).count();
            prop_assert_eq!(text.matches("word").count(), words, "{}", text);
        }
    }
}
