//! The texts of settings as typed values, each refused with a line that says what would do.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use vernal_crawler::{ImportanceBy, Requisites};
use vernal_model::{Kind, Kinds, Span, Url};
use vernal_repository::JournalKept;

use super::settings::Topics;
use crate::log::LogFormat;

pub fn importance(text: &str) -> Result<ImportanceBy, String> {
    match text {
        "links" => Ok(ImportanceBy::Links),
        "none" => Ok(ImportanceBy::None),
        _ => Err(format!("`{text}` makes no importance: give links or none")),
    }
}

pub fn requisites(text: &str) -> Result<Requisites, String> {
    match text {
        "none" => Ok(Requisites::None),
        "site" => Ok(Requisites::Site),
        _ => Err(format!("`{text}` is no choice of requisites: give site or none")),
    }
}

pub fn journal(text: &str) -> Result<JournalKept, String> {
    let found = JournalKept::ALL.into_iter().find(|kept| kept.name() == text);
    found.ok_or_else(|| format!("`{text}` says not what becomes of old deeds: give drop, archive or keep"))
}

/// One or many kinds, separated by commas.
pub fn kinds(text: &str) -> Result<Kinds, String> {
    let mut kinds = Kinds::default();
    for name in text.split(',').map(str::trim) {
        match Kind::ALL.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => kinds.insert(kind),
            None if name == "any" => kinds = Kinds::of(&Kind::ALL),
            None => {
                let known = Kind::ALL.map(Kind::name).join(", ");
                return Err(format!("`{name}` is no kind of change: give {known} or any"));
            }
        }
    }
    Ok(kinds)
}

pub fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

pub fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|_| format!("`{text}` is no whole number that fits here"))
}

pub fn at_least_one<T: FromStr + PartialOrd + Default>(text: &str) -> Result<T, String> {
    let value: T = number(text)?;
    if value > T::default() { Ok(value) } else { Err(format!("`{text}` is too few: give at least 1")) }
}

pub fn span(text: &str) -> Result<Span, String> {
    Span::parse(text).map_err(|error| error.to_string())
}

/// Network timeouts are real, whatever the time scale says.
pub fn real_span(text: &str) -> Result<Duration, String> {
    span(text).map(|span| Duration::from_micros(span.micros()))
}

pub fn topics(text: &str) -> Result<Topics, String> {
    match text {
        "auto" => Ok(Topics::Auto),
        "off" => Ok(Topics::Off),
        _ => match span(text) {
            Ok(every) if every > Span::ZERO => Ok(Topics::Every(every)),
            _ => Err(format!("`{text}` says not when: give auto, off or a span such as 1d")),
        },
    }
}

pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

pub fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` will not do: give a number above 0")),
    }
}

pub fn callback(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => {
            Err(format!("`{text}` is no address that a hub could reach: give for example https://crawl.example/websub"))
        }
    }
}

pub fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("`{text}` is no log format: give text or json")),
    }
}

/// What goes into a header line must not be able to end it.
pub fn header_text(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed here".into());
    }
    Ok(text.to_owned())
}

pub fn listen(text: &str) -> Result<SocketAddr, String> {
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = named.as_deref().unwrap_or(text);
    address.parse().map_err(|_| format!("`{text}` is no address to listen on: give for example 127.0.0.1:8376"))
}

pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: give for example 8MiB, 500kB or 1GB");
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, unit) = text.split_at(split);
    let amount: f64 = amount.trim().parse().map_err(|_| wrong())?;
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    if amount.is_finite() && amount >= 0.0 { Ok((amount * factor) as u64) } else { Err(wrong()) }
}
/// A route to a program: `NAME=PROGRAM ARGUMENT…`, without a shell and without quotes.
pub fn command_route(text: &str) -> Result<vernal_watch::Route, String> {
    let wrong = || format!("`{text}` is no route to a program: give NAME=PROGRAM, with arguments behind it");
    let (name, command) = text.split_once('=').ok_or_else(wrong)?;
    let mut words = command.split_whitespace().map(str::to_owned);
    let path = words.next().ok_or_else(wrong)?;
    let program = vernal_watch::Program { path, arguments: words.collect() };
    let to = vernal_watch::RouteKind::Command(program);
    let route = vernal_watch::Route { name: name.trim().to_owned(), to, time_zone: None, quiet: None, template: None };
    route.check().map_err(|error| error.to_string())?;
    Ok(route)
}

/// An address that links begin with, without the slash at its end.
pub fn public_url(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is no address of an API: give one such as https://vernal.example");
    let url = vernal_model::Url::parse(text).map_err(|_| wrong())?;
    let is_web = matches!(url.scheme(), "http" | "https");
    if is_web { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(wrong()) }
}
