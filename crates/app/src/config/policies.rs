//! Parameters of policies: `hybrid:v=4` beside the name of the policy, or tables of the file, which may name several
//! policies and the one that is used.
//!
//! ```toml
//! [policy]
//! name = "hybrid"             # what `policy = "hybrid"` says where no parameter is given
//! [policy.hybrid]
//! v = 4
//! [[policy.refresh-time.url]] # thresholds of some URLs
//! prefix = "http://a.example/news/"   # or: pattern = "/news/"
//! lower = 0.1
//! upper = 0.5
//! initial = 0.5
//! ```

use vernal_api::SettingRow;
use vernal_crawler::{UrlTerms, UrlsOf};
use vernal_model::nearest;
use vernal_policy::parameters::{Parameter, PolicySpec};

use super::resolve::{InForce, Source};

const NAME: &str = "name";
const URLS: &str = "url";
const WITH_URLS: &str = "refresh-time";
const OF_URLS: [&str; 2] = ["prefix", "pattern"];
const TERMS: [&str; 3] = ["lower", "upper", "initial"];

/// What the table `policy` of the file says: the name of the policy, and the texts of the settings `parameters` and
/// `url-thresholds`.
#[derive(Debug, Default, PartialEq)]
pub struct PolicyTable {
    pub name: Option<String>,
    pub parameters: Vec<String>,
    pub url_thresholds: Vec<String>,
}

impl PolicyTable {
    pub fn read(table: &toml::Table) -> Result<Self, String> {
        let mut read = PolicyTable::default();
        for (key, value) in table {
            match value {
                toml::Value::String(name) if key == NAME => read.name = Some(name.clone()),
                toml::Value::Table(values) => read.take(key, values)?,
                _ => return Err(format!("`{key}` must be a table of parameters, and `name` the name of a policy")),
            }
        }
        Ok(read)
    }

    fn take(&mut self, policy: &str, values: &toml::Table) -> Result<(), String> {
        let mut given = Vec::new();
        for (name, value) in values {
            match value {
                toml::Value::Array(urls) if name == URLS && policy == WITH_URLS => {
                    for url in urls {
                        let table = url.as_table().ok_or("give thresholds of URLs as [[policy.refresh-time.url]]")?;
                        self.url_thresholds.push(text_of(table)?);
                    }
                }
                value => given.push(format!("{name}={}", super::file::text(value)?)),
            }
        }
        if !given.is_empty() {
            self.parameters.push(format!("{policy}:{}", given.join(",")));
        }
        Ok(())
    }
}

/// The text that a table of thresholds means.
fn text_of(table: &toml::Table) -> Result<String, String> {
    let known = || OF_URLS.into_iter().chain(TERMS);
    if let Some(stranger) = table.keys().find(|key| !known().any(|known| known == *key)) {
        let meant = nearest(stranger, known()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("unknown key `{stranger}` of thresholds{meant}"));
    }
    let of = OF_URLS.into_iter().find_map(|key| Some(format!("{key}:{}", table.get(key)?.as_str()?)));
    let mut words = vec![of.ok_or("thresholds are for a prefix or for a pattern: give one of them")?];
    for key in TERMS {
        if let Some(value) = table.get(key) {
            words.push(format!("{key}={}", super::file::text(value)?));
        }
    }
    Ok(words.join(" "))
}

/// Thresholds of some URLs: the values stand last, so that a pattern may hold blanks.
pub fn url_terms(text: &str) -> Result<UrlTerms, String> {
    let mut given = Vec::new();
    let mut rest = text.trim();
    while let Some((before, last)) = rest.rsplit_once(' ') {
        if !TERMS.iter().any(|term| last.split_once('=').is_some_and(|(name, _)| name == *term)) {
            break;
        }
        given.insert(0, last);
        rest = before.trim_end();
    }
    let of = match rest.split_once(':') {
        Some(("prefix", prefix)) if !prefix.is_empty() => UrlsOf::Prefix(prefix.to_owned()),
        Some(("pattern", pattern)) => {
            UrlsOf::Pattern(vernal_frontier::pattern(pattern).map_err(|error| error.to_string())?)
        }
        _ => return Err(format!("`{text}` does not say of which URLs: begin with prefix:URL or pattern:REGEX")),
    };
    if given.is_empty() {
        return Err(format!("`{text}` says nothing: give lower=, upper= or initial="));
    }
    // The ranges, and what must hold between the two thresholds, are those of the policy.
    let spec = PolicySpec::parse(&format!("{WITH_URLS}:{}", given.join(","))).map_err(|error| error.to_string())?;
    Ok(UrlTerms { of, lower: spec.given("lower"), upper: spec.given("upper"), initial: spec.given("initial") })
}

/// A policy with its parameters, as the setting `parameters` names it.
pub fn parameters(text: &str) -> Result<PolicySpec, String> {
    let spec = PolicySpec::parse(text).map_err(|error| error.to_string())?;
    let is_empty = spec.in_force().all(|(_, _, is_given)| !is_given);
    if is_empty { Err(format!("`{text}` gives no parameter: write POLICY:PARAMETER=VALUE")) } else { Ok(spec) }
}

