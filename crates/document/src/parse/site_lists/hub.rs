//! The hub that an answer names in its head (WebSub, section 4): `Link: <https://hub.example/>; rel="hub"`.

use vernal_model::Url;

/// So many Link lines are examined, and so many links of each.
const LINKS_MAX: usize = 32;

/// The hub and the feed's own address as the Link lines of an answer give them (RFC 8288).
pub fn of_links<'a>(base: &Url, lines: impl Iterator<Item = &'a str>) -> (Option<Url>, Option<Url>) {
    let (mut hub, mut own) = (None, None);
    for (target, parameters) in lines.take(LINKS_MAX).flat_map(|line| links(line).take(LINKS_MAX)) {
        let Ok(url) = base.join(target) else { continue };
        for relation in relations(parameters) {
            match () {
                () if relation.eq_ignore_ascii_case("hub") => drop(hub.get_or_insert_with(|| url.clone())),
                () if relation.eq_ignore_ascii_case("self") => drop(own.get_or_insert_with(|| url.clone())),
                () => {}
            }
        }
    }
    (hub, own)
}

/// The links of one line: the text between the angle brackets, and the parameters after it.
fn links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let open = rest.find('<')?;
        let close = open + rest[open..].find('>')?;
        let behind = &rest[close + 1..];
        let end = end_of_parameters(behind);
        let link = (rest[open + 1..close].trim(), &behind[..end]);
        rest = &behind[end..];
        Some(link)
    })
}

/// The start of the next link: after the first comma outside quoted values.
fn end_of_parameters(text: &str) -> usize {
    parted(text, ',').next().map_or(0, str::len)
}

fn relations(parameters: &str) -> impl Iterator<Item = &str> {
    let value = parted(parameters, ';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"'))
    });
    value.unwrap_or_default().split_ascii_whitespace()
}

/// The parts between separators outside quoted values.
fn parted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |letter| {
        quoted ^= letter == '"';
        letter == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hubs_and_own_addresses_are_found_in_link_lines_however_they_are_written() {
        let base = Url::parse("http://a.org/blog/feed").unwrap();
        let url = |text: &str| Some(Url::parse(text).unwrap());
        for lines in [
            vec!["<https://hub.org/>; rel=\"hub\"", "<http://a.org/feed>; rel=\"self\""],
            vec!["<https://hub.org/>; rel=hub, </feed>; title=\"a, b; rel=hub\"; rel=\"self\""],
            vec![
                "</style.css>; rel=preload; as=style, <https://hub.org/>;title=x ;REL = \"Next HUB\", </feed>;rel=self",
            ],
        ] {
            let found = of_links(&base, lines.iter().copied());
            assert_eq!(found, (url("https://hub.org/"), url("http://a.org/feed")), "{lines:?}");
        }
        for line in ["", "<", "<>", "hub; rel=hub", "<javascript:x>; rel=hub", "<http://hub.org/>; rev=hub"] {
            assert_eq!(of_links(&base, std::iter::once(line)).0, None, "{line}");
        }
    }
}
