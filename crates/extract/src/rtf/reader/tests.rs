use super::*;

fn html(rtf: &str) -> String {
    let html = read_rtf(rtf.as_bytes()).unwrap().finish("application/rtf");
    html.split_once("<body>\n").unwrap().1.trim_end_matches("</body></html>\n").to_owned()
}

#[test]
fn paragraphs_headings_tables_links_and_letters_are_read() {
    let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}
{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\info{\title A title}{\creatim\yr2024\mo5\dy1}}
\pard\s1 Top\par\pard Caf\'e9 {\f1\'cf} \u8364?\par
{\field{\*\fldinst{HYPERLINK \'22https://a.example/\'22}}{\fldrslt link}}\par
\trowd\intbl a\cell b\cell\row\pard after\par{\*\unknown gone}}";
    assert_eq!(
        html(rtf),
        "<h1>Top</h1>\n<p>Café П €</p>\n<p><a href=\"https://a.example/\">link</a></p>\n<table>\n<tr><td>a<td>b</tr>\n</table>\n<p>after</p>\n"
    );
}

#[test]
fn groups_without_end_and_ends_without_groups_are_read_through() {
    assert_eq!(html("{\\rtf1 a}}}b\\par"), "<p>ab</p>\n");
    assert_eq!(html(&format!("{{\\rtf1 {}x\\par", "{".repeat(5_000))), "<p>x</p>\n");
}
