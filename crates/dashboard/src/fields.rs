//! The fields of a form or of an address, where one name may come several times.

use axum::extract::{FromRequest, RawForm, Request};

use crate::problem::Problem;

#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Fields, Problem> {
        let RawForm(bytes) = RawForm::from_request(request, state)
            .await
            .map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))?;
        Ok(Fields::read(&bytes))
    }
}

impl Fields {
    pub fn read(bytes: &[u8]) -> Fields {
        Fields(url::form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The first of this name, without spaces around it; empty where none is given.
    pub fn one(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// What is not empty of this name.
    pub fn some(&self, name: &str) -> Option<&str> {
        Some(self.one(name)).filter(|value| !value.is_empty())
    }

    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0
            .iter()
            .filter(move |(own, _)| own == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    pub fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|given| given == value)
    }

    /// The parts of a list that is written with commas or on lines.
    pub fn listed(&self, name: &str) -> Vec<String> {
        let parts = self.one(name).split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_come_several_times_and_nothing_empty_counts() {
        let fields = Fields::read(b"kinds=content&kinds=&kinds=structure&words=+a+b%2C%0D%0A%22c%22+&x=%FF");
        assert_eq!(fields.all("kinds").collect::<Vec<_>>(), ["content", "structure"]);
        assert_eq!(fields.listed("words"), ["a b", "\"c\""]);
        assert_eq!((fields.some("nothing"), fields.one("x")), (None, "\u{fffd}"));
        assert!(fields.has("kinds", "structure") && !fields.has("kinds", ""));
    }
}