/// The policy of this name with what `parameters` gives for it, in one text.
pub fn with_parameters(name: &str, parameters: &[PolicySpec]) -> Result<String, String> {
    let spec = PolicySpec::parse(name).map_err(|error| error.to_string())?;
    let all = parameters.iter().try_fold(spec, PolicySpec::or);
    all.map(|spec| spec.to_string()).map_err(|error| error.to_string())
}

/// Every parameter of the policy that is used, with where its value came from: `policy.hybrid.v`.
pub fn rows(in_force: &InForce) -> Vec<SettingRow> {
    let texts = |name: &str| in_force.given(name).map_or(&[][..], |given| &given.values[..]);
    let source = |name: &str| in_force.given(name).map_or_else(String::new, |given| given.source.to_string());
    let Some(of_name) = texts("policy").last().and_then(|text| PolicySpec::parse(text).ok()) else { return Vec::new() };
    let others: Vec<PolicySpec> = texts("parameters").iter().filter_map(|text| PolicySpec::parse(text).ok()).collect();
    let Ok(spec) = others.iter().try_fold(of_name.clone(), PolicySpec::or) else { return Vec::new() };
    let row = |(parameter, value, is_given): (&Parameter, String, bool)| SettingRow {
        name: format!("policy.{}.{}", spec.name(), parameter.name),
        value: value.into(),
        source: match (is_given, of_name.given(parameter.name)) {
            (false, _) => Source::Default.to_string(),
            (true, Some(_)) => source("policy"),
            (true, None) => source("parameters"),
        },
    };
    spec.in_force().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PolicyTable, String> {
        PolicyTable::read(&text.parse().unwrap())
    }

    #[test]
    fn a_table_gives_the_name_the_parameters_and_the_thresholds_of_urls() {
        let told = read(
            "name = 'hybrid'\n[hybrid]\nv = 4\np = '5%'\n[refresh-time]\nlower = 0.2\n[[refresh-time.url]]\nprefix = \
             'http://a.example/a b/'\nlower = 0.1\nupper = 0.5\n[[refresh-time.url]]\npattern = '/x'\ninitial = 2",
        );
        let told = told.unwrap();
        assert_eq!(told.name.as_deref(), Some("hybrid"));
        assert_eq!(told.parameters, ["hybrid:p=5%,v=4", "refresh-time:lower=0.2"]);
        assert_eq!(told.url_thresholds, ["prefix:http://a.example/a b/ lower=0.1 upper=0.5", "pattern:/x initial=2"]);
        let first = url_terms(&told.url_thresholds[0]).unwrap();
        assert!(matches!(&first.of, UrlsOf::Prefix(prefix) if prefix == "http://a.example/a b/"));
        assert_eq!((first.lower, first.upper, first.initial), (Some(0.1), Some(0.5), None));
        let given: Vec<PolicySpec> = told.parameters.iter().map(|text| parameters(text).unwrap()).collect();
        assert_eq!(with_parameters("hybrid:v=9", &given).unwrap(), "hybrid:v=9,p=0.05");
        assert_eq!(with_parameters("vernal", &given).unwrap(), "vernal");
    }

    #[test]
    fn every_parameter_in_force_is_shown_with_where_it_came_from() {
        let mut flags = crate::config::Flags::default();
        flags.push("policy", "hybrid:v=4".into());
        let environment = [("VERNAL_PARAMETERS".to_owned(), "hybrid:p=5%".to_owned())];
        let in_force = crate::config::resolve(&flags, &environment, Some(std::path::Path::new("/dev/null"))).unwrap();
        let shown: Vec<String> =
            rows(&in_force).iter().map(|row| format!("{} = {} ({})", row.name, row.value, row.source)).collect();
        assert_eq!(shown[0], "policy.hybrid.v = \"4\" (flag)");
        assert_eq!(shown[1], "policy.hybrid.dates = \"10, and at least v\" (default)");
        assert_eq!(shown[2], "policy.hybrid.p = \"0.05\" (environment)");
        assert_eq!(in_force.rows().len(), in_force.all.len() + shown.len());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_would_do() {
        for (text, told) in [
            ("prefix:http://a.example/ lower=2", "must be 0.001 to 1"),
            ("prefix:http://a.example/ lower=0.8 upper=0.2", "lies above"),
            ("prefix:http://a.example/", "says nothing"),
            ("http://a.example/ lower=0.1", "begin with prefix:URL"),
        ] {
            assert!(url_terms(text).unwrap_err().contains(told), "{text}");
        }
        assert!(parameters("hybrid").unwrap_err().contains("gives no parameter"));
        assert!(parameters("hybrid:w=1").unwrap_err().contains("it has v, dates, p, cycle"));
        assert!(read("hybrid = 4").unwrap_err().contains("must be a table"));
        assert!(read("[[refresh-time.url]]\nprefx = 'a'").unwrap_err().contains("did you mean `prefix`?"));
    }
}
