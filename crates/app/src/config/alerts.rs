//! Watches and routes of the settings: tables of the file, each the same as a watch or a route of the API.
//!
//! ```toml
//! [[routes]]
//! name = "press"
//! to.webhook = { url = "env:PRESS_HOOK", secrets = ["env:PRESS_SECRET"] }
//! time_zone = "Europe/Berlin"
//! quiet = "22:00-07:00"
//!
//! [[watches]]
//! name = "Budgets"
//! over.tag = "policy"
//! when = { words = ["budget*"], min = "moderate" }
//! to = [{ route = "press", how = "daily 07:00" }]
//! ```

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;
use toml::Spanned;
use vernal_model::Moment;
use vernal_search::query::parse;
use vernal_watch::{Route, RouteKind, Secret, Watch};

/// The keys of the file, which are also the names of the two settings.
pub const WATCHES: &str = "watches";
pub const ROUTES: &str = "routes";

#[derive(Deserialize)]
struct WatchTables {
    #[serde(default)]
    watches: Vec<Spanned<Watch>>,
}

#[derive(Deserialize)]
struct RouteTables {
    #[serde(default)]
    routes: Vec<Spanned<Route>>,
}

/// The texts of a setting of these two that a file gives; `None` for another one. The file is read again for this key alone,
/// because an error is to name its line.
pub fn texts_of(key: &str, file: &str) -> Option<Result<Vec<String>, String>> {
    match key {
        WATCHES => Some(tables(file, |tables: WatchTables| tables.watches, checked_watch)),
        ROUTES => Some(tables(file, |tables: RouteTables| tables.routes, checked_route)),
        _ => None,
    }
}

fn tables<Tables: for<'de> Deserialize<'de>, T: Serialize>(
    file: &str,
    of: impl Fn(Tables) -> Vec<Spanned<T>>,
    check: impl Fn(T) -> Result<T, String>,
) -> Result<Vec<String>, String> {
    let tables = toml::from_str(file).map_err(|error| placed(file, error.span(), error.message()))?;
    let each = of(tables).into_iter().map(|spanned| {
        let span = spanned.span();
        let checked = check(spanned.into_inner()).map_err(|what| placed(file, Some(span), &what))?;
        serde_json::to_string(&checked).map_err(|error| error.to_string())
    });
    each.collect()
}

/// The line, and what stands before its equals sign: what stands behind it may be a secret.
fn placed(file: &str, span: Option<Range<usize>>, what: &str) -> String {
    let what = what.lines().collect::<Vec<_>>().join(" ");
    let Some(before) = span.and_then(|span| file.get(..span.start)) else { return what };
    let begins = before.rfind('\n').map_or(0, |end| end + 1);
    let line = file[begins..].lines().next().unwrap_or_default();
    let key = line.split('=').next().unwrap_or_default().trim();
    format!("line {}: `{key}`: {what}", before.matches('\n').count() + 1)
}

pub fn watch(text: &str) -> Result<Watch, String> {
    let watch = serde_json::from_str(text).map_err(|error| format!("no watch as JSON: {error}"))?;
    checked_watch(watch)
}

pub fn route(text: &str) -> Result<Route, String> {
    let route = serde_json::from_str(text).map_err(|error| format!("no route as JSON: {error}"))?;
    checked_route(route)
}

/// What is shown of either: its name, because the rest may have secrets.
pub fn shown(text: &str) -> String {
    let table: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    table["name"].as_str().unwrap_or_default().to_owned()
}

fn checked_watch(watch: Watch) -> Result<Watch, String> {
    if watch.name.is_empty() {
        return Err("a watch of the settings needs a name, by which it is known from one run to the next".into());
    }
    if !watch.id.is_empty() {
        return Err("the id of a watch is given to it, and cannot be chosen".into());
    }
    watch.check().map_err(|error| error.to_string())?;
    if let Some(query) = &watch.over.search {
        parse::parse(query, Moment::EPOCH).map_err(|fault| fault.to_string())?;
    }
    vernal_api::spelled_as_the_feed(watch).map_err(|error| error.to_string())
}

fn checked_route(route: Route) -> Result<Route, String> {
    route.check().map_err(|error| error.to_string())?;
    match &route.to {
        RouteKind::Webhook(hook) if hook.secrets.iter().any(|secret| !Secret::is_named(secret)) => {
            Err("a secret does not stand in the settings: name it by env:NAME or file:PATH".into())
        }
        _ => Ok(route),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(key: &str, file: &str) -> String {
        texts_of(key, file).unwrap().unwrap_err()
    }

    #[test]
    fn a_watch_of_the_file_is_that_of_the_api_spelled_as_the_feed_spells_it() {
        let file = "delay = '2s'\n[[watches]]\nname = 'Budgets'\nover.prefix = 'HTTP://A.example/press'\n\
                    when = { words = ['budget*'], number = { above = 5 } }\nquiet = '22:00-07:00'\n\
                    to = [{ route = 'press', how = 'daily 07:00' }]\n";
        let texts = texts_of(WATCHES, file).unwrap().unwrap();
        let read = watch(&texts[0]).unwrap();
        assert_eq!(read.over.prefix.as_deref(), Some("http://a.example/press"));
        assert_eq!((read.when.words, shown(&texts[0])), (vec!["budget*".to_owned()], "Budgets".to_owned()));
        assert!(texts_of("delay", file).is_none() && texts_of(ROUTES, file).unwrap().unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_key() {
        let of_watch = |lines: &str| told(WATCHES, &format!("delay = '1s'\n[[watches]]\nname = 'a'\n{lines}\n"));
        for (lines, wanted) in [
            ("over.sight = 'a.example'", "line 4: `over.sight`: unknown field `sight`"),
            ("over.site = 'a.example'\nwhen.magnitude = 'x'", "line 5: `when.magnitude`: invalid type"),
            ("over.site = 'a.example'\nquiet = '22-7'", "line 5: `quiet`: `22-7` are no quiet hours"),
            ("over.site = 'a.example'\nto = [{ route = 'x', how = 'now' }]", "line 5: `to`: `now` is not when"),
            ("over.site = 'a.example'\nwhen.regex = '('", "line 2: `[[watches]]`: "),
            ("over.search = '((('", "line 2: `[[watches]]`: "),
            ("when.words = ['a']", "line 2: `[[watches]]`: missing field `over`"),
        ] {
            assert!(of_watch(lines).starts_with(wanted), "{lines}: {}", of_watch(lines));
        }
        let unnamed = told(WATCHES, "[[watches]]\nover.site = 'a.example'\n");
        assert!(unnamed.starts_with("line 1: `[[watches]]`: a watch of the settings needs a name"), "{unnamed}");
    }

    #[test]
    fn no_secret_stands_in_the_file_and_none_is_repeated() {
        let secret = Secret::of_bytes(&[7; 32]);
        let text = secret.reveal().unwrap();
        let whole =
            format!("[[routes]]\nname = 'x'\nto.webhook = {{ url = 'https://a.example/', secrets = ['{text}'] }}");
        assert!(told(ROUTES, &whole).ends_with("name it by env:NAME or file:PATH"), "{}", told(ROUTES, &whole));
        let plain = whole.replace(text, "hunter2");
        assert!(!told(ROUTES, &plain).contains("hunter2"), "{}", told(ROUTES, &plain));
    }
}
