//! The name of a policy with the values that somebody gave for its parameters: `NAME[:VARIANT][:PARAMETER=VALUE,…]`.

use std::fmt;

use vernal_model::nearest;

use super::catalogue::ALL;
use super::parameter::Parameter;
use crate::names::NAMES;

#[derive(Clone, Debug)]
pub struct PolicySpec {
    /// The name with its variant.
    name: &'static str,
    /// What was given, in the order of the catalogue.
    given: Vec<(&'static Parameter, f64)>,
}

/// Why a text names no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    NoPolicy(String),
    /// What is wrong with a parameter, as a whole line.
    Parameter(String),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::NoPolicy(name) => {
                let near = nearest(name, NAMES.iter().copied());
                let meant = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
                write!(f, "`{name}` is no policy{meant}; the policies are {}", NAMES.join(", "))
            }
            SpecError::Parameter(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for SpecError {}

impl PolicySpec {
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, values) = split(text);
        let known = NAMES.iter().find(|&&known| known == name);
        let &name = known.ok_or_else(|| SpecError::NoPolicy(name.to_owned()))?;
        let mut spec = PolicySpec { name, given: Vec::new() };
        for value in values.split([',', ':']).map(str::trim).filter(|value| !value.is_empty()) {
            spec.give(value).map_err(SpecError::Parameter)?;
        }
        spec.check().map_err(SpecError::Parameter)?;
        Ok(spec)
    }

    /// The name with its variant, without values.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The parameters that the policy has, in the order of the catalogue.
    pub fn parameters(name: &str) -> impl Iterator<Item = &'static Parameter> {
        ALL.iter().filter(move |parameter| parameter.of.contains(&name))
    }

    /// What somebody gave, else the default; `None` where it follows from other things, or the policy has no such
    /// parameter.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.given(name).or_else(|| find(self.name, name)?.default_value())
    }

    /// What somebody gave.
    pub fn given(&self, name: &str) -> Option<f64> {
        self.given.iter().find(|(parameter, _)| parameter.name == name).map(|&(_, value)| value)
    }

    /// Every parameter with its value in force, as a text, and whether somebody gave it.
    pub fn in_force(&self) -> impl Iterator<Item = (&'static Parameter, String, bool)> {
        Self::parameters(self.name).map(|parameter| match self.given(parameter.name) {
            Some(value) => (parameter, parameter.unit.text(value), true),
            None => (parameter, parameter.default_text(), false),
        })
    }

    /// The same with what another gives for the same policy where this says nothing.
    pub fn or(mut self, other: &PolicySpec) -> Result<Self, SpecError> {
        if self.name == other.name {
            for &(parameter, value) in &other.given {
                if self.given(parameter.name).is_none() {
                    self.put(parameter, value);
                }
            }
        }
        self.check().map_err(SpecError::Parameter)?;
        Ok(self)
    }

    fn give(&mut self, text: &str) -> Result<(), String> {
        let policy = self.name;
        let Some((name, value)) = text.split_once('=') else {
            return Err(format!("{policy}: `{text}` has no value: give a parameter as NAME=VALUE"));
        };
        let (name, value) = (name.trim(), value.trim());
        let parameter = find(policy, name).ok_or_else(|| unknown(policy, name))?;
        let Some(number) = parameter.read(value) else {
            let (range, defaults) = (parameter.range(), parameter.defaults());
            return Err(format!("{policy}: {} = {value}: must be {range}, {defaults}", parameter.name));
        };
        if self.given(parameter.name).is_some() {
            return Err(format!("{policy}: {} is given twice", parameter.name));
        }
        self.put(parameter, number);
        Ok(())
    }

    fn put(&mut self, parameter: &'static Parameter, value: f64) {
        self.given.push((parameter, value));
        self.given.sort_by_key(|(parameter, _)| ALL.iter().position(|other| std::ptr::eq(other, *parameter)));
    }

    /// What must hold between parameters.
    fn check(&self) -> Result<(), String> {
        let policy = self.name;
        if let (Some(dates), Some(v)) = (self.given("dates"), self.value("v"))
            && dates < v
        {
            return Err(format!("{policy}: dates = {dates} keeps fewer versions than v = {v} counts"));
        }
        if let (Some(lower), Some(upper)) = (self.value("lower"), self.value("upper"))
            && lower > upper
        {
            return Err(format!("{policy}: lower = {lower} lies above upper = {upper}"));
        }
        Ok(())
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (number, (parameter, value)) in self.given.iter().enumerate() {
            let mark = if number == 0 { ':' } else { ',' };
            write!(f, "{mark}{}={}", parameter.name, parameter.unit.text(*value))?;
        }
        Ok(())
    }
}

/// The name, and the values that follow it: they begin with the first part that has an equals sign.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let Some(equals) = text.find('=') else { return (text, "") };
    match text[..equals].rfind(':') {
        Some(colon) => (&text[..colon], &text[colon + 1..]),
        None => (text, ""),
    }
}

fn find(policy: &str, name: &str) -> Option<&'static Parameter> {
    PolicySpec::parameters(policy).find(|parameter| parameter.name == name || parameter.sign == name)
}

