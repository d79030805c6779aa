//! How often pages are to be visited at least and at most: `tag:news at_least_every=1h`, or a table of the file.
//!
//! ```toml
//! [[promises]]
//! pattern = "/news/"          # or: tag = "news"
//! at_least_every = "1h"
//! at_most_every = "10m"
//! ```

use vernal_crawler::{Promise, Wish, WishOf};
use vernal_model::{Span, nearest};

const KEYS: [&str; 4] = ["tag", "pattern", "at_least_every", "at_most_every"];

/// The text that a table of the file means.
pub fn text_of(table: &toml::Table) -> Result<String, String> {
    if let Some(stranger) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(stranger, KEYS).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("unknown key `{stranger}` of a promise{meant}"));
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` of a promise must be a text")),
    };
    let of = match (text("tag")?, text("pattern")?) {
        (Some(tag), None) => format!("tag:{tag}"),
        (None, Some(pattern)) => format!("pattern:{pattern}"),
        _ => return Err("a promise is for a tag or for a pattern: give one of them".into()),
    };
    let mut words = vec![of];
    for key in ["at_least_every", "at_most_every"] {
        words.extend(text(key)?.map(|span| format!("{key}={span}")));
    }
    Ok(words.join(" "))
}

/// Reads the text: the spans stand last, so that a pattern may hold blanks.
pub fn parse(text: &str) -> Result<Wish, String> {
    let mut promise = Promise::default();
    let mut rest = text.trim();
    loop {
        let (before, last) = rest.rsplit_once(' ').unwrap_or(("", rest));
        let place = match last.split_once('=') {
            Some(("at_least_every", span)) => (&mut promise.at_least_every, span),
            Some(("at_most_every", span)) => (&mut promise.at_most_every, span),
            _ => break,
        };
        *place.0 = Some(Span::parse(place.1).map_err(|error| error.to_string())?);
        rest = before.trim_end();
    }
    if promise == Promise::default() {
        return Err(format!("`{text}` promises nothing: give at_least_every=SPAN or at_most_every=SPAN"));
    }
    if let (Some(least), Some(most)) = (promise.at_least_every, promise.at_most_every)
        && most > least
    {
        return Err(format!("`{text}`: at least every {least} and at most every {most} cannot both be"));
    }
    let of = match rest.split_once(':') {
        Some(("tag", tag)) if !tag.is_empty() => WishOf::Tag(tag.to_owned()),
        Some(("pattern", pattern)) => {
            WishOf::Pattern(vernal_frontier::pattern(pattern).map_err(|error| error.to_string())?)
        }
        _ => return Err(format!("`{text}` does not say of what: begin with tag:NAME or pattern:REGEX")),
    };
    Ok(Wish { of, promise })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_and_its_text_mean_the_same() {
        let table: toml::Table = "pattern = '/a b/'\nat_least_every = '1h'\nat_most_every = '10m'".parse().unwrap();
        let text = text_of(&table).unwrap();
        assert_eq!(text, "pattern:/a b/ at_least_every=1h at_most_every=10m");
        let wish = parse(&text).unwrap();
        assert!(matches!(&wish.of, WishOf::Pattern(pattern) if pattern.as_str() == "/a b/"));
        let spans = (wish.promise.at_least_every, wish.promise.at_most_every);
        assert_eq!(spans, (Some(Span::from_hours(1)), Some(Span::from_secs(600))));
    }

    #[test]
    fn what_is_no_promise_is_refused_with_what_is_missing() {
        for (text, told) in [
            ("tag:news", "promises nothing"),
            ("news at_least_every=1h", "tag:NAME"),
            ("tag:news at_least_every=soon", "soon"),
            ("pattern:( at_least_every=1h", "("),
            ("tag:a at_least_every=1h at_most_every=2h", "cannot both be"),
        ] {
            assert!(parse(text).unwrap_err().contains(told), "{text}");
        }
        let table: toml::Table = "tag = 'a'\nat_leest_every = '1h'".parse().unwrap();
        assert!(text_of(&table).unwrap_err().contains("did you mean `at_least_every`?"));
    }
}
