//! A question to the API: a path, and a query that is written and never pasted together.

use url::form_urlencoded::Serializer;

#[derive(Clone, Debug)]
pub struct Question {
    path: String,
    pairs: Vec<(&'static str, String)>,
}

impl Question {
    pub fn of(path: &str) -> Question {
        Question { path: format!("/api/v1/{path}"), pairs: Vec::new() }
    }

    pub fn with(mut self, name: &'static str, value: impl ToString) -> Question {
        self.pairs.push((name, value.to_string()));
        self
    }

    /// What is empty is not asked for.
    pub fn with_some(self, name: &'static str, value: Option<&str>) -> Question {
        match value.map(str::trim).filter(|value| !value.is_empty()) {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn address(&self) -> String {
        link(&self.path, &self.pairs)
    }
}

/// The address of one of our screens.
pub fn link<V: AsRef<str>>(path: &str, pairs: &[(&str, V)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.as_ref().is_empty());
    let query = given.fold(Serializer::new(String::new()), |mut query, (name, value)| {
        query.append_pair(name, value.as_ref());
        query
    });
    let query = { query }.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// One segment of a path, of any text.
pub fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_values() {
        let asked = Question::of("page").with("url", "http://a.example/?a=1&b=<2>#c").with_some("x", Some(" "));
        assert_eq!(asked.address(), "/api/v1/page?url=http%3A%2F%2Fa.example%2F%3Fa%3D1%26b%3D%3C2%3E%23c");
        assert_eq!(link("/sites", &[("site", "")]), "/sites");
        assert_eq!(segment("a b/../c?d:8"), "a%20b%2F..%2Fc%3Fd%3A8");
    }
}
