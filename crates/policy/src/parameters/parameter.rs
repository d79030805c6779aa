//! One parameter of a policy.

use vernal_model::Span;

#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// What the paper calls it; understood as well.
    pub sign: &'static str,
    pub default: Default,
    /// What the paper sets it to; `None` where it names no value.
    pub in_paper: Option<&'static str>,
    /// The number of the paper, and the place.
    pub paper: &'static str,
    pub unit: Unit,
    pub least: f64,
    pub most: f64,
    pub help: &'static str,
    /// The policies that have it, with their variants.
    pub of: &'static [&'static str],
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Default {
    Is(f64),
    /// It follows from other things, as the words say.
    Follows(&'static str),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number.
    Count,
    /// A share: 0.1 or 10%.
    Share,
    /// A multiple of the mean wait that the budget pays for.
    MeanWaits,
    /// A length of time, in seconds.
    Span,
}

impl Parameter {
    pub fn default_value(&self) -> Option<f64> {
        match self.default {
            Default::Is(value) => Some(value),
            Default::Follows(_) => None,
        }
    }

    pub fn default_text(&self) -> String {
        match self.default {
            Default::Is(value) => self.unit.text(value),
            Default::Follows(words) => words.to_owned(),
        }
    }

    /// The range, as an error says it.
    pub fn range(&self) -> String {
        let (least, most) = (self.unit.text(self.least), self.unit.text(self.most));
        let kind = match self.unit {
            Unit::Count => "",
            Unit::Share => " (a share)",
            Unit::MeanWaits => " (mean waits that the budget pays for)",
            Unit::Span => " (a span of time)",
        };
        format!("{least} to {most}{kind}")
    }

    /// The defaults, ours and the paper's, as an error says them.
    pub fn defaults(&self) -> String {
        let ours = self.default_text();
        match self.in_paper {
            Some(theirs) if theirs == ours => format!("the paper's default is {theirs}"),
            Some(theirs) => format!("the paper's default is {theirs}, ours is {ours}"),
            None => format!("the default is {ours}, the paper names none"),
        }
    }

    /// The value of a text; `None` if it is no value of this parameter or lies outside its range.
    pub fn read(&self, text: &str) -> Option<f64> {
        let value = self.unit.read(text.trim())?;
        (self.least..=self.most).contains(&value).then_some(value)
    }
}

impl Unit {
    fn read(self, text: &str) -> Option<f64> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match self {
            Unit::Count => text.parse::<u32>().ok().map(f64::from),
            Unit::Share => match text.strip_suffix('%') {
                Some(percent) => number(percent).map(|percent| percent / 100.0),
                None => number(text),
            },
            Unit::MeanWaits => number(text),
            Unit::Span => Span::parse(text).ok().map(Span::secs_f64),
        }
    }

    /// The text that reads as this value again.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Count | Unit::Share | Unit::MeanWaits => value.to_string(),
            Unit::Span => {
                let units = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "m")];
                let fits = units.into_iter().find(|(secs, _)| value >= *secs && value % secs == 0.0);
                let (secs, unit) = fits.unwrap_or((1.0, "s"));
                format!("{}{unit}", value / secs)
            }
        }
    }
}
