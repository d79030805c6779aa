//! The texts in force as typed values. What is no value is refused here, named by the place it came from.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use vernal_model::{Budget, Kind, Kinds, Scope, Site, Span, Url};

use super::resolve::{Given, InForce};
use super::{promises, weights};
use crate::error::{Error, Result};
use crate::log::LogFormat;

#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub log_format: LogFormat,
    pub seeds: Option<String>,
    pub budget: Budget,
    pub scope: Scope,
    pub depth: Option<u16>,
    pub pages_max: u64,
    pub per_site_pages_max: Option<u64>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub policy: String,
    pub topics: Topics,
    pub counts: Kinds,
    pub hints: bool,
    pub indexnow_keys: Vec<String>,
    pub websub_secret: Option<String>,
    pub websub_callback: Option<Url>,
    pub strict: bool,
    pub strict_sites: Vec<Site>,
    pub promises: Vec<vernal_crawler::Wish>,
    pub order: String,
    pub importance: vernal_crawler::ImportanceBy,
    pub weights: vernal_crawler::Weights,
    pub delay: Span,
    pub delay_max: Span,
    pub concurrency: usize,
    pub per_site: u16,
    pub per_address: u32,
    pub per_address_rate: f64,
    pub loops: usize,
    pub refresh_min: Span,
    pub abandon: bool,
    pub user_agent: Option<String>,
    pub contact: Option<String>,
    pub operator: Option<String>,
    pub connect_timeout: Span,
    pub first_byte_timeout: Span,
    pub total_timeout: Span,
    pub body_bytes_max: u64,
    pub segment_bytes_max: u64,
    pub disk_free_bytes_min: u64,
    pub keep_versions: Option<u32>,
    pub keep_for: Option<Span>,
    pub listen: SocketAddr,
    pub token_file: Option<PathBuf>,
    pub allow_private: bool,
    pub time_scale: f64,
    pub chance: u64,
}

impl Settings {
    pub fn read(in_force: &InForce) -> Result<Settings> {
        let texts = Texts(in_force);
        let settings = Settings {
            data: texts.needed("data", |text| Ok(PathBuf::from(text)))?,
            log_format: texts.needed("log-format", log_format)?,
            seeds: texts.wished("seeds", |text| Ok(text.to_owned()))?,
            budget: texts.needed("budget", parsed)?,
            scope: texts.needed("scope", parsed)?,
            depth: texts.wished("depth", number)?,
            pages_max: texts.needed("max-pages", number)?,
            per_site_pages_max: texts.wished("max-pages-per-site", number)?,
            include: texts.many("include"),
            exclude: texts.many("exclude"),
            policy: texts.needed("policy", |text| Ok(text.to_owned()))?,
            topics: texts.needed("topics", topics)?,
            counts: texts.kinds("counts")?,
            hints: texts.needed("hints", switch)?,
            indexnow_keys: texts.many("indexnow-keys"),
            websub_secret: texts.wished("websub-secret", |text| Ok(text.to_owned()))?,
            websub_callback: texts.wished("websub-callback", callback)?,
            strict: texts.needed("strict", switch)?,
            strict_sites: texts.all("strict-sites", crate::seeds::site)?,
            promises: texts.all("promises", promises::parse)?,
            order: texts.needed("order", |text| Ok(text.to_owned()))?,
            importance: texts.needed("importance", importance)?,
            weights: texts.weights()?,
            delay: texts.needed("delay", span)?,
            delay_max: texts.needed("delay-max", span)?,
            concurrency: texts.needed("concurrency", at_least_one)?,
            per_site: texts.needed("per-site", at_least_one)?,
            per_address: texts.needed("per-address", at_least_one)?,
            per_address_rate: texts.needed("per-address-rate", above_zero)?,
            loops: texts.needed("loops", at_least_one)?,
            refresh_min: texts.needed("refresh-min", span)?,
            abandon: texts.needed("abandon", switch)?,
            user_agent: texts.wished("user-agent", header_text)?,
            contact: texts.wished("contact", header_text)?,
            operator: texts.wished("operator", header_text)?,
            connect_timeout: texts.needed("connect-timeout", span)?,
            first_byte_timeout: texts.needed("first-byte-timeout", span)?,
            total_timeout: texts.needed("total-timeout", span)?,
            body_bytes_max: texts.needed("body-max", bytes)?,
            segment_bytes_max: texts.needed("segment-max", bytes)?,
            disk_free_bytes_min: texts.needed("disk-free-min", bytes)?,
            keep_versions: texts.wished("keep-versions", at_least_one)?,
            keep_for: texts.wished("keep-for", span)?,
            listen: texts.needed("listen", listen)?,
            token_file: texts.wished("token-file", |text| Ok(PathBuf::from(text)))?,
            allow_private: texts.needed("allow-private", switch)?,
            time_scale: texts.needed("time-scale", above_zero)?,
            chance: texts.needed("chance", number)?,
        };
        if settings.websub_callback.is_some() && settings.websub_secret.is_none() {
            let line = "websub-callback needs websub-secret: what hubs send must be signed";
            return Err(Error::Usage(line.into()));
        }
        Ok(settings)
    }

    /// Paths of the API that ask for a key or a signature of their own instead of the token.
    pub fn keyed_paths(&self) -> Vec<&'static str> {
        let indexnow = (!self.indexnow_keys.is_empty()).then_some("/indexnow");
        let websub = self.websub_secret.is_some().then_some("/websub");
        indexnow.into_iter().chain(websub).collect()
    }

    /// Whether nothing that was learned is set aside at this site.
    pub fn is_strict(&self, site: &Site) -> bool {
        self.strict || self.strict_sites.contains(site)
    }
}