fn unknown(policy: &str, name: &str) -> String {
    let names: Vec<&str> = PolicySpec::parameters(policy).map(|parameter| parameter.name).collect();
    if names.is_empty() {
        return format!("{policy} has no parameters, so no `{name}`");
    }
    let near = nearest(name, names.iter().copied());
    let meant = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    let others: Vec<&str> = ALL.iter().filter(|other| other.name == name).flat_map(|other| other.of).copied().collect();
    let whose = if others.is_empty() { String::new() } else { format!("; `{name}` is one of {}", others.join(", ")) };
    format!("{policy} has no parameter `{name}`{meant}: it has {}{whose}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Default;

    fn told(text: &str) -> String {
        PolicySpec::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_parameter_can_be_given_at_its_ends_and_nowhere_beyond() {
        for parameter in ALL {
            for policy in parameter.of {
                for end in [parameter.least, parameter.most] {
                    let text = format!("{policy}:{}={}", parameter.name, parameter.unit.text(end));
                    // Thresholds and versions bound each other.
                    let spec = match parameter.name {
                        "lower" => PolicySpec::parse(&format!("{text},upper=1")),
                        "upper" => PolicySpec::parse(&format!("{text},lower=0.001")),
                        "dates" if *policy != "change-frequency" => PolicySpec::parse(&format!("{text},v=1")),
                        _ => PolicySpec::parse(&text),
                    };
                    let spec = spec.unwrap_or_else(|error| panic!("{text}: {error}"));
                    assert_eq!(spec.given(parameter.name), Some(end), "{text}");
                    assert_eq!(PolicySpec::parse(&spec.to_string()).unwrap().given(parameter.name), Some(end));
                }
                for beyond in [parameter.least - parameter.least.abs().max(1.0), parameter.most * 2.0] {
                    let text = format!("{policy}:{}={beyond}", parameter.name);
                    let told = told(&text);
                    assert!(told.contains(&parameter.range()) && told.contains(&parameter.defaults()), "{told}");
                }
            }
        }
    }

    #[test]
    fn every_default_lies_in_its_range_and_every_policy_of_the_catalogue_exists() {
        for parameter in ALL {
            if let Default::Is(value) = parameter.default {
                assert!((parameter.least..=parameter.most).contains(&value), "{}", parameter.name);
            }
            let unknown = parameter.of.iter().find(|name| !NAMES.contains(name));
            assert_eq!(unknown, None, "{}", parameter.name);
        }
        for name in NAMES {
            let names: Vec<&str> = PolicySpec::parameters(name).map(|parameter| parameter.name).collect();
            let mut once = names.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), names.len(), "{name}");
        }
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_the_range_and_the_default() {
        assert_eq!(told("hybrid:v=0"), "hybrid: v = 0: must be 1 to 100, the default is 5, the paper names none");
        assert_eq!(
            told("refresh-time:p_l=2"),
            "refresh-time: lower = 2: must be 0.001 to 1 (a share), the paper's default is 0.3"
        );
        assert_eq!(
            told("hybrid:cycle=1s"),
            "hybrid: cycle = 1s: must be 10m to 365d (a span of time), the paper's default is 7d, ours is 7d, halved \
             while a cycle pays for more than 71 % of the pages"
        );
        assert_eq!(told("hybrid:v=1,v=2"), "hybrid: v is given twice");
        assert_eq!(told("hybrid:v=20,dates=12"), "hybrid: dates = 12 keeps fewer versions than v = 20 counts");
        assert_eq!(told("refresh-time:lower=0.8"), "refresh-time: lower = 0.8 lies above upper = 0.7");
    }

    #[test]
    fn a_parameter_that_the_policy_lacks_is_refused_with_those_it_has() {
        let told_of = told("hybrid:alpha=0.1");
        assert!(told_of.contains("hybrid has no parameter `alpha`") && told_of.contains("it has v, dates, p, cycle"));
        assert!(told_of.ends_with("`alpha` is one of adaptive, groups:adaptive, adaptive-frequency"), "{told_of}");
        assert!(told("adaptive:kapa=4").contains("did you mean kappa?"));
        assert_eq!(told("round-robin:v=4"), "round-robin has no parameters, so no `v`");
        assert!(told("hybird:v=4").contains("`hybird` is no policy (did you mean hybrid?)"));
        assert!(told("hybrid:4").contains("`hybrid:4` is no policy"));
    }

    #[test]
    fn values_are_read_in_any_order_by_name_or_by_sign_and_written_in_one() {
        let one = PolicySpec::parse("adaptive-frequency:V=4, κ=5,alpha=90%").unwrap();
        assert_eq!(one.to_string(), "adaptive-frequency:alpha=0.9,kappa=5,v=4");
        assert_eq!((one.name(), one.value("kappa"), one.value("cycle")), ("adaptive-frequency", Some(5.0), None));
        let cycle = PolicySpec::parse("groups:hybrid:cycle=36h").unwrap();
        assert_eq!((cycle.name(), cycle.to_string().as_str()), ("groups:hybrid", "groups:hybrid:cycle=36h"));
    }

    #[test]
    fn what_the_name_says_goes_before_what_stands_elsewhere() {
        let file = PolicySpec::parse("hybrid:v=6,p=0.2").unwrap();
        let merged = |text: &str| PolicySpec::parse(text).unwrap().or(&file).map(|spec| spec.to_string());
        assert_eq!(merged("hybrid:v=7").unwrap(), "hybrid:v=7,p=0.2");
        assert_eq!(merged("greedy").unwrap(), "greedy");
        assert!(merged("hybrid:dates=5").is_err(), "it keeps fewer than the file's v");
    }
}