/// When topics are reckoned.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Where the policy wants them.
    Auto,
    Off,
    Every(Span),
}

struct Texts<'a>(&'a InForce);

impl Texts<'_> {
    fn wished<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>> {
        let Some(given) = self.0.given(name) else { return Ok(None) };
        let Some(text) = given.values.last() else { return Ok(None) };
        read(text).map(Some).map_err(|what| complaint(given, &what))
    }

    fn needed<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T> {
        self.wished(name, read)?.ok_or_else(|| Error::Usage(format!("the setting {name} is empty")))
    }

    /// Each of many values.
    fn all<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>> {
        let Some(given) = self.0.given(name) else { return Ok(Vec::new()) };
        given.values.iter().map(|text| read(text).map_err(|what| complaint(given, &what))).collect()
    }

    /// A set of kinds that is not empty.
    fn kinds(&self, name: &str) -> Result<Kinds> {
        let mut all = Kinds::default();
        for some in self.all(name, kinds)? {
            some.iter().for_each(|kind| all.insert(kind));
        }
        if all.is_empty() { Err(Error::Usage(format!("the setting {name} is empty"))) } else { Ok(all) }
    }

    fn weights(&self) -> Result<vernal_crawler::Weights> {
        let Some(given) = self.0.given("weights") else { return Ok(vernal_crawler::Weights::default()) };
        weights::parse(&given.values).map_err(|what| complaint(given, &what))
    }

    fn many(&self, name: &str) -> Vec<String> {
        self.0.given(name).map(|given| given.values.clone()).unwrap_or_default()
    }
}

fn importance(text: &str) -> Result<vernal_crawler::ImportanceBy, String> {
    match text {
        "links" => Ok(vernal_crawler::ImportanceBy::Links),
        "none" => Ok(vernal_crawler::ImportanceBy::None),
        _ => Err(format!("`{text}` makes no importance: give links or none")),
    }
}

/// One or many kinds, separated by commas.
fn kinds(text: &str) -> Result<Kinds, String> {
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

fn complaint(given: &Given, what: &str) -> Error {
    Error::Usage(format!("{}: {what}", given.place()))
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|_| format!("`{text}` is no whole number that fits here"))
}

fn at_least_one<T: FromStr + PartialOrd + Default>(text: &str) -> Result<T, String> {
    let value: T = number(text)?;
    if value > T::default() { Ok(value) } else { Err(format!("`{text}` is too few: give at least 1")) }
}

fn span(text: &str) -> Result<Span, String> {
    Span::parse(text).map_err(|error| error.to_string())
}

fn topics(text: &str) -> Result<Topics, String> {
    match text {
        "auto" => Ok(Topics::Auto),
        "off" => Ok(Topics::Off),
        _ => match span(text) {
            Ok(every) if every > Span::ZERO => Ok(Topics::Every(every)),
            _ => Err(format!("`{text}` says not when: give auto, off or a span such as 1d")),
        },
    }
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` will not do: give a number above 0")),
    }
}

fn callback(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => {
            Err(format!("`{text}` is no address that a hub could reach: give for example https://crawl.example/websub"))
        }
    }
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("`{text}` is no log format: give text or json")),
    }
}

/// What goes into a header line must not be able to end it.
fn header_text(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed here".into());
    }
    Ok(text.to_owned())
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = named.as_deref().unwrap_or(text);
    address.parse().map_err(|_| format!("`{text}` is no address to listen on: give for example 127.0.0.1:8376"))
}

fn bytes(text: &str) -> Result<u64, String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, resolve};

    fn with(name: &str, value: &str) -> Result<Settings> {
        let mut flags = Flags::default();
        flags.push(name, value.into());
        Settings::read(&resolve(&flags, &[], Some(std::path::Path::new("/dev/null")))?)
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        assert_eq!(with("delay", "1s").unwrap().body_bytes_max, 8 << 20);
    }

    #[test]
    fn kinds_that_count_are_a_list_and_content_unless_somebody_says_otherwise() {
        let counts = |value: &str| with("counts", value).unwrap().counts;
        assert_eq!(with("delay", "1s").unwrap().counts, Kinds::of(&[Kind::Content]));
        assert_eq!(counts("structure, behaviour"), Kinds::of(&[Kind::Structure, Kind::Behaviour]));
        assert_eq!(counts("any"), Kinds::of(&Kind::ALL));
        assert_eq!(with("counts", "colour").unwrap_err().exit_code(), 2);
        let strict = with("strict-sites", "a.example").unwrap();
        assert!(strict.is_strict(&Site::new("a.example")) && !strict.is_strict(&Site::new("b.example")));
    }

    #[test]
    fn what_is_no_value_is_refused_by_its_place() {
        let told = with("budget", "5000").unwrap_err();
        assert_eq!(told.exit_code(), 2);
        assert!(told.line().unwrap().starts_with("--budget: `5000` is not a budget"));
        for (name, value) in [
            ("delay", "7"),
            ("listen", "here"),
            ("time-scale", "-1"),
            ("contact", "a\r\nb"),
            ("per-site", "0"),
            ("importance", "much"),
            ("websub-callback", "here"),
            ("websub-callback", "https://crawl.example/websub"),
        ] {
            assert!(with(name, value).is_err(), "{name} {value}");
        }
    }
}
